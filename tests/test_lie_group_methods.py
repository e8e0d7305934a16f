"""Lie group, midpoint and Moser-Veselov methods: against independent implementations, closed forms and what they must keep."""

from itertools import combinations

import numpy as np
import pytest
from conftest import BODY, HEAVY, OMEGA0, Q0, heavy_torque, make, no_torque, plain, rotation
from scipy.linalg import expm
from scipy.optimize import root
from scipy.spatial.transform import Rotation

import polhode
from polhode.algebra import metrics
from polhode.algebra.body import Body, euler_equations
from polhode.algebra.quaternion import normalise
from polhode.methods import implicit_midpoint, moser_veselov, moser_veselov4
from polhode.methods.plain_driver import plain_driver
from polhode.references import asymmetric_top
from polhode_study.chapters.long_runs.run_symplecticity import PROBLEMS, Stepper, rattle, step_defects

#: These methods alone; the tests of all methods are quick.
pytestmark = pytest.mark.thorough

FREE = make("free", no_torque, "free", omega0=(2.7, -2.1, 3.3), horizon=1000.0)
TOP = make("heavy", heavy_torque, "state", HEAVY)
LIE = ("rkmk4", "cf4", "lie_rk4_naive")
KEEPING = ("implicit_midpoint", "implicit_midpoint_iterated", "moser_veselov", "moser_veselov4")
#: Any, nearly a rod, flat, a sphere, an axis of symmetry.
BODIES = ((1.0, 1.7, 2.3), (0.02, 1.0, 1.01), (1.0, 1.5, 2.5), (0.7, 0.7, 0.7), (2.0, 1.2, 1.2))


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def vee(m):
    return np.array([m[2, 1], m[0, 2], m[1, 0]])


def in_scalar_first(turned):
    return turned.as_quat()[[3, 0, 1, 2]]


# --- Lie group Runge-Kutta methods ------------------------------------------------------------------------------------


def matrices(key, problem, dt, steps):
    """Rotation matrix and omega after some steps, by matrix exponentials and commutators, for the kinematics R' = R W."""
    inertia = np.diag(problem.body.inertia)
    parameters = problem.parameter_array

    def rate(t, turned, omega):
        torque = problem.torque(t, in_scalar_first(Rotation.from_matrix(turned)), omega, parameters)
        return np.linalg.solve(inertia, torque - np.cross(omega, inertia @ omega))

    def bracket(a, b):
        return a @ b - b @ a

    def inverse_dexp(u, w):
        """The series of z/(1 - exp(-z)), z = ad u, to its second bracket."""
        once = bracket(u, w)
        return w + once / 2 + bracket(u, once) / 12

    r, omega = rotation(problem.q0).as_matrix(), np.array(problem.omega0)
    for n in range(steps):
        t = n * dt
        w, a, k = [omega], [rate(t, r, omega)], [hat(omega)]
        second = None
        for c in (0.5, 0.5, 1.0):
            u = c * dt * (k[-1] if key == "rkmk4" else hat(w[-1]))
            stage = r @ expm(u)
            if key == "cf4" and c == 1.0:
                stage = second @ expm(dt * hat(w[2]) - 0.5 * dt * hat(w[0]))
            second = stage if second is None else second
            w.append(omega + c * dt * a[-1])
            a.append(rate(t + c * dt, stage, w[-1]))
            k.append(inverse_dexp(u, hat(w[-1])))
        if key == "cf4":
            r = r @ expm(dt * hat(w[0] / 4 + w[1] / 6 + w[2] / 6 - w[3] / 12))
            r = r @ expm(dt * hat(-w[0] / 12 + w[1] / 6 + w[2] / 6 + w[3] / 4))
        else:
            k = k if key == "rkmk4" else [hat(x) for x in w]
            r = r @ expm(dt / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3]))
        omega = omega + dt / 6 * (a[0] + 2 * a[1] + 2 * a[2] + a[3])
    return r, omega


@pytest.mark.parametrize("key", LIE)
def test_lie_group_methods_with_matrices(key):
    steps, dt = 20, 0.05
    r, omega = matrices(key, TOP, dt, steps)
    run = polhode.simulate(TOP, key, dt, steps * dt, samples=1)
    np.testing.assert_allclose(rotation(run.q.values[-1]).as_matrix(), r, rtol=0, atol=3e-13)
    np.testing.assert_allclose(run.omega.values[-1], omega, rtol=0, atol=3e-12)


