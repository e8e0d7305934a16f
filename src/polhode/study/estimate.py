"""Estimate of the resources a study needs, from the numbers of its configuration alone.

Nothing is expanded, so that a typing error does not cost an hour. The times are those of one core of the machine named below;
they need to be right only within a factor of two. ``limits`` of the configuration refuses a study that would take too much; no
result depends on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, log10
from typing import TYPE_CHECKING, NamedTuple

from polhode.interface.reading import Keys, Place
from polhode.methods import METHODS
from polhode.methods.protocol import Method
from polhode.problems.problem import Case
from polhode.problems.system import System
from polhode.study.checks import CHECKS, WITNESS

if TYPE_CHECKING:  # the models belong to a package that imports this module
    from polhode.study.configuration import models

# CPU times in s, measured on an AMD EPYC with two cores from the default and the quick study and data/released, 2026-11.
#: One step of a single body: with one torque, with several (data/released/cost.nc: 9 to 107 and 43 to 127 ns), in a system.
STEP, STEP_OF_SEVERAL_TORQUES, STEP_IN_A_SYSTEM = 5e-8, 1e-7, 1e-7
#: One step of about 30 clumps together (data/released/many_body.nc: 0.5 to 0.75 us).
STEP_OF_MANY = 7e-7
#: One run beside its steps, and one file of runs: write, read again, compare.
RUN, FILE = 1e-3, 0.03
#: Taylor integration of a problem over its horizon with :data:`DIGITS` digits (0.1 to 2.3 s), and its growth with the digits.
TAYLOR, DIGITS, POWER = 1.0, 50, 2.4
#: The check run at higher precision and order, used where there is no closed form, relative to the first run.
CHECKED_AGAIN = 2.5
#: The exact states of one body of an ensemble under one torque, for a radian (0.3 to 4 ms), and the compilation of the code.
ENSEMBLE_STATE, COMPILING_STATES = 1e-3, 12.0
#: One time of a reference, with its digits (0.2 to 1.7 ms).
REFERENCE_TIME = 1e-3
#: One process of the workflow: start and imports.
PROCESS = 3.0
#: Code compiled on the first run of a method: for one body, for systems, for many bodies.
COMPILING, COMPILING_SYSTEMS, COMPILING_MANY = 0.9, 1.5, 3.0
#: A method's runs on a scene or on an ensemble apart from their steps: mostly loading its code.
LOADING_MANY, LOADING_ENSEMBLE = 1.0, 0.7
#: Gathering, figures, tables, claims and the report: for a run, plus an amount for each method (60 s for 53 methods).
REPORT, REPORT_OF_A_METHOD = 20.0, 1.0
#: Forms in which the cost study times a method, the overhead of a round beyond its blocks, and the timing of many bodies.
FORMS, ROUND, TIMING = 4, 1.5, 25.0
#: One notebook: start of its kernel, a short computation, drawing, and conversion to a page.
NOTEBOOK = 14.0
#: Runs per decade of step sizes in the search for target errors, and runs needed to converge on one.
SEARCHED, CLOSING = 8, 8
#: One picture of a film.
PICTURE = 0.2

# Bytes.
#: A process without its data; a file of runs without its samples; one sample of a single-body run in memory and in its file.
PROCESS_MEMORY, FILE_BYTES, SAMPLE = 0.35e9, 2.2e4, 14 * 8
#: The many-body figures.
FIGURES_MEMORY = 0.75e9
#: Copies of the samples that a job holds at the same time.
COPIES = 4
#: One sample of a run in single_body.nc, and in memory during gathering, for each method.
GATHERED = 40 * 8
#: One time of a reference with its high-precision numbers, and each of their digits as text.
REFERENCE_STATE, REFERENCE_DIGIT = 13 * 300, 13 * 8
#: Clumps of a scene; one sample of such a run in its file.
CLUMPS, SAMPLE_OF_MANY = 32, 12 * 8


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


class LimitedResource(NamedTuple):
    """A limited resource: its key under ``limits``, the field of a share, its unit, and the unit in words."""

    key: str
    field: str
    unit: float
    words: str


LIMITED = (
    LimitedResource("files", "runs", 1, "runs"),
    LimitedResource("memory_gib", "memory", 2**30, "GiB of memory in one job"),
    LimitedResource("disk_gib", "disk", 2**30, "GiB on the disk"),
    LimitedResource("cpu_hours", "cpu", 3600, "CPU hours"),
)


@dataclass(frozen=True)
class Requirements:
    """Resources required by a whole study, by section of the configuration."""

    shares: tuple[Share, ...]
    single_runs: float
    many_runs: float
    released: bool = False

    def total(self, resource: LimitedResource) -> float:
        """What the study requires of a resource, in its unit; of memory, what its largest job does."""
        whole: float = getattr(sum(self.shares, Share(())), resource.field)
        return whole / resource.unit

    def check(self, limits: "models.Limits", place: Place) -> None:
        """Refuse a study beyond its limits.

        Raises
        ------
        ConfigurationError
            Naming the section that takes most, the limit, and what to change.
        """
        for resource in LIMITED:
            limit: float | None = getattr(limits, resource.key)
            total = self.total(resource)
            if limit is None or total <= limit:
                continue
            worst = max(self.shares, key=lambda share: getattr(share, resource.field))
            where = place / "limits" / resource.key
            raise place.at(worst.path).error(
                f": the study would take about {number(total)} {resource.words}, more for this section than for any other; "
                f"limits.{resource.key} is {limit:,.12g} ({where.source}). Take fewer or larger steps, fewer methods, samples, "
                "initial states or rounds, or raise this limit"
            )

    def summary(self) -> str:
        """The study in one line of text."""
        by_key = {resource.key: self.total(resource) for resource in LIMITED}
        runs = [f"{round(self.single_runs):,} runs of one body or a few"]
        if self.many_runs:
            runs.append(f"{round(self.many_runs):,} of many")
        return (
            f"The whole study takes about {_time(by_key['cpu_hours'])} with {' and '.join(runs)}, "
            f"{_size(by_key['disk_gib'])} on the disk, and up to {_size(by_key['memory_gib'])} of memory a job. "
            + ("Further experiments are taken from data/released/full, with a witness of each. " if self.released else "")
            + "Files that exist and are up to date are kept."
        )


def number(amount: float) -> str:
    """A rounded number as readable text."""
    if not isfinite(amount):
        return "endlessly many"
    return f"{amount:.1e}" if amount >= 1e7 else f"{float(f'{amount:.2g}'):,.12g}"


def several(amount: float, what: str) -> str:
    """A count with its noun, as text."""
    return f"{number(amount)} {what}" if number(amount) != "1" else f"one {what.removesuffix('s')}"


def _time(hours: float) -> str:
    return several(60 * hours, "CPU minutes") if hours < 1.5 else f"{number(hours)} CPU hours"


def _size(gib: float) -> str:
    return f"{number(gib * 2**30 / 1e6)} MB" if gib < 0.9 else f"{number(gib * 2**30 / 1e9)} GB"


@dataclass(frozen=True)
class Extent:
    """Extent of a ladder: maximum number of step sizes, steps of one run with each of them, and steps of the longest run."""

    rungs: float
    steps: float
    longest: float


def extent(ladder: "models.LadderSection", horizon: float) -> Extent:
    """The extent of a ladder over a horizon in s, computed without expanding it."""
    if ladder.divisions is not None:
        fewest, most, count = ladder.divisions
        low, high = sorted((float(fewest), float(most)))
    elif ladder.geometric is not None:
        first, last, count = ladder.geometric
        low, high = sorted((_ratio(horizon, first), _ratio(horizon, last)))
    else:
        steps = [_ratio(horizon, dt) for dt in ladder.values or ()]
        return Extent(len(steps), sum(steps), max(steps))
    return Extent(float(count), _geometric_sum(low, high, count), high)


def _able(ladder: "models.LadderSection", methods: Sequence[Method]) -> list[str]:
    """Keys of the methods that run with the step sizes of a ladder."""
    plugins = METHODS.plugins()
    return [m.key for m in methods if ladder.methods == "all" or m.key in ladder.methods or m.key in plugins]


def _ratio(time: float, dt: float) -> float:
    return float(time) / float(dt)


def _geometric_sum(low: float, high: float, count: float) -> float:
    """The sum of ``count`` numbers from ``low`` to ``high``, evenly spread in the logarithm."""
    if count <= 1 or not isfinite(high):
        return high
    ratio = (low / high) ** (1 / (count - 1))
    return count * high if ratio > 1 - 1e-12 else high * (1 - ratio**count) / (1 - ratio)


def estimate(
    config: "models.Configuration",
    problems: Mapping[str, tuple[Case, Sequence[Method]]],
    scenes: Mapping[str, Sequence[Method]],
    checks: Sequence[str],
    notebooks: Sequence[str] = (),
    clumps: Mapping[str, int] | None = None,
    ensembles: tuple[Sequence[Method], int] | None = None,
    witnessed: Sequence[str] = (),
) -> Requirements:
    """The estimated resources of a configured study.

    Parameters
    ----------
    config : the configuration, not expanded
    problems : key -> the problem and the methods that run it
    scenes : key of a many-body scene -> the methods that run it
    checks : the experiments on single methods
    notebooks : those that are executed
    clumps : key of a many-body scene -> number of clumps, where it differs from about that of the library's scenes
    ensembles : the methods that run on random bodies, and the number of torque classes
    witnessed : the experiments of which only a witness is run
    """
    shares: list[Share] = []
    for key, (problem, methods) in problems.items():
        if (section := config.problems[key]) is not None:
            shares.append(_problem(("problems", key), section, problem, methods, config.digits))
    single = sum(share.runs for share in shares)
    for key, methods in scenes.items():
        if (scene := (config.many_body or {})[key]) is not None:
            shares.append(_scene(("many_body", key), scene, methods, (clumps or {}).get(key, CLUMPS)))
    many = sum(share.runs for share in shares) - single
    everyone = max((len(methods) for _problem, methods in problems.values()), default=0)
    if config.ensembles is not None and ensembles is not None:
        shares.append(_ensembles(config.ensembles, *ensembles))
    if config.cost is not None:
        rounds, block = config.cost.rounds, config.cost.block
        seconds = FORMS * ROUND * everyone * rounds * block + TIMING
        shares.append(Share(("cost",), cpu=seconds, memory=8.0 * FORMS * everyone * rounds))
    shares.append(Share(("checks",), cpu=sum(WITNESS if name in witnessed else CHECKS[name].seconds for name in checks)))
    shares.append(Share(("notebooks",), cpu=NOTEBOOK * len(notebooks), disk=2e6 * len(notebooks)))
    moving = any(isinstance(problem, System) for problem, _methods in problems.values())
    compiling = everyone * (COMPILING + COMPILING_SYSTEMS * moving)
    compiling += COMPILING_MANY * len({m.key for methods in scenes.values() for m in methods})
    seconds = REPORT + REPORT_OF_A_METHOD * everyone + compiling
    shares.append(Share(("methods",), cpu=seconds, memory=FIGURES_MEMORY, disk=2e7))
    return Requirements(tuple(shares), single, many, bool(witnessed))


def step_seconds(problem: Case, method: Method) -> float:
    """Time of a step of a method on a problem, s."""
    if isinstance(problem, System):
        return STEP_IN_A_SYSTEM * len(problem.bodies)
    return STEP if method.torques_per_step == 1 else STEP_OF_SEVERAL_TORQUES


def _problem(path: Keys, settings: "models.ProblemSection", problem: Case, methods: Sequence[Method], digits: float) -> Share:
    bodies = len(problem.bodies) if isinstance(problem, System) else 1
    of_method = {m.key: step_seconds(problem, m) for m in methods}
    step, count = sum(of_method.values()), len(methods)
    precise = (digits / DIGITS) ** POWER
    state = (REFERENCE_STATE + REFERENCE_DIGIT * digits) * bodies
    samples = float(settings.samples)
    share = Share(path)
    most_samples = stored_samples = averaged = 0.0
    for ladder in filter(None, settings.dt.values()):
        size = extent(ladder, problem.horizon)
        of_a_run = min(samples, size.longest)
        most_samples = max(most_samples, of_a_run)
        able = _able(ladder, methods)
        stored_samples += len(able) * size.rungs * of_a_run
        averaged += size.rungs * of_a_run if settings.means else 0.0
        share += Share(
            path,
            cpu=sum(of_method[key] for key in able) * size.steps
            + len(able) * (size.rungs * RUN + FILE)
            + 2 * size.rungs * REFERENCE_TIME,
            runs=len(able) * size.rungs,
            disk=len(able) * FILE_BYTES,
            memory=PROCESS_MEMORY + 2 * size.rungs * state,
        )
    share += Share(
        path,
        cpu=averaged * REFERENCE_TIME,
        disk=bodies * SAMPLE * stored_samples,
        memory=PROCESS_MEMORY + COPIES * bodies * SAMPLE * most_samples + averaged * state,
    )
    closed = problem.reference is not None
    until = problem.horizon if settings.check_until is None else settings.check_until
    taylor = TAYLOR * precise * (1 if closed else 1 + CHECKED_AGAIN)
    share += Share(
        path,
        cpu=taylor * until / problem.horizon + 201 * REFERENCE_TIME,
    )
    if (run := settings.long_run) is not None:
        steps = _ratio(run.horizon, run.dt)
        of_a_run = min(float(run.samples), steps)
        runs = count * (2 if run.switched else 1)
        exact = run.exact if run.exact is not None else closed or run.horizon <= problem.horizon
        compared = of_a_run * 2 * REFERENCE_TIME if exact else 0.0
        if exact and not closed:
            compared += TAYLOR * precise * run.horizon / problem.horizon
        share += Share(
            path,
            cpu=step * steps * runs / max(count, 1) + runs * (RUN + FILE) + compared,
            runs=runs,
            disk=runs * (FILE_BYTES + bodies * (SAMPLE + GATHERED) * of_a_run),
            memory=PROCESS_MEMORY
            + max(COPIES * bodies * SAMPLE * of_a_run, bodies * count * GATHERED * of_a_run, exact * state * 2 * of_a_run),
        )
    if (sought := settings.targets) is not None:
        low, high = sorted((_ratio(problem.horizon, sought.dt_max), _ratio(problem.horizon, sought.dt_min)))
        tried = SEARCHED * (log10(high) - log10(low)) + 1 if isfinite(high) else inf
        # Most methods meet their targets with far larger steps, and only the steps needed are tried.
        steps = _geometric_sum(low, high, tried) / 8
        share += Share(
            path,
            cpu=step * steps + count * (RUN * (tried + CLOSING * len(sought.errors)) + FILE),
            runs=count,
            disk=count * FILE_BYTES,
        )
    return share


def _ensembles(settings: "models.Ensembles", methods: Sequence[Method], classes: int) -> Share:
    bodies, last = float(settings.bodies), settings.radians[-1]
    sizes = settings.steps.halvings + 1
    longest = _ratio(last, settings.steps.coarse) * 2.0**settings.steps.halvings
    step = sum(STEP if m.torques_per_step == 1 else STEP_OF_SEVERAL_TORQUES for m in methods)
    values = classes * bodies * sizes * len(settings.radians) * 2 * 8
    return Share(
        ("ensembles",),
        # The states, the parts of the runs and the gathering are processes.
        cpu=2 * longest * classes * bodies * step + ENSEMBLE_STATE * last * classes * bodies + COMPILING_STATES + 5 * PROCESS,
        memory=PROCESS_MEMORY + values * (len(methods) + COPIES),
        disk=1.6 * values * len(methods),
    )


def _scene(path: Keys, settings: "models.SceneSection", methods: Sequence[Method], clumps: int) -> Share:
    seeds, samples, horizon = float(settings.seeds), float(settings.samples), settings.horizon
    step = STEP_OF_MANY * clumps / CLUMPS
    share = Share(path)
    most_samples = stored_samples = 0.0
    for ladder in filter(None, settings.dt.values()):
        size = extent(ladder, horizon)
        able = _able(ladder, methods)
        runs = len(able) * size.rungs * seeds
        of_a_run = min(samples, size.longest)
        most_samples = max(most_samples, of_a_run)
        stored_samples += runs * of_a_run
        share += Share(
            path,
            cpu=step * len(able) * seeds * size.steps + RUN * runs + LOADING_MANY * len(able),
            runs=runs,
            disk=len(able) * size.rungs * FILE_BYTES,
        )
    along = len(methods) * seeds * most_samples * (2 + clumps) * 8 if settings.over_time else 0.0
    share += Share(
        path,
        disk=stored_samples * SAMPLE_OF_MANY + along,
        memory=PROCESS_MEMORY + max(COPIES * most_samples * (9 + clumps) * 8, 2 * along),
    )
    if (film := settings.film) is not None:
        steps = _ratio(film.horizon, film.dt)
        pictures = min(float(film.frames), steps)
        share += Share(
            path,
            cpu=step * steps + PICTURE * pictures + 2 * PROCESS,
            memory=PROCESS_MEMORY + pictures * clumps * 13 * 8 * COPIES,
            disk=pictures * 5e4,
        )
    return share
