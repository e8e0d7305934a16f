"""Magnus-Adams 4: the truncated Magnus series, the start, discontinuities, stability under friction, and the warm-up."""

import math
from dataclasses import replace
from functools import partial

import mpmath
import numpy as np
import pytest
from conftest import OMEGA0, Q0, make, plain, right_hand_side
from scipy.integrate import solve_ivp

import polhode
from polhode.algebra import metrics
from polhode.methods import backward_differences
from polhode.methods.backward_differences import MEMORY, NOTHING, continued
from polhode.methods.fourth_order_start import fourth_order_step
from polhode.methods.magnus_adams4 import METHOD, magnus
from polhode.methods.plain_driver import plain_driver
from polhode.methods.translation import ADAMS
from polhode_study.chapters.long_runs import run_symplecticity as symplecticity
from polhode_study.chapters.seelen2016 import run as friction_check

#: These methods alone; the tests of all methods are quick.
pytestmark = pytest.mark.thorough

SPHERE = polhode.Body((1.0, 1.0, 1.0))
BARE = METHOD.without_passages()


def slopes(errors):
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


# --- the Magnus series -------------------------------------------------------------------------------------------------

#: omega(t) as a power series: generic, so that nothing cancels.
SERIES = np.random.default_rng(16).normal(size=(9, 3)) / np.cumprod([1, *range(1, 9)])[:, None]


def exact_turn(h, digits=40):
    """q(h) from q(0) = 1 by the power series of dq/dt = q (0, omega) / 2, with mpmath."""
    with mpmath.workdps(digits):
        series = [[mpmath.mpf(float(x)) for x in row] for row in SERIES]
        q = [[mpmath.mpf(1), mpmath.mpf(0), mpmath.mpf(0), mpmath.mpf(0)]]
        for k in range(80):
            new = [mpmath.mpf(0)] * 4
            for j in range(max(0, k - len(series) + 1), k + 1):
                (a, b, c, d), (x, y, z) = q[j], series[k - j]
                product = (-b * x - c * y - d * z, a * x + c * z - d * y, a * y + d * x - b * z, a * z + b * y - c * x)
                new = [n + p for n, p in zip(new, product, strict=True)]
            q.append([n / (2 * (k + 1)) for n in new])
        return [mpmath.fsum(row[i] * mpmath.mpf(h) ** k for k, row in enumerate(q)) for i in range(4)]


def ends(h):
    """omega(0), its rate of change, omega(h), and the rate of change there."""
    powers = h ** np.arange(9)
    rates = np.arange(1, 9)[:, None] * SERIES[1:]
    return SERIES[0], SERIES[1], powers @ SERIES, powers[:-1] @ rates


def truncated(h, factor):
    """The formula of the module in mpmath, with this factor at the commutator in place of 1/12."""
    with mpmath.workdps(40):
        w0, a0, w1, a1 = (mpmath.matrix([mpmath.mpf(float(x)) for x in v]) for v in ends(h))
        h = mpmath.mpf(h)
        cross = mpmath.matrix([w0[1] * w1[2] - w0[2] * w1[1], w0[2] * w1[0] - w0[0] * w1[2], w0[0] * w1[1] - w0[1] * w1[0]])
        v = h * (w0 + w1) / 2 + h**2 * (a0 - a1) / 12 + factor * h**2 * cross
        angle = mpmath.norm(v)
        return [mpmath.cos(angle / 2), *(mpmath.sin(angle / 2) / angle * x for x in v)]


@pytest.mark.parametrize(
    ("factor", "order"), [(mpmath.mpf(1) / 12, 5), (mpmath.mpf(0), 3), (-mpmath.mpf(1) / 12, 3), (mpmath.mpf(1) / 6, 3)]
)
def test_the_error_of_one_step_of_the_magnus_series(factor, order):
    """Fifth order with +1/12 and nothing else: the sign belongs to omega in the body frame, on the right of q."""
    errors = [
        float(max(abs(a - b) for a, b in zip(truncated(2.0**-k, factor), exact_turn(2.0**-k), strict=True)))
        for k in range(5, 10)
    ]
    assert slopes(errors) == pytest.approx(order, abs=0.12)
    assert slopes(errors)[-1] == pytest.approx(order, abs=0.01)


