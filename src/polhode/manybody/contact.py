"""Contacts of spheres with spheres and with walls, for any law of force (:mod:`polhode.manybody.law`).

Walls are the planes of a box, and a drum: a cylinder that turns about its axis, seen from inside. All of them may be shaken
together. A wall counts as a plane, R* = R: the curvature of a drum, which a sphere meets in one direction only, is left out. Of
a pair the contact point lies in the middle of the overlap, at a wall on the wall; velocities and torques have their arms there.

Contacts are summed in one order, however they are found: clump by clump, first the walls and then the clumps with a higher
index, and spheres in their own order. What a neighbour list omits is not in contact and contributes nothing, so the list does
not change a single bit of a run. The order of the clumps, on the other hand, is part of the scene: if clumps are exchanged,
sums over three contacts round differently.

The kernels share their arguments. ``fields`` is the flat float array of the records of all clumps and ``i`` the index at which
the record of one begins (:mod:`polhode.compiling.lanes`); ``r`` (3,) its centre of mass in the lab, m; ``q`` (4,) its
orientation, scalar first, body to lab, usually unit; ``m`` (9,) the rotation matrix of q, row by row; ``sphere`` (4,) a sphere
of a clump, x, y, z of its centre in the body frame and its radius, m; ``normal`` (3,) a unit vector in the lab; ``wall`` the
number of a wall (:data:`WALLS`); ``setup`` a :class:`Setup` and ``walls`` a :class:`Walls`. Liquids have their own units in
place of SI.
"""

from collections.abc import Callable
from functools import cache
from itertools import accumulate, pairwise
from math import cos, floor, gamma, pi, sin, sqrt
from typing import Any, NamedTuple

import numpy as np

from polhode.algebra.quaternion import norm_squared
from polhode.algebra.vector import add, axpy, cross, dot, scale, unit
from polhode.compiling.kernel import kernel
from polhode.compiling.lanes import (
    LANES,
    load_force,
    load_mass,
    load_moved,
    load_q,
    load_r,
    load_spin,
    load_torque,
    load_turned,
    load_velocity,
    loader,
    place,
    store_force,
    store_torque,
    storer,
)
from polhode.manybody.law import ForceLaw, Touch
from polhode.manybody.memory import GEOMETRY, LAST, LEDGER, POWER, STEP, WAITING, Memory, add_work_of_walls, recollection
from polhode.methods.one_body import state_rows

#: Integral of dx/sqrt(1 - x^(5/2)) from 0 to 1: half a Hertz collision, in units of largest overlap over speed.
HALF_COLLISION = sqrt(pi) * gamma(7 / 5) / gamma(9 / 10)

#: Walls have numbers: the planes at -x, x, -y, y, -z and z, and then the drums about x, y and z.
PLANES, WALLS = 6, 9

#: Bounds that decide whether a pair of clumps is examined are widened by this factor, to allow for round-off.
GENEROUS = 1.0 + 1e-9


class Layout(NamedTuple):
    """Where the sites of molecules lie in the blocks of :mod:`polhode.manybody.sites`.

    Parameters
    ----------
    sites : int array (all sites, 2): of each site, molecule by molecule, its type and its place in the blocks
    types : int array (types, 2): of each type, its first block and the number of its sites
    after : int array (molecules, types): how many sites of each type belong to this molecule and to those before it
    """

    sites: Any
    types: Any
    after: Any


class Setup(NamedTuple):
    """The constants of a run, as arrays over the clumps except for ``spheres``.

    Parameters
    ----------
    masses : float array (count,), kg
    inertias : float array (count, 9), see :meth:`polhode.algebra.body.Body.coefficients`
    first, many : int arrays (count,): index of each clump's first sphere in ``spheres``, and the number of its spheres
    spheres : float array (4, n): x, y, z in the body frame and radius, m
    extents : float array (6, count): the outline of each clump, m, see :data:`polhode.manybody.simulation.EXTENTS`
    materials : int array (count,): the material of each clump
    constants : float array (pairs of materials, width): the constants of the law, for each material those with all materials
        and with the wall
    bookkeeping : float array (8,): see :data:`polhode.manybody.law.BOOKKEEPING`
    gravity : float array (3,), m/s^2
    walls : int array: the numbers of the walls that there are, ascending
    drum : float array (2,): radius, m, and angular velocity, rad/s; zeros without a drum
    shaking : float array (4,): amplitude of all walls, m, and angular frequency, rad/s; zeros for walls at rest
    periods : float array (3,), m: after what length along each axis everything is repeated, 0 where it is not; () if nowhere
    layout : :class:`Layout` of the sites of molecules, empty for clumps
    classes : the number of materials, and one for the wall
    most : the largest number of spheres of a clump
    half : half the edge of the box, which is centred at the origin, m; inf: no walls
    """

    masses: Any
    inertias: Any
    first: Any
    many: Any
    spheres: Any
    extents: Any
    materials: Any
    constants: Any
    bookkeeping: Any
    gravity: Any
    walls: Any
    drum: Any
    shaking: Any
    periods: Any
    layout: Layout
    classes: int
    most: int
    half: float


