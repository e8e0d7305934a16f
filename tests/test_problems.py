"""Each problem is what it says: its torque, what it conserves, its closed form; of one body or of several."""

import math
from dataclasses import replace
from functools import cache
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

import polhode
from polhode.algebra.body import Body
from polhode.algebra.quaternion import to_body, to_lab
from polhode.algebra.vector import cross
from polhode.problems.asymmetric_heavy_top import PROBLEM as HEAVY
from polhode.problems.coupled_cylinders import PROBLEM as COUPLED
from polhode.problems.damped_top import PROBLEM as DAMPED
from polhode.problems.exponential_sphere import PROBLEM as SPHERE
from polhode.problems.forced_cylinder import PROBLEM as FORCED
from polhode.problems.lab_torque import PROBLEM as LAB
from polhode.problems.problem import Problem
from polhode.problems.system import System
from polhode.references import coupled_cylinders, fixed_axis, forced_cylinder, taylor
from polhode.references.dataset import reference_dataset

DIGITS = 45
TILTED = (6 / 9, -2 / 9, 5 / 9, 4 / 9)
SINGLE = {key: problem for key, problem in polhode.problems.items() if isinstance(problem, Problem)}

every_problem = pytest.mark.parametrize("key", SINGLE)
number = st.floats(-3.0, 3.0)
time = st.floats(0.0, 2.0)
vector = st.tuples(number, number, number)


@st.composite
def orientation(draw):
    q = np.array(draw(st.tuples(number, number, number, number)))
    norm = np.linalg.norm(q)
    assume(norm > 0.1)
    return tuple(float(x) for x in q / norm)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def size(a):
    return mpmath.sqrt(dot(a, a))


def difference(a, b):
    return [x - y for x, y in zip(a, b, strict=True)]


def shared(states, others, digits=DIGITS):
    return min(taylor.shared_digits(states, others, digits))


def in_lab(q, v):
    """q v q* / |q|^2 in any arithmetic."""
    a, b, c, d = q
    x, y, z = v
    n = dot(q, q)
    return [
        ((a * a + b * b - c * c - d * d) * x + 2 * (b * c - a * d) * y + 2 * (b * d + a * c) * z) / n,
        (2 * (b * c + a * d) * x + (a * a - b * b + c * c - d * d) * y + 2 * (c * d - a * b) * z) / n,
        (2 * (b * d - a * c) * x + 2 * (c * d + a * b) * y + (a * a - b * b - c * c + d * d) * z) / n,
    ]


def momentum(body, q, omega):
    return in_lab(q, [mpf(i) * w + mpf(h) for i, w, h in zip(body.inertia, omega, body.wheel_momentum, strict=True)])


def kinetic(body, omega):
    return sum(mpf(i) * w * w for i, w in zip(body.inertia, omega, strict=True)) / 2


def spring(t, r, v, q, omega, parameters, force, torque):
    """A spring between a point on the first and a point on the second of two bodies."""
    arms = ((0.3, -0.2, 0.5), (-0.4, 0.1, 0.2))
    ends = (to_lab(q[0], arms[0]), to_lab(q[1], arms[1]))
    pull = (
        parameters[0] * (r[1][0] + ends[1][0] - r[0][0] - ends[0][0]),
        parameters[0] * (r[1][1] + ends[1][1] - r[0][1] - ends[0][1]),
        parameters[0] * (r[1][2] + ends[1][2] - r[0][2] - ends[0][2]),
    )
    first = cross(arms[0], to_body(q[0], pull))
    second = cross(arms[1], to_body(q[1], pull))
    for k in range(3):
        force[0][k] = pull[k]
        force[1][k] = -pull[k]
        torque[0][k] = first[k]
        torque[1][k] = -second[k]


