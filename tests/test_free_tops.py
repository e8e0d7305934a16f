"""Closed forms of tops, free and heavy: the Taylor integrator, conservation laws and other formulas check them."""

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import mpmath
import numpy as np
import pytest
from conftest import distance, unit, worst_agreement
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from polhode.algebra.body import Body
from polhode.problems.free_asymmetric_top import PROBLEM as ASYMMETRIC
from polhode.problems.free_asymmetric_top_separatrix import PROBLEM as SEPARATRIX
from polhode.problems.free_asymmetric_top_unstable import PROBLEM as UNSTABLE
from polhode.problems.free_symmetric_top import PROBLEM as SYMMETRIC
from polhode.problems.heavy_top import PROBLEM as HEAVY
from polhode.problems.spiral_cylinder import PROBLEM as CYLINDER
from polhode.references import asymmetric_top, taylor
from polhode.references.closed_form import conjugate, digits_of, multiply, turn
from polhode.references.theta import Jacobi

PROBLEMS = {p.key: p for p in (SYMMETRIC, ASYMMETRIC, UNSTABLE, SEPARATRIX, HEAVY)}
#: The spinning cylinder too, whose closed form has its own tests in test_references.py.
CLOSED = PROBLEMS | {CYLINDER.key: CYLINDER}
MOMENTS = (0.8, 1.3, 1.9)
OCTANTS = list(itertools.product((1, -1), repeat=3))
TILTED = (0.5, -0.1, 0.7, 0.5)


def free(inertia=MOMENTS, omega0=(0.9, -0.7, 1.1), q0=TILTED):
    """A free top with the closed form that its moments ask for."""
    origin = SYMMETRIC if inertia[0] == inertia[1] else ASYMMETRIC
    return replace(origin, key="test", body=Body(inertia, triangle=False), omega0=omega0, q0=q0)


def heavy(q0=HEAVY.q0, omega0=HEAVY.omega0, inertia=HEAVY.body.inertia, mgl=8.0):
    body = Body(inertia, triangle=False)
    return replace(HEAVY, key="test", body=body, omega0=omega0, q0=unit(*q0), parameters={"mgl": mgl})


def invariants(problem, state):
    """What the problem conserves, and |q|^2."""
    q, omega = state
    momentum = [mpf(i) * w for i, w in zip(problem.body.inertia, omega, strict=True)]
    lab = multiply(multiply(q, (0, *momentum)), conjugate(q))[1:]
    energy = sum(x * w for x, w in zip(momentum, omega, strict=True)) / 2
    if problem.potential is not None:
        energy += problem.potential(q, [mpf(p) for p in problem.parameters.values()])
    conserved = {"energy": (energy,), "momentum": lab, "vertical momentum": lab[2:]}
    return (*itertools.chain.from_iterable(conserved[name] for name in problem.conserves), sum(x * x for x in q))


# The problems as they are


@pytest.mark.thorough
@pytest.mark.parametrize("key", PROBLEMS)
def test_problem_agrees_with_taylor(key):
    assert worst_agreement(PROBLEMS[key], [0.0, 0.125, 0.5, 3.0, PROBLEMS[key].horizon], 45) >= 52


@pytest.mark.parametrize("key", PROBLEMS)
@pytest.mark.parametrize("digits", [15, 80])
def test_agreement_follows_the_precision(key, digits):
    assert worst_agreement(PROBLEMS[key], [0.25, 1.0], digits) >= digits + 10


@pytest.mark.thorough
@pytest.mark.parametrize(("key", "t"), [("free_asymmetric_top", 25.0), ("heavy_top", 6.0)])
def test_longer_times_agree_with_taylor(key, t):
    assert worst_agreement(PROBLEMS[key], [t], 20) >= 29


