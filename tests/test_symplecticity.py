"""The test for symplecticity: against exact motions in many digits, finite differences, and maps known to be what they are."""

import math
from dataclasses import replace

import conftest
import gmpy2
import mpmath
import numpy as np
import pytest
import xarray as xr

import polhode
from polhode.algebra import dual
from polhode.compiling.kernel import kernel
from polhode.compiling.plain import plain_copy
from polhode.fits import canonical_form
from polhode.methods import no_squish, spiral_leapfrog
from polhode.methods.plain_driver import plain_driver
from polhode.references import taylor
from polhode.references.defect import Looks
from polhode_study.chapters.long_runs import run_symplecticity as symplecticity
from polhode_study.chapters.long_runs.run_symplecticity import READINGS, ROUNDING, Stepper, memory, step_defects

SPHERE = conftest.make(
    "sphere", polhode.problems["heavy_top"].torque, "state", {"mgl": 8.0}, body=polhode.Body((0.9, 0.9, 0.9))
)


def constant_in_the_lab(t, q, omega, parameters):
    """A torque that no potential has: it spins a body up turn after turn."""
    return polhode.algebra.quaternion.to_body(q, (0.9, -0.4, 0.7))


LAB = conftest.make("lab", constant_in_the_lab, "lab")


def start_of(problem):
    return np.array(problem.q0), np.array(problem.omega0)


def defects(method, problem, dt=0.01):
    return step_defects(Stepper(method, problem, dt), *start_of(problem))


# The canonical form


def exact_apart(problem, time):
    """D^T W' D - W of the exact motion in 30 digits: Taylor series, central differences, nothing of the module under test.

    For W and for W with the other sign of its bracket.
    """
    bits, looks = 150, Looks(problem, float(time))
    with mpmath.workprec(bits), gmpy2.context(gmpy2.get_context(), precision=bits):
        (q0, omega0), rates = taylor._one_body(looks)
        inertia = [gmpy2.mpfr(x) for x in problem.body.inertia]
        length = gmpy2.sqrt(sum(x * x for x in q0))
        q0 = tuple(x / length for x in q0)

        def times(q, v):
            return plain_copy(polhode.algebra.quaternion.multiply, {}, "")(q, (gmpy2.mpfr(0), *v))

        def flow(xi, eta):
            q = tuple(a + b / 2 for a, b in zip(q0, times(q0, xi), strict=True))
            size = gmpy2.sqrt(sum(x * x for x in q))
            omega = tuple(w + e / i for w, e, i in zip(omega0, eta, inertia, strict=True))
            start = [tuple(x / size for x in q), omega]
            ((q, omega),) = taylor._integrate(looks, start, rates, [gmpy2.mpfr(time)], bits, 50)
            return q, [i * w for i, w in zip(inertia, omega, strict=True)]

        q1, momentum1 = flow([0] * 3, [0] * 3)
        h = gmpy2.mpfr(10) ** -13
        columns = []
        for k in range(6):
            moved = [[s * h * (j == k) for j in range(6)] for s in (1, -1)]
            (qa, pa), (qb, pb) = (flow(m[:3], m[3:]) for m in moved)
            back = (q1[0], -q1[1], -q1[2], -q1[3])
            dq = [(a - b) / (2 * h) for a, b in zip(qa, qb, strict=True)]
            xi = plain_copy(polhode.algebra.quaternion.multiply, {}, "")(back, dq)[1:]
            columns.append([2 * x for x in xi] + [(a - b) / (2 * h) for a, b in zip(pa, pb, strict=True)])

        def form(sign, p, a, b):
            bracket = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
            return sum(a[i] * b[3 + i] - b[i] * a[3 + i] + sign * p[i] * bracket[i] for i in range(3))

        momentum0 = [i * w for i, w in zip(inertia, omega0, strict=True)]
        unit = [[int(i == j) for j in range(6)] for i in range(6)]
        pairs = [(i, j) for i in range(6) for j in range(i)]
        return [
            max(abs(float(form(s, momentum1, columns[i], columns[j]) - form(s, momentum0, unit[i], unit[j]))) for i, j in pairs)
            for s in (1, -1)
        ]


