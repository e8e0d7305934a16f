"""Measured and declared orders of all methods, torque class by torque class."""

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import pandas as pd

from polhode.problems.problem import TORQUE_CLASSES
from polhode.study import comparison
from polhode.study.inputs import Inputs
from polhode.study.tables.latex import decimal, escape, tabular


def grouped_rows(methods: Sequence[str], row: Callable[[str], list[str]]) -> list[Sequence[str] | str]:
    """A row for each method, with a little space between the groups of methods."""
    rows: list[Sequence[str] | str] = []
    for number, (_, keys) in enumerate(comparison.grouped(methods)):
        if number:
            rows.append(r"\addlinespace[3pt]")
        rows += [row(key) for key in keys]
    return rows


def orders_by_torque(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Orders of q and omega: the CSV has every problem, the LaTeX the lowest measured in each class and what is declared.

    Bold: lower than the highest order that the method declares; an asterisk: lower than what it declares for this class; a
    dagger: on a problem of the class no order could be fitted.
    """
    frame = comparison.orders(inputs)
    lowest = comparison.keyed(comparison.lowest_orders(frame), "method", "torque_class")
    classes = [name for name, _ in comparison.problems_by_class(inputs)]

    def row(method: str) -> list[str]:
        cells = [escape(comparison.label(inputs, method))]
        for name in classes:
            for short in comparison.QUANTITIES:
                if (method, name) not in lowest:
                    cells.append("--")
                    continue
                found = lowest[method, name]
                measured, declared = float(found[f"{short}_order"]), float(found[f"declared_{short}"])
                text = f"{measured:.1f}" if isfinite(measured) else "--"
                text = rf"\textbf{{{text}}}" if found[f"reduced_{short}"] else text
                star = "*" if found[f"missed_{short}"] else ""
                star += r"$^\dagger$" if found[f"unfitted_{short}"] else ""
                star = rf"\rlap{{{star}}}" if star else ""
                cells.append(f"{text}/{declared:.0f}{star}" if isfinite(declared) else text)
        return cells

    rows = grouped_rows(list(dict.fromkeys(frame["method"])), row)
    head = ["method", *([r"$p_q$", r"$p_\omega$"] * len(classes))]
    text = tabular("l" + "c@{\\hspace{4pt}}c" * len(classes), head, rows)
    top = " & ".join(["", *(rf"\multicolumn{{2}}{{c}}{{{name}}}" for name in classes)]) + r" \\" + "\n"
    top += "".join(rf"\cmidrule(lr){{{2 * i + 2}-{2 * i + 3}}}" for i in range(len(classes))) + "\n"
    return frame, text.replace("\\toprule\n", "\\toprule\n" + top, 1)


#: What decides about a class, and what was chosen for it, in a word; the problems themselves come from the run.
MEANINGS: dict[str, str] = {
    "free": r"$M=0$",
    "constant": r"$M$ constant",
    "time": r"$M=M(t)$",
    "lab": r"$M=A(q)\,M^{\mathrm{lab}}(t)$",
    "state": r"$M=M(q)$",
    "velocity": r"$M=M(\omega)$",
}


#: Problems whose loads depend on more than their class says.
LOADS: dict[str, str] = {"sinking_propeller": r"$M(q,v,\omega)$, $F(r,q,v,\omega)$"}


def torque_classes(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """The classes, what the torque depends on, and the problems of the run in each with source, reference and its check."""
    records = []
    rows: list[Sequence[str] | str] = []
    for number, (name, keys) in enumerate(comparison.problems_by_class(inputs)):
        if number:
            rows.append(r"\addlinespace[3pt]")
        for place, key in enumerate(keys):
            attrs = inputs.of(key).errors.attrs
            record: dict[str, Any] = {
                "torque_class": name,
                "torque": TORQUE_CLASSES.get(name, ""),
                "problem": key,
                "label": str(attrs.get("label", key)),
                "source": str(attrs.get("source", "")),
                "reference": str(attrs.get("formula", "") or "Taylor series"),
                "agreement": comparison.reference_digits(inputs, key),
            }
            records.append(record)
            rows.append(
                [
                    escape(name) if place == 0 else "",
                    LOADS.get(key, MEANINGS.get(name, escape(record["torque"])) if place == 0 else ""),
                    escape(record["label"]),
                    escape(record["source"]),
                    escape(record["reference"]),
                    decimal(record["agreement"], 0) if isfinite(record["agreement"]) else "--",
                ]
            )
    columns = (
        r"l>{\raggedright\arraybackslash}p{25mm}>{\raggedright\arraybackslash}p{32mm}>{\raggedright\arraybackslash}p{28mm}"
        r">{\raggedright\arraybackslash}p{32mm}r"
    )
    text = tabular(columns, ["class", "torque in the body frame", "problem", "source", "reference", "digits"], rows)
    return pd.DataFrame(records), text


TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {
    "torque_classes": torque_classes,
    "orders_by_torque": orders_by_torque,
}
assert set(MEANINGS) == set(TORQUE_CLASSES)
