"""References must be right before anything is measured by them: closed form, Taylor series and balls check one another."""

import math
from dataclasses import replace
from fractions import Fraction

import flint
import gmpy2
import mpmath
import numpy as np
import pytest
import xarray as xr
from conftest import distance, no_torque, unit, worst_agreement
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpc, mpf

import polhode
from polhode.algebra.body import Body
from polhode.algebra.quaternion import to_body
from polhode.algebra.vector import cross
from polhode.problems.problem import Problem
from polhode.problems.spiral_cylinder import PROBLEM as CYLINDER
from polhode.references import axial_torque, taylor
from polhode.references.closed_form import multiply
from polhode.references.dataset import agreement, reference_dataset


def make(torque, inertia=(1.0, 1.7, 2.3), omega0=(0.9, -0.7, 1.1), torque_class="time", **changes):
    """A problem without a closed form."""
    values = {"key": "test", "label": "test", "source": "tests", "horizon": 1.0} | changes
    return Problem(body=Body(inertia), omega0=omega0, torque=torque, torque_class=torque_class, **values)


def axial(inertia=(1.0, 2.0, 2.0), omega0=(0.3, -0.9, 0.6), mx=0.5, q0=(1.0, 0.0, 0.0, 0.0)):
    """The published problem with another body, start or torque."""
    return replace(CYLINDER, body=Body(inertia), omega0=omega0, q0=q0, parameters={"Mx": mx})


TILTED = unit(0.5, -0.1, 0.7, 0.5)
BODIES = {
    "published": CYLINDER,
    "negative torque, omega_x crosses zero": axial(mx=-0.5),
    "negative torque, fast": axial(mx=-20.0, omega0=(10.0, 1.0, -2.0)),
    "no torque": axial(mx=0.0),
    "weak torque": axial(mx=1e-4),
    "tiny torque": axial(mx=1e-12),
    "tiny negative torque": axial(mx=-3e-9),
    "tiny torque, tiny coupling": axial(mx=1e-9, omega0=(0.5, 1e-6, 0.0)),
    "strong torque": axial(mx=100.0),
    "starts with no axial spin": axial(omega0=(0.0, -0.9, 0.6)),
    "no torque, no axial spin": axial(mx=0.0, omega0=(0.0, -0.9, 0.6)),
    "sphere": axial(inertia=(1.3, 1.3, 1.3)),
    "disc": axial(inertia=(1.9, 1.0, 1.0)),
    "needle": axial(inertia=(0.01, 1.0, 1.0), mx=0.01),
    "no transverse spin": axial(omega0=(0.3, 0.0, 0.0)),
    "from rest": axial(omega0=(0.0, 0.0, 0.0)),
    "at rest": axial(omega0=(0.0, 0.0, 0.0), mx=0.0),
    "tilted": axial(q0=TILTED),
    "tilted, no torque": axial(q0=TILTED, mx=0.0),
    "tilted, tiny torque": axial(q0=TILTED, mx=1e-12),
}


# Closed form against the Taylor integrator


@pytest.mark.thorough
@pytest.mark.parametrize("name", BODIES)
def test_closed_form_agrees_with_taylor(name):
    problem = BODIES[name]
    assert worst_agreement(problem, [0.0, 0.37, 1.0], 30) >= 40


@pytest.mark.thorough
def test_published_problem_longer():
    assert worst_agreement(CYLINDER, [2.0, 3.0], 50) >= 60


@pytest.mark.thorough
@pytest.mark.parametrize("digits", [15, 60])
@pytest.mark.parametrize(
    "name", ["published", "negative torque, omega_x crosses zero", "tilted, tiny torque", "tilted, no torque"]
)
def test_agreement_follows_the_precision(name, digits):
    assert worst_agreement(BODIES[name], [0.3, 1.0], digits) >= digits + 10


moments = st.floats(0.05, 3.0)
speeds = st.floats(-8.0, 8.0)


