"""Run one method on one problem and return a dataset ready to plot: the main entry point of the library."""

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.algebra import metrics
from polhode.interface.arguments import flag, positive, shown, switch, whole
from polhode.interface.arrays import Arrays
from polhode.methods import METHODS
from polhode.methods.protocol import Method, OneTorque
from polhode.methods.runs import has_pieces, in_pieces, integrate
from polhode.problems import PROBLEMS
from polhode.problems.problem import Problem
from polhode.problems.system import System

if TYPE_CHECKING:
    import xarray as xr

#: Allowed relative deviation of t_end / dt from an integer; the round-off of decimal steps is far below it.
DIVISION_TOLERANCE = 1e-9
#: Maximum number of steps of a run. Beyond it step numbers, and hence times, are not exact in double precision.
MOST_STEPS = 2**53
#: What ``energy`` is.
ENERGY = "kinetic energy, with the potential one if the problem declares it"


def count_steps(dt: float, t_end: float, truncate: bool = False) -> int:
    """The number of steps of length ``dt`` in the time ``t_end``, both in s.

    With ``truncate`` the last incomplete step is omitted, and the run ends before ``t_end``; del Valle et al. (2024) count in
    this way.

    Raises
    ------
    ValueError
        If dt or t_end is not positive and finite, if dt exceeds t_end, if dt does not divide t_end (unless ``truncate``), or if
        the number of steps exceeds :data:`MOST_STEPS`.

    Examples
    --------
    >>> count_steps(0.1, 1.0), count_steps(0.3, 1.0, truncate=True)
    (10, 3)
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
    """At most ``samples`` + 1 step numbers from 0 to ``steps``, evenly spaced, including both ends: a whole-number array (n,).

    Raises
    ------
    ValueError
        If ``samples`` is below 1, or ``steps`` exceeds :data:`MOST_STEPS`.

    Examples
    --------
    >>> sampled_steps(10, 4)
    array([ 0,  2,  5,  8, 10])
    """
    if samples < 1:
        raise ValueError(f"samples must be at least 1, got {samples!r}")
    if steps > MOST_STEPS:
        raise ValueError(f"steps must be at most 2^53, got {steps!r}")
    if samples >= steps:  # every step; a grid of all samples could exceed the memory
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
) -> "xr.Dataset":
    """Integrate the rotation of one rigid body, or the motion of several that act on each other.

    Parameters
    ----------
    problem, method : str or object
        Keys (see ``print(polhode.problems)``, ``print(polhode.methods)``) or objects of your own.
    dt : float
        Time step in s. Where the problem declares jumps of its torque (``breakpoints``) or a controller, a step ends at each
        jump and sample, and dt is the longest step.
    t_end : float, optional
        Time to simulate in s; the problem's horizon by default.
    samples : int
        The state is read at the start and at no more than this number of evenly spaced steps after it.
    truncate : bool
        Allow a ``dt`` that does not divide ``t_end``; the run then ends at the last whole step before ``t_end``. Without effect
        where steps end at jumps and samples.
    normalise : bool, optional
        Whether the quaternion is normalised every step; by default as the method declares.

    Returns
    -------
    xarray.Dataset
        Over ``time`` (s, the ends of steps): ``q`` (time, 4; body to lab), ``omega`` (time, 3; body frame, rad/s),
        ``energy`` (J: kinetic, plus potential if the problem declares a potential), ``stored_omega``
        (the angular velocity carried by the method, at ``time + stored_offset * dt``), and the scalars ``steps``,
        ``torque_evaluations`` (those of the steps, and one at the start for one-torque methods; for a system, evaluations of
        all loads; those needed only for reading are not counted), ``stored_offset``. With a potential, ``kinetic`` and
        ``potential`` (J) are there too. A run that blows up contains NaN from there on, and its attribute ``diverged`` gives
        the time by which it did, in s. If a controller drives wheels, ``wheel_momentum`` (time, 3; body frame, N m s) is there
        too. For a system of bodies all these have a dimension ``body`` after ``time``; ``r`` and
        ``v`` (time, body, 3; lab frame, m and m/s) are added, and ``energy`` includes the motion of the centres.

    Raises
    ------
    KeyError, ValueError
        For unknown keys, for a dt that is not positive, is longer than t_end or, where all steps are equal, does not divide it,
        and for a method that cannot run the problem; the message says what to do.
    TypeError
        If problem or method is neither a key nor a suitable object, or if another argument has a wrong type; the message names
        it.

    Examples
    --------
    >>> import polhode
    >>> run = polhode.simulate("free_symmetric_top", "spiral_leapfrog", dt=0.01, samples=4)
    >>> run["time"].values
    array([ 0. ,  2.5,  5. ,  7.5, 10. ])
    >>> run["q"].shape, run["omega"].shape
    ((5, 4), (5, 3))
    >>> bool(abs(run["energy"] / run["energy"][0] - 1).max() < 1e-6)
    True
    """
    return simulate_arrays(problem, method, dt, t_end, samples, truncate=truncate, normalise=normalise, pieces=True).dataset()


def simulate_arrays(
    problem: str | Problem | System,
    method: str | Method,
    dt: float,
    t_end: float | None = None,
    samples: int = 200,
    *,
    truncate: bool = False,
    normalise: bool | None = None,
    pieces: bool = False,
) -> Arrays:
    """The run of :func:`simulate` as plain arrays, :class:`Arrays`, from which several runs can be stacked.

    For arguments, variables and errors see :func:`simulate`. Without ``pieces`` all steps on a problem without a controller are
    equal, and pass over its breakpoints.
    """
    if isinstance(problem, str) and problem.endswith((".yaml", ".yml")):
        raise ValueError(f"problem: {shown(problem)} is a file; polhode.advice.problem_in_file reads it")
    case = PROBLEMS[problem] if isinstance(problem, str) else problem
    if isinstance(method, str):
        method = METHODS[method]
    if not isinstance(case, Problem | System):
        raise TypeError(f"problem must be a key or a polhode Problem, got {shown(case)}")
    if not isinstance(method, Method):
        raise TypeError(f"method must be a key or a polhode Method, got {shown(method)}")
    if not method.runs(case):
        raise ValueError(
            f"method {method.key!r} needs several torques in a step and cannot run a system of bodies, {case.key!r}"
        )
    dt = positive("dt", dt, "s")
    t_end = case.horizon if t_end is None else positive("t_end", t_end, "s")
    truncate, samples, normalise = (
        flag("truncate", truncate),
        whole("samples", samples, least=1),
        switch("normalise", normalise),
    )
    if isinstance(case, Problem) and (case.controller or pieces) and has_pieces(case, t_end):
        if dt > t_end:
            raise ValueError(f"dt = {dt!r} is longer than the time to simulate, t_end = {t_end!r}")
        made = in_pieces(case, method, dt, t_end, np.linspace(0.0, t_end, samples + 1), normalise)
        steps, time = made.steps, made.times
        data, bad = _of_problem(case, made.q, made.omega, made.stored, made.evaluations)
        if made.wheels is not None:
            about = {"long_name": "angular momentum of the wheels, body frame", "units": "N m s", "symbol": "h"}
            data["wheel_momentum"] = (("time", "axis"), made.wheels, about)
    else:
        steps = count_steps(dt, t_end, truncate)
        at = sampled_steps(steps, samples)
        time = at * dt
        if isinstance(case, System):
            data, bad = _run_system(case, method, dt, at, normalise)
        else:
            data, bad = _of_problem(case, *integrate(case, method, dt, at, normalise))
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
    attributes: dict[str, Any] = {"problem": case.key, "method": method.key, "dt": dt, "dt_units": "s"}
    if bad.size:
        attributes["diverged"] = float(time[bad[0]])
    return Arrays(data, coordinates, attributes)


Variables = dict[str, Any]


def _of_problem(
    problem: Problem, q: np.ndarray, omega: np.ndarray, stored: np.ndarray, evaluations: int
) -> tuple[Variables, np.ndarray]:
    """The variables of a run of one body, and a flag for each sample that is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):  # a run that blows up needs no warning
        kinetic = metrics.kinetic_energy(omega, problem.body.inertia)
        data = _variables(("time",), q, omega, stored, kinetic, evaluations)
        if problem.potential is not None:
            potential = problem.potential(tuple(q.T), problem.parameter_array)
            for name, values, long_name, symbol in (
                ("kinetic", kinetic, "kinetic energy", "K"),
                ("potential", potential, "potential energy", "U"),
                ("energy", kinetic + potential, ENERGY, "E"),
            ):
                data[name] = ("time", values, {"long_name": long_name, "units": "J", "symbol": symbol})
    return data, np.flatnonzero(~np.isfinite(q[:, 0]))


def _run_system(
    system: System, method: Method, dt: float, at: np.ndarray, normalise: bool | None
) -> tuple[Variables, np.ndarray]:
    """The variables of a run of several bodies, and a flag for each sample that is not finite."""
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
    """The variables common to runs of one and of several bodies."""
    stored_name = "angular velocity as the method carries it, at time + stored_offset * dt"
    turning = {"long_name": "angular velocity in the body frame", "units": "rad s-1", "symbol": "omega"}
    return {
        "q": ((*dims, "quaternion"), q, {"long_name": "orientation, body to lab", "units": "1", "symbol": "q"}),
        "omega": ((*dims, "axis"), omega, turning),
        "energy": (dims, energy, {"long_name": ENERGY, "units": "J", "symbol": "E"}),
        "stored_omega": ((*dims, "axis"), stored, {**turning, "long_name": stored_name}),
        "torque_evaluations": ((), evaluations, {"long_name": "torque evaluations", "units": "1", "symbol": "m"}),
    }