@pytest.mark.parametrize("key", PROBLEMS)
def test_conservation_for_ten_thousand_seconds(key):
    problem = PROBLEMS[key]
    assert problem.conserves == (("energy", "vertical momentum") if key == "heavy_top" else ("energy", "momentum"))
    with mp.workdps(70):
        start, *later = problem.closed_form(problem, [0.0, 1.7, 40.0, 1234.5, 9999.0, 10000.0], 45)
        at_start = invariants(problem, start)
        for state in later:
            assert distance(invariants(problem, state), at_start) < mpf(10) ** -54 * max(map(abs, at_start))
            assert distance(state[1], start[1]) > 1e-3


@pytest.mark.parametrize("key", PROBLEMS)
def test_initial_state(key):
    problem = replace(PROBLEMS[key], q0=TILTED)
    ((q, omega),) = problem.closed_form(problem, [0.0], 50)
    with mp.workdps(65):
        assert distance(q, map(mpf, TILTED)) < mpf(10) ** -62
        assert distance(omega, map(mpf, problem.omega0)) < mpf(10) ** -62 * 3


def equations_of_motion(problem, q, omega):
    """dq/dt and domega/dt"""
    moments = [mpf(i) for i in problem.body.inertia]
    torque = problem.torque(0, q, omega, [mpf(p) for p in problem.parameters.values()]) if problem.parameters else (0, 0, 0)
    gyroscopic = [(moments[i - 2] - moments[i - 1]) * omega[i - 2] * omega[i - 1] for i in range(3)]
    return (
        [x / 2 for x in multiply(q, (0, *omega))],
        [(x + g) / i for x, g, i in zip(torque, gyroscopic, moments, strict=True)],
    )


@pytest.mark.parametrize("key", PROBLEMS)
@pytest.mark.parametrize("t", [7.0, 9998.5])
def test_equations_of_motion_hold_at_any_time(key, t):
    """A central difference of 25 points at exact binary times against the right-hand sides."""
    problem = PROBLEMS[key]
    if problem is HEAVY:
        # Plain Python, for mpmath numbers.
        problem = replace(HEAVY, torque=taylor.on_series(HEAVY.torque))
    half, step = 12, 2.0**-9
    states = problem.closed_form(problem, [t + j * step for j in range(-half, half + 1)], 60)
    with mp.workdps(75):
        weights = [
            (-1) ** (j + 1) * mpmath.factorial(half) ** 2 / (j * mpmath.factorial(half - j) * mpmath.factorial(half + j))
            for j in range(1, half + 1)
        ]
        for part, expected in enumerate(equations_of_motion(problem, *states[half])):
            for i, x in enumerate(expected):
                differences = [states[half + j][part][i] - states[half - j][part][i] for j in range(1, half + 1)]
                assert abs(mpmath.fdot(weights, differences) / step - x) < mpf(10) ** -37


@pytest.mark.parametrize("key", PROBLEMS)
def test_no_branch_is_lost_on_the_way(key):
    """The sign of a quaternion means nothing, but it must not jump."""
    problem = PROBLEMS[key]
    fastest = max(abs(w) for w in problem.omega0) * (2.6 if problem is SYMMETRIC else 1.5)
    states = problem.closed_form(problem, [0.03 * k for k in range(500)], 15)
    q = np.array([[float(x) for x in q] for q, _ in states])
    assert np.linalg.norm(np.diff(q, axis=0), axis=1).max() < 0.03 * fastest
    assert (q.min(axis=0) < -0.3).all() and (q.max(axis=0) > 0.3).all()


@pytest.mark.parametrize("key", PROBLEMS)
def test_digits_asked_for_hold_at_any_time(key):
    """However many turns there have been."""
    problem = PROBLEMS[key]
    times = [2.0**30, 2.0**90]
    for a, b in zip(problem.closed_form(problem, times, 20), problem.closed_form(problem, times, 60), strict=True):
        assert taylor.agreement(a, b, 40) >= 30


