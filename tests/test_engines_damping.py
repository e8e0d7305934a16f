"""Engines that damp by default: their steps are identified with the rate that they declare, and with no other."""

import numpy as np
import pytest

from polhode_engines import all_engines, cases, identify
from polhode_engines.candidates import candidate, damped, label
from polhode_engines.environments import Run, Spun

RATE = 0.04


def turned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The quaternion q after the rotation vector v in the body."""
    size = np.linalg.norm(v)
    s, u = np.cos(size / 2), np.sin(size / 2) / size * v
    return np.array([q[0] * s - q[1:] @ u, *(q[0] * u + s * q[1:] + np.cross(q[1:], u))])


def drag(run: Run, rate: float) -> Spun:
    """Steps in arithmetic of this file: an Euler kick with the torque -c (1 + |omega|) I omega, then the exact rotation."""
    inertia, q, w = np.array(run.inertia), np.array(run.q0), np.array(run.omega0)
    rows = [(q, w)]
    for _ in run.samples[1:]:
        torque = -rate * (1 + np.linalg.norm(w)) * inertia * w
        w = w + run.dt * (torque - np.cross(w, inertia * w)) / inertia
        q = turned(q, run.dt * w)
        rows.append((q, w))
    return Spun(np.array([q for q, _ in rows]), np.array([w for _, w in rows]))


def after(run: Run, rate: float) -> Spun:
    """An Euler kick, the exact rotation with the new omega, then omega times 1 - c dt."""
    inertia, q, w = np.array(run.inertia), np.array(run.q0), np.array(run.omega0)
    rows = [(q, w)]
    for _ in run.samples[1:]:
        w = w - run.dt * np.cross(w, inertia * w) / inertia
        q = turned(q, run.dt * w)
        w = (1 - rate * run.dt) * w
        rows.append((q, w))
    return Spun(np.array([q for q, _ in rows]), np.array([w for _, w in rows]))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("steps", "key"),
    [(drag, "explicit_exp_damped_quadratic_torque_0p04"), (after, "explicit_exp_damped_linear_after_0p04")],
)
def test_a_damped_step_is_identified_with_its_own_rate_alone(steps, key):
    runs = cases.identification_runs("free", "float64", 25)[:1]
    spun = [steps(run, RATE) for run in runs]
    eps = float(np.finfo("float64").eps)
    verdict = identify.judged(identify.deviations(runs, spun, eps, RATE))
    assert verdict.identified and key in verdict.methods and verdict.deviation < 20, verdict
    for other in (0.0, 1.001 * RATE, float(np.float32(RATE))):
        assert not identify.judged(identify.deviations(runs, spun, eps, other)).identified, other


def test_damped_candidates_without_a_rate_are_the_undamped_step():
    run = cases.identification_runs("constant", "float64", 3)[0]
    for method in damped(0.0):
        bases = ("no_gyroscopic_exp_new", "implicit_exp_new")
        base = next((key for key in bases if method.key.startswith(key.removesuffix("new"))), "")
        if not base:
            continue
        if "_between_" in method.key and base.startswith("implicit"):
            base = f"torque_{base}"
        ends = []
        for each in (method, candidate(base)):
            driver = identify.driver_of(each, run)
            ends.append(driver.read(driver.step(driver.start(run.q0, run.omega0), 0), 1))
        (q, omega), (right_q, right_omega) = ends
        assert np.allclose(q, right_q, rtol=0, atol=1e-15) and np.allclose(omega, right_omega, rtol=0, atol=1e-15), method.key


def test_the_rates_of_the_engines_have_candidates_and_words():
    options = [(key, option.damping) for key, engine in all_engines().items() for option in engine.options.values()]
    rates = {key: damping for key, damping in options if damping}
    assert set(rates) >= {"newton", "pybullet"} and rates["pybullet"] == float(np.float32(0.04))
    for rate in rates.values():
        for method in damped(rate):
            assert candidate(method.key).key == method.key and "damp" in label(method.key)
