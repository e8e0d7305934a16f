"""Symplectic correctors: their coefficients against series in many digits, and against products of matrix exponentials."""

import mpmath
import numpy as np
import pytest
from scipy.linalg import expm

from polhode.methods import correctors

CLOSED = {
    "kick-drift-kick": lambda x: mpmath.coth(x / 2) / 2 - 1 / x,
    "drift-kick-drift": lambda x: 1 / (2 * mpmath.sinh(x / 2)) - 1 / x,
}
each_form = pytest.mark.parametrize("form", CLOSED)


def step(form, a, b):
    """The matrix of a step, for the matrices hA of free motion and hB of a kick."""
    outer, inner = (b, a) if form == "kick-drift-kick" else (a, b)
    return expm(outer / 2) @ expm(inner) @ expm(outer / 2)


def before(moves, a, b):
    """The matrix of the moves before the first step."""
    matrix = np.eye(len(a))
    for drift, kick in moves:
        matrix = expm(kick * b) @ expm(drift * a) @ matrix
    return matrix


@each_form
def test_coefficients_are_those_of_the_closed_form(form):
    with mpmath.workdps(60):
        series = mpmath.taylor(lambda x: CLOSED[form](x) if x else mpmath.mpf(0), 0, 9, singular=True)
        for n, c in enumerate(correctors.chi(form, 4)):
            assert abs(series[2 * n + 1] - mpmath.mpf(c.numerator) / c.denominator) < 1e-12


@each_form
@pytest.mark.parametrize("order", [3, 5, 7])
def test_what_is_left_is_of_second_order_in_the_kick_or_of_the_order_declared(form, order):
    a, b = np.random.default_rng(3).normal(size=(2, 4, 4))

    def left(h, strength):
        """The part of the error linear in the kick, by the difference of opposite kicks, over the strength."""
        errors = []
        for sign in (1, -1):
            kick = sign * strength * h * b
            moves = before(correctors.shares(order, form), h * a, kick)
            errors.append(np.linalg.inv(moves) @ step(form, h * a, kick) @ moves - expm(h * a + kick))
        return np.abs(errors[0] - errors[1]).max() / strength

    coarse, fine = (left(h, 1e-3) for h in (0.2, 0.1))
    assert np.log2(coarse / fine) == pytest.approx(order + 2, abs=0.3)
