"""Candidates of the engine atlas that no method of the registry is: each against its formula in numpy and scipy's rotations."""

from collections.abc import Callable

import numpy as np
import pytest
import scipy.optimize
from scipy.spatial.transform import Rotation

from polhode_engines import cases, identify, meaning
from polhode_engines.candidates import FORMULAS, ORIENTATIONS, candidate, combinations, label
from polhode_engines.environments import Run

INERTIA = np.array(cases.INERTIA)
STEPS, DT = 8, 0.2
State = tuple[np.ndarray, np.ndarray]
Torque = Callable[[np.ndarray, np.ndarray], np.ndarray]
#: (q, omega) -> torque in the body frame.
TORQUES: dict[str, Torque] = {
    "free": lambda q, w: np.zeros(3),
    "lab": lambda q, w: turn(q).inv().apply(cases.TORQUE),
    "velocity": lambda q, w: -cases.FRICTION * w,
}
PAIRS = [
    (formula, orientation)
    for formula in FORMULAS
    for orientation in ORIENTATIONS
    if f"{formula}_{orientation}" in {method.key for method in combinations()}
]


def turn(q):
    return Rotation.from_quat(np.roll(q, -1))


def small(v):
    """The quaternion of a rotation vector, its scalar positive."""
    q = np.roll(Rotation.from_rotvec(v).as_quat(), 1)
    return q if q[0] > 0 else -q


def product(p, q):
    """Hamilton's product."""
    return np.concatenate([[p[0] * q[0] - p[1:] @ q[1:]], p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])])


def rate(q, w):
    return product(q, np.array([0.0, *w])) / 2


def unit(q):
    return q / np.linalg.norm(q)


def acceleration(w, torque):
    return (torque - np.cross(w, INERTIA * w)) / INERTIA


