"""The problems of the atlas: one body, four loads, and their solutions to double precision by the Taylor integrator.

Quaternions are scalar first and take body to lab. A load is a key of :data:`LOADS`: ``free``, ``constant``, ``lab`` or
``velocity``.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from polhode.algebra.body import Body
from polhode.algebra.quaternion import to_body
from polhode.problems.problem import Problem
from polhode_engines.environments import Run

#: Principal moments, kg m^2, and the angular velocities at the start: a general one, and one next to the middle axis; rad/s.
#: Both have length 1 within rounding, so that a step in s is the angle turned by it in radians.
INERTIA = (0.6, 1.0, 1.4)
GENERAL = (0.48, 0.36, 0.8)
NEAR_MIDDLE = (0.048, 0.9976, 0.05)
Q0 = (1.0, 0.0, 0.0, 0.0)
#: The torque in N m, in the body or the lab frame, and the coefficient c of the friction -c omega, N m s.
TORQUE, FRICTION = (0.2, -0.1, 0.15), 0.2
VALUES: dict[str, tuple[float, ...]] = {"free": (0.0,), "constant": TORQUE, "lab": TORQUE, "velocity": (FRICTION,)}
#: Times at which errors are taken, s; every step of the ladder divides them.
TIMES = (3.0, 6.0, 9.0)
#: Steps of the ladder from which orders are fitted, s, and those whose errors are reported as well (0.1 is in both).
LADDER = (0.1, 0.05, 0.025, 0.0125, 0.00625, 0.003125)
REPORTED = (0.1, 0.03, 0.01)
STEPS = tuple(sorted({*LADDER, *REPORTED}, reverse=True))
#: The long free spin: its step in s, its number of steps, and how often it is read.
LONG_STEP, LONG_STEPS, LONG_SAMPLES = 0.05, 100_000, 1000
#: Identification: step in s, that of engines in single precision (a larger step tells methods better apart), starts, steps from
#: each, and the torque as a share of :data:`VALUES`, so that the body does not turn too fast before the end.
STEP, STEP_FLOAT32, STARTS, LENGTH, SHARE = 0.2, 0.8, 5, 100, 0.2


def _free(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    return (0.0, 0.0, 0.0)


def _constant(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    return (parameters[0], parameters[1], parameters[2])


def _lab(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    return to_body(q, (parameters[0], parameters[1], parameters[2]))


def _velocity(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    c = -parameters[0]
    return (c * omega[0], c * omega[1], c * omega[2])


#: (t, q, omega, value) -> torque in the body frame
LOADS = {"free": _free, "constant": _constant, "lab": _lab, "velocity": _velocity}


def problem(load: str, omega0: tuple[float, float, float] = GENERAL) -> Problem:
    """The body of the atlas under a load of :data:`LOADS`, from an angular velocity in the body frame, rad/s."""
    return Problem(
        key=f"atlas_{load}",
        label=load,
        source="our choice",
        body=Body(INERTIA),
        omega0=omega0,
        q0=Q0,
        torque=LOADS[load],
        parameters={f"p{i}": x for i, x in enumerate(VALUES[load])},
        torque_class=load,
        horizon=TIMES[-1],
    )


@cache
def exact(load: str) -> tuple[np.ndarray, np.ndarray]:
    """The exact q (times, 4), scalar first, body to lab, and omega (times, 3), rad/s, body frame, of a load at :data:`TIMES`.

    ``load`` is ``free``, ``constant``, ``lab`` or ``velocity``. They are computed to 25 digits and rounded.
    """
    from polhode.references import taylor  # imported here because an identification does not need it

    states = taylor.solve(problem(load), TIMES, 25)
    return np.array([[float(x) for x in q] for q, _ in states]), np.array([[float(x) for x in w] for _, w in states])


def ladder_run(load: str, dt: float) -> Run:
    """The run under a load of :data:`LOADS` from which the errors with the step ``dt`` (s) follow, read at :data:`TIMES`."""
    return Run(load, VALUES[load], INERTIA, Q0, GENERAL, dt, tuple(round(t / dt) for t in TIMES))


def long_run(most_steps: int) -> Run:
    """A free spin from next to the middle axis, of at most this many steps of :data:`LONG_STEP`, read :data:`LONG_SAMPLES`
    times and at the start.
    """
    steps = min(LONG_STEPS, most_steps)
    return Run(
        "free",
        VALUES["free"],
        INERTIA,
        Q0,
        NEAR_MIDDLE,
        LONG_STEP,
        tuple(int(n) for n in np.linspace(0, steps, LONG_SAMPLES + 1).round()),
    )


def starts(count: int = STARTS) -> list[tuple[tuple[float, float, float, float], tuple[float, float, float]]]:
    """Seeded starts from which a method is identified: a list of (q, omega).

    q (4,) is a unit quaternion, scalar first, body to lab, omega (3,) an angular velocity of 1 rad/s in the body frame.
    """
    drawn = np.random.default_rng(20240731).normal(size=(count, 7))
    made = []
    for row in drawn:
        q, omega = row[:4] / np.linalg.norm(row[:4]), row[4:] / np.linalg.norm(row[4:])
        made.append((tuple(map(float, q)), tuple(map(float, omega))))
    return made  # type: ignore[return-value]


def identification_runs(load: str, precision: str = "float64", length: int = LENGTH, turn: float = 0.0) -> list[Run]:
    """The runs, one from each of :func:`starts`, from which a method is identified; they are read at every step.

    The torque has :data:`SHARE` of the numbers of :data:`VALUES`.

    Parameters
    ----------
    load : of :data:`LOADS`
    precision : of the engine, "float64" or "float32", which needs larger steps
    length : number of steps
    turn : the angle in a step, rad; 0: the usual one
    """
    dt = turn or (STEP_FLOAT32 if precision == "float32" else STEP)
    value = tuple(SHARE * x for x in VALUES[load])
    return [Run(load, value, INERTIA, q, omega, dt, tuple(range(length + 1))) for q, omega in starts()]


def errors(load: str, q: np.ndarray, omega: np.ndarray) -> tuple[float, float]:
    """Mean over :data:`TIMES` of the angle between q and the exact orientation, rad, and of the relative error of omega.

    q (times, 4) is scalar first, body to lab, omega (times, 3) in the body frame, rad/s; ``load`` is one of :data:`LOADS`.
    """
    right_q, right_omega = exact(load)
    return float(np.mean(angle(q, right_q))), float(
        np.mean(np.linalg.norm(omega - right_omega, axis=1) / np.linalg.norm(right_omega, axis=1))
    )


def angle(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The angles (...), rad, of the rotations between orientations p and q (..., 4).

    They need not be normalised, and their signs do not matter.
    """
    p, q = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (p, q))
    sign = np.where((p * q).sum(-1, keepdims=True) < 0, -1.0, 1.0)
    return np.asarray(4 * np.arcsin(np.clip(np.linalg.norm(p - sign * q, axis=-1) / 2, 0, 1)))


def order(dt: Sequence[float] | np.ndarray, error: Sequence[float] | np.ndarray, eps: float) -> float:
    """The slope of log(error) over log(dt) for the three finest steps that are clear of round-off; NaN if there are fewer.

    ``dt`` (n,) are steps in s, ``error`` (n,) their errors, in rad or relative, ``eps`` the round-off of the engine. An error
    counts above 30 round-offs of each step until the last of :data:`TIMES`, and below 0.5.
    """
    step, errors = np.asarray(dt, float), np.asarray(error, float)
    usable = np.isfinite(errors) & (errors > 30 * eps * TIMES[-1] / step) & (errors < 0.5)
    step, errors = step[usable], errors[usable]
    finest = np.argsort(step)[:3]
    if len(finest) < 3:
        return float("nan")
    return float(np.polyfit(np.log(step[finest]), np.log(errors[finest]), 1)[0])