@pytest.mark.parametrize("h", [0.5, 0.1, 0.01])
def test_the_kernel_is_this_series(h):
    w0, a0, w1, a1 = (tuple(map(float, v)) for v in ends(h))
    omega = magnus((1.0, 0.0, 0.0, 0.0), w0, a0, w1, a1, h)
    assert omega == pytest.approx([float(x) for x in truncated(h, mpmath.mpf(1) / 12)], abs=2e-16)


# --- extrapolation and start -------------------------------------------------------------------------------------------


def cubic_torque(t, q, omega, parameters):
    return (0.3 - 1.1 * t + 0.7 * t * t - 2.0 * t * t * t, 0.9 * t * t, 1.3 * t * t * t - 0.4)


def test_a_cubic_torque_on_a_sphere_is_integrated_exactly():
    """Extrapolation, Runge-Kutta scheme and start are all exact for it."""
    run = polhode.simulate(make("cubic", cubic_torque, "time", body=SPHERE), METHOD, 1 / 16, 1.0)
    t = run.time.values
    exact = np.array(OMEGA0) + np.stack(
        [0.3 * t - 0.55 * t**2 + 0.7 / 3 * t**3 - 0.5 * t**4, 0.3 * t**3, 0.325 * t**4 - 0.4 * t], axis=1
    )
    np.testing.assert_allclose(run.omega.values, exact, rtol=0, atol=5e-15)


def test_a_cubic_force_is_integrated_exactly_once_it_is_known():
    remember, after = plain(continued), plain(ADAMS.after_force)
    h, mass, memory = 0.25, 2.0, NOTHING

    def force(t):
        return tuple(mass * x for x in cubic_torque(t, None, None, None))

    for n in range(3):
        memory = remember(memory, force(n * h))[-1]
    new = np.array(after((0.0,) * 6 + memory, force(3 * h), mass, h))
    nodes, weights = np.polynomial.legendre.leggauss(5)
    s = 0.5 * h * (nodes + 1)
    values = np.array([force(3 * h + x) for x in s]) / mass
    assert new[3:6] == pytest.approx(0.5 * h * weights @ values, abs=1e-15)
    assert new[:3] == pytest.approx(0.5 * h * (weights * (h - s)) @ values, abs=1e-15)


def fed(loads):
    """The results of ``continued`` for successive loads along x, in plain Python."""
    remember, memory = plain(continued), NOTHING
    for load in loads:
        result = remember(memory, (load, 0.0, 0.0))
        memory = result[-1]
        yield result


def test_the_degree_of_the_prediction_is_that_of_the_loads_known():
    loads = (1.0, 3.0, 10.0, 37.0, 151.0, 674.0)
    predicted = [result[3][0] for result in fed(loads)]
    expected = [np.polyval(np.polyfit(range(-k, 0), loads[m - k : m], k - 1), 0) for m, k in enumerate((1, 2, 3, 4, 4, 4), 1)]
    assert predicted == pytest.approx(expected, rel=1e-9)


def test_an_extremum_is_no_miss():
    """Where the first difference vanishes, the second is the measure, and the third where both are small."""
    results = list(fed(math.cos(0.2 * (n - 4.5)) for n in range(12)))
    assert results[5][0][0] == pytest.approx(0, abs=1e-15)
    assert [memory[13] for *_, memory in results[3:]] == [0.0] * 9
    results = list(fed(m**3 + 0.05 * m**4 for m in range(-5, 3)))
    first, second, third = (results[6][k][0] for k in range(3))
    assert 1.2 > first / 2 > second and third > 2.4, "the miss is 24 times 0.05"
    assert [memory[13] for *_, memory in results[4:]] == [0.0] * 4


