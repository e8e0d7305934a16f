"""Pieces of MyST Markdown, and files that are written only if their content changes."""

from collections.abc import Iterable, Sequence
from math import floor, isfinite, log10
from pathlib import Path
from typing import Any

from polhode.interface.table import simple


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], align: str = "") -> str:
    """A table; ``align`` has one letter (l, r or c) per column."""
    return simple(head, rows, align).markdown()


def facts(rows: Iterable[tuple[str, Any]]) -> str:
    """A table of names and values, without those that are empty."""
    return table(["", ""], [(f"**{name}**", value) for name, value in rows if str(value)])


def figure(name: str, seen: str, caption: str, width: int = 100) -> str:
    """A generated picture with what is seen in it, for readers who cannot see it; its width in per cent of the text's."""
    return f"```{{figure}} /_generated/{name}.png\n:alt: {seen}\n:width: {width}%\n\n{caption}\n```\n"


def number(value: float, digits: int = 3) -> str:
    """A readable number: 0.0123, 1.2e-5 as a power of ten; an en dash for NaN."""
    if not isfinite(value):
        return "–"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        text = f"{value:.{digits}g}"
        return f"{float(text):.0f}" if "e" in text else text
    exponent = floor(log10(abs(value)))
    mantissa = f"{value / 10.0**exponent:.{digits}g}"
    power = f"10^{{{exponent}}}"
    return f"${power}$" if mantissa == "1" else rf"${mantissa}\times {power}$"


def seconds(value: float) -> str:
    """A time with its unit."""
    if not isfinite(value):
        return "–"
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} s"


def rst(text: str) -> str:
    """Text of a docstring, which is reStructuredText, inside a page of Markdown."""
    return f"````{{eval-rst}}\n{text.strip()}\n````\n"


def put(path: Path, text: str | bytes) -> None:
    """Write a file unless it already has this content, so that Sphinx need not read it again."""
    data = text.encode() if isinstance(text, str) else text
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
