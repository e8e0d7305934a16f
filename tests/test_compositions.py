"""Exact free motion and kicks composed to higher orders: coefficients by matrices, steps on the group, what they keep."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import HEAVY, heavy_torque, make, plain
from scipy.linalg import expm

import polhode
from polhode.algebra.body import Body
from polhode.methods import correctors, rotor_forest_ruth, rotor_gradient4, rotor_pefrl, rotor_srkn6, rotor_two_stage
from polhode.methods.compositions import composed, modified_torque
from polhode_study.chapters.long_runs import run_symplecticity as symplecticity

#: Kick and free motion as matrices on (turn, momentum): a kick changes the momentum alone, by the turn alone, so that the
#: square of its matrix is zero, and [B, [A, B]] is 2 B A B.
RNG = np.random.default_rng(5)
FREE = RNG.normal(size=(6, 6))
KICK = np.zeros((6, 6))
KICK[3:, :3] = RNG.normal(size=(3, 3))
GRADIENT4 = rotor_gradient4.SHARES


def whole_step(drifts, kicks):
    """The shares of steps whose last kick is half theirs and half the first of the next."""
    half = kicks[-1] / 2
    return (0.0, *drifts), (half, *kicks[:-1], half)


COMPOSED = {
    "rotor_two_stage": (rotor_two_stage.SHARES, 2),
    "rotor_forest_ruth": (rotor_forest_ruth.SHARES, 4),
    "rotor_pefrl": (rotor_pefrl.SHARES, 4),
    "rotor_gradient4": (GRADIENT4, 4),
    "rotor_srkn6": (whole_step(*rotor_srkn6.SHARES), 4),
}


def step_of_matrices(h, drifts, kicks, gradients=()):
    state = np.eye(6)
    for k, drift in enumerate(drifts):
        state = expm(drift * h * FREE) @ state
        if k < len(kicks):
            s = gradients[k] if gradients else 0.0
            state = expm(kicks[k] * h * (KICK + s * h * h * KICK @ FREE @ KICK)) @ state
    return state


def order_of(shares):
    """One less than the power of h in the error of a step."""
    errors = [np.abs(step_of_matrices(h, *shares) - expm(h * (FREE + KICK))).max() for h in (0.02, 0.01)]
    return np.log2(errors[0] / errors[1]) - 1


@pytest.mark.parametrize("key", COMPOSED)
def test_coefficients_meet_the_conditions_of_their_order(key):
    shares, order = COMPOSED[key]
    assert sum(shares[0]) == pytest.approx(1, abs=1e-15) and sum(shares[1]) == pytest.approx(1, abs=1e-15)
    drifts = shares[0] if shares[0][0] else shares[0][1:]
    assert drifts == pytest.approx(drifts[::-1], abs=1e-15) and shares[1] == pytest.approx(shares[1][::-1], abs=1e-15)
    assert order_of(shares) == pytest.approx(order, abs=0.1)
    assert polhode.methods[key].order_q == order


def test_the_gradient_has_the_declared_size_and_sign():
    drifts, kicks, gradients = GRADIENT4
    for factor in (0.0, 0.9, -1.0):
        assert order_of((drifts, kicks, [factor * s for s in gradients])) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize(("even", "bracket", "order"), [(True, 1, 4), (False, 1, 3), (True, 0, 2)])
def test_a_modified_kick_in_other_variables(even, bracket, order):
    """Drift, kick and drift is of fourth order with moves that are even in the step; without the gradient of second."""
    moves = correctors.shares(5, "drift-kick-drift", even)
    drifts, kicks = [drift for drift, _ in moves], [kick for _, kick in moves[:-1]]

    def error(h):
        before = step_of_matrices(h, drifts, kicks)
        step = step_of_matrices(h, (0.5, 0.5), (1.0,), (bracket / 12,))
        return np.abs(np.linalg.inv(before) @ step @ before - expm(h * (FREE + KICK))).max()

    assert np.log2(error(0.02) / error(0.01)) - 1 == pytest.approx(order, abs=0.1)


def commutators(family):
    """The coefficients of [A, [A, B]] and [B, [A, B]] in h^3 of the step, for a family of shares."""
    h = 1e-3
    once = FREE @ KICK - KICK @ FREE
    columns = np.array([(m @ once - once @ m).ravel() for m in (FREE, KICK)]).T
    error = (step_of_matrices(h, *family) - expm(h * (FREE + KICK))) / h**3
    return np.linalg.lstsq(columns, error.ravel(), rcond=None)[0]


def test_two_stages_have_the_smallest_error_of_all():
    def size(xi):
        return np.linalg.norm(commutators(((xi, 1 - 2 * xi, xi), (0.5, 0.5))))

    assert abs(rotor_two_stage.XI - 0.1931833275037836) < 1e-15
    best = size(rotor_two_stage.XI)
    others = [size(rotor_two_stage.XI + d) for d in (-0.01, 0.01)]
    assert min(others) > best
    assert size(0.25) > 2.5 * best, "twice drift, kick and drift"


# --- on the group ------------------------------------------------------------------------------------------------------


def test_the_modified_torque_is_that_of_the_modified_potential():
    """M' = -dV'/dtheta of V' = V - (s/2) M . I^-1 M along turns about the axes of the body, by differences."""
    body = Body((1.0, 1.7, 2.3)).coefficients()
    parameters, q0, s, h = tuple(HEAVY.values()), np.array((0.5, -0.1, 0.7, 0.5)), 1e-5, 1e-3
    turned = plain(polhode.algebra.quaternion.rotate)

    def torque(q):
        return np.array(heavy_torque(0.0, q, None, parameters))

    def removed(q):
        """The part that s adds to the potential, over s."""
        return -0.5 * torque(q) @ (torque(q) / np.array(body[:3]))

    gradient = [(removed(turned(q0, axis, h)) - removed(turned(q0, axis, -h))) / (2 * h) for axis in map(tuple, np.eye(3))]
    modified = plain(modified_torque)(s, 1.0, 1.0, 0.0, tuple(q0), (0.0, 0.0, 0.0), body, heavy_torque, parameters)
    assert (np.array(modified) - torque(q0)) / s == pytest.approx(-np.array(gradient), rel=1e-3, abs=1e-2)


