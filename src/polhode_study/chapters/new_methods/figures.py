"""Figure of the errors of the new methods against those of the best others."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from polhode_study.chapters.new_methods import frames
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import selection, style
from polhode_study.report.drawing import (
    CEILING,
    FLOOR,
    curves,
    legend_below_styles,
    log_error_axis,
    new_figure,
    panel_title,
    styles_of,
)

#: Classes of torque of the panels.
PANELS = ("constant", "state", "velocity")
#: Methods left out of the figure, where their lines lie on that of SPIRAL with a predicted angular velocity.
COINCIDE = ("spiral_predicted_last", "spiral_kdk")


def new_methods(inputs: Inputs) -> Figure:
    """A figure of the orientation error at the end against the number of steps, for three classes of torque."""
    problems = {name: problem for name, problem in frames.representatives(inputs) if name in PANELS}
    if "velocity" not in problems or not frames.new(inputs):
        raise NotInRun("this run holds no problem with friction, or none of the new methods")
    new = frames.new(inputs)
    keys = [key for key in frames.shown(inputs) if key not in COINCIDE]
    looks = styles_of(inputs, selection.all_methods(inputs))
    figure = new_figure((style.TEXT_WIDTH, 3.5))
    for number, (name, problem) in enumerate(problems.items()):
        axes = figure.add_subplot(1, len(problems), number + 1)
        data = inputs.of(problem).errors
        data = data.isel(dt=(data["dt_set"] == "fit").values)
        steps = float(np.nanmax(data["end_time"].values)) / data["dt"].values
        order = np.argsort(steps)
        present = sorted(set(keys) & set(data["integrator"].values), key=lambda key: (key in new, keys.index(key)))  # new above
        errors = data["angle_error"].sel(integrator=present).transpose("integrator", "dt").values[:, order]
        errors = np.where(errors < CEILING, errors, np.nan)
        # Where lines coincide, the dashes of the new methods and markers at other places let each one show.
        lines = {key: (steps[order], error) for key, error in zip(present, errors, strict=True)}
        curves(axes, lines, looks, 5)
        low, high = np.nanmin(errors, initial=CEILING), np.nanmax(errors, initial=FLOOR)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(10, numticks=8))
        axes.xaxis.set_minor_locator(NullLocator())
        log_error_axis(axes, max(FLOOR, low), high)
        axes.set_xlabel("steps")
        panel_title(axes, "abc"[number], f"{name}: {selection.short_name(inputs, problem)}")
        if number == 0:
            axes.set_ylabel("angle to the exact orientation (rad)")
    legend_below_styles(figure, {key: selection.label(inputs, key) for key in keys}, {key: looks[key] for key in keys}, 4)
    return figure
