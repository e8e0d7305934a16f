"""Figures of orders and errors of all methods, by torque class."""

from math import isfinite
from typing import Any

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from polhode.study.chapters.torque_classes import frames as order_frames
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report import selection, style
from polhode.study.report.drawing import (
    FLOOR,
    STEP,
    decades_below,
    legend_below_styles,
    log_error_axis,
    new_figure,
    panel_grid,
    panel_title,
    printable,
    row_places,
    rows_height,
    styles_of,
)
from polhode.study.report.frames import records

#: Colour of a cell by the fitted order rounded to an integer, from light to dark, with a warm colour for "does not converge",
#: so that nothing is distinguished by greys and reds alone. The numbers themselves are in the table of orders.
ORDER_COLOURS: dict[int, str] = {0: "#E9A08F", 1: "#FDECB0", 2: "#A3D9C9", 3: "#4A9FC4", 4: "#2B4F91"}

NO_FIT = "#E2E2E2"

#: Cells of methods that were not run: hatched in this grey.
NOT_RUN = "#A0A0A0"

#: Colours that mark an order below the method's highest, and one below its declaration.
REDUCED, MISSED = "#7A1F1F", "#000000"

#: Space between groups of rows or columns, in cells.
GAP = 0.45

#: Methods whose errors are drawn against dt: one of each kind, so that the lines can be distinguished.
CHOSEN = (
    "spiral_leapfrog",
    "spiral_synchronous",
    "omelyan1998",
    "calzavarini2010",
    "no_squish",
    "pcdm2016",
    "pcdm2013_lag",
    "johnson2008",
    "rk4",
)

#: Range of a panel below and above the curves of second order, in decades, before it is rounded outwards.
REACH = (0.15, 1.5)


def order_map(inputs: Inputs) -> Figure:
    """A figure of fitted orders of q and of omega, with one cell for each method and problem."""
    frame = order_frames.orders(inputs)
    classes = selection.problems_by_class(inputs)
    methods = inputs.grouped(frame["method"])
    (columns, width), (rows, height) = (row_places(groups, GAP) for groups in (classes, methods))
    width, height = width - GAP, height - GAP
    figure = new_figure((style.TEXT_WIDTH, max(4.0, rows_height(1.75, 0.15, height))))
    panels = figure.subplots(1, 2, sharey=True)
    titles = ("orientation", "angular velocity")
    for axes, short, letter, title in zip(panels, order_frames.QUANTITIES, "ab", titles, strict=True):
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
        axes.tick_params(length=0, labelsize=7)
        axes.tick_params(axis="x", rotation=90, pad=1)
        for name, problems in classes:
            begin, end = columns[problems[0]], columns[problems[-1]] + 1.0
            above = axes.get_xaxis_transform()
            axes.plot([begin + 0.08, end - 0.08], [1.006, 1.006], color="0.3", linewidth=0.9, clip_on=False, transform=above)
            axes.annotate(
                name,
                ((begin + end) / 2, 1),
                xycoords=above,
                xytext=(0, 5),
                textcoords="offset points",
                rotation=90,
                ha="center",
                va="bottom",
                fontsize=7,
            )
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.annotate(
            f"({letter}) {title}",
            (0, 1),
            xycoords="axes fraction",
            xytext=(0, 46),
            textcoords="offset points",
            ha="left",
            va="bottom",
            fontsize=9,
        )
    for _, keys in methods:
        panels[0].plot(
            [-0.3, -0.3], [rows[keys[0]] + 0.08, rows[keys[-1]] + 1.0 - 0.08], color="0.3", linewidth=0.9, clip_on=False
        )
    missed = any(frame[f"missed_{short}"].any() for short in order_frames.QUANTITIES)
    fitted = np.concatenate([frame[f"{short}_order"].to_numpy(float) for short in order_frames.QUANTITIES])
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
        axes.add_patch(Rectangle((x + 0.05, y + 0.05), 0.9, 0.9, fill=False, edgecolor=MISSED, linewidth=1.1))


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


def error_by_torque(inputs: Inputs) -> Figure:
    """A figure of orientation errors at the end, divided by dt^2, against dt, with one problem of each torque class."""
    shown = _representatives(inputs)
    run = {str(k) for _, problem in shown for k in inputs.of(problem).errors["integrator"].values}
    keys = [key for key in (*CHOSEN, *inputs.plugins) if key in run]
    looks = styles_of(inputs, selection.all_methods(inputs))
    figure = new_figure((style.TEXT_WIDTH, 0.95 + 2.05 * -(-len(shown) // 3)))
    for number, (axes, (torque_class, problem)) in enumerate(zip(panel_grid(figure, len(shown), 3), shown, strict=True)):
        data = _fitted(inputs.of(problem).errors)
        dt = data["dt"].values
        order = np.argsort(dt)
        marks = max(1, len(dt) // 9)
        present = [key for key in keys if key in data["integrator"].values]
        scaled = np.maximum(data["angle_error"].sel(integrator=present).values[:, order], FLOOR) / dt[order] ** 2
        for key, error in zip(present, scaled, strict=True):
            finite = np.isfinite(error)
            axes.plot(dt[order][finite], error[finite], markevery=marks, **{**looks[key], "linewidth": 0.8})
        decades_below(axes, dt)
        log_error_axis(axes, *_around_second_order(scaled, data["q_order"].sel(integrator=present).values))
        panel_title(axes, "abcdefgh"[number], f"{torque_class}: {selection.short_name(inputs, problem)}")
        if number % 3 == 0:
            axes.set_ylabel(r"error$/\Delta t^2$ (rad s$^{-2}$)")
        if number + 3 >= len(shown):
            axes.set_xlabel(STEP)
    labels = {key: selection.label(inputs, key) for key in keys}
    legend_below_styles(figure, labels, looks, 3)
    return figure


def _around_second_order(scaled: np.ndarray, orders: np.ndarray) -> tuple[float, float]:
    """Limits for errors over dt^2 (method, dt) that enclose the curves of second order; others may leave the axes."""
    whole = scaled[np.isfinite(scaled)]
    second = scaled[(orders > 1.5) & (orders < 2.5)]
    second = second[np.isfinite(second)] if np.isfinite(second).any() else whole
    if not whole.size:
        return FLOOR, 1.0
    low = np.floor(np.log10(second.min()) - REACH[0])
    high = min(np.ceil(np.log10(second.max()) + REACH[1]), np.ceil(np.log10(whole.max())))
    return float(10.0**low), float(10.0 ** max(high, low + 1))


def _fitted(data: xr.Dataset) -> xr.Dataset:
    """The errors at the steps used for the fits, over at most four and a half decades: smaller ones are rounding."""
    chosen = (data["dt_set"] == "fit").values
    data = data.isel(dt=chosen) if chosen.any() else data
    return data.isel(dt=(data["dt"].values > data["dt"].values.max() * 10**-4.5))


def _representatives(inputs: Inputs) -> list[tuple[str, str]]:
    """The torque classes of the run, each with the problem that represents it."""
    classes = [(name, selection.representative(inputs, keys)) for name, keys in selection.problems_by_class(inputs)]
    if not classes:
        raise NotInRun("this run has no problems")
    return classes
