"""Tables of liquids in a heat bath: every case, and the longest steps."""

from functools import partial
from math import inf

import pandas as pd

from polhode.fits.bath_runs import KINDS, STRUCTURE, BathRun, BathRuns
from polhode.fits.baths import BIAS
from polhode.fits.seed_statistics import Estimate
from polhode.interface.table import Column, RowGroup, Table
from polhode_study.chapters.baths import frames
from polhode_study.inputs import Inputs
from polhode_study.report.formats import plain
from polhode_study.report.latex import NOT_AVAILABLE, escape

#: The columns of temperatures in K: name in the data, head, place in the step.
TEMPERATURES = (
    ("rotation", "rotation", "end of the step"),
    ("translation", "translation", "end of the step"),
    ("middle_rotation", "rotation", "between the kicks"),
    ("middle_translation", "translation", "between the kicks"),
)


def baths(inputs: Inputs) -> Table:
    """A table of temperatures and the potential energy by scheme, friction and step; the file has all cases."""
    every = frames.runs(inputs)
    frame = pd.DataFrame([_row(every, case) for case in every.cases.values()])
    chosen = frame[(frame["scene"] == frames.SMALL) & frame["scheme"].isin(list(frames.SCHEMES))]

    def measured(head: str, name: str, decimals: int = 1, over: str = "") -> Column:
        return Column(head, lambda row: row, partial(_with_half, name, decimals), "r", over=over)

    columns = [
        Column("scheme", "scheme", lambda key: escape(frames.SCHEMES[key]), once=True),
        Column(r"$\gamma$", "friction", plain, "r", unit="1/ps", once=True),
        Column(r"$\Delta t$", "dt_fs", ".0f", "r", unit="fs"),
        *(measured(head, name, over=place) for name, head, place in TEMPERATURES),
        measured("torques", "configurational", over="by"),
        measured("$kT$", "potential", 3, over="potential"),
    ]
    groups = [RowGroup(lambda row: (row["scheme"], row["friction"]))]
    rows = sorted(chosen.to_dict("records"), key=lambda row: _order((row["scheme"], row["friction"])))
    return Table(frame, columns, rows=rows, groups=groups, tight=True)


def _order(ladder: tuple[str, float]) -> tuple[int, float]:
    """By scheme and then by friction."""
    return list(frames.SCHEMES).index(ladder[0]), ladder[1]


def _row(every: BathRuns, case: BathRun) -> dict[str, object]:
    """A row of the file: values with the ends of their intervals, K and kT."""
    row: dict[str, object] = {
        "scene": case.scene,
        "scheme": case.scheme,
        "friction": case.friction,
        "dt_fs": case.dt,
        "duration_ps": case.duration / 1e3,
        "lost": int(case.is_lost),
    }
    estimates = {name: case.reading(name) for name, *_ in TEMPERATURES} | {"configurational": case.configurational}
    potential = case.biases(every.truth(case.scene))["potential"]
    estimates |= {"potential": Estimate(potential.value, potential.low, potential.high), "excess": case.excess}
    estimates |= {name: case.reading(name) for name in STRUCTURE}
    for name, estimate in estimates.items():
        row |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
    return row | {"drift_kT_per_ns": case.drift.value, "by_drift": case.balance - every.temperature}


def _with_half(name: str, decimals: int, row: dict[str, float]) -> str:
    """A value with half of its interval."""
    value, half = row[name], (row[f"{name}_high"] - row[f"{name}_low"]) / 2
    if value != value:
        return "lost" if row["lost"] else NOT_AVAILABLE
    return rf"\num{{{value:.{decimals}f}}}\,$\pm$\,\num{{{half:.{decimals}f}}}"


def bath_steps(inputs: Inputs) -> Table:
    """A table of the longest steps with a small bias: with which it is shown, up to which it may be, and by a fit."""
    every, rows = frames.runs(inputs), []
    for scene in (frames.SMALL, frames.LARGE):
        ladders = {(case.scheme, case.friction) for case in every.of(scene) if case.scheme in frames.SCHEMES}
        for scheme, friction in sorted(ladders, key=_order):
            longest = every.longest_steps(scene, scheme, friction, BIAS)
            row: dict[str, object] = {"scene": scene, "scheme": scheme, "friction": friction}
            for name in (*KINDS, "potential"):
                step = longest[name]
                row |= {name: step.certain, f"{name}_at_most": step.possible, f"{name}_fitted": step.fitted.value}
                row |= {f"{name}_fitted_low": step.fitted.low, f"{name}_fitted_high": step.fitted.high}
            rows.append(row)

    def of_bias(head: str, name: str) -> Column:
        return Column(head, lambda row: (row[name], row[f"{name}_at_most"]), _steps, "c", over="longest step (fs)")

    def fitted(head: str, name: str) -> Column:
        ends = (f"{name}_fitted_low", f"{name}_fitted_high")
        return Column(head, lambda row: tuple(row[end] for end in ends), _range, "c", over=r"by $c\,\Delta t^2$ (fs)")

    columns = [
        Column("liquid", "scene", lambda key: f"{key.removeprefix('water')} molecules", once=True),
        Column("scheme", "scheme", lambda key: escape(frames.SCHEMES[key]), once=True),
        Column(r"$\gamma$", "friction", plain, "r", unit="1/ps"),
        of_bias("translation", KINDS[0]),
        of_bias("rotation", KINDS[1]),
        of_bias("potential energy", "potential"),
        fitted("rotation", KINDS[1]),
        fitted("potential energy", "potential"),
    ]
    return Table(pd.DataFrame(rows), columns, groups=[RowGroup("scene")])


def _steps(ends: tuple[float, float]) -> str:
    """The longest step that is shown to have so small a bias, and in brackets the longest that may be."""
    certain, possible = (f"{end:g}" if end else "--" for end in ends)
    return certain if certain == possible else f"{certain}\\,({possible})"


def _range(ends: tuple[float, float]) -> str:
    """From the one step to the other, or that it is the first at least."""
    low, high = ends
    return f"{low:.2g} to {high:.2g}" if high < inf else rf"$\geq$\,{low:.2g}"
