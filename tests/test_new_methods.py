"""SPIRAL with a predicted angular velocity and as kick, drift, kick: what is derived for them, against runs.

Orders on all classes of torque are in test_orders.py, those of a body that also moves in test_translation.py.
"""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import pairwise

import mpmath
import numpy as np
import pytest
import scipy.integrate
import test_manybody_engine
from conftest import make

import polhode
from polhode.algebra import metrics
from polhode.algebra.quaternion import to_body, to_lab
from polhode.manybody import simulation
from polhode.methods import translation
from polhode.methods.predictor import HOLD, damped, secant_rate
from polhode.methods.spiral_leapfrog import kick
from polhode.problems.problem import Problem
from polhode_study.chapters.long_runs import run as long_checks
from polhode_study.chapters.seelen2016 import run as friction_check
from polhode_study.run import check

METHODS = polhode.methods
PREDICTED = ("spiral_predicted", "spiral_predicted_last")
#: The single bodies whose torque does not depend on omega.
WITHOUT_FRICTION = [
    key
    for key, p in polhode.problems.items()
    if isinstance(p, Problem) and p.torque_class in ("free", "constant", "time", "lab", "state")
]
PAIR = polhode.problems["coupled_cylinders"]
SPHERE, UPRIGHT = polhode.Body((1.0, 1.0, 1.0)), (1.0, 0.0, 0.0, 0.0)


def dense_friction(t, q, omega, parameters):
    """-C omega with a full matrix C, by rows."""
    x, y, z = omega
    c = parameters
    return (
        -(c[0] * x + c[1] * y + c[2] * z),
        -(c[3] * x + c[4] * y + c[5] * z),
        -(c[6] * x + c[7] * y + c[8] * z),
    )


def sphere_with(matrix, omega0):
    """A sphere of moment one under this friction: no gyroscopic term."""
    parameters = {f"c{i}": float(c) for i, c in enumerate(np.ravel(matrix))}
    return make("dense", dense_friction, "velocity", parameters, body=SPHERE, omega0=tuple(map(float, omega0)), q0=UPRIGHT)


def sliding(method, z, steps):
    """The sliding velocity of the two cylinders at every step of dt = z / k, in units of the first."""
    dt = z / friction_check.decay_rate(PAIR)
    omega = polhode.simulate(PAIR, method, dt, steps * dt, samples=steps).omega.values[:, :, 0]
    v = PAIR.parameters["R1"] * omega[:, 0] + PAIR.parameters["R2"] * omega[:, 1]
    return v / v[0]


# Where the torque does not depend on omega


@pytest.mark.parametrize("problem", WITHOUT_FRICTION)
@pytest.mark.parametrize("key", PREDICTED)
def test_the_bits_are_those_of_spiral_without_friction(key, problem):
    dt = polhode.problems[problem].horizon / 512
    first, other = (polhode.simulate(problem, m, dt, samples=64) for m in (key, "spiral_leapfrog"))
    for name in ("q", "omega", "stored_omega"):
        assert first[name].values.tobytes() == other[name].values.tobytes(), name


@pytest.mark.parametrize("key", PREDICTED)
def test_with_friction_they_are_not(key):
    first, other = (polhode.simulate("damped_top", m, 1e-2, samples=1).omega.values[-1] for m in (key, "spiral_leapfrog"))
    assert np.abs(first - other).max() > 1e-4


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "plain"), [("LEAPFROG_PREDICTED", "LEAPFROG"), ("LEAPFROG_SECANT", "LEAPFROG"), ("VERLET_SECANT", "VERLET")]
)
def test_a_centre_without_drag_moves_as_with_the_plain_scheme(name, plain):
    ends = []
    for scheme in (getattr(translation, name), getattr(translation, plain)):
        state = scheme.start((1.0, 0.3, -0.2), (0.1, 0.7, 0.4), (-2.0, -0.6, 0.4), 2.0, 0.05)
        for _ in range(100):
            state, r, _ = scheme.before_force(state, 2.0, 0.05)
            state = scheme.after_force(state, tuple(-2.0 * x for x in r), 2.0, 0.05)
        ends.append(scheme.read(state, (0.0, 0.0, 0.0), 2.0, 0.05))
    assert ends[0] == ends[1]


