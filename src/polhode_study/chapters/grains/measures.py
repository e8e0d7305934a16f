"""Measures for the published statements about grains, which rest on the published-scale results in data/released."""

from collections.abc import Callable

import numpy as np
import xarray as xr

from polhode.fits.impact_errors import LEADING
from polhode.fits.seed_statistics import Estimate, mean
from polhode_study.inputs import Inputs
from polhode_study.judge.measured import Measured

#: The published-scale runs, a group for each scene.
RELEASED = "grains.nc"


def energy_made(results: Inputs, scene: str, variant: str = LEADING, division: int = 20) -> Measured:
    """The energy that the law of force makes, % of what is dissipated, with one method or law at T/``division``."""
    data = results.released_data(RELEASED, scene)
    estimate = mean(100 * data["made"].sel(variant=variant, division=division).values)
    return Measured(estimate.value, _extent(data, division), estimate.low, estimate.high)


def _extent(data: xr.Dataset, division: int) -> str:
    return f"{data.attrs['clumps']} grains, {data.sizes['seed']} initial states, T/{division}"


def _largest(data: xr.Dataset, quantities: list[str], division: int, reference: Callable[..., xr.DataArray]) -> Measured:
    """The largest mean change of a quantity over methods, against ``reference`` of all its values and the method, in units of
    the standard deviation over initial states with the shortest step; its interval is that of this change alone."""
    largest, words = Estimate(0.0), ""
    methods = [str(key) for key in data["variant"].values[(data["compared"] == "method").values]]
    for name in quantities:
        values = data[name].sel(variant=methods)
        scatter = float(np.sqrt((values.isel(division=-1).std("seed", ddof=1) ** 2).mean()))
        for method in methods:
            changes = (values.sel(variant=method, division=division) - reference(values, method)).values / scatter
            estimate = mean(changes[np.isfinite(changes)])
            if abs(estimate.value) > abs(largest.value):
                largest, words = estimate, f"{name}, {method}"
    low, high = sorted((abs(largest.low), abs(largest.high)))
    return Measured(
        abs(largest.value), f"{words}; {_extent(data, division)}", low if largest.low * largest.high > 0 else 0.0, high
    )


def method_change(results: Inputs, scene: str, quantities: list[str], division: int) -> Measured:
    """The largest difference of a method from the mean of the others, over the scatter of initial states."""

    def others(values: xr.DataArray, method: str) -> xr.DataArray:
        return values.sel(division=division).drop_sel(variant=method).mean("variant")

    return _largest(results.released_data(RELEASED, scene), quantities, division, others)


def step_change(results: Inputs, scene: str, quantities: list[str], division: int) -> Measured:
    """The largest difference of a step from the shortest with the same method, over the scatter of initial states."""

    def shortest(values: xr.DataArray, method: str) -> xr.DataArray:
        return values.isel(division=-1).sel(variant=method)

    return _largest(results.released_data(RELEASED, scene), quantities, division, shortest)