@pytest.mark.parametrize("key", ["free_asymmetric_top", "heavy_top"])
def test_exact_motion_keeps_the_form(key):
    form, other_sign = exact_apart(polhode.problems[key], 0.2)
    assert form < 1e-20 and other_sign > 1e-2


def test_exact_motion_does_not_where_the_torque_has_no_potential():
    assert exact_apart(LAB, 0.2)[0] > 1e-4


def test_the_matrix_is_the_form():
    rng = np.random.default_rng(1)
    momentum, first, second = rng.normal(size=3), rng.normal(size=6), rng.normal(size=6)
    wanted = first[:3] @ second[3:] - second[:3] @ first[3:] + momentum @ np.cross(first[:3], second[:3])
    assert first @ symplecticity.canonical_form(momentum) @ second == pytest.approx(wanted, abs=1e-14)


# The Jacobian


def test_duals_differentiate():
    x, y = dual.Dual(1.7, np.array([1.0, 0.0])), dual.Dual(-0.6, np.array([0.0, 1.0]))
    f = (2.0 - x) * y / (x + 3.0) - 1.0 / y + (x * x).sqrt() - (-y) / 4.0
    assert float(f) == pytest.approx(0.3 * -0.6 / 4.7 + 1 / 0.6 + 1.7 - 0.15)
    by_x = 0.6 / 4.7 - 0.3 * -0.6 / 4.7**2 + 1
    by_y = 0.3 / 4.7 + 1 / 0.36 + 0.25
    assert f.gradient == pytest.approx([by_x, by_y])
    assert y < x <= 1.7 and x > 1 and x >= y


def test_duals_know_the_root_alone():
    def torque(t, q, omega, parameters):
        return (math.exp(t), 0.0, 0.0)

    with pytest.raises(ValueError, match=r"math\.exp has no derivative"):
        dual.on_duals(torque)(0.0, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), ())


@conftest.every_method
def test_the_plain_driver_takes_the_steps_of_the_compiled_one(key):
    method, problem, dt = polhode.methods[key], polhode.problems["heavy_top"], 0.01
    arguments = problem.body.coefficients(), problem.compiled_torque, problem.parameter_array, dt
    q, omega, stored, _ = method.integrate(problem.q0, problem.omega0, *arguments, np.arange(4))

    driver = plain_driver(method, conftest.plain, conftest.plain(problem.torque), arguments[0], dt, (8.0,))
    state = driver.start(problem.q0, problem.omega0)
    for n in range(4):
        read = driver.read(state, n)
        carried = read[1] if method.processor else driver.stored(state)
        assert (*read[0], *read[1], *carried) == (*q[n], *omega[n], *stored[n])
        state = driver.step(state, n)


@pytest.mark.parametrize("key", ["no_squish", "spiral_leapfrog", "pfc4", "rk4", "verlet"])
def test_jacobian_is_that_of_finite_differences(key):
    """Of the map from the start to what is read after two steps, through the compiled driver."""
    method, problem, dt, h = polhode.methods[key], polhode.problems["asymmetric_heavy_top"], 0.02, 1e-5
    q0, omega0 = start_of(problem)
    inertia = np.array(problem.body.inertia)

    def end(xi_eta):
        q = q0 + 0.5 * symplecticity._times(q0) @ xi_eta[:3]
        arguments = problem.body.coefficients(), problem.compiled_torque, problem.parameter_array, dt
        q, omega, _, _ = method.integrate(tuple(q / np.linalg.norm(q)), tuple(omega0 + xi_eta[3:] / inertia), *arguments, [2])
        return q[0], inertia * omega[0]

    stepper = Stepper(method, problem, dt)
    state = stepper.moved(stepper.moved(stepper.started(q0, omega0), 0), 1)
    point, jacobian = stepper.seen(state, 2, "read")
    for k, row in enumerate(np.eye(6)):
        (qa, pa), (qb, pb) = end(h * row), end(-h * row)
        turn = 2 * symplecticity._times(point.q).T @ (qa - qb) / (2 * h)
        assert np.concatenate([turn, (pa - pb) / (2 * h)]) == pytest.approx(jacobian[:, k], abs=1e-8)


