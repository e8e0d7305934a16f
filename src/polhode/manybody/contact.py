"""Frictionless elastic contact of spheres with spheres and with the six planes of a box: Hertz (1882), Johnson (1985), Ch. 4.

Two spheres with overlap d repel each other along the line of centres with the force 4/3 E* sqrt(R*) d^(3/2), where
1/R* = 1/R1 + 1/R2; the stored energy is 8/15 E* sqrt(R*) d^(5/2). A plane is a sphere without curvature, R* = R.

Contacts are summed in one order, however they are found: clump by clump, first the walls and then the clumps with a higher
index, and spheres in their own order. What a neighbour list omits is not in contact and contributes nothing, so the list does
not change a single bit of a run. The order of the clumps, on the other hand, is part of the scene: if clumps are exchanged,
sums over three contacts round differently.
"""

from math import gamma, pi, sqrt
from typing import Any, NamedTuple

from polhode.algebra.quaternion import norm_squared
from polhode.algebra.vector import cross
from polhode.compiling.kernel import compiled, kernel
from polhode.compiling.lanes import (
    load_force,
    load_q,
    load_r,
    load_torque,
    place,
    store_force,
    store_torque,
)

#: Integral of dx/sqrt(1 - x^(5/2)) from 0 to 1: half a Hertz collision, in units of largest overlap over speed.
HALF_COLLISION = sqrt(pi) * gamma(7 / 5) / gamma(9 / 10)

#: Bounds that decide whether a pair of clumps is examined are widened by this factor, to allow for round-off.
GENEROUS = 1.0 + 1e-9


class Setup(NamedTuple):
    """The constants of a run, as arrays over the clumps except for ``spheres``.

    Parameters
    ----------
    masses : float array (count,), kg
    inertias : float array (count, 9), see :meth:`polhode.algebra.body.Body.coefficients`
    first, many : int arrays (count,): index of each clump's first sphere in ``spheres``, and the number of its spheres
    spheres : float array (4, n): x, y, z in the body frame and radius, m
    extents : float array (6, count): the outline of each clump, m, see :data:`polhode.manybody.simulation.EXTENTS`
    stiffness : 4/3 E*, Pa
    half : half the edge of the box, which is centred at the origin, m; inf: no walls
    """

    masses: Any
    inertias: Any
    first: Any
    many: Any
    spheres: Any
    extents: Any
    stiffness: float
    half: float


def largest_overlap(mass: float, radius: float, modulus: float, speed: float) -> float:
    """The largest overlap of a Hertz collision in m, from 8/15 E* sqrt(R*) d^(5/2) = m* v^2/2.

    Parameters
    ----------
    mass, radius : reduced mass m* (kg) and reduced radius R* (m)
    modulus : E* in Pa
    speed : relative speed at first contact, m/s
    """
    return float((15 * mass * speed**2 / (16 * modulus * sqrt(radius))) ** 0.4)


def collision_time(mass: float, radius: float, modulus: float, speed: float) -> float:
    """The duration of the collision in s: 2.94 times the largest overlap over the speed, or 2.87 (m*^2/(R* E*^2 v))^(1/5).

    Johnson, Contact Mechanics (1985), Eq. 11.24, with the integral in closed form. Arguments as for :func:`largest_overlap`.
    """
    return 2 * HALF_COLLISION * largest_overlap(mass, radius, modulus, speed) / speed


@kernel
def matrix(q: Any) -> Any:
    """The rotation matrix of q, row by row (times |q|^2 if q is not unit)."""
    a, b, c, d = q[0] * q[0], q[1] * q[1], q[2] * q[2], q[3] * q[3]
    return (
        (a + b) - (c + d),
        2.0 * (q[1] * q[2] - q[0] * q[3]),
        2.0 * (q[1] * q[3] + q[0] * q[2]),
        2.0 * (q[1] * q[2] + q[0] * q[3]),
        (a + c) - (b + d),
        2.0 * (q[2] * q[3] - q[0] * q[1]),
        2.0 * (q[1] * q[3] - q[0] * q[2]),
        2.0 * (q[2] * q[3] + q[0] * q[1]),
        (a + d) - (b + c),
    )


@kernel
def coordinate(r: float, mx: float, my: float, mz: float, x: float, y: float, z: float) -> float:
    """One lab coordinate of a sphere at (x, y, z) in the body frame, with its row of the rotation matrix."""
    return r + (mx * x + my * y + mz * z)


@kernel
def in_body(m: Any, v: Any) -> Any:
    """A lab vector in the body frame, with the rotation matrix."""
    return (
        m[0] * v[0] + m[3] * v[1] + m[6] * v[2],
        m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
        m[2] * v[0] + m[5] * v[1] + m[8] * v[2],
    )


@kernel
def push(fields: Any, i: Any, m: Any, sphere: Any, force: Any) -> None:
    """Add a force (lab) that acts on a sphere of a clump (x, y, z in the body frame, radius), and its torque.

    The force passes through the centre of the sphere, so the arm may end there; spheres on an axis give no torque about it.
    """
    f, t = load_force(fields, i), load_torque(fields, i)
    turning = cross(sphere, in_body(m, force))
    store_force(fields, i, (f[0] + force[0], f[1] + force[1], f[2] + force[2]))
    store_torque(fields, i, (t[0] + turning[0], t[1] + turning[1], t[2] + turning[2]))


