"""Walls that move and periodic sides: closed forms, the work of walls, the plain step and neighbour lists."""

from dataclasses import replace
from math import cos, inf, pi, sin, sqrt
from typing import Any

import numpy as np
import pytest
from same_bits import CONTACTS, as_plain_steps, both_ways
from scipy.integrate import solve_ivp

import polhode
from polhode import manybody
from polhode.manybody import Drum, Shaking
from polhode.manybody.simulation import run

METHODS = polhode.methods
R, G = 0.005, 9.81
SOFT = manybody.Material(density=2500.0, young=1e6, poisson=0.3)
BALL, DIMER = manybody.Clump.sphere(R), manybody.Clump.dimer(R, R, 0.006)
TOTAL, LINEAR = manybody.forces["hertz_mindlin_tsuji"], manybody.forces["linear_spring_dashpot"]
MASS = SOFT.density * 4 / 3 * pi * R**3


def scene(law, *kinds, **others):
    values = {"material": SOFT, "walls": "rigid", "box": 0.06, "speed": 0.3, "spin": 20.0, "horizon": 1.0} | others
    return manybody.Scene(key="test", label="test", kinds=kinds, law=law, **values)


def alone(r, v=(0, 0, 0), omega=(0, 0, 0), q=(1, 0, 0, 0)):
    return manybody.State(*(np.array([x], float) for x in (r, v, q, omega)))


#: Drums about each axis, shaken and not, and a shaken box; the law, and a method for each time of the torque.
MOVING: dict[str, tuple[dict[str, Any], Any, str]] = {
    "a drum": ({"drum": Drum(0.03, 4.0)}, TOTAL.with_parameters(friction=0.4), "spiral_leapfrog"),
    "a shaken drum": (
        {"drum": Drum(0.03, -9.0, "z"), "shaking": Shaking(2e-3, 30.0, (1, 0, 1))},
        TOTAL.with_parameters(friction=0.8, restitution=0.5),
        "verlet",
    ),
    "a shaken box": ({"box": 0.05, "shaking": Shaking(3e-3, 40.0, (0.2, -0.5, 1))}, TOTAL, "spiral_dkd"),
    "an elastic drum": ({"drum": Drum(0.03, 4.0, "x"), "shaking": Shaking(2e-3, 30.0)}, "hertz", "spiral_leapfrog"),
}


#: Boxes with periodic sides likewise; some so narrow that a list has one cell along an axis.
PERIODIC: dict[str, tuple[dict[str, Any], Any, str]] = {
    "a floor": ({"periodic": ("x", "y"), "box": 0.05}, TOTAL.with_parameters(friction=0.4), "spiral_leapfrog"),
    "a drum without ends": ({"periodic": ("y",), "drum": Drum(0.03, 4.0)}, TOTAL, "verlet"),
    "no walls": ({"periodic": ("x", "y", "z"), "box": 0.045, "speed": 2.0}, "hertz", "spiral_dkd"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*MOVING, *PERIODIC])
def test_the_plain_step_has_the_bits_of_moving_walls(name):
    others, law, key = {**MOVING, **PERIODIC}[name]
    made = scene(law, (DIMER, 6), gravity=(0.0, 3.0, -9.0), **others)
    assert as_plain_steps(made, key, 1e-4, made.initial_state(1), 600)[CONTACTS] > 100


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*MOVING, *PERIODIC])
@pytest.mark.parametrize("key", ["spiral_leapfrog", "magnus_adams4"])
def test_lists_and_samples_change_no_bit_with_moving_walls(name, key):
    others, law, _ = {**MOVING, **PERIODIC}[name]
    made = scene(law, (DIMER, 24), gravity=(0.0, 3.0, -9.0), **others)
    listed = both_ways(made, key, 1e-4, made.initial_state(1), np.arange(0, 3001, 100), few=True)
    assert listed["work"][CONTACTS] > 3_000 and 3 < listed["work"][0] < 2_000


# ---- closed forms ----