@pytest.mark.thorough
@settings(max_examples=8, deadline=None, derandomize=True)
@given(transverse=moments, ratio=st.floats(0.02, 1.99), omega0=st.tuples(speeds, speeds, speeds), mx=st.floats(-5.0, 5.0))
def test_closed_form_agrees_with_taylor_on_any_body(transverse, ratio, omega0, mx):
    problem = axial(inertia=(ratio * transverse, transverse, transverse), omega0=omega0, mx=mx)
    assert worst_agreement(problem, [0.25], 25) >= 30


@pytest.mark.parametrize("a", [2.0, 0.01, 1e-3, -0.7, -1e-3])
def test_power_series_of_a_weak_sweep_is_the_kummer_solution(a):
    """Either would do for these; which one serves must not show."""
    with mp.workdps(60):
        args = (mpf(a), mpf(1) / 2, mpf("0.3"), mpc("-0.9", "0.6"), mpf(1))
        for x, y in zip(axial_torque._sweep(*args), axial_torque._weak_sweep(*args, phase=mpf(2)), strict=True):
            assert abs(x - y) < mpf(10) ** -55


# The closed form on its own


def test_initial_state_is_exact():
    problem = axial(q0=TILTED)
    for solver in (axial_torque.solve, taylor.solve):
        ((q, omega),) = solver(problem, [0.0], 50)
        assert omega == tuple(map(mpf, problem.omega0))
        assert distance(q, map(mpf, problem.q0)) < mpf(10) ** -60


@pytest.mark.parametrize(
    "name", ["published", "negative torque, omega_x crosses zero", "tilted, tiny torque", "disc", "tilted"]
)
def test_norm_of_q_is_conserved(name):
    problem = BODIES[name]
    with mp.workdps(70):
        start = sum(mpf(x) ** 2 for x in problem.q0)
        for q, _ in axial_torque.solve(problem, [0.2, 1.0, 5.0, 20.0], 50):
            assert abs(sum(x * x for x in q) - start) < mpf(10) ** -55


def derivative(problem, t, digits=50, half_width=12, step=2.0**-12):
    """dq/dt and domega/dt of the closed form from a central difference of 25 points at exact binary times."""
    states = axial_torque.solve(problem, [t + j * step for j in range(-half_width, half_width + 1)], digits)
    m = half_width
    rates = []
    for part in (0, 1):
        rate = [mpf(0)] * len(states[0][part])
        for j in range(1, m + 1):
            weight = (-1) ** (j + 1) * mp.factorial(m) ** 2 / (j * mp.factorial(m - j) * mp.factorial(m + j))
            later, earlier = states[m + j][part], states[m - j][part]
            rate = [r + weight * (x - y) / step for r, x, y in zip(rate, later, earlier, strict=True)]
        rates.append(rate)
    return states[m], rates


@pytest.mark.parametrize("name", ["published", "negative torque, fast", "disc", "tilted", "no torque", "tiny torque"])
def test_closed_form_solves_the_equations_of_motion(name):
    problem = BODIES[name]
    with mp.workdps(65):
        (q, omega), (q_rate, omega_rate) = derivative(problem, 0.5)
        assert distance(q_rate, [x / 2 for x in multiply(q, (0, *omega))]) < mpf(10) ** -45
        ix, iy, iz = map(mpf, problem.body.inertia)
        x, y, z = omega
        mx = problem.parameters["Mx"]
        euler = ((mx + (iy - iz) * y * z) / ix, (iz - ix) * z * x / iy, (ix - iy) * x * y / iz)
        assert distance(omega_rate, euler) < mpf(10) ** -45


