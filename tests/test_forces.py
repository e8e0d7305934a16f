"""Laws of force: impacts known to many digits, the ledger of energies, what must not matter, what cannot be."""

import re
from dataclasses import replace
from functools import cache
from math import cos, exp, inf, pi, radians, sin, sqrt
from pathlib import Path

import numpy as np
import pytest
from same_bits import CONTACTS, as_plain_steps, both_ways
from scipy.integrate import solve_ivp

import polhode
from polhode import manybody
from polhode.algebra.quaternion import to_lab
from polhode.compiling.kernel import kernel
from polhode.interface import plugins
from polhode.manybody.answers import check_answers
from polhode.manybody.material import MaterialPair
from polhode.manybody.restitution import linear_damping, linear_restitution, tsuji_damping, tsuji_restitution
from polhode.manybody.simulation import run
from polhode.manybody.step import PlainRun
from polhode.methods.protocol import OneTorque
from polhode.references.impact import HertzMindlin, Impact, ImpactBody, solve

METHODS = polhode.methods
TOTAL, LINEAR = manybody.forces["hertz_mindlin_tsuji"], manybody.forces["linear_spring_dashpot"]
STICKY = TOTAL.with_parameters(friction=inf, restitution=1.0)
#: Chung and Ooi (2011), test 4: a ball on a rigid plane, and the duration of its contact at 45 degrees.
R, SPEED, HALF = 0.0025, 3.9, 0.01
OXIDE, BALL = manybody.Material(density=4000.0, young=3.8e11, poisson=0.23), manybody.Clump.sphere(R)
DURATION = 6.54265171958642553e-6
#: Parts of a step before the touch, over which errors are averaged.
PHASES = (0.1, 0.3, 0.5, 0.7, 0.9)
#: Columns of the ledger.
GRAVITY, E_N, E_T, D_N, D_T, D_S, D_M = range(7)


def scene(law, *kinds, **others):
    values = {"material": OXIDE, "box": 2 * HALF, "speed": 0.0, "spin": 0.0, "horizon": 1.0} | others
    return manybody.Scene(key="test", label="test", kinds=kinds, law=law, **values)


def impact(law, degrees, steps, phase=0.3, method="spiral_leapfrog", speed=SPEED, every=None, **others):
    """A ball without spin on a rigid plane, ``steps`` in a contact: v, K/K0 and ledger/K0 after it, or of every step."""
    dt = DURATION / steps
    v = speed * np.array([[sin(radians(degrees)), 0.0, -cos(radians(degrees))]])
    r = np.array([[0.0, 0.0, R - HALF - phase * dt * v[0, 2]]])
    start = manybody.State(r, v, np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)))
    end = int(1.6 * steps) + 2
    at = np.array([0, end]) if every is None else np.arange(0, end, every)
    outcome = run(scene(law, (BALL, 1), walls="rigid", **others), METHODS[method], dt, start, at, record=True)
    kinetic = outcome["energies"][:, 0] / outcome["energies"][0, 0]
    ledger = outcome["ledger"] / outcome["energies"][0, 0]
    velocity = outcome["motion"][:, 0, 3:6]
    return (velocity, kinetic, ledger) if every else (velocity[-1], kinetic[-1], ledger[-1])


def errors(law, degrees, exact, counts, **others):
    """Root mean square over the phases of the errors of vx, vz and K/K0, (counts, 3)."""
    rows = []
    for steps in counts:
        results = [impact(law, degrees, steps, phase, **others) for phase in PHASES]
        rows.append([(v[0], v[2], ratio) for v, ratio, _ in results])
    return np.sqrt(((np.array(rows) - exact) ** 2).mean(1))


def orders(values):
    return np.log2(values[:-1] / values[1:])


# ---- impacts known to many digits ----

#: vx, vz and K/K0 after an impact at 45 degrees that sticks: 34 digits, events located, arms that end at the surface.
STICKS = (2.76836324249089009, 2.75771644662753535, 1.00388681312215055)


@pytest.mark.thorough
def test_sticking_impacts_are_second_order_with_split_steps():
    law = STICKY.with_parameters(arms="radius")
    cured, usual = (errors(law.with_parameters(start=start), 45, STICKS, (40, 80, 160)) for start in ("touch", "whole"))
    assert (cured[-1] < [1e-4, 1e-5, 4e-5]).all()
    assert orders(cured)[:, 0] == pytest.approx(2.0, abs=0.15)
    assert orders(cured)[:, 1] == pytest.approx(2.5, abs=0.2), "as elastic contacts have it"
    assert orders(usual)[:, 0] == pytest.approx(1.0, abs=0.1), "the first increment counts a whole step"


