"""Table of the errors of impacts and their orders, cure by cure; its CSV has those of all methods."""

from collections.abc import Sequence

import pandas as pd

from polhode.study.inputs import Inputs
from polhode.study.report.latex import decimal, escape, step, tabular
from polhode.study.themes.impacts import analysis
from polhode.study.themes.impacts.analysis import STATED


def impacts(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the error of the spin at two steps, the orders of spin and velocity, and the closure, by impact and stage."""
    data = analysis.check(inputs)
    frame = analysis.frame(data)
    rows: list[Sequence[str] | str] = []
    of_leading = frame[frame["method"] == analysis.LEADING]
    for label, of_case in of_leading.groupby("case_label", sort=False):
        rows += [r"\addlinespace[3pt]"] if rows else []
        rows.append(rf"\multicolumn{{6}}{{@{{}}l}}{{\emph{{{escape(str(label))}}}}} \\")
        for row in of_case.to_dict("records"):
            errors = [step(row[f"error_spin_{steps}"], 2) for steps in STATED]
            orders = [decimal(row[f"order_{name}"], 2) for name in ("spin", "velocity")]
            rows.append([rf"\quad {escape(row['stage_label'])}", *errors, *orders, step(row[f"closure_{STATED[-1]}"], 1)])
    head = ["", *(f"error, $T/{steps}$" for steps in STATED), "order, spin", "order, velocity", "closure"]
    return frame, tabular("@{}lccccc@{}", head, rows)
