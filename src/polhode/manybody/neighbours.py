"""The list of spheres that may touch soon; it remains valid while every clump is within its margin, however it turns.

When a list is made, every clump gets a margin, a length proportional to its present speed. Two clumps are listed if any of
their spheres are closer than the sum of the two margins, so nothing else can touch before some clump has used up its margin.
How much a clump has used is bounded by its displacement and by how far its long axis and its quaternion have turned
(:func:`used_margin`). The bound holds for any motion, including that of a method that fails. When a margin is used up, a new
list is made before any contact is examined.

Two clumps that were some distance apart need not be examined before they have used up that part of their margins: each group of
near spheres sleeps until then, so margins can be wide. Their width is controlled by counting, never by the clock: making lists
should cost as much as traversing what is in them in vain. The contacts found, and the order in which they are summed, do not
depend on it.

The kernels share their arguments. ``fields`` is the flat float array of the records of all clumps, which have ``width`` fields
each, and i the index at which the record of one begins (:mod:`polhode.compiling.lanes`); ``r`` (3,) its centre of mass in the
lab, ``q`` (4,) its orientation, scalar first, body to lab, and ``m`` (9,) the rotation matrix of q, row by row; ``spheres`` (4,
n) are x, y, z in the body frame and the radius of all spheres, of a clump the ``many`` from ``first`` on; ``along`` and
``beside`` the largest distances of its sphere centres along and beside its long axis; ``rates`` (count, 3) the present speeds,
in m/s, of the three displacements in :func:`used_margin`; ``periods`` as in :class:`polhode.manybody.contact.Setup`. Arrays
that have the name of a field of :class:`Listed` or :class:`Scratch` are that field. Lengths are in m.
"""

from collections.abc import Callable
from functools import cache
from math import floor, sqrt
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra.quaternion import norm_squared
from polhode.algebra.vector import add, dot
from polhode.compiling.kernel import compiled, kernel, subroutine
from polhode.compiling.lanes import (
    AXIS_LISTED,
    FRACTION,
    Q_LISTED,
    R_LISTED,
    WEIGHTS,
    fields_from,
    load_q,
    load_r,
    loader,
    place,
    storer,
)
from polhode.manybody.contact import (
    GENEROUS,
    PLANES,
    Setup,
    depth_in_drum,
    depth_in_wall,
    in_body,
    interaction,
    lab_position,
    matrix,
    nearest_image,
    sphere_of,
    subtract,
    wall_depth,
    walls_at,
)
from polhode.manybody.law import ForceLaw
from polhode.manybody.memory import POWER, STEP, Memory, add_work_of_walls

#: Round-off in the bound must not hide a contact: a clump counts as outside slightly before its margin ends.
CAUTION = 1e-6
#: Up to this many clumps a new list examines all pairs; beyond, cells are cheaper.
FEW = 64
#: Margins of slow and fast clumps, in units of the mean one.
SLOW, FAST = 0.5, 3.0
#: Approximate costs in ns: of a new list for each clump, pair of near clumps, and sphere or pair of spheres in them; and of
#: traversing the list for each sleeping group, group awake, sphere and pair of spheres. They weight the counts that control the
#: margins.
PER_CLUMP, PER_NEAR, PER_SPHERE, PER_CANDIDATE = 100.0, 30.0, 1.0, 0.5
PER_ASLEEP, PER_AWAKE, PER_ROTATED, PER_PAIR = 1.5, 15.0, 3.0, 2.5
#: The least that a group costs which touches, and one of its contacts: no list can do without it.
PER_NEEDED, PER_CONTACT = PER_ASLEEP + PER_AWAKE, PER_ROTATED + PER_PAIR

#: Counters of work done, see polhode.manybody.simulation.WORK.
LISTS, GROUPS, SPHERES, PAIRS, CONTACTS, MARGIN = range(6)

load_listed_r, load_listed_axis, load_listed_q = (
    loader(fields_from(R_LISTED, 3)),
    loader(fields_from(AXIS_LISTED, 3)),
    loader(fields_from(Q_LISTED, 4)),
)
store_listed_r, store_listed_axis, store_listed_q = (
    storer(fields_from(R_LISTED, 3)),
    storer(fields_from(AXIS_LISTED, 3)),
    storer(fields_from(Q_LISTED, 4)),
)
load_weights, store_weights = loader(fields_from(WEIGHTS, 3)), storer(fields_from(WEIGHTS, 3))
load_fraction, store_fraction = loader(fields_from(FRACTION, 1)), storer(fields_from(FRACTION, 1))


