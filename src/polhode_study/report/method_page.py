"""The page of ``polhode sheet``: one HTML file that needs nothing else, from the numbers of one method and those beside it.

Light and dark as the reader's system is; figures are drawings whose lines and letters take the colours of the page.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from math import ceil, floor, inf, isfinite, log10
from typing import Any

from matplotlib.markers import MarkerStyle

from polhode.fits.drift import LOST_CHANGE
from polhode.fits.orders import TOLERANCE
from polhode.interface.table import simple
from polhode_engines.candidates import plain_name
from polhode_study.report.style import CSS_COLOURS, STROKES, style

#: The step of the runs there and back that are shown, by its position.
RETURN = 4
#: What the page says for verdicts of the numbers on whether a step is symplectic.
VERDICTS = {
    "no map of orientation and momentum alone: it remembers earlier steps": "not tested, as it remembers earlier steps",
    "symplectic in what it carries": "symplectic in its own variables",
    "symplectic in what it outputs": "symplectic in its outputs",
}
#: A free body that has gained or lost more of the energy that it can ends about an axis.
SPENT = 0.9
#: Orders in words.
ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth"}
#: The error a radian for which steps are named, as the numbers have it.
TARGET = "0.0001"
#: Round-offs below which a known method is near: half of the digits agree.
NEAR = 2.0**26
#: Width and height of a panel, its margins (left, right, top, bottom), and the size of a marker, in pixels.
PANEL, MARGINS, MARKER = (300, 220), (52, 10, 22, 38), 3.5
#: Energies below this share are rounding.
SMALLEST = 1e-16
#: What is larger is lost, and not drawn.
LARGEST = 1e3
CSS = (
    CSS_COLOURS
    + """@media print{body{font-size:9.5pt;max-width:none;padding:0}
figure,tr,h2{break-inside:avoid}h2{break-after:avoid}}*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;
color:var(--ink);background:var(--paper);max-width:72rem;margin:0 auto;padding:1.5rem}h1{margin:0;line-height:1.2}
h2{margin:2rem 0 .4rem;font-size:1.2rem}p,ul{margin:.4rem 0;max-width:52rem}.soft,figcaption{color:var(--soft)}
.good{color:var(--good)}.bad{color:var(--bad);font-weight:600}.wide{overflow-x:auto}table{border-collapse:collapse;
margin:.5rem 0}tbody th{max-width:15rem}th,td{padding:.2rem .7rem;border-bottom:1px solid var(--line);text-align:left;
vertical-align:top;font-variant-numeric:tabular-nums}th{font-weight:600}thead th{background:var(--band)}
th+td{background:var(--band)}figure{margin:.5rem 0;display:flex;flex-wrap:wrap;gap:.5rem}figcaption{width:100%}
svg{width:270px;height:auto;flex:none}svg text{fill:var(--ink);font:11px system-ui,sans-serif}.axis{stroke:var(--soft);
fill:none}.grid{stroke:var(--line)}.key{display:inline-flex;align-items:center;gap:.3rem;margin-right:1.2rem;
white-space:nowrap}.key svg{width:34px}code{font-size:.93em}
"""
)


def page(sheet: Mapping[str, Any]) -> str:
    """The page of a sheet, see :func:`polhode_study.run.method_sheet.sheet`."""
    subject = sheet["methods"][sheet["method"]]
    title = f"{subject['label']}: a method on one page"
    parts = [
        f"<h1>{escape(subject['label'])}</h1>",
        f"<p class=soft><code>{escape(sheet['method'])}</code> · {escape(subject['source'])}</p>",
        *(f"<h2>{title}</h2>{text}" for title, text in sections(sheet).items()),
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>{head}<title>{escape(title)}</title><style>{CSS}</style></head>\n'
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def sections(sheet: Mapping[str, Any]) -> dict[str, str]:
    """The report on a method: HTML by the titles of sections, for its sheet and for its page in the documentation."""
    rows: Mapping[str, Any] = sheet["methods"]
    lines = "".join(f"<li>{line}</li>" for line in in_short(sheet))
    key = "".join(_key(key, rows[key]["label"], key == sheet["method"]) for key in rows)
    return {
        "In short": f"<ul>{lines}</ul><p>{key}</p>",
        "Orders by class of torque": _orders(sheet),
        "Error laws": _errors(sheet),
        "Cost of a step": _cost(rows),
        "Long runs": _long(rows, sheet),
        "Reversal, canonical form, drag": _structure(rows),
        "Many bodies": _many(rows),
        "Is it new?": _new(sheet),
        "How it was measured": _how(sheet),
    }


# ---- sentences ----


def wrong_orders(subject: Mapping[str, Any]) -> list[str]:
    """Where the measured orders of a method are not those that it declares, as words."""
    words = []
    for key, of_class in subject["orders"].items():
        for quantity, order in of_class.items():
            if "failed" in order:
                words.append(f"{key}: the run failed ({order['failed']})")
            elif order["verdict"] in ("lower than declared", "higher than declared"):
                words.append(f"{key}, {quantity}: declared {order['declared']}, measured {order['measured']:.2f}")
            elif order["verdict"] not in ("as declared", "exact to rounding"):
                words.append(f"{key}: {order['verdict']}")
    return list(dict.fromkeys(words))


def in_short(sheet: Mapping[str, Any]) -> list[str]:
    """What the page says, in sentences (HTML)."""
    subject = sheet["methods"][sheet["method"]]
    wrong = wrong_orders(subject)
    lines = [
        f"<span class=bad>Orders are not all as declared:</span> {escape('; '.join(wrong))}."
        if wrong
        else "<span class=good>All orders are as declared.</span>",
        *map(escape, compared(sheet)),
        escape(long_lasting(sheet)),
        escape(new_or_known(sheet["identity"])),
    ]
    price = subject["cost"]
    torques, more = _count(price["torques_per_step"], "torque"), _count(price["torques_per_output"], "torque")
    lines.append(
        f"A step takes {torques}, and the rest of it {price['in_steps_of_euler']:.2g} times as long as that of direct Euler."
        + (f" Each output evaluates {more} besides." if price["torques_per_output"] else "")
    )
    lines.append(escape(f"Symplectic step: {_form(subject)}."))
    lines.append(escape(f"Small librations, linearised only: {_librations(subject)}."))
    if words := wrong_offset(subject):
        lines.append(f"<span class=bad>{escape(words)}</span>")
    return lines


def _librations(row: Mapping[str, Any]) -> str:
    """What the linearised step does to small librations, in words."""
    return str(row["librations"].get("caution") or _reason(row["librations"]))


def wrong_offset(row: Mapping[str, Any]) -> str:
    """That a held angular velocity belongs to another time than ``stored_offset`` says, in a sentence; else empty."""
    held = row.get("held_omega")
    order = held and held["orders"][f"{held['offset']:g}"]
    if not held or order is None or order > held["declared"] - TOLERANCE:
        return ""
    said = f"The omega that stored returns is not that of stored_offset = {held['offset']:g}: its error is of order {order:.1f}"
    fit = [offset for offset, other in held["orders"].items() if other is not None and other > held["declared"] - TOLERANCE]
    if fit:
        return f"{said}, and of order {held['orders'][fit[0]]:.1f} with stored_offset = {fit[0]}."
    others = ", ".join(held["orders"])
    return f"{said}, and no other of {others} gives the declared {held['declared']}: complete the kick before it is stored."


def compared(sheet: Mapping[str, Any]) -> list[str]:
    """The torques that the method takes for :data:`TARGET`, over those of the best one beside it, where this is least and most.

    A sentence; a second about the methods beside it that are of its own order or below, if the best are of a higher one. None
    if there is no method beside it.
    """
    rows = sheet["methods"]

    def order(key: str) -> int:
        return int(max(of_class["q"].get("declared", 0) for of_class in rows[key]["orders"].values()))

    highest = order(sheet["method"])
    alike = [key for key in sheet["beside"] if order(key) <= highest]
    said = _compared_with(sheet, sheet["beside"])
    lines = [f"An error of {float(TARGET):g} a radian in 90 % of the bodies {said}."] if said else []
    among = _compared_with(sheet, alike)
    if among and among != said:
        lines.append(f"Beside methods up to {ORDINALS.get(highest, f'{highest}th')} order alone, it {among}.")
    return lines


def _compared_with(sheet: Mapping[str, Any], others: Sequence[str]) -> str:
    """The torques over those of the best of other methods, where this is least and most; empty if none reaches the error."""

    def torques(key: str, of_class: str) -> float:
        row = sheet["methods"][key]
        steps = row["laws"][of_class]["steps_per_radian"][TARGET]["ninety_percent"]
        return inf if steps is None else steps * row["cost"]["torques_per_step"]

    ratios = []
    for of_class, label in sheet["classes"].items():
        best = min(others, key=lambda key: torques(key, of_class), default=None)
        if of_class != "free" and best is not None and isfinite(torques(best, of_class)):
            ratio = torques(sheet["method"], of_class) / torques(best, of_class)
            other = sheet["methods"][best]["label"]
            times = f"takes {ratio:.3g} times the torques of {other}" if isfinite(ratio) else "is not reached"
            ratios.append((ratio, f"{times} ({label})"))
    if not ratios:
        return ""
    (_, least), (_, most) = min(ratios), max(ratios)
    return least if least == most else f"at best {least}, at worst {most}"


def long_lasting(sheet: Mapping[str, Any]) -> str:
    """What the energy does in the long runs, in a sentence."""
    words = []
    for run in sheet["methods"][sheet["method"]]["long_runs"].values():
        spent = spent_energy(run)
        words.append(
            f"{run['label']} {'diverged' if run['diverged'] else format(run['last'], '.2g')}{f' ({spent})' if spent else ''}"
        )
    runs = sheet["long_runs"]
    return (
        f"Change of the energy, over the kinetic energy, after {runs['steps']:,} steps of {runs['step']:g} rad: "
        f"{', '.join(words)}."
    )


def spent_energy(run: Mapping[str, Any]) -> str:
    """That a free body has come to an axis of a principal moment, in words; a power of time then says nothing. Else empty."""
    share = run.get("share")
    if run["diverged"] or share is None or not abs(share) > SPENT:
        return ""
    way, axis = ("lost", "largest") if share < 0 else ("gained", "smallest")
    can = "lose" if share < 0 else "gain"
    return f"it has {way} {min(abs(share), 1):.0%} of the energy that it can {can}: it ends about its {axis} moment".replace(
        "%", " %"
    )


def new_or_known(identity: Mapping[str, Any]) -> str:
    """The answer to "is it new?" in sentences."""
    files = f"It agrees with the file beside it, {_names(identity['files'])}. " if identity.get("files") else ""
    return files + _new_or_known(identity)


def _new_or_known(identity: Mapping[str, Any]) -> str:
    if "not applicable" in identity:
        return f"It could not be compared with known methods: {identity['not applicable']}."
    if identity["same"]:
        return f"It is not new: from the same start it gives the same numbers as {_names(identity['same'])}."
    if identity["same_step"]:
        return f"Its step is that of {_names(identity['same_step'])}; its start or its output is another."
    return f"It equals none of {identity['compared']} other methods and forms."


def _names(methods: Mapping[str, str]) -> str:
    return ", ".join(plain_name(key) if key == label else f"{label} ({key})" for key, label in methods.items())


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _form(row: Mapping[str, Any]) -> str:
    """Whether a step is symplectic, in words."""
    verdict = str(row["symplecticity"]["verdict"])
    return VERDICTS.get(verdict, verdict)


def _reason(entry: Mapping[str, Any]) -> str:
    return str(entry.get("not applicable", ""))


def _number(value: Any, digits: int = 3) -> str:
    """A number as HTML, a dash for None."""
    if value is None:
        return "–"
    text = f"{value:.{digits}g}"
    if "e" not in text:
        return text.replace("-", "−")
    mantissa, exponent = text.split("e")
    return f"{mantissa}·10<sup>{int(exponent)}</sup>".replace("-", "−")


# ---- tables ----


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are HTML; the second column is the method's own."""
    return f"<div class=wide>{simple(head, rows, form=str).html()}</div>"