def test_separatrix_is_near():
    with mp.workdps(50):
        for problem, low, high in ((SEPARATRIX, 1e-10, 1e-8), (UNSTABLE, 1e-5, 1e-4), (ASYMMETRIC, 0.1, 1)):
            inertia, omega = problem.body.inertia, problem.omega0
            momentum2 = sum((mpf(i) * w) ** 2 for i, w in zip(inertia, omega, strict=True))
            twice_energy = sum(mpf(i) * w * w for i, w in zip(inertia, omega, strict=True))
            assert low < abs(momentum2 - inertia[1] * twice_energy) / momentum2 < high


def test_unstable_spin_turns_over_within_the_horizon():
    omega = [[float(w) for w in state[1]] for state in asymmetric_top.solve(UNSTABLE, [0.0, 5.0, UNSTABLE.horizon], 20)]
    assert abs(omega[0][1] - 2.0) < 1e-9 and omega[1][1] > 0.5 and omega[2][1] < -1.9


# Free tops


@pytest.mark.thorough
@pytest.mark.parametrize("inertia", list(itertools.permutations(MOMENTS)))
@pytest.mark.parametrize("speeds", [(1.1, 0.7, 2.0), (0.3, 1.5, 0.2), (1.6, 0.7, 0.3)])
def test_free_top_in_every_octant_on_all_axes(inertia, speeds):
    """Both sides of the separatrix, all orders of the axes, all starting phases."""
    for octant in OCTANTS:
        problem = free(inertia, tuple(s * w for s, w in zip(octant, speeds, strict=True)))
        assert worst_agreement(problem, [1.4], 15) >= 25, octant


