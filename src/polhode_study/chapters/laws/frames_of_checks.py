"""What random bodies need under stiff friction, by the strength of a torque, and after many radians."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from polhode.fits import laws
from polhode_study.chapters.laws.frames import TARGET
from polhode_study.inputs import Inputs, NotInRun, once

Array = NDArray[np.float64]

#: The errors per radian for which steps under stiff friction are stated.
ERRORS = (1e-2, 1e-4, 1e-6)
#: The method with which the others are compared there.
COMPARED = "spiral_predicted"


def _check(inputs: Inputs, name: str) -> xr.Dataset:
    data = inputs.check(name)
    if not data.sizes.get("integrator"):
        raise NotInRun(f"this run has none of the methods of the check {name}")
    return data


@once
def stiff_friction(inputs: Inputs) -> pd.DataFrame:
    """Steps per radian under friction of several rates, over both kinds of friction and all bodies.

    Returns
    -------
    A row for each error per radian, rate (in units of the initial angular velocity) and method. Columns: error, rate, method,
    label, steps, steps_low, steps_high (median and the range of 80 %), and ratio, ratio_low, ratio_high: its steps over those
    of :data:`COMPARED` on the same body, the median with its interval.
    """
    data = _check(inputs, "stiff_friction")
    methods = [str(key) for key in data["integrator"].values]
    rows: list[dict[str, Any]] = []
    for rate in data["rate"].values.tolist():
        steps = laws.steps_per_radian(data.sel(rate=rate, drop=True), ERRORS)["steps"].transpose("integrator", ...)
        for error in ERRORS:
            of_error = steps.sel(target=error).values
            for i, key in enumerate(methods):
                spread = laws.spread(of_error[i].ravel())
                row = {"error": error, "rate": rate, "method": key, "label": str(data["label"].values[i])}
                row |= {"steps": spread.median, "steps_low": spread.low, "steps_high": spread.high}
                if COMPARED in methods:
                    ratio = laws.paired(of_error[i], of_error[methods.index(COMPARED)])
                    row |= {"ratio": ratio.value, "ratio_low": ratio.low, "ratio_high": ratio.high}
                rows.append({name: float(x) if isinstance(x, np.ndarray) else x for name, x in row.items()})
    return pd.DataFrame(rows)


@once
def strengths(inputs: Inputs) -> pd.DataFrame:
    """Torques per radian under torques of several strengths, over random bodies.

    Returns
    -------
    A row for each torque class, strength, error per radian and method. Columns: torque_class, strength, error, method, label,
    steps, torques, torques_low, torques_high: medians, and the range of 80 %.
    """
    data = _check(inputs, "strengths")
    rows: list[dict[str, Any]] = []
    for strength in data["strength"].values.tolist():
        steps = laws.steps_per_radian(data.sel(strength=strength, drop=True), ERRORS)["steps"]
        for key, error, (i, method) in product(data["torque_class"].values, ERRORS, enumerate(data["integrator"].values)):
            spread = laws.spread(steps.sel(torque_class=key, target=error, integrator=method).values)
            price = int(data["torques_per_step"][i])
            row = {"torque_class": str(key), "strength": strength, "error": error, "method": str(method)}
            row |= {"label": str(data["label"].values[i]), "steps": float(spread.median)}
            rows.append(row | {f"torques{name}": price * float(value) for name, value in _named(spread)})
    return pd.DataFrame(rows)


def _named(spread: laws.Spread) -> list[tuple[str, Any]]:
    return [("", spread.median), ("_low", spread.low), ("_high", spread.high)]


@once
def long_times(inputs: Inputs) -> pd.DataFrame:
    """What the step for nine bodies of ten at the first time is worth at the later ones.

    A body counts as exceeding the error :data:`~polhode_study.chapters.laws.frames.TARGET` per radian at a time if a finer step
    than that is needed. Of one whose reference is not known to a tenth of that error it cannot be told.

    Returns
    -------
    A row for each torque class, method and time. Columns: torque_class, method, label, radians, steps (the median), nine_of_ten
    (the step that serves them at the first time, in steps per radian), exceeding and unknown (parts of the bodies).
    """
    data = _check(inputs, "long_times")
    rows: list[dict[str, Any]] = []
    first: dict[tuple[str, str], float] = {}
    for radians in data["radians"].values.tolist():
        steps = laws.steps_per_radian(data.sel(radians=[radians]), [TARGET])["steps"].isel(target=0)
        unknown = data["agreement"].sel(radians=radians) > 0.1 * TARGET * radians
        steps = steps.where(~unknown, np.inf)
        for name in map(str, data["torque_class"].values):
            lost = unknown.sel(torque_class=name).values
            for key, label in zip(map(str, data["integrator"].values), map(str, data["label"].values), strict=True):
                of_method = steps.sel({"torque_class": name, "integrator": key}).values
                served = first.setdefault((name, key), float(laws.quantile(of_method, laws.SPREAD[1])))
                rows.append(
                    {
                        "torque_class": name,
                        "method": key,
                        "label": label,
                        "radians": radians,
                        "steps": float(laws.spread(of_method).median),
                        "nine_of_ten": served,
                        "exceeding": float(np.mean((of_method > served * (1 + 1e-9)) & ~lost)),
                        "unknown": float(lost.mean()),
                    }
                )
    return pd.DataFrame(rows)


def exceeding(frame: pd.DataFrame, torque_class: str) -> tuple[float, float, float]:
    """The smallest and largest part of the bodies, over the methods, that exceed the error at the last time; those unknown."""
    last = frame[(frame["torque_class"] == torque_class) & (frame["radians"] == frame["radians"].max())]
    if not len(last):
        return np.nan, np.nan, np.nan
    return float(last["exceeding"].min()), float(last["exceeding"].max()), float(last["unknown"].max())


def ahead(frame: pd.DataFrame, method: str, error: float) -> Sequence[float]:
    """The rates at which a method needs fewer steps than :data:`COMPARED`, with an interval below 1."""
    rows = frame[(frame["method"] == method) & (frame["error"] == error)]
    return [float(rate) for rate in rows.loc[rows["ratio_high"] < 1, "rate"]]


def behind(frame: pd.DataFrame, method: str, error: float, least: float) -> tuple[float, float]:
    """The smallest and the largest ratio of a method's steps to those of :data:`COMPARED` over the rates from ``least`` on."""
    ratios = frame[(frame["method"] == method) & (frame["error"] == error) & (frame["rate"] >= least)]["ratio"]
    return (float(ratios.min()), float(ratios.max())) if len(ratios) else (np.nan, np.nan)
