r"""The article of a run that lacks some of the data: what the text says of them is left out, sentence by sentence.

A sentence lacks its data if it uses a macro that the run could not fill, or refers to something that was itself left out: a
float whose figure or table was not made, an equation, a section of which nothing remains. A sentence without a number says on
what it rests with ``\restson``, which prints nothing: ``\restson{\studyContactEqual}``. With a sentence goes what introduces
or continues it: the thesis at the head of its paragraph (an ``\emph`` that is a sentence), sentences that begin with a word
for it, and the rest of a paragraph of which no sentence with a number remains.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from polhode.study.report.braces import closing
from polhode.study.report.macros import MACRO, NOT_AVAILABLE, used

#: A definition whose text is "not available", or partly so; "n/a: why" is a remark about a table.
_DEFINED = re.compile(r"\\newcommand\{\\(\w+)\}\{(.*)\}$", re.MULTILINE)
_LACKING = re.compile(rf"{NOT_AVAILABLE}(?!:)")
_LABEL = re.compile(r"\\label\{([^}]*)\}")
_REFERENCE = re.compile(r"\\(?:eq|auto)?ref\{([^}]*)\}")
_FLOAT = re.compile(r"\\begin\{(?P<float>(?:figure|table)\*?)\}.*?\\end\{(?P=float)\}", re.DOTALL)
_INCLUDED = re.compile(r"\\includegraphics(?:\[[^]]*\])?\{([^}]*)\}|\\input\{\\resultsdir/tables/([^}]*)\}")
#: What stands between paragraphs: blank lines, headings, floats, ends of lists and items, and lines that are commands alone.
_BETWEEN = re.compile(
    rf"((?s:{_FLOAT.pattern})|^\\section.*\n|^\\(?:begin|end)\{{(?:itemize|enumerate)\}}\s*\n|(?=^\\item\b)"
    r"|^\\(?:input|begingroup|restoregeometry|heading|medskip|par)\b.*\n|^\\(?:firstpage|smallskip|endgroup)\n|\n\s*\n)",
    re.MULTILINE,
)
_EMPTY_LIST = re.compile(r"\\begin\{(itemize|enumerate)\}\s*\\end\{\1\}\s*")
#: Sentences that go on from the one before.
_GOES_ON = re.compile(
    r"(?:It|They|This|These|That|Those|Such|Hence|Hatched|Then|The (?:last|latter|former|difference|ranking))\b"
)
_ENVIRONMENT = re.compile(r"\\(begin|end)\{\w+\*?\}")
_NEXT = re.compile(r"\s+(?=[A-Z\\$(`~])")
_END = re.compile(r"[.?!][})']*$")
_THESIS = re.compile(r"\s*(?:\\item\s*)?\\emph\{[^{}]*[.?!]\}\s*$")


class Reduced(NamedTuple):
    """The texts without what lacks its data; ``sentences``: how many went; ``sections``: titles of those of which none is left;
    ``labels``: what can no longer be referred to."""

    texts: dict[str, str]
    sentences: int
    sections: list[str]
    labels: set[str]


def lacking(texts: Iterable[str | Path], numbers: Iterable[str | Path]) -> set[str]:
    """The macros that ``texts`` use and ``numbers`` do not define, or define as not available."""
    definitions = dict(item for file in numbers for item in _DEFINED.findall(Path(file).read_text(encoding="utf-8")))
    return {name for name in used(texts) if name not in definitions or _LACKING.search(definitions[name])}


def reduced(texts: Mapping[str, str], macros: Collection[str], shown: Collection[str], labels: Collection[str] = ()) -> Reduced:
    """Texts in LaTeX without the sentences that use ``macros`` or rest on the figures and tables ``shown``, which a run lacks.

    Parameters
    ----------
    texts : name -> text; all that may refer to each other
    macros : names without the backslash
    shown : names of figures and tables
    labels : what other texts have lost
    """
    gone = set(labels)
    while True:
        made = {name: _Text(text, macros, shown, gone) for name, text in texts.items()}
        more = {label for text in made.values() for label in text.gone}
        if more <= gone:
            count = sum(text.count for text in made.values())
            titles = [title for text in made.values() for title in text.titles]
            return Reduced({name: text.result for name, text in made.items()}, count, titles, gone)
        gone |= more


class _Text:
    """One pass over a text: what remains (``result``), and the labels that went."""

    def __init__(self, text: str, macros: Collection[str], shown: Collection[str], gone: set[str]) -> None:
        self.macros, self.shown, self.lost = set(macros), set(shown), gone
        self.gone: set[str] = set()
        self.count, self.titles = 0, list[str]()
        text = re.sub(r"^%.*\n", "", text, flags=re.MULTILINE)
        parts = re.split(r"(?m)^(?=\\section)", text)
        whole = "".join(self._section(part) for part in parts)
        self.result = re.sub(_EMPTY_LIST, "", whole) if self.count else whole

    def _lacks(self, sentence: str) -> bool:
        return bool(self.macros.intersection(MACRO.findall(sentence)) or self.lost.intersection(_REFERENCE.findall(sentence)))

    def _section(self, text: str) -> str:
        """A section; nothing of one that had numbers or floats, has none left and is less than half as long without them."""
        before = self.count
        place, pieces = 0, []
        for between in re.finditer(_BETWEEN, text):
            pieces += [self._paragraph(text[place : between.start()]), self._between(between)]
            place = between.end()
        result = "".join([*pieces, self._paragraph(text[place:])])
        heading = re.match(r"\\section\{(.*?)\}\s*(?:\\label|$)", text, re.MULTILINE)
        few = _has_data(text) and not _has_data(result) and len(result) < len(text) / 2
        if heading and self.count > before and few:
            self.titles.append(heading[1])
            self.gone.update(_LABEL.findall(text))
            return ""
        return result

    def _between(self, between: re.Match[str]) -> str:
        return self._float(between[0]) if between["float"] else between[0]

    def _drop(self, text: str) -> str:
        self.gone.update(_LABEL.findall(text))
        self.count += 1
        return ""

    def _float(self, piece: str) -> str:
        if self.shown.intersection(one or other for one, other in _INCLUDED.findall(piece)):
            return self._drop(piece)
        start = piece.find(r"\caption{")
        if start < 0:
            return piece
        begin = start + len(r"\caption{")
        end = closing(piece, begin - 1)
        sentences = sentences_of(piece[begin:end])
        remaining = [sentence for sentence in sentences if not self._lacks(sentence)]
        if not remaining:
            return self._drop(piece)
        self.count += len(sentences) - len(remaining)
        return piece[:begin] + "".join(remaining) + piece[end:]

    def _paragraph(self, text: str) -> str:
        sentences = sentences_of(text)
        lacks = [self._lacks(sentence) for sentence in sentences]
        if not any(lacks):
            return text
        # What only introduces or continues a sentence that goes.
        for i, sentence in enumerate(sentences):
            if (_THESIS.match(sentence) and i == 0) or (i and lacks[i - 1] and _GOES_ON.match(sentence)):
                lacks[i] = True
        if not _has_data("".join(s for s, lost in zip(sentences, lacks, strict=True) if not lost)) or (
            lacks[0] and sentences[0].lstrip().startswith(r"\item")
        ):
            lacks = [True] * len(sentences)
        return "".join(self._drop(s) if lost else s for s, lost in zip(sentences, lacks, strict=True))


def _has_data(text: str) -> bool:
    return bool(MACRO.search(text) or _INCLUDED.search(text))


def sentences_of(text: str) -> list[str]:
    """The sentences of a paragraph in LaTeX, each with the space behind it; braces, formulas and environments stay whole."""
    sentences, start, depth, formula = [], 0, 0, False
    place = 0
    while place < len(text):
        character = text[place]
        if character == "\\":
            environment = _ENVIRONMENT.match(text, place)
            if environment:
                depth += 1 if environment[1] == "begin" else -1
                place = environment.end()
                continue
            place += 2
            continue
        if character == "$":
            formula = not formula
        depth += {"{": 1, "}": -1}.get(character, 0)
        if not formula and not depth:
            ended = _NEXT.match(text, place + 1)
            if ended and _END.search(text[max(0, place - 3) : place + 1]):
                sentences.append(text[start : ended.end()])
                start = place = ended.end()
                continue
        place += 1
    return [*sentences, text[start:]] if text[start:] else sentences
