"""Measures for the published statements about many bodies.

The verdicts rest on the published-scale results in data/released, with fifty initial states of the chess pieces and thirty of
the rods: a few states decide nothing, and verdicts should not change with the configuration. The result of the current run is
reported with them.
"""

from collections.abc import Callable
from math import inf, isfinite, nan

import numpy as np
import xarray as xr

from polhode.fits.seed_statistics import (
    Estimate,
    mean_error,
    median,
    ratio,
    ratio_of_means,
    ratio_of_steps,
    ratio_over_steps,
)
from polhode_study.chapters.many_body.frames import TARGET
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.judge.measured import Measured

#: The rods from many initial states, these with half the step, and the one state that is followed for long.
RODS, HALF_STEP, ONE_BOX = "rods_states", "rods_half_step", "rods"


def row_of(data: xr.Dataset, method: str, dt: float) -> int:
    """The place of a step size.

    Raises
    ------
    NotInRun
        If the data contain neither this step nor this method.
    """
    if method not in data["integrator"].values:
        raise NotInRun(f"{method} is not among the methods of this scene")
    row = int(np.argmin(np.abs(data["dt"].values / dt - 1)))
    if abs(data["dt"].values[row] / dt - 1) > 1e-6:
        raise NotInRun(f"dt = {dt:g} s is not among the steps of this scene")
    return row


def _judged(
    results: Inputs, scene: str, find: Callable[[xr.Dataset], Estimate], words: str = "", name_in_run: str = ""
) -> Measured:
    """The result of ``find`` for the published-scale results and for this run, where the scene is called ``name_in_run``."""
    data = results.released_many_body(scene)
    estimate = find(data)
    states = f"{data.sizes['seed']} initial states of the published-scale results"
    low, high = estimate.low, estimate.high
    if data.sizes["seed"] < 2:
        # A single state says nothing about others: any positive value is possible.
        states, low, high = "one initial state of the published-scale results, which gives no interval", 0.0, inf
    if isfinite(estimate.coverage):
        states += f", interval of {100 * estimate.coverage:.3g} %"
    try:
        run = results.many_body(name_in_run or scene)
        beside = f"this run ({run.sizes['seed']}): {find(run).value:.2g}"
    except NotInRun:
        beside = ""
    return Measured(estimate.value, "; ".join(text for text in (states, words, beside) if text), low, high)


def energy_of_many(results: Inputs, scene: str, method: str, dt: float) -> Measured:
    """The mean energy error over initial states, %."""
    return _judged(results, scene, lambda data: mean_error(data, method, row_of(data, method, dt)))


def paired_energy(results: Inputs, scene: str, method: str, other: str, dt: float) -> Measured:
    """The ratio of two methods' mean energy errors from the same initial states."""

    def find(data: xr.Dataset) -> Estimate:
        row_of(data, other, dt)
        return ratio_of_means(data, method, row_of(data, method, dt), other)

    return _judged(results, scene, find)


def energy_apart(results: Inputs, scene: str, method: str, other: str) -> Measured:
    """The factor between two methods' mean energy errors from the same states, over all steps: never below 1."""
    data = results.released_many_body(scene)
    for key in (method, other):
        row_of(data, key, float(data["dt"].values[0]))
    ratios = [ratio_of_means(data, method, row, other).value for row in range(data.sizes["dt"])]
    words = f"ratio at the {len(ratios)} steps {min(ratios):.2f} to {max(ratios):.2f}"
    return _judged(results, scene, lambda data: _apart(ratio_over_steps(data, method, other)), words)


def _apart(ratio: Estimate) -> Estimate:
    """A ratio, or its inverse, whichever is above 1."""
    ends = [ratio.low, ratio.high, 1 / ratio.low, 1 / ratio.high]
    low = 1.0 if ratio.low <= 1 <= ratio.high else max(ratio.low, 1 / ratio.high)
    return Estimate(max(ratio.value, 1 / ratio.value), low, max(ends), ratio.coverage)


def energy_across_steps(results: Inputs, scene: str, method: str, dt: float, other: str, other_dt: float) -> Measured:
    """The mean energy error of one method at one step over that of another at another."""
    rayleigh = float(results.released_many_body(scene).attrs["rayleigh_step"])

    def find(data: xr.Dataset) -> Estimate:
        return ratio_of_means(data, method, row_of(data, method, dt), other, row_of(data, other, other_dt))

    return _judged(results, scene, find, f"the Rayleigh step is {rayleigh:.3g} s")


