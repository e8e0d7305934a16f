"""Tables of the laws: the answers on one page, and the law sheet."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import inf, isfinite, isnan, log10
from typing import Any

import pandas as pd

from polhode.fits.seed_statistics import Estimate
from polhode.study.chapters.laws import advice as analysis
from polhode.study.chapters.laws import frames as law_frames
from polhode.study.chapters.laws import frames_of_checks as law_checks
from polhode.study.chapters.laws.advice import Advice, count
from polhode.study.chapters.laws.frames import FREE, FRICTION, SMOOTH, BestMethod, EnsembleLaws, Situation
from polhode.study.inputs import Inputs
from polhode.study.report.formats import enumerated, upper
from polhode.study.report.frames import records
from polhode.study.report.latex import above_head, escape, long_table, spanning, tabular

#: What a reader's program is likely to run: the columns of gains, with their headings.
USUAL = {"verlet": "Verlet", "fincham1992_yade": "YADE", "richardson": "LAMMPS"}
#: Others whose gains are in the file alone.
ALSO = ("fincham1992", "pcdm2016", "verlet_delvalle2024", "euler")
#: The errors per radian in the law sheet.
SHOWN = (1e-2, 1e-4, 1e-6, 1e-8)
#: Larger ratios are not printed in the law sheet; the file has them.
LARGE = 1000
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


def answer(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the method, the steps per radian and the gain over usual methods, for each kind of torque."""
    ens = law_frames.ensemble(inputs)
    advice = analysis.all_advice(inputs, ens)
    kinds = [
        (FREE, "one", "no torque", ""),
        (SMOOTH, "one", "constant or smooth", "(time, orientation)"),
        (SMOOTH, "steady", "the same, and energy", "must not drift"),
        (FRICTION, "one", "depends on angular", "velocity (drag)"),
    ]
    rows: list[Sequence[str] | str] = []
    entries: list[dict[str, Any]] = []
    for situation, name, first, second in kinds:
        if situation.key not in advice:
            continue
        answers = advice[situation.key]
        choice: BestMethod = getattr(answers, name)
        lasts = situation is SMOOTH and answers.one.method == answers.steady.method
        if lasts and name == "steady":
            continue
        second = "(also for long runs)" if lasts else second
        gains = {key: law_frames.gain(ens, situation, choice.method, key) for key in (*USUAL, *ALSO)}
        entries.append(_answer_record(situation, name, answers, choice, gains))
        mark = r"$^\dagger$" if inputs.declared(choice.method, "caution") else ""
        mark += r"$^\ddagger$" if inputs.declared(choice.method, "torques_per_output", 0) else ""
        rows += _answer_rows(ens, (first, second), choice, gains, situation is not FREE, mark)
    rows = [row for row, after in pairwise([*rows, ""]) if row != SPACE or after]
    head = ["your torque", "method", "per radian", *USUAL.values()]
    top = spanning("steps", ("times as many steps with", len(USUAL)), before=" & & ")
    return pd.DataFrame(entries), above_head(tabular("@{}ll" + "c" * (1 + len(USUAL)) + "@{}", head, rows), top)


def _answer_record(
    situation: Situation, name: str, answers: Advice, choice: BestMethod, gains: dict[str, Estimate]
) -> dict[str, Any]:
    row: dict[str, Any] = {"situation": situation.key, "kept": int(name == "steady"), "method": choice.method}
    row |= dict(zip(("steps", "steps_low", "steps_high"), choice.steps, strict=True))
    row |= {"steps_nearly_all": choice.nearly_all, "any_step": int(choice.at_least), "equal": ",".join(choice.equal)}
    row |= _gain_columns(gains) | {"several": answers.several.method}
    row |= dict(zip(("several_steps", "several_low", "several_high"), answers.several.steps, strict=True))
    return row | {"steps_saved": answers.steps_saved, "breakeven": answers.breakeven}