@pytest.mark.thorough
def test_the_energy_that_an_impact_makes_is_made_by_the_law():
    _, ratio, ledger = impact(STICKY.with_parameters(arms="radius"), 45, 640)
    assert -ledger[D_M] == pytest.approx(STICKS[2] - 1, abs=1e-5) and ratio == pytest.approx(STICKS[2], abs=1e-5)
    assert ledger[:D_M] == pytest.approx(0, abs=1e-12)


@pytest.mark.thorough
def test_an_impact_that_sticks_and_then_slides():
    """3 degrees, slides in the last 0.4 per cent of the contact."""
    law = TOTAL.with_parameters(friction=0.092, restitution=1.0, arms="radius")
    coarse, fine = errors(law, 3, (0.20490171902485345, 3.89465518554283811, 1.00002138690827299), (40, 640))
    assert (fine < [1e-6, 1e-6, 1e-6]).all() and (coarse < [2e-4, 4e-4, 2e-4]).all()


@pytest.mark.parametrize("slip", ["trapezoidal", "radial"])
def test_sliding_impacts_are_exact_but_for_the_normal_force(slip):
    law = TOTAL.with_parameters(friction=0.092, restitution=1.0, arms="radius", slip=slip)
    exact = SPEED * sin(radians(60)) - 2 * 0.092 * 1.95, 1.95, 0.870275325703663289
    assert (errors(law, 60, exact, (640,)) < [1e-7, 1e-6, 1e-6]).all()
    _, ratio, ledger = impact(law, 60, 640)
    assert ledger[D_S] == pytest.approx(1 - ratio, abs=1e-6) and abs(ledger[D_M]) < 1e-6


def test_two_spheres():
    """Unlike spins, friction that always holds, the contact point in the middle of the overlap; springs that do not twirl."""
    exact = [-0.016943602435050668, 0.61427799511073532, 0.20542845242834514, -0.0029993504672176983, -1.2511487648864049]
    exact, lasts, ball = [*exact, 34.695369021915143, 0.99292580545750316], 0.0010175272987250033, manybody.Clump.sphere(0.005)
    v, omega = np.array([[-1, 0.6, 0.2], [0, 0, 0]]), np.array([[0, 0, 30.0], [20, -10, 0]])
    soft = manybody.Material(density=2500.0, young=1e7, poisson=0.3)
    results = {}
    for plane in ("middle", "end"):
        made = scene(STICKY.with_parameters(twirl="off", plane=plane), (ball, 2), material=soft, box=inf)
        rows = []
        for steps in (80, 320):
            dt, ends = lasts / steps, []
            for phase in PHASES:
                r = np.array([[0.01, 0, 0], [0, 0, 0]]) - phase * dt * v
                start = manybody.State(r, v, np.tile([1.0, 0, 0, 0], (2, 1)), omega)
                outcome = run(made, METHODS["spiral_leapfrog"], dt, start, np.array([0, int(1.3 * steps)]), record=True)
                end, kinetic = outcome["motion"][-1, 0], outcome["energies"][:, 0]
                ends.append([*end[3:6], *to_lab(tuple(end[6:10]), tuple(end[10:])), kinetic[1] / kinetic[0]])
            rows.append(np.sqrt(((np.array(ends) - exact) ** 2).mean(0)))
        results[plane] = np.array(rows)
    assert (results["middle"][1] < [1e-6, 1e-5, 1e-5, 1e-5, 2e-3, 5e-3, 1e-5]).all()
    # The edges of a force that begins as the root of the overlap leave 3/2.
    assert 1.5 < orders(results["middle"])[0, 1] / 2 < 2.1 and orders(results["end"])[0, 1] / 2 == pytest.approx(1.0, abs=0.15)


# ---- a clump against the reference of single impacts ----

DENSITY, YOUNG, POISSON = 2700.0, 7e10, 0.33
MASS = DENSITY * 4 / 3 * pi * R**3
MOMENTS = tuple(1.2 * MASS * R**2 * np.array([1, 1, 1.1]) + 2 * MASS * R**2 * np.array([0, 1, 1.1]))
V, OMEGA, Q = (1.0, 0.3, -1.0), (200.0, 300.0, -150.0), tuple(np.array([1, 0.2, 0.35, 0.1]) / sqrt(1.1725))
LOW = replace(OXIDE, density=DENSITY, young=YOUNG, poisson=POISSON)


