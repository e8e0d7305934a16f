"""Figures of what is read off grains, in units of its scatter, and of their energies over time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from polhode.study.inputs import Inputs
from polhode.study.report import style
from polhode.study.report.drawing import new_figure, panel_title, printable
from polhode.study.themes.grains import analysis
from polhode.study.themes.grains.analysis import COMPARED, SCENES, STATED

#: The forms of energy that are stacked, from below, with their names and colours; springs hold too little to be seen.
STACKED = {
    "gravitational": ("gravity", "#BBBBBB"),
    "dissipated_normal": ("normal dashpots", "#4477AA"),
    "dissipated_tangential": ("tangential dashpots", "#66CCEE"),
    "dissipated_sliding": ("sliding", "#CCBB44"),
    "kinetic": ("kinetic", "#EE6677"),
}
#: Colours and markers of the laws that are compared with the first.
LAWS = {
    "hertz_mindlin_incremental": ("#0072B2", "s"),
    "linear_spring_dashpot": ("#D55E00", "o"),
    "viscoelastic": ("#009E73", "^"),
    "as_in_LAMMPS": ("#CC79A7", "D"),
}
#: Changes beyond so many times the scatter are drawn on a logarithmic scale.
LINEAR = 2.0


def grains(inputs: Inputs) -> Figure:
    """A figure of changes by the step, the method and the law, a column for each scene, with intervals."""
    found = analysis.scenes(inputs)
    figure = new_figure((style.TEXT_WIDTH, 7.6))
    panels = figure.subplots(3, len(found), squeeze=False, sharex=True)
    legends: list[dict[str, dict[str, Any]]] = [{}, {}, {}]
    for column, (experiment, data) in enumerate(found.items()):
        rows = analysis.frame(inputs, experiment)
        names, labels = (
            list(analysis.compared(data)),
            dict(zip(*(data[x].values.astype(str) for x in ("variant", "label")), strict=True)),
        )
        steps = analysis.coarser(data)
        shades = colormaps["viridis"](np.linspace(0.85, 0.0, len(steps)))
        looks = [
            {f"$T/{n}$": {"color": tuple(shade), "marker": "o"} for n, shade in zip(steps, shades, strict=True)},
            {labels[key]: {**style.style(key), "linestyle": "none"} for key in analysis.variants(data, "method")},
            {labels[key]: dict(zip(("color", "marker"), LAWS[key], strict=True)) for key in analysis.variants(data, "law")},
        ]
        drawn = [
            [analysis.chosen(rows, "step", "all", n) for n in steps],
            [analysis.chosen(rows, "method", key, STATED) for key in analysis.variants(data, "method")],
            [analysis.chosen(rows, "law", key, STATED) for key in analysis.variants(data, "law")],
        ]
        for axes, look, kind, legend in zip(panels[:, column], looks, drawn, legends, strict=True):
            _forest(axes, names, list(look.values()), kind)
            legend.update(look)
        panels[0, column].set_title(SCENES[experiment])
        panels[-1, column].set_xlabel("change over scatter of seeds")
    for axes, legend, letter, title in zip(panels[:, 0], legends, "abc", ("step", "method", "law"), strict=True):
        panel_title(axes, letter, title)
        handles = [Line2D([], [], label=printable(label), linestyle="none", **_marker(look)) for label, look in legend.items()]
        panels["abc".index(letter), -1].legend(
            handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="x-small"
        )
    return figure


def _marker(look: dict[str, Any]) -> dict[str, Any]:
    return {"color": look["color"], "marker": look["marker"], "markersize": 3.2}


def _forest(axes: Axes, names: Sequence[str], looks: Sequence[dict[str, Any]], drawn: Sequence[pd.DataFrame]) -> None:
    """Changes with their intervals in units of the scatter: a row for each quantity, within it a line for each comparison."""
    axes.axvspan(-1, 1, color="0.92", zorder=0)
    axes.axvline(0, color="0.6", linewidth=0.8, zorder=1)
    for place, (look, rows) in enumerate(zip(looks, drawn, strict=True)):
        shift = 0.75 * ((place + 0.5) / len(looks) - 0.5)
        for row in rows.to_dict("records"):
            at, unit = names.index(row["quantity"]) + shift, row["scatter"]
            axes.hlines(at, row["low"] / unit, row["high"] / unit, color=look["color"], linewidth=0.8)
            axes.plot(row["change"] / unit, at, linestyle="none", **_marker(look))
    axes.set_xscale("symlog", linthresh=LINEAR, linscale=1.5)
    axes.set_xticks([-10, -1, 0, 1, 10], ["-10", "-1", "0", "1", "10"])
    axes.set_yticks(range(len(names)), [COMPARED[name].name.removeprefix("by ") for name in names], fontsize="x-small")
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.5, -0.5)


def grains_ledger(inputs: Inputs) -> Figure:
    """A figure of where the energy goes in one run of each scene over time, stacked."""
    found = analysis.scenes(inputs)
    figure = new_figure((style.TEXT_WIDTH, 2.6))
    panels = figure.subplots(1, len(found), squeeze=False)[0]
    for axes, (experiment, data), letter in zip(panels, found.items(), "abc", strict=False):
        time, ledger = 1e3 * data["time"].values, 1e3 * data["ledger"]
        names, colours = zip(*STACKED.values(), strict=True)
        layers = [ledger.sel(form=form).values for form in STACKED]
        axes.stackplot(time, layers, labels=names, colors=colours, linewidth=0)
        start = float(sum(layer[0] for layer in layers))
        axes.axhline(start, color="0.2", linewidth=0.8, linestyle=(0, (4, 2)), label="at the start")
        axes.set_xlim(time[0], time[-1])
        axes.set_ylim(0, None)
        axes.set_xlabel("time (ms)")
        panel_title(axes, letter, SCENES[experiment])
    panels[0].set_ylabel("energy (mJ)")
    handles, texts = panels[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=6, fontsize="small")
    return figure
