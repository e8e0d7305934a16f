"""Tables of correctors: what they gain for several splittings, and what a liquid is read with."""

from math import isfinite

from polhode.interface.table import Column, Table, placed
from polhode_study.chapters.correctors import frames
from polhode_study.chapters.laws import frames_of_checks as law_checks
from polhode_study.chapters.liquids import frames as liquids
from polhode_study.inputs import Inputs
from polhode_study.report.latex import decimal, or_dash


def correctors(inputs: Inputs) -> Table:
    """A table of the factor by which a corrector lowers the torques per radian, by splitting, class and strength."""
    frame = law_checks.strengths(inputs)
    labels = dict(zip(frame["method"], frame["label"], strict=True))
    strengths = [x for x in sorted(frame["strength"].unique()) if x <= 1]
    tables = {name: frames.torques(inputs, name, frames.TIGHT) for name in ("state", "lab")}
    records = []
    for method in labels:
        plain = method.partition("_corrected")[0]
        if plain == method:
            continue
        gains = {
            f"{name}_{strength:g}": frames.gain(table, method, plain, strength)
            for name, table in tables.items()
            for strength in strengths
        }
        records.append({"method": method, "splitting": plain, **gains})

    def gain(x: float) -> str:
        return or_dash(decimal(x, 1 if x < 10 else 0) if isfinite(x) else "")

    columns = [Column("", lambda row: labels[row["method"]])]
    columns += [Column(f"${strength:g}$", f"{name}_{strength:g}", gain, "r") for name in tables for strength in strengths]
    return Table(records, columns, tight=True)


#: Readings of positions, and the digits that are printed.
READINGS = {"potential": 3, "pressure": 2, "peak": 2}


def corrector_positions(inputs: Inputs) -> Table:
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
    heads = [r"$\Delta t$ (fs)", "whole step", "predicted", "corrected", *["whole step", "corrected"] * 2]
    overs = ["", *["potential energy"] * 3, *["pressure"] * 2, *["first peak"] * 2]
    return Table(records, placed(heads, "r" + "c" * 7, overs=overs), rows=rows, tight=True)
