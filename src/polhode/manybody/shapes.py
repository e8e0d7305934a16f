"""Chess pieces as clumps: radius profiles of our own, each filled with about a hundred spheres.

``pieces/profiles``, beside this module, holds a few heights and radii for each piece of revolution and for the base of the
knight; between them the radius follows a monotone cubic (PCHIP). ``pieces/PIECE.csv`` has the spheres, one per line (x, y, z, r
in cm, the piece standing on z = 0), as any clump file does. ``python -m polhode.manybody.shapes`` fills the profiles again and
rewrites these files.

Every sphere is inscribed: it touches the profile from inside. Spheres are on the axis and in rings about it. They are chosen
one after another, always the sphere or ring that covers the most uncovered volume per sphere. The head of the knight was placed
by hand, as a few chains of spheres (``pieces/profiles/knight_head.csv``). Rings differ in their numbers of spheres, so that a
piece has no symmetry but one mirror plane.
"""

from functools import cache
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from itertools import pairwise
from math import asin, ceil, pi
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from polhode.manybody.clump import Clump

if TYPE_CHECKING:
    from scipy.interpolate import PchipInterpolator

#: The folder of the pieces, which is part of the package.
SHAPES = files("polhode.manybody") / "pieces"
#: The pieces, and the number of each in a game.
PIECES = {"king": 2, "queen": 2, "rook": 4, "bishop": 4, "knight": 4, "pawn": 16}
#: Heights recommended by FIDE, cm; del Valle et al. (2024), Sec. 5.
HEIGHTS = {"king": 9.5, "queen": 8.5, "bishop": 7.0, "knight": 6.0, "rook": 5.5, "pawn": 5.0}
#: Spheres in a piece of revolution; the last ring may add a few. The base of the knight takes fewer.
SPHERES = 100
FOOT = 45
#: No sphere is smaller, cm: the smallest one sets the Rayleigh step.
SMALLEST = 0.25


@cache
def piece(key: str) -> Clump:
    """A chess piece as a clump, read from ``pieces/PIECE.csv``.

    Raises
    ------
    KeyError, FileNotFoundError
        If there is no such piece, or its file is missing.
    """
    if key not in PIECES:
        raise KeyError(f"unknown chess piece {key!r}; known are: {', '.join(PIECES)}")
    with as_file(_existing(SHAPES / f"{key}.csv")) as path:
        return Clump.from_file(path, key=key, label=key, scale=0.01)


def _existing(path: Traversable) -> Traversable:
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing, although it is part of polhode; install polhode again")
    return path


