"""Tables of the errors of impacts and their orders, cure by cure, and of what each cause has of the error of a step."""

from collections.abc import Sequence

import pandas as pd

from polhode.fits.impact_errors import LEADING, STATED
from polhode.study.chapters.impacts import frames
from polhode.study.inputs import Inputs
from polhode.study.report.latex import decimal, escape, step, tabular


def impacts(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the error of the spin at two steps, the orders of spin and velocity, and the closure, by impact and stage."""
    data = frames.check(inputs)
    frame = frames.frame(data)
    rows: list[Sequence[str] | str] = []
    of_leading = frame[frame["method"] == LEADING]
    for label, of_case in of_leading.groupby("case_label", sort=False):
        rows += [r"\addlinespace[3pt]"] if rows else []
        rows.append(rf"\multicolumn{{6}}{{@{{}}l}}{{\emph{{{escape(str(label))}}}}} \\")
        for row in of_case.to_dict("records"):
            errors = [step(row[f"error_spin_{steps}"], 2) for steps in STATED]
            orders = [decimal(row[f"order_{name}"], 2) for name in ("spin", "velocity")]
            rows.append([rf"\quad {escape(row['stage_label'])}", *errors, *orders, step(row[f"closure_{STATED[-1]}"], 1)])
    head = ["", *(f"error, $T/{steps}$" for steps in STATED), "order, spin", "order, velocity", "closure"]
    return frame, tabular("@{}lccccc@{}", head, rows)


def waterfall(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of what is wrong with a step, in per cent, with intervals: of the spin and of the kinetic energy."""
    frame = frames.waterfall(inputs)
    rows: list[Sequence[str] | str] = []
    for cause in frame["cause"].unique():
        of_cause = frame[frame["cause"] == cause]
        if of_cause["kind"].iloc[0] == "beside" and r"\midrule" not in rows:
            rows.append(r"\midrule")
        cells = []
        for quantity in frame["quantity"].unique():
            row = of_cause[of_cause["quantity"] == quantity].to_dict("records")
            sign = -1 if row and row[0]["kind"] == "cure" else 1
            ends = sorted(sign * row[0][end] for end in ("low", "high")) if row else []
            cells += (
                [decimal(sign * row[0]["percent"], 3), f"[{decimal(ends[0], 3)}, {decimal(ends[1], 3)}]"] if row else ["", ""]
            )
        rows.append([escape(cause), *cells])
    return frame, tabular("@{}lrcrc@{}", ["", r"spin (\%)", "interval", r"energy (\%)", "interval"], rows)