def test_what_the_naive_scheme_leaves_out():
    """The commutator of the exponent of the exact rotation: dt^3/12 omega x omega'."""
    body, omega = FREE.body.coefficients(), np.array(FREE.omega0)
    acceleration = np.array(plain(euler_equations)(FREE.omega0, (0.0, 0.0, 0.0), body))
    missing = []
    for dt in (4e-3, 2e-3):
        ((q, _),) = asymmetric_top.solve(FREE, [dt], 25)
        run = polhode.simulate(FREE, "lie_rk4_naive", dt, dt, samples=1)
        gap = (rotation(run.q.values[-1]).inv() * rotation(np.array(q, float))).as_rotvec()
        missing.append(gap / dt**3)
    expected = np.cross(omega, acceleration) / 12
    assert np.abs(expected).min() > 0.1
    # What is left is of first order in dt.
    assert np.abs(missing[1] - expected).max() < 0.03 * np.abs(expected).max()
    assert 2 * missing[1] - missing[0] == pytest.approx(expected, rel=1e-3)


# --- what the implicit methods keep -----------------------------------------------------------------------------------


@pytest.mark.parametrize("turn", [0.1, 0.5])
@pytest.mark.parametrize("key", KEEPING)
def test_energy_and_lab_momentum_of_the_free_body_stay(key, turn):
    """Round-off of 10^4 steps; a Newton iteration less, or a wrong moment, and it is millions of times more."""
    steps, dt = 10_000, turn / np.linalg.norm(FREE.omega0)
    run = polhode.simulate(FREE, key, dt, steps * dt, samples=200)
    momentum = np.asarray(metrics.lab_angular_momentum(run.q, run.omega, FREE.body.inertia))
    assert np.abs(run.energy.values / run.energy.values[0] - 1).max() < 2e-13
    assert np.linalg.norm(momentum - momentum[0], axis=1).max() < 2e-13 * np.linalg.norm(momentum[0])
    # The motion is there: omega goes round.
    assert np.ptp(run.omega.values[:, 0]) > 1


def test_a_splitting_keeps_the_momentum_alone():
    """A check of the test above: on another second-order method it sees an energy that moves."""
    run = polhode.simulate(FREE, "no_squish", 0.02, 20.0, samples=200)
    assert np.abs(run.energy.values / run.energy.values[0] - 1).max() > 1e-5


def random_steps(turn):
    """Bodies, and rotation vectors of length ``turn`` for a step dt = 1."""
    rng = np.random.default_rng(11)
    for inertia in BODIES:
        for axes in ((0, 1, 2), (1, 2, 0), (2, 1, 0)):
            body = Body(tuple(inertia[i] for i in axes)).coefficients()
            for _ in range(40):
                omega = rng.normal(size=3)
                yield body, tuple(map(float, turn * omega / np.linalg.norm(omega)))


@pytest.mark.parametrize(("turn", "bound"), [(0.1, 1e-15), (0.5, 1e-15), (1.0, 1e-13)])
def test_residual_of_the_mean_angular_velocity(turn, bound):
    """Of the equation itself, written out with a cross product; relative to omega."""
    mean_velocity, worst = plain(implicit_midpoint.mean_velocity), 0.0
    for body, omega in random_steps(turn):
        inertia, torque = np.array(body[:3]), turn**2 * np.array([0.1, -0.2, 0.15]) * min(body[:3])
        mean = np.array(mean_velocity(omega, tuple(torque), body, 1.0))
        gap = mean - omega - 0.5 * (torque - np.cross(mean, inertia * mean)) / inertia
        worst = max(worst, np.abs(gap).max() / turn)
    assert worst < bound


@pytest.mark.parametrize("key", ["moser_veselov", "moser_veselov4"])
@pytest.mark.parametrize(("turn", "bound"), [(0.1, 3e-15), (0.5, 3e-15), (0.7, 2e-12), (0.9, 1e-6)])
def test_residual_of_moser_and_veselov(key, turn, bound):
    """Of their matrix equation R D - D R^T = dt hat(y), D the diagonal moments; relative to its right-hand side."""
    rotate, modified, worst = plain(moser_veselov.rotation), plain(moser_veselov4.modified_inverses), 0.0
    for body, omega in random_steps(turn):
        inertia = np.array(body[:3])
        momentum = inertia * omega
        if key == "moser_veselov4":
            inertia = 1 / np.array(modified(tuple(momentum), body, 1.0))
        x, y, z = inertia
        c = rotate(tuple(0.5 * momentum / inertia), ((y - z) / x, (z - x) / y, (x - y) / z))
        r = Rotation.from_quat([*c, 1.0]).as_matrix()
        d = np.diag(inertia.sum() / 2 - inertia)
        worst = max(worst, np.abs(vee(r @ d - d @ r.T) - momentum).max() / np.abs(momentum).max())
    assert worst < bound