def _beside(rows: Mapping[str, Any], lines: Mapping[str, Any]) -> str:
    """A table with one column for each method; ``lines`` are functions of what is known of one."""
    head = ["", *(escape(row["label"]) for row in rows.values())]
    return _table(head, [[name, *(cell(row) for row in rows.values())] for name, cell in lines.items()])


def _orders(sheet: Mapping[str, Any]) -> str:
    rows = sheet["methods"]

    def cell(row: Mapping[str, Any], is_subject: bool) -> str:
        values = []
        for quantity, symbol in (("q", "q"), ("omega", "ω")):
            order = row[quantity]
            if "failed" in order:
                return "<span class=bad>failed</span>"
            right = order["verdict"] in ("as declared", "exact to rounding")
            if order["measured"] is None:
                text, verdict = order["verdict"], ""
            else:
                text, verdict = f"{order['measured']:.2f}", "" if right else f", {order['verdict']}"
            text += f" ({order['declared']})" if is_subject or not right else ""
            text = escape(f"{symbol} {text}{verdict}")
            values.append(text if right else f"<span class=bad>{text}</span>")
        return "<br>".join(values)

    lines = [
        [escape(label), *(cell(row["orders"][key], name == sheet["method"]) for name, row in rows.items())]
        for key, label in sheet["classes"].items()
    ]
    head = ["torque", *(escape(row["label"]) for row in rows.values())]
    return (
        f"<p class=soft>Medians over {sheet['bodies']} random bodies after "
        f"{sheet['radians']:g} rad; in brackets what is declared.</p>{_table(head, lines)}"
    )


