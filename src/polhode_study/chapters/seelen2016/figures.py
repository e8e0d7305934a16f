"""The figures of Seelen et al. (2016), repeated."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyArrowPatch

from polhode_study.chapters.seelen2016 import theory
from polhode_study.chapters.seelen2016.frames import (
    COMPARED,
    CYLINDER,
    FREE_TOP,
    LAST_SAMPLES,
    METHODS,
    PAIR,
    SPHERE,
    arrow,
    exact_arrow,
    first_spin_error,
    free_top,
    mean_error,
    mean_slope,
)
from polhode_study.chapters.seelen2016.theory import FreeTop
from polhode_study.inputs import Inputs
from polhode_study.report import style
from polhode_study.report.drawing import (
    COMPONENTS,
    FLOOR,
    TIME,
    available,
    curves,
    decades_below,
    legend_below,
    limits,
    log_error_axis,
    looks_of,
    new_figure,
    panel_title,
    printable,
)

OMEGA = r"angular velocity $\omega$ (rad s$^{-1}$)"


def _looks(inputs: Inputs, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Styles of these methods; dashed lines lie above others, so that two coinciding lines are both visible."""
    looks = looks_of(inputs, keys)
    return {
        key: {**look, "zorder": 2.0 if look["linestyle"] == "-" else 2.2, "markersize": 4.6 if key in style.DASHES else 3.8}
        for key, look in looks.items()
    }


def seelen2016_free_top(inputs: Inputs) -> Figure:
    """A figure of the angular velocity of the free symmetric top, and of its energy error with the prediction: Fig. 1."""
    inputs = inputs.of(FREE_TOP)
    data = inputs.long_run
    keys = available(data, COMPARED)
    looks = _looks(inputs, keys)
    top = free_top(inputs)
    figure = new_figure(style.TWO_PANELS)
    left, right = figure.subplots(1, 2)
    _folded(left, inputs, keys, top)
    _energy(right, inputs, keys, top)
    handles = [Line2D([], [], label=printable(inputs.label(key)), **{**looks[key], "linestyle": "none"}) for key in keys]
    handles += [Line2D([], [], **style.INK, label="predicted")]
    handles += [Line2D([], [], color=c, linestyle=d, label=rf"$\omega_{n}$, exact") for n, c, d in COMPONENTS]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, columnspacing=1.4)
    return figure


def _folded(axes: Axes, inputs: Inputs, keys: Sequence[str], top: FreeTop) -> None:
    """Draw one period of the exact angular velocity, and the last samples of the run shifted back by whole periods."""
    data, looks = inputs.long_run, _looks(inputs, keys)
    period = 2 * np.pi / abs(theory.precession_rate(top))
    fine = np.linspace(0, period, 121)
    exact = theory.exact_omega(top, fine)
    time = data["time"].values[-LAST_SAMPLES:]
    for i, (_, colour, dashes) in enumerate(COMPONENTS):
        axes.plot(fine, exact[:, i], color=colour, linestyle=dashes)
        for key in keys:
            computed = data["omega"].sel(integrator=key).values[-LAST_SAMPLES:, i]
            axes.plot(time % period, computed, **{**looks[key], "linestyle": "none"})
    axes.set_xlim(0, period)
    axes.set_xlabel("time within the period (s)")
    axes.set_ylabel(OMEGA)
    panel_title(axes, "a", f"the last {len(time)} samples, up to {time[-1]:g} s")


def _energy(axes: Axes, inputs: Inputs, keys: Sequence[str], top: FreeTop) -> None:
    """Draw the drift of the energy over the run, computed and in closed form."""
    data, looks = inputs.long_run, _looks(inputs, keys)
    later = data["time"].values > 0
    time = data["time"].values[later]
    dt = float(data.attrs["dt"])
    # A few samples are enough: the prediction is the line.
    shown = np.unique(np.rint(np.geomspace(1, len(time), 24)).astype(int)) - 1
    fine = np.geomspace(max(dt, time[0] / 25), time[-1], 400)
    values = []
    for key in keys:
        error = data["energy_drift"].sel(integrator=key).values[later]
        axes.plot(fine, theory.energy_error(top, key, dt, fine), **style.INK, zorder=1)
        axes.plot(time[shown], np.maximum(error[shown], FLOOR), **{**looks[key], "linestyle": "none"})
        values.append(error[shown])
    axes.set_xscale("log")
    axes.set_xlim(fine[0], fine[-1] * 1.3)
    log_error_axis(axes, *limits(*values))
    axes.set_xlabel(TIME)
    axes.set_ylabel("relative error of the kinetic energy")
    panel_title(axes, "b", rf"$\Delta t={dt:g}$ s")


