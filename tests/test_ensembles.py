"""Ensembles of random bodies: the draw, the exact states against independent solutions, the runs, the orders of all methods."""

import mpmath
import numpy as np
import pytest
from conftest import FEW

import polhode
from polhode.algebra import metrics
from polhode.ensembles import CLASSES, Bodies, double_double, draw, reference, simulate_many
from polhode.ensembles.draw import MARGIN, STRONGEST, WEAKEST
from polhode.fits.seed_statistics import ranks
from polhode.methods import METHODS
from polhode.problems.problem import Problem
from polhode.references import asymmetric_top, taylor
from polhode_study.run.ensemble import method_dataset
from polhode_study.run.ensemble_states import states_dataset

TIMES = np.array([1.0, 4.0])


def unit_torque(torque):
    """The torque at the orientation of q, whatever its norm: the kernels turn vectors by q and q*, which adds |q|^2."""

    def at_unit(t, q, omega, parameters):
        size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]
        x, y, z = torque(t, q, omega, parameters)
        return x / size, y / size, z / size

    return at_unit


def problem_of(key: str, bodies: Bodies, i: int, exact: bool = False) -> Problem:
    """One body of an ensemble as a problem."""
    of_class = CLASSES[key]
    turned = exact and key in ("lab", "state")
    return Problem(
        key=key,
        label=key,
        source="tests",
        body=polhode.Body(tuple(bodies.moments[i].tolist())),
        q0=tuple(bodies.q0[i].tolist()),
        omega0=tuple(bodies.omega0[i].tolist()),
        torque=unit_torque(of_class.torque) if turned else of_class.torque,
        parameters=dict(zip(of_class.parameters, bodies.parameters[i].tolist(), strict=True)),
        torque_class=of_class.declared,
        horizon=float(TIMES[-1]),
    )


# --- double-double arithmetic -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("add", lambda a, b: a + b),
        ("subtract", lambda a, b: a - b),
        ("multiply", lambda a, b: a * b),
        ("divide", lambda a, b: a / b),
        ("inverse_root", lambda a, b: 1 / mpmath.sqrt(abs(a))),
    ],
)
def test_pairs_carry_31_digits(name, exact):
    random = np.random.default_rng(1)
    with mpmath.workdps(60):
        for _ in range(200):
            a, b = ((x := float(random.standard_normal()), float(random.uniform(-1, 1) * np.spacing(x) / 2)) for _ in range(2))
            if name == "inverse_root":
                a = a if a[0] > 0 else (-a[0], -a[1])
                result = double_double.inverse_root(a)
            else:
                result = getattr(double_double, name)(a, b)
            wide = [mpmath.mpf(x[0]) + mpmath.mpf(x[1]) for x in (a, b, result)]
            right = exact(*wide[:2])
            # A difference of pairs that nearly cancel has the error of the pairs.
            scale = max(abs(right), abs(wide[0]), abs(wide[1])) if name in ("add", "subtract") else abs(right)
            assert abs(wide[2] - right) < 1e-30 * scale


def test_a_product_and_its_rounding_are_exact():
    """Fused multiply-add or reordered arithmetic in the compiled code would show here."""
    random = np.random.default_rng(2)
    for a, b in random.standard_normal((200, 2)).tolist():
        p, e = double_double.two_product(a, b)
        s, f = double_double.two_sum(a, b)
        with mpmath.workdps(60):
            assert mpmath.mpf(p) + mpmath.mpf(e) == mpmath.mpf(a) * mpmath.mpf(b)
            assert mpmath.mpf(s) + mpmath.mpf(f) == mpmath.mpf(a) + mpmath.mpf(b)


# --- the draw -----------------------------------------------------------------------------------------------------------


def test_bodies_do_not_depend_on_their_number():
    few, many = draw(4, seed=7), draw(9, seed=7)
    for name in ("moments", "q0", "omega0", "strength"):
        assert (getattr(few, name) == getattr(many, name)[:4]).all()
    for key in CLASSES:
        assert (few.parameters[key] == many.parameters[key][:4]).all()
        assert few.parameters[key].shape == (4, len(CLASSES[key].parameters))
    assert not (draw(4, seed=8).moments == few.moments).any()


