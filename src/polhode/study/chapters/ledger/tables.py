"""Statements of the publications, corrections to their texts, and the place of each of their items in this work."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from polhode.study.inputs import ERRATA_FIELDS, ERRATA_KINDS, READING_KINDS, Inputs
from polhode.study.judge.verdicts import COUNTED, VERDICTS, by_ours
from polhode.study.report.claims import CLAIM_COLUMNS, CLAIM_HEAD, SOURCES, by_source, claim_cells
from polhode.study.report.latex import escape, long_table, tabular


def claims(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the published statements, our measurements, and whether they agree."""
    data = inputs.claim_rows
    rows = [(str(r["source"]), claim_cells(r)) for r in data.to_dict("records")]
    return data, long_table(CLAIM_COLUMNS, CLAIM_HEAD, by_source(rows, len(CLAIM_HEAD)), "claims")


#: Column heads of the tables on the texts, and the remark on an entry that rests on one glyph.
ERRATA_HEAD = ["place, kind", "as printed; what is wrong", "reading that works", "how shown"]

READINGS_HEAD = ["place, kind", "as printed; what it leaves open", "reading taken", "how shown"]

CHECKS = {"": "", "pdf": r"\newline check against the PDF"}


def errata(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the errors in the texts of the publications, with the reading that works and the evidence for it."""
    return _places(inputs, ERRATA_KINDS, ERRATA_HEAD, "errata")


def readings(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of points that the texts leave open or state in their own terms, with our reading and its reason."""
    return _places(inputs, READING_KINDS, READINGS_HEAD, "readings")


def _places(inputs: Inputs, kinds: Sequence[str], head: list[str], name: str) -> tuple[pd.DataFrame, str]:
    entries = [entry for entry in inputs.errata_rows if entry["kind"] in kinds]
    rows = [
        (
            entry["source"],
            [
                rf"{entry['location']}\newline\emph{{{entry['kind']}}}{CHECKS[entry['check']]}",
                rf"{entry['printed']}.\newline {entry['problem']}",
                rf"{entry['reading']}.",
                entry["shown"],
            ],
        )
        for entry in entries
    ]
    columns = (
        r"@{}>{\raggedright\arraybackslash}p{21mm}>{\raggedright\arraybackslash}p{58mm}"
        r">{\raggedright\arraybackslash}p{41mm}>{\raggedright\arraybackslash}p{29mm}@{}"
    )
    text = long_table(columns, head, by_source(rows, len(head)), name)
    return pd.DataFrame(entries, columns=[*ERRATA_FIELDS, "check"]), text


#: The word that precedes the number of a label in the report.
CALLED: dict[str, str] = {"fig": "Fig.", "tab": "Table", "sec": "Sec.", "eq": "Eq.", "app": "App."}


def place(name: str) -> str:
    r"""A reference to a label of the report, or a name of the library in typewriter type, as LaTeX."""
    kind, _, rest = name.partition(":")
    if kind == "eq":
        return rf"Eq.~\eqref{{{name}}}"
    if kind in CALLED:
        return rf"{CALLED[kind]}~\ref{{{name}}}"
    return rf"\code{{{escape(rest)}}}"


def source_index(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of every numbered item of every source: its content, and its place here or the reason why it is missing."""
    records: list[dict[str, Any]] = []
    rows = []
    last = ""
    for entry in inputs.source_rows:
        records.append({**entry, "here": "; ".join(entry["here"])})
        missing = rf"\emph{{{'not here' if not entry['here'] else 'except'}:}} {entry['missing']}" if entry["missing"] else ""
        places = ", ".join(place(name) for name in entry["here"])
        rows.append(
            [
                rf"\cite{{{entry['source']}}}" if entry["source"] != last else "",
                escape(entry["item"]).replace("-", "--"),
                entry["about"],
                "; ".join(text for text in (places, missing) if text),
            ]
        )
        last = entry["source"]
    columns = (
        r"@{}p{9mm}>{\raggedright\arraybackslash}p{24mm}>{\raggedright\arraybackslash}p{48mm}"
        r">{\raggedright\arraybackslash}p{66mm}@{}"
    )
    return pd.DataFrame(records), long_table(columns, ["source", "item", "content", "place in this work"], rows, "sourceindex")


def ledger_by_source(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the sources: their statements by verdict, corrections, choices, and the items that are repeated.

    In brackets are the statements that a threshold of ours decided; the CSV has them as ``_by_ours``.
    """
    claims = inputs.claim_rows
    counted = claims[claims["kind"].isin(COUNTED)] if "kind" in claims else claims
    # The first of the words on a kind of statement is for one that is borne out, the second for one that is not.
    yes, no, open_ = ({VERDICTS[kind][i] for kind in COUNTED} for i in range(3))
    records: list[dict[str, Any]] = []
    for source in SOURCES:
        of_source = counted[counted["source"] == source]
        groups = {"": of_source["verdict"], "_by_ours": of_source.loc[by_ours(of_source), "verdict"]}
        kinds = [entry["kind"] for entry in inputs.errata_rows if entry["source"] == source]
        items = [row for row in inputs.source_rows if row["source"] == source]
        records.append(
            {
                "source": source,
                **{
                    f"{name}{whose}": int(number_of)
                    for whose, verdicts in groups.items()
                    for name, number_of in (
                        ("statements", len(verdicts)),
                        ("borne_out", verdicts.isin(yes).sum()),
                        ("not_borne_out", verdicts.isin(no).sum()),
                        ("undecided", verdicts.isin(open_).sum()),
                        ("not_measured", (verdicts == "not measured").sum()),
                    )
                },
                "errata": sum(kind in ERRATA_KINDS for kind in kinds),
                "choices": sum(kind in READING_KINDS for kind in kinds),
                "items": len(items),
                "items_in_full": sum(bool(row["here"]) and not row["missing"] for row in items),
            }
        )
    data = pd.DataFrame(records)
    columns = [name for name in data.columns if name != "source" and not name.endswith("_by_ours")]
    if not data["not_measured"].any():
        columns.remove("not_measured")

    def row(name: str, values: Any) -> list[str]:
        counts = [
            str(int(values[column])) + (f" ({int(values[ours])})" if (ours := f"{column}_by_ours") in values else "")
            for column in columns
            if not column.startswith("items")
        ]
        of_items = f"{int(values['items_in_full'])} of {int(values['items'])}" if values["items"] else "--"
        return [name, *counts, of_items]

    # Sources whose items are not repeated one by one share a row.
    repeated = data["items"] > 0
    rows = [
        row(rf"{SOURCES[str(record['source'])]}~\cite{{{record['source']}}}", record)
        for record, whole in zip(records, repeated, strict=True)
        if whole
    ]
    if not repeated.all():
        rows.append(row(r"others, on liquids (Sec.~\ref{sec:liquids})", data[~repeated].drop(columns="source").sum()))
    head = ["source", *(HEADS[name] for name in columns if name != "items_in_full")]
    total = row("together", data.drop(columns="source").sum())
    return data, tabular("l" + "r" * (len(head) - 1), head, [*rows, r"\midrule", total])


#: Column heads of the table of the sources.
HEADS = {
    "statements": "statements",
    "borne_out": "borne out",
    "not_borne_out": "not",
    "undecided": "undecided",
    "not_measured": "not measured",
    "errata": "errata",
    "choices": "choices",
    "items": "items repeated in full",
}
