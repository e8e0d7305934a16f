"""The neighbour list: the bound of its margins holds for any motion, and it changes no bit of a run."""

from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from same_bits import both_ways

import polhode
from polhode import manybody
from polhode.compiling import lanes
from polhode.manybody import neighbours, shapes
from polhode.manybody.contact import matrix
from polhode.manybody.simulation import run

SOFT = manybody.Material(density=1000.0, young=1e6, poisson=0.25)
L_SHAPE = manybody.Clump.of_spheres(
    "L", np.array([[0, 0, 0], [0.08, 0, 0], [0.16, 0, 0], [0, 0.07, 0.01]]), np.array([0.05, 0.04, 0.05, 0.03])
)
DIMER = manybody.Clump.dimer(0.05, 0.03, 0.06)
SPHERE = manybody.Clump.sphere(0.05)
ROD = manybody.Clump.rod(3, 0.04, 0.08)
METHODS = polhode.methods


def lab(q, r, centres):
    return r + centres @ np.array(matrix(tuple(q))).reshape(3, 3).T


numbers = st.floats(-1, 1)
quaternions = st.tuples(numbers, numbers, numbers, numbers).filter(lambda q: 0.1 < np.linalg.norm(q) < 2)


@pytest.mark.thorough
@given(
    q0=quaternions,
    turn=st.one_of(st.tuples(numbers, numbers, numbers, numbers), st.none()),
    size=st.sampled_from([1e-6, 1e-3, 0.05, 1.0]),
    shift=st.tuples(numbers, numbers, numbers),
    drift=st.sampled_from([0.0, 0.01, 1.0]),
    margin=st.floats(1e-4, 0.3),
    rates=st.tuples(st.floats(0, 5), st.floats(0, 5), st.floats(0, 5)),
    clump=st.sampled_from([L_SHAPE, ROD, DIMER, SPHERE]),
)
def test_no_sphere_moves_further_than_the_bound_says(q0, turn, size, shift, drift, margin, rates, clump):
    """Within the margin the displacement of every sphere is below the fraction of the margin, unit quaternion or not.

    Without a turn given, it is one about the long axis, of which the axis knows nothing.
    """
    turn = polhode.algebra.quaternion.multiply(q0, (0.0, 1.0, 0.0, 0.0)) if turn is None else turn
    fields = np.zeros(lanes.STATE * lanes.LANES)
    i = lanes.place(3, lanes.STATE)
    m = matrix(q0)
    neighbours.store_listed_q(fields, i, q0)
    neighbours.store_listed_axis(fields, i, (m[0], m[3], m[6]))
    neighbours.store_weights(fields, i, neighbours.weights(margin, q0, clump.along, clump.beside, rates))
    q = tuple(np.array(q0) + size * np.array(turn))
    r = tuple(drift * size * np.array(shift))
    used = neighbours.used_margin(fields, i, r, q)
    moved = np.linalg.norm(lab(q, np.array(r), clump.centres) - lab(q0, np.zeros(3), clump.centres), axis=1).max()
    if used <= 1:
        assert moved <= margin * np.sqrt(used) * (1 + 1e-12) + 1e-15


def test_the_bound_is_close_where_the_weights_fit():
    """A moving, turning L uses up its margin at no more than twice its displacement: lists are not made for nothing."""
    fields = np.zeros(lanes.STATE * lanes.LANES)
    i = lanes.place(0, lanes.STATE)
    q0 = (1.0, 0.0, 0.0, 0.0)
    v, omega, dt, margin = np.array([1.0, 0.3, -0.2]), np.array([3.0, -8.0, 6.0]), 2e-3, 5e-3
    rates = (
        float(np.linalg.norm(v)),
        float(L_SHAPE.along * np.hypot(omega[1], omega[2])),
        float(L_SHAPE.beside * np.linalg.norm(omega)),
    )
    neighbours.store_listed_q(fields, i, q0)
    neighbours.store_listed_axis(fields, i, (1.0, 0.0, 0.0))
    neighbours.store_weights(fields, i, neighbours.weights(margin, q0, L_SHAPE.along, L_SHAPE.beside, rates))
    q = polhode.algebra.quaternion.exponential(tuple(dt * omega))
    used = neighbours.used_margin(fields, i, tuple(dt * v), q)
    moved = np.linalg.norm(lab(q, dt * v, L_SHAPE.centres) - L_SHAPE.centres, axis=1).max()
    assert moved < margin * np.sqrt(used) < 2 * moved


points = st.tuples(numbers, numbers, numbers)


@given(p=points, d=points, q=points, e=points, share=st.sampled_from([0.0, 0.3, 1.0]))
def test_closest_points_of_two_segments(p, d, q, e, share):
    """Against a search on a fine grid; also for parallel segments and single points."""
    p, d, q, e = (np.array(v) for v in (p, d, q, e))
    e = share * e + (1 - share) * 0.7 * d
    way = neighbours.closest_points(tuple(p), tuple(d), tuple(q), tuple(e))
    t = np.linspace(0, 1, 201)
    grid = (q + t[:, None] * e)[None] - (p + t[:, None] * d)[:, None]
    nearest = np.linalg.norm(grid, axis=2).min()
    assert np.linalg.norm(way) <= nearest + 1e-9
    assert np.linalg.norm(way) >= nearest - 0.005 * (np.linalg.norm(d) + np.linalg.norm(e)) - 1e-12


@pytest.mark.parametrize("clump", [L_SHAPE, DIMER, SPHERE, shapes.piece("knight")])
def test_clumps_lie_in_their_capsules(clump):
    along = np.clip(clump.centres[:, 0], clump.low, clump.high)
    assert (np.hypot(clump.centres[:, 0] - along, np.hypot(*clump.centres[:, 1:].T)) + clump.radii <= clump.width).all()
    assert (np.linalg.norm(clump.centres, axis=1) + clump.radii <= clump.reach).all()