@kernel
def used_margin(fields: Any, i: Any, r: Any, q: Any) -> float:
    """An upper bound to the squared fraction of its margin that a clump has used since the list was made. A number.

    No sphere of the clump has moved further than |r - r0| + X |e - e0| + k Y |q - q0|, where e is its long axis in the lab, X
    and Y are the largest distances of sphere centres along and beside it, and k = |q| + |q0|. For any weights
    (a + b + c)^2 <= (s + t + u) (a^2/s + b^2/t + c^2/u), so no root is needed.
    """
    x, y, z = load_listed_r(fields, i)
    dx, dy, dz = r[0] - x, r[1] - y, r[2] - z
    a, b, c, d = load_listed_q(fields, i)
    da, db, dc, dd = q[0] - a, q[1] - b, q[2] - c, q[3] - d
    ex, ey, ez = load_listed_axis(fields, i)
    ex = ((q[0] * q[0] + q[1] * q[1]) - (q[2] * q[2] + q[3] * q[3])) - ex
    ey = 2.0 * (q[1] * q[2] + q[0] * q[3]) - ey
    ez = 2.0 * (q[1] * q[3] - q[0] * q[2]) - ez
    of_centre, of_axis, of_turn = load_weights(fields, i)
    used: float = (
        of_centre * (dx * dx + dy * dy + dz * dz)
        + of_axis * (ex * ex + ey * ey + ez * ez)
        + of_turn * (da * da + db * db + dc * dc + dd * dd)
    )
    return used


@kernel
def weights(margin: float, q: Any, along: float, beside: float, rates: Any) -> Any:
    """The three weights of :func:`used_margin` for a margin in m. In 1/m^2, and two numbers without a unit.

    ``rates`` are the present rates of the three displacements (m/s); with them as weights of the squares the bound is close.
    If the bound is below the margin, |q - q0| is below d = margin/(2 Y |q0|), so that k is below 2 |q0| + d.
    """
    total = rates[0] + rates[1] + rates[2]
    total = total if total > 0.0 else 1.0
    least = 0.03 * total
    s = max(rates[0], least)
    t = max(rates[1], least) if along > 0.0 else 0.0
    u = max(rates[2], least) if beside > 0.0 else 0.0
    scale = (s + t + u) / (margin * margin * (1.0 - CAUTION) ** 2)
    norm = sqrt(norm_squared(q))
    of_turn = 0.0
    if beside > 0.0:
        k = (2.0 * norm + margin / (2.0 * beside * norm)) * beside
        of_turn = scale * k * k / u
    of_axis = scale * along * along / t if along > 0.0 else 0.0
    return scale / s, of_axis, of_turn


@kernel
def reaches(way: Any, spheres: Any, first: int, many: int, out: Any) -> float:
    """Compute how far each sphere of a clump reaches along ``way`` (body frame) from its centre of mass; returns the furthest.

    ``way`` (3,) is a unit vector, and ``out`` (many,) gets the lengths, m.

    The loop vectorises: its indices are unsigned, and nothing in it depends on what it finds.
    """
    furthest = -np.inf
    for k in range(np.uint64(many)):
        a = np.uint64(first) + np.uint64(k)
        reach = (way[0] * spheres[0, a] + way[1] * spheres[1, a] + way[2] * spheres[2, a]) + spheres[3, a]
        out[np.uint64(k)] = reach
        furthest = reach if reach > furthest else furthest
    return furthest


@kernel
def any_within(r: Any, reach: float, lab: Any, many: int) -> bool:
    """Whether one of the candidates of the second clump comes within ``reach`` (m) of the point r (3,); vectorises.

    The rows 4 to 7 of ``lab`` have their centres and radii; the radius is added to ``reach``.
    """
    near = 0
    for v in range(np.uint64(many)):
        x, y, z = r[0] - lab[4, v], r[1] - lab[5, v], r[2] - lab[6, v]
        bound = reach + lab[7, v]
        near |= x * x + y * y + z * z <= bound * bound
    return near != 0


@kernel
def put_in_lab(r: Any, m: Any, sphere: Any, out: Any, row: int, k: int) -> None:
    """Write lab position and radius of a ``sphere`` (4,) of a clump, m, into column k of ``out``, four rows from ``row`` on."""
    x, y, z = lab_position(r, m, sphere)
    out[row, k] = x
    out[row + 1, k] = y
    out[row + 2, k] = z
    out[row + 3, k] = sphere[3]


class Listed(NamedTuple):
    """The neighbour list that each step traverses.

    Parameters
    ----------
    groups : (groups, 8), int: clump; other clump, or -1 - wall; spheres of both and their pairs, each as first index and number
    limits : (groups,): squared fraction of the margins up to which the group sleeps
    near : (4, spheres): x, y, z (body frame) and radius
    index : (spheres,), int: which sphere of its clump each is
    at : (3, spheres): lab positions
    pairs : (2, pairs), int: both spheres of a pair
    sums : (pairs,): square of the sum of their radii
    hit : (2 groups,), int: places of clumps that carry loads
    """

    groups: Any
    limits: Any
    near: Any
    index: Any
    at: Any
    pairs: Any
    sums: Any
    hit: Any


