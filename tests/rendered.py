"""What several tests ask of the chapters: whole figures and tables, all their numbers at once, and LaTeX files of them."""

import re
from functools import cache
from pathlib import Path

import pytest

from polhode_study.chapters import all_chapters, texts
from polhode_study.chapters.rendering import numbers, render_figure, render_numbers, render_table
from polhode_study.gather.arithmetic import arithmetic
from polhode_study.report import macros, style
from polhode_study.report.tables import FILE_ONLY

HOME = Path(__file__).parents[1]


@cache
def _arithmetic():
    return arithmetic()


def root(plugins=""):
    """The root of a single_body.nc without declarations: the arithmetic of parts of a step."""
    return _arithmetic().assign_attrs(plugins=plugins)


def all_numbers(inputs, timed=False):
    """The numbers of all chapters that show times, or of all others; the texts use each of them."""
    made = {
        name: text
        for key, chapter in all_chapters().items()
        if chapter.timed == timed and chapter.numbers
        for name, text in numbers(key, inputs).items()
    }
    assert made.keys() <= macros.used(texts(HOME)), "a number that no text uses"
    return made


def number_lines(inputs, folder, texts, timed=False):
    """The lines of the files of numbers, and of what the run cannot supply of what ``texts`` use, as LaTeX reads them."""
    used = macros.used(texts)
    files = [
        Path(folder) / f"{key}.tex" for key, chapter in all_chapters().items() if chapter.timed == timed and chapter.numbers
    ]
    for path in files:
        render_numbers(path.stem, inputs, path, used)
    lines = [line for path in files for line in path.read_text().splitlines() if not line.startswith("%")]
    return lines + macros.missing(texts, files).splitlines()


def figure_twice(name, inputs, folder):
    """The picture of a figure, which must be the same PDF when it is drawn again."""
    first, second = (Path(folder) / time for time in ("one", "two"))
    render_figure(name, inputs, first)
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(style.METADATA, "png", raising=False)  # nobody compares its pixels
        render_figure(name, inputs, second)
    assert (first / f"{name}.pdf").read_bytes() == (second / f"{name}.pdf").read_bytes()
    return first / f"{name}.png"


def whole_table(name, inputs, folder):
    """A table as LaTeX, which must be the same when it is made again, close its braces, and have a cell for each column."""
    first, second = (Path(folder) / time for time in ("one", "two"))
    for place in (first, second):
        render_table(name, inputs, place)
    for ending in ("csv", "tex"):
        assert (first / f"{name}.{ending}").read_bytes() == (second / f"{name}.{ending}").read_bytes()
    text = (first / f"{name}.tex").read_text()
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    assert not re.search(r"\b(nan|inf)\b", text, re.IGNORECASE)
    rows = [row for row in text.splitlines() if row.endswith(r"\\") and "multicolumn" not in row and "caption" not in row]
    if not text.endswith(FILE_ONLY):
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1, "every row has as many cells"
    return text
