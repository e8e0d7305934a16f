"""Initial states: clumps at random in a box or a drum, clear of each other and of walls, with random orientations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import pi
from typing import Any

import numpy as np

from polhode.algebra.vector import dot
from polhode.compiling.kernel import compile_driver
from polhode.interface.arguments import array, unit_quaternions
from polhode.interface.arrays import about
from polhode.manybody.contact import PLANES, coordinate, from_axis, matrix, nearest_image, subtract
from polhode.manybody.walls import AXES, Drum

#: Attempts to place one clump before the box is considered full.
ATTEMPTS = 20_000


#: More bodies cannot be simulated in the memory of a computer, nor in a lifetime.
MOST = 10_000_000


class BoxTooFull(ValueError):
    """Random placement found no room for a clump; the message says how full the box is."""


@dataclass(frozen=True, eq=False)
class State:
    """Positions r and velocities v of the centres of mass (n, 3; lab, m and m/s), orientations q (n, 4; body to lab), angular
    velocities omega (n, 3; body frames, rad/s)."""

    r: np.ndarray
    v: np.ndarray
    q: np.ndarray
    omega: np.ndarray


def check_number(where: str, count: int, bodies: str) -> None:
    """Refuse more than :data:`MOST` bodies, before there is a list of them; ``where`` and ``bodies`` are words of the message.

    Raises
    ------
    ValueError
        If ``count`` is larger.
    """
    if count > MOST:
        raise ValueError(f"{where}: has {count} {bodies}; at most {MOST:,} can be simulated")


def motion_variables(motion: np.ndarray, bodies: str, length: str = "m", time: str = "s") -> dict[str, Any]:
    """The motion of a run as variables r, v, q and omega by name: dimensions, array (samples, bodies, 3 or 4), attributes.

    ``motion`` (samples, bodies, 13) has these columns: r and v in the lab, q body to lab, scalar first, omega in the body
    frame. ``bodies`` is the name of that dimension, ``length`` and ``time`` are the units. Of a run without recorded motion the
    dict is empty.
    """
    if not len(motion):
        return {}
    columns = (
        ("r", slice(0, 3), "axis", "position of the centre of mass, lab frame", length),
        ("v", slice(3, 6), "axis", "its velocity", f"{length} {time}-1"),
        ("q", slice(6, 10), "quaternion", "orientation, body to lab", "1"),
        ("omega", slice(10, 13), "axis", "angular velocity in the body frame", f"rad {time}-1"),
    )
    return {
        name: (("time", bodies, dimension), motion[:, :, column], {**about(long_name, units), "symbol": name})
        for name, column, dimension, long_name, units in columns
    }


def checked_state(where: str, count: int, state: State) -> State:
    """The state of ``count`` bodies with checked copies of its arrays, in its units, and quaternions divided by their length.

    r, v and omega are (count, 3), q is (count, 4).

    Raises
    ------
    TypeError, ValueError
        If an array has another shape, a value is not finite, or a quaternion is not unit; the message begins with ``where``.
    """
    arrays = {}
    for name, size in (("r", 3), ("v", 3), ("q", 4), ("omega", 3)):
        what = f"{where}: the initial {name}"
        arrays[name] = array(what, getattr(state, name), columns=size)
        if len(arrays[name]) != count:
            raise ValueError(f"{what} must be {count} rows of {size} numbers, one for each body; got {len(arrays[name])}")
    arrays["q"] = unit_quaternions(f"{where}: the initial q", arrays["q"])
    return State(**arrays)


def directions(rng: np.random.Generator, count: int, dimensions: int = 3) -> np.ndarray:
    """Isotropic unit vectors (count, dimensions): normalised Gaussian vectors. Four dimensions give uniform orientations."""
    vectors = rng.standard_normal((count, dimensions))
    unit: np.ndarray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


@cache
def _compiled_try() -> Callable[..., Any]:
    from numba import types

    from polhode.compiling.signatures import float_type, parameters_type, samples_type, steps_type

    vector, rows = parameters_type, samples_type
    signature = types.boolean(
        vector, vector, rows, rows, float_type, vector, vector, vector, types.int64, rows, steps_type, steps_type, rows
    )
    return compile_driver(_try, signature)


def _try(
    r: Any,
    q: Any,
    spheres: Any,
    world: Any,
    reach: float,
    halves: Any,
    drum: Any,
    periods: Any,
    placed: int,
    others: Any,
    first: Any,
    many: Any,
    held: Any,
) -> bool:
    """Put the spheres (4, n) of a clump at r with orientation q; whether they fit in the box, clear of those placed before.

    ``halves`` (3,) are the distances of planes from the origin, ``drum`` the radius of a drum, or 0, and its number, see
    :data:`polhode.manybody.contact.WALLS`, ``periods`` as in :class:`polhode.manybody.contact.Setup`. ``world`` (4, n) takes
    the lab positions and radii of the spheres. Of the ``placed`` clumps, ``others`` (., 4) holds centre and reach, ``held``
    (4, .) the spheres in the lab, ``first`` and ``many`` which of them are whose.
    """
    m = matrix((q[0], q[1], q[2], q[3]))
    for k in range(spheres.shape[1]):
        x, y, z = spheres[0, k], spheres[1, k], spheres[2, k]
        world[0, k] = coordinate(r[0], m[0], m[1], m[2], x, y, z)
        world[1, k] = coordinate(r[1], m[3], m[4], m[5], x, y, z)
        world[2, k] = coordinate(r[2], m[6], m[7], m[8], x, y, z)
        world[3, k] = spheres[3, k]
        for axis in range(3):
            if abs(world[axis, k]) + world[3, k] >= halves[axis]:
                return False
        if drum[0] > 0.0:
            across = from_axis(drum[1], (world[0, k], world[1, k], world[2, k]))
            room = drum[0] - world[3, k]
            if room <= 0.0 or dot(across, across) >= room * room:
                return False
    for c in range(placed):
        other = (others[c, 0], others[c, 1], others[c, 2])
        image = nearest_image(periods, r, other)
        dx, dy, dz = subtract(r, image)
        sx, sy, sz = subtract(image, other)
        near = reach + others[c, 3]
        if dx * dx + dy * dy + dz * dz >= near * near:
            continue
        for a in range(world.shape[1]):
            for b in range(first[c], first[c] + many[c]):
                dx, dy, dz = world[0, a] - held[0, b] - sx, world[1, a] - held[1, b] - sy, world[2, a] - held[2, b] - sz
                near = world[3, a] + held[3, b]
                if dx * dx + dy * dy + dz * dz <= near * near:
                    return False
    return True


def planes_and_drum(box: float, drum: Drum | None, periodic: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What bounds a box of edge ``box`` (m), perhaps with a drum, that is repeated along the axes ``periodic``: three arrays.

    First the distances (3,) of planes from the origin along x, y and z, m, inf where there is none; then radius (m; 0: none)
    and number of the drum (2,), see :data:`polhode.manybody.contact.WALLS`; last the periods (3,), m, 0 where there is none.
    """
    along = np.array([drum is None or axis == drum.axis for axis in AXES])
    repeated = np.array([axis in periodic for axis in AXES])
    cylinder = np.array([drum.radius, PLANES + AXES.index(drum.axis)]) if drum else np.zeros(2)
    return np.where(along & ~repeated, box / 2, np.inf), cylinder, np.where(repeated, box, 0.0)