def _errors(sheet: Mapping[str, Any]) -> str:
    rows = sheet["methods"]
    panels = [
        _panel(
            label,
            {key: (sheet["steps"], row["laws"][of_class]["error_per_radian"]["median"]) for key, row in rows.items()},
            sheet["method"],
            "step (rad)",
            "error per radian",
        )
        for of_class, label in sheet["classes"].items()
    ]

    fewest = 1 / max(sheet["steps"])

    def number(steps: float | None) -> str:
        if steps is None:
            return "<span class=bad>not reached</span>"
        return _number(steps) if steps > fewest else f"≤ {_number(fewest)}"

    def cell(row: Mapping[str, Any], of_class: str, target: str) -> str:
        law = row["laws"][of_class]
        steps = law["steps_per_radian"][target]
        lost = f"<br><span class=bad>diverged: {law['diverged']}</span>" if law["diverged"] else ""
        return f"{number(steps['median'])} ({number(steps['ninety_percent'])}){lost}"

    target = TARGET
    head = ["torque", *(escape(row["label"]) for row in rows.values())]
    lines = [
        [escape(label), *(cell(row, of_class, target) for row in rows.values())] for of_class, label in sheet["classes"].items()
    ]
    return (
        "<figure>" + "".join(panels) + "<figcaption>The larger of the errors of orientation (rad) and angular "
        "velocity (of the initial one), the median over the bodies.</figcaption></figure>"
        "<p>Steps per radian for an error of 10<sup>−4</sup> per radian, the median over the bodies and in brackets what "
        "is sufficient for 90 % of them. Where some bodies blew up, at the largest steps, their number is given.</p>"
        + _table(head, lines)
    )


