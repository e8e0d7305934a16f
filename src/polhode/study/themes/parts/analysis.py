"""Errors of all combinations of kick, rotation and place of the torque: shares of the variance, and exchanges of one part."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from polhode.study.inputs import Inputs

#: The factors of the experiment.
FACTORS = ("kick", "rotation", "place")
#: The parts that are of first order by themselves, wherever the torque is.
FIRST_ORDER = {"kick": "euler", "rotation": "matrix"}
#: Number of steps at which combinations are compared; all that converge are in their asymptotic range there.
STEPS = 1024
#: An error above this only means that the motion is lost, as does a blow-up.
LOST = 10.0
#: The combination from which one part at a time is exchanged: SPIRAL with a prediction by the last torque alone.
BASE = {"kick": "ssprk3", "rotation": "exponential", "place": "leapfrog predicted"}
#: Names of the levels in figures and tables.
LABELS = {
    "euler": "explicit Euler",
    "midpoint": "explicit midpoint",
    "ssprk3": "SSPRK3",
    "implicit": "implicit mean",
    "exact": "exact",
    "matrix": "linear, of the matrix",
    "linear": "linear, of the quaternion",
    "cayley": "Cayley",
    "exponential": "exponential",
    "start": "start of the step",
    "leapfrog": "leapfrog",
    "leapfrog predicted": "leapfrog, predicted",
    "middle": "middle",
    "middle predicted": "middle, predicted",
    "both ends": "both ends",
    "both ends predicted": "both ends, predicted",
}


def errors(inputs: Inputs) -> xr.DataArray:
    """The mean of the errors of q and omega over kick, rotation, place and problem, at :data:`STEPS`, at most :data:`LOST`."""
    check = inputs.check("parts").sel(division=STEPS)
    mean: xr.DataArray = 0.5 * (check["q_error_l1"] + check["omega_error_l1"])
    return mean.fillna(LOST).clip(max=LOST).assign_coords(torque_class=("problem", check["torque_class"].values))


def errors_over_bodies(inputs: Inputs) -> xr.DataArray:
    """The same mean on random bodies, over kick, rotation, place, torque_class and body; in rad and in units of omega(0)."""
    check = inputs.check("parts_over_bodies")
    mean: xr.DataArray = 0.5 * (check["error_q"] + check["error_omega"]).astype(float)
    names = {name: ("torque_class", check[name].values) for name in ("class_label", "class_declared")}
    return mean.fillna(LOST).clip(max=LOST).assign_coords(names)


def orders(inputs: Inputs) -> xr.DataArray:
    """The power of dt with which that mean falls between half as many steps and :data:`STEPS`."""
    check = inputs.check("parts")
    mean = 0.5 * (check["q_error_l1"] + check["omega_error_l1"])
    ratio = mean.sel(division=STEPS // 2, drop=True) / mean.sel(division=STEPS, drop=True)
    return xr.DataArray(np.log2(ratio.values), ratio.coords, ratio.dims)


def of_second_order(error: xr.DataArray) -> xr.DataArray:
    """The errors of all combinations without a part of :data:`FIRST_ORDER`, which would answer before the others are asked."""
    return error.drop_sel(FIRST_ORDER)


def shares(error: xr.DataArray) -> xr.Dataset:
    """The share of each part in the variance of log10(error) over all combinations, and of their interplay.

    The design is balanced, so that the sums of squares of the main effects and of the rest add up to the total.

    Returns
    -------
    ``kick``, ``rotation``, ``place``, ``interplay``, whose sum is 1, over the dimensions of ``error`` that are no factors:
    torque_class and body.
    """
    values = xr.DataArray(np.log10(error.values), error.coords, error.dims)
    apart = values - values.mean(FACTORS)
    total = (apart**2).mean(FACTORS)
    others = {factor: [name for name in FACTORS if name != factor] for factor in FACTORS}
    shared = xr.Dataset({factor: (apart.mean(others[factor]) ** 2).mean(factor) / total for factor in FACTORS})
    return shared.assign(interplay=1.0 - sum(shared[factor] for factor in FACTORS))


def worse_predicted(error: xr.DataArray) -> tuple[int, int, float]:
    """Under friction, over all bodies and other parts: how often a predicted torque has the larger error, of how many pairs.

    ``error`` as from :func:`errors_over_bodies`. The third number is the largest ratio of the two errors.
    """
    friction = error.isel(torque_class=error["class_declared"].values == "velocity")
    names = [str(name) for name in error["place"].values if str(name).endswith(" predicted")]
    without = [name.removesuffix(" predicted") for name in names]
    ratios = friction.sel(place=names).values / friction.sel(place=without).values
    return int((ratios > 1).sum()), ratios.size, float(ratios.max())


def exchanges(error: xr.DataArray) -> pd.DataFrame:
    """The factor by which the error grows if one part of :data:`BASE` is exchanged.

    Returns
    -------
    One row per part and level (columns ``part``, ``level``), and a column for each problem; 1 for the parts of the base.
    """
    base = error.sel(BASE)
    rows: list[dict[str, Any]] = []
    for factor in FACTORS:
        for level in error[factor].values:
            factors = error.sel({**BASE, factor: level}) / base
            rows.append(
                {"part": factor, "level": str(level)} | {str(p): float(factors.sel(problem=p)) for p in factors.problem.values}
            )
    return pd.DataFrame(rows)


def best(error: xr.DataArray, problem: str) -> dict[str, str]:
    """The combination with the smallest error on a problem; of several equal ones the first."""
    values = error.sel(problem=problem).transpose(*FACTORS)
    place = np.unravel_index(int(np.argmin(values.values)), values.shape)
    return {factor: str(values[factor].values[i]) for factor, i in zip(FACTORS, place, strict=True)}
