"""The engine's storage of clumps: one flat array in blocks of eight lanes, so that a step vectorises.

A block holds eight clumps. Each of its fields is eight adjacent numbers, one for each clump, so field ``k`` of the clump in
lane ``l`` of block ``b`` is at ``(b * width + k) * 8 + l``, where ``width`` is the number of fields. With unsigned indices and
constant offsets the compiler sees that lanes do not overlap; with several arrays or two indices it does not.

With thousands of clumps a step also waits for memory. A record therefore holds nothing twice: if a method hands out the q or r
that it carries, the two share one field. (Keeping mass and inertia in one table per kind of clump would save a fifth of what is
read. It was tried only together with a single kernel for both parts of a step, which by itself prevents vectorisation, and then
took three times as long.)
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from polhode.compiling.kernel import compiled, kernel

LANES = 8

# Offsets of the fields. First what the contacts read and write, then what the margins need (neighbours.py).
R = 0  # position of the centre of mass at which the loads are needed, lab frame
Q = 3  # orientation there
FORCE = 7  # lab frame
TORQUE = 10  # body frame
FRACTION = 13  # squared fraction of its margin that the clump has used
R_LISTED = 14  # position, long axis and orientation when the neighbour list was made
AXIS_LISTED = 17
Q_LISTED = 20
WEIGHTS = 24  # of the three displacements in FRACTION
MASS = 27
INERTIA = 28  # coefficients, see polhode.algebra.body.Body.coefficients
STATE = 37  # what the method carries, then what the scheme of the centre of mass carries, except what is R or Q
# For laws of force that want velocities, these come between INERTIA and what the method carries.
VELOCITY = 37  # now, lab frame
SPIN = 40  # angular velocity now, lab frame
MOVED = 43  # displacement since the last loads over the time in between, lab frame
TURNED = 46  # rotation vector since the last loads over the time in between, lab frame
STATE_AFTER_VELOCITIES = 49


def blocks_of(count: int) -> int:
    """The number of blocks that hold ``count`` clumps."""
    return -(-count // LANES)


@compiled
def empty_fields(size: int) -> Any:
    """An array (size,) of zeros that begins at a cache line: a vector across two lines makes the motion of a clump up to a
    fifth slower.
    """
    room = np.zeros(size + LANES - 1)
    skipped = -(room.ctypes.data // room.itemsize) % LANES
    return room[skipped : skipped + size]


def fields_from(first: int, size: int) -> tuple[int, ...]:
    """The offsets of ``size`` consecutive fields, in fields."""
    return tuple(range(first, first + size))


@cache
def loader(places: tuple[int, ...]) -> Callable[..., Any]:
    """A kernel ``(fields, i) -> tuple`` that reads the fields at these offsets; ``i`` is the index of field 0 in the clump's
    lane.

    ``fields`` is the flat array of the module, and the tuple has a number for each offset in ``places``. The source is
    generated because Numba builds tuples only from elements that are written out.
    """
    elements = "".join(f"f[i + u({k * LANES})], " for k in places)
    return _kernel(f"def load(f, i):\n    return ({elements})\n")


@cache
def storer(places: tuple[int, ...]) -> Callable[..., Any]:
    """A kernel ``(fields, i, values)`` that writes a tuple of numbers to where ``loader`` with these offsets reads it."""
    lines = "".join(f"    f[i + u({place * LANES})] = s[{k}]\n" for k, place in enumerate(places)) or "    pass\n"
    return _kernel(f"def store(f, i, s):\n{lines}")


@cache
def multiplier(size: int, places: tuple[int, ...]) -> Callable[..., Any]:
    """A kernel ``(numbers, factor) -> tuple`` that multiplies the numbers at these places, of ``size`` numbers."""
    elements = "".join(f"c * s[{k}], " if k in places else f"s[{k}], " for k in range(size))
    return _kernel(f"def multiply(s, c):\n    return ({elements})\n")


def _kernel(source: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = {"u": np.uint64}
    exec(source, namespace)
    made: Callable[..., Any] = kernel(next(value for name, value in namespace.items() if name in ("load", "store", "multiply")))
    return made


@kernel
def place(clump: int, width: int) -> Any:
    """The index of field 0 of a clump in the flat array, an unsigned integer as the loaders expect it.

    ``clump``: its number from 0; ``width``: the number of fields of a clump.
    """
    return np.uint64((clump // LANES) * width * LANES + clump % LANES)


load_r, load_q = loader(fields_from(R, 3)), loader(fields_from(Q, 4))
load_force, load_torque = loader(fields_from(FORCE, 3)), loader(fields_from(TORQUE, 3))
load_mass, load_inertia = loader((MASS,)), loader(fields_from(INERTIA, 9))
store_r, store_q = storer(fields_from(R, 3)), storer(fields_from(Q, 4))
load_velocity, load_spin = loader(fields_from(VELOCITY, 3)), loader(fields_from(SPIN, 3))
load_moved, load_turned = loader(fields_from(MOVED, 3)), loader(fields_from(TURNED, 3))
store_velocity, store_spin = storer(fields_from(VELOCITY, 3)), storer(fields_from(SPIN, 3))
store_moved, store_turned = storer(fields_from(MOVED, 3)), storer(fields_from(TURNED, 3))
store_force, store_torque = storer(fields_from(FORCE, 3)), storer(fields_from(TORQUE, 3))