class Scratch(NamedTuple):
    """Work arrays for making a list.

    Parameters
    ----------
    margins : (count,), m
    lab : (10, most): lab positions and radii of the candidates of two clumps, and how far all their spheres reach towards each
        other
    marks : (4, most), int: candidates of both, and their places in the list
    places : (count, 4): x, y, z of the clumps, cell by cell, and how far each reaches including its margin
    order : (count,), int: the indices of these clumps
    cell : (count,), int: the cell of each clump
    starts : (cells + 1,), int: index of the first clump of each cell among them, and finally their number
    chains : (count,), int: index of each clump's first entry in ``links``, or -1
    links : (links, 2), int: a near clump with a higher index, and the next link or -1
    axes : (count, 11): first point and direction of the capsule's axis, its width, the reach, and the centre of mass
    """

    margins: Any
    lab: Any
    marks: Any
    places: Any
    order: Any
    cell: Any
    starts: Any
    chains: Any
    links: Any
    axes: Any


@kernel
def closest_points(p: Any, d: Any, q: Any, e: Any) -> Any:
    """The shortest vector from the segment p .. p + d to the segment q .. q + e. (3,), in the unit of the points.

    Ericson, Real-Time Collision Detection (2005), Sec. 5.1.9. Segments within 1e-7 of parallel count as parallel; that
    lengthens the vector by at most 1e-7 of their length, far less than the caution of the list.
    """
    r = (p[0] - q[0], p[1] - q[1], p[2] - q[2])
    a, b, c = dot(d, d), dot(d, e), dot(d, r)
    f, g = dot(e, e), dot(e, r)
    determinant = a * f - b * b
    s = clamp((b * g - c * f) / determinant) if determinant > 1e-14 * a * f else 0.0
    t = (b * s + g) / f if f > 0.0 else 0.0
    if t < 0.0 or t > 1.0 or f == 0.0:
        t = clamp(t)
        s = clamp((b * t - c) / a) if a > 0.0 else 0.0
    return (
        (q[0] + t * e[0]) - (p[0] + s * d[0]),
        (q[1] + t * e[1]) - (p[1] + s * d[1]),
        (q[2] + t * e[2]) - (p[2] + s * d[2]),
    )


@kernel
def clamp(x: float) -> float:
    """The number x limited to the range from 0 to 1."""
    return min(max(x, 0.0), 1.0)


@compiled
def empty_lists(groups: int, spheres: int, pairs: int, links: int, count: int, most: int) -> Any:
    """Space for this many groups, spheres, pairs and links, and to make a list for ``count`` clumps of at most ``most``
    spheres: a :class:`Listed` and a :class:`Scratch`."""
    listed = Listed(
        np.zeros((groups, 8), np.int64),
        np.zeros(groups),
        np.zeros((4, spheres)),
        np.zeros(spheres, np.int64),
        np.zeros((3, spheres)),
        np.zeros((2, pairs), np.int64),
        np.zeros(pairs),
        np.zeros(2 * groups, np.int64),
    )
    scratch = Scratch(
        np.zeros(count),
        np.zeros((10, most)),
        np.zeros((4, most), np.int64),
        np.zeros((count, 4)),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.zeros(4 * count + 65, np.int64),
        np.zeros(count, np.int64),
        np.zeros((links, 2), np.int64),
        np.zeros((count, 11)),
    )
    return listed, scratch


@kernel
def has_room(needed: Any, listed: Listed, scratch: Scratch) -> bool:
    """Whether what :func:`make_list` has counted (groups, spheres, pairs, links) fits."""
    groups, spheres, pairs, links = needed
    fits: bool = (
        groups <= listed.limits.size
        and spheres <= listed.near.shape[1]
        and pairs <= listed.sums.size
        and links <= scratch.links.shape[0]
    )
    return fits


