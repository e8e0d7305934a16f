"""The methods on all classes of torque, and the reference of the published test."""

from math import isfinite
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon, Rectangle
from matplotlib.ticker import FixedLocator, NullLocator
from matplotlib.transforms import offset_copy
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from polhode_study.chapters.methods import frames
from polhode_study.inputs import Inputs
from polhode_study.report import selection, style
from polhode_study.report.drawing import (
    COMPONENTS,
    TIME,
    looks_of,
    new_figure,
    note,
    panel_title,
    printable,
    row_places,
    rows_height,
)
from polhode_study.report.frames import records
from polhode_study.report.selection import SNAPSHOT_TIME

#: Colour of a cell by the fitted order rounded to an integer, from light to dark, with a warm colour for "does not converge",
#: so that nothing is distinguished by greys and reds alone. The numbers themselves are in the table of orders.
ORDER_COLOURS = style.ORDERS

NO_FIT = style.RULE

#: Cells of methods that were not run: hatched in this grey.
NOT_RUN = style.PALE

#: Colours that mark an order below the method's highest, and one below its declaration.
REDUCED, MISSED = style.ALARM, style.BLACK

#: Space between groups of rows or columns, in cells.
GAP = 0.45
#: Distance of the bar of a group of methods from the cells, points; the names of methods begin at 3.5.
BAR = 1.9


def order_map(inputs: Inputs) -> Figure:
    """A figure of fitted orders of q and of omega, with one cell for each method and problem."""
    frame = frames.orders(inputs)
    classes = selection.problems_by_class(inputs)
    methods = inputs.grouped(frame["method"])
    (columns, width), (rows, height) = (row_places(groups, GAP) for groups in (classes, methods))
    width, height = width - GAP, height - GAP
    figure = new_figure((style.TEXT_WIDTH, max(4.0, rows_height(1.75, 0.15, height))))
    panels = figure.subplots(1, 2, sharey=True)
    titles = ("orientation", "angular velocity")
    for axes, short, letter, title in zip(panels, frames.QUANTITIES, "ab", titles, strict=True):
        filled = set()
        for record in records(frame):
            x, y = columns[record["problem"]], rows[record["method"]]
            _cell(axes, x, y, record[f"{short}_order"], record[f"reduced_{short}"], record[f"missed_{short}"])
            filled.add((record["method"], record["problem"]))
        for method, y in rows.items():
            for problem, x in columns.items():
                if (method, problem) not in filled:
                    cell: Any = {"facecolor": "white", "edgecolor": NOT_RUN, "hatch": "//////", "linewidth": 0}
                    axes.add_patch(Rectangle((x + 0.02, y + 0.02), 0.96, 0.96, **cell))
        axes.set_xlim(-0.1, width + 0.1)
        axes.set_ylim(height + 0.1, -0.1)
        axes.set_xticks([x + 0.5 for x in columns.values()], [selection.short_name(inputs, key) for key in columns])
        axes.set_yticks([y + 0.5 for y in rows.values()], [printable(selection.label(inputs, key)) for key in rows])
        axes.tick_params(length=0, labelsize=style.NOTE)
        axes.tick_params(axis="x", rotation=90, pad=1)
        for name, problems in classes:
            begin, end = columns[problems[0]], columns[problems[-1]] + 1.0
            above = axes.get_xaxis_transform()
            axes.plot([begin + 0.08, end - 0.08], [1.006, 1.006], **style.INK, clip_on=False, transform=above)
            place: Any = {"xycoords": above, "rotation": 90, "ha": "center", "va": "bottom"}
            note(axes, name, ((begin + end) / 2, 1), (0, 5), **place, color="black")
        for spine in axes.spines.values():
            spine.set_visible(False)
        note(
            axes,
            f"({letter}) {title}",
            (0, 1),
            (0, 46),
            xycoords="axes fraction",
            va="bottom",
            fontsize=style.TEXT,
            color="black",
        )
    # Between cells and names, however wide the cells of a few problems are.
    beside = offset_copy(panels[0].get_yaxis_transform(), figure, -BAR, 0, "points")
    for _, keys in methods:
        ends = [rows[keys[0]] + 0.08, rows[keys[-1]] + 1.0 - 0.08]
        panels[0].plot([0, 0], ends, **style.INK, clip_on=False, transform=beside)
    missed = any(frame[f"missed_{short}"].any() for short in frames.QUANTITIES)
    fitted = np.concatenate([frame[f"{short}_order"].to_numpy(float) for short in frames.QUANTITIES])
    figure.legend(
        handles=_order_legend({_rounded(order) for order in fitted[np.isfinite(fitted)]}, missed),
        loc="outside lower center",
        ncols=4,
        handlelength=1.2,
        columnspacing=1.6,
    )
    return figure