def largest_overlap(mass: float, radius: float, modulus: float, speed: float) -> float:
    """The largest overlap of a Hertz collision in m, from 8/15 E* sqrt(R*) d^(5/2) = m* v^2/2.

    Parameters
    ----------
    mass, radius : reduced mass m* (kg) and reduced radius R* (m)
    modulus : E* in Pa
    speed : relative speed at first contact, m/s, not negative
    """
    return float((15 * mass * speed**2 / (16 * modulus * sqrt(radius))) ** 0.4)


def collision_time(mass: float, radius: float, modulus: float, speed: float) -> float:
    """The duration of the collision in s: 2.94 times the largest overlap over the speed, or 2.87 (m*^2/(R* E*^2 v))^(1/5).

    Johnson, Contact Mechanics (1985), Eq. 11.24, with the integral in closed form.

    Parameters
    ----------
    mass, radius : reduced mass m* (kg) and reduced radius R* (m)
    modulus : E* in Pa
    speed : relative speed at first contact, m/s, positive
    """
    return 2 * HALF_COLLISION * largest_overlap(mass, radius, modulus, speed) / speed


@kernel
def matrix(q: Any) -> Any:
    """The rotation matrix (9,) of q (4,), row by row, from body to lab; times |q|^2 if q is not unit."""
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
    """One lab coordinate of a sphere at (x, y, z) in the body frame of a clump, in the unit of these.

    ``r`` is this coordinate of the clump's centre of mass, and (mx, my, mz) the row of the rotation matrix for it.
    """
    return r + (mx * x + my * y + mz * z)


@kernel
def in_body(m: Any, v: Any) -> Any:
    """A lab vector ``v`` (3,) in the body frame, (3,) in its unit, with the rotation matrix ``m`` (9,)."""
    return (
        m[0] * v[0] + m[3] * v[1] + m[6] * v[2],
        m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
        m[2] * v[0] + m[5] * v[1] + m[8] * v[2],
    )


@kernel
def push(fields: Any, i: Any, m: Any, sphere: Any, force: Any) -> None:
    """Add a force (3,) in N, lab frame, that acts on a sphere of a clump, and its torque (N m), to the loads in its record.

    The force passes through the centre of the sphere, so the arm may end there; spheres on an axis give no torque about it.
    """
    f, t = load_force(fields, i), load_torque(fields, i)
    turning = cross(sphere, in_body(m, force))
    store_force(fields, i, (f[0] + force[0], f[1] + force[1], f[2] + force[2]))
    store_torque(fields, i, (t[0] + turning[0], t[1] + turning[1], t[2] + turning[2]))


class Side(NamedTuple):
    """One of two bodies that touch; vectors (3,) are in the lab frame. For a wall see :func:`wall_side`.

    Parameters
    ----------
    offset : from the centre of mass to the centre of the sphere, m
    radius : m
    share : the part of the overlap by which the contact point lies below the surface: 1/2, at a wall 1
    velocity, spin : of the centre of mass and of the body, now (m/s, rad/s)
    moved, turned : displacement and rotation vector since the last loads (m, rad)
    """

    offset: Any
    radius: float
    share: float
    velocity: Any
    spin: Any
    moved: Any
    turned: Any


ZERO = (0.0, 0.0, 0.0)


@kernel
def to_lab(m: Any, v: Any) -> Any:
    """A vector ``v`` (3,) of the body frame in the lab, (3,) in its unit, with the rotation matrix ``m`` (9,)."""
    return (
        m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
        m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
        m[6] * v[0] + m[7] * v[1] + m[8] * v[2],
    )


