"""Figure of correctors: torques per radian by strength, and what a liquid is read with."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polhode.study.analysis import liquids
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report import style
from polhode.study.report.drawing import legend_below_styles, new_figure, panel_grid, panel_title, ratio_ticks, styles_of
from polhode.study.themes.correctors import analysis
from polhode.study.themes.correctors.analysis import CORRECTED, PLAIN

#: The methods drawn by strength.
DRAWN = (PLAIN, CORRECTED, "rotor_modified_kick", "rotor_gradient4", "magnus_adams4", "cf4", "spiral_leapfrog", "no_squish")
STEP_FS = r"time step $\Delta t$ (fs)"


def correctors(inputs: Inputs) -> Figure:
    """A figure with four panels: two torque classes by strength, the gap of temperatures and the scatter of the energy."""
    tables = {name: analysis.torques(inputs, name) for name in ("state", "lab")}
    keys = [key for key in DRAWN if key in tables["state"]]
    looks = styles_of(inputs, keys)
    figure = new_figure((style.TEXT_WIDTH, 5.4))
    panels = panel_grid(figure, 4, 2)
    for axes, letter, (name, table) in zip(panels, "ab", tables.items(), strict=False):
        panel_title(axes, letter, {"state": "torque of the orientation", "lab": "torque fixed in the lab"}[name])
        for key in keys:
            axes.plot(list(table[key]), list(table[key].values()), **looks[key])
        axes.set(xscale="log", yscale="log", ylim=(analysis.COARSEST / 1.2, 2e3))
        axes.set_xlabel(r"strength of the torque $|M|/(I\Omega^2)$")
        axes.set_ylabel(r"torques per radian for $10^{-4}$")
    for axes, letter, title, draw in zip(
        panels[2:], "cd", ("gap of temperatures in water", "scatter of the energy in water"), (_gap, _scatter), strict=True
    ):
        panel_title(axes, letter, title)
        try:
            draw(axes, inputs)
        except NotInRun:
            axes.text(0.5, 0.5, "not in this run", ha="center", va="center", fontsize="x-small")
    legend_below_styles(figure, {key: inputs.label(key) for key in keys}, looks, 4)
    return figure


def _gap(axes: Axes, inputs: Inputs) -> None:
    looks = styles_of(inputs, [PLAIN, CORRECTED])
    for key in (PLAIN, CORRECTED):
        gaps = liquids.gaps(inputs, "whole", (key,))
        values = np.array([[100 * x for x in (gap.value, gap.low, gap.high)] for gap in gaps.values()]).reshape(-1, 3)
        axes.errorbar(list(gaps), values[:, 0], np.abs(values[:, 1:].T - values[:, 0]), **{**looks[key], "linestyle": "none"})
        if key == PLAIN and gaps:
            last = max(gaps)
            fine = np.linspace(0, last, 100)
            axes.plot(fine, 100 * gaps[last].predicted * (fine / last) ** 2, color=looks[key]["color"], linewidth=0.8)
    axes.axhline(0, color="0.6", linewidth=0.6, zorder=0)
    axes.set_xlim(left=0)
    axes.set_xlabel(STEP_FS)
    axes.set_ylabel(r"$T_\mathrm{rotation}/T_\mathrm{translation}-1$ (%)")


def _scatter(axes: Axes, inputs: Inputs) -> None:
    looks = styles_of(inputs, [PLAIN, CORRECTED])
    for key in (PLAIN, CORRECTED):
        values = analysis.scatter(inputs, key)
        axes.plot(list(values), list(values.values()), **looks[key])
    axes.set(xscale="log", yscale="log")
    low, high = axes.get_xlim()
    ratio_ticks(axes.xaxis, low, high, (1, 2, 3, 4, 5, 6, 8))
    axes.set_xlabel(STEP_FS)
    axes.set_ylabel(r"rms ($kT$ per degree of freedom)")
