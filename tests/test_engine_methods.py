"""Methods of engines and codes, and Adams-Bashforth: each against a version of its source in numpy, and by its identities.

The versions here hold what the source holds (matrices, lab frame, general solvers) and use no kernel of the package.
"""

from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import scipy.integrate
import scipy.optimize
from conftest import BODY, HEAVY, OMEGA0, Q0, damping_torque, heavy_torque, lab_torque, make, rotation
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import polhode
from polhode.algebra.body import Body
from polhode.algebra.quaternion import rotate
from polhode.methods import adams_bashforth, catto2015, lacoursiere2006, linear_system, richardson
from polhode.methods.adams_bashforth2_barker import local_linearisation, third_coefficient
from polhode.methods.buss2000_delvalle2024 import mean_rotation

#: These methods alone; the tests of all methods are quick.
pytestmark = pytest.mark.thorough

INERTIA = np.diag(BODY.inertia)
INVERSE = np.linalg.inv(INERTIA)
COEFFICIENTS = BODY.coefficients()
PROBLEMS = {
    "heavy": make("heavy", heavy_torque, "state", HEAVY),
    "lab": make("lab", lab_torque, "lab", {"y": 0.8}),
    "damped": make("damped", damping_torque, "velocity", {"c": 0.8}),
}
every_problem = pytest.mark.parametrize("name", PROBLEMS)


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def product(p, q):
    """Hamilton's product."""
    return np.concatenate([[p[0] * q[0] - p[1:] @ q[1:]], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])])


def pure(v):
    return np.concatenate([[0.0], v])


def exponential(v):
    """The quaternion of a rotation vector, by the exponential of a matrix."""
    x, y, z = np.asarray(v) / 2
    return expm(np.array([[0, -x, -y, -z], [x, 0, -z, y], [y, z, 0, -x], [z, -y, x, 0]])) @ [1, 0, 0, 0]


def unit(q):
    return q / np.linalg.norm(q)


def matrix(q):
    """Body to lab; of a quaternion that need not be of unit length."""
    return rotation(q).as_matrix()


def torque_of(problem):
    parameters = np.array([*problem.parameters.values(), 0.0])
    return lambda t, q, omega: np.array(problem.torque(t, tuple(q), tuple(omega), parameters))


def agree(key, problem, march, dt=0.02, steps=25, tolerance=2e-13):
    """Compare a run of the method with the pairs (q, omega) that ``march`` gives after each step, the start first."""
    run = polhode.simulate(problem, key, dt, steps * dt, samples=steps)
    expected = march(problem, dt, steps)
    assert len(run.time) == len(expected) == steps + 1
    for q, omega, (q_expected, omega_expected) in zip(run.q.values, run.omega.values, expected, strict=True):
        assert min(np.abs(q - q_expected).max(), np.abs(q + q_expected).max()) < tolerance
        np.testing.assert_allclose(omega, omega_expected, rtol=0, atol=tolerance)


# --- linear systems --------------------------------------------------------------------------------------------------


def test_linear_systems_are_solved():
    rng = np.random.default_rng(4)
    for _ in range(50):
        rows, right = np.eye(3) + 0.4 * rng.uniform(-1, 1, (3, 3)), rng.normal(size=3)
        solution = linear_system.solve(*map(tuple, rows), tuple(right))
        np.testing.assert_allclose(solution, np.linalg.solve(rows, right), rtol=0, atol=1e-13)


# --- one step of the free body, then the torque: rescaled momentum, Catto, Lacoursière --------------------------------


def engine(free_step, turn):
    """An engine that keeps the angular velocity in the lab frame, as all do: ``march`` of :func:`agree`."""

    def march(problem, dt, steps):
        torque = torque_of(problem)
        q, omega_lab = np.array(problem.q0), matrix(problem.q0) @ problem.omega0
        states = [(q, np.array(problem.omega0))]
        for n in range(steps):
            r = matrix(q)
            omega = r.T @ omega_lab
            torque_lab = r @ torque(n * dt, q, omega)
            inverse_lab = r @ INVERSE @ r.T
            omega_lab = r @ free_step(omega, dt) + dt * inverse_lab @ torque_lab
            q = unit(turn(q, omega_lab, dt))
            states.append((q, matrix(q).T @ omega_lab))
        return states

    return march


