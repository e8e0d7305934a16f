"""What a study would take, from the numbers of its configuration alone: nothing is expanded, so that a slip costs no hour.

The times are those of one core of the machine below; a factor of two is all that is asked of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, log10
from typing import Any

from polhode.methods.protocol import Method
from polhode.problems.problem import Case
from polhode.problems.system import System
from polhode.study.reading import Keys, Place

# CPU times in s, measured on an AMD EPYC with two cores by the default and the quick study and data/released, 2026-11.
#: A step of one body: with one torque, with several (data/released/cost.nc: 9 to 107 and 43 to 127 ns), in a system.
STEP, STEP_OF_SEVERAL_TORQUES, STEP_IN_A_SYSTEM = 5e-8, 1e-7, 1e-7
#: A step of many bodies, all 30 clumps (data/released/many_body.nc: 0.5 to 0.75 us).
STEP_OF_MANY = 7e-7
#: A file of one run: simulate, write, read again, compare.
RUN = 0.008
#: The Taylor integration of a problem over its horizon at :data:`DIGITS` (0.1 to 2.3 s), and how that grows with the digits.
TAYLOR, DIGITS, POWER = 1.0, 50, 2.4
#: The run of higher precision and order that judges it where there is no closed form, in times of the first.
JUDGE = 2.5
#: One time of a reference, with its digits (0.2 to 1.7 ms).
REFERENCE_TIME = 1e-3
#: A process of the workflow: start, imports.
PROCESS = 3.0
#: Code compiled on the first run: of a method on one body, on systems, on many bodies.
COMPILING, COMPILING_SYSTEMS, COMPILING_MANY = 0.9, 1.5, 3.0
#: Gathering, figures, tables, claims, the report: of a run, and more for each method.
REPORT, REPORT_OF_A_METHOD = 45.0, 6.0
#: Forms in which the cost study times a method, what a round takes besides its blocks, and the timing of many bodies.
FORMS, ROUND, TIMING = 4, 1.5, 25.0
#: Each experiment on single methods.
CHECKS = {
    "reversibility": 1.0,
    "stability": 2.0,
    "note_corrections": 34.0,
    "published_variants": 6.0,
    "extended_inertia": 12.0,
    "symplecticity": 3.0,
    "normalisation": 6.0,
    "sweeps": 6.0,
    "simplified": 2.0,
}
#: A notebook: its kernel starts, computes a little and draws; then the page is made.
NOTEBOOK = 14.0
#: Runs in a decade of step sizes of the search for target errors, and those that close in on one.
SEARCHED, CLOSING = 8, 8
#: A picture of a film.
PICTURE = 0.2

# Bytes.
#: A process without its data; a file of a run without its samples; what a run of one body holds of a sample, and a file.
PROCESS_MEMORY, FILE, SAMPLE = 0.35e9, 2.5e3, 14 * 8
#: The figures of many bodies.
FIGURES_MEMORY = 0.75e9
#: Copies of the samples that a job holds at once.
COPIES = 4
#: A sample of a run in single_body.nc and in memory while it is gathered, for each method.
GATHERED = 40 * 8
#: A time of a reference with its numbers of high precision, and each of their digits in text.
REFERENCE_STATE, REFERENCE_DIGIT = 13 * 300, 13 * 8
#: Clumps of a scene; what a run of them holds of a sample in its file.
CLUMPS, SAMPLE_OF_MANY = 32, 12 * 8

#: The kinds of ladder.
LADDERS = ("geometric", "divisions", "values")


@dataclass(frozen=True)
class Share:
    """What one key of the configuration asks for: CPU time in s, files, memory of one job and disk in bytes."""

    path: Keys
    what: str
    advice: str
    cpu: float = 0.0
    files: float = 0.0
    memory: float = 0.0
    disk: float = 0.0


@dataclass(frozen=True)
class Measure:
    """One thing that is limited: its key under ``limits``, how it is had from the shares, its unit in words."""

    key: str
    field: str
    per_unit: float
    unit: str
    summed: bool = True

    def of(self, share: Share) -> float:
        """What a share takes, in the unit of the limit."""
        return float(getattr(share, self.field)) / self.per_unit

    def words(self, amount: float) -> str:
        """An amount with its unit."""
        return f"{number(amount)} {self.unit}"


MEASURES = (
    Measure("files", "files", 1, "files"),
    Measure("memory_gib", "memory", 2**30, "GiB of memory in one job", summed=False),
    Measure("disk_gib", "disk", 2**30, "GiB on the disk"),
    Measure("cpu_hours", "cpu", 3600, "CPU hours"),
)


@dataclass(frozen=True)
class Estimate:
    """What a whole study takes, by the keys that ask for it."""

    shares: tuple[Share, ...]
    single_runs: float
    many_runs: float

    def total(self, measure: Measure) -> float:
        """What the study takes in all; of memory what the largest job does."""
        amounts = [measure.of(share) for share in self.shares]
        return sum(amounts) if measure.summed else max(amounts)

    def check(self, limits: Mapping[str, float | None], place: Place) -> None:
        """Refuse a study beyond its limits.

        Raises
        ------
        ConfigurationError
            Naming the key that asks for most, what it would take, and what to change.
        """
        for measure in MEASURES:
            limit = limits[measure.key]
            total = self.total(measure)
            if limit is None or total <= limit:
                continue
            worst = max(self.shares, key=measure.of)
            alone = measure.of(worst)
            rest = f", the whole study {number(total)}" if measure.summed and number(total) != number(alone) else ""
            where = place / "limits" / measure.key
            raise place.at(worst.path).error(
                f": {worst.what} would take about {measure.words(alone)}{rest}; limits.{measure.key} is {limit:,} "
                f"({where.source}). {worst.advice}, or raise this limit"
            )

    def summary(self) -> str:
        """The study in one line."""
        by_key = {measure.key: self.total(measure) for measure in MEASURES}
        runs = [f"{round(self.single_runs):,} runs of one body or a few"]
        if self.many_runs:
            runs.append(f"{round(self.many_runs):,} of many")
        return (
            f"The whole study takes about {_time(by_key['cpu_hours'])} with {' and '.join(runs)}, "
            f"{_size(by_key['disk_gib'])} on the disk, and up to {_size(by_key['memory_gib'])} of memory a job. "
            "What is there and up to date is kept."
        )


def number(amount: float) -> str:
    """A rounded number for reading."""
    if not isfinite(amount):
        return "endlessly many"
    return f"{amount:.1e}" if amount >= 1e7 else f"{float(f'{amount:.2g}'):,.12g}"


def several(amount: float, what: str) -> str:
    """How many of something, in words."""
    return f"{number(amount)} {what}" if number(amount) != "1" else f"one {what.removesuffix('s')}"


def _time(hours: float) -> str:
    return several(60 * hours, "CPU minutes") if hours < 1.5 else f"{number(hours)} CPU hours"


def _size(gib: float) -> str:
    return f"{number(gib * 2**30 / 1e6)} MB" if gib < 0.9 else f"{number(gib * 2**30 / 1e9)} GB"


@dataclass(frozen=True)
class Extent:
    """Of a ladder: how many step sizes it has at most, the steps of one run with each of them, those of the longest run."""

    rungs: float
    steps: float
    longest: float


def extent(ladder: Mapping[str, Any], horizon: float) -> Extent:
    """The extent of a ladder over a horizon in s; nothing is expanded."""
    if ladder.get("values") is not None:
        steps = [_ratio(horizon, dt) for dt in ladder["values"]]
        return Extent(len(steps), sum(steps), max(steps))
    if ladder.get("geometric") is not None:
        first, last, count = ladder["geometric"]
        low, high = sorted((_ratio(horizon, first), _ratio(horizon, last)))
    else:
        low, high = sorted(map(float, ladder["divisions"][:2]))
        count = ladder["divisions"][2]
    return Extent(float(count), _geometric_sum(low, high, count), high)


def _ratio(time: float, dt: float) -> float:
    return float(time) / float(dt)


def _geometric_sum(low: float, high: float, count: float) -> float:
    """The sum of ``count`` numbers from ``low`` to ``high``, evenly spread in the logarithm."""
    if count <= 1 or not isfinite(high):
        return high
    ratio = (low / high) ** (1 / (count - 1))
    return count * high if ratio > 1 - 1e-12 else high * (1 - ratio**count) / (1 - ratio)


def estimate(
    config: Mapping[str, Any],
    problems: Mapping[str, tuple[Case, Sequence[Method]]],
    scenes: Mapping[str, Sequence[Method]],
    checks: Sequence[str],
    notebooks: Sequence[str] = (),
) -> Estimate:
    """What the study of a configuration takes; the configuration is valid but not expanded.

    Parameters
    ----------
    config : the configuration
    problems : key -> the problem and the methods that run it
    scenes : key of a many-body scene -> the methods that run it
    checks : the experiments on single methods
    notebooks : those that are executed
    """
    shares: list[Share] = []
    for key, (problem, methods) in problems.items():
        shares += _problem(("problems", key), config["problems"][key], problem, methods, config["digits"])
    single = sum(share.files for share in shares)
    for key, methods in scenes.items():
        shares += _scene(("many_body", key), config["many_body"][key], methods)
    many = sum(share.files for share in shares) - single
    everyone = max((len(methods) for _problem, methods in problems.values()), default=0)
    if config["cost"] is not None:
        rounds, block = config["cost"]["rounds"], config["cost"]["block"]
        seconds = FORMS * ROUND * everyone * rounds * block + TIMING
        what = f"timing {several(everyone, 'methods')} in {number(rounds)} rounds of blocks of {block:g} s"
        shares.append(
            Share(("cost",), what, "Take fewer rounds or shorter blocks", cpu=seconds, memory=8.0 * FORMS * everyone * rounds)
        )
    shares.append(Share(("checks",), f"{len(checks)} experiments", "Leave some out", cpu=sum(CHECKS[c] for c in checks)))
    pages = several(len(notebooks), "notebooks")
    shares.append(Share(("notebooks",), pages, "Leave some out", cpu=NOTEBOOK * len(notebooks), disk=2e6 * len(notebooks)))
    moving = any(isinstance(problem, System) for problem, _methods in problems.values())
    compiling = everyone * (COMPILING + COMPILING_SYSTEMS * moving)
    compiling += COMPILING_MANY * len({m.key for methods in scenes.values() for m in methods})
    shares.append(
        Share(
            ("methods",),
            f"the report on {several(everyone, 'methods')}",
            "Take fewer methods",
            cpu=REPORT + REPORT_OF_A_METHOD * everyone + compiling,
            memory=FIGURES_MEMORY,
            disk=2e7,
        )
    )
    return Estimate(tuple(shares), single, many)


def _problem(path: Keys, settings: Mapping[str, Any], problem: Case, methods: Sequence[Method], digits: float) -> list[Share]:
    bodies = len(problem.bodies) if isinstance(problem, System) else 1
    if isinstance(problem, System):
        of_a_step = [STEP_IN_A_SYSTEM * bodies] * len(methods)
    else:
        of_a_step = [STEP if m.torques_per_step == 1 else STEP_OF_SEVERAL_TORQUES for m in methods]
    step, count = sum(of_a_step), len(methods)
    precise = (digits / DIGITS) ** POWER
    state = (REFERENCE_STATE + REFERENCE_DIGIT * digits) * bodies
    samples = float(settings["samples"])
    shares = []
    held = kept = averaged = 0.0
    for name, ladder in settings["dt"].items():
        if ladder is None:
            continue
        size = extent(ladder, problem.horizon)
        of_a_run = min(samples, size.longest)
        held = max(held, of_a_run)
        kept += count * size.rungs * of_a_run
        averaged += size.rungs * of_a_run if settings.get("means") else 0.0
        sizes = several(size.rungs, "step sizes")
        what = f"{several(count, 'methods')} with {sizes} and up to {number(size.longest)} steps in a run"
        shares.append(
            Share(
                (*path, "dt", name),
                what,
                "Take larger or fewer step sizes or fewer methods",
                cpu=step * size.steps + count * size.rungs * RUN + 2 * size.rungs * REFERENCE_TIME,
                files=count * size.rungs,
                disk=count * size.rungs * FILE,
                memory=PROCESS_MEMORY + 2 * size.rungs * state,
            )
        )
    shares.append(
        Share(
            (*path, "samples"),
            f"keeping {number(samples)} samples of each run",
            "Take fewer samples",
            cpu=averaged * REFERENCE_TIME,
            disk=bodies * SAMPLE * kept,
            memory=PROCESS_MEMORY + COPIES * bodies * SAMPLE * held + averaged * state,
        )
    )
    closed = problem.reference is not None
    until = settings.get("check_until", problem.horizon)
    taylor = TAYLOR * precise * (1 if closed else 1 + JUDGE)
    shares.append(
        Share(
            (*path, "check_until") if "check_until" in settings else path,
            f"a reference of {digits:g} digits checked for {until:g} s",
            "Take fewer digits or an earlier check_until",
            cpu=taylor * until / problem.horizon + PROCESS + 201 * REFERENCE_TIME,
        )
    )
    if run := settings.get("long_run"):
        steps = _ratio(run["horizon"], run["dt"])
        of_a_run = min(float(run["samples"]), steps)
        runs = count * (2 if run.get("switched") else 1)
        exact = run.get("exact", closed or run["horizon"] <= problem.horizon)
        compared = of_a_run * 2 * REFERENCE_TIME if exact else 0.0
        if exact and not closed:
            compared += TAYLOR * precise * run["horizon"] / problem.horizon
        shares.append(
            Share(
                (*path, "long_run"),
                f"{runs} long runs of {number(steps)} steps, {number(of_a_run)} samples of each",
                "Take a shorter horizon, a larger dt or fewer samples",
                cpu=step * steps * runs / max(count, 1) + runs * RUN + compared,
                files=runs,
                disk=runs * (FILE + bodies * (SAMPLE + GATHERED) * of_a_run),
                memory=PROCESS_MEMORY
                + max(COPIES * bodies * SAMPLE * of_a_run, bodies * count * GATHERED * of_a_run, exact * state * 2 * of_a_run),
            )
        )
    if sought := settings.get("targets"):
        low, high = sorted((_ratio(problem.horizon, sought["dt_max"]), _ratio(problem.horizon, sought["dt_min"])))
        tried = SEARCHED * (log10(high) - log10(low)) + 1 if isfinite(high) else inf
        # Most methods meet their targets with far larger steps, and none is tried that is not needed.
        steps = _geometric_sum(low, high, tried) / 8
        shares.append(
            Share(
                (*path, "targets"),
                f"seeking target errors down to runs of {number(high)} steps",
                "Take a larger dt_min",
                cpu=step * steps + count * RUN * (tried + CLOSING * len(sought["errors"])),
                files=count,
            )
        )
    return shares


def _scene(path: Keys, settings: Mapping[str, Any], methods: Sequence[Method]) -> list[Share]:
    seeds, samples, horizon = float(settings["seeds"]), float(settings["samples"]), float(settings["horizon"])
    shares = []
    held = kept = 0.0
    for name, ladder in settings["dt"].items():
        if ladder is None:
            continue
        size = extent(ladder, horizon)
        runs = len(methods) * size.rungs * seeds
        of_a_run = min(samples, size.longest)
        held = max(held, of_a_run)
        kept += runs * of_a_run
        shares.append(
            Share(
                path,
                f"{several(len(methods), 'methods')} with {several(size.rungs, 'step sizes')} of the ladder {name} from "
                f"{several(seeds, 'initial states')} and up to {number(size.longest)} steps in a run",
                "Take larger or fewer step sizes, fewer initial states (seeds) or a shorter horizon",
                cpu=STEP_OF_MANY * len(methods) * seeds * size.steps + RUN * runs + PROCESS * len(methods),
                files=runs,
                disk=runs * FILE,
            )
        )
    along = len(methods) * seeds * held * (2 + CLUMPS) * 8 if settings.get("over_time") else 0.0
    shares.append(
        Share(
            (*path, "samples"),
            f"keeping {number(samples)} samples of each run",
            "Take fewer samples",
            disk=kept * SAMPLE_OF_MANY + along,
            memory=PROCESS_MEMORY + max(COPIES * held * (9 + CLUMPS) * 8, 2 * along),
        )
    )
    if film := settings.get("film"):
        steps = _ratio(film["horizon"], film["dt"])
        pictures = min(float(film["frames"]), steps)
        shares.append(
            Share(
                (*path, "film"),
                f"a film of {number(pictures)} pictures and {number(steps)} steps",
                "Take fewer frames or a shorter horizon",
                cpu=STEP_OF_MANY * steps + PICTURE * pictures + 2 * PROCESS,
                memory=PROCESS_MEMORY + pictures * CLUMPS * 13 * 8 * COPIES,
                disk=pictures * 5e4,
            )
        )
    return shares