def _cost(rows: Mapping[str, Any]) -> str:
    def operations(row: Mapping[str, Any]) -> str:
        counts = row["cost"]["operations"]
        if "total" not in counts:
            return escape(_reason(counts))
        return (
            f"{counts['total']}: {counts['additions']} +, {counts['multiplications']} ×, {counts['divisions']} ÷, "
            f"{counts['square_roots']} √"
        )

    return _beside(
        rows,
        {
            "torques in a step": lambda row: str(row["cost"]["torques_per_step"]),
            "torques at an output": lambda row: str(row["cost"]["torques_per_output"]),
            "further torques, at the start": lambda row: str(row["cost"]["torques_at_start"]),
            "operations without the torque": operations,
            "time, ns": lambda row: _number(row["cost"]["nanoseconds"]),
            "in steps of direct Euler": lambda row: _number(row["cost"]["in_steps_of_euler"]),
        },
    )


def _long(rows: Mapping[str, Any], sheet: Mapping[str, Any]) -> str:
    subject = rows[sheet["method"]]
    panels = []
    for key, run in subject["long_runs"].items():
        series = {
            name: (row["long_runs"][key]["radians"][1:], [_size(x) for x in row["long_runs"][key]["change"][1:]])
            for name, row in rows.items()
        }
        panels.append(_panel(run["label"], series, sheet["method"], "time (rad)", "|ΔE| / K₀", markers=False))

    def cell(row: Mapping[str, Any], key: str) -> str:
        run = row["long_runs"][key]
        if run["diverged"]:
            return "<span class=bad>diverged</span>"
        if run["last"] > LOST_CHANGE:
            return f"<span class=bad>lost: {_number(run['last'])}</span>"
        if spent := spent_energy(run):
            return f"<span class=bad>{_number(run['last'])}: {escape(spent)}</span>"
        grows = "" if run["growth"] is None else f", grows as t<sup>{_number(run['growth'], 2)}</sup>"
        return f"{_number(run['last'])}{grows}"

    def librations(row: Mapping[str, Any]) -> str:
        roots = row["librations"]
        if "caution" not in roots:
            return escape(_reason(roots))
        if not roots["power"]:
            return escape(roots["caution"])
        return f"{escape(roots['caution'])}: ln|λ| = {_number(roots['coefficient'])} x<sup>{roots['power']}</sup>"

    lines: dict[str, Any] = {
        escape(run["label"]): (lambda row, key=key: cell(row, key)) for key, run in subject["long_runs"].items()
    }
    lines["small librations of Ω Δt = x, linearised only"] = librations
    lines["stable up to x ="] = lambda row: _number(row["librations"].get("limit")) if "limit" in row["librations"] else "–"
    runs = sheet["long_runs"]
    return (
        f"<figure>{''.join(panels)}<figcaption>Change of the energy over the kinetic energy at the start; "
        f"{runs['steps']} steps of {runs['step']:g} rad.</figcaption></figure>"
        "<p>The largest change over the last tenth of the run, and how it grows.</p>" + _beside(rows, lines)
    )