# Of unit norm exactly: the kernels take q for unit.
SPRING = System(
    key="spring",
    label="spring",
    source="tests",
    bodies=(Body((1.0, 1.7, 2.3), 1.3), Body((0.8, 0.9, 0.4), 0.7)),
    r0=((0.1, -0.3, 0.2), (1.4, 0.8, -0.6)),
    v0=((0.5, -0.2, 0.1), (-0.3, 0.4, 0.7)),
    q0=((0.5, -0.5, 0.5, 0.5), (1.0, 0.0, 0.0, 0.0)),
    omega0=((0.9, -0.7, 1.1), (-1.3, 0.4, 0.6)),
    loads=spring,
    parameters={"k": 3.7},
    torque_class="state",
    horizon=1.0,
)


SYSTEMS = {key: system for key, system in polhode.problems.items() if isinstance(system, System)} | {"spring": SPRING}


# Closed forms against the Taylor integrator


SPHERES = {
    "published": SPHERE,
    "tilted": replace(SPHERE, q0=TILTED),
    "asymmetric, spinning backwards": replace(SPHERE, body=Body((900.0, 1400.0, 2100.0)), omega0=(0.0, -7.3, 0.0)),
}


@pytest.mark.parametrize("name", SPHERES)
def test_fixed_axis_agrees_with_taylor(name):
    times = [0.0, 1e-4, 0.31, 1.0]
    problem = SPHERES[name]
    assert shared(fixed_axis.solve(problem, times, DIGITS), taylor.solve(problem, times, DIGITS)) >= DIGITS


def test_arrow_of_the_sphere_points_where_it_was_published():
    """Seelen et al. (2016), Table 1, last row; its row "Theory" is off in the fifth digit."""
    ((q, _),) = fixed_axis.solve(SPHERE, [1.0], 20)
    assert [round(float(x), 6) for x in in_lab(q, (1, 0, 0))] == [0.293444, 0, -0.955976]


