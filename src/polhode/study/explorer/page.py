"""The page as one file: a template, a style sheet and scripts, with Plotly and the data of the run inserted."""

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from polhode.study.explorer.content import content
from polhode.study.inputs import Inputs
from polhode.study.storage import write_text

HERE = Path(__file__).parent
#: Source files of the page, apart from Plotly and the data; package data.
PARTS = ("page.html", "page.css", "model.js", "drawing.js", "sections.js", "page.js")
#: The scripts of the page, in this order.
SCRIPTS = tuple(name for name in PARTS if name.endswith(".js"))


def plotly_script() -> str:
    """The source of Plotly for browsers, as shipped with its Python package.

    Raises
    ------
    ModuleNotFoundError
        If the package is not installed.
    """
    try:
        package = resources.files("plotly")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "the package plotly is not installed, from which the explorer takes its plots; ./reproduce brings it, elsewhere: "
            "pip install plotly"
        ) from None
    return (package / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def page(found: Mapping[str, Any], plotly: str) -> str:
    """The page as text.

    Parameters
    ----------
    found : what :func:`polhode.study.explorer.content.content` returns
    plotly : source of the library, inserted once
    """
    own = "\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)
    parts = {
        "style": (HERE / "page.css").read_text(encoding="utf-8"),
        "plotly": _in_script(plotly),
        "content": in_page(found),
        "script": _in_script(own),
    }
    # In a single pass: inserted text is not searched again.
    return re.sub(r"\{\{(\w+)\}\}", lambda m: parts[m[1]], (HERE / "page.html").read_text(encoding="utf-8"))


def in_page(found: Mapping[str, Any]) -> str:
    """Numbers and texts as JSON that is safe between the tags of a page."""
    text = json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _in_script(source: str) -> str:
    """A script whose strings cannot close the element that contains it."""
    return re.sub(r"</(?=script)", r"<\\/", source, flags=re.IGNORECASE)


def write(inputs: Inputs, statements: Sequence[str | Path], output: str | Path) -> None:
    """Write explorer.html from the files of a run; ``statements`` as for :func:`polhode.study.explorer.content.content`."""
    write_text(output, page(content(inputs, statements), plotly_script()))
