"""What a step costs on no machine in particular: torque evaluations and floating-point operations, from the kernels."""

from collections.abc import Callable
from math import nan
from typing import Any

import pandas as pd

import polhode.methods as _methods
from polhode.methods.protocol import Method
from polhode.operations import Operations, operations
from polhode.study import comparison
from polhode.study.inputs import Inputs
from polhode.study.tables.latex import decimal, escape, tabular
from polhode.study.tables.torque_classes import grouped_rows

registry: Any = _methods

#: The method that the others are set against.
UNIT = "euler"


#: The kinds of operations that make the total, with their heads.
SHOWN = {"additions": "$+$", "multiplications": r"$\times$", "divisions": r"$\div$", "square_roots": r"$\sqrt{\phantom{x}}$"}
COUNTS = ("torques", *SHOWN, "total", "constants", "negations", "comparisons")


def counts() -> pd.DataFrame:
    """The operations of a step, a row for each method that is known; the run has no part in it.

    Columns: method, label, normalises; :data:`COUNTS` as the method declares its normalisation; total_normalised and
    total_left_alone with it switched on and off; relative, the total over that of :data:`UNIT`. Empty is what cannot be
    switched, or, with a plug-in, not counted.
    """
    unit = operations(UNIT).total
    records = []
    for key in comparison.in_order(registry):
        method = registry[key]
        found, on, off = (_counted(method, normalise) for normalise in (None, True, False))
        records.append(
            {
                "method": key,
                "label": method.label,
                "normalises": "yes" if method.normalises else "no",
                **{name: getattr(found, name, None) for name in COUNTS},
                "total_normalised": getattr(on, "total", None),
                "total_left_alone": getattr(off, "total", None),
                "relative": found.total / unit if found else nan,
            }
        )
    return pd.DataFrame(records).astype(dict.fromkeys((*COUNTS, "total_normalised", "total_left_alone"), "Int64"))


def _counted(method: Method, normalise: bool | None) -> Operations | None:
    try:
        return operations(method, normalise)
    except (TypeError, ValueError):
        return None


def table(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Torques and operations of a step of every method, and their total relative to direct Euler."""
    data = counts()
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
