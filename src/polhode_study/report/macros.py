"""The macros that connect numbers and text: those used by the text, and those that a run cannot supply."""

import re
from collections.abc import Iterable
from pathlib import Path

#: Written where a run has no number.
NOT_AVAILABLE = "n/a"
#: Marks the files of figures and tables that a run cannot supply, which say why instead.
NOT_IN_RUN = "not in this run"
#: Prefixes of the macros of all chapters.
PREFIXES = ("study", "cost")
#: Such a macro in a text; its name is the group.
MACRO = re.compile(rf"\\((?:{'|'.join(PREFIXES)})[A-Za-z]+)")


def used(texts: Iterable[str | Path]) -> set[str]:
    r"""The macros, without the backslash, that are used by LaTeX files and made by the study: ``\studyAbc``, ``\costAbc``."""
    return {name for text in texts for name in MACRO.findall(Path(text).read_text(encoding="utf-8"))}


def defined(files: Iterable[str | Path]) -> set[str]:
    """The macros, without the backslash, that LaTeX files define."""
    return {name for file in files for name in re.findall(r"\\newcommand\{\\(\w+)\}", Path(file).read_text(encoding="utf-8"))}


def not_available(files: Iterable[str | Path]) -> set[str]:
    """The macros that LaTeX files define without a number, since the run has none."""
    lines = [line for file in files for line in Path(file).read_text(encoding="utf-8").splitlines()]
    matches = [re.match(r"\\newcommand\{\\(\w+)\}\{(.*)\}$", line) for line in lines]
    return {match[1] for match in matches if match and re.search(f"{NOT_AVAILABLE}(?!:)", match[2])}


def missing(texts: Iterable[str | Path], files: Iterable[str | Path], others: Iterable[str] = ()) -> str:
    """Definitions, as not available, of ``others`` and of macros that ``texts`` use and neither they nor ``files`` define."""
    texts = list(texts)
    names = sorted({*(used(texts) - defined([*texts, *files])), *others})
    return "".join(rf"\newcommand{{\{name}}}{{{NOT_AVAILABLE}}}" + "\n" for name in names)