def check_state(
    clumps: list[Any],
    box: float,
    state: State,
    where: str = "box",
    drum: Drum | None = None,
    periodic: Sequence[str] = (),
) -> None:
    """Refuse a state from which a run makes no sense: a clump with its centre outside box or drum, or two that interpenetrate.

    Contacts are allowed, since a state taken from a run has them. A sphere whose centre lies inside a sphere of another clump
    is not. ``clumps`` is a list of the n :class:`polhode.manybody.Clump`, ``box`` the edge of the box in m (the length of a
    drum), ``where`` how the message begins; along the axes ``periodic`` the box has no walls and everything is repeated.

    Raises
    ------
    ValueError
        Naming the clumps by their number and key.
    """
    # Imported here because the jobs of the study start from random states and never need them.
    from scipy.spatial import cKDTree
    from scipy.spatial.distance import cdist
    from scipy.spatial.transform import Rotation

    r, q = np.asarray(state.r, float), np.asarray(state.q, float)
    halves, _, periods = planes_and_drum(box, drum, periodic)
    if drum is not None:
        away = np.linalg.norm(np.delete(r, AXES.index(drum.axis), axis=1), axis=1)
        for i in np.flatnonzero(away > drum.radius):
            raise ValueError(
                f"{where}: clump {i} ({clumps[i].key}) starts at {r[i].tolist()} m, outside the drum of radius "
                f"{drum.radius:g} m about the {drum.axis} axis; move it inside"
            )
    for i in np.flatnonzero((np.abs(r) > halves).any(axis=1)):
        raise ValueError(
            f"{where}: clump {i} ({clumps[i].key}) starts at {r[i].tolist()} m, outside the box, a cube of {box:g} m about the "
            "origin; move it inside"
        )
    turned = [Rotation.from_quat(np.roll(q[i], -1)).apply(np.array(clump.centres)) + r[i] for i, clump in enumerate(clumps)]
    furthest = max(clump.reach for clump in clumps)
    length = np.where(periods > 0, periods, 1.0)
    for i, j in sorted(cKDTree(np.where(periods > 0, r % length, r), boxsize=periods).query_pairs(2 * furthest)):
        gaps = cdist(turned[i], turned[j] + periods * np.round((r[i] - r[j]) / length))
        if (gaps < np.maximum.outer(clumps[i].radii, clumps[j].radii)).any():
            raise ValueError(
                f"{where}: clumps {i} ({clumps[i].key}) and {j} ({clumps[j].key}) interpenetrate at the start; move them apart"
            )


