"""Symmetries of a set of spheres: they make moments of inertia equal, which no numerical integration does to the last bit.

Moments of a union are summed over a grid of columns (:mod:`polhode.manybody.mass_properties`), which breaks symmetries in the
fifth digit. A ring of spheres has two equal moments and precesses. With moments that differ in the sixth digit it turns over
instead, as an asymmetric body does about its middle axis.

A rotation or reflection g that maps the spheres onto each other leaves their inertia tensor unchanged, and so does -g. One of
the two is a proper rotation. An axis of such rotations by less than a half turn makes the two moments across it equal, two of
these axes all three; an axis of half turns alone is a principal axis.
"""

from dataclasses import dataclass

import numpy as np

#: Components of an axis below this count as zero: a symmetric clump that lies along the axes of its file stays exactly on them.
ROUND_OFF = 1e-12
#: Points within this fraction of their extent of a straight line are moved onto it.
STRAIGHT = 1e-9
#: A direction in which the spheres of no regular arrangement have the same height, so that few need be compared.
OBLIQUE = np.array([0.5318, 0.3146, 0.7862])


@dataclass(frozen=True)
class Symmetry:
    """What the symmetries of a set of spheres fix.

    Parameters
    ----------
    centre : array (3,)
        A point that all symmetries leave in its place, m.
    fixed : array (3, 3)
        Projection onto the directions in which the centre of mass may lie from there.
    axes : array (3, k)
        Principal axes that follow from the symmetry, unit vectors, as columns; k is 0, 1 or 3.
    equal : int
        How many moments are equal: 0, 2 (those across the one axis) or 3.
    """

    centre: np.ndarray
    fixed: np.ndarray
    axes: np.ndarray
    equal: int


def of_spheres(centres: np.ndarray, radii: np.ndarray, tolerance: float, masses: np.ndarray | None = None) -> Symmetry:
    """The symmetry of spheres with ``centres`` (n, 3) and ``radii`` (n,) in m, and perhaps ``masses`` (n,) in kg.

    Spheres map onto each other if centres and radii agree within ``tolerance``, a fraction of the extent of the clump: numbers
    in files are rounded. So must their masses, if they have any, as a fraction of the largest. Spheres inside another one do
    not count, unless they have masses.
    """
    if masses is None:
        bare = _not_contained(centres, radii)
        centres, radii = centres[bare], radii[bare]
    else:  # of spheres in one place only their sum counts
        rows, place = np.unique(np.column_stack([centres, radii]), axis=0, return_inverse=True)
        centres, radii, masses = rows[:, :3], rows[:, 3], np.bincount(place.ravel(), masses)
    weights = radii**3 / (radii**3).sum()
    centre = (weights[:, None] * centres).sum(0)
    points = centres - centre
    distances = np.sqrt((points**2).sum(1))
    extent = (distances + radii).max()
    near = tolerance * extent
    marks = radii[:, None] if masses is None else np.column_stack([radii, extent * masses / masses.max()])
    if distances.max() <= near:
        return Symmetry(centre, np.zeros((3, 3)), np.empty((3, 0)), 3)
    across = np.sqrt((np.cross(points, points[np.argmax(distances)]) ** 2).sum(1)) / distances.max()
    if across.max() <= near:
        axis = _unit(points[np.argmax(distances)])
        ends = not _mapped(-np.eye(3)[None], points, marks, near)[0]
        return Symmetry(centre, ends * np.outer(axis, axis), axis[:, None], 2)
    group = _group(points, marks, near)
    fixed = group.mean(0)
    rotations = group * np.round(np.linalg.det(group))[:, None, None]
    return Symmetry(centre, np.where(np.abs(fixed) < ROUND_OFF, 0.0, fixed), *_axes(rotations, 10 * tolerance))


