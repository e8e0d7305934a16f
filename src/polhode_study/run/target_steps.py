"""The step size at which a method meets a target error, found on actual runs: del Valle et al. (2024), Table 2."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from math import log10, nan
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import xarray as xr
from scipy.optimize import brentq

from polhode.algebra import metrics
from polhode.interface.arrays import about
from polhode.methods import METHODS
from polhode.methods.protocol import Method
from polhode.problems import PROBLEMS
from polhode.problems.problem import Problem
from polhode.simulate import count_steps, simulate

if TYPE_CHECKING:
    from polhode_study.configuration.models import Targets

#: Digits of the exact solution, well beyond double precision.
DIGITS = 20
#: Step sizes tried per decade before the root is bracketed.
PER_DECADE = 8
#: The scan extends to errors smaller than the target by this factor, to confirm that the error stays below it. Half a decade
#: is enough for all methods here to find the steps of a whole one, which takes twice the time of the search.
MARGIN = 3.0
#: Relative accuracy of the step size.
TOLERANCE = 1e-4
#: q and the method's own omega at the end of a run, and the exact ones: computed q, exact q, computed omega, exact omega.
Ends = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def end_states(problem: Problem, method: Method, dt: float, truncate: bool) -> Ends | None:
    """What a run ends with, and what it should; None if it diverged.

    The angular velocity is compared at its own time, half a step before the end for a leapfrog, as the publication does.
    """
    run = simulate(problem, method, dt, samples=1, truncate=truncate)
    if "diverged" in run.attrs:
        return None
    end = float(run.time[-1])
    exact_q, exact_omega = problem.exact([end, end + method.stored_offset * dt], DIGITS)
    return run.q.values[-1], exact_q[0], run.stored_omega.values[-1], exact_omega[1]


def mean_error(ends: Ends | None, measure: str = "quaternion") -> float:
    """Mean of the errors of q and of the method's own omega at the end of a run, each a relative L1 norm (Eq. 13).

    ``measure`` is how orientations are compared, a key of :data:`polhode.algebra.metrics.PUBLISHED_ERRORS`.
    """
    return np.inf if ends is None else float(metrics.mean_error(*ends, measure))


def make_search(wildcards: Mapping[str, str], settings: Mapping[str, Any]) -> tuple[xr.Dataset, str]:
    """What :func:`find_steps` finds for a problem and a method, and a message for the log.

    ``wildcards`` are the keys ``problem`` and ``method``, ``settings`` those of :class:`Targets`.
    """
    problem = PROBLEMS[wildcards["problem"]]
    assert isinstance(problem, Problem)
    dataset = find_steps(problem, METHODS[wildcards["method"]], cast("Targets", SimpleNamespace(**settings)))
    pairs = zip(dataset["target_error"].values.tolist(), dataset["step_size"].values.tolist(), strict=True)
    return dataset, ", ".join(f"error {target:g} with dt {dt!r} s" for target, dt in pairs)


def find_steps(problem: Problem, method: Method, targets: "Targets") -> xr.Dataset:
    """The largest step size for which it and all finer ones meet the target error, for each target.

    The step size is scanned downward from ``targets.dt_max`` until the error is well below the target, and bracketed at the
    last crossing, since an error may accidentally dip below the target at coarse steps. A bracketing root finder then refines
    it. Without a crossing above ``targets.dt_min`` the result is NaN.

    Returns
    -------
    xarray.Dataset over ``target_error``: ``step_size`` (s), ``steps``, ``mean_error`` (reached), and
    ``step_size_as_published`` (s): with the orientation measured as in the method's publication.
    """
    known: dict[float, Ends | None] = {}

    def search(measure: str) -> np.ndarray:
        def error_at(exponent: float) -> float:
            if exponent not in known:
                known[exponent] = end_states(problem, method, 10**exponent, targets.truncate)
            return mean_error(known[exponent], measure)

        return _search(error_at, problem, targets)

    rows = search("quaternion")
    rows_as_published = rows if method.published_error == "quaternion" else search(method.published_error)
    return xr.Dataset(
        {
            "step_size": ("target_error", rows[:, 0], about("largest step size that meets the target", "s")),
            "steps": ("target_error", rows[:, 1], about("steps")),
            "mean_error": ("target_error", rows[:, 2], about("mean of q and omega error reached")),
            "step_size_as_published": (
                "target_error",
                rows_as_published[:, 0],
                about("the same, measured as published", "s"),
            ),
        },
        {"target_error": ("target_error", sorted(targets.errors), about("target error"))},
        {"problem": problem.key, "method": method.key},
    )


def _search(error_at: Callable[[float], float], problem: Problem, targets: "Targets") -> np.ndarray:
    """Step size (s), steps and error reached, one row per target error in ascending order.

    ``error_at`` returns the error with the step size 10^exponent.
    """
    count = round(PER_DECADE * (log10(targets.dt_max) - log10(targets.dt_min))) + 1
    grid = np.linspace(log10(targets.dt_max), log10(targets.dt_min), count).tolist()
    rows = {}
    for target in sorted(targets.errors, reverse=True):
        bracket = None
        for coarse, fine in pairwise(grid):
            if error_at(coarse) > target >= error_at(fine):
                bracket = coarse, fine
            if error_at(fine) < target / MARGIN:
                break
        if bracket is None:
            rows[target] = (nan, nan, nan)
            continue

        def distance(exponent: float, target: float = target) -> float:
            return log10(max(error_at(exponent), 1e-300) / target) if np.isfinite(error_at(exponent)) else 300.0

        exponent = float(brentq(distance, bracket[1], bracket[0], xtol=TOLERANCE / 3))
        dt = 10**exponent
        rows[target] = (dt, float(count_steps(dt, problem.horizon, targets.truncate)), error_at(exponent))
    return np.array([rows[t] for t in sorted(targets.errors)])
