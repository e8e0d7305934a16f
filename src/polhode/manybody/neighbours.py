"""Which spheres may touch soon: a list that stays right while every clump is within its margin, however it turns.

When the list is made every clump gets a margin, a length in proportion to its present speed. Two clumps are listed if spheres
of theirs are closer than both margins together; so nothing else can touch before some clump has used up its margin. How
much of it a clump has used is bounded by its displacement and by how far its long axis and its quaternion have turned
(:func:`used_margin`); that holds for any motion, also for that of a method which goes wrong. Then the list is made anew, before
any contact is looked at.

Two clumps that were a distance apart need not be looked at before they have used up that part of their margins: each group of
near spheres sleeps until then. So the margins can be wide. How wide is settled by counting: making lists should cost what
walking along them costs. The contacts found, and the order in which they are added up, do not depend on it.
"""

from math import floor, sqrt
from typing import Any

import numpy as np

from polhode.kernel import compiled, kernel
from polhode.manybody.contact import (
    GENEROUS,
    coordinate,
    matrix,
    touch_sphere,
    touch_wall,
    wall_depth,
)
from polhode.manybody.lanes import (
    AXIS_LISTED,
    FRACTION,
    Q_LISTED,
    R_LISTED,
    WEIGHTS,
    load_q,
    load_r,
    loader,
    place,
    storer,
)
from polhode.quaternion import norm_squared
from polhode.vector import dot

#: Round-off in the bound must not hide a contact: a clump counts as outside a little before its margin ends.
CAUTION = 1e-6
#: Up to so many clumps all pairs are looked at for a new list; beyond, cells are cheaper.
FEW = 64
#: Margins of slow and fast clumps, in units of the mean one.
SLOW, FAST = 0.5, 3.0
#: What a new list costs for each clump, pair of near clumps and sphere or pair of spheres in them, and what walking along the
#: list costs for each group asleep, group awake, sphere and pair of spheres; in ns or so. They weigh the counts that settle the
#: margins.
PER_CLUMP, PER_NEAR, PER_SPHERE, PER_CANDIDATE = 30.0, 20.0, 4.0, 1.0
PER_ASLEEP, PER_AWAKE, PER_ROTATED, PER_PAIR = 1.5, 15.0, 3.0, 2.5

#: Counters of work done, see polhode.manybody.simulation.WORK.
LISTS, GROUPS, SPHERES, PAIRS, CONTACTS, MARGIN = range(6)

load_listed_r, load_listed_axis, load_listed_q = loader(R_LISTED, 3), loader(AXIS_LISTED, 3), loader(Q_LISTED, 4)
store_listed_r, store_listed_axis, store_listed_q = storer(R_LISTED, 3), storer(AXIS_LISTED, 3), storer(Q_LISTED, 4)
load_weights, store_weights = loader(WEIGHTS, 3), storer(WEIGHTS, 3)
load_fraction, store_fraction = loader(FRACTION, 1), storer(FRACTION, 1)


@kernel
def used_margin(fields: Any, i: Any, r: Any, q: Any) -> float:
    """The squared fraction of its margin that a clump has used up since the list was made, from above.

    No sphere of the clump has moved further than |r - r0| + X |e - e0| + k Y |q - q0|, with e its long axis in the lab, X and Y
    how far centres of spheres lie along and beside it, and k = |q| + |q0|. A sum is not larger than its weighted squares,
    (a + b + c)^2 <= (s + t + u) (a^2/s + b^2/t + c^2/u), whatever the weights: no root is needed.
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
    """The three weights of :func:`used_margin` for a margin in m.

    ``rates`` are how fast the three displacements grow at present (m/s); as weights of the squares they make the bound a close
    one. If the bound is below the margin, |q - q0| is below d = margin/(2 Y |q0|), so that k is below 2 |q0| + d.
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
def rotated(r: Any, m: Any, spheres: Any, first: int, many: int, out: Any) -> None:
    """Lab positions of the spheres of a clump: rows x, y, z of ``out``."""
    for k in range(many):
        x, y, z = spheres[0, first + k], spheres[1, first + k], spheres[2, first + k]
        out[0, k] = coordinate(r[0], m[0], m[1], m[2], x, y, z)
        out[1, k] = coordinate(r[1], m[3], m[4], m[5], x, y, z)
        out[2, k] = coordinate(r[2], m[6], m[7], m[8], x, y, z)


#: The arrays of a list, see :func:`empty_lists`.
GROUPED, LIMITS, NEAR, AT, PAIRED, SUMS, MARGINS, LAB, MARKS, BEHIND, HEADS, AROUND, AXES = range(13)


