"""Ranking of methods by the time to a target error, from cost.nc: shared by figures, tables, text and recommendations."""

from collections.abc import Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from polhode.fits.ladders import Ladder, LargestStep, priced, whole_steps
from polhode.fits.values import at

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

#: Suffix of variants that reproduce the curves of the published comparison. They should not be used for anything else.
AS_PUBLISHED = "_delvalle2024"
#: Below this ratio methods are not distinguished: half of the difference between two runs of the timing.
CLOSE = 1.05
#: The method for long runs whose energy must not drift, and what to say of those that damp or heat librations.
NO_DRIFT = "exact_rotor"
#: The method for a body without a torque, whose motion it solves with any step: it is named wherever there is no torque.
WITHOUT_TORQUE = "exact_rotor"
#: The same step in other variables.
CORRECTED = "exact_rotor_corrected"
NOT_FOR = "not for long conservative runs"
INSTEAD = f"Where the energy must not drift, as in a liquid, take the exact rotor ({NO_DRIFT})."


def candidates(data: "xr.Dataset", one_torque: bool = False, as_published: bool = False) -> list[str]:
    """The keys of the methods of a problem that may be recommended.

    Parameters
    ----------
    data : a problem's group of cost.nc
    one_torque : leave out those with several torques in a step
    as_published : keep the variants that reproduce published curves
    """
    keys = [str(key) for key in data["integrator"].values]
    if not as_published:
        keys = [key for key in keys if not key.endswith(AS_PUBLISHED)]
    if one_torque:
        keys = [key for key in keys if at(data, "torques_per_step", key) == 1]
    return keys


def drift(best: str, cautions: Mapping[str, str]) -> list[str]:
    """What to know of the energy in long runs: which of the methods named damp or heat librations, and what to take instead.

    Parameters
    ----------
    best : the method recommended
    cautions : name of a method -> :attr:`polhode.methods.protocol.Method.caution`, of all methods named
    """
    remarks = []
    for caution in dict.fromkeys(filter(None, cautions.values())):
        named = ", ".join(label for label, of_method in cautions.items() if of_method == caution)
        remarks.append(f"{caution.capitalize()}, {NOT_FOR}: {named}.")
    return [*remarks, *([INSTEAD] if best not in (NO_DRIFT, CORRECTED) else [])]


def ranked(data: "xr.Dataset", target: float, price: float, keys: Iterable[str]) -> "pd.DataFrame":
    """The methods ``keys`` that reach a target error, soonest first, for any error and any price of a torque.

    Parameters
    ----------
    data : a problem's group of cost.nc
    target : target error, relative (:data:`polhode.fits.ladders.METRIC`)
    price : cost of one torque in steps of direct Euler
    keys : methods to consider

    Returns
    -------
    DataFrame with columns method, label, dt (s), steps, torque_evaluations, seconds, and what :class:`LargestStep` says: how,
    finer, coarser (s), finer_error, coarser_error. Methods of equal time keep the order of ``keys``.

    Raises
    ------
    ValueError
        If the target is no positive number, or a key is not among the methods of the group.
    """
    rows = []
    horizon, unit = float(data.attrs["horizon"]), float(data.attrs["price_unit"])
    names = ("label", "torques_per_step", "starting_torques", "step_time", "ladder_error")
    import pandas as pd

    methods = data["integrator"].values.tolist()
    # As arrays, once: a selection by xarray for each method takes longer than all the rest.
    dt, of_method = data["ladder_dt"].values, [data[name].transpose("integrator", ...).values for name in names]
    for key in keys:
        label, per_step, at_start, step_time, error = (values[methods.index(key)] for values in of_method)
        largest = Ladder(dt, error, horizon).find(target)
        steps = whole_steps(largest.dt, horizon)
        torques = steps * float(per_step) + float(at_start)
        seconds = float(priced(steps, torques, float(step_time), price, unit))
        if isfinite(seconds):
            rows.append((key, str(label), largest.dt, steps, torques, seconds, *_how(largest)))
    columns = ["method", "label", "dt", "steps", "torque_evaluations", "seconds", *HOW]
    return pd.DataFrame(rows, columns=columns).sort_values("seconds", kind="stable", ignore_index=True)


HOW = ("how", "finer", "coarser", "finer_error", "coarser_error")


def _how(largest: LargestStep) -> tuple[object, ...]:
    return tuple(getattr(largest, name) for name in HOW)


def ladder(data: "xr.Dataset", key: str) -> Ladder:
    """The measured errors of the method ``key``, from a problem's group of cost.nc; KeyError if it has none."""
    errors = data["ladder_error"].sel(integrator=key)
    return Ladder(data["ladder_dt"].values, errors.values, float(data.attrs["horizon"]))


def winners(data: "xr.Dataset", keys: Iterable[str]) -> dict[tuple[float, float], list[tuple[str, float]]]:
    """(target error, price) -> the methods ``keys`` that reach it with their time in s, soonest first.

    For all target errors and prices that the file tabulates; the list is empty where none reaches the target. ``data``: a
    problem's group of cost.nc.
    """
    keys = list(keys)
    times = data["priced_time"].sel(integrator=keys).transpose("target_error", "torque_price", "integrator").values
    result = {}
    for i, target in enumerate(data["target_error"].values):
        for j, price in enumerate(data["torque_price"].values):
            row = times[i, j]
            order = np.argsort(np.where(np.isfinite(row), row, np.inf), kind="stable")
            result[float(target), float(price)] = [(keys[k], float(row[k])) for k in order if isfinite(row[k])]
    return result
