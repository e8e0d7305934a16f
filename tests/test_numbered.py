"""Methods whose numbers are handed to the compiled loop: the bits of constants in a kernel, and one compilation for all."""

from dataclasses import replace

import numpy as np
import pytest

import polhode
from polhode.algebra.vector import scale
from polhode.compiling.kernel import kernel
from polhode.methods import spiral_leapfrog
from polhode.methods.numbered import numbered

SPIRAL = spiral_leapfrog.METHOD
step = SPIRAL.after_torque


@kernel
def weakened(state, torque, body, dt):
    """SPIRAL's step with the torque times the first number and dt times the second."""
    return step(state, scale(body[9], torque), body, body[10] * dt)


FAMILY = numbered(SPIRAL, 1.0, 1.0, key="weakened", after_torque=weakened)


def with_constants(first, second):
    @kernel
    def after_torque(state, torque, body, dt):
        return step(state, scale(first, torque), body, second * dt)

    return replace(SPIRAL, key="constants", after_torque=after_torque)


@pytest.mark.thorough
@pytest.mark.parametrize("problem", ["heavy_top", "sinking_propeller"])
def test_numbers_are_constants_that_come_later(problem):
    def run(method):
        simulated = polhode.simulate(problem, method, polhode.problems[problem].horizon / 64, samples=8)
        return np.concatenate([np.ravel(simulated[name]) for name in ("q", "omega", "stored_omega", "energy")])

    np.testing.assert_array_equal(run(FAMILY.with_numbers(1.0, 1.0)), run("spiral_leapfrog"))
    member = FAMILY.with_numbers(0.7, 0.9)
    np.testing.assert_array_equal(run(member), run(with_constants(0.7, 0.9)))
    for other in (FAMILY.with_numbers(0.9, 0.7), FAMILY.with_numbers(0.7, 1.0)):
        assert not np.array_equal(run(other), run(member))
        assert other.drivers is member.drivers


def test_a_family_has_a_fixed_count_of_numbers():
    with pytest.raises(ValueError, match="method weakened has 2 numbers, got 1"):
        FAMILY.with_numbers(1.0)
    assert FAMILY.engines == ("single body",)