@pytest.mark.thorough
def test_many_bodies_move_as_with_spiral_to_the_last_bit():
    """Contacts do not depend on omega. In plain Python: a driver takes ten seconds to compile."""
    test_manybody_engine.in_plain_python("import test_new_methods\ntest_new_methods.many_bodies_move_as_with_spiral()")


def many_bodies_move_as_with_spiral():
    made, begin = test_manybody_engine.crowd(np.random.default_rng(8), 8)
    at = test_manybody_engine.steps_to(40, 2)
    runs = {
        key: simulation.run(made, METHODS[key], 2e-3, begin, at, record=True)
        for key in ("spiral_leapfrog", "omelyan1998", *PREDICTED)
    }
    spiral, other = runs.pop("spiral_leapfrog"), runs.pop("omelyan1998")
    assert np.count_nonzero(spiral["energies"][:, 1]) > 3, "contacts"
    assert not np.array_equal(spiral["motion"], other["motion"])
    for key, run in runs.items():
        for name in ("motion", "energies", "momenta"):
            np.testing.assert_array_equal(run[name], spiral[name], key)


def test_the_engine_keeps_its_fast_steps():
    from polhode.compiling.short_turns import shortened

    for key in (*PREDICTED, "spiral_kdk"):
        assert shortened(METHODS[key].before_torque, METHODS[key].after_torque) is not None, key


@pytest.mark.thorough
def test_kick_drift_kick_loses_energy_with_the_square_of_steps():
    test_manybody_engine.test_the_energy_error_is_of_second_order("spiral_kdk")


# The predictor


def test_the_rate_is_that_of_friction_and_zero_against_it():
    body = polhode.Body((0.8, 1.3, 1.9)).coefficients()
    inertia, rng = np.array(body[:3]), np.random.default_rng(3)
    for _ in range(20):
        old, new, pull = rng.normal(size=(3, 3))
        torques = [tuple(-0.7 * inertia * w + pull) for w in (new, old)]
        assert secant_rate(*torques, tuple(new), tuple(old), body) == pytest.approx(0.7, rel=1e-12)
        driving = [tuple(0.7 * inertia * w + pull) for w in (new, old)]
        assert secant_rate(*driving, tuple(new), tuple(old), body) < 1e-12
        torques = rng.normal(size=(2, 3))
        change = new - old
        wanted = max(0.0, -(torques[0] - torques[1]) @ change / (change @ (inertia * change)))
        assert secant_rate(*map(tuple, torques), tuple(new), tuple(old), body) == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    same = (1.0, 2.0, 3.0)
    assert 0 <= secant_rate(same, same, same, same, body) < 1e-9
    assert math.isfinite(secant_rate((9.0, 0.0, 0.0), same, same, same, body))


def test_the_prediction_lies_between_last_and_explicit():
    last, explicit = (1.0, -2.0, 0.5), (1.5, -1.0, 0.4)
    assert damped(explicit, last, 0.0, 0.1) == pytest.approx(explicit, rel=1e-15)
    assert damped(explicit, last, 1e200, 0.1) == pytest.approx(last, rel=1e-15)
    # e = w + dt/2 (m - k (x - l)) with w, m from the explicit one: x is the solution of the implicit half kick.
    x = damped(explicit, last, 7.0, 0.1)
    for i in range(3):
        assert x[i] == pytest.approx(explicit[i] - 0.05 * 7.0 * (x[i] - last[i]), rel=1e-14)


# Stability under friction


def predicted_from(*weights, memory=0):
    """The weights of v_0, v_1 ... in u = v_0 + 1/2 sum_j w_j m_j, the torques m_j = v_j - v_(j+1), and those of earlier u."""
    of_v = [Fraction(1) + Fraction(weights[0]) / 2 if weights else Fraction(1)]
    of_v += [(Fraction(after) - Fraction(before)) / 2 for before, after in pairwise((*weights, 0))]
    return (lambda z: of_v), memory


def memory(share):
    """u = (3-g)/2 v - (1+g)/2 (v - m_0) + g u_0."""
    return (lambda z: [(3 - share) / 2, -(1 + share) / 2]), share