@kernel
def closest_points(p: Any, d: Any, q: Any, e: Any) -> Any:
    """From the segment p .. p + d to the segment q .. q + e: the shortest way between them, as a vector.

    Ericson, Real-Time Collision Detection (2005), Sec. 5.1.9. Segments within 1e-7 of parallel count as parallel; that makes
    the way longer by 1e-7 of their length at most, far less than the caution of the list.
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
    """x, but not below 0 or above 1."""
    return min(max(x, 0.0), 1.0)


@compiled
def empty_lists(groups: int, spheres: int, pairs: int, count: int, most: int) -> Any:
    """Room for so many groups, spheres and pairs, and to make a list for ``count`` clumps of ``most`` spheres at most."""
    return (
        # GROUPED: clump; other clump, or -1 - wall; spheres of both and their pairs, each by begin and number
        np.zeros((groups, 8), np.int64),
        np.zeros(groups),  # LIMITS: squared fraction of the margins up to which the group sleeps
        np.zeros((4, spheres)),  # NEAR: x, y, z (body frame), radius
        np.zeros((3, spheres)),  # AT: lab positions
        np.zeros((2, pairs), np.int64),  # PAIRED: both spheres of a pair
        np.zeros(pairs),  # SUMS: squared sum of their radii
        np.zeros(count),  # MARGINS
        np.zeros((8, most)),  # LAB: lab positions and projections of two clumps
        np.zeros((4, most), np.int64),  # MARKS: candidates of both, and their places in the list
        np.zeros(count, np.int64),  # BEHIND: the next clump of the same cell
        np.zeros(4 * count + 64, np.int64),  # HEADS: first clump of each cell
        np.zeros(count, np.int64),  # AROUND: clumps near one clump
        # AXES: first point and way of the axis of the capsule, its width, and the reach
        np.zeros((count, 8)),
    )


@compiled
def make_list(
    fields: Any,
    width: int,
    count: int,
    first: Any,
    many: Any,
    spheres: Any,
    extents: Any,
    half: float,
    rates: Any,
    skin: float,
    lists: Any,
) -> Any:
    """List anew what may touch while no clump uses up its margin, from the positions in ``fields``.

    ``rates`` (count, 3) are described in :func:`weights`, ``skin`` is the mean margin (m), ``extents`` (6, count) are reach, X,
    Y and the capsule of each clump. Returns the numbers of groups, spheres and pairs, and what it cost (ns or so); where a
    number exceeds the room in ``lists`` the list is not complete and must be made again with more.
    """
    groups, limits, near, pairs = lists[GROUPED], lists[LIMITS], lists[NEAR], lists[PAIRED]
    margins, lab, marks, axes = lists[MARGINS], lists[LAB], lists[MARKS], lists[AXES]
    reach = extents[0]
    mean = 0.0
    for c in range(count):
        mean += rates[c, 0] + rates[c, 1] + rates[c, 2]
    mean /= count
    widest, furthest = 0.0, 0.0
    for c in range(count):
        i = place(c, width)
        r, q = load_r(fields, i), load_q(fields, i)
        speed = rates[c, 0] + rates[c, 1] + rates[c, 2]
        margin = skin * (min(max(speed / mean, SLOW), FAST) if mean > 0.0 else 1.0)
        margins[c] = margin
        widest = max(widest, margin)
        m = matrix(q)
        stretch = norm_squared(q) * GENEROUS
        furthest = max(furthest, reach[c] * stretch)
        low, length = extents[3, c], extents[4, c] - extents[3, c]
        for k in range(3):
            axes[c, k] = r[k] + low * m[3 * k]
            axes[c, 3 + k] = length * m[3 * k]
        axes[c, 6] = extents[5, c] * stretch
        axes[c, 7] = reach[c] * stretch
        store_listed_r(fields, i, r)
        store_listed_axis(fields, i, (m[0], m[3], m[6]))
        store_listed_q(fields, i, q)
        store_weights(fields, i, weights(margin, q, extents[1, c], extents[2, c], (rates[c, 0], rates[c, 1], rates[c, 2])))
        store_fraction(fields, i, (0.0,))
    cells, corner, edge = sort_into_cells(fields, width, count, half, 2.0 * (widest + furthest), lists)
    cost = PER_CLUMP * count
    n_groups, n_spheres, n_pairs = 0, 0, 0
    for c in range(count):
        i = place(c, width)
        ri, qi = load_r(fields, i), load_q(fields, i)
        mi = matrix(qi)
        begin_i, way_i = (axes[c, 0], axes[c, 1], axes[c, 2]), (axes[c, 3], axes[c, 4], axes[c, 5])
        n_a = many[c]
        rotated_here = False
        for wall in range(6):
            axis = wall // 2
            near_end, far_end = begin_i[axis], begin_i[axis] + way_i[axis]
            outmost = max(near_end, far_end) if wall % 2 == 1 else min(near_end, far_end)
            if wall_depth(wall, outmost, axes[c, 6] + margins[c], half) < 0.0:
                continue
            cost += PER_NEAR + PER_SPHERE * n_a
            begin = n_spheres
            closest = np.inf
            for a in range(first[c], first[c] + n_a):
                x = coordinate(
                    ri[axis], mi[3 * axis], mi[3 * axis + 1], mi[3 * axis + 2], spheres[0, a], spheres[1, a], spheres[2, a]
                )
                gap = -wall_depth(wall, x, spheres[3, a], half)
                if gap <= margins[c]:
                    closest = min(closest, gap)
                    if n_spheres < near.shape[1]:
                        for k in range(4):
                            near[k, n_spheres] = spheres[k, a]
                    n_spheres += 1
            if n_spheres > begin:
                if n_groups < limits.size:
                    limits[n_groups] = asleep_until(closest, margins[c])
                    enter(groups, n_groups, (c, -1 - wall, begin, n_spheres - begin, n_spheres, 0, n_pairs, 0))
                n_groups += 1
        for d in candidates(c, ri, count, cells, corner, edge, lists):
            j = place(d, width)
            rj, qj = load_r(fields, j), load_q(fields, j)
            margin = margins[c] + margins[d]
            x, y, z = rj[0] - ri[0], rj[1] - ri[1], rj[2] - ri[2]
            squared = x * x + y * y + z * z
            bound = axes[c, 7] + axes[d, 7] + margin
            if squared > bound * bound:
                continue
            begin_j, way_j = (axes[d, 0], axes[d, 1], axes[d, 2]), (axes[d, 3], axes[d, 4], axes[d, 5])
            x, y, z = closest_points(begin_i, way_i, begin_j, way_j)
            squared = x * x + y * y + z * z
            bound = (axes[c, 6] + axes[d, 6] + margin) * (1.0 + CAUTION)
            cost += PER_NEAR
            if squared > bound * bound:
                continue
            n_b = many[d]
            cost += PER_SPHERE * (n_a + n_b)
            if not rotated_here:
                rotated(ri, mi, spheres, first[c], n_a, lab)
                rotated_here = True
            rotated(rj, matrix(qj), spheres, first[d], n_b, lab[4:])
            # Spheres count that reach, along the shortest way between the axes, into where the other clump begins.
            distance = sqrt(squared)
            scale = 1.0 / distance if distance > 0.0 else 0.0
            x, y, z = x * scale, y * scale, z * scale
            end_a, begin_b = -np.inf, np.inf
            for a in range(n_a):
                lab[3, a] = (lab[0, a] - ri[0]) * x + (lab[1, a] - ri[1]) * y + (lab[2, a] - ri[2]) * z
                end_a = max(end_a, lab[3, a] + spheres[3, first[c] + a])
            for b in range(n_b):
                lab[7, b] = (lab[4, b] - ri[0]) * x + (lab[5, b] - ri[1]) * y + (lab[6, b] - ri[2]) * z
                begin_b = min(begin_b, lab[7, b] - spheres[3, first[d] + b])
            slack = margin * (1.0 + CAUTION)
            if begin_b - end_a > slack:
                continue
            some_a, some_b = 0, 0
            for a in range(n_a):
                if lab[3, a] + spheres[3, first[c] + a] + slack >= begin_b:
                    marks[0, some_a] = a
                    some_a += 1
                marks[2, a] = -1
            for b in range(n_b):
                if lab[7, b] - spheres[3, first[d] + b] - slack <= end_a:
                    marks[1, some_b] = b
                    some_b += 1
                marks[3, b] = -1
            cost += PER_CANDIDATE * some_a * some_b
            begin_pairs = n_pairs
            closest = np.inf
            for u in range(some_a):
                a = marks[0, u]
                for v in range(some_b):
                    b = marks[1, v]
                    dx, dy, dz = lab[0, a] - lab[4, b], lab[1, a] - lab[5, b], lab[2, a] - lab[6, b]
                    radii = spheres[3, first[c] + a] + spheres[3, first[d] + b]
                    squared = dx * dx + dy * dy + dz * dz
                    if squared <= (radii + margin) * (radii + margin):
                        closest = min(closest, sqrt(squared) - radii)
                        marks[2, a] = 0
                        marks[3, b] = 0
                        if n_pairs < pairs.shape[1]:
                            pairs[0, n_pairs] = a
                            pairs[1, n_pairs] = b
                        n_pairs += 1
            if n_pairs == begin_pairs:
                continue
            begin_a = n_spheres
            n_spheres = take(marks[2], n_a, first[c], spheres, near, n_spheres)
            begin_b_list = n_spheres
            n_spheres = take(marks[3], n_b, first[d], spheres, near, n_spheres)
            name_pairs(lists, marks, begin_pairs, n_pairs)
            if n_groups < limits.size:
                limits[n_groups] = asleep_until(closest, margin)
                enter(
                    groups,
                    n_groups,
                    (
                        c,
                        d,
                        begin_a,
                        begin_b_list - begin_a,
                        begin_b_list,
                        n_spheres - begin_b_list,
                        begin_pairs,
                        n_pairs - begin_pairs,
                    ),
                )
            n_groups += 1
    return n_groups, n_spheres, n_pairs, cost


@kernel
def asleep_until(gap: float, margin: float) -> float:
    """The squared fraction of the margins below which a gap (m) cannot close."""
    part = max(gap, 0.0) / margin * (1.0 - CAUTION)
    return part * part


@kernel
def enter(groups: Any, g: int, values: Any) -> None:
    """Write one group."""
    for k in range(8):
        groups[g, k] = values[k]


@compiled
def take(marks: Any, many: int, first: int, spheres: Any, near: Any, n: int) -> int:
    """Append the marked spheres of a clump to the list and note where each stands; returns the new number of listed spheres."""
    for k in range(many):
        if marks[k] == 0:
            marks[k] = n
            if n < near.shape[1]:
                for row in range(4):
                    near[row, n] = spheres[row, first + k]
            n += 1
    return n


@compiled
def name_pairs(lists: Any, marks: Any, begin: int, end: int) -> None:
    """Replace numbers of spheres in their clumps by their places in the list, and store the squared sums of radii."""
    near, pairs, sums = lists[NEAR], lists[PAIRED], lists[SUMS]
    for p in range(begin, min(end, pairs.shape[1])):
        a, b = marks[2, pairs[0, p]], marks[3, pairs[1, p]]
        pairs[0, p] = a
        pairs[1, p] = b
        if max(a, b) < near.shape[1]:
            both = near[3, a] + near[3, b]
            sums[p] = both * both


@compiled
def sort_into_cells(fields: Any, width: int, count: int, half: float, least: float, lists: Any) -> Any:
    """Chain the clumps by cubic cells of an edge of at least ``least``; returns cells per axis, low corner and edges."""
    behind, heads = lists[BEHIND], lists[HEADS]
    low_x, low_y, low_z = np.inf, np.inf, np.inf
    high_x, high_y, high_z = -np.inf, -np.inf, -np.inf
    if count > FEW:
        for c in range(count):
            r = load_r(fields, place(c, width))
            low_x, low_y, low_z = min(low_x, r[0]), min(low_y, r[1]), min(low_z, r[2])
            high_x, high_y, high_z = max(high_x, r[0]), max(high_y, r[1]), max(high_z, r[2])
    longest = max(high_x - low_x, high_y - low_y, high_z - low_z)
    if count <= FEW or not longest > 3.0 * least:
        return (1, 1, 1), (0.0, 0.0, 0.0), 1.0
    edge = least
    nx, ny, nz = 1, 1, 1
    while True:
        nx = floor((high_x - low_x) / edge) + 1
        ny = floor((high_y - low_y) / edge) + 1
        nz = floor((high_z - low_z) / edge) + 1
        if float(nx) * float(ny) * float(nz) <= heads.size:
            break
        edge *= 1.25
    for k in range(nx * ny * nz):
        heads[k] = -1
    for back in range(count):
        c = count - 1 - back  # so that each chain is in ascending order
        r = load_r(fields, place(c, width))
        k = cell_of(r, (nx, ny, nz), (low_x, low_y, low_z), edge)
        k = (k[0] * ny + k[1]) * nz + k[2]
        behind[c] = heads[k]
        heads[k] = c
    return (nx, ny, nz), (low_x, low_y, low_z), edge


@kernel
def cell_of(r: Any, cells: Any, low: Any, edge: float) -> Any:
    """The cell, by axes, in which a position lies."""
    return (
        min(int((r[0] - low[0]) / edge), cells[0] - 1),
        min(int((r[1] - low[1]) / edge), cells[1] - 1),
        min(int((r[2] - low[2]) / edge), cells[2] - 1),
    )


@compiled
def candidates(c: int, r: Any, count: int, cells: Any, low: Any, edge: float, lists: Any) -> Any:
    """The clumps behind ``c`` in its cell or the cells around, in ascending order; all of them if there are no cells."""
    behind, heads, around = lists[BEHIND], lists[HEADS], lists[AROUND]
    found = 0
    if cells[0] * cells[1] * cells[2] == 1:
        for d in range(c + 1, count):
            around[found] = d
            found += 1
        return around[:found]
    at = cell_of(r, cells, low, edge)
    for x in range(max(at[0] - 1, 0), min(at[0] + 2, cells[0])):
        for y in range(max(at[1] - 1, 0), min(at[1] + 2, cells[1])):
            for z in range(max(at[2] - 1, 0), min(at[2] + 2, cells[2])):
                d = heads[(x * cells[1] + y) * cells[2] + z]
                while d >= 0:
                    if d > c:
                        k = found
                        while k > 0 and around[k - 1] > d:
                            around[k] = around[k - 1]
                            k -= 1
                        around[k] = d
                        found += 1
                    d = behind[d]
    return around[:found]


@compiled
def listed_loads(
    fields: Any,
    width: int,
    groups: Any,
    limits: Any,
    near: Any,
    at: Any,
    pairs: Any,
    sums: Any,
    n_groups: int,
    stiffness: float,
    half: float,
    work: Any,
) -> Any:
    """Add forces and torques of all contacts in the list; returns the energy stored and what it cost (ns or so).

    The arithmetic is that of :func:`polhode.manybody.contact.all_loads`, in the same order.
    """
    energy = 0.0
    awake, moved, looked = 0, 0, 0
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
            axis = wall // 2
            begin, many = groups[g, 2], groups[g, 3]
            for w in range(begin, begin + many):
                arm = (near[0, w], near[1, w], near[2, w])
                x = coordinate(ri[axis], mi[3 * axis], mi[3 * axis + 1], mi[3 * axis + 2], arm[0], arm[1], arm[2])
                depth = wall_depth(wall, x, near[3, w], half)
                if depth > 0.0:
                    energy += touch_wall(fields, i, mi, wall, depth, arm, near[3, w], stiffness)
                    work[CONTACTS] += 1
            awake += 1
            moved += many
            continue
        j = place(other, width)
        (used_j,) = load_fraction(fields, j)
        if used < limit and used_j < limit:
            continue
        ri, mi = load_r(fields, i), matrix(load_q(fields, i))
        rj, mj = load_r(fields, j), matrix(load_q(fields, j))
        lab_positions(near, at, groups[g, 2], groups[g, 3], ri, mi)
        lab_positions(near, at, groups[g, 4], groups[g, 5], rj, mj)
        begin, many = groups[g, 6], groups[g, 7]
        for p in range(begin, begin + many):
            a: Any = np.uint64(pairs[0, p])
            b: Any = np.uint64(pairs[1, p])
            away = (at[0, a] - at[0, b], at[1, a] - at[1, b], at[2, a] - at[2, b])
            squared = away[0] * away[0] + away[1] * away[1] + away[2] * away[2]
            if squared < sums[p]:
                arm_i, arm_j = (near[0, a], near[1, a], near[2, a]), (near[0, b], near[1, b], near[2, b])
                energy += touch_sphere(fields, i, j, mi, mj, away, squared, arm_i, arm_j, near[3, a], near[3, b], stiffness)
                work[CONTACTS] += 1
        awake += 1
        moved += groups[g, 3] + groups[g, 5]
        looked += many
    work[GROUPS] += awake
    work[SPHERES] += moved
    work[PAIRS] += looked
    return energy, PER_ASLEEP * n_groups + PER_AWAKE * awake + PER_ROTATED * moved + PER_PAIR * looked


@kernel
def lab_positions(near: Any, at: Any, begin: int, many: int, r: Any, m: Any) -> None:
    """Lab positions of listed spheres of one clump."""
    for number in range(begin, begin + many):
        k: Any = np.uint64(number)
        x, y, z = near[0, k], near[1, k], near[2, k]
        at[0, k] = coordinate(r[0], m[0], m[1], m[2], x, y, z)
        at[1, k] = coordinate(r[1], m[3], m[4], m[5], x, y, z)
        at[2, k] = coordinate(r[2], m[6], m[7], m[8], x, y, z)