def test_a_dimer_pressed_to_the_wall_turns_with_the_drum():
    """Without gravity, faster than it could fall off: drum and dimer are one rigid body, and no work is done."""
    rate, radius = 30.0, 0.04
    drum = Drum(radius, rate, "y")
    made = scene(TOTAL.with_parameters(friction=inf), (DIMER, 1), drum=drum)
    # Both spheres along the axis of the drum, each pressed by half of the centrifugal force.
    (body,) = (clump.body(SOFT.density) for clump, _ in made.clumps)
    stiff = 4 / 3 * SOFT.young / (1 - SOFT.poisson**2) * sqrt(R)
    overlap = 0.0
    for _ in range(50):
        overlap = (0.5 * body.mass * rate**2 * (radius - R + overlap) / stiff) ** (2 / 3)
    at = radius - R + overlap
    begin = alone((at, 0, 0), (0, 0, -rate * at), q=(sqrt(0.5), 0, 0, sqrt(0.5)), omega=(rate, 0, 0))
    data = manybody.simulate(made, "spiral_leapfrog", 2e-5, state=begin, t_end=0.1, samples=50, record=True)
    angle = rate * data.time.values
    exact = at * np.stack([np.cos(angle), 0 * angle, -np.sin(angle)], axis=1)
    assert np.abs(data.r.values[:, 0] - exact).max() < 1e-6 * at
    assert np.abs(data.omega.values[:, 0] - [rate, 0, 0]).max() < 1e-4 * rate
    assert abs(data.work_of_walls).max() < 1e-6 * data.kinetic[0] and abs(data.closure).max() < 1e-6


def test_a_ball_rolls_to_and_fro_at_the_bottom_of_a_turning_drum():
    """(7/5) (D - R) theta'' = -g sin(theta) for any speed of the drum, with the spin that rolling asks for."""
    rate, radius, start = 3.0, 0.05, 0.5
    stiff = replace(SOFT, young=1e8)
    made = scene(
        TOTAL.with_parameters(friction=inf, restitution=0.3),
        (BALL, 1),
        material=stiff,
        drum=Drum(radius, rate, "y"),
        box=0.08,
        gravity=(0.0, 0.0, -G),
    )
    sunk = (MASS * G * cos(start) / (4 / 3 * stiff.young / (1 - stiff.poisson**2) * sqrt(R))) ** (2 / 3)
    length = radius - R + sunk
    # Positive angles are those to which a positive rate carries the bottom, towards -x.
    begin = alone((-length * sin(start), 0, -length * cos(start)), omega=(0, rate * radius / R, 0))
    data = manybody.simulate(made, "spiral_leapfrog", 1e-5, state=begin, t_end=0.8, samples=80, record=True)
    angle = np.arctan2(-data.r[:, 0, 0], -data.r[:, 0, 2]).values
    exact = solve_ivp(
        lambda t, y: [y[1], -5 / 7 * G / (radius - R) * sin(y[0])], (0, 0.8), [start, 0.0], t_eval=data.time, rtol=1e-9
    )
    assert np.abs(angle - exact.y[0]).max() < 2e-3 * start
    rolling = (rate * radius - (radius - R) * exact.y[1]) / R
    assert np.abs(data.omega[:, 0, 1] - rolling).max() < 5e-3 * rate * radius / R
    assert np.ptp(data.work_of_walls.values) > 0.03 * MASS * G * length, "friction along the wall, then against it"
    assert abs(data.closure).max() < 1e-3


