"""Pictures of clumps and scenes: spheres drawn one by one with a depth buffer, so that they hide each other as solids do."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from polhode.manybody.clump import Clump
from polhode.manybody.contact import matrix
from polhode.manybody.placement import State
from polhode.manybody.scene import Scene

#: Colours of the kinds of clump in a picture, by their order in the scene: ivory, ebony and so on, as a chess set has them.
COLOURS = ("#e8d8b0", "#7a4a2b", "#c9a66b", "#4f5d75", "#b5651d", "#93a8ac")


def lab_spheres(clump: Clump, r: Sequence[float], q: Sequence[float]) -> np.ndarray:
    """Lab centres and radii (n, 4) of the spheres of a clump at r (m) with the orientation q."""
    turn = np.array(matrix(tuple(float(x) for x in q))).reshape(3, 3)
    return np.column_stack([clump.centres @ turn.T + np.asarray(r), clump.radii])


def standing(clump: Clump) -> np.ndarray:
    """The spheres (n, 4) of a clump with its long axis upright, the heavier end below."""
    up = lab_spheres(clump, (0, 0, 0), (np.sqrt(0.5), 0, -np.sqrt(0.5), 0))
    # The centre of mass is at the origin: the longer end is the lighter one.
    if (up[:, 2] + up[:, 3]).max() < -(up[:, 2] - up[:, 3]).min():
        up[:, 2] *= -1
        up[:, 1] *= -1
    return up


def view(azimuth: float, elevation: float) -> np.ndarray:
    """Rows right, up and towards the eye (3, 3) of a camera that looks at the origin; angles in degrees."""
    a, e = np.radians([azimuth, elevation])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    eye = np.array([np.cos(a) * np.cos(e), np.sin(a) * np.cos(e), np.sin(e)])
    return np.array([right, np.cross(eye, right), eye])


def render(
    spheres: np.ndarray,
    colours: np.ndarray,
    extent: tuple[float, float, float, float],
    pixels: int = 900,
    camera: np.ndarray | None = None,
) -> np.ndarray:
    """An RGBA image (rows, columns, 4) of spheres in parallel projection, lit from the upper left.

    Parameters
    ----------
    spheres : array (n, 4): centre and radius
    colours : array (n, 3): red, green, blue between 0 and 1
    extent : left, right, bottom, top of the picture in the plane of the camera
    pixels : width of the picture
    camera : rows right, up, towards the eye; see :func:`view`
    """
    camera = view(30, 20) if camera is None else camera
    left, right, bottom, top = extent
    size = (right - left) / pixels
    rows = max(1, round((top - bottom) / size))
    image, depth = np.zeros((rows, pixels, 4)), np.full((rows, pixels), -np.inf)
    light = np.array([-0.45, 0.6, 0.66])
    light /= np.linalg.norm(light)
    seen = spheres[:, :3] @ camera.T
    for (x, y, z), radius, colour in zip(seen, spheres[:, 3], colours, strict=True):
        i0, i1 = (int(np.clip(np.floor((value - left) / size), 0, pixels)) for value in (x - radius, x + radius + size))
        j0, j1 = (int(np.clip(np.floor((top - value) / size), 0, rows)) for value in (y + radius, y - radius - size))
        if i0 >= i1 or j0 >= j1:
            continue
        u = (left + (np.arange(i0, i1) + 0.5) * size - x) / radius
        v = (top - (np.arange(j0, j1) + 0.5) * size - y) / radius
        inside = 1 - u[None] ** 2 - v[:, None] ** 2
        w = np.sqrt(np.maximum(inside, 0))
        patch = depth[j0:j1, i0:i1]
        front = (inside > 0) & (z + radius * w > patch)
        shade = u[None] * light[0] + v[:, None] * light[1] + w * light[2]
        gloss = 0.25 * np.maximum(shade, 0) ** 24
        lit = np.clip((0.35 + 0.65 * np.maximum(shade, 0))[..., None] * colour + gloss[..., None], 0, 1)
        patch[front] = (z + radius * w)[front]
        image[j0:j1, i0:i1, :3][front] = lit[front]
        image[j0:j1, i0:i1, 3][front] = 1
    return image


def picture_of_clump(clump: Clump, colour: str = COLOURS[0], unit: float = 0.01, name: str = "cm") -> Any:
    """A matplotlib figure of one clump, standing, with a scale in ``unit`` m."""
    from matplotlib import pyplot
    from matplotlib.colors import to_rgb

    spheres = standing(clump) / unit
    spheres[:, 2] -= (spheres[:, 2] - spheres[:, 3]).min()
    camera = view(-60, 0)
    seen = spheres[:, :3] @ camera.T
    low, high = (seen - spheres[:, 3:]).min(0), (seen + spheres[:, 3:]).max(0)
    extent = (low[0] - 0.2, high[0] + 0.2, low[1] - 0.2, high[1] + 0.2)
    figure, axes = pyplot.subplots(figsize=(2.2, 2.2 * (extent[3] - extent[2]) / (extent[1] - extent[0])))
    axes.imshow(render(spheres, np.tile(to_rgb(colour), (len(spheres), 1)), extent, 500, camera), extent=extent)
    axes.set_title(f"{clump.label}, {len(clump.radii)} spheres", fontsize=8)
    axes.set_ylabel(name)
    axes.set_xticks([])
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    return figure


def picture_of_scene(
    scene: Scene, state: State, azimuth: float = -55, elevation: float = 22, pixels: int = 1200, width: float = 5.0
) -> Any:
    """A matplotlib figure of a scene: all clumps, and the edges of the box; ``width`` in inches."""
    from matplotlib import pyplot
    from matplotlib.colors import to_rgb

    camera = view(azimuth, elevation)
    order = {id(clump): number for number, (clump, _) in enumerate(scene.clumps)}
    spheres, colours = [], []
    for clump, r, q in zip(scene.every_clump, state.r, state.q, strict=True):
        spheres.append(lab_spheres(clump, r, q))
        colours.append(np.tile(to_rgb(COLOURS[order[id(clump)] % len(COLOURS)]), (len(clump.radii), 1)))
    corners = np.array(np.meshgrid(*[[-1, 1]] * 3, indexing="ij")).reshape(3, -1).T * scene.box / 2
    seen = corners @ camera.T
    pad = 0.02 * scene.box
    extent = (seen[:, 0].min() - pad, seen[:, 0].max() + pad, seen[:, 1].min() - pad, seen[:, 1].max() + pad)
    figure, axes = pyplot.subplots(figsize=(width, width * (extent[3] - extent[2]) / (extent[1] - extent[0])))
    nearest = int(np.argmax(seen[:, 2]))
    for a in range(8):
        for b in range(a + 1, 8):
            if np.count_nonzero(corners[a] != corners[b]) == 1:
                front = nearest in (a, b)
                axes.plot(seen[[a, b], 0], seen[[a, b], 1], color="0.55", lw=0.8, zorder=3 if front else 1)
    axes.imshow(render(np.vstack(spheres), np.vstack(colours), extent, pixels, camera), extent=extent, zorder=2)
    axes.set_axis_off()
    axes.set_xlim(extent[:2])
    axes.set_ylim(extent[2:])
    figure.subplots_adjust(0, 0, 1, 1)
    return figure
