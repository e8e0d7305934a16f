"""Tables of measured and declared orders of all methods, by torque class."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import pandas as pd

from polhode.study.chapters.torque_classes import frames as order_frames
from polhode.study.inputs import Inputs
from polhode.study.report import selection
from polhode.study.report.frames import keyed
from polhode.study.report.latex import above_head, decimal, escape, grouped_rows, or_dash, spanning, tabular


def orders_by_torque(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of orders of q and omega: the CSV has every problem, the LaTeX the lowest of each class and the declared ones.

    Bold type marks an order lower than the highest that the method declares; an asterisk, one lower than declared for this
    class; a dagger, that no order could be fitted on some problem of the class.
    """
    frame = order_frames.orders(inputs)
    lowest = keyed(order_frames.lowest_orders(frame), "method", "torque_class")
    classes = [name for name, _ in selection.problems_by_class(inputs)]

    def row(method: str) -> list[str]:
        cells = [escape(selection.label(inputs, method))]
        for name in classes:
            for short in order_frames.QUANTITIES:
                if (method, name) not in lowest:
                    cells.append("--")
                    continue
                record = lowest[method, name]
                measured, declared = float(record[f"{short}_order"]), float(record[f"declared_{short}"])
                text = f"{measured:.1f}" if isfinite(measured) else "--"
                text = rf"\textbf{{{text}}}" if record[f"reduced_{short}"] else text
                star = "*" if record[f"missed_{short}"] else ""
                star += r"$^\dagger$" if record[f"unfitted_{short}"] else ""
                star = rf"\rlap{{{star}}}" if star else ""
                cells.append(f"{text}/{declared:.0f}{star}" if isfinite(declared) else text)
        return cells

    rows = grouped_rows(inputs, list(dict.fromkeys(frame["method"])), row)
    head = ["method", *([r"$p_q$", r"$p_\omega$"] * len(classes))]
    text = tabular("@{}l" + r"c@{\hspace{7.5pt}}c" * len(classes) + "@{}", head, rows)
    return frame, above_head(text, spanning(*((name, 2) for name in classes)))


#: The defining property of a class and the choice made for it, in a word; the problems themselves come from the run.
MEANINGS: dict[str, str] = {
    "free": r"$M=0$",
    "constant": r"$M$ constant",
    "time": r"$M=M(t)$",
    "lab": r"$M=A(q)\,M^{\mathrm{lab}}(t)$",
    "state": r"$M=M(q)$",
    "velocity": r"$M=M(\omega)$",
}


#: Authors and years as the problems name their sources, and the keys of the bibliography.
CITATIONS = {"del Valle et al. (2024)": "delvalle2024", "Seelen et al. (2016)": "seelen2016"}


def _cited(source: str) -> str:
    """The source of a problem, with numbers of the bibliography for authors and years."""
    text = escape(source)
    for name, key in CITATIONS.items():
        text = text.replace(escape(name), rf"\cite{{{key}}}")
    return text


def torque_classes(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the classes, with what the torque depends on, and the problems of the run with source, reference and check."""
    records = []
    rows: list[Sequence[str] | str] = []
    for number, (name, keys) in enumerate(selection.problems_by_class(inputs)):
        if number:
            rows.append(r"\addlinespace[3pt]")
        for place, key in enumerate(keys):
            attrs = inputs.of(key).problem_declarations
            record: dict[str, Any] = {
                "torque_class": name,
                "torque": inputs.torque_classes.get(name, ""),
                "problem": key,
                "label": str(attrs.get("label", key)),
                "source": str(attrs.get("source", "")),
                "reference": str(attrs.get("formula", "") or "Taylor series"),
                "agreement": selection.reference_digits(inputs, key),
            }
            records.append(record)
            rows.append(
                [
                    escape(name) if place == 0 else "",
                    attrs["dependence"] or (MEANINGS.get(name, escape(record["torque"])) if place == 0 else ""),
                    escape(record["label"]),
                    _cited(record["source"]),
                    escape(record["reference"]),
                    or_dash(decimal(record["agreement"], 0)),
                ]
            )
    columns = (
        r"l>{\raggedright\arraybackslash}p{23mm}>{\raggedright\arraybackslash}p{38mm}>{\raggedright\arraybackslash}p{24mm}"
        r">{\raggedright\arraybackslash}p{38mm}r"
    )
    text = tabular(columns, ["class", "torque in the body frame", "problem", "source", "reference", "digits"], rows)
    return pd.DataFrame(records), text