def _size(change: float | None) -> float | None:
    return None if change is None else max(abs(change), SMALLEST)


def _structure(rows: Mapping[str, Any]) -> str:
    def returned(key: str) -> Any:
        def cell(row: Mapping[str, Any]) -> str:
            angle = row["reversibility"][key]["angle"][RETURN]
            return "<span class=bad>diverged</span>" if angle is None else f"{_number(angle)} rad"

        return cell

    def drag(row: Mapping[str, Any]) -> str:
        limit = row["drag"]
        if "limit" not in limit:
            return escape(_reason(limit))
        return _number(limit["limit"]) if limit["limited"] else f"none up to {limit['tried_to']:g}"

    def held(row: Mapping[str, Any]) -> str:
        offset = f"{row['held_omega']['offset']:g}"
        text = f"{_number(row['held_omega']['orders'][offset], 2)} at {offset} steps".replace("-", "−")
        return f"<span class=bad>{text}</span>" if wrong_offset(row) else text

    return _beside(
        rows,
        {
            "there and back, free top": returned("free_asymmetric_top"),
            "there and back, heavy top": returned("heavy_top"),
            "symplectic step": lambda row: escape(_form(row)),
            **({"order of the omega that it holds": held} if all("held_omega" in row for row in rows.values()) else {}),
            "largest stable product of drag rate and step": drag,
        },
    )


