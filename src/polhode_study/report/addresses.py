r"""Numbers of the text that are cells of tables: ``\val{TABLE}{ROW}{COLUMN}{FORMAT}``, filled from the CSV before typesetting.

``\val{librations}{rk4}{limit}{2 decimals}`` is the limit of Runge-Kutta in librations.csv. A row is named by the values of the
first columns of its table, as many as it takes, with commas between them; ``column=value`` names another column. The formats
are in :data:`FORMATS`, with a number of digits or decimals for N. A format may end with a unit: ``2 digits, \second``.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from math import isclose, nan
from pathlib import Path

import pandas as pd

from polhode_study import chapters
from polhode_study.report.formats import factor_or_infinite, plain, power, ratio, signed
from polhode_study.report.latex import NOT_AVAILABLE, decimal, escape, in_range, number

#: Stands in a text for a cell that the run lacks.
ABSENT = "studyNotInRun"
_COMMAND = re.compile(r"\\val(?![A-Za-z])")
_ARGUMENTS = re.compile(r"\s*\{([^{}]*)\}" * 4)
#: How a number is written. The arguments are N, a cell, and the ends of its interval: the cells in the columns COLUMN_low and
#: COLUMN_high, or low and high, beside it.
FORMATS: dict[str, Callable[[int, float, float, float], str]] = {
    "N digits": lambda n, value, low, high: number(value, n),
    "N decimals": lambda n, value, low, high: decimal(value, n),
    "N decimals in range": lambda n, value, low, high: in_range(value, low, high, n),
    "N decimals in per cent": lambda n, value, low, high: decimal(100 * value, n),
    "factor": lambda n, value, low, high: factor_or_infinite(value),
    "factor in interval": lambda n, *cells: "{} ({} to {})".format(*map(factor_or_infinite, cells)),
    "ratio": lambda n, value, low, high: ratio(value),
    "plain": lambda n, value, low, high: plain(value),
    "signed": lambda n, *cells: signed(*cells),
    "power": lambda n, value, low, high: power(value),
    "count": lambda n, value, low, high: f"{value:.0f}",
}
#: The format of a cell that is no number.
WORDS = "words"


class AddressError(ValueError):
    """An address that leads to no cell; the message names the file and the line, what is missing and what there is instead."""


@dataclass(frozen=True)
class Address:
    """One address: the places at which it begins and ends in its text, and its arguments."""

    where: str
    span: tuple[int, int]
    table: str
    row: str
    column: str
    form: str

    def error(self, message: str) -> AddressError:
        """An error about this address."""
        return AddressError(rf"{self.where}: \val{{{self.table}}}{{{self.row}}}{{{self.column}}}{{{self.form}}}: {message}")

    @property
    def format(self) -> tuple[str, int, str]:
        """The format in :data:`FORMATS`, its number and the unit."""
        name, _, unit = (words.strip() for words in self.form.partition(","))
        count = re.match(r"\d+", name)
        general = re.sub(r"^\d+", "N", re.sub(r"^1 (digit|decimal)\b", r"1 \1s", name))
        if general not in (*FORMATS, WORDS):
            raise self.error(f"unknown format; formats are: {', '.join([*FORMATS, WORDS])}, with a number for N")
        return general, int(count[0]) if count else 0, unit


def addresses(text: str, file: str | Path) -> Iterator[Address]:
    """All addresses in a text; ``file`` is its name in messages."""
    for command in _COMMAND.finditer(text):
        where = f"{file}:{text.count(chr(10), 0, command.start()) + 1}"
        arguments = _ARGUMENTS.match(text, command.end())
        if arguments is None:
            raise AddressError(rf"{where}: \val takes four arguments in braces: table, row, column and format")
        names = (" ".join(argument.split()) for argument in arguments.groups())
        address = Address(where, (command.start(), arguments.end()), *names)
        if address.table not in chapters.names("tables"):
            raise address.error(f"no chapter has this table{_instead(address.table, chapters.names('tables'))}")
        _ = address.format
        yield address


def _instead(name: str, names: Iterable[str]) -> str:
    """What may have been meant, or all there is."""
    every = list(dict.fromkeys(names))
    return f"; there is: {', '.join(get_close_matches(name, every) or every[:20])}"


class Tables:
    """The tables of a run, as CSV in a folder, and what their cells are in a text.

    ``is_whole`` says that the run lacks nothing of the default study: each row and column that a text names must then exist.
    """

    def __init__(self, folder: str | Path, is_whole: bool) -> None:
        self.folder, self.is_whole = Path(folder), is_whole
        self._frames: dict[str, pd.DataFrame] = {}

    def frame(self, name: str) -> pd.DataFrame:
        """A table with its cells as text; empty if the run lacks it."""
        if name not in self._frames:
            path = self.folder / f"{name}.csv"
            made = pd.read_csv(path, dtype=str, keep_default_na=False) if path.is_file() else pd.DataFrame()
            self._frames[name] = pd.DataFrame() if list(made) == ["note"] else made
        return self._frames[name]

    def filled(self, text: str, file: str | Path) -> str:
        r"""A text with the number in the place of each address, or a macro that no run defines where the run lacks the cell.

        Raises
        ------
        AddressError
            Of an address that is wrong; of a cell that is missing only if the run is whole.
        """
        parts, place = [], 0
        for address in addresses(text, file):
            start, end = address.span
            parts += [text[place:start], self.number(address)]
            place = end
        return "".join([*parts, text[place:]])

    def number(self, address: Address) -> str:
        """The number at an address as LaTeX."""
        row: pd.Series | None = None
        if not (frame := self.frame(address.table)).empty:
            try:
                row = self._row(frame, address)
            except AddressError:
                if self.is_whole:
                    raise
        if row is None:
            return rf"\{ABSENT}{{}}"
        name, count, unit = address.format
        if name == WORDS:
            return escape(row[address.column]) or rf"\{ABSENT}{{}}"
        try:
            ends = (row.get(f"{address.column}_{end}", row.get(end)) for end in ("low", "high"))
            cells = [float(cell or nan) for cell in (row[address.column], *ends)]
        except ValueError:
            raise address.error(f"the cell {row[address.column]!r} is no number; its format is: {WORDS}") from None
        text = FORMATS[name](count, *cells) if cells[0] == cells[0] else NOT_AVAILABLE
        return (re.sub(r"^\\num\{(.*)\}$", rf"\\qty{{\1}}{{\{unit}}}", text) if unit else text).replace(
            NOT_AVAILABLE, rf"\{ABSENT}{{}}"
        )

    def _row(self, frame: pd.DataFrame, address: Address) -> pd.Series:
        """The row of an address."""
        if address.column not in frame:
            raise address.error(f"the table has no column {address.column}{_instead(address.column, map(str, frame))}")
        rows = frame
        for place, key in enumerate(filter(None, address.row.split(","))):
            column, _, value = (
                word.strip() for word in (key if "=" in key else f"{frame.columns[place]}={key}").partition("=")
            )
            if column not in frame:
                raise address.error(f"the table has no column {column}{_instead(column, map(str, frame))}")
            chosen = rows[[_equal(cell, value) for cell in rows[column]]]
            if chosen.empty:
                raise address.error(f"no row has {column}={value}{_instead(value, rows[column])}")
            rows = chosen
        if len(rows) > 1:
            differing = [str(column) for column in rows if rows[column].nunique() > 1]
            raise address.error(f"{len(rows)} rows are meant; name one of them by one of: {', '.join(differing)}")
        return rows.iloc[0]


def _equal(cell: str, value: str) -> bool:
    """Whether a cell has a value, as text or as a number."""
    try:
        return cell == value or isclose(float(cell), float(value), rel_tol=1e-6)
    except ValueError:
        return False