def secant(part):
    """(1 + s z/2) u = v + (1-s)/2 m_0: the torque (1-s) m_0 + s m in the half kick; s = 1 in the method."""
    return (lambda z: [x / (1 + part * z / 2) for x in ((3 - part) / 2, (part - 1) / 2)]), 0


def polynomial(predictor, z):
    """From the highest power, of v_(n+1) = v_n - z u_n with u_n = sum_i a_i v_(n-i) + g u_(n-1)."""
    of_v, share = predictor
    a = list(of_v(z))
    coefficients = [1, -1 - share, share, *[0] * (len(a) - 1)]
    for i, weight in enumerate(a):
        coefficients[i + 1] += z * weight
    return coefficients


def largest_root(predictor, z):
    return float(np.abs(np.roots([float(x) for x in polynomial(predictor, z)])).max())


#: Predictors of the text: the order, the error constant and the largest stable z that it states.
SHARE, PART = Fraction(1, 3), Fraction(3, 4)
PREDICTORS = {
    "none": (predicted_from(), 1, -1 / 2, 2),
    "last": (predicted_from(1), 2, 5 / 12, 1),
    "mean": (predicted_from("1/2", "1/2"), 2, 2 / 3, 2),
    "three": (predicted_from("1/20", "13/20", "6/20"), 2, 25 / 24, 20 / 7),
    "extrapolated": (predicted_from("11/6", "-5/6"), 3, -3 / 8, 6 / 11),
    "memory": (memory(SHARE), 2, 1 / 24 + (3 + 1 / 3) / (8 * (1 - 1 / 3)), 4 / 3),
    "secant, three quarters": (secant(PART), 2, 1 / 8 - 1 / 12, 4),
    "secant": (secant(Fraction(1)), 2, -1 / 12, math.inf),
}


@pytest.mark.parametrize("key", PREDICTORS)
def test_predictors_have_the_limits_and_constants_of_the_text(key):
    """Roots of the polynomial on both sides of the limit, and that near exp(-z) in sixty digits."""
    predictor, order, constant, limit = PREDICTORS[key]
    for z in (0.3, 0.99 * min(limit, 100)):
        assert largest_root(predictor, z) < 1
    assert math.isinf(limit) or largest_root(predictor, 1.01 * limit) > 1
    with mpmath.workdps(60):
        z = Fraction(1, 10**9)
        exact = [mpmath.mpf(c.numerator) / c.denominator for c in map(Fraction, polynomial(predictor, z))]
        z = mpmath.mpf(1) / 10**9
        root = mpmath.findroot(lambda x: sum(c * x**i for i, c in enumerate(reversed(exact))), mpmath.exp(-z))
        assert float((mpmath.log(root) + z) / z ** (order + 1)) == pytest.approx(constant, rel=1e-6)


@pytest.mark.parametrize("share", [-0.5, 0.25, 0.75])
def test_memory_and_secants_in_closed_form(share):
    for predictor, limit in ((memory(share), 1 + share), (secant(abs(share)), 1 / (1 - abs(share)))):
        assert largest_root(predictor, limit - 1e-6) < 1 < largest_root(predictor, limit + 1e-6)


def test_decaying_torques_are_accurate_and_no_more_stable():
    """u = v + 1/2 m_0 |m_0/m_1|^(3/4): error constant 1/24, limit 1."""

    def end(z, steps):
        v, torques = 1.0, (-z * math.exp(0.5 * z), -z * math.exp(1.5 * z))
        for _ in range(steps):
            u = v + 0.5 * torques[0] * abs(torques[0] / torques[1]) ** 0.75
            v, torques = v - z * u, (-z * u, torques[0])
        return v

    assert (math.log(end(0.01, 200)) / 200 + 0.01) / 0.01**3 == pytest.approx(1 / 24, rel=0.01)
    assert abs(end(0.95, 400)) < 1e-3 and not abs(end(1.05, 400)) < 1


