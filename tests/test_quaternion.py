"""Quaternion and vector kernels: the algebra's laws, scipy's rotations, and elementary functions to 40 digits."""

import math

import mpmath
import numpy as np
import pytest
from conftest import rotation
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from polhode.algebra import quaternion, vector

numbers = st.floats(-3, 3, allow_subnormal=False)
vectors = st.tuples(numbers, numbers, numbers)
quaternions = st.tuples(numbers, numbers, numbers, numbers)


@st.composite
def unit_quaternions(draw):
    q = np.array(draw(quaternions))
    assume(np.linalg.norm(q) > 1e-3)
    return tuple(float(x) for x in q / np.linalg.norm(q))


def close(a, b, tolerance=1e-13):
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance)


# --- algebra ---------------------------------------------------------------------------------------------------------


def test_products_of_the_units():
    unit, i, j, k = np.eye(4)
    for p, q, product in ((i, j, k), (j, k, i), (k, i, j), (i, i, -unit), (j, j, -unit), (k, k, -unit), (unit, j, j)):
        assert quaternion.multiply(tuple(p), tuple(q)) == tuple(product)
    assert quaternion.multiply(tuple(j), tuple(i)) == tuple(-k)


@given(quaternions, quaternions, quaternions)
def test_multiplication_is_associative_and_distributive(p, q, r):
    close(quaternion.multiply(quaternion.multiply(p, q), r), quaternion.multiply(p, quaternion.multiply(q, r)), 2e-13)
    together = np.add(quaternion.multiply(p, q), quaternion.multiply(p, r))
    close(quaternion.multiply(p, quaternion.increment(1.0, r, q)), together)


@given(quaternions, quaternions)
def test_norm_and_conjugate(p, q):
    product = quaternion.multiply(p, q)
    close(quaternion.norm_squared(q), np.dot(q, q))
    close(quaternion.norm_squared(product), quaternion.norm_squared(p) * quaternion.norm_squared(q), 1e-11)
    close(quaternion.multiply(q, quaternion.conjugate(q)), (quaternion.norm_squared(q), 0, 0, 0))
    close(quaternion.conjugate(product), quaternion.multiply(quaternion.conjugate(q), quaternion.conjugate(p)))


@given(quaternions, quaternions, numbers)
def test_increment_and_scaled(p, q, s):
    close(quaternion.scaled(s, q), s * np.array(q), 0)
    close(quaternion.increment(s, p, q), np.array(q) + s * np.array(p))


@given(quaternions)
def test_normalise(q):
    assume(np.linalg.norm(q) > 1e-3)
    close(quaternion.normalise(q), np.array(q) / np.linalg.norm(q), 5e-16)


@given(vectors, vectors, numbers)
def test_vectors(a, b, s):
    close(vector.add(a, b), np.add(a, b), 0)
    close(vector.scale(s, a), s * np.array(a), 0)
    close(vector.axpy(s, a, b), s * np.array(a) + b, 0)
    close(vector.dot(a, b), np.dot(a, b), 1e-14)
    close(vector.cross(a, b), np.cross(a, b), 1e-14)
    assume(np.linalg.norm(a) > 1e-3)
    close(vector.unit(a), np.array(a) / np.linalg.norm(a), 5e-16)


# --- rotations -------------------------------------------------------------------------------------------------------


@given(unit_quaternions(), vectors)
def test_frames_are_scipys(q, v):
    close(quaternion.to_lab(q, v), rotation(q).apply(v), 2e-14)
    close(quaternion.to_body(q, v), rotation(q).inv().apply(v), 2e-14)


@given(quaternions, vectors)
def test_frames_are_sandwich_products_for_any_norm(q, v):
    pure = (0.0, *v)
    q_star = quaternion.conjugate(q)
    close((0, *quaternion.to_lab(q, v)), quaternion.multiply(quaternion.multiply(q, pure), q_star), 1e-12)
    close((0, *quaternion.to_body(q, v)), quaternion.multiply(quaternion.multiply(q_star, pure), q), 1e-12)


@given(unit_quaternions(), unit_quaternions())
def test_multiply_composes_rotations(p, q):
    close(rotation(quaternion.multiply(p, q)).as_matrix(), (rotation(p) * rotation(q)).as_matrix(), 1e-14)


@given(unit_quaternions(), vectors)
def test_derivative_is_half_q_omega_and_the_rotation_s_slope(q, omega):
    close(quaternion.derivative(q, omega), 0.5 * np.array(quaternion.multiply(q, (0.0, *omega))), 3e-15)
    h = 1e-4
    slope = np.subtract(quaternion.rotate(q, omega, h), quaternion.rotate(q, omega, -h)) / (2 * h)
    close(quaternion.derivative(q, omega), slope, 1e-7)


@given(unit_quaternions(), vectors, st.floats(-3, 3))
def test_rotate_is_scipys_rotation_vector_in_the_body_frame(q, omega, dt):
    turned = rotation(q) * Rotation.from_rotvec(dt * np.array(omega))
    close(rotation(quaternion.rotate(q, omega, dt)).as_matrix(), turned.as_matrix(), 1e-14)


