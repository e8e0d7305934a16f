"""Table of the first page."""

from collections.abc import Callable

from polhode.interface.table import Column, RowGroup, Table
from polhode_study.chapters.communities import rows
from polhode_study.inputs import Inputs, NotInRun

#: The heads of the columns but the first.
HEAD = ("if your code runs", "do this", "time step")
#: Widths of the columns, in parts of the text, and of the line below a row.
WIDTHS, LINE = (0.285, 0.405, 0.28), 0.985


def communities(inputs: Inputs) -> Table:
    """A row for each kind of reader, with an example below it; the file has the numbers behind it."""
    made = rows.rows(inputs)
    if not made:
        raise NotInRun("this run has nothing of what the first page says to its readers")
    below = rf"\\ \addlinespace[2pt]\multicolumn{{3}}{{@{{}}>{{\raggedright\arraybackslash}}p{{{LINE}\textwidth}}@{{}}}}"
    cells: tuple[Callable[[rows.Row], str], ...] = (
        lambda row: rf"\textbf{{{row.who}}}, {row.what}: {row.runs}",
        lambda row: row.take,
        lambda row: rf"{row.step} {below}{{{row.example}}}",
    )
    columns = [
        Column(rf"\textbf{{{head}}}", None, cell, rf"{width}\textwidth")
        for head, cell, width in zip(HEAD, cells, WIDTHS, strict=True)
    ]
    records = [{"who": f"{row.who}, {row.what}"} | row.numbers for row in made]
    between = RowGroup(lambda row: row.example, r"\addlinespace[2pt]\midrule\addlinespace[1pt]")
    return Table(records, columns, rows=made, groups=[between], tight=True)
