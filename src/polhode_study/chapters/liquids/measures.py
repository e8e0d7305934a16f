"""Measures for the published statements about liquids at constant energy.

The verdicts rest on the published-scale results in data/released, as those about many bodies: several starts of long runs.
"""

from math import inf

import numpy as np
import xarray as xr

from polhode.fits.liquid_drifts import RELEASED, MeanDrift, outcome
from polhode.fits.seed_statistics import mean
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.judge.measured import Measured

#: The group of released runs that are followed for long, and that of cut-offs.
FOLLOWED, CUTOFFS = "followed", "cutoffs"


def _outcomes(data: xr.Dataset, method: str, steps: list[float]) -> list[MeanDrift]:
    """What the starts of a method did at these steps, fs; :class:`NotInRun` if one of them was not run."""
    if method not in data["integrator"].values:
        raise NotInRun(f"{method} is not among the methods of the liquids")
    ran = [outcome(data.sel(integrator=method, dt=dt)) if dt in data["dt"].values else None for dt in steps]
    if None in ran:
        raise NotInRun(f"the liquids were not run with {method} at {steps[ran.index(None)]:g} fs")
    return [of_step for of_step in ran if of_step is not None]


def _extent(data: xr.Dataset) -> str:
    return f"{data.attrs['molecules']} molecules, {data.sizes['seed']} starts of {float(data.attrs['duration']) / 1000:g} ps"


def liquid_drift(results: Inputs, method: str, up_to: float, law: str = "") -> Measured:
    """The largest mean drift at the steps up to ``up_to`` fs, in size, kT per degree of freedom and ns.

    ``law``: with another law of force than the smooth one, from the runs that compare cut-offs.
    """
    data = results.released_data(RELEASED, CUTOFFS if law else FOLLOWED)
    if law:
        data = data.sel(law=law)
    steps = [float(dt) for dt in sorted(data["dt"].values) if dt <= up_to]
    outcomes = _outcomes(data, method, steps)
    worst = int(np.argmax([abs(of_step.drift) for of_step in outcomes]))
    words = f"largest at {steps[worst]:g} fs of {', '.join(f'{dt:g}' for dt in steps)} fs; {_extent(data)}"
    if lost := [f"{dt:g}" for dt, of_step in zip(steps, outcomes, strict=True) if of_step.lost]:
        words += f"; runs at {', '.join(lost)} fs were lost"
    low, high = (max(getattr(of_step, name) for of_step in outcomes) for name in ("smallest", "largest"))
    return Measured(abs(outcomes[worst].drift), words, low, high)


def liquid_drift_ratio(results: Inputs, method: str, other: str, dt: float) -> Measured:
    """The size of the drift of one method over that of another, at one step; the interval has the ends of both."""
    data = results.released_data(RELEASED, FOLLOWED)
    (first,), (second,) = (_outcomes(data, key, [dt]) for key in (method, other))
    ours, theirs = abs(first.drift), abs(second.drift)
    words = f"{ours:.2g} against {theirs:.2g} kT per degree of freedom and ns at {dt:g} fs; {_extent(data)}"
    return Measured(
        ours / theirs, words, first.smallest / second.largest, first.largest / second.smallest if second.smallest else inf
    )


def temperature_gap(results: Inputs, methods: list[str], dt: float, estimator: str) -> Measured:
    """By how much rotation is colder than translation, % of the temperature, over all runs of some methods at one step.

    Parameters
    ----------
    estimator : ``whole``, velocities of whole steps; ``corrected``, (K_whole + 2 K_half)/3; or ``whole over corrected``, how
        much more the first shows than the second in the same runs
    """
    data = results.released_data(RELEASED, FOLLOWED)
    for key in methods:
        _outcomes(data, key, [dt])
    temperature = data["temperature"].sel(integrator=methods, dt=dt)
    gap = 100 * (temperature.sel(kind="translation") - temperature.sel(kind="rotation"))
    first, _, second = estimator.partition(" over ")
    values = gap.sel(estimator=first) - (gap.sel(estimator=second) if second else 0.0)
    if values.isnull().any():
        raise NotInRun(f"runs at {dt:g} fs were lost, which have no temperature")
    estimate = mean(values.values.ravel())
    words = f"{values.size} runs of {len(methods)} methods at {dt:g} fs; {_extent(data)}"
    return Measured(estimate.value, words, estimate.low, estimate.high)
