"""A reaction wheel in Basilisk and in polhode, from the same state: ``python -m polhode_engines.wheels FILE.csv``.

The motor of the wheel has no torque, a constant one, or one in proportion to the rate of the body about the wheel's axis:
sampled every half second, or set before each step. The last is meant as a torque that always follows the rate, and what holding
it over a step costs is part of the error. The exact motions are computed by SciPy's DOP853 from equations with the speed of the
wheel.
"""

import argparse
import csv
import datetime
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import polhode
from polhode.algebra.body import Body
from polhode.algebra.quaternion import multiply, to_body
from polhode.problems.pieces import Controller
from polhode.problems.problem import Problem
from polhode_engines import all_engines, cases
from polhode_engines.environments import Run, spin

#: The released file, in a checkout.
RELEASED = Path("data/released/wheels.csv")
ENGINE, OPTION, METHOD = "bsk", "RK4", "rk4"
#: The axis of the wheel, its moment (kg m^2) and its speed in the body (rad/s).
AXIS, MOMENT, SPEED = (0.0, 0.6, 0.8), 0.1, 4.0
#: The torques of the motor: a constant (N m), a factor of the rate (N m s), and the time between samples (s; 0: a step).
MOTORS: dict[str, tuple[float, float, float]] = {
    "no torque": (0.0, 0.0, 0.0),
    "constant": (0.05, 0.0, 0.0),
    "sampled every 0.5 s": (0.0, 0.2, 0.5),
    "set before each step": (0.0, 0.2, 0.0),
}
STEPS = (0.1, 0.05, 0.025, 0.0125)
COLUMNS = ("engine", "version", "date", "motor", "dt", "error", "polhode", "apart")
#: The columns with angles, rad.
ANGLES = COLUMNS[-3:]


def run_of(motor: str, dt: float) -> Run:
    """The run of the engine with a key of :data:`MOTORS` and the step ``dt``, s.

    Its value has the axis of the wheel (3), its moment and speed, and the three numbers of the motor.
    """
    value = (*AXIS, MOMENT, SPEED, *MOTORS[motor])
    return Run("wheel", value, cases.INERTIA, cases.Q0, cases.GENERAL, dt, tuple(round(t / dt) for t in cases.TIMES))


