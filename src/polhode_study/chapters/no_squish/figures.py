"""Figure of the arbitrary moment of the extended phase space."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator

from polhode_study.inputs import Inputs
from polhode_study.report import style
from polhode_study.report.drawing import FLOOR, TIME, limits, log_error_axis, new_figure, panel_title

#: The moments whose runs are drawn over time, kg m^2, with colour and dashes.
TIMED: tuple[tuple[float, str, object], ...] = (
    (1e-6, style.WINE, "-"),
    (1e-3, style.OLIVE, (0, (5, 1.5))),
    (1.0, style.LEAF, (0, (1.5, 1.2))),
    (1e6, style.STEEL, (0, (6, 1.5, 1.5, 1.5))),
)


def extended_inertia(inputs: Inputs) -> Figure:
    """A figure of the deviation of NO_SQUISH with the fourth flow from that without it, over the arbitrary moment and time."""
    data = inputs.check("extended_inertia")
    moments, time = data["i11"].values, data["time"].values
    angle, norm = data["angle_to_plain"].values, data["norm_error"].values
    figure = new_figure((style.TEXT_WIDTH, 3.1))
    left, right = figure.subplots(1, 2, sharey=True)
    low, high = limits(np.where(angle > 0, angle, np.nan), np.where(norm > 0, norm, np.nan))
    left.plot(moments, np.maximum(np.nanmax(angle, axis=1), FLOOR), color=style.MAGENTA, marker="+", label="angle between both")
    dashed: Any = {"color": style.STEEL, "marker": "s", "linestyle": (0, (4, 1.6))}
    left.plot(moments, np.maximum(np.nanmax(norm, axis=1), FLOOR), **dashed, label=r"$|\,|q|-1\,|$")
    plain = float(np.nanmax(data["plain_norm_error"].values))
    if plain > 0:
        left.axhline(plain, **style.GUIDES, linestyle=":", label=r"$|\,|q|-1\,|$ without that flow")
    left.set_xscale("log")
    left.xaxis.set_major_locator(LogLocator(100, numticks=20))
    left.xaxis.set_minor_locator(NullLocator())
    left.set_xlabel(r"arbitrary moment $I_{11}$ (kg m$^2$)")
    left.set_ylabel(r"largest angle (rad), or of $|\,|q|-1\,|$")
    for moment, colour, dashes in TIMED:
        for row in np.flatnonzero(np.isclose(moments, moment, rtol=1e-6))[:1]:
            label = rf"$10^{{{round(np.log10(moment))}}}$"
            right.plot(time[1:], np.maximum(angle[row, 1:], FLOOR), color=colour, linestyle=dashes, label=label)
    right.set_xlim(0, time[-1])
    right.xaxis.set_major_locator(FixedLocator([0, time[-1] / 2, time[-1]]))
    right.set_xlabel(TIME)
    right.set_ylabel("angle between both (rad)")
    for axes, letter, title in ((left, "a", "against the moment"), (right, "b", "against time")):
        log_error_axis(axes, low, high)
        axes.yaxis.set_tick_params(labelleft=True)
        panel_title(axes, letter, title)
        # Below the axes, because inside it would cover a curve.
        below: Any = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "handlelength": 2.4}
        if axes is left:
            axes.legend(**below)
        else:
            axes.legend(**below, ncols=2, title=r"$I_{11}$ (kg m$^2$)", title_fontsize=style.KEY)
    return figure