def _answer_rows(
    ens: EnsembleLaws, names: tuple[str, str], choice: BestMethod, gains: dict[str, Estimate], torque: bool, mark: str
) -> list[Sequence[str] | str]:
    """Two lines of the table: what is recommended, and below it spreads and intervals."""
    if not choice.method:
        blank = ["--"] * (1 + len(USUAL))
        return [[names[0], "n/a", *blank], [names[1], "", *[""] * len(blank)], SPACE]
    median, low, high = (count(x) for x in choice.steps)
    low = f"$\\leq${low}" if choice.low_at_most else low
    most = f" ({count(choice.nearly_all)})" if isfinite(choice.nearly_all) else ""
    steps, spread = (f"$\\leq${median}", "") if choice.at_least else (median, f"{low}--{high}{most}")
    steps = "any" if choice.at_least and not torque else steps
    least = "$>$" if choice.at_least else ""
    # Where the longest step run was short enough, the bodies cannot tell others from it.
    either = "" if choice.at_least else _either([escape(_shorter(ens.label(key))) for key in choice.equal])
    ratios = [Estimate(1) if key == choice.method else gains[key] for key in USUAL]
    return _lines(names, choice.label, (steps, either, spread), ratios, least, mark)


def _lines(
    names: tuple[str, str],
    method: str,
    texts: tuple[str, str, str],
    ratios: Sequence[Estimate],
    least: str = "",
    mark: str = "",
) -> list[Sequence[str] | str]:
    """A recommended method with its steps and ratios, and below it others as good, spread and intervals.

    ``least``: the sign before ratios that are bounds, from the coarsest step that was run; these have no interval. ``mark``:
    that behind a method which is not for long conservative runs, or whose outputs evaluate torques.
    """
    steps, either, spread = texts
    first = [names[0], rf"\textbf{{{escape(_shorter(method))}}}{mark}", steps, *(_gain(gain.value, least) for gain in ratios)]
    second = [names[1], small(either), small(spread), *(small("" if least else _ends(gain)) for gain in ratios)]
    return [first, *([second] if any(second) else []), SPACE]


def _gain_columns(gains: Mapping[str, Estimate]) -> dict[str, float]:
    """The gains over other methods, with their intervals, as columns of the file."""
    names = {"": "value", "_low": "low", "_high": "high"}
    return {f"gain_{key}{end}": getattr(gain, name) for key, gain in gains.items() for end, name in names.items()}


def _either(labels: Sequence[str]) -> str:
    """The methods that are as good: as many as a line holds, and the number of the others."""
    for shown in range(len(labels), -1, -1):
        rest = len(labels) - shown
        text = enumerated([*labels[:shown], *([f"{rest} {'more' if shown else 'others'}"] if rest else [])], "")
        if len(text) <= NAMED:
            break
    return f"or {text}" if labels else ""


def _gain(value: float, least: str) -> str:
    """A ratio, or that it is larger than this."""
    if least and isfinite(value) and value > 1:
        return f"{least}{ratio(-upper(-value, 2))}"  # a lower bound is rounded down
    return ratio(value)


SPACE = r"\addlinespace[3pt]"


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


