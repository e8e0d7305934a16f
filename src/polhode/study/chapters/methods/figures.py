"""Figure of the exact solution on which the first comparison is based."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.ticker import FixedLocator, NullLocator

from polhode.study.inputs import Inputs
from polhode.study.report import style
from polhode.study.report.drawing import COMPONENTS, TIME, looks_of, new_figure, panel_title
from polhode.study.report.selection import SNAPSHOT_TIME

#: Radius and half height of the cylinder drawn, in cm.
CYLINDER = (5.0, 7.5)


def reference_solution(inputs: Inputs) -> Figure:
    """A figure of the exact angular velocity and orientation, and the cylinder at 15 s: del Valle et al. (2024), Fig. 1."""
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
        axes.set_xlabel(TIME)
    left.set_ylabel(r"angular velocity $\omega'$ (rad s$^{-1}$)")
    middle.set_ylabel("orientation $q'$")
    panel_title(left, "a", "")
    panel_title(middle, "b", "")
    handles += _snapshot(right, inputs)
    figure.legend(handles=handles, loc="outside lower center", ncols=7, handlelength=2.1, columnspacing=0.9, handletextpad=0.5)
    return figure


def _snapshot(axes: Axes, inputs: Inputs) -> list[Line2D]:
    """Draw the cylinder at SNAPSHOT_TIME in perspective: exact, SPIRAL and direct Euler; returns the lines for the legend."""
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
    """Draw the outline of the cylinder, whose axis is body x, and a line along its side at body y, which shows the spin."""
    radius, half = CYLINDER
    angle = np.linspace(0, 2 * np.pi, 73)
    rim = np.stack([np.zeros_like(angle), radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    ends = [_project(_rotate(q, rim + np.array([x, 0.0, 0.0]))) for x in (-half, half)]
    outline = _convex_hull(np.concatenate([end[0] for end in ends]))
    if fill:
        axes.add_patch(Polygon(outline, closed=True, facecolor="#004488", alpha=0.08, edgecolor="none", zorder=1))
    edge = {"edgecolor" if name == "color" else name: value for name, value in look.items()}
    axes.add_patch(Polygon(outline, closed=True, fill=False, **edge, zorder=zorder))
    near = max(ends, key=lambda end: float(end[1].mean()))
    axes.plot(*near[0].T, **look, zorder=zorder)
    mark = np.array([[-half, radius, 0.0], [half, radius, 0.0], [half, 0.0, 0.0]])
    axes.plot(*_project(_rotate(q, mark))[0].T, **{**look, "linewidth": 0.6 * look["linewidth"]}, zorder=zorder)


def _rotate(q: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The vectors q v q* for each row of ``points``."""
    scalar, vector = q[0], q[1:]
    twice = 2 * np.cross(vector, points)
    return np.asarray(points + scalar * twice + np.cross(vector, twice))


def _project(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A perspective view of lab points, in cm, from a fixed direction: positions in the picture, and nearness."""
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