@cache
def reference(friction, alpha, incremental=False):
    """The impact of the clump to 8 digits."""
    body = ImpactBody(3 * MASS, MOMENTS, R, V, OMEGA, Q, (R, 0, 0), YOUNG, POISSON)
    return solve(Impact(body, HertzMindlin(alpha), friction, incremental=incremental), digits=8)


def clump_on_a_plane(law, duration, steps, phase):
    """Three spheres in a row, the last of which hits a rigid plane: v, K/K0 and ledger/K0 after the contact."""
    centres = np.array([[-R, 0, 0], [0, 0, 0], [R, 0, 0]])
    clump = manybody.Clump("three", "three", centres, np.full(3, R), 3 * MASS / DENSITY, tuple(np.array(MOMENTS) / DENSITY))
    dt, half = duration / steps, 0.03
    touch = np.array([0, 0, R - half]) - to_lab(Q, (R, 0, 0))
    # A part of a step before the touch: the motion back, which is free.
    back = manybody.State(touch[None], -np.array([V]), np.array([Q]), -np.array([OMEGA]))
    free = scene("hertz", (clump, 1), material=LOW, box=inf)
    r, v, q, omega = np.split(
        run(free, METHODS["spiral_leapfrog"], phase * dt / 20, back, np.array([20]), record=True)["motion"][-1],
        [3, 6, 10],
        axis=1,
    )
    made = scene(law, (clump, 1), material=LOW, box=2 * half, walls="rigid")
    at = np.array([0, int(1.15 * steps) + 2])
    outcome = run(made, METHODS["spiral_leapfrog"], dt, manybody.State(r, -v, q, -omega), at, record=True)
    kinetic = outcome["energies"][:, 0]
    return outcome["motion"][-1, 0, 3:6], kinetic[1] / kinetic[0], outcome["ledger"][-1] / kinetic[0]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("key", "friction", "alpha", "order"),
    [
        ("hertz_mindlin_tsuji", inf, 0.0, 1.8),  # the edge of the tangential force, the root of the overlap, has 3/2
        ("hertz_mindlin_tsuji", 0.3, 0.0, 2.0),
        ("hertz_mindlin_tsuji", 0.3, 0.3, 1.25),  # the edge of Tsuji's dashpot
        ("hertz_mindlin_incremental", 0.3, 0.0, 2.0),
    ],
)
def test_a_clump_comes_off_as_the_reference_has_it(key, friction, alpha, order):
    solution = reference(friction, alpha, key.endswith("incremental"))
    exact, energies = [float(x) for x in solution.end.bodies[0].velocity], solution.end.energies
    law = manybody.forces[key].with_parameters(friction=friction, restitution=tsuji_restitution(alpha))
    sizes = []
    for steps in (40, 160):
        results = [clump_on_a_plane(law, float(solution.duration), steps, phase) for phase in PHASES]
        sizes.append(np.sqrt(np.mean([((v - exact) ** 2).sum() for v, _, _ in results])))
    assert order - 0.25 < np.log2(sizes[0] / sizes[1]) / 2 < order + 0.4 and sizes[1] < 5e-4
    names = ("dissipated_normal", "dissipated_tangential", "sliding", "made_by_law")
    shares = [float(getattr(energies, name) / solution.start.energies.kinetic) for name in names]
    assert results[0][2][D_N:] == pytest.approx(shares, abs=1.5e-3)


@pytest.mark.thorough
@pytest.mark.parametrize("slip", ["trapezoidal", "radial"])
def test_the_radial_return_is_of_first_order_where_sliding_turns(slip):
    solution, sizes = reference(0.3, 0.0), []
    law = TOTAL.with_parameters(friction=0.3, restitution=1.0, slip=slip)
    for steps in (80, 320):
        ends = [clump_on_a_plane(law, float(solution.duration), steps, phase)[0][1] for phase in PHASES]
        sizes.append(np.sqrt(np.mean((np.array(ends) - float(solution.end.bodies[0].velocity[1])) ** 2)))
    assert np.log2(sizes[0] / sizes[1]) / 2 == pytest.approx({"trapezoidal": 2.0, "radial": 1.0}[slip], abs=0.15)