@compiled
def make_list(
    fields: Any, width: int, count: int, setup: Setup, rates: Any, skin: float, listed: Listed, scratch: Scratch
) -> Any:
    """List what may touch while no clump uses up its margin, from the positions in ``fields``.

    ``rates`` (count, 3) are described in :func:`weights`, ``skin`` is the mean margin (m). Returns the numbers of groups,
    spheres, pairs and links, and the approximate cost (ns). If a number exceeds the space in ``listed`` and ``scratch``, the
    list is incomplete and must be made again with more.
    """
    first, many, spheres, extents, half = setup.first, setup.many, setup.spheres, setup.extents, setup.half
    groups, limits, near, index, pairs = listed.groups, listed.limits, listed.near, listed.index, listed.pairs
    margins, lab, marks, axes = scratch.margins, scratch.lab, scratch.marks, scratch.axes
    chains, links = scratch.chains, scratch.links
    reach = extents[0]
    mean = mean_rate(rates, count)
    widest, furthest, limit = 0.0, 0.0, longest_margin(fields, width, count, setup)
    for c in range(count):
        i = place(c, width)
        r, q = load_r(fields, i), load_q(fields, i)
        margin = margin_at(rates, c, mean, skin, limit)
        margins[c] = margin
        widest = max(widest, margin)
        m = matrix(q)
        stretch = norm_squared(q) * GENEROUS
        furthest = max(furthest, reach[c] * stretch)
        low, length = extents[3, c], extents[4, c] - extents[3, c]
        for k in range(3):
            axes[c, k] = r[k] + low * m[3 * k]
            axes[c, 3 + k] = length * m[3 * k]
            axes[c, 8 + k] = r[k]
        axes[c, 6] = extents[5, c] * stretch
        axes[c, 7] = reach[c] * stretch
        begin_margin(fields, i, r, q, m, margin, extents[1, c], extents[2, c], rates, c)
    cells = sort_into_cells(fields, width, count, 2.0 * (widest + furthest), setup.periods, scratch)
    n_links = chain_near_clumps(count, cells, setup.periods, scratch)
    # A literal 0 would be part of the signatures of what these are passed to, which would be compiled once more.
    zero: Any = np.int64(0)
    n_groups, n_spheres, n_pairs = zero, zero, zero
    if n_links > links.shape[0]:
        return (n_groups, n_spheres, n_pairs, n_links), 0.0
    cost = PER_CLUMP * count
    for c in range(count):
        i = place(c, width)
        begin_i, way_i = (axes[c, 0], axes[c, 1], axes[c, 2]), (axes[c, 3], axes[c, 4], axes[c, 5])
        n_a = many[c]
        for w in range(setup.walls.size):
            wall = setup.walls[w]
            if bound_in_wall(wall, begin_i, add(begin_i, way_i), axes[c, 6] + margins[c], setup) < 0.0:
                continue
            cost += PER_NEAR + PER_SPHERE * n_a
            ri, mi = load_r(fields, i), matrix(load_q(fields, i))
            slack = margins[c] * (1.0 + CAUTION)
            if wall < PLANES:
                axis = wall // 2
                sign = 1.0 if wall % 2 == 1 else -1.0
                way = (sign * mi[3 * axis], sign * mi[3 * axis + 1], sign * mi[3 * axis + 2])
                # From the centre of mass to the wall, where that comes closest.
                room = (half - abs(setup.shaking[axis])) - sign * ri[axis]
                closest = room - reaches(way, spheres, first[c], n_a, lab[8])
            else:
                room, closest = 0.0, np.inf
                for k in range(n_a):
                    sphere = sphere_of(spheres, first[c] + k)
                    lab[8, k] = depth_in_drum(wall, lab_position(ri, mi, sphere), sphere[3] + shaken(setup), setup)
                    closest = min(closest, -lab[8, k])
            if closest > slack:
                continue
            begin = n_spheres
            for k in range(n_a):
                if room - lab[8, k] <= slack:
                    if n_spheres < near.shape[1]:
                        for row in range(4):
                            near[row, n_spheres] = spheres[row, first[c] + k]
                        index[n_spheres] = k
                    n_spheres += 1
            if n_groups < limits.size:
                limits[n_groups] = asleep_until(closest, margins[c])
                enter(groups, n_groups, (c, -1 - wall, begin, n_spheres - begin, n_spheres, zero, n_pairs, zero))
            n_groups += 1
        link = chains[c]
        while link >= 0:
            d, link = links[link, 0], links[link, 1]
            margin = margins[c] + margins[d]
            ri, rj = (axes[c, 8], axes[c, 9], axes[c, 10]), (axes[d, 8], axes[d, 9], axes[d, 10])
            begin_j, way_j = (axes[d, 0], axes[d, 1], axes[d, 2]), (axes[d, 3], axes[d, 4], axes[d, 5])
            if setup.periods.size > 0:
                image = nearest_image(setup.periods, ri, rj)
                begin_j, rj = add(begin_j, subtract(image, rj)), image
            x, y, z = closest_points(begin_i, way_i, begin_j, way_j)
            squared = x * x + y * y + z * z
            bound = (axes[c, 6] + axes[d, 6] + margin) * (1.0 + CAUTION)
            cost += PER_NEAR
            if squared > bound * bound:
                continue
            n_b = many[d]
            cost += PER_SPHERE * (n_a + n_b)
            # Candidates are the spheres that, along the shortest vector between the axes, reach into the other clump's extent.
            distance = sqrt(squared)
            scale = 1.0 / distance if distance > 0.0 else 0.0
            way = (x * scale, y * scale, z * scale)
            j = place(d, width)
            mi, mj = matrix(load_q(fields, i)), matrix(load_q(fields, j))
            apart = dot((rj[0] - ri[0], rj[1] - ri[1], rj[2] - ri[2]), way)
            back = in_body(mj, way)
            end_a = reaches(in_body(mi, way), spheres, first[c], n_a, lab[8])
            end_b = reaches((-back[0], -back[1], -back[2]), spheres, first[d], n_b, lab[9])
            slack = margin * (1.0 + CAUTION)
            if apart - (end_a + end_b) > slack:
                continue
            some_a, some_b = zero, zero
            for a in range(n_a):
                marks[2, a] = -1
                if apart - (lab[8, a] + end_b) <= slack:
                    marks[0, some_a] = a
                    put_in_lab(ri, mi, sphere_of(spheres, first[c] + a), lab, 0, some_a)
                    some_a += 1
            for b in range(n_b):
                marks[3, b] = -1
                if apart - (end_a + lab[9, b]) <= slack:
                    marks[1, some_b] = b
                    put_in_lab(rj, mj, sphere_of(spheres, first[d] + b), lab, 4, some_b)
                    some_b += 1
            cost += PER_CANDIDATE * some_a * some_b
            begin_pairs = n_pairs
            closest = np.inf
            for u in range(some_a):
                at_u, reach = (lab[0, u], lab[1, u], lab[2, u]), lab[3, u] + margin
                if not any_within(at_u, reach, lab, some_b):
                    continue
                for v in range(some_b):
                    dx, dy, dz = at_u[0] - lab[4, v], at_u[1] - lab[5, v], at_u[2] - lab[6, v]
                    squared = dx * dx + dy * dy + dz * dz
                    bound = reach + lab[7, v]
                    if squared <= bound * bound:
                        closest = min(closest, sqrt(squared) - (lab[3, u] + lab[7, v]))
                        a, b = marks[0, u], marks[1, v]
                        marks[2, a] = 0
                        marks[3, b] = 0
                        if n_pairs < pairs.shape[1]:
                            pairs[0, n_pairs] = a
                            pairs[1, n_pairs] = b
                        n_pairs += 1
            if n_pairs == begin_pairs:
                continue
            begin_a = n_spheres
            n_spheres = take(marks[2], n_a, first[c], spheres, near, index, n_spheres)
            begin_b_list = n_spheres
            n_spheres = take(marks[3], n_b, first[d], spheres, near, index, n_spheres)
            name_pairs(listed, marks, begin_pairs, n_pairs)
            if n_groups < limits.size:
                limits[n_groups] = asleep_until(closest, margin)
                of_a, of_b = (begin_a, begin_b_list - begin_a), (begin_b_list, n_spheres - begin_b_list)
                enter(groups, n_groups, (c, d) + of_a + of_b + (begin_pairs, n_pairs - begin_pairs))  # noqa: RUF005
            n_groups += 1
    return (n_groups, n_spheres, n_pairs, n_links), cost


