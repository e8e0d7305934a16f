"""The loads on rigid molecules: every site acts on every site of another molecule within a cut-off, in loops that vectorise.

Sites of one type lie side by side, in blocks of eight lanes and in the order of their molecules. A site looks through the
blocks of the molecules after its own. Sums go lane by lane and then over the lanes, so no bit depends on the vectors of the
machine. A block out of reach would add zeros alone: it may be left out, and no bit depends on that either.
"""

from collections.abc import Callable
from functools import cache
from math import sqrt
from typing import Any

import numpy as np

from polhode.algebra.vector import add, cross
from polhode.compiling.kernel import kernel
from polhode.compiling.lanes import LANES, load_q, load_r, place, store_force, store_torque
from polhode.manybody.contact import ZERO, Layout, Setup, coordinate, in_body, matrix
from polhode.manybody.law import ForceLaw
from polhode.methods.one_body import state_rows

# Fields of a block, after positions: forces on its sites, and sums of force and energy of one site of another molecule.
F, SUMS = 3, 6
#: Numbers in a block; the last field holds the middle of its sites, how far they are from it, and whether it is out of reach.
BLOCK = 11 * LANES
MIDDLE = 10 * LANES
#: Columns of ``setup.constants`` before those of the law.
BEFORE = 3
#: With at least so many molecules blocks out of reach are left out, and this is added to distances to allow for round-off.
MANY, ROUND_OFF = 200, 1e-6
#: Added to a number of moderate size and subtracted again, this rounds it to the nearest whole number.
ROUND = 1.5 * 2.0**52


