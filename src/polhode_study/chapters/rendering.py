"""Rendering of a figure, a table or the numbers of a chapter: from the files of a run to the files of the report."""

import importlib
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from polhode.interface.storage import write_text
from polhode.interface.table import Column, Table, csv
from polhode_study.chapters import all_chapters, chapter_of
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import origins
from polhode_study.report.latex import escape
from polhode_study.report.macros import NOT_IN_RUN
from polhode_study.report.tables import latex

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


def module(chapter: str, part: str) -> ModuleType:
    """The module ``part`` (figures, tables or numbers) of a chapter."""
    return importlib.import_module(f"polhode_study.chapters.{chapter}.{part}")


def figure(name: str, inputs: Inputs) -> "Figure":
    """The figure called ``name``.

    Raises
    ------
    KeyError
        If there is no such figure; the message lists all.
    NotInRun
        If the run lacks the data that the figure shows.
    """
    made: Figure = getattr(module(chapter_of("figures", name), "figures"), name)(inputs)
    return made


def table(name: str, inputs: Inputs) -> tuple["DataFrame", str]:
    """The table called ``name`` in full precision and as LaTeX; raises errors as :func:`figure` does."""
    made: Table = getattr(module(chapter_of("tables", name), "tables"), name)(inputs)
    return made.data(), latex(made)


def numbers(chapter: str, inputs: Inputs) -> dict[str, str]:
    """The numbers of one chapter: macro name (without backslash, letters only) -> LaTeX text.

    A group of numbers whose data are missing from the run is omitted; :func:`polhode_study.report.macros.missing` fills in.
    """
    declared = all_chapters()[chapter]
    result: dict[str, str] = {}
    for name in declared.numbers:
        with suppress(NotInRun):
            group = getattr(module(chapter, "numbers"), name)(inputs)
            if clash := sorted(key for key in group.keys() & result.keys() if group[key] != result[key]):
                raise ValueError(
                    f"numbers of the chapter {chapter}: {name} gives {clash[0]} another value than an earlier group"
                )
            result |= group
    bad = [name for name in result if not re.fullmatch(f"{declared.prefix}[A-Za-z]+", name)]
    assert not bad, bad
    return result


def render_figure(name: str, inputs: Inputs, folder: str | Path) -> None:
    """Draw the figure ``name`` and write NAME.pdf and NAME.png into ``folder``.

    If data are missing from the run, the figure says so instead.
    """
    from polhode_study.report import drawing, style

    inputs.from_release.clear()
    with style.settings():
        try:
            made = figure(name, inputs)
            subject = origins.note(inputs.from_release)
        except NotInRun as missing:
            made, subject = drawing.note_instead(str(missing)), NOT_IN_RUN
    style.save(made, Path(folder) / name, subject)


def render_table(name: str, inputs: Inputs, folder: str | Path) -> None:
    """Build the table ``name`` and write NAME.csv and NAME.tex into ``folder``.

    If data are missing from the run, the table says so instead.
    """
    inputs.from_release.clear()
    try:
        data, text = table(name, inputs)
        note = origins.note(inputs.from_release)
    except NotInRun as missing:
        made = Table([{"note": str(missing)}], [Column(escape(str(missing)))], rows=[])
        data, text, note = made.data(), latex(made), NOT_IN_RUN
    write_text(Path(folder, f"{name}.csv"), csv(data))
    write_text(Path(folder, f"{name}.tex"), f"% {note}\n{text}" if note else text)


def render_numbers(chapter: str, inputs: Inputs, path: str | Path, used: Collection[str]) -> None:
    r"""Write a ``\newcommand`` for each number of a chapter that is listed in ``used``, sorted by name."""
    made = numbers(chapter, inputs)
    # Of an array that was not made a number the text would print the representation.
    if broken := [name for name, text in made.items() if "\n" in text]:
        raise ValueError(f"chapter {chapter}: a number is one line of text, and {', '.join(broken)} is not")
    lines = [rf"\newcommand{{\{name}}}{{{made[name]}}}" for name in sorted(made) if name in used]
    write_text(
        path, "\n".join([f"% Made by the study: the numbers of the chapter {chapter} that the text uses.", *lines]) + "\n"
    )
