"""Figure of the energies of a bed over time, and of what is read off it over the step."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from polhode.study.inputs import Inputs
from polhode.study.report import style
from polhode.study.report.drawing import legend_below_styles, new_figure, panel_title
from polhode.study.report.formats import labels_of
from polhode.study.themes.bed import analysis
from polhode.study.themes.bed.analysis import COMPARED

#: The forms of energy that are stacked, from below, with their names and colours; springs hold too little to be seen.
STACKED = {
    "gravitational": ("gravity", "#BBBBBB"),
    "dissipated_normal": ("normal dashpots", "#4477AA"),
    "dissipated_tangential": ("tangential dashpots", "#66CCEE"),
    "dissipated_sliding": ("sliding", "#CCBB44"),
    "kinetic": ("kinetic", "#EE6677"),
}
#: What is drawn over the step.
DRAWN = ("height", "contacts", "tangential", "sliding")
#: How far apart the methods are drawn, as a factor of the step.
APART = 1.09


def bed(inputs: Inputs) -> Figure:
    """A figure of (a) the ledger of one run over time, stacked, and (b) changes with the step, a marker for each method."""
    data = analysis.data_of(inputs)
    figure = new_figure((style.TEXT_WIDTH, 4.3))
    panels = figure.subplot_mosaic([["ledger", name] for name in DRAWN], width_ratios=[1.0, 1.1])
    _ledger(panels["ledger"], data)
    panel_title(panels["ledger"], "a", "where the energy goes")
    labels = labels_of(data)
    looks = {key: {**look, "linestyle": "none"} for key, look in style.styles(labels).items()}
    for name in DRAWN:
        _changes(panels[name], data, name, looks)
        panels[name].tick_params(labelbottom=name == DRAWN[-1])
    panel_title(panels[DRAWN[0]], "b", rf"change from $T/{int(data['division'].values[-1])}$")
    panels[DRAWN[-1]].set_xlabel(r"steps in a contact, $T/\Delta t$")
    legend_below_styles(figure, labels, looks, 5)
    return figure


def _ledger(axes: Axes, data: xr.Dataset) -> None:
    time, ledger = 1e3 * data["time"].values, 1e3 * data["ledger"]
    layers = [ledger.sel(form=form).values for form in STACKED]
    names, colours = zip(*STACKED.values(), strict=True)
    axes.stackplot(time, layers, labels=names, colors=colours, linewidth=0)
    start = float(sum(layer[0] for layer in layers))
    axes.axhline(start, color="0.2", linewidth=0.8, linestyle=(0, (4, 2)), label="at the start")
    axes.set_xlim(time[0], time[-1])
    axes.set_ylim(0, 1.45 * start)
    axes.set_xlabel("time (ms)")
    axes.set_ylabel("energy (mJ)")
    handles, texts = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], texts[::-1], loc="upper center", ncols=2, fontsize="small")


def _changes(axes: Axes, data: xr.Dataset, name: str, looks: dict[str, dict[str, Any]]) -> None:
    shown, divisions = COMPARED[name], analysis.coarser(data)
    spread = shown.factor * analysis.scatter(data, name)
    axes.axhspan(-spread, spread, color="0.92", zorder=0)
    axes.axhline(0, color="0.6", linewidth=0.8, zorder=1)
    for place, (key, look) in enumerate(looks.items()):
        estimates = [analysis.change_with_step(data, name, division, [key]) for division in divisions]
        value, low, high = (shown.factor * np.array([getattr(e, end) for e in estimates]) for end in ("value", "low", "high"))
        at = np.array(divisions) * APART ** (place - (len(looks) - 1) / 2)
        axes.vlines(at, low, high, color=look["color"], linewidth=0.8)
        axes.plot(at, value, **look)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(divisions))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels(map(str, divisions))
    unit = f" ({shown.unit})" if shown.unit else ""
    axes.set_ylabel(shown.name.removeprefix("by ").replace(" ", "\n", 1) + unit, fontsize="small")