def test_a_step_of_half_a_turn_is_refused():
    with pytest.raises(ValueError, match="half a turn"):
        defects(polhode.methods["no_squish"], polhode.problems["heavy_top"], dt=0.3)


# What is symplectic and what is not


@pytest.mark.parametrize("key", symplecticity.PROBLEMS)
def test_no_squish_is_symplectic(key):
    assert max(defects(polhode.methods["no_squish"], polhode.problems[key], dt=0.05)) < 1e-14


def test_kick_and_turn_of_a_sphere_is_symplectic():
    """Without gyroscopic term a step is a kick and a turn about Pi; any angle that depends on |Pi| alone has a Hamiltonian."""
    for key in ("spiral_leapfrog", "spiral_omelyan", "omelyan1998", "scalar_factor", "euler"):
        assert max(defects(polhode.methods[key], SPHERE)) < 1e-14, key
    assert min(defects(polhode.methods["rk4"], SPHERE, 0.05)) > 1e-9
    assert min(defects(polhode.methods["spiral_synchronous"], SPHERE)) > 1e-8, "it turns by the torque too"


def test_the_form_with_the_other_sign_refuses_what_is_symplectic(monkeypatch):
    def turned(momentum):
        return np.block([[symplecticity.hat(momentum), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])

    monkeypatch.setattr(symplecticity, "canonical_form", turned)
    assert min(defects(polhode.methods["no_squish"], polhode.problems["heavy_top"])) > 1e-3


def test_a_rotor_that_leaves_out_the_momentum_is_refused():
    @kernel
    def before_torque(state, body, dt):
        q, p, torque = state[:4], state[4:8], state[8:11]
        p = no_squish.kick(q, p, torque, 0.5 * dt)
        q, _ = no_squish.rotors(q, p, body, dt)
        return q + p + torque, q, no_squish.omega_of(q, p, body)

    mutant = replace(no_squish.METHOD, key="mutant", before_torque=before_torque)
    assert min(defects(mutant, polhode.problems["free_asymmetric_top"])) > 1e-4


def test_a_torque_without_potential_is_no_hamiltonian_motion():
    assert min(defects(polhode.methods["no_squish"], LAB)) > 1e-6


def test_the_order_of_the_defect_is_that_of_the_kick():
    """A first-order kick of a leapfrog that is seen at the whole time costs a power."""

    @kernel
    def after_torque(state, torque, body, dt):
        q, omega = state[:4], state[4:7]
        omega = polhode.algebra.vector.axpy(dt, polhode.algebra.body.euler_equations(omega, torque, body), omega)
        return polhode.algebra.quaternion.rotate(q, omega, dt) + omega

    problem = polhode.problems["asymmetric_heavy_top"]
    coarse = replace(spiral_leapfrog.METHOD, key="coarse", after_torque=after_torque)
    for method, wanted in ((spiral_leapfrog.METHOD, 3), (coarse, 2)):
        first, second = (defects(method, problem, dt)[READINGS.index("read")] for dt in (0.01, 0.005))
        assert math.log2(first / second) == pytest.approx(wanted, abs=0.1)


@pytest.mark.parametrize(
    ("key", "problem", "remembers"),
    [
        ("pcdm2016", "free_asymmetric_top", True),
        ("pcdm2013_mid", "free_asymmetric_top", False),
        ("pcdm2013_mid", "heavy_top", True),
        ("pcdm2013_lead", "heavy_top", False),
        ("calzavarini2010", "heavy_top", False),
        ("verlet", "heavy_top", False),
        ("spiral_leapfrog", "heavy_top", False),
        ("pfc4", "heavy_top", False),
    ],
)
def test_a_history_is_found(key, problem, remembers):
    problem = polhode.problems[problem]
    distances = [memory(Stepper(polhode.methods[key], problem, 0.02), *start_of(problem), reading) for reading in READINGS]
    assert (max(distances) > 1e-6) if remembers else (max(distances) < ROUNDING)


# RATTLE


def test_the_nine_coordinates_carry_the_same_form():
    problem = polhode.problems[symplecticity.CONSTRAINED]
    moments, omega = np.array(problem.body.inertia), np.array(problem.omega0)
    second = moments.sum() / 2 - moments
    turns = np.array([symplecticity.hat(row[:3]) for row in np.eye(6)])
    spins = np.array([symplecticity.hat(row[3:] / moments) for row in np.eye(6)])
    form = symplecticity._pairing(turns, (turns @ symplecticity.hat(omega) + spins) * second)
    assert form == pytest.approx(symplecticity.canonical_form(moments * omega), abs=1e-14)


def test_rattle_is_a_second_order_step_of_the_free_body():
    problem = polhode.problems[symplecticity.CONSTRAINED]
    moments, omega = np.array(problem.body.inertia), np.array(problem.omega0)
    second = moments.sum() / 2 - moments
    errors = []
    for dt in (0.02, 0.01):
        ((_, exact),) = taylor.solve(problem, [dt], 20)
        r, p = symplecticity.rattle(np.eye(3), symplecticity.hat(omega) * second, second, dt, 40)
        momentum = r.T @ p - p.T @ r
        omega_reached = np.array([momentum[2, 1], momentum[0, 2], momentum[1, 0]]) / moments
        errors.append(np.abs(omega_reached - np.array(exact, float)).max())
        assert np.abs(r.T @ r - np.eye(3)).max() < 1e-15
    assert math.log2(errors[0] / errors[1]) == pytest.approx(3, abs=0.1)


def test_constraints_that_are_met_keep_the_form():
    few, enough = symplecticity.constrained_step(2), symplecticity.constrained_step(48)
    assert max(enough) < 1e-14
    assert few.defect > 1e-4 and few.returned > 1e-4 and few.constraint > 1e-4


# The check


@pytest.fixture(scope="module")
def check():
    return symplecticity.symplecticity({"methods": ["no_squish", "spiral_leapfrog", "pcdm2016"]})


@pytest.mark.thorough
def test_the_check_says_who_is_symplectic(check):
    assert canonical_form.symplectic(check) == ["no_squish"]
    powers = check.power.sel(integrator="spiral_leapfrog")
    assert powers.sel(reading="carried").values == pytest.approx(2, abs=0.1)
    assert powers.sel(reading="read").values == pytest.approx(3, abs=0.1)
    assert np.isnan(check.power.sel(integrator="no_squish")).all()
    assert np.isnan(check.defect.sel(integrator="pcdm2016")).all() and (check.memory.sel(integrator="pcdm2016") > 1e-6).all()
    assert (np.diff(check.constraint_defect) < 0).all()


def test_one_reading_is_enough_and_one_problem_is_not():
    defect = np.full((3, 2, 2, 2), 1e-15)
    defect[0, 1, 0, 1] = 1e-6  # at one step of one problem, in one reading
    defect[1, 1, :, 0] = 1e-6  # in both
    defect[2, 1] = np.nan  # no map on one problem
    data = xr.Dataset({"defect": (("integrator", "problem", "reading", "division"), defect)}, {"integrator": ["a", "b", "c"]})
    assert canonical_form.symplectic(data) == ["a"]


def test_a_kernel_without_derivative_leaves_a_gap(monkeypatch):
    @kernel
    def after_torque(state, torque, body, dt):
        return (*state[:4], math.exp(state[4]), state[5], state[6])

    without_derivative = replace(spiral_leapfrog.METHOD, key="own", after_torque=after_torque)
    monkeypatch.setattr(symplecticity, "METHODS", {"own": without_derivative})
    defects = symplecticity.symplecticity({"methods": ["own"]})
    assert np.isnan(defects.defect).all() and np.isnan(defects.memory).all()
    assert canonical_form.symplectic(defects) == []