def _not_contained(centres: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Which spheres do not lie inside another one; of equal ones one counts."""
    bare = np.ones(len(radii), bool)
    for i in np.argsort(radii, kind="stable"):
        bare[i] = False
        others = bare & (radii >= radii[i])
        inside = np.sqrt(((centres[others] - centres[i]) ** 2).sum(1)) + radii[i] <= radii[others] * (1 + ROUND_OFF)
        bare[i] = not inside.any()
    return bare


def _group(points: np.ndarray, marks: np.ndarray, near: float) -> np.ndarray:
    """All rotations and reflections (m, 3, 3) about the origin that map the spheres onto each other within ``near``.

    ``marks`` (n, k) are what a sphere has beside its centre: the radius, and a length that stands for its mass. Two points that
    are not on one line with the origin have few possible images, and these determine the operation.
    """
    distances = np.sqrt((points**2).sum(1))

    def images(k: int) -> np.ndarray:
        alike: np.ndarray = (np.abs(distances - distances[k]) <= near) & (np.abs(marks - marks[k]) <= near).all(axis=1)
        return alike

    number = np.array([np.count_nonzero(images(k)) for k in range(len(marks))])
    first = _fewest(number, distances)
    second = _fewest(number, np.sqrt((np.cross(points, points[first]) ** 2).sum(1)))
    a, b = np.flatnonzero(images(first)), np.flatnonzero(images(second))
    gaps = np.sqrt(((points[a][:, None] - points[b]) ** 2).sum(2))
    gap = np.sqrt(((points[first] - points[second]) ** 2).sum())
    a, b = (index[chosen] for index, chosen in zip((a, b), np.nonzero(np.abs(gaps - gap) <= 2 * near), strict=True))
    start, ends = _frames(points[first], points[second]), _frames(points[a], points[b])
    # The third vector of a frame is a product of the other two; a reflection reverses it.
    candidates = np.concatenate([_product(ends * [1.0, 1.0, sign], start.T) for sign in (1, -1)])
    group: np.ndarray = candidates[_mapped(candidates, points, marks, near)]
    return group


def _fewest(number: np.ndarray, size: np.ndarray) -> int:
    """The place of the least number among those with a size of at least a third of the largest, which are precise."""
    return int(np.argmin(np.where(size >= size.max() / 3, number, number.max() + 1)))


def _mapped(operations: np.ndarray, points: np.ndarray, marks: np.ndarray, near: float) -> np.ndarray:
    """Which operations (m, 3, 3) map the spheres onto each other."""

    def height(x: np.ndarray) -> np.ndarray:
        along: np.ndarray = (x * OBLIQUE).sum(1)
        return along

    spheres = np.column_stack([points, marks])
    spheres = spheres[np.argsort(height(points), kind="stable")]
    heights = height(spheres[:, :3])
    good = np.ones(len(operations), bool)
    for k, operation in enumerate(operations):
        image = np.column_stack([_product(operation, spheres[:, :3, None])[:, :, 0], spheres[:, 3:]])
        # Most candidates that are no symmetry misplace one of the first spheres.
        for some in (image[:8], image):
            begin, end = (np.searchsorted(heights, height(some[:, :3]) + side * 2 * near) for side in (-1, 1))
            index, nearest = np.full(len(some), -1), np.full(len(some), 2 * near)
            for step in range(int((end - begin).max())):
                other = np.minimum(begin + step, len(spheres) - 1)
                distance = np.sqrt(((spheres[other] - some) ** 2).sum(1))
                index = np.where(distance <= nearest, other, index)
                nearest = np.minimum(nearest, distance)
            good[k] &= bool((index >= 0).all()) and len(set(index.tolist())) == len(some)
            if not good[k]:
                break
    return good


def _axes(rotations: np.ndarray, noise: float) -> tuple[np.ndarray, int]:
    """The principal axes (3, k) that a group of rotations fixes, and the number of equal moments."""
    skew = rotations - rotations.transpose(0, 2, 1)
    turning = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)  # twice the sine of the angle times the axis
    sines = np.sqrt((turning**2).sum(1)) / 2
    several = np.argsort(-sines, kind="stable")[: np.count_nonzero(sines > noise)]
    if len(several):
        axis = _unit(turning[several[0]])
        if any(np.sqrt((np.cross(axis, _unit(turning[k])) ** 2).sum()) > 0.1 for k in several):
            return np.empty((3, 0)), 3
        return axis[:, None], 2
    halves = [half for half in (rotations + np.eye(3)) / 2 if np.trace(half) < 2]  # n n^T for a half turn about n
    axes = [_unit(half[:, np.argmax(np.diag(half))]) for half in halves]
    if len(axes) < 2:
        return np.array(axes).reshape(-1, 3).T, 0
    second = _unit(axes[1] - (axes[0] * axes[1]).sum() * axes[0])
    return np.column_stack([axes[0], second, _unit(np.cross(axes[0], second))]), 0


def across(axis: np.ndarray) -> np.ndarray:
    """Two unit vectors, the columns of an array (3, 2), that make a right-handed frame behind a unit vector ``axis`` (3,).

    The first is as close to a coordinate axis as it can be.
    """
    unit = np.eye(3)[np.argmin(np.abs(axis))]
    first = _unit(unit - (unit * axis).sum() * axis)
    return np.column_stack([first, np.cross(axis, first)])


def turned(points: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """The components (n, m) of ``points`` (n, k) along the m columns of ``axes`` (k, m), in the unit of the points.

    It is the product of both, summed in one order: BLAS rounds products otherwise on other processors.
    """
    return np.ascontiguousarray(sum(points[:, [k]] * axes[k] for k in range(len(axes))))


def straightened(centres: np.ndarray, tolerance: float = STRAIGHT) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The centres (n, 3), moved onto the x axis of a frame along their line if they lie on one; its origin (3,); its axes.

    The axes are the columns of an array (3, 3). Centres and origin are in the unit of the arguments. The centres lie on a line
    if none is further from it than ``tolerance`` times its length; if not, they stay as they are, with the origin zero and the
    axes of the coordinates.
    """
    away = centres - centres[0]
    distances = np.linalg.norm(away, axis=1)
    length = distances.max()
    if not away[:, 1:].any():
        return np.column_stack([centres[:, 0], np.zeros((len(centres), 2))]), centres[0] * [0.0, 1.0, 1.0], np.eye(3)
    direction = away[np.argmax(distances)] / length
    along = turned(away, direction[:, None])[:, 0]
    if np.linalg.norm(away - np.outer(along, direction), axis=1).max() > tolerance * length:
        return centres, np.zeros(3), np.eye(3)
    axes = np.column_stack([direction, across(direction)])
    return np.column_stack([along, np.zeros((len(centres), 2))]), centres[0], axes


def _frames(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Orthonormal right-handed frames (..., 3, 3), as columns, whose first two vectors span those of a and b (..., 3)."""
    first = a / np.sqrt((a**2).sum(-1, keepdims=True))
    normal = np.cross(a, b)
    third = normal / np.sqrt((normal**2).sum(-1, keepdims=True))
    return np.stack([first, np.cross(third, first), third], axis=-1)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b, summed in one order on every processor; BLAS is not."""
    product: np.ndarray = a[..., :, 0:1] * b[..., 0:1, :] + a[..., :, 1:2] * b[..., 1:2, :] + a[..., :, 2:3] * b[..., 2:3, :]
    return product


def _unit(vector: np.ndarray) -> np.ndarray:
    """The unit vector along a vector, without components of round-off, its largest component positive."""
    unit = vector / np.sqrt((vector**2).sum())
    unit = np.where(np.abs(unit) < ROUND_OFF, 0.0, unit)
    longest = unit[np.argmax(np.abs(unit))]
    positive: np.ndarray = unit / np.sqrt((unit**2).sum()) * np.sign(longest)
    return positive
