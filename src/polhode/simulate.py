"""Run one method on one problem and return what a notebook can plot: the front door of the library."""

from math import isfinite
from typing import Any

import numpy as np
import xarray as xr

from polhode import metrics
from polhode.arguments import flag, positive, shown, switch, whole
from polhode.methods.protocol import Method, OneTorque
from polhode.problems.problem import Problem
from polhode.problems.system import System
from polhode.registry import catalogue

#: How far t_end / dt may be from a whole number, as a fraction of it; round-off of decimal steps stays far below.
DIVISION_TOLERANCE = 1e-9
#: The most steps of a run. Beyond, step numbers are not exact in double precision, and neither are the times made of them.
MOST_STEPS = 2**53


def count_steps(dt: float, t_end: float, truncate: bool = False) -> int:
    """The number of steps of length ``dt`` in the time ``t_end``, both in s.

    With ``truncate`` the last incomplete step is left out, and the run ends before ``t_end``; that is how
    del Valle et al. (2024) count.

    Raises
    ------
    ValueError
        If dt or t_end is not positive and finite, if dt exceeds t_end, if dt does not divide t_end (unless ``truncate``), or if
        that makes more than :data:`MOST_STEPS`.
    """
    if not (isfinite(dt) and dt > 0):
        raise ValueError(f"dt must be positive and finite, got {dt!r}")
    if not (isfinite(t_end) and t_end > 0):
        raise ValueError(f"t_end must be positive and finite, got {t_end!r}")
    ratio = float(t_end) / float(dt)
    if ratio > MOST_STEPS:
        raise ValueError(f"dt = {dt!r} makes {ratio:.3g} steps in t_end = {t_end!r}, more than 2^53; use a larger dt")
    nearest = round(ratio)
    if abs(ratio - nearest) <= DIVISION_TOLERANCE * ratio:
        return nearest
    if ratio < 1:
        raise ValueError(f"dt = {dt!r} is longer than the time to simulate, t_end = {t_end!r}")
    if truncate:
        return int(ratio)
    raise ValueError(
        f"dt = {dt!r} does not divide t_end = {t_end!r} (ratio {ratio:.6g}); use dt = {t_end / int(ratio):.17g} "
        f"or {t_end / (int(ratio) + 1):.17g}, or truncate=True to end at {int(ratio) * dt:.6g}"
    )


def sampled_steps(steps: int, samples: int) -> np.ndarray:
    """At most ``samples`` + 1 step numbers from 0 to ``steps``, evenly spread, both ends included."""
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples!r}")
    if steps > MOST_STEPS:
        raise ValueError(f"steps must be at most 2^53, got {steps!r}")
    if samples >= steps:  # every step; a grid of all samples could be larger than the memory
        return np.arange(steps + 1, dtype=np.int64)
    return np.unique(np.rint(np.linspace(0, steps, samples + 1)).astype(np.int64))


