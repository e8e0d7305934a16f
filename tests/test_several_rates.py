"""Predicted SPIRAL under linear friction with several rates: what is proven in the supplement, against matrices and runs.

A mode of rate k carries v, its angular velocity at half times, and u, that handed to the torque.
With z = k dt and K = kappa dt,
kappa the rate that the secant holds in this step, a step is the linear map :func:`step`.
"""

import numpy as np
import pytest
from conftest import UPRIGHT, make

import polhode
from polhode.methods.predictor import damped
from polhode.problems.system import System


def step(z: float, held: float) -> np.ndarray:
    """The map of (v, u) over a step (2, 2), column by column from the kernel of the method; dt = 1."""
    columns = []
    for v, u in ((1.0, 0.0), (0.0, 1.0)):
        explicit = v - 0.5 * z * u
        predicted = damped((explicit, 0.0, 0.0), (u, 0.0, 0.0), held, 1.0)[0]
        columns.append((v - z * predicted, predicted))
    return np.array(columns).T


def largest_root(matrix: np.ndarray) -> float:
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def test_a_held_rate_is_stable_up_to_one_above_it():
    """Stable if and only if (k - kappa) dt < 1, over eight decades of both; at equality a root is -1."""
    random = np.random.default_rng(1)
    for z, held in 10.0 ** random.uniform(-4, 4, (2000, 2)):
        if abs(z - held - 1) > 1e-6 * (1 + z):
            assert (largest_root(step(z, held)) < 1) == (z - held < 1), (z, held)
    for held in (0.0, 0.7, 30.0):
        assert np.linalg.eigvals(step(1 + held, held)).real.min() == pytest.approx(-1, abs=1e-12)


def circle(z: float, low: float, high: float, x: np.ndarray) -> np.ndarray:
    """f of the circle criterion at x = 1 - cos, from the characteristic polynomials of the two maps."""
    turn = np.exp(1j * np.arccos(1 - x))
    values = []
    for held in (low, high):
        matrix = step(z, held)
        values.append((1 + held / 2) * (turn**2 - np.trace(matrix) * turn + np.linalg.det(matrix)))
    return (values[0] * values[1].conj()).real


def test_the_circle_criterion_holds_up_to_a_spread_of_one():
    """For every z between the ends of [low, high]: positive if they are less than 1 apart, and as in the supplement."""
    random, x = np.random.default_rng(2), np.linspace(0, 2, 401)
    for _ in range(300):
        low, spread = 10 ** random.uniform(-2, 2), random.uniform(0, 0.999)
        z = low + spread * random.uniform()
        f = circle(z, low, low + spread, x)
        assert f.min() > 0
        m, (d1, d2) = 1 + z / 2, (low - z, low + spread - z)
        formula = z**2 + 2 * m * (2 - m) * x - x * (z - m * x) * (d1 + d2) + d1 * d2 * x**2
        np.testing.assert_allclose(f, formula, rtol=1e-8, atol=1e-9 * f.max())
        low += 1.001 - spread  # z is now between low - 1.001 and low: the lower end does not bear it
        assert circle(z + 0.0, z - 1.001, z, x).min() < 0


def lyapunov(z: float, low: float, high: float) -> np.ndarray | None:
    """A quadratic form that the maps at both ends, and with them all between, decrease; by a search over its coefficients."""
    mixed, more = np.meshgrid(np.linspace(-3, 3, 241), np.geomspace(1e-3, 30, 120), indexing="ij")
    forms = np.stack([np.stack([np.ones_like(mixed), mixed], -1), np.stack([mixed, mixed**2 + more], -1)], -2)
    least = [np.linalg.eigvalsh(forms - m.T @ forms @ m)[..., 0] for m in (step(z, low), step(z, high))]
    left = np.minimum(*least)
    best = np.unravel_index(left.argmax(), left.shape)
    return forms[best] if left[best] > 0 else None


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("low", "spread", "there"), [(0.1, 0.85, True), (3.0, 0.85, True), (0.1, 1.1, False), (3.0, 1.1, False)]
)
def test_a_common_lyapunov_function_exists_up_to_a_spread_of_one(low, spread, there):
    """That of the fastest mode; without one, kappa at the slowest rate makes that mode grow."""
    form = lyapunov(low + spread, low, low + spread)
    assert (form is not None) == there
    if form is not None:
        for held in np.linspace(low, low + spread, 50):
            matrix = step(low + spread, held)
            assert np.linalg.eigvalsh(form - matrix.T @ form @ matrix)[0] > 0


