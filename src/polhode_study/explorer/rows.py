"""Tables of the page as HTML: engines, claims, orders, and the list of methods."""

from collections.abc import Mapping, Sequence
from html import escape
from math import isfinite
from typing import Any

import numpy as np
from matplotlib.markers import MarkerStyle
from matplotlib.path import Path as Outline

from polhode_study.explorer.evidence import SOURCE_NAMES

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
#: The commands of SVG for the codes of outlines.
COMMANDS = {Outline.MOVETO: "M", Outline.LINETO: "L", Outline.CURVE3: "Q", Outline.CURVE4: "C", Outline.CLOSEPOLY: "Z"}
#: How a verdict is shown.
SIGNS = {
    **dict.fromkeys(("reproduced", "holds", "by construction", "ours: holds"), "good"),
    **dict.fromkeys(("not reproduced", "does not hold", "ours: does not hold"), "bad"),
}
COMPARISONS = {"equal": "=", "at least": "≥", "at most": "≤"}


def number(value: float | None, digits: int = 3) -> str:
    """A number in so many digits: plain where that is short, with a power of ten elsewhere."""
    if value is None or not isfinite(value):
        return "n/a" if value is None or value != value else "blew up"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{float(f'{value:.{digits}g}'):.12g}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = f"10{str(int(exponent)).translate(SUPERSCRIPT)}"
    return power if float(mantissa) == 1 else f"{float(mantissa):g}·{power}"


def links(figures: str, tables: str) -> str:
    """Links to figures and tables of the report, whose names are set apart by spaces."""
    see = [f'<a href="figures/{name}.png">{name.replace("_", " ")}</a>' for name in figures.split()]
    return " ".join(see + [f'<a href="tables/{name}.csv">{name.replace("_", " ")} (table)</a>' for name in tables.split()])


# ---- methods ----


def chooser(
    groups: Sequence[tuple[str, Sequence[str]]], methods: Mapping[str, Mapping[str, Any]], signs: Mapping[str, str]
) -> str:
    """The list of methods by group; ``signs`` has the line and marker of each."""
    return "".join(
        f"<fieldset><legend>{escape(name)}</legend>"
        + "".join(
            f'<label class="chip" data-method="{key}" title="{key}"><input type="checkbox" value="{key}">{signs[key]}'
            f"<span>{escape(methods[key]['label'])}</span></label>"
            for key in keys
        )
        + "</fieldset>"
        for name, keys in groups
    )


def swatch(of: Mapping[str, Any], colours: Sequence[str], dashes: str) -> str:
    """The line and the marker of a method."""
    style = MarkerStyle(of["marker"])
    outline = style.get_path().transformed(style.get_transform())
    size = 4.3 / float(np.abs(outline.vertices).max())
    steps = [
        COMMANDS[code]
        + ("" if code == Outline.CLOSEPOLY else " ".join(f"{size * v * (1 - 2 * (i % 2)):.2f}" for i, v in enumerate(points)))
        for points, code in outline.iter_segments(simplify=False)
    ]
    filled = of["marker"] not in ("x", "+") and of["markerfacecolor"] != "white"
    fill, width = ("currentColor", 0.5) if filled else ("var(--paper)", 1.6)
    dashed = "" if dashes == "solid" else f' stroke-dasharray="{dashes.replace("px", "")}"'
    return (
        f'<svg class="swatch" style="--light:{colours[0]};--dark:{colours[1]}" width="34" height="13" viewBox="-17 -6.5 34 13" '
        f'stroke="currentColor" aria-hidden="true"><path d="M-17,0H17" stroke-width="1.6"{dashed}/>'
        f'<path d="{"".join(steps)}" fill="{fill}" stroke-width="{width}"/></svg>'
    )


def options(problems: Mapping[str, Mapping[str, Any]], classes: Mapping[str, str], name: str) -> str:
    """The problems that have a part of this name, by class of torque."""
    keys = [key for key, problem in problems.items() if name in problem]
    return "".join(
        f'<optgroup label="torque: {escape(classes.get(kind, kind))}">'
        + "".join(
            f'<option value="{key}">{escape(problems[key]["label"])}</option>' for key in keys if problems[key]["class"] == kind
        )
        + "</optgroup>"
        for kind in dict.fromkeys([*classes, *(problems[key]["class"] for key in keys)])
        if any(problems[key]["class"] == kind for key in keys)
    )


