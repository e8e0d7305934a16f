"""Tables of the laws: the answers, the law sheet as a file, and steps under stiff friction."""

from collections.abc import Sequence
from math import inf, isfinite, isnan, log10
from typing import Any

from polhode.fits.seed_statistics import Estimate
from polhode.interface.table import Column, RowGroup, Table, placed
from polhode_study.chapters.laws import advice as analysis
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.laws import frames_of_checks as law_checks
from polhode_study.chapters.laws.advice import Advice, count
from polhode_study.chapters.laws.frames import FREE, FRICTION, SMOOTH, BestMethod, EnsembleLaws, Situation
from polhode_study.inputs import Inputs
from polhode_study.report.formats import as_many, upper
from polhode_study.report.frames import keyed
from polhode_study.report.latex import escape
from polhode_study.report.tables import RULE

#: What a reader's program is likely to run: the columns of gains, with their headings.
USUAL = {"verlet": "Verlet", "fincham1992_yade": "YADE", "richardson": "LAMMPS"}
#: Parts of names that are abbreviated in narrow columns.
SHORT = {
    "(as published)": "(publ.)",
    "(torque of the ": "(",
    "(mean velocities)": "(mean)",
    "Runge-Kutta-Munthe-Kaas": "RKMK",
    "implicit midpoint": "impl. midpoint",
}
#: Characters for the names of methods that are as good.
NAMED = 22


def answer(inputs: Inputs) -> Table:
    """A table of the method, the steps per radian and the gain over usual methods, for each kind of torque."""
    ens = law_frames.ensemble(inputs)
    advice = analysis.all_advice(inputs, ens)
    kinds = [
        (FREE, "single", "no torque", ""),
        (SMOOTH, "single", "constant or smooth", "(time, orientation)"),
        (SMOOTH, "steady", "the same, and energy", "must not drift"),
        (FRICTION, "single", "depends on angular", "velocity (drag)"),
    ]
    rows: list[list[Any]] = []
    entries: list[dict[str, Any]] = []
    for place, (situation, name, first, second) in enumerate(kinds):
        if situation.key not in advice:
            continue
        answers = advice[situation.key]
        choice: BestMethod = getattr(answers, name)
        lasts = situation is SMOOTH and answers.single.method == answers.steady.method
        if lasts and name == "steady":
            continue
        second = "(also for long runs)" if lasts else second
        gains = {key: law_frames.gain(ens, situation, choice.method, key) for key in USUAL}
        entries.append(_answer_record(situation, name, answers, choice, gains))
        mark = r"$^\dagger$" if inputs.declared(choice.method, "caution") else ""
        mark += r"$^\ddagger$" if inputs.declared(choice.method, "torques_per_output", 0) else ""
        lines = _answer_rows(ens, (first, second), choice, gains, situation is not FREE, mark)
        rows += [[*line, place] for line in lines if any(line)]
    heads = ["your torque", "method", "per radian", *USUAL.values()]
    overs = ["", "", "steps", *["times as many steps with"] * len(USUAL)]
    columns = placed(heads, "ll" + "c" * (1 + len(USUAL)), overs=overs)
    return Table(entries, columns, rows=rows, groups=[RowGroup(-1)], tight=True)


def _answer_record(
    situation: Situation, name: str, answers: Advice, choice: BestMethod, gains: dict[str, Estimate]
) -> dict[str, Any]:
    row: dict[str, Any] = {"situation": situation.key, "kept": int(name == "steady"), "method": choice.method}
    row |= dict(zip(("steps", "steps_low", "steps_high"), choice.steps, strict=True))
    row |= {"steps_nearly_all": choice.nearly_all, "any_step": int(choice.at_least), "equal": ",".join(choice.equal)}
    ends = {"": "value", "_low": "low", "_high": "high"}
    row |= {f"gain_{key}{end}": getattr(gain, name) for key, gain in gains.items() for end, name in ends.items()}
    row["several"] = answers.several.method
    row |= dict(zip(("several_steps", "several_low", "several_high"), answers.several.steps, strict=True))
    return row