def exactly(q, omega_lab, dt):
    return product(exponential(dt * omega_lab), q)


def linearly(q, omega_lab, dt):
    return q + dt / 2 * product(pure(omega_lab), q)


def rescaled_step(omega, dt):
    momentum = INERTIA @ omega
    new = momentum - dt * np.cross(omega, momentum)
    return INVERSE @ (new * np.linalg.norm(momentum) / np.linalg.norm(new))


def newton_step(omega, dt):
    residual = dt * np.cross(omega, INERTIA @ omega)
    jacobian = INERTIA + dt * (skew(omega) @ INERTIA - skew(INERTIA @ omega))
    return omega - np.linalg.solve(jacobian, residual)


def step_by_torque(omega, dt):
    """ODE's way: the solution made into a torque that a semi-implicit step then applies."""
    momentum = INERTIA @ omega
    tilde = INERTIA - dt * skew(momentum)
    torque = (INERTIA @ np.linalg.inv(tilde) - np.eye(3)) @ momentum / dt
    return omega + dt * INVERSE @ torque


ENGINES = {
    "rescaled_momentum": engine(rescaled_step, exactly),
    "catto2015": engine(newton_step, exactly),
    "lacoursiere2006": engine(step_by_torque, linearly),
}


@every_problem
@pytest.mark.parametrize("key", ENGINES)
def test_engines_as_they_are_in_the_lab_frame(key, name):
    agree(key, PROBLEMS[name], ENGINES[key])


@pytest.mark.parametrize("key", ENGINES)
def test_a_body_at_rest_stays_at_rest(key, free_problem):
    run = polhode.simulate(free_problem((1.0, 1.7, 2.3), (0.0, 0.0, 0.0)), key, 0.1)
    assert (run.omega == 0).all() and (run.q == np.array(Q0)).all()


def test_the_rescaled_momentum_keeps_its_length(free_problem):
    """Also with steps of half a radian, in which the explicit step alone lengthens it a hundredfold."""
    problem = free_problem((1.0, 1.7, 2.3))
    run = polhode.simulate(problem, "rescaled_momentum", 0.3, 300.0, samples=1000)
    length = np.linalg.norm(run.omega.values * BODY.inertia, axis=1)
    np.testing.assert_allclose(length, length[0], rtol=1e-13, atol=0)
    momentum = INERTIA @ np.array(OMEGA0)
    for _ in range(1000):
        momentum = momentum - 0.3 * np.cross(INVERSE @ momentum, momentum)
        if np.linalg.norm(momentum) > 100 * length[0]:
            break
    assert np.linalg.norm(momentum) > 100 * length[0]


def implicit_equation(new, old, dt):
    return INERTIA @ (new - old) + dt * np.cross(new, INERTIA @ new)


def test_catto_meets_the_implicit_equation_to_third_order():
    """The equation is quadratic: what one Newton step leaves is its quadratic term alone."""
    old = np.array(OMEGA0)
    residuals, distances = [], []
    for dt in (0.2, 0.1, 0.05, 0.025, 0.0125):
        change = np.array(catto2015.newton_step(OMEGA0, COEFFICIENTS, dt))
        residual = implicit_equation(old + change, old, dt)
        np.testing.assert_allclose(residual, dt * np.cross(change, INERTIA @ change), rtol=0, atol=1e-15)
        root = scipy.optimize.root(implicit_equation, old, (old, dt), tol=1e-15)
        assert np.abs(root.fun).max() < 1e-14
        assert change @ (root.x - old) > 0.99 * np.linalg.norm(change) * np.linalg.norm(root.x - old)
        residuals.append(np.linalg.norm(residual))
        distances.append(np.linalg.norm(old + change - root.x))
    assert np.log2(residuals[-2] / residuals[-1]) == pytest.approx(3, abs=0.1)
    assert np.log2(distances[-2] / distances[-1]) == pytest.approx(3, abs=0.1)
    assert residuals[0] < 1e-2