@pytest.mark.parametrize("name", ["published", "disc", "needle", "strong torque"])
def test_angular_velocity_is_the_published_one(name):
    """del Valle et al. (2024), Eqs. 11, 12, C.16-C.22, where they hold: Mx != 0, Ix != Iy, omega_x without zero."""
    problem = BODIES[name]
    with mp.workdps(65):
        ix, iy, iz = map(mpf, problem.body.inertia)
        mx = mpf(problem.parameters["Mx"])
        x0, y0, z0 = map(mpf, problem.omega0)
        b = (ix - iy) * (iz - ix) / (iz * iy)
        frequency = mpmath.sqrt(-((ix / (2 * mx)) ** 2) * b)
        eta = iy / (iz - ix) * 2 * mx / ix
        start = frequency * x0**2
        k1 = y0 * mpmath.cos(start) - z0 / (frequency * eta) * mpmath.sin(start)
        k2 = y0 * mpmath.sin(start) + z0 / (frequency * eta) * mpmath.cos(start)
        times = [0.1, 0.7, 3.0]
        for t, (_, omega) in zip(times, axial_torque.solve(problem, times, 50), strict=True):
            x = x0 + mx / ix * mpf(t)
            phase = frequency * x * x
            c, s = mpmath.cos(phase), mpmath.sin(phase)
            published = (x, k1 * c + k2 * s, eta * frequency * (k2 * c - k1 * s))
            assert distance(omega, published) < mpf(10) ** -55


def test_closed_form_refuses_what_it_does_not_cover():
    with pytest.raises(ValueError, match=r"needs Iy = Iz, got \(1.0, 1.7, 2.3\)"):
        axial_torque.solve(axial(inertia=(1.0, 1.7, 2.3)), [0.5], 20)
    with pytest.raises(ValueError, match="single parameter Mx"):
        axial_torque.solve(make(no_torque, inertia=(1.0, 2.0, 2.0)), [0.5], 20)


# Rigorous enclosure


def exact_ball(x):
    sign, mantissa, exponent, _ = x._mpf_
    return flint.arb(flint.arf(((-1) ** sign * int(mantissa), int(exponent))))


def enclosure(problem, t):
    """Balls around q and omega at t in the flint precision in force: Landau-Zener for q0 = 1, Mx != 0."""
    arb, acb = flint.arb, flint.acb
    ix, istar = arb(problem.body.inertia[0]), arb(problem.body.inertia[1])
    x0, y0, z0 = map(arb, problem.omega0)
    t = arb(t)
    w0 = acb(y0, z0)
    a = arb(problem.parameters["Mx"]) / ix
    ratio = ix / istar
    phi = x0 * t + a * t**2 / 2
    turn = acb(0, -(1 - ratio) * phi).exp()
    w = w0 * turn

    kappa = ratio * a / 2
    coupling = y0**2 + z0**2
    s = acb(0, -coupling / (16 * kappa))
    half, three_halves = acb(1) / 2, acb(3) / 2

    def kummer(u):
        z = acb(0, -kappa * u**2)
        return (
            z.hypgeom_1f1(s, half),
            u * z.hypgeom_1f1(s + half, three_halves),
            u * z.hypgeom_1f1(s + 1, three_halves),
            z.hypgeom_1f1(s + half, half),
        )

    u0 = x0 / a
    u = u0 + t
    f1, f2, g1, d2 = kummer(u)
    _, _, g10, d20 = kummer(u0)
    phase = acb(0, kappa * (u**2 + u0**2) / 2).exp()
    half_turn = acb(0, (1 - ratio) * phi / 2).exp()
    alpha = half_turn * phase * (f1 * d20 + coupling / 4 * f2 * g10)
    beta = w0 / 2 * phase * (g1 * d20 - d2 * g10) / half_turn
    return (alpha.real, alpha.imag, beta.real, beta.imag), (x0 + a * t, w.real, w.imag)


