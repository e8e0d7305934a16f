"""Figure of the energy of bodies that collide, over the time step in units of the contact time."""

from itertools import cycle
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from polhode.fits import contact_law as analysis
from polhode.fits.seed_statistics import median
from polhode_study.chapters.contacts import frames
from polhode_study.chapters.many_body.frames import NEAR
from polhode_study.inputs import Inputs
from polhode_study.report import style
from polhode_study.report.drawing import legend_below_styles, looks_of, new_figure, panel_title, printable
from polhode_study.report.formats import enumerated, labels_of

#: Markers of the scenes, in their order.
MARKERS = "osD^vPX*"
#: Their colours, in turn: seaborn's palette for the colour-blind. Importing seaborn takes longer than drawing.
COLOURS = style.TEN

#: The range of methods that err alike.
RANGE = style.RULE


def contact_law(inputs: Inputs) -> Figure:
    """A figure of the error over sqrt(N/n) (a) of SPIRAL in all scenes, with the law, and (b) of all methods in all scenes.

    Methods whose errors are within a factor :data:`NEAR` of SPIRAL's would coincide with it: their common range is drawn.
    """
    scenes = frames.scenes(inputs)
    figure = new_figure((style.TEXT_WIDTH, 3.5))
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    called = analysis.names_with_states(scenes)
    for (name, data), marker, colour in zip(scenes.items(), cycle(MARKERS), cycle(COLOURS)):
        if analysis.LEADING in data["integrator"].values:
            _curve(left, data, analysis.LEADING, bars=True, marker=marker, color=colour, label=printable(called[name]))
    _band(left, scenes)
    panel_title(left, "a", "one law for the leapfrog SPIRAL")
    labels = _labels(scenes)
    looks = looks_of(inputs, list(labels)) if labels else {}
    alike = [key for key in labels if key != analysis.LEADING and _alike(scenes, key)]
    _range(right, scenes, alike)
    for data, marker in zip(scenes.values(), cycle(MARKERS)):
        for method in (key for key in map(str, data["integrator"].values) if key in labels and key not in alike):
            look = {**looks.get(method, {}), "marker": "" if method == analysis.LEADING else marker, "linewidth": style.LINE}
            _curve(right, data, method, bars=False, **look)
    panel_title(right, "b", "all methods, a line for each scene")
    for axes in (left, right):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(r"time step $\Delta t/T_\mathrm{c}$")
        axes.axvline(analysis.SHOWN, color=style.RULE, linewidth=style.FINE, zorder=0)
    left.set_ylabel(r"mean energy error $|\Delta E|/E_0$ over $\sqrt{N_\mathrm{c}/N_\mathrm{b}}$")
    _limit(left, scenes)
    left.legend(loc="upper left", fontsize=style.LABEL)
    drawn = {key: {**looks[key], "marker": "", "linewidth": style.BOLD} for key in labels if key in looks and key not in alike}
    named = {key: labels[key] for key in drawn}
    if alike:
        named[""] = f"range of {enumerated(labels[key] for key in alike)}"
        drawn[""] = {"color": RANGE, "linewidth": 6}
    legend_below_styles(figure, named, drawn, 4)
    return figure


def _labels(scenes: dict[str, xr.Dataset]) -> dict[str, str]:
    """Labels of the methods that more than one scene was run with, or all if there is one scene only."""
    labels = labels_of(*scenes.values())
    common = [key for key in labels if sum(key in data["integrator"].values for data in scenes.values()) > 1]
    return {key: labels[key] for key in common or labels}


def _medians(data: xr.Dataset, method: str) -> tuple[np.ndarray, np.ndarray]:
    """Steps and median reduced errors of a method that was run, in logarithms; without those that blew up."""
    step, error = analysis.relative_steps(data), np.median(analysis.reduced_errors(data, method), axis=1)
    drawable = np.isfinite(error) & (error > 0)
    return np.log(step[drawable]), np.log(error[drawable])


def _alike(scenes: dict[str, xr.Dataset], method: str) -> bool:
    """Whether the errors of a method are near SPIRAL's at every step of every scene that has both."""
    for data in scenes.values():
        if {method, analysis.LEADING} <= set(map(str, data["integrator"].values)):
            (step, error), (steps, errors) = _medians(data, method), _medians(data, analysis.LEADING)
            if np.abs(error - np.interp(step, steps, errors)).max(initial=0.0) > np.log(NEAR):
                return False
    return True


def _range(axes: Axes, scenes: dict[str, xr.Dataset], methods: list[str]) -> None:
    """Shade from the smallest to the largest error of some methods over all scenes."""
    step = np.linspace(np.log(1e-3), np.log(0.3), 200)
    runs = [_medians(data, key) for data in scenes.values() for key in methods if key in data["integrator"].values]
    errors = [np.interp(step, *run, left=np.nan, right=np.nan) for run in runs if len(run[0])]
    if not errors:
        return
    known = np.isfinite(errors).any(axis=0)
    low, high = (np.exp(end(np.array(errors)[:, known], axis=0)) for end in (np.nanmin, np.nanmax))
    axes.fill_between(np.exp(step[known]), low, high, color=RANGE, linewidth=0, zorder=0)


def _curve(axes: Axes, data: xr.Dataset, method: str, *, bars: bool, **look: Any) -> None:
    step, error = analysis.relative_steps(data), analysis.reduced_errors(data, method)
    estimates = [median(row) for row in error]
    value, low, high = (np.array([getattr(e, name) for e in estimates]) for name in ("value", "low", "high"))
    drawable = np.isfinite(value) & (value > 0)
    axes.plot(step[drawable], value[drawable], **look)
    if bars:
        shown = drawable & np.isfinite(high) & (low > 0)
        axes.vlines(step[shown], low[shown], high[shown], color=look["color"], linewidth=style.FINE)


def _band(axes: Axes, scenes: dict[str, xr.Dataset]) -> None:
    middle, least, most = analysis.law(scenes)
    if not np.isfinite(middle):
        return
    step = np.geomspace(1e-3, 0.3, 50)
    axes.fill_between(step, least * step**2.5, most * step**2.5, color=style.SHADE, zorder=0)
    axes.plot(step, middle * step**2.5, color=style.GUIDE, linewidth=style.LINE, zorder=1)
    handle = Line2D(
        [], [], color=style.GUIDE, linewidth=style.LINE, label=rf"${middle:.2g}\,(\Delta t/T_\mathrm{{c}})^{{5/2}}$"
    )
    axes.add_line(handle)


def _limit(axes: Axes, scenes: dict[str, xr.Dataset]) -> None:
    steps = np.concatenate([analysis.relative_steps(data) for data in scenes.values()])
    axes.set_xlim(0.8 * steps.min(), 1.3 * steps.max())
    axes.set_ylim(1e-8, 3.0)