def test_lacoursiere_solves_his_equation():
    for dt in (0.001, 0.1, 1.0, 10.0):
        new = np.array(lacoursiere2006.implicit_step(OMEGA0, COEFFICIENTS, dt))
        momentum = INERTIA @ np.array(OMEGA0)
        np.testing.assert_allclose(new, np.linalg.solve(INERTIA - dt * skew(momentum), momentum), rtol=0, atol=1e-14)
        np.testing.assert_allclose(INERTIA @ new + dt * np.cross(new, momentum), momentum, rtol=0, atol=1e-13)
        # The energy: its product with the new angular velocity; by Cauchy and Schwarz it cannot grow.
        assert new @ INERTIA @ new == pytest.approx(new @ momentum, rel=1e-13)
        assert new @ INERTIA @ new < OMEGA0 @ momentum
        determinant = np.prod(BODY.inertia) + dt**2 * momentum @ INERTIA @ momentum
        assert np.linalg.det(INERTIA - dt * skew(momentum)) == pytest.approx(determinant, rel=1e-13)


@pytest.mark.parametrize(("key", "axis"), [("catto2015", 2), ("lacoursiere2006", 2), ("rescaled_momentum", 1)])
def test_where_a_free_spin_ends(key, axis, free_problem):
    """Implicit steps dissipate, down to a spin about the axis of the largest moment, or to rest.

    The rescaled momentum keeps its length and ends at the axis of the *middle* moment, about which a real body does not spin.
    """
    run = polhode.simulate(free_problem((1.0, 1.7, 2.3), (0.5, 0.6, 0.7)), key, 0.2, 4000.0, samples=10)
    momentum = np.abs(run.omega.values[-1] * BODY.inertia)
    assert momentum[axis] == pytest.approx(np.linalg.norm(momentum), rel=1e-6)


# --- Richardson (LAMMPS) ---------------------------------------------------------------------------------------------


def richardson_march(problem, dt, steps, extrapolate=True):
    """Angular momentum and velocity in the lab frame, quaternions multiplied from the left."""
    torque = torque_of(problem)

    def omega_of(q, momentum):
        r = matrix(q)
        return r @ INVERSE @ r.T @ momentum

    q = np.array(problem.q0)
    momentum = matrix(q) @ INERTIA @ problem.omega0
    torque_lab = matrix(q) @ torque(0.0, q, problem.omega0)
    states = [(q, np.array(problem.omega0))]
    for n in range(steps):
        momentum = momentum + dt / 2 * torque_lab
        rate = product(pure(omega_of(q, momentum)), q) / 2
        full = unit(q + dt * rate)
        half = unit(q + dt / 2 * rate)
        omega = omega_of(half, momentum)
        twice = unit(half + dt / 2 * product(pure(omega), half) / 2)
        q = unit(2 * twice - full) if extrapolate else twice
        torque_lab = matrix(q) @ torque((n + 1) * dt, q, matrix(q).T @ omega)
        momentum = momentum + dt / 2 * torque_lab
        states.append((q, matrix(q).T @ omega_of(q, momentum)))
    return states


@every_problem
def test_richardson_as_lammps_has_it(name):
    agree("richardson", PROBLEMS[name], richardson_march)


