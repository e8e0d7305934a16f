"""Pictures of clumps and scenes, ray-traced: each pixel shows the nearest sphere on its line of sight.

>>> from polhode.manybody import Clump, pictures, scenes
>>> pictures.picture_of_clumps(Clump.dimer(0.01, 0.008, distance=0.012)).savefig("dimer.png")  # doctest: +SKIP
>>> pictures.picture_of_scene(scenes["rods"], scenes["rods"].initial_state(0)).savefig("rods.png")  # doctest: +SKIP

A *film* is a mapping of arrays and numbers by name. It has the motion ``r`` (frames, clumps, 3), positions in the lab, and
``q`` (frames, clumps, 4), unit quaternions, scalar first, body to lab; what :meth:`polhode.manybody.Scene.solids` returns,
``kind`` (clumps,), and of the spheres of all kinds ``sphere_kind`` (n,), ``centre`` (n, 3; body frame) and ``radius`` (n,);
what :meth:`polhode.manybody.Scene.outline` returns, ``box`` and perhaps ``drum_radius``, ``drum_axis`` and ``drum_rate``
(rad/s); and of a drum that turns ``time`` (frames,), s. Lengths are in m, or in the unit of a liquid.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, floor, pi, sqrt, tan
from typing import Any

import numpy as np

from polhode.compiling.kernel import compile_driver
from polhode.interface.extras import require
from polhode.manybody.clump import Clump
from polhode.manybody.fluid import Fluid
from polhode.manybody.placement import State
from polhode.manybody.scene import Scene
from polhode.manybody.walls import AXES

require("matplotlib", what="a picture")

from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.patches import Polygon  # noqa: E402

#: Colours of the two sides of a game, and of the clumps of a scene with a single kind.
IVORY, EBONY = (0.93, 0.87, 0.74), (0.36, 0.24, 0.19)
HUES = ((0.0, 0.45, 0.70), (0.84, 0.37, 0.0), (0.0, 0.62, 0.45), (0.80, 0.47, 0.65), (0.90, 0.62, 0.0), (0.34, 0.71, 0.91))
#: Pairs of staves, a light and a dark one, of a drum.
STAVES = 12
#: Size of the letters below a clump, points.
LETTERS = 7.5
#: Pixels computed for each pixel shown, along each side.
FINER = 2


@dataclass(frozen=True)
class Camera:
    """Position and target (m) of a camera, its picture's size in pixels, its horizontal angle of view (rad), and what is up.

    ``eye``, ``target`` and the direction ``up``, of any length, are in the lab frame.
    """

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    width: int
    height: int
    angle: float = pi / 7
    up: tuple[float, float, float] = (0.0, 0.0, 1.0)

    @property
    def frame(self) -> np.ndarray:
        """The axes of the camera as the rows of an array (3, 3), unit vectors of the lab: to the right, up and forward."""
        forward = np.subtract(self.target, self.eye)
        forward = forward / np.linalg.norm(forward)
        right = np.cross(forward, self.up)
        right /= np.linalg.norm(right)
        return np.array([right, np.cross(right, forward), forward])

    @property
    def focus(self) -> float:
        """Pixels per unit of the tangent of the angle from the optical axis."""
        return self.width / (2 * tan(self.angle / 2))

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Points (n, 3) of the lab, in the camera's frame: right, up, forward; m."""
        return np.asarray((np.asarray(points, float) - self.eye) @ self.frame.T)

    def project(self, points: np.ndarray) -> np.ndarray:
        """Points (n, 3) of the lab, m, as pixel coordinates (n, 2): to the right and down from the upper left corner."""
        x, y, z = self.seen(points).T
        return np.column_stack([self.width / 2 + self.focus * x / z, self.height / 2 - self.focus * y / z])


def _trace(centres: Any, radii: Any, focus: float, depth: Any, owner: Any, normals: Any) -> None:
    """For each pixel the nearest sphere: its index, its distance and its normal, in the camera's frame."""
    height, width = depth.shape
    for s in range(len(radii)):
        x, y, z, radius = centres[s, 0], centres[s, 1], centres[s, 2], radii[s]
        if z <= 2.0 * radius:
            continue
        spread = 1.2 * focus * radius / (z - radius) + 1.0
        u, v = width / 2 + focus * x / z, height / 2 - focus * y / z
        c = x * x + y * y + z * z - radius * radius
        for row in range(max(0, floor(v - spread)), min(height, ceil(v + spread))):
            for column in range(max(0, floor(u - spread)), min(width, ceil(u + spread))):
                dx, dy = (column + 0.5 - width / 2) / focus, (height / 2 - row - 0.5) / focus
                a = dx * dx + dy * dy + 1.0
                b = dx * x + dy * y + z
                inside = b * b - a * c
                if inside > 0.0:
                    t = (b - sqrt(inside)) / a
                    if t < depth[row, column]:
                        depth[row, column] = t
                        owner[row, column] = s
                        normals[row, column, 0] = (t * dx - x) / radius
                        normals[row, column, 1] = (t * dy - y) / radius
                        normals[row, column, 2] = (t - z) / radius