def grown(w, a):
    """Barker's integral of s (0, a/2) exp((dt - s)(0, w/2)) over a step, by the rule of Gauss and Legendre."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    s = DT * (nodes + 1) / 2
    parts = [x * product(np.array([0.0, *(a / 2)]), small((DT - x) * w)) for x in s]
    return DT / 2 * weights @ np.array(parts)


def over_steps(
    step: Callable[[Torque, np.ndarray, np.ndarray], State],
) -> Callable[[Torque, np.ndarray, np.ndarray], list[State]]:
    """The run of a scheme that needs its last state alone."""

    def run(torque, q, w):
        states = []
        for _ in range(STEPS):
            q, w = step(torque, q, w)
            states.append((q, w))
        return states

    return run


def adams(formula: str, orientation: str) -> Callable[[Torque, np.ndarray, np.ndarray], list[State]]:
    """A formula whose rates before the start are those of the start, as in JSBSim."""
    weights = {"euler": [1], "mean_of_two": [1 / 2] * 2, "ab2": [3 / 2, -1 / 2], "ab3": [23 / 12, -16 / 12, 5 / 12]}
    weights["ab4"] = [55 / 24, -59 / 24, 37 / 24, -9 / 24]

    def run(torque, q, w):
        held, states = [(rate(q, w), acceleration(w, torque(q, w)))] * 4, []
        for _ in range(STEPS):
            a = acceleration(w, torque(q, w))
            held = [(rate(q, w), a), *held[:3]]
            across, more = np.cross(a, w), grown(w, a)
            if orientation == "exchanged":
                more[1:] -= 2 * (more[1:] @ across) * across / (across @ across)
            dq, dw = (sum(c * pair[k] for c, pair in zip(weights[formula], held, strict=False)) for k in (0, 1))
            turned = {
                "exp": product(q, small(DT * w)),
                "buss": product(q, small(DT * w + DT**2 / 2 * a + DT**3 / 12 * across)),
                "barker": unit(product(q, small(DT * w) + more)),
                "exchanged": unit(product(q, small(DT * w) + more)),
                "components": unit(q + DT * dq),
            }
            q, w = turned[orientation], w + DT * dw
            states.append((q, w))
        return states

    return run


def alpha(torque, q, w):
    """The method of Brüls and Cardona (2010), its four equations solved for acceleration and algorithmic acceleration."""
    m, f = 0.8 / 1.9, 0.9 / 1.9
    gamma = 0.5 + f - m
    beta = (gamma + 0.5) ** 2 / 4
    real = algorithmic = acceleration(w, torque(q, w))
    states = []
    for _ in range(STEPS):

        def ends(x, q=q, w=w, algorithmic=algorithmic):
            turned = product(q, small(DT * w + DT**2 * ((0.5 - beta) * algorithmic + beta * x[3:])))
            return turned, w + DT * ((1 - gamma) * algorithmic + gamma * x[3:])

        def miss(x, real=real, algorithmic=algorithmic, ends=ends):
            turned, new = ends(x)
            return np.concatenate(
                [
                    x[:3] - acceleration(new, torque(turned, new)),
                    (1 - m) * x[3:] + m * algorithmic - (1 - f) * x[:3] - f * real,
                ]
            )

        x = scipy.optimize.fsolve(miss, np.concatenate([real, algorithmic]), xtol=1e-13)
        (q, w), real, algorithmic = ends(x), x[:3], x[3:]
        states.append((q, w))
    return states


def theta(share: float) -> Callable[[Torque, np.ndarray, np.ndarray], list[State]]:
    @over_steps
    def run(torque, q, w):
        old = acceleration(w, torque(q, w))

        def turned(new):
            return product(q, small(DT * (share * new + (1 - share) * w)))

        def miss(new):
            return new - w - DT * (share * acceleration(new, torque(turned(new), new)) + (1 - share) * old)

        new = scipy.optimize.fsolve(miss, w, xtol=1e-13)
        return turned(new), new

    return run


@over_steps
def lacoursiere(torque, q, w):
    x, y, z = INERTIA * w
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    w = np.linalg.solve(np.diag(INERTIA) - DT * cross, INERTIA * w) + DT * torque(q, w) / INERTIA
    return product(q, small(DT * w)), w


@over_steps
def lengthened(torque, q, w):
    w = w + DT * acceleration(w, torque(q, w))
    size = np.linalg.norm(w) + 1e-8
    return unit(product(q, np.array([np.cos(DT * size / 2), *(np.sin(DT * size / 2) * w / size)]))), w


@over_steps
def projected(torque, q, w):
    """With omega in the lab, as Brax has it."""
    lab = turn(q).apply(w + DT * torque(q, w) / INERTIA)
    new = unit(q + DT / 2 * product(np.array([0.0, *lab]), q))
    relative = product(new, q * [1, -1, -1, -1])
    return new, turn(new).inv().apply(2 / DT * relative[1:])


@over_steps
def substeps_without_gyroscopic_term(torque, q, w):
    """Rapier 0.19 for the web: four substeps, the change of omega in the lab formed once."""
    lab, change = turn(q).apply(w), turn(q).apply(DT / 4 * torque(q, w) / INERTIA)
    for _ in range(4):
        lab = lab + change
        q = unit(q + DT / 8 * product(np.array([0.0, *lab]), q))
    return q, turn(q).inv().apply(lab)


@over_steps
def damped_between(torque, q, w):
    """PhysX as shipped: the torque, the factor, the free body's step of the old momentum's length, the rotation."""
    w = (1 - 0.05 * DT) * (w + DT * torque(q, w) / INERTIA)
    old = INERTIA * w
    new = old - DT * np.cross(w, old)
    w = new * np.linalg.norm(old) / np.linalg.norm(new) / INERTIA
    return product(q, small(DT * w)), w


@over_steps
def damped_first(torque, q, w):
    moment, w = torque(q, w), (1 - 0.05 * DT) * w
    w = w + DT * acceleration(w, moment)
    return product(q, small(DT * w)), w


def momentum_leapfrog(rotation: str, predictor: str) -> Callable[[Torque, np.ndarray, np.ndarray], list[State]]:
    """With rotation matrices; the momentum is half a step behind, and is read with half a kick."""

    def turned(q, w, h):
        return product(q, small(h * w)) if rotation == "exp" else unit(q + h * rate(q, w))

    def run(torque, q, w):
        momentum, states = turn(q).apply(INERTIA * w - DT / 2 * torque(q, w)), []
        for _ in range(STEPS):
            kick = DT * turn(q).apply(torque(q, turn(q).inv().apply(momentum) / INERTIA))
            first = momentum + (kick if predictor == "new" else kick / 2)
            half = turned(q, turn(q).inv().apply(first) / INERTIA, DT / 2)
            momentum = momentum + kick
            q = turned(q, turn(half).inv().apply(momentum) / INERTIA, DT)
            spin = turn(q).inv().apply(momentum) / INERTIA
            states.append((q, spin + DT / 2 * torque(q, spin) / INERTIA))
        return states

    return run


CASES = {f"{formula}_{orientation}": adams(formula, orientation) for formula, orientation in PAIRS} | {
    **{
        f"momentum_leapfrog_{rotation}_{predictor}": momentum_leapfrog(rotation, predictor)
        for rotation, predictor in (("exp", "old"), ("exp", "new"), ("linear", "new"))
    },
    "generalised_alpha_0p9": alpha,
    "theta_0p5_exp": theta(0.5),
    "theta_1_exp": theta(1.0),
    "lacoursiere_exp": lacoursiere,
    "explicit_exp_lengthened": lengthened,
    "no_gyroscopic_linear_projected": projected,
    "no_gyroscopic_linear_new_4x_held": substeps_without_gyroscopic_term,
    "rescaled_exp_damped_linear_between_0p05": damped_between,
    "explicit_exp_damped_linear_first_0p05": damped_first,
}


@pytest.mark.parametrize("load", TORQUES)
@pytest.mark.parametrize("key", CASES)
def test_a_candidate_is_its_formula(key, load):
    q, omega = cases.starts(1)[0]
    driver = identify.driver_of(candidate(key), Run(load, cases.VALUES[load], cases.INERTIA, q, omega, DT, ()))
    state = driver.start(q, omega)
    for n, (q_expected, omega_expected) in enumerate(CASES[key](TORQUES[load], np.array(q), np.array(omega))):
        state = driver.step(state, n)
        orientation, spin = driver.read(state, n + 1)
        np.testing.assert_allclose(unit(np.array(orientation)), q_expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(spin, omega_expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("key", CASES)
def test_a_candidate_has_words(key):
    assert key not in label(key) and label(key)
    assert "$" in label(key) or "_" not in label(key)


def test_every_candidate_has_words_of_its_own():
    words = [label(method.key) for method in combinations()]
    assert len(set(words)) == len(words) and not {method.key for method in combinations()} & set(words)


def test_the_implicit_midpoint_with_an_exponential_is_solved():
    """Against Newton's method on the equation of the midpoint, and SciPy's rotation."""
    inertia, omega, dt = np.array([0.6, 1.0, 1.4]), np.array([0.48, 0.36, 0.8]), 0.2
    middle = scipy.optimize.fsolve(lambda m: 2 * inertia * (m - omega) / dt + np.cross(m, inertia * m), omega, xtol=1e-12)
    run = Run("free", (0.0,), tuple(inertia), (0.7, 0.1, 0.5, 0.5), tuple(omega), dt, (1,))
    spun = meaning.states_of("implicit_midpoint_exp", run)
    turned = Rotation.from_quat([0.1, 0.5, 0.5, 0.7]) * Rotation.from_rotvec(dt * middle)
    np.testing.assert_allclose(spun.omega[0], 2 * middle - omega, rtol=1e-13)
    np.testing.assert_allclose(np.roll(spun.q[0], -1), turned.as_quat(), atol=1e-13)