def test_the_extrapolation_makes_richardson_second_order(cases):
    exact = cases["orientation"].exact(1.0)[0]
    for extrapolate, order in ((True, 2), (False, 1)):
        errors = []
        for steps in (128, 256):
            q = richardson_march(cases["orientation"].problem, 1 / steps, steps, extrapolate)[-1][0]
            errors.append(min(np.abs(q - exact).max(), np.abs(q + exact).max()))
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def test_what_richardson_leaves_to_the_normalisation():
    """Two unit quaternions that differ by O(dt^2): the norm of their extrapolation differs from one by O(dt^4)."""
    momentum = tuple(matrix(Q0) @ INERTIA @ np.array(OMEGA0))
    excess = [np.linalg.norm(richardson.extrapolated(Q0, momentum, COEFFICIENTS, dt)[0]) - 1 for dt in (0.1, 0.05, 0.025)]
    assert min(excess) > 0
    assert np.log2(excess[1] / excess[2]) == pytest.approx(4, abs=0.1)
    run = polhode.simulate(PROBLEMS["heavy"], "richardson", 0.1)
    np.testing.assert_allclose(np.linalg.norm(run.q, axis=1), 1, rtol=0, atol=3e-16)


# --- Fincham's leapfrog in YADE --------------------------------------------------------------------------------------


def leapfrog(turned_with, handed):
    """Fincham's leapfrog: the orientation that turns L(t + dt/2) into the body, and the omega that a torque is handed."""

    def march(problem, dt, steps):
        torque = torque_of(problem)
        q, omega = np.array(problem.q0), np.array(problem.omega0)
        torque_0 = torque(0.0, q, omega)
        momentum = matrix(q) @ (INERTIA @ omega - dt / 2 * torque_0)
        stored = omega - dt / 2 * INVERSE @ (torque_0 - np.cross(omega, INERTIA @ omega))
        states = []
        for n in range(steps + 1):
            r = matrix(q)
            seen = {"stored": stored, "of the momentum": INVERSE @ r.T @ momentum}[handed]
            torque_lab = r @ torque(n * dt, q, seen)
            omega = INVERSE @ r.T @ (momentum + dt / 2 * torque_lab)
            states.append((q, omega))
            half = q + dt / 2 * product(q, pure(omega)) / 2
            momentum = momentum + dt * torque_lab
            # rotation() normalises; the kernels of fincham1992 turn by q v q*, which is longer by |q|^2.
            turning = {"old": r, "half": matrix(half) * (half @ half)}[turned_with]
            stored = INVERSE @ turning.T @ momentum
            q = unit(q + dt * product(half, pure(stored)) / 2)
        return states

    return march


@every_problem
def test_yade_takes_the_old_orientation(name):
    agree("fincham1992_yade", PROBLEMS[name], leapfrog("old", "stored"))


@pytest.mark.parametrize("name", ["heavy", "lab"])
def test_one_change_makes_it_the_original(name):
    """Without friction nothing depends on the omega handed out, and the orientation is the one difference."""
    agree("fincham1992", PROBLEMS[name], leapfrog("half", "of the momentum"))
    agree("fincham1992_yade", PROBLEMS[name], leapfrog("old", "of the momentum"))


def test_the_variant_of_the_comparison_normalises_in_between():
    """It differs from YADE's code by no more than that, yet visibly."""
    first, second = (
        polhode.simulate(PROBLEMS["lab"], key, 0.02, 1.0) for key in ("fincham1992_yade", "fincham1992_delvalle2024")
    )
    assert 1e-7 < np.abs(first.q - second.q).max() < 1e-3


# --- Munjiza ---------------------------------------------------------------------------------------------------------


def rodrigues(v, psi):
    """A vector turned by the rotation vector psi, as Eqs. 5.81 to 5.87 turn the triad."""
    angle = np.linalg.norm(psi)
    along = (psi @ v) / angle**2 * psi
    return along + (v - along) * np.cos(angle) + np.cross(psi, v) * np.sin(angle) / angle


