"""The answers of the README and of the landing page, as on the article's first page, from the released data.

``python -m polhode.documentation.readers`` writes the table into the README.
"""

import re
from pathlib import Path
from typing import Any

from polhode.interface.netcdf import read_dataset
from polhode.methods import METHODS
from polhode.study.chapters.communities import tables
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.workflow.entry import HOME

RELEASED = HOME / "data/released"
#: Of each row of the first page: the name of its tab, the released file behind it and a group of it, the page on it, and an
#: example of asking for a case of one's own.
BEHIND = {
    "_elastic": ("DEM: elastic contacts", "many_body.nc", "chess", "many-bodies", "chess --error 1e-4"),
    "_rubbing": (
        *("DEM: friction, damping", "checks/random_impacts.nc", "/", "impacts"),
        "--contact-time 1e-4 --friction 0.3 --restitution 0.7 --error 1e-2",
    ),
    "_water": ("MD: rigid molecules", "liquids.nc", "followed", "liquids", "--liquid water64 --drift 0.01"),
    "_games": ("Games, robotics", "laws.nc", "/", "ensembles", "--torque-class smooth --omega 6.28 --error 1e-2"),
    "_spacecraft": (
        *("Spacecraft", "laws.nc", "/", "ensembles"),
        "--torque-class smooth --omega 0.0175 --error 1e-6 --several-torques",
    ),
}
#: What a reader of the README goes on with where that is not the page on the runs.
PAGES = {"_games": "engines", "_spacecraft": "recommend"}
#: The table stands between these in the README.
MARKS = "<!-- made by python -m polhode.documentation.readers -->\n", "<!-- end -->\n"
#: What the cells of the table in LaTeX have, as Markdown, innermost first.
MARKDOWN = (
    (r",? *Secs?\.~(?:\\ref\{[^}]*\}(?:, )?)+", ""),
    (r"\\num\{1e-0?(\d+)\}", r"10<sup>−\1</sup>"),
    (r"\\num\{-", r"\\num{−"),
    (r"\\num\{([^{}]*)\}", r"\1"),
    (r"\\mathbf\{([^{}]*)\}", r"**\1**"),
    (r"\$\*\*(.*?)\*\*\$", r"**\1**"),
    (r"\$\{\}/", "$/"),
    (r"h/\\sqrt\{I_xI_z\}", "h/√(I<sub>x</sub> I<sub>z</sub>)"),
    (r"I\\Omega\^2", "IΩ²"),
    (r"\\leq", "≤ "),
    (r"\\infty", "∞"),
    (r"\^\\circ", "°"),
    (r"\\mu", "µ"),
    (r"\\([%_&#])", r"\1"),
    (r"\\,|~", " "),
    (r"\\code\{([^{}]*)\}", r"`\1`"),
    (r"\\textbf\{([^{}]*)\}", r"**\1**"),
    (r"\{\\scriptsize ([^{}]*)\}", r"\1"),
    (r"\\newline", " "),
    (r"\$", ""),
)


def inputs_of(released: Path = RELEASED) -> Inputs:
    """The released data, each file in the place of that of a run."""
    names = {"ensembles": "laws.nc", "many_body": "many_body.nc", "cost": "cost.nc", "checks": "checks"}
    places: dict[str, Any] = {kind: released / name for kind, name in names.items()}
    return Inputs(released=released, **places)


def markdown(latex: str) -> str:
    """A cell of the table as Markdown.

    Raises
    ------
    ValueError
        If a command is left that :data:`MARKDOWN` does not have.
    """
    text = latex
    for pattern, replacement in MARKDOWN:
        text = re.sub(pattern, replacement, text)
    if re.search(r"[\\{}]", text):
        raise ValueError(f"a cell of the first page has LaTeX that the landing page cannot show: {latex!r} gave {text!r}")
    return " ".join(text.split())


def readers(released: Path = RELEASED) -> str:
    """A tab for each kind of reader; those whose data are not released are left out."""
    inputs, tabs = inputs_of(released), []
    for make in tables.MAKERS:
        name, file, group, page, question = BEHIND[make.__name__]
        try:
            row = make(inputs)
        except NotInRun:
            continue
        attributes = read_dataset(released / file, group).attrs if group != "/" else read_dataset(released / file).attrs
        key = str(row.numbers["method"])
        method = f"[{METHODS[key].label}](/_generated/methods/{key}.md)" if key in METHODS else f"`{key}`"
        lines = dict(zip(tables.HEAD, (row.runs, row.take, row.step), strict=True)) | {"for example": row.example}
        said = "\n".join(f"{head.capitalize()}\n: {markdown(cell)}\n" for head, cell in lines.items())
        origin = f"`data/released/{file}`, {attributes['date']}, commit {str(attributes['commit'])[:7]}"
        tabs.append(
            f":::{{tab-item}} {name}\n{said}\nBehind it\n: {origin} ([how it was run](/{page}.md)); the method: {method}; "
            f"codes: [the atlas](/engines.md). Your own case: `polhode recommend {question}` ([](/recommend.md)).\n:::\n"
        )
    return "::::{tab-set}\n" + "".join(tabs) + "::::\n"


def table(released: Path = RELEASED) -> str:
    """The table of the README: a row for each kind of reader, with a link to the page on it."""
    inputs = inputs_of(released)
    lines = [f"| | {' | '.join(head.capitalize() for head in tables.HEAD)} |", "|---|---|---|---|"]
    for make in tables.MAKERS:
        row, page = make(inputs), PAGES.get(make.__name__, BEHIND[make.__name__][3])
        cells = [
            f"[**{markdown(row.who)}**](docs/{page}.md), {markdown(row.what)}",
            *map(markdown, (row.runs, row.take, row.step)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(path: Path = HOME / "README.md") -> None:
    """Write the table into the README, between its marks."""
    before, rest = path.read_text(encoding="utf-8").split(MARKS[0])
    _, after = rest.split(MARKS[1])
    path.write_text(f"{before}{MARKS[0]}{table()}{MARKS[1]}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