def step_ratio_of_many(results: Inputs, scene: str, method: str, other: str) -> Measured:
    """Ratio of the steps of two methods at the published level of the mean error."""

    def find(data: xr.Dataset) -> Estimate:
        for key in (method, other):
            row_of(data, key, float(data["dt"].values[0]))
        return ratio_of_steps(data, method, other, TARGET)

    return _judged(results, scene, find)


# Rods


def axial_spin_of_rods(results: Inputs, method: str) -> Measured:
    """The largest change of a rod's angular velocity about its long axis, rad/s, the median over boxes of rods."""
    words = _one_box(results, method)
    return _judged(results, RODS, lambda data: median(_largest(data, method, "axial_spin_change")), words, ONE_BOX)


def energy_of_rods(results: Inputs, method: str, other: str) -> Measured:
    """The mean over boxes of the largest relative change of energy, over that of another method from the same states."""
    return _judged(
        results,
        RODS,
        lambda data: ratio(_largest(data, method, "energy_change"), _largest(data, other, "energy_change")),
        name_in_run=ONE_BOX,
    )


def delay_of_rods(results: Inputs, method: str, energy: float) -> Measured:
    """Factor by which half the step delays an energy change by ``energy`` of its initial value; median over boxes."""
    half = results.released_many_body(HALF_STEP)
    later, dt = float(np.median(reached(half, method, energy))), float(half["dt"].values[0])
    words = f"median {later:.3g} s with dt = {dt:g} s"
    return _judged(results, RODS, lambda data: delay(data, half, method, energy), words, ONE_BOX)


def delay(data: xr.Dataset, half: xr.Dataset, method: str, energy: float) -> Estimate:
    """Ratio of the times in ``half`` and in ``data`` at which the energy has changed by ``energy``, from the same state."""
    sooner = reached(data, method, energy)
    return median(reached(half, method, energy)[: len(sooner)] / sooner)


def rise_of_rods(results: Inputs, method: str) -> Measured:
    """The time in which the fastest spin about a long axis rises from a tenth to nine tenths, over the time before; median."""
    data = results.released_many_body(RODS)
    begin, end = (float(np.median(time_to_fraction(data, method, fraction))) for fraction in (0.1, 0.9))
    words = f"a tenth after {begin:.3g} s, nine tenths after {end:.3g} s (medians)"
    return _judged(results, RODS, lambda dataset: rise(dataset, method), words, ONE_BOX)


def rise(data: xr.Dataset, method: str) -> Estimate:
    """Time in which the change of spin rises from a tenth to nine tenths of its maximum, over the time to reach the tenth."""
    begin, end = (time_to_fraction(data, method, fraction) for fraction in (0.1, 0.9))
    return median((end - begin) / begin)


def _along(data: xr.Dataset, method: str, name: str) -> np.ndarray:
    """The magnitude of a change over time: (seed, time); infinite after a blow-up."""
    if name not in data or method not in data["integrator"].values:
        raise NotInRun(f"the rods were not followed over time with {method}")
    values = np.abs(data[name].sel(integrator=method).transpose("seed", "time").values.astype(float))
    return np.where(np.isnan(values), inf, values)


def _largest(data: xr.Dataset, method: str, name: str) -> np.ndarray:
    return np.asarray(_along(data, method, name).max(axis=1))


def reached(data: xr.Dataset, method: str, energy: float) -> np.ndarray:
    """The first time at which the energy has changed by this fraction of its initial value, s, by seed; infinite if never."""
    above = _along(data, method, "energy_change") >= energy
    return np.where(above.any(axis=1), data["time"].values[above.argmax(axis=1)], inf)


def time_to_fraction(data: xr.Dataset, method: str, fraction: float) -> np.ndarray:
    """The time at which the change of spin reaches this fraction of its maximum, s, by seed."""
    change = _along(data, method, "axial_spin_change")
    largest = change.max(axis=1, keepdims=True)
    if not np.isfinite(largest).all():
        raise NotInRun(f"runs of {method} blew up")
    return np.asarray(data["time"].values[(change >= fraction * largest).argmax(axis=1)])


def _one_box(results: Inputs, method: str) -> str:
    """The change of spin in the box that was followed for long."""
    try:
        data = results.released_many_body(ONE_BOX)
        largest = float(_largest(data, method, "axial_spin_change").max())
    except NotInRun:
        return ""
    return f"{largest:.2g} in the one box with a run of {float(data.attrs.get('horizon', nan)):g} s"