@pytest.mark.parametrize("seed", [0, 1, 2026])
def test_few_bodies_fill_the_range_of_the_strength(seed):
    """One in each of as many equal parts: 32 bodies have the median of all, which independent ones miss by a fifth."""
    drawn = draw(32, seed)
    share = np.log(drawn.strength / WEAKEST) / np.log(STRONGEST / WEAKEST)
    assert np.bincount((share * 32).astype(int), minlength=32).max() <= 2
    assert np.median(share) == pytest.approx(0.5, abs=1 / 32)
    # So do the other coordinates: height and azimuth of the axis of rotation.
    height = (drawn.omega0[:, 2] + 1) / 2
    azimuth = np.arctan2(drawn.omega0[:, 1], drawn.omega0[:, 0]) / (2 * np.pi) % 1
    for share in (height, azimuth):
        assert (np.bincount((share * 32).astype(int), minlength=32) > 0).sum() >= 31


@pytest.mark.thorough
def test_the_interval_of_a_median_covers_at_least_what_it_says():
    """That of the sign test belongs to independent bodies; for more even ones it is too wide, not too narrow."""

    def quantities(drawn):
        spin = (drawn.moments * drawn.omega0**2).sum(axis=1)
        arm = np.linalg.norm(drawn.parameters["state"], axis=1)
        return drawn.strength * spin, spin, arm * (1 + drawn.q0[:, 0] ** 2), drawn.parameters["lab"][:, 3] + drawn.strength

    exact = [np.median(values) for values in quantities(draw(4096, seed=1))]
    k, coverage = ranks(32)
    hits = []
    for seed in range(100, 300):
        ordered = [np.sort(values) for values in quantities(draw(32, seed))]
        hits.append([sample[k - 1] <= value <= sample[-k] for sample, value in zip(ordered, exact, strict=True)])
    # Of 200 intervals with 98 %, less than 0.95 of them would be a chance of one in a hundred.
    assert coverage > 0.95 and (np.mean(hits, axis=0) > 0.95).all(), np.mean(hits, axis=0)


def test_bodies_fill_the_triangle_of_moments():
    drawn = draw(600)
    small, _, large = np.sort(drawn.moments, axis=1).T
    assert np.allclose(drawn.moments.mean(axis=1), 1) and (small >= MARGIN * large).all()
    assert (2 * drawn.moments.max(axis=1) < drawn.moments.sum(axis=1)).all()
    # Barycentric coordinates of a uniform distribution over a triangle have the mean 1/3 and the variance 1/18.
    shares = 1 - drawn.moments / 1.5
    assert np.allclose(shares.mean(axis=0), 1 / 3, atol=0.03) and np.allclose(shares.var(axis=0), 1 / 18, atol=0.008)
    assert np.allclose((drawn.omega0**2).sum(axis=1), 1) and np.allclose((drawn.q0**2).sum(axis=1), 1)
    assert np.allclose(drawn.omega0.mean(axis=0), 0, atol=0.08) and np.allclose(
        (drawn.omega0**2).mean(axis=0), 1 / 3, atol=0.04
    )
    # A uniform rotation: the squares of the components of q have the mean 1/4 and the variance 1/16 - 1/48 ... of a 3-sphere.
    assert np.allclose((drawn.q0**2).mean(axis=0), 1 / 4, atol=0.03)
    logs = np.log(drawn.strength / WEAKEST) / np.log(STRONGEST / WEAKEST)
    assert logs.min() >= 0 and logs.max() <= 1 and abs(logs.mean() - 0.5) < 0.04 and abs(logs.var() - 1 / 12) < 0.01


@pytest.mark.parametrize("key", ["time", "lab"])
def test_frequencies_fill_their_range(key):
    """From 0.3 to 3 times the initial angular velocity, uniform in the logarithm."""
    frequencies = draw(400).parameters[key][:, 9]
    assert 0.3 <= frequencies.min() < 0.32 and 2.8 < frequencies.max() <= 3.0
    logs = np.log(frequencies)
    assert logs.mean() == pytest.approx(np.log(0.9**0.5), abs=0.1)
    assert logs.var() == pytest.approx(np.log(10) ** 2 / 12, rel=0.15)