def munjiza_march(problem, dt, steps, mean=lambda w: (w[0] + 2 * w[1] + 2 * w[2] + w[3]) / 6):
    torque = torque_of(problem)
    triad, omega = matrix(problem.q0), matrix(problem.q0) @ problem.omega0
    states = [(np.array(problem.q0), np.array(problem.omega0))]

    def turned(psi):
        return np.column_stack([rodrigues(axis, psi) for axis in triad.T])

    def omega_of(axes, momentum):
        return np.linalg.inv(axes @ INERTIA @ np.linalg.inv(axes)) @ momentum

    for n in range(steps):
        q = states[-1][0]
        momentum = triad @ INERTIA @ np.linalg.inv(triad) @ omega + dt * triad @ torque(n * dt, q, triad.T @ omega)
        stages = [omega]
        for time in (dt / 2, dt / 2, dt):
            stages.append(omega_of(turned(time * stages[-1]), momentum))
        triad = turned(dt * mean(stages))
        omega = omega_of(triad, momentum)
        x, y, z, w = Rotation.from_matrix(triad).as_quat()
        states.append((np.array([w, x, y, z]), triad.T @ omega))
    return states


@every_problem
def test_munjiza_as_the_book_has_it(name):
    agree("munjiza2003", PROBLEMS[name], munjiza_march)


def test_what_the_mean_of_munjiza_lacks(cases):
    """Rotations do not commute: the first step of a free body errs by dt^3/12 omega x d(omega)/dt, in the lab frame."""
    problem, exact = cases["free"].problem, cases["free"].exact
    omega = np.array(problem.omega0)
    rate = -INVERSE @ np.cross(omega, INERTIA @ omega)
    expected = matrix(problem.q0) @ np.cross(omega, rate) / 12
    for dt, tolerance in ((1e-2, 0.1), (1e-3, 0.01)):
        run = polhode.simulate(problem, "munjiza2003", dt, dt, samples=1)
        error = (rotation(run.q.values[-1]) * rotation(exact(dt)[0]).inv()).as_rotvec()
        np.testing.assert_allclose(error / dt**3, expected, rtol=0, atol=tolerance * np.abs(expected).max())


# --- Adams-Bashforth -------------------------------------------------------------------------------------------------


def weights(count):
    """The integrals from 0 to 1 of the Lagrange polynomials through 0, -1, ..., in exact fractions."""
    integrals = []
    for j in range(count):
        polynomial = [Fraction(1)]  # of s, the constant first
        for k in range(count):
            if k != j:  # times (s + k)/(k - j)
                polynomial = [
                    (a * k + b) / (k - j) for a, b in zip([*polynomial, Fraction(0)], [Fraction(0), *polynomial], strict=True)
                ]
        integrals.append(sum(c / (i + 1) for i, c in enumerate(polynomial)))
    return tuple(integrals)


def test_coefficients_are_the_integrals_of_polynomials():
    assert weights(2) == (Fraction(3, 2), Fraction(-1, 2))
    for coefficients in (adams_bashforth.SECOND, adams_bashforth.THIRD, adams_bashforth.FOURTH):
        assert coefficients == tuple(float(w) for w in weights(len(coefficients)))


def buss(q, omega, rate, dt):
    return product(q, exponential(dt * (omega + dt / 2 * rate + dt**2 / 12 * np.cross(rate, omega))))


def barker(q, omega, rate, dt):
    """The integral that defines it, by Gauss's quadrature of exponentials of matrices (right multiplication by w)."""

    def right(v):
        x, y, z = v
        return np.array([[0, -x, -y, -z], [x, 0, z, -y], [y, -z, 0, x], [z, y, -x, 0]]) / 2

    w, u = right(omega), right(rate)
    # Later factors stand to the right of the quaternion, that is to the left in matrices.
    nodes, parts = np.polynomial.legendre.leggauss(20)
    times = dt / 2 * (1 + nodes)
    whole = sum(dt / 2 * weight * s * expm((dt - s) * w) for weight, s in zip(parts, times, strict=True)) @ u
    return (expm(dt * w) + whole) @ q


def barker_in_jsbsim(q, omega, rate, dt):
    """The closed form with the other sign of the cross product, as JSBSim executes it."""
    v, u, size = omega / 2, rate / 2, np.linalg.norm(omega / 2)
    c1, c2 = np.cos(size * dt), np.sin(size * dt) / size
    c3, c4 = (1 - c1) / size**2, (dt - c2) / size**2
    return product(q, np.concatenate([[c1 - c4 * (v @ u)], c2 * v + c3 * u + c4 * np.cross(v, u)]))


