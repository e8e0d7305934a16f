"""What a step costs in time."""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from polhode.study import comparison, style
from polhode.study.figures.drawing import new_figure, panel_title, printable
from polhode.study.inputs import Inputs, methods

#: How far the samples of a form reach above and below its place in the row.
TICK = 0.17
#: The right end of the axes, in units of the slowest method; slower samples are left out.
MARGIN = 1.6
#: The colour of what publications say.
PUBLISHED = "#C00000"


def relative_cost(inputs: Inputs) -> Figure:
    """The time of a step relative to direct Euler, with all samples, in both frames, with and without normalisation."""
    step = inputs.cost("step")
    keys = list(map(str, step["method"].values))
    labels = dict(zip(keys, map(str, step["label"].values), strict=True))
    looks = style.styles(keys, {key: methods[key].variant_of for key in keys if key in methods})
    published = inputs.published_numbers("delvalle_cost")
    stated = published[published["quantity"] == "step"]
    # Many samples are drawn fainter, so that their density shows.
    alpha = float(np.clip(16 / step.sizes["sample"], 0.05, 0.3))
    figure = new_figure((style.TEXT_WIDTH, max(2.6, 1.25 + 0.25 * len(keys))))
    panels = figure.subplots(1, 2, sharey=True)
    highest = float(np.nanmax(step["relative"].values)) * MARGIN
    lowest = float(np.nanmin(step["relative"].values)) / 1.15
    for axes, frame, letter in zip(panels, map(str, step["frame"].values), "ab", strict=True):
        own = step.sel({"frame": frame})
        rows = _rows(axes, labels)
        unit = float(own["fastest"].sel({"method": "euler"}).isel(normalised=int(own["declared"].sel({"method": "euler"}))))
        for key, row in rows.items():
            one = own.sel({"method": key})
            declared = int(one["declared"])
            place = {1: row - 0.2, 0: row + 0.2}
            for form in (1, 0):
                samples = one["samples"].isel(normalised=form).values / unit
                samples = samples[np.isfinite(samples) & (samples <= highest)]
                colour = looks[key]["color"]
                axes.vlines(samples, place[form] - TICK, place[form] + TICK, color=colour, alpha=alpha, linewidth=0.5, zorder=2)
            found = one["relative"].values
            if np.isfinite(found).all():
                axes.plot(found[[1, 0]], [place[1], place[0]], color="0.35", linewidth=0.6, zorder=3)
                axes.plot(found[1 - declared], place[1 - declared], ".", color="0.2", markersize=3.2, zorder=4)
            look = {**looks[key], "linestyle": "none", "markersize": 4.8, "zorder": 5}
            axes.plot(found[declared], place[declared], **look)
        for record in stated.to_dict("records"):
            if frame == "lab" and record["method"] in rows:
                y = rows[str(record["method"])]
                axes.plot([record["value"]] * 2, [y - 0.5, y + 0.5], color=PUBLISHED, linewidth=1.6, zorder=6)
        axes.axvline(1.0, color="0.55", linewidth=0.7, linestyle=(0, (4, 2)), zorder=1)
        _ratio_axis(axes, lowest, highest)
        axes.set_xlabel("time of a step / that of direct Euler")
        panel_title(axes, letter, rf"$\omega$ kept in the {frame} frame")
    _legend(figure)
    return figure


def _rows(axes: Axes, labels: dict[str, str]) -> dict[str, float]:
    """A row for each method, in groups with a little space between them; returns the height of each."""
    rows: dict[str, float] = {}
    at = 0.0
    for _, keys in comparison.grouped(labels):
        for key in keys:
            rows[key] = at
            at += 1.0
        at += 0.4
    axes.set_yticks(list(rows.values()), [printable(labels[key]) for key in rows])
    axes.set_ylim(at - 0.75, -0.65)
    axes.tick_params(axis="y", length=0, labelsize=7.5)
    for number, y in enumerate(rows.values()):
        if number % 2:
            axes.axhspan(y - 0.5, y + 0.5, color="0.965", zorder=0, linewidth=0)
    return rows


def _ratio_axis(axes: Axes, low: float, high: float) -> None:
    """A logarithmic axis along x with plain numbers."""
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    marks = [mark for mark in (0.25, 0.5, 1, 2, 5, 10, 20, 50) if low <= mark <= high]
    axes.xaxis.set_major_locator(FixedLocator(marks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())


def _legend(figure: Figure) -> None:
    """What the marks mean, below both panels."""
    marks: list[tuple[str, dict[str, Any]]] = [
        ("fastest sample, as the method declares", {"marker": "o", "color": "0.2", "markersize": 4.8}),
        ("with normalisation switched", {"marker": ".", "color": "0.2", "markersize": 3.2}),
        ("every sample: normalised above, not below", {"marker": "|", "color": "0.5", "markersize": 6}),
        ("published", {"marker": "|", "color": PUBLISHED, "markersize": 8, "markeredgewidth": 1.6}),
    ]
    handles = [Line2D([], [], linestyle="none", label=label, **look) for label, look in marks]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, handlelength=1.2, columnspacing=1.6)


FIGURES: dict[str, Callable[[Inputs], Figure]] = {"relative_cost": relative_cost}
