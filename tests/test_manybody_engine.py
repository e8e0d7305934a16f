"""The many-body engine: exact collisions, what elastic contacts keep, free flight bit by bit, order of the energy error."""

import os
import pickle
import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from conftest import said_by
from numba import types
from numba.core.codegen import get_host_cpu_features
from numba.core.runtime import rtsys
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode
from polhode import manybody
from polhode.compiling import cache
from polhode.compiling.kernel import float_type
from polhode.compiling.lanes import empty_fields
from polhode.compiling.marching import Laps
from polhode.manybody.contact import collision_time, largest_overlap
from polhode.manybody.engine import CHECKED, passes_of, record_of, step_of_all
from polhode.manybody.simulation import run
from polhode.methods.protocol import OneTorque

SOFT = manybody.Material(density=1000.0, young=1e6, poisson=0.25)
ONE_TORQUE = [key for key, method in polhode.methods.items() if isinstance(method, OneTorque)]
NAMED = [
    "spiral_leapfrog",
    "omelyan1998",
    "fincham1992",
    "fincham1992_delvalle2024",
    "no_squish",
    "pcdm2016",
    "spiral_synchronous",
    "verlet",
    "buss2000",
]


def clumps():
    dimer = manybody.Clump.dimer(0.05, 0.03, 0.06)
    bent = manybody.Clump.of_spheres(
        "L", np.array([[0, 0, 0], [0.08, 0, 0], [0.16, 0, 0], [0, 0.07, 0.01]]), np.array([0.05, 0.04, 0.05, 0.03])
    )
    plate = manybody.Clump.of_spheres(
        "plate",
        np.array(
            [
                [0.036, 0.005, -0.01],
                [-0.036, -0.005, 0.005],
                [0.004, 0.11, 0],
                [0, -0.11, 0.004],
                [0, 0.006, 0.1],
                [-0.004, 0, -0.1],
            ]
        ),
        np.array([0.05, 0.05, 0.05, 0.05, 0.06, 0.06]),
    )
    return manybody.Clump.sphere(0.05), dimer, bent, plate


#: From the process that has started this one, if it compiles nothing: their masses alone would take it ten seconds.
GIVEN = os.environ.get("POLHODE_TEST_CLUMPS")
SPHERE, DIMER, L_SHAPE, PLATE = pickle.loads(bytes.fromhex(GIVEN)) if GIVEN else clumps()


def scene(*kinds, box=np.inf, horizon=1.0, material=SOFT):
    return manybody.Scene(
        key="test", label="test", kinds=kinds, material=material, box=box, speed=1.0, spin=2.0, horizon=horizon
    )


def state(r, v, q=None, omega=None):
    count = len(r)
    q = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)) if q is None else np.array(q, float)
    omega = np.zeros((count, 3)) if omega is None else np.array(omega, float)
    return manybody.State(np.array(r, float), np.array(v, float), q, omega)


def steps_to(n, every=1):
    return np.arange(0, n + 1, every, dtype=np.int64)


METHODS = polhode.methods


# ---- exact collisions ----


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["spiral_leapfrog", "no_squish"])
def test_two_spheres_collide_as_hertz_has_it(key):
    """Contact time and largest overlap of a head-on collision, and velocities exchanged."""
    other = manybody.Clump.sphere(0.03, key="small")
    pair = scene((SPHERE, 1), (other, 1))
    m1, m2 = (SOFT.density * clump.volume for clump in (SPHERE, other))
    mass, radius, speed = m1 * m2 / (m1 + m2), 0.05 * 0.03 / 0.08, 1.5
    duration = collision_time(mass, radius, SOFT.reduced, speed)
    deepest = largest_overlap(mass, radius, SOFT.reduced, speed)
    gap, dt = 1e-3, duration / 4000
    start = state([[0, 0, 0], [0.08 + gap, 0, 0]], [[speed, 0, 0], [0, 0, 0]])
    n = int((gap / speed + 1.2 * duration) / dt)
    outcome = run(pair, METHODS[key], dt, start, steps_to(n), record=True)
    apart = outcome["motion"][:, 1, 0] - outcome["motion"][:, 0, 0]
    overlap = 0.08 - apart
    touching = np.flatnonzero(outcome["energies"][:, 1] > 0)
    assert overlap.max() == pytest.approx(deepest, rel=1e-6)
    assert (len(touching) + 1) * dt == pytest.approx(duration, abs=1.5 * dt)
    # Half way through: all the energy of the relative motion is in the contact.
    assert outcome["energies"][:, 1].max() == pytest.approx(mass * speed**2 / 2, rel=1e-6)
    v = outcome["motion"][-1, :, 3]
    assert v[0] == pytest.approx((m1 - m2) / (m1 + m2) * speed, rel=1e-6)
    assert v[1] == pytest.approx(2 * m1 / (m1 + m2) * speed, rel=1e-6)


