"""Figures of the engine atlas: errors of the engines over their identified methods, and where free spins end."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from polhode_study.chapters.engines import frames
from polhode_study.inputs import Inputs
from polhode_study.report import spheres, style
from polhode_study.report.drawing import legend_below_styles, new_figure, printable

#: Markers and colours of the engines, each in turn: their numbers have no common factor, so that no two engines among the
#: first seventy look alike, and those of one colour have markers that differ plainly. The colours are of Okabe and Ito.
MARKERS = "osD^v<>PX*"
COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.VERMILION, style.PURPLE, style.SKY, style.BLACK)
#: Number of spheres, and of spheres in a row.
SPHERES, IN_A_ROW = 12, 4


def engine_errors(inputs: Inputs) -> Figure:
    """The error of the orientation of a free body against the angle turned in a step; lines are the methods identified."""
    data = inputs.atlas
    figure = new_figure((style.TEXT_WIDTH, 5.4))
    axes = figure.subplots()
    order = np.argsort(data["step"].values)
    step = data["step"].values[order]
    drawn: set[str] = set()
    for i in range(data.sizes["engine"]):
        name = str(data["method_label"].values[i])
        if int(data["is_identified"][i]) and name not in drawn:
            drawn.add(name)
            axes.plot(step, data["method_q_error"].values[i][order], color=style.RULE, linewidth=style.LINE, zorder=1)
    keys = list(dict.fromkeys(map(str, data["label"].values)))
    looks: dict[str, dict[str, Any]] = {}
    for i, label in enumerate(map(str, data["label"].values)):
        k = keys.index(label)
        colour, error = COLOURS[k % len(COLOURS)], data["q_error"].sel(load="free").values[i][order]
        face = colour if int(data["is_identified"][i]) else "none"
        look: dict[str, Any] = {
            "marker": MARKERS[k % len(MARKERS)],
            "color": colour,
            "markerfacecolor": face,
            "linestyle": "none",
        }
        look |= {"markersize": 4.0, "markeredgewidth": 0.8}
        looks.setdefault(label, look)
        axes.plot(step, error, **look, zorder=2)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(r"angle turned in a step $\Omega\Delta t$ (rad)")
    axes.set_ylabel("error of the orientation (rad)")
    legend_below_styles(figure, dict(zip(keys, keys, strict=True)), looks, 5)
    return figure


def engine_spins(inputs: Inputs) -> Figure:
    """The end of the angular momentum in the body during a long free spin from next to the middle axis."""
    data = inputs.atlas
    chosen = frames.distinct(data, SPHERES)
    rows = -(-len(chosen) // IN_A_ROW)
    figure = new_figure((style.TEXT_WIDTH, 2.15 * rows))
    panels = np.atleast_1d(figure.subplots(rows, IN_A_ROW)).ravel()
    inertia = np.asarray(data.attrs["inertia"], dtype=float)
    for axes in panels:
        axes.set_axis_off()
    for axes, i in zip(panels, chosen, strict=False):
        spheres.sphere(axes, inertia)
        spheres.path(axes, data["path"].values[i].astype(float))
        axes.set_title(printable(f"{data['label'].values[i]}"), fontsize=style.LABEL, pad=13)
        end = str(data["end"].values[i])
        axes.text(
            0.5, 1.0, printable(str(data["option"].values[i])), transform=axes.transAxes, ha="center", fontsize=style.NOTE
        )
        axes.text(0.5, -0.04, printable(end), transform=axes.transAxes, ha="center", va="top", fontsize=style.LABEL)
    return figure