def two_step(turn):
    def march(problem, dt, steps):
        torque = torque_of(problem)
        q, omega, last = np.array(problem.q0), np.array(problem.omega0), None
        states = [(q, omega)]
        for n in range(steps):
            rate = INVERSE @ (torque(n * dt, q, omega) - np.cross(omega, INERTIA @ omega))
            q = unit(turn(q, omega, rate, dt))
            omega = omega + dt * (1.5 * rate - 0.5 * (rate if last is None else last))
            last = rate
            states.append((q, omega))
        return states

    return march


@every_problem
@pytest.mark.parametrize(("key", "turn"), [("adams_bashforth2_buss", buss), ("adams_bashforth2_barker", barker)])
def test_two_steps_with_a_rotation(key, turn, name):
    agree(key, PROBLEMS[name], two_step(turn))


@every_problem
@pytest.mark.parametrize(("key", "count"), [("adams_bashforth3", 3), ("adams_bashforth4", 4)])
def test_each_step_is_the_formula(key, count, name):
    """From the states of the run itself, so that the first steps, which are of another kind, do not matter."""
    problem, dt, steps = PROBLEMS[name], 0.02, 20
    torque = torque_of(problem)
    run = polhode.simulate(problem, key, dt, steps * dt, samples=steps)
    states = list(zip(run.q.values, run.omega.values, strict=True))
    rates = []
    for n, (q, omega) in enumerate(states):
        rate = INVERSE @ (torque(n * dt, q, omega) - np.cross(omega, INERTIA @ omega))
        rates.append((product(q, pure(omega)) / 2, rate))
    b = [float(w) for w in weights(count)]
    for n in range(count - 1, steps):
        q, omega = (x + dt * sum(b[j] * rates[n - j][i] for j in range(count)) for i, x in enumerate(states[n]))
        q_found, omega_found = states[n + 1]
        np.testing.assert_allclose(q_found * np.sign(q_found @ q), unit(q), rtol=0, atol=1e-14)
        np.testing.assert_allclose(omega_found, omega, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    "turn",
    [
        lambda q, omega, rate, dt: rotate(q, mean_rotation(omega, rate, dt, 1 / 12), dt),
        lambda q, omega, rate, dt: unit(local_linearisation(q, omega, rate, dt)),
    ],
    ids=["buss", "barker"],
)
def test_no_rotation_of_second_order_has_formulas_of_higher(turn):
    """Why they are not methods with Buss's or Barker's rotation. The torque is one of omega alone, which q does not change."""
    problem, horizon = polhode.problems["damped_top"], 1.0
    inertia = np.array(problem.body.inertia)
    exact = polhode.simulate(problem, "adams_bashforth4", horizon / 4096, horizon, samples=1).q.values[-1]
    for key, order in (("adams_bashforth3", 3), ("adams_bashforth4", 4)):
        errors, turned = [], []
        for steps in (64, 128):
            dt = horizon / steps
            run = polhode.simulate(problem, key, dt, horizon, samples=steps)
            q = run.q.values[0]
            for omega in run.omega.values[:-1]:
                torque = np.array(problem.torque(0.0, None, omega, problem.parameter_array))
                q = np.array(turn(*map(tuple, (q, omega, (torque - np.cross(omega, inertia * omega)) / inertia)), dt))
            errors.append(np.abs(run.q.values[-1] - exact).max())
            turned.append(np.abs(q - exact).max())
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)
        assert np.log2(turned[0] / turned[1]) == pytest.approx(2, abs=0.2)
        assert turned[1] > 3 * errors[1]


