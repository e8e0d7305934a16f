"""Figures of the engine atlas: errors of the engines over their identified methods, and where free spins end."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from polhode.study.inputs import Inputs
from polhode.study.report import style
from polhode.study.report.drawing import new_figure, printable
from polhode.study.themes.engines import analysis

#: Markers of the engines, in turn.
MARKERS = "osD^v<>PX*hdp8H"
#: Number of spheres, and of spheres in a row.
SPHERES, IN_A_ROW = 12, 4
#: The direction of view: the smallest axis to the right and to the front, the largest upwards.
VIEW = np.array([[-0.64, 0.77, 0.0], [-0.30, -0.25, 0.92], [0.71, 0.59, 0.39]])


def engine_errors(inputs: Inputs) -> Figure:
    """The error of the orientation of a free body against the angle turned in a step; lines are the methods identified."""
    data = inputs.atlas
    figure = new_figure((style.TEXT_WIDTH, 4.6))
    axes = figure.subplots()
    order = np.argsort(data["step"].values)
    step = data["step"].values[order]
    drawn: set[str] = set()
    for i in range(data.sizes["engine"]):
        name = str(data["method_label"].values[i])
        if int(data["is_identified"][i]) and name not in drawn:
            drawn.add(name)
            axes.plot(step, data["method_q_error"].values[i][order], color="0.75", linewidth=1.0, zorder=1)
    keys = list(dict.fromkeys(map(str, data["label"].values)))
    for i in range(data.sizes["engine"]):
        k = keys.index(str(data["label"].values[i]))
        error = data["q_error"].sel(load="free").values[i][order]
        first = list(map(str, data["label"].values)).index(keys[k]) == i
        face = f"C{k % 10}" if int(data["is_identified"][i]) else "none"
        axes.plot(
            step, error, MARKERS[k % len(MARKERS)], color=f"C{k % 10}", markerfacecolor=face, markersize=4.0,
            markeredgewidth=0.8, linestyle="none", zorder=2, label=printable(keys[k]) if first else None,
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(r"angle turned in a step $\Omega\Delta t$ (rad)")
    axes.set_ylabel("error of the orientation (rad)")
    figure.legend(loc="outside right upper", handletextpad=0.3)
    return figure


def engine_spins(inputs: Inputs) -> Figure:
    """The end of the angular momentum in the body during a long free spin from next to the middle axis."""
    data = inputs.atlas
    chosen = analysis.distinct(data, SPHERES)
    rows = -(-len(chosen) // IN_A_ROW)
    figure = new_figure((style.TEXT_WIDTH, 2.1 * rows))
    panels = np.atleast_1d(figure.subplots(rows, IN_A_ROW)).ravel()
    inertia = np.asarray(data.attrs["inertia"], dtype=float)
    for axes in panels:
        axes.set_axis_off()
    for axes, i in zip(panels, chosen, strict=False):
        _sphere(axes, inertia)
        _path(axes, data["path"].values[i].astype(float))
        axes.set_title(printable(f"{data['label'].values[i]}"), fontsize="small", pad=12)
        end = str(data["end"].values[i])
        axes.text(0.5, 1.0, printable(str(data["option"].values[i])), transform=axes.transAxes, ha="center", fontsize=5.5)
        axes.text(0.5, -0.04, printable(end), transform=axes.transAxes, ha="center", va="top", fontsize="x-small")
    return figure


def _sphere(axes: Axes, inertia: np.ndarray) -> None:
    """The outline, the curves of constant energy and the axes."""
    turn = np.linspace(0, 2 * np.pi, 200)
    axes.plot(np.cos(turn), np.sin(turn), color="0.4", linewidth=0.6)
    grid = np.linspace(-1, 1, 241)
    x, y = np.meshgrid(grid, grid)
    z = np.sqrt(np.clip(1 - x * x - y * y, 0, None))
    body = np.einsum("ki,kab->iab", VIEW, np.array([x, y, z]))
    energy = (body**2 / inertia[:, None, None]).sum(0)
    energy = np.where(x * x + y * y < 0.998, energy, np.nan)
    low, middle, high = np.sort(1 / inertia)
    levels = sorted({*np.linspace(low, middle, 5)[1:], *np.linspace(middle, high, 5)[1:-1]})
    axes.contour(grid, grid, energy, levels=levels, colors="0.8", linewidths=0.4).set_rasterized(True)
    for k, name in enumerate("xyz"):
        place = float(VIEW[0, k]), float(VIEW[1, k])
        axes.plot(*place, "o", color="0.3", markersize=1.6)
        axes.annotate(name, place, xytext=(2, 2), textcoords="offset points", fontsize=5.5, color="0.3")
    axes.set_aspect("equal")
    axes.set_xlim(-1.05, 1.05)
    axes.set_ylim(-1.05, 1.05)
    axes.xaxis.set_major_formatter(NullFormatter())


def _path(axes: Axes, path: np.ndarray) -> None:
    """The visible half of a path, from dark at the beginning to bright at the end."""
    path = path[np.abs(np.linalg.norm(path, axis=1) - 1) < 1e-3]
    seen = path @ VIEW.T
    front = np.abs(seen[:, 2])
    # The far half is shown as seen through the centre: a polhode and its mirror image are the same motion.
    flat = np.where(seen[:, 2:] < 0, -seen[:, :2], seen[:, :2])
    pieces = np.stack([flat[:-1], flat[1:]], axis=1)
    close = np.linalg.norm(flat[1:] - flat[:-1], axis=1) < 0.12
    time = np.linspace(0, 1, len(pieces))
    axes.add_collection(
        LineCollection(pieces[close], array=time[close], cmap="viridis", linewidths=0.5, alpha=0.7, rasterized=True)
    )
    axes.scatter(
        flat[:, 0],
        flat[:, 1],
        c=np.linspace(0, 1, len(flat)),
        cmap="viridis",
        s=0.8,
        rasterized=True,
        linewidths=0,
        alpha=0.5 + 0.5 * front,
    )
    axes.plot(*flat[-1], "o", color="#D55E00", markersize=3.0, zorder=3)
