"""Docstrings as correct reStructuredText: |q| is a norm and not a substitution."""

import inspect
import re
from collections.abc import Mapping
from types import ModuleType


def plain_bars(lines: list[str]) -> list[str]:
    """Lines of a docstring with every bare bar escaped, except in literals and formulas."""
    result: list[str] = []
    formula = -1
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if formula >= 0 and line.strip() and indent <= formula:
            formula = -1
        if line.strip().startswith(".. math::"):
            formula = indent
        if formula >= 0 or line.lstrip().startswith(">>>"):
            result.append(line)
            continue
        pieces = re.split(r"(``.*?``|:math:`.*?`)", line)
        result.append("".join(p if i % 2 else re.sub(r"(?<!\\)\|", r"\\|", p) for i, p in enumerate(pieces)))
    return result


def docstring(module: ModuleType, pages: Mapping[str, str] | None = None) -> str:
    """The docstring of a module, ready for Sphinx; literals that are keys of ``pages`` link to the page there."""

    def link(match: re.Match[str]) -> str:
        key = match[1]
        return f":doc:`{key} <{pages[key]}>`" if pages and key in pages else match[0]

    text = "\n".join(plain_bars((inspect.getdoc(module) or "").splitlines()))
    return re.sub(r"``(\w+)``", link, text)