def test_contact_time_follows_from_walls_and_materials():
    """At 45 degrees the spring along the plane leaves the motion across it alone: the duration is that of Hertz."""
    speed = SPEED * cos(radians(45))
    at_rigid = scene(STICKY, (BALL, 1), walls="rigid")
    assert at_rigid.contact_time(speed) == pytest.approx(DURATION, rel=1e-9)
    assert scene(STICKY, (BALL, 1)).contact_time(speed) == pytest.approx(2**0.4 * DURATION, rel=1e-9)
    steel = replace(OXIDE, density=2 * OXIDE.density)
    others = replace(at_rigid, materials={BALL.key: steel})
    assert others.contact_time(speed) == pytest.approx(2**0.4 * DURATION, rel=1e-9)
    assert others.rayleigh_step == pytest.approx(2**0.5 * at_rigid.rayleigh_step)
    assert others.p_wave_step == pytest.approx(2**0.5 * at_rigid.p_wave_step)


# ---- restitution ----


def test_the_restitution_of_dashpots_in_closed_form():
    assert tsuji_restitution(0.1) == pytest.approx(0.872291466690707846, rel=1e-15)
    assert tsuji_restitution(0.2) == pytest.approx(0.766410413045874779, rel=1e-15)
    for e in (1.0, 0.9, 0.5, 0.14, 0.1, 0.001):  # from weak to overcritical damping
        assert linear_restitution(linear_damping(e)) == pytest.approx(e, rel=1e-12)
        assert tsuji_restitution(tsuji_damping(e)) == pytest.approx(e, rel=1e-12)
    b = 0.3 / sqrt(1 - 0.09)
    assert exp(-pi * b) < linear_restitution(0.3), "with attraction there would be less"


@pytest.mark.thorough
@pytest.mark.parametrize("e", [0.9, 0.5])
@pytest.mark.parametrize("law", [TOTAL, LINEAR.with_parameters(stiffness=1e8)])
def test_what_is_asked_for_is_obtained_at_any_speed(law, e):
    for speed in (0.5, 5.0):
        v, ratio, ledger = impact(law.with_parameters(restitution=e), 0, 800, speed=speed)
        assert v[2] / speed == pytest.approx(e, abs=2e-3)
        assert ledger[D_N] == pytest.approx(1 - ratio, abs=2e-3) and ledger[[D_T, D_S, D_M]] == pytest.approx(0, abs=1e-12)


def test_a_predicted_velocity_makes_the_dashpot_better():
    worse, better = (
        errors(TOTAL.with_parameters(restitution=0.6, dashpot=dashpot), 0, (0.0, 0.6 * SPEED, 0.36), (50, 100))
        for dashpot in ("handed", "predicted")
    )
    assert (better[:, 1:] < 0.85 * worse[:, 1:]).all()
    assert orders(worse)[0, 1] == pytest.approx(1.0, abs=0.15), "half a step old"
    assert orders(better)[0, 1] == pytest.approx(1.25, abs=0.2), "a force that begins as overlap^(1/4)"


@pytest.mark.thorough
def test_viscoelastic_spheres_come_off_slower_at_higher_speed():
    """1 - C1 A k^(2/5) v^(1/5) for small A, with C1 = 1.15344 and k = (3/2)^... : Schwager and Poeschel (1998)."""
    law = manybody.forces["viscoelastic"].with_parameters(damping_time=1e-8)
    results = [1 - impact(law, 0, 1600, speed=speed)[0][2] / speed for speed in (1.0, 32.0)]
    assert results[1] / results[0] == pytest.approx(2.0, rel=0.03), "(32)^(1/5)"


# ---- the ledger ----


def test_dissipated_energies_never_fall_and_the_ledger_closes():
    law = TOTAL.with_parameters(friction=0.3, restitution=0.7)
    closures = []
    for steps in (50, 200):
        _, kinetic, ledger = impact(law, 50, steps, every=1)
        for column in (D_N, D_T, D_S):
            assert np.diff(ledger[:, column]).min() > -1e-4 * ledger[-1, column]
            assert ledger[-1, column] > 1e-3
        closures.append(abs(kinetic[-1] + ledger[-1].sum() - 1))
    assert closures[1] < 2e-4 and closures[1] < 0.25 * closures[0]


