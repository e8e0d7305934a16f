"""Where each figure, table and equation of the sources stands in this report."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from polhode.study.inputs import Inputs
from polhode.study.tables.latex import escape, long_table

#: What a label of the report is called before its number.
CALLED: dict[str, str] = {"fig": "Fig.", "tab": "Table", "sec": "Sec.", "eq": "Eq.", "app": "App."}


def place(name: str) -> str:
    r"""A label of the report as a reference to it, a name of the library in its own face."""
    kind, _, rest = name.partition(":")
    if kind == "eq":
        return rf"Eq.~\eqref{{{name}}}"
    if kind in CALLED:
        return rf"{CALLED[kind]}~\ref{{{name}}}"
    return rf"\code{{{escape(rest)}}}"


def source_index(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Every numbered item of every source, what it is, and where it stands here or why it does not."""
    records: list[dict[str, Any]] = []
    rows = []
    last = ""
    for entry in inputs.source_rows:
        records.append({**entry, "here": "; ".join(entry["here"])})
        missing = (
            rf"\emph{{{'not here' if not entry['here'] else 'apart from that'}:}} {entry['missing']}"
            if entry["missing"]
            else ""
        )
        here = ", ".join(place(name) for name in entry["here"])
        rows.append(
            [
                rf"\cite{{{entry['source']}}}" if entry["source"] != last else "",
                escape(entry["item"]).replace("-", "--"),
                entry["about"],
                "; ".join(part for part in (here, missing) if part),
            ]
        )
        last = entry["source"]
    columns = (
        r"@{}p{9mm}>{\raggedright\arraybackslash}p{24mm}>{\raggedright\arraybackslash}p{48mm}"
        r">{\raggedright\arraybackslash}p{66mm}@{}"
    )
    return pd.DataFrame(records), long_table(columns, ["source", "item", "what it is", "where it is here"], rows, "sourceindex")


TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {"source_index": source_index}