BORDERLINE = {
    "no omega_x": ((0.8, 1.3, 1.9), (0.0, 1.0, 1.0)),
    "no omega_y": ((0.8, 1.3, 1.9), (1.0, 0.0, -0.5)),
    "no omega_z": ((0.8, 1.3, 1.9), (-0.4, 1.0, 0.0)),
    "separatrix within 1e-13": ((0.8, 1.3, 1.9), (1.012916580968149, -0.4, 0.6)),
    "separatrix within round-off": ((0.8, 1.3, 1.9), (1.0129165809680478, -0.4, 0.6)),
    "separatrix within round-off, no omega_y": ((0.8, 1.3, 1.9), (-1.0129165809680478, 0.0, 0.6)),
    "separatrix but for one bit": ((3.0, 4.0, 6.0), (2.0, 1.0, 1.0000000000000002)),
    "nearly about x": ((0.8, 1.3, 1.9), (-1.0, 1e-12, 0.0)),
    "nearly about y": ((0.8, 1.3, 1.9), (1e-12, 1.0, 1e-12)),
    "very nearly about y": ((0.8, 1.3, 1.9), (0.0, -1.0, 1e-30)),
    "nearly about z": ((0.8, 1.3, 1.9), (1e-12, 1e-12, -1.0)),
    "nearly oblate": ((1.0, 1.0000000000000002, 1.9), (0.3, 0.5, 0.7)),
    "nearly prolate": ((1.0, 1.9, 1.9000000000000004), (0.3, 0.5, 0.7)),
    "nearly prolate, nearly about x": ((1.0, 1.9, 1.9000000000000004), (1.0, 1e-9, 1e-12)),
    "nearly prolate, nearly across": ((1.0, 1.9, 1.9000000000000004), (1e-9, 0.5, 0.7)),
    "nearly a sphere": ((1.0, 1.0000000000000002, 1.0000000000000004), (0.3, 0.5, 0.7)),
    "needle": ((1e-3, 1.0, 2.0), (0.01, 0.002, 0.003)),
    "slow": ((0.8, 1.3, 1.9), (1e-200, 2e-200, 3e-200)),
    "about x": ((0.8, 1.3, 1.9), (-1.3, 0.0, 0.0)),
    "about y": ((0.8, 1.3, 1.9), (0.0, 1.3, 0.0)),
    "about z": ((0.8, 1.3, 1.9), (0.0, 0.0, 1.3)),
    "at rest": ((0.8, 1.3, 1.9), (0.0, 0.0, 0.0)),
    "oblate": ((1.0, 1.0, 1.9), (0.3, -0.5, 0.7)),
    "oblate, backwards": ((1.0, 1.0, 1.9), (0.3, -0.5, -0.7)),
    "prolate": ((1.0, 1.0, 0.3), (0.3, -0.5, 0.7)),
    "sphere": ((1.3, 1.3, 1.3), (0.3, -0.5, 0.7)),
    "symmetric, about z": ((1.0, 1.0, 1.9), (0.0, 0.0, 0.7)),
    "symmetric, about x": ((1.0, 1.0, 1.9), (0.7, 0.0, 0.0)),
    "symmetric, at rest": ((1.0, 1.0, 1.9), (0.0, 0.0, 0.0)),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", BORDERLINE)
def test_borderline_free_top(name):
    inertia, omega0 = BORDERLINE[name]
    assert worst_agreement(free(inertia, omega0), [0.0, 1.0, 5.0], 45) >= 52


moments = st.floats(0.05, 3.0)
speeds = st.floats(-8.0, 8.0)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(inertia=st.tuples(moments, moments, moments), omega0=st.tuples(speeds, speeds, speeds), symmetric=st.booleans())
def test_free_top_agrees_with_taylor_on_any_body(inertia, omega0, symmetric):
    if symmetric or len(set(inertia)) < 3:
        inertia = (inertia[0], inertia[0], inertia[2])
    assert worst_agreement(free(inertia, omega0), [0.1], 20) >= 30


def test_orientation_by_the_integral_of_the_third_kind():
    """The angles of the publications, with mpmath's integrals along the unwrapped amplitude, after thousands of turns."""
    t = 10000.0
    ((q, omega),) = asymmetric_top.solve(ASYMMETRIC, [t], 40)
    with mp.workdps(60):
        i1, i2, i3 = map(mpf, ASYMMETRIC.body.inertia)
        w1, w2, w3 = map(mpf, ASYMMETRIC.omega0)
        momentum2 = (i1 * w1) ** 2 + (i2 * w2) ** 2 + (i3 * w3) ** 2
        energy = (i1 * w1**2 + i2 * w2**2 + i3 * w3**2) / 2
        momentum = mpmath.sqrt(momentum2)
        p1, p3 = momentum2 - 2 * energy * i1, momentum2 - 2 * energy * i3
        assert momentum2 > 2 * energy * i2
        p = mpmath.sqrt(p1 * (i3 - i2) / (i1 * i2 * i3))
        m = (i1 - i2) * p3 / ((i3 - i2) * p1)
        a1, a3 = mpmath.sqrt(p3 / (i1 * (i1 - i3))), mpmath.sqrt(p1 / (i3 * (i3 - i1)))
        a2 = -m * p * a3 * i3 / (a1 * (i1 - i2))
        eps = mpmath.ellipf(mpmath.atan2(w2 / a2, w1 / a1), m)
        d = momentum2 - (i3 * a3) ** 2
        nu = -((i3 * a3) ** 2) * m / d

        def amplitude(u):
            turns = mpmath.nint(u / (4 * mpmath.ellipk(m)))
            rest = u - 4 * mpmath.ellipk(m) * turns
            return mpmath.atan2(mpmath.ellipfun("sn", rest, m=m), mpmath.ellipfun("cn", rest, m=m)) + 2 * mpmath.pi * turns

        def raw(t):
            am = amplitude(p * t + eps)
            sn, cn = mpmath.sin(am), mpmath.cos(am)
            dn = mpmath.sqrt(1 - m * sn * sn)
            third = mpmath.ellippi(nu, am, m) - mpmath.ellippi(nu, amplitude(eps), m)
            psi = momentum * t / i3 + momentum * (2 * energy - momentum2 / i3) / (p * d) * third
            theta = mpmath.acos(i3 * a3 * dn / momentum)
            # In step with the amplitude, so that phi/2 is unwrapped as well.
            phi = mpmath.pi / 2 - am - mpmath.arg(mpmath.mpc(i1 * a1 * cn, i2 * a2 * sn) * mpmath.expj(-am))
            turns = (turn((0, 0, psi)), turn((theta, 0, 0)), turn((0, 0, phi)))
            return multiply(multiply(turns[0], turns[1]), turns[2]), (a1 * cn, a2 * sn, a3 * dn)

        begin, _ = raw(mpf(0))
        end, expected = raw(mpf(t))
        assert mpmath.pi * 4000 < amplitude(p * t + eps) < mpmath.pi * 6000
        assert distance(q, multiply(conjugate(begin), end)) < mpf(10) ** -50
        assert distance(omega, expected) < mpf(10) ** -50


# Lagrange's top


@pytest.mark.thorough
@pytest.mark.parametrize("speeds", [(0.7, 0.5, 12.0), (1.7, 2.5, 3.0)])
def test_heavy_top_in_every_octant(speeds):
    """The axis rising and sinking, precession with and against the spin, loops and waves."""
    for octant, signs in zip(OCTANTS, itertools.cycle(((1, 1, 1, 1), (1, -1, 1, 1), (-1, 1, 1, 1)))):
        omega0 = tuple(s * w for s, w in zip(octant, speeds, strict=True))
        q0 = tuple(s * x for s, x in zip(signs, HEAVY.q0, strict=True))
        assert worst_agreement(heavy(q0, omega0), [0.9], 15) >= 25, octant


UPRIGHT, HANGING, ACROSS = (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0), (0.8, 0.6, 0.0, 0.0)
BORDERLINE_HEAVY = {
    "from upright": {"q0": UPRIGHT, "omega0": (0.7, -0.5, 12.0)},
    "from upright, slowly": {"q0": UPRIGHT, "omega0": (0.1, 0.2, 1.0)},
    "from upright, hardly": {"q0": UPRIGHT, "omega0": (0.0, 1e-9, 30.0)},
    "from upright, turned": {"q0": (0.0, 0.0, 0.0, 1.0), "omega0": (1.0, 2.0, -10.0)},
    "from hanging": {"q0": HANGING, "omega0": (0.7, -0.5, 12.0)},
    "from hanging, hardly": {"q0": HANGING, "omega0": (0.0, 1e-9, 3.0)},
    "from hanging, right over": {"q0": HANGING, "omega0": (9.0, 0.2, 3.0)},
    "nearly hanging, released": {"q0": (1e-9, 0.8, 0.6, 0.0), "omega0": (0.0, 0.0, 1e-3)},
    "nearly upright, released": {"q0": (1.0, 1e-9, 0.0, 0.0), "omega0": (0.0, 0.0, 30.0)},
    "pendulum": {"q0": ACROSS, "omega0": (1.0, 0.0, 0.0)},
    "pendulum from rest": {"q0": (0.3, 0.1, -0.9, 0.3), "omega0": (0.0, 0.0, 0.0)},
    "pendulum, right over": {"q0": ACROSS, "omega0": (-10.0, 0.0, 0.0)},
    "spherical pendulum": {"q0": ACROSS, "omega0": (1.0, 2.0, 0.0)},
    "cusp": {"q0": ACROSS, "omega0": (0.0, 0.0, 12.0)},
    "nearly a cusp": {"q0": ACROSS, "omega0": (1e-14, 1.0, -12.0)},
    "sphere": {"inertia": (1.0, 1.0, 1.0)},
    "flat": {"inertia": (1.0, 1.0, 1.9)},
    "thin": {"inertia": (1.0, 1.0, 0.01)},
    "weak": {"mgl": 1e-12},
    "nearly steady precession": {"q0": (0.5,) * 4, "omega0": (0.0, 2.0000000000000004, 8.0), "inertia": (1.0, 1.0, 0.5)},
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", BORDERLINE_HEAVY)
def test_borderline_heavy_top(name):
    assert worst_agreement(heavy(**BORDERLINE_HEAVY[name]), [0.0, 0.4, 1.1], 45) >= 52


@pytest.mark.thorough
@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    q0=st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1),
    omega0=st.tuples(speeds, speeds, speeds),
    ratio=st.floats(0.05, 1.95),
    mgl=st.floats(0.1, 20.0),
)
def test_heavy_top_agrees_with_taylor(q0, omega0, ratio, mgl):
    problem = heavy(q0, omega0, (1.2, 1.2, ratio * 1.2), mgl)
    try:
        assert worst_agreement(problem, [0.2], 20) >= 30
    except ValueError as error:
        assert "the nutation has no period" in str(error)


