"""Map of the fastest method over the error and the price of a torque."""

from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polhode.fits import laws
from polhode.study.chapters.laws.frames import EnsembleLaws
from polhode.study.chapters.laws_in_time import frames as analysis
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report import maps, style
from polhode.study.report.drawing import new_figure, panel_title

#: The part of a method's colour in its cells: more if bodies tell it from all others.
LIGHT, STRONG = 0.22, 0.5
#: Characters of a name for which a cell has room, with lines of at least so many; the height of a line in cells.
ROOM, WORD, LINE = 6, 9, 0.36


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
        fastest = analysis.fastest(ens, times, situation)
        _map(axes, fastest.best, fastest.apart, ens, looks)
        panel_title(axes, letter, situation.label)
        axes.set_xlabel("error per radian")
    panels[0, 0].set_yticks(np.arange(len(analysis.MAP_PRICES)) + 0.5, [f"{price:g}" for price in analysis.MAP_PRICES])
    panels[0, 0].set_ylabel("price of a torque\n(steps of direct Euler)")
    return figure


def _map(axes: Axes, best: np.ndarray, apart: np.ndarray, ens: EnsembleLaws, looks: dict[str, dict[str, Any]]) -> None:
    """Draw the cells of a panel in the colours of the best methods, with a name in each connected region."""
    for (i, j), method in np.ndenumerate(best):
        if method < 0:
            maps.empty_cell(axes, j, i)
        else:
            maps.cell(axes, j, i, looks[ens.methods[method]]["color"], STRONG if apart[i, j] else LIGHT)
    maps.borders(axes, best, 1.2, around_empty=True)
    names = ens.declared("short_label", "")
    for method, x, y, length in maps.regions(best):
        text = ens.label(ens.methods[method])
        if len(text) > ROOM * length:
            lines = wrap(str(names[method]) or text, max(ROOM * int(length), WORD))
            text, half = "\n".join(lines), LINE * len(lines) / 2
            y = min(max(y, half), len(best) - half)
        maps.name(axes, x, y, text, 6.8, 0.75, 1.0)
    maps.error_axes(axes, np.array(laws.TARGETS), len(best))
