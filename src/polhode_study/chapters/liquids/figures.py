"""Figures of liquids at constant energy: drift over the step, temperatures and cut-offs."""

from collections.abc import Mapping
from contextlib import suppress
from math import isfinite
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from polhode.fits import liquid_drifts
from polhode_study.chapters.liquids import frames
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import style
from polhode_study.report.drawing import (
    drawn_in_turn,
    legend_below_styles,
    log_error_axis,
    new_figure,
    panel_grid,
    printable,
    ratio_ticks,
    styles_of,
)

#: The methods that are drawn, from the least drift.
DRAWN = (
    "exact_rotor",
    "no_squish",
    "dlm1997",
    "moser_veselov",
    "rozmanov2010",
    "verlet",
    "omelyan1998",
    "richardson",
    "spiral_leapfrog",
    "calzavarini2010",
    "buss2000",
    "fincham1992",
    "magnus_adams4",
    "euler",
)
DRIFT = r"$|$drift$|$ ($kT$ per ns and degree of freedom)"
STEP_FS = r"time step $\Delta t$ (fs)"
#: Colours of the laws, from the smoothest, and of the estimators of a temperature, with their names.
LAW_COLOURS = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.85, 4)).tolist()
ESTIMATORS = {"whole": ("whole steps", style.NAVY, "o"), "half": ("half steps", style.RED, "s")}
ESTIMATORS |= {"corrected": ("corrected", style.GOLD, "D")}
#: How light a drift is drawn whose interval has zero in it.
UNDECIDED = 0.4


def liquids(inputs: Inputs) -> Figure:
    """A figure of the drift of several methods over the step."""
    every = liquid_drifts.outcomes(frames.runs(inputs))
    keys = [key for key in dict.fromkeys([*DRAWN, *inputs.plugins]) if key in every]
    looks = styles_of(inputs, keys)
    figure = new_figure((style.TEXT_WIDTH, 3.7))
    axes = figure.subplots()
    for key in keys:
        _drifts(axes, every[key], looks[key])
    _step_axis(axes, sorted({dt for key in keys for dt in every[key]}))
    log_error_axis(axes, 1e-5, 1e4)
    for allowed in frames.ALLOWED:
        axes.axhline(allowed, color=style.RULE, linewidth=style.HAIR, zorder=0)
    axes.set_ylabel(DRIFT)
    with suppress(NotInRun):
        _steps_per_period(axes, frames.period(inputs))
    legend_below_styles(figure, {key: inputs.label(key) for key in keys}, looks, 4)
    return figure


def _drifts(axes: Axes, of_method: Mapping[float, liquid_drifts.MeanDrift], look: Mapping[str, Any]) -> None:
    """|drift| with intervals: hollow for cooling, light where zero is in the interval."""
    shown = [dt for dt, of_step in of_method.items() if of_step.is_shown]
    axes.plot(
        shown,
        [abs(of_method[dt].drift) for dt in shown],
        color=look["color"],
        linestyle=look["linestyle"],
        linewidth=style.FINE,
    )
    for dt, of_step in of_method.items():
        alpha = 1.0 if of_step.is_shown else UNDECIDED
        ends = sorted((abs(of_step.low), abs(of_step.high))) if isfinite(of_step.low) else [abs(of_step.drift)] * 2
        lower = ends[0] if of_step.is_shown else 1e-9
        axes.plot([dt, dt], [lower, ends[1]], color=look["color"], linewidth=style.HAIR, alpha=alpha)
        face = look["color"] if of_step.drift > 0 else "white"
        marker = {name: look[name] for name in ("color", "marker", "markeredgewidth")}
        axes.plot([dt], [abs(of_step.drift)], **marker, markerfacecolor=face, markersize=4.2, alpha=alpha, linestyle="none")


def _step_axis(axes: Axes, steps: list[float]) -> None:
    axes.set_xscale("log")
    axes.set_xlim(steps[0] / 1.1, steps[-1] * 1.1)
    ratio_ticks(axes.xaxis, steps[0], steps[-1], steps)
    axes.set_xlabel(STEP_FS)


def _steps_per_period(axes: Axes, period: float) -> None:
    """A second axis above: steps in the period of the fastest libration."""

    def inverse(x: Any) -> Any:
        return period / np.maximum(x, 1e-9)

    above = axes.secondary_xaxis("top", functions=(inverse, inverse))
    low, high = axes.get_xlim()
    axes.tick_params(top=False, which="both")
    ratio_ticks(above.xaxis, period / high, period / low, (4, 5, 6, 8, 10, 15, 20, 30))
    above.set_xlabel(f"steps in the period of the fastest libration, {period:.0f} fs")


def liquids_more(inputs: Inputs) -> Figure:
    """A figure with two panels: temperatures and cut-offs."""
    figure = new_figure((style.TEXT_WIDTH, 3.2))
    drawings = {"gap of temperatures": _temperatures, "end of the forces": _cutoffs}
    drawn_in_turn(panel_grid(figure, 2, 2), "ab", drawings, inputs)
    return figure


def _temperatures(axes: Axes, inputs: Inputs) -> None:
    for estimator, (name, colour, marker) in ESTIMATORS.items():
        gaps = frames.gaps(inputs, estimator)
        steps = list(gaps)
        values = np.array([[100 * x for x in (gap.value, gap.low, gap.high)] for gap in gaps.values()]).reshape(-1, 3)
        axes.errorbar(
            steps, values[:, 0], np.abs(values[:, 1:].T - values[:, 0]), color=colour, marker=marker, linestyle="none",
            markersize=3.5, linewidth=style.FINE, label=name,
        )  # fmt: skip
        if steps:
            fine = np.linspace(0, max(steps), 100)
            coefficient = 100 * gaps[steps[-1]].predicted / steps[-1] ** 2
            axes.plot(fine, coefficient * fine**2, color=colour, linewidth=style.FINE)
    axes.set_xlabel(STEP_FS)
    axes.set_ylabel(r"$T_r/T_t - 1$ (%)")
    axes.legend(fontsize=style.NOTE, loc="lower left")


def _cutoffs(axes: Axes, inputs: Inputs) -> None:
    data = frames.cutoffs(inputs)
    for i, law in enumerate(map(str, data["law"].values)):
        every = liquid_drifts.outcomes(data.sel(law=law))
        for key, of_method in every.items():
            look = {**styles_of(inputs, [key])[key], "color": LAW_COLOURS[i], "linestyle": "-"}
            _drifts(axes, of_method, look)
        axes.plot([], [], color=LAW_COLOURS[i], label=printable(str(data["law_label"].sel(law=law).values)))
    for key in map(str, data["integrator"].values):
        look = styles_of(inputs, [key])[key]
        axes.plot([], [], color=style.GUIDE, marker=look["marker"], linestyle="none", label=printable(inputs.label(key)))
    _step_axis(axes, sorted(map(float, data["dt"].values)))
    log_error_axis(axes, 1e-9, 1e5)
    axes.set_ylabel(DRIFT, fontsize=style.LABEL)
    over = {"frameon": True, "facecolor": "white", "edgecolor": "none", "framealpha": 0.9}
    axes.legend(fontsize=style.NOTE, loc="lower left", handlelength=1.5, labelspacing=0.3, **over)
