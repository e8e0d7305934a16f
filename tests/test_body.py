"""The body: moments of simple shapes, refusal of impossible ones, Euler's equations."""

import math

import numpy as np
import pytest
from conftest import UPRIGHT, make
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import polhode
from polhode import Body
from polhode.algebra import body
from polhode.algebra.quaternion import to_body, to_lab

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


# ---- rounded data ----


@settings(deadline=None)
@given(st.floats(0.1, 1.0), st.floats(0.1, 1.0), st.sampled_from([4, 5, 6, 8]), st.permutations([0, 1, 2]))
def test_flat_bodies_with_a_few_digits_are_bodies(a, b, digits, order):
    moments = [float(f"{(a, b, a + b)[k]:.{digits}g}") for k in order]
    excess = max(moments) / (sum(moments) - max(moments)) - 1
    if excess > 1e-12:
        with pytest.warns(UserWarning, match="violates the triangle inequality.*taken for rounding"):
            made = Body(tuple(moments))
    else:
        made = Body(tuple(moments))
    assert list(made.inertia) == moments


# ---- tensors ----

turns = st.tuples(numbers, numbers, numbers).map(lambda v: Rotation.from_rotvec(v).as_matrix())


def as_given(tensor, how):
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = tensor
    return {
        "array": tensor,
        "lists": tensor.tolist(),
        "six": [xx, yy, zz, xy, xz, yz],
        "nine": tuple(tensor.ravel()),
        "digits": [[float(f"{x:.6g}") for x in row] for row in tensor],
    }[how]


@settings(deadline=None, max_examples=200)
@given(bodies(), turns, st.sampled_from(["array", "lists", "six", "nine", "digits"]), st.integers(-40, 40), vectors)
def test_the_axes_of_a_tensor_are_undone_by_the_rotation(b, turn, how, power, omega):
    scale = 10.0**power
    tensor = scale * turn @ np.diag(b.inertia) @ turn.T
    assume(how != "digits" or max(b.inertia) < (1 - 1e-4) * (sum(b.inertia) - max(b.inertia)))
    made, rotation = Body.from_tensor(as_given((tensor + tensor.T) / 2, how), mass=2.0, triangle=False)
    assert made.mass == 2.0
    accuracy = 1e-5 if how == "digits" else 1e-13
    assert np.linalg.norm(rotation) == pytest.approx(1, abs=1e-15)
    moments = np.array(made.inertia)
    np.testing.assert_allclose(np.sort(moments), np.linalg.eigvalsh(tensor), rtol=0, atol=accuracy * moments.max())
    # The same angular momentum and energy, in either axes.
    turned = np.array(to_body(rotation, omega))
    np.testing.assert_allclose(to_lab(rotation, tuple(turned)), omega, rtol=0, atol=1e-14)
    momentum = to_lab(rotation, tuple(moments * turned))
    np.testing.assert_allclose(momentum, tensor @ omega, rtol=0, atol=10 * accuracy * moments.max())


def test_moments_of_a_diagonal_tensor_stay_where_they_are():
    for tensor in (np.diag([2.0, 3.0, 1.5]), [2.0, 3.0, 1.5, 0.0, 0.0, 0.0], (2.0, 3.0, 1.5)):
        assert Body.from_tensor(tensor) == (Body((2.0, 3.0, 1.5)), (1.0, 0.0, 0.0, 0.0))
        assert Body(tensor) == Body((2.0, 3.0, 1.5))


def test_products_of_inertia_have_the_sign_of_the_tensor():
    """Four masses: Ixy is minus the sum of m x y, as in LAMMPS' compute inertia and fix rigid."""
    masses = np.array([[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [0.3, -0.2, 0.1], [-0.3, 0.2, -0.1]])
    x, y, z = masses.T
    six = [sum(y * y + z * z), sum(x * x + z * z), sum(x * x + y * y), -sum(x * y), -sum(x * z), -sum(y * z)]
    _, rotation = Body.from_tensor(six)
    # The long axis is where the masses are.
    assert to_lab(rotation, (1.0, 0.0, 0.0))[0] * to_lab(rotation, (1.0, 0.0, 0.0))[1] > 0.4


def test_a_tensor_that_is_nearly_symmetric_is_made_so():
    with pytest.warns(UserWarning, match="symmetric tensor to 0.000"):
        made, _ = Body.from_tensor([[2.0, -0.5, 0.0], [-0.5004, 2.0, 0.0], [0.0, 0.0, 3.0]])
    assert made.inertia == pytest.approx((1.4998, 2.5002, 3.0), abs=1e-12)


# ---- moments of zero ----


@pytest.mark.parametrize("method", ["spiral_leapfrog", "magnus_adams4", "exact_rotor", "verlet"])
def test_a_rod_with_a_small_moment_moves_as_a_linear_rotor(method):
    """u'' = T x u / I - (u'.u') u, a unit vector under a force along x in the lab, by DOP853."""
    field = 0.7

    def torque(t, q, omega, parameters):
        force = to_body(q, (field, 0.0, 0.0))
        return (0.0, -force[2], force[1])  # e_x times the force

    rod = {"body": Body((1e-12, 1.0, 1.0)), "omega0": (0.0, 0.6, 1.1), "q0": UPRIGHT}
    problem = make("rod", torque, "state", **rod, horizon=5.0)
    run = polhode.simulate(problem, method, dt=5.0 / 4096, samples=16)

    def rate(t, y):
        u, v = y[:3], y[3:]
        force = np.array([field, 0, 0])
        return [*v, *(force - (force @ u) * u - (v @ v) * u)]

    exact = solve_ivp(rate, (0, 5), [1, 0, 0, 0, 1.1, -0.6], "DOP853", run.time.values, rtol=1e-12, atol=1e-13).y[:3].T
    axis = np.array([to_lab(tuple(q), (1.0, 0.0, 0.0)) for q in run.q.values])
    assert (run.omega.values[:, 0] == 0).all()
    np.testing.assert_allclose(axis, exact, atol=3e-6)


def test_principal_axes_are_those_of_lapack_and_point_forward():
    rng = np.random.default_rng(5)
    for _ in range(20):
        matrix_ = rng.normal(size=(3, 3))
        inertia = matrix_ @ matrix_.T
        moments, axes = map(np.array, body.principal_axes(inertia))
        wanted, columns = np.linalg.eigh(inertia)
        np.testing.assert_allclose(moments, wanted, rtol=0, atol=1e-14 * wanted[-1])
        np.testing.assert_allclose(np.abs(axes), np.abs(columns), rtol=0, atol=1e-13 * wanted[-1] / np.diff(wanted).min())
        np.testing.assert_allclose(axes.T @ inertia @ axes, np.diag(moments), rtol=0, atol=1e-14 * wanted[-1])
        assert (axes[np.abs(axes).argmax(axis=0), range(3)][:2] > 0).all()
        assert np.linalg.det(axes) == pytest.approx(1)