@pytest.mark.parametrize("key", ["adams_bashforth3", "adams_bashforth4"])
def test_without_the_warm_up_two_orders_remain(key, cases):
    """What JSBSim does: the rates before the first step are taken to be that of the first."""
    cold = replace(polhode.methods[key].without_passages(), key="cold")
    for name in ("constant_asymmetric", "orientation"):
        errors = []
        for steps in (640, 1280):
            run = polhode.simulate(cases[name].problem, cold, 1 / steps, 1.0, samples=1)
            errors.append(np.abs(run.omega.values[-1] - cases[name].exact(1.0)[1]).max())
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.19, 0.21, 1.0, 20.0])
def test_local_linearisation_is_its_integral(size):
    """From rest to several turns in a step, where the series of the third coefficient hands over and where sines reduce."""
    dt = 0.8
    omega, rate = size / dt * np.array([0.6, -0.64, 0.48]), np.array([0.7, 0.4, -1.1])
    turned = local_linearisation(Q0, tuple(omega), tuple(rate), dt)
    np.testing.assert_allclose(turned, barker(np.array(Q0), omega, rate, dt), rtol=0, atol=3e-14)


def test_the_third_coefficient_keeps_its_digits():
    for rho in np.geomspace(1e-8, 3.0, 200):
        with mpmath.workdps(40):
            r = mpmath.mpf(rho)
            exact = float((r - mpmath.sin(r)) / r**3)
        assert third_coefficient(rho * rho, float(mpmath.sin(mpmath.mpf(rho)) / mpmath.mpf(rho))) == pytest.approx(
            exact, rel=2e-13
        )
    assert third_coefficient(0.0, 1.0) == 1 / 6


@pytest.mark.parametrize(("frame", "turn", "order"), [("lab", buss, 5), ("body", barker, 3), ("body", barker_in_jsbsim, 4)])
def test_rotations_are_those_of_a_linear_angular_velocity(frame, turn, order):
    """Both assume that it grows at a constant rate in one step: Buss in the lab frame, Barker in the body frame."""
    omega, rate, lab = np.array([0.6, -0.64, 0.48]), np.array([0.7, 0.4, -1.1]), matrix(Q0)

    def right_hand_side(t, q):
        now = omega + t * rate
        return (product(pure(lab @ now), q) if frame == "lab" else product(q, pure(now))) / 2

    errors = []
    for dt in (0.4, 0.2, 0.1):
        exact = scipy.integrate.solve_ivp(right_hand_side, (0, dt), Q0, method="DOP853", rtol=3e-14, atol=1e-16).y[:, -1]
        errors.append(np.abs(unit(turn(np.array(Q0), omega, rate, dt)) - exact).max())
    assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.2)


# --- all of them -----------------------------------------------------------------------------------------------------


def linear_friction(t, q, omega, parameters):
    return (-parameters[0] * omega[0], -parameters[0] * omega[1], -parameters[0] * omega[2])


@pytest.mark.parametrize(
    ("key", "limit"),
    [
        ("rescaled_momentum", 2.0),
        ("catto2015", 2.0),
        ("lacoursiere2006", 2.0),
        ("richardson", 2.0),
        ("fincham1992_yade", 2.0),
        ("munjiza2003", 2.0),
        ("adams_bashforth2_buss", 1.0),
        ("adams_bashforth2_barker", 1.0),
        ("adams_bashforth3", 6 / 11),
        ("adams_bashforth4", 3 / 10),
    ],
)
def test_where_linear_friction_becomes_unstable(key, limit):
    """On a sphere of moment one; the product of friction and step, by which omega decays in a step."""
    sizes = []
    for factor in (0.98, 1.02):
        problem = make("friction", linear_friction, "velocity", {"k": factor * limit / 0.01}, body=Body((1.0, 1.0, 1.0)))
        run = polhode.simulate(problem, key, 0.01, 30.0, samples=2)
        sizes.append(np.linalg.norm(run.omega.values[-1]))
    assert sizes[0] < 1e-3 and not sizes[1] < 1e3, "beyond the limit it grows, or is no number any more"


def test_a_sphere_has_no_gyroscopic_term():
    sphere = Body((0.7, 0.7, 0.7)).coefficients()
    assert catto2015.newton_step(OMEGA0, sphere, 0.5) == (0.0, 0.0, 0.0)
    assert lacoursiere2006.implicit_step(OMEGA0, sphere, 0.5) == OMEGA0