def test_the_last_half_of_a_dashpots_kicks_is_in_the_ledger():
    """A kick acts until the middle of the next step, also where the contact has ended by then."""
    law = LINEAR.with_parameters(stiffness=6e7, restitution=0.5, friction=0.0)
    dt = DURATION / 40
    start = manybody.State(
        np.array([[0, 0, R - HALF + 0.3 * dt * SPEED]]),
        np.array([[0, 0, -SPEED]]),
        np.array([[1.0, 0, 0, 0]]),
        np.zeros((1, 3)),
    )
    made = scene(law, (BALL, 1), walls="rigid")
    outcome = run(made, METHODS["spiral_leapfrog"], dt, start, np.arange(80), record=True)
    z = outcome["motion"][:, 0, 2]
    way = np.diff(z)
    overlap, now = R - HALF - z[1:], np.append(way[0], 1.5 * way[1:] - 0.5 * way[:-1]) / dt
    damping = 2 * linear_damping(0.5) * sqrt(6e7 * OXIDE.density * BALL.volume)
    dashpot = np.where(overlap > 0, np.maximum(-damping * now, -6e7 * overlap), 0.0)
    works = -0.5 * dashpot[:-1] * (way[:-1] + way[1:])
    last = -0.5 * (dashpot[:-1] * way[1:])[np.flatnonzero(overlap > 0)[-1]]
    assert last > 0 and abs(outcome["ledger"][-1, D_N] - works.sum()) < 0.05 * last


def bed(law, count=12, clump=None, **others):
    """Clumps that fall into a heap in a narrow box."""
    soft = manybody.Material(density=2500.0, young=1e6, poisson=0.3)
    dimer = manybody.Clump.dimer(0.005, 0.005, 0.006)
    made = scene(law, (clump or dimer, count), material=soft, box=0.05, gravity=(0.0, 0.0, -9.81), **others)
    return made, made.initial_state(3)


@pytest.mark.thorough
def test_the_ledger_of_a_bed_that_comes_to_rest_closes():
    made, begin = bed(TOTAL)
    data = manybody.simulate(made, "spiral_leapfrog", 1e-4, state=begin, t_end=0.6, samples=30)
    assert abs(data.closure).max() < 0.01
    assert data.kinetic[-1] < 1e-3 * float(data.gravitational[0] - data.gravitational[-1])
    for name in ("dissipated_normal", "dissipated_tangential", "dissipated_sliding"):
        assert (np.diff(data[name]) > -1e-9).all() and data[name][-1] > 0
    assert data.attrs["law"] == "hertz_mindlin_tsuji"
    elastic = manybody.simulate(made, "spiral_leapfrog", 1e-4, state=begin, t_end=0.1, samples=3, law="hertz")
    assert "closure" not in elastic and abs(elastic.energy_error).max() < 2e-3


# ---- what must not matter ----


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["spiral_leapfrog", "magnus_adams4"])
def test_neighbour_lists_and_samples_change_no_bit_of_a_history(key):
    made, begin = bed(TOTAL.with_parameters(friction=0.4), 20)
    listed = both_ways(made, key, 1e-4, begin, np.arange(0, 3001, 100), few=True)
    assert listed["work"][CONTACTS] > 10_000 and listed["work"][0] > 3


def test_steps_that_are_taken_again_change_no_bit_of_a_history():
    """A ball turns so far in a step that lanes give no number; the stretch is repeated clump by clump, with its histories."""
    made, begin = bed(TOTAL.with_parameters(friction=1e-4), 20, manybody.Clump.sphere(0.006))
    dt = 1e-4
    heap = run(made, METHODS["spiral_leapfrog"], dt, begin, np.array([0, 2000]), record=True)["motion"][-1]
    omega = heap[:, 10:].copy()
    omega[3, 0] = 1.1 * pi / dt
    begin = manybody.State(heap[:, :3], heap[:, 3:6], heap[:, 6:10], omega)
    listed = both_ways(made, "spiral_leapfrog", dt, begin, np.arange(0, 601, 100))
    assert listed["work"][CONTACTS] > 2_000 and listed["diverged"] < 0


