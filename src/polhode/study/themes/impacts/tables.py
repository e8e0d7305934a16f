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
    for _, of_case in frame[frame["method"] == analysis.leading(data)].groupby("case", sort=False):
        rows += [r"\addlinespace[3pt]"] if rows else []
        for number, row in enumerate(of_case.to_dict("records")):
            rows.append(
                [
                    escape(row["case_label"]) if number == 0 else "",
                    escape(row["stage_label"]),
                    *(step(row[f"error_spin_{steps}"], 2) for steps in STATED),
                    *(decimal(row[f"order_{name}"], 2) for name in ("spin", "velocity")),
                    step(row[f"closure_{STATED[-1]}"], 1),
                ]
            )
    head = ["impact", "bookkeeping", *(f"$T/{steps}$" for steps in STATED), "order, spin", "order, velocity", "closure"]
    return frame, tabular("@{}llccccc@{}", head, rows)
