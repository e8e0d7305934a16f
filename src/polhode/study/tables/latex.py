"""Numbers and tables as LaTeX."""

from collections.abc import Sequence
from math import floor, isfinite, log10

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
#: Letters below U+0180 that the fonts of the report do not have.
_LACKING = frozenset("ĦħĸĿŀŉŦŧſ")
NOT_AVAILABLE = "n/a"


def escape(text: str) -> str:
    """Plain text as LaTeX that prints the same characters on one line; what the fonts of the report lack becomes ``?``."""
    line = "".join(" " if c.isspace() else _escaped(c) for c in str(text))
    # At the beginning of a row these would belong to the end of the row before.
    return f"{{}}{line}" if line.lstrip()[:1] in ("[", "*") else line


def _escaped(c: str) -> str:
    return _SPECIAL.get(c, c if c.isprintable() and ord(c) < 0x180 and c not in _LACKING else "?")


def number(value: float, digits: int = 3) -> str:
    """A number for LaTeX (siunitx), ``digits`` significant digits; ``n/a`` where there is none."""
    if not isfinite(value):
        return NOT_AVAILABLE
    if value != 0 and not 1e-3 <= abs(value) < 1e4:
        return rf"\num{{{value:.{digits - 1}e}}}"
    decimals = max(0, digits - 1 - (floor(log10(abs(value))) if value else 0))
    return rf"\num{{{value:.{decimals}f}}}"


def step(value: float, digits: int = 4) -> str:
    """A time step for LaTeX, always with an exponent, so that a column of them is easy to compare."""
    return rf"\num{{{value:.{digits - 1}e}}}" if isfinite(value) else NOT_AVAILABLE


def decimal(value: float, decimals: int) -> str:
    """A number for LaTeX with a fixed number of decimals; ``n/a`` where there is none."""
    return rf"\num{{{value:.{decimals}f}}}" if isfinite(value) else NOT_AVAILABLE


def in_range(value: float, low: float, high: float, decimals: int = 2) -> str:
    """A number, and in brackets its range where that shows in so many decimals; ``n/a`` where there is no number."""
    texts = [decimal(x, decimals) for x in (value, low, high)]
    if not isfinite(value) or len(set(texts)) == 1 or not (isfinite(low) and isfinite(high)):
        return texts[0]
    return f"{texts[0]}~[{texts[1]}, {texts[2]}]"


def tabular(columns: str, head: Sequence[str], rows: Sequence[Sequence[str] | str]) -> str:
    """A booktabs tabular; a row given as a plain string is put in as it is (a rule, say)."""
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


def long_table(columns: str, head: Sequence[str], rows: Sequence[Sequence[str] | str], name: str) -> str:
    r"""A booktabs longtable over pages; the text of its caption is the report's ``\NAMEcaption``, its label ``tab:NAME``.

    A row given as a plain string is put in as it is.
    """
    width = len(head)
    top = " & ".join(head) + r" \\"
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
        # No space behind the last row: it would go to a page of its own, with nothing on it but the head.
        *(
            row if isinstance(row, str) else " & ".join(row) + r" \\" + (r"\addlinespace[2pt]" if number < len(rows) else "")
            for number, row in enumerate(rows, 1)
        ),
        r"\end{longtable}",
        "",
    ]
    return "\n".join(lines)


def significant(text: str) -> int:
    """How many significant digits a number is written with, zeros at its end included."""
    return len(text.strip().lower().partition("e")[0].lstrip("+-").replace(".", "").lstrip("0"))


def cell(text: str, digits: int = 4) -> str:
    """A number of a table of texts as LaTeX, a long one with so many significant digits, other text escaped."""
    try:
        value = float(text)
    except ValueError:
        return escape(text)
    if not isfinite(value):
        return NOT_AVAILABLE
    return number(value, digits) if len(text.strip()) > 5 else rf"\num{{{text.strip()}}}"