def full_friction(t, q, omega, parameters):
    """-C omega with a full symmetric matrix C, by its six coefficients."""
    x, y, z = omega
    a = parameters
    return -(a[0] * x + a[3] * y + a[4] * z), -(a[3] * x + a[1] * y + a[5] * z), -(a[4] * x + a[5] * y + a[2] * z)


@pytest.mark.parametrize("fastest", [2.0, 8.0])
def test_rates_less_than_a_step_apart_decay(fastest):
    """On a sphere, at steps far beyond the limits of SPIRAL (2) and of the last torque (1)."""
    rates = np.array([fastest - 0.9, fastest - 0.4, fastest])
    axes = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))[0]
    c = axes @ np.diag(rates) @ axes.T
    rates = (c[0, 0], c[1, 1], c[2, 2], c[0, 1], c[0, 2], c[1, 2])
    parameters = {f"c{i}": float(x) for i, x in enumerate(rates)}
    of_start = {"body": polhode.Body((1.0, 1.0, 1.0)), "omega0": (1.0, -2.0, 0.5), "q0": UPRIGHT}
    problem = make("full", full_friction, "velocity", parameters, **of_start)
    run = polhode.simulate(problem, "spiral_predicted", 1.0, 60.0, samples=60)
    size = np.linalg.norm(run.omega.values, axis=1)
    assert size[-1] < 1e-4 * size[0] and size.max() < (1 + fastest**2) * size[0]
    growing = polhode.simulate(problem, "spiral_predicted_last", 1.0, 60.0, samples=60)
    assert not np.linalg.norm(growing.omega.values[-1]) < size[0]


def between_two(t, r, v, q, omega, parameters, force, torque):
    """-D omega about one axis for two bodies, by the three coefficients of D."""
    a = parameters
    for i in range(2):
        for k in range(3):
            force[i][k] = 0.0
            torque[i][k] = 0.0
    torque[0][0] = -(a[0] * omega[0][0] + a[1] * omega[1][0])
    torque[1][0] = -(a[1] * omega[0][0] + a[2] * omega[1][0])


def test_two_bodies_with_a_secant_each_can_grow_without_bound():
    """Friction at the rates 0.77 and 8 couples two spheres; each knows only its own secant. The limits name this."""
    system = System(
        key="two",
        label="two",
        source="tests",
        bodies=(polhode.Body((1.0, 1.0, 1.0)),) * 2,
        omega0=((-0.49173, 0.0, 0.0), (0.76036, 0.0, 0.0)),
        loads=between_two,
        parameters={"first": 6.6296, "between": 2.8340, "second": 2.1392},
        torque_class="velocity",
        horizon=1.0,
        fixed=True,
    )
    size = np.abs(polhode.simulate(system, "spiral_predicted", 1.0, 3000.0, samples=30).omega.values).max(axis=(1, 2))
    assert not size[-1] < 1e10
    # With a step a tenth as long the same motion decays.
    size = np.abs(polhode.simulate(system, "spiral_predicted", 0.1, 30.0, samples=30).omega.values).max(axis=(1, 2))
    assert size[-1] < 1e-4 and size.max() < 1


def motion(friction: np.ndarray, start: np.ndarray, steps: int, predict) -> np.ndarray:
    """The predictions (step, component) of a leapfrog with the torques -friction u, moments 1 and dt = 1."""
    u, loss = start, friction @ start
    v, predictions, changes = u - 0.5 * loss, [u], []
    for _ in range(steps):
        new = u + predict(v - 0.5 * loss - u, changes)
        changes.append((new - u, friction @ new - loss))
        u, loss = new, friction @ new
        v = v - loss
        predictions.append(u)
    return np.array(predictions)


