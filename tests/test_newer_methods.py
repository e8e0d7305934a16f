"""The methods of ``examples/newer-methods``: orders, what they keep, and second versions on rotation matrices."""

import re
from pathlib import Path

import numpy as np
import pytest
from conftest import BODY, OMEGA0, Q0, plain, rotation
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation
from test_orders import FIRST, SECOND, SECOND_BUT_FRICTION, STEPS, errors, fitted_order

import polhode
from polhode.export import LANGUAGES
from polhode.problems.problem import TORQUE_CLASSES
from polhode_engines.candidates import candidates

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "newer-methods"
EXPECTED = {
    "avian2026": FIRST,
    "bruls2010": SECOND,
    "krysl2005": SECOND_BUT_FRICTION,
    "krysl_endres2005": SECOND,
    "li2025_cdcay": SECOND,
    "spiers2026": FIRST,
}
SYMMETRIC = polhode.Body((1.3, 1.3, 0.4))


@pytest.fixture(scope="module")
def newer():
    with polhode.methods.restored():
        yield {path.stem: polhode.methods.load(path) for path in sorted(FOLDER.glob("*.py"))}


def test_every_file_is_one_method_with_its_orders(newer):
    assert sorted(EXPECTED) == list(newer) == [method.key for method in newer.values()]
    for key, method in newer.items():
        assert {name: method.orders(name) for name in TORQUE_CLASSES} == EXPECTED[key]
        assert bool(method.reconstruction) == (key != "spiers2026")


@pytest.mark.parametrize("name", ["free", "constant_asymmetric", "time", "lab", "orientation", "velocity"])
@pytest.mark.parametrize("key", EXPECTED)
def test_orders(key, name, cases, newer):
    expected = EXPECTED[key][cases[name].problem.torque_class]
    error = errors(cases[name], newer[key], STEPS[7:], 1.0)
    for quantity, column, order in (("q", 0, expected[0]), ("omega", 1, expected[1]), ("stored omega", 2, expected[1])):
        slope, residual = fitted_order(STEPS[7:], error[:, column])
        assert slope == pytest.approx(order, abs=0.05 * order), f"{quantity}: order {slope:.3f}, expected {order}"
        assert residual < 0.05, quantity


# --- second versions, on rotation matrices ---------------------------------------------------------------------------


def acceleration(inertia, omega, torque):
    return (torque - np.cross(omega, inertia * omega)) / inertia


def along(k, inertia):
    return (k @ (k / inertia)) / (k @ k)


def spiers(inertia, turn, omega, torques, dt):
    momentum = turn @ (inertia * omega) + dt * turn @ torques[0]
    inverse = turn @ np.diag(1 / inertia) @ turn.T
    spin = inverse @ momentum
    k = np.cross(spin, momentum)
    of_momentum = (k @ inverse @ k) / (k @ k) * momentum
    turn = (
        Rotation.from_rotvec(dt * of_momentum).as_matrix() @ Rotation.from_rotvec(dt * (spin - of_momentum)).as_matrix() @ turn
    )
    return turn, (turn.T @ momentum) / inertia


def avian(inertia, turn, omega, torques, dt):
    momentum = inertia * omega + dt * torques[0]
    k = np.cross(omega, momentum)
    axis = omega - along(k, inertia) * momentum
    omega = Rotation.from_rotvec(-dt * axis).apply(momentum) / inertia
    return turn @ Rotation.from_rotvec(dt * omega).as_matrix(), omega


def krysl(inertia, turn, omega, torques, dt):
    momentum = inertia * omega + dt / 2 * torques[0]
    for _ in range(2):

        def gap(vector, momentum=momentum):
            return dt / 2 * Rotation.from_rotvec(-vector / 2).apply(momentum) / inertia - vector

        vector = fsolve(gap, dt / 2 * momentum / inertia, xtol=1e-14)
        turn, momentum = turn @ Rotation.from_rotvec(vector).as_matrix(), Rotation.from_rotvec(-vector).apply(momentum)
    return turn, (momentum + dt / 2 * torques[1]) / inertia


