"""Symplectic correctors: coefficients against series and matrices, what they leave, and what a state read on a step is."""

import math

import mpmath
import numpy as np
import pytest
from scipy.linalg import expm

import polhode
from polhode.algebra import quaternion
from polhode.algebra.metrics import geodesic_angle
from polhode.compiling.plain import in_plain_python
from polhode.methods import correctors, free_top

exponential, multiply, to_body = map(in_plain_python, (quaternion.exponential, quaternion.multiply, quaternion.to_body))
CLOSED = {
    "kick-drift-kick": lambda x: mpmath.coth(x / 2) / 2 - 1 / x,
    "drift-kick-drift": lambda x: 1 / (2 * mpmath.sinh(x / 2)) - 1 / x,
}
#: The shares of drift and of the kick after it.
STEPS = {"kick-drift-kick": ((0.0, 0.5), (1.0, 0.5)), "drift-kick-drift": ((0.5, 1.0), (0.5, 0.0))}
each_form = pytest.mark.parametrize("form", CLOSED)


def product(moves, a, b):
    """The matrix of moves, for the matrices hA of free motion and hB of a kick."""
    matrix = np.eye(len(a))
    for drift, kick in moves:
        matrix = expm(kick * b) @ expm(drift * a) @ matrix
    return matrix


def commutator(a, b):
    return a @ b - b @ a


# The part linear in the kick


@each_form
def test_coefficients_are_those_of_the_closed_form(form):
    with mpmath.workdps(60):
        series = mpmath.taylor(lambda x: CLOSED[form](x) if x else mpmath.mpf(0), 0, 9, singular=True)
        for n, c in enumerate(correctors.chi(form, 4)):
            assert abs(series[2 * n + 1] - mpmath.mpf(c.numerator) / c.denominator) < 1e-12


@each_form
@pytest.mark.parametrize("order, even", [(3, False), (5, False), (7, False), (5, True)])
def test_the_remainder_has_the_order_declared(form, order, even):
    a, b = np.random.default_rng(3).normal(size=(2, 4, 4))

    def left(h, strength):
        """The part of the error linear in the kick, by the difference of opposite kicks, over the strength."""
        errors = []
        for sign in (1, -1):
            kick = sign * strength * h * b
            moves = product(correctors.shares(order, form, even), h * a, kick)
            errors.append(np.linalg.inv(moves) @ product(STEPS[form], h * a, kick) @ moves - expm(h * a + kick))
        return np.abs(errors[0] - errors[1]).max() / strength

    coarse, fine = (left(h, 1e-3) for h in (0.2, 0.1))
    assert np.log2(coarse / fine) == pytest.approx(order + 2, abs=0.3)


@pytest.mark.parametrize("order, form, message", [(4, "kick-drift-kick", "order 4"), (5, "leapfrog", "'leapfrog'")])
def test_what_is_no_corrector_is_refused(order, form, message):
    with pytest.raises(ValueError, match=message):
        correctors.shares(order, form)


# What remains


def brackets(moves):
    """The shares of [A, B], [A, [A, B]] and [B, [B, A]], from products of nilpotent matrices, whose logarithms end soon."""
    rng, rows, right = np.random.default_rng(1), [], []
    upper, (drift, kick) = np.triu_indices(4, 1), np.sum(moves, 0)
    for _ in range(4):
        a, b = (np.triu(rng.normal(size=(4, 4)), 1) for _ in range(2))
        rest = product(moves, a, b) - np.eye(4)
        once = commutator(a, b)
        rows.append(np.stack([x[upper] for x in (once, commutator(a, once), -commutator(b, once))], 1))
        right.append((rest - rest @ rest / 2 + rest @ rest @ rest / 3 - drift * a - kick * b)[upper])
    return np.linalg.lstsq(np.vstack(rows), np.concatenate(right), rcond=None)[0]


def invariant(moves):
    """alpha + beta - c^2/2 of a splitting."""
    c, alpha, beta = brackets(moves)
    return alpha + beta - c**2 / 2


@each_form
def test_even_moves_leave_no_third_power_of_the_step(form):
    """The moves lead into the variables of the steps: the share of [A, B] is minus the first coefficient."""
    first = -float(correctors.chi(form, 1)[0])
    assert brackets(correctors.shares(5, form, even=True)) == pytest.approx([first, 0, 0], abs=1e-13)
    c, alpha, beta = brackets(correctors.shares(5, form))
    assert (c, alpha) == pytest.approx((first, 0), abs=1e-13) and abs(beta) > 1e-4


def staircase(moves):
    """Half the integral of g^2 along the drifts, for the staircase of the kicks and the straight line of the drifts."""
    drift, kick, pieces = 0.0, 0.0, []
    for a, b in moves:
        pieces.append((a, kick - drift - a / 2))  # g in the middle of the piece but for a constant
        drift, kick = drift + a, kick + b
    mean = sum(a * g for a, g in pieces)
    return sum(a * ((g - mean) ** 2 + a**2 / 12) for a, g in pieces) / 2


def test_leapfrog_leaves_the_same_in_both_forms():
    for moves in STEPS.values():
        assert invariant(moves) == pytest.approx(1 / 24, abs=1e-13)