@kernel
def mean_rate(rates: Any, count: int) -> float:
    """The mean speed of all clumps, of which margins are made, m/s."""
    mean = 0.0
    for c in range(count):
        mean += rates[c, 0] + rates[c, 1] + rates[c, 2]
    return mean / count


@kernel
def margin_at(rates: Any, c: int, mean: float, skin: float, limit: float) -> float:
    """The margin of a clump, m: ``skin`` for one of the mean speed, others in proportion, and at most ``limit``.

    The proportion is at least :data:`SLOW` and at most :data:`FAST`; of clumps at rest it is 1.
    """
    speed = rates[c, 0] + rates[c, 1] + rates[c, 2]
    margin = skin * (min(max(speed / mean, SLOW), FAST) if mean > 0.0 else 1.0)
    return min(margin, limit)  # type: ignore[no-any-return]


@kernel
def begin_margin(
    fields: Any, i: Any, r: Any, q: Any, m: Any, margin: float, along: float, beside: float, rates: Any, c: int
) -> None:
    """Write from where a clump uses up its margin (m): its pose, with the matrix m, and the weights of :func:`used_margin`."""
    store_listed_r(fields, i, r)
    store_listed_axis(fields, i, (m[0], m[3], m[6]))
    store_listed_q(fields, i, q)
    store_weights(fields, i, weights(margin, q, along, beside, (rates[c, 0], rates[c, 1], rates[c, 2])))
    store_fraction(fields, i, (0.0,))


@subroutine
def longest_margin(fields: Any, width: int, count: int, setup: Setup) -> float:
    """The longest margin with which two clumps can touch in one image only, the nearest when the list is made, m."""
    limit, furthest, periods = np.inf, 0.0, setup.periods
    if periods.size > 0:
        for c in range(count):
            furthest = max(furthest, setup.extents[0, c] * norm_squared(load_q(fields, place(c, width))))
        for axis in range(3):
            if periods[axis] > 0.0:
                limit = min(limit, max(0.25 * periods[axis] - furthest, 1e-6 * periods[axis]))
    return limit * (1.0 - CAUTION)


@kernel
def shaken(setup: Setup) -> float:
    """The amplitude of the walls, m."""
    x, y, z = setup.shaking[0], setup.shaking[1], setup.shaking[2]
    return sqrt(x * x + y * y + z * z)


@kernel
def bound_in_wall(wall: int, begin: Any, end: Any, width: float, setup: Setup) -> float:
    """A bound to the depth of a capsule in a wall wherever that is shaken to, m.

    ``begin`` and ``end`` (3,) are both ends of its axis in the lab, and ``width`` its radius, m.
    """
    if wall < PLANES:
        axis = wall // 2
        outmost = max(begin[axis], end[axis]) if wall % 2 == 1 else min(begin[axis], end[axis])
        return wall_depth(wall, outmost, width, setup.half - abs(setup.shaking[axis]))
    width += shaken(setup)
    return max(depth_in_drum(wall, begin, width, setup), depth_in_drum(wall, end, width, setup))