def coupled_decay(z, rates, steps, seed, bodies=1):
    """The norm of v over a run of the secant where friction couples everything, in units of its start.

    Friction is a full symmetric matrix with these rates in random directions. Each body of moment one has the secant of its own
    torque and angular velocity, as in the methods; z is the largest rate times dt.
    """
    random = np.random.default_rng(seed)
    axes = np.linalg.qr(random.standard_normal((len(rates), len(rates))))[0]
    matrix = z / max(rates) * axes @ np.diag(rates) @ axes.T
    u, rate = random.standard_normal(len(rates)), np.full((bodies, 1), HOLD)
    torque = -matrix @ u
    v = u - 0.5 * torque
    size = [np.linalg.norm(v)]
    for _ in range(steps):
        new = u + ((v + 0.5 * torque - u).reshape(bodies, 3) / (1 + 0.5 * rate)).ravel()
        change, acted = (new - u).reshape(bodies, 3), -matrix @ new
        work = ((torque - acted).reshape(bodies, 3) * change).sum(1, keepdims=True)
        rate = np.maximum(work, 0.0) / ((change * change).sum(1, keepdims=True) + 1e-130)
        u, torque = new, acted
        v = v + torque
        size.append(np.linalg.norm(v))
    return np.array(size) / size[0]


# One corrector without a new torque


def one_corrector(z, steps, *, last_torque=False, secant_of_corrected=False, corrected_torque=False):
    """v at the half steps under friction, written down anew: predict, evaluate, correct, and hand on; begun at rest before.

    Of the correction the torque is handed on, or only the angular velocity, from which the next prediction then starts.
    """
    v, u, m, c, kappa, velocities = 1.0, 1.0, -z, 1.0, 0.0, [1.0]
    for _ in range(steps):
        # u = v + (m - kappa (u - start)) / 2, solved for u
        torque = m - kappa * (c - u) if corrected_torque else m
        new = v + torque / 2 if last_torque else (v + (torque + kappa * c) / 2) / (1 + kappa / 2)
        evaluated = -z * new
        middle, v = v + evaluated / 2, v + evaluated
        change = middle - c if secant_of_corrected else new - u
        kappa = max(0.0, (m - evaluated) / change) if change else 0.0
        u, m, c = new, evaluated, middle
        velocities.append(v)
    return np.array(velocities)


@pytest.mark.parametrize(
    ("chosen", "coefficients", "constant"),
    [
        ({"last_torque": True, "corrected_torque": True}, lambda z: (1, z - 1 - z * z / 4, -z * z / 4), 5 / 12),
        ({}, lambda z: (1 + z / 2, z + z * z / 4 - 1, z * z / 4 - z / 2), -1 / 12),
    ],
)
def test_one_corrector_is_stable_below_two(chosen, coefficients, constant):
    """The polynomial, the error constant and the limit, from a run of predict, evaluate, correct."""
    for z in (0.3, 1.2, 1.9):
        v = one_corrector(z, 40, **chosen)
        a, b, c = coefficients(z)
        np.testing.assert_allclose(a * v[6:] + b * v[5:-1] + c * v[4:-2], 0, atol=1e-12 * np.abs(v).max())
    z = 0.01
    v = one_corrector(z, 300, **chosen)
    assert (math.log(v[300] / v[100]) / 200 + z) / z**3 == pytest.approx(constant, rel=0.02)
    assert abs(one_corrector(1.99, 6000, **chosen)[-1]) < 1e-3 < 1e3 < abs(one_corrector(2.01, 6000, **chosen)[-1])


@pytest.mark.parametrize("z", [0.3, 1.5, 4.0])
def test_secants_change_no_prediction_they_correct(z):
    v = one_corrector(z, 12, corrected_torque=True)
    np.testing.assert_allclose(v[4:] / v[3:-1], (1 - z / 2) / (1 + z / 2), rtol=1e-9)


def test_in_space_the_corrected_torque_is_on_the_secant():
    """Of a sphere, which has no gyroscopic term: the same prediction from both ends, whatever they are."""
    body, rng, dt, rate = polhode.Body((1.3, 1.3, 1.3)).coefficients(), np.random.default_rng(5), 0.1, 7.0
    v, star, torque = map(tuple, rng.normal(size=(3, 3)))
    omega = kick(v, torque, body, -0.5 * dt)
    moved = tuple(m - rate * i * (c - s) for m, i, c, s in zip(torque, body, omega, star, strict=False))
    first, other = (damped(kick(v, m, body, 0.5 * dt), w, rate, dt) for m, w in ((torque, star), (moved, omega)))
    assert first == pytest.approx(other, rel=1e-14) and np.abs(np.subtract(moved, torque)).max() > 1


