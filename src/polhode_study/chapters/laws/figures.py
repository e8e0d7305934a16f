"""The figure of the laws: the slowdown of methods in every class of torque."""

from collections.abc import Collection, Sequence
from itertools import pairwise
from math import isfinite
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.laws.frames import EnsembleLaws
from polhode_study.chapters.many_body.frames import chess_ratios
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import style
from polhode_study.report.drawing import (
    new_figure,
    printable,
)

#: Upper ends of the ranges of slowdown that have one colour each, and a colour for what never reaches the error.
ENDS = (1.1, 1.5, 3.0, 10.0, 100.0)
NEVER = 1e12
#: Names of the groups of methods above their columns.
GROUP_NAMES = {
    "new in this work": "new",
    "SPIRAL and Omelyan": "SPIRAL",
    "leapfrogs of the angular momentum": "leapfrogs",
    "kicks at both ends": "kicks",
    "splittings and variational": "splittings",
    "PCDM and scalar factor": "PCDM",
    "implicit": "impl.",
    "multistep": "multistep",
    "simple": "simple",
    "engines and codes": "codes",
    law_frames.PUBLISHED: "as published",
}
#: Methods of the figure in the article; a method of the reader's own is shown with them.
TWELVE = (
    *("exact_rotor_dkd_corrected", "magnus_adams4", "adams_bashforth4", "spiral_predicted", "pcdm2016", "spiral_leapfrog"),
    *("omelyan1998", "fincham1992", "fincham1992_yade", "verlet", "richardson", "no_squish"),
)


def slowdown(inputs: Inputs) -> Figure:
    """A heat map of the slowdown of twelve one-torque methods in every class of torque, and below it the chess pieces.

    Columns are methods by group; colours are ranges of the median over bodies of the torques per radian over those of the
    best method of the class; a dot marks the best, and those that the bodies do not tell from it.
    """
    ens = law_frames.ensemble(inputs)
    frame = law_frames.slowdowns(ens)
    table = frame.pivot(index="torque_class", columns="method", values="slowdown").loc[ens.classes]
    groups = columns(ens, table, {*TWELVE, *inputs.plugins})
    keys = [key for _, members in groups for key in members]
    if not keys:
        raise NotInRun("the ensembles of this run have none of the twelve methods of the figure")
    ratios = chess_ratios(inputs, keys)
    heights = [0.135 * len(ens.classes), 0.52] if ratios else [0.135 * len(ens.classes)]
    figure = new_figure((style.WIDE, sum(heights) + 1.3))
    grid: Any = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)
    top, bottom = grid[0, 0], grid[-1, 0]
    _heat(top, table[keys], frame, ens)
    at = np.arange(len(keys)) + 0.5
    if ratios:
        _chess(bottom, keys, ratios)
    marks = {key: r"$^\dagger$" if inputs.declared(key, "caution") else "" for key in keys}
    # A name may be cut behind an underscore, but not within a word.
    names = [_column_name(ens, key).replace(r"$\_$", r"$\_$ ") for key in keys]
    lines = ["\n".join(wrap(name, 10, break_long_words=False)) for name in names]
    bottom.set_xticks(at, [name + marks[key] for name, key in zip(lines, keys, strict=True)], fontsize=style.NOTE)
    bottom.tick_params(axis="x", length=0, pad=2)
    top.tick_params(axis="x", length=0, labelbottom=not ratios)
    _groups(top, bottom, groups)
    _heat_legend(figure, table[keys].to_numpy())
    return figure


def columns(ens: EnsembleLaws, table: pd.DataFrame, selected: Collection[str]) -> list[tuple[str, list[str]]]:
    """Those methods of ``selected`` that some class has, by group in the order of their places, in a group by mean slowdown."""
    places, groups = ens.declared("place", 0), ens.declared("group", "")
    single = law_frames.one_torque(ens)
    members: dict[str, list[str]] = {}
    for i in np.argsort(np.array(places), kind="stable"):
        key = ens.methods[int(i)]
        if single[i] and key in selected and table[key].notna().any():
            members.setdefault(groups[int(i)], []).append(key)
    capped = np.log(table.clip(upper=1e4))
    return [(group, sorted(keys, key=lambda key: float(capped[key].mean()))) for group, keys in members.items()]


def _column_name(ens: EnsembleLaws, key: str) -> str:
    label = ens.label(key).replace(" (as published)", "").replace("Adams-Bashforth ", "AB")
    return printable(label.replace("Calzavarini (mean velocities)", "Calzavarini (mean)"))


