"""What publications state and where their text needs a correction, each table with a part for each publication."""

from collections.abc import Callable, Iterable, Sequence
from math import isfinite, isnan
from typing import Any

import pandas as pd

from polhode.study.inputs import ERRATA_FIELDS, ERRATA_KINDS, READING_KINDS, Inputs
from polhode.study.tables.latex import cell, escape, long_table, number, significant

#: Sources in the order of the tables, as their headings name them; others follow under their key.
SOURCES: dict[str, str] = {
    "delvalle2024": "del Valle et al.\\ (2024)",
    "delvalle2025": "del Valle et al.\\ (2025)",
    "seelen2016": "Seelen et al.\\ (2016)",
    "calzavarini2010": "Calzavarini (2010)",
    "tuckerman2010": "Tuckerman (2010)",
}


def by_source(entries: Iterable[tuple[str, Sequence[str]]], columns: int) -> list[Sequence[str] | str]:
    """Rows with their sources, sorted by source, with a heading before each group; within a group the order stays."""
    groups: dict[str, list[Sequence[str]]] = {source: [] for source in SOURCES}
    for source, row in entries:
        groups.setdefault(source, []).append(row)
    rows: list[Sequence[str] | str] = []
    for source, members in groups.items():
        if members:
            name = rf"{SOURCES[source]}~\cite{{{source}}}" if source in SOURCES else escape(source)
            # Space and no rule, which would stand below that of the head where a page begins.
            space = [r"\addlinespace[6pt]"] if rows else []
            # The star keeps a page from ending after the heading.
            rows += [*space, rf"\multicolumn{{{columns}}}{{@{{}}l}}{{\textbf{{{name}}}}} \\*[2pt]", *members]
    return rows


#: What stands over the columns of a table of claims, and how wide these are.
CLAIM_HEAD = ["place", "statement", "published, \\emph{asked}", "tol.", "measured", "verdict"]
CLAIM_COLUMNS = "@{}" + "".join(rf">{{\raggedright\arraybackslash}}p{{{mm}mm}}" for mm in (16, 56, 19, 12, 24, 18)) + "@{}"
#: How a measured number is held against the published one.
COMPARISONS = {"equal": "=", "at least": r"\geq", "at most": r"\leq"}


def claim_cells(row: dict[Any, Any]) -> list[str]:
    """A claim as LaTeX: the cells under :data:`CLAIM_HEAD`."""
    # As many digits as are printed there, so that a reader sees where the numbers part.
    digits = significant(str(row["published"]).partition("/")[0])
    statement = escape(row["statement"]) + (rf"; {escape(row['note'])}" if row.get("note") else "")
    measured = cell(row["measured"], max(4, digits)) + _interval(row)
    # A name and its number stay on one line.
    place = escape(row["location"]).replace(". ", ".~")
    return [place, statement, _asked(row, digits), _tolerance(row), measured, escape(row["verdict"])]


def _asked(row: dict[Any, Any], digits: int) -> str:
    """The published number with the comparison before it; in italics where it is ours."""
    printed = str(row["published"])
    ours = row.get("threshold") == "ours" and digits
    if row.get("comparison") == "within":
        text = f"{1 / float(printed):.2g} to {float(printed):g}"
        return rf"\emph{{{text}}}" if ours else text
    text = _italic(printed) if ours else cell(printed, digits)
    symbol = COMPARISONS.get(row.get("comparison", ""), "")
    return rf"${symbol}$~{text}" if symbol else text


def _italic(printed: str) -> str:
    """A threshold of ours; siunitx would set it upright."""
    mantissa, _, exponent = printed.lower().partition("e")
    if not exponent:
        return rf"\emph{{{printed}}}"
    power = rf"10\textsuperscript{{{int(exponent)}}}".replace("{-", "{--")
    return rf"\emph{{{power}}}" if float(mantissa) == 1 else rf"\emph{{{mantissa}~$\cdot$~{power}}}"


def _interval(row: dict[Any, Any]) -> str:
    """The interval of a measured number behind it; nothing where it has none."""
    ends = [float(row.get(name) or "nan") for name in ("low", "high")]
    if any(isnan(end) for end in ends):
        return ""
    digits = 2 if max(abs(end) for end in ends) < 0.01 else 3
    low, high = (number(end, digits) if isfinite(end) else r"$\infty$" for end in ends)
    return rf" [{low},~{high}{']' if isfinite(ends[1]) else ')'}"


def claims(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """What the publications say, what we measure, and whether they agree."""
    data = inputs.claim_rows
    rows = [(str(r["source"]), claim_cells(r)) for r in data.to_dict("records")]
    return data, long_table(CLAIM_COLUMNS, CLAIM_HEAD, by_source(rows, len(CLAIM_HEAD)), "claims")


def _tolerance(row: dict[Any, Any]) -> str:
    """The tolerance of a verdict, in the unit of the published number; a dash where there is none."""
    try:
        value = float(row["tolerance"])
    except ValueError:
        return "--"
    return rf"\num{{{value:.2g}}}" if value else "--"


#: What stands over the columns of the tables of the texts, and what is said of an entry that one glyph decides.
ERRATA_HEAD = ["place, kind", "as printed; why it does not do", "reading that works", "how shown"]
READINGS_HEAD = ["place, kind", "as printed; what it leaves open", "reading taken", "how shown"]
CHECKS = {"": "", "pdf": r"\newline check against the PDF"}


def errata(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """What is wrong in the texts of the publications, the reading that works and how we know."""
    return _places(inputs, ERRATA_KINDS, ERRATA_HEAD, "errata")


def readings(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """What the texts leave open or put in words of their own, what we take it for and why."""
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


TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {"claims": claims, "errata": errata, "readings": readings}
