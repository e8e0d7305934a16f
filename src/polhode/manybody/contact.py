"""Frictionless elastic contact of spheres with spheres and with the six planes of a box: Hertz (1882), Johnson (1985), Ch. 4.

Two spheres with the overlap d push each other apart along the line of their centres with 4/3 E* sqrt(R*) d^(3/2), with
1/R* = 1/R1 + 1/R2; the energy stored is 8/15 E* sqrt(R*) d^(5/2). A plane is a sphere without curvature, R* = R.

Contacts are added up in one order, whichever way they are found: clump after clump, for each the walls and then the clumps
behind it, and spheres in their own order. What a neighbour list leaves out has no contact and adds nothing, so a list
changes no bit of a run.
"""

from math import gamma, pi, sqrt
from typing import Any

from polhode.kernel import compiled, kernel
from polhode.manybody.lanes import (
    load_force,
    load_q,
    load_r,
    load_torque,
    place,
    store_force,
    store_torque,
)
from polhode.quaternion import norm_squared
from polhode.vector import cross

#: Integral of dx/sqrt(1 - x^(5/2)) from 0 to 1: half a Hertz collision, in units of largest overlap over speed.
HALF_COLLISION = sqrt(pi) * gamma(7 / 5) / gamma(9 / 10)

#: Bounds that decide whether two clumps are looked at are this much wider than they need be, against round-off.
GENEROUS = 1.0 + 1e-9


def largest_overlap(mass: float, radius: float, modulus: float, speed: float) -> float:
    """The largest overlap of a Hertz collision in m, from 8/15 E* sqrt(R*) d^(5/2) = m* v^2/2.

    Parameters
    ----------
    mass, radius : reduced mass m* (kg) and reduced radius R* (m)
    modulus : E* in Pa
    speed : relative speed at first touch, m/s
    """
    return float((15 * mass * speed**2 / (16 * modulus * sqrt(radius))) ** 0.4)