def _nothing(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    return (0.0, 0.0, 0.0)


def _motor(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    constant, gain, x, y, z = parameters[0], parameters[1], parameters[2], parameters[3], parameters[4]
    torque = constant + gain * (x * omega[0] + y * omega[1] + z * omega[2])
    return (torque * x, torque * y, torque * z)


def orientations(motor: str, dt: float, method: str = METHOD) -> np.ndarray:
    """q (times, 4), scalar first, body to lab, at :data:`polhode_engines.cases.TIMES` by a method of polhode, step ``dt``, s.

    ``motor`` is a key of :data:`MOTORS`, ``method`` the key of a method.
    """
    constant, gain, every = MOTORS[motor]
    wheel: Any = (AXIS, MOMENT, SPEED)
    body, rotation = Body(cases.INERTIA, wheels=(wheel,)).with_free_wheels(cases.GENERAL)
    axis = dict(zip("xyz", to_body(rotation, AXIS), strict=True))
    problem = Problem(
        key="wheel",
        label="wheel",
        source="our choice",
        body=body,
        omega0=to_body(rotation, cases.GENERAL),
        q0=multiply(cases.Q0, rotation),
        torque=_nothing,
        parameters={"constant": constant, "gain": gain, **axis},
        torque_class="free",
        horizon=cases.TIMES[-1],
        controller=Controller(every or dt, _nothing, motors=_motor),
    )
    run = polhode.simulate(problem, method, dt, samples=len(cases.TIMES))
    back = (rotation[0], -rotation[1], -rotation[2], -rotation[3])
    return np.array([multiply(tuple(q), back) for q in run["q"].values[1:]])


def exact(motor: str) -> np.ndarray:
    """The exact q (times, 4), scalar first, body to lab, at :data:`polhode_engines.cases.TIMES`, to about 1e-12.

    ``motor`` is a key of :data:`MOTORS`; one that is set before each step follows the rate at all times.
    """
    from scipy.integrate import solve_ivp

    constant, gain, every = MOTORS[motor]
    inertia, axis = np.diag(cases.INERTIA), np.array(AXIS)
    without = inertia - MOMENT * np.outer(axis, axis)

    def rates(held: float | None) -> Callable[[float, np.ndarray], np.ndarray]:
        def rate(t: float, y: np.ndarray) -> np.ndarray:
            q, omega, speed = y[:4], y[4:7], y[7]
            torque = constant + gain * axis @ omega if held is None else held
            momentum = inertia @ omega + MOMENT * speed * axis
            change = np.linalg.solve(without, -torque * axis - np.cross(omega, momentum))
            turning = 0.5 * np.array(multiply(tuple(q), (0.0, *omega)))
            return np.concatenate([turning, change, [torque / MOMENT - axis @ change]])

        return rate

    state, out = np.array([*cases.Q0, *cases.GENERAL, SPEED]), []
    edges = every * np.arange(round(cases.TIMES[-1] / every) + 1) if every else np.array([0.0, *cases.TIMES])
    for a, b in pairwise(edges):
        held = constant + gain * axis @ state[4:7] if every else None
        state = solve_ivp(rates(held), (a, b), state, method="DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
        if np.isclose(b, cases.TIMES).any():
            out.append(state[:4])
    return np.array(out)


def compared(python: Path | None = None) -> list[dict[str, Any]]:
    """The rows of the table, column of :data:`COLUMNS` -> value, with the ``python`` that has Basilisk (of the atlas: None).

    ``error``, ``polhode`` and ``apart`` are texts with angles in rad, means over the times: from the exact orientation to the
    engine's and to polhode's, and between the two; ``dt`` is in s.

    Raises
    ------
    RuntimeError
        If the engine does not run.
    """
    pairs = [(motor, dt) for motor in MOTORS for dt in STEPS]
    version, spun = spin(all_engines()[ENGINE], OPTION, [run_of(*pair) for pair in pairs], python=python)
    if failed := [answer.error for answer in spun if answer.error]:
        raise RuntimeError(failed[0])
    solutions = {motor: exact(motor) for motor in MOTORS}
    rows, date = [], datetime.datetime.now(datetime.UTC).date().isoformat()
    for (motor, dt), answer in zip(pairs, spun, strict=True):
        q = orientations(motor, dt)
        angles = ((answer.q, solutions[motor]), (q, solutions[motor]), (answer.q, q))
        numbers = (f"{float(np.mean(cases.angle(*pair))):.3g}" for pair in angles)
        rows.append(dict(zip(COLUMNS, (ENGINE, version, date, motor, dt, *numbers), strict=True)))
    return rows


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a file that :func:`main` wrote, each by :data:`COLUMNS`, numbers as text."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def orders(rows: Sequence[Mapping[str, str]], name: str = "error") -> dict[str, float]:
    """Motor -> the order of one of :data:`ANGLES`, by default of the error of the engine, from :func:`read`."""
    by_motor = {motor: [row for row in rows if row["motor"] == motor] for motor in MOTORS}
    return {
        motor: cases.order([float(row["dt"]) for row in some], [float(row[name]) for row in some], np.finfo(float).eps)
        for motor, some in by_motor.items()
    }


def orders_in_words(rows: Sequence[Mapping[str, str]]) -> str:
    """The orders of the engine, each with the motors for which it is so."""
    motors: dict[str, list[str]] = {}
    for motor, order in orders(rows).items():
        motors.setdefault(f"{order:.1f}", []).append(motor)
    return ", ".join(f"{order} ({', '.join(some)})" for order, some in motors.items())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the engine and write the table, as the command of the module does with these arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the CSV file that is written")
    parser.add_argument("--python", type=Path, help="a Python that has Basilisk; by default the one of the atlas")
    given = parser.parse_args(arguments)
    rows = compared(given.python)
    with given.file.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
