"""Tables of correctors: what they gain for several splittings, and what a liquid is read with."""

from collections.abc import Sequence
from math import isfinite

import pandas as pd

from polhode.study.chapters.correctors import frames
from polhode.study.chapters.laws import frames_of_checks as law_checks
from polhode.study.chapters.liquids import frames as liquids
from polhode.study.inputs import Inputs
from polhode.study.report.latex import above_head, decimal, escape, or_dash, spanning, tabular


def correctors(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the factor by which a corrector lowers the torques per radian, by splitting, class and strength."""
    frame = law_checks.strengths(inputs)
    labels = dict(zip(frame["method"], frame["label"], strict=True))
    strengths = [x for x in sorted(frame["strength"].unique()) if x <= 1]
    tables = {name: frames.torques(inputs, name, frames.TIGHT) for name in ("state", "lab")}
    records, rows = [], []
    for method in labels:
        plain = method.partition("_corrected")[0]
        if plain == method:
            continue
        gains = {
            (name, strength): frames.gain(table, method, plain, strength)
            for name, table in tables.items()
            for strength in strengths
        }
        records.append(
            {"method": method, "splitting": plain, **{f"{name}_{strength:g}": x for (name, strength), x in gains.items()}}
        )
        numbers = [or_dash(decimal(x, 1 if x < 10 else 0) if isfinite(x) else "") for x in gains.values()]
        rows.append([escape(labels[method]), *numbers])
    head = ["", *(f"${strength:g}$" for _ in tables for strength in strengths)]
    listed: list[Sequence[str] | str] = [*rows]
    return pd.DataFrame(records), tabular("@{}l" + "r" * (len(head) - 1) + "@{}", head, listed)


#: Readings of positions, and the digits that are printed.
READINGS = {"potential": 3, "pressure": 2, "peak": 2}


def corrector_positions(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of what depends on positions in a liquid, by step: read on whole steps and corrected, less the truth."""
    data = liquids.positions(inputs)
    records, rows = [], []
    for dt in map(float, data["dt"].values[1:]):
        cells = [f"{dt:g}"]
        for name, digits in READINGS.items():
            for method in map(str, data["integrator"].values):
                change = liquids.read_wrongly(inputs, name, method, dt)
                half = (change.high - change.low) / 2
                records.append({"dt_fs": dt, "reading": name, "method": method, "change": change.value, "half_width": half})
                cells.append(rf"${change.value:+.{digits}f} \pm {half:.{digits}f}$")
        cells.insert(2, f"${liquids.potential_read_above(inputs, dt):+.3f}$")
        rows.append(cells)
    above = spanning(("potential energy", 3), ("pressure", 2), ("first peak", 2))
    head = [r"$\Delta t$ (fs)", "whole step", "predicted", "corrected", *["whole step", "corrected"] * 2]
    table: list[Sequence[str] | str] = [*rows]
    text = tabular("@{}r" + "c" * (len(head) - 1) + "@{}", head, table)
    return pd.DataFrame(records), above_head(text, above)