@pytest.mark.parametrize(("method", "order"), [("spiral_leapfrog", 2), ("spiral_dkd", 2), ("magnus_adams4", 4)])
def test_a_ball_on_a_shaken_floor_is_a_driven_oscillator(method, order):
    """With a linear spring and a floor that it never leaves: x'' = -g + (k/m) (s(t) - x), with s = A sin(w t).

    Of a multistep method all stages of the first steps see the floor at their own times.
    """
    stiffness, amplitude, frequency = 1000.0, 3e-6, 60.0
    w0, w = sqrt(stiffness / MASS), 2 * pi * frequency
    law = LINEAR.with_parameters(stiffness=stiffness, restitution=1.0, friction=0.0)
    made = scene(law, (BALL, 1), gravity=(0.0, 0.0, -G), shaking=Shaking(amplitude, frequency))
    begin = alone((0, 0, R - 0.03 - G / w0**2))
    largest = []
    for dt in (8e-5, 4e-5):
        data = manybody.simulate(made, method, dt, state=begin, t_end=0.032, samples=20, record=True)
        forced = amplitude * w0**2 / (w0**2 - w**2)
        exact = forced * (np.sin(w * data.time.values) - w / w0 * np.sin(w0 * data.time.values))
        largest.append(np.abs(data.r.values[:, 0, 2] - begin.r[0, 2] - exact).max() / amplitude)
        assert abs(data.closure).max() < 1e-5
    assert largest[1] < 2e-3 and np.log2(largest[0] / largest[1]) == pytest.approx(order, abs=0.1)


def test_a_moving_floor_returns_balls_by_the_law():
    """v' = u + e (u - v) with the velocity u of the floor, and the floor's work is force times path: m u (v' - v)."""
    amplitude, frequency, speed, e = 0.01, 1.0, 0.5, 0.6
    law, stiff = TOTAL.with_parameters(restitution=e), replace(SOFT, young=1e9)
    made = scene(law, (BALL, 1), material=stiff, shaking=Shaking(amplitude, frequency))
    begin = alone((0, 0, R - 0.03 + 1e-4), (0, 0, -speed))
    data = manybody.simulate(made, "spiral_leapfrog", 2e-7, state=begin, t_end=1e-3, samples=4, record=True)
    u = 2 * pi * frequency * amplitude
    after = u + e * (u + speed)
    assert float(data.v[-1, 0, 2]) == pytest.approx(after, rel=2e-3)
    assert float(data.work_of_walls[-1]) == pytest.approx(MASS * u * (after + speed), rel=2e-3)


# ---- periodic sides ----


@pytest.mark.parametrize("box", [0.1, 0.22])
def test_lists_change_no_bit_of_many_clumps_with_periodic_sides(box):
    """One cell and more along the axes."""
    made = scene("hertz", (DIMER, 100), speed=3.0, box=box, periodic=("x", "z"))
    listed = both_ways(made, "spiral_leapfrog", 5e-5, made.initial_state(1), np.arange(0, 1201, 100))
    assert listed["work"][CONTACTS] > 500 and 3 < listed["work"][0] < 600
    assert np.abs(listed["motion"][-1, :, [0, 2]]).max() > box / 2, "clumps cross sides"
    assert listed["energies"][0, 1] == 0, "clumps start clear of each other, also across sides"


def test_a_list_holds_for_the_image_that_was_not_the_nearest():
    """Two rods in line that nearly fill a period: one leaves the end of the other and comes to its other end."""
    rods = manybody.Clump.rod(3, R, 0.01)
    made = scene("hertz", (rods, 2), box=0.061, periodic=("x", "y", "z"))
    v = np.array([[0.0, 0, 0], [1.0, 0, 0]])
    begin = manybody.State(0.03049 * v, v, np.tile([1.0, 0, 0, 0], (2, 1)), 0 * v)
    assert both_ways(made, "spiral_leapfrog", 2e-5, begin, np.array([0, 200]))["work"][CONTACTS] > 20


def test_an_impact_across_a_side_is_one_in_the_middle():
    """To round-off: two clumps that meet across a corner, and the same two elsewhere, or some periods apart."""
    made = scene(TOTAL, (DIMER, 2), box=0.05, periodic=("x", "y", "z"))
    r = np.array([[0.006, 0.001, 0.0], [-0.006, 0.0, 0.001]])
    start = manybody.State(r, -20 * r, np.array([[1.0, 0, 0, 0], [0.6, 0, 0.8, 0]]), np.full((2, 3), 9.0))
    moved = [
        run(made, METHODS["spiral_leapfrog"], 2e-5, replace(start, r=r + by), np.array([0, 1000]), record=True)
        for by in (np.zeros(3), np.full(3, 0.025), np.array([[0.1, 0, -0.05], [-0.05, 0.05, 0]]))
    ]
    assert moved[0]["work"][4] > 50
    for other in moved[1:]:
        change = (outcome["motion"][-1] - outcome["motion"][0] for outcome in (moved[0], other))
        np.testing.assert_allclose(*change, atol=1e-9)
        assert other["work"][4] == moved[0]["work"][4]


