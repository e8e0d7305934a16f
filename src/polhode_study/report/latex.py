"""Numbers and texts as LaTeX."""

from math import floor, isfinite, log10

from polhode_study.report.macros import NOT_AVAILABLE as NOT_AVAILABLE

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