CYLINDERS = {
    "published": FORCED,
    "moving, a disc": replace(FORCED, body=Body((3.1e-7, 2e-7, 2e-7)), omega0=(-31.0, 12.0, 45.0)),
    "deep modulation": replace(FORCED.with_parameters(x_amplitude=1e-3, x_frequency=90.0), q0=TILTED),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", CYLINDERS)
def test_the_forced_cylinder_agrees_with_taylor(name):
    problem = CYLINDERS[name]
    times = [0.0, 1e-3, 0.037, 0.1] if problem is FORCED else [0.0, 1e-3, 0.037]
    closed = [(omega,) for omega in forced_cylinder.angular_velocity(problem, times, DIGITS)]
    series = [(omega,) for _, omega in taylor.solve(problem, times, DIGITS)]
    assert shared(closed, series) >= DIGITS


@given(time)
def test_torque_of_the_forced_cylinder_is_the_published_one(t):
    t /= 20
    published = (5e-4 * math.sin(200 * math.pi * t), 1e-5 * math.exp(3 + 24 * t), 1e-5 * 5 ** (52 * t))
    assert FORCED.torque(t, None, None, FORCED.parameter_array) == pytest.approx(published, rel=1e-13, abs=0)


PAIRS = {
    "published": COUPLED,
    "tilted": replace(COUPLED, q0=(TILTED, (0.5, -0.5, 0.5, 0.5))),
    "sliding back": replace(COUPLED, omega0=((-3.0, 0.0, 0.0), (0.9, 0.0, 0.0))),
    "no friction": COUPLED.with_parameters(eta=0.0),
    "stiff": COUPLED.with_parameters(eta=200.0),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", PAIRS)
def test_coupled_cylinders_agree_with_taylor(name):
    times = [0.0, 1e-4, 0.7, 5.0]
    system = PAIRS[name]
    closed, series = (solver(system, times, DIGITS) for solver in (coupled_cylinders.solve, taylor.solve_system))
    assert shared(closed, series) >= DIGITS
    assert [len(vectors) for vectors in closed[0][0]] == [len(vectors) for vectors in series[0][0]] == [3, 3, 4, 3]


def test_closed_forms_refuse_what_they_do_not_cover():
    for problem in (replace(SPHERE, omega0=(0.0, 0.0, 1.0)), replace(SPHERE, parameters={"B": 1.0})):
        with pytest.raises(ValueError, match=r"'exponential_sphere': this closed form needs"):
            fixed_axis.solve(problem, [0.5], 20)
    for problem in (replace(FORCED, body=Body((1.0, 1.7, 2.3))), replace(FORCED, parameters={"Mx": 1.0})):
        with pytest.raises(ValueError, match=r"'forced_cylinder': this closed form needs"):
            forced_cylinder.angular_velocity(problem, [0.5], 20)
    for system in (
        replace(COUPLED, fixed=False),
        replace(COUPLED, parameters={"eta": 1.0}),
        replace(COUPLED, omega0=((2.0, 0.0, 0.0), (0.4, 0.1, 0.0))),
    ):
        with pytest.raises(ValueError, match=r"'coupled_cylinders': this closed form needs"):
            coupled_cylinders.solve(system, [0.5], 20)


# What is conserved, along the Taylor solution


@cache
def solution(key):
    """Four states of a problem in the first quarter of its horizon."""
    problem = SINGLE[key]
    end = problem.horizon / 4
    times = [0.0, 0.21 * end, 0.64 * end, end]
    return times, taylor.solve(problem, times, DIGITS)


def spread(values):
    """Largest distance of later vectors from the first, relative to the longest."""
    longest = max(size(v) for v in values)
    return max(size(difference(v, values[0])) for v in values[1:]) / longest if longest else mpf(0)


@pytest.mark.thorough
@every_problem
def test_a_problem_conserves_what_it_says_and_no_more(key):
    problem = SINGLE[key]
    times, states = solution(key)
    with mp.workdps(DIGITS + 15):
        parameters = [mpf(p) for p in problem.parameters.values()]
        energies = [[kinetic(problem.body, omega)] for _, omega in states]
        if problem.potential is not None:
            assert spread(energies) > 1e-2
            energies = [[e + problem.potential(q, parameters)] for (e,), (q, _) in zip(energies, states, strict=True)]
        momenta = [momentum(problem.body, q, omega) for q, omega in states]
        vertical = [[z] for _, _, z in momenta]
        exactness = mpf(10) ** -40
        if problem.impulse is not None:
            assert spread(momenta) > 1e-2
            # The kernels turn a vector by q that is not quite unit, and the impulse is in double precision.
            norm = dot(problem.q0, problem.q0)
            impulses = [problem.impulse(t, problem.parameter_array) for t in times]
            momenta = [[x - norm * y for x, y in zip(a, b, strict=True)] for a, b in zip(momenta, impulses, strict=True)]
            exactness = mpf("1e-15")
        for name, values, bound in (
            ("energy", energies, mpf(10) ** -40),
            ("momentum", momenta, exactness),
            ("vertical momentum", vertical, mpf(10) ** -40),
        ):
            if name in problem.conserves:
                assert spread(values) < bound, name
            elif any(size(v) for v in values) and not (name == "vertical momentum" and "momentum" in problem.conserves):
                assert spread(values) > 1e-3, name


@pytest.mark.parametrize("key", ["gravity_gradient", "orbital_drag"])
def test_the_energy_in_the_frame_of_the_orbit_stays(key):
    """In a polar orbit, whose normal is -y, and from a q of norm one: so that both are exact in floats."""
    problem = replace(SINGLE[key].with_parameters(cos_i=0.0, sin_i=1.0), q0=(0.5, -0.5, 0.5, 0.5))
    times = [0.0, 400.0, 900.0]
    states = taylor.solve(problem, times, DIGITS)
    with mp.workdps(DIGITS + 15):
        p = {name: mpf(x) for name, x in problem.parameters.items()}
        terms = []
        for t, (q, omega) in zip(times, states, strict=True):
            u, back = p["u0"] + p["n"] * t, (q[0], -q[1], -q[2], -q[3])
            if key == "gravity_gradient":
                up = in_lab(back, (mpmath.cos(u), 0, mpmath.sin(u)))
                potential = 3 * p["n"] ** 2 * kinetic(problem.body, up)
            else:
                ahead = in_lab(back, (-mpmath.sin(u), 0, mpmath.cos(u)))
                potential = p["force"] * dot([p[name] for name in "xyz"], ahead)
            terms.append((kinetic(problem.body, omega), p["n"] * momentum(problem.body, q, omega)[1], potential))
        assert spread([[sum(row)] for row in terms]) < mpf(10) ** -40
        assert all(spread([[term] for term in column]) > 1e-2 for column in zip(*terms, strict=True))


@given(orientation(), vector, time)
def test_torque_of_a_potential_is_its_gradient(q, omega, t):
    for problem in SINGLE.values():
        if problem.potential is not None:
            parameters = problem.parameter_array
            # The derivative of q turning with omega, and a central difference along it.
            x, y, z = omega
            a, b, c, d = q
            rate = [-(b * x + c * y + d * z), a * x + c * z - d * y, a * y + d * x - b * z, a * z + b * y - c * x]
            h = 1e-4
            ahead, behind = ([u + s * h * v / 2 for u, v in zip(q, rate, strict=True)] for s in (1, -1))
            change = (problem.potential(ahead, parameters) - problem.potential(behind, parameters)) / (2 * h)
            power = dot(problem.torque(t, q, omega, parameters), omega)
            assert change == pytest.approx(-power, rel=1e-8, abs=1e-8 * sum(abs(p) for p in parameters))


@every_problem
def test_potential_and_impulse_take_arrays(key):
    problem = SINGLE[key]
    parameters = problem.parameter_array
    if problem.potential is not None:
        q = np.array([TILTED, (0.5, -0.5, 0.5, 0.5), (1.0, 0.0, 0.0, 0.0)])
        together = problem.potential(tuple(q.T), parameters)
        assert list(together) == [problem.potential(tuple(row), parameters) for row in q]
    if problem.impulse is not None:
        times = np.array([0.0, 0.4, 1.9])
        together = np.array(problem.impulse(times, parameters)).T
        assert not together[0].any()
        np.testing.assert_allclose(together, [problem.impulse(t, parameters) for t in times], rtol=1e-14)


@pytest.mark.parametrize("t", [0.3, 2.0, 50.0])
def test_impulse_is_the_torque_in_the_lab_integrated(t):
    """Gauss's rule on the torque seen with q = 1, which the lab and the body then share."""
    for problem in SINGLE.values():
        if problem.impulse is not None:
            nodes, weights = np.polynomial.legendre.leggauss(120)
            parameters = problem.parameter_array
            torques = [problem.torque(s, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), parameters) for s in (nodes + 1) * t / 2]
            assert problem.impulse(t, parameters) == pytest.approx(t / 2 * weights @ np.array(torques), rel=1e-12)


@given(vector)
def test_friction_takes_energy_and_the_rotor_does_not(omega):
    parameters = DAMPED.parameter_array
    power = dot(DAMPED.torque(0.0, None, omega, parameters), omega)
    assert power == pytest.approx(-sum(c * w * w for c, w in zip(parameters, omega, strict=False)), abs=1e-13)


def test_momentum_of_body_and_rotor_is_conserved():
    problem = DAMPED.with_parameters(cx=0.0, cy=0.0, cz=0.0)
    states = taylor.solve(problem, [0.0, 0.7, 2.0], DIGITS)
    with mp.workdps(DIGITS + 15):
        rotor = [mpf(problem.parameters[name]) for name in ("hx", "hy", "hz")]
        total = [
            [a + b for a, b in zip(momentum(problem.body, q, omega), in_lab(q, rotor), strict=True)] for q, omega in states
        ]
        assert spread(total) < mpf(10) ** -40
        assert spread([in_lab(q, rotor) for q, _ in states]) > 0.1


def test_asymmetric_heavy_top_can_exist():
    """Second moments of mass about the centre, s - m r r^T, are those of a body if they have no negative eigenvalue."""
    x, y, z = HEAVY.body.inertia
    mass = HEAVY.parameters["weight"] / 9.81
    arm = [HEAVY.parameters[name] for name in "xyz"]
    second = np.diag([y + z - x, z + x - y, x + y - z]) / 2
    assert mass == pytest.approx(HEAVY.body.mass)
    assert np.linalg.eigvalsh(second - mass * np.outer(arm, arm)).min() > 0
    assert mass * sum(r * r / s for r, s in zip(arm, np.diag(second), strict=True)) == pytest.approx(0.49, abs=0.005)


@pytest.mark.parametrize("problem", [LAB, HEAVY, DAMPED], ids=lambda problem: problem.key)
def test_our_own_problems_have_no_symmetry(problem):
    """Moments, spins, components of q and torques all differ in size, none is near zero: no error cancels by accident."""
    torque = problem.torque(0.0, problem.q0, problem.omega0, problem.parameter_array)
    # The parameters in groups of one kind, by all but the last letter of their names.
    kinds = {
        name[:-1]: [v for other, v in problem.parameters.items() if other[:-1] == name[:-1]] for name in problem.parameters
    }
    groups = [values for values in kinds.values() if len(values) == 3]
    assert groups
    for values in (problem.body.inertia, problem.omega0, problem.q0, torque, *groups):
        sizes = sorted(abs(x) for x in values)
        assert min(b / a for a, b in pairwise(sizes)) > 1.02
        assert sizes[0] > 0.1 * sizes[-1]


# Torques: compiled, and of the class they claim


@every_problem
@settings(max_examples=25)
@given(t=time, q=orientation(), omega=vector)
def test_compiled_torque_is_the_torque(key, t, q, omega):
    problem = SINGLE[key]
    parameters = problem.parameter_array
    plain = problem.whole_torque(t, q, omega, parameters)
    # The last bit is left to the libraries' sine and exponential.
    assert problem.compiled_torque(t, q, omega, parameters) == pytest.approx(plain, rel=4e-16, abs=0)


@pytest.mark.thorough
@pytest.mark.parametrize("key", SYSTEMS)
def test_compiled_loads_are_the_loads(key):
    system = SYSTEMS[key]
    rng = np.random.default_rng(1)
    for _ in range(20):
        r, v, omega = rng.normal(size=(3, len(system.bodies), 3))
        q = rng.normal(size=(len(system.bodies), 4))
        q /= np.linalg.norm(q, axis=1, keepdims=True)
        compiled, plain = [], []
        for loads, values in ((system.compiled_loads, compiled), (system.loads, plain)):
            # What the arrays held before must not matter.
            force, torque = np.full_like(r, np.nan), np.full_like(r, np.nan)
            loads(0.7, r, v, q, omega, system.parameter_array, force, torque)
            values += [force, torque]
        np.testing.assert_array_equal(compiled, plain)
        assert np.isfinite(plain).all() and np.any(plain)


EVERYTHING = (0.4, TILTED, (0.9, -0.7, 1.1))


@every_problem
@settings(max_examples=25)
@given(t=time, q=orientation(), omega=vector)
@example(*EVERYTHING)
def test_torque_does_not_depend_on_what_its_class_excludes(key, t, q, omega):
    problem = SINGLE[key]

    def torque(t, q, omega):
        return problem.whole_torque(t, q, omega, problem.parameter_array)

    torque_there = torque(t, q, omega)
    t0, q0, omega0 = EVERYTHING
    match problem.torque_class:
        case "free":
            assert torque_there == (0.0, 0.0, 0.0)
        case "constant":
            assert torque_there == torque(t0, q0, omega0)
        case "time":
            assert torque_there == torque(t, q0, omega0)
        case "lab":
            assert to_lab(q, torque_there) == pytest.approx(to_lab(q0, torque(t, q0, omega0)), rel=1e-13, abs=1e-13)
        case "state":
            assert torque_there == torque(t, q, omega0)
        case other:
            assert other == "velocity"


@every_problem
def test_torque_depends_on_what_its_class_names(key):
    """Otherwise it would belong to an earlier class; the torque of wheels counts."""
    problem = SINGLE[key]

    def change(t=EVERYTHING[0], q=EVERYTHING[1], omega=EVERYTHING[2], turned=False):
        a, b = (np.array(problem.whole_torque(*x, problem.parameter_array)) for x in (EVERYTHING, (t, q, omega)))
        if turned:
            a, b = np.array(to_lab(EVERYTHING[1], tuple(a))), np.array(to_lab(q, tuple(b)))
        return np.linalg.norm(b - a) / max(np.linalg.norm(a), 1e-300)

    other_q = (0.5, 0.5, -0.5, 0.5)
    depends = {
        "free": True,
        "constant": any(problem.torque(*EVERYTHING, problem.parameter_array)),
        "time": change(t=1.3) > 0.1,
        "lab": change(t=1.3, turned=True) > 0.1 and change(q=other_q) > 0.1,
        "state": change(q=other_q) > 0.1 and change(q=other_q, turned=True) > 0.1,
        "velocity": change(omega=(-0.2, 1.3, 0.5)) > 0.1,
    }
    assert depends[problem.torque_class]


# Systems


def test_friction_depends_on_the_spins():
    def loads(spins):
        force, torque = np.zeros((2, 3)), np.zeros((2, 3))
        rest = (np.array(x) for x in (COUPLED.r0, COUPLED.v0, COUPLED.q0))
        COUPLED.loads(0.0, *rest, np.array(spins), COUPLED.parameter_array, force, torque)
        return torque

    assert COUPLED.torque_class == "velocity"
    assert np.abs(loads(COUPLED.omega0) - loads(np.zeros((2, 3)))).max() > 1


@given(st.tuples(vector, vector))
def test_action_and_reaction(omega):
    """The forces at the contact are opposite, their moment about any point of the lab is zero, and friction takes energy."""
    r, v, q, spin = (np.array(x, float) for x in (COUPLED.r0, COUPLED.v0, COUPLED.q0, omega))
    force, torque = np.zeros((2, 3)), np.zeros((2, 3))
    COUPLED.loads(0.0, r, v, q, spin, COUPLED.parameter_array, force, torque)
    assert not force.sum(axis=0).any()
    np.testing.assert_allclose((torque + np.cross(r, force)).sum(axis=0), 0, atol=1e-12)
    # The velocity with which the first surface slides over the second, and the power of the friction.
    contact = np.array([0.0, COUPLED.parameters["R1"], 0.0])
    surfaces = [np.cross((w[0], 0.0, 0.0), contact - centre) for w, centre in zip(spin, r, strict=True)]
    sliding = surfaces[0] - surfaces[1]
    np.testing.assert_allclose(force[0], -COUPLED.parameters["eta"] * sliding, atol=1e-12)
    assert (torque * spin).sum() == pytest.approx(-COUPLED.parameters["eta"] * sliding @ sliding, abs=1e-11)


def test_balance_of_the_coupled_cylinders():
    """The axles hold the centres by a couple: the angular momentum changes, another combination of the spins does not."""
    states = taylor.solve_system(COUPLED, [0.0, 0.4, 5.0], DIGITS)
    with mp.workdps(DIGITS + 15):
        radii = [mpf(COUPLED.parameters[name]) for name in ("R1", "R2")]
        spin = [[mpf(b.inertia[0]) * omega[0] for b, (*_, omega) in zip(COUPLED.bodies, s, strict=True)] for s in states]
        assert spread([[a / radii[0] - b / radii[1]] for a, b in spin]) < mpf(10) ** -40
        assert spread([[a + b] for a, b in spin]) > 0.1
        # The impulse of the friction on the first cylinder, from its spin, is that of each axle too, on the lever between them.
        for a, b in spin[1:]:
            impulse = (a - spin[0][0]) / radii[0]
            assert abs(a + b - sum(spin[0]) - impulse * sum(radii)) < mpf(10) ** -40
        for state in states:
            assert [body[:2] for body in state] == [body[:2] for body in states[0]]


def test_coupled_cylinders_end_as_described():
    """Seelen et al. (2016), Sec. 3.4: the first is slowed down, the second is reversed, and nothing slides any more."""
    (((*_, (first, *_)), (*_, (second, *_))),) = coupled_cylinders.solve(COUPLED, [40.0], 20)
    assert 0 < first < 2 and second < 0
    assert abs(COUPLED.parameters["R1"] * first + COUPLED.parameters["R2"] * second) < 1e-19
    assert COUPLED.parameters == {"eta": 5.4, "R1": 1.0, "R2": 2.4}
    assert COUPLED.omega0 == ((2.0, 0.0, 0.0), (0.4, 0.0, 0.0))
    # The masses and heights are not published. With equal densities and lengths it would not be so.
    for body, radius in zip(COUPLED.bodies, (1.0, 2.4), strict=True):
        assert body.inertia == pytest.approx(Body.cylinder(radius, 1.0, 10 / (math.pi * radius**2)).inertia)
        assert body.mass == 10
    thin = replace(COUPLED, bodies=tuple(Body.cylinder(COUPLED.parameters[r], 1.0, 1.0) for r in ("R1", "R2")))
    (((*_, (first, *_)), _),) = coupled_cylinders.solve(thin, [40.0], 20)
    assert first < 0


@pytest.mark.thorough
def test_free_systems_conserve_momenta_and_energy():
    states = taylor.solve_system(SPRING, [0.0, 0.3, 0.9], DIGITS)
    with mp.workdps(DIGITS + 15):
        momenta, angular, energies, stretches = [], [], [], []
        for state in states:
            masses = [mpf(body.mass) for body in SPRING.bodies]
            linear = [[m * x for x in v] for m, (_, v, _, _) in zip(masses, state, strict=True)]
            momenta.append([a + b for a, b in zip(*linear, strict=True)])
            spins = [momentum(b, q, omega) for b, (_, _, q, omega) in zip(SPRING.bodies, state, strict=True)]
            orbits = [
                [r[1] * p[2] - r[2] * p[1], r[2] * p[0] - r[0] * p[2], r[0] * p[1] - r[1] * p[0]]
                for (r, _, _, _), p in zip(state, linear, strict=True)
            ]
            angular.append([sum(x) for x in zip(*spins, *orbits, strict=True)])
            ends = [
                [a + b for a, b in zip(r, in_lab(q, [mpf(x) for x in arm]), strict=True)]
                for (r, _, q, _), arm in zip(state, ((0.3, -0.2, 0.5), (-0.4, 0.1, 0.2)), strict=True)
            ]
            stretch = difference(*ends)
            stretches.append(stretch)
            moving = sum(m * dot(v, v) / 2 for m, (_, v, _, _) in zip(masses, state, strict=True))
            turning = sum(kinetic(b, omega) for b, (*_, omega) in zip(SPRING.bodies, state, strict=True))
            energies.append([moving + turning + mpf(SPRING.parameters["k"]) * dot(stretch, stretch) / 2])
        assert spread(momenta) < mpf(10) ** -40
        assert spread(angular) < mpf(10) ** -40
        assert spread(energies) < mpf(10) ** -40
        assert spread(stretches) > 0.1


@pytest.mark.thorough
def test_a_system_of_one_fixed_body_is_the_single_body():
    """The same numbers, to the last bit of the precision in use."""

    single = HEAVY.torque

    def loads(t, r, v, q, omega, parameters, force, torque):
        torque_of_body = single(t, q[0], omega[0], parameters)
        for k in range(3):
            torque[0][k] = torque_of_body[k]

    system = System(
        **{name: getattr(HEAVY, name) for name in ("key", "label", "source", "parameters", "torque_class", "horizon")},
        bodies=(HEAVY.body,),
        q0=(HEAVY.q0,),
        omega0=(HEAVY.omega0,),
        r0=((1.0, 2.0, 3.0),),
        v0=((0.1, 0.2, 0.3),),
        loads=loads,
        fixed=True,
    )
    times = [0.0, 0.8, 2.0]
    states = taylor.solve_system(system, times, 30)
    assert [state[0][2:] for state in states] == taylor.solve(HEAVY, times, 30)
    assert all(state[0][:2] == ((1, 2, 3), tuple(map(mpf, (0.1, 0.2, 0.3)))) for state in states)


def test_a_centre_falls():
    def gravity(t, r, v, q, omega, parameters, force, torque):
        force[0][2] = -parameters[0]

    system = System(
        key="fall",
        label="fall",
        source="tests",
        bodies=(Body((1.0, 1.7, 2.3), 2.0),),
        omega0=((0.9, -0.7, 1.1),),
        r0=((1.0, 2.0, 3.0),),
        v0=((0.5, 0.0, 4.0),),
        loads=gravity,
        parameters={"weight": 19.5},
        torque_class="free",
        horizon=1.0,
    )
    t = 1.75
    (((r, v, _, _),),) = taylor.solve_system(system, [t], 30)
    assert size(difference(r, (1 + 0.5 * t, 2, 3 + 4 * t - 9.75 * t * t / 2))) < mpf(10) ** -14
    assert size(difference(v, (0.5, 0, 4 - 9.75 * t))) < mpf(10) ** -14


def test_agreement_is_that_of_the_worst_body():
    (state,) = coupled_cylinders.solve(COUPLED, [1.0], 30)
    for body in range(2):
        for part in (2, 3):
            other = [list(vectors) for vectors in state]
            x, *rest = other[body][part]
            with mp.workdps(60):
                other[body][part] = (x * (1 + mpf(10) ** -20), *rest)
            assert 19.9 <= taylor.agreement(state, [tuple(vectors) for vectors in other], 45) < 22


def test_dataset_of_a_system():
    times = [0.0, 0.5, 5.0]
    data = reference_dataset(COUPLED, times, 30)
    assert data.attrs["agreement"] >= 30 and data.attrs["check"] == "Taylor series"
    exact = coupled_cylinders.solve(COUPLED, times, 30)
    for part, (name, dimension) in enumerate((("r", "axis"), ("v", "axis"), ("q", "quaternion"), ("omega", "axis"))):
        assert data[name].dims == data[f"{name}_digits"].dims == ("time", "body", dimension)
        assert {"long_name", "units", "symbol"} <= set(data[name].attrs)
        for i, state in enumerate(exact):
            for j, body in enumerate(state):
                assert list(data[name].values[i, j]) == [float(x) for x in body[part]]
                for text, x in zip(data[f"{name}_digits"].values[i, j], body[part], strict=True):
                    with mp.workdps(45):
                        assert abs(mpf(str(text)) - x) <= abs(x) * mpf(10) ** -29
    assert list(data.body.values) == [0, 1]
    for i in (2, 3):
        np.testing.assert_array_equal(data[("q", "omega")[i - 2]].values, COUPLED.exact(times, 30)[i - 2])


def test_dataset_of_a_system_without_a_closed_form():
    data = reference_dataset(SPRING, [0.0, 0.05, 0.1], 30, check_until=0.05)
    assert data.attrs["agreement"] >= 35 and data.attrs["agreement_samples"] == 2
    assert "higher precision" in data.attrs["check"]
    assert data.r.values[0].tolist() == [list(r) for r in SPRING.r0]
    ((first, second),) = taylor.solve_system(SPRING, [0.05], 30)
    with mp.workdps(45):
        r = tuple(x * (1 + mpf(10) ** -20) for x in second[0])
    assert taylor.self_agreement(SPRING, [0.05], 30, [[first, (r, *second[1:])]]) == [pytest.approx(20, abs=0.2)]


@pytest.mark.parametrize("part", [0, 2, 3])
def test_a_wrong_closed_form_of_a_system_is_refused(part):
    def wrong(system, times, digits):
        states = coupled_cylinders.solve(system, times, digits)
        vectors = list(states[1][1])
        with mp.workdps(45):
            vectors[part] = tuple(x + mpf(10) ** -24 for x in vectors[part])
        states[1][1] = tuple(vectors)
        return states

    with pytest.raises(ArithmeticError, match=r"'coupled_cylinders': of 30 digits only 2\d(\.\d)? agree .* at t = 0\.5 s"):
        reference_dataset(replace(COUPLED, reference=wrong), [0.0, 0.5, 1.0], 30)