def test_secants_of_corrected_velocities_measure_no_rate():
    """Its own error is not damped beyond z = 2 sqrt(5) - 4, where the ratio of two steps is the golden one.

    From z = 1 on the growing root of the last torque gives it a negative rate, which counts as none.
    """

    def leaves_midpoint(z):
        ratio = one_corrector(z, 400, secant_of_corrected=True)
        ratio = ratio[1:][np.abs(ratio[1:]) > 1e-250] / ratio[:-1][np.abs(ratio[1:]) > 1e-250]
        return np.abs(ratio[-20:] - (1 - z / 2) / (1 + z / 2)).max()

    edge = 2 * math.sqrt(5) - 4
    assert leaves_midpoint(edge - 0.03) < 1e-6 and leaves_midpoint(edge + 0.03) > 1e-2
    assert abs(one_corrector(1.5, 400, secant_of_corrected=True)[-1]) > 1e3


@pytest.mark.parametrize(
    ("key", "limit"), [("spiral_predicted_last", 1), ("spiral_kdk", math.inf), ("spiral_predicted", math.inf)]
)
def test_the_methods_are_stable_as_far_as_their_polynomials(key, limit):
    measured = friction_check.stability_limit(
        partial(friction_check._sliding_decays, PAIR, METHODS[key], friction_check.decay_rate(PAIR))
    )
    assert measured == pytest.approx(limit, abs=2e-3)


@pytest.mark.parametrize("z", [0.97, 1.03])
def test_the_last_torque_grows_as_its_root(z):
    v = sliding("spiral_predicted_last", z, 300)
    assert abs(v[-1] / v[-2]) == pytest.approx(largest_root(PREDICTORS["last"][0], z), rel=1e-6)


@pytest.mark.parametrize("z", [0.5, 3.0, 10.0])
@pytest.mark.parametrize("key", ["spiral_predicted", "spiral_kdk"])
def test_a_secant_at_one_rate_is_the_implicit_midpoint_rule(key, z):
    v = sliding(key, z, 10)
    # The first step has no secant, only the last torque.
    assert v[1] == pytest.approx(1 - z + z * z / 2, rel=1e-12)
    np.testing.assert_allclose(v[3:] / v[2:-1], (1 - z / 2) / (1 + z / 2), rtol=1e-7)


def test_coupled_friction_is_that_of_the_method():
    """The recurrence in the analysis against the method on a sphere with a full matrix of friction."""
    rates, seed, z, steps = (1.0, 3.0, 10.0), 4, 0.8, 60
    random = np.random.default_rng(seed)
    axes = np.linalg.qr(random.standard_normal((3, 3)))[0]
    problem = sphere_with(axes @ np.diag(rates) @ axes.T, random.standard_normal(3))
    dt = z / 10.0
    run = polhode.simulate(problem, "spiral_predicted", dt, steps * dt, samples=steps)
    size = np.linalg.norm(run.stored_omega.values, axis=1)
    np.testing.assert_allclose(size / size[0], coupled_decay(z, rates, steps, seed), rtol=1e-9)


def test_steps_far_beyond_the_limit_of_spiral_decay():
    rates = np.geomspace(1.0, 30.0, 3)
    axes = np.linalg.qr(np.random.default_rng(7).standard_normal((3, 3)))[0]
    problem = sphere_with(axes @ np.diag(rates) @ axes.T, (1.0, -2.0, 0.5))

    def left(key, z, steps=1000):
        dt = z / 30.0
        with np.errstate(over="ignore", invalid="ignore"):
            omega = polhode.simulate(problem, key, dt, steps * dt, samples=1).omega.values[-1]
        return float(np.linalg.norm(omega))

    assert left("spiral_predicted_last", 0.9) < 1e-6 and not left("spiral_predicted_last", 1.1) < 1e3
    assert left("spiral_leapfrog", 1.9) < 1e-6 and not left("spiral_leapfrog", 2.1) < 1e3
    for z in (1.1, 2.1, 5.0):
        for key in ("spiral_predicted", "spiral_kdk"):
            assert left(key, z) < 1e-6, (key, z)


