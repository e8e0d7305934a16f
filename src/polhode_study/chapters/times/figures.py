"""The time of a step, and the time of a method to a given error."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from polhode.fits.ladders import UNIT
from polhode_study.inputs import Inputs
from polhode_study.report import style
from polhode_study.report.drawing import (
    available,
    legend_below_styles,
    method_looks,
    new_figure,
    note,
    panel_title,
    printable,
    ratio_ticks,
    row_places,
    rows_height,
    styles_of,
)
from polhode_study.report.frames import records
from polhode_study.report.selection import PUBLISHED_SET

#: Opacity of the bands of published values.
BAND = 0.25

#: The methods compared with SPIRAL: those of the publication, a second-order form of Verlet's, and the method of highest order.
RIVALS = ("omelyan1998", "verlet", "verlet_delvalle2024", "rk4")


def speed_up(inputs: Inputs) -> Figure:
    """A figure of speed-ups over direct Euler at target errors, and of SPIRAL over others: del Valle et al. (2024), Fig. 5."""
    data = inputs.cost("published")
    labels, looks = method_looks(data)
    published = [key for key in available(data, PUBLISHED_SET, inputs.plugins) if key != UNIT]
    rivals = available(data, RIVALS)
    figure = new_figure((style.TEXT_WIDTH, 3.75))
    left, right = figure.subplots(1, 2)
    for axes in (left, right):
        axes.set_yscale("log")
    target = data["target_error"].values
    lab = data.sel(frame="lab")
    for key in published:
        left.plot(target, lab["speed_up_euler"].sel(integrator=key).values, **looks[key])
    left.axhline(1.0, color=style.PALE, linewidth=style.FINE, zorder=1)
    note(left, "direct Euler", (0.5, 1), (0, -7.5), xycoords=("axes fraction", "data"), ha="center")
    left.set_ylabel("speed-up over direct Euler")
    panel_title(left, "a", "as published: velocity kept in the lab")
    for key in rivals:
        for frame, line in (("body", {}), ("lab", {"linestyle": ":", "marker": "none"})):
            gain = 1 / data["speed_up_spiral"].sel(integrator=key, frame=frame).values
            right.plot(target, gain, **{**looks[key], "linestyle": "-", **line})
    bands: list[Line2D] = []
    others: list[str] = []
    for stated in stated_speed_ups(inputs):
        # A second value for the same method is a broken band.
        broken: Any = (0, (1.0, 0.5)) if stated["other"] in others else "-"
        others.append(stated["other"])
        colour = looks[stated["other"]]["color"] if stated["other"] in looks else style.GUIDE
        right.axhline(stated["value"], color=colour, linewidth=3.5, alpha=BAND, linestyle=broken, zorder=0)
        other = _short(inputs, stated["other"], labels)
        text = f"stated {stated['source'][-4:]}: {stated['reading']} {stated['value']:g} ({other})"
        bands.append(Line2D([], [], color=colour, linewidth=3.5, alpha=BAND, linestyle=broken, label=text))
    right.axhline(1.0, color=style.PALE, linewidth=style.FINE, zorder=1)
    # Space for the legend.
    right.set_ylim(None, right.get_ylim()[1] * 12)
    right.set_ylabel("time over that of SPIRAL")
    panel_title(right, "b", "SPIRAL against others")
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_xlim(target.max() * 1.7, target.min() / 1.7)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel("target error")
    keys = [*published, *(key for key in rivals if key not in published)]
    legend_below_styles(figure, {key: labels[key] for key in keys}, looks, 3)
    right.legend(
        handles=[
            Line2D([], [], color=style.DARK, label="kept in the body frame"),
            Line2D([], [], color=style.DARK, linestyle=":", label="kept in the lab"),
            *bands,
        ],
        loc="upper left",
        fontsize=style.NOTE,
        handlelength=1.8,
        labelspacing=0.25,
    )
    return figure


def stated_speed_ups(inputs: Inputs) -> list[dict[str, Any]]:
    """The speed-ups of SPIRAL over a named method stated in publications: source, other, reading, value."""
    rows = inputs.published_numbers("delvalle_cost")
    rows = rows[(rows["quantity"] == "speed_up") & rows["other"].notna()]
    return records(rows[["source", "other", "reading", "value"]])


def _short(inputs: Inputs, key: str, labels: dict[str, str]) -> str:
    return str(inputs.declared(key, "short_label", labels.get(key, key)))


#: The right end of the axes, in units of the slowest median.
MARGIN = 1.1

#: The look of the range up to the median.
MEDIAN: dict[str, Any] = {"facecolor": style.PALE, "edgecolor": style.PALE, "linewidth": style.HAIR}

#: The colour of published values.
PUBLISHED = style.STATED


def relative_cost(inputs: Inputs) -> Figure:
    """A figure of the time of a step relative to direct Euler, in both frames, with and without normalisation.

    The figure has few marks: the numbers are in the table, the quartiles in its CSV, and all samples in cost.nc.
    """
    step = inputs.cost("step")
    keys = list(map(str, step["integrator"].values))
    labels = dict(zip(keys, map(str, step["label"].values), strict=True))
    looks = styles_of(inputs, keys)
    published = inputs.published_numbers("delvalle_cost")
    stated = published[published["quantity"] == "step"]
    figure = new_figure((style.TEXT_WIDTH, max(2.6, rows_height(1.1, 0.185, len(keys)))))
    panels = figure.subplots(1, 2, sharey=True)
    highest = float(np.nanmax(step["relative"].values * step["median"].values / step["fastest"].values)) * MARGIN
    lowest = float(np.nanmin(step["relative"].values)) / 1.15
    for axes, frame, letter in zip(panels, map(str, step["frame"].values), "ab", strict=True):
        in_frame = step.sel({"frame": frame})
        rows = _rows(inputs, axes, labels)
        euler = in_frame.sel(integrator="euler")
        unit = float(euler["fastest"].isel(normalised=int(euler["declared"])))
        for key, row in rows.items():
            of_method = in_frame.sel(integrator=key)
            declared = int(of_method["declared"])
            relative = of_method["relative"].values
            middle = float(of_method["median"].isel(normalised=declared)) / unit
            # Higher than the symbol, which would hide it.
            axes.fill_betweenx([row - 0.46, row + 0.46], relative[declared], middle, **MEDIAN, zorder=2)
            if np.isfinite(relative).all():
                axes.plot(relative, [row, row], **style.INK, zorder=3)
                axes.plot(relative[1 - declared], row, "|" if declared else ".", color=style.DARK, markersize=5, zorder=4)
            axes.plot(relative[declared], row, **{**looks[key], "linestyle": "none", "markersize": 4.8, "zorder": 5})
        for record in stated.to_dict("records"):
            if frame == "lab" and record["method"] in rows:
                y = rows[str(record["method"])]
                axes.plot([record["value"]] * 2, [y - 0.5, y + 0.5], color=PUBLISHED, linewidth=style.BOLD, zorder=6)
        axes.axvline(1.0, **style.GUIDES, linestyle=(0, (4, 2)), zorder=1)
        axes.set_xscale("log")
        axes.set_xlim(lowest, highest)
        ratio_ticks(axes.xaxis, lowest, highest, (0.25, 0.5, 1, 2, 5, 10, 20, 50))
        axes.set_xlabel("time of a step / that of direct Euler")
        panel_title(axes, letter, rf"$\omega$ kept in the {frame} frame")
    _legend(figure)
    return figure


def _rows(inputs: Inputs, axes: Axes, labels: dict[str, str]) -> dict[str, float]:
    """Draw one row for each method, in groups separated by a small space; returns the height of each row."""
    rows, end = row_places(inputs.grouped(labels), 0.4)
    axes.set_yticks(list(rows.values()), [printable(labels[key]) for key in rows])
    axes.set_ylim(end - 0.75, -0.65)
    axes.tick_params(axis="y", length=0, labelsize=style.LABEL)
    for number, y in enumerate(rows.values()):
        if number % 2:
            axes.axhspan(y - 0.5, y + 0.5, color=style.SHADE, zorder=0, linewidth=0)
    return rows


def _legend(figure: Figure) -> None:
    """Draw the legend below both panels."""
    marks: list[tuple[str, dict[str, Any]]] = [
        ("fastest sample, as the method declares", {"marker": "o", "color": style.DARK, "markersize": 4.8}),
        ("with normalisation, which it does not need", {"marker": ".", "color": style.DARK, "markersize": 5}),
        ("without normalisation", {"marker": "|", "color": style.DARK, "markersize": 5}),
        ("published", {"marker": "|", "color": PUBLISHED, "markersize": 8, "markeredgewidth": 1.6}),
    ]
    handles: list[Any] = [Line2D([], [], label=label, **{"linestyle": "none", **look}) for label, look in marks]
    handles.insert(2, Patch(**MEDIAN, label="from there to the median"))
    figure.legend(handles=handles, loc="outside lower center", ncols=2, handlelength=1.2, columnspacing=1.6)