def _answer_rows(
    ens: EnsembleLaws, names: tuple[str, str], choice: BestMethod, gains: dict[str, Estimate], torque: bool, mark: str
) -> list[list[str]]:
    """Two lines of the table: what is recommended, and below it spreads and intervals."""
    if not choice.method:
        blank = ["--"] * (1 + len(USUAL))
        return [[names[0], "n/a", *blank], [names[1], "", *[""] * len(blank)]]
    median, low, high = (count(x) for x in choice.steps)
    low = f"$\\leq${low}" if choice.low_at_most else low
    most = f" ({count(choice.nearly_all)})" if isfinite(choice.nearly_all) else ""
    steps, spread = (f"$\\leq${median}", "") if choice.at_least else (median, f"{low}--{high}{most}")
    steps = "any" if choice.at_least and not torque else steps
    least = "$>$" if choice.at_least else ""
    # Where the longest step run was short enough, the bodies cannot tell others from it.
    equal = () if choice.at_least else choice.equal
    either = f"or {as_many([escape(_shorter(ens.label(key))) for key in equal], NAMED, 'others')}" if equal else ""
    ratios = [Estimate(1) if key == choice.method else gains[key] for key in USUAL]
    return _lines(names, choice.label, (steps, either, spread), ratios, least, mark)


def _lines(
    names: tuple[str, str],
    method: str,
    texts: tuple[str, str, str],
    ratios: Sequence[Estimate],
    least: str = "",
    mark: str = "",
) -> list[list[str]]:
    """A recommended method with its steps and ratios, and below it others as good, spread and intervals.

    ``least``: the sign before ratios that are bounds, from the coarsest step that was run; these have no interval. ``mark``:
    that behind a method which is not for long conservative runs, or whose outputs evaluate torques.
    """
    steps, either, spread = texts
    first = [names[0], rf"\textbf{{{escape(_shorter(method))}}}{mark}", steps, *(_gain(gain.value, least) for gain in ratios)]
    second = [names[1], small(either), small(spread), *(small("" if least else _ends(gain)) for gain in ratios)]
    return [first, second]


def _gain(value: float, least: str) -> str:
    """A ratio, or that it is larger than this."""
    if least and isfinite(value) and value > 1:
        return f"{least}{ratio(-upper(-value, 2))}"  # a lower bound is rounded down
    return ratio(value)


def small(text: str) -> str:
    """Smaller print, for spreads and intervals."""
    return rf"{{\scriptsize {text}}}" if text else ""


def ratio(value: float) -> str:
    """A ratio with two digits; a dash where there is none."""
    if isnan(value):
        return "--"
    if value == inf:
        return r"$\infty$"
    return rf"\num{{{value:.1f}}}" if value < 9.95 else count(value)


def _ends(estimate: Estimate) -> str:
    """The interval of a ratio; empty where there is none."""
    return "" if isnan(estimate.low) or isnan(estimate.high) else f"{ratio(estimate.low)}--{ratio(estimate.high)}"


def law_sheet(inputs: Inputs) -> Table:
    """The law sheet, a file only: order, coefficient, steps per radian and slowdown, by class of torque and method."""
    return Table(law_frames.sheet(law_frames.ensemble(inputs)))


def stiff_friction(inputs: Inputs) -> Table:
    """A table of the steps per radian under friction of several rates, for three errors; the file has ranges and ratios."""
    frame = law_checks.stiff_friction(inputs)
    by_run = keyed(frame, "error", "method", "rate")
    least = frame.groupby(["error", "rate"])["steps"].min()
    labels = dict(zip(frame["method"], frame["label"], strict=True))

    def steps(run: dict[str, Any]) -> str:
        text = count(run["steps"])
        return rf"\textbf{{{text}}}" if run["steps"] == least[run["error"], run["rate"]] else text

    columns = [
        Column("error", 0, lambda error: f"$10^{{{log10(error):.0f}}}$", once=True),
        Column("method", lambda row: labels[row[1]]),
        *(
            Column(f"${rate:g}$", lambda row, rate=rate: by_run[(*row, rate)], steps, "r")
            for rate in sorted(frame["rate"].unique())
        ),
    ]
    rows = [(error, key) for error in law_checks.ERRORS for key in frame.loc[frame["error"] == error, "method"].unique()]
    return Table(frame, columns, rows=rows, groups=[RowGroup(0, RULE)])


def _shorter(label: str) -> str:
    """The name of a method for a narrow column."""
    for long, short in SHORT.items():
        label = label.replace(long, short)
    return label