@pytest.mark.thorough
def test_a_sphere_bounces_off_every_wall():
    """Contact time with R* = R at each of the six planes, and the velocity turned round."""
    m = SOFT.density * SPHERE.volume
    duration = collision_time(m, 0.05, SOFT.reduced, 2.0)
    box, gap = 0.5, 1e-3
    start_at = box / 2 - 0.05 - gap
    dt = duration / 2000
    n = int((gap / 2.0 + 1.2 * duration) / dt)
    for axis in range(3):
        for side in (-1, 1):
            r, v = np.zeros((1, 3)), np.zeros((1, 3))
            r[0, axis], v[0, axis] = side * start_at, side * 2.0
            outcome = run(scene((SPHERE, 1), box=box), METHODS["spiral_leapfrog"], dt, state(r, v), steps_to(n), record=True)
            touching = np.count_nonzero(outcome["energies"][:, 1] > 0)
            assert (touching + 1) * dt == pytest.approx(duration, abs=1.5 * dt)
            np.testing.assert_allclose(outcome["motion"][-1, 0, 3:6], -v[0], rtol=1e-6, atol=1e-12)


def test_collision_time_has_the_textbook_factor():
    """2.87 (m^2/(R E*^2 v))^(1/5), 2.94 largest overlaps over the speed."""
    assert collision_time(1.0, 1.0, 1.0, 1.0) == pytest.approx(2.87, abs=0.005)
    assert collision_time(1.0, 1.0, 1.0, 1.0) / largest_overlap(1.0, 1.0, 1.0, 1.0) == pytest.approx(2.94, abs=0.005)
    assert collision_time(2.0, 3.0, 5.0, 7.0) == pytest.approx(collision_time(1, 1, 1, 1) * (4 / (3 * 25 * 7)) ** 0.2)


def test_a_dimer_at_a_wall_turns_as_mechanics_has_it():
    """An off-centre push: the impulse P found in the linear momentum turns the clump by arm x P."""
    box, dt = 0.6, 1e-6
    turn = np.array([np.cos(0.4), 0, 0, np.sin(0.4)])
    start = state([[0.2, 0, 0]], [[1.0, 0, 0]], [turn])
    outcome = run(scene((DIMER, 1), box=box), METHODS["spiral_leapfrog"], dt, start, steps_to(60000, 100), record=True)
    momentum = outcome["momenta"]
    hits = np.flatnonzero(outcome["energies"][:, 1] > 0)
    assert hits.size > 3
    before, after = hits[0] - 1, hits[-1] + 1
    assert np.all(np.diff(hits) == 1), "one collision"
    impulse = momentum[after, 0] - momentum[before, 0]
    assert impulse < 0
    # About the middle of the box the wall pushes at the height of the sphere that touches.
    heights = []
    for k in range(before, after + 1):
        w, _x, _y, z = outcome["motion"][k, 0, 6:10]
        angle = 2 * np.arctan2(z, w)
        centres = outcome["motion"][k, 0, :3] + DIMER.centres[:, :1] * [np.cos(angle), np.sin(angle), 0]
        heights.append(centres[np.argmax(centres[:, 0] + DIMER.radii), 1])
    turned = momentum[after, 5] - momentum[before, 5]
    assert turned == pytest.approx(-impulse * np.mean(heights), rel=0.02)
    assert abs(outcome["motion"][after, 0, 12]) > 1.0


# ---- conservation ----