@kernel
def asleep_until(gap: float, margin: float) -> float:
    """The squared fraction of the margins below which a gap (m) cannot close."""
    part = max(gap, 0.0) / margin * (1.0 - CAUTION)
    return part * part


@kernel
def enter(groups: Any, g: int, values: Any) -> None:
    """Write the ``values`` of one group into row ``g`` of ``groups``."""
    for k in range(8):
        groups[g, k] = values[k]


@subroutine
def take(marks: Any, many: int, first: int, spheres: Any, near: Any, index: Any, n: int) -> int:
    """Append the marked spheres of a clump to the list and note the place of each; returns the new number of listed spheres.

    ``marks`` (many,) is 0 for a marked sphere, and n is the number of listed spheres before.
    """
    for k in range(many):
        if marks[k] == 0:
            marks[k] = n
            if n < near.shape[1]:
                for row in range(4):
                    near[row, n] = spheres[row, first + k]
                index[n] = k
            n += 1
    return n


@subroutine
def name_pairs(listed: Listed, marks: Any, begin: int, end: int) -> None:
    """Replace the indices of spheres within their clumps by their places in the list, and store the squared sums of radii.

    This is done of the pairs from ``begin`` to ``end``; the last two rows of ``marks`` have the places.
    """
    near, pairs, sums = listed.near, listed.pairs, listed.sums
    for p in range(begin, min(end, pairs.shape[1])):
        a, b = marks[2, pairs[0, p]], marks[3, pairs[1, p]]
        pairs[0, p] = a
        pairs[1, p] = b
        if max(a, b) < near.shape[1]:
            both = near[3, a] + near[3, b]
            sums[p] = both * both


@subroutine
def sort_into_cells(fields: Any, width: int, count: int, least: float, periods: Any, scratch: Scratch) -> Any:
    """Sort the clumps into cells with edges of at least ``least``; returns the number of cells along each axis. Lengths in m.

    Along a periodic axis the cells fill the period, and are one or at least three.

    Few clumps share a single cell. The clumps of a cell, and of cells in a row, are adjacent in memory, so a search reads
    little.
    """
    margins, places, order, starts, axes = scratch.margins, scratch.places, scratch.order, scratch.starts, scratch.axes
    cell = scratch.cell
    low_x, low_y, low_z = np.inf, np.inf, np.inf
    high_x, high_y, high_z = -np.inf, -np.inf, -np.inf
    if count > FEW:
        for c in range(count):
            r = wrapped(periods, load_r(fields, place(c, width)))
            low_x, low_y, low_z = min(low_x, r[0]), min(low_y, r[1]), min(low_z, r[2])
            high_x, high_y, high_z = max(high_x, r[0]), max(high_y, r[1]), max(high_z, r[2])
    longest = max(high_x - low_x, high_y - low_y, high_z - low_z)
    edge = least
    (nx, lx, ex), (ny, ly, ey), (nz, lz, ez) = (1, low_x, least), (1, low_y, least), (1, low_z, least)
    if count > FEW and longest > 3.0 * least:
        while True:
            nx, lx, ex = along_one_axis(periods, 0, low_x, high_x, edge)
            ny, ly, ey = along_one_axis(periods, 1, low_y, high_y, edge)
            nz, lz, ez = along_one_axis(periods, 2, low_z, high_z, edge)
            if float(nx) * float(ny) * float(nz) < starts.size:
                break
            edge *= 1.25
    cells, low, edges = (nx, ny, nz), (lx, ly, lz), (ex, ey, ez)
    number = nx * ny * nz
    if number == 1:
        starts[0], starts[1] = 0, count
        for c in range(count):
            put(places, order, c, c, wrapped(periods, load_r(fields, place(c, width))), axes[c, 7] + margins[c])
        return cells
    for k in range(number + 1):
        starts[k] = 0
    for c in range(count):
        at = cell_of(wrapped(periods, load_r(fields, place(c, width))), cells, low, edges)
        cell[c] = (at[0] * ny + at[1]) * nz + at[2]
        starts[cell[c]] += 1
    total = 0
    for k in range(number + 1):
        total += starts[k]
        starts[k] = total
    for back in range(count):
        c = count - 1 - back  # so that each cell is in ascending order
        starts[cell[c]] -= 1
        r = wrapped(periods, load_r(fields, place(c, width)))
        put(places, order, starts[cell[c]], c, r, axes[c, 7] + margins[c])
    return cells


@kernel
def wrapped(periods: Any, r: Any) -> Any:
    """The image (3,) of a position in the box, in the unit of the position."""
    return nearest_image(periods, (0.0, 0.0, 0.0), r)


@kernel
def along_one_axis(periods: Any, axis: int, low: float, high: float, edge: float) -> Any:
    """The number of cells along an axis, where they begin (m), and their edge (m), which is at least ``edge``.

    The clumps lie from ``low`` to ``high``, m.
    """
    if periods.size > 0 and periods[axis] > 0.0:
        period = periods[axis]
        number = floor(period / edge)
        number = number if number >= 3 else 1
        return number, -0.5 * period, period / number
    return floor((high - low) / edge) + 1, low, edge


