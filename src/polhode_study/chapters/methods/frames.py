"""Declared and measured orders of a run, as frames."""

from typing import Any

import numpy as np
import pandas as pd

from polhode.fits.orders import TOLERANCE as TOLERANCE
from polhode.fits.values import at
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.selection import problems_by_class

QUANTITIES = ("q", "omega")


def orders(inputs: Inputs) -> pd.DataFrame:
    """Declared and measured orders, one row for each torque class, problem and method.

    Columns: torque_class, problem, method; for q and omega: declared_X, highest_X (what the method declares for torques that
    suit it best), X_order, X_order_low, X_order_high (over shifted windows of the fit), X_order_dt_min, X_order_dt_max (s),
    X_order_points, reduced_X (measured below the highest), missed_X (measured below what is declared for this class),
    unfitted_X (no order could be fitted).
    """
    rows: list[dict[str, Any]] = []
    classes = problems_by_class(inputs)
    for torque_class, keys in classes:
        for problem in keys:
            data = inputs.of(problem).errors
            for method in inputs.in_order(data["integrator"].values):
                row: dict[str, Any] = {"torque_class": torque_class, "problem": problem, "method": method}
                for short in QUANTITIES:
                    row[f"declared_{short}"] = at(data, f"claimed_{short}_order", method)
                    for suffix in ("", "_low", "_high", "_dt_min", "_dt_max", "_points"):
                        row[f"{short}_order{suffix}"] = at(data, f"{short}_order{suffix}", method)
                rows.append(row)
    if not rows:
        raise NotInRun("this run has no problems")
    frame = pd.DataFrame(rows)
    for short in QUANTITIES:
        declared = frame.groupby("method")[f"declared_{short}"].max()
        highest = {key: float(inputs.declared(key, f"claimed_{short}_order", float(declared[key]))) for key in declared.index}
        frame[f"highest_{short}"] = frame["method"].map(highest)
        measured = frame[f"{short}_order"]
        frame[f"reduced_{short}"] = measured < frame[f"highest_{short}"] - TOLERANCE
        frame[f"missed_{short}"] = measured < frame[f"declared_{short}"] - TOLERANCE
        frame[f"unfitted_{short}"] = ~np.isfinite(measured)
    return frame


def lowest_orders(frame: pd.DataFrame) -> pd.DataFrame:
    """The lowest measured order of each method in each torque class, from :func:`orders`; a row for each."""
    columns = {f"{short}_order": "min" for short in QUANTITIES} | {f"declared_{short}": "min" for short in QUANTITIES}
    flags = {f"{flag}_{short}": "any" for flag in ("reduced", "missed", "unfitted") for short in QUANTITIES}
    result: pd.DataFrame = frame.groupby(["method", "torque_class"], sort=False, as_index=False).agg(columns | flags)
    return result
