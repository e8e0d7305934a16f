"""The tables of Seelen et al. (2016), repeated, and related tables."""

from collections.abc import Sequence
from math import isfinite, nan
from typing import Any

import pandas as pd

from polhode.fits.orders import NO_ORDER, Order
from polhode.fits.values import at
from polhode.study.chapters.seelen2016 import theory as pcdm_theory
from polhode.study.chapters.seelen2016.frames import (
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
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.latex import NOT_AVAILABLE, above_head, decimal, escape, number, spanning, tabular

#: Half a unit of the last printed digit of Table 1.
PRINTED_ROUNDING = 5e-7


def seelen2016_table1(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the arrow on the sphere after 1 s (Table 1): every printed row, and below it our corresponding result.

    Errors are those of the x component, relative to the printed theory, as in the publication, and to the exact value. The data
    also contain the methods without a printed counterpart.
    """
    printed, ours = printed_rows(inputs), sphere_end(inputs)
    theory, exact = float(printed.x["Theory"]), float(ours.x["exact"])
    records: list[dict[str, Any]] = []
    rows: list[Sequence[str] | str] = []

    def add(row: str, source: pd.DataFrame, beside: str) -> None:
        x, z = float(source.x[row]), float(source.z[row])
        apart = x / float(printed.x[beside]) - 1 if beside else nan
        record: dict[str, Any] = {
            "row": row,
            "printed": source is printed,
            "x": x,
            "z": z,
            "error_percent_printed": float(printed.error_percent[row]) if source is printed else nan,
            "error_percent_of_theory": error_percent(x, theory),
            "error_percent_of_exact": error_percent(x, exact),
            "compared_with": beside,
            "relative_difference": apart,
        }
        records.append(record)
        name = f"{escape(row)}, printed" if source is printed else _name(inputs, row)
        # An error derived from six printed digits is known only to within their rounding.
        rounding = PRINTED_ROUNDING / exact * 100 if source is printed else 0.0
        if source is printed or beside:
            errors = [_percent(record["error_percent_of_theory"]), _percent(record["error_percent_of_exact"], rounding)]
            rows.append([name, decimal(x, 6), decimal(z, 6), *errors, number(apart, 2) if beside else "--"])

    for row, candidates in ROWS.items():
        if rows:
            rows.append(r"\addlinespace[3pt]")
        add(row, printed, "")
        for key in candidates:
            if key in ours.index:
                add(key, ours, row)
    for key in ours.index.difference([key for candidates in ROWS.values() for key in candidates], sort=False):
        add(str(key), ours, "")
    head = ["row", "$x$", "$z$", r"error (\%)", r"to exact (\%)", "rel.\\ diff."]
    return pd.DataFrame(records), tabular("lrrrrr", head, rows)


def _name(inputs: Inputs, key: str) -> str:
    return "exact" if key == "exact" else escape(inputs.of(SPHERE).label(key))


def _percent(value: float, rounding: float = 0.0) -> str:
    """An error in per cent, or a bound where the printed digits allow no more."""
    if value < rounding:
        return rf"$<{number(rounding, 2)}$"
    return number(value, 3) if value else "0"


def seelen2016_orders(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of orders of convergence in the cases with a torque, and of both averages of Fig. 3; ranges are in the data."""
    problems = (SPHERE, CYLINDER, PAIR)
    data_of = {problem: inputs.of(problem).errors for problem in problems if problem in inputs.problems}
    present = [key for key in METHODS if any(key in data["integrator"].values for data in data_of.values())]
    if not present:
        raise NotInRun(f"this run has none of the problems {', '.join(problems)}")
    records: list[dict[str, Any]] = []
    rows = []
    for key in present:
        record: dict[str, Any] = {"method": key}
        cells = [_label(inputs, problems, key)]
        for problem in problems:
            for quantity in ("q", "omega"):
                for suffix in ("order", "order_low", "order_high"):
                    value = at(data_of[problem], f"{quantity}_{suffix}", key) if problem in data_of else nan
                    record[f"{problem}_{quantity}_{suffix}"] = value
                cells.append(decimal(record[f"{problem}_{quantity}_order"], 3))
        for quantity in ("inclination_error_mean", "angle_error_mean"):
            fit = _slope(inputs, key, quantity)
            record |= {f"{quantity}_order": fit.order, f"{quantity}_order_low": fit.low, f"{quantity}_order_high": fit.high}
            record |= {f"{quantity}_dt_min": fit.dt_min, f"{quantity}_dt_max": fit.dt_max}
            cells.append(decimal(fit.order, 3))
        records.append(record)
        rows.append(cells)
    head = ["method", *[r"$p_q$", r"$p_\omega$"] * 3, r"$\alpha$", "angle"]
    text = tabular("l" + "c" * 8, head, rows)
    groups = ("sphere", "cylinder", "two cylinders", "cylinder, means")
    return pd.DataFrame(records), above_head(text, spanning(*((name, 2) for name in groups)))


def _label(inputs: Inputs, problems: Sequence[str], key: str) -> str:
    return escape(next((inputs.of(p).label(key) for p in problems if p in inputs.problems), key))


def _slope(inputs: Inputs, key: str, quantity: str) -> Order:
    try:
        return mean_slope(inputs, key, quantity)
    except NotInRun:
        return NO_ORDER


def seelen2016_stability(inputs: Inputs) -> tuple[pd.DataFrame, str]:
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
            _label(inputs, (PAIR, inputs.problem), r["method"]),
            decimal(r["limit"], 3) if isfinite(r["limit"]) else above if r["limit"] > 0 else NOT_AVAILABLE,
            f"({decimal(r['predicted'], 3)})" if isfinite(r["predicted"]) else "",
        ]
        for r in records
    ]
    half = -(-len(rows) // 2)
    blank = [""] * 3
    paired = [[*rows[i], *(rows[half + i] if half + i < len(rows) else blank)] for i in range(half)]
    return pd.DataFrame(records), tabular("lcl@{\\qquad}lcl", ["method", r"$k\,\dt$", ""] * 2, paired)
