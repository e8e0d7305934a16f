"""The loads on rigid molecules: every site acts on every site of another molecule within a cut-off, in loops that vectorise.

Sites of one type lie side by side, in blocks of eight lanes and in the order of their molecules. A site looks through the
blocks of the molecules after its own. Sums go lane by lane and then over the lanes, so no bit depends on the vectors of the
machine.

Of many molecules, a molecule looks only at the sites in a list (:func:`list_sites`), which remains valid while every molecule
is within its margin (:mod:`polhode.manybody.neighbours`). They are copied from a table to blocks, in which each site keeps its
lane and its place among the others of this lane, so that every sum has the same terms in the same order as without a list. What
the list omits, and what it has in vain, adds zeros alone. No bit depends on it. Which image of a listed site is nearest, the
first site of a molecule finds for the others: they would find the same one for whatever is within the cut-off.

Energies are added up only where they are read, since that costs a fifth to a third of a step; forces do not depend on it.

The kernels share their arguments, in the coherent units of the fluid, in which a force is mass length / time^2. ``fields`` is
the flat float array of the records of all molecules, which have ``width`` fields each (:mod:`polhode.compiling.lanes`); ``f``
the flat float array of the blocks, with positions of sites and forces on them in the lab, and of the table of sites behind
them, which begins at ``table`` (0: there is no list, and no table); ``setup`` a :class:`polhode.manybody.contact.Setup`;
``period`` the edge of the box and its inverse; ``base`` where the blocks of a type begin in ``f``; and ``index``
and ``groups`` come from :func:`list_sites`. Lists, and ``near``, ``at`` and ``order``, are as in
:mod:`polhode.manybody.neighbours`. Molecules, sites and types are numbered from 0.
"""

from collections.abc import Callable
from functools import cache
from math import inf, sqrt
from typing import Any

import numpy as np

from polhode.algebra.quaternion import norm_squared
from polhode.algebra.vector import add, cross
from polhode.compiling.kernel import kernel
from polhode.compiling.lanes import LANES, load_q, load_r, place, store_force, store_torque
from polhode.manybody.contact import GENEROUS, ZERO, Layout, Setup, coordinate, in_body, matrix
from polhode.manybody.law import ForceLaw
from polhode.manybody.neighbours import Listed, Scratch, begin_margin, margin_at, mean_rate, store_weights
from polhode.methods.one_body import state_rows

# Fields of a block, after positions: forces on its sites; sums of force and energy of one site of another molecule; the square
# of the distance within which a lane counts; and how far the nearest image of a listed site is away from the site.
F, SUMS, REACH, IMAGE = 3, 6, 10, 12
#: Numbers in a block, and in the row of a site in the table that lists refer to: its position and the force on it.
BLOCK, ROW = 16 * LANES, 8
#: Bits of an entry of a list that say where its site goes among the blocks; those above, where it is in the table.
PLACE = 32
#: Columns of ``setup.constants`` before those of the law.
BEFORE = 3
#: With at least so many molecules there is a list, if one that is renewed every few steps saves this part of the time.
MANY, LIFE, WORTHWHILE = 200, 5.0, 0.05
#: Approximate costs in ns: of a pair of sites, and of a listed site that is copied; and, in making a list, of a pair of
#: molecules, of a site of a molecule nearby, and of each distance from it.
PER_PAIR, PER_COPY, PER_LOOK, PER_SITE, PER_DISTANCE = 1.6, 3.0, 1.2, 3.5, 0.3
#: The length by which margins are measured, as the radius of spheres is, over the cut-off.
UNIT_OF_MARGINS = 0.13
#: Further from the origin, in edges of the box, round-off might exceed the caution of a list.
FAR = 1e4
#: Added to a number of moderate size and subtracted again, this rounds it to the nearest whole number.
ROUND = 1.5 * 2.0**52


