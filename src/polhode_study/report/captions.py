"""Captions of figures and tables for HTML, taken from the LaTeX sources of the report so that each is written once.

The small subset of LaTeX used in captions becomes reStructuredText, which Snakemake's report reads: formulas remain formulas,
numbers of the run are inserted, and a reference becomes the name of the file to which it points.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from polhode_study.report.addresses import ABSENT, Tables
from polhode_study.report.braces import closing
from polhode_study.report.macros import missing

#: Commands that only mark up their argument.
PLAIN = {"emph": "*{}*", "textit": "*{}*", "textbf": "**{}**", "code": "``{}``", "path": "``{}``", "texttt": "``{}``"}
#: End of markup without a space; in reStructuredText a backslash and a space.
BREAK = "\0"
#: Units of siunitx in captions.
UNITS = {"kilogram": "kg", "metre": "m", "second": "s", "nano": "n", "squared": "^2", "radian": "rad", "per": "/"}
#: Commands that stand for one character.
SIGNS = {
    ",": " ",
    ";": " ",
    " ": " ",
    "%": "%",
    "_": "_",
    "&": "&",
    "#": "#",
    "$": "$",
    "ldots": "...",
    "dots": "...",
    "\\": " ",
}


class CaptionError(ValueError):
    """A caption is missing or uses LaTeX that is not understood; the message names the figure or table."""


def captions(sources: Sequence[Path], numbers: Sequence[Path], tables: str | Path = "") -> dict[str, str]:
    """The caption of every figure and table as reStructuredText, by ``figures/NAME`` and ``tables/NAME``.

    Parameters
    ----------
    sources : LaTeX files of the report
    numbers : files with the numbers of a run as macros
    tables : folder of its tables as CSV, for numbers that are cells
    """
    cells = Tables(tables, is_whole=False)
    texts = [re.sub(r"(?<!\\)%.*", "", cells.filled(path.read_text(encoding="utf-8"), path)) for path in sources]
    macros = {}
    for path in numbers:
        macros.update(definitions(path.read_text(encoding="utf-8")))
    macros.update(definitions(missing(sources, numbers, [ABSENT])))
    local = {name: value for text in texts for name, value in definitions(text).items()}
    captions_of, places = {}, {}
    for text in texts:
        for kind, body in re.findall(r"\\begin\{(figure|table)\*?\}(.*?)\\end\{\1\*?\}", text, flags=re.DOTALL):
            start = body.find(r"\caption{")
            if start < 0:
                continue
            caption = group(body, start + len(r"\caption"))
            names = re.findall(r"\\includegraphics(?:\[[^]]*\])?\{(\w+)\}" if kind == "figure" else r"tables/(\w+)\}", body)
            captions_of.update({f"{kind}s/{name}": caption for name in names})
            places.update({label: names[0] for label in re.findall(r"\\label\{([^}]*)\}", body) if names})
        # Long tables contain their captions as macros, named after their labels, which the text defines before the table.
        for place in re.finditer(r"\\input\{\\resultsdir/tables/(\w+)\}", text):
            name, before = place[1], re.findall(r"\\newcommand\{\\(\w+)caption\}", text[: place.start()])
            label = next((key for key in (name.replace("_", ""), *before[::-1]) if f"{key}caption" in local), "")
            if f"tables/{name}" not in captions_of and label:
                captions_of[f"tables/{name}"] = local[f"{label}caption"]
                places.setdefault(f"tab:{label}", name)
    return {name: readable(text, {**local, **macros}, places, name) for name, text in captions_of.items()}


def definitions(text: str) -> dict[str, str]:
    r"""The macros without arguments that ``\newcommand`` defines in a text."""
    return {match[1]: group(text, match.end()) for match in re.finditer(r"\\newcommand\{\\(\w+)\}(?=\{)", text)}


def group(text: str, start: int) -> str:
    """The content of the braces that open at ``start``."""
    if (end := closing(text, start)) == len(text):
        raise CaptionError(f"no end of the braces at {text[start : start + 40]!r}")
    return text[start + 1 : end]


def readable(text: str, macros: Mapping[str, str], places: Mapping[str, str], name: str) -> str:
    """One caption as reStructuredText."""
    try:
        return re.sub(r"\s+", " ", _text(_expanded(text, macros), places)).strip().replace(BREAK, "\\ ")
    except CaptionError as error:
        raise CaptionError(f"caption of {name}: {error}") from None


def _expanded(text: str, macros: Mapping[str, str]) -> str:
    """The text with all text macros expanded, at any depth."""
    for _ in range(8):
        new = re.sub(r"\\([A-Za-z]+)(\{\})?", lambda m: macros.get(m[1], m[0]), text)
        if new == text:
            return text
        text = new
    raise CaptionError("a macro that contains itself")


def _text(text: str, places: Mapping[str, str]) -> str:
    parts, i = [], 0
    while i < len(text):
        if text[i] == "$":
            end = text.index("$", i + 1)
            parts.append(_formula(text[i + 1 : end]))
            i = end + 1
        elif text[i] == "\\":
            match = re.match(r"\\([A-Za-z]+|.)\s*", text[i:], flags=re.DOTALL)
            assert match is not None
            command, i = match[1], i + match.end() - (0 if text[i + 1].isalpha() else len(match[0]) - 2)
            arguments = []
            while i < len(text) and text[i] == "{":
                arguments.append(group(text, i))
                i += len(arguments[-1]) + 2
            parts.append(_command(command, arguments, places))
            if command == "ref" and text[i : i + 1].isalpha():
                parts.append(" ")
        elif text[i] in "{}":
            i += 1
        else:
            plain = re.match(r"[^\\${}]+", text[i:])
            assert plain is not None
            parts.append(_characters(plain[0]))
            i += plain.end()
    return "".join(parts)


def _characters(text: str) -> str:
    for latex, character in (("---", "—"), ("--", "–"), ("~", " "), ("``", "“"), ("''", "”"), ("*", r"\*"), ("|", r"\|")):
        text = text.replace(latex, character)
    return text


def _formula(latex: str) -> str:
    return f"{BREAK}:math:`{_mathematics(latex)}`{BREAK}"


def _mathematics(latex: str) -> str:
    """A formula without the macros of siunitx."""
    latex = re.sub(r"\\num\{([^}]*)\}", lambda m: _number(m[1]), latex)
    return latex.replace(r"\code", r"\mathtt").replace("~", " ").strip()


def _number(text: str) -> str:
    """A siunitx number in math mode."""
    mantissa, _, exponent = text.replace(" ", "").partition("e")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa in ("1", "1.0") else rf"{mantissa} \times {power}"


def _command(command: str, arguments: list[str], places: Mapping[str, str]) -> str:
    if command in SIGNS and not arguments:
        return SIGNS[command]
    if command in PLAIN and len(arguments) == 1:
        inner = arguments[0].replace("\\_", "_") if PLAIN[command].startswith("`") else _text(arguments[0], places)
        # Markup cannot be nested.
        inner = inner if PLAIN[command].startswith("`") else re.sub(rf"[*`\\{BREAK}]|:math:", "", inner).strip()
        return f"{BREAK}{PLAIN[command].format(inner)}{BREAK}"
    if command == "num":
        return _formula(_number(arguments[0])) if "e" in arguments[0] else arguments[0]
    if command == "qty":
        return f"{_command('num', arguments[:1], places)} {_unit(arguments[1])}"
    if command == "unit":
        return _unit(arguments[0])
    if command in ("cite", "citet", "citep"):
        return "[" + ", ".join(arguments[0].split(",")) + "]"
    if command in ("ref", "eqref"):
        return f"{BREAK}``{places[arguments[0]]}``{BREAK}" if arguments[0] in places else "of the report"
    if command == "sisetup":
        return ""  # how numbers look; which run a sentence goes with
    if command == "ensuremath":
        return _formula(arguments[0])
    raise CaptionError(f"the LaTeX command \\{command} is not understood; add it to {Path(__file__).name}")


def _unit(text: str) -> str:
    return "".join(UNITS.get(word, word) for word in re.findall(r"\\?(\w+)", text))
