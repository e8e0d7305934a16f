"""Steps that change: what each method loses, what `recommend` says of it, and benchmarks/changing_steps.py by hand."""

import sys
from functools import cache
from math import sin
from pathlib import Path

import numpy as np
import pytest
from conftest import every_method, thorough

from polhode.advice.from_runs import restarts
from polhode.ensembles import draw
from polhode.ensembles.many import Bodies, march
from polhode.methods import METHODS

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
from changing_steps import CHANGE, PATTERNS, PER_RADIAN, TORQUE, changes, growth, run, steps_of

RADIANS, FINE = 4, 64


@cache
def bodies_and_ends():
    bodies = draw(8).bodies(TORQUE.key)
    q, omega, _ = march(bodies, METHODS["rkmk4"], TORQUE.compiled_torque, 2.0**-9, np.array([RADIANS * 512]))
    return bodies, np.concatenate([q, omega], axis=-1)[:, 0]


def error(method, steps, anew):
    bodies, ends = bodies_and_ends()
    return np.median(np.abs(run(method, bodies, TORQUE.compiled_torque, steps, anew)[:, -1] - ends).max(axis=1))


def lost(method):
    equal = steps_of(np.ones, RADIANS, FINE)
    never = np.zeros(len(equal), dtype=bool)
    return max(error(method, steps_of(p, RADIANS, FINE), never) for p in PATTERNS.values()) / error(method, equal, never)


@every_method
def test_what_is_said_of_changing_steps_is_what_they_cost(key):
    """A method that loses when it is carried on is one of which `recommend` says what to do, and no other."""
    assert bool(restarts(METHODS[key])) == (lost(METHODS[key]) > 2.5)


@pytest.mark.parametrize(
    "key", ["spiral_leapfrog", "adams_bashforth4", *thorough("spiral_predicted", "rotor_srkn6", "exact_rotor_corrected")]
)
def test_begun_anew_nothing_is_lost(key):
    steps = steps_of(PATTERNS["at random"], RADIANS, FINE)
    equal = steps_of(np.ones, RADIANS, FINE)
    assert error(METHODS[key], steps, changes(steps)) < 2.5 * error(METHODS[key], equal, equal == 0)


def pendulum(steps, kicks):
    """The angle of a leapfrog for angle'' = -sin(angle) from rest at 1 rad, with a kick before each step and its length."""
    angle, speed, angles = 1.0, 0.0, []
    for step, kick in zip(steps, kicks, strict=True):
        speed -= kick * sin(angle)
        angle += step * speed
        angles.append(angle)
    return angles


@pytest.mark.parametrize(("key", "anew"), [("spiral_leapfrog", True), ("spiral_leapfrog", False), ("exact_rotor", False)])
def test_turns_about_one_axis_are_those_of_a_pendulum(key, anew):
    steps = steps_of(PATTERNS["at random"], RADIANS)
    body = Bodies([[1.0, 1.7, 2.3]], [[np.cos(0.5), np.sin(0.5), 0.0, 0.0]], np.zeros((1, 3)), [[0.0, 0.0, -1.0]])
    q = run(METHODS[key], body, TORQUE.compiled_torque, steps, changes(steps) & anew)[0]
    before = np.append(0.0, steps[:-1])
    means = (before + steps) / 2
    # Carried on, the start takes half a step and each kick the whole new one.
    kicks = np.where(np.arange(len(steps)) == 0, means, steps) if key == "spiral_leapfrog" and not anew else means
    assert 2 * np.arctan2(q[:, 1], q[:, 0]) == pytest.approx(pendulum(steps, kicks), abs=1e-12)


@pytest.mark.parametrize(("key", "sign", "share"), [("exact_rotor", -1, 1), ("exact_rotor_dkd_corrected", 1, 1 / 3)])
def test_a_step_at_twice_the_frequency_of_a_libration_feeds_it(key, sign, share):
    """The energy grows by change (Omega dt)^2 / 4 a radian, and by a third of it if the method is begun anew each time."""
    rate = share * CHANGE / PER_RADIAN**2 / 4
    assert growth(METHODS[key], 2 + PER_RADIAN**-2 / 12, True, sign * CHANGE, radians=300) == pytest.approx(rate, rel=0.05)