@pytest.mark.parametrize(
    "name", ["published", "negative torque, omega_x crosses zero", "negative torque, fast", "disc", "needle"]
)
@pytest.mark.parametrize("digits", [30, 50])
def test_rigorous_enclosure(name, digits):
    problem = BODIES[name]
    times = [0.01, 0.6, 1.0, 7.3, 20.0]
    bound = flint.arb(10) ** -(digits + 5)
    before = flint.ctx.prec
    flint.ctx.prec = math.ceil(3 * digits * math.log2(10))
    try:
        for t, (q, omega) in zip(times, axial_torque.solve(problem, times, digits), strict=True):
            for balls, values in zip(enclosure(problem, t), (q, omega), strict=True):
                for ball, value in zip(balls, values, strict=True):
                    assert ball.rad() < bound
                    # A comparison of balls holds only if it holds for all their numbers, the exact value being one of them.
                    assert abs(ball - exact_ball(value)) < bound
    finally:
        flint.ctx.prec = before


# The Taylor integrator on its own


@pytest.mark.thorough
def test_self_agreement():
    problem = make(no_torque, torque_class="free")
    assert min(taylor.self_agreement(problem, [0.0, 0.5, 3.0], 40)) >= 50


@pytest.mark.thorough
def test_order_and_times_do_not_matter():
    times = [0.0, 0.1, 1.0]
    usual = taylor.solve(CYLINDER, times, 40)
    assert taylor.solve(CYLINDER, [1.0, 0.0, 0.1, 1.0], 40) == [usual[2], usual[0], usual[1], usual[2]]
    assert taylor.solve(CYLINDER, [1.0], 40) == usual[2:]
    assert taylor.solve(CYLINDER, [], 40) == []
    for order in (50, 110):
        others = taylor.solve(CYLINDER, times, 40, order=order)
        assert min(agreement(a, b, 55) for a, b in zip(others, usual, strict=True)) >= 50


def test_precision_and_contexts_are_left_alone():
    before = mp.prec, gmpy2.get_context().precision
    taylor.solve(CYLINDER, [0.5], 40)
    assert (mp.prec, gmpy2.get_context().precision) == before


def mixed_torque(t, q, omega, parameters):
    return (parameters[0] * math.exp(-t), math.sin(3.0 * t) - omega[1] / (2.0 + q[0]), math.cos(t) * math.sqrt(1.0 + t) ** 3)


def test_torque_of_everything_against_another_integrator():
    problem = make(mixed_torque, torque_class="state", q0=TILTED, parameters={"a": 0.8})
    t_end = 0.25
    ((q, omega),) = taylor.solve(problem, [t_end], 40)
    with mp.workdps(25):
        ix, iy, iz = map(mpf, problem.body.inertia)

        def rates(t, y):
            q, (wx, wy, wz) = y[:4], y[4:]
            torque = (
                mpf(0.8) * mpmath.exp(-t),
                mpmath.sin(3 * t) - wy / (2 + q[0]),
                mpmath.cos(t) * mpmath.sqrt(1 + t) ** 3,
            )
            return [x / 2 for x in multiply(q, (0, wx, wy, wz))] + [
                (torque[0] + (iy - iz) * wy * wz) / ix,
                (torque[1] + (iz - ix) * wz * wx) / iy,
                (torque[2] + (ix - iy) * wx * wy) / iz,
            ]

        other = mpmath.odefun(rates, 0, [mpf(x) for x in (*problem.q0, *problem.omega0)], tol=mpf(10) ** -22)(t_end)
        assert distance((*q, *omega), other) < mpf(10) ** -20


def heavy_torque(t, q, omega, parameters):
    return cross((parameters[0], parameters[1], parameters[2]), to_body(q, (0.0, 0.0, -parameters[3])))


def quadratic_torque(t, q, omega, parameters):
    return (omega[0] * omega[0], 0.0, 0.0)


@pytest.mark.thorough
def test_a_singularity_is_approached_and_reported():
    # omega_x = 1 / (1 - t) on a sphere of unit moment
    problem = make(quadratic_torque, inertia=(1.0, 1.0, 1.0), omega0=(1.0, 0.0, 0.0), torque_class="velocity")
    ((_, omega),) = taylor.solve(problem, [0.9375], 40)
    assert abs(omega[0] - 16) < mpf(10) ** -40
    with pytest.raises(ArithmeticError, match=r"'test'.*cannot be continued"):
        taylor.solve(problem, [1.5], 2)