@kernel
def put(places: Any, order: Any, k: int, clump: int, r: Any, reach: float) -> None:
    """Enter a clump at r (m), with its reach (m), among the sorted clumps."""
    order[k] = clump
    places[k, 0], places[k, 1], places[k, 2], places[k, 3] = r[0], r[1], r[2], reach


@kernel
def cell_of(r: Any, cells: Any, low: Any, edges: Any) -> Any:
    """The indices of the cell that contains a position ``r`` (3,), m: three ints.

    Along the three axes ``cells`` are the numbers of cells, ``low`` where they begin and ``edges`` their edges, m.
    """
    return (
        min(int((r[0] - low[0]) / edges[0]), cells[0] - 1),
        min(int((r[1] - low[1]) / edges[1]), cells[1] - 1),
        min(int((r[2] - low[2]) / edges[2]), cells[2] - 1),
    )


@subroutine
def chain_near_clumps(count: int, cells: Any, periods: Any, scratch: Scratch) -> int:
    """Chain to each clump, in ascending order, those with a higher index whose bounding spheres come within both margins.

    Returns the number of links, which are incomplete if there is no space for them. Each cell is compared with itself and those
    ahead of it, so that every pair is examined once. ``cells`` are the numbers of cells along the three axes.
    """
    places, order, starts, chains, links = scratch.places, scratch.order, scratch.starts, scratch.chains, scratch.links
    nx, ny, nz = cells
    n = int(np.int64(0))
    for c in range(count):
        chains[c] = -1
    around_x, around_y, around_z = goes_around(periods, 0, nx), goes_around(periods, 1, ny), goes_around(periods, 2, nz)
    for x in range(nx):
        for y in range(ny):
            row = (x * ny + y) * nz
            for z in range(nz):
                begin, end = starts[row + z], starts[row + z + 1]
                low, high = max(z - 1, 0), min(z + 2, nz)
                across = -1  # the cell next to this one across a periodic side
                if around_z:
                    across = nz - 1 if z == 0 else (0 if z == nz - 1 else -1)
                for e in range(begin, end):
                    n = look(e, e + 1, starts[row + high], n, periods, places, order, chains, links)
                    if across == 0:
                        n = look(e, starts[row], starts[row + 1], n, periods, places, order, chains, links)
                    for k in range(4):  # y + 1, and what is at x + 1
                        u, v = (x, y + 1) if k == 0 else (x + 1, y + k - 2)
                        u = 0 if around_x and u == nx else u
                        v = (v + ny) % ny if around_y else v
                        if u < nx and v >= 0 and v < ny:
                            other = (u * ny + v) * nz
                            first, last = starts[other + low], starts[other + high]
                            n = look(e, first, last, n, periods, places, order, chains, links)
                            if across >= 0:
                                first, last = starts[other + across], starts[other + across + 1]
                                n = look(e, first, last, n, periods, places, order, chains, links)
    return n


@kernel
def goes_around(periods: Any, axis: int, cells: int) -> bool:
    """Whether the last cell along an axis is next to the first one: it is periodic and has more than one cell."""
    return periods.size > 0 and periods[axis] > 0.0 and cells > 1  # type: ignore[no-any-return]


@kernel
def shortest(period: float, x: float) -> float:
    """The distance along an axis between a position in the box and the nearest image of another, which differ by ``x``.

    ``period`` is in the unit of ``x``; if it is 0, the difference itself is returned, which may be negative.
    """
    return min(abs(x), period - abs(x)) if period > 0.0 else x


@kernel
def look(e: int, begin: int, end: int, n: int, periods: Any, places: Any, order: Any, chains: Any, links: Any) -> int:
    """Chain to sorted clump ``e`` the sorted clumps from ``begin`` to ``end`` that are near it.

    Returns the number of links, which was n before.
    """
    px, py, pz, reach = places[e, 0], places[e, 1], places[e, 2], places[e, 3]
    for f in range(begin, end):
        x, y, z = places[f, 0] - px, places[f, 1] - py, places[f, 2] - pz
        if periods.size > 0:
            x, y, z = shortest(periods[0], x), shortest(periods[1], y), shortest(periods[2], z)
        bound = reach + places[f, 3]
        if x * x + y * y + z * z <= bound * bound:
            if n < links.shape[0]:
                enter_link(order[e], order[f], n, chains, links)
            n += 1
    return n


@subroutine
def enter_link(a: int, b: int, n: int, chains: Any, links: Any) -> None:
    """Enter one clump into the chain of another, which is sorted by index."""
    first, second = min(a, b), max(a, b)
    before, after = -1, chains[first]
    while after >= 0 and links[after, 0] < second:
        before, after = after, links[after, 1]
    links[n, 0], links[n, 1] = second, after
    if before < 0:
        chains[first] = n
    else:
        links[before, 1] = n