@pytest.mark.thorough
def test_a_torque_has_the_strength_drawn():
    """The angular acceleration over many orientations, directions and times, from the torques themselves."""
    drawn, random = draw(5, seed=3), np.random.default_rng(0)
    directions = random.standard_normal((1000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    rotations = random.standard_normal((1000, 4))
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    for key in ("constant", "lab", "state", "friction_isotropic", "friction_anisotropic"):
        for i in range(len(drawn)):
            given = drawn.parameters[key][i]
            # Whole periods of the torque, so that the mean over time is right.
            times = 2 * np.pi / given[-1] * random.uniform(0, 1, 1000) if key == "lab" else np.zeros(1000)
            turned = zip(times.tolist(), rotations.tolist(), directions.tolist(), strict=True)
            moments = np.array([CLASSES[key].torque(t, tuple(q), tuple(w), given) for t, q, w in turned])
            size = np.sqrt((np.square(moments / drawn.moments[i]).sum(axis=1)).mean())
            assert abs(size / drawn.strength[i] - 1) < 0.1, key


# --- exact states -------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("key", CLASSES)
def test_exact_states_agree_with_arbitrary_precision(key):
    """The series of :mod:`polhode.references.taylor` run the torque that the methods run; here each class has its own."""
    drawn = draw(2, seed=11)
    high, low, digits = reference.reference(drawn, key, TIMES)
    assert (digits > 25).all()
    bodies = drawn.bodies(key)
    for i in range(len(drawn)):
        for n, (q, omega) in enumerate(taylor.solve(problem_of(key, bodies, i, exact=True), TIMES.tolist(), 34)):
            with mpmath.workdps(40):
                norm = mpmath.sqrt(sum(x * x for x in q))
                exact = [*(x / norm for x in q), *omega]
                apart = max(
                    abs(x - mpmath.mpf(h) - mpmath.mpf(s)) for x, h, s in zip(exact, high[i, n], low[i, n], strict=True)
                )
            assert apart < 1e-25, (key, i, float(apart))


def test_free_exact_states_agree_with_the_closed_form():
    drawn = draw(3, seed=5)
    high, low, _ = reference.reference(drawn, "free", TIMES)
    for i in range(len(drawn)):
        exact = asymmetric_top.solve(problem_of("free", drawn.bodies("free"), i), TIMES.tolist(), 34)
        for n, (q, omega) in enumerate(exact):
            with mpmath.workdps(40):
                norm = mpmath.sqrt(sum(x * x for x in q))
                sign = 1 if sum(float(x) * h for x, h in zip(q, high[i, n, :4], strict=True)) > 0 else -1
                state = [*(sign * x / norm for x in q), *omega]
                apart = max(
                    abs(x - mpmath.mpf(h) - mpmath.mpf(s)) for x, h, s in zip(state, high[i, n], low[i, n], strict=True)
                )
            assert apart < 1e-25


def test_digits_are_what_two_runs_share(monkeypatch):
    """States that a coarser run does not confirm are not given more digits than it has."""
    drawn = draw(2, seed=11)
    exact = reference.reference(drawn, "lab", TIMES)
    monkeypatch.setattr(reference, "CHECK_ORDER", 8)
    monkeypatch.setattr(reference, "CHECK_TOLERANCE", 1e-9)
    again = reference.reference(drawn, "lab", TIMES)
    assert (again[0] == exact[0]).all() and (again[1] == exact[1]).all()
    for i in range(2):
        body = drawn.moments[i], drawn.q0[i], drawn.omega0[i], drawn.parameters["lab"][i]
        high, low = reference.solve("lab", *body, TIMES, 8, 1e-9)
        apart = np.abs((high - exact[0][i]) + (low - exact[1][i])).max()
        assert 8 < again[2][i] < 20 and abs(again[2][i] + np.log10(apart)) < 1e-9


def test_errors_far_below_rounding_are_measured():
    """The difference of a double from a pair is taken before anything is rounded, and the norm of q does not count."""
    drawn = draw(4, seed=1)
    high, low, _ = reference.reference(drawn, "state", TIMES)
    q, omega = high[..., :4], high[..., 4:]
    angle, apart = reference.errors(q, omega, high, low)
    assert (apart < 1e-15).all() and np.allclose(apart, np.linalg.norm(low[..., 4:], axis=-1), rtol=1e-12)
    assert (angle < 1e-15).all()
    other, _ = reference.errors(-q * 1.5, omega, high, low)
    assert np.allclose(other, 0, atol=1e-15)
    # Against the distance that the rest of the package uses, for errors of every size.
    random = np.random.default_rng(4)
    for size in (1e-9, 1e-4, 0.1, 2.0):
        turn = random.standard_normal((*q.shape[:-1], 4)) * size
        angle, _ = reference.errors(q + turn, omega, high, low)
        assert np.allclose(angle, metrics.geodesic_angle(q + turn, high[..., :4]), rtol=1e-6)


# --- many bodies at once ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["spiral_leapfrog", "rk4", "magnus_adams4"])
@pytest.mark.parametrize("key", ["lab", "friction_smooth_coulomb"])
def test_simulate_many_has_the_bits_of_simulate(method, key):
    bodies = draw(3).bodies(key)
    run = simulate_many(bodies, method, key, dt=0.05, steps=[10, 40])
    assert dict(run.sizes) == {"body": 3, "time": 2, "quaternion": 4, "axis": 3} and not run["diverged"].any()
    for i in range(3):
        alone = polhode.simulate(problem_of(key, bodies, i), method, dt=0.05, t_end=2.0, samples=4)
        assert (run["q"].values[i] == alone["q"].values[[1, 4]]).all()
        assert (run["omega"].values[i] == alone["omega"].values[[1, 4]]).all()
        assert (run["stored_omega"].values[i] == alone["stored_omega"].values[[1, 4]]).all()


def test_simulate_many_takes_torques_of_ones_own():
    def brake(t, q, omega, parameters):
        return (-parameters[0] * omega[0], -parameters[0] * omega[1], -parameters[0] * omega[2])

    drawn = draw(3)
    friction = drawn.bodies("friction_isotropic")
    with_brake = simulate_many(friction, METHODS["spiral_leapfrog"], brake, 0.1, 20)
    assert with_brake.equals(simulate_many(friction, "spiral_leapfrog", "friction_isotropic", 0.1, 20))
    free = Bodies(drawn.moments, drawn.q0, drawn.omega0)
    assert simulate_many(free, "rk4", "free", 0.1, 20).sizes["body"] == 3


def test_a_blow_up_is_recorded_and_others_continue():
    bodies = draw(2).bodies("friction_isotropic")
    bodies.parameters[0], bodies.parameters[1] = 1000.0, 0.1
    run = simulate_many(bodies, "euler", "friction_isotropic", 0.5, 400)
    assert run["diverged"].values.tolist() == [True, False]
    assert np.isnan(run["q"].values[0]).all() and np.isfinite(run["q"].values[1]).all()


def test_bodies_that_cannot_exist_are_allowed_on_request():
    moments = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, 4.0]])
    assert len(Bodies(moments, np.eye(4)[:2], np.ones((2, 3)), triangle=False)) == 2


