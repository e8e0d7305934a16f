"""Measures for the published statements about liquids at constant energy, for use in data/claims.yaml.

The verdicts rest on the published-scale results in data/released, as those about many bodies: several starts of long runs.
"""

from math import inf
from pathlib import Path

import numpy as np
import xarray as xr

from polhode.fits.seed_statistics import Estimate, mean
from polhode.interface.netcdf import has_group, read_dataset
from polhode.study.inputs import Inputs, NotInRun, once
from polhode.study.judge.measured import Measure, Measured

#: The released file, its group of runs that are followed for long, and that of cut-offs.
RELEASED, FOLLOWED, CUTOFFS = "liquids.nc", "followed", "cutoffs"


@once
def released_liquids(results: Inputs, group: str) -> xr.Dataset:
    """A group of the published-scale runs of liquids; :class:`NotInRun` if there is none."""
    path = Path(results.paths.get("released", ""), RELEASED)
    if not path.is_file() or not has_group(path, group):
        raise NotInRun(f"data/released has no runs of liquids ({group})")
    return read_dataset(path, group)


def _runs(data: xr.Dataset, method: str, steps: list[float]) -> xr.Dataset:
    if method not in data["integrator"].values:
        raise NotInRun(f"{method} is not among the methods of the liquids")
    if missing := [dt for dt in steps if dt not in data["dt"].values]:
        raise NotInRun(f"dt = {missing[0]:g} fs is not among the steps of the liquids")
    runs = data.sel(integrator=method, dt=steps)
    if runs["lost_by"].isnull().any():
        raise NotInRun(f"the liquids were not run with {method} at all of these steps")
    return runs


def _size_of_drift(runs: xr.Dataset) -> Estimate:
    """The size of a mean drift over starts at one step; without an end where a run was lost."""
    drift = mean(runs["drift"].values)
    ends = abs(drift.low), abs(drift.high)
    low = 0.0 if drift.low <= 0 <= drift.high else min(ends)
    return Estimate(abs(drift.value), low, inf if runs["lost_by"].values.any() else max(ends))


def _extent(data: xr.Dataset) -> str:
    return f"{data.attrs['molecules']} molecules, {data.sizes['seed']} starts of {float(data.attrs['duration']) / 1000:g} ps"


def liquid_drift(results: Inputs, method: str, up_to: float, law: str = "") -> Measured:
    """The largest mean drift at the steps up to ``up_to`` fs, in size, kT per degree of freedom and ns.

    ``law``: with another law of force than the smooth one, from the runs that compare cut-offs.
    """
    data = released_liquids(results, CUTOFFS if law else FOLLOWED)
    if law:
        data = data.sel(law=law)
    steps = [float(dt) for dt in sorted(data["dt"].values) if dt <= up_to]
    runs = _runs(data, method, steps)
    sizes = [_size_of_drift(runs.sel(dt=dt)) for dt in steps]
    worst = int(np.argmax([size.value for size in sizes]))
    lost = [f"{dt:g}" for dt in steps if runs["lost_by"].sel(dt=dt).values.any()]
    words = f"largest at {steps[worst]:g} fs of {', '.join(f'{dt:g}' for dt in steps)} fs; {_extent(data)}"
    if lost:
        words += f"; runs at {', '.join(lost)} fs were lost"
    return Measured(sizes[worst].value, words, max(size.low for size in sizes), max(size.high for size in sizes))


def liquid_drift_ratio(results: Inputs, method: str, other: str, dt: float) -> Measured:
    """The size of the drift of one method over that of another, at one step; the interval has the ends of both."""
    data = released_liquids(results, FOLLOWED)
    one, two = (_size_of_drift(_runs(data, key, [dt]).sel(dt=dt)) for key in (method, other))
    high = one.high / two.low if two.low else inf
    words = f"{one.value:.2g} against {two.value:.2g} kT per degree of freedom and ns at {dt:g} fs; {_extent(data)}"
    return Measured(one.value / two.value, words, one.low / two.high, high)


def temperature_gap(results: Inputs, methods: list[str], dt: float, estimator: str) -> Measured:
    """By how much rotation is colder than translation, % of the temperature, over all runs of some methods at one step.

    Parameters
    ----------
    estimator : ``whole``, velocities of whole steps; ``corrected``, (K_whole + 2 K_half)/3; or ``whole over corrected``, how
        much more the first shows than the second in the same runs
    """
    data = released_liquids(results, FOLLOWED)
    for key in methods:
        _runs(data, key, [dt])
    temperature = data["temperature"].sel(integrator=methods, dt=dt)
    gap = 100 * (temperature.sel(kind="translation") - temperature.sel(kind="rotation"))
    first, _, second = estimator.partition(" over ")
    values = gap.sel(estimator=first) - (gap.sel(estimator=second) if second else 0.0)
    if values.isnull().any():
        raise NotInRun(f"runs at {dt:g} fs were lost, which have no temperature")
    estimate = mean(values.values.ravel())
    words = f"{values.size} runs of {len(methods)} methods at {dt:g} fs; {_extent(data)}"
    return Measured(estimate.value, words, estimate.low, estimate.high)


MEASURES: dict[str, Measure] = {f.__name__: f for f in (liquid_drift, liquid_drift_ratio, temperature_gap)}
