"""Resources that a job requests from a scheduler: minutes and memory as measured, with a margin, and more on each retry.

On a single machine they are not used; only the number of cores matters there.
"""

from collections.abc import Callable, Sequence
from typing import Any

from polhode_study.configuration import EnsembleStudy, ProblemStudy, SceneStudy
from polhode_study.estimate import STEP
from polhode_study.plan import MethodStep, method_seconds

#: A function of wildcards and attempt, as Snakemake calls it for a resource.
Resource = Callable[[Any, int], int]

#: The largest resident set of any job of the default study was 0.6 GB (many-body figures, a film); most take 0.2 GB.
MEGABYTES = 1500
#: Most jobs take less than a minute on a processor with 2.6 GHz; slow file systems and old processors take longer.
MINUTES = 20
#: Time of a many-body step: measured 0.4 (chess, small steps) to 1.0 (large steps), 0.5 for rods. Multiplied by three.
MICROSECONDS_PER_STEP = 3.0
#: The most expensive method takes five times as long as assumed for the division of work into jobs; twice that.
MARGIN = 10.0


def minutes(first: int = MINUTES) -> Resource:
    """Wall time in minutes (Snakemake's ``runtime``): ``first``, doubled at each further attempt."""
    return lambda wildcards, attempt: int(first * 2 ** (attempt - 1))


def memory(first: int = MEGABYTES) -> Resource:
    """Memory in MB (``mem_mb``): ``first``, and as much again at each further attempt."""
    return lambda wildcards, attempt: first * attempt


def many_body_minutes(scene: SceneStudy, method_steps: Sequence[MethodStep]) -> Resource:
    """Wall time in minutes of the runs of some methods with some step sizes on a scene."""
    steps = sum(scene.step(name).steps for _, name in method_steps) * scene.seeds
    return minutes(MINUTES + round(steps * MICROSECONDS_PER_STEP * 1e-6 / 60.0))


def ensemble_minutes(ensembles: EnsembleStudy, methods: Sequence[str]) -> Resource:
    """Wall time in minutes of the runs of some methods on random bodies."""
    return minutes(MINUTES + round(len(methods) * ensembles.total_steps * STEP * MARGIN / 60.0))


def single_body_minutes(study: ProblemStudy, methods: Sequence[str]) -> Resource:
    """Wall time in minutes of all runs of some methods on one problem."""
    return minutes(MINUTES + round(sum(method_seconds(study, method) for method in methods) * MARGIN / 60.0))
