"""The figures of del Valle et al. (2024), repeated, and related figures: one function each."""

import numpy as np
from matplotlib.figure import Figure

from polhode_study.inputs import Inputs
from polhode_study.report import style
from polhode_study.report.drawing import (
    TIME,
    available,
    curves,
    errors_against_step,
    errors_against_time,
    legend_below,
    limits,
    log_error_axis,
    looks_of,
    new_figure,
    note,
)
from polhode_study.report.selection import PUBLISHED_SET

#: The methods of their appendix A, and the hybrid found in their data.
SPIRAL_VARIANTS = ("spiral_leapfrog", "spiral_synchronous", "omelyan1998", "spiral_omelyan")

#: Methods as described by their originators, each followed by the published variant.
ORIGINATORS = (
    "verlet",
    "verlet_delvalle2024",
    "fincham1992",
    "fincham1992_delvalle2024",
    "buss2000",
    "buss2000_delvalle2024",
    "johnson2008",
    "johnson2008_delvalle2024",
    "pfc4",
    "pfc4_delvalle2024",
)

#: Half a unit of the last of four printed digits, relative to the smallest number with four digits.
PRINTED_ROUNDING = 5e-4


def error_vs_dt(inputs: Inputs) -> Figure:
    """A figure of errors of q and omega after 1 s against dt, with plug-ins: del Valle et al. (2024), Fig. 2."""
    keys = available(inputs.errors, PUBLISHED_SET, inputs.plugins)
    return errors_against_step(inputs, keys, "stored_omega_error_l1", (1, 2, 3, 4), 3)


def error_vs_time(inputs: Inputs) -> Figure:
    """A figure of errors of q and omega against time at a small dt, with plug-ins: del Valle et al. (2024), Fig. 3."""
    keys = available(inputs.long_run, PUBLISHED_SET, inputs.plugins)
    return errors_against_time(inputs, keys, "stored_omega_error_l1", 3)


def spiral_variants_vs_dt(inputs: Inputs) -> Figure:
    """A figure of both SPIRAL forms, Omelyan's method, hybrid and plug-ins against dt: del Valle et al. (2024), Fig. A.8."""
    keys = available(inputs.errors, SPIRAL_VARIANTS, inputs.plugins)
    return errors_against_step(inputs, keys, "stored_omega_error_l1", (2, 3), 4)


def spiral_variants_vs_time(inputs: Inputs) -> Figure:
    """A figure of both SPIRAL forms, Omelyan's method, hybrid and plug-ins over time: del Valle et al. (2024), Fig. A.9."""
    keys = available(inputs.long_run, SPIRAL_VARIANTS, inputs.plugins)
    return errors_against_time(inputs, keys, "stored_omega_error_l1", 4)


def originators_vs_published(inputs: Inputs) -> Figure:
    """A figure of methods as described by their originators and of the published variants, q and omega at the same time."""
    keys = available(inputs.errors, ORIGINATORS, inputs.plugins)
    return errors_against_step(inputs, keys, "omega_error_l1", (1, 2), 2)


def norm_drift(inputs: Inputs) -> Figure:
    """A figure of | |q| - 1 | against time in the long run, for the methods that do not normalise."""
    data = inputs.long_run
    keys = [key for key in map(str, data["integrator"].values) if not inputs.declared(key, "normalises", True)]
    looks = looks_of(inputs, keys)
    if "exact_rotor" in looks:
        # The only other line of its colour stands apart as well.
        looks["exact_rotor"] = {**looks["exact_rotor"], "linestyle": (0, (4, 1.6))}
    figure = new_figure((style.TEXT_WIDTH, 2.6 + 0.15 * -(-len(keys) // 3)))
    axes = figure.subplots()
    time = data["time"].values
    later = time > 0
    drifts = {key: data["norm_error"].sel(integrator=key).values[later] for key in keys}
    curves(axes, {key: (time[later], drift) for key, drift in drifts.items()}, looks, 12)
    axes.axhline(2.0**-53, **style.GUIDES, linestyle=":")
    note(axes, "half a unit in the last place of 1", (time.max(), 2.0**-53), (-4, -7), ha="right")
    low, high = limits(data["norm_error"].sel(integrator=keys).isel(time=later).values, np.array([2e-17]))
    axes.set_xlim(0, time.max())
    log_error_axis(axes, low, high)
    axes.set_xlabel(TIME)
    axes.set_ylabel(r"$|\,|q|-1\,|$")
    legend_below(figure, inputs, keys, looks, 3)
    return figure