@kernel
def subtract(a: Any, b: Any) -> Any:
    """The difference a - b of two vectors (3,), in their common unit."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def arm(body: Side, towards: float, normal: Any, overlap: float) -> Any:
    """The vector (3,) from the centre of mass of a body to the contact point, lab frame, m.

    ``towards`` is -1 for the first body and 1 for the second, and ``overlap`` is in m.
    """
    return axpy(towards * (body.radius - body.share * overlap), normal, body.offset)


@kernel
def half_a_turn_ago(body: Side) -> Side:
    """The body with its sphere where it was in the middle of the step, relative to its centre of mass; all else stays."""
    return Side(
        axpy(-0.5, cross(body.turned, body.offset), body.offset),
        body.radius,
        body.share,
        body.velocity,
        body.spin,
        body.moved,
        body.turned,
    )


@kernel
def stretched(first: Side, second: Side, normal: Any, overlap: float) -> Any:
    """The velocity (3,) of the first surface against the second in m/s, lab frame, with full radii as arms.

    Centres slide as if nothing overlapped: the velocity of the centres along the plane is times (a + b)/(a + b - overlap), with
    the radii a and b and the ``overlap`` in m; at a wall b is a. This is the choice "stretched velocity" of a law.
    """
    centres = subtract(
        add(first.velocity, cross(first.spin, first.offset)), add(second.velocity, cross(second.spin, second.offset))
    )
    radii = first.radius + (second.radius if second.radius > 0.0 else first.radius)
    sliding = axpy(-dot(centres, normal), normal, centres)
    turning = cross(normal, axpy(first.radius, first.spin, scale(second.radius, second.spin)))
    return add(axpy(overlap / (radii - overlap), sliding, centres), turning)


@kernel
def meeting(
    normal: Any,
    overlap: float,
    radius: float,
    mass: float,
    side_one: Side,
    side_two: Side,
    before: Any,
    old: bool,
    bookkeeping: Any,
    dt: float,
) -> Any:
    """The :class:`polhode.manybody.law.Touch` of a contact, and the arms (3,), m, of its force on both bodies, lab frame.

    Parameters
    ----------
    normal, overlap, radius, mass : of the contact, see :class:`polhode.manybody.law.Touch`
    side_one, side_two : both bodies, each a :class:`Side`
    before : (4,), normal and overlap (m) at the last loads, if the contact is ``old``
    bookkeeping : (8,), see :meth:`polhode.manybody.law.ForceLaw.bookkeeping`
    dt : time since the last loads, s
    """
    in_the_middle, since_touch, point_of_velocity, point_of_torque = (
        bookkeeping[1] > 0.0,
        bookkeeping[0] > 0.0,
        bookkeeping[3],
        bookkeeping[4] if side_two.radius > 0.0 else bookkeeping[5],
    )
    n_before = (before[0], before[1], before[2]) if old else normal
    n_middle, halfway = normal, overlap
    first, second = side_one, side_two
    if in_the_middle:
        n_middle = unit(add(n_before, normal)) if old else normal
        halfway = 0.5 * (before[3] + overlap)
        first, second = half_a_turn_ago(side_one), half_a_turn_ago(side_two)
    arm_one = arm(side_one, -1.0, normal, point_of_velocity * overlap)
    arm_two = arm(side_two, 1.0, normal, point_of_velocity * overlap)
    velocity = subtract(
        add(side_one.velocity, cross(side_one.spin, arm_one)),
        add(side_two.velocity, cross(side_two.spin, arm_two)),
    )
    moved = subtract(
        add(side_one.moved, cross(side_one.turned, arm(first, -1.0, n_middle, point_of_velocity * halfway))),
        add(side_two.moved, cross(side_two.turned, arm(second, 1.0, n_middle, point_of_velocity * halfway))),
    )
    closing = -dot(moved, n_middle)
    share = overlap / closing if since_touch and not old and closing > overlap else 1.0
    twirl, halves = 0.25 * dot(add(side_one.turned, side_two.turned), n_middle), bookkeeping[6]
    if bookkeeping[7] > 1.0:
        velocity = stretched(side_one, side_two, normal, overlap)
    if bookkeeping[7] > 0.0:
        moved = scale(dt, velocity)
    touch = Touch(
        overlap,
        radius,
        mass,
        normal,
        n_middle,
        n_before,
        velocity,
        subtract(side_one.spin, side_two.spin),
        moved,
        subtract(side_one.turned, side_two.turned),
        halves * twirl,
        (2.0 - halves) * twirl if halves > 0.0 else 0.0,
        share,
    )
    lever_one = arm(side_one, -1.0, normal, point_of_torque * overlap)
    lever_two = arm(side_two, 1.0, normal, point_of_torque * overlap)
    return touch, lever_one, lever_two


class Walls(NamedTuple):
    """The motion of all walls together, three vectors (3,) in the lab and an angle.

    These are the displacement (m) and the velocity (m/s) at the time of the loads, the displacement since the last loads (m),
    and the angle by which a drum has turned since then (rad).
    """

    offset: Any
    velocity: Any
    moved: Any
    turned: float


@kernel
def walls_at(setup: Setup, since: float, time: float) -> Walls:
    """The motion of the walls at a time (s), where ``since`` (s) is the time since the last loads.

    They are in their middle position at the time 0.
    """
    x, y, z, frequency = setup.shaking[0], setup.shaking[1], setup.shaking[2], setup.shaking[3]
    offset, velocity, moved = ZERO, ZERO, ZERO
    if frequency > 0.0:
        phase = frequency * time
        now = sin(phase)
        offset = scale(now, (x, y, z))
        velocity = scale(frequency * cos(phase), (x, y, z))
        moved = scale(now - sin(frequency * (time - since)), (x, y, z))
    return Walls(offset, velocity, moved, setup.drum[1] * since)


@kernel
def wall_depth(wall: int, x: float, radius: float, half: float) -> float:
    """The depth in m to which a sphere has sunk into a plane; if negative, a distance.

    ``x`` is the coordinate of its centre along the axis of the plane, ``half`` the distance of the plane from the origin, m.
    """
    return (x if wall % 2 == 1 else -x) + radius - half


@kernel
def from_axis(wall: int, x: Any) -> Any:
    """The part (3,) of a vector ``x`` (3,) across the axis of the drum with the number ``wall``, in the unit of the vector."""
    axis = wall - PLANES
    return (0.0 if axis == 0 else x[0], 0.0 if axis == 1 else x[1], 0.0 if axis == 2 else x[2])


@kernel
def depth_in_drum(wall: int, x: Any, radius: float, setup: Setup) -> float:
    """The depth in m to which a sphere has sunk into a drum whose axis goes through the origin; if negative, a distance.

    ``x`` (3,) is its centre in the lab, and ``radius`` its radius, m.
    """
    across = from_axis(wall, x)
    return sqrt(dot(across, across)) + radius - setup.drum[0]  # type: ignore[no-any-return]


@kernel
def depth_in_wall(wall: int, r: Any, m: Any, sphere: Any, setup: Setup, walls: Walls) -> float:
    """The depth in m to which a sphere of a clump has sunk into any wall; if negative, a distance."""
    if wall < PLANES:
        axis = wall // 2
        return wall_depth(wall, lab_coordinate(axis, r, m, sphere) - walls.offset[axis], sphere[3], setup.half)  # type: ignore[no-any-return]
    return depth_in_drum(wall, subtract(lab_position(r, m, sphere), walls.offset), sphere[3], setup)


@kernel
def normal_of_wall(wall: int, r: Any, m: Any, sphere: Any, walls: Walls) -> Any:
    """The unit vector (3,) in the lab from a wall to a sphere that touches it."""
    if wall < PLANES:
        return along_axis(wall // 2, 1.0 if wall % 2 == 0 else -1.0)
    across = from_axis(wall, subtract(lab_position(r, m, sphere), walls.offset))
    return scale(-1.0 / sqrt(dot(across, across)), across)


@kernel
def wall_side(wall: int, setup: Setup, walls: Walls) -> Side:
    """A wall as one of two bodies that touch, in SI units: it moves with all walls, and a drum turns.

    A drum is a sphere seen from inside, with a negative radius: its arm leads from the axis to the contact point.
    """
    turns = wall >= PLANES
    spin = along_axis(wall - PLANES, setup.drum[1] if turns else 0.0)
    turned = along_axis(wall - PLANES, walls.turned if turns else 0.0)
    return Side(ZERO, -setup.drum[0] if turns else 0.0, 0.0, walls.velocity, spin, walls.moved, turned)


class Interaction(NamedTuple):
    """What the loops over contacts do at each of them, for one law: kernels.

    ``open(memory)``, then in the order of contacts
    ``wall(respond, fields, i, m, at, wall, walls, depth, sphere, setup, memory, dt, energy) -> energy`` and
    ``pair(respond, fields, i, j, mi, mj, at, away, squared, sphere_i, sphere_j, setup, memory, dt, energy) -> energy``, then
    ``close(respond, fields, setup, memory, dt, commit, energy) -> energy``, with ``respond`` compiled: it is large, and all
    three call it. They add the loads to ``fields`` and what is stored, J, to ``energy``, at the latest when closed.

    ``at`` says which contact it is: clump, index of the sphere in it, and for a pair the same of the other. ``depth`` (m) is
    the overlap with a wall, ``away`` (3,) the vector from the second centre to the first (m, lab) and ``squared`` its square,
    ``memory`` a :class:`polhode.manybody.memory.Memory`, and ``dt`` the time since the last loads, s. Without ``commit`` the
    histories stay as they were.
    """

    respond: Callable[..., Any]
    open: Callable[..., Any]
    wall: Callable[..., Any]
    pair: Callable[..., Any]
    close: Callable[..., Any]


@kernel
def along_axis(axis: int, size: float) -> Any:
    """A vector (3,) of this size along one axis (0, 1 or 2) of the lab, in the unit of ``size``."""
    return (size if axis == 0 else 0.0, size if axis == 1 else 0.0, size if axis == 2 else 0.0)


@kernel
def overlap_of(distance: float, radius_i: float, radius_j: float) -> float:
    """The overlap in m of two spheres that touch, from the distance of their centres and their radii, m.

    It is not negative: the root in ``distance`` may round up beyond the sum of the radii.
    """
    overlap = (radius_i + radius_j) - distance
    return overlap if overlap > 0.0 else 0.0


@cache
def interaction(law: ForceLaw) -> Interaction:
    """The kernels for the contacts of a law, without velocities and histories if it does not need them."""
    constants_of, _ = state_rows(law.width)
    return _along_the_normal(law.normal, constants_of) if law.normal else _with_history(law, constants_of)


def _along_the_normal(normal: Any, constants_of: Any) -> Interaction:
    """Forces along the line of centres that depend on the overlap alone."""

    def respond(fields: Any, bookkeeping: Any, memory: Memory, dt: float, energy: float, key: int) -> float:
        return energy

    @kernel
    def nothing(memory: Any) -> None:
        pass

    @kernel
    def close(respond: Any, fields: Any, setup: Setup, memory: Any, dt: float, commit: bool, energy: float) -> float:
        return energy

    @kernel
    def wall_of(
        respond: Any,
        fields: Any,
        i: Any,
        m: Any,
        at: Any,
        wall: int,
        walls: Walls,
        depth: float,
        sphere: Any,
        setup: Setup,
        memory: Any,
        dt: float,
        energy: float,
    ) -> Any:
        size, stored = normal(depth, sphere[3], constants_of(setup.constants, wall_row(setup, at[0])))
        force = scale(size, normal_of_wall(wall, load_r(fields, i), m, sphere, walls))
        push(fields, i, m, sphere, force)
        memory.ledger[STEP, POWER] += dot(force, walls.velocity)  # a drum that turns moves along itself
        return energy + stored

    @kernel
    def pair(
        respond: Any,
        fields: Any,
        i: Any,
        j: Any,
        mi: Any,
        mj: Any,
        at: Any,
        away: Any,
        squared: float,
        sphere_i: Any,
        sphere_j: Any,
        setup: Setup,
        memory: Any,
        dt: float,
        energy: float,
    ) -> Any:
        distance = sqrt(squared)
        overlap = overlap_of(distance, sphere_i[3], sphere_j[3])
        reduced = sphere_i[3] * sphere_j[3] / (sphere_i[3] + sphere_j[3])
        size, stored = normal(overlap, reduced, constants_of(setup.constants, pair_row(setup, at[0], at[2])))
        # Two centres at the same point define no direction; such a run is lost already, but must not divide by zero.
        s = size / distance if distance > 0.0 else 0.0
        force = (s * away[0], s * away[1], s * away[2])
        push(fields, i, mi, sphere_i, force)
        push(fields, j, mj, sphere_j, (-force[0], -force[1], -force[2]))
        return energy + stored

    return Interaction(respond, nothing, wall_of, pair, close)


@kernel
def _no_end(history: Any) -> Any:
    """A law that takes nothing when a contact ends."""
    return (0.0, 0.0, 0.0, 0.0)


#: What a batch holds of each of two bodies: orientation; x, y, z and radius of the sphere; share of the overlap; mass; and the
#: four velocities of a :class:`Side`, for a clump without a factor of time. Mass and orientation of a wall are zero.
BODY = 22


@kernel
def body_at(fields: Any, i: Any, sphere: Any, share: float) -> Any:
    """The numbers (22,) of a clump as one of the two bodies of a contact that a batch holds, SI, see :data:`BODY`.

    ``share`` is the part of the overlap by which the contact point lies below the surface of the sphere.
    """
    of_sphere = (sphere[0], sphere[1], sphere[2], sphere[3], share)
    velocities = load_velocity(fields, i) + load_spin(fields, i) + load_moved(fields, i) + load_turned(fields, i)
    return load_q(fields, i) + of_sphere + load_mass(fields, i) + velocities


@kernel
def side_of(body: Any, m: Any, dt: float) -> Side:
    """A ``body`` (22,) of a batch, with its rotation matrix, as one of two bodies that touch; all in SI units.

    ``dt``, the time since the last loads, turns the velocities since then into displacements.
    """
    moved, turned = scale(dt, body[16:19]), scale(dt, body[19:22])
    return Side(to_lab(m, body[4:7]), body[7], body[8], body[10:13], body[13:16], moved, turned)


def batch_fields(law: ForceLaw) -> list[tuple[int, ...]]:
    """The places of the fields of a batch, eight tuples of ints.

    They are for normal and overlap of the contact; its history; the vector from the second centre to the first and its square,
    the depth at a wall (0: no wall), and whether the contact is old; normal and overlap before; the first body; the second;
    constants of the law; force, torques on both bodies, energies stored and dissipated, and the power of a wall.
    """
    sizes = GEOMETRY, law.history, 6, GEOMETRY, BODY, BODY, law.width, 9 + LEDGER + 1
    return [tuple(range(first, last)) for first, last in pairwise(accumulate(sizes, initial=0))]


def batch_width(law: ForceLaw) -> int:
    """The number of fields of a batch; 0 for a law without one."""
    return batch_fields(law)[-1][-1] + 1 if law.contact else 0


def _with_history(law: ForceLaw, constants_of: Any) -> Interaction:
    """Forces that depend on velocities, or on what the contact keeps.

    Contacts are answered in batches of eight, so that the arithmetic vectorises as that of the methods does: each waits in a
    lane of ``memory.batch`` (:mod:`polhode.compiling.lanes`), and when all lanes are taken one loop answers them. Loads and
    energies are then added contact by contact, in their order.
    """
    contact: Any = law.contact
    open_pass, ends_before, end_until, recall, remember, close_pass = recollection(law.end or _no_end, law.history)
    fields_of = batch_fields(law)
    _, load_history, load_place, load_before, load_one, load_two, load_constants, _ = map(loader, fields_of)
    store_geometry, store_history, store_place, _, store_one, store_two, store_constants, store_answer = map(storer, fields_of)
    store_before = storer(fields_of[3] + fields_of[1])
    load_old, _ = state_rows(GEOMETRY + law.history)
    answer = fields_of[-1][0]
    load_loads = loader(tuple(range(answer, answer + 9)))
    energies, some_radius = (answer + 9) * LANES, (fields_of[4][7] + 1) * LANES - 1

    def respond(fields: Any, bookkeeping: Any, memory: Memory, dt: float, energy: float, key: int) -> float:
        """Answer the contacts that wait, then end those before ``key`` that have ended.

        Loads are added to ``fields``, what is stored to ``energy``; histories are written.
        """
        batch, waiting, ledger, number = memory.batch, memory.waiting, memory.ledger, memory.counts[WAITING]
        first_four = (bookkeeping[0], bookkeeping[1], bookkeeping[2], bookkeeping[3])
        choices = first_four + (bookkeeping[4], bookkeeping[5], bookkeeping[6], bookkeeping[7])  # noqa: RUF005
        if number > 0:
            if batch[some_radius] == 0.0:  # no lane may hold what never was a contact
                for field in range(batch.size // LANES):
                    for lane in range(number, LANES):
                        batch[field * LANES + lane] = batch[field * LANES]
            for lane in range(np.uint64(LANES)):
                k: Any = np.uint64(lane)
                away, body_one, body_two = load_place(batch, k), load_one(batch, k), load_two(batch, k)
                squared, depth, old = away[3], away[4], away[5]
                distance = sqrt(squared)
                normal = scale(1.0 / distance if distance > 0.0 else 0.0, (away[0], away[1], away[2]))
                overlap = overlap_of(distance, body_one[7], body_two[7])
                radius = body_one[7] * body_two[7] / (body_one[7] + body_two[7])
                mass = body_one[9] * body_two[9] / (body_one[9] + body_two[9])
                if depth > 0.0:
                    overlap, radius, mass = depth, body_one[7], body_one[9]
                m_one, m_two = matrix(body_one[:4]), matrix(body_two[:4])
                first, second = side_of(body_one, m_one, dt), side_of(body_two, m_two, dt if depth == 0.0 else 1.0)
                touch, arm_one, arm_two = meeting(
                    normal, overlap, radius, mass, first, second, load_before(batch, k), old > 0.0, choices, dt
                )
                response = contact(touch, load_history(batch, k), load_constants(batch, k))
                force, couple = response.force, response.couple
                back, couple_back = scale(-1.0, force), scale(-1.0, couple)
                torque_one = in_body(m_one, add(cross(arm_one, force), couple))
                torque_two = in_body(m_two, add(cross(arm_two, back), couple_back))
                surface = add(second.velocity, cross(second.spin, arm_two))
                power = dot(force, surface) + dot(couple, second.spin) if depth > 0.0 else 0.0
                store_answer(batch, k, force + torque_one + torque_two + response.stored + response.work + (power,))
                store_geometry(batch, k, (normal[0], normal[1], normal[2], overlap))
                store_history(batch, k, response.history)
            for lane in range(np.uint64(number)):
                k = np.uint64(lane)
                loads = load_loads(batch, k)
                force, i = loads[:3], np.uint64(waiting[0, k])
                store_force(fields, i, add(load_force(fields, i), force))
                store_torque(fields, i, add(load_torque(fields, i), loads[3:6]))
                if waiting[1, k] >= 0:
                    j = np.uint64(waiting[1, k])
                    store_force(fields, j, add(load_force(fields, j), scale(-1.0, force)))
                    store_torque(fields, j, add(load_torque(fields, j), loads[6:9]))
                stored = np.uint64(energies) + k
                energy += batch[stored] + batch[stored + np.uint64(LANES)]
                for column in range(np.uint64(LEDGER)):
                    ledger[np.uint64(STEP), column] += batch[stored + np.uint64(column) * np.uint64(LANES)]
                ledger[STEP, POWER] += batch[stored + np.uint64(LEDGER * LANES)]
        remember(memory)
        end_until(memory, key)
        return energy

    @kernel
    def enter(
        respond: Any,
        fields: Any,
        key: int,
        away: Any,
        squared: float,
        depth: float,
        row: int,
        setup: Setup,
        memory: Memory,
        dt: float,
        energy: float,
    ) -> Any:
        """Give a contact a lane of the batch, without its bodies; ``row``: of the constants. Returns lane and energy."""
        if memory.counts[WAITING] == LANES or ends_before(memory, key):  # energies of the contacts before it come first
            energy = respond(fields, setup.bookkeeping, memory, dt, energy, key)
        batch, values, counts = memory.batch, memory.values, memory.counts
        remembered = recall(memory, key)
        lane = np.uint64(counts[WAITING])
        counts[WAITING] += 1
        memory.waiting[2, lane] = key
        old = 1.0 if remembered < values.shape[0] - 1 else 0.0
        store_place(batch, lane, (away[0], away[1], away[2], squared, depth, old))
        store_before(batch, lane, load_old(values, np.uint64(remembered)))
        store_constants(batch, lane, constants_of(setup.constants, np.uint64(row)))
        return lane, energy

    @kernel
    def close(respond: Any, fields: Any, setup: Setup, memory: Memory, dt: float, commit: bool, energy: float) -> float:
        energy = respond(fields, setup.bookkeeping, memory, dt, energy, LAST)
        close_pass(memory, commit)
        return energy

    @kernel
    def wall_of(
        respond: Any,
        fields: Any,
        i: Any,
        m: Any,
        at: Any,
        wall: int,
        walls: Walls,
        depth: float,
        sphere: Any,
        setup: Setup,
        memory: Any,
        dt: float,
        energy: float,
    ) -> Any:
        key, normal = contact_key(setup, at[0], wall, at[1], 0), normal_of_wall(wall, load_r(fields, i), m, sphere, walls)
        lane, energy = enter(respond, fields, key, normal, 1.0, depth, wall_row(setup, at[0]), setup, memory, dt, energy)
        side = wall_side(wall, setup, walls)
        still = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, side.radius, side.share, 0.0)
        store_one(memory.batch, lane, body_at(fields, i, sphere, 1.0))
        store_two(memory.batch, lane, still + side.velocity + side.spin + side.moved + side.turned)
        memory.waiting[0, lane], memory.waiting[1, lane] = i, -1
        return energy

    @kernel
    def pair(
        respond: Any,
        fields: Any,
        i: Any,
        j: Any,
        mi: Any,
        mj: Any,
        at: Any,
        away: Any,
        squared: float,
        sphere_i: Any,
        sphere_j: Any,
        setup: Setup,
        memory: Any,
        dt: float,
        energy: float,
    ) -> Any:
        key, row = contact_key(setup, at[0], WALLS + at[2], at[1], at[3]), pair_row(setup, at[0], at[2])
        lane, energy = enter(respond, fields, key, away, squared, 0.0, row, setup, memory, dt, energy)
        store_one(memory.batch, lane, body_at(fields, i, sphere_i, 0.5))
        store_two(memory.batch, lane, body_at(fields, j, sphere_j, 0.5))
        memory.waiting[0, lane], memory.waiting[1, lane] = i, j
        return energy

    return Interaction(respond, open_pass, wall_of, pair, close)


@kernel
def contact_key(setup: Setup, clump: int, other: int, sphere: int, other_sphere: int) -> Any:
    """A number that rises in the order in which contacts are summed, and that no other contact has.

    ``clump`` is the index of the first clump, ``other`` a wall, or WALLS + the index of a clump; ``sphere`` and
    ``other_sphere`` are the indices of both spheres in their clumps, the second 0 at a wall.
    """
    return ((clump * (setup.masses.size + WALLS) + other) * setup.most + sphere) * setup.most + other_sphere


@kernel
def wall_row(setup: Setup, clump: int) -> Any:
    """The index of the row of ``setup.constants`` for the clump of this index at a wall."""
    return setup.materials[np.uint64(clump)] * setup.classes + setup.classes - 1


@kernel
def pair_row(setup: Setup, clump: int, other: int) -> Any:
    """The index of the row of ``setup.constants`` for the two clumps of these indices."""
    return setup.materials[np.uint64(clump)] * setup.classes + setup.materials[np.uint64(other)]


@kernel
def sphere_of(spheres: Any, k: Any) -> Any:
    """Column k of an array (4, n) of spheres: x, y, z and radius, m."""
    return spheres[0, k], spheres[1, k], spheres[2, k], spheres[3, k]


@kernel
def lab_position(r: Any, m: Any, sphere: Any) -> Any:
    """The position (3,) of a sphere's centre in the lab, m, for a clump at r (3,) with the rotation matrix m (9,)."""
    x, y, z = sphere[0], sphere[1], sphere[2]
    return (
        coordinate(r[0], m[0], m[1], m[2], x, y, z),
        coordinate(r[1], m[3], m[4], m[5], x, y, z),
        coordinate(r[2], m[6], m[7], m[8], x, y, z),
    )


