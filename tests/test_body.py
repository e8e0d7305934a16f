"""The body: moments of simple shapes, refusal of impossible ones, Euler's equations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polhode import Body, body

positive = st.floats(0.05, 20)
numbers = st.floats(-5, 5)
vectors = st.tuples(numbers, numbers, numbers)


@st.composite
def bodies(draw):
    """Moments of three mass distributions along the axes: these are all the possible ones."""
    a, b, c = draw(positive), draw(positive), draw(positive)
    return Body((b + c, c + a, a + b))


def test_sphere():
    sphere = Body.sphere(radius=0.2, density=1100.0)
    assert sphere.mass == pytest.approx(4 / 3 * math.pi * 0.2**3 * 1100, rel=1e-15)
    assert sphere.inertia == pytest.approx([2 / 5 * sphere.mass * 0.2**2] * 3, rel=1e-15)
    assert len(set(sphere.inertia)) == 1
    # The sphere of Seelen et al. (2016): radius 1 m.
    assert Body.sphere(1.0, 1100.0).inertia[0] == pytest.approx(8 / 15 * math.pi * 1100, rel=1e-15)


def test_cylinder():
    cylinder = Body.cylinder(radius=0.05, height=0.15, density=7750.0)
    assert cylinder.mass == pytest.approx(math.pi * 0.05**2 * 0.15 * 7750, rel=1e-15)
    assert cylinder.inertia[0] == pytest.approx(cylinder.mass * 0.05**2 / 2, rel=1e-15)
    assert cylinder.inertia[1] == cylinder.inertia[2]
    assert cylinder.inertia[1] == pytest.approx(cylinder.mass * (0.05**2 / 4 + 0.15**2 / 12), rel=1e-15)
    # h = 3 r: the ratio is two, and the published moments are these, rounded.
    assert cylinder.inertia[1] / cylinder.inertia[0] == pytest.approx(2, rel=1e-15)
    assert [round(i, 4) for i in cylinder.inertia] == [0.0114, 0.0228, 0.0228]


def test_box():
    box = Body.box(0.1, 0.2, 0.3, density=1000.0)
    assert box.mass == pytest.approx(6.0)
    assert box.inertia == pytest.approx((6 * (0.04 + 0.09) / 12, 6 * (0.09 + 0.01) / 12, 6 * (0.01 + 0.04) / 12))


def test_shapes_by_sampling():
    """The moments are integrals of squared distances from the axes."""
    n = 40
    centre = (np.arange(n) + 0.5) / n * 2 - 1
    x, y, z = np.meshgrid(centre, centre, centre, indexing="ij")

    def moments(inside, dx, dy, dz, density):
        cell = density * 8 * dx * dy * dz / n**3
        squares = [cell * (inside * c**2).sum() for c in (dx * x, dy * y, dz * z)]
        return (squares[1] + squares[2], squares[2] + squares[0], squares[0] + squares[1])

    everywhere = np.ones_like(x)
    assert moments(everywhere, 0.5, 1.0, 1.5, 10.0) == pytest.approx(Body.box(1.0, 2.0, 3.0, 10.0).inertia, rel=2e-3)
    assert moments(y**2 + z**2 < 1, 1.5, 1.0, 1.0, 10.0) == pytest.approx(Body.cylinder(1.0, 3.0, 10.0).inertia, rel=2e-2)
    assert moments(x**2 + y**2 + z**2 < 1, 1.0, 1.0, 1.0, 10.0) == pytest.approx(Body.sphere(1.0, 10.0).inertia, rel=2e-2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Body((1.0, -1.0, 1.0)), r"inertia Iy must be positive and finite, got -1\.0"),
        (lambda: Body((0.0, 1.0, 1.0)), r"inertia Ix must be positive and finite, got 0\.0"),
        (lambda: Body((1.0, 1.0, math.nan)), r"inertia Iz must be positive and finite, got nan"),
        (lambda: Body((math.inf, 1.0, 1.0)), r"inertia Ix must be positive and finite, got inf"),
        (lambda: Body((1.0, 1.0, 1.0), mass=0.0), r"mass must be positive and finite, got 0\.0"),
        (lambda: Body((1.0, 1.0)), r"three principal moments \(Ix, Iy, Iz\)"),
        (lambda: Body((1.0, 1.0, 2.1)), r"triangle inequality: 2\.1 exceeds the sum of the other two moments, 2"),
        (lambda: Body((1.0, 2.0 + 1e-9, 1.0)), "triangle inequality"),
        (lambda: Body((2.1, 1.0, 1.0)), "triangle inequality"),
        (lambda: Body.sphere(-1.0, 1.0), r"radius must be positive and finite, got -1\.0"),
        (lambda: Body.sphere(1.0, math.nan), "density must be positive"),
        (lambda: Body.cylinder(1.0, 0.0, 1.0), "height must be positive"),
        (lambda: Body.cylinder(0.0, 1.0, 1.0), "radius must be positive"),
        (lambda: Body.cylinder(1.0, 1.0, 0.0), "density must be positive"),
        (lambda: Body.box(1.0, 1.0, -3.0, 1.0), "c must be positive"),
        (lambda: Body.box(-1.0, 1.0, -3.0, 1.0), "a must be positive"),
        (lambda: Body.box(1.0, 0.0, -3.0, 1.0), "b must be positive"),
        (lambda: Body.box(1.0, 1.0, 1.0, 0.0), "density must be positive"),
    ],
)
def test_impossible_bodies_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@given(positive, positive, positive)
def test_flat_bodies_are_allowed_in_spite_of_round_off(a, b, scale):
    flat = (scale * (a / 3), scale * (b / 3))
    for i in range(3):
        moments = list(flat)
        moments.insert(i, flat[0] + flat[1])
        assert Body(tuple(moments)).inertia == tuple(moments)


def test_a_body_is_a_value():
    assert Body((1, 1, 1)) == Body((1.0, 1.0, 1.0))
    assert Body((1, 1, 1)).mass == 1.0
    assert all(isinstance(i, float) for i in Body((1, 1, 1)).inertia)
    with pytest.raises(AttributeError):
        Body((1, 1, 1)).mass = 2.0


@given(bodies())
def test_coefficients(b):
    x, y, z = b.inertia
    assert b.coefficients() == (x, y, z, 1 / x, 1 / y, 1 / z, (y - z) / x, (z - x) / y, (x - y) / z)


@given(bodies(), vectors, vectors)
def test_euler_equations_are_the_matrix_form(b, omega, torque):
    inertia = np.diag(b.inertia)
    exact = np.linalg.solve(inertia, np.array(torque) - np.cross(omega, inertia @ np.array(omega)))
    scale = (np.abs(torque).max() + 25 * max(b.inertia)) / min(b.inertia)
    np.testing.assert_allclose(body.euler_equations(omega, torque, b.coefficients()), exact, rtol=0, atol=1e-14 * scale)


@given(bodies(), vectors)
def test_momentum_and_velocity(b, omega):
    momentum = body.angular_momentum(omega, b.coefficients())
    np.testing.assert_array_equal(momentum, np.array(b.inertia) * omega)
    np.testing.assert_allclose(body.angular_velocity(momentum, b.coefficients()), omega, rtol=1e-15, atol=0)


@given(bodies(), vectors)
def test_free_motion_keeps_energy_and_momentum(b, omega):
    """Their time derivatives vanish: omega . I omega' = 0 and I omega . I omega' = 0."""
    coefficients = b.coefficients()
    acceleration = np.array(body.euler_equations(omega, (0.0, 0.0, 0.0), coefficients))
    momentum = np.array(b.inertia) * omega
    scale = max(b.inertia) ** 2 * 125 + 1
    assert abs(momentum @ acceleration) < 1e-14 * scale
    assert abs(momentum @ (np.array(b.inertia) * acceleration)) < 1e-14 * scale * max(b.inertia)