def order_map(problems: Mapping[str, Mapping[str, Any]], methods: Mapping[str, Mapping[str, Any]], quantity: str) -> str:
    """Measured orders over methods and problems; the colour is the distance from what is declared."""
    classes = list(dict.fromkeys(problem["class"] for problem in problems.values()))
    columns = sorted(problems, key=lambda key: classes.index(problems[key]["class"]))
    count = {kind: sum(problems[key]["class"] == kind for key in columns) for kind in classes}
    heads = "".join(f'<th colspan="{count[kind]}">{escape(kind)}</th>' for kind in classes)
    names = "".join(
        f'<th data-problem="{key}"><button type="button">{escape(problems[key]["short"])}</button></th>' for key in columns
    )
    body = []
    for method in methods:
        cells = []
        for key in columns:
            fit = problems[key]["orders"][quantity]["fits"].get(method)
            value = fit and fit["value"]
            off = "" if value is None or fit is None else f' data-off="{max(-3, min(3, round(2 * (value - fit["declared"]))))}"'
            label = "" if fit is None else "–" if value is None else f"{value:.1f}"
            cells.append(f'<td data-problem="{key}"{off} title="{escape(fit["more"]) if fit else "not run"}">{label}</td>')
        body.append(f'<tr data-method="{method}"><th scope="row">{escape(methods[method]["label"])}</th>{"".join(cells)}</tr>')
    head = f"<thead><tr><td></td>{heads}</tr><tr><td></td>{names}</tr></thead>"
    return f'<table class="map">{head}<tbody>{"".join(body)}</tbody></table>'


# ---- engines ----


def engine(of: Mapping[str, str], loads: Mapping[str, float], error: float) -> str:
    """The row of an option of an engine, described in HTML; ``loads`` has the order of the orientation under each load."""
    orders = " ".join(f'<span title="{load}">{order:.1f}</span>' if isfinite(order) else "–" for load, order in loads.items())
    return (
        f'<tr><td><a href="#engines?engine={of["address"]}" data-engine="{of["engine"]}">{of["name"]}</a></td>'
        f'<td>{of["option"]}</td><td>{of["method_label"]}</td><td class="number" data-head="order of q">{orders}</td>'
        f'<td class="number" data-head="error at 0.1 rad">{number(error, 2)}</td><td>{of["end"]}</td>'
        f"<td>{of['advice']}</td></tr>"
    )


# ---- claims ----


def claim(of: Mapping[str, Any], evidence: str) -> str:
    """The row of a claim; ``evidence`` are its links."""
    text = {str(name): escape(str(value)) for name, value in of.items()}
    note = f'<span class="note">{text["note"]}</span>' if of["note"] and of["note"] != of["evidence"] else ""
    ends = [of[name] for name in ("low", "high")]
    interval = (
        f'<span class="note">[{", ".join(map(number, ends))}]</span>' if any(isinstance(end, float) for end in ends) else ""
    )
    # As many digits as are printed there, so that a reader sees where the numbers part.
    printed = "".join(c for c in str(of["published"]).split("/")[0].lower().split("e")[0] if c.isdigit()).lstrip("0")
    measured, sign = of["measured"], SIGNS.get(of["verdict"], "open")
    value = number(measured, max(4, len(printed))) if isinstance(measured, float) else escape(measured or "n/a")
    return (
        f'<tr id="claim-{text["id"]}"><td><span class="verdict {sign}">{text["verdict"]}</span></td>'
        f'<td>{text["location"]}<span class="source">{escape(SOURCE_NAMES.get(of["source"], of["source"]))}</span></td>'
        f'<td>{text["statement"]}{note}</td><td class="number" data-head="required">{_required(of)}</td>'
        f'<td class="number" data-head="measured">{value}{interval}</td><td class="links">{evidence}</td></tr>'
    )


def _required(of: Mapping[str, Any]) -> str:
    body = f"{COMPARISONS.get(of['comparison'], '')} {escape(of['published'])}"
    if of["comparison"] == "within":
        body = f"{number(1 / float(of['published']), 2)} to {number(float(of['published']))}"
    if of["threshold"] == "ours":
        body = f'<em title="a threshold of ours">{body}</em>'
    tolerance = of["tolerance"]
    return body + (
        f'<span class="note">± {number(tolerance, 2)}</span>' if isinstance(tolerance, float) and tolerance > 0 else ""
    )


def evidence_links(
    of: Mapping[str, Any], figures: Sequence[str], tables: Sequence[str], section: str, data: str, query: str
) -> str:
    """What shows a claim: figures and tables, a view of the page, and the data."""
    file, _, group = data.partition(":")
    see = f' <a href="#{section}{"?" * bool(query)}{escape(query)}">see it here</a>' if section else ""
    place = escape(file) if file.startswith("data/") else f'<a href="{escape(file)}">{escape(file)}</a>'
    where = f"{place}{f', group {escape(group)}' if group else ''}" if file else ""
    words = "; ".join(filter(None, (escape(of["evidence"]), where)))
    return f'{links(" ".join(figures), " ".join(tables))}{see}<span class="place">{words}</span>'