def test_momentum_is_kept_and_angular_momentum_too():
    """Forces of a contact have one point, so that no torque is left over."""
    ball = manybody.Clump.sphere(0.005)
    soft = manybody.Material(density=2500.0, young=1e7, poisson=0.3)
    v, omega = np.array([[-1, 0.6, 0.2], [0, 0, 0]]), np.array([[0, 0, 30.0], [20, -10, 0]])
    start = manybody.State(np.array([[0.0101, 0, 0], [0, 0, 0]]), v, np.tile([1.0, 0, 0, 0], (2, 1)), omega)
    made = scene(TOTAL.with_parameters(friction=0.2), (ball, 2), material=soft, box=inf)
    momenta = run(made, METHODS["spiral_leapfrog"], 1e-5, start, np.arange(0, 201, 10))["momenta"]
    np.testing.assert_allclose(momenta, np.broadcast_to(momenta[0], momenta.shape), atol=1e-12 * np.abs(momenta).max())


def test_a_ball_at_rest_on_a_slope_does_not_creep():
    """Friction holds it against gravity along the plane as long as one likes; it rolls only if it may."""
    dimer = manybody.Clump.dimer(0.005, 0.005, 0.006)
    soft = manybody.Material(density=2500.0, young=1e6, poisson=0.3)
    made = scene(TOTAL.with_parameters(restitution=0.3), (dimer, 1), material=soft, box=0.05, gravity=(0.0, 3.0, -9.0))
    lies = manybody.State(
        np.array([[0, 0, 0.0050001 - 0.025]]), np.zeros((1, 3)), np.array([[sqrt(0.5), 0, 0, sqrt(0.5)]]), np.zeros((1, 3))
    )
    outcome = run(made, METHODS["spiral_leapfrog"], 5e-5, lies, np.array([0, 20_000, 60_000]), record=True)
    assert np.abs(outcome["motion"][2, 0, :3] - outcome["motion"][1, 0, :3]).max() < 1e-12
    assert outcome["energies"][2, 0] < 1e-20


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["verlet", "spiral_dkd", "fincham1992", "no_squish"])
def test_the_rotation_hardly_matters(key):
    """The engine takes what has moved from the poses, for every method in the same way."""
    law = TOTAL.with_parameters(friction=0.3)
    exact, _, _ = impact(law, 40, 3200)
    ours, others = (errors(law, 40, (exact[0], exact[2], 0.0), (100,), method=method)[0] for method in ("spiral_leapfrog", key))
    assert others[:2] == pytest.approx(ours[:2], rel=0.2)


def velocities_handed_out(key, dt, time):
    """omega in the middle of the last step and now, as a law gets them, and the errors of both, for a free clump."""
    clump = manybody.Clump("L", "L", np.zeros((1, 3)), np.array([R]), 1.0, (1.0, 2.0, 2.5))
    made = scene(TOTAL, (clump, 1), box=inf, material=manybody.Material(1.0, 1.0, 0.3))
    start = manybody.State(np.zeros((1, 3)), np.array([V]), np.array([Q]), np.array([[0.9, -0.7, 1.1]]))
    method = METHODS[key].without_passages()
    plain = PlainRun(made, start, method, dt)
    steps = round(time / dt)
    for _ in range(steps):
        plain.step()
    plain.advance_to_loads()
    now = (steps + method.torque_time) * dt

    def euler(t, w):
        return [(2.0 - 2.5) * w[1] * w[2] / 1.0, (2.5 - 1.0) * w[2] * w[0] / 2.0, (1.0 - 2.0) * w[0] * w[1] / 2.5]

    exact = solve_ivp(euler, (0, now), start.omega[0], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=[now - dt / 2, now]).y.T
    (body,) = plain.bodies
    exact = [to_lab(body.q, tuple(w)) for w in exact]
    assert body.moved == pytest.approx(V, rel=1e-9) and body.v == pytest.approx(V, rel=1e-9)
    return [np.abs(np.array(w) - e).max() for w, e in zip((body.turned, body.spin), exact, strict=True)]


#: A variant that reproduces a slip of a publication need not converge.
ONE_TORQUE = [key for key, method in METHODS.items() if isinstance(method, OneTorque) and not method.variant_of]


@pytest.mark.parametrize("key", ONE_TORQUE)
def test_methods_give_velocities_of_the_middle_and_of_now(key):
    """To second order, also those that store no velocity of the middle, multistep methods above all."""
    coarse, fine = (np.array(velocities_handed_out(key, dt, 0.64)) for dt in (0.04, 0.02))
    order = min(2, *METHODS[key].orders("free")) - 0.3
    assert (np.log2(coarse / fine) > order).all() and (fine < 0.04).all()


# ---- a law of one's own ----

EXAMPLE = Path(__file__).parents[1] / "docs" / "example_force.py"