def law_sheet(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """The law sheet over several pages: order, coefficient, steps per radian and slowdown, by class of torque and method."""
    ens = law_frames.ensemble(inputs)
    frame = law_frames.sheet(ens)
    groups, places = ens.declared("group", ""), ens.declared("place", 0)
    order = sorted(range(len(ens.methods)), key=lambda i: places[i])
    rows: list[Sequence[str] | str] = []
    columns = 6 + len(SHOWN)
    for torque_class in ens.classes:
        by_method = {row["method"]: row for row in records(frame[frame["torque_class"] == torque_class])}
        title = escape(ens.class_label(torque_class))
        rows += [SPACE] if rows else []
        rows.append(rf"\multicolumn{{{columns}}}{{@{{}}l}}{{\textbf{{{title}}}}} \\*[2pt]")
        last = None
        for i in order:
            key = ens.methods[i]
            row = by_method[key]
            if isnan(row["slowdown"]) and isnan(row["steps_1e-02"]):
                continue
            if last is not None and groups[i] != last:
                rows.append(r"\addlinespace[2pt]")
            last = groups[i]
            rows.append(" & ".join(_sheet_row(row)) + r" \\")
    targets = [f"$10^{{{log10(target):.0f}}}$" for target in SHOWN]
    head = ["method", "$p_q$, $p_\\omega$", "$C$", "$g$", "$h_s$", *targets, "slowdown"]
    text = long_table("@{}l" + "c" * (columns - 2) + "l@{}", head, rows, "lawsheet")
    return frame, text


def stiff_friction(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the steps per radian under friction of several rates, for three errors; the file has ranges and ratios."""
    frame = law_checks.stiff_friction(inputs)
    rates = sorted(frame["rate"].unique())
    rows: list[Sequence[str] | str] = []
    for error in law_checks.ERRORS:
        rows += [r"\midrule"] if rows else []
        of_error = frame[frame["error"] == error]
        least = of_error.groupby("rate")["steps"].min()
        first = f"$10^{{{log10(error):.0f}}}$"
        for key in of_error["method"].unique():
            line = {row["rate"]: row for row in records(of_error[of_error["method"] == key])}
            cells = [count(line[rate]["steps"]) for rate in rates]
            bold = [
                rf"\textbf{{{text}}}" if line[rate]["steps"] == least[rate] else text
                for text, rate in zip(cells, rates, strict=True)
            ]
            rows.append([first, escape(line[rates[0]]["label"]), *bold])
            first = ""
    head = ["error", "method", *(f"${rate:g}$" for rate in rates)]
    return frame, tabular("ll" + "r" * len(rates), head, rows)


def _sheet_row(row: dict[str, Any]) -> list[str]:
    orders = ", ".join(_order(row[f"order_{name}"]) for name in ("q", "omega"))
    c = "--"
    if isfinite(row["C"]):
        c = f"{_short(row['C'])} ({_short(row['C_low'])}--{_short(row['C_high'])})"
    cells = []
    for target in SHOWN:
        name = f"{target:.0e}"
        text = count(row[f"steps_{name}"])
        if row[f"coarsest_{name}"] > 0.5:
            text = rf"$\leq${text}"
        elif row[f"extrapolated_{name}"] > 0.5 and isfinite(row[f"steps_{name}"]):
            text = rf"{text}\textsuperscript{{e}}"
        cells.append(text)
    stable = rf"$\geq${_short(row['stable'])}" if row["stable_at_least"] else _short(row["stable"])
    slow = ratio(row["slowdown"])
    if row["best"] == row["method"]:
        slow = r"\textbf{1}"
    elif row["low"] > LARGE:
        slow = rf"$>$\num{{{LARGE}}}*"
    elif isfinite(row["slowdown"]):
        star = "*" if row["told_apart"] else ""
        # "330--$>$1000" would look like an arrow.
        high = rf" to $>$\num{{{LARGE}}}" if row["high"] > LARGE else f"--{ratio(row['high'])}"
        slow = f"{slow}{star}" + ("" if isnan(row["low"]) else f" ({ratio(row['low'])}{high})")
    return [escape(_shorter(row["label"])), orders, c, _order(row["growth"]), stable, *cells, slow]


def _shorter(label: str) -> str:
    """The name of a method for a narrow column."""
    for long, short in SHORT.items():
        label = label.replace(long, short)
    return label


def _order(value: float) -> str:
    return rf"\num{{{value:.1f}}}" if isfinite(value) else "--"


def _short(value: float) -> str:
    """A coefficient with two digits."""
    if not isfinite(value):
        return "--"
    return rf"\num{{{float(f'{value:.2g}'):g}}}" if 1e-3 <= value < 1e4 else rf"\num{{{value:.1e}}}"
