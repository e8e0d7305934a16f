r"""The documents of another configuration than the default study: their figures and tables, without text that has no data.

The text of the article describes the default study. A section of it that uses a number which the run could not make keeps its
floats alone, and so do all sections of a reduced run; a section without a float goes. A section of the supplement goes if the
run made none of its figures, tables and numbers; of the others, paragraphs go that use a number which the run could not make.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from polhode_study.report.braces import closing
from polhode_study.report.macros import MACRO

_LABEL = re.compile(r"\\label\{([^}]*)\}")
#: A figure or table in a text.
FLOAT = re.compile(r"\\begin\{(?P<kind>(?:figure|table)\*?)\}.*?\\end\{(?P=kind)\}\n?", re.DOTALL)
_HEADING = re.compile(r"(?m)^\\(?:sub)*section\b.*\n?")
_INCLUDED = re.compile(r"\\includegraphics(?:\[[^]]*\])?\{([^}]*)\}|\\input\{\\resultsdir/tables/([^}]*)\}")


def labels(text: str) -> set[str]:
    """The labels that a text in LaTeX sets."""
    return set(_LABEL.findall(text))


def without_text(text: str, undefined: Collection[str], missing: Collection[str], everywhere: bool = False) -> str:
    """A text of the article, of which sections that lack numbers keep their headings and floats.

    Parameters
    ----------
    undefined : the macros that the run could not make
    missing : the figures and tables that it could not make
    everywhere : whether all sections lose their text
    """

    def section(part: str) -> str:
        floats = [match[0] for match in FLOAT.finditer(part)]
        present = [_captioned(text, undefined) for text in floats if not included(text) & set(missing)]
        if not everywhere and len(present) == len(floats) and not set(MACRO.findall(part)) & set(undefined):
            return part
        heading = re.match(r"\\section.*\n", part)
        return "".join([heading[0] if heading else "", *present]) if present else ""

    return "".join(map(section, re.split(r"(?m)^(?=\\section)", text)))


def is_empty(text: str, defined: Collection[str], missing: Collection[str]) -> bool:
    """Whether a section of the supplement shows figures, tables or the numbers ``defined``, and the run made none of them."""
    floats, macros = included(text), set(MACRO.findall(text))
    return bool(floats or macros) and floats <= set(missing) and not macros & set(defined)


def without_paragraphs(text: str, undefined: Collection[str]) -> str:
    """A section of the supplement without paragraphs that use undefined macros, of which headings and floats stay."""

    def paragraph(part: str) -> str:
        whole = part.count(r"\begin{") != part.count(r"\end{") or r"\newcommand" in part
        if whole or not set(MACRO.findall(part)) & set(undefined):
            return part
        kept = [(match.start(), match[0]) for match in _HEADING.finditer(part)]
        kept += [(match.start(), _captioned(match[0], undefined)) for match in FLOAT.finditer(part)]
        return "".join(text for _, text in sorted(kept))

    return "\n\n".join(map(paragraph, text.split("\n\n")))


def included(text: str) -> set[str]:
    """The figures and tables that a text shows."""
    return {figure or table for figure, table in _INCLUDED.findall(text)}


def _captioned(text: str, undefined: Collection[str]) -> str:
    """A float whose caption, if it uses undefined macros, is the name of its figure or table."""
    start = text.find(r"\caption{") + len(r"\caption{")
    end = closing(text, start - 1)
    if not set(MACRO.findall(text[start:end])) & set(undefined):
        return text
    names = ", ".join(sorted(included(text))).replace("_", r"\_")
    return rf"{text[:start]}\code{{{names}}}{text[end:]}"


def note(texts: Mapping[str, str], shortened: Mapping[str, str]) -> str:
    """LaTeX that says on the first page that text of the article is left out, and lets what remains refer to what was."""
    if texts == shortened:
        return ""
    in_article = any(Path(name).parent.name == "article" and shortened[name] != text for name, text in texts.items())
    lost = set().union(*map(labels, texts.values())) - set().union(*map(labels, shortened.values()))
    named = "".join(rf"\@namedef{{r@{label}}}{{{{(left out)}}{{}}{{}}{{}}{{}}}}" for label in sorted(lost))
    said = r" \emph{The article's text describes the whole study and is left out without its data.}"
    added = rf"\g@addto@macro\studyReduced{{{said}}}" if in_article else ""
    return rf"\makeatletter{added}{named}\makeatother" + "\n"