@pytest.mark.thorough
def test_the_law_of_the_documentation_rolls_to_a_stop():
    """A ball that rolls on the floor: its rolling torque is friction times radius times weight, and the ledger says so."""
    with manybody.forces.restored():
        law = manybody.forces.load(EXAMPLE)
        assert plugins.run_plugin(law, EXAMPLE) == []
    soft, ball = manybody.Material(density=2500.0, young=1e7, poisson=0.3), manybody.Clump.sphere(0.01)
    made = scene(law, (ball, 1), material=soft, box=1.0, gravity=(0.0, 0.0, -9.81))
    begin = manybody.State(
        np.array([[0, 0, 0.01 - 0.5]]), np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.array([[0, 40.0, 0]])
    )
    data = manybody.simulate(made, "spiral_leapfrog", 5e-5, state=begin, t_end=0.1, samples=100, record=True)
    slowing = -np.polyfit(data.time[20:60], data.omega[20:60, 0, 1], 1)[0]
    assert slowing == pytest.approx(0.1 * 0.01 * 9.81 / (0.4 * 0.01**2), rel=0.01)
    assert abs(data.closure).max() < 1e-3 and data.dissipated_sliding[-1] > 0.1 * data.kinetic[0]


class Counting(PlainRun):
    """The plain step, which compiles no engine for a law, and the energy that slides away."""

    slid = 0.0

    def respond(self, *contact):
        response, *arms = super().respond(*contact)
        self.slid += response.work[2]
        return response, *arms


@pytest.mark.thorough
def test_friction_with_an_addition_as_the_page_has_it(tmp_path):
    """A ball that rolls on the floor without sliding stops after 7 v^2/(10 g times the rolling friction)."""
    page = EXAMPLE.with_name("adding-a-force-law.md").read_text()
    (block,) = (text for text in re.findall(r"```python\n(.*?)```", page, re.S) if '"linear_rolling"' in text)
    (tmp_path / "mine.py").write_text(block)
    with manybody.forces.restored():
        law = manybody.forces.load(tmp_path / "mine.py")
    soft, ball = manybody.Material(density=2500.0, young=1e7, poisson=0.3), manybody.Clump.sphere(0.01)
    made = scene(law, (ball, 1), material=soft, box=0.4, gravity=(0.0, 0.0, -9.81))
    mass = 2500.0 * ball.volume
    begin = manybody.State(
        np.array([[0, 0, 0.01 - 0.2 - mass * 9.81 / 1e5]]),
        np.array([[0.1, 0, 0]]),
        np.array([[1.0, 0, 0, 0]]),
        np.array([[0, 10.0, 0]]),
    )
    dt = pi * sqrt(mass / 1e5) / 40
    plain, farthest = Counting(made, begin, METHODS["spiral_leapfrog"], dt), 0.0
    for _ in range(int(0.15 / dt)):
        plain.step()
        farthest = max(farthest, plain.bodies[0].r[0])
    assert farthest == pytest.approx(0.7 * 0.1**2 / (0.1 * 9.81), rel=2e-3)
    assert plain.slid == pytest.approx(0.7 * mass * 0.1**2, rel=1e-2)


@pytest.mark.thorough
def test_the_plain_step_has_the_bits_of_a_law_of_ones_own():
    with manybody.forces.restored():
        law = manybody.forces.load(EXAMPLE)
    made, begin = bed(law, 8)
    assert as_plain_steps(made, "spiral_leapfrog", 2e-4, begin, 300)[CONTACTS] > 100


@pytest.mark.thorough
def test_a_law_that_gives_no_numbers_is_refused(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(EXAMPLE.read_text().replace("elastic = hertz *", "elastic = (hertz - hertz) / (hertz - hertz) *"))
    with manybody.forces.restored():
        law = manybody.forces.load(path)
        with pytest.raises(plugins.PluginError, match=r"mine\.py: the law 'hertz_rolling' gives no finite numbers"):
            plugins.run_plugin(law, path)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "half, energy)",
            "dashpot)",
            "history in the Response of contact must be a tuple of 6 floats, as history=6 declares",
        ),
        ("slipped), 0.0)", "slipped))", "work in the Response of contact must be a tuple of 4 floats"),
        ("(dissipated, 0.0,", "(dissipated, 0,", "work .* write 0.0 instead of 0"),
        ("return Response(", "return (", "contact must return a Response"),
        ("return (history[4], 0.0, history[5], 0.0)", "return (0.0, history[4])", "end must return the four parts of work"),
        ("@kernel\ndef contact", "def contact", "contact is not a kernel; put @kernel above"),
        ("touch.rolled", "touch.roled", "the kernel contact, .* cannot be compiled: Unknown attribute 'roled'"),
        ("history=6", "history=3", "the kernel contact, of 4 constants and a history of 3, .* out of range"),
    ],
)
def test_a_law_that_answers_what_it_does_not_declare_is_refused(tmp_path, old, new, message):
    path = tmp_path / "mine.py"
    path.write_text(EXAMPLE.read_text().replace(old, new))
    with manybody.forces.restored():
        law = manybody.forces.load(path)
    with pytest.raises(TypeError, match=f"law {law.key}: {message}"):
        check_answers(law)