def newmark(inertia, turn, omega, torques, dt):
    first = acceleration(inertia, omega, torques[0])
    turn = turn @ Rotation.from_rotvec(dt * omega + dt**2 / 2 * first).as_matrix()

    def gap(spin):
        return omega + dt / 2 * (first + acceleration(inertia, spin, torques[1])) - spin

    return turn, fsolve(gap, omega + dt * first, xtol=1e-14)


def generalised_alpha(inertia, turn, omega, torques, dt):
    """With the algorithmic acceleration of the end as the unknown, and the accelerations of the start equal."""
    m, f = 0.8 / 1.9, 0.9 / 1.9
    gamma = 0.5 + f - m
    first = acceleration(inertia, omega, torques[0])

    def gap(b):
        spin = omega + dt * ((1 - gamma) * first + gamma * b)
        return (1 - m) * b + m * first - (1 - f) * acceleration(inertia, spin, torques[1]) - f * first

    b = fsolve(gap, first, xtol=1e-14)
    beta = (gamma + 0.5) ** 2 / 4
    vector = dt * omega + dt**2 * ((0.5 - beta) * first + beta * b)
    return turn @ Rotation.from_rotvec(vector).as_matrix(), omega + dt * ((1 - gamma) * first + gamma * b)


#: Of one step with a torque at its start and one at its end.
SECOND_VERSIONS = {
    "spiers2026": spiers,
    "avian2026": avian,
    "bruls2010": generalised_alpha,
    "krysl2005": krysl,
    "krysl_endres2005": newmark,
}


def one_step(method, inertia, q, omega, torques, dt):
    """q and omega after a step of the kernels in plain Python."""
    body = tuple(map(float, polhode.Body(tuple(inertia)).coefficients()))
    kernels = {name: plain(getattr(method, name)) for name in ("start", "before_torque", "after_torque", "read")}
    first, last = (tuple(map(float, torque)) for torque in torques)
    state = kernels["start"](tuple(q), tuple(omega), first, body, dt)
    state, *_ = kernels["before_torque"](state, body, dt)
    state = kernels["after_torque"](state, last if method.torque_time else first, body, dt)
    return kernels["read"](state, last, body, dt)


@pytest.mark.filterwarnings("ignore:xtol", "ignore:The iteration")
@pytest.mark.parametrize("key", SECOND_VERSIONS)
def test_a_step_is_that_of_a_second_version(key, newer):
    rng = np.random.default_rng(5)
    for _ in range(20):
        inertia = rng.uniform(0.5, 1.0, 3)
        q = rng.normal(size=4)
        q = (q / np.linalg.norm(q)).tolist()
        omega, torques = rng.normal(size=3).tolist(), rng.normal(size=(2, 3))
        q1, omega1 = one_step(newer[key], inertia, q, omega, torques, 0.2)
        turn, spin = SECOND_VERSIONS[key](inertia, rotation(q).as_matrix(), np.array(omega), torques, 0.2)
        assert np.abs(rotation(q1).as_matrix() - turn).max() < 1e-13
        assert np.abs(np.array(omega1) - spin).max() < 1e-12


def test_the_generalised_alpha_step_is_exudyns(newer, free_problem):
    """The candidate that fits Exudyn's simplified relations has the equations in another form, iterated to rounding."""
    inertia, dt = (1.0, 2.0, 3.0), 0.25
    run = polhode.simulate(free_problem(inertia), newer["bruls2010"], dt=dt, t_end=20 * dt, samples=20)
    candidate = next(each for each in candidates() if each.key == "generalised_alpha_0p9")
    body = tuple(map(float, polhode.Body(inertia).coefficients()))
    state = candidate.start(Q0, OMEGA0, body)
    for n in range(20):
        state = candidate.step(state, n * dt, dt, body, lambda *_: (0.0, 0.0, 0.0), ())
        assert np.abs(run.omega.values[n + 1] - state[4:7]).max() < 1e-13
        assert (rotation(run.q.values[n + 1]) * rotation(state[:4]).inv()).magnitude() < 1e-13


