"""Estimate of the resources a study needs, from the numbers of its configuration alone.

Nothing is expanded, so that a typing error does not cost an hour. The times are those of one core of the machine named below;
they need to be right only within a factor of two. ``limits`` of the configuration refuses a study that would take too much; no
result depends on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from polhode.interface.reading import Keys, Place
from polhode.methods import METHODS
from polhode.methods.protocol import Method
from polhode.problems.problem import Case
from polhode.problems.system import System
from polhode_study.checks import CHECKS, WITNESS

if TYPE_CHECKING:  # the models belong to a package that imports this module
    from polhode_study.configuration import models

# CPU times in s, measured on an AMD EPYC with two cores from the default and the quick study and data/released, 2026-11.
#: One step of a single body with one torque, with several, in a system for each body; of about 30 clumps together.
STEP, STEP_OF_SEVERAL_TORQUES, STEP_IN_A_SYSTEM, STEP_OF_MANY = 5e-8, 1e-7, 1e-7, 7e-7
#: One run beside its steps, one file of runs, one time of a reference, one process with its imports, one picture of a film.
RUN, FILE, REFERENCE_TIME, PROCESS, PICTURE = 1e-3, 0.03, 1e-3, 3.0, 0.2
#: Taylor integration of a problem over its horizon with :data:`DIGITS` digits (0.1 to 2.3 s), and its growth with the digits.
TAYLOR, DIGITS, POWER = 1.0, 50, 2.4
#: The check run at higher precision and order, used where there is no closed form, relative to the first run.
CHECKED_AGAIN = 2.5
#: The exact states of one body of an ensemble under one torque, for a radian, and the compilation of the code.
ENSEMBLE_STATE, COMPILING_STATES = 1e-3, 12.0
#: Code compiled on the first run of a method for one body, for systems, for many bodies; loading it for many, for an ensemble.
COMPILING, COMPILING_SYSTEMS, COMPILING_MANY, LOADING_MANY, LOADING_ENSEMBLE = 0.9, 1.5, 3.0, 1.0, 0.7
#: Gathering, figures, tables, claims and the report, plus an amount for each method; one notebook.
REPORT, REPORT_OF_A_METHOD, NOTEBOOK = 20.0, 1.0, 14.0
#: Forms in which the cost study times a method, the overhead of a round beyond its blocks, and the timing of many bodies.
FORMS, ROUND, TIMING = 4, 1.5, 25.0

# Bytes.
#: A process without its data, the process that draws the figures, and a file of runs without its samples.
PROCESS_MEMORY, FIGURES_MEMORY, FILE_BYTES = 0.35e9, 0.75e9, 2.2e4
#: A sample of one body in its run and in single_body.nc, of a scene in its file, and how many copies of it a job holds.
SAMPLE, GATHERED, SAMPLE_OF_MANY, COPIES = 112, 320, 96, 4
#: One time of a reference with its high-precision numbers, and each of their digits as text.
REFERENCE_STATE, REFERENCE_DIGIT = 3900, 104
#: Clumps of a scene to which :data:`STEP_OF_MANY` belongs.
CLUMPS = 32

#: Keys of ``limits``: the field of a share, its unit, and the unit in words.
LIMITED = {
    "files": ("runs", 1, "runs"),
    "memory_gib": ("memory", 2**30, "GiB of memory in one job"),
    "disk_gib": ("disk", 2**30, "GiB on the disk"),
    "cpu_hours": ("cpu", 3600, "CPU hours"),
}


@dataclass(frozen=True)
class Share:
    """Resources required by a section of the configuration: CPU time in s, runs, memory of one job and disk space in bytes."""

    path: Keys
    cpu: float = 0.0
    runs: float = 0.0
    memory: float = 0.0
    disk: float = 0.0

    def __add__(self, other: "Share") -> "Share":
        most = max(self.memory, other.memory)
        return Share(self.path, self.cpu + other.cpu, self.runs + other.runs, most, self.disk + other.disk)


@dataclass(frozen=True)
class Requirements:
    """Resources required by a whole study, by section of the configuration; ``released``: some of it is not computed."""

    shares: tuple[Share, ...]
    single_runs: float
    many_runs: float
    released: bool = False

    def total(self, limit: str) -> float:
        """What the study requires of the resource that a key of ``limits`` names; of memory, what its largest job does."""
        field, unit, _words = LIMITED[limit]
        whole: float = getattr(sum(self.shares, Share(())), field)
        return whole / unit

    def check(self, limits: "models.Limits", place: Place) -> None:
        """Refuse a study beyond its limits.

        Raises
        ------
        ConfigurationError
            Naming the section that takes most, the limit, and what to change.
        """
        for key, (field, _unit, words) in LIMITED.items():
            limit: float | None = getattr(limits, key)
            if limit is None or self.total(key) <= limit:
                continue
            worst = max(self.shares, key=lambda share: getattr(share, field))
            raise place.at(worst.path).error(
                f": the study would take about {number(self.total(key))} {words}, more for this section than for any other; "
                f"limits.{key} is {limit:,.12g} ({(place / 'limits' / key).source}). Take fewer or larger steps, fewer "
                "methods, samples, initial states or rounds, or raise this limit"
            )

    def summary(self) -> str:
        """The study in one line of text."""
        minutes = 60 * self.total("cpu_hours")
        time = f"{number(minutes)} CPU minutes" if minutes < 90 else f"{number(minutes / 60)} CPU hours"
        sizes = (self.total(key) * 2**30 / 1e6 for key in ("disk_gib", "memory_gib"))
        disk, memory = (f"{number(size)} MB" if size < 1000 else f"{number(size / 1000)} GB" for size in sizes)
        many = f" and {round(self.many_runs):,} of many" if self.many_runs else ""
        released = "Further experiments are taken from data/released/full, with a witness of each. " if self.released else ""
        return (
            f"The whole study takes about {time} (estimated from the configuration, right within a factor of two; without "
            f"installing the environment), with {round(self.single_runs):,} runs of one body or a few{many}, "
            f"{disk} on the disk, and up to {memory} of memory a job. {released}Files that exist and are up to date are kept; "
            "a target that is named takes a part of this."
        )


def number(amount: float) -> str:
    """A rounded number as readable text."""
    if not isfinite(amount):
        return "endlessly many"
    return f"{amount:.1e}" if amount >= 1e7 else f"{float(f'{amount:.2g}'):,.12g}"


@dataclass(frozen=True)
class Extent:
    """Extent of a ladder: maximum number of step sizes, steps of one run with each of them, and steps of the longest run."""

    rungs: float
    steps: float
    longest: float


def extent(ladder: "models.LadderSection", horizon: float) -> Extent:
    """The extent of a ladder over a horizon in s, computed without expanding it."""
    if ladder.values is not None:
        steps = [float(horizon) / float(dt) for dt in ladder.values]
        return Extent(len(steps), sum(steps), max(steps))
    if ladder.divisions is not None:
        first, last, count = map(float, ladder.divisions)
    else:
        assert ladder.geometric is not None
        *ends, count = ladder.geometric
        first, last = (float(horizon) / float(dt) for dt in ends)
    low, high = sorted((first, last))
    # The sum of a geometric series; of one number, or of equal ones, it is their number times the largest.
    ratio = (low / high) ** (1 / (count - 1)) if count > 1 and isfinite(high) else 1.0
    return Extent(count, count * high if ratio > 1 - 1e-12 else high * (1 - ratio**count) / (1 - ratio), high)


def step_seconds(problem: Case, method: Method) -> float:
    """Time of a step of a method on a problem, s."""
    if isinstance(problem, System):
        return STEP_IN_A_SYSTEM * len(problem.bodies)
    return STEP if method.torques_per_step == 1 else STEP_OF_SEVERAL_TORQUES


def estimate(
    config: "models.Configuration",
    problems: Mapping[str, tuple[Case, Sequence[Method]]],
    scenes: Mapping[str, tuple[int, Sequence[Method]]],
    checks: Sequence[str],
    notebooks: Sequence[str] = (),
    ensembles: tuple[Sequence[Method], int] | None = None,
    witnessed: Sequence[str] = (),
) -> Requirements:
    """The estimated resources of a configured study.

    Parameters
    ----------
    config : the configuration, not expanded
    problems : key -> the problem and the methods that run it
    scenes : key of a many-body scene -> its number of clumps and the methods that run it
    checks : the experiments on single methods
    notebooks : those that are executed
    ensembles : the methods that run on random bodies, and the number of torque classes
    witnessed : the experiments of which only a witness is run
    """
    single = [_problem(key, config, *of_key) for key, of_key in problems.items() if config.problems[key] is not None]
    many = [_scene(key, config, *of_key) for key, of_key in scenes.items() if (config.many_body or {})[key] is not None]
    everyone = max((len(methods) for _problem, methods in problems.values()), default=0)
    compiling = everyone * (COMPILING + COMPILING_SYSTEMS * any(isinstance(case, System) for case, _ in problems.values()))
    compiling += COMPILING_MANY * len({m.key for _clumps, methods in scenes.values() for m in methods})
    seconds = REPORT + REPORT_OF_A_METHOD * everyone + compiling
    others = [
        Share(("checks",), sum(WITNESS if name in witnessed else CHECKS[name].seconds for name in checks)),
        Share(("notebooks",), NOTEBOOK * len(notebooks), disk=2e6 * len(notebooks)),
        Share(("methods",), seconds, memory=FIGURES_MEMORY, disk=2e7),
    ]
    if config.ensembles is not None and ensembles is not None:
        others.append(_ensembles(config.ensembles, *ensembles))
    if config.cost is not None:
        rounds = FORMS * everyone * float(config.cost.rounds)
        others.append(Share(("cost",), ROUND * rounds * config.cost.block + TIMING, memory=8 * rounds))
    single_runs, many_runs = (sum(share.runs for share in shares) for shares in (single, many))
    return Requirements((*single, *many, *others), single_runs, many_runs, bool(witnessed))


def _runs(step: float, count: float, size: Extent, samples: float, sample: float) -> Share:
    """``count`` runs with each step size of a ladder; ``step`` is the time of a step of all, ``sample`` the bytes of one."""
    stored = min(float(samples), size.longest)
    cpu, disk = step * size.steps + count * size.rungs * RUN, count * size.rungs * stored * sample
    return Share((), cpu, count * size.rungs, PROCESS_MEMORY + COPIES * stored * sample, disk)


def _able(ladder: "models.LadderSection", methods: Sequence[Method]) -> list[Method]:
    """The methods that run with the step sizes of a ladder."""
    return [m for m in methods if ladder.methods == "all" or m.key in ladder.methods or m.key in METHODS.plugins()]


def _problem(key: str, config: "models.Configuration", problem: Case, methods: Sequence[Method]) -> Share:
    settings = config.problems[key]
    assert settings is not None
    bodies = len(problem.bodies) if isinstance(problem, System) else 1
    precise = (config.digits / DIGITS) ** POWER
    closed = problem.reference is not None
    until = problem.horizon if settings.check_until is None else settings.check_until
    solved = until / problem.horizon * (1 if closed else 1 + CHECKED_AGAIN)
    files, times = 0, 201.0
    share = Share(("problems", key))
    for ladder in filter(None, settings.dt.values()):
        size, able = extent(ladder, problem.horizon), _able(ladder, methods)
        files += len(able)
        share += _runs(sum(step_seconds(problem, m) for m in able), len(able), size, settings.samples, bodies * SAMPLE)
        times += size.rungs * (2 + settings.means * min(float(settings.samples), size.longest))
    step = sum(step_seconds(problem, m) for m in methods)
    if (run := settings.long_run) is not None:
        steps, twice = float(run.horizon) / run.dt, 1 + run.switched
        files += twice * len(methods)
        stored = min(float(run.samples), steps)
        share += _runs(twice * step, twice * len(methods), Extent(1, steps, steps), run.samples, bodies * (SAMPLE + GATHERED))
        share += Share((), memory=PROCESS_MEMORY + bodies * len(methods) * GATHERED * stored)
        if run.exact if run.exact is not None else closed or run.horizon <= problem.horizon:
            times += 2 * stored
            solved += 0.0 if closed else run.horizon / problem.horizon
    if (targets := settings.targets) is not None:
        files += len(methods)
        # Most methods meet their targets with far larger steps than the smallest, and only the steps needed are tried.
        share += _runs(step, len(methods), Extent(1, problem.horizon / targets.dt_min / 2, 0), 0, 0)
    return share + Share(
        (),
        cpu=files * FILE + times * REFERENCE_TIME + TAYLOR * precise * solved,
        memory=PROCESS_MEMORY + times * bodies * (REFERENCE_STATE + REFERENCE_DIGIT * config.digits),
        disk=files * FILE_BYTES,
    )


def _ensembles(settings: "models.Ensembles", methods: Sequence[Method], classes: int) -> Share:
    drawn, last, sizes = classes * float(settings.bodies), settings.radians[-1], settings.steps.halvings + 1
    longest = last / settings.steps.coarse * 2.0**settings.steps.halvings
    step = sum(STEP if m.torques_per_step == 1 else STEP_OF_SEVERAL_TORQUES for m in methods)
    values = drawn * sizes * len(settings.radians) * 2 * 8
    # The states, the parts of the runs and the gathering are processes.
    cpu = 2 * longest * drawn * step + ENSEMBLE_STATE * last * drawn + COMPILING_STATES + 5 * PROCESS
    return Share(
        ("ensembles",), cpu, memory=PROCESS_MEMORY + values * (len(methods) + COPIES), disk=1.6 * values * len(methods)
    )


def _scene(key: str, config: "models.Configuration", clumps: int, methods: Sequence[Method]) -> Share:
    settings = (config.many_body or {})[key]
    assert settings is not None
    seeds, step = float(settings.seeds), STEP_OF_MANY * clumps / CLUMPS
    share = Share(("many_body", key))
    for ladder in filter(None, settings.dt.values()):
        size, able = extent(ladder, settings.horizon), len(_able(ladder, methods))
        stored = min(float(settings.samples), size.longest)
        share += _runs(step * able * seeds, able * seeds, size, settings.samples, SAMPLE_OF_MANY)
        along = len(methods) * seeds * stored * (2 + clumps) * 8 if settings.over_time else 0.0
        share += Share(
            (),
            cpu=LOADING_MANY * able,
            memory=PROCESS_MEMORY + max(COPIES * stored * (9 + clumps) * 8, 2 * along),
            disk=able * size.rungs * FILE_BYTES + along,
        )
    if (film := settings.film) is not None:
        steps = float(film.horizon) / film.dt
        pictures = min(float(film.frames), steps)
        memory = PROCESS_MEMORY + pictures * clumps * 13 * 8 * COPIES
        share += Share((), step * steps + PICTURE * pictures + 2 * PROCESS, memory=memory, disk=pictures * 5e4)
    return share