def friction_of_the_lab(t, q, omega, parameters):
    """Friction with a full matrix that stands still in the lab while the body turns through it."""
    x, y, z = to_lab(q, omega)
    return to_body(q, (-30.0 * x - 3.0 * y, -3.0 * x - 5.0 * y, -z))


def test_friction_while_turning_leaves_long_steps_stable():
    """An asymmetric body: z is 2.5 at 60 steps, against a thousand times as many of Runge and Kutta."""
    body = polhode.Body((0.8, 1.3, 1.9))
    changes = {"body": body, "omega0": (3.0, -4.0, 5.0), "q0": UPRIGHT, "horizon": 4.0}
    problem = make("lab_friction", friction_of_the_lab, "velocity", **changes)
    exact = polhode.simulate(problem, "rk4", 4.0 / 2**16, samples=1).omega.values[-1]

    def error(key, steps):
        with np.errstate(over="ignore", invalid="ignore"):
            run = polhode.simulate(problem, key, 4.0 / steps, samples=1)
        return float(np.abs(run.omega.values[-1] - exact).max())

    for key in ("spiral_predicted", "spiral_kdk"):
        assert error(key, 60) < 0.1, key
        assert error(key, 640) / error(key, 1280) == pytest.approx(4, rel=0.15), key
        assert error(key, 640) < 0.8 * error("spiral_predicted_last", 640), key
    assert not error("spiral_leapfrog", 60) < 10 and not error("spiral_predicted_last", 60) < 10


@pytest.mark.thorough
@pytest.mark.parametrize("bodies", [1, 4, 10])
def test_coupled_bodies_decay_too(bodies):
    rates = np.geomspace(1.0, 100.0, 3 * bodies)
    for z in (0.5, 2.0, 5.0):
        for seed in range(3):
            size = coupled_decay(z, rates, 2000, seed, bodies)
            assert size.max() < 20 and size[-1] < 10 * math.exp(-20 * z), (z, seed)


# Orders, beyond those of test_orders.py


@pytest.mark.thorough
@pytest.mark.parametrize("key", [*PREDICTED, "spiral_kdk"])
def test_a_sinking_body_needs_the_matching_translation(key):
    problem, method = polhode.problems["sinking_propeller"], METHODS[key]
    exact = check.exact_end(problem)
    plain = translation.BY_TORQUE_TIME[method.torque_time]
    for scheme, order in ((method.translation, 2), (plain, 1)):
        errors = []
        for steps in (1024, 2048):
            run = polhode.simulate(problem, replace(method, translation=scheme), problem.horizon / steps, samples=1)
            errors.append([np.abs(run[name].values[-1] - exact[name]).max() for name in ("r", "v", "q", "omega")])
        np.testing.assert_allclose(np.log2(np.array(errors[0]) / errors[1]), order, atol=0.15)


@pytest.mark.parametrize("key", ["spiral_predicted", "spiral_kdk"])
def test_instants_without_acceleration_cost_no_order(key):
    """A damped pendulum: its acceleration vanishes in every swing, and the torque also changes with the angle."""
    weight, friction = 8.0, 0.6

    def torque(t, q, omega, parameters):
        sine = 2 * (q[0] * q[1] + q[2] * q[3])
        return (-parameters[0] * sine - parameters[1] * omega[0], -parameters[1] * omega[1], -parameters[1] * omega[2])

    start = {"q0": (math.cos(0.4), math.sin(0.4), 0.0, 0.0), "omega0": (0.3, 0.0, 0.0)}
    parameters = {"weight": weight, "friction": friction}
    pendulum = make("pendulum", torque, "velocity", parameters, body=SPHERE, horizon=4.0, **start)
    at = np.linspace(0.0, 4.0, 65)
    exact = scipy.integrate.solve_ivp(
        lambda t, y: (y[1], -weight * math.sin(y[0]) - friction * y[1]),
        (0, 4),
        (0.8, 0.3),
        "DOP853",
        at,
        rtol=1e-13,
        atol=1e-14,
    ).y
    assert np.count_nonzero(np.diff(np.sign(-weight * np.sin(exact[0]) - friction * exact[1]))) >= 3
    errors = []
    for steps in (512, 1024, 2048):
        run = polhode.simulate(pendulum, key, 4.0 / steps, samples=64)
        angle = 2 * np.arctan2(run.q.values[:, 1], run.q.values[:, 0])
        errors.append([np.abs(angle - exact[0]).max(), np.abs(run.omega.values[:, 0] - exact[1]).max()])
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2, atol=0.1)


