"""Table of the energy error of splittings with their rotors in each order."""

import pandas as pd

from polhode.study.chapters.no_squish import frames
from polhode.study.inputs import Inputs
from polhode.study.report.formats import factor
from polhode.study.report.latex import above_head, decimal, escape, spanning, step, tabular

#: The splittings as the table names them.
FAMILIES = {"rotors": "three rotors", "top": "sphere and two rotors"}


def rotor_order(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the orders: how often each is the best, its ratio to the best, its error; last, the order chosen by score."""
    summary = frames.summary(inputs.check("rotor_order"))
    orders, families = (list(map(str, summary[name].values)) for name in ("order", "family"))

    def row(order: str) -> list[str]:
        cells = ["least score" if order == frames.CHOSEN else escape(" ".join(order))]
        for family in families:
            one = summary.sel(order=order, family=family)
            cells += [decimal(100 * float(one["best"]), 0), factor(float(one["median"])), factor(float(one["p95"]))]
            cells += [factor(float(one["largest"])), step(float(one["typical"]), 2)]
        return cells

    rows: list[list[str] | str] = [row(order) for order in orders if order != frames.CHOSEN]
    rows += [r"\addlinespace[2pt]", row(frames.CHOSEN)]
    head = ["order", *([r"best (\%)", "median", r"95\,\%", "largest", "error"] * len(families))]
    text = tabular("l" + "rrrrc" * len(families), head, rows)
    top = spanning(*((FAMILIES[family], 5) for family in families))
    return summary.to_dataframe().reset_index(), above_head(text, top)