@given(vectors, st.sampled_from([1e-170, 1e-9, 1e-3, 1.0, 30.0, 300.0]))
def test_exponential_against_mpmath(direction, size):
    v = tuple(size * x for x in direction)
    with mpmath.workdps(40):
        half = mpmath.sqrt(sum(mpmath.mpf(x) ** 2 for x in v)) / 2
        sinc = mpmath.sin(half) / half if half else mpmath.mpf(1)
        exact = (mpmath.cos(half), *(mpmath.mpf(x) / 2 * sinc for x in v))
        error = max(abs(mpmath.mpf(a) - b) for a, b in zip(quaternion.exponential(v), exact, strict=True))
    # The angle comes from a rounded square: that alone moves the result by 2 ulp of the angle.
    assert error <= 4e-16 + 2 * math.ulp(float(half))


@given(vectors, st.sampled_from([1e-3, 1.0, 30.0, 1e4]))
def test_exponential_is_a_unit_quaternion(direction, size):
    q = quaternion.exponential(tuple(size * x for x in direction))
    assert abs(np.linalg.norm(q) - 1) < 4e-16


# --- cos and sin(a)/a of a square root -------------------------------------------------------------------------------


def exact_cos_sinc(x):
    a = mpmath.sqrt(mpmath.mpf(x))
    return mpmath.cos(a), (mpmath.sin(a) / a if a else mpmath.mpf(1))


def cos_sinc_errors(xs):
    """Largest absolute errors of cosine and sinc in excess of what the rounding of sqrt(x) alone brings."""
    worst_c = worst_s = mpmath.mpf(0)
    with mpmath.workdps(40):
        for x in xs:
            c, s = quaternion.cos_sinc(float(x))
            exact_c, exact_s = exact_cos_sinc(float(x))
            rounding = 0.5 * math.ulp(math.sqrt(x)) if x > quaternion.HALF_PI_SQUARED else 0.0
            worst_c = max(worst_c, abs(mpmath.mpf(c) - exact_c) - rounding)
            worst_s = max(worst_s, abs(mpmath.mpf(s) - exact_s))
    return float(worst_c), float(worst_s)


def test_cos_sinc_at_zero_is_exact():
    assert tuple(quaternion.cos_sinc(0.0)) == (1.0, 1.0)


def test_cos_sinc_in_the_first_quadrant():
    rng = np.random.default_rng(1)
    xs = np.concatenate([rng.uniform(0, quaternion.HALF_PI_SQUARED, 3000), 10 ** rng.uniform(-20, 0, 500)])
    cosine, sinc = cos_sinc_errors([*xs, quaternion.HALF_PI_SQUARED])
    assert cosine < 2.3e-16
    assert sinc < 2.3e-16


def test_cos_sinc_far_out():
    rng = np.random.default_rng(2)
    quadrants = (np.arange(1, 637) * np.pi / 2) ** 2
    xs = np.concatenate([rng.uniform(2.5, 1e6, 3000), 10 ** rng.uniform(0.4, 6, 1000), quadrants, quadrants * (1 + 1e-9)])
    cosine, sinc = cos_sinc_errors(xs)
    assert cosine < 3.3e-16
    assert sinc < 2.3e-16


def test_cos_sinc_is_continuous_where_the_branch_begins():
    below, above = quaternion.HALF_PI_SQUARED, math.nextafter(quaternion.HALF_PI_SQUARED, math.inf)
    np.testing.assert_allclose(quaternion.cos_sinc(above), quaternion.cos_sinc(below), rtol=0, atol=5e-16)


def test_cos_sinc_of_what_is_not_finite_is_nan():
    for x in (math.inf, math.nan):
        assert all(math.isnan(v) for v in quaternion.cos_sinc(x))


@pytest.mark.parametrize("name", ["C", "S"])
def test_coefficients_are_chebyshev_interpolants_in_40_digits(name):
    with mpmath.workdps(40):
        # A margin of 1e-9 lets an angle that rounds to just above pi/2 still lie inside.
        end = (mpmath.pi / 2) ** 2 * (1 + mpmath.mpf("1e-9"))

        def function(y):
            return exact_cos_sinc(y)[0 if name == "C" else 1]

        nodes = [end / 2 * (1 + mpmath.cospi(mpmath.mpf(2 * i + 1) / 18)) for i in range(9)]
        powers = mpmath.matrix([[y**j for j in range(9)] for y in nodes])
        exact = mpmath.lu_solve(powers, mpmath.matrix([function(y) for y in nodes]))
        stored = [getattr(quaternion, f"{name}{i}") for i in range(9)]
        assert stored == [float(c) for c in exact]
        # The polynomial with rounded coefficients, evaluated exactly.
        points = [end * i / 400 for i in range(401)]
        error = max(abs(sum(c * y**j for j, c in enumerate(stored)) - function(y)) for y in points)
    assert error < {"C": 6e-17, "S": 2e-17}[name]


def test_constants_of_the_range_reduction():
    with mpmath.workdps(40):
        assert float((mpmath.pi / 2) ** 2) == quaternion.HALF_PI_SQUARED
        assert float(1 / mpmath.pi) == quaternion.ONE_OVER_PI
        assert abs(mpmath.mpf(quaternion.PI_HIGH) + mpmath.mpf(quaternion.PI_LOW) - mpmath.pi) < 1e-26
    # 32 bits: the product with a whole number below 2**21 is then exact.
    assert (quaternion.PI_HIGH * 2**30).is_integer()
    assert quaternion.ROUND == 1.5 * 2**52
