"""The page as one file: a template, a style sheet and scripts, with Plotly and the data of the run inserted, compressed."""

import json
import re
import zlib
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from polhode.interface.storage import write_text
from polhode_study.explorer.content import content
from polhode_study.explorer.rows import links
from polhode_study.inputs import Inputs

FOLDER = Path(__file__).parent
#: Source files of the page, apart from Plotly and the data; package data.
FILES = ("page.html", "page.css", "plots.yaml", "model.js", "satellites.js", "drawing.js", "sections.js", "page.js")
#: The scripts of the page, in this order.
SCRIPTS = tuple(name for name in FILES if name.endswith(".js"))


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


def page(data: Mapping[str, Any], plotly: str) -> str:
    """The page as text.

    Parameters
    ----------
    data : what :func:`polhode_study.explorer.content.content` returns
    plotly : source of the library, inserted once
    """
    notice = re.match(r"/\*.*?\*/", plotly, flags=re.DOTALL)
    for_page = {name: value for name, value in data.items() if name != "about"}
    if "problems" in data:
        for_page["problems"] = {
            key: {name: value[name] for name in value if name != "short"} for key, value in data["problems"].items()
        }
    inserted = {
        "style": (FOLDER / "page.css").read_text(encoding="utf-8"),
        "notice": notice[0] if notice else "",
        "plotly": packed(plotly),
        "content": packed(json.dumps(for_page, ensure_ascii=False, allow_nan=False, separators=(",", ":"))),
        "about": escape(str(data.get("about", ""))),
        "script": packed("\n".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS)),
    }
    frame = (FOLDER / "page.html").read_text(encoding="utf-8")
    frame = re.sub(r"\{\{see ([\w ]*)\|([\w ]*)\}\}", lambda m: f'<p class="see">In the report: {links(m[1], m[2])}</p>', frame)
    # In a single pass: inserted text is not searched again.
    return re.sub(r"\{\{(\w+)\}\}", lambda m: inserted[m[1]], frame)


def packed(text: str) -> str:
    """A text as the page unpacks it: compressed (zlib), in base 64, which nothing in it can end early."""
    return b64encode(zlib.compress(text.encode(), 9)).decode()


def write(inputs: Inputs, output: str | Path) -> None:
    """Write explorer.html from the files of a run."""
    write_text(output, page(content(inputs), plotly_script()))