def test_torque_of_the_heavy_top_is_that_of_its_potential():
    """The work of the torque in a small turn is the loss of potential energy."""
    h = 1e-6
    for axis, direction in enumerate(np.eye(3)):
        q = unit(*TILTED)
        energies = [HEAVY.potential(multiply(q, turn(s * h * direction)), [8.0]) for s in (1, -1)]
        slope = float(energies[0] - energies[1]) / (2 * h)
        assert abs(HEAVY.torque(0.0, q, (0.0, 0.0, 0.0), (8.0,))[axis] + slope) < 1e-8
    several = np.array([unit(*TILTED), UPRIGHT, HANGING]).T
    assert np.allclose(HEAVY.potential(tuple(several), [8.0])[1:], [8.0, -8.0], rtol=0, atol=1e-15)


# What the closed forms do not serve


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (replace(SYMMETRIC, body=Body(MOMENTS)), r"'free_symmetric_top': .* needs Ix = Iy, got \(0\.8, 1\.3, 1\.9\)"),
        (replace(SYMMETRIC, torque_class="state"), "'free_symmetric_top': .* torque class 'free', got 'state'"),
        (replace(ASYMMETRIC, torque_class="constant"), "'free_asymmetric_top': .* torque class 'free', got 'constant'"),
        (replace(ASYMMETRIC, body=Body((1.0, 1.5, 1.0))), "'free_asymmetric_top': .* three different moments"),
        (
            replace(ASYMMETRIC, body=Body((3.0, 4.0, 6.0)), omega0=(2.0, 0.5, -1.0)),
            "'free_asymmetric_top': .* exactly on the separatrix",
        ),
        (replace(HEAVY, torque_class="free"), "'heavy_top': .* torque class 'state', got 'free'"),
        (replace(HEAVY, body=Body(MOMENTS)), "'heavy_top': .* needs Ix = Iy"),
        (replace(HEAVY, parameters={"mgl": -8.0}), "'heavy_top': .* mgl > 0, got"),
        (replace(HEAVY, parameters={"mgl": 0.0}), "'heavy_top': .* mgl > 0, got"),
        (replace(HEAVY, parameters={"mgl": 8.0, "k": 1.0}), "'heavy_top': .* single parameter mgl"),
        (heavy(UPRIGHT, (0.0, 0.0, 30.0)), "the nutation has no period"),
        (heavy(HANGING, (0.0, 0.0, 0.0)), "the nutation has no period"),
        (heavy((0.5,) * 4, (0.0, 2.0, 8.0), (1.0, 1.0, 0.5)), "the nutation has no period"),
    ],
)
def test_what_does_not_fit_is_refused(problem, message):
    with pytest.raises(ValueError, match=message):
        problem.closed_form(problem, [0.5], 20)