def test_kernels_are_checked_before_a_run():
    @kernel
    def force_alone(overlap, radius, constants):
        return overlap

    law = replace(manybody.forces["hertz"], normal=force_alone)
    with pytest.raises(TypeError, match="law hertz: normal must return two floats, force and energy, got float64"):
        manybody.simulate(scene(law, (BALL, 1)), "spiral_leapfrog", 1e-7, t_end=1e-6)


def test_a_parameter_may_be_a_whole_number():
    assert LINEAR.with_parameters(stiffness=100000, friction=0).constants_of(MaterialPair(OXIDE, OXIDE))[0] == 0.0


def test_a_law_needs_what_it_declares():
    with pytest.raises(ValueError, match="one of the kernels normal and contact"):
        replace(TOTAL, normal=TOTAL.constants)
    with pytest.raises(ValueError, match="only a law with the kernel contact"):
        replace(manybody.forces["hertz"], history=2)
    with pytest.raises(TypeError, match="constants must return floats"):
        replace(TOTAL, constants=lambda pair, values: (1,))


# ---- materials, what cannot be ----


def test_materials_and_parameters_by_pair():
    steel, rubber = manybody.Material(7800.0, 2e11, 0.3), manybody.Material(1100.0, 1e7, 0.49)
    first, second = manybody.Clump.sphere(0.01, key="one"), manybody.Clump.sphere(0.01, key="two")
    made = scene(
        TOTAL,
        (first, 2),
        (second, 1),
        material=steel,
        materials={"two": rubber},
        walls="rigid",
        between={("two", "one"): {"friction": 0.1}, ("one", "wall"): {"friction": 0.9}},
    )
    kinds, constants = made.constants()
    assert kinds.tolist() == [0, 1] and constants[:, 0].tolist() == [0.5, 0.1, 0.9, 0.1, 0.5, 0.5]
    soft = 1 / ((1 - 0.3**2) / 2e11 + (1 - 0.49**2) / 1e7)
    reduced = [steel.reduced, soft, 2e11 / (1 - 0.3**2), soft, rubber.reduced, 1e7 / (1 - 0.49**2)]
    assert constants[:, 3] == pytest.approx(4 / 3 * np.array(reduced))
    shear = 1 / ((2 - 0.3) / steel.shear + (2 - 0.49) / rubber.shear)
    assert constants[1, 4] == pytest.approx(8 * shear) and constants[2, 4] == pytest.approx(8 * steel.shear / (2 - 0.3))
    with pytest.raises(ValueError, match="thre"):
        replace(made, between={("one", "thre"): {"friction": 0.1}}).constants()
    with pytest.raises(ValueError, match="frictoin"):
        replace(made, between={("one", "wall"): {"frictoin": 0.1}}).constants()


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="did you mean 'friction'"):
        TOTAL.with_parameters(fricton=0.1)
    with pytest.raises(ValueError, match="restitution must be at most 1"):
        TOTAL.with_parameters(restitution=1.5)
    with pytest.raises(ValueError, match="start must be 'touch' or 'whole'"):
        TOTAL.with_parameters(start="now")
    with pytest.raises(TypeError, match="friction must be a number"):
        TOTAL.with_parameters(friction="high")
    with pytest.raises(KeyError, match="hertz"):
        manybody.simulate("rods", "spiral_leapfrog", 1e-5, law="herz")
    lammps = TOTAL.as_in("LAMMPS")
    assert lammps.value("start") == "whole" and lammps.value("twirl") == "off" and TOTAL.value("start") == "touch"
    assert lammps.compiled_once is TOTAL