def test_central_differences_with_the_cayley_map(newer):
    """Three steps of the leapfrog under a torque of the time, against the Cayley map of matrices, (1 - A)^-1 (1 + A)."""
    method, inertia, dt = newer["li2025_cdcay"], np.array([0.6, 0.9, 1.2]), 0.1
    body = tuple(map(float, polhode.Body(tuple(inertia)).coefficients()))
    torques = np.random.default_rng(2).normal(size=(4, 3))
    kernels = {name: plain(getattr(method, name)) for name in ("start", "before_torque", "after_torque", "read")}
    state = kernels["start"](Q0, OMEGA0, tuple(torques[0]), body, dt)
    turn, last = rotation(Q0).as_matrix(), acceleration(inertia, np.array(OMEGA0), torques[0])
    half = np.array(OMEGA0) - dt / 2 * last
    for torque in torques[:3]:
        state, _, omega = kernels["before_torque"](state, body, dt)
        assert np.abs(omega - (half + dt / 2 * last)).max() < 1e-14
        state = kernels["after_torque"](state, tuple(torque), body, dt)
        last = acceleration(inertia, half + dt / 2 * last, torque)
        half = half + dt * last
        x, y, z = dt / 2 * half
        skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = turn @ np.linalg.solve(np.eye(3) - skew, np.eye(3) + skew)
    q, omega = kernels["read"](state, tuple(torques[3]), body, dt)
    assert np.abs(rotation(q).as_matrix() - turn).max() < 1e-14 and abs(np.linalg.norm(q) - 1) < 1e-15
    assert np.abs(omega - (half + dt / 2 * acceleration(inertia, half + dt / 2 * last, torques[3]))).max() < 1e-14


def test_the_linear_rotation_of_direct_euler_is_the_cayley_map(free_problem):
    """What is read of SECay is registered already: a linear step of q, normalised, is the Cayley map."""
    run = polhode.simulate(free_problem(BODY.inertia), "euler", dt=0.25, t_end=0.25, samples=1)
    omega = np.array(OMEGA0) + 0.25 * acceleration(np.array(BODY.inertia), np.array(OMEGA0), np.zeros(3))
    c = 0.125 * omega
    cayley = rotation(np.array([1.0, *c]) / np.sqrt(1 + c @ c))
    assert np.abs(rotation(run.q.values[-1]).as_matrix() - (rotation(Q0) * cayley).as_matrix()).max() < 1e-15


# --- what they keep --------------------------------------------------------------------------------------------------


def exact_symmetric(t):
    """Orientation and omega of the free top of SYMMETRIC: a turn about its axis, then one about the momentum."""
    inertia, omega = np.array(SYMMETRIC.inertia), np.array(OMEGA0)
    momentum = rotation(Q0).apply(inertia * omega)
    axial = (1 - inertia[2] / inertia[0]) * omega[2]
    spin = Rotation.from_rotvec([0, 0, axial * t])
    return Rotation.from_rotvec(momentum / inertia[0] * t) * rotation(Q0) * spin, spin.inv().apply(omega)


@pytest.mark.parametrize("key", ["spiers2026", "avian2026"])
def test_omega_of_two_equal_moments_is_exact(key, newer, free_problem):
    run = polhode.simulate(free_problem(SYMMETRIC.inertia), newer[key], dt=0.5, t_end=10.0, samples=1)
    turn, omega = exact_symmetric(10.0)
    assert np.abs(run.omega.values[-1] - omega).max() < 1e-13
    miss = (rotation(run.q.values[-1]) * turn.inv()).magnitude()
    assert miss < 1e-13 if key == "spiers2026" else miss > 0.1


def drifts(method, problem, dt, t_end):
    """Largest relative changes of energy and of the vector of momentum in the lab."""
    run = polhode.simulate(problem, method, dt=dt, t_end=t_end, samples=200)
    momentum = rotation(run.q.values).apply(np.array(problem.body.inertia) * run.omega.values)
    energy = (run.omega.values**2 * problem.body.inertia).sum(axis=1)
    change = np.linalg.norm(momentum - momentum[0], axis=1) / np.linalg.norm(momentum[0])
    return np.abs(energy / energy[0] - 1).max(), change.max()