def collision_time(mass: float, radius: float, modulus: float, speed: float) -> float:
    """How long the collision lasts, in s: 2.94 largest overlaps over the speed, or 2.87 (m*^2/(R* E*^2 v))^(1/5).

    Johnson, Contact Mechanics (1985), Eq. 11.24, with the integral in closed form; arguments as in :func:`largest_overlap`.
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
def push(fields: Any, i: Any, m: Any, arm: Any, force: Any) -> None:
    """Add a force (lab) that acts on a clump at ``arm`` (body frame), and its torque.

    The force runs through the centre of the sphere, so that the arm may end there; spheres on an axis give no torque about it.
    """
    f, t = load_force(fields, i), load_torque(fields, i)
    turning = cross(arm, in_body(m, force))
    store_force(fields, i, (f[0] + force[0], f[1] + force[1], f[2] + force[2]))
    store_torque(fields, i, (t[0] + turning[0], t[1] + turning[1], t[2] + turning[2]))


@kernel
def touch_wall(fields: Any, i: Any, m: Any, wall: int, depth: float, arm: Any, radius: float, stiffness: float) -> float:
    """The push of a wall into which a sphere has sunk by ``depth`` > 0; returns the energy stored.

    Wall 2k stands at the low end of axis k, wall 2k + 1 at the high end; stiffness is 4/3 E*.
    """
    size = stiffness * sqrt(radius * depth) * depth
    signed = size if wall % 2 == 0 else -size
    axis = wall // 2
    force = (
        signed if axis == 0 else 0.0,
        signed if axis == 1 else 0.0,
        signed if axis == 2 else 0.0,
    )
    push(fields, i, m, arm, force)
    return 0.4 * size * depth


@kernel
def touch_sphere(
    fields: Any,
    i: Any,
    j: Any,
    mi: Any,
    mj: Any,
    away: Any,
    distance_squared: float,
    arm_i: Any,
    arm_j: Any,
    radius_i: float,
    radius_j: float,
    stiffness: float,
) -> float:
    """The push between two overlapping spheres of clumps i and j, ``away`` from the second to the first; returns the energy."""
    distance = sqrt(distance_squared)
    overlap = (radius_i + radius_j) - distance
    overlap = overlap if overlap > 0.0 else 0.0  # the root may round up to the sum of the radii
    reduced = radius_i * radius_j / (radius_i + radius_j)
    size = stiffness * sqrt(reduced * overlap) * overlap
    # Two centres on the same spot have no direction; such a run is past saving, and must not divide by zero.
    s = size / distance if distance > 0.0 else 0.0
    force = (s * away[0], s * away[1], s * away[2])
    push(fields, i, mi, arm_i, force)
    push(fields, j, mj, arm_j, (-force[0], -force[1], -force[2]))
    return 0.4 * size * overlap


@kernel
def wall_depth(wall: int, x: float, radius: float, half: float) -> float:
    """How deep a sphere has sunk into a wall, given its coordinate along that axis; negative: the distance."""
    return (x if wall % 2 == 1 else -x) + radius - half


@compiled
def all_loads(
    fields: Any, width: int, count: int, first: Any, many: Any, spheres: Any, reach: Any, stiffness: float, half: float
) -> float:
    """Add forces and torques of all contacts, looking at every pair of clumps; returns the energy stored.

    Parameters
    ----------
    fields, width : the clumps, see :mod:`polhode.manybody.lanes`; forces and torques are added to what is there
    count : number of clumps
    first, many : int arrays (count,): where the spheres of each clump begin in ``spheres``, and their number
    spheres : float array (4, n): x, y, z in the body frame and radius, m
    reach : float array (count,): radius of a sphere about the centre of mass that holds the clump
    stiffness : 4/3 E*
    half : half the edge of the box, which is centred at the origin; inf: no walls
    """
    energy = 0.0
    for c in range(count):
        i = place(c, width)
        ri, qi = load_r(fields, i), load_q(fields, i)
        mi = matrix(qi)
        # A quaternion that is not unit stretches the clump; a rounding must not hide a contact.
        reach_i = reach[c] * norm_squared(qi) * GENEROUS
        for wall in range(6):
            axis = wall // 2
            if wall_depth(wall, ri[axis], reach_i, half) < 0.0:
                continue
            for a in range(first[c], first[c] + many[c]):
                arm = (spheres[0, a], spheres[1, a], spheres[2, a])
                x = coordinate(ri[axis], mi[3 * axis], mi[3 * axis + 1], mi[3 * axis + 2], arm[0], arm[1], arm[2])
                depth = wall_depth(wall, x, spheres[3, a], half)
                if depth > 0.0:
                    energy += touch_wall(fields, i, mi, wall, depth, arm, spheres[3, a], stiffness)
        for d in range(c + 1, count):
            j = place(d, width)
            rj, qj = load_r(fields, j), load_q(fields, j)
            x, y, z = ri[0] - rj[0], ri[1] - rj[1], ri[2] - rj[2]
            near = reach_i + reach[d] * norm_squared(qj) * GENEROUS
            if x * x + y * y + z * z > near * near:
                continue
            mj = matrix(qj)
            for a in range(first[c], first[c] + many[c]):
                arm_i = (spheres[0, a], spheres[1, a], spheres[2, a])
                xi = coordinate(ri[0], mi[0], mi[1], mi[2], arm_i[0], arm_i[1], arm_i[2])
                yi = coordinate(ri[1], mi[3], mi[4], mi[5], arm_i[0], arm_i[1], arm_i[2])
                zi = coordinate(ri[2], mi[6], mi[7], mi[8], arm_i[0], arm_i[1], arm_i[2])
                for b in range(first[d], first[d] + many[d]):
                    arm_j = (spheres[0, b], spheres[1, b], spheres[2, b])
                    away = (
                        xi - coordinate(rj[0], mj[0], mj[1], mj[2], arm_j[0], arm_j[1], arm_j[2]),
                        yi - coordinate(rj[1], mj[3], mj[4], mj[5], arm_j[0], arm_j[1], arm_j[2]),
                        zi - coordinate(rj[2], mj[6], mj[7], mj[8], arm_j[0], arm_j[1], arm_j[2]),
                    )
                    sum_ = spheres[3, a] + spheres[3, b]
                    squared = away[0] * away[0] + away[1] * away[1] + away[2] * away[2]
                    if squared < sum_ * sum_:
                        energy += touch_sphere(
                            fields, i, j, mi, mj, away, squared, arm_i, arm_j, spheres[3, a], spheres[3, b], stiffness
                        )
    return energy