# --- orders -------------------------------------------------------------------------------------------------------------

#: Classes of torque under which a method has no error.
EXACT = {("free", "exact_rotor")}


def measured_orders(method: str, exact, classes) -> list[tuple[str, str, int, float]]:
    """The slope of the median error over the bodies, where it is between rounding and saturation; NaN if it never is.

    Under a weak torque the terms that come from it are small, and an error that they reduce to first order falls with the
    second power down to very small steps; therefore only bodies under torques of some strength.
    """
    exact = exact.isel(body=exact["strength"].values > 0.1)
    steps = [2.0**-k for k in range(3, 12)]
    data = method_dataset(METHODS[method], exact, steps)
    orders = []
    for i, key in enumerate(classes):
        for quantity, declared in zip(("q", "omega"), METHODS[method].orders(CLASSES[key].declared), strict=True):
            median = np.median(data[f"error_{quantity}"].values[i, :, :, -1], axis=0)
            usable = (median > 1e-11) & (median < 0.1)
            slopes = -np.diff(np.log2(median))[usable[1:] & usable[:-1]]
            orders.append((key, quantity, declared, float(slopes[-2:].mean()) if len(slopes) else np.nan))
    return orders


@pytest.mark.thorough
@pytest.mark.parametrize("method", METHODS)
def test_the_median_error_has_the_declared_order(method, exact_states):
    """In all classes for one method of each kind, in two for the others, which tests/test_orders.py follows in all of them."""
    exact = exact_states if method in FEW else exact_states.isel(torque_class=[3, 6])
    classes = [str(key) for key in exact["torque_class"].values]
    for key, quantity, declared, order in measured_orders(method, exact, classes):
        # Around exact free motion nothing but rounding is left of a free body, and of weak torques at fourth order.
        if (key, method) not in EXACT and not (np.isnan(order) and method.startswith(("exact_rotor", "rotor_"))):
            assert abs(order / declared - 1) < 0.1, (key, quantity, declared, order)


@pytest.fixture(scope="module")
def exact_states():
    return states_dataset(24, 2026, list(CLASSES), [4.0])
