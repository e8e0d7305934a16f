"""The chapters of the study, a folder each, which holds all of one subject and nothing else; no other file names it.

``chapter.py`` declares a chapter (:class:`~polhode_study.chapters.chapter.Chapter`): who reads it, what it needs, its
experiments, figures, tables and numbers. ``run.py`` computes the experiments and imports the library; ``frames.py`` makes
frames from the files of a run; ``figures.py``, ``tables.py`` and ``numbers.py`` have one function for each figure, table and
group of numbers, named like the files; ``claims.yaml`` lists what the publications state, ``measures.py`` how it is measured
and ``evidence.yaml`` where it is shown. ``text.tex`` is the section of the supplement, ``appendix.tex`` comes after its
bibliography, ``files.tex`` has the captions of figures and tables that are files only, and other LaTeX files are parts of
these. A chapter whose folder is deleted is gone from the study.

The workflow reads only the declarations, so that starting it imports no plotting library. It has a rule for each job
(:func:`jobs`), whose hash covers the modules imported by its chapters.
"""

import importlib
import pkgutil
from functools import cache
from pathlib import Path

from polhode_study.chapters.chapter import Chapter

#: This folder in a checkout.
FOLDER = Path("src/polhode_study/chapters")
#: The file of a chapter with the captions of figures and tables that are made and not typeset.
NOT_TYPESET = "files.tex"


@cache
def all_chapters() -> dict[str, Chapter]:
    """Every chapter by the name of its folder, in the order of the report."""
    chapters = {}
    for entry in pkgutil.iter_modules(__path__):
        if entry.ispkg:
            chapters[entry.name] = importlib.import_module(f"{__name__}.{entry.name}.chapter").CHAPTER
    return dict(sorted(chapters.items(), key=lambda item: (item[1].place, item[0])))


def jobs() -> dict[str, dict[str, Chapter]]:
    """The chapters made by each job, which has the names of all of them; what names no job is made alone."""
    members: dict[str, dict[str, Chapter]] = {}
    for key, chapter in all_chapters().items():
        members.setdefault(chapter.job or key, {})[key] = chapter
    return {"_".join(of_job): of_job for of_job in members.values()}


def job_of(chapter: str) -> str:
    """The job that makes a chapter."""
    return next(job for job, members in jobs().items() if chapter in members)


def names(kind: str, *keys: str, timed: bool = False) -> list[str]:
    """The names of the files of a kind: ``figures``, ``tables``, or ``numbers``, one file for each chapter.

    Of these chapters, by default of all; with ``timed`` only those that show measured times, which differ from run to run.
    """
    chapters = {key: each for key, each in all_chapters().items() if (not keys or key in keys) and each.timed >= timed}
    if kind == "numbers":
        return [key for key, chapter in chapters.items() if chapter.numbers]
    return [name for chapter in chapters.values() for name in getattr(chapter, kind)]


def chapter_of(kind: str, name: str) -> str:
    """The folder of the chapter that has this figure or table.

    Raises
    ------
    KeyError
        If there is none of that name; the message lists all names.
    """
    for key, chapter in all_chapters().items():
        if name in getattr(chapter, kind):
            return key
    raise KeyError(f"unknown {kind.removesuffix('s')} {name!r}; known are: {', '.join(names(kind))}")


def files(home: str | Path, pattern: str, timed: bool | None = None) -> list[Path]:
    """The files of all chapters in a checkout with this name, in the order of the report.

    Of chapters that show times, or of all others, if ``timed`` says so.
    """
    keys = [key for key, chapter in all_chapters().items() if timed is None or chapter.timed == timed]
    return [path for key in keys for path in sorted(Path(home, FOLDER, key).glob(pattern))]


def texts(home: str | Path) -> list[Path]:
    """The LaTeX files of both documents in a checkout: of the folder paper, and of all chapters."""
    return [*sorted(Path(home, "paper").rglob("*.tex")), *files(home, "*.tex")]
