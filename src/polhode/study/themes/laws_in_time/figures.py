"""Map of the fastest method over the error and the price of a torque."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy import ndimage

from polhode.fits import laws
from polhode.study.analysis.law_frames import EnsembleLaws
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report import style
from polhode.study.report.drawing import new_figure, panel_title, printable
from polhode.study.themes.laws_in_time import analysis

#: The part of a method's colour in its cells: more if bodies tell it from all others.
LIGHT, STRONG = 0.22, 0.5
#: Characters of a name for which a cell has room.
ROOM = 6


def slowdown_map(inputs: Inputs) -> Figure:
    """A map of the fastest of all methods for a given error per radian, over that error and the price of a torque."""
    ens, times = analysis.read(inputs)
    situations = analysis.mapped(ens)
    if not situations:
        raise NotInRun("the ensembles of this run have no torque")
    looks = style.styles(ens.methods, dict(zip(ens.methods, ens.declared("variant_of", ""), strict=True)))
    figure = new_figure((style.TEXT_WIDTH, 3.0))
    panels: Any = figure.subplots(1, len(situations), sharey=True, squeeze=False)
    for axes, situation, letter in zip(panels[0], situations, "abc", strict=False):
        found = analysis.fastest(ens, times, situation)
        _map(axes, found.best, found.apart, ens, looks)
        panel_title(axes, letter, situation.label)
        axes.set_xlabel("error per radian")
    panels[0, 0].set_yticks(np.arange(len(analysis.MAP_PRICES)) + 0.5, [f"{price:g}" for price in analysis.MAP_PRICES])
    panels[0, 0].set_ylabel("price of a torque\n(steps of direct Euler)")
    return figure


def _map(axes: Axes, best: np.ndarray, apart: np.ndarray, ens: EnsembleLaws, looks: dict[str, dict[str, Any]]) -> None:
    """Draw the cells of a panel in the colours of the best methods, with a name in each connected region."""
    rows, columns = best.shape
    for i in range(rows):
        for j in range(columns):
            if best[i, j] < 0:
                none: Any = {"facecolor": "white", "edgecolor": "0.8", "hatch": "////", "linewidth": 0}
                axes.add_patch(Rectangle((j, i), 1, 1, **none))
                continue
            colour = to_rgb(looks[ens.methods[best[i, j]]]["color"])
            share = STRONG if apart[i, j] else LIGHT
            mixed = tuple(1 - share * (1 - x) for x in colour)
            axes.add_patch(Rectangle((j, i), 1, 1, facecolor=mixed, edgecolor="white", linewidth=0.4))
            for (di, dj), xs, ys in (((0, 1), (j + 1, j + 1), (i, i + 1)), ((1, 0), (j, j + 1), (i + 1, i + 1))):
                if i + di < rows and j + dj < columns and best[i + di, j + dj] != best[i, j]:
                    axes.plot(xs, ys, color="black", linewidth=1.2, solid_capstyle="projecting", zorder=3)
    names = ens.declared("short_label", "")
    for key in np.unique(best[best >= 0]):
        regions, count = ndimage.label(best == key)
        for region in range(1, count + 1):
            inside = regions == region
            x, y, length = _longest_run(inside)
            text = ens.label(ens.methods[key])
            if len(text) > ROOM * length:
                text = (str(names[key]) or text).replace(" ", "\n").replace("-", "-\n")
            box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0}
            lines = "\n".join(printable(line) for line in text.split("\n"))
            axes.text(x, y, lines, fontsize=6.8, ha="center", va="center", zorder=4, bbox=box, linespacing=1.0)
    axes.set_xlim(0, columns)
    axes.set_ylim(0, rows)
    axes.set_xticks(np.arange(columns) + 0.5, [rf"$10^{{{round(np.log10(t))}}}$" for t in laws.TARGETS])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _longest_run(inside: np.ndarray) -> tuple[float, float, int]:
    """The centre and the length of the longest run of cells in a row of a region; of several, the middle one."""
    runs = []
    for i, row in enumerate(inside):
        labels, count = ndimage.label(row)
        for number in range(1, count + 1):
            at = np.flatnonzero(labels == number)
            runs.append((len(at), i, float(at.mean()) + 0.5))
    longest = [run for run in runs if run[0] == max(runs)[0]]
    length, row, x = longest[len(longest) // 2]
    return x, row + 0.5, length
