"""Numbers and tables as LaTeX."""

import re
from collections.abc import Callable, Sequence
from math import floor, isfinite, log10

from polhode.study.inputs import Inputs
from polhode.study.report.macros import NOT_AVAILABLE as NOT_AVAILABLE

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "-": "-",
    "ω": r"\ensuremath{\omega}",
    "Δ": r"\ensuremath{\Delta}",
    "τ": r"\ensuremath{\tau}",
    "π": r"\ensuremath{\pi}",
    "±": r"\ensuremath{\pm}",
    "×": r"\ensuremath{\times}",
    "≈": r"\ensuremath{\approx}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "°": r"\ensuremath{^\circ}",
    "²": r"\ensuremath{^2}",
    "³": r"\ensuremath{^3}",
    "·": r"\ensuremath{\cdot}",
    "−": r"\ensuremath{-}",
    "–": "--",
    "—": "---",
    "’": "'",
}
#: Letters below U+0180 that the fonts of the report lack.
_LACKING = frozenset("ĦħĸĿŀŉŦŧſ")


def escape(text: str) -> str:
    """Plain text as LaTeX that prints the same characters on one line; characters missing from the fonts become ``?``."""
    line = "".join(" " if c.isspace() else _escaped(c) for c in str(text))
    # At the beginning of a row these would belong to the end of the previous row.
    return f"{{}}{line}" if line.lstrip()[:1] in ("[", "*") else line


def _escaped(c: str) -> str:
    return _SPECIAL.get(c, c if c.isprintable() and ord(c) < 0x180 and c not in _LACKING else "?")


#: What plain text writes for symbols and units.
_SYMBOLS = {"dt": r"$\dt$", "omega": r"$\omega$", "q": "$q$", "p": "$p$", "kg m2": r"\unit{\kilogram\metre\squared}"}
_SET = re.compile(rf"(?<![\w.])(-?\d+(?:\.\d+)?e[+-]?\d+|-\d+(?:\.\d+)?|{'|'.join(_SYMBOLS)})(?![\w-])")


def prose(text: str) -> str:
    """Plain text as LaTeX like :func:`escape`; numbers in powers of ten (``1e-05``) or below zero, and symbols, as such."""
    return "".join(_set(piece) if place % 2 else escape(piece) for place, piece in enumerate(_SET.split(str(text))))


def _set(text: str) -> str:
    return _SYMBOLS.get(text) or (_power(text) if "e" in text else rf"\num{{{text}}}")


def _power(text: str) -> str:
    mantissa, _, exponent = text.partition("e")
    value = float(text)
    return rf"\num{{{value:g}}}" if 1e-3 <= abs(value) < 1e4 else rf"\num{{{mantissa}e{int(exponent)}}}"


def number(value: float, digits: int = 3) -> str:
    """A number for LaTeX (siunitx), ``digits`` significant digits; ``n/a`` where there is none."""
    if not isfinite(value):
        return NOT_AVAILABLE
    if value != 0 and not 1e-3 <= abs(value) < 1e4:
        return rf"\num{{{value:.{digits - 1}e}}}"
    decimals = digits - 1 - (floor(log10(abs(value))) if value else 0)
    # 2987 with two digits is 3000.
    return rf"\num{{{round(value, min(0, decimals)) if decimals < 0 else value:.{max(0, decimals)}f}}}"


def step(value: float, digits: int = 4) -> str:
    """A time step for LaTeX, always with an exponent, so that a column of them is easy to compare."""
    return rf"\num{{{value:.{digits - 1}e}}}" if isfinite(value) else NOT_AVAILABLE


def or_dash(text: str) -> str:
    """A number as text, a dash where there is none: in a table that has many of them."""
    return "--" if text == NOT_AVAILABLE else text


def decimal(value: float, decimals: int) -> str:
    """A number for LaTeX with a fixed number of decimals; ``n/a`` where there is none."""
    return rf"\num{{{value:.{decimals}f}}}" if isfinite(value) else NOT_AVAILABLE


def in_range(value: float, low: float, high: float, decimals: int = 2) -> str:
    """A number, with its range in brackets if visible at this number of decimals; ``n/a`` where there is no number."""
    texts = [decimal(x, decimals) for x in (value, low, high)]
    if not isfinite(value) or len(set(texts)) == 1 or not (isfinite(low) and isfinite(high)):
        return texts[0]
    return f"{texts[0]}~[{texts[1]}, {texts[2]}]"