@cache
def listed_loads_of(law: ForceLaw) -> Callable[..., Any]:
    """The kernel ``listed_loads(respond, fields, width, listed, n_groups, setup, memory, clock, work)`` of a law.

    It adds the loads of all contacts in the list and returns the stored energy (J), the number of places written into ``hit``,
    and the approximate cost of traversing the list in vain (ns).
    """
    _, begin_pass, wall_of, pair, end_pass = interaction(law)

    @kernel  # in line: handed over on the stack, its many arrays would cost a sixth of a step
    def listed_loads(
        respond: Any,
        fields: Any,
        width: int,
        listed: Listed,
        n_groups: int,
        setup: Setup,
        memory: Memory,
        clock: Any,
        with_energy: bool,
        work: Any,
    ) -> Any:
        """Add forces and torques of all contacts in the list.

        Returns the stored energy (even without ``with_energy``), how many places of clumps it wrote into ``hit`` (those that
        now carry loads, some more than once), and the approximate cost (ns) but for the least of groups and spheres that touch.
        The arithmetic is the one of :func:`polhode.manybody.contact.all_loads_of`, in the same order.
        """
        groups, limits, near, index, at = listed.groups, listed.limits, listed.near, listed.index, listed.at
        pairs, sums, hit = listed.pairs, listed.sums, listed.hit
        dt, since, time = clock
        walls = walls_at(setup, since, time)
        energy = 0.0
        hits = 0
        begin_pass(memory)
        memory.ledger[STEP, POWER] = 0.0
        awake, moved, looked, touching, needed = 0, 0, 0, 0, 0
        last = -1
        for g in range(n_groups):
            i = place(groups[g, 0], width)
            other = groups[g, 1]
            (used,) = load_fraction(fields, i)
            limit = limits[g]
            if other < 0:
                if used < limit:
                    continue
                ri, mi = load_r(fields, i), matrix(load_q(fields, i))
                wall = -1 - other
                begin, many = groups[g, 2], groups[g, 3]
                before = touching
                for number in range(begin, begin + many):
                    w = np.uint64(number)
                    sphere = sphere_of(near, w)
                    depth = depth_in_wall(wall, ri, mi, sphere, setup, walls)
                    if depth > 0.0:
                        which = (groups[g, 0], index[w])
                        energy = wall_of(respond, fields, i, mi, which, wall, walls, depth, sphere, setup, memory, dt, energy)
                        touching += 1
                if touching > before:
                    needed += 1
                    if last != groups[g, 0]:
                        last = groups[g, 0]
                        hit[hits] = i
                        hits += 1
                awake += 1
                moved += many
                continue
            j = place(other, width)
            (used_j,) = load_fraction(fields, j)
            if used < limit and used_j < limit:
                continue
            ri, mi = load_r(fields, i), matrix(load_q(fields, i))
            rj, mj = nearest_image(setup.periods, ri, load_r(fields, j)), matrix(load_q(fields, j))
            lab_positions(near, at, groups[g, 2], groups[g, 3], ri, mi)
            lab_positions(near, at, groups[g, 4], groups[g, 5], rj, mj)
            begin, many = groups[g, 6], groups[g, 7]
            before = touching
            for number in range(begin, begin + many):
                p = np.uint64(number)
                a: Any = np.uint64(pairs[0, p])
                b: Any = np.uint64(pairs[1, p])
                away = (at[0, a] - at[0, b], at[1, a] - at[1, b], at[2, a] - at[2, b])
                squared = away[0] * away[0] + away[1] * away[1] + away[2] * away[2]
                if squared < sums[p]:
                    sphere_i, sphere_j = sphere_of(near, a), sphere_of(near, b)
                    both = (groups[g, 0], index[a], other, index[b])
                    energy = pair(
                        respond, fields, i, j, mi, mj, both, away, squared, sphere_i, sphere_j, setup, memory, dt, energy
                    )
                    touching += 1
            if touching > before:
                needed += 1
                hit[hits] = j
                hits += 1
                if last != groups[g, 0]:
                    last = groups[g, 0]
                    hit[hits] = i
                    hits += 1
            awake += 1
            moved += groups[g, 3] + groups[g, 5]
            looked += many
        energy = end_pass(respond, fields, setup, memory, dt, True, energy)
        add_work_of_walls(memory, since, True)
        work[CONTACTS] += touching
        work[GROUPS] += awake
        work[SPHERES] += moved
        work[PAIRS] += looked
        cost = PER_ASLEEP * n_groups + PER_AWAKE * awake + PER_ROTATED * moved + PER_PAIR * looked
        return energy, hits, cost - PER_NEEDED * needed - PER_CONTACT * touching

    return listed_loads


@kernel
def lab_positions(near: Any, at: Any, begin: int, many: int, r: Any, m: Any) -> None:
    """Write the lab positions of ``many`` listed spheres of one clump, from ``begin`` on, into ``at``."""
    for number in range(begin, begin + many):
        k: Any = np.uint64(number)
        x, y, z = lab_position(r, m, sphere_of(near, k))
        at[0, k] = x
        at[1, k] = y
        at[2, k] = z