def _cell(axes: Axes, x: float, y: float, order: float, reduced: bool, missed: bool) -> None:
    """Draw one cell: its colour is the rounded order; corner and frame are the marks."""
    back = ORDER_COLOURS[_rounded(order)] if isfinite(order) else NO_FIT
    axes.add_patch(Rectangle((x + 0.02, y + 0.02), 0.96, 0.96, facecolor=back, edgecolor="none"))
    if reduced:
        axes.fill([x + 0.55, x + 0.98, x + 0.98], [y + 0.02, y + 0.02, y + 0.5], color=REDUCED, linewidth=0)
    if missed:
        axes.add_patch(Rectangle((x + 0.05, y + 0.05), 0.9, 0.9, fill=False, edgecolor=MISSED, linewidth=style.LINE))


def _rounded(order: float) -> int:
    """The order whose colour a cell has."""
    return int(np.clip(round(order), 0, max(ORDER_COLOURS)))


def _order_legend(occurring: set[int], missed: bool) -> list[Any]:
    """The legend of the colours and marks that occur; matplotlib fills it column by column."""
    names = {0: "no convergence", 1: "first order", 2: "second", 3: "third", 4: "fourth"}
    shown = [order for order in ORDER_COLOURS if order in occurring]
    orders: list[Any] = [Patch(facecolor=ORDER_COLOURS[order], label=names[order]) for order in shown]
    marks: list[Any] = [
        Patch(facecolor=NO_FIT, label="no fit"),
        Patch(facecolor="white", edgecolor=NOT_RUN, hatch="//////", linewidth=0, label="not run"),
        Line2D([], [], linestyle="none", marker=(3, 0, -45), markersize=5, color=REDUCED, label="below its highest order"),
    ]
    if missed:
        marks.append(Patch(facecolor="none", edgecolor=MISSED, label="below its declaration"))
    return [*orders, *marks]


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
    handles.append(Line2D([], [], color=style.DARK, linestyle=(0, (6, 1.5, 1.5, 1.5)), linewidth=style.FINE, label="$q_0$"))
    middle.plot(time, data["q"].values[:, 0], color=style.DARK, linestyle=(0, (6, 1.5, 1.5, 1.5)), linewidth=style.FINE)
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
                drawn.append((inputs.label(key), q, {"color": colour, "linewidth": style.LINE, "linestyle": dashes}))
    drawn.insert(0, ("exact", long_run["exact_q"].values[at], {"color": style.NAVY, "linewidth": 2.6, "alpha": 0.45}))
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
    turn = Rotation.from_quat(q, scalar_first=True)
    ends = [_project(turn.apply(rim + np.array([x, 0.0, 0.0]))) for x in (-half, half)]
    points = np.concatenate([end[0] for end in ends])
    corners = points[ConvexHull(points).vertices]
    outline = np.roll(corners, -np.lexsort(corners.T[::-1])[0], axis=0)  # dashes begin at the left
    if fill:
        axes.add_patch(Polygon(outline, closed=True, facecolor=style.NAVY, alpha=0.08, edgecolor="none", zorder=1))
    edge = {"edgecolor" if name == "color" else name: value for name, value in look.items()}
    axes.add_patch(Polygon(outline, closed=True, fill=False, **edge, zorder=zorder))
    near = max(ends, key=lambda end: float(end[1].mean()))
    axes.plot(*near[0].T, **look, zorder=zorder)
    mark = np.array([[-half, radius, 0.0], [half, radius, 0.0], [half, 0.0, 0.0]])
    axes.plot(*_project(turn.apply(mark))[0].T, **{**look, "linewidth": 0.6 * look["linewidth"]}, zorder=zorder)


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
