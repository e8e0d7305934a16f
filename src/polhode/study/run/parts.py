r"""A factorial experiment: every kick with every rotation at every place of the torque.

A one-torque method is put together from three parts, and publications compare methods that differ in all of them at once. Here
each part is exchanged alone:

* the *kick*, by which Euler's equations advance omega with the torque frozen;
* the *rotation*, by which the orientation follows a constant angular velocity;
* the *place* of the torque in the step, and whether the omega passed to it is predicted for that time.

Many of the combinations are known methods: leapfrog, SSPRK3 and the exponential are SPIRAL; leapfrog, implicit and Cayley are
Omelyan's; both ends, Euler and the exponential are velocity Verlet.
"""

from typing import Any

import numpy as np
import xarray as xr
from numba import types

from polhode.algebra import metrics
from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import derivative, increment, normalise, to_lab
from polhode.algebra.quaternion import rotate as exponential
from polhode.algebra.vector import add, axpy, cross, scale
from polhode.compiling.kernel import (
    compile_driver,
    compiled,
    float_type,
    inertia_type,
    kernel,
    parameters_type,
    quaternion_type,
    torque_type,
    vector_type,
)
from polhode.ensembles.classes import CLASSES
from polhode.ensembles.reference import errors
from polhode.interface.arrays import about
from polhode.methods import spiral_leapfrog
from polhode.methods.omelyan1998 import cayley, sweep
from polhode.methods.pfc4_delvalle2024 import orthonormal, to_quaternion
from polhode.problems import PROBLEMS
from polhode.problems.problem import Problem
from polhode.references import taylor
from polhode.study.run.body_checks import TIME, drawn
from polhode.study.run.ensemble import BLOWN_UP
from polhode.study.run.ensemble_states import exact_states
from polhode.study.run.making import Settings

#: The kicks, from simple to exact.
KICKS = ("euler", "midpoint", "ssprk3", "implicit", "exact")
#: The rotations by a constant angular velocity.
ROTATIONS = ("matrix", "linear", "cayley", "exponential")
#: Where the torque is taken; with ``predicted`` the omega passed to it is kicked to its time by the last torque.
PLACES = (
    "start",
    "leapfrog",
    "leapfrog predicted",
    "middle",
    "middle predicted",
    "both ends",
    "both ends predicted",
)
#: One problem of each class of torque.
PROBLEM_KEYS = (
    "free_asymmetric_top",
    "spiral_cylinder",
    "forced_cylinder",
    "lab_torque",
    "asymmetric_heavy_top",
    "damped_top",
)
#: Numbers of steps into which the horizon is divided.
DIVISIONS = (256, 512, 1024, 2048)
#: Number of random bodies, and of steps in which they turn by the radians of Table 1, ``body_checks.TIME``.
BODIES, STEPS = 128, 1024
#: Sweeps of the implicit kick, and steps of Runge-Kutta 4 in the exact one, whose error is then far below all others.
SWEEPS, SUBSTEPS = 8, 8
#: Digits of the exact solutions.
DIGITS = 20


