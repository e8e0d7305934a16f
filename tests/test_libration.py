"""Linearised librations: against closed forms, against runs, and what they say of a liquid."""

import math
from dataclasses import replace

import numpy as np
import pytest

import polhode
from polhode.algebra.body import Body
from polhode.algebra.vector import scale
from polhode.compiling.kernel import kernel
from polhode.compiling.plain import in_plain_python
from polhode.fits.librations import energy_drift
from polhode.manybody.molecules import MOLECULES
from polhode.manybody.units import REAL
from polhode.methods import libration
from polhode.methods import spiral_leapfrog as spiral
from polhode.methods.plain_driver import plain_driver
from polhode_study.chapters.long_runs import run_librations as check
from polhode_study.chapters.spiral2024.run import omelyan_with

METHODS = polhode.methods
#: ln|lambda| and the relative shift of the frequency: powers and coefficients, and the limit of stability. Stoermer-Verlet has
#: cos(phi) = 1 - x^2/2; the classical Runge-Kutta scheme |lambda|^2 = 1 - x^6/72 + x^8/576; Adams' methods follow from their
#: series, and Magnus-Adams from the proof in the supplement. A kick by the torque at the start and a turn by the mean of both
#: angular velocities has the determinant 1 + x^2/2.
CLOSED = {
    "spiral_leapfrog": ((0, 0), (2, 1 / 24), 2),
    "exact_rotor": ((0, 0), (2, 1 / 24), 2),
    "verlet": ((0, 0), (2, 1 / 24), 2),
    "implicit_midpoint_iterated": ((0, 0), (2, -1 / 12), 2),
    "rk4": ((6, -1 / 144), (4, -1 / 120), 2 * math.sqrt(2)),
    "adams_bashforth3": ((4, -3 / 8), (4, None), None),
    "adams_bashforth4": ((6, -13 / 24), (4, -251 / 720), 0.43),
    "magnus_adams4": ((6, -5 / 16), (4, -7 / 40), 1.0127),
    "spiral_synchronous": ((2, 1 / 4), (2, None), 0),
}


@pytest.mark.parametrize("key", CLOSED)
def test_roots_are_those_of_closed_forms(key):
    *powers, limit = CLOSED[key]
    found = libration.libration(METHODS[key])
    for law, (power, coefficient) in zip((found.growth, found.shift), powers, strict=True):
        assert law.power == power
        assert coefficient is None or law.coefficient == pytest.approx(coefficient, rel=1e-5, abs=1e-12)
    assert limit is None or found.limit == pytest.approx(limit, abs=1e-4)


def test_the_modulus_of_runge_kutta_and_leapfrog_at_every_turn():
    for x in (0.3, 1.0, 1.9, 2.5):
        rk4 = math.sqrt(1 - x**6 / 72 + x**8 / 576)
        assert libration.growth(METHODS["rk4"], x) == pytest.approx(math.log(rk4), rel=1e-9)
        leapfrog = math.acosh(x * x / 2 - 1) if x > 2 else 0.0
        assert libration.growth(METHODS["spiral_leapfrog"], x) == pytest.approx(leapfrog, abs=1e-12)


@kernel
def pushed_away(state, torque, body, dt):
    return spiral.after_torque(state, scale(-1.0, torque), body, dt)


@kernel
def faster_about_one_axis(state, torque, body, dt):
    state = spiral.after_torque(state, torque, body, dt)
    omega = (3.0 * state[4], state[5], state[6])
    return state[:4] + omega


@kernel
def at_rest(state, torque, body, dt):
    return state


@kernel
def no_number(state, torque, body, dt):
    omega = (math.inf * 0.0 * state[4], state[5], state[6])
    return state[:4] + omega