@kernel
def touch_wall(fields: Any, i: Any, m: Any, wall: int, depth: float, sphere: Any, stiffness: float) -> float:
    """Apply the force of a wall into which a sphere has sunk by ``depth`` > 0; returns the stored energy.

    Wall 2k is at the low end of axis k, wall 2k + 1 at the high end; stiffness is 4/3 E*.
    """
    size = stiffness * sqrt(sphere[3] * depth) * depth
    signed = size if wall % 2 == 0 else -size
    axis = wall // 2
    force = (
        signed if axis == 0 else 0.0,
        signed if axis == 1 else 0.0,
        signed if axis == 2 else 0.0,
    )
    push(fields, i, m, sphere, force)
    return 0.4 * size * depth


@kernel
def touch_sphere(
    fields: Any, i: Any, j: Any, mi: Any, mj: Any, away: Any, squared: float, sphere_i: Any, sphere_j: Any, stiffness: float
) -> float:
    """Apply the force between two overlapping spheres of clumps i and j; returns the stored energy.

    ``away`` points from the second centre to the first, ``squared`` is its squared length.
    """
    distance = sqrt(squared)
    overlap = (sphere_i[3] + sphere_j[3]) - distance
    overlap = overlap if overlap > 0.0 else 0.0  # the root may round up to the sum of the radii
    reduced = sphere_i[3] * sphere_j[3] / (sphere_i[3] + sphere_j[3])
    size = stiffness * sqrt(reduced * overlap) * overlap
    # Two centres at the same point define no direction; such a run is lost already, but must not divide by zero.
    s = size / distance if distance > 0.0 else 0.0
    force = (s * away[0], s * away[1], s * away[2])
    push(fields, i, mi, sphere_i, force)
    push(fields, j, mj, sphere_j, (-force[0], -force[1], -force[2]))
    return 0.4 * size * overlap


@kernel
def wall_depth(wall: int, x: float, radius: float, half: float) -> float:
    """The depth to which a sphere has sunk into a wall, given its coordinate along that axis; if negative, a distance."""
    return (x if wall % 2 == 1 else -x) + radius - half


@kernel
def sphere_of(spheres: Any, k: Any) -> Any:
    """One column of an array of spheres: x, y, z and radius."""
    return spheres[0, k], spheres[1, k], spheres[2, k], spheres[3, k]


@kernel
def lab_position(r: Any, m: Any, sphere: Any) -> Any:
    """The position of a sphere's centre in the lab, for a clump at r with the rotation matrix m."""
    x, y, z = sphere[0], sphere[1], sphere[2]
    return (
        coordinate(r[0], m[0], m[1], m[2], x, y, z),
        coordinate(r[1], m[3], m[4], m[5], x, y, z),
        coordinate(r[2], m[6], m[7], m[8], x, y, z),
    )


@kernel
def lab_coordinate(axis: int, r: Any, m: Any, sphere: Any) -> float:
    """One coordinate of :func:`lab_position`."""
    return coordinate(r[axis], m[3 * axis], m[3 * axis + 1], m[3 * axis + 2], sphere[0], sphere[1], sphere[2])


@compiled
def all_loads(fields: Any, width: int, count: int, setup: Setup) -> tuple[float, int]:
    """Add forces and torques of all contacts, examining every pair of clumps; returns the stored energy and the contacts.

    Parameters
    ----------
    fields, width : the clumps, see :mod:`polhode.compiling.lanes`; forces and torques are added to those already there
    count : number of clumps
    setup : Setup
    """
    first, many, spheres, stiffness, half = setup.first, setup.many, setup.spheres, setup.stiffness, setup.half
    reach = setup.extents[0]
    energy = 0.0
    contacts = 0
    for c in range(count):
        i = place(c, width)
        ri, qi = load_r(fields, i), load_q(fields, i)
        mi = matrix(qi)
        # A quaternion that is not unit stretches the clump; round-off must not hide a contact.
        reach_i = reach[c] * norm_squared(qi) * GENEROUS
        for wall in range(6):
            axis = wall // 2
            if wall_depth(wall, ri[axis], reach_i, half) < 0.0:
                continue
            for a in range(first[c], first[c] + many[c]):
                sphere = sphere_of(spheres, a)
                depth = wall_depth(wall, lab_coordinate(axis, ri, mi, sphere), sphere[3], half)
                if depth > 0.0:
                    energy += touch_wall(fields, i, mi, wall, depth, sphere, stiffness)
                    contacts += 1
        for d in range(c + 1, count):
            j = place(d, width)
            rj, qj = load_r(fields, j), load_q(fields, j)
            x, y, z = ri[0] - rj[0], ri[1] - rj[1], ri[2] - rj[2]
            near = reach_i + reach[d] * norm_squared(qj) * GENEROUS
            if x * x + y * y + z * z > near * near:
                continue
            mj = matrix(qj)
            for a in range(first[c], first[c] + many[c]):
                sphere_i = sphere_of(spheres, a)
                at_i = lab_position(ri, mi, sphere_i)
                for b in range(first[d], first[d] + many[d]):
                    sphere_j = sphere_of(spheres, b)
                    at_j = lab_position(rj, mj, sphere_j)
                    away = (at_i[0] - at_j[0], at_i[1] - at_j[1], at_i[2] - at_j[2])
                    sum_ = sphere_i[3] + sphere_j[3]
                    squared = away[0] * away[0] + away[1] * away[1] + away[2] * away[2]
                    if squared < sum_ * sum_:
                        energy += touch_sphere(fields, i, j, mi, mj, away, squared, sphere_i, sphere_j, stiffness)
                        contacts += 1
    return energy, contacts
