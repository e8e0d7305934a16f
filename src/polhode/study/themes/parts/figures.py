"""Figures of the parts of a method: which of them decides, and what an exchange of one costs."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from polhode.study.inputs import Inputs
from polhode.study.report import style
from polhode.study.report.drawing import new_figure, printable
from polhode.study.themes.parts import analysis
from polhode.study.themes.parts.analysis import BASE, FACTORS, LABELS

#: Colours and hatches of the parts in the bars.
COLOURS = {"kick": "#D55E00", "rotation": "#0072B2", "place": "#009E73", "interplay": "#D9D9D9"}
HATCHES = {"kick": "", "rotation": "////", "place": "....", "interplay": ""}
NAMES = {"kick": "kick", "rotation": "rotation", "place": "place of the torque", "interplay": "interplay"}
EDGE: dict[str, Any] = {"edgecolor": "white", "linewidth": 0.4}
#: The largest factor with a colour of its own.
LARGEST = 1e4


def parts(inputs: Inputs) -> Figure:
    """A figure of the share of each part in the variance of the error, averaged over random bodies."""
    figure = new_figure((style.TEXT_WIDTH, 2.0))
    _shares(figure.subplots(), analysis.errors_over_bodies(inputs))
    handles = [Patch(facecolor=COLOURS[name], hatch=HATCHES[name], label=NAMES[name], **EDGE) for name in NAMES]
    figure.legend(handles=handles, loc="outside upper right", ncols=len(handles), handlelength=1.6, columnspacing=1.4)
    return figure


def parts_exchanged(inputs: Inputs) -> Figure:
    """A figure of the factor by which an exchange of one part changes the error, on one problem of each class."""
    error = analysis.errors(inputs)
    figure = new_figure((style.TEXT_WIDTH, 4.1))
    _exchanges(figure.subplots(), error, [str(name) for name in error["torque_class"].values])
    return figure


def _shares(axes: Axes, error: xr.DataArray) -> None:
    """The shares of each body, averaged over the bodies."""
    means = analysis.shares(analysis.of_second_order(error)).mean("body")
    at = np.arange(means.sizes["torque_class"])
    left = np.zeros(len(at))
    for name in NAMES:
        values = means[name].values
        axes.barh(
            at, values, left=left, color=COLOURS[name], hatch=HATCHES[name], edgecolor="white", linewidth=0.4, height=0.74
        )
        left += values
    axes.set_yticks(at, [printable(str(label)) for label in means["class_label"].values])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share in the variance of the logarithm of the error")
    axes.tick_params(axis="y", length=0)


def _exchanges(axes: Axes, error: xr.DataArray, classes: list[str]) -> None:
    frame = analysis.exchanges(error)
    values = frame.drop(columns=["part", "level"]).to_numpy()
    texts = np.vectorize(_factor)(values)
    import seaborn as sns  # imported here because a run without this experiment need not wait for it

    sns.heatmap(
        np.clip(values, 1 / LARGEST, LARGEST),
        ax=axes,
        annot=texts,
        fmt="",
        cmap="RdBu_r",
        norm=LogNorm(1 / LARGEST, LARGEST),
        linewidths=0.5,
        linecolor="white",
        annot_kws={"size": 7.5},
        cbar=False,  # every cell has its number
    )
    axes.set_xticks(np.arange(len(classes)) + 0.5, classes, rotation=0)
    base = [BASE[part] == level for part, level in zip(frame["part"], frame["level"], strict=True)]
    labels = [_bold(LABELS[level]) if is_base else LABELS[level] for level, is_base in zip(frame["level"], base, strict=True)]
    axes.set_yticks(np.arange(len(labels)) + 0.5, labels, rotation=0)
    axes.tick_params(length=0)
    ends = np.cumsum([int((frame["part"] == factor).sum()) for factor in FACTORS])
    for end in ends[:-1]:
        axes.axhline(end, color="0.15", linewidth=1.0)


def _bold(text: str) -> str:
    """Bold type, which the font of the figures has in formulas only."""
    return r"$\mathbf{" + text.replace(" ", r"\ ") + "}$"


def _factor(value: float) -> str:
    """A factor in two digits."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}".replace(",", r"$\,$") if rounded >= 10 else f"{rounded:g}"