TOP = make("heavy", heavy_torque, "state", HEAVY)


def defect(method, dt):
    point = np.array(TOP.q0) / np.linalg.norm(TOP.q0), np.array(TOP.omega0)
    return max(symplecticity.step_defects(symplecticity.Stepper(method, TOP, dt), *point))


@pytest.mark.parametrize("key", [key for key, (shares, _) in COMPOSED.items() if len(shares) == 2])
def test_plain_kicks_are_symplectic(key):
    assert defect(polhode.methods[key], 0.04) < 1e-13


def test_a_modified_kick_is_symplectic_up_to_its_known_part():
    """What a difference over the part lambda leaves out has no potential: lambda times a fifth power of the step."""
    by_part = {part: replace(polhode.methods["rotor_gradient4"], step=composed(*GRADIENT4, part)) for part in (1.0, 0.01)}
    lazy, fine = (defect(method, 0.04) for method in by_part.values())
    assert lazy / fine == pytest.approx(100, rel=0.02)
    assert np.log2(lazy / defect(by_part[1.0], 0.02)) == pytest.approx(5, abs=0.3)
    assert defect(polhode.methods["rotor_gradient4"], 0.04) < 1e-3 * lazy


@pytest.mark.thorough
def test_only_a_kick_that_has_a_potential_keeps_the_energy():
    """The change of the mean energy over 20,000 steps."""
    drifts = {}
    for key in ("rotor_modified_kick", "rotor_lazy_kick", "rotor_flat_kick"):
        energy = polhode.simulate("asymmetric_heavy_top", key, 0.05, 1000.0, samples=2000).energy.values
        drifts[key] = abs(energy[-500:].mean() - energy[:500].mean())
    assert drifts["rotor_flat_kick"] > 1000 * drifts["rotor_lazy_kick"] > 5000 * drifts["rotor_modified_kick"]
