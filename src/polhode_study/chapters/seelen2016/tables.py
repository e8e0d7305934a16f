"""The tables of Seelen et al. (2016), repeated, and related tables."""

from collections.abc import Sequence
from itertools import zip_longest
from math import isfinite, nan
from typing import Any

import pandas as pd

from polhode.fits.orders import NO_ORDER, Order
from polhode.fits.values import at
from polhode.interface.table import Column, RowGroup, Table, placed
from polhode_study.chapters.seelen2016 import theory as pcdm_theory
from polhode_study.chapters.seelen2016.frames import (
    CYLINDER,
    METHODS,
    PAIR,
    ROWS,
    SPHERE,
    error_percent,
    mean_slope,
    printed_rows,
    sphere_end,
)
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.latex import NOT_AVAILABLE, decimal, escape, number

#: Half a unit of the last printed digit of Table 1.
PRINTED_ROUNDING = 5e-7


def seelen2016_table1(inputs: Inputs) -> Table:
    """A table of the arrow on the sphere after 1 s (Table 1): every printed row, and below it our corresponding result.

    Errors are those of the x component, relative to the printed theory, as in the publication, and to the exact value. The data
    also contain the methods without a printed counterpart.
    """
    printed, ours = printed_rows(inputs), sphere_end(inputs)
    theory, exact = float(printed.x["Theory"]), float(ours.x["exact"])
    records: list[dict[str, Any]] = []

    def add(row: str, source: pd.DataFrame, beside: str) -> None:
        x, z = float(source.x[row]), float(source.z[row])
        record: dict[str, Any] = {
            "row": row,
            "printed": source is printed,
            "x": x,
            "z": z,
            "error_percent_printed": float(printed.error_percent[row]) if source is printed else nan,
            "error_percent_of_theory": error_percent(x, theory),
            "error_percent_of_exact": error_percent(x, exact),
            "compared_with": beside,
            "relative_difference": x / float(printed.x[beside]) - 1 if beside else nan,
        }
        records.append(record)

    for row, candidates in ROWS.items():
        add(row, printed, "")
        for key in candidates:
            if key in ours.index:
                add(key, ours, row)
    for key in ours.index.difference([key for candidates in ROWS.values() for key in candidates], sort=False):
        add(str(key), ours, "")

    def name(row: dict[str, Any]) -> str:
        key = row["row"]
        return f"{key}, printed" if row["printed"] else "exact" if key == "exact" else inputs.of(SPHERE).label(key)

    def to_exact(row: dict[str, Any]) -> str:
        # An error derived from six printed digits is known only to within their rounding.
        return _percent(row["error_percent_of_exact"], PRINTED_ROUNDING / exact * 100 if row["printed"] else 0.0)

    columns = [
        Column("row", name),
        Column("$x$", "x", ".6f", "r"),
        Column("$z$", "z", ".6f", "r"),
        Column(r"error (\%)", "error_percent_of_theory", _percent, "r"),
        Column(r"to exact (\%)", None, to_exact, "r"),
        Column("rel.\\ diff.", "relative_difference", ".2g", "r", none="--"),
    ]
    rows = [record for record in records if record["printed"] or record["compared_with"]]
    return Table(records, columns, rows=rows, groups=[RowGroup(lambda row: row["compared_with"] or row["row"])])


def _percent(value: float, rounding: float = 0.0) -> str:
    """An error in per cent, or a bound where the printed digits allow no more."""
    if value < rounding:
        return rf"$<{number(rounding, 2)}$"
    return number(value, 3) if value else "0"


def seelen2016_orders(inputs: Inputs) -> Table:
    """Orders of convergence in the cases with a torque, and of both averages of Fig. 3, with their ranges; a file only."""
    problems = (SPHERE, CYLINDER, PAIR)
    data_of = {problem: inputs.of(problem).errors for problem in problems if problem in inputs.problems}
    present = [key for key in METHODS if any(key in data["integrator"].values for data in data_of.values())]
    if not present:
        raise NotInRun(f"this run has none of the problems {', '.join(problems)}")
    records: list[dict[str, Any]] = []
    for key in present:
        record: dict[str, Any] = {"method": key}
        for problem in problems:
            for quantity in ("q", "omega"):
                for suffix in ("order", "order_low", "order_high"):
                    value = at(data_of[problem], f"{quantity}_{suffix}", key) if problem in data_of else nan
                    record[f"{problem}_{quantity}_{suffix}"] = value
        for quantity in ("inclination_error_mean", "angle_error_mean"):
            fit = _slope(inputs, key, quantity)
            record |= {f"{quantity}_order": fit.order, f"{quantity}_order_low": fit.low, f"{quantity}_order_high": fit.high}
            record |= {f"{quantity}_dt_min": fit.dt_min, f"{quantity}_dt_max": fit.dt_max}
        records.append(record)
    return Table(records)


def _label(inputs: Inputs, problems: Sequence[str], key: str) -> str:
    return next((inputs.of(p).label(key) for p in problems if p in inputs.problems), key)


def _slope(inputs: Inputs, key: str, quantity: str) -> Order:
    try:
        return mean_slope(inputs, key, quantity)
    except NotInRun:
        return NO_ORDER


def seelen2016_stability(inputs: Inputs) -> Table:
    """A table of the largest product of decay rate and step with which each method still slows the two cylinders."""
    data = inputs.check("stability")
    largest = float(data.attrs.get("largest", nan))
    records = []
    for key, limit in zip(map(str, data["integrator"].values), data["limit"].values.astype(float), strict=True):
        records.append({"method": key, "limit": limit, "predicted": pcdm_theory.STABLE_UP_TO.get(key, nan)})
    records.sort(key=lambda record: -record["limit"])
    above = rf"$>{number(largest, 2)}$" if isfinite(largest) else r"$\infty$"
    rows = [
        [
            escape(_label(inputs, (PAIR, inputs.problem), r["method"])),
            decimal(r["limit"], 3) if isfinite(r["limit"]) else above if r["limit"] > 0 else NOT_AVAILABLE,
            f"({decimal(r['predicted'], 3)})" if isfinite(r["predicted"]) else "",
        ]
        for r in records
    ]
    half = -(-len(rows) // 2)
    pairs = [left + right for left, right in zip_longest(rows[:half], rows[half:], fillvalue=[""] * 3)]
    return Table(records, placed(["method", r"$k\,\dt$", ""] * 2, ["l", "c", r"l@{\qquad}", "l", "c", "l"]), rows=pairs)
