"""Layout of published statements and their verdicts in the tables of the report."""

from collections.abc import Iterable, Sequence
from math import isfinite, isnan
from typing import Any

from polhode.study.report.latex import cell, escape, number, prose, significant

#: Sources in the order of the tables, with their headings; others follow under their key.
SOURCES: dict[str, str] = {
    "delvalle2024": "del Valle et al.\\ (2024)",
    "delvalle2025": "del Valle et al.\\ (2025)",
    "seelen2016": "Seelen et al.\\ (2016)",
    "calzavarini2010": "Calzavarini (2010)",
    "tuckerman2010": "Tuckerman (2010)",
    "silveira2018": "Silveira and Abreu (2018)",
    "asthagiri2024": "Asthagiri and Beck (2024)",
    "omelyan1999": "Omelyan (1999)",
    "lammpsrigid": "LAMMPS, manual",
    "lammpsgranular": "LAMMPS, manual (contacts)",
    "xue2023": "Xue et al.\\ (2023)",
}


def by_source(entries: Iterable[tuple[str, Sequence[str]]], columns: int) -> list[Sequence[str] | str]:
    """Rows with their sources, sorted by source, with a heading before each group; the order within a group is kept."""
    groups: dict[str, list[Sequence[str]]] = {source: [] for source in SOURCES}
    for source, row in entries:
        groups.setdefault(source, []).append(row)
    rows: list[Sequence[str] | str] = []
    for source, members in groups.items():
        if members:
            name = rf"{SOURCES[source]}~\cite{{{source}}}" if source in SOURCES else escape(source)
            # Space instead of a rule, which would follow that of the head at the top of a page.
            space = [r"\addlinespace[6pt]"] if rows else []
            # The star keeps a page from ending after the heading.
            rows += [*space, rf"\multicolumn{{{columns}}}{{@{{}}l}}{{\textbf{{{name}}}}} \\*[2pt]", *members]
    return rows


#: Headings and widths of the columns of a table of claims.
CLAIM_HEAD = ["place", "statement", "published, \\emph{asked}", "tol.", "measured", "verdict"]


CLAIM_COLUMNS = "@{}" + "".join(rf">{{\raggedright\arraybackslash}}p{{{mm}mm}}" for mm in (16, 56, 19, 12, 24, 18)) + "@{}"


#: The digits with which a number is looked at to tell it from a bound.
MOST_DIGITS = 7


#: Symbols for the comparison of a measured number with the published one.
COMPARISONS = {"equal": "=", "at least": r"\geq", "at most": r"\leq"}


def claim_cells(row: dict[Any, Any]) -> list[str]:
    """A claim as LaTeX: the cells under :data:`CLAIM_HEAD`."""
    # As many digits as are printed there, so that a reader sees where the numbers begin to differ.
    digits = significant(str(row["published"]).partition("/")[0])
    statement = prose(row["statement"]) + (rf"; {prose(row['note'])}" if row.get("note") else "")
    shown = _digits(row, digits)
    measured = _measured(row["measured"], shown) + _interval(row, shown)
    # Keep a name and its number on one line.
    place = escape(row["location"]).replace(". ", ".~")
    return [place, statement, _published(row, digits), _tolerance(row), measured, escape(row["verdict"])]


def _published(row: dict[Any, Any], digits: int) -> str:
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


def _digits(row: dict[Any, Any], printed: int) -> int:
    """How many digits of the measured number and its interval are shown: as many as are printed, and at least three.

    More if a bound would otherwise seem to be met exactly. With equal digits a number lies inside its interval.
    """
    least = max(3, printed)
    if row.get("comparison") not in ("at least", "at most") or not (
        _is_number(row["published"]) and _is_number(row["measured"])
    ):
        return least
    bound, value = float(row["published"]), float(row["measured"])
    return next((digits for digits in range(least, MOST_DIGITS) if float(f"{value:.{digits - 1}e}") != bound), least)


def _measured(text: str, digits: int) -> str:
    """A measured number with this many digits; one that is shorter, and a count, unchanged."""
    if text.isdigit() or significant(text) <= digits or not _is_number(text):
        return cell(text, digits)
    return number(float(text), digits)


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _interval(row: dict[Any, Any], digits: int) -> str:
    """The interval to print after a measured number; empty if it has none, or if it has no end."""
    ends = [float(row.get(name) or "nan") for name in ("low", "high")]
    if any(isnan(end) for end in ends) or not any(isfinite(end) for end in ends):
        return ""
    low, high = (number(end, digits) if isfinite(end) else r"$\infty$" for end in ends)
    return rf" [{low},~{high}{']' if isfinite(ends[1]) else ')'}"


def _tolerance(row: dict[Any, Any]) -> str:
    """The tolerance of a verdict, in the unit of the published number; a dash where there is none."""
    try:
        value = float(row["tolerance"])
    except ValueError:
        return "--"
    return rf"\num{{{value:.2g}}}" if value else "--"