def test_momentum_is_kept_along_periodic_sides():
    made = scene(TOTAL, (DIMER, 30), box=0.05, speed=1.0, periodic=("x", "y"), walls=SOFT)
    smooth = replace(made, between={("dimer", "wall"): {"friction": 0.0}})
    momenta = run(smooth, METHODS["spiral_leapfrog"], 5e-5, made.initial_state(0), np.arange(0, 2001, 100))["momenta"]
    assert np.ptp(momenta[:, 2]) > 0.1 * MASS, "the floor pushes"
    np.testing.assert_allclose(momenta[:, :2], np.tile(momenta[0, :2], (len(momenta), 1)), atol=1e-12 * MASS * 30)


def test_periodic_sides_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match=r"'sphere' could touch two images .* longer than 0\.02 m"):
        scene("hertz", (BALL, 1), periodic=("x",), box=0.02).initial_state(0)
    made = scene("hertz", (BALL, 2), periodic=("x",))
    r = np.array([[0.029, 0, 0], [-0.03 - 0.002 + 0.06, 0, 0]])
    for by in (0.0, 0.06, -0.12):
        begin = manybody.State(r + np.array([[by, 0, 0], [0, 0, 0]]), 0 * r, np.tile([1.0, 0, 0, 0], (2, 1)), 0 * r)
        with pytest.raises(ValueError, match="interpenetrate"):
            manybody.simulate(made, "spiral_leapfrog", 1e-5, state=begin)


# ---- the ledger ----


@pytest.mark.parametrize("name", MOVING)
def test_the_ledger_closes_with_the_work_of_the_walls(name):
    others, law, key = MOVING[name]
    made = scene(law, (DIMER, 12), gravity=(0.0, 0.0, -G), **others)
    coarse, fine = (manybody.simulate(made, key, dt, seed=1, t_end=0.3, samples=30) for dt in (4e-5, 1e-5))
    scale = float(abs(fine.work_of_walls).max())
    assert scale > 0.02 * float(fine.energy[0]), "the walls do work"
    assert abs(fine.closure).max() < 0.02 * scale / float(fine.energy[0])
    assert abs(fine.closure).max() < 0.6 * abs(coarse.closure).max()


def test_walls_at_rest_do_no_work_and_compile_nothing_more():
    made = scene("hertz", (DIMER, 6), drum=Drum(0.03, 0.0))
    data = manybody.simulate(made, "spiral_leapfrog", 5e-5, t_end=0.05, samples=5)
    assert "work_of_walls" not in data and "closure" not in data and abs(data.energy_error).max() < 1e-2
    assert data.attrs["drum_radius"] == 0.03 and data.contact_steps > 0


# ---- what cannot be ----


def test_clumps_start_inside_the_drum():
    made = scene("hertz", (DIMER, 20), drum=Drum(0.035, 1.0, "z"))
    r, q = (getattr(made.initial_state(4), name) for name in "rq")
    data = manybody.simulate(made, "spiral_leapfrog", 1e-6, seed=4, t_end=1e-6, samples=1)
    assert data.potential[0] == 0, "no sphere touches a wall or another"
    assert np.hypot(r[:, 0], r[:, 1]).max() > 0.022 and np.abs(r[:, 2]).max() < 0.03 - R
    with pytest.raises(ValueError, match=r"outside the drum of radius 0\.035 m about the z axis"):
        manybody.simulate(made, "spiral_leapfrog", 1e-6, state=manybody.State(2 * r, 0 * r, q, 0 * r))
    with pytest.raises(manybody.BoxTooFull, match=r"drum of 0\.06 m"):
        replace(made, kinds=((DIMER, 40),), drum=Drum(0.013, 1.0)).initial_state(0)
    assert len(made.scaled(40)) == 40 and made.scaled(40).solid_fraction == pytest.approx(made.solid_fraction)
