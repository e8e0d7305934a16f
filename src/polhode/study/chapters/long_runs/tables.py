"""Tables of drift in long runs, symplecticity, reversibility and librations for all methods."""

from collections.abc import Sequence
from contextlib import suppress
from math import inf, isfinite, nan

import pandas as pd

from polhode.fits import drift
from polhode.fits.canonical_form import READINGS
from polhode.fits.canonical_form import ROUNDING as NO_DEFECT
from polhode.study.chapters.long_runs import frames as analysis
from polhode.study.chapters.long_runs import frames_of_drift
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report import selection
from polhode.study.report.formats import spoken_list, upper
from polhode.study.report.frames import keyed, only_finite
from polhode.study.report.latex import (
    NOT_AVAILABLE,
    above_head,
    decimal,
    escape,
    grouped_rows,
    long_table,
    number,
    or_dash,
    spanning,
    step,
    tabular,
)

#: Heads of the columns of the long runs, which its caption explains: the symbols of the figures are too wide.
SYMBOLS = {"energy_drift": r"$\Delta E$", "momentum_drift": r"$\Delta L$", "norm_error": r"$\delta q$"}


def long_runs(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the deviations of energy, angular momentum and norm at the end of long runs, and of their growth.

    The CSV contains every problem with a long run, and the runs with normalisation switched (column switched).
    """
    frames = [frames_of_drift.long_runs(inputs, inputs.problems).assign(switched=False)]
    with suppress(NotInRun):
        frames.append(frames_of_drift.long_runs(inputs, inputs.problems, "long_run_switched").assign(switched=True))
    data = pd.concat(frames, ignore_index=True)
    by_run = keyed(frames[0], "problem", "method", "quantity")
    held = {
        p: [q for q in ("energy_drift", "momentum_drift") if (frames[0].problem.eq(p) & frames[0].quantity.eq(q)).any()]
        for p in frames_of_drift.long_problems(inputs)
    }
    problems = [p for p, quantities in held.items() if quantities]
    if not problems:
        raise NotInRun(f"this run has no long run of {', '.join(frames_of_drift.LONG_PROBLEMS)}")
    methods = inputs.in_order(m for p, m, _ in by_run if p in problems)

    def entry(problem: str, method: str, quantity: str) -> str:
        if (problem, method, quantity) not in by_run:
            return "--"
        record = by_run[problem, method, quantity]
        if record["diverged"] or not record["last"] < drift.LOST_CHANGE:
            return "lost"
        growth = f" ({record['growth']:.1f})" if isfinite(record["growth"]) and quantity == "energy_drift" else ""
        return step(float(record["last"]), 2) + growth.replace("-0.0", "0.0").replace("-", "$-$")

    def row(method: str) -> list[str]:
        cells = [escape(selection.label(inputs, method))]
        for problem in problems:
            cells += [entry(problem, method, name) for name in held[problem]]
        norms = [by_run[key]["largest"] for key in ((p, method, "norm_error") for p in problems) if key in by_run]
        largest = max(only_finite(norms), default=nan)
        return [*cells, or_dash(step(largest, 1))]

    symbols = [SYMBOLS[name] for p in problems for name in held[p]]
    head = ["method", *symbols, SYMBOLS["norm_error"]]
    text = tabular("l" + "c" * len(symbols) + "c", head, grouped_rows(inputs, methods, row))
    names = [(escape(selection.short_name(inputs, problem)), len(held[problem])) for problem in problems]
    return data, above_head(text, spanning(*names, "all"))


def reversibility(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of each method's distance from its start after a return, with its order at the finest steps above rounding."""
    check = inputs.check("reversibility")
    problems = [str(p) for p in check["problem"].values]
    data = analysis.reversibility(inputs)
    by_run = keyed(data, "problem", "method")

    def row(method: str) -> list[str]:
        cells = [escape(selection.label(inputs, method))]
        for problem in problems:
            record = by_run[problem, method]
            cells += [
                step(float(record["return_angle"]), 2),
                decimal(float(record["order"]), 1)
                if isfinite(record["order"])
                else "rounding"
                if record["rounding"]
                else NOT_AVAILABLE,
            ]
        return cells

    methods = list(dict.fromkeys(data["method"]))
    head = ["method", *(["angle (rad)", "order"] * len(problems))]
    rows, above = grouped_rows(inputs, methods, row), _problems_above(inputs, problems)
    return data, long_table("l" + "cc" * len(problems), head, rows, "reversibility", above, gap="")


def _problems_above(inputs: Inputs, problems: Sequence[str]) -> str:
    """The names of problems above two columns for each."""
    return spanning(*((escape(selection.short_name(inputs, problem)), 2) for problem in problems))


#: The table shows both readings of a method if their defects differ by more than this, relative to the smaller one.
SAME_DEFECT = 0.1


def symplecticity(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the defect of the canonical form over one step of each method, and the power of dt with which it falls."""
    check = inputs.check("symplecticity")
    problems = [str(p) for p in check["problem"].values]
    data = analysis.symplecticity(inputs)
    by_run = keyed(data, "method", "reading", "problem")

    def cells(method: str, reading: str) -> list[str]:
        entries: list[str] = []
        for problem in problems:
            record = by_run[method, reading, problem]
            if not isfinite(record["defect"]):
                entries += ["no map" if isfinite(record["memory"]) else NOT_AVAILABLE, "--"]
            elif record["defect"] < NO_DEFECT:
                entries += [step(record["defect"], 1), "rounding"]
            else:
                entries += [step(record["defect"], 2), decimal(record["power"], 1)]
        return entries

    def differ(method: str) -> bool:
        one, two = ([by_run[method, reading, p]["defect"] for p in problems] for reading in READINGS)
        return any(abs(a - b) > SAME_DEFECT * min(a, b) for a, b in zip(one, two, strict=True) if max(a, b) > NO_DEFECT)

    rows: list[Sequence[str] | str] = []
    for method in grouped_rows(inputs, list(dict.fromkeys(data["method"])), lambda key: [key]):
        if isinstance(method, str):
            rows.append(method)
            continue
        key = method[0]
        name = escape(selection.label(inputs, key))
        rows.append([name, *cells(key, READINGS[0])])
        if differ(key):
            # The star keeps a page from ending between the two lines of a method.
            rows[-1] = " & ".join(rows[-1]) + r" \\*"
            rows.append([r"\quad as read", *cells(key, READINGS[1])])
    head = ["method", *(["defect", "power"] * len(problems))]
    above = _problems_above(inputs, problems)
    return data, long_table("l" + "rc" * len(problems), head, rows, "symplectic", above, gap="")


def librations(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of growth, frequency and limit of stability of librations, and the drift of water; equal methods together.

    The CSV has a row for each method.
    """
    data = analysis.librations(inputs)

    def entries(record: pd.Series) -> tuple[str, ...]:
        return (
            _term(record["power"], record["coefficient"]),
            _term(record["shift_power"], record["shift_coefficient"]),
            "none" if record["limit"] == inf else "--" if record["limit"] == 0 else decimal(record["limit"], 2),
            number(record["water"], 2) if record["water"] else "0",
        )

    strongest_first = data.sort_values("water", key=lambda column: -column.abs(), kind="stable", na_position="last")
    groups: dict[tuple[str, ...], list[str]] = {}
    for _, record in strongest_first.iterrows():
        groups.setdefault(entries(record), []).append(record["method"])
    rows = [[spoken_list(inputs, methods), *of_group] for of_group, methods in groups.items()]
    head = ["methods", r"$\ln|\lambda|$", r"$\delta\nu/\nu$", "limit", "water"]
    return data, tabular(r"p{0.5\textwidth}rrrr", head, rows)


def _term(power: float, coefficient: float) -> str:
    """The first term of a series in x."""
    if not isfinite(power):
        return NOT_AVAILABLE
    return rf"${coefficient:+.4f}\,x^{{{power:.0f}}}$" if power else "0"


def thermal_librations(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the drift of a librating molecule at thermal amplitudes, of the methods whose roots have modulus one."""
    data = analysis.thermal_librations(inputs)
    by_run, steps = keyed(data, "method", "dt"), sorted(set(data["dt"]))

    def row(method: str) -> list[str]:
        runs = [by_run[method, dt] for dt in steps]
        drifts = [_drift(run["drift"], run["error"]) for run in runs]
        powers = only_finite(r["power"] for r in runs)
        return [escape(selection.label(inputs, method)), *drifts, decimal(powers[-1], 1) if powers else "--"]

    head = ["method", *(rf"\qty{{{dt:g}}}{{\femto\second}}" for dt in steps), "power"]
    rows = grouped_rows(inputs, list(dict.fromkeys(data["method"])), row)
    return data, tabular("l" + "r" * (len(steps) + 1), head, rows)


def _drift(drift: float, error: float) -> str:
    """A drift with its standard error, or the bound on one that is not seen."""
    if not isfinite(drift):
        return "lost"
    if abs(drift) > analysis.SEEN * error:
        return rf"{number(drift, 2)}\,({number(error, 1)})"
    return f"$<${number(upper(abs(drift) + analysis.SEEN * error, 1), 1)}"