@cache
def _tracer() -> Callable[..., None]:
    """:func:`_trace`, compiled."""
    from numba import types

    real, plane = types.float64, types.float64[:, ::1]
    signature = types.void(plane, real[::1], real, plane, types.int64[:, ::1], real[:, :, ::1])
    return compile_driver(_trace, signature)


def picture(centres: np.ndarray, radii: np.ndarray, colours: np.ndarray, clumps: np.ndarray, camera: Camera) -> np.ndarray:
    """Shaded spheres on a transparent background: (height, width, 4), red, green, blue and opacity, from 0 to 1.

    Parameters
    ----------
    centres, radii : (n, 3) in the lab, and (n,), m
    colours : (n, 3), red, green and blue from 0 to 1
    clumps : (n,), integers: which spheres belong together; a line is drawn where one clump covers another
    camera : Camera
    """
    height, width = FINER * camera.height, FINER * camera.width
    depth, owner = np.full((height, width), np.inf), np.full((height, width), -1, np.int64)
    normals = np.zeros((height, width, 3))
    centres, radii = np.ascontiguousarray(camera.seen(centres)), np.ascontiguousarray(radii, float)
    _tracer()(centres, radii, FINER * camera.focus, depth, owner, normals)
    there = owner >= 0
    seen, owners = normals[there], owner[there]
    # Two lights, from the upper left and from the right; the first has a specular highlight.
    key, fill = np.array([-0.45, 0.62, -0.64]), np.array([0.75, 0.1, -0.65])
    key, fill = key / np.linalg.norm(key), fill / np.linalg.norm(fill)
    middle = key + np.array([0.0, 0.0, -1.0])
    middle /= np.linalg.norm(middle)
    light = 0.34 + 0.62 * np.clip(seen @ key, 0, None) + 0.18 * np.clip(seen @ fill, 0, None)
    gloss = 0.30 * np.clip(seen @ middle, 0, None) ** 30
    shades = np.clip(colours[owners] * light[:, None] + gloss[:, None], 0, 1)
    # Outlines where one clump gives way to another or to the background.
    number = np.full(owner.shape, -1, np.int32)
    number[there] = np.asarray(clumps)[owners]
    line = np.zeros_like(there)
    line[:, 1:] |= number[:, 1:] != number[:, :-1]
    line[1:] |= number[1:] != number[:-1]
    shades[line[there]] *= 0.35
    # Red, green, blue and opacity: means over the pixels computed for each one shown, zero where no sphere is.
    rows, columns = np.nonzero(there)
    shown, parts = rows // FINER * camera.width + columns // FINER, (*shades.T, np.ones(len(shades)))
    image: np.ndarray = np.column_stack([np.bincount(shown, part / FINER**2, camera.height * camera.width) for part in parts])
    image[:, :3] /= np.where(image[:, 3:] > 0, image[:, 3:], 1.0)
    return image.reshape(camera.height, camera.width, 4)