def hyperbolic_torque(t, q, omega, parameters):
    return (math.cosh(t), 0.0, 0.0)


def hyperbolic_torque_series(t, q, omega, parameters):
    return ((taylor.exp(t) + taylor.exp(-t)) / 2, 0.0, 0.0)


def test_a_torque_of_its_own_for_series():
    problem = make(hyperbolic_torque, inertia=(1.0, 1.0, 1.0), omega0=(0.0, 0.0, 0.0))
    with pytest.raises(ValueError, match=r"math\.cosh has no series"):
        taylor.solve(problem, [0.5], 20)
    ((_, omega),) = taylor.solve(replace(problem, torque_series=hyperbolic_torque_series), [0.5], 50)
    with mp.workdps(60):
        assert abs(omega[0] - mpmath.sinh(0.5)) < mpf(10) ** -55


@pytest.mark.parametrize(
    "function",
    [
        lambda t, m: m.exp(m.sin(2 * t)) / (2 - t) ** 3,
        lambda t, m: m.sqrt(1 + t * t) * m.cos(t) - 1 / (t - 4) - 7,
        lambda t, m: (3 - t) ** 2 * (1 + t) ** -2.5 + (+t) ** 3 - (-t) / 7,
        lambda t, m: m.sin(1 + t) ** 2 + m.cos(1 + t) ** 2 - 0 * t,
        lambda t, m: m.exp(0.5) * t + m.sin(0.5) * t**2 + m.cos(0.5) * t**3 + m.sqrt(2) * t**0,
    ],
)
def test_series_arithmetic(function):
    with mp.workdps(40):
        expected = mpmath.taylor(lambda t: function(t, mpmath), mpf("0.25"), 12)
        with gmpy2.context(gmpy2.get_context(), precision=mp.prec):
            t = taylor.Series(lambda k: gmpy2.mpfr(1 if k == 1 else 0), gmpy2.mpfr(0.25))
            coefficients = [mpf(str(function(t, taylor)[k])) for k in range(13)]
        for a, b in zip(coefficients, expected, strict=True):
            assert abs(a - b) < mpf(10) ** -22 * (1 + abs(b))


# Torques that change within a step


def firing(t, q, omega, p):
    push = p[0] if p[1] <= t < p[1] + p[2] else 0.0
    return (0.0, push, 0.3 * push)


def pulse(t, q, omega, p):
    return (p[0] * math.exp(-(((t - p[1]) / p[2]) ** 2)), 0.0 * t, 0.0 * t)


@pytest.mark.thorough
@pytest.mark.usefixtures("every_look")
@pytest.mark.parametrize(("width", "speed"), [(1e-5, 0.0), (1e-3, 0.03), (0.1, 0.0)])
def test_a_smooth_pulse_is_not_stepped_over(width, speed, where=0.6137):
    """About an axis that the body keeps, the pulse gives its integral; also to a body at rest."""
    problem = make(
        pulse,
        inertia=(2.0, 2.0, 2.0),
        omega0=(speed, 0.0, 0.0),
        parameters={"M": 0.01 / width, "at": 100 * where, "width": 100 * width},
        horizon=100.0,
    )
    data = reference_dataset(problem, [100.0], 20)
    ends = [math.erf((t - where) / width) for t in (0.0, 1.0)]
    assert data.attrs["agreement"] >= 25
    assert data.omega.values[0, 0] == pytest.approx(speed + 0.5 * math.sqrt(math.pi) / 2 * (ends[1] - ends[0]), rel=1e-13)


