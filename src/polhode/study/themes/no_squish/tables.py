"""Table of the energy error of splittings with their rotors in each order."""

import pandas as pd

from polhode.study.analysis import rotor_order as of_orders
from polhode.study.inputs import Inputs
from polhode.study.report.formats import factor
from polhode.study.report.latex import decimal, escape, step, tabular

#: The splittings as the table names them.
FAMILIES = {"rotors": "three rotors", "top": "sphere and two rotors"}


def rotor_order(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the orders: how often each is the best, its ratio to the best, its error; last, the order chosen by score."""
    found = of_orders.summary(inputs.check("rotor_order"))
    orders, families = [str(x) for x in found["order"].values], [str(x) for x in found["family"].values]

    def row(order: str) -> list[str]:
        cells = ["least score" if order == of_orders.CHOSEN else escape(" ".join(order))]
        for family in families:
            one = found.sel(order=order, family=family)
            cells += [decimal(100 * float(one["best"]), 0), factor(float(one["median"])), factor(float(one["p95"]))]
            cells += [factor(float(one["largest"])), step(float(one["typical"]), 2)]
        return cells

    rows: list[list[str] | str] = [row(order) for order in orders if order != of_orders.CHOSEN]
    rows += [r"\addlinespace[2pt]", row(of_orders.CHOSEN)]
    head = ["order", *([r"best (\%)", "median", r"95\,\%", "largest", "error"] * len(families))]
    text = tabular("l" + "rrrrc" * len(families), head, rows)
    top = " & ".join(["", *(rf"\multicolumn{{5}}{{c}}{{{FAMILIES[family]}}}" for family in families)]) + r" \\" + "\n"
    top += "".join(rf"\cmidrule(lr){{{5 * i + 2}-{5 * i + 6}}}" for i in range(len(families))) + "\n"
    return found.to_dataframe().reset_index(), text.replace("\\toprule\n", "\\toprule\n" + top, 1)
