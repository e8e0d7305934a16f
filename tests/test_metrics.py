"""The error metrics: same for q and -q, zero at equality, right where small, and against scipy's rotations."""

import numpy as np
import pytest
from conftest import rotation
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from polhode.algebra import metrics

numbers = st.floats(-3, 3, allow_subnormal=False)
vectors = st.tuples(numbers, numbers, numbers)


@st.composite
def unit_quaternions(draw):
    q = np.array(draw(st.tuples(numbers, numbers, numbers, numbers)))
    assume(np.linalg.norm(q) > 1e-3)
    return q / np.linalg.norm(q)


@given(unit_quaternions(), unit_quaternions())
def test_sign_of_the_quaternion_does_not_matter(p, q):
    assume(abs(p @ q) > 1e-12)
    for metric in (metrics.orientation_l1, metrics.geodesic_angle, metrics.matrix_error):
        assert metric(p, q) == metric(-p, q)
        assert metric(p, q) == pytest.approx(float(metric(p, -q)), abs=1e-15)
    assert metrics.norm_error(-q) == metrics.norm_error(q)


@given(unit_quaternions())
def test_zero_at_equality(q):
    for sign in (1, -1):
        assert metrics.orientation_l1(sign * q, q) == 0
        assert metrics.geodesic_angle(sign * q, q) < 1e-15
    assert metrics.relative_l1(q, q) == 0
    assert metrics.norm_error(q) < 3e-16


def test_relative_l1_by_hand():
    assert metrics.relative_l1([1.0, -2.0, 3.5], [1.0, -1.0, 3.0]) == pytest.approx(1.5 / 5)
    assert metrics.relative_l1([[1.0, 1.0], [0.0, 0.0]], [[2.0, 2.0], [1.0, -3.0]]) == pytest.approx([0.5, 1.0])
    assert metrics.orientation_l1([-1.0, 0.5, 0, 0], [1.0, 0, 0, 0]) == pytest.approx(0.5)


@given(unit_quaternions())
def test_rotation_matrix_is_scipys(q):
    np.testing.assert_allclose(metrics.rotation_matrix([q, -q]), [rotation(q).as_matrix()] * 2, rtol=0, atol=1e-15)


def test_matrix_error_by_hand():
    """A third of a turn about z against none: rows of the difference 1.5 + s, s + 1.5 and 0; of the computed matrix 0.5 + s."""
    s = np.sqrt(0.75)
    turned = np.array([0.5, 0, 0, s])
    assert metrics.matrix_error([turned, -turned], [[1.0, 0, 0, 0]] * 2) == pytest.approx([(1.5 + s) / (0.5 + s)] * 2)
    # The norm is that of the computed matrix: exchanged, the identity divides.
    assert metrics.matrix_error([1.0, 0, 0, 0], turned) == pytest.approx(1.5 + s)


def test_matrix_error_adds_up_rows_from_body_to_lab():
    """Rows and columns of this matrix differ; its transpose is the same turn the other way round."""
    q, exact = rotation([0.8, 0.1, -0.5, 0.3]), rotation([0.7, 0.2, -0.4, 0.5])
    difference, computed = (np.abs(x).sum(axis=1).max() for x in (q.as_matrix() - exact.as_matrix(), q.as_matrix()))
    quaternions = (np.roll(x.as_quat(), 1) for x in (q, exact))
    assert metrics.matrix_error(*quaternions) == pytest.approx(difference / computed, rel=1e-12)


def test_the_mean_error_takes_either_measure():
    q, exact = [0.6, 0, 0, 0.8], [1.0, 0, 0, 0]
    omega, true = [1.0, 2.0, 1.0], [1.0, 1.0, 2.0]
    assert metrics.mean_error(q, exact, omega, true) == pytest.approx((1.2 + 0.5) / 2)
    matrix = float(metrics.matrix_error(q, exact))
    assert metrics.mean_error(q, exact, omega, true, "matrix") == pytest.approx((matrix + 0.5) / 2)


def test_norm_error_by_hand():
    assert metrics.norm_error([[2.0, 0, 0, 0], [0, 0.6, 0, 0], [0.6, 0, 0, 0.8]]) == pytest.approx([1, 0.4, 0])


def test_align():
    assert metrics.align([[1, 2, 3, 4], [1, 2, 3, 4]], [[1, 1, 1, 1], [-1, -1, -1, 1]]).tolist() == [
        [1, 2, 3, 4],
        [-1, -2, -3, -4],
    ]