def test_what_remains_is_the_distance_of_a_staircase_from_a_line():
    outer = 1 / (2 - 2 ** (1 / 3))
    fourth_order = [(outer / 2, outer), ((1 - outer) / 2, 1 - 2 * outer), ((1 - outer) / 2, outer), (outer / 2, 0.0)]
    back_and_forth = [(0.3, 0.2), (-0.5, 0.9), (0.8, -0.7), (0.4, 0.6)]
    halves = [(0.0, 0.25), (0.5, 0.5), (0.5, 0.25)]
    apart = (math.sqrt(1 + 4 / math.sqrt(12)) - 1) / 2
    two_kicks = [(0.0, 1 + apart), (1 + apart, -apart), (-apart, 0.0)]
    for moves in (*STEPS.values(), fourth_order, back_and_forth, halves, two_kicks):
        assert staircase(moves) == pytest.approx(invariant(moves), abs=1e-12)
    assert staircase(fourth_order) == pytest.approx(0, abs=1e-12)
    assert staircase(two_kicks) == pytest.approx(0, abs=1e-12)
    assert staircase(halves) == pytest.approx(1 / 96)


# Rigid bodies


BODY = polhode.Body((1.0, 1.7, 2.3))
INERTIA = np.array(BODY.inertia)


def potential(q, strength):
    u, w = to_body(q, (0.0, 0.0, 1.0)), to_body(q, (1.0, 0.0, 0.0))
    return strength * (0.5 * u[0] + 0.7 * u[2] + 0.4 * u[0] * u[1] - 0.3 * u[2] * u[2] - 0.2 * w[1] + 0.5 * w[1] * w[2])


def torque(q, strength):
    u, w = to_body(q, (0.0, 0.0, 1.0)), to_body(q, (1.0, 0.0, 0.0))
    by_u = (0.5 + 0.4 * u[1], 0.4 * u[0], 0.7 - 0.6 * u[2])
    return strength * (np.cross(u, by_u) + np.cross(w, (0.0, -0.2 + 0.5 * w[2], 0.5 * w[1])))


def test_the_modified_kick_is_the_modified_potential_s_torque():
    q, h = (0.5, -0.1, 0.7, 0.5), 0.3

    def along(direction, f, size=1e-4):
        ahead, behind = (f(multiply(q, exponential(tuple(s * size * direction)))) for s in (1, -1))
        return (ahead - behind) / (2 * size)

    def modified(q):
        moment = torque(q, 1.0)
        return potential(q, 1.0) - h**2 / 24 * moment @ (moment / INERTIA)

    moment = torque(q, 1.0)
    d = moment / INERTIA
    flat = moment + h**2 / 12 * along(d, lambda q: torque(q, 1.0))
    gradient = -np.array([along(axis, modified) for axis in np.eye(3)])
    assert flat + h**2 / 12 * np.cross(d, moment) == pytest.approx(gradient, abs=1e-8)
    assert np.abs(flat - gradient).max() > 1e-4, "the term of the group is not there for nothing"


def test_a_torque_constant_in_the_lab_leaves_nothing():
    q, size = (0.5, -0.1, 0.7, 0.5), 1e-4
    moment = np.array(to_body(q, (0.9, -0.4, 0.7)))
    d = moment / INERTIA
    ahead = np.array(to_body(multiply(q, exponential(tuple(size * d))), (0.9, -0.4, 0.7)))
    assert (ahead - moment) / size + np.cross(d, moment) == pytest.approx(np.zeros(3), abs=1e-3)
    assert np.abs(np.cross(d, moment)).max() > 0.1


def turned(strength, dt, order):
    """The orientation of a body after 6 s in kicks, drifts, kicks, with a corrector of this order or (0) without."""
    moved, coefficients = in_plain_python(free_top.moved), BODY.coefficients()
    state = (0.5, -0.1, 0.7, 0.5), (0.5, -0.8, 1.2)

    def at(state, drift, kick):
        q, momentum = moved(*state, coefficients, drift) if drift else state
        return q, tuple(p + kick * m for p, m in zip(momentum, torque(q, strength), strict=True))

    moves = [(dt * drift, dt * kick) for drift, kick in (correctors.shares(order, "kick-drift-kick") if order else ())]
    for drift, kick in moves:
        state = at(state, drift, kick)
    for _ in range(round(6 / dt)):
        state = at(at(state, 0.0, dt / 2), dt, dt / 2)
    for drift, kick in reversed(moves):
        state = at(at(state, 0.0, -kick), -drift, 0.0)
    return state[0]


@pytest.mark.thorough
def test_the_error_is_of_second_order_in_the_torque():
    def error(strength, order):
        exact = turned(strength, 1 / 64, 7)
        return geodesic_angle(turned(strength, 0.25, order), exact)

    assert error(0.02, 0) / error(0.01, 0) == pytest.approx(2, rel=0.1)
    assert error(0.02, 7) / error(0.01, 7) == pytest.approx(4, rel=0.1)
    assert error(0.01, 0) > 40 * error(0.01, 5)


# Readings


def test_what_is_read_of_an_oscillator():
    """Means of K and V in units of kT/2: on whole steps, and corrected, where V + h^2 F^2/24 equals K (supplement)."""
    h = 0.05
    steps = np.array([[1 - h**2 / 2, h], [-h * (1 - h**2 / 4), 1 - h**2 / 2]])
    a, b = h * np.array([[0.0, 1.0], [0.0, 0.0]]), h * np.array([[0.0, 0.0], [-1.0, 0.0]])
    after = np.linalg.inv(product(correctors.shares(7, "kick-drift-kick"), a, b))
    # The quadratic form that the step conserves is the inverse of the mean square.
    mean = np.diag([1.0, -steps[1, 0] / steps[0, 1]])
    corrected = after @ mean @ after.T
    assert corrected[1, 1] == pytest.approx(corrected[0, 0] * (1 + h**2 / 12), rel=h**4)
    assert mean[1, 1] == pytest.approx(corrected[1, 1] * (1 - h**2 / 6), rel=h**4)
    assert mean[0, 0] == pytest.approx(corrected[1, 1] * (1 + h**2 / 12), rel=h**4)
    assert math.isclose(np.trace(steps), 2 * np.cos(h * (1 + h**2 / 24)), rel_tol=h**6)