def test_blown_up_or_still_methods_lose_librations():
    """The torque's sign turned around: lambda + 1/lambda = 2 + x^2. One axis whose omega is tripled in each step: about 3."""
    x = 0.1
    pushed, tripled, still, none = (
        replace(METHODS["spiral_leapfrog"], key="faulty", after_torque=after)
        for after in (pushed_away, faster_about_one_axis, at_rest, no_number)
    )
    sum_of_roots = 2 + x * x
    largest = (sum_of_roots + math.sqrt(sum_of_roots**2 - 4)) / 2
    assert libration.growth(pushed, x) == pytest.approx(math.log(largest), rel=1e-6)
    assert libration.growth(tripled, x) == pytest.approx(math.log(3), rel=0.01)
    assert libration.growth(still, x) == 0.0
    assert libration.caution(pushed) == libration.caution(tripled) == libration.UNSTABLE == "unstable at every step tried"
    assert libration.caution(still) == libration.ASTRAY
    with pytest.raises(ArithmeticError, match="numbers that are not finite"):
        libration.fault(none)
    assert libration.caution(none) == ""


@pytest.mark.parametrize("key", CLOSED)
def test_a_method_that_librates_has_no_fault(key):
    assert libration.fault(METHODS[key]) == ""


@pytest.mark.parametrize("key", ["magnus_adams4", "verlet", "moser_veselov", "fincham1992"])
def test_axes_librate_independently_in_any_body(key):
    turns = (0.3, 0.5, 0.8)
    together = np.linalg.eigvals(libration.step_matrix(METHODS[key], turns, Body((3.0, 0.9, 2.5))))
    for turn in turns:
        for root in libration.roots(METHODS[key], turn):
            assert np.abs(together - root).min() < 1e-7


@pytest.mark.parametrize("key", ["magnus_adams4", "pcdm2016", "rk4", "johnson2008", "munjiza2003", "no_squish"])
def test_a_run_grows_as_its_roots_say(key):
    """A libration of a millionth of a radian about all axes of a body, with the field as a function of the angle."""
    moments, x, steps, window = (1.0, 1.7, 2.3), 0.5, 300, 88
    method = METHODS[key]

    def torque(t, q, omega, parameters):
        size = math.sqrt(sum(c * c for c in q[1:]))
        angle = 2 * math.atan2(size, q[0]) / size if size else 2.0
        return tuple(-moment * x * x * angle * c for moment, c in zip(moments, q[1:], strict=True))

    driver = plain_driver(method, in_plain_python, torque, method.numbers_of(Body(moments)), 1.0)
    state, sizes = driver.start((1.0, 0.0, 0.0, 0.0), (1e-6, 2e-6, 3e-6)), []
    for n in range(steps + window):
        state = driver.step(state, n)
        q, omega = driver.read(state, n + 1)
        sizes.append(sum(moment * ((x * 2 * c) ** 2 + w * w) for moment, c, w in zip(moments, q[1:], omega, strict=True)))
    # Means over 88 steps, seven periods: the energy of a step oscillates.
    first, last = np.mean(sizes[:window]), np.mean(sizes[-window:])
    grown = math.log(last / first) / 2 / steps
    assert grown == pytest.approx(libration.growth(method, x), rel=0.01, abs=2e-6)


@pytest.fixture(scope="module")
def table():
    return check.librations({"methods": ["magnus_adams4", "rk4", "no_squish", "pcdm2016"], "seed": 2026})


def test_the_check_holds_what_the_roots_say(table):
    for key in map(str, table.integrator.values):
        found = libration.libration(METHODS[key])
        of_method = table.sel(integrator=key)
        assert (float(of_method.power), float(of_method.coefficient)) == found.growth
        assert float(of_method.limit) == found.limit
        at_one = libration.growth(METHODS[key], 1.0)
        assert float(of_method.growth.sel(turn=1.0, method="nearest")) == pytest.approx(at_one, abs=1e-12)