def seelen2016_sphere(inputs: Inputs) -> Figure:
    """A figure of the arrow on the sphere, and of the errors of angular velocity and cosine against time: Fig. 2."""
    inputs = inputs.of(SPHERE)
    data = inputs.long_run
    keys = available(data, METHODS)
    looks = _looks(inputs, keys)
    figure = new_figure((style.TEXT_WIDTH, 3.2))
    panels = figure.subplots(1, 3)
    time = data["time"].values
    fine = np.linspace(0, time[-1], 801)
    exact = exact_arrow(inputs, fine)
    for i, (name, colour, dashes) in enumerate(COMPONENTS):
        panels[0].plot(fine, exact[:, i], color=colour, linestyle=dashes, linewidth=style.FINE, label=f"${name}$")
    panels[0].set_ylim(-1.1, 1.6)
    panels[0].set_yticks([-1, -0.5, 0, 0.5, 1])
    panels[0].set_ylabel("arrow in the lab")
    panels[0].legend(loc="upper center", ncols=3, handlelength=1.7, columnspacing=0.8, handletextpad=0.4)
    true_omega, true_cosine = data["exact_omega"].values[:, 1], arrow(data["exact_q"].values)[:, 0]
    later = time > 0
    quantities: tuple[Callable[[str], np.ndarray], ...] = (
        lambda key: np.abs(data["omega"].sel(integrator=key).values[later, 1] / true_omega[later] - 1),
        lambda key: np.abs(arrow(data["q"].sel(integrator=key).values)[later, 0] - true_cosine[later]),
    )
    titles = (r"relative error of $\omega_y$", "absolute error of the cosine")
    for axes, quantity, title in zip(panels[1:], quantities, titles, strict=True):
        curves(axes, {key: (time[later], quantity(key)) for key in keys}, looks, 7)
        log_error_axis(axes, *limits(*(quantity(key) for key in keys)))
        axes.set_ylabel(title)
    for axes, letter in zip(panels, "abc", strict=True):
        axes.set_xlim(0, time[-1])
        axes.set_xlabel(TIME)
        panel_title(axes, letter, "")
    legend_below(figure, inputs, keys, looks, 2)
    return figure


def seelen2016_forced_cylinder(inputs: Inputs) -> Figure:
    """A figure of the angular velocity of the forced cylinder, and of two time averages of the error against 1/dt: Fig. 3."""
    inputs = inputs.of(CYLINDER)
    keys = available(inputs.errors, METHODS)
    looks = _looks(inputs, keys)
    figure = new_figure((style.TEXT_WIDTH, 3.5))
    left, middle, right = figure.subplots(1, 3, width_ratios=(0.85, 1, 1))
    data = inputs.long_run
    for i, (name, colour, dashes) in enumerate(COMPONENTS):
        left.plot(data["time"], data["exact_omega"].values[:, i], color=colour, linestyle=dashes, label=rf"$\omega_{name}$")
    left.set_xlim(0, float(data["time"][-1]))
    left.set_xlabel(TIME)
    left.set_ylabel(OMEGA)
    left.legend(loc="upper left", handlelength=1.8)
    panel_title(left, "a", "reference")
    names = ("inclination_error_mean", "angle_error_mean")
    drawn = {name: {key: mean_error(inputs, key, name) for key in keys} for name in names}
    low, high = limits(*(error for curves in drawn.values() for _, error in curves.values()))
    for axes, name, letter, title in zip((middle, right), names, "bc", ("inclination", "angle of rotation"), strict=True):
        curves(axes, {key: (1 / dt, error) for key, (dt, error) in drawn[name].items()}, looks)
        finest = max((1 / dt.min() for dt, _ in drawn[name].values()), default=1e8)
        decades_below(axes, np.array([10**2.7, finest * 2]), 1.0)
        log_error_axis(axes, low, high)
        axes.set_xlabel(r"$1/\Delta t$ (s$^{-1}$)")
        panel_title(axes, letter, title)
        _slopes(axes, inputs, name)
    middle.set_ylabel("mean error over time (rad)")
    legend_below(figure, inputs, keys, looks, 2)
    return figure


