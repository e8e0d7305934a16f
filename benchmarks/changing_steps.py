"""What a method loses when its step changes, and when it begins anew: at an impact, or after a restart from a file.

    python benchmarks/changing_steps.py

*Carried on*: the method keeps what it holds, and its kernels are handed the new step. *Anew*: at every change the body is read
at the whole time, and the method starts there with the new step. Errors and drifts are medians over random bodies under
gravity; errors are relative to those of as many equal steps.
"""

import warnings
from collections.abc import Callable, Iterable
from functools import cache
from math import cos, log, pi, sin
from typing import Any

import numpy as np
from numba import types

from polhode.algebra import metrics, quaternion
from polhode.compiling.kernel import compile_driver, inertia_type, parameters_type, samples_type, torque_type
from polhode.compiling.plain import in_plain_python
from polhode.ensembles import CLASSES, draw
from polhode.ensembles.many import Bodies, march
from polhode.methods import METHODS
from polhode.methods.one_body import READ, START, STEPS, march_type
from polhode.methods.protocol import Method

COMPARED = (
    "rk4",
    "rotor_srkn6",
    "exact_rotor",
    "exact_rotor_corrected",
    "exact_rotor_dkd_corrected",
    "no_squish",
    "verlet",
    "spiral_kdk",
    "spiral_leapfrog",
    "adams_bashforth2_buss",
    "adams_bashforth3",
    "adams_bashforth4",
    "magnus_adams4",
)
TORQUE, BODIES, RADIANS, LONG, PER_RADIAN, EVERY = CLASSES["state"], 32, 16, 1000, 16, (64, 16, 4)
#: The largest change of a step, relative to the mean step.
CHANGE = 0.3
#: So many steps; their mean does not matter.
PATTERNS: dict[str, Callable[[int], np.ndarray]] = {
    "a factor of 2 every 16": lambda n: np.where(np.arange(n) // 16 % 2, 1.0, 2.0),
    "at random": lambda n: 1 + CHANGE * np.random.default_rng(0).uniform(-1, 1, n),
    "slowly": lambda n: 1 + CHANGE * np.sin(2 * pi * np.arange(n) / 64),
}
#: Librations: the amplitude in rad, and frequencies of the step over that of the libration; the first ones are near resonance.
AMPLITUDE, FREQUENCIES = 1e-3, (tuple(2 + 1e-4 * k for k in range(-4, 13)), (1.5,), (0.1,))


def _drive(march, states, reading, body, torque, parameters, steps, anew, normalise, moves, readings):  # type: ignore[no-untyped-def]
    """Take ``steps`` (s), anew before those that ``anew`` marks; q and omega after each into ``readings``."""
    n = 0
    for k in range(steps.size):
        if k == 0 or anew[k]:
            march(START, states, reading, 0, 0, body, torque, parameters, steps[k], normalise, moves)
            n = 0
        march(STEPS, states, reading, n, n + 1, body, torque, parameters, steps[k], normalise, moves)
        n += 1
        march(READ, states, reading, n, n, body, torque, parameters, steps[k], normalise, moves)
        for i in range(4):
            readings[k, i] = reading[0, i]
        for i in range(3):
            readings[k, 4 + i] = reading[1, i]


@cache
def _compiled() -> Callable[..., Any]:
    flags = types.Array(types.boolean, 1, "C")
    arguments = samples_type, samples_type, inertia_type, torque_type, parameters_type, parameters_type, flags, types.boolean
    return compile_driver(_drive, types.void(types.FunctionType(march_type()), *arguments, samples_type, samples_type))


def run(method: Method, bodies: Bodies, torque: Callable[..., Any], steps: np.ndarray, anew: np.ndarray) -> np.ndarray:
    """q and omega after each of ``steps`` (s), begun anew before those that ``anew`` marks: (bodies, steps, 7).

    The torque must not depend on the time, which begins anew too.
    """
    readings = np.full((len(bodies), len(steps), 7), np.nan)
    for i, numbers in enumerate(bodies.coefficients()):
        reading = np.zeros((3, 4))
        reading[0], reading[1, :3] = bodies.q0[i], bodies.omega0[i]
        _compiled()(
            method.compiled_march(),
            np.zeros((1, method.state_width)),
            reading,
            tuple(map(float, numbers)),
            torque,
            np.append(bodies.parameters[i], 0.0),
            steps,
            anew,
            method.normalisation(None),
            method.moves,
            readings[i],
        )
    return readings


def steps_of(pattern: Callable[[int], np.ndarray], radians: int, per_radian: int = PER_RADIAN) -> np.ndarray:
    """Steps in s of bodies that turn one radian in a second."""
    steps = pattern(radians * per_radian).astype(float)
    return steps * (radians / steps.sum())


def changes(steps: np.ndarray) -> np.ndarray:
    """Which steps differ from the one before."""
    return np.append(False, np.diff(steps) != 0)


def energy(bodies: Bodies, readings: np.ndarray) -> np.ndarray:
    """Kinetic energy and that of the weight above its lowest place, (bodies, readings)."""
    up = in_plain_python(quaternion.to_body)(tuple(np.moveaxis(readings[..., :4], -1, 0)), (0.0, 0.0, 1.0))
    weight = bodies.parameters[:, None]
    height = sum(weight[..., i] * up[i] for i in range(3)) + np.linalg.norm(weight, axis=-1)
    return 0.5 * (bodies.moments[:, None] * readings[..., 4:] ** 2).sum(axis=-1) + height


def growth(method: Method, frequency: float, anew: bool, change: float = CHANGE, radians: int = LONG) -> float:
    """How fast the energy of a libration with one radian in a second grows, in 1/rad; the step is 1 + change sin(frequency t).

    In resonance one motion grows and one decays, which are a quarter of a period apart; ``change`` below 0 shows the other one.
    """
    start = np.array([[cos(AMPLITUDE / 2), sin(AMPLITUDE / 2), 0, 0]]), np.zeros((1, 3))
    body = Bodies(np.array([[1.0, 1.7, 2.3]]), *start, np.array([[0.0, 0.0, -1.0]]))
    time, steps, turn = 0.0, np.empty(radians * PER_RADIAN), round(2 * pi * PER_RADIAN)
    for k in range(len(steps)):
        steps[k] = (1 + change * sin(frequency * time)) / PER_RADIAN
        time += steps[k]
    levels = energy(body, run(method, body, TORQUE.compiled_torque, steps, changes(steps) & anew))[0]
    return log(levels[-turn:].mean() / levels[:turn].mean()) / (time - 2 * pi)


def table(head: Iterable[str], cells: Callable[[Method], Iterable[str]]) -> None:
    """Print a row for each method."""
    head = list(head)
    print("| method | " + " | ".join(head) + " |\n|---|" + "---|" * len(head))
    for method in map(METHODS.__getitem__, COMPARED):
        print(f"| {method.label} | " + " | ".join(cells(method)) + " |", flush=True)
    print()


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore", RuntimeWarning)  # of runs that blow up, whose medians are nan
    torque, bodies = TORQUE.compiled_torque, draw(BODIES).bodies(TORQUE.key)
    fine = march(bodies, METHODS["rkmk4"], torque, 2.0**-9, np.array([RADIANS * 512]))
    equal, never = steps_of(np.ones, RADIANS), np.zeros(RADIANS * PER_RADIAN, dtype=bool)

    def errors(method: Method, steps: np.ndarray, anew: np.ndarray) -> np.ndarray:
        end = run(method, bodies, torque, steps, anew)[:, -1]
        angle = metrics.geodesic_angle(end[:, :4], fine[0][:, 0])
        return np.maximum(angle, np.linalg.norm(end[:, 4:] - fine[1][:, 0], axis=1))

    def lost(method: Method, steps: np.ndarray, anew: np.ndarray) -> str:
        return f"{np.median(errors(method, steps, anew) / errors(method, equal, never)):.2g}"

    def restarted(method: Method) -> Iterable[str]:
        for every in (len(equal), *EVERY):
            torques = method.torques_in(every) + method.torques_per_output
            yield f"{lost(method, equal, np.arange(len(equal)) % every == 0)}, {torques / every:.2f}"

    def changed(method: Method) -> Iterable[str]:
        for pattern in PATTERNS.values():
            steps = steps_of(pattern, RADIANS)
            yield f"{lost(method, steps, never)}, {lost(method, steps, changes(steps))}"

    def drift(method: Method, steps: np.ndarray, anew: bool) -> str:
        energies = energy(bodies, run(method, bodies, torque, steps, changes(steps) & anew))
        first, last = (energies[:, part].mean(axis=1) for part in (slice(len(steps) // 10), slice(-len(steps) // 10, None)))
        kinetic = 0.5 * (bodies.moments * bodies.omega0**2).sum(axis=1)
        return f"{np.median(abs(last - first) / kinetic):.1e}"

    def drifted(method: Method) -> Iterable[str]:
        yield drift(method, steps_of(np.ones, LONG), False)
        for pattern in PATTERNS.values():
            yield ", ".join(drift(method, steps_of(pattern, LONG), anew) for anew in (False, True))

    def librated(method: Method) -> Iterable[str]:
        yield f"{growth(method, 1.0, False, change=0.0):.1e}"
        for frequencies in FREQUENCIES:
            runs = [(f, change) for f in frequencies for change in (-CHANGE, CHANGE)]
            yield ", ".join(f"{max(growth(method, f, anew, change) for f, change in runs):.1e}" for anew in (False, True))

    print(f"Restarts: the error over that without, and torques a step; {RADIANS} rad, {PER_RADIAN} steps a radian.\n")
    table(["never", *(f"every {every}" for every in EVERY)], restarted)
    print("Steps that change: the error over that of equal steps, carried on and restarted.\n")
    table(PATTERNS, changed)
    print(f"Change of the energy in {LONG} rad over the first kinetic energy: equal steps; carried on, restarted.\n")
    table(["equal", *PATTERNS], drifted)
    print(
        "Growth of the energy of a libration, 1/rad: equal steps; frequencies of the step over its own; carried, restarted.\n"
    )
    table(["equal", "near 2", *(str(f[0]) for f in FREQUENCIES[1:])], librated)


if __name__ == "__main__":
    main()
