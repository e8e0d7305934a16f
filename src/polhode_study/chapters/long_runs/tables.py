"""Tables of drift in long runs, symplecticity, reversibility and librations for all methods."""

from contextlib import suppress
from functools import partial
from math import inf, isfinite, nan
from typing import Any

import pandas as pd

from polhode.fits import drift
from polhode.interface.table import Column, Table, placed
from polhode_study.chapters.long_runs import frames as analysis
from polhode_study.chapters.long_runs import frames_of_drift
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import selection
from polhode_study.report.formats import spoken_list
from polhode_study.report.frames import keyed, only_finite
from polhode_study.report.latex import NOT_AVAILABLE, decimal, escape, number, step
from polhode_study.report.tables import of_methods

#: Heads of the columns of the long runs, which its caption explains: the symbols of the figures are too wide.
SYMBOLS = {"energy_drift": r"$\Delta E$", "momentum_drift": r"$\Delta L$", "norm_error": r"$\delta q$"}


def long_runs(inputs: Inputs) -> Table:
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

    def change(record: dict[str, Any] | None) -> str:
        if record is None:
            return "--"
        if record["diverged"] or not record["last"] < drift.LOST_CHANGE:
            return "lost"
        is_energy = isfinite(record["growth"]) and record["quantity"] == "energy_drift"
        growth = f" ({record['growth']:.1f})" if is_energy else ""
        return step(float(record["last"]), 2) + growth.replace("-0.0", "0.0").replace("-", "$-$")

    def norm_error(method: str) -> float:
        norms = [by_run[key]["largest"] for key in ((p, method, "norm_error") for p in problems) if key in by_run]
        return max(only_finite(norms), default=nan)

    columns = [
        Column(
            SYMBOLS[name],
            lambda method, problem=problem, name=name: by_run.get((problem, method, name)),
            change,
            "c",
            over=escape(selection.short_name(inputs, problem)),
        )
        for problem in problems
        for name in held[problem]
    ]
    columns.append(Column(SYMBOLS["norm_error"], norm_error, ".0e", "c", over="all", none="--"))
    methods = [method for problem, method, _ in by_run if problem in problems]
    return of_methods(inputs, data, methods, partial(selection.label, inputs), columns)


def reversibility(inputs: Inputs) -> Table:
    """Each method's distance from its start after a return, with its order at the finest steps above rounding; a file only."""
    return Table(analysis.reversibility(inputs))


def symplecticity(inputs: Inputs) -> Table:
    """The defect of the canonical form over one step of each method, and the power of dt with which it falls; a file only."""
    return Table(analysis.symplecticity(inputs))


def librations(inputs: Inputs) -> Table:
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
    head = ["methods", r"$\ln|\lambda|$", r"$\delta\nu/\nu$", "limit", "water"]
    rows = [(spoken_list(inputs, methods), *of_group) for of_group, methods in groups.items()]
    return Table(data, placed(head, [r"p{0.5\textwidth}", *"rrrr"]), rows=rows)


def _term(power: float, coefficient: float) -> str:
    """The first term of a series in x."""
    if not isfinite(power):
        return NOT_AVAILABLE
    return rf"${coefficient:+.4f}\,x^{{{power:.0f}}}$" if power else "0"


def thermal_librations(inputs: Inputs) -> Table:
    """The drift of a librating molecule at thermal amplitudes, of methods whose roots have modulus one; a file only."""
    return Table(analysis.thermal_librations(inputs))