def test_newton_converges_quadratically():
    """One iteration leaves what its error squared explains; three leave round-off."""
    body, omega = BODY.coefficients(), (0.4, -0.25, 0.3)
    newton, a = plain(moser_veselov.newton), tuple(0.5 * x for x in omega)
    c, steps = np.array(a), []
    for _ in range(5):
        new = np.array(newton(tuple(c), a, body[6:9]))
        steps.append(np.abs(new - c).max())
        c = new
    assert steps[1] < steps[0] ** 2 and steps[2] < 2 * steps[1] ** 2 and steps[3] < 1e-15


# --- implicit midpoint ------------------------------------------------------------------------------------------------


def test_midpoint_rule_as_one_system():
    """Momentum and rotation matrix of the same step by a general solver, with the Cayley transform as a matrix inverse."""
    dt, torque = 0.2, np.array([0.5, -0.7, 0.4])
    problem = make("constant", lambda t, q, omega, parameters: (0.5, -0.7, 0.4), "constant")
    inertia = np.array(BODY.inertia)
    start = inertia * OMEGA0

    def gap(end):
        middle = (start + end) / 2
        return end - start - dt * (np.cross(middle, middle / inertia) + torque)

    end = root(gap, start, tol=1e-14).x
    half = dt / 2 * hat((start + end) / 2 / inertia)
    r = rotation(Q0).as_matrix() @ np.linalg.solve(np.eye(3) - half, np.eye(3) + half)
    for key in ("implicit_midpoint", "implicit_midpoint_iterated"):
        run = polhode.simulate(problem, key, dt, dt, samples=1)
        np.testing.assert_allclose(run.omega.values[-1], end / inertia, rtol=0, atol=1e-14)
        np.testing.assert_allclose(rotation(run.q.values[-1]).as_matrix(), r, rtol=0, atol=1e-14)


def midpoint_by_a_solver(key, problem, dt, steps):
    """The last orientation and omega; torque and omega of each step by a general solver, rotations by scipy."""
    inertia, parameters = np.array(problem.body.inertia), problem.parameter_array

    def rate(t, turned, at, omega):
        torque = np.array(problem.torque(t, in_scalar_first(turned), at, parameters))
        return (torque - np.cross(omega, inertia * omega)) / inertia

    turned, omega = rotation(problem.q0), np.array(problem.omega0)
    acceleration = rate(0.0, turned, omega, omega)
    for n in range(steps):
        t = (n + 0.5) * dt
        ahead = turned * Rotation.from_rotvec(dt / 2 * (omega + dt / 4 * acceleration))

        def step(mean):
            size = np.linalg.norm(mean)
            return 2 * np.arctan(dt * size / 2) * mean / size

        def gap(mean, t=t, turned=turned, ahead=ahead, omega=omega, acceleration=acceleration):
            if key == "implicit_midpoint":
                return mean - omega - dt / 2 * rate(t, ahead, omega + dt / 2 * acceleration, mean)
            return mean - omega - dt / 2 * rate(t, turned * Rotation.from_rotvec(step(mean) / 2), mean, mean)

        mean = root(gap, omega, tol=1e-14).x
        turned, acceleration, omega = turned * Rotation.from_rotvec(step(mean)), 2 * (mean - omega) / dt, 2 * mean - omega
    return turned.as_matrix(), omega