@kernel
def euler_kick(omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """One step of explicit Euler: first order."""
    return axpy(dt, euler_equations(omega, torque, body), omega)


@kernel
def midpoint_kick(omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The explicit midpoint rule: second order."""
    half = axpy(0.5 * dt, euler_equations(omega, torque, body), omega)
    return axpy(dt, euler_equations(half, torque, body), omega)


@kernel
def implicit_kick(omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Omelyan's mean of the rates at both ends, iterated to rounding: second order."""
    old = euler_equations(omega, torque, body)
    new = axpy(dt, old, omega)
    for _ in range(SWEEPS):
        new = sweep(new, old, omega, torque, body, dt)
    return new


@kernel
def exact_kick(omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Euler's equations under a constant torque, in several steps of Runge-Kutta 4."""
    h = dt / SUBSTEPS
    for _ in range(SUBSTEPS):
        k1 = euler_equations(omega, torque, body)
        k2 = euler_equations(axpy(0.5 * h, k1, omega), torque, body)
        k3 = euler_equations(axpy(0.5 * h, k2, omega), torque, body)
        k4 = euler_equations(axpy(h, k3, omega), torque, body)
        omega = axpy(h / 6, add(add(k1, k4), scale(2.0, add(k2, k3))), omega)
    return omega


@kernel
def matrix(q: Any, omega: Any, dt: Any) -> Any:
    """A linear step of the rotation matrix, whose columns are then orthonormalised in turn (Gram-Schmidt)."""
    x, y, z = to_lab(q, (1.0, 0.0, 0.0)), to_lab(q, (0.0, 1.0, 0.0)), to_lab(q, (0.0, 0.0, 1.0))
    turning = to_lab(q, omega)
    x, y, z = axpy(dt, cross(turning, x), x), axpy(dt, cross(turning, y), y), axpy(dt, cross(turning, z), z)
    x, y, z = orthonormal(x, y, z)
    return to_quaternion(x, y, z)


@kernel
def linear(q: Any, omega: Any, dt: Any) -> Any:
    """A linear step of the quaternion, which is then normalised."""
    return normalise(increment(dt, derivative(q, omega), q))


@compiled
def kicked(kind: int, omega: Any, torque: Any, body: Any, dt: float) -> Any:
    """The angular velocity after dt by the kick of this number in :data:`KICKS`."""
    if kind == 0:
        return euler_kick(omega, torque, body, dt)
    if kind == 1:
        return midpoint_kick(omega, torque, body, dt)
    if kind == 2:
        return spiral_leapfrog.kick(omega, torque, body, dt)
    if kind == 3:
        return implicit_kick(omega, torque, body, dt)
    return exact_kick(omega, torque, body, dt)


@compiled
def turned(kind: int, q: Any, omega: Any, dt: float) -> Any:
    """The orientation after dt by the rotation of this number in :data:`ROTATIONS`."""
    if kind == 0:
        return matrix(q, omega, dt)
    if kind == 1:
        return linear(q, omega, dt)
    if kind == 2:
        return cayley(q, omega, dt)
    return exponential(q, omega, dt)


def run(
    kick: int, rotation: int, place: int, q: Any, omega: Any, body: Any, torque: Any, parameters: Any, dt: float, steps: int
) -> Any:
    """The state after ``steps`` steps of the method made of these parts, as (q, omega) at the same time; plain Python.

    Parameters
    ----------
    kick, rotation, place : positions in :data:`KICKS`, :data:`ROTATIONS`, :data:`PLACES`
    q, omega : the state at the start
    body : coefficients, see :meth:`polhode.algebra.body.Body.coefficients`
    torque, parameters : the torque function and its numbers
    dt : step, s
    steps : their number
    """
    half = 0.5 * dt
    last = torque(0.0, q, omega, parameters)
    if place == 0:  # the torque of the start of a step, with the mean of both angular velocities
        for n in range(steps):
            if n:
                last = torque(n * dt, q, omega, parameters)
            new = kicked(kick, omega, last, body, dt)
            q = turned(rotation, q, scale(0.5, add(omega, new)), dt)
            omega = new
    elif place <= 2:  # leapfrog: omega at half steps
        omega = kicked(kick, omega, last, body, -half)
        for n in range(steps):
            handed = omega if place == 1 else kicked(kick, omega, last, body, half)
            last = torque(n * dt, q, handed, parameters)
            omega = kicked(kick, omega, last, body, dt)
            q = turned(rotation, q, omega, dt)
        handed = omega if place == 1 else kicked(kick, omega, last, body, half)
        omega = kicked(kick, omega, torque(steps * dt, q, handed, parameters), body, half)
    elif place <= 4:  # drift, kick, drift
        for n in range(steps):
            q = turned(rotation, q, omega, half)
            handed = omega if place == 3 else kicked(kick, omega, last, body, half)
            last = torque((n + 0.5) * dt, q, handed, parameters)
            omega = kicked(kick, omega, last, body, dt)
            q = turned(rotation, q, omega, half)
    else:  # kick, drift, kick
        for n in range(steps):
            omega = kicked(kick, omega, last, body, half)
            q = turned(rotation, q, omega, dt)
            handed = omega if place == 5 else kicked(kick, omega, last, body, half)
            last = torque((n + 1) * dt, q, handed, parameters)
            omega = kicked(kick, omega, last, body, half)
    return q, omega


_SIGNATURE = types.Tuple((quaternion_type, vector_type))(
    *(types.int64,) * 3,
    quaternion_type,
    vector_type,
    inertia_type,
    torque_type,
    parameters_type,
    float_type,
    types.int64,
)


def parts(settings: Settings) -> xr.Dataset:
    """The errors of q and omega at the horizon over kick, rotation, place of the torque, problem and number of steps.

    NaN where a run blew up. ``problem`` has one problem for each class of torque, whatever the problems of the study.
    """
    run_compiled = compile_driver(run, _SIGNATURE)
    divisions = settings.get("divisions", DIVISIONS)
    shape = len(KICKS), len(ROTATIONS), len(PLACES), len(PROBLEM_KEYS), len(divisions)
    q_error, omega_error = np.full(shape, np.nan), np.full(shape, np.nan)
    dts = np.empty((len(PROBLEM_KEYS), len(divisions)))
    for m, key in enumerate(PROBLEM_KEYS):
        problem = PROBLEMS[key]
        assert isinstance(problem, Problem)
        exact_q, exact_omega = exact_end(problem)
        given = problem.q0, problem.omega0, problem.body.coefficients(), problem.compiled_torque, problem.parameter_array
        for n, steps in enumerate(divisions):
            dts[m, n] = dt = problem.horizon / steps
            for i, j, k in np.ndindex(*shape[:3]):
                with np.errstate(over="ignore", invalid="ignore"):
                    q, omega = run_compiled(i, j, k, *given, dt, steps)
                if np.isfinite([*q, *omega]).all():
                    q_error[i, j, k, m, n] = metrics.orientation_l1(np.array(q), exact_q)
                    omega_error[i, j, k, m, n] = metrics.relative_l1(np.array(omega), exact_omega)
    dims = ("kick", "rotation", "place", "problem", "division")
    classes = [PROBLEMS[key].torque_class for key in PROBLEM_KEYS]
    return xr.Dataset(
        {
            "q_error_l1": (dims, q_error, about("relative L1 error of the orientation at the end")),
            "omega_error_l1": (dims, omega_error, about("relative L1 error of omega at the end")),
            "dt": (("problem", "division"), dts, about("step size", "s")),
            "torque_class": ("problem", classes, {"long_name": "class of torque"}),
        },
        {**_factors(), "problem": list(PROBLEM_KEYS), "division": list(divisions)},
    )


def parts_over_bodies(settings: Settings) -> xr.Dataset:
    """The errors of all combinations on random bodies after 16 radians, over kick, rotation, place, torque class and body.

    The bodies are the first of those of the ensembles, under all classes of torque. NaN where a run blew up.
    """
    run_compiled = compile_driver(run, _SIGNATURE)
    ensemble = drawn(settings, BODIES)
    exact = exact_states(ensemble, list(CLASSES), (TIME,))
    shape = len(KICKS), len(ROTATIONS), len(PLACES), len(CLASSES), len(ensemble)
    q, omega = np.empty((*shape, 4)), np.empty((*shape, 3))
    for m, (key, torque_class) in enumerate(CLASSES.items()):
        bodies = ensemble.bodies(key)
        # A torque reads at least one number, as those of a problem.
        parameters = np.column_stack([bodies.parameters, np.zeros(len(bodies))])
        for n, body in enumerate(bodies.coefficients()):
            start = tuple(bodies.q0[n]), tuple(bodies.omega0[n]), tuple(body), torque_class.compiled_torque, parameters[n]
            for i, j, k in np.ndindex(*shape[:3]):
                with np.errstate(over="ignore", invalid="ignore"):
                    q[i, j, k, m, n], omega[i, j, k, m, n] = run_compiled(i, j, k, *start, TIME / STEPS, STEPS)
    with np.errstate(over="ignore", invalid="ignore"):
        error_q, error_omega = errors(q, omega, exact["high"].values[:, :, 0], exact["low"].values[:, :, 0])
    dims = ("kick", "rotation", "place", "torque_class", "body")
    attributes = {
        "error_q": about("angle between computed and exact orientation", "rad"),
        "error_omega": about("|omega - exact|, in units of the initial angular velocity"),
    }
    return xr.Dataset(
        {
            **{
                name: (dims, np.where(error < BLOWN_UP, error, np.nan).astype("float32"), attributes[name])
                for name, error in (("error_q", error_q), ("error_omega", error_omega))
            },
            "class_label": ("torque_class", [one.label for one in CLASSES.values()], {"long_name": "name of the class"}),
            "class_declared": (
                "torque_class",
                [one.declared for one in CLASSES.values()],
                {"long_name": "class of torque for which methods declare their orders"},
            ),
        },
        {**_factors(), "torque_class": ("torque_class", list(CLASSES), {"long_name": "class of torque"})},
        {"radians": TIME, "radians_units": "rad", "steps": STEPS, "seed": ensemble.seed},
    )


def _factors() -> dict[str, Any]:
    """The coordinates of the combinations."""
    return {
        "kick": ("kick", list(KICKS), {"long_name": "kick of the angular velocity"}),
        "rotation": ("rotation", list(ROTATIONS), {"long_name": "rotation by a constant angular velocity"}),
        "place": ("place", list(PLACES), {"long_name": "place of the torque in the step"}),
    }


def exact_end(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """The exact q and omega at the horizon, in double precision."""
    ((q, omega),) = taylor.solve(problem, [problem.horizon], DIGITS)
    return np.array([float(x) for x in q]), np.array([float(x) for x in omega])