def by_one_secant(residual, changes):
    """The change of the prediction with the last secant over all components."""
    change, loss = changes[-1] if changes else (residual, 0 * residual)
    return residual / (1 + 0.5 * max(0.0, float(loss @ change / (change @ change))))


def by_all_secants(residual, changes, new=1e-4):
    """The change of the prediction with friction projected on all changes so far; ``new``: the part that makes a direction."""
    basis, products = np.zeros((len(residual), 0)), np.zeros((len(residual), 0))
    for change, loss in changes:
        inside = basis.T @ change
        rest = change - basis @ inside
        size = np.linalg.norm(rest)
        if size > new * np.linalg.norm(change):
            basis, products = np.c_[basis, rest / size], np.c_[products, (loss - products @ inside) / size]
    inside = basis.T @ residual
    damping = np.eye(basis.shape[1]) + 0.5 * basis.T @ products
    return residual - basis @ inside + basis @ np.linalg.solve(damping, inside)


def coupled(random: np.random.Generator, rates: np.ndarray) -> np.ndarray:
    """A friction matrix with these rates and random directions."""
    directions, _ = np.linalg.qr(random.normal(size=(len(rates), len(rates))))
    return directions * rates @ directions.T


def test_one_secant_over_two_bodies_damps_their_growth():
    """The pair of the test above; and, as proven, six components at large rates that differ by less than 1/dt."""
    pair = np.array([[6.6296, 2.8340], [2.8340, 2.1392]])
    assert np.abs(motion(pair, np.array([-0.49173, 0.76036]), 100, by_one_secant)[-1]).max() < 1e-6
    random = np.random.default_rng(7)
    for largest in (5.0, 50.0):
        friction = coupled(random, random.uniform(largest - 0.99, largest, 6))
        assert np.abs(motion(friction, random.normal(size=6), 200, by_one_secant)[-1]).max() < 1e-3


def test_coupled_secants_decay_whatever_the_rates():
    """Four bodies, with rates up to 20/dt and one that is zero; once all directions are known the step is the midpoint rule."""
    random = np.random.default_rng(8)
    rates = np.array([0.0, *10.0 ** random.uniform(-0.7, 1.3, 10), 20.0])
    friction, start = coupled(random, rates), random.normal(size=12)
    u = motion(friction, start, 260, by_all_secants)
    left, directions = np.linalg.eigh(friction)
    free = directions[:, 0]
    assert abs(left[0]) < 1e-12 and np.abs(u).max() > 10, "the motion grows before it decays"
    assert u[-1] == pytest.approx(free * (free @ start), abs=1e-6)
    z = rates[-1]
    stiffest = (u @ directions[:, -1])[30:60]
    assert stiffest[1:] == pytest.approx(stiffest[:-1] * (1 - z / 2) / (1 + z / 2), rel=1e-5)


def friction_at_one_rate(t, q, omega, parameters):
    x, y, z = omega
    a = parameters
    return -a[0] * x, -a[1] * y, -a[2] * z


@pytest.mark.parametrize(("rate", "grows"), [(5.0, True), (0.9, False)])
def test_with_the_gyroscopic_term_the_first_step_sets_a_limit(rate, grows):
    """The first step has no secant and multiplies omega by 1 - z + z^2/2; the gyroscopic term is then too large."""
    inertia = (1.0, 1.5, 2.0)
    parameters = {f"c{i}": rate * moment for i, moment in enumerate(inertia)}
    # Half a radian in a step.
    of_start = {"body": polhode.Body(inertia), "omega0": (0.3, -0.3, 0.26), "q0": UPRIGHT}
    problem = make("one", friction_at_one_rate, "velocity", parameters, **of_start)
    size = np.linalg.norm(polhode.simulate(problem, "spiral_predicted", 1.0, 200.0, samples=20).omega.values, axis=1)
    assert (not size[-1] < 1e10) == grows
    if not grows:
        assert size[-1] < 1e-10 * size[0] and size.max() <= size[0]