def _many(rows: Mapping[str, Any]) -> str:
    def contacts(row: Mapping[str, Any]) -> str:
        run = row["contacts"]
        if "scene" not in run:
            return escape(_reason(run))
        return "<span class=bad>diverged</span>" if run["diverged"] else _number(run["largest_energy_error"])

    def liquid(row: Mapping[str, Any]) -> str:
        run = row["liquid"]
        if "scene" not in run:
            return escape(_reason(run))
        if run["diverged"]:
            how = "heating" if run["lost_by"] > 0 else "cooling"
            return f"<span class=bad>lost by {how} after {run['lost_at'] / 1000:.3g} ps</span>"
        return f"{_number(run['drift'], 2)} ± {_number(run['block_error'], 1)} {escape(run['unit'])}"

    known = [row for row in rows.values() if "scene" in row["contacts"]]
    if not known:
        where = "<p>None of these methods runs many bodies: that takes one torque in a step.</p>"
    else:
        scene, fluid = known[0]["contacts"], known[0]["liquid"]
        where = (
            f"<p class=soft>{escape(scene['label'])}: {scene['time']:.3g} s with steps of {_number(scene['dt'])} s; "
            f"{escape(fluid['label'])}: {fluid['time'] / 1000:.3g} ps with steps of {fluid['dt']:g} fs. "
            "In so short a run errors of contacts prevail; errors in flight grow with time and show later.</p>"
        )
    return where + _beside(
        rows,
        {"contacts: largest relative error of the energy": contacts, "liquid: drift per degree of freedom": liquid},
    )


def _new(sheet: Mapping[str, Any]) -> str:
    identity = sheet["identity"]
    text = escape(new_or_known(identity))
    if "nearest" in identity and not identity["same"] and not identity["same_step"]:
        nearest = identity["nearest"]
        text += (
            f" Nearest: {escape(plain_name(nearest['key']))}, {_number(nearest['round_offs'], 2)} round-offs away."
            if nearest["round_offs"] < NEAR
            else " Nothing is near: each of these differs within the first eight digits."
        )
    return (
        f"<p>{text}</p><p class=soft>Registered methods and the forms that engines have, from the same "
        "starts, step by step, with and without a torque.</p>"
    )


def _how(sheet: Mapping[str, Any]) -> str:
    made = sheet["methods"][sheet["method"]].get("made")
    when = f", commit {made['commit'][:7]}, {made['date']}, on {made['processor']}" if made else ""
    return (
        f"<p class=soft>polhode {escape(sheet['polhode'] + when)}, <code>polhode sheet</code>; the "
        f"first {sheet['bodies']} random bodies of seed {sheet['seed']}, the same for all methods, against exact states in "
        "double-double arithmetic. Friction: the largest product of decay rate and step at which the sliding "
        "of two cylinders still decays. "
        "There and back: the angle to the start after a reversal. Times are those of one core of this machine; runs of many "
        "bodies are short, and their drifts hold for such times alone.</p>"
    )


# ---- drawings ----


def _look(key: str, is_subject: bool) -> tuple[str, str]:
    """Colour and marker of a method: those of the report, and the colour of the text for the page's subject."""
    look = style(key)
    return ("var(--ink)" if is_subject else str(look["color"])), look["marker"]


@cache
def _outline(marker: Any) -> list[list[tuple[float, float]]]:
    """The polygons of a marker, as the report draws it."""
    shape = MarkerStyle(marker)
    polygons: Any = shape.get_path().transformed(shape.get_transform()).to_polygons(closed_only=False)
    return [[(float(x), float(y)) for x, y in polygon] for polygon in polygons]


def _marks(marker: str, points: Sequence[tuple[float, float]], colour: str) -> str:
    """A marker at each point: the outlines that the report draws."""
    polygons = _outline(marker)
    scale = 2 * MARKER / max(1e-9, *(abs(x) * 2 for polygon in polygons for point in polygon for x in point))
    fill = "none" if marker in STROKES else colour
    d = "".join(
        "M" + "L".join(f"{px + scale * x:.1f} {py - scale * y:.1f}" for x, y in polygon)
        for px, py in points
        for polygon in polygons
    )
    return f'<path d="{d}" fill="{fill}" stroke="{colour}" stroke-width="1" fill-rule="evenodd"/>'


