"""Maps of the best method over two quantities: cells in the colours of the methods, with a name in each connected region."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from scipy import ndimage

from polhode_study.report import style
from polhode_study.report.drawing import printable


def tint(colour: str, share: float) -> tuple[float, float, float]:
    """A colour mixed with white, so that black text stands out."""
    red, green, blue = (1 - share * (1 - x) for x in to_rgb(colour))
    return red, green, blue


def cell(axes: Axes, x: float, y: float, colour: str, share: float, hatched: bool = False) -> None:
    """A cell in the colour of its method, with thin white edges."""
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=tint(colour, share), edgecolor="white", linewidth=style.HAIR))
    if hatched:
        look: Any = {"facecolor": "none", "edgecolor": (1, 1, 1, 0.45), "hatch": "////", "linewidth": 0}
        axes.add_patch(Rectangle((x, y), 1, 1, **look))


def empty_cell(axes: Axes, x: float, y: float) -> None:
    """A cell that no method fills."""
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor="white", edgecolor=style.RULE, hatch="////", linewidth=0))


def borders(axes: Axes, best: np.ndarray, linewidth: float, around_empty: bool = False) -> None:
    """Black lines where the method changes; ``best`` (row, column) has the position of the method, negative where none is."""
    rows, columns = best.shape
    for j, i in np.argwhere(best.T >= 0):
        for (di, dj), xs, ys in (((0, 1), (j + 1, j + 1), (i, i + 1)), ((1, 0), (j, j + 1), (i + 1, i + 1))):
            if i + di >= rows or j + dj >= columns or (best[i + di, j + dj] < 0 and not around_empty):
                continue
            if best[i + di, j + dj] != best[i, j]:
                axes.plot(xs, ys, color="black", linewidth=linewidth, solid_capstyle="projecting", zorder=3)


def regions(best: np.ndarray) -> Iterator[tuple[int, float, float, int]]:
    """The connected regions of a map: the method, the place (x, y) for its name, and how many cells long that is.

    The place is the middle of the longest run of cells in a row; of several, the middle one.
    """
    for method in np.unique(best[best >= 0]):
        labels, count = ndimage.label(best == method)
        for region in range(1, count + 1):
            runs = []
            for row, inside in enumerate(labels == region):
                parts, number = ndimage.label(inside)
                for columns in (np.flatnonzero(parts == run) for run in range(1, number + 1)):
                    runs.append((len(columns), row, float(columns.mean()) + 0.5))
            longest = [run for run in runs if run[0] == max(runs)[0]]
            length, row, x = longest[len(longest) // 2]
            yield int(method), x, row + 0.5, length


def name(axes: Axes, x: float, y: float, text: str, size: float, opacity: float, margin: float) -> None:
    """The name of a region, on one line or several."""
    box = {"facecolor": "white", "edgecolor": "none", "alpha": opacity, "pad": margin}
    lines = "\n".join(printable(line) for line in text.split("\n"))
    axes.text(x, y, lines, fontsize=size, ha="center", va="center", zorder=4, bbox=box, linespacing=1.0)


def error_axes(axes: Axes, targets: np.ndarray, rows: int) -> None:
    """Limits around all cells, a power of ten below each column, no frame."""
    axes.set_xlim(0, len(targets))
    axes.set_ylim(0, rows)
    axes.set_xticks(np.arange(len(targets)) + 0.5, [rf"$10^{{{round(np.log10(t))}}}$" for t in targets])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