def test_the_fifth_miss_in_a_row_makes_the_prediction_linear():
    """Loads of alternating sign miss from the third on. The differences above the first are used up to the fourth miss."""
    results = list(fed((-1.0) ** n for n in range(10)))
    assert [memory[13] for *_, memory in results] == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    used = [[difference[0] for difference in result[:3]] for result in results]
    # The second and third differences of +-1 are +-4 and -+8, all that is known of them at each load.
    assert used[3:6] == [[-2, -4, -8], [2, 4, 8], [-2, -4, -8]]
    for n in range(6, 10):
        sign = (-1.0) ** n
        assert used[n] == [2 * sign, 0, 0] and results[n][3] == (3 * sign, 0, 0) and results[n][-1][12] == 2


def finer_start(problem, n):
    """q at t = 1 after n steps, the first three in halves: their error is as good as none beside that of the method."""
    parameters, body, dt = tuple(problem.parameters.values()), problem.body.coefficients(), 1 / n
    driver = plain_driver(METHOD, plain, problem.torque, body, dt, parameters)
    step, state = plain(fourth_order_step), driver.start(problem.q0, problem.omega0)
    for k in range(n):
        after = driver.step(state, k)
        if k < 3:
            q, omega = state[:4], state[4:7]
            for t in (k * dt, (k + 0.5) * dt):
                moment = problem.torque(t, q, omega, parameters)
                q, omega = step(q, omega, moment, t, 0.5 * dt, body, problem.torque, parameters)
            after = q + omega + after[7:]
        state = after
    return np.array(state[:4])


@pytest.mark.parametrize("name", ["time", "lab", "orientation", "velocity"])
def test_the_start_does_not_spoil_the_order(name, cases):
    """Its three local errors are of fifth order: so is the difference that a better start makes, and it is a small part."""
    case, changes, errors = cases[name], [], []
    for n in (40, 80, 160):
        run = polhode.simulate(case.problem, METHOD, 1 / n, 1.0, samples=1)
        changes.append(metrics.orientation_l1(run.q.values[-1], finer_start(case.problem, n)))
        errors.append(metrics.orientation_l1(run.q.values[-1], case.exact(1.0)[0]))
    assert slopes(changes)[-1] > 4.6
    assert changes[-1] < 0.1 * errors[-1]


@pytest.mark.parametrize(
    ("name", "order"), [("free", 4), ("constant_asymmetric", 4), ("time", 2), ("lab", 2), ("orientation", 2), ("velocity", 2)]
)
def test_orders_without_a_warm_up(name, order, cases):
    """The first torque is frozen for a step. If it is constant, that changes nothing."""
    case, errors = cases[name], []
    for n in (40, 80, 160) if order == 4 else (320, 640, 1280):
        run = polhode.simulate(case.problem, BARE, 1 / n, 1.0, samples=1)
        q, omega = case.exact(1.0)
        errors.append((metrics.orientation_l1(run.q.values[-1], q), metrics.relative_l1(run.omega.values[-1], omega)))
    assert slopes(errors)[-1] == pytest.approx(order, abs=0.06 * order)


# --- discontinuities ---------------------------------------------------------------------------------------------------


def broken_torque(t, q, omega, parameters):
    """A torque about z whose derivative of order r jumps by 1 at t0."""
    s = t - parameters[0] if t >= parameters[0] else 0.0
    on = 1.0 if t >= parameters[0] else 0.0
    r = parameters[1]
    return (0.0, 0.0, on if r == 0.0 else s if r == 1.0 else 0.5 * s * s)


#: Bernoulli polynomials: what the sum over the steps lacks, by the formula of Euler and Maclaurin.
BERNOULLI = (lambda x: x - 1 / 2, lambda x: x * x - x + 1 / 6, lambda x: x**3 - 1.5 * x * x + 0.5 * x)


