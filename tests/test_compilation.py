"""What compilation promises: one driver a method, no allocation in a step, and lanes that vectorise."""

from math import sqrt

import numpy as np
import pytest
from conftest import every_method
from numba import njit, types
from numba.core.runtime import rtsys

import polhode
from polhode.algebra.body import Body
from polhode.compiling.kernel import compile_torque
from polhode.compiling.plain import plain_copy

BODY = Body((1.0, 2.0, 2.5)).coefficients()
CONSTANT = compile_torque(lambda t, q, omega, p: (p[0], 0.0, 0.0))
ORIENTED = compile_torque(lambda t, q, omega, p: (q[1], p[0] * q[2], omega[0]))


def run(method, torque, steps):
    parameters = np.array([0.5])
    return method.integrate((1.0, 0.0, 0.0, 0.0), (0.3, -0.9, 0.6), BODY, torque, parameters, 1e-3, np.array([steps]))


@every_method
def test_one_compilation_serves_every_torque(key):
    method = polhode.methods[key]
    first = run(method, CONSTANT, 10)[1]
    drivers = dict(method.drivers)
    second = run(method, ORIENTED, 10)[1]
    assert not np.array_equal(first, second)
    assert method.drivers == drivers
    assert {len(driver.signatures) for driver in drivers.values()} == {1}


@every_method
def test_steps_allocate_nothing(key, counted_allocations):
    method = polhode.methods[key]

    def allocations(steps: int) -> int:
        before = rtsys.get_allocation_stats().alloc
        run(method, ORIENTED, steps)
        return rtsys.get_allocation_stats().alloc - before

    allocations(1)
    assert allocations(10) == allocations(1000)


LANES = 8


@pytest.mark.thorough
@pytest.mark.parametrize(
    "key",
    [
        "spiral_leapfrog",
        "omelyan1998",
        "fincham1992",
        "verlet",
        "euler",
        "pcdm2016",
        "scalar_factor",
        "calzavarini2010",
        "no_squish",
        "implicit_midpoint",
        "moser_veselov4",
        "exact_rotor",
        "lacoursiere2006",
        "fincham1992_yade",
        "adams_bashforth4",
    ],
)
def test_the_same_kernels_vectorise_over_lanes(key):
    """A step of bodies side by side, as a many-body engine holds them, uses vector registers and keeps the bits of each."""
    method = polhode.methods[key]
    before_torque, after_torque = method.before_torque, method.after_torque
    size = len(method.start(*START))
    loads = ", ".join(f"f[i + np.uint64({LANES * k})]" for k in range(size))
    stores = "\n".join(f"            f[i + np.uint64({LANES * k})] = s[{k}]" for k in range(size))
    source = (
        "def step(f, body, dt, blocks):\n"
        "    for b in range(np.uint64(blocks)):\n"
        f"        base = np.uint64(b) * np.uint64({size * LANES})\n"
        f"        for lane in range(np.uint64({LANES})):\n"
        "            i = base + np.uint64(lane)\n"
        f"            s, q, omega = before_torque(({loads}), body, dt)\n"
        "            s = after_torque(s, (0.1, 0.0, 0.2), body, dt)\n"
        f"{stores}\n"
    )
    namespace = {"np": np, "before_torque": before_torque, "after_torque": after_torque}
    exec(source, namespace)
    flat = types.Array(types.float64, 1, "C")
    signature = types.void(flat, types.UniTuple(types.float64, 9), types.float64, types.int64)
    step = njit(signature, error_model="numpy")(namespace["step"])

    before, after = (plain_copy(part, {sqrt: sqrt}, "math.{name}") for part in (before_torque, after_torque))

    def alone(state):
        """In plain Python, whose bits are those of the driver of one body (test_plain_python.py)."""
        return after(before(tuple(map(float, state)), BODY, 0.01)[0], (0.1, 0.0, 0.2), BODY, 0.01)

    rng = np.random.default_rng(3)
    states = rng.uniform(0.2, 0.5, (2, size, LANES))
    expected = [[alone(states[b, :, lane]) for lane in range(LANES)] for b in range(2)]
    fields = states.ravel().copy()
    step(fields, BODY, 0.01, 2)
    np.testing.assert_array_equal(fields.reshape(2, size, LANES), np.moveaxis(np.array(expected), 1, 2))
    (assembly,) = step.inspect_asm().values()
    packed, scalar = assembly.count("mulpd"), assembly.count("mulsd")
    if packed + scalar:  # x86-64; other families name their instructions otherwise
        assert packed > 4 * scalar


START = ((1.0, 0.0, 0.0, 0.0), (0.3, -0.9, 0.6), (0.1, 0.0, 0.2), BODY, 0.01)
