"""The contents of the report by theme: one folder each, which contains everything that belongs to the theme and nothing else.

``theme.py`` declares the figures, tables and numbers of the theme (:class:`~polhode.study.themes.theme.Theme`), the
data from which they are made, and its place in the report; ``figures.py``, ``tables.py`` and ``numbers.py`` have one function
for each figure, table and group of numbers, named like the files; ``analysis.py`` holds the frames and constants that these
share. The text is paper/sections/THEME.tex. A new theme is a new folder here; no other file names it.

The workflow reads only the declarations, so that starting it imports no plotting library. It has a rule for each chapter
(:func:`chapters`), whose hash covers the modules imported by its themes.
"""

import importlib
import pkgutil
from functools import cache

from polhode.study.themes.theme import Theme


@cache
def all_themes() -> dict[str, Theme]:
    """Every theme by the name of its folder, in the order of the report."""
    themes = {}
    for entry in pkgutil.iter_modules(__path__):
        if entry.ispkg:
            themes[entry.name] = importlib.import_module(f"{__name__}.{entry.name}.theme").THEME
    return dict(sorted(themes.items(), key=lambda item: (item[1].place, item[0])))


def chapters() -> dict[str, dict[str, Theme]]:
    """The themes made by one job each, by the name of the chapter; a theme without one is a chapter of its own name."""
    members: dict[str, dict[str, Theme]] = {}
    for key, theme in all_themes().items():
        members.setdefault(theme.chapter or key, {})[key] = theme
    return members


def names(kind: str, *keys: str, timed: bool = False) -> list[str]:
    """The names of the files of a kind, theme by theme: ``figures``, ``tables``, or ``numbers``, one file for each theme.

    Of these themes, by default of all; with ``timed`` only those that show measured times, which differ from run to run.
    """
    themes = {key: theme for key, theme in all_themes().items() if (not keys or key in keys) and theme.timed >= timed}
    if kind == "numbers":
        return [key for key, theme in themes.items() if theme.numbers]
    return [name for theme in themes.values() for name in getattr(theme, kind)]


def theme_of(kind: str, name: str) -> str:
    """The folder of the theme that has this figure or table.

    Raises
    ------
    KeyError
        If there is none of that name; the message lists all names.
    """
    for key, theme in all_themes().items():
        if name in getattr(theme, kind):
            return key
    raise KeyError(f"unknown {kind.removesuffix('s')} {name!r}; known are: {', '.join(names(kind))}")