@given(unit_quaternions(), unit_quaternions(), st.floats(0.5, 2))
def test_angle_is_scipys_magnitude_whatever_the_norm(p, q, norm):
    exact = (rotation(p).inv() * rotation(q)).magnitude()
    # Near pi the chord is flat: the square root of the round-off is what any formula has there.
    assert metrics.geodesic_angle(norm * p, q) == pytest.approx(exact, abs=1e-14 if exact < 3.1 else 1e-7)


@given(unit_quaternions(), vectors, st.sampled_from([1e-13, 1e-12, 1e-9, 1e-6, 1e-3, 1.0, 3.0]))
def test_small_angles_are_resolved(q, axis, angle):
    assume(np.linalg.norm(axis) > 1e-3)
    axis = np.array(axis) / np.linalg.norm(axis)
    turn = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])
    product = np.concatenate(
        [[q[0] * turn[0] - q[1:] @ turn[1:]], q[0] * turn[1:] + turn[0] * q[1:] + np.cross(q[1:], turn[1:])]
    )
    assert metrics.geodesic_angle(product, q) == pytest.approx(angle, abs=2e-15)


def test_angle_never_exceeds_pi():
    assert metrics.geodesic_angle([0.0, 1, 0, 0], [1.0, 0, 0, 0]) == pytest.approx(np.pi, abs=1e-15)
    assert metrics.geodesic_angle([-1e-3, 1, 0, 0], [1.0, 0, 0, 0]) == pytest.approx(np.pi - 2e-3, abs=1e-8)


@given(unit_quaternions(), vectors, st.tuples(*[st.floats(0.1, 5)] * 3))
def test_lab_momentum_and_energy(q, omega, inertia):
    momentum = np.array(inertia) * omega
    np.testing.assert_allclose(metrics.lab_angular_momentum(q, omega, inertia), rotation(q).apply(momentum), rtol=0, atol=1e-13)
    assert metrics.kinetic_energy(omega, inertia) == pytest.approx(momentum @ np.array(omega) / 2, rel=1e-14, abs=1e-300)


def test_shapes_and_nan():
    rng = np.random.default_rng(3)
    q = Rotation.random(6, rng=rng).as_quat().reshape(2, 3, 4)
    omega = rng.normal(size=(2, 3, 3))
    for value in (metrics.orientation_l1(q, q), metrics.geodesic_angle(q, q), metrics.norm_error(q)):
        assert value.shape == (2, 3)
    assert metrics.kinetic_energy(omega, (1, 2, 3)).shape == (2, 3)
    assert metrics.lab_angular_momentum(q, omega, (1, 2, 2.5)).shape == (2, 3, 3)
    q[0, 1] = np.nan
    for metric in (metrics.orientation_l1, metrics.geodesic_angle):
        assert np.isnan(metric(q, np.ones_like(q) / 2)).tolist() == [[False, True, False], [False] * 3]


@given(*[st.lists(st.integers(1, 3), max_size=3).map(tuple)] * 2)
def test_leading_axes_fit_as_numpy_s_or_are_refused(leading, other):
    q, exact = np.ones((*leading, 4)), np.ones((*other, 4))
    try:
        expected = np.broadcast_shapes(leading, other)
    except ValueError:
        for metric in (
            metrics.orientation_l1,
            metrics.geodesic_angle,
            metrics.matrix_error,
            metrics.relative_l1,
            metrics.align,
        ):
            with pytest.raises(ValueError, match="exact must have shapes that fit together"):
                metric(q, exact)
    else:
        assert metrics.orientation_l1(q, exact).shape == metrics.relative_l1(q, exact).shape == expected


def test_vectors_of_other_lengths_are_refused_and_lost_is_nan():
    with pytest.raises(ValueError, match=r"value, exact must have shapes that fit together, got \(2, 3\), \(1,\)"):
        metrics.relative_l1(np.ones((2, 3)), [1.0])  # NumPy would repeat the one number
    with pytest.raises(ValueError, match="measure must be one of quaternion, matrix, got 'angle'"):
        metrics.mean_error([1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0], [1, 0, 0], "angle")
    assert np.isnan(metrics.geodesic_angle([np.nan] * 4, [1, 0, 0, 0])) and np.isinf(metrics.relative_l1([1.0], [0.0]))
