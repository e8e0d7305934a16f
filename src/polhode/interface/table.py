"""A table as a value: its data, and columns that say what is in a cell and how it is written. One writer for each medium.

LaTeX is written by ``polhode_study.report.tables.latex``.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame


def value_in(row: Any, of: Any) -> Any:
    """What a row has under the key or position ``of``, or what the function ``of`` makes of it; the row itself for None."""
    return row if of is None else of(row) if callable(of) else row[of]


@dataclass(frozen=True)
class Column:
    r"""A column of a table.

    Parameters
    ----------
    head : what stands above it, in the markup of the medium
    of : the value in a row: a key, a position or a function of the row; None for the row itself
    form : how it is written: the format of a number (``".2f"``), or a function that returns markup; otherwise it is plain text
    align : "l", "r" or "c"; in LaTeX any type of column, and of a paragraph its width (``21mm``)
    unit : its unit, in brackets after the head
    over : a head above this column and those beside it that have the same one
    none : what stands for a number that is not finite
    once : whether a cell is left empty if it repeats the one above it in its group
    """

    head: str
    of: Any = None
    form: str | Callable[[Any], str] = ""
    align: str = "l"
    unit: str = ""
    over: str = ""
    none: str = "n/a"
    once: bool = False

    @property
    def title(self) -> str:
        """The head with the unit in brackets, in the markup of the medium."""
        return f"{self.head} ({self.unit})" if self.unit else self.head

    def cell(self, row: Any, plain: Callable[[str], str] = str, number: Callable[[float, str], str] = format) -> str:
        """The cell of a row, in markup; ``plain`` makes markup of a text, ``number`` of a number and its format."""
        value = value_in(row, self.of)
        if callable(self.form):
            return self.form(value)
        if not self.form:
            return plain(str(value))
        return number(value, self.form) if isfinite(value) else self.none


@dataclass(frozen=True)
class RowGroup:
    """Rows one after the other with the same value belong together.

    Parameters
    ----------
    of : the value in a row, as of a column
    before : the space above a group but the first (``3pt``), the rule as a command of LaTeX, or nothing
    title : makes a line above the group, in markup, of the value
    whole : whether a page may not end inside a group
    """

    of: Any
    before: str = "3pt"
    title: Callable[[Any], str] | None = None
    whole: bool = False


@dataclass(frozen=True)
class Table:
    """A table; :meth:`csv` writes all data, the other writers the columns of the rows.

    Parameters
    ----------
    frame : pandas.DataFrame, or a sequence of mappings or of other rows that the columns can read
    columns : what is shown of a row; without them the table is a file only
    rows : the rows that are shown; without them all of ``frame``
    groups : how rows are grouped, the outermost first
    notes : what is said below the table by a terminal
    long : in LaTeX over several pages, with the caption and the label of this name
    gap : the space between the rows of such a table
    tight : in LaTeX without space at both sides
    """

    frame: Any
    columns: Sequence[Column] = ()
    rows: Sequence[Any] | None = None
    groups: Sequence[RowGroup] = ()
    notes: Sequence[str] = ()
    long: str = ""
    gap: str = ""
    tight: bool = False

    def body(self) -> Sequence[Any]:
        """The rows that are shown: ``rows``, or all of ``frame``, of a :class:`pandas.DataFrame` as mappings."""
        if self.rows is not None:
            return self.rows
        rows: Sequence[Any] = self.frame.to_dict("records") if hasattr(self.frame, "to_dict") else self.frame
        return rows

    def lines(
        self, plain: Callable[[str], str] = str, number: Callable[[float, str], str] = format
    ) -> Iterator[tuple[list[RowGroup], list[str], bool]]:
        """Each row: the groups that begin with it, its cells in markup, and whether no page may end before it.

        ``plain`` and ``number`` are as for :meth:`Column.cell`.
        """
        before: list[Any] = []
        above: list[str] = []
        for row in self.body():
            values = [value_in(row, group.of) for group in self.groups]
            same = next((i for i, pair in enumerate(zip(values, before, strict=False)) if pair[0] != pair[1]), len(before))
            begun = list(self.groups[same:])
            cells = [column.cell(row, plain, number) for column in self.columns]
            repeated = [] if begun else above
            printed = [
                "" if column.once and repeated and cell == repeated[i] else cell
                for i, (column, cell) in enumerate(zip(self.columns, cells, strict=True))
            ]
            yield begun, printed, any(group.whole for group in self.groups[:same])
            before, above = values, cells

    def text(self, indent: str = "", rule: bool = True) -> str:
        """The table as lines of text for a terminal, without columns that have nothing in any row.

        ``indent`` begins each line; ``rule``: whether a line stands below the head.
        """
        rows = [cells for _, cells, _ in self.lines()]
        used = [i for i in range(len(self.columns)) if not rows or any(cells[i] for cells in rows)]
        heads = [column.title for column in self.columns]
        widths = [max(len(cells[i]) for cells in (heads, *rows)) for i in range(len(heads))]
        lines = [heads, *([["-" * width for width in widths]] if rule else []), *rows]

        def padded(cell: str, i: int) -> str:
            return cell.rjust(widths[i]) if self.columns[i].align == "r" else cell.ljust(widths[i])

        texts = (indent + "  ".join(padded(cells[i], i) for i in used) for cells in lines)
        return "\n".join([*(line.rstrip() for line in texts), *self.notes])

    def markdown(self) -> str:
        """The table as Markdown: a cell is one line without bare bars."""
        rules = [{"r": "---:", "c": ":---:"}.get(column.align, ":---") for column in self.columns]
        rows = [[column.title for column in self.columns], rules, *(list(map(one_line, cells)) for _, cells, _ in self.lines())]
        return "\n".join(["| " + " | ".join(cells) + " |" for cells in rows]) + "\n"

    def html(self) -> str:
        """The table as HTML; the first cell of a row is its head."""
        top = "".join(f'<th scope="col">{column.title}</th>' for column in self.columns)
        rows = [
            f'<tr><th scope="row">{first}</th>' + "".join(f"<td>{cell}</td>" for cell in others) + "</tr>"
            for _, (first, *others), _ in self.lines(escape)
        ]
        return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def data(self) -> "DataFrame":
        """All data, a row for each of ``frame``; its columns have the names that a data frame has, or the keys of mappings.

        The values are then as in ``frame``, in full precision. Of rows that are no mappings, and of an empty sequence, the
        names are the titles of ``columns`` (head and unit), and the values are the texts of the cells.
        """
        from pandas import DataFrame

        if isinstance(self.frame, DataFrame) or (self.frame and isinstance(self.frame[0], Mapping)):
            return DataFrame(self.frame)
        heads = [column.title for column in self.columns]
        return DataFrame([[column.cell(row) for column in self.columns] for row in self.frame], columns=heads)

    def csv(self) -> str:
        """All data as comma-separated values."""
        return csv(self.data())


def simple(head: Sequence[str], rows: Iterable[Sequence[Any]], align: str = "", form: Callable[[Any], str] | str = "") -> Table:
    """A table of rows that have their cells in the order of the columns ``head``.

    ``align`` has a letter for each column, "l", "r" or "c"; missing ones are "l". ``form`` holds for all columns.
    """
    return Table(list(rows), placed(head, align.ljust(len(head), "l"), form))


def placed(
    heads: Sequence[str],
    aligns: Sequence[str],
    form: Callable[[Any], str] | str = str,
    first: int = 0,
    overs: Sequence[str] = (),
) -> list[Column]:
    """Columns for rows that have their cells in this order, by default in markup.

    Parameters
    ----------
    heads, aligns, overs : of each column, as in :class:`Column`
    form : of all columns, as in :class:`Column`
    first : position of the first column's cell in a row
    """
    of_columns = zip(heads, aligns, overs or [""] * len(heads), strict=True)
    return [Column(head, i, form, align, over=over) for i, (head, align, over) in enumerate(of_columns, first)]


def csv(frame: "DataFrame") -> str:
    """A frame as comma-separated values with a line of heads, in full precision, without the index."""
    return str(frame.to_csv(index=False, lineterminator="\n"))


def one_line(text: Any) -> str:
    """The content of a cell in Markdown: one line, with bars that are no borders."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(str(text).split()))
