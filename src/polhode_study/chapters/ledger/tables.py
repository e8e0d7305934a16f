"""Statements of the publications, corrections to their texts, and the place of each of their items in this work."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from polhode.interface.table import Column, RowGroup, Table
from polhode_study.inputs import ERRATA_FIELDS, ERRATA_KINDS, READING_KINDS, Inputs
from polhode_study.judge.verdicts import COUNTED, VERDICTS, by_ours
from polhode_study.report.claims import SOURCES
from polhode_study.report.frames import records
from polhode_study.report.tables import RULE


def claims(inputs: Inputs) -> Table:
    """The published statements, our measurements, and whether they agree; a file only."""
    return Table(inputs.claim_rows)


#: Errata without which an implementation gives something else, in the order of the sources.
MATTERING = (
    *("eq1-order", "b2-omega", "b5-omega", "b6-inertia", "b10-product", "pfc4-error", "chess-spin", "rods-box"),
    *("rods-instability", "seelen-lab-prime", "seelen-original", "seelen-theory", "note-a13", "note-a21", "note-a32"),
    *("note-old-omega", "note-omega-sum", "note-velocity-sum", "squish-momentum"),
)
#: The remark on an entry that rests on one glyph.
CHECKS = {"": "", "pdf": r"\newline \emph{check against the PDF}"}


def errata(inputs: Inputs) -> Table:
    """The errors in the texts of the publications, with the reading that works and the evidence for it.

    The file has all of them, the table of the report those that change the result of an implementation (:data:`MATTERING`).
    """
    data = _places(inputs, ERRATA_KINDS)
    entries = {entry["id"]: entry for entry in records(data)}
    columns = [
        Column("place", None, lambda entry: f"{entry['location']}{CHECKS[entry['check']]}", "28mm"),
        Column("as printed", "printed", "{}.".format, "62mm"),
        Column("should be", "reading", "{}.".format, "62mm"),
    ]
    # Space instead of a rule, which would follow that of the head at the top of a page.
    of_source = RowGroup("source", "6pt", lambda source: rf"\textbf{{{SOURCES[source]}~\cite{{{source}}}}}")
    rows = [entries[name] for name in MATTERING if name in entries]
    return Table(data, columns, rows=rows, groups=[of_source], long="errata", gap="2pt", tight=True)


def readings(inputs: Inputs) -> Table:
    """Points that the texts leave open or state in their own terms, with our reading and its reason; a file only."""
    return Table(_places(inputs, READING_KINDS))


def _places(inputs: Inputs, kinds: Sequence[str]) -> pd.DataFrame:
    entries = [entry for entry in inputs.errata_rows if entry["kind"] in kinds]
    return pd.DataFrame(entries, columns=[*ERRATA_FIELDS, "check"])


def source_index(inputs: Inputs) -> Table:
    """Every numbered item of every source: its content, and its place here or the reason why it is missing; a file only."""
    return Table([{**entry, "here": "; ".join(entry["here"])} for entry in inputs.source_rows])


def ledger_by_source(inputs: Inputs) -> Table:
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

    def count(name: str) -> Column:
        ours = f"{name}_by_ours"
        return Column(HEADS[name], None, lambda row: f"{row[name]}" + (f" ({row[ours]})" if ours in row else ""), "r")

    def in_full(row: dict[str, Any]) -> str:
        return f"{row['items_in_full']} of {row['items']}" if row["items"] else "--"

    # Sources whose items are not repeated one by one share a row.
    repeated, counts = data["items"] > 0, data.drop(columns="source")
    rows = [
        {"name": rf"{SOURCES[record['source']]}~\cite{{{record['source']}}}"} | record for record in records if record["items"]
    ]
    if not repeated.all():
        rows.append({"name": r"others, on liquids (Sec.~\ref{sec:liquids})"} | dict(counts[~repeated].sum()))
    rows.append({"name": "together"} | dict(counts.sum()))
    numbers = [count(name) for name in columns if not name.startswith("items")]
    together = RowGroup(lambda row: row["name"] == "together", RULE)
    columns_of = [Column("source", "name", str), *numbers, Column(HEADS["items"], None, in_full, "r")]
    return Table(data, columns_of, rows=rows, groups=[together])


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