@pytest.mark.parametrize("key", PROBLEMS)
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_bad_times(key, bad):
    with pytest.raises(ValueError, match=f"'{key}': reference times must be finite, got"):
        PROBLEMS[key].closed_form(PROBLEMS[key], [0.5, bad], 20)


@pytest.mark.parametrize("key", CLOSED)
def test_times_in_any_order_and_none(key):
    problem = CLOSED[key]
    a, b = problem.closed_form(problem, [0.5, 1.0], 30)
    assert problem.closed_form(problem, [1.0, 0.5, 1.0], 30) == [b, a, b]
    assert problem.closed_form(problem, [], 30) == []


@pytest.mark.parametrize("key", CLOSED)
def test_precision_is_left_alone_and_threads_do_not_disturb(key):
    problem = CLOSED[key]
    before = mp.prec
    times = [0.1 * k for k in range(1, 8)]
    alone = {digits: problem.closed_form(problem, times, digits) for digits in (20, 60)}
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda digits: (digits, problem.closed_form(problem, times, digits)), [20, 60] * 4))
    for digits, states in together:
        assert states == alone[digits]
    with mp.workdps(33):
        assert problem.closed_form(problem, times, 20) == alone[20]
    assert mp.prec == before


# What they are made of


@pytest.mark.parametrize("m", ["1e-9", "0.2", "0.7", "0.99999999"])
def test_jacobi_functions_against_mpmath(m):
    with mp.workdps(60):
        m = mpf(m)
        functions = Jacobi(m, 1 - m)
        nome = mpmath.qfrom(m=m)
        assert abs(functions.quarter - mpmath.ellipk(m)) < mpf(10) ** -45
        assert abs(functions.complementary - mpmath.ellipk(1 - m)) < mpf(10) ** -45
        alpha = functions.complementary * mpf("0.6")
        for share in ("-1.7", "-0.3", "0.8", "1.4"):
            u = functions.quarter * mpf(share)
            point = functions.at(u)
            for name in ("sn", "cn", "dn"):
                assert abs(getattr(point, name) - mpmath.ellipfun(name, u, m=m)) < mpf(10) ** -45
            assert abs(functions.argument(point.sn, point.cn, point.dn) - u) < mpf(10) ** -45
            for which in (3, 4):
                line = functions.line(alpha, which)
                z = functions.scale * mpmath.mpc(u, alpha)
                theta, slope = mpmath.jtheta(which, z, nome), functions.scale * mpmath.jtheta(which, z, nome, 1)
                assert abs(line.at(point) - theta) < mpf(10) ** -45
                assert abs(line.derivative_at(point) - slope) < mpf(10) ** -45
                assert abs(line.rate_at(point) - (slope / theta).imag) < mpf(10) ** -45