def _slopes(axes: Axes, inputs: Inputs, name: str) -> None:
    """Draw the fitted slopes of the two methods compared in the publication, below their curves."""
    # One label at the finest step, the other half-way along, where they overlap nothing.
    for key, fraction in zip(COMPARED, (0.0, 0.5), strict=True):
        if key not in inputs.errors["integrator"].values:
            continue
        dt, error = mean_error(inputs, key, name)
        fit = mean_slope(inputs, key, name)
        row = int(len(dt) * fraction)
        if np.isfinite(fit.order) and error[row] > 0:
            place = (1 / dt[row], error[row])
            shift: Any = {"xytext": (-5, -4), "textcoords": "offset points", "ha": "right", "va": "top"}
            colour = _looks(inputs, [key])[key]["color"]
            axes.annotate(f"slope $-{fit.order:.3f}$", place, fontsize=style.NOTE, color=colour, **shift)


def seelen2016_coupled_cylinders(inputs: Inputs) -> Figure:
    """A figure of the two cylinders, their angular velocities, and the relative error of the first: Figs. 4 and 5."""
    inputs = inputs.of(PAIR)
    data = inputs.long_run
    keys = available(data, METHODS)
    looks = _looks(inputs, keys)
    figure = new_figure((style.TEXT_WIDTH, 3.15))
    sketch, left, right = figure.subplots(1, 3, width_ratios=(0.75, 1, 1.1))
    _sketch(sketch, inputs.setup["parameters"])
    time = data["time"].values
    marks = max(1, len(time) // 12)
    exact = data["exact_omega"].values[:, :, 0]
    for body, dashes in ((0, "-"), (1, (0, (5, 1.5)))):
        left.plot(time, exact[:, body], color=style.DARK, linestyle=dashes, label=rf"$\omega_{body + 1}$, exact")
        for number, key in enumerate(available(data, COMPARED)):
            computed = data["omega"].sel(integrator=key).values[:, body, 0]
            every = slice(number * marks // 2, None, marks)
            left.plot(time[every], computed[every], **{**looks[key], "linestyle": "none"})
    left.axhline(0, color=style.RULE, linewidth=style.HAIR, zorder=0)
    left.set_ylabel(OMEGA)
    left.legend(loc="upper right", handlelength=2.2)
    errors = {key: first_spin_error(inputs, key)[1:] for key in keys}
    curves(right, {key: (time[1:], error) for key, error in errors.items()}, looks, 12)
    log_error_axis(right, *limits(*errors.values()))
    right.set_ylabel(r"relative error of $\omega_1$")
    for axes, letter in ((left, "b"), (right, "c")):
        axes.set_xlim(0, time[-1])
        axes.set_xlabel(TIME)
        panel_title(axes, letter, "")
    legend_below(figure, inputs, keys, looks, 2)
    return figure


def _sketch(axes: Axes, parameters: Mapping[str, float]) -> None:
    """Draw the two cylinders seen along their axes, each with its radius and the sense of its initial spin."""
    axes.set_aspect("equal")
    axes.set_anchor("N")
    axes.set_axis_off()
    panel_title(axes, "a", "")
    radii = [parameters[f"R{i + 1}"] for i in range(2)]
    # They touch: the distance of their axes is the sum of their radii.
    for i, (radius, y) in enumerate(zip(radii, (0.0, sum(radii)), strict=True)):
        axes.add_patch(Circle((y, 0), radius, facecolor=style.SHADE, edgecolor=style.DARK, linewidth=style.FINE))
        axes.plot([y], [0], "o", color=style.DARK, markersize=2.5)
        reach, turned = 0.62 * radius, np.radians((20, 160))
        ends = [(y + reach * np.cos(angle), reach * np.sin(angle)) for angle in turned]
        curved: Any = {"arrowstyle": "-|>", "mutation_scale": 8, "color": style.NAVY, "linewidth": style.LINE}
        axes.add_patch(FancyArrowPatch(ends[0], ends[1], connectionstyle="arc3,rad=0.45", **curved))
        axes.text(y, radius * 1.05, rf"$\omega_{i + 1}$", ha="center", va="bottom", fontsize=style.KEY)
        axes.plot([y, y], [0, -radius], **style.INK)
        axes.text(y + 0.06, -radius * 0.5, rf"$R_{i + 1}$", ha="left", va="center", fontsize=style.KEY)
    axes.set_xlim(-radii[0] - 0.1, sum(radii) + radii[1] + 0.1)
    axes.set_ylim(-1.3 * radii[1], 1.3 * radii[1])
