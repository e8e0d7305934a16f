"""Deviations of conserved quantities at the end of long runs, and how they grew."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from polhode.fits.values import at
from polhode.registry import LAST
from polhode.study.inputs import Inputs, NotInRun, once

#: A distance is called bounded if its exponent of time is below the first, and growing with time if it is above the second.
BOUNDED, GROWING = 0.25, 0.75


@dataclass(frozen=True)
class Drift:
    """Deviation of a conserved quantity at the end of a long run, and how it grew.

    Parameters
    ----------
    last : float
        Largest distance over the last tenth of the run.
    largest : float
        Largest distance over all of it.
    growth : float
        Exponent of the power of time with which the distance grows: 0 where it only oscillates, 1/2 for a random walk, 1 for a
        steady drift. NaN where there are too few samples or no distance at all.
    """

    last: float
    largest: float
    growth: float


#: Number of windows of equal length in log t, over the last DECADES of a run, whose root mean squares give the growth.
WINDOWS, DECADES = 8, 1.5


#: A relative distance of this size only means that the quantity is lost.
LOST_CHANGE = 1.0


#: A relative change below this after a whole long run is rounding, which grows as a random walk.
ROUNDING = 1e-9


def bounded(growth: float, last: float) -> bool:
    """Whether a change of this exponent and final size counts as bounded: it oscillates, or it is rounding."""
    return last < ROUNDING or (growth < BOUNDED and last < LOST_CHANGE)


def drift(time: ArrayLike, distance: ArrayLike) -> Drift:
    """Size and growth of a distance over a long run.

    The growth is the slope, in logarithms, of the root mean squares in windows of time over the last one and a half decades, so
    that an oscillation counts by its amplitude; a window is weighted by its number of samples. (The maximum in a
    window would not do: it increases with the number of samples.)

    Parameters
    ----------
    time : times in s, ascending, from 0
    distance : a quantity that is zero in the exact motion, of either sign; NaN after a blow-up
    """
    t, d = np.asarray(time, float), np.abs(np.asarray(distance, float))
    if not np.isfinite(d[-1]):
        return Drift(nan, nan, nan)
    last = float(np.nanmax(d[t >= 0.9 * t[-1]]))
    edges = t[-1] * 10.0 ** np.linspace(-DECADES, 0, WINDOWS + 1)
    edges[-1] *= 1 + 1e-9
    middles, sizes, weights = [], [], []
    for first, end in pairwise(np.searchsorted(t, edges)):
        finite = first + np.flatnonzero(np.isfinite(d[first:end]))
        times, inside = t[finite], d[finite]
        if inside.size and (top := inside.max()) > 0:
            middles.append(np.log(np.sqrt(np.mean(times**2))))
            # Scaled, so that a run that blew up does not overflow when squared.
            sizes.append(np.log(top) + 0.5 * np.log(np.mean((inside / top) ** 2)))
            weights.append(np.sqrt(inside.size))
    growth = float(np.polyfit(middles, sizes, 1, w=weights)[0]) if len(middles) >= 4 else nan
    return Drift(last, float(np.nanmax(d)), growth)


#: Quantities followed over long runs: variable -> (name in tables and files, symbol).
FOLLOWED: dict[str, tuple[str, str]] = {
    "energy_drift": ("energy", r"$|\Delta E|/K_0$"),
    "momentum_drift": ("angular momentum", r"$|\Delta L|/|L_0|$"),
    "norm_error": ("norm", r"$|\,|q|-1\,|$"),
    "angle_error": ("orientation", r"angle (rad)"),
}


#: The problems whose long runs of a million steps are compared.
LONG_PROBLEMS = ("free_asymmetric_top", "heavy_top", "asymmetric_heavy_top", "lab_torque")


def long_problems(inputs: Inputs) -> list[str]:
    """The problems of the run whose long runs are compared: :data:`LONG_PROBLEMS`, then a user's own, which have no rank."""
    added = [p for p in inputs.problems if int(inputs.of(p).problem_declarations.get("rank", LAST)) == LAST]
    return [*(p for p in LONG_PROBLEMS if p in inputs.problems), *(p for p in added if p not in LONG_PROBLEMS)]


def long_runs(inputs: Inputs, problems: Sequence[str], group: str = "long_run") -> pd.DataFrame:
    """The :class:`Drift` of all followed quantities, one row for each problem, method and quantity.

    Columns: problem, method, quantity (a key of :data:`FOLLOWED`), last, largest, growth, diverged, dt (s), steps.

    Raises
    ------
    NotInRun
        If none of ``problems`` has such a run.
    """
    rows: list[dict[str, Any]] = []
    for problem in problems:
        with suppress(NotInRun):
            rows += _of_problem(inputs.of(problem), group)
    if not rows:
        raise NotInRun(f"this run has no {group.replace('_', ' ')} of {', '.join(problems)}")
    return pd.DataFrame(rows)


def bounded_methods(inputs: Inputs, quantities: Sequence[str] = ("energy_drift",)) -> tuple[list[str], list[str]]:
    """The methods for which quantities stay :func:`bounded` in every long run of a problem with a conserved energy.

    A method that lacks one of these runs is not among them.

    Parameters
    ----------
    quantities : keys of :data:`FOLLOWED`

    Returns
    -------
    Keys of the methods, and of the problems.

    Raises
    ------
    NotInRun
        If the run has no long runs.
    """
    frame = long_runs(inputs, inputs.problems)
    problems = frame[frame["quantity"] == "energy_drift"]["problem"].unique().tolist()
    frame = frame[frame["problem"].isin(problems) & frame["quantity"].isin(list(quantities))]
    bounded_by_method: dict[str, list[bool]] = {}
    for row in frame.to_dict("records"):
        bounded_by_method.setdefault(str(row["method"]), []).append(bounded(float(row["growth"]), float(row["last"])))
    wanted = len(frame[["problem", "quantity"]].drop_duplicates())
    return [key for key, each in bounded_by_method.items() if len(each) == wanted and all(each)], problems


@once
def _of_problem(inputs: Inputs, group: str) -> list[dict[str, Any]]:
    """The rows of :func:`long_runs` for the problem of ``inputs``."""
    data: xr.Dataset = getattr(inputs, group)
    time = data["time"].values
    dt = float(data.attrs.get("dt", nan))
    # Plain arrays over (integrator, time): thousands of look-ups by xarray would take seconds.
    followed = {name: data[name].transpose("integrator", "time").values for name in FOLLOWED if name in data}
    followed = {name: values for name, values in followed.items() if np.isfinite(values).any()}
    methods = [str(key) for key in data["integrator"].values]
    rows: list[dict[str, Any]] = []
    for method in inputs.in_order(methods):
        diverged = bool(at(data, "diverged", method) == 1)
        for name, values in followed.items():
            trend = drift(time, values[methods.index(method)])
            rows.append(
                {
                    "problem": inputs.problem,
                    "method": method,
                    "quantity": name,
                    "last": trend.last,
                    "largest": trend.largest,
                    "growth": trend.growth,
                    "diverged": diverged,
                    "dt": dt,
                    "steps": round(time[-1] / dt) if isfinite(dt) else 0,
                }
            )
    return rows
