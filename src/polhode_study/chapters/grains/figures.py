"""Figures of what is read off grains, in units of its scatter, and of their energies over time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from polhode_study.chapters.grains import frames as analysis
from polhode_study.chapters.grains.frames import COMPARED, SCENES, STATED, WORK
from polhode_study.inputs import Inputs
from polhode_study.report import style
from polhode_study.report.drawing import new_figure, panel_title, printable

#: The forms of energy that are stacked, from below, with their names and colours; springs hold too little to be seen.
STACKED = {
    "gravitational": ("gravity", style.SILVER),
    "dissipated_normal": ("normal dashpots", style.STEEL),
    "dissipated_tangential": ("tangential dashpots", style.CYAN),
    "dissipated_sliding": ("sliding", style.OLIVE),
    "kinetic": ("kinetic", style.ROSE),
}
#: Colours and markers of the laws that are compared with the first.
LAWS = {
    "hertz_mindlin_incremental": (style.BLUE, "s"),
    "linear_spring_dashpot": (style.VERMILION, "o"),
    "viscoelastic": (style.GREEN, "^"),
    "as_in_LAMMPS": (style.PURPLE, "D"),
}
#: Changes beyond so many times the scatter are drawn on a logarithmic scale.
LINEAR = 2.0
#: Intervals are cut off here.
WIDEST = 60.0


def grains(inputs: Inputs) -> Figure:
    """A figure of changes by the step, the method and the law, a column for each scene, with intervals."""
    scenes = analysis.scenes(inputs)
    divisions = sorted({n for data in scenes.values() for n in analysis.coarser(data)})
    shades = dict(zip(divisions, colormaps["viridis"](np.linspace(0.85, 0.0, len(divisions))).tolist(), strict=True))
    frames = {experiment: analysis.frame(inputs, experiment) for experiment in scenes}
    ends = pd.concat([rows[end].abs() / rows["scatter"] for rows in frames.values() for end in ("low", "high")])
    bound = min(1.2 * float(ends.max()), WIDEST)
    figure = new_figure((style.TEXT_WIDTH, 8.0))
    kinds = "step", "method", "law"
    parts: Any = figure.subfigures(3, 1)
    for number, (part, kind) in enumerate(zip(parts, kinds, strict=True)):
        legend: dict[str, dict[str, Any]] = {}
        for place, (axes, experiment) in enumerate(zip(part.subplots(1, len(scenes), squeeze=False)[0], scenes, strict=True)):
            data, rows = scenes[experiment], frames[experiment]
            if kind == "step":
                looks = {rf"$T/{n}$": {"color": shades[n], "marker": "o"} for n in analysis.coarser(data)}
                drawn = [analysis.chosen(rows, kind, "all", n) for n in analysis.coarser(data)]
            else:
                keys = analysis.variants(data, kind)
                looks = {
                    printable(str(data["label"].sel(variant=key).values).replace("bookkeeping", "contact update")): _look(
                        kind, key
                    )
                    for key in keys
                }
                drawn = [analysis.chosen(rows, kind, key, STATED) for key in keys]
            _forest(axes, list(analysis.compared(data)), list(looks.values()), drawn)
            panel_title(axes, "abcdefghi"[len(scenes) * number + place], f"{SCENES[experiment]}, {kind}")
            axes.set_xlim(-bound, bound)
            if kind == "law":
                axes.set_xlabel("change over scatter")
            legend |= looks
        handles = [Line2D([], [], label=label, linestyle="none", **_marker(look)) for label, look in legend.items()]
        part.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=style.NOTE, handletextpad=0.2)
    return figure


def _look(kind: str, key: str) -> dict[str, Any]:
    """Colour and marker of a method or a law."""
    return style.style(key) if kind == "method" else dict(zip(("color", "marker"), LAWS[key], strict=True))


def _marker(look: dict[str, Any]) -> dict[str, Any]:
    return {"color": look["color"], "marker": look["marker"], "markersize": 3.2}


def _forest(axes: Axes, names: Sequence[str], looks: Sequence[dict[str, Any]], drawn: Sequence[pd.DataFrame]) -> None:
    """Changes with their intervals in units of the scatter: a row for each quantity, within it a line for each comparison."""
    axes.axvspan(-1, 1, color=style.SHADE, zorder=0)
    axes.axvline(0, color=style.PALE, linewidth=style.FINE, zorder=1)
    for place, (look, rows) in enumerate(zip(looks, drawn, strict=True)):
        shift = 0.75 * ((place + 0.5) / len(looks) - 0.5)
        for row in rows.to_dict("records"):
            at, unit = names.index(row["quantity"]) + shift, row["scatter"]
            axes.hlines(at, row["low"] / unit, row["high"] / unit, color=look["color"], linewidth=style.FINE)
            axes.plot(row["change"] / unit, at, linestyle="none", **_marker(look))
    axes.set_xscale("symlog", linthresh=LINEAR, linscale=1.5)
    axes.set_xticks([-10, -1, 0, 1, 10], ["-10", "-1", "0", "1", "10"])
    axes.set_yticks(range(len(names)), [COMPARED[name].name.removeprefix("by ") for name in names], fontsize=style.NOTE)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.5, -0.5)


def grains_ledger(inputs: Inputs) -> Figure:
    """A figure of where the energy goes in one run of each scene over time, stacked."""
    scenes = analysis.scenes(inputs)
    figure = new_figure((style.TEXT_WIDTH, 2.8))
    panels = figure.subplots(1, len(scenes), squeeze=False)[0]
    for axes, (experiment, data), letter in zip(panels, scenes.items(), "abc", strict=False):
        time, ledger = 1e3 * data["time"].values, 1e3 * data["ledger"]
        names, colours = zip(*STACKED.values(), strict=True)
        layers = [ledger.sel(form=form).values for form in STACKED]
        axes.stackplot(time, layers, labels=names, colors=colours, linewidth=0)
        start = float(sum(layer[0] for layer in layers))
        work = ledger.sel(form=WORK).values if WORK in data["form"] else 0 * time
        axes.plot(time, start + work, **style.INK, linestyle=(0, (4, 2)), label="at the start, and work of walls")
        axes.set_xlim(time[0], time[-1])
        axes.set_ylim(0, None)
        axes.set_xlabel("time (ms)")
        panel_title(axes, letter, SCENES[experiment])
    panels[0].set_ylabel("energy (mJ)")
    handles, texts = panels[0].get_legend_handles_labels()
    figure.legend(handles, texts, loc="outside lower center", ncols=3, fontsize=style.LABEL)
    return figure
