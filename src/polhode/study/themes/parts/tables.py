"""Table of the best combination of parts for each class of torque; its CSV has the errors and orders of all."""

from typing import Any

import pandas as pd

from polhode.study.inputs import Inputs
from polhode.study.report.latex import decimal, escape, step, tabular
from polhode.study.themes.parts import analysis
from polhode.study.themes.parts.analysis import FACTORS, LABELS

#: Combinations within this factor of the best count as equally good.
CLOSE = 2.0


def parts(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the best combination for each problem, its error and order, and the number of combinations close to it."""
    error, order = analysis.errors(inputs), analysis.orders(inputs)
    frame = error.to_dataframe("error").reset_index()
    frame["order"] = order.transpose(*error.dims).values.ravel()
    rows = []
    for problem, name in zip(error["problem"].values, error["torque_class"].values, strict=True):
        best = analysis.best(error, problem)
        values = error.sel(problem=problem)
        close = int((values <= CLOSE * values.min()).sum())
        where: Any = {**best, "problem": problem}
        rows.append(
            [
                escape(str(name)),
                *(escape(LABELS[best[factor]]) for factor in FACTORS),
                step(float(values.min()), 2),
                decimal(float(order.sel(where)), 2),
                str(close),
            ]
        )
    head = ["class", "kick", "rotation", "place of the torque", "error", "order", f"within {CLOSE:g} times"]
    return frame, tabular("llllccc", head, rows)