@pytest.mark.thorough
@pytest.mark.parametrize("periods", [(), (2.0, 0.0, 0.0), (0.0, 1.3, 2.7), (2.0, 1.3, 2.7)])
@pytest.mark.parametrize("least", [0.11, 0.3, 0.6])
def test_cells_leave_out_no_near_pair(least, periods):
    """Chained are all clumps that are near and behind, and no others, in ascending order; also across periodic sides."""
    count, width = 400, np.int64(lanes.STATE)
    fields = np.zeros(lanes.blocks_of(count) * lanes.LANES * lanes.STATE)
    r = np.random.default_rng(5).uniform(-1, 1, (count, 3)) * [1.0, 0.6, 1.3]
    if periods:  # positions run on across a periodic side
        r += np.random.default_rng(6).integers(-2, 3, (count, 3)) * periods
    for c in range(count):
        lanes.store_r(fields, lanes.place(c, width), tuple(r[c]))
    _, scratch = neighbours.empty_lists(1, 1, 1, 60 * count, count, 1)
    scratch.axes[:, 7], scratch.axes[:, 8:], scratch.margins[:] = 0.4 * least, r, 0.1 * least
    cells = neighbours.sort_into_cells(fields, width, count, least, np.array(periods), scratch)
    assert max(cells) > 2 and (least > 0.3 or min(cells) > 2)
    chains, links = scratch.chains, scratch.links
    number = neighbours.chain_near_clumps(count, cells, np.array(periods), scratch)
    away, pairs = r[:, None] - r, 0
    for axis, period in enumerate(periods):
        away[..., axis] -= period * np.round(away[..., axis] / period) if period else 0.0
    apart = np.linalg.norm(away, axis=2)
    for c in range(count):
        near, link = [], chains[c]
        while link >= 0:
            near.append(links[link, 0])
            link = links[link, 1]
        np.testing.assert_array_equal(near, np.flatnonzero(apart[c, c + 1 :] <= least) + c + 1)
        pairs += len(near)
    assert pairs == number > 50


def crowd(kinds, box, speed, spin):
    return manybody.Scene(key="crowd", label="crowd", kinds=kinds, material=SOFT, box=box, speed=speed, spin=spin, horizon=1.0)


SCENES = {
    "crowd": (crowd(((L_SHAPE, 8), (DIMER, 6), (SPHERE, 3)), 0.6, 2.0, 5.0), 2e-5),
    "fast turns": (crowd(((L_SHAPE, 9),), 0.7, 0.05, 60.0), 1e-5),
    "stretched steps": (crowd(((DIMER, 10),), 0.5, 3.0, 3.0), 5e-4),
    "many, in cells": (crowd(((L_SHAPE, 30), (DIMER, 60), (SPHERE, 30)), 1.6, 3.0, 10.0), 4e-5),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("key", ["spiral_leapfrog", "no_squish", "implicit_midpoint"])
def test_the_list_changes_no_bit(name, key):
    scene, dt = SCENES[name]
    begin = scene.initial_state(7)
    listed = both_ways(scene, key, dt, begin, np.arange(0, 3_001, 100))
    assert np.count_nonzero(listed["energies"][:, 1]) > 2, "there must be contacts"
    assert 1 < listed["work"][neighbours.LISTS] < 3_000, "lists were made, and kept for a while"


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["omelyan1998", "fincham1992_delvalle2024"])
def test_the_list_changes_no_bit_of_chess(key):
    scene = replace(manybody.scenes["chess"], box=0.32)
    listed = both_ways(scene, key, 1e-5, scene.initial_state(2), np.arange(0, 1001, 50))
    assert listed["work"][neighbours.CONTACTS] > 20, "steps in contact"


def test_the_list_changes_no_bit_without_walls():
    scene, dt = SCENES["crowd"]
    begin = scene.initial_state(3)
    begin = manybody.State(begin.r, -5 * begin.r, begin.q, begin.omega)
    listed = both_ways(replace(scene, box=np.inf), "omelyan1998", dt, begin, np.arange(0, 10_001, 500))
    assert np.count_nonzero(listed["energies"][:, 1]) > 2


def test_contacts_in_the_first_step_are_found():
    """An initial state with overlaps: they count from the start, also in the first half kick of a leapfrog."""
    scene, dt = SCENES["crowd"]
    scene = replace(scene, kinds=((SPHERE, 2),), box=np.inf)
    begin = manybody.State(
        np.array([[0, 0, 0], [0.09, 0, 0]]), np.zeros((2, 3)), np.tile([1.0, 0, 0, 0], (2, 1)), np.zeros((2, 3))
    )
    outcome = run(scene, METHODS["spiral_leapfrog"], dt, begin, np.array([0, 2000]), record=True)
    stored = 8 / 15 * SOFT.reduced * np.sqrt(0.025) * 0.01**2.5
    assert outcome["energies"][0] == pytest.approx([0, stored], rel=1e-12, abs=1e-15)
    assert outcome["energies"][1].sum() == pytest.approx(stored, rel=1e-3)


def test_a_longer_list_than_there_is_room_for_is_made_again():
    """Far more neighbours than the first arrays hold."""
    grid = np.array(np.meshgrid(*[np.arange(4)] * 3)).reshape(3, -1).T * 0.01
    block = manybody.Clump.of_spheres("block", grid, np.full(len(grid), 0.006))
    scene = crowd(((block, 27),), 0.25, 1.0, 2.0)
    both_ways(scene, "euler", 5e-5, scene.initial_state(1), np.arange(0, 1001, 100))