@pytest.mark.parametrize("key", ["implicit_midpoint", "implicit_midpoint_iterated"])
def test_midpoint_methods_with_a_solver(key):
    """A torque of time, orientation and angular velocity at once."""

    def torque(t, q, omega, parameters):
        return (q[1] - 0.8 * omega[0] + t, q[2] * q[3] - 0.5 * omega[1], 0.3 * omega[0] - omega[2] - 2.0 * q[0] * q[1])

    problem, dt, steps = make("mixed", torque, "velocity"), 0.02, 25
    r, omega = midpoint_by_a_solver(key, problem, dt, steps)
    run = polhode.simulate(problem, key, dt, steps * dt, samples=1)
    # Four iterations of the torque leave (k dt/2)^4 of what changes in half a step.
    tolerance = 1e-12 if key == "implicit_midpoint" else 1e-9
    np.testing.assert_allclose(run.omega.values[-1], omega, rtol=0, atol=tolerance)
    np.testing.assert_allclose(rotation(run.q.values[-1]).as_matrix(), r, rtol=0, atol=tolerance)


def test_midpoint_rule_is_almost_poisson():
    """Third order in a step for the canonical form (the main result of Austin et al., says their abstract)."""
    problem = polhode.problems["free_asymmetric_top"]
    start = np.array(problem.q0), np.array(problem.omega0)
    method = polhode.methods["implicit_midpoint"]
    first, second = (max(step_defects(Stepper(method, problem, dt), *start)) for dt in (0.02, 0.01))
    assert np.log2(first / second) == pytest.approx(3, abs=0.05)


@pytest.mark.parametrize(("z", "stable"), [(0.95, True), (1.05, False)])
def test_stability_under_friction(z, stable):
    """The roots of l^2 - (1 - 3z/2) l - z/2, z = k dt, leave the unit circle at z = 1."""
    assert (np.abs(np.roots([1, -(1 - 1.5 * z), -z / 2])).max() < 1) == stable
    damped = make(
        "drag",
        lambda t, q, omega, parameters: (-omega[0], -omega[1], -omega[2]),
        "velocity",
        body=Body((1.0, 1.0, 1.0)),
        horizon=1000.0,
    )
    run = polhode.simulate(damped, "implicit_midpoint", z, 500 * z, samples=1)
    assert (np.abs(run.omega.values[-1]).max() < 1e-6) == stable


# --- time symmetry ----------------------------------------------------------------------------------------------------


def there_and_back(key, problem, dt, steps):
    """The distance from the start after some steps and as many with -dt."""
    ends = [np.array(problem.q0), np.array(problem.omega0)]
    for length in (dt, -dt):
        driver = plain_driver(
            polhode.methods[key], plain, plain(problem.torque), problem.body.coefficients(), length, problem.parameter_array
        )
        state = driver.start(*(tuple(map(float, x)) for x in ends))
        for n in range(steps):
            state = driver.step(state, n)
        ends = driver.read(state, steps)
    return max(np.abs(np.array(ends[0]) - problem.q0).max(), np.abs(np.array(ends[1]) - problem.omega0).max())


@pytest.mark.parametrize("key", ["moser_veselov", "moser_veselov4", "implicit_midpoint_iterated"])
def test_symmetric_methods_come_back(key):
    assert there_and_back(key, TOP, 5e-3, 100) < 1e-12


@pytest.mark.parametrize("key", ["implicit_midpoint", *LIE])
def test_the_others_do_not(key):
    assert there_and_back(key, TOP, 5e-3, 100) > 1e-12
    assert there_and_back("implicit_midpoint", FREE, 5e-3, 100) < 1e-13, "without a torque nothing is predicted"


# --- Moser-Veselov ----------------------------------------------------------------------------------------------------


def test_both_ends_of_a_step_obey_the_discrete_equations():
    """The momentum at the end, which the lab frame gives, has the products with the other sign (discrete Lagrangian)."""
    dt, inertia = 0.1, np.array(BODY.inertia)
    run = polhode.simulate(FREE, "moser_veselov", dt, 2 * dt, samples=2)
    for n in range(2):
        r = (rotation(run.q.values[n]).inv() * rotation(run.q.values[n + 1])).as_quat()
        products = (np.roll(inertia, -2) - np.roll(inertia, -1)) * np.roll(r[:3], -1) * np.roll(r[:3], -2)
        linear = inertia * r[3] * r[:3]
        np.testing.assert_allclose(dt / 2 * inertia * run.omega.values[n], linear + products, rtol=0, atol=2e-15)
        np.testing.assert_allclose(dt / 2 * inertia * run.omega.values[n + 1], linear - products, rtol=0, atol=2e-15)


