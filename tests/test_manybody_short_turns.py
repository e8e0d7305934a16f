"""Steps over lanes without range reduction: the same bits, and what they cannot do is found and done again."""

import math

import numpy as np
import pytest
from conftest import thorough
from test_manybody_engine import in_plain_python

import polhode
from polhode import manybody
from polhode.algebra.quaternion import HALF_PI_SQUARED, cos_sinc, exponential
from polhode.compiling.kernel import kernel
from polhode.compiling.short_turns import short_cos_sinc, shortened
from polhode.manybody.engine import record
from polhode.manybody.simulation import run
from polhode.methods.protocol import OneTorque

SOFT = manybody.Material(density=1000.0, young=1e6, poisson=0.25)
SPHERE = manybody.Clump.sphere(0.05)
METHODS = polhode.methods
SHORT = ["spiral_leapfrog", "no_squish", "pcdm2016", "buss2000", "spiral_synchronous"]
#: Of kernels that compare, too, and of splittings whose rotors are in a module of their own; two of these in plain Python,
#: since a driver takes ten seconds to compile.
MARKED = ["adams_bashforth2_barker", "dlm1997_fasso", "rescaled_momentum"]
IN_PLAIN_PYTHON = ["dlm1997", "touma1994"]
SPEEDS = [(3.0, 3500.0), (3000.0, 3100.0), (200.0, 8000.0)]
#: Methods without cosine and sine; the exact rotor has them, and branches of which some could hide a NaN.
LONG = {
    "martys1999",
    "omelyan1999_momentum",
    "rozmanov2010",
    "adams_bashforth3",
    "adams_bashforth4",
    "calzavarini2010",
    "calzavarini2010_mean",
    "euler",
    "fincham1992",
    "fincham1992_delvalle2024",
    "fincham1992_yade",
    "johnson2008_delvalle2024",
    "lacoursiere2006",
    "moser_veselov",
    "moser_veselov4",
    "omelyan1998",
    "richardson",
    "verlet",
    "verlet_delvalle2024",
}


def test_polynomials_alone_have_equal_bits_to_a_right_angle():
    for x in [0.0, 5e-324, *np.linspace(0, HALF_PI_SQUARED, 1000), HALF_PI_SQUARED]:
        assert short_cos_sinc(float(x)) == cos_sinc(float(x))
    for x in (np.nextafter(HALF_PI_SQUARED, 3), 9.0, math.inf, math.nan):
        assert all(map(math.isnan, short_cos_sinc(float(x))))


@pytest.mark.parametrize("key", SHORT + thorough(*MARKED))
@pytest.mark.parametrize("speeds", SPEEDS)
def test_turns_beyond_a_right_angle_are_those_of_the_single_body(key, speeds):
    fly(key, speeds)


@pytest.mark.thorough
def test_turns_beyond_a_right_angle_in_plain_python():
    statement = "import test_manybody_short_turns as short\nfor key in short.IN_PLAIN_PYTHON:\n"
    in_plain_python(f"{statement}    for speeds in short.SPEEDS:\n        short.fly(key, speeds, n=20)")


def fly(key, speeds, n=200):
    """Spheres in free flight, of which some turn by more than pi in a step of 1 ms."""
    made = manybody.Scene(
        key="far", label="far", kinds=((SPHERE, 11),), material=SOFT, box=10.0, speed=0.01, spin=1.0, horizon=1.0
    )
    begin = made.initial_state(1)
    begin.omega[:] *= np.array(speeds)[np.arange(11) % 2, None]
    outcome = run(made, METHODS[key], 1e-3, begin, np.arange(0, n + 1, n // 10), record=True)
    assert outcome["energies"][:, 1].max() == 0, "no contact"
    for c in range(11):
        problem = polhode.problems["free_symmetric_top"].__class__(
            key="flight",
            label="flight",
            source="tests",
            body=SPHERE.body(SOFT.density),
            q0=tuple(begin.q[c]),
            omega0=tuple(begin.omega[c]),
            torque=lambda t, q, omega, parameters: (0.0, 0.0, 0.0),
            torque_class="free",
            horizon=1e-3 * n,
        )
        alone = polhode.simulate(problem, key, 1e-3, samples=10)
        np.testing.assert_array_equal(outcome["motion"][:, c, 6:10], alone.q)
        np.testing.assert_array_equal(outcome["motion"][:, c, 10:], alone.omega)


def test_a_turn_too_far_in_a_run_changes_no_bit():
    """Clumps that turn by hardly less than pi in a step, until a contact adds to it; against the run that looks at every pair,
    clump by clump, with the whole kernels."""
    clump = manybody.Clump.dimer(0.02, 0.02, 0.01)
    made = manybody.Scene(
        key="fast", label="fast", kinds=((clump, 9),), material=SOFT, box=0.3, speed=15.0, spin=1.0, horizon=1.0
    )
    begin, at, dt = made.initial_state(3), np.arange(0, 301, 4), 5e-4
    begin.omega[:] = 0.999998 * math.pi / dt, 0.0, 0.0
    with_list, every = (
        run(made, METHODS["spiral_leapfrog"], dt, begin, at, record=True, brute_force=slow) for slow in (False, True)
    )
    turns = np.linalg.norm(every["motion"][:, :, 10:], axis=2).max(1) * dt / 2
    assert (turns[:3] < math.pi / 2).all() and math.pi / 2 < turns.max() < 2 and every["diverged"] < 0
    for what in ("motion", "energies", "momenta"):
        np.testing.assert_array_equal(with_list[what], every[what])


def test_kernels_that_could_hide_what_is_no_number_stay_whole():
    @kernel
    def turned(state, body, dt):
        return exponential((state[0], state[1], state[2]))

    @kernel
    def chosen(state, body, dt):
        q = turned(state, body, dt)
        return q if q[0] > 0.5 else (1.0, 0.0, 0.0, 0.0)

    @kernel
    def least(state, body, dt):
        q = turned(state, body, dt)
        return (min(q[0], 1.0), q[1], q[2], q[3])

    @kernel
    def still(state, body, dt):
        return state

    (short,) = shortened(turned)
    angle = (1.0, 2.0, 0.5)
    assert short(angle, None, 0.1) == turned(angle, None, 0.1)
    assert all(map(math.isnan, short((9.0, 0.0, 0.0), None, 0.1)[:2]))
    for whole in (chosen, least, still):
        assert shortened(whole) is None
    assert shortened(turned, still) is not None and shortened(turned, chosen) is None


def test_the_methods_that_have_a_short_form():
    short = {
        key
        for key, method in METHODS.items()
        if isinstance(method, OneTorque) and shortened(method.before_torque, method.after_torque)
    }
    engine = {key for key, method in METHODS.items() if isinstance(method, OneTorque) and "many body" in method.engines}
    assert short & engine == engine - LONG - {key for key in engine if key.startswith("exact_rotor")}


def test_a_record_holds_nothing_twice():
    """A leapfrog hands out the q and r that it carries, position Verlet others."""
    width, of_state, of_moving = record(METHODS["spiral_leapfrog"], False)
    assert of_state[:4] == (3, 4, 5, 6) and of_moving[:3] == (0, 1, 2)
    places = [*range(37), *of_state, *of_moving]
    assert sorted(set(places)) == list(range(width))
    middle = METHODS["pcdm2013_mid"]
    assert record(middle, False)[2][:3] != (0, 1, 2) or record(middle, False)[1][:4] != (3, 4, 5, 6)
