"""Long runs and their likes: what a method does when it is run back, and with the normalisation switched."""

from math import inf, nan

import numpy as np
import xarray as xr

from polhode.algebra import metrics
from polhode.interface.arrays import about
from polhode.methods.protocol import Method
from polhode.problems.problem import Problem
from polhode.simulate import simulate
from polhode_study.run.check import DIGITS, chosen_methods, problem_of
from polhode_study.run.making import Settings

#: Problems without friction or explicit time dependence, whose motion is undone by reversal.
REVERSED = ("free_asymmetric_top", "heavy_top")
#: Numbers of steps into which the horizon is divided.
REVERSED_DIVISIONS = (32, 64, 128, 256, 512, 1024, 2048, 4096)


def reversibility(settings: Settings) -> xr.Dataset:
    """Distance of a body from its start after a number of steps, a reversal of its angular velocity, and as many steps again.

    The method is started and read as a user would: errors due to its output or its start are included.
    """
    methods, divisions = chosen_methods(settings), settings.get("divisions", REVERSED_DIVISIONS)
    shape = len(methods), len(REVERSED), len(divisions)
    angle, omega, dts = np.full(shape, nan), np.full(shape, nan), np.full(shape[1:], nan)
    for j, name in enumerate(REVERSED):
        problem = problem_of(name)
        for k, steps in enumerate(divisions):
            dts[j, k] = dt = problem.horizon / steps
            for i, method in enumerate(methods.values()):
                angle[i, j, k], omega[i, j, k] = _there_and_back(problem, method, dt, steps)
    return xr.Dataset(
        {
            "return_angle": (
                ("integrator", "problem", "division"),
                angle,
                about("angle to the orientation at the start", "rad"),
            ),
            "return_omega": (
                ("integrator", "problem", "division"),
                omega,
                about("relative distance to the start, omega"),
            ),
            "dt": (("problem", "division"), dts, about("step size", "s")),
        },
        {"integrator": list(methods), "problem": list(REVERSED), "division": list(divisions)},
    )


def _there_and_back(problem: Problem, method: Method, dt: float, steps: int) -> tuple[float, float]:
    q, omega = problem.q0, problem.omega0
    for _ in range(2):
        arguments = problem.body.coefficients(), problem.compiled_torque, problem.parameter_array, dt
        qs, omegas, _, _ = method.integrate(q, omega, *arguments, np.array([0, steps]))
        if not np.isfinite(qs[-1]).all():
            return nan, nan
        # The output quaternion need not be unit; an initial one must be.
        size = np.linalg.norm(qs[-1])
        if size == 0:
            return nan, nan
        q, omega = tuple(qs[-1] / size), tuple(-omegas[-1])
    start = np.array(problem.omega0)
    return float(metrics.geodesic_angle(q, problem.q0)), float(np.linalg.norm(omega - start) / np.linalg.norm(start))


#: The runs with normalisation switched: that of Fig. 3 of del Valle et al. (2024), also with longer steps.
NORMALISED_PROBLEM, NORMALISED_END, NORMALISED_DT = "spiral_cylinder", 20.0, (1e-5, 1e-4, 1e-3)
NORMALISED_SAMPLES = 100


def normalisation(settings: Settings) -> xr.Dataset:
    """Every method with and without normalisation of the quaternion: the errors at the end, and the largest norm error.

    NaN where a method's normalisation cannot be switched.
    """
    problem = problem_of(NORMALISED_PROBLEM)
    methods = chosen_methods(settings)
    exact = problem.exact([NORMALISED_END], DIGITS)[0][0]
    error, norm = (np.full((len(methods), 2, len(NORMALISED_DT)), nan) for _ in range(2))
    for i, method in enumerate(methods.values()):
        for on in (0, 1):
            if not method.normalisable and bool(on) != method.normalises:
                continue
            for k, dt in enumerate(NORMALISED_DT):
                with np.errstate(over="ignore", invalid="ignore"):
                    run = simulate(
                        problem,
                        method,
                        dt,
                        NORMALISED_END,
                        NORMALISED_SAMPLES,
                        normalise=bool(on) if method.normalisable else None,
                    )
                    error[i, on, k] = metrics.orientation_l1(run.q.values[-1], exact)
                    norm[i, on, k] = metrics.norm_error(run.q.values).max()
                # NaN counts as the largest possible distance.
                if "diverged" in run.attrs:
                    error[i, on, k] = norm[i, on, k] = inf
    dims = ("integrator", "normalised", "dt")
    return xr.Dataset(
        {
            "q_error_l1": (dims, error, about("relative L1 error of the orientation at the end")),
            "norm_error": (dims, norm, about("largest distance of the norm of q from 1")),
        },
        {"integrator": list(methods), "normalised": [0, 1], "dt": ("dt", list(NORMALISED_DT), about("step size", "s"))},
        {"problem": problem.key, "end_time": NORMALISED_END, "end_time_units": "s"},
    )