def tabular(columns: str, head: Sequence[str], rows: Sequence[Sequence[str] | str]) -> str:
    """A booktabs tabular; a row given as a plain string is inserted unchanged (a rule, for example)."""
    body = [row if isinstance(row, str) else " & ".join(row) + r" \\" for row in rows]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(head) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def spanning(*cells: tuple[str, int] | str, before: str = " & ", trim: str = "lr") -> str:
    r"""A line above a head: after the empty cells ``before``, texts over several columns, with rules, and texts over one.

    ``trim``: at which ends the rules are shortened, as for ``\cmidrule``.
    """
    texts, rules, column = [], "", 1 + before.count("&")
    for cell in cells:
        text, width = (cell, 1) if isinstance(cell, str) else cell
        texts.append(text if isinstance(cell, str) else rf"\multicolumn{{{width}}}{{c}}{{{text}}}")
        rules += "" if isinstance(cell, str) else rf"\cmidrule({trim}){{{column}-{column + width - 1}}}"
        column += width
    return before + " & ".join(texts) + r" \\" + "\n" + rules + "\n"


def above_head(table: str, line: str) -> str:
    """A tabular with another line, such as one over several columns, above its head."""
    return table.replace("\\toprule\n", "\\toprule\n" + line, 1)


def long_table(
    columns: str, head: Sequence[str], rows: Sequence[Sequence[str] | str], name: str, above: str = "", gap: str = "2pt"
) -> str:
    r"""A booktabs longtable over several pages; its caption is the report's ``\NAMEcaption``, its label ``tab:NAME``.

    A row given as a plain string is inserted unchanged. ``above`` is another line of the head, ``gap`` the space between rows.
    """
    width = len(head)
    space = rf"\addlinespace[{gap}]" if gap else ""
    top = above + " & ".join(head) + r" \\"
    lines = [
        rf"\begin{{longtable}}{{{columns}}}",
        rf"\caption{{\{name}caption}}\label{{tab:{name}}}\\",
        r"\toprule",
        top,
        r"\midrule",
        r"\endfirsthead",
        rf"\multicolumn{{{width}}}{{l}}{{\emph{{Table~\thetable, continued}}}}\\",
        r"\toprule",
        top,
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
        # No space after the last row: it would go to a separate page with nothing but the table head.
        *(
            row if isinstance(row, str) else " & ".join(row) + r" \\" + (space if number < len(rows) else "")
            for number, row in enumerate(rows, 1)
        ),
        r"\end{longtable}",
        "",
    ]
    return "\n".join(lines)


def stacked(*lines: str, top: bool = True) -> str:
    """A cell of several lines, the first (or last) on the line of the row; a line may begin with a bracket."""
    return rf"\begin{{tabular}}[{'t' if top else 'b'}]{{@{{}}c@{{}}}}" + r"\\{}".join(lines) + r"\end{tabular}"


def broken(text: str, most: int = 16) -> str:
    """A head of more than ``most`` characters on two lines: after its comma, or at the space next to its middle."""
    spaces = [place for place, c in enumerate(text) if c == " "]
    if len(text) <= most or not spaces:
        return escape(text)
    after_comma = [place for place in spaces if text[place - 1] == ","]
    at = (after_comma or sorted(spaces, key=lambda place: abs(place - len(text) / 2)))[0]
    return stacked(escape(text[:at]), escape(text[at + 1 :]), top=False)


def significant(text: str) -> int:
    """The number of significant digits with which a number is written, including trailing zeros."""
    return len(text.strip().lower().partition("e")[0].lstrip("+-").replace(".", "").lstrip("0"))


def cell(text: str, digits: int = 4) -> str:
    """A table entry as LaTeX: a long number with this many significant digits, other text escaped."""
    try:
        value = float(text)
    except ValueError:
        return escape(text)
    if not isfinite(value):
        return NOT_AVAILABLE
    return number(value, digits) if len(text.strip()) > 5 else rf"\num{{{text.strip()}}}"


def grouped_rows(inputs: Inputs, methods: Sequence[str], row: Callable[[str], list[str]]) -> list[Sequence[str] | str]:
    """One row per method, with a little space between the groups of methods."""
    rows: list[Sequence[str] | str] = []
    for number, (_, keys) in enumerate(inputs.grouped(methods)):
        if number:
            rows.append(r"\addlinespace[3pt]")
        rows += [row(key) for key in keys]
    return rows