@pytest.mark.parametrize("r", [0, 1, 2])
@pytest.mark.parametrize("fraction", [0.0, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("n", [16, 64])
def test_what_a_discontinuity_costs(r, fraction, n):
    """A jump in the r-th derivative, `fraction` steps before a torque is found, costs -B_{r+1}(fraction) dt^{r+1} / (r+1)!.

    On a sphere this is exact, whatever the step. Order r + 1, therefore, and nothing on average over the fractions.
    """
    h = 1 / n
    t0 = 0.5 - fraction * h
    run = polhode.simulate(
        make("broken", broken_torque, "time", {"t0": t0, "r": float(r)}, body=SPHERE, omega0=(0.0, 0.0, 0.0)), METHOD, h, 1.0
    )
    exact = (1 - t0) ** (r + 1) / math.factorial(r + 1)
    expected = -BERNOULLI[r](fraction) * h ** (r + 1) / math.factorial(r + 1)
    assert run.omega.values[-1, 2] - exact == pytest.approx(expected, abs=1e-14)


def jumping_torque(t, q, omega, parameters):
    on = 1.0 if t >= parameters[0] else 0.0
    return (0.5 * math.cos(3 * t) + 2.0 * on, 0.3 * math.sin(2 * t) - on * q[1], 0.2 * omega[0] + on)


def test_a_jump_costs_no_more_than_it_costs_spiral():
    """First order on a generic body, at the worst place of the jump within a step; the overshoot does not grow."""
    errors = {}
    for key in ("magnus_adams4", "spiral_leapfrog"):
        for n in (64, 128, 256):
            worst = 0.0
            for fraction in (0.02, 0.25, 0.5, 0.75, 0.98):
                t0 = 0.5 - fraction / n
                problem = make("jumping", jumping_torque, "time", {"t0": t0})
                # The jump at the end of a step of a fine run: none of its error.
                exact = jump_reference(problem, t0)
                end = polhode.simulate(problem, key, 1 / n, 1.0, samples=1)
                worst = max(worst, float(metrics.orientation_l1(end.q.values[-1], exact[:4])))
            errors[key, n] = float(worst)
    mine, spiral = ([errors[key, n] for n in (64, 128, 256)] for key in ("magnus_adams4", "spiral_leapfrog"))
    assert slopes(mine) == pytest.approx(1, abs=0.05)
    assert mine == pytest.approx(spiral, rel=0.1)


def jump_reference(problem, t0):
    """(q, omega) at t = 1, integrated up to the jump and from there on."""
    y = np.concatenate([Q0, OMEGA0])
    for begin, end, at in ((0.0, t0, 2.0), (t0, 1.0, 0.0)):
        rate = right_hand_side(replace(problem, parameters={"t0": at}))
        y = solve_ivp(rate, (begin, end), y, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return y


def states(problem, dt, steps):
    """The states of a run, in plain Python."""
    parameters = tuple(problem.parameters.values())
    driver = plain_driver(METHOD, plain, problem.torque, problem.body.coefficients(), dt, parameters)
    state = driver.start(problem.q0, problem.omega0)
    for n in range(steps):
        state = driver.step(state, n)
        yield state


def test_misses_are_counted(cases):
    """None for smooth torques; four in a row after a jump, which change nothing; more under strong friction, which do."""
    for name in ("free", "constant", "time", "lab", "orientation", "velocity"):
        assert all(state[20] == 0 for state in states(cases[name].problem, 0.01, 60)), name
    problem = make("broken", broken_torque, "time", {"t0": 0.5, "r": 0.0}, body=SPHERE)
    counts = [state[19:21] for state in states(problem, 1 / 16, 16)]
    # The jump is first found in the ninth step, at t = 1/2.
    assert [missed for _, missed in counts] == [0.0] * 8 + [1.0, 2.0, 3.0, 4.0] + [0.0] * 4
    assert all(known == 4 for known, _ in counts[3:])
    strong = make("damped", spin_damping, "velocity", {"k": 8.0}, body=SPHERE)
    counts = [state[19:21] for state in states(strong, 0.1, 40)]
    assert max(missed for _, missed in counts) > MEMORY
    assert [known for known, missed in counts if missed > MEMORY] == [2.0] * sum(missed > MEMORY for _, missed in counts)


def turning_torque(t, q, omega, parameters):
    angle = 2 * math.pi * t
    return (math.cos(angle), math.sin(angle), 0.0)


@pytest.mark.parametrize(
    ("steps", "start", "resolved"), [(32, [0, 0, 0, 0], True), (8, [0, 0, 1, 2], True), (7, [0, 0, 1, 2], False)]
)
def test_eight_steps_a_period_are_enough_for_the_cubic(steps, start, resolved):
    """Each difference is 2 sin(pi / steps) times the one before; the cube of this factor must not exceed a half."""
    problem = make("turning", turning_torque, "time", body=SPHERE)
    misses = [state[20] for state in states(problem, 1 / steps, 5 * steps)]
    # The linear and the quadratic prediction of the start miss where the factor and its square exceed a half.
    assert misses[:4] == start
    assert (max(misses[4:]) == 0) == resolved
    assert resolved or misses[-1] > MEMORY


def hertz_stop(t, q, omega, parameters):
    """About z: nothing between the angles -1 and 1, beyond them a torque that grows with the power 3/2 of the depth."""
    angle = 2 * math.atan2(q[3], q[0])
    depth = abs(angle) - 1.0
    torque = parameters[0] * depth * math.sqrt(depth) if depth > 0 else 0.0
    return (0.0, 0.0, -torque if angle > 0 else torque)


def energy_after_bounces(problem, dt, t_end):
    """The largest relative error of the energy while the body is free between two stops."""
    free = [s for s in states(problem, dt, round(t_end / dt)) if abs(2 * math.atan2(s[3], s[0])) < 0.8]
    return max(abs((s[6] / problem.omega0[2]) ** 2 - 1) for s in free)


def test_to_forget_at_once_would_be_worse(monkeypatch):
    """Why four misses change nothing: contacts lose or gain tens of times more energy with a memory cut short."""
    problem = make("stop", hertz_stop, "state", {"K": 1e4}, body=SPHERE, omega0=(0.0, 0.0, 1.0), q0=(1.0, 0.0, 0.0, 0.0))
    # The contact lasts 2.94 (5 / (4 K))^(2/5) = 0.081: forty steps.
    remembered = energy_after_bounces(problem, 0.002, 10.0)
    finer = energy_after_bounces(problem, 0.001, 10.0)
    monkeypatch.setattr(backward_differences, "MEMORY", 0.0)
    forgotten = energy_after_bounces(problem, 0.002, 10.0)
    assert finer < remembered < 1e-3
    assert forgotten > 20 * remembered


# --- stability under friction ------------------------------------------------------------------------------------------


def spin_damping(t, q, omega, parameters):
    k = parameters[0]
    return (-k * omega[0], -k * omega[1], -k * omega[2])


def adams4(z):
    """The roots of Adams-Bashforth 4 for domega/dt = -k omega, z = k dt."""
    return np.abs(np.roots([1, -1 + 55 * z / 24, -59 * z / 24, 37 * z / 24, -9 * z / 24])).max()


def adams2(z):
    return np.abs(np.roots([1, -1 + 1.5 * z, -0.5 * z])).max()


def test_friction_follows_the_characteristic_polynomial():
    """Its largest root is the decay of a step; it leaves the unit circle at 0.3, that of the linear extrapolation at 1."""
    assert adams4(0.3) == pytest.approx(1, abs=1e-12) and adams4(0.299) < 1 < adams4(0.301)
    assert adams2(1.0) == pytest.approx(1, abs=1e-12) and adams2(0.999) < 1 < adams2(1.001)
    for z in (0.05, 0.1, 0.2):
        problem = make("damped", spin_damping, "velocity", {"k": 1.0}, body=SPHERE, horizon=100 * z)
        omega = polhode.simulate(problem, METHOD, z, 100 * z).omega.values[:, 0]
        assert abs(omega[100] / omega[99]) == pytest.approx(adams4(z), rel=1e-6)


@pytest.mark.parametrize(("z", "steady"), [(0.2, True), (0.35, True), (0.7, True), (0.95, True), (1.05, False)])
def test_friction_slows_up_to_the_linear_extrapolation_s_limit(z, steady):
    problem = make("damped", spin_damping, "velocity", {"k": 1.0}, horizon=400 * z)
    with np.errstate(over="ignore", invalid="ignore"):
        omega = polhode.simulate(problem, METHOD, z, 400 * z).omega.values
    assert bool(np.abs(omega[-1]).max() < 1e-3) == steady


def test_without_misses_the_limit_would_be_that_of_the_cubic(monkeypatch):
    problem = make("damped", spin_damping, "velocity", {"k": 1.0}, body=SPHERE)
    assert abs(list(states(problem, 0.35, 300))[-1][4]) < 1e-12
    monkeypatch.setattr(backward_differences, "MEMORY", math.inf)
    assert abs(list(states(problem, 0.35, 300))[-1][4]) > 1e3
    assert abs(list(states(problem, 0.29, 300))[-1][4]) < 0.1


def test_the_limit_of_the_study():
    system = polhode.problems["coupled_cylinders"]
    limit = friction_check.stability_limit(
        partial(friction_check._sliding_decays, system, METHOD, friction_check.decay_rate(system))
    )
    assert limit == pytest.approx(1.0, abs=1e-3)


# --- long runs -----------------------------------------------------------------------------------------------------------


def test_free_energy_drifts_by_the_fifth_power_of_the_step():
    """A drift, as no part of the method is symmetric; it is far below that of SPIRAL, which has one too."""
    problem = polhode.problems["free_asymmetric_top"]
    drifts = {}
    for key, dt in (("magnus_adams4", 0.04), ("magnus_adams4", 0.02), ("spiral_leapfrog", 0.02)):
        energy = polhode.simulate(problem, key, dt, 400.0, samples=2).energy.values
        drifts[key, dt] = abs(energy[-1] / energy[0] - 1)
        half = abs(energy[1] / energy[0] - 1)
        assert drifts[key, dt] == pytest.approx(2 * half, rel=0.1), "in proportion to the time"
    assert drifts["magnus_adams4", 0.04] / drifts["magnus_adams4", 0.02] == pytest.approx(32, rel=0.2)
    assert drifts["magnus_adams4", 0.02] < 1e-3 * drifts["spiral_leapfrog", 0.02]


def spring(t, q, omega, parameters):
    return (0.0, 0.0, -2 * parameters[0] * math.atan2(q[3], q[0]))


def elastic(x):
    """Largest modulus of the roots for a spring about a fixed axis: angle, omega and three torques, x = nu dt."""
    step = np.array([55, -59, 37, -9]) / 24
    angle = step / 2 + (np.array([1, 0, 0, 0]) - np.array([4, -6, 4, -1])) / 12
    matrix = np.zeros((5, 5))
    matrix[0] = [1 - angle[0] * x * x, 1, *angle[1:]]
    matrix[1] = [-step[0] * x * x, 1, *step[1:]]
    matrix[2, 0], matrix[3, 2], matrix[4, 3] = -x * x, 1, 1
    return np.abs(np.linalg.eigvals(matrix)).max()


def test_elastic_oscillations_are_damped_by_the_sixth_power():
    for x in (0.05, 0.1):
        assert (1 - elastic(x)) / x**6 == pytest.approx(5 / 16, rel=0.01)
    assert elastic(1.0127) < 1 < elastic(1.0128)
    problem = make("spring", spring, "state", {"k": 1.0}, body=SPHERE, omega0=(0.0, 0.0, 0.5), q0=(1.0, 0.0, 0.0, 0.0))
    for x in (0.3, 0.5):
        angle_and_rate = np.array([(2 * math.atan2(s[3], s[0]), s[6]) for s in states(problem, x, 1200)])
        # The largest amplitude over ten periods, a hundred steps or more later.
        size, window = np.hypot(*angle_and_rate.T), round(20 * math.pi / x)
        ratio = size[-window:].max() / size[200 : 200 + window].max()
        assert ratio ** (1 / (1200 - window - 200)) == pytest.approx(elastic(x), abs=0.02 * (1 - elastic(x)))


# --- the warm-up ---------------------------------------------------------------------------------------------------------


def test_its_step_is_no_map_of_orientation_and_momentum():
    """Nor is it taken for one because the first step of a run is."""
    problem = polhode.problems["heavy_top"]
    stepper = symplecticity.Stepper(METHOD, problem, 0.02)
    q, omega = np.array(problem.q0) / np.linalg.norm(problem.q0), np.array(problem.omega0)
    assert symplecticity.memory(stepper, q, omega, "read") > 1e3 * symplecticity.ROUNDING
    assert METHOD.without_passages() == BARE.without_passages() and BARE.without_passages() is BARE
