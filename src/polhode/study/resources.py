"""What a job asks of a scheduler: minutes and memory as measured, with room, and more at each further attempt.

On one machine nobody asks; there only the number of cores counts.
"""

from collections.abc import Callable, Sequence
from typing import Any

from polhode.study.configuration import ProblemStudy, SceneStudy, StepSize
from polhode.study.jobs import method_seconds

#: A function of wildcards and attempt, as Snakemake calls it for a resource.
Asked = Callable[[Any, int], int]

#: The largest resident set of any job of the default study was 0.6 GB (pictures of many bodies, a film); most take 0.2 GB.
MEGABYTES = 1500
#: Most jobs take less than a minute of a processor with 2.6 GHz; slow file systems and old processors take longer.
MINUTES = 20
#: Time of a step of many bodies: measured 0.4 (chess, small steps) to 1.0 (large ones), 0.5 for rods. Three times as much.
MICROSECONDS_PER_STEP = 3.0
#: The dearest method takes five times as long as what the division of work into jobs reckons with; twice that.
ROOM = 10.0


def minutes(first: int = MINUTES) -> Asked:
    """Wall time in minutes (Snakemake's ``runtime``): ``first``, and twice as much at each further attempt."""

    def runtime(wildcards: Any, attempt: int) -> int:
        return int(first * 2 ** (attempt - 1))

    return runtime


def memory(first: int = MEGABYTES) -> Asked:
    """Memory in MB (``mem_mb``): ``first``, and as much again at each further attempt."""

    def mem_mb(wildcards: Any, attempt: int) -> int:
        return first * attempt

    return mem_mb


def many_body_minutes(scene: SceneStudy, batch: Sequence[StepSize]) -> Asked:
    """Wall time in minutes of the runs of one method with the step sizes of one batch."""
    steps = sum(step.steps for step in batch) * scene.seeds
    return minutes(MINUTES + round(steps * MICROSECONDS_PER_STEP * 1e-6 / 60.0))


def single_body_minutes(part: ProblemStudy, methods: Sequence[str]) -> Asked:
    """Wall time in minutes of all runs of some methods on one problem."""
    return minutes(MINUTES + round(len(methods) * method_seconds(part) * ROOM / 60.0))
