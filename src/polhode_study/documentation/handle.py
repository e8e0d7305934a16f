"""The picture of a T-handle in an engine of the web as it is shipped, and with a generated step in its place."""

from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import polhode
from polhode.algebra.body import Body
from polhode.algebra.quaternion import multiply, normalise
from polhode.compiling.plain import in_plain_python
from polhode.problems import PROBLEMS
from polhode.problems.problem import Problem
from polhode.references import asymmetric_top
from polhode_study.report import style
from polhode_study.report.drawing import new_figure

#: As in ``examples/t-handle``: moments (kg m2), angular velocity in the body (rad/s), steps a second; digits of the exact spin.
MOMENTS, OMEGA, RATE, DIGITS = (1.0, 2.0, 3.0), (0.05, 5.0, 0.05), 60, 15
#: How many seconds of the spin are plotted, and when the handles are drawn, s.
SECONDS, FILMED = 24, (0.0, 1.0, 1.75, 2.0, 2.25, 3.0, 4.0)
#: Corners of boxes along the body axes, with their colours: rods of 6 and 2 kg in these places have the moments 1, 2, 3.
BOXES = (
    (style.VERMILION, (-1.0, 0.06, -0.11), (0.0, 0.28, 0.11)),
    (style.BLUE, (0.0, 0.06, -0.11), (1.0, 0.28, 0.11)),
    (style.PALE, (-0.11, -1.19, -0.11), (0.11, 0.06, 0.11)),
)
_FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
#: The damping of cannon-es per second.
_DAMPING = 0.01


def picture() -> Figure:
    """Films of both handles around the first flip, and the spin about the stem."""
    shipped, (q, omega) = as_shipped(SECONDS * RATE), with_the_step(SECONDS * RATE)
    figure = new_figure((6.3, 3.6))
    grid = figure.add_gridspec(3, len(FILMED), height_ratios=(1, 1, 1.25))
    for row, (film, name) in enumerate(((shipped, "as shipped"), (q, "with the step"))):
        for column, second in enumerate(FILMED):
            axes = figure.add_subplot(grid[row, column])
            _draw(axes, film[round(second * RATE)])
            if row == 0:
                axes.set_title(f"{second:g} s", fontsize=style.KEY)
            if column == 0:
                axes.set_ylabel(name, fontsize=style.KEY)
    axes = figure.add_subplot(grid[2, :])
    time = np.arange(SECONDS * RATE + 1) / RATE
    axes.plot(time, OMEGA[1] * (1 - _DAMPING) ** time, color=style.VERMILION, label="cannon-es as shipped")
    axes.plot(time, omega[:, 1], color=style.BLUE, label="with the step of polhode")
    few = time[:: RATE // 4]
    axes.plot(few, exact_spin(few), ".", color=style.DARK, markersize=2.5, label="exact")
    axes.set_xlabel("time (s)")
    axes.set_ylabel("spin about\nthe stem (rad/s)")
    axes.margins(x=0)
    axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize=style.KEY)
    return figure


def as_shipped(steps: int) -> np.ndarray:
    """Orientations (w, x, y, z) in cannon-es 0.20.0: omega fixed in the lab but for its damping, a linear step, normalised."""
    times, unit, dt = in_plain_python(multiply), in_plain_python(normalise), 1 / RATE
    rows = [(1.0, 0.0, 0.0, 0.0)]
    for n in range(1, steps + 1):
        factor = 0.5 * dt * (1 - _DAMPING) ** (n * dt)
        turn = times((0.0, *(factor * x for x in OMEGA)), rows[-1])
        rows.append(unit(tuple(a + b for a, b in zip(rows[-1], turn, strict=True))))
    return np.array(rows)


def with_the_step(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Orientations and angular velocities by the exact rotor."""
    run = polhode.simulate(_handle(), "exact_rotor", 1 / RATE, steps / RATE, samples=steps)
    return run["q"].values, run["omega"].values


def exact_spin(times: np.ndarray) -> np.ndarray:
    """The component of omega along the axis of the middle moment, by the reference."""
    return np.array([float(omega[1]) for _, omega in asymmetric_top.solve(_handle(), times.tolist(), DIGITS)])


def _handle() -> Problem:
    free = PROBLEMS["free_asymmetric_top"]
    assert isinstance(free, Problem)
    return replace(free, body=Body(MOMENTS), q0=(1.0, 0.0, 0.0, 0.0), omega0=OMEGA)


def _draw(axes: Axes, q: np.ndarray) -> None:
    """A handle as it is seen a little from above and from the side."""
    w, v = q[0], q[1:]
    sine, cosine = np.sin((0.6, 0.35)), np.cos((0.6, 0.35))
    aside = np.array([[cosine[0], 0, sine[0]], [0, 1, 0], [-sine[0], 0, cosine[0]]])
    above = np.array([[1, 0, 0], [0, cosine[1], -sine[1]], [0, sine[1], cosine[1]]])
    faces = []
    for colour, low, high in BOXES:
        corners = np.array([np.where((n & 4, n & 2, n & 1), high, low) for n in range(8)])
        corners = corners + 2 * np.cross(v, np.cross(v, corners) + w * corners)
        corners = corners @ (above @ aside).T
        for face in _FACES:
            points = corners[list(face)]
            normal = np.cross(points[1] - points[0], points[3] - points[0])
            light = normal[2] / np.linalg.norm(normal)
            if light > 0:
                shade = np.array(to_rgb(colour)) * (0.55 + 0.45 * light)
                faces.append((points[:, 2].mean(), points[:, :2], shade))
    faces.sort(key=lambda face: face[0])
    axes.add_collection(PolyCollection([face[1] for face in faces], facecolors=[face[2] for face in faces]))
    axes.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal", xticks=[], yticks=[])
    for side in axes.spines.values():
        side.set_visible(False)
