"""The time of a step of every method, with published values."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from polhode.study.inputs import Inputs
from polhode.study.report import style
from polhode.study.report.drawing import new_figure, panel_title, printable, ratio_ticks, row_places, rows_height, styles_of

#: The right end of the axes, in units of the slowest median.
MARGIN = 1.1

#: The look of the range up to the median.
MEDIAN: dict[str, Any] = {"facecolor": "0.62", "edgecolor": "0.62", "linewidth": 0.5}

#: The colour of published values.
PUBLISHED = "#C00000"


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
            one = in_frame.sel(integrator=key)
            declared = int(one["declared"])
            relative = one["relative"].values
            middle = float(one["median"].isel(normalised=declared)) / unit
            # Higher than the symbol, which would hide it.
            axes.fill_betweenx([row - 0.46, row + 0.46], relative[declared], middle, **MEDIAN, zorder=2)
            if np.isfinite(relative).all():
                axes.plot(relative, [row, row], color="0.35", linewidth=0.6, zorder=3)
                axes.plot(relative[1 - declared], row, "|" if declared else ".", color="0.2", markersize=5, zorder=4)
            axes.plot(relative[declared], row, **{**looks[key], "linestyle": "none", "markersize": 4.8, "zorder": 5})
        for record in stated.to_dict("records"):
            if frame == "lab" and record["method"] in rows:
                y = rows[str(record["method"])]
                axes.plot([record["value"]] * 2, [y - 0.5, y + 0.5], color=PUBLISHED, linewidth=1.6, zorder=6)
        axes.axvline(1.0, color="0.55", linewidth=0.7, linestyle=(0, (4, 2)), zorder=1)
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
    axes.tick_params(axis="y", length=0, labelsize=7.5)
    for number, y in enumerate(rows.values()):
        if number % 2:
            axes.axhspan(y - 0.5, y + 0.5, color="0.965", zorder=0, linewidth=0)
    return rows


def _legend(figure: Figure) -> None:
    """Draw the legend below both panels."""
    marks: list[tuple[str, dict[str, Any]]] = [
        ("fastest sample, as the method declares", {"marker": "o", "color": "0.2", "markersize": 4.8}),
        ("with normalisation, which it does not need", {"marker": ".", "color": "0.2", "markersize": 5}),
        ("without normalisation", {"marker": "|", "color": "0.2", "markersize": 5}),
        ("published", {"marker": "|", "color": PUBLISHED, "markersize": 8, "markeredgewidth": 1.6}),
    ]
    handles: list[Any] = [Line2D([], [], label=label, **{"linestyle": "none", **look}) for label, look in marks]
    handles.insert(2, Patch(**MEDIAN, label="from there to the median"))
    figure.legend(handles=handles, loc="outside lower center", ncols=2, handlelength=1.2, columnspacing=1.6)
