"""The figures of del Valle et al. (2024), drawn again, and what they lead to: one function each."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.ticker import FixedLocator, NullLocator

from polhode.study import style
from polhode.study.comparison import SNAPSHOT_TIME
from polhode.study.figures.drawing import (
    FLOOR,
    available,
    errors_against_step,
    errors_against_time,
    legend_below,
    limits,
    log_error_axis,
    looks_of,
    new_figure,
    panel_title,
)
from polhode.study.inputs import Inputs

#: The methods that the figures of del Valle et al. (2024) compare, in the variants that reproduce their curves.
PUBLISHED_SET = (
    "spiral_leapfrog",
    "omelyan1998",
    "buss2000_delvalle2024",
    "verlet_delvalle2024",
    "fincham1992_delvalle2024",
    "euler",
    "johnson2008_delvalle2024",
    "pfc4_delvalle2024",
    "rk4",
)
#: The methods of their appendix A, and the hybrid found in their data.
SPIRAL_VARIANTS = ("spiral_leapfrog", "spiral_synchronous", "omelyan1998", "spiral_omelyan")
#: Methods as their originators meant them, each followed by the published variant.
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
#: Radius and half height of the cylinder drawn, in cm.
CYLINDER = (5.0, 7.5)
#: Half a unit of the last of four printed digits, relative to the smallest number with four digits.
PRINTED_ROUNDING = 5e-4


def error_vs_dt(inputs: Inputs) -> Figure:
    """Errors of q and omega after one second against dt, published methods and plug-ins: del Valle et al. (2024), Fig. 2."""
    keys = available(inputs.errors, PUBLISHED_SET, inputs.plugins)
    return errors_against_step(inputs, keys, "stored_omega_error_l1", (1, 2, 3, 4), 3)


def error_vs_time(inputs: Inputs) -> Figure:
    """Errors of q and omega against time at one small dt, published methods and plug-ins: del Valle et al. (2024), Fig. 3."""
    keys = available(inputs.long_run, PUBLISHED_SET, inputs.plugins)
    return errors_against_time(inputs, keys, "stored_omega_error_l1", 3)


def spiral_variants_vs_dt(inputs: Inputs) -> Figure:
    """SPIRAL's two forms, Omelyan's method, the hybrid and plug-ins against dt: del Valle et al. (2024), Fig. A.8."""
    keys = available(inputs.errors, SPIRAL_VARIANTS, inputs.plugins)
    return errors_against_step(inputs, keys, "stored_omega_error_l1", (2, 3), 4)


def spiral_variants_vs_time(inputs: Inputs) -> Figure:
    """SPIRAL's two forms, Omelyan's method, the hybrid and plug-ins against time: del Valle et al. (2024), Fig. A.9."""
    keys = available(inputs.long_run, SPIRAL_VARIANTS, inputs.plugins)
    return errors_against_time(inputs, keys, "stored_omega_error_l1", 4)


def originators_vs_published(inputs: Inputs) -> Figure:
    """Methods as their originators meant them beside the published variants, q and omega at the same time."""
    keys = available(inputs.errors, ORIGINATORS, inputs.plugins)
    return errors_against_step(inputs, keys, "omega_error_l1", (1, 2), 2)


def norm_drift(inputs: Inputs) -> Figure:
    """| |q| - 1 | against time in the long run, for the methods that do not normalise."""
    data = inputs.long_run
    keys = [key for key in map(str, data["integrator"].values) if not inputs.declared(key, "normalises", True)]
    looks = looks_of(inputs, keys)
    figure = new_figure((style.TEXT_WIDTH, 3.6))
    axes = figure.subplots()
    time = data["time"].values
    later = time > 0
    for number, key in enumerate(keys):
        drift = data["norm_error"].sel(integrator=key).values
        there = np.isfinite(drift) & later
        axes.plot(
            time[there],
            np.maximum(drift[there], FLOOR),
            markevery=(number, max(1, len(time) // 12)),
            **{**looks[key], "linewidth": 0.8},
        )
    axes.axhline(2.0**-53, color="0.45", linewidth=0.8, linestyle=":")
    axes.annotate(
        "half a unit in the last place of 1",
        (time.max(), 2.0**-53),
        xytext=(-4, -7),
        textcoords="offset points",
        fontsize=7,
        color="0.35",
        ha="right",
    )
    low, high = limits(data["norm_error"].sel(integrator=keys).isel(time=later).values, np.array([2e-17]))
    axes.set_xlim(0, time.max())
    log_error_axis(axes, low, high)
    axes.set_xlabel("time $t$ (s)")
    axes.set_ylabel(r"$|\,|q|-1\,|$")
    legend_below(figure, inputs, keys, looks, 2)
    return figure


def target_ratio(inputs: Inputs) -> Figure:
    """How far our time steps for the target errors are from the published ones, interpolated as there and found on runs."""
    table = inputs.published_steps
    keys = available(inputs.targets, dict.fromkeys(table["method"]))
    looks = {key: {**look, "linestyle": "none"} for key, look in looks_of(inputs, keys).items()}
    figure = new_figure(style.TWO_PANELS)
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    smallest = 1e-6
    values = [1e-5, 1e-2]
    steps: tuple[Callable[[str, float], float], ...] = (inputs.interpolated_step, partial(_target_step, inputs))
    for axes, step, letter, title in zip(
        panels,
        steps,
        "ab",
        ("interpolated on the ladder", "found on runs"),
        strict=True,
    ):
        for number, key in enumerate(keys):
            rows = table[table["method"] == key].sort_values("target_error")
            at = rows["target_error"].to_numpy(float)
            distance = np.abs(np.array([step(key, target) for target in at]) / rows["dt"].to_numpy(float) - 1)
            spread = 10.0 ** (0.08 * (number - (len(keys) - 1) / 2))
            there = np.isfinite(distance)
            shown = np.maximum(distance[there], smallest)
            axes.plot(at[there] * spread, shown, **looks[key])
            values += list(shown)
        axes.axhspan(smallest / 1e3, PRINTED_ROUNDING, color="0.92", zorder=0)
        panel_title(axes, letter, title)
    low, high = limits(np.array(values))
    for axes in panels:
        axes.set_xscale("log")
        axes.set_xlim(10**-5.5, 10**-1.5)
        axes.xaxis.set_major_locator(FixedLocator(sorted({float(t) for t in table["target_error"]})))
        axes.xaxis.set_minor_locator(NullLocator())
        log_error_axis(axes, low, high)
        axes.set_xlabel("target error")
        axes.yaxis.set_tick_params(labelleft=True)
    panels[0].set_ylabel(r"$|\Delta t_{\mathrm{ours}}/\Delta t_{\mathrm{published}}-1|$")
    legend_below(figure, inputs, keys, looks, 3)
    return figure


def _target_step(inputs: Inputs, key: str, target: float) -> float:
    """The dt found for a target error, in the measure of the publication; NaN where the run has none."""
    data = inputs.targets
    near = np.flatnonzero(np.isclose(data["target_error"].values, target, rtol=1e-6))
    if key not in data["integrator"].values or near.size == 0:
        return float("nan")
    return float(data["step_size_as_published"].sel(integrator=key).values[near[0]])


#: Components and their look; not method colours.
COMPONENTS: tuple[tuple[str, str, Any], ...] = (
    ("x", "#004488", "-"),
    ("y", "#BB5566", (0, (5, 1.5))),
    ("z", "#DDAA33", (0, (1.5, 1.2))),
)


def reference_solution(inputs: Inputs) -> Figure:
    """Exact angular velocity and orientation, and the cylinder at 15 s: del Valle et al. (2024), Fig. 1."""
    data = inputs.reference_states
    horizon = float(np.nanmax(inputs.errors["end_time"].values))
    data = data.isel(time=(data["time"].values <= horizon * (1 + 1e-9)))
    figure = new_figure((style.TEXT_WIDTH, 3.0))
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.0, 1.0, 0.8))
    time = data["time"].values
    handles = []
    for i, (name, colour, dashes) in enumerate(COMPONENTS):
        left.plot(time, data["omega"].values[:, i], color=colour, linestyle=dashes)
        middle.plot(time, data["q"].values[:, i + 1], color=colour, linestyle=dashes)
        handles.append(Line2D([], [], color=colour, linestyle=dashes, label=rf"$\omega_{name}$, $q_{name}$"))
    handles.append(Line2D([], [], color="0.25", linestyle=(0, (6, 1.5, 1.5, 1.5)), linewidth=0.8, label="$q_0$"))
    middle.plot(time, data["q"].values[:, 0], color="0.25", linestyle=(0, (6, 1.5, 1.5, 1.5)), linewidth=0.8)
    # The axial component grows forty times larger than the others: a linear core shows all three.
    left.set_yscale("symlog", linthresh=1.2, linscale=1.6)
    left.yaxis.set_major_locator(FixedLocator([-1, -0.5, 0, 0.5, 1, 10, 100]))
    left.yaxis.set_major_formatter(lambda value, _: f"{value:g}".replace("-", "$-$"))
    left.yaxis.set_minor_locator(NullLocator())
    left.set_ylim(-1.6, 100)
    middle.set_ylim(-1.15, 1.15)
    for axes in (left, middle):
        axes.set_xlim(0, horizon)
        axes.set_xlabel("time $t$ (s)")
    left.set_ylabel(r"angular velocity $\omega'$ (rad s$^{-1}$)")
    middle.set_ylabel("orientation $q'$")
    panel_title(left, "a", "")
    panel_title(middle, "b", "")
    handles += _snapshot(right, inputs)
    figure.legend(handles=handles, loc="outside lower center", ncols=7, handlelength=2.1, columnspacing=0.9, handletextpad=0.5)
    return figure


def _snapshot(axes: Axes, inputs: Inputs) -> list[Line2D]:
    """The cylinder at SNAPSHOT_TIME in perspective: exact, SPIRAL and direct Euler."""
    axes.set_aspect("equal")
    axes.set_axis_off()
    long_run = inputs.long_run
    at = int(np.argmin(np.abs(long_run["time"].values - SNAPSHOT_TIME)))
    panel_title(axes, "c", f"$t={long_run['time'].values[at]:g}$ s")
    drawn: list[tuple[str, np.ndarray, dict[str, Any]]] = []
    looks = looks_of(inputs, ("euler", "spiral_leapfrog"))
    for key in ("euler", "spiral_leapfrog"):
        if key in looks:
            q = long_run["q"].sel(integrator=key).values[at]
            colour = looks[key]["color"]
            if np.isfinite(q).all():
                dashes = "-" if key == "euler" else (0, (4, 2))
                drawn.append((inputs.label(key), q, {"color": colour, "linewidth": 1.1, "linestyle": dashes}))
    drawn.insert(0, ("exact", long_run["exact_q"].values[at], {"color": "#004488", "linewidth": 2.6, "alpha": 0.45}))
    handles = []
    for number, (label, q, look) in enumerate(drawn):
        _cylinder(axes, q, look, fill=number == 0, zorder=number + 2)
        handles.append(Line2D([], [], label=label, **look))
    reach = 10.0
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    return handles


def _cylinder(axes: Axes, q: np.ndarray, look: dict[str, Any], fill: bool, zorder: int) -> None:
    """Outline of the cylinder with its axis along body x, and a line along its side at body y, which shows the spin."""
    radius, half = CYLINDER
    angle = np.linspace(0, 2 * np.pi, 73)
    rim = np.stack([np.zeros_like(angle), radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    ends = [_project(_rotate(q, rim + np.array([x, 0.0, 0.0]))) for x in (-half, half)]
    if fill:
        hull = _convex_hull(np.concatenate([end[0] for end in ends]))
        axes.add_patch(Polygon(hull, closed=True, facecolor="#004488", alpha=0.08, edgecolor="none", zorder=1))
    outline = _convex_hull(np.concatenate([end[0] for end in ends]))
    axes.add_patch(Polygon(outline, closed=True, fill=False, edgecolor=look["color"], **_without_colour(look), zorder=zorder))
    near = max(ends, key=lambda end: float(end[1].mean()))
    axes.plot(*near[0].T, **look, zorder=zorder)
    mark = np.array([[-half, radius, 0.0], [half, radius, 0.0], [half, 0.0, 0.0]])
    axes.plot(*_project(_rotate(q, mark))[0].T, **{**look, "linewidth": 0.6 * look["linewidth"]}, zorder=zorder)


def _without_colour(look: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in look.items() if name != "color"}


def _rotate(q: np.ndarray, points: np.ndarray) -> np.ndarray:
    """q v q* for each row of ``points``."""
    scalar, vector = q[0], q[1:]
    twice = 2 * np.cross(vector, points)
    return np.asarray(points + scalar * twice + np.cross(vector, twice))


def _project(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Perspective view of lab points, in cm, from a fixed direction: positions in the picture, and how near they are."""
    towards = np.array([0.62, -0.70, 0.35])
    towards = towards / np.linalg.norm(towards)
    across = np.cross([0.0, 0.0, 1.0], towards)
    across = across / np.linalg.norm(across)
    upward = np.cross(towards, across)
    depth = points @ towards
    scale = 60.0 / (60.0 - depth)
    return np.stack([points @ across * scale, points @ upward * scale], axis=-1), depth


def _convex_hull(points: np.ndarray) -> np.ndarray:
    """The corners of the convex hull of points in the plane, in order (monotone chain)."""
    ordered = sorted(map(tuple, points.tolist()))

    def chain(sequence: Iterable[tuple[float, ...]]) -> list[tuple[float, ...]]:
        corners: list[tuple[float, ...]] = []
        for p in sequence:
            while len(corners) > 1:
                a, b = corners[-2:]
                if (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0:
                    break
                corners.pop()
            corners.append(p)
        return corners[:-1]

    return np.array(chain(ordered) + chain(reversed(ordered)))


FIGURES: dict[str, Callable[[Inputs], Figure]] = {
    "reference_solution": reference_solution,
    "error_vs_dt": error_vs_dt,
    "error_vs_time": error_vs_time,
    "spiral_variants_vs_dt": spiral_variants_vs_dt,
    "spiral_variants_vs_time": spiral_variants_vs_time,
    "originators_vs_published": originators_vs_published,
    "norm_drift": norm_drift,
    "target_ratio": target_ratio,
}