def place_at_random(
    clumps: list[Any],
    box: float,
    rng: np.random.Generator,
    attempts: int = ATTEMPTS,
    where: str = "box",
    drum: Drum | None = None,
    periodic: Sequence[str] = (),
) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, 3) of clumps in m, and orientations (n, 4), in a cube of edge ``box`` (m) about the origin, or in a drum.

    Orientations are unit quaternions, scalar first, body to lab. Random sequential addition, the largest first: each of the n
    clumps is tried at random places and orientations, at most ``attempts`` times, until it touches nothing. ``drum`` and the
    axes ``periodic`` are as of a :class:`polhode.manybody.Scene`, and ``where`` begins the message.

    Raises
    ------
    BoxTooFull
        If a clump finds no room in so many attempts.
    """
    order = sorted(range(len(clumps)), key=lambda i: -clumps[i].reach)
    r, q = np.zeros((len(clumps), 3)), np.zeros((len(clumps), 4))
    total = sum(len(clump.radii) for clump in clumps)
    held, others = np.empty((4, total)), np.empty((len(clumps), 4))
    first, many = np.zeros(len(clumps), np.int64), np.zeros(len(clumps), np.int64)
    used, volume = 0, 0.0
    fits, (halves, cylinder, periods) = _compiled_try(), planes_and_drum(box, drum, periodic)
    tables = {id(clump): np.ascontiguousarray(np.vstack([clump.centres.T, clump.radii])) for clump in clumps}
    for placed, index in enumerate(order):
        clump = clumps[index]
        table = tables[id(clump)]
        world = np.empty_like(table)
        # The centre keeps at least the smallest half-width of any orientation away from the walls.
        room = np.where(periods > 0, box / 2, np.minimum(halves, cylinder[0] if drum else np.inf) - clump.radii.min())
        for _attempt in range(attempts if room.min() > 0 else 0):
            trial = rng.uniform(-room, room, 3)
            turn = directions(rng, 1, 4)[0]
            if fits(trial, turn, table, world, clump.reach, halves, cylinder, periods, placed, others, first, many, held):
                break
        else:
            whole = pi * drum.radius**2 * box if drum else box**3
            fraction = sum(c.solid_volume for c in clumps) / whole
            raise BoxTooFull(
                f"{where}: no room for clump {placed + 1} of {len(clumps)} ({clump.key}) in {attempts} attempts; the "
                f"{'drum' if drum else 'box'} of {box:g} m is filled to {100 * volume / whole:.1f} % of its volume, all clumps "
                f"would take {100 * fraction:.1f} %; use a larger {'drum' if drum else 'box'} or fewer clumps"
            )
        r[index], q[index] = trial, turn
        others[placed] = (*trial, clump.reach)
        first[placed], many[placed] = used, len(clump.radii)
        held[:, used : used + len(clump.radii)] = world
        used += len(clump.radii)
        volume += clump.solid_volume
    return r, q
