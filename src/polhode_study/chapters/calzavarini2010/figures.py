"""Effects of the misprints of the note, and torques that depend on the angular velocity."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from polhode_study.inputs import Inputs
from polhode_study.report import selection, style
from polhode_study.report.drawing import (
    CEILING,
    OMEGA_ERROR,
    Q_ERROR,
    STEP,
    curves,
    decades_below,
    error_panels,
    legend_below_styles,
    limits,
    log_error_axis,
    new_figure,
    panel_title,
    slope_guides,
    styles_of,
)

#: The methods shown with the two options of the note, on the problem on which they are compared.
COMPARED = (
    "calzavarini2010",
    "calzavarini2010_mean",
    "fincham1992",
    "pcdm2016",
    "pcdm2013_mid",
    "pcdm2013_lag",
    "spiral_leapfrog",
    "omelyan1998",
    "verlet",
    "no_squish",
    "johnson2008",
)

#: Panels for the misprints: problem, quantity, axis label, title.
MISPRINT_PANELS: tuple[tuple[str, str, str, str], ...] = (
    ("asymmetric_heavy_top", "q", Q_ERROR, "heavy top"),
    ("damped_top", "omega", OMEGA_ERROR, "damped top"),
    ("sinking_propeller", "v", "relative error of velocity", "sinking propeller"),
)

#: Short names of the variants of the note, with colour, marker and dashes.
MISPRINTS: dict[str, tuple[str, str, Any, Any]] = {
    "corrected": ("corrected", style.BROWN, (4, 1, 0), "-"),
    "a13": (r"$A_{13}$", style.BLUE, "<", "-"),
    "a21": (r"$A_{21}$", style.SKY, "v", "-"),
    "a32": (r"$A_{32}$", style.GREEN, ">", "-"),
    "matrix": (r"all of $A$", style.INDIGO, "s", (0, (4, 1.6))),
    "old_omega": (r"$\omega^b$ in $\omega=A^T\omega^b$", style.PURPLE, "o", "-"),
    "omega_sum": ("sign in Eq. 10", style.VERMILION, "^", "-"),
    "velocity_sum": ("sign in Eq. 9", style.ORANGE, "D", (0, (4, 1.6))),
    "divided_twice": ("$a/m$ in Eq. 1", style.MOSS, "p", (0, (1.5, 1.2))),
    "as_printed": ("all as printed", style.BLACK, "X", "-"),
}


def velocity_torque(inputs: Inputs) -> Figure:
    """A figure of the errors of q and omega against dt under friction: both options of the note, with other methods."""
    data = inputs.of(selection.FRICTION).errors
    keys = [key for key in (*COMPARED, *inputs.plugins) if key in data["integrator"].values]
    looks = styles_of(inputs, selection.all_methods(inputs))
    figure, panels = error_panels(data.sortby("dt"), keys, looks, "omega_error_l1", "dt", 9)
    for axes in panels:
        decades_below(axes, data["dt"].values)
        low, high = axes.get_ylim()
        log_error_axis(axes, max(low, 1e-12), high)
        axes.set_xlabel(STEP)
        slope_guides(axes, (1, 2))
    legend_below_styles(figure, {key: selection.label(inputs, key) for key in keys}, looks, 3)
    return figure


def note_misprints(inputs: Inputs) -> Figure:
    """A figure of the errors against dt with each misprint of the note restored alone, on three problems."""
    data = inputs.check("note_corrections")
    present = [str(v) for v in data["variant"].values]
    names = "color", "marker", "linestyle"
    looks = {variant: dict(zip(names, MISPRINTS[variant][1:], strict=True)) for variant in present}
    shown = [panel for panel in MISPRINT_PANELS if panel[0] in data["problem"].values and panel[1] in data["quantity"].values]
    figure = new_figure((style.TEXT_WIDTH, 2.9))
    panels = np.atleast_1d(figure.subplots(1, max(1, len(shown)), sharey=True))
    low, high = limits(*(data["error"].sel({"problem": p, "quantity": q}).values for p, q, _, _ in shown))
    for axes, (problem, quantity, text, title), letter in zip(panels, shown, "abc", strict=False):
        chosen = data.sel({"problem": problem, "quantity": quantity})
        dt = np.asarray(chosen["dt"].values, float)
        errors = {variant: chosen["error"].sel({"variant": variant}).values for variant in present}
        # Errors of lost motion are drawn at the edge, to remain visible.
        lines = {variant: (dt, np.minimum(error, CEILING / 1.2)) for variant, error in errors.items()}
        curves(axes, lines, looks, markersize=3.4)
        decades_below(axes, dt)
        log_error_axis(axes, low, high)
        axes.set_xlabel(STEP)
        slope_guides(axes, (1, 2))
        axes.set_ylabel(text)
        panel_title(axes, letter, title)
    handles = [Line2D([], [], label=MISPRINTS[variant][0], **look) for variant, look in looks.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, handlelength=2.2, columnspacing=1.2)
    return figure