@kernel
def lab_coordinate(axis: int, r: Any, m: Any, sphere: Any) -> float:
    """The coordinate of :func:`lab_position` along one axis (0, 1 or 2), m."""
    return coordinate(r[axis], m[3 * axis], m[3 * axis + 1], m[3 * axis + 2], sphere[0], sphere[1], sphere[2])


@kernel
def nearest_image(periods: Any, r: Any, other: Any) -> Any:
    """The image of the position ``other`` (3,) that is nearest to r (3,), m, with ``periods`` as in :class:`Setup`.

    Positions run on across a side, and only what one clump sees of another is shifted: so no motion knows of the sides.
    """
    if periods.size > 0:
        return (
            nearest_coordinate(periods[0], r[0], other[0]),
            nearest_coordinate(periods[1], r[1], other[1]),
            nearest_coordinate(periods[2], r[2], other[2]),
        )
    return other


@kernel
def nearest_coordinate(period: float, x: float, other: float) -> float:
    """One coordinate of :func:`nearest_image`, m.

    ``x`` and ``other`` are this coordinate of both positions, m, and ``period`` (m) is 0 without periodic sides.
    """
    return other + period * floor((x - other) / period + 0.5) if period > 0.0 else other


@cache
def all_loads_of(law: ForceLaw) -> Callable[..., Any]:
    """The function ``all_loads`` of a law, which adds the loads of all contacts, not compiled.

    ``all_loads(respond, fields, width, count, setup, memory, clock, commit) -> energy, contacts`` examines every pair of
    clumps, adds forces (N, lab) and torques (N m, body frame) to the records, and returns the stored energy (J) and the count
    of contacts.
    """
    _, begin_pass, wall_of, pair, end_pass = interaction(law)

    def all_loads(
        respond: Any, fields: Any, width: int, count: int, setup: Setup, memory: Memory, clock: Any, commit: bool
    ) -> tuple[float, int]:
        """Add forces and torques of all contacts, examining every pair of clumps; returns the stored energy and the contacts.

        Parameters
        ----------
        respond : that of :class:`Interaction`, compiled
        fields, width : the clumps, see :mod:`polhode.compiling.lanes`; forces and torques are added to those already there
        count : number of clumps
        setup : Setup
        memory : the histories of the contacts
        clock : s: by what the velocities since the last loads give displacements; the time since the last loads; the time
        commit : whether the histories go on from here
        """
        first, many, spheres = setup.first, setup.many, setup.spheres
        reach = setup.extents[0]
        dt, since, time = clock
        walls = walls_at(setup, since, time)
        energy = 0.0
        contacts = 0
        begin_pass(memory)
        memory.ledger[STEP, POWER] = 0.0
        for c in range(count):
            i = place(c, width)
            ri, qi = load_r(fields, i), load_q(fields, i)
            mi = matrix(qi)
            # A quaternion that is not unit stretches the clump; round-off must not hide a contact.
            reach_i = reach[c] * norm_squared(qi) * GENEROUS
            whole = (0.0, 0.0, 0.0, reach_i)
            for w in range(setup.walls.size):
                wall = setup.walls[w]
                if depth_in_wall(wall, ri, mi, whole, setup, walls) < 0.0:
                    continue
                for a in range(first[c], first[c] + many[c]):
                    sphere = sphere_of(spheres, a)
                    depth = depth_in_wall(wall, ri, mi, sphere, setup, walls)
                    if depth > 0.0:
                        at = (c, a - first[c])
                        energy = wall_of(respond, fields, i, mi, at, wall, walls, depth, sphere, setup, memory, dt, energy)
                        contacts += 1
            for d in range(c + 1, count):
                j = place(d, width)
                rj, qj = nearest_image(setup.periods, ri, load_r(fields, j)), load_q(fields, j)
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
                            both = (c, a - first[c], d, b - first[d])
                            energy = pair(
                                respond,
                                fields,
                                i,
                                j,
                                mi,
                                mj,
                                both,
                                away,
                                squared,
                                sphere_i,
                                sphere_j,
                                setup,
                                memory,
                                dt,
                                energy,
                            )
                            contacts += 1
        energy = end_pass(respond, fields, setup, memory, dt, commit, energy)
        add_work_of_walls(memory, since, commit)
        return energy, contacts

    return all_loads