def layout_of(types_of: list[np.ndarray]) -> Layout:
    """The layout of molecules, whose sites have these types: an int array (sites,) for each molecule."""
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
    """The size of blocks and table in fields of eight lanes, ``batch_width`` of :class:`polhode.manybody.engine.LawParts`."""
    return blocks_in(layout) * (BLOCK // LANES + ROW)


@kernel
def blocks_in(layout: Layout) -> int:
    """The number of blocks, with that in which sums begin."""
    kinds = layout.types.shape[0]
    return layout.types[kinds - 1, 0] + (layout.types[kinds - 1, 1] + LANES - 1) // LANES if kinds > 0 else 1  # type: ignore[no-any-return]


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
    def of_a_block(f: Any, base: Any, at: Any, period: Any, which: Any, constants: Any) -> None:
        """What the sites of a block do to a site ``at``."""
        with_lennard_jones, with_charges, with_energy, image_known = which
        for lane in range(np.uint64(LANES)):
            k = base + np.uint64(lane)
            i = k + np.uint64(IMAGE * LANES)
            x, y, z = at[0] - f[k], at[1] - f[k + np.uint64(LANES)], at[2] - f[k + np.uint64(2 * LANES)]
            if image_known:
                x, y, z = x - f[i], y - f[i + np.uint64(LANES)], z - f[i + np.uint64(2 * LANES)]
            else:
                px, py, pz = periods_in(x, period), periods_in(y, period), periods_in(z, period)
                f[i], f[i + np.uint64(LANES)], f[i + np.uint64(2 * LANES)] = px, py, pz
                x, y, z = x - px, y - py, z - pz
            squared = x * x + y * y + z * z
            slope, energy = 0.0, 0.0
            if with_lennard_jones:
                slope, energy = lennard_jones(squared, constants)
            if with_charges:
                more, stored = coulomb(squared, constants)
                slope, energy = slope + more, energy + stored
            counts = squared < f[k + np.uint64(REACH * LANES)]
            slope = slope if counts else 0.0
            energy = energy if counts else 0.0
            x, y, z = slope * x, slope * y, slope * z
            # The sums go on from the block before: that all offsets are constant tells the compiler that lanes do not overlap.
            f[k + np.uint64(SUMS * LANES)] = f[k - np.uint64(BLOCK - SUMS * LANES)] + x
            f[k + np.uint64((SUMS + 1) * LANES)] = f[k - np.uint64(BLOCK - (SUMS + 1) * LANES)] + y
            f[k + np.uint64((SUMS + 2) * LANES)] = f[k - np.uint64(BLOCK - (SUMS + 2) * LANES)] + z
            if with_energy:
                f[k + np.uint64((SUMS + 3) * LANES)] = f[k - np.uint64(BLOCK - (SUMS + 3) * LANES)] + energy
            f[k + np.uint64(F * LANES)] -= x
            f[k + np.uint64((F + 1) * LANES)] -= y
            f[k + np.uint64((F + 2) * LANES)] -= z

    @kernel
    def on_a_site(f: Any, base: int, blocks: Any, at: Any, period: Any, which: Any, constants: Any) -> Any:
        """The force of blocks of a type, whose first is at ``base``, on a site, and the energy."""
        k = np.uint64(base + (blocks[0] - 1) * BLOCK)
        for lane in range(np.uint64(4 * LANES)):
            f[k + np.uint64(SUMS * LANES) + np.uint64(lane)] = 0.0
        for block in range(blocks[0], blocks[1]):
            k = np.uint64(base + block * BLOCK)
            of_a_block(f, k, at, period, which, constants)
        k += np.uint64(SUMS * LANES)
        force = total(f, k), total(f, k + np.uint64(LANES)), total(f, k + np.uint64(2 * LANES))
        return force, total(f, k + np.uint64(3 * LANES)) if which[2] else 0.0

    @kernel
    def of_a_type(f: Any, base: int, blocks: Any, at: Any, period: Any, how: Any, of_types: Any, pair: int) -> Any:
        """The same, with what the constants of both types say.

        ``how``: with energy, and whether another site has noted the nearest images; literals, so that the compiler drops the
        rest.
        """
        both_attract, both_charged, constants = of_types[pair, 0] > 0.0, of_types[pair, 1] > 0.0, constants_of(of_types, pair)
        if both_attract and both_charged:
            return on_a_site(f, base, blocks, at, period, (True, True, how[0], how[1]), constants)
        if both_charged:
            return on_a_site(f, base, blocks, at, period, (False, True, how[0], how[1]), constants)
        if both_attract:
            return on_a_site(f, base, blocks, at, period, (True, False, how[0], how[1]), constants)
        return ZERO, 0.0

    @kernel
    def loads(
        fields: Any, width: int, count: int, setup: Setup, f: Any, groups: Any, index: Any, listed: bool, with_energy: bool
    ) -> float:
        layout, period = setup.layout, period_of(setup)
        table = blocks_in(layout) * BLOCK if listed else 0
        put_sites(fields, width, count, setup, f, table)
        put_reach(layout, setup.constants[0, BEFORE - 1], f, listed)
        types = layout.types.shape[0]
        energy = 0.0
        site = 0
        for c in range(count):
            if listed:
                bring(f, index, groups, c)
                fill_up(f, index, groups, c, load_r(fields, place(c, width))[0] + 0.5 * room_of(setup, c))
            else:
                for a in range(site, site + setup.many[c]):
                    f[layout.sites[a, 1] + REACH * LANES] = 0.0
            for _ in range(setup.many[c]):
                kind, (k, step) = layout.sites[site, 0], place_of(layout, site, table)
                at = f[k], f[k + step], f[k + np.uint64(2) * step]
                x, y, z = ZERO
                for other in range(types):
                    base, pair = layout.types[other, 0] * BLOCK, kind * types + other
                    blocks = layout.after[c, other] // LANES, (layout.types[other, 1] + LANES - 1) // LANES
                    image_known = False
                    if listed:
                        group = c * types + other
                        blocks, image_known = (0, groups[group, 3]), site > groups[group, 4]
                    if with_energy:
                        force, stored = of_a_type(f, base, blocks, at, period, (True, False), setup.constants, pair)
                    elif image_known:
                        force, stored = of_a_type(f, base, blocks, at, period, (False, True), setup.constants, pair)
                    else:
                        force, stored = of_a_type(f, base, blocks, at, period, (False, False), setup.constants, pair)
                    x, y, z = x + force[0], y + force[1], z + force[2]
                    energy += stored
                f[k + np.uint64(3) * step] += x
                f[k + np.uint64(4) * step] += y
                f[k + np.uint64(5) * step] += z
                site += 1
            if listed:
                take_back(f, index, groups, c)
        gather_loads(fields, width, count, setup, f, table)
        return energy

    def all_loads(  # type: ignore[no-untyped-def]
        respond, fields, width, count, setup, memory, clock, commit
    ):
        return loads(fields, width, count, setup, memory.batch, setup.layout.types, setup.many, False, True), 0

    @kernel
    def listed_loads(  # type: ignore[no-untyped-def]
        respond, fields, width, listed, n_groups, setup, memory, clock, with_energy, work
    ):
        count, some = setup.masses.size, n_groups > 0
        energy = loads(fields, width, count, setup, memory.batch, listed.groups, listed.index, some, with_energy)
        return energy, 0, listed.limits[0] if some else 0.0

    return all_loads, listed_loads


def respond(fields: Any, bookkeeping: Any, memory: Any, dt: float, energy: float, key: int) -> float:
    """The energy as it was: no site waits for an answer. In the unit of energy of the fluid."""
    return energy


@kernel
def total(f: Any, k: Any) -> float:
    """The sum of the eight numbers from index k of ``f`` on, in their unit."""
    a, b = f[k] + f[k + np.uint64(4)], f[k + np.uint64(1)] + f[k + np.uint64(5)]
    c, d = f[k + np.uint64(2)] + f[k + np.uint64(6)], f[k + np.uint64(3)] + f[k + np.uint64(7)]
    return (a + c) + (b + d)  # type: ignore[no-any-return]


@kernel
def period_of(setup: Setup) -> tuple[float, float]:
    """The edge of the box and its inverse, two zeros for empty space. In the unit of length of the fluid, and its inverse."""
    return (setup.periods[0], 1.0 / setup.periods[0]) if setup.periods.size > 0 else (0.0, 0.0)


@kernel
def row_of(layout: Layout, site: int) -> int:
    """The row of a site in the table, which is its lane of a block."""
    k = layout.sites[site, 1]
    return k // BLOCK * LANES + k % BLOCK  # type: ignore[no-any-return]


@kernel
def place_of(layout: Layout, site: int, table: int) -> Any:
    """Where the six numbers of a site begin, and the step from each to the next: in its block, or in the table if there is one
    (its beginning is not 0)."""
    if table > 0:
        return np.uint64(table + row_of(layout, site) * ROW), np.uint64(1)
    return np.uint64(layout.sites[site, 1]), np.uint64(LANES)


@kernel
def put_sites(fields: Any, width: int, count: int, setup: Setup, f: Any, table: int) -> None:
    """Write the positions of all sites into ``f``, in the table if there is one and else in the blocks, and no forces."""
    site = 0
    for c in range(count):
        i = place(c, width)
        r, m = load_r(fields, i), matrix(load_q(fields, i))
        for a in range(setup.first[c], setup.first[c] + setup.many[c]):
            k, step = place_of(setup.layout, site, table)
            x, y, z = setup.spheres[0, a], setup.spheres[1, a], setup.spheres[2, a]
            f[k] = coordinate(r[0], m[0], m[1], m[2], x, y, z)
            f[k + step] = coordinate(r[1], m[3], m[4], m[5], x, y, z)
            f[k + np.uint64(2) * step] = coordinate(r[2], m[6], m[7], m[8], x, y, z)
            f[k + np.uint64(3) * step] = 0.0
            f[k + np.uint64(4) * step] = 0.0
            f[k + np.uint64(5) * step] = 0.0
            site += 1


@kernel
def put_reach(layout: Layout, squared: float, f: Any, listed: bool) -> None:
    """Write within which squared distance the lanes of all blocks count: zero for one without a site, unless ``listed``."""
    for block in range(blocks_in(layout)):
        for lane in range(LANES):
            f[block * BLOCK + REACH * LANES + lane] = squared if listed else 0.0
    if not listed:
        for site in range(layout.sites.shape[0]):
            f[layout.sites[site, 1] + REACH * LANES] = squared


@kernel
def room_of(setup: Setup, molecule: int) -> float:
    """The edge of the box; in empty space, of a box in which half a diagonal is out of reach of a molecule.

    In the unit of length of the fluid.
    """
    reach = sqrt(setup.constants[0, BEFORE - 1]) + setup.extents[0, molecule]
    return setup.periods[0] if setup.periods.size > 0 else 4.0 * reach  # type: ignore[no-any-return]


@kernel
def both_places(entry: Any) -> Any:
    """Where a listed site is in the table, and where among the blocks."""
    return np.uint64(entry) >> np.uint64(PLACE), np.uint64(entry) & np.uint64(2**PLACE - 1)


@kernel
def bring(f: Any, index: Any, groups: Any, c: int) -> None:
    """Copy the listed sites of a molecule from the table to the blocks."""
    for e in range(groups[c, 0], groups[c, 0] + groups[c, 1]):
        s, k = both_places(index[e])
        f[k] = f[s]
        f[k + np.uint64(LANES)] = f[s + np.uint64(1)]
        f[k + np.uint64(2 * LANES)] = f[s + np.uint64(2)]
        f[k + np.uint64(F * LANES)] = f[s + np.uint64(3)]
        f[k + np.uint64((F + 1) * LANES)] = f[s + np.uint64(4)]
        f[k + np.uint64((F + 2) * LANES)] = f[s + np.uint64(5)]


@kernel
def fill_up(f: Any, index: Any, groups: Any, c: int, away: float) -> None:
    """Write an x out of reach of a molecule into the lanes of its rows that are left: half a box from its centre."""
    begin = groups[c, 0] + groups[c, 1]
    for e in range(begin, begin + groups[c, 2]):
        f[np.uint64(index[e])] = away


@kernel
def take_back(f: Any, index: Any, groups: Any, c: int) -> None:
    """Copy the forces on the listed sites of a molecule back to the table."""
    for e in range(groups[c, 0], groups[c, 0] + groups[c, 1]):
        s, k = both_places(index[e])
        f[s + np.uint64(3)] = f[k + np.uint64(F * LANES)]
        f[s + np.uint64(4)] = f[k + np.uint64((F + 1) * LANES)]
        f[s + np.uint64(5)] = f[k + np.uint64((F + 2) * LANES)]


@kernel
def periods_in(x: float, period: Any) -> float:
    """The whole periods nearest to a difference of coordinates; a period of zero, whose inverse is zero too: none. In the unit
    of ``x``.
    """
    return period[0] * ((x * period[1] + ROUND) - ROUND)  # type: ignore[no-any-return]


@kernel
def nearest(x: float, period: Any) -> float:
    """A difference of coordinates to the nearest image. In the unit of ``x``."""
    return x - periods_in(x, period)


@kernel
def gather_loads(fields: Any, width: int, count: int, setup: Setup, f: Any, table: int) -> None:
    """Write the forces (lab) and torques (body frame) on all molecules into their records."""
    site = 0
    for c in range(count):
        i = place(c, width)
        m = matrix(load_q(fields, i))
        force, torque = ZERO, ZERO
        for a in range(setup.first[c], setup.first[c] + setup.many[c]):
            k, step = place_of(setup.layout, site, table)
            acting = f[k + np.uint64(3) * step], f[k + np.uint64(4) * step], f[k + np.uint64(5) * step]
            arm = setup.spheres[0, a], setup.spheres[1, a], setup.spheres[2, a]
            force = add(force, acting)
            torque = add(torque, cross(arm, in_body(m, acting)))
            site += 1
        store_force(fields, i, force)
        store_torque(fields, i, torque)


def list_sites(
    fields: Any, width: int, count: int, setup: Setup, rates: Any, skin: float, listed: Listed, scratch: Scratch
) -> Any:
    """In place of :func:`polhode.manybody.neighbours.make_list`: the sites near each molecule, of those after it.

    The groups begin with one for each molecule: its first entry, how many there are, and how many lanes of its rows are left,
    which follow. An entry of ``listed.index`` says where a site is and where it goes (:func:`both_places`). The last two
    numbers of a group belong to a molecule and a type: the rows of lanes, and the first site that sees them. A site is listed
    if one of the molecule's comes within the cut-off when both molecules use up their margins. These are so short that no
    molecule sees two images of a site. The first of ``listed.limits`` is the cost of a step in vain. Without any group all
    molecules are looked at, for good: of few molecules, in a small box, and where a list would save little.
    Arguments and result are as there.
    """
    layout, period, cutoff = setup.layout, period_of(setup), sqrt(setup.constants[0, BEFORE - 1])
    groups, index, at, near, sums, fill = listed.groups, listed.index, listed.at, listed.near, listed.sums, listed.hit
    margins, order, which, starts, lanes = scratch.margins, scratch.order, listed.pairs, scratch.starts, scratch.links
    # A literal 0 would be another type.
    zero: Any = np.int64(0)
    none = (zero, zero, zero, zero)
    types, all_sites = layout.types.shape[0], layout.sites.shape[0]
    # A molecule may have all sites near, and in each row of a type one lane that is taken.
    most, table = (blocks_in(layout) + types) * LANES, blocks_in(layout) * BLOCK
    needed = (count * types, most + count, all_sites + count, all_sites)
    if count < MANY:
        return none, 0.0
    if needed[0] > listed.limits.size or needed[1] > near.shape[1] or needed[2] > sums.size or needed[3] > lanes.shape[0]:
        return needed, 0.0
    mean, possible = mean_rate(rates, count), True
    usual = mean_of(rates, 0, count), mean_of(rates, 1, count), mean_of(rates, 2, count)
    starts[0], site = 0, 0
    for c in range(count):
        i = place(c, width)
        r, q = load_r(fields, i), load_q(fields, i)
        m, room = matrix(q), room_of(setup, c)
        # A molecule that turns round is slow at present.
        for way in range(3):
            rates[c, way] = 0.5 * (rates[c, way] + usual[way])
        reach = setup.extents[0, c] * norm_squared(q) * GENEROUS
        longest = 0.5 * (0.5 * room - cutoff) - reach
        margin = margin_at(rates, c, mean, skin, longest)
        margins[c] = margin
        begin_margin(fields, i, r, q, m, margin, setup.extents[1, c], setup.extents[2, c], rates, c)
        centres, bounds = all_sites + c, 0.5 * cutoff + reach + margin
        at[0, centres], at[1, centres], at[2, centres], near[3, centres] = r[0], r[1], r[2], bounds
        possible = possible and longest > 0.5 * setup.spheres[3, 0] and abs(r[0]) + abs(r[1]) + abs(r[2]) < FAR * room
        for a in range(setup.first[c], setup.first[c] + setup.many[c]):
            x, y, z = setup.spheres[0, a], setup.spheres[1, a], setup.spheres[2, a]
            at[0, site] = coordinate(r[0], m[0], m[1], m[2], x, y, z)
            at[1, site] = coordinate(r[1], m[3], m[4], m[5], x, y, z)
            at[2, site] = coordinate(r[2], m[6], m[7], m[8], x, y, z)
            row = row_of(layout, site)
            lanes[site, 0], lanes[site, 1] = (table + row * ROW) << PLACE, layout.sites[site, 0] * LANES + row % LANES
            site += 1
        starts[c + 1] = site
    entries, making, walking, in_vain, without = zero, 0.0, 0.0, 0.0, 0.0
    for c in range(count if possible else zero):
        number = molecules_near(at, near, sums, order, all_sites, c, count, period)
        centre = at[0, all_sites + c], at[1, all_sites + c], at[2, all_sites + c]
        n: Any = np.uint64(0)
        for e in range(number):
            d = order[e]
            bound = cutoff + (margins[c] + margins[d])
            for k in range(np.uint64(starts[d]), np.uint64(starts[d + 1])):
                which[0, n] = k
                near[0, n], near[1, n], near[2, n], near[3, n] = at[0, k], at[1, k], at[2, k], bound * bound
                n += np.uint64(1)
        seen_from(centre, sums, near, n, period)
        for k in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
            closest_of_all(sums, near, n, (at[0, k] - centre[0], at[1, k] - centre[1], at[2, k] - centre[2]))
        begin, fits = entries, entries + most <= index.size
        sites, vain = fill_lanes(layout, which, (sums, near, n), cutoff * cutoff, lanes, index, begin if fits else -1, fill)
        groups[c, 0], groups[c, 1] = entries, sites
        entries += sites
        slots = zero
        for kind in range(types):
            rows, entries = leave_lanes(layout, kind, index, fits, fill, entries)
            acts = starts[c]
            while acts < starts[c + 1] and not act(setup.constants, layout.sites[acts, 0] * types + kind):
                acts += 1
            groups[c * types + kind, 3], groups[c * types + kind, 4] = rows, acts
            slots += rows * LANES
            without += PER_PAIR * setup.many[c] * (layout.types[kind, 1] - layout.after[c, kind])
        groups[c, 2] = slots - sites
        making += PER_LOOK * (count - c) + n * (PER_SITE + PER_DISTANCE * setup.many[c])
        cost = slots * (PER_COPY + PER_PAIR * setup.many[c])
        walking += cost
        in_vain += cost * vain / max(sites, 1)
    if not possible or walking + making / LIFE > (1.0 - WORTHWHILE) * without:
        for c in range(count):
            store_weights(fields, place(c, width), ZERO)
        return none, 0.0
    listed.limits[0] = in_vain
    # Whether there is room is asked before the rows of a molecule are known.
    return (needed[0], max(needed[1], entries + most), needed[2], needed[3]), making


@kernel
def act(constants: Any, pair: int) -> bool:
    """Whether sites of two types act on each other."""
    return constants[pair, 0] > 0.0 or constants[pair, 1] > 0.0  # type: ignore[no-any-return]


@kernel
def mean_of(rates: Any, k: int, count: int) -> float:
    """The mean over all molecules of rate k, of three, in the unit of the rates."""
    total = 0.0
    for c in range(count):
        total += rates[c, k]
    return total / count


@kernel
def molecules_near(at: Any, near: Any, room: Any, order: Any, first: int, c: int, count: int, period: Any) -> Any:
    """Write into ``order`` which molecules after one may have sites in reach; returns their number.

    From column ``first`` on, ``at`` has the centres, and the last row of ``near`` how far each reaches; ``room`` is scratch.
    """
    k: Any = np.uint64(first + c)
    x0, y0, z0, reach = at[0, k], at[1, k], at[2, k], near[3, k]
    for d in range(np.uint64(c + 1), np.uint64(count)):
        e = np.uint64(first) + d
        x, y, z = nearest(at[0, e] - x0, period), nearest(at[1, e] - y0, period), nearest(at[2, e] - z0, period)
        bound = reach + near[3, e]
        room[d] = bound * bound - (x * x + y * y + z * z)
    number = np.uint64(0)
    for d in range(np.uint64(c + 1), np.uint64(count)):
        order[number] = d
        number += np.uint64(1) if room[d] >= 0.0 else np.uint64(0)
    return np.int64(number)


@kernel
def fill_lanes(layout: Layout, which: Any, seen: Any, reach: float, lanes: Any, index: Any, begin: int, fill: Any) -> Any:
    """Write the sites within their bound, each in its lane, into the index from ``begin`` on; none if this is negative.

    ``seen`` are the squared distances, the squared bounds as the last row of an array, and how many. Returns the number of
    entries, and how many of these sites are out of ``reach`` at present. ``fill`` counts those in each lane of a type.
    """
    closest, near, n = seen
    columns = layout.types.shape[0] * LANES
    for column in range(columns):
        fill[column] = 0
        fill[columns + column] = layout.types[column // LANES, 0] * BLOCK + column % LANES
    first, sites, vain, fits = np.uint64(begin), np.uint64(0), np.uint64(0), begin >= 0
    # Sums of comparisons, since what is near comes at random: a branch would be guessed wrongly every other time.
    for e in range(n):
        site: Any = np.uint64(which[0, e])
        at: Any = np.uint64(lanes[site, 1])
        if fits:
            index[first + sites] = lanes[site, 0] + fill[at] * BLOCK + fill[np.uint64(columns) + at]
        inside = np.uint64(closest[e] <= near[3, e])
        fill[at] += np.int64(inside)
        sites += inside
        vain += inside & np.uint64(closest[e] >= reach)
    return np.int64(sites), np.int64(vain)


@kernel
def leave_lanes(layout: Layout, kind: int, index: Any, fits: bool, fill: Any, entries: Any) -> Any:
    """Write which lanes of the rows of a type are left, from an entry on; returns the number of rows and the next entry."""
    first = kind * LANES
    least, rows = fill[first], fill[first]
    for lane in range(1, LANES):
        least, rows = min(least, fill[first + lane]), max(rows, fill[first + lane])
    for row in range(least, rows):
        for lane in range(LANES):
            if fits:
                index[entries] = (layout.types[kind, 0] + row) * BLOCK + lane
            entries += np.int64(row >= fill[first + lane])
    return rows, entries


@kernel
def seen_from(centre: Any, squared: Any, near: Any, many: int, period: Any) -> None:
    """Replace the places of so many sites by their nearest images, relative to a centre; vectorises. In one unit.

    The squared distances that :func:`closest_of_all` lowers begin as infinite.
    """
    for k in range(many):
        near[0, k] = nearest(near[0, k] - centre[0], period)
        near[1, k] = nearest(near[1, k] - centre[1], period)
        near[2, k] = nearest(near[2, k] - centre[2], period)
        squared[k] = inf


@kernel
def closest_of_all(squared: Any, near: Any, many: int, at: Any) -> None:
    """Lower the squared distances of so many sites to that from one at ``at`` where this is nearer; vectorises. In one unit."""
    for k in range(many):
        x, y, z = near[0, k] - at[0], near[1, k] - at[1], near[2, k] - at[2]
        to_this = x * x + y * y + z * z
        squared[k] = to_this if to_this < squared[k] else squared[k]