def _heat(axes: Axes, table: pd.DataFrame, frame: pd.DataFrame, ens: EnsembleLaws) -> None:
    """Draw the heat map with seaborn, in discrete colours, and dots for the best methods."""
    colours, norm = _colours()
    values = table.replace(np.inf, NEVER).set_axis([printable(ens.class_label(name)) for name in table.index], axis=0)
    sns.heatmap(
        values,
        ax=axes,
        cmap=colours,
        norm=norm,
        cbar=False,
        linewidths=style.HAIR,
        linecolor="white",
        xticklabels=False,
        rasterized=False,
    )
    axes.set_facecolor(style.SHADE)
    axes.set_xlabel("")
    axes.set_ylabel("")
    axes.tick_params(axis="y", length=0, labelsize=style.LABEL, rotation=0)
    rows = frame.set_index(["torque_class", "method"])
    for row, torque_class in enumerate(table.index):
        for column, key in enumerate(table.columns):
            cell = rows.loc[(torque_class, key)]
            if not isfinite(cell["slowdown"]):
                continue
            if cell["best"] == key:
                axes.plot(column + 0.5, row + 0.5, marker="*", color="black", markersize=4.6, markeredgewidth=0)
            elif not cell["told_apart"]:
                axes.plot(column + 0.5, row + 0.5, marker="o", color="black", markersize=1.7, markeredgewidth=0)


def _colours() -> tuple[ListedColormap, BoundaryNorm]:
    """Light to dark over the ranges of slowdown; the last colour for methods that never reach the error."""
    shades = [*sns.color_palette("YlGnBu", len(ENDS) + 1), (0.0, 0.0, 0.0)]
    return ListedColormap(shades), BoundaryNorm([0.0, *ENDS, NEVER / 10, 10 * NEVER], len(shades))


def _heat_legend(figure: Figure, values: np.ndarray) -> None:
    """Explain the colours of the ranges into which some value falls."""
    colours, norm = _colours()
    used = set(norm(np.where(np.isinf(values), NEVER, values)[~np.isnan(values)]).tolist())
    texts = [f"up to {ENDS[0]:g}", *(f"{low:g} to {high:g}" for low, high in pairwise(ENDS))]
    texts += [f"above {ENDS[-1]:g}", "never"]
    handles: list[Any] = [
        Patch(facecolor=colours(i), edgecolor=style.PALE, linewidth=style.HAIR, label=t)
        for i, t in enumerate(texts)
        if i in used
    ]
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=len(handles),
        fontsize=style.NOTE,
        handlelength=1.1,
        columnspacing=1.1,
        handletextpad=0.4,
        title="steps per radian, over those of the best one-torque method",
        title_fontsize=style.LABEL,
    )


def _groups(top: Axes, bottom: Axes, groups: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Draw a line before each group through both panels, and its name above it."""
    at = 0
    for number, (group, keys) in enumerate(groups):
        for axes in {top, bottom}:
            if number:
                axes.axvline(
                    at, color="white" if axes is top else style.RULE, linewidth=2.2 if axes is top else style.HAIR, zorder=3
                )
        top.plot(
            [at + 0.12, at + len(keys) - 0.12],
            [1.03, 1.03],
            transform=top.get_xaxis_transform(),
            **style.INK,
            clip_on=False,
        )
        top.text(
            at + len(keys) / 2,
            1.06 + 0.085 * (number % 2),
            GROUP_NAMES.get(group, group.split()[0] if group else "others"),
            transform=top.get_xaxis_transform(),
            fontsize=style.NOTE,
            ha="center",
            va="bottom",
        )
        at += len(keys)


#: The largest ratio that is drawn, and where methods are put that blow up.
TOP = 6000.0


def _chess(axes: Axes, keys: Sequence[str], ratios: dict[str, Any]) -> None:
    axes.axhline(1, color=style.PALE, linewidth=style.HAIR, zorder=1)
    for column, key in enumerate(keys):
        if key not in ratios:
            continue
        ratio = ratios[key]
        if not isfinite(ratio.value):
            axes.plot(column + 0.5, TOP / 1.7, marker="^", color="black", markersize=4)
            continue
        axes.vlines(column + 0.5, max(ratio.low, 0.4), min(ratio.high, TOP), color="black", linewidth=style.LINE)
        axes.plot(column + 0.5, ratio.value, marker="_", color="black", markersize=6, markeredgewidth=1.4)
    axes.set_yscale("log")
    axes.set_ylim(0.4, TOP)
    axes.yaxis.set_major_locator(FixedLocator([1, 30, 1000]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel(
        "energy error\nin collisions,\nover SPIRAL's", fontsize=style.LABEL, rotation=0, ha="right", va="center", labelpad=4
    )
    axes.grid(axis="x", color=style.SHADE, linewidth=style.HAIR)
    axes.tick_params(axis="x", top=False)