def simulate(
    problem: str | Problem | System,
    method: str | Method,
    dt: float,
    t_end: float | None = None,
    samples: int = 200,
    *,
    truncate: bool = False,
    normalise: bool | None = None,
) -> xr.Dataset:
    """Integrate the rotation of one rigid body, or the motion of several that act on each other.

    Parameters
    ----------
    problem, method : str or object
        Keys (see ``print(polhode.problems)``, ``print(polhode.methods)``) or objects of your own.
    dt : float
        Time step in s.
    t_end : float, optional
        Time to simulate in s; the problem's horizon by default.
    samples : int
        The state is read at the start and at this many (at most) evenly spread steps after it.
    truncate : bool
        Allow a ``dt`` that does not divide ``t_end``; the run then ends at the last whole step before ``t_end``.
    normalise : bool, optional
        Whether the quaternion is normalised every step; by default as the method declares.

    Returns
    -------
    xarray.Dataset
        Over ``time`` (s, step number times dt): ``q`` (time, 4), ``omega`` (time, 3; body frame, rad/s, at the same times),
        ``energy`` (kinetic, J), ``stored_omega`` (what the method itself carries, at ``time + stored_offset * dt``),
        and the scalars ``steps``, ``torque_evaluations`` (those of the steps, and one at the start for one-torque methods;
        those that reading needs are not counted), ``stored_offset``. A run that blows up has NaN from there on, and its
        attribute ``diverged`` says by which time, in s. For a system of bodies all these have a dimension ``body`` behind
        ``time``, and ``r``, ``v`` (time, body, 3; lab frame, m and m/s) stand beside them; ``energy`` then includes the motion
        of the centres.

    Raises
    ------
    KeyError, ValueError
        For unknown keys, for a dt that is not positive or does not divide t_end, and for a method that cannot run the problem;
        the message says what to do.
    TypeError
        If problem or method is neither a key nor an object of the right kind, or another argument is of a wrong type; the
        message names it.
    """
    if isinstance(problem, str):
        problem = catalogue("polhode.problems")[problem]
    if isinstance(method, str):
        method = catalogue("polhode.methods")[method]
    if not isinstance(problem, Problem | System):
        raise TypeError(f"problem must be a key or a polhode Problem, got {shown(problem)}")
    if not isinstance(method, Method):
        raise TypeError(f"method must be a key or a polhode Method, got {shown(method)}")
    if not method.runs(problem):
        raise ValueError(
            f"method {method.key!r} needs several torques in a step and cannot run a system of bodies, {problem.key!r}"
        )
    dt = positive("dt", dt, "s")
    t_end = problem.horizon if t_end is None else positive("t_end", t_end, "s")
    steps = count_steps(dt, t_end, flag("truncate", truncate))
    at = sampled_steps(steps, whole("samples", samples, least=1))
    normalise = switch("normalise", normalise)
    time = at * dt
    if isinstance(problem, System):
        data, bad = _run_system(problem, method, dt, at, normalise)
    else:
        data, bad = _run_problem(problem, method, dt, at, normalise)
    data["steps"] = ((), steps, {"long_name": "steps", "units": "1", "symbol": "n"})
    data["stored_offset"] = (
        (),
        method.stored_offset,
        {"long_name": "offset of stored_omega in steps", "units": "1", "symbol": "c"},
    )
    coordinates: dict[str, Any] = {
        "time": ("time", time, {"long_name": "time", "units": "s", "symbol": "t"}),
        "quaternion": ("quaternion", ["0", "x", "y", "z"], {"long_name": "quaternion component"}),
        "axis": ("axis", ["x", "y", "z"], {"long_name": "axis"}),
    }
    attributes: dict[str, Any] = {"problem": problem.key, "method": method.key, "dt": dt, "dt_units": "s"}
    if bad.size:
        attributes["diverged"] = float(time[bad[0]])
    return xr.Dataset(data, coordinates, attributes)


Variables = dict[str, Any]


def _run_problem(
    problem: Problem, method: Method, dt: float, at: np.ndarray, normalise: bool | None
) -> tuple[Variables, np.ndarray]:
    """The variables of a run of one body, and the samples that are not finite."""
    q, omega, stored, evaluations = method.integrate(
        problem.q0,
        problem.omega0,
        problem.body.coefficients(),
        problem.compiled_torque,
        problem.parameter_array,
        dt,
        at,
        normalise,
    )
    with np.errstate(over="ignore", invalid="ignore"):  # a run on its way to a blow-up is not worth a warning
        energy = metrics.kinetic_energy(omega, problem.body.inertia)
    return _variables(("time",), q, omega, stored, energy, evaluations), np.flatnonzero(~np.isfinite(q[:, 0]))


def _run_system(
    system: System, method: Method, dt: float, at: np.ndarray, normalise: bool | None
) -> tuple[Variables, np.ndarray]:
    """The same for several bodies."""
    assert isinstance(method, OneTorque)
    q, omega, stored, r, v, evaluations = method.integrate_system(system, dt, at, normalise)
    masses = np.array([body.mass for body in system.bodies])
    with np.errstate(over="ignore", invalid="ignore"):
        energy = metrics.kinetic_energy(omega, [body.inertia for body in system.bodies]) + 0.5 * masses * (v * v).sum(-1)
    data = _variables(("time", "body"), q, omega, stored, energy, evaluations)
    for name, values, long_name, units in (("r", r, "position of the centre of mass", "m"), ("v", v, "its velocity", "m s-1")):
        data[name] = (
            ("time", "body", "axis"),
            values,
            {"long_name": f"{long_name}, lab frame", "units": units, "symbol": name},
        )
    return data, np.flatnonzero(~np.isfinite(q[:, 0, 0]))


def _variables(
    dims: tuple[str, ...], q: np.ndarray, omega: np.ndarray, stored: np.ndarray, energy: np.ndarray, evaluations: int
) -> Variables:
    """What runs of one and of several bodies have in common."""
    stored_name = "angular velocity as the method carries it, at time + stored_offset * dt"
    turning = {"long_name": "angular velocity in the body frame", "units": "rad s-1", "symbol": "omega"}
    return {
        "q": ((*dims, "quaternion"), q, {"long_name": "orientation, body to lab", "units": "1", "symbol": "q"}),
        "omega": ((*dims, "axis"), omega, turning),
        "energy": (dims, energy, {"long_name": "kinetic energy", "units": "J", "symbol": "E"}),
        "stored_omega": ((*dims, "axis"), stored, {**turning, "long_name": stored_name}),
        "torque_evaluations": ((), evaluations, {"long_name": "torque evaluations", "units": "1", "symbol": "m"}),
    }