def table(path: Traversable) -> np.ndarray:
    """The numbers of a csv file with comments (#) and one line of names: an array (rows, columns), of pieces in cm.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    """
    lines = [line for line in _existing(path).read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return np.array([[float(word) for word in line.split(",")] for line in lines[1:]])


def profile(key: str) -> "PchipInterpolator":
    """The radius of a piece as a function of height, both in cm, between the foot and the top.

    Raises
    ------
    FileNotFoundError
        If there is no such piece.
    """
    from scipy.interpolate import PchipInterpolator  # takes half a second, and runs with filled pieces do not need it

    height, radius = table(SHAPES / "profiles" / f"{key}.csv").T
    return PchipInterpolator(height, radius)


def outline(key: str, points: int = 400) -> np.ndarray:
    """The half section of a piece from the middle of its base to the middle of its top: (points + 2, 2), height and radius, cm.

    It raises the errors of :func:`profile`.
    """
    curve = profile(key)
    height = np.linspace(curve.x[0], curve.x[-1], points)
    return np.vstack([[height[0], 0.0], np.column_stack([height, curve(height)]), [height[-1], 0.0]])


def inscribed(key: str, rho: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Radius of the largest sphere about each point (rho, z) of the half section that stays inside the piece of revolution.

    ``rho``, the distance from the axis, and ``z``, the height, are arrays of one shape in cm; so is the result, which is zero
    outside the piece. The nearest point of the surface is in the same half plane.
    """
    line = outline(key, 2000)
    a, b = line[:-1], line[1:]
    along = b - a
    length = (along**2).sum(1)
    points = np.column_stack([np.ravel(z), np.ravel(rho)])
    distance = np.empty(len(points))
    for k, point in enumerate(points):
        t = np.clip(((point - a) * along).sum(1) / length, 0, 1)
        distance[k] = np.sqrt(((a + t[:, None] * along - point) ** 2).sum(1).min())
    curve = profile(key)
    inside = (points[:, 0] > curve.x[0]) & (points[:, 0] < curve.x[-1])
    inside &= points[:, 1] < curve(np.clip(points[:, 0], curve.x[0], curve.x[-1]))
    return np.where(inside, distance, 0.0).reshape(np.shape(rho))


def fill(key: str, spheres: int) -> np.ndarray:
    """Spheres (n, 4) inside a piece of revolution: x, y, z, r in cm, on the axis and in rings, chosen greedily.

    n is ``spheres`` or slightly more; fewer if no further sphere would cover anything.
    """
    curve = profile(key)
    top = curve.x[-1]
    # The axis itself is not a surface: only distances to the profile and to the flat ends count.
    z = np.linspace(0.0, top, 81)[1:-1]
    candidates: list[np.ndarray] = []
    for rho in np.concatenate([[0.0], np.linspace(0.15, float(curve(z).max()), 19)]):
        radii = inscribed(key, np.full_like(z, rho), z)
        for height, radius in zip(z, radii, strict=True):
            if radius < SMALLEST:
                continue
            if rho == 0.0:
                candidates.append(np.array([[0.0, 0.0, height, radius]]))
                continue
            # Neighbours in a ring overlap considerably, so that the ring looks round.
            number = max(3, ceil(pi / asin(min(1.0, 0.75 * radius / rho))))
            phi = 2 * pi * np.arange(number) / number
            ring = [rho * np.cos(phi), rho * np.sin(phi), np.full(number, height), np.full(number, radius)]
            candidates.append(np.column_stack(ring))
    points = _grid(key)
    covers = [_covered(points, candidate) for candidate in candidates]
    bare = np.ones(len(points), bool)
    chosen: list[np.ndarray] = []
    while sum(map(len, chosen)) < spheres:
        gains = [np.count_nonzero(bare & cover) / len(candidate) for cover, candidate in zip(covers, candidates, strict=True)]
        best = int(np.argmax(gains))
        if gains[best] == 0:
            break
        chosen.append(candidates[best])
        bare &= ~covers[best]
    placed = np.vstack(chosen)
    order = np.lexsort((placed[:, 1], placed[:, 0], placed[:, 2]))
    return placed[order]


def _grid(key: str) -> np.ndarray:
    """Points of a regular grid inside a piece of revolution, cm."""
    curve = profile(key)
    edge = 0.11
    widest = float(np.max(curve(np.linspace(0, curve.x[-1], 500))))
    x = (np.arange(-ceil(widest / edge), ceil(widest / edge)) + 0.5) * edge
    z = (np.arange(ceil(curve.x[-1] / edge)) + 0.5) * edge
    points = np.stack(np.meshgrid(x, x, z[z < curve.x[-1]], indexing="ij"), -1).reshape(-1, 3)
    inside: np.ndarray = points[np.hypot(points[:, 0], points[:, 1]) < curve(points[:, 2])]
    return inside


def _covered(points: np.ndarray, spheres: np.ndarray) -> np.ndarray:
    """Whether each point is inside any of the spheres."""
    inside = np.zeros(len(points), bool)
    for x, y, z, r in spheres:
        inside |= ((points - (x, y, z)) ** 2).sum(1) < r * r
    return inside


def knight() -> np.ndarray:
    """Spheres (n, 4) of the knight, cm: the base filled, the head as chains of spheres between points placed by hand."""
    head: list[np.ndarray] = []
    rows = table(SHAPES / "profiles" / "knight_head.csv")
    for chain in np.unique(rows[:, 0]):
        knots = rows[rows[:, 0] == chain, 1:]
        for a, b in pairwise(knots):
            # With centres at most 0.6 radii apart the chain looks smooth.
            steps = max(1, ceil(np.linalg.norm(b[:3] - a[:3]) / (0.6 * min(a[3], b[3]))))
            head.extend(a + (b - a) * k / steps for k in range(steps))
        head.append(knots[-1])
    return np.vstack([fill("knight", FOOT), np.array(head)])


def spheres_of(key: str) -> np.ndarray:
    """The spheres (n, 4) of a piece, filled again: x, y, z, r in cm, rounded as they are stored."""
    made = knight() if key == "knight" else fill(key, SPHERES)
    rounded: np.ndarray = np.round(made, 4) + 0.0
    return rounded


def write(folder: Path | None = None) -> None:
    """Fill all pieces and write their files, by default to the folder from which they are read."""
    folder = Path(str(SHAPES)) if folder is None else folder
    for key in PIECES:
        spheres = spheres_of(key)
        lines = [f"# {key}: {len(spheres)} spheres in its profile, cm; made by polhode.manybody.shapes", "x,y,z,r"]
        lines += [",".join(f"{value:g}" for value in row) for row in spheres]
        (folder / f"{key}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def chess() -> tuple[tuple[Clump, int], ...]:
    """The 32 pieces of a game: each clump with the number of its copies."""
    return tuple((piece(key), count) for key, count in PIECES.items())


if __name__ == "__main__":
    write()