def _key(key: str, label: str, is_subject: bool) -> str:
    colour, marker = _look(key, is_subject)
    line = f'<path d="M2 7H32" stroke="{colour}" stroke-width="{2.4 if is_subject else 1.4}"/>'
    return (
        f'<span class=key><svg viewBox="0 0 34 14" aria-hidden="true">{line}{_marks(marker, [(17, 7)], colour)}</svg>'
        f"{escape(label)}</span>"
    )


def _power(k: int) -> str:
    exponent = str(k).replace("-", "−")
    return f'10<tspan dy="-4" font-size="8">{exponent}</tspan>'


def _panel(
    title: str,
    series: Mapping[str, tuple[Sequence[float], Sequence[float | None]]],
    subject: str,
    x_label: str,
    y_label: str,
    markers: bool = True,
) -> str:
    """A plot with two logarithmic axes: key -> (x, y), None where there is no value."""
    curves = {key: [(a, b) for a, b in zip(x, y, strict=True) if a and b and b < LARGEST] for key, (x, y) in series.items()}
    points = [point for curve in curves.values() for point in curve]
    if not points:
        return f"<p>{escape(title)}: all runs diverged</p>"
    (x0, x1), (y0, y1) = ((log10(min(values)), log10(max(values))) for values in zip(*points, strict=True))
    y0, y1 = floor(y0), max(ceil(y1), floor(y0) + 1)
    x1 = max(x1, x0 + 0.1)
    (width, height), (left, right, top, bottom) = PANEL, MARGINS

    def place(point: tuple[float, float]) -> tuple[float, float]:
        a, b = (log10(value) for value in point)
        return left + (a - x0) / (x1 - x0) * (width - left - right), height - bottom - (b - y0) / (y1 - y0) * (
            height - top - bottom
        )

    lines = []
    every = max(1, ceil((y1 - y0) / 6))
    for k in range(y0, y1 + 1, every):
        y = place((10**x0, 10.0**k))[1]
        lines.append(f'<path class=grid d="M{left} {y:.1f}H{width - right}"/>')
        lines.append(
            f'<text x="{left - 5}" y="{y + 4:.1f}" text-anchor="end">10<tspan dy="-4" font-size="8">{k}</tspan></text>'
        )
    for k in range(ceil(x0 - 1e-9), floor(x1 + 1e-9) + 1):
        x = place((10.0**k, 10.0**y0))[0]
        lines.append(f'<path class=grid d="M{x:.1f} {top}V{height - bottom}"/>')
        lines.append(f'<text x="{x:.1f}" y="{height - bottom + 14}" text-anchor="middle">{_power(k)}</text>')
    lines.append(f'<rect class=axis x="{left}" y="{top}" width="{width - left - right}" height="{height - top - bottom}"/>')
    for key in [*(key for key in curves if key != subject), subject]:
        at = [place(point) for point in curves[key]]
        colour, marker = _look(key, key == subject)
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in at)
        lines.append(
            f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="{2.2 if key == subject else 1.2}"/>' if at else ""
        )
        lines.append(_marks(marker, at, colour) if markers and at else "")
    lines.append(f'<text x="{(left + width - right) / 2}" y="14" text-anchor="middle" font-weight="600">{escape(title)}</text>')
    lines.append(f'<text x="{(left + width - right) / 2}" y="{height - 6}" text-anchor="middle">{escape(x_label)}</text>')
    middle = (top + height - bottom) / 2
    lines.append(f'<text x="12" y="{middle}" text-anchor="middle" transform="rotate(-90 12 {middle})">{escape(y_label)}</text>')
    name = escape(f"{title}: {y_label} over {x_label}", quote=True)
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{name}">{"".join(lines)}</svg>'