def test_a_liquid_loses_what_its_modes_lose(table):
    of_method = table.sel(integrator="magnus_adams4")
    curve = of_method.turn.values, of_method.growth.values, int(of_method.power)
    frequencies, weights, dt = np.array([0.01, 0.1, 0.17]), np.array([1.0, 2.0, 5.0]), 2.0
    exact = [2 * libration.growth(METHODS["magnus_adams4"], f * dt) / dt for f in frequencies]
    assert energy_drift(*curve, dt, frequencies, weights) == pytest.approx(np.average(exact, weights=weights), rel=2e-3)
    assert energy_drift(*curve, dt, frequencies) == pytest.approx(np.mean(exact), rel=2e-3)
    short = energy_drift(*curve, 1e-3, frequencies, weights)
    assert short == pytest.approx(-5 / 8 * np.average(frequencies**6, weights=weights) * 1e-3**5, rel=2e-2)
    with pytest.raises(ValueError, match="frequencies: 9 is a turn of 18"):
        energy_drift(*curve, dt, [0.1, 9.0])
    steady = table.sel(integrator="no_squish")
    assert energy_drift(steady.turn.values, steady.growth.values, int(steady.power), dt, frequencies) == 0


# --- at thermal amplitudes -----------------------------------------------------------------------------------------------


def test_the_molecule_s_field_is_its_potential_s_gradient():
    q = np.array([0.9, 0.2, -0.3, 0.1]) / np.linalg.norm([0.9, 0.2, -0.3, 0.1])

    def potential(turn):
        a, v = q[0], q[1:]
        # q (1, turn/2), to first order
        return 2 * 3.0 * np.sum((v + 0.5 * (a * turn + np.cross(v, turn))) ** 2)

    steps = 1e-6 * np.eye(3)
    slopes = [(potential(step) - potential(-step)) / 2e-6 for step in steps]
    assert check.field(0.0, tuple(q), None, (3.0,)) == pytest.approx([-slope for slope in slopes], rel=1e-8)


def test_librations_heat_with_the_cube_of_the_step_or_never():
    def drift(method, dt):
        return check.thermal_drift(method, dt, seed=2026)

    (first, error), (second, _) = (drift(METHODS["spiral_leapfrog"], dt) for dt in (1.0, 2.0))
    assert first > 3 * error
    assert second / first == pytest.approx(8, rel=0.2)
    for method in (METHODS["no_squish"], METHODS["moser_veselov"]):
        at_rest, error = drift(method, 2.0)
        assert abs(at_rest) < min(3 * error, 0.01 * second)
    # The iteration that stops after three rounds is what cools.
    three, converged = (drift(method, 4.0)[0] for method in (METHODS["omelyan1998"], omelyan_with(12)))
    assert three < 0 and abs(converged) < 0.1 * abs(three)
    assert drift(METHODS["catto2015"], 2.0)[0] == math.inf


@pytest.mark.thorough
def test_water_drains_as_its_librations_say():
    """Of 64 molecules the spectrum of the angular velocities predicts how fast Magnus-Adams 4 takes energy out."""
    steady = polhode.manybody.simulate("water64", "exact_rotor", 1.0, t_end=2048.0, samples=2048, record=True)
    kinetic = np.sqrt(MOLECULES["spce"].inertia) * steady.omega.values[1:]
    window = np.hanning(len(kinetic))[:, None, None]
    spectrum = (np.abs(np.fft.rfft(window * (kinetic - kinetic.mean(0)), axis=0)) ** 2).sum((1, 2))
    frequencies = 2 * math.pi * np.fft.rfftfreq(len(kinetic), 1.0)
    librations = frequencies < 2000 * check.WAVE_NUMBER
    method, dt = METHODS["magnus_adams4"], 2.0
    curve = libration.TURNS, [libration.growth(method, float(x)) for x in libration.TURNS], libration.laws(method)[0].power
    predicted = 64 * 3 * 300.0 * REAL.boltzmann * energy_drift(*curve, dt, frequencies[librations], spectrum[librations])
    run = polhode.manybody.simulate("water64", method.key, dt, t_end=1600.0, samples=200)
    assert np.polyfit(run.time.values, run.energy.values, 1)[0] == pytest.approx(predicted, rel=0.25)