@pytest.mark.thorough
@pytest.mark.usefixtures("every_look")
def test_a_torque_with_branches_is_expanded_piece_by_piece():
    problem = make(firing, inertia=(2.0, 2.0, 2.0), omega0=(0.0, 0.0, 0.0), parameters={"M": 3.0, "at": 61.34, "width": 0.04})
    with pytest.raises(ArithmeticError, match=r"jumps or has a kink at about t = 61\.3(4|39999999\d*) s.*breakpoints"):
        reference_dataset(problem, [100.0], 20)
    end = 61.34 + 0.04
    named = replace(problem, breakpoints=(61.34, end))
    data = reference_dataset(named, [61.36, end, 100.0], 30)
    assert data.attrs["agreement"] >= 40
    with mp.workdps(40):
        exact = mpf(3) / 2 * (mpf(end) - mpf(61.34))
        assert abs(mpf(str(data.omega_digits.values[2, 1])) - exact) < mpf(10) ** -29
        assert data.omega_digits.values[1, 1] == data.omega_digits.values[2, 1] != data.omega_digits.values[0, 1]
    # A pulse that no look can see is seen if it is named.
    tiny = replace(problem, parameters={"M": 3e6, "at": 61.34, "width": 1e-9}, breakpoints=(61.34, 61.34 + 1e-9))
    assert reference_dataset(tiny, [100.0], 20).omega.values[0, 1] == pytest.approx(1.5e6 * (61.34 + 1e-9 - 61.34), rel=1e-12)


@pytest.mark.thorough
def test_a_reference_needs_no_compiled_torque():
    def double(x):  # a plain function, which Numba does not know
        return 2.0 * x

    problem = make(lambda t, q, omega, p: (double(t), 0.0, 0.0), inertia=(1.0, 1.0, 1.0), omega0=(0.0, 0.0, 0.0))
    assert abs(taylor.solve(problem, [1.0], 20)[0][1][0] - 1) < mpf(10) ** -30


@pytest.mark.thorough
@pytest.mark.usefixtures("every_look")
def test_a_torque_that_cancels_is_not_taken_for_a_pulse():
    """Of a top that stands upright, turning and at rest, double precision knows the torque to 1e-16 of the weight only."""
    upright = {"x": 0.0, "y": 0.0, "z": 0.54, "weight": 9.0}
    q0 = tuple(float(x) for x in np.array([0.6, 0.0, 0.0, 0.8]) / np.hypot(0.6, 0.8))
    for omega0 in ((0.0, 0.0, 0.0), (0.0, 0.0, 3.0), (1e-20, 0.0, 0.0)):
        problem = make(heavy_torque, q0=q0, omega0=omega0, torque_class="state", parameters=upright)
        assert min(taylor.self_agreement(problem, [1.0], 20)) >= 20


# The data set


TIMES = [0.0, 1e-7, 0.125, 0.5, 1.0]


def test_agreement_counts_digits():
    state, moved = ((mpf(1), mpf(0)), (mpf(0), mpf(200))), ((mpf(1), mpf("1e-20")), (mpf(0), mpf(200)))
    with mp.workdps(50):
        assert agreement(state, state, 65) == 65
        assert agreement(state, moved, 65) == agreement(moved, state, 65) == 20
        assert agreement(state, (state[0], (mpf(0), 200 + 200 * mpf("2e-12"))), 65) == 11.6
        assert agreement(state, moved, 12) == 12
        assert agreement(state, (state[0], (mpf(0), mpf(-200))), 65) < 0
        assert agreement((state[0], (mpf(0),)), (state[0], (mpf(0),)), 30) == 30


