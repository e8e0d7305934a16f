"""What the publications state about many bodies, as measures for data/claims.yaml.

Judged is the full study that came with the code, with its fifty initial states of the chess pieces and thirty of the rods: a
few states decide nothing, and verdicts should not change with the configuration. What the run at hand finds stands beside it.
"""

from collections.abc import Callable
from math import inf, isfinite, nan

import numpy as np
import xarray as xr

from polhode.study.ensembles import (
    Estimate,
    mean_error,
    median,
    paired_ratio,
    paired_ratio_over_steps,
    ratio_of_means,
    ratio_of_steps,
)
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.many_body_cost import TARGET
from polhode.study.measured import Measure, Measured

#: The rods from many initial states, the same with half the step, and the one state that is followed for long.
RODS, HALF_STEP, ONE_BOX = "rods_states", "rods_half_step", "rods"


def row_of(data: xr.Dataset, method: str, dt: float) -> int:
    """The place of a step size.

    Raises
    ------
    NotInRun
        If the data hold neither this step nor this method.
    """
    if method not in data["integrator"].values:
        raise NotInRun(f"{method} is not among the methods of this scene")
    row = int(np.argmin(np.abs(data["dt"].values / dt - 1)))
    if abs(data["dt"].values[row] / dt - 1) > 1e-6:
        raise NotInRun(f"dt = {dt:g} s is not among the steps of this scene")
    return row


def _judged(results: Inputs, scene: str, find: Callable[[xr.Dataset], Estimate], words: str = "", here: str = "") -> Measured:
    """What ``find`` finds in the full study, with words about it, and in this run, where the scene may be called ``here``."""
    data = results.released_many_body(scene)
    found = find(data)
    states = f"{data.sizes['seed']} initial states of the released study"
    low, high = found.low, found.high
    if data.sizes["seed"] < 2:
        # Of one state nothing is known of the others: all that is positive is possible.
        states, low, high = "one initial state of the released study, which gives no interval", 0.0, inf
    if isfinite(found.coverage):
        states += f", interval of {100 * found.coverage:.3g} %"
    try:
        own = results.many_body(here or scene)
        beside = f"this run ({own.sizes['seed']}): {find(own).value:.2g}"
    except NotInRun:
        beside = ""
    return Measured(found.value, "; ".join(part for part in (states, words, beside) if part), low, high)


def energy_of_many(results: Inputs, scene: str, method: str, dt: float) -> Measured:
    """The mean energy error over initial states, %."""
    return _judged(results, scene, lambda data: mean_error(data, method, row_of(data, method, dt)))


def paired_energy(results: Inputs, scene: str, method: str, other: str, dt: float) -> Measured:
    """The median over initial states of the ratio of two methods' energy errors from the same state."""

    def find(data: xr.Dataset) -> Estimate:
        row_of(data, other, dt)
        return paired_ratio(data, method, other, row_of(data, method, dt))

    return _judged(results, scene, find)


def energy_apart(results: Inputs, scene: str, method: str, other: str) -> Measured:
    """By which factor two methods' energy errors from the same state are apart, over all steps: never below 1."""
    data = results.released_many_body(scene)
    for key in (method, other):
        row_of(data, key, float(data["dt"].values[0]))
    ratios = [paired_ratio(data, method, other, row).value for row in range(data.sizes["dt"])]
    words = f"medians of the ratio at the {len(ratios)} steps {min(ratios):.2f} to {max(ratios):.2f}"
    return _judged(results, scene, lambda data: _apart(paired_ratio_over_steps(data, method, other)), words)


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
    """How many times larger the step of one method may be than that of another at the published level of the mean error."""

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
    """The largest relative change of energy of one method over that of another from the same state, the median over boxes."""

    def find(data: xr.Dataset) -> Estimate:
        with np.errstate(invalid="ignore"):
            pairs = _largest(data, method, "energy_change") / _largest(data, other, "energy_change")
        return median(pairs[~np.isnan(pairs)])

    return _judged(results, RODS, find, here=ONE_BOX)


def delay_of_rods(results: Inputs, method: str, energy: float) -> Measured:
    """How many times later the energy has changed by ``energy`` of its first value with half the step; median over boxes."""
    half = results.released_many_body(HALF_STEP)
    later, dt = float(np.median(reached(half, method, energy))), float(half["dt"].values[0])
    words = f"median {later:.3g} s with dt = {dt:g} s"
    return _judged(results, RODS, lambda data: delay(data, half, method, energy), words, ONE_BOX)


def delay(data: xr.Dataset, half: xr.Dataset, method: str, energy: float) -> Estimate:
    """How many times later in ``half`` than in ``data`` the energy has changed by ``energy``, from the same state."""
    sooner = reached(data, method, energy)
    return median(reached(half, method, energy)[: len(sooner)] / sooner)


def rise_of_rods(results: Inputs, method: str) -> Measured:
    """The time in which the fastest spin about a long axis rises from a tenth to nine tenths, over the time before; median."""
    data = results.released_many_body(RODS)
    begin, end = (float(np.median(part_reached(data, method, part))) for part in (0.1, 0.9))
    words = f"a tenth after {begin:.3g} s, nine tenths after {end:.3g} s (medians)"
    return _judged(results, RODS, lambda found: rise(found, method), words, ONE_BOX)


def rise(data: xr.Dataset, method: str) -> Estimate:
    """How long the change of the spin takes from a tenth to nine tenths of its largest value, over the time to the tenth."""
    begin, end = (part_reached(data, method, part) for part in (0.1, 0.9))
    return median((end - begin) / begin)


def _along(data: xr.Dataset, method: str, name: str) -> np.ndarray:
    """The size of a change along the time: (seed, time); after a blow-up it is infinite."""
    if name not in data or method not in data["integrator"].values:
        raise NotInRun(f"the rods were not followed over time with {method}")
    values = np.abs(data[name].sel(integrator=method).transpose("seed", "time").values.astype(float))
    return np.where(np.isnan(values), inf, values)


def _largest(data: xr.Dataset, method: str, name: str) -> np.ndarray:
    return np.asarray(_along(data, method, name).max(axis=1))


def reached(data: xr.Dataset, method: str, energy: float) -> np.ndarray:
    """When the energy has changed by this part of its first value for the first time, s, by seed; infinite where never."""
    above = _along(data, method, "energy_change") >= energy
    return np.where(above.any(axis=1), data["time"].values[above.argmax(axis=1)], inf)


def part_reached(data: xr.Dataset, method: str, part: float) -> np.ndarray:
    """When the change of the spin reaches this part of its largest value, s, by seed."""
    change = _along(data, method, "axial_spin_change")
    largest = change.max(axis=1, keepdims=True)
    if not np.isfinite(largest).all():
        raise NotInRun(f"runs of {method} blew up")
    return np.asarray(data["time"].values[(change >= part * largest).argmax(axis=1)])


def _one_box(results: Inputs, method: str) -> str:
    """What became of the spin in the box that was followed for long."""
    try:
        data = results.released_many_body(ONE_BOX)
        largest = float(_largest(data, method, "axial_spin_change").max())
    except NotInRun:
        return ""
    return f"{largest:.2g} in the one box followed for {float(data.attrs.get('horizon', nan)):g} s"


MEASURES: dict[str, Measure] = {
    f.__name__: f
    for f in (
        energy_of_many,
        paired_energy,
        energy_apart,
        energy_across_steps,
        step_ratio_of_many,
        axial_spin_of_rods,
        energy_of_rods,
        delay_of_rods,
        rise_of_rods,
    )
}