def rotated(q: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (n, 3) of a body with orientation q (4,), a unit quaternion, scalar first, in the lab frame; the unit stays."""
    sine = np.asarray(q[1:], float)
    once = 2 * np.cross(sine, points)
    return np.asarray(points + float(q[0]) * once + np.cross(sine, once))


def spheres_of(film: Mapping[str, Any], frame: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """All n spheres in one frame of a film, whose number is ``frame``, for :func:`picture`: four arrays.

    They are the centres (n, 3) in the lab and the radii (n,), m; the colours (n, 3), red, green and blue from 0 to 1; and to
    which clump each belongs (n,).
    """
    centres, radii, colours, clumps = [], [], [], []
    kinds = film["kind"]
    for c, kind in enumerate(kinds):
        mine = film["sphere_kind"] == kind
        centres.append(film["r"][frame, c] + rotated(film["q"][frame, c], film["centre"][mine]))
        radii.append(film["radius"][mine])
        colours.append(np.tile(_colour(kinds, c), (mine.sum(), 1)))
        clumps.append(np.full(mine.sum(), c))
    return tuple(np.concatenate(part) for part in (centres, radii, colours, clumps))  # type: ignore[return-value]


def _colour(kinds: np.ndarray, clump: int) -> tuple[float, float, float]:
    """Half of the clumps of each kind are ivory, the others ebony; if there is a single kind, each clump has its own hue."""
    if len(set(kinds)) == 1:
        return HUES[clump % len(HUES)]
    same = np.flatnonzero(kinds == kinds[clump])
    return IVORY if 2 * int(np.searchsorted(same, clump)) < len(same) else EBONY


def view_of(film: Mapping[str, Any], width: int, height: int) -> Camera:
    """A camera that sees the whole cube from the front, slightly from the right and from above, or a drum along its axis.

    ``width`` and ``height`` are the size of the picture in pixels.
    """
    direction, size = np.array([0.56, -1.0, 0.42]), float(film["box"])
    if "drum_radius" in film:
        axis = AXES.index(film["drum_axis"])
        direction, size = np.roll([0.25, -1.0, 0.2], axis - 1), max(size, 2 * float(film["drum_radius"]))
    eye = 4.05 * size * direction / np.linalg.norm(direction)
    return Camera((float(eye[0]), float(eye[1]), float(eye[2])), (0.0, 0.0, 0.0), width, height, angle=0.5)


def draw(axes: Axes, film: Mapping[str, Any], frame: int, camera: Camera) -> None:
    """Draw the frame with the number ``frame`` of a film in its box or drum, as the camera sees it, on axes of Matplotlib."""
    seen = draw_drum(axes, film, frame, camera) if "drum_radius" in film else draw_box(axes, film, camera)
    axes.imshow(
        picture(*spheres_of(film, frame), camera),
        extent=(0, camera.width, camera.height, 0),
        zorder=2,
        interpolation="bilinear",
    )
    margin = 0.02 * camera.width
    axes.set_xlim(seen[:, 0].min() - margin, seen[:, 0].max() + margin)
    axes.set_ylim(seen[:, 1].max() + margin, seen[:, 1].min() - margin)
    axes.set_aspect("equal")
    axes.set_axis_off()


def draw_box(axes: Axes, film: Mapping[str, Any], camera: Camera) -> np.ndarray:
    """Draw the box of a film, the edges in front over the clumps; returns the pixel coordinates (8, 2) of its corners."""
    half = float(film["box"]) / 2
    corners = np.array([[x, y, z] for x in (-half, half) for y in (-half, half) for z in (-half, half)])
    seen = camera.project(corners)
    eye = np.array(camera.eye)
    behind = []
    for axis in range(3):
        for side in (-half, half):
            face = np.flatnonzero(corners[:, axis] == side)
            face = face[[0, 1, 3, 2]]
            if (eye[axis] - side) * side < 0:  # seen from inside
                behind.append(face)
                shade = (0.955, 0.965, 0.935)[axis]
                axes.add_patch(Polygon(seen[face], facecolor=str(shade), edgecolor="0.62", linewidth=0.6, zorder=1))
    hidden = {frozenset((int(a), int(b))) for face in behind for a, b in zip(face, np.roll(face, 1), strict=True)}
    for a in range(8):
        for b in range(a):
            edge = (corners[a] != corners[b]).sum() == 1
            if edge and frozenset((a, b)) not in hidden:
                axes.plot(*seen[[a, b]].T, color="0.4", linewidth=0.6, alpha=0.7, zorder=3)
    return seen


def draw_drum(axes: Axes, film: Mapping[str, Any], frame: int, camera: Camera) -> np.ndarray:
    """Draw the drum of a film, the rim in front over the clumps; returns pixel coordinates (points, 2) along both rims.

    Staves show how far it has turned at the frame with the number ``frame``; without times in the film it has not.
    """
    axis, radius, half = AXES.index(film["drum_axis"]), float(film["drum_radius"]), float(film["box"]) / 2
    turned = float(film["drum_rate"]) * float(film["time"][frame]) if "time" in film else 0.0
    angle = turned + np.linspace(0, 2 * pi, 16 * STAVES + 1)
    eye = np.roll(camera.eye, -axis)
    rims = []
    for side in (-half, half) if eye[0] > 0 else (half, -half):  # the far one first
        rim = np.column_stack([np.full(len(angle), side), radius * np.cos(angle), radius * np.sin(angle)])
        rims.append(camera.project(np.roll(rim, axis, axis=1)))
    far, near = rims
    axes.add_patch(Polygon(far, facecolor="0.965", edgecolor="0.62", linewidth=0.6, zorder=1))
    for k in range(len(angle) - 1):
        middle = (angle[k] + angle[k + 1]) / 2
        if eye[1] * np.cos(middle) + eye[2] * np.sin(middle) < radius:  # seen from inside
            shade = "0.86" if k // 8 % 2 else "0.93"
            axes.add_patch(Polygon([far[k], far[k + 1], near[k + 1], near[k]], facecolor=shade, edgecolor="none", zorder=1))
    axes.plot(*near.T, color="0.4", linewidth=0.9, alpha=0.8, zorder=3)
    return np.concatenate(rims)


def standing(centres: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """The centres of a clump's spheres with its long axis upright on z = 0, the end farther from the centre of mass up.

    ``centres`` (spheres, 3) are in the body frame, whose x axis is the long one, and ``radii`` (spheres,) in the same unit; the
    result (spheres, 3) too.
    """
    upright = np.column_stack([centres[:, 1], centres[:, 2], centres[:, 0]])
    if (upright[:, 2] + radii).max() < (radii - upright[:, 2]).max():
        upright = upright * [1.0, -1.0, -1.0]
    centred: np.ndarray = upright - [0.0, 0.0, (upright[:, 2] - radii).min()]
    return centred


def draw_row(axes: Axes, clumps: Sequence[tuple[str, np.ndarray, np.ndarray]], width: int = 1500, height: int = 560) -> None:
    """Draw clumps upright side by side, each with its name, height and number of spheres below it.

    Parameters
    ----------
    axes : where to draw
    clumps : label, centres (n, 3; body frame, m) and radii (n,) of each
    width, height : pixels
    """
    at, middles, placed = 0.0, [], []
    gap = 0.1 * max(float(np.ptp(centres[:, 0])) + 2 * radii.max() for _, centres, radii in clumps)
    for _, centres, radii in clumps:
        upright = standing(centres, radii)
        left, right = (upright[:, 0] - radii).min(), (upright[:, 0] + radii).max()
        placed.append(upright + np.array([at - left, 0.0, 0.0]))
        middles.append(at + (right - left) / 2)
        at += right - left + gap
    at -= gap
    kinds = np.repeat(np.arange(len(clumps)), [len(radii) for _, _, radii in clumps])
    tops = [float((upright[:, 2] + radii).max()) for upright, (_, _, radii) in zip(placed, clumps, strict=True)]
    # From far enough away that the clumps at the ends of the row are also seen from the front.
    across = max(1.04 * at, 1.1 * max(tops) * width / height)
    camera = Camera((at / 2, -30 * across, 8 * across), (at / 2, 0.0, max(tops) / 2), width, height, angle=1 / 31)
    colours = np.array([(IVORY, EBONY)[kind % 2] for kind in kinds])
    radii = np.concatenate([radii for _, _, radii in clumps])
    axes.imshow(picture(np.concatenate(placed), radii, colours, kinds, camera), interpolation="bilinear")
    for x, top, (label, _, own) in zip(middles, tops, clumps, strict=True):
        column = camera.project(np.array([[x, 0.0, 0.0]]))[0, 0]
        text = f"{label}\n{100 * top:.2g} cm\n{len(own)} sphere{'s' if len(own) > 1 else ''}"
        axes.text(column, camera.height, text, ha="center", va="top", fontsize=LETTERS)
    axes.set_axis_off()


def picture_of_clumps(*clumps: Clump, width: float = 7.0) -> Figure:
    """A Matplotlib figure of clumps side by side, ``width`` in inches."""
    figure = Figure(figsize=(width, 0.45 * width), layout="constrained")
    draw_row(figure.subplots(), [(clump.label, clump.centres, clump.radii) for clump in clumps])
    return figure


def picture_of_scene(scene: Scene | Fluid, state: State, width: float = 5.0) -> Figure:
    """A Matplotlib figure of a scene in its box or drum, ``width`` in inches; ``state`` as from ``scene.initial_state(seed)``.

    Raises
    ------
    ValueError
        If the scene has no box.
    """
    if not np.isfinite(scene.box):
        raise ValueError(f"scene {scene.key!r} has no box to draw; draw its clumps with picture_of_clumps")
    figure = Figure(figsize=(width, width), layout="constrained")
    pixels = round(200 * width)
    film = {**scene.solids(), **scene.outline(), "r": state.r[None], "q": state.q[None]}
    draw(figure.subplots(), film, 0, view_of(film, pixels, pixels))
    return figure
