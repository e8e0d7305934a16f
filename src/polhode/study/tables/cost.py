"""What a step costs on no machine in particular: torque evaluations and floating-point operations, as cost.nc has them."""

from collections.abc import Callable

import pandas as pd

from polhode.study import comparison
from polhode.study.inputs import Inputs
from polhode.study.tables.latex import decimal, escape, tabular
from polhode.study.tables.torque_classes import grouped_rows

#: The method that the others are set against.
UNIT = "euler"
#: The kinds of operations that make the total, with their heads.
SHOWN = {"additions": "$+$", "multiplications": r"$\times$", "divisions": r"$\div$", "square_roots": r"$\sqrt{\phantom{x}}$"}
COUNTS = ("torques", *SHOWN, "total", "constants", "negations", "comparisons", "total_normalised", "total_left_alone")


def counts(inputs: Inputs) -> pd.DataFrame:
    """The operations of a step, a row for each method of the cost study.

    Columns: method, label, normalises; :data:`COUNTS`, the first as the method declares its normalisation, the last two with it
    switched on and off; relative, the total over that of :data:`UNIT`. Empty is what cannot be switched, or, with a plug-in,
    not counted.

    Raises
    ------
    NotInRun
        If the run has no cost study.
    """
    data = inputs.cost("operations")
    frame = data.rename(integrator="method").to_dataframe().reset_index().set_index("method", drop=False)
    frame = frame.loc[comparison.in_order(frame["method"])]
    frame["normalises"] = frame["normalises"].map({1: "yes", 0: "no"})
    frame["relative"] = frame["total"] / frame["total"].get(UNIT, float("nan"))
    frame = frame[["method", "label", "normalises", *COUNTS, "relative"]].reset_index(drop=True)
    return frame.astype(dict.fromkeys(COUNTS, "Int64"))


def table(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Torques and operations of a step of every method, and their total relative to direct Euler."""
    data = counts(inputs)
    own = comparison.keyed(data, "method")

    def row(key: str) -> list[str]:
        found = own[key]
        cells = ["--" if pd.isna(found[name]) else str(found[name]) for name in ("torques", *SHOWN, "total", "constants")]
        for name in ("total_normalised", "total_left_alone"):
            text = "--" if pd.isna(found[name]) else str(found[name])
            cells.append(rf"\emph{{{text}}}" if text == str(found["total"]) else text)
        return [escape(found["label"]), *cells, decimal(found["relative"], 2)]

    head = ["method", "$n_M$", *SHOWN.values(), "total", "const.", "norm.", "not", "relative"]
    return data, tabular("lc" + "r" * (len(head) - 2), head, grouped_rows(list(own), row))


TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {"operations": table}