def test_the_gain_over_the_other_methods_under_friction():
    """Over SPIRAL the gain doubles as the step is halved; over the best other method of one torque it is a factor."""
    problem = polhode.problems["damped_top"]
    exact = check.exact_end(problem)

    def errors(key, steps):
        run = polhode.simulate(problem, key, problem.horizon / steps, samples=1)
        return np.array(
            [
                metrics.orientation_l1(run.q.values[-1], exact["q"]),
                metrics.relative_l1(run.omega.values[-1], exact["omega"]),
            ]
        )

    for steps in (128, 2048):
        spiral, best = errors("spiral_leapfrog", steps), errors("pcdm2013_mid", steps)
        for key in (*PREDICTED, "spiral_kdk"):
            own_errors = errors(key, steps)
            assert (spiral / own_errors > 0.45 * steps).all(), key
            assert (best / own_errors > 2.5).all(), key


# Kick, drift, kick


@pytest.mark.parametrize("problem", ["free_asymmetric_top", "heavy_top", "asymmetric_heavy_top"])
def test_reversal_fails_by_third_order_only(problem):
    """There and back: SPIRAL's one kick fails by eight times as much as two halves of it."""
    case = polhode.problems[problem]

    def back(key, steps):
        return np.array(long_checks._there_and_back(case, METHODS[key], case.horizon / steps, steps))

    coarse, fine = back("spiral_kdk", 256), back("spiral_kdk", 512)
    np.testing.assert_allclose(np.log2(coarse / fine), 3, atol=0.05)
    np.testing.assert_allclose(back("spiral_leapfrog", 512) / fine, 8, rtol=0.02)


def test_without_a_gyroscopic_term_it_is_time_symmetric():
    """On a sphere SSPRK3 is exact, and what remains is symmetric: it returns to rounding, at a long step."""
    case = polhode.problems["heavy_top"]
    sphere = replace(case, key="sphere", body=polhode.Body((0.9, 0.9, 0.9)), omega0=(1.7, -0.5, 2.0), reference="", formula="")
    angle, omega = long_checks._there_and_back(sphere, METHODS["spiral_kdk"], 0.05, 40)
    assert angle < 1e-12 and omega < 1e-12
    tilted = replace(sphere, key="no_sphere", body=polhode.Body((0.9, 0.9, 0.7)))
    assert long_checks._there_and_back(tilted, METHODS["spiral_kdk"], 0.05, 40)[0] > 1e-7


def test_free_tops_drift_eight_times_less_than_with_spiral():
    drift = []
    for key in ("spiral_leapfrog", "spiral_kdk"):
        energy = polhode.simulate("free_asymmetric_top", key, 0.01, 200.0, samples=2).energy.values
        drift.append(energy[2] / energy[0] - 1)
    assert abs(drift[1]) > 1e-7 and drift[0] / drift[1] == pytest.approx(8, rel=0.01)


def test_it_is_velocity_verlet_with_another_kick_and_drift():
    """On a body whose kicks and rotation are trivial, a sphere turning about one axis, it is velocity Verlet to rounding."""
    pendulum = replace(
        polhode.problems["heavy_top"],
        key="pendulum",
        body=polhode.Body((1.0, 1.0, 1.0)),
        q0=(math.cos(0.4), math.sin(0.4), 0.0, 0.0),
        omega0=(0.3, 0.0, 0.0),
        reference="",
        formula="",
    )
    dt, steps = 0.05, 40
    run = polhode.simulate(pendulum, "spiral_kdk", dt, steps * dt, samples=1)
    angle, rate = 0.8, 0.3
    for _ in range(steps):
        rate += 0.5 * dt * 8.0 * math.sin(angle)
        angle += dt * rate
        rate += 0.5 * dt * 8.0 * math.sin(angle)
    q = run.q.values[-1]
    assert 2 * math.atan2(q[1], q[0]) % (4 * math.pi) == pytest.approx(angle % (4 * math.pi), abs=1e-12)
    assert run.omega.values[-1, 0] == pytest.approx(rate, abs=1e-12)