def layout_of(types_of: list[np.ndarray]) -> Layout:
    """The layout of molecules with sites of these types (ints from 0), molecule by molecule."""
    flat = np.concatenate(types_of)
    numbers = np.bincount(flat)
    # The sums begin in the block before the first.
    first = 1 + np.concatenate([[0], np.cumsum(-(-numbers // LANES))])[:-1]
    seen = np.zeros(len(numbers), np.int64)
    sites = np.zeros((len(flat), 2), np.int64)
    after = np.zeros((len(types_of), len(numbers)), np.int64)
    site = 0
    for molecule, kinds in enumerate(types_of):
        for kind in kinds:
            block, lane = divmod(seen[kind], LANES)
            sites[site] = kind, (first[kind] + block) * BLOCK + lane
            seen[kind] += 1
            site += 1
        after[molecule] = seen
    return Layout(sites, np.ascontiguousarray(np.stack([first, numbers], 1)), after)


def width(layout: Layout) -> int:
    """The size of the blocks, as the ``batch_width`` of :class:`polhode.manybody.engine.LawParts`."""
    blocks = 1 + int((-(-layout.types[:, 1] // LANES)).sum()) if layout.types.size else 0
    return blocks * (BLOCK // LANES)


@cache
def site_loads_of(law: ForceLaw) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The loads of a law between sites, as ``all_loads`` and as ``listed_loads`` of the engine, not compiled.

    What a row of ``setup.constants`` begins with says whether both sites have Lennard-Jones parameters, whether both have
    charges, and the square of the cut-off.
    """
    lennard_jones: Any = law.lennard_jones
    coulomb: Any = law.coulomb
    constants_of, _ = state_rows(law.width, first=BEFORE)

    @kernel
    def of_a_block(
        f: Any, base: Any, low: int, high: int, at: Any, period: Any, which: Any, reach: float, constants: Any
    ) -> None:
        """What the sites of a block do to a site ``at``; those of the lanes from ``low`` to ``high`` count."""
        with_lennard_jones, with_charges = which
        for lane in range(np.uint64(LANES)):
            k = base + np.uint64(lane)
            x, y, z = at[0] - f[k], at[1] - f[k + np.uint64(LANES)], at[2] - f[k + np.uint64(2 * LANES)]
            x, y, z = nearest(x, period), nearest(y, period), nearest(z, period)
            squared = x * x + y * y + z * z
            slope, energy = 0.0, 0.0
            if with_lennard_jones:
                slope, energy = lennard_jones(squared, constants)
            if with_charges:
                more, stored = coulomb(squared, constants)
                slope, energy = slope + more, energy + stored
            number = np.int64(lane)
            counts = (number >= low) & (number < high) & (squared < reach)
            slope = slope if counts else 0.0
            energy = energy if counts else 0.0
            x, y, z = slope * x, slope * y, slope * z
            # The sums go on from the block before: that all offsets are constant tells the compiler that lanes do not overlap.
            f[k + np.uint64(SUMS * LANES)] = f[k - np.uint64(BLOCK - SUMS * LANES)] + x
            f[k + np.uint64((SUMS + 1) * LANES)] = f[k - np.uint64(BLOCK - (SUMS + 1) * LANES)] + y
            f[k + np.uint64((SUMS + 2) * LANES)] = f[k - np.uint64(BLOCK - (SUMS + 2) * LANES)] + z
            f[k + np.uint64((SUMS + 3) * LANES)] = f[k - np.uint64(BLOCK - (SUMS + 3) * LANES)] + energy
            f[k + np.uint64(F * LANES)] -= x
            f[k + np.uint64((F + 1) * LANES)] -= y
            f[k + np.uint64((F + 2) * LANES)] -= z

    @kernel
    def on_a_site(
        f: Any, base: int, begin: int, end: int, at: Any, period: Any, which: Any, reach: float, constants: Any, many: bool
    ) -> Any:
        """The force of the sites ``begin`` to ``end`` of a type, whose blocks begin at ``base``, on a site, and the energy."""
        k = np.uint64(base + (begin // LANES - 1) * BLOCK)
        for lane in range(np.uint64(4 * LANES)):
            f[k + np.uint64(SUMS * LANES) + np.uint64(lane)] = 0.0
        for block in range(begin // LANES, (end + LANES - 1) // LANES):
            k = np.uint64(base + block * BLOCK)
            if many and f[k + np.uint64(MIDDLE + 4)] > 0.0:
                for lane in range(np.uint64(4 * LANES)):
                    sums = k + np.uint64(SUMS * LANES) + np.uint64(lane)
                    f[sums] = f[sums - np.uint64(BLOCK)]
            else:
                of_a_block(f, k, begin - block * LANES, end - block * LANES, at, period, which, reach, constants)
        k += np.uint64(SUMS * LANES)
        force = total(f, k), total(f, k + np.uint64(LANES)), total(f, k + np.uint64(2 * LANES))
        return force, total(f, k + np.uint64(3 * LANES))

    @kernel
    def loads(fields: Any, width: int, count: int, setup: Setup, f: Any) -> float:
        layout, period = setup.layout, (0.0, 0.0)
        if setup.periods.size > 0:
            period = (setup.periods[0], 1.0 / setup.periods[0])
        put_sites(fields, width, count, setup, f)
        many = count >= MANY
        if many:
            put_middles(layout, period, f)
        types = layout.types.shape[0]
        energy = 0.0
        site = 0
        for c in range(count):
            if many:
                note_what_is_out_of_reach(fields, width, c, setup, period, f)
            for _ in range(setup.many[c]):
                kind, index = layout.sites[site, 0], np.uint64(layout.sites[site, 1])
                at = f[index], f[index + np.uint64(LANES)], f[index + np.uint64(2 * LANES)]
                x, y, z = ZERO
                for other in range(types):
                    row = kind * types + other
                    table = setup.constants
                    both_attract, both_charged, reach = table[row, 0], table[row, 1], table[row, 2]
                    constants = constants_of(setup.constants, row)
                    base, begin, end = layout.types[other, 0] * BLOCK, layout.after[c, other], layout.types[other, 1]
                    force, stored = ZERO, 0.0
                    if both_attract > 0.0 and both_charged > 0.0:
                        force, stored = on_a_site(f, base, begin, end, at, period, (True, True), reach, constants, many)
                    elif both_charged > 0.0:
                        force, stored = on_a_site(f, base, begin, end, at, period, (False, True), reach, constants, many)
                    elif both_attract > 0.0:
                        force, stored = on_a_site(f, base, begin, end, at, period, (True, False), reach, constants, many)
                    x, y, z = x + force[0], y + force[1], z + force[2]
                    energy += stored
                f[index + np.uint64(F * LANES)] += x
                f[index + np.uint64((F + 1) * LANES)] += y
                f[index + np.uint64((F + 2) * LANES)] += z
                site += 1
        gather_loads(fields, width, count, setup, f)
        return energy

    def all_loads(  # type: ignore[no-untyped-def]
        respond, fields, width, count, setup, memory, clock, commit
    ):
        return loads(fields, width, count, setup, memory.batch), 0

    @kernel
    def listed_loads(  # type: ignore[no-untyped-def]
        respond, fields, width, listed, n_groups, setup, memory, clock, work
    ):
        return loads(fields, width, n_groups, setup, memory.batch), 0, 0.0

    return all_loads, listed_loads


def respond(fields: Any, bookkeeping: Any, memory: Any, dt: float, energy: float, key: int) -> float:
    """No site waits for an answer."""
    return energy


@kernel
def total(f: Any, k: Any) -> float:
    """The sum of eight numbers."""
    a, b = f[k] + f[k + np.uint64(4)], f[k + np.uint64(1)] + f[k + np.uint64(5)]
    c, d = f[k + np.uint64(2)] + f[k + np.uint64(6)], f[k + np.uint64(3)] + f[k + np.uint64(7)]
    return (a + c) + (b + d)  # type: ignore[no-any-return]


@kernel
def put_sites(fields: Any, width: int, count: int, setup: Setup, f: Any) -> None:
    """Write where all sites are, and no forces."""
    site = 0
    for c in range(count):
        i = place(c, width)
        r, m = load_r(fields, i), matrix(load_q(fields, i))
        for a in range(setup.first[c], setup.first[c] + setup.many[c]):
            k = np.uint64(setup.layout.sites[site, 1])
            x, y, z = setup.spheres[0, a], setup.spheres[1, a], setup.spheres[2, a]
            f[k] = coordinate(r[0], m[0], m[1], m[2], x, y, z)
            f[k + np.uint64(LANES)] = coordinate(r[1], m[3], m[4], m[5], x, y, z)
            f[k + np.uint64(2 * LANES)] = coordinate(r[2], m[6], m[7], m[8], x, y, z)
            f[k + np.uint64(F * LANES)] = 0.0
            f[k + np.uint64((F + 1) * LANES)] = 0.0
            f[k + np.uint64((F + 2) * LANES)] = 0.0
            site += 1


@kernel
def nearest(x: float, period: Any) -> float:
    """A difference of coordinates to the nearest image; a period of zero, whose inverse is zero too: the difference itself."""
    return x - period[0] * ((x * period[1] + ROUND) - ROUND)  # type: ignore[no-any-return]


@kernel
def put_middles(layout: Layout, period: Any, f: Any) -> None:
    """Write the middle of the sites of each block, and the largest distance of one from it."""
    for kind in range(layout.types.shape[0]):
        for first in range(0, layout.types[kind, 1], LANES):
            k = np.uint64(layout.types[kind, 0] * BLOCK + first // LANES * BLOCK)
            many = min(LANES, layout.types[kind, 1] - first)
            furthest = 0.0
            for axis in range(3):
                at = k + np.uint64(axis * LANES)
                low, high = 0.0, 0.0
                for lane in range(many):
                    x = nearest(f[at + np.uint64(lane)] - f[at], period)
                    low, high = min(low, x), max(high, x)
                f[k + np.uint64(MIDDLE + axis)] = f[at] + 0.5 * (low + high)
                furthest += 0.25 * (high - low) * (high - low)
            f[k + np.uint64(MIDDLE + 3)] = sqrt(furthest) + ROUND_OFF


@kernel
def note_what_is_out_of_reach(fields: Any, width: int, molecule: int, setup: Setup, period: Any, f: Any) -> None:
    """Write for each block of later molecules whether all its sites are further away from all sites of one than the cut-off."""
    r, layout = load_r(fields, place(molecule, width)), setup.layout
    cutoff = sqrt(setup.constants[0, BEFORE - 1]) + setup.extents[0, molecule]
    for kind in range(layout.types.shape[0]):
        for block in range(layout.after[molecule, kind] // LANES, (layout.types[kind, 1] + LANES - 1) // LANES):
            k = np.uint64((layout.types[kind, 0] + block) * BLOCK + MIDDLE)
            x = nearest(r[0] - f[k], period)
            y = nearest(r[1] - f[k + np.uint64(1)], period)
            z = nearest(r[2] - f[k + np.uint64(2)], period)
            bound = cutoff + f[k + np.uint64(3)]
            f[k + np.uint64(4)] = 1.0 if x * x + y * y + z * z > bound * bound else 0.0


@kernel
def gather_loads(fields: Any, width: int, count: int, setup: Setup, f: Any) -> None:
    """Write the forces and torques on all molecules."""
    site = 0
    for c in range(count):
        i = place(c, width)
        m = matrix(load_q(fields, i))
        force, torque = ZERO, ZERO
        for a in range(setup.first[c], setup.first[c] + setup.many[c]):
            k = np.uint64(setup.layout.sites[site, 1]) + np.uint64(F * LANES)
            acting = f[k], f[k + np.uint64(LANES)], f[k + np.uint64(2 * LANES)]
            arm = setup.spheres[0, a], setup.spheres[1, a], setup.spheres[2, a]
            force = add(force, acting)
            torque = add(torque, cross(arm, in_body(m, acting)))
            site += 1
        store_force(fields, i, force)
        store_torque(fields, i, torque)


def no_list(fields: Any, width: int, count: int, setup: Setup, rates: Any, margin: float, listed: Any, scratch: Any) -> Any:
    """In place of :func:`polhode.manybody.neighbours.make_list`: all molecules are looked through, as they are."""
    return (count, 0, 0, 0), 0.0