def crowd(rng, count=10):
    """Unlike clumps thrown at each other, far from any wall."""
    kinds = ((L_SHAPE, count // 2), (DIMER, count // 4), (SPHERE, count - count // 2 - count // 4))
    box = 0.75
    made = scene(*kinds, box=box)
    begin = made.initial_state(int(rng.integers(1000)))
    inwards = -begin.r / np.linalg.norm(begin.r, axis=1, keepdims=True)
    return replace(made, box=np.inf), manybody.State(begin.r, inwards + 0.2 * begin.v, begin.q, begin.omega)


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["spiral_leapfrog", "omelyan1998", "no_squish", "pcdm2016", "buss2000"])
def test_momentum_and_angular_momentum_are_kept(key):
    made, begin = crowd(np.random.default_rng(5))
    outcome = run(made, METHODS[key], 1e-5, begin, steps_to(40_000, 400))
    assert np.count_nonzero(outcome["energies"][:, 1]) > 10, "there must be contacts"
    scale = np.abs(begin.v).max() * SOFT.density * L_SHAPE.volume
    assert np.abs(outcome["momenta"][:, :3] - outcome["momenta"][0, :3]).max() < 1e-12 * scale
    # A rotation scheme keeps the angular momentum of a body to its order; the contacts add none.
    change = np.abs(outcome["momenta"][:, 3:] - outcome["momenta"][0, 3:]).max()
    assert change < 2e-6 * scale
    energy = outcome["energies"].sum(1)
    assert np.abs(energy / energy[0] - 1).max() < 2e-4
    assert energy.std() > 0


def test_angular_momentum_of_spheres_is_kept_to_round_off():
    made = scene((SPHERE, 8), box=0.5)
    begin = made.initial_state(1)
    made = replace(made, box=np.inf)
    inwards = manybody.State(begin.r, -4 * begin.r, begin.q, begin.omega)
    outcome = run(made, METHODS["omelyan1998"], 1e-5, inwards, steps_to(30_000, 300))
    assert np.count_nonzero(outcome["energies"][:, 1]) > 10
    assert np.abs(outcome["momenta"] - outcome["momenta"][0]).max() < 1e-13


@pytest.mark.thorough
@pytest.mark.parametrize(
    "key", ["spiral_leapfrog", "omelyan1998", "fincham1992", "no_squish", "pcdm2016", "verlet", "buss2000"]
)
def test_the_energy_error_is_of_second_order(key):
    """Over one smooth collision of two clumps the energy afterwards is off by dt^2 at most."""
    made = scene((L_SHAPE, 1), (DIMER, 1), material=manybody.Material(1000.0, 3e3, 0.25))
    begin = state(
        [[0.0, 0.0, 0.0], [0.02, 0.16, 0.0]],
        [[0.0, 0.5, 0.0], [0.1, -0.5, 0.1]],
        [[0.5, 0.5, 0.5, 0.5], [0.6, 0.0, 0.8, 0.0]],
        [[1.0, -2.0, 3.0], [2.0, 1.0, 1.0]],
    )
    errors = []
    steps = (400, 800, 1600)
    for n in steps:
        outcome = run(made, METHODS[key], 0.4 / n, begin, steps_to(n, n // 20))
        energy = outcome["energies"].sum(1)
        assert outcome["energies"][:, 1].max() > 0.02 * energy[0], "in contact on the way"
        errors.append(np.abs(energy / energy[0] - 1).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(orders, 2.0, atol=0.25)


def test_rods_keep_their_axial_spin_exactly():
    rods = manybody.scenes["rods"]
    data = manybody.simulate(rods, "spiral_leapfrog", 38.3e-6, seed=2, t_end=0.5)
    assert data.potential.max() > 0
    np.testing.assert_array_equal(data.axial_spin, np.broadcast_to(data.axial_spin[0], data.axial_spin.shape))
    assert abs(data.energy_error).max() < 1e-3


@pytest.mark.thorough
def test_smaller_steps_delay_what_goes_wrong_with_the_rods():
    """The energy of improved PCDM grows with dt^3, the axial spin of the published variant with dt: errors, not chaos."""

    def late(key, dt, t_end):
        data = manybody.simulate("rods", key, dt, seed=0, t_end=t_end, samples=1)
        spin = np.abs(data.axial_spin[-1] - data.axial_spin[0]).max()
        return float(data.energy_error[-1]), float(spin)

    steps = 38.3e-6, 19.15e-6
    (coarse, _), (fine, _) = (late("pcdm2016", dt, 5.0) for dt in steps)
    assert fine > 0 and coarse / fine == pytest.approx(8, rel=0.2)
    (_, coarse), (_, fine) = (late("fincham1992_delvalle2024", dt, 1.0) for dt in steps)
    assert coarse / fine == pytest.approx(2, rel=0.1)
    (coarse, _), (fine, _) = (late("fincham1992_delvalle2024", dt, 30.0) for dt in steps)
    assert coarse > 1 > 3 * fine


# ---- the single body ----


def free_problem(body, q, omega, horizon):
    return polhode.problems["free_asymmetric_top"].__class__(
        key="flight",
        label="flight",
        source="tests",
        body=body,
        q0=tuple(q),
        omega0=tuple(omega),
        torque=lambda t, q, omega, parameters: (0.0, 0.0, 0.0),
        torque_class="free",
        horizon=horizon,
    )


def fly(key, brute_force=False, n=400):
    """Free flight in the engine, which must be that of the single body to the last bit."""
    dt = 1e-3
    made = scene((L_SHAPE, 5), (DIMER, 4), (SPHERE, 1), box=10.0)
    begin = made.initial_state(4)
    begin = manybody.State(begin.r, 0.01 * begin.v, begin.q, begin.omega)
    outcome = run(made, METHODS[key], dt, begin, steps_to(n, n // 10), record=True, brute_force=brute_force)
    assert outcome["energies"][:, 1].max() == 0, "no contact"
    for c, clump in enumerate(made.every_clump):
        problem = free_problem(clump.body(SOFT.density), begin.q[c], begin.omega[c], dt * n)
        alone = polhode.simulate(problem, key, dt, samples=10)
        # The maps of a processor keep the momentum of one body, and the angular velocities of many.
        atol = 1e-14 if METHODS[key].processor else 0.0
        np.testing.assert_allclose(outcome["motion"][:, c, 6:10], alone.q, rtol=0, atol=atol)
        np.testing.assert_allclose(outcome["motion"][:, c, 10:], alone.omega, rtol=atol, atol=atol)


@pytest.mark.thorough
@pytest.mark.parametrize("key", NAMED)
@pytest.mark.parametrize("brute_force", [False, True])
def test_free_flight_is_that_of_the_single_body_to_the_last_bit(key, brute_force):
    fly(key, brute_force)


#: With NAMED at least one method of each group. A driver takes ten seconds to compile, so these are methods whose drivers other
#: tests need too. All of them with POLHODE_TEST_ALL in the environment.
FURTHER = ["adams_bashforth2_barker", "euler", "implicit_midpoint", "rescaled_momentum", "spiral_kdk"]
OTHERS = sorted(set(ONE_TORQUE) - set(NAMED)) if os.environ.get("POLHODE_TEST_ALL") else FURTHER


@pytest.mark.parametrize("key", OTHERS)
@pytest.mark.slow
@pytest.mark.thorough
def test_free_flight_of_other_methods(key):
    fly(key)


def test_every_group_has_a_method_whose_engine_is_compiled():
    assert {METHODS[key].group for key in NAMED + FURTHER} == {METHODS[key].group for key in ONE_TORQUE}


def in_plain_python(statement):
    """Run a statement on this module, ``tests``, in a Python that compiles nothing: a driver costs only what it computes."""
    program = f"import numba, test_manybody_engine as tests\nassert numba.config.DISABLE_JIT\n{statement}"
    clumps_made = pickle.dumps((SPHERE, DIMER, L_SHAPE, PLATE)).hex()
    said_by(program, NUMBA_DISABLE_JIT="1", POLHODE_TEST_CLUMPS=clumps_made)


@pytest.mark.thorough
def test_free_flight_of_every_method_in_plain_python():
    """That a compiled pass over lanes has the bits of the kernels of each method is in test_compilation.py."""
    in_plain_python("for key in tests.ONE_TORQUE:\n    print(key)\n    tests.fly(key, n=10)")


# ---- smooth contacts: the order, and the first steps of methods that need loads of earlier ones ----

SQUEEZED, HORIZON = scene((PLATE, 2), box=0.3), 0.016


def squeezed():
    """Two clumps held between the walls and each other, turned so that every sphere at the end of an axis overlaps one wall."""
    turn = np.array([0.7088, -0.0311, -0.7047, 0.0051])
    turn /= np.linalg.norm(turn)
    return state(
        [[-0.0775, 0.001, -0.001], [0.077, -0.001, 0.002]],
        [[0.1, 0.05, -0.1], [0.2, -0.1, 0.05]],
        [turn, turn],
        [[1.0, 2.0, -1.0], [-2.0, 1.0, 1.5]],
    )


def hertz_rates(t, y):
    """The equations of motion of the two clumps, written for numpy: y has the rows r, v, q, omega of each."""
    body, radii, half = PLATE.body(SOFT.density), np.array(PLATE.radii), SQUEEZED.box / 2
    inertia, stiffness = np.array(body.inertia), 4 / 3 * SOFT.young / (2 * (1 - SOFT.poisson**2))
    rows = y.reshape(2, 13)
    turns = [Rotation.from_quat(np.roll(row[6:10], -1)) for row in rows]
    spheres = [row[:3] + turn.apply(np.array(PLATE.centres)) for row, turn in zip(rows, turns, strict=True)]
    pushes = [np.zeros((len(radii), 3)) for _ in rows]
    for push, centres in zip(pushes, spheres, strict=True):
        for side in (-1, 1):
            depth = np.maximum(side * centres + radii[:, None] - half, 0)
            push -= side * stiffness * np.sqrt(radii)[:, None] * depth**1.5
    for i, a in enumerate(spheres[0]):
        for j, b in enumerate(spheres[1]):
            distance = np.linalg.norm(a - b)
            size = stiffness * np.sqrt(radii[i] * radii[j] / (radii[i] + radii[j]))
            force = size * max(radii[i] + radii[j] - distance, 0) ** 1.5 * (a - b) / distance
            pushes[0][i] += force
            pushes[1][j] -= force
    rates = []
    for row, turn, push in zip(rows, turns, pushes, strict=True):
        q, omega = row[6:10], row[10:]
        torque = np.cross(np.array(PLATE.centres), turn.inv().apply(push)).sum(0)
        turning = 0.5 * np.r_[-q[1:] @ omega, q[0] * omega + np.cross(q[1:], omega)]
        spin = (torque - np.cross(omega, inertia * omega)) / inertia
        rates.append(np.r_[row[3:6], push.sum(0) / body.mass, turning, spin])
    return np.concatenate(rates)


def squeezed_end():
    """r, v, q and omega of both clumps at the horizon, by DOP853 with the loads of this file."""
    begin = squeezed()
    y = np.hstack([begin.r, begin.v, begin.q, begin.omega]).ravel()
    return solve_ivp(hertz_rates, (0, HORIZON), y, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1].reshape(2, 13)


def check_the_order_of_squeezed_clumps(key, order, exact, numbers):
    """The order of all of r, v, q and omega while eleven contacts stay closed, so that every load is smooth."""
    errors = []
    for n in numbers:
        outcome = run(SQUEEZED, METHODS[key], HORIZON / n, squeezed(), np.array([0, n]), record=True)
        assert outcome["work"][4] == 11 * (n + 1), "eleven contacts in every step"
        apart = np.abs(outcome["motion"][-1] - np.array(exact))
        errors.append([apart[:, columns].max() for columns in (slice(0, 3), slice(3, 6), slice(6, 10), slice(10, 13))])
    slopes = np.log2(np.array(errors[-2]) / errors[-1])
    assert slopes[2:] == pytest.approx([order] * 2, abs=0.15), key
    assert slopes[:2].min() > order - 0.15, "the centres, which may have a scheme of higher order"


@pytest.mark.thorough
@pytest.mark.parametrize(("key", "order"), [("magnus_adams4", 4), ("spiral_leapfrog", 2)])
def test_the_order_while_contacts_stay_closed(key, order):
    """Fourth order needs the first steps with four evaluations of all loads, of both clumps together, with their centres."""
    check_the_order_of_squeezed_clumps(key, order, squeezed_end(), (24, 48, 96))


@pytest.mark.thorough
def test_the_order_of_methods_with_first_steps_of_many_torques():
    exact = squeezed_end().tolist()
    orders = {key: METHODS[key].order_q for key in ONE_TORQUE if METHODS[key].warm_up_steps and key != "magnus_adams4"}
    assert sorted(orders.values()) == [3, 4]
    in_plain_python(
        f"for key, order in {orders}.items():\n    tests.check_the_order_of_squeezed_clumps(key, order, {exact}, (48, 96))"
    )


@pytest.mark.parametrize("brute_force", [False, True])
def test_samples_pauses_and_lists_change_no_bit(brute_force):
    method, begin = METHODS["magnus_adams4"], squeezed()
    usual = run(SQUEEZED, method, HORIZON / 48, begin, steps_to(12), record=True)["motion"]
    untouched = squeezed()
    for name in ("r", "v", "q", "omega"):
        np.testing.assert_array_equal(getattr(begin, name), getattr(untouched, name))
    for last in (0, 1, 2, 3, 4, 12):
        laps = Laps([1, 2, 3, 4], lambda: 0.0)
        at = np.unique([0, last])
        end = run(SQUEEZED, method, HORIZON / 48, begin, at, record=True, brute_force=brute_force, pauses=laps)["motion"][-1]
        np.testing.assert_array_equal(end, usual[last])
        assert len(laps.clocked) == min(last, 4)


# ---- what must not matter ----


@pytest.mark.parametrize("key", ["spiral_leapfrog", "verlet"])
def test_the_order_of_the_kinds_does_not_matter(key):
    """Clumps of other sizes in other lanes: while each touches one other at most, nothing rounds otherwise."""
    first, other = scene((L_SHAPE, 5), (SPHERE, 4), (DIMER, 3), box=0.9), scene((DIMER, 3), (L_SHAPE, 5), (SPHERE, 4), box=0.9)
    begin = first.initial_state(2)
    order = np.r_[9:12, 0:9]
    moved = manybody.State(begin.r[order], begin.v[order], begin.q[order], begin.omega[order])
    at = steps_to(6_000, 300)
    a = run(first, METHODS[key], 1e-4, begin, at, record=True)
    b = run(other, METHODS[key], 1e-4, moved, at, record=True)
    assert a["work"][4] > 100, "contacts"
    np.testing.assert_allclose(b["motion"], a["motion"][:, order], rtol=0, atol=1e-9)
    np.testing.assert_allclose(b["energies"], a["energies"], rtol=1e-9, atol=1e-12)


def test_a_single_sphere_keeps_its_spin():
    """Without friction no contact turns it, at walls or at others."""
    made = scene((SPHERE, 12), box=0.5)
    data = manybody.simulate(made, "spiral_leapfrog", 1e-4, seed=5, t_end=1.0, samples=20, record=True)
    assert data.potential.max() > 0
    np.testing.assert_allclose(data.omega, np.broadcast_to(data.omega[0], data.omega.shape), rtol=1e-12)


@pytest.mark.parametrize("key", ["spiral_leapfrog", "no_squish"])
def test_the_order_of_the_clumps_does_not_matter(key):
    made = scene((DIMER, 12), box=0.6)
    begin = made.initial_state(3)
    order = np.random.default_rng(0).permutation(12)
    moved = manybody.State(begin.r[order], begin.v[order], begin.q[order], begin.omega[order])
    at = steps_to(3_000, 300)
    a, b = (run(made, METHODS[key], 1e-5, s, at, record=True) for s in (begin, moved))
    assert np.count_nonzero(a["energies"][:, 1]) > 3
    np.testing.assert_allclose(a["motion"][:, order], b["motion"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(a["energies"], b["energies"], rtol=1e-12, atol=1e-12)


# ---- what compilation promises ----


def test_steps_allocate_nothing(counted_allocations):
    """Lists are made again and again in the same arrays."""
    rods = manybody.scenes["rods"]
    begin = rods.initial_state(1)

    def allocations(n: int) -> int:
        before = rtsys.get_allocation_stats().alloc
        outcome = run(rods, METHODS["spiral_leapfrog"], 38.3e-6, begin, np.array([0, n]))
        assert outcome["work"][0] > n / 200
        return rtsys.get_allocation_stats().alloc - before

    allocations(10)
    assert allocations(100) == allocations(5000)


def test_lists_of_large_clumps_soon_have_all_the_room_they_need(counted_allocations):
    """Room for spheres and pairs grows, never shrinks: a list is made twice a few times at most."""
    chess = manybody.scenes["chess"]
    begin = chess.initial_state(1)

    def allocations(n: int) -> int:
        before = rtsys.get_allocation_stats().alloc
        assert run(chess, METHODS["spiral_leapfrog"], 19.3e-6, begin, np.array([0, n]))["work"][0] > n / 500
        return rtsys.get_allocation_stats().alloc - before

    allocations(10)
    room = 13  # arrays of a list
    assert allocations(20_000) <= allocations(10) + 8 * room


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["spiral_leapfrog", "omelyan1998", "no_squish", "buss2000"])
def test_the_pass_over_the_lanes_uses_vector_registers(key):
    method = METHODS[key]
    fields_of = record_of(method, method.normalises)
    advance, _ = step_of_all(passes_of(method, method.normalises, fields_of), fields_of)
    advance.dispatcher.compile(types.boolean(types.Array(float_type, 1, "C"), types.int64, float_type, types.boolean))
    (assembly,) = advance.dispatcher.inspect_asm().values()
    functions = re.split(r"\n(?=_ZN\S+:\n)", assembly)
    (code,) = [text for text in functions if re.match(r"_ZN7polhode\S*7advance\S*:", text)]
    packed, scalar = code.count("mulpd"), code.count("mulsd")
    if packed + scalar:  # x86-64; other families name their instructions otherwise
        assert packed > 4 * scalar
    if "+avx512f" in get_host_cpu_features() and "NUMBA_CPU_FEATURES" not in os.environ:
        assert "zmm" in code, "vectors of 512 bits where there are such"


@pytest.mark.parametrize("size", [0, 8, 1000, 100_000])
def test_vectors_of_fields_lie_in_one_cache_line_each(size):
    fields = empty_fields(size)
    assert fields.ctypes.data % 64 == 0
    assert fields.shape == (size,)
    assert not fields.any()


# ---- runs that fail, calls that cannot ----


def test_a_run_that_blows_up_says_when():
    made = scene((DIMER, 8), box=0.5)
    data = manybody.simulate(made, "euler", 0.02, seed=1, t_end=400.0, samples=50)
    assert 0 < data.diverged < 400
    assert np.isfinite(data.energy[data.time < data.diverged]).all()
    assert np.isnan(data.energy[data.time > data.diverged]).all()
    more = manybody.simulate(made, "euler", 0.02, seed=1, t_end=400.0, samples=500)
    assert more.diverged == data.diverged
    slow = manybody.simulate(made, "euler", 0.02, seed=1, t_end=400.0, samples=50, brute_force=True)
    assert slow.diverged == data.diverged


def plain_contact(dt, phase):
    """A mass of 1 that meets the force x^(3/2) with the speed 1, by a leapfrog in plain Python: how its energy changes."""
    x, v, force = -dt * phase, 1.0, 0.0
    while v > 0 or x > 0:
        v += dt / 2 * force
        x += dt * v
        force = -(max(x, 0.0) ** 1.5)
        v += dt / 2 * force
    return 0.5 * v * v - 0.5


@pytest.mark.thorough
def test_a_leapfrog_leaves_five_halves_of_a_hertz_contact():
    """Not two: a contact gives back what it took but for its edges, where the overlap is of the order of v dt.

    One ball that hits one wall, each time with another part of a step before it; and a leapfrog that shares no line with the
    engine.
    """
    rng = np.random.default_rng(1)
    steps = np.array([30, 120, 480])
    ball, still = scene((SPHERE, 1), box=0.3), np.zeros((1, 3))
    lasts = collision_time(SOFT.density * 4 / 3 * np.pi * 0.05**3, 0.05, SOFT.reduced, 1.0)
    ours, plain = [], []
    for number in steps:
        changes = []
        for spread, x in zip(np.exp(rng.uniform(-0.2, 0.2, 150)), rng.uniform(-0.05, 0.05, 150), strict=True):
            begin = manybody.State(np.array([[x, 0, 0]]), np.array([[1.0, 0, 0]]), np.array([[1.0, 0, 0, 0]]), still)
            bounce = manybody.simulate(ball, "spiral_leapfrog", lasts / number * spread, state=begin, t_end=0.2, samples=1)
            assert bounce.potential[-1] == 0, "it has left the wall"
            changes.append((float(bounce.energy_error[-1]), plain_contact(2.87 / number * spread, rng.uniform())))
        for errors, change in zip((ours, plain), np.transpose(changes), strict=True):
            errors.append(np.sqrt(np.mean(change**2)))
    for errors in (ours, plain):
        assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(-2.5, abs=0.15)


@pytest.mark.thorough
@pytest.mark.parametrize("brute_force", [False, True])
def test_clumps_that_gain_energy_between_the_walls_have_blown_up(brute_force):
    """Synchronous SPIRAL gains at every contact; no clump leaves the box, but the run means nothing any more."""
    made = scene((DIMER, 8), box=0.3)
    sampled = [
        manybody.simulate(made, "spiral_synchronous", 2e-4, seed=1, t_end=60.0, samples=samples, brute_force=brute_force)
        for samples in (60, 7)
    ]
    assert 0 < sampled[0].diverged < 60 and sampled[1].diverged == sampled[0].diverged
    steps = round(sampled[0].diverged / 2e-4)
    assert steps % CHECKED == 0
    before = manybody.simulate(made, "spiral_synchronous", 2e-4, seed=1, t_end=(steps - 0.5) * 2e-4, samples=60)
    assert "diverged" not in before.attrs and float(before.energy[-1] / before.energy[0]) > 100
    in_larger_box = manybody.simulate(made, "spiral_leapfrog", 2e-4, seed=1, t_end=60.0, samples=7)
    assert "diverged" not in in_larger_box.attrs


def test_a_start_that_makes_no_sense_is_refused():
    made = scene((DIMER, 2), (SPHERE, 1), box=1.0)
    places = [[0.0, 0, 0], [0.2, 0, 0], [0, 0.3, 0]]
    still = np.zeros((3, 3))
    apart = state(places, still)
    run_of = manybody.simulate(made, "euler", 1e-4, state=apart, t_end=1e-3)
    assert "seed" not in run_of.attrs and run_of.potential[0] == 0
    touching = state([[0.0, 0, 0], [0.2, 0, 0], [0.0, 0.095, 0]], still)
    assert manybody.simulate(made, "euler", 1e-4, state=touching, t_end=1e-3).potential[0] > 0
    for i, place, message in (
        (2, [0.0, 0.02, 0.0], r"clumps 0 \(dimer\) and 2 \(sphere\) interpenetrate"),
        (1, [0.0, 0.0, -0.6], r"clump 1 \(dimer\) starts at \[0.0, 0.0, -0.6\] m, outside the box"),
    ):
        moved = [place if k == i else p for k, p in enumerate(places)]
        with pytest.raises(ValueError, match=message):
            manybody.simulate(made, "euler", 1e-4, state=state(moved, still), t_end=1e-3)


# ---- compiled code on disk ----

PAIR, SWAPPED = (NamedTuple("Pair", [(name, float) for name in names]) for names in (("a", "b"), ("b", "a")))


def test_compiled_code_is_named_after_fields_of_its_arguments():
    """Code that was compiled for other places of the same fields would read the wrong numbers."""

    def first(pair):
        return pair.a

    names = set()
    for pair in (PAIR, SWAPPED):
        signature = types.float64(types.NamedUniTuple(types.float64, 2, pair))
        names.add(cache._entry(first, signature, {}))
        nested = types.float64(types.Tuple((types.int64, types.NamedUniTuple(types.float64, 2, pair))))
        names.add(cache._entry(first, nested, {}))
    assert None not in names and len(names) == 4


def test_compiled_code_is_named_after_fields_of_its_results():
    def maker(pair):
        def make():
            return pair(1.0, 2.0)

        return make

    names = {cache._entry(maker(pair), types.void(), {}) for pair in (PAIR, SWAPPED)}
    assert None not in names and len(names) == 2
