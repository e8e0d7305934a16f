"""A path of the angular momentum in the body, drawn on the sphere of its constant magnitude."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patheffects import withStroke
from matplotlib.ticker import NullFormatter

from polhode_study.report import style

#: The direction of view: the smallest axis to the right and to the front, the largest upwards.
VIEW = np.array([[-0.64, 0.77, 0.0], [-0.30, -0.25, 0.92], [0.71, 0.59, 0.39]])


def sphere(axes: Axes, inertia: np.ndarray, names: Sequence[str] = "xyz", size: float = style.LABEL) -> None:
    """The outline, the curves of constant energy and the axes."""
    turn = np.linspace(0, 2 * np.pi, 200)
    axes.plot(np.cos(turn), np.sin(turn), **style.GUIDES)
    grid = np.linspace(-1, 1, 241)
    x, y = np.meshgrid(grid, grid)
    z = np.sqrt(np.clip(1 - x * x - y * y, 0, None))
    body = np.einsum("ki,kab->iab", VIEW, np.array([x, y, z]))
    energy = (body**2 / inertia[:, None, None]).sum(0)
    energy = np.where(x * x + y * y < 0.998, energy, np.nan)
    low, middle, high = np.sort(1 / inertia)
    levels = sorted({*np.linspace(low, middle, 5)[1:], *np.linspace(middle, high, 5)[1:-1]})
    axes.contour(grid, grid, energy, levels=levels, colors=style.RULE, linewidths=style.HAIR).set_rasterized(True)
    for k, name in enumerate(names):
        place = float(VIEW[0, k]), float(VIEW[1, k])
        axes.plot(*place, "o", color=style.DARK, markersize=1.6)
        # A letter towards the centre, so that it is on the disc; above everything drawn there.
        letter = len(name) == 1
        away = -np.array(place) / np.hypot(*place) * 1.1 * size if letter else (2, 2)
        axes.annotate(
            f"${name}$" if letter else name, place, xytext=(away[0], away[1]), textcoords="offset points", fontsize=size,
            color=style.DARK, zorder=6, path_effects=[withStroke(linewidth=2.2, foreground="white")],
            ha="center" if letter else "left", va="center" if letter else "baseline",
        )  # fmt: skip
    axes.set_aspect("equal")
    axes.set_xlim(-1.05, 1.05)
    axes.set_ylim(-1.05, 1.05)
    axes.xaxis.set_major_formatter(NullFormatter())


def path(axes: Axes, way: np.ndarray, size: float = 3.0) -> None:
    """The visible half of a path, from dark at the beginning to bright at the end."""
    way = way[np.abs(np.linalg.norm(way, axis=1) - 1) < 1e-3]
    seen = way @ VIEW.T
    front = np.abs(seen[:, 2])
    # The far half is shown as seen through the centre: a polhode and its mirror image are the same motion.
    flat = np.where(seen[:, 2:] < 0, -seen[:, :2], seen[:, :2])
    pieces = np.stack([flat[:-1], flat[1:]], axis=1)
    close = np.linalg.norm(flat[1:] - flat[:-1], axis=1) < 0.12
    time = np.linspace(0, 1, len(pieces))
    axes.add_collection(
        LineCollection(pieces[close], array=time[close], cmap="viridis", linewidths=style.HAIR, alpha=0.7, rasterized=True)
    )
    axes.scatter(
        flat[:, 0],
        flat[:, 1],
        c=np.linspace(0, 1, len(flat)),
        cmap="viridis",
        s=0.09 * size * size,
        rasterized=True,
        linewidths=0,
        alpha=0.5 + 0.5 * front,
    )
    axes.plot(*flat[-1], "o", color=style.VERMILION, markersize=size, zorder=3)
