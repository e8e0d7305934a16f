"""Single values from the results: one place for "the value, or NaN if the run has none"."""

from collections.abc import Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr


def at(data: "xr.Dataset", name: str, method: str, **where: int) -> float:
    """One value of a method, NaN if the run has none; ``where`` are positions along the other dimensions.

    ``data``: over integrator and those; ``method``: its key; the value is in the unit of the variable ``name``.
    """
    # Thousands of numbers are requested: look-ups by xarray would take seconds.
    variables = data.variables
    methods = variables["integrator"].to_index()
    if name not in variables or method not in methods:
        return nan
    places = {"integrator": methods.get_loc(method), **where}
    return float(variables[name].values[tuple(places[dimension] for dimension in map(str, variables[name].dims))])


def peak(data: "xr.Dataset", name: str, method: str) -> float:
    """The largest value of the variable ``name`` of the method with this key, in its unit; NaN if the run has none."""
    if name not in data or method not in data["integrator"].values:
        return nan
    values = data[name].sel(integrator=method).values
    return float(np.nanmax(values)) if np.isfinite(values).any() else nan


def quotient(a: float, b: float) -> float:
    """a / b, a number; NaN if ``a`` or ``b`` is not finite, or ``b`` is 0."""
    return a / b if isfinite(a) and isfinite(b) and b != 0 else nan


def nearest_step(dt: Sequence[float] | np.ndarray, wanted: float) -> int:
    """The index of the step size nearest to ``wanted`` (s), in logarithms, among ``dt`` (n,) in s."""
    return int(np.argmin(np.abs(np.log(np.asarray(dt) / wanted))))