def test_what_a_free_body_keeps(newer, free_problem):
    problem = free_problem((1.0, 2.0, 3.0), omega0=(0.3, 0.4, 1.0))
    energy, momentum = {}, {}
    for key, method in newer.items():
        pairs = [drifts(method, problem, dt, 200.0) for dt in (0.2, 0.1)]
        energy[key], momentum[key] = np.transpose(pairs)
    assert all(momentum[key].max() < 1e-12 for key in ("spiers2026", "krysl2005"))
    assert all(momentum[key].min() > 1e-5 for key in ("avian2026", "bruls2010", "krysl_endres2005", "li2025_cdcay"))
    # By halving the step: of second order for all that have it, and for the energy of Spiers' steps.
    assert all(np.log2(energy[key][0] / energy[key][1]) > 1.7 for key in newer), energy
    assert energy["krysl2005"][1] < 0.2 * energy["krysl_endres2005"][1], energy


def test_the_page_has_the_numbers(newer, free_problem):
    """Its table: the error of q after 10 s, the changes of energy in 200 s and 2000 s and of the momentum, to a tenth."""
    problem, page = (
        free_problem((1.0, 2.0, 3.0), omega0=(0.3, 0.4, 1.0)),
        (ROOT / "docs/methods.md").read_text(encoding="utf-8"),
    )
    exact = polhode.simulate(problem, "exact_rotor", dt=0.1, t_end=10.0, samples=1).q.values[-1]
    rows = re.findall(r"newer-methods/(\w+)\.py\).*? \| ([12]); ([12]) \| (\S+) \| (\S+) / (\S+) \| (\S+) \|", page)
    assert {row[0] for row in rows} == set(newer)
    for key, order, friction, *said in rows:
        assert (int(order), int(friction)) == (newer[key].order_q, newer[key].orders("velocity")[0])
        q = polhode.simulate(problem, newer[key], dt=0.1, t_end=10.0, samples=1).q.values[-1]
        (short, momentum), (long, _) = (drifts(newer[key], problem, 0.1, t_end) for t_end in (200.0, 2000.0))
        measured = [(rotation(q) * rotation(exact).inv()).magnitude(), short, long, momentum]
        for printed, value in zip(map(float, said), measured, strict=True):
            assert printed == pytest.approx(value, rel=0.1) or max(printed, value) < 1e-12, (key, printed, value)


@pytest.mark.filterwarnings("ignore:xtol", "ignore:The iteration")
@pytest.mark.parametrize("ratio", [0.5, 0.01])
def test_the_equation_of_the_lie_midpoint_is_solved(ratio, newer):
    """As SciPy solves it, for random bodies with needles among them, up to half a radian in a step."""
    rng = np.random.default_rng(9)
    midpoint = plain(newer["krysl2005"].before_torque)
    for _ in range(200):
        inertia = np.sort(rng.uniform(0, 1, 3))[::-1]
        inertia[0] = rng.uniform(inertia[1], inertia[1] + inertia[2])
        omega = rng.normal(size=3)
        omega /= np.linalg.norm(omega)
        body = tuple(map(float, polhode.Body(tuple(inertia)).coefficients()))
        state = (1.0, 0.0, 0.0, 0.0, *(inertia * omega).tolist(), 0.0, 0.0, 0.0)
        (*q, x, y, z, _, _, _), *_ = midpoint(state, body, ratio)
        turn, spin = krysl(inertia, np.eye(3), omega, np.zeros((2, 3)), ratio)
        assert np.abs(rotation(q).as_matrix() - turn).max() < 3e-12
        assert np.abs(np.array([x, y, z]) - inertia * spin).max() < 3e-12


@pytest.mark.parametrize("language", ["numpy", "c", "javascript", "rust", "fortran"])
def test_they_are_written_in_other_languages(language, newer):
    for method in newer.values():
        assert method.key in LANGUAGES[language].source(method)