def test_dataset_of_the_published_problem():
    data = reference_dataset(CYLINDER, TIMES, 50)
    assert data.q.dims == data.q_digits.dims == ("time", "quaternion")
    assert data.omega.dims == data.omega_digits.dims == ("time", "axis")
    assert list(data.quaternion.values) == ["0", "x", "y", "z"] and list(data["axis"].values) == ["x", "y", "z"]
    assert list(data.time.values) == TIMES
    for name in data.data_vars:
        assert {"long_name", "units", "symbol"} <= set(data[name].attrs)
    assert data.attrs["problem"] == "spiral_cylinder" and data.attrs["digits"] == 50
    assert data.attrs["formula"] == CYLINDER.formula and data.attrs["source"] == CYLINDER.source
    assert data.attrs["agreement"] >= 60
    assert (data.attrs["agreement_time"], data.attrs["agreement_samples"]) == (1.0, 5)
    assert data.attrs["agreement"] == data.agreement_digits.min()
    for name, part in (("q", 0), ("omega", 1)):
        exact = [state[part] for state in axial_torque.solve(CYLINDER, TIMES, 50)]
        for i, values in enumerate(exact):
            for j, value in enumerate(values):
                text = str(data[f"{name}_digits"].values[i, j])
                number = Fraction(text)
                assert float(data[name].values[i, j]) == number.numerator / number.denominator
                if value:
                    assert len(text.lstrip("-").replace(".", "").lstrip("0")) == 50
                    with mp.workdps(70):
                        assert abs(mpf(text) / value - 1) < mpf(10) ** -48


def test_dataset_checks_a_part():
    data = reference_dataset(CYLINDER, TIMES, 30, check_until=0.5)
    assert (data.attrs["agreement_time"], data.attrs["agreement_samples"]) == (0.5, 4)
    assert list(np.isnan(data.agreement_digits.values)) == [False] * 4 + [True]
    with pytest.raises(ValueError, match="nothing is checked"):
        reference_dataset(CYLINDER, [0.5, 1.0], 30, check_until=0.25)
    for times in ([0.5, 0.25], [0.5, 0.5]):
        with pytest.raises(ValueError, match="must ascend"):
            reference_dataset(CYLINDER, times, 30)


@pytest.mark.thorough
def test_dataset_without_a_closed_form():
    data = reference_dataset(make(no_torque, torque_class="free"), TIMES, 30)
    assert data.attrs["formula"] == "Taylor series" and "higher precision" in data.attrs["check"]
    assert data.attrs["agreement"] >= 35
    assert set(data.omega_digits.values[0]) == {str(mpmath.nstr(mpf(x), 30, strip_zeros=False)) for x in (0.9, -0.7, 1.1)}


@pytest.mark.thorough
def test_a_wrong_closed_form_is_refused():
    def wrong(problem, times, digits):
        states = axial_torque.solve(problem, times, digits)
        q, omega = states[3]
        with mp.workdps(45):
            states[3] = ((q[0] + mpf(10) ** -24, *q[1:]), omega)
        return states

    problem = replace(CYLINDER, reference=wrong)
    with pytest.raises(ArithmeticError, match=r"'spiral_cylinder': of 30 digits only (23\.9|24) agree .* at t = 0\.5 s"):
        reference_dataset(problem, TIMES, 30)
    # Beyond the part that is checked nothing is known of it, and nothing is claimed.
    assert reference_dataset(problem, TIMES, 30, check_until=0.25).attrs["agreement_time"] == 0.125


@pytest.mark.thorough
def test_dataset_is_reproducible_and_survives_a_file(tmp_path):
    paths = [tmp_path / "a.nc", tmp_path / "b.nc"]
    for path in paths:
        reference_dataset(CYLINDER, TIMES, 40).to_netcdf(path, engine="netcdf4")
    assert paths[0].read_bytes() == paths[1].read_bytes()
    data = reference_dataset(CYLINDER, TIMES, 40)
    with xr.open_dataset(paths[0]) as stored:
        xr.testing.assert_equal(stored, data)
        assert stored.attrs == data.attrs
        assert stored.q.attrs == data.q.attrs


@pytest.mark.thorough
def test_every_problem_has_a_confirmed_reference():
    for problem in polhode.problems.values():
        assert reference_dataset(problem, [0.0, 0.05], 20).attrs["agreement"] >= 20
