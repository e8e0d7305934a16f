"""Deviations of conserved quantities in the long runs of a study, as frames."""

from collections.abc import Sequence
from contextlib import suppress
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from polhode.fits.drift import bounded, drift
from polhode.fits.values import at
from polhode.registry import LAST
from polhode_study.inputs import Inputs, NotInRun, once

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
            row: dict[str, Any] = {"problem": inputs.problem, "method": method, "quantity": name}
            row |= {"last": trend.last, "largest": trend.largest, "growth": trend.growth}
            rows.append(row | {"diverged": diverged, "dt": dt, "steps": round(time[-1] / dt) if isfinite(dt) else 0})
    return rows