@pytest.mark.parametrize("key", ["moser_veselov", "moser_veselov4"])
def test_moser_veselov_with_a_solver(key):
    """Momentum in the body frame, as Hairer and Vilmart carry it; the matrix equation by a general solver."""
    dt, steps, inertia = 0.02, 25, np.array(TOP.body.inertia)

    def torque(turned):
        return np.array(TOP.torque(0.0, in_scalar_first(turned), None, TOP.parameter_array))

    def changed(y):
        """The moments of the step: those of the body, or 1/(s/I + d)."""
        if key == "moser_veselov":
            return inertia
        energy, square = (y**2 / inertia).sum() / 2, y @ y / 2
        mixed, product = inertia.sum() / (6 * inertia.prod()), inertia.prod()
        s = 1 + dt**2 * (mixed * square - (1 / inertia).sum() / 3 * energy)
        return 1 / (s / inertia + dt**2 * (mixed * energy - square / (3 * product)))

    turned, y = rotation(TOP.q0), inertia * TOP.omega0
    for _ in range(steps):
        y = y + dt / 2 * torque(turned)
        moments = changed(y)
        d = np.diag(moments.sum() / 2 - moments)

        def gap(v, d=d, y=y):
            r = Rotation.from_rotvec(v).as_matrix()
            return vee(r @ d - d @ r.T) / dt - y

        step = Rotation.from_rotvec(root(gap, dt * y / inertia, tol=1e-14).x)
        turned, y = turned * step, step.inv().apply(y)
        y = y + dt / 2 * torque(turned)
    run = polhode.simulate(TOP, key, dt, steps * dt, samples=1)
    np.testing.assert_allclose(run.omega.values[-1], y / inertia, rtol=0, atol=1e-11)
    np.testing.assert_allclose(rotation(run.q.values[-1]).as_matrix(), turned.as_matrix(), rtol=0, atol=1e-11)


def test_moser_veselov_is_rattle():
    """The equivalence of McLachlan and Zanna (2005): RATTLE for the nine elements of the rotation matrix."""
    dt, inertia, omega = 0.08, np.array(FREE.body.inertia), np.array(FREE.omega0)
    second = inertia.sum() / 2 - inertia
    r, p = np.eye(3), hat(omega) * second
    for _ in range(5):
        r, p = rattle(r, p, second, dt, 80)
    run = polhode.simulate(FREE, "moser_veselov", dt, 5 * dt, samples=1)
    turned = (rotation(FREE.q0).inv() * rotation(run.q.values[-1])).as_matrix()
    np.testing.assert_allclose(turned, r, rtol=0, atol=1e-13)
    np.testing.assert_allclose(inertia * run.omega.values[-1], vee(r.T @ p - p.T @ r), rtol=0, atol=1e-12)


def shaken(x, v, masses, force, dt, steps):
    """Stoermer's rule for sites whose distances are held: multipliers by Newton's method; positions (steps + 1, sites, 3)."""
    pairs = np.array(list(combinations(range(len(x)), 2)))
    lengths = np.sum((x[pairs[:, 0]] - x[pairs[:, 1]]) ** 2, axis=1)
    path = [x]
    for n in range(steps):
        x = path[-1]
        # The gradient of each constraint by all sites, over the masses.
        pull = np.zeros((len(pairs), *x.shape))
        for c, (a, b) in enumerate(pairs):
            pull[c, a], pull[c, b] = 2 * (x[a] - x[b]) / masses[a], 2 * (x[b] - x[a]) / masses[b]
        moved = dt * v + dt**2 / 2 * force(x) / masses[:, None] if n == 0 else x - path[-2] + dt**2 * force(x) / masses[:, None]
        free, multipliers = x + moved, np.zeros(len(pairs))
        for _ in range(8):
            new = free + np.einsum("c,cai->ai", multipliers, pull)
            between = new[pairs[:, 0]] - new[pairs[:, 1]]
            slope = 2 * np.einsum("di,cdi->dc", between, pull[:, pairs[:, 0]] - pull[:, pairs[:, 1]])
            multipliers = multipliers - np.linalg.solve(slope, np.sum(between**2, axis=1) - lengths)
        path.append(free + np.einsum("c,cai->ai", multipliers, pull))
    return np.array(path)


