"""What several tests ask of the themes: all their numbers at once, and LaTeX files of them."""

from functools import cache
from pathlib import Path

from polhode.study.gather.arithmetic import arithmetic
from polhode.study.report import macros
from polhode.study.themes import all_themes
from polhode.study.themes.rendering import numbers, render_numbers


@cache
def _arithmetic():
    return arithmetic()


def root(plugins=""):
    """The root of a single_body.nc without declarations: the arithmetic of parts of a step."""
    return _arithmetic().assign_attrs(plugins=plugins)


def all_numbers(inputs, timed=False):
    """The numbers of all themes that show times, or of all others."""
    return {
        name: text
        for key, theme in all_themes().items()
        if theme.timed == timed and theme.numbers
        for name, text in numbers(key, inputs).items()
    }


def number_lines(inputs, folder, texts, timed=False):
    """The lines of the files of numbers, and of what the run cannot supply of what ``texts`` use, as LaTeX reads them."""
    used = macros.used(texts)
    files = [Path(folder) / f"{key}.tex" for key, theme in all_themes().items() if theme.timed == timed and theme.numbers]
    for path in files:
        render_numbers(path.stem, inputs, path, used)
    lines = [line for path in files for line in path.read_text().splitlines() if not line.startswith("%")]
    return lines + macros.missing(texts, files).splitlines()