@pytest.mark.parametrize("m", ["1e-9", "0.2", "0.7", "0.9999"])
@pytest.mark.parametrize("share", ["-0.9", "0.1", "0.97"])
def test_integral_of_the_third_kind_by_theta_functions(m, share):
    with mp.workdps(60):
        m = mpf(m)
        functions = Jacobi(m, 1 - m)
        alpha = functions.complementary * mpf(share)
        s, c, d = (mpmath.ellipfun(name, alpha, m=1 - m) for name in ("sn", "cn", "dn"))
        for which, nu, factor in ((4, -m * s * s / c**2, s * c / d), (3, m / d**2, d / ((1 - m) * s * c))):
            line = functions.line(alpha, which)
            rate = line.rate_at(functions.at(mpf(0)))
            for part in ("0.4", "-0.9"):
                point = functions.at(functions.quarter * mpf(part))
                u = functions.quarter * mpf(part)
                value = u + factor * (mpmath.arg(line.at(point)) - rate * u)
                expected = mpmath.ellippi(nu, mpmath.asin(point.sn), m)
                assert abs(value - expected) < mpf(10) ** -45 * (1 + abs(expected))
                assert which == 3 or line.at(point).real > 0


def test_digits_of():
    assert [digits_of(x) for x in (0.01, 0.9, 1.0, 9.0, 99.0, 1e6, 1e-300)] == [0, 0, 1, 2, 3, 7, 0]