def test_shake_is_moser_veselov_with_the_leapfrog_of_the_centre():
    """The supplement proves it (SHAKE, RATTLE and SETTLE are the Moser-Veselov map); here three sites on springs."""
    masses, stiffness = np.array([2.0, 0.7, 1.1]), np.array([3.0, 5.0, 2.0])
    sites = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [-0.3, 0.9, 0.0]])
    sites -= masses @ sites / masses.sum()
    tensor = np.einsum("a,ai,aj->ij", masses, sites, sites)
    moments, axes = np.linalg.eigh(np.trace(tensor) * np.eye(3) - tensor)
    sites = sites @ (axes * np.linalg.det(axes))
    anchors = sites + 0.3 * np.array([[1, -1, 2], [0, 1, -1], [2, 0, 1]])
    dt, steps, v0, omega0 = 0.05, 20, np.array([0.2, -0.1, 0.3]), np.array(OMEGA0)

    def force(x):
        return -stiffness[:, None] * (x - anchors)

    start = rotation(Q0).apply(sites)
    v = v0 + np.cross(rotation(Q0).apply(omega0), start)
    path = shaken(start, v, masses, force, dt, steps)
    method, body = polhode.methods["moser_veselov"], Body(tuple(moments)).coefficients()
    begin, before, after, normalised = map(plain, (method.start, method.before_torque, method.after_torque, normalise))

    def load(r, q):
        arms = rotation(q).apply(sites)
        forces = force(r + arms)
        return forces.sum(axis=0), tuple(rotation(q).inv().apply(np.cross(arms, forces).sum(axis=0)))

    r, mass = np.zeros(3), masses.sum()
    total, torque = load(r, Q0)
    state = begin(tuple(Q0), tuple(omega0), torque, body, dt)
    for n in range(steps):
        v0 = v0 + dt / 2 * total / mass
        r = r + dt * v0
        state, q, _ = before(state, body, dt)
        q = normalised(q)
        np.testing.assert_allclose(r + rotation(q).apply(sites), path[n + 1], rtol=0, atol=1e-13)
        total, torque = load(r, q)
        state = after(q + state[4:], torque, body, dt)
        v0 = v0 + dt / 2 * total / mass


@pytest.mark.parametrize("inertia", BODIES)
def test_the_integral_of_the_discrete_system_is_the_energy(inertia):
    """d_i^2 = e_3/I_i + const, so that the sum of d_i^2 y_i^2 and |y|^2 give the energy."""
    moments = np.array(inertia)
    d = moments.sum() / 2 - moments
    assert np.ptp(d**2 - moments.prod() / moments) < 1e-14


@pytest.mark.parametrize("key", PROBLEMS)
def test_moser_veselov_is_symplectic(key):
    problem = polhode.problems[key]
    start = np.array(problem.q0), np.array(problem.omega0)
    assert max(step_defects(Stepper(polhode.methods["moser_veselov"], problem, 0.03), *start)) < 3e-15
    preprocessed = [max(step_defects(Stepper(polhode.methods["moser_veselov4"], problem, dt), *start)) for dt in (0.03, 0.015)]
    assert np.log2(preprocessed[0] / preprocessed[1]) == pytest.approx(5, abs=0.2)


def test_a_sphere_turns_by_the_arc_sine():
    """Closed forms: sin(angle) = |omega| dt; for the midpoint rule tan(angle/2) = |omega| dt/2."""
    problem = make("sphere", no_torque, "free", body=Body((0.7, 0.7, 0.7)))
    dt = 0.4
    x = dt * np.linalg.norm(OMEGA0)
    for key, angle in (("moser_veselov", np.arcsin(x)), ("implicit_midpoint", 2 * np.arctan(x / 2))):
        run = polhode.simulate(problem, key, dt, dt, samples=1)
        turned = (rotation(Q0).inv() * rotation(run.q.values[-1])).as_rotvec()
        np.testing.assert_allclose(turned, angle * np.array(OMEGA0) / np.linalg.norm(OMEGA0), rtol=0, atol=1e-14)


def test_preprocessing_of_a_sphere_is_the_series_of_the_sine():
    """A sphere should turn by x = |omega| dt, and turns by the arc sine of x I/I~: I/I~ is sin(x)/x to fourth order."""
    body = Body((0.7, 0.7, 0.7)).coefficients()
    momentum = tuple(0.7 * w for w in OMEGA0)
    dt = 0.3
    x2 = dt * dt * sum(w * w for w in OMEGA0)
    inverses = plain(moser_veselov4.modified_inverses)(momentum, body, dt)
    assert inverses == pytest.approx([(1 - x2 / 6) / 0.7] * 3, rel=1e-14)
