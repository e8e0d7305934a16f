"""Figure of the parts of a method: which of them decides, and what an exchange of one costs."""

from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from polhode.study.inputs import Inputs
from polhode.study.report import style
from polhode.study.report.drawing import new_figure, panel_title, printable
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
    """A figure of the share of each part in the variance of the error, over random bodies, and of the factor by which an
    exchange changes the error, on problems."""
    error = analysis.errors(inputs)
    classes = [str(name) for name in error["torque_class"].values]
    figure = new_figure((style.TEXT_WIDTH, 6.4))
    above, below = figure.subplots(2, 1, height_ratios=(1.2, 2.7))
    _shares(above, analysis.errors_over_bodies(inputs))
    _exchanges(below, error, classes)
    handles = [Patch(facecolor=COLOURS[name], hatch=HATCHES[name], label=NAMES[name], **EDGE) for name in NAMES]
    figure.legend(handles=handles, loc="outside upper right", ncols=len(handles), handlelength=1.6, columnspacing=1.4)
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
    panel_title(axes, "a", "share of each part on random bodies")


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
    panel_title(axes, "b", "one part exchanged")


def _bold(text: str) -> str:
    """Bold type, which the font of the figures has in formulas only."""
    return r"$\mathbf{" + text.replace(" ", r"\ ") + "}$"


def _factor(value: float) -> str:
    """A factor in two digits."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}".replace(",", r"$\,$") if rounded >= 10 else f"{rounded:g}"
