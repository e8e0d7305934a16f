"""What the runs of a liquid say: drifts with intervals, the largest steps, temperatures."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite, nan, pi

import numpy as np
import xarray as xr

from polhode.fits.liquid_drifts import (
    RELEASED,
    STATED,
    STUDY_STEPS,
    MeanDrift,
    Steps,
    best,
    check_of_step,
    fastest,
    outcomes,
    steps_of,
)
from polhode.fits.seed_statistics import Estimate, mean
from polhode_study.inputs import Inputs, NotInRun, once

#: Drifts that a user may allow, kT per ns and degree of freedom.
ALLOWED = (0.1, 0.01, 0.001)
#: Wave numbers, cm^-1, in a rad/fs.
WAVENUMBER = 1 / (2 * pi * 2.99792458e-5)
#: Methods whose velocities of half a step are their own: they are symplectic, and share one gap of temperatures.
SPLITTINGS = ("exact_rotor", "no_squish", "dlm1997", "touma1994", "moser_veselov")


def _check(inputs: Inputs, name: str) -> xr.Dataset:
    """A check; :class:`NotInRun` if it is not in this run, or had no method to run."""
    data = inputs.check(name)
    if not data.sizes:
        raise NotInRun(f"this run has none of the methods of the check {name}")
    return data


@once
def runs(inputs: Inputs) -> xr.Dataset:
    """The runs of the smaller box over integrator, dt and seed: the released ones, and those of the run of methods beyond them.

    Raises
    ------
    NotInRun
        If there are neither.
    """
    datasets: list[xr.Dataset] = []
    steps: list[xr.Dataset] = []
    for group in ("followed", "others"):
        with suppress(NotInRun):
            datasets.append(inputs.released_data(RELEASED, group))
    for dt in STUDY_STEPS:
        with suppress(NotInRun):
            steps.append(_check(inputs, check_of_step(dt)))
    if steps:
        of_run = xr.concat(steps, "dt", combine_attrs="override", join="exact")
        known = {str(key) for data in datasets for key in data["integrator"].values}
        beyond = [key for key in of_run["integrator"].values if key not in known]
        datasets += [of_run.sel(integrator=beyond)] if beyond else []
    if not datasets:
        raise NotInRun("this run has none of the checks liquid_1fs to liquid_6fs, and data/released has no liquids")
    return xr.concat(datasets, "integrator", combine_attrs="override", join="outer").sortby("dt")


def larger(inputs: Inputs) -> xr.Dataset:
    """The released runs of the larger box; :class:`NotInRun` if there are none."""
    return inputs.released_data(RELEASED, "large")


def other_check(inputs: Inputs, name: str, group: str) -> xr.Dataset:
    """A check that is also a group of the released file; :class:`NotInRun` if there is neither."""
    with suppress(NotInRun):
        return inputs.released_data(RELEASED, group)
    return _check(inputs, name)


def cutoffs(inputs: Inputs) -> xr.Dataset:
    """The runs with other laws."""
    return other_check(inputs, "liquid_cutoffs", "cutoffs")


def spectrum(inputs: Inputs) -> xr.Dataset:
    """The spectrum of the smaller box."""
    return other_check(inputs, "liquid_spectrum", "spectrum_water64")


def period(inputs: Inputs) -> float:
    """The period of the fastest libration, fs."""
    return 2 * pi / fastest(spectrum(inputs))


def positions(inputs: Inputs) -> xr.Dataset:
    """What depends on positions, as released."""
    return inputs.released_data(RELEASED, "positions")


def read_wrongly(inputs: Inputs, name: str, method: str, dt: float) -> Estimate:
    """By how much the mean of a reading of :func:`positions` differs from that with the shortest step and the first method.

    The blocks of a run, of a tenth of it each, count as independent.
    """
    data = positions(inputs)[name]
    truth = data.isel(integrator=0, dt=0)
    return mean((data.sel(integrator=method, dt=dt) - truth).values.ravel())


def potential_read_above(inputs: Inputs, dt: float) -> float:
    """The potential energy of a molecule on whole steps above that of corrected states, kT, by theory: dt^2 <sigma> / 12."""
    return dt * dt / 4 * float(spectrum(inputs)["rate_squared"].sum())


@dataclass(frozen=True)
class Recommended:
    """The method for a liquid, the largest step shown to drift by less than :data:`STATED`, steps in the fastest libration."""

    method: str
    dt: float
    steps: float
    others: tuple[str, ...]


def longest_steps(inputs: Inputs, allowed: float = STATED) -> Steps:
    """The largest steps of each method by a drift, of both boxes."""
    boxes = [outcomes(runs(inputs))]
    with suppress(NotInRun):
        boxes.append(outcomes(larger(inputs)))
    return steps_of(*boxes, allowed=allowed)


def recommended(inputs: Inputs) -> Recommended | None:
    """:data:`PREFERRED` if no other method is shown to hold the energy at a step where it does not, else the best of these.

    ``others`` are shown to be as good at this step. None if no method is shown to drift so little.
    """
    answer = best(longest_steps(inputs))
    return None if answer is None else Recommended(answer.method, answer.dt, period(inputs) / answer.dt, answer.others)


def exponent(of_method: Mapping[float, MeanDrift], steps: tuple[float, float]) -> float:
    """The power of the step with which a drift grows between two steps; NaN where it is not shown at both."""
    short, long = (of_method.get(dt) for dt in steps)
    if short is None or long is None or not (short.is_shown and long.is_shown) or short.drift * long.drift < 0:
        return nan
    return float(np.log(long.drift / short.drift) / np.log(steps[1] / steps[0]))


def limit(inputs: Inputs, method: str) -> float:
    """The step in fs at which the fastest libration becomes unstable by linear analysis; 0 if all grow, infinite if none."""
    linear = inputs.check("librations")
    if method not in linear["integrator"].values:
        return nan
    return float(linear["limit"].sel(integrator=method)) / fastest(spectrum(inputs))


@dataclass(frozen=True)
class Gap:
    """The gap T_rotation/T_translation - 1 by one estimator, with its interval over all runs, and what is predicted."""

    value: float
    low: float
    high: float
    predicted: float


def gaps(inputs: Inputs, estimator: str, methods: Sequence[str] = SPLITTINGS) -> dict[float, Gap]:
    """Step in fs -> the gap of temperatures of some methods, each run for itself, and what is predicted for splittings."""
    data = runs(inputs)
    some = data.sel(integrator=[key for key in methods if key in data["integrator"].values], estimator=estimator)
    translation, rotation = (float(spectrum(inputs)["rate_squared"].sel(kind=kind)) for kind in ("translation", "rotation"))
    factor = {"whole": -1 / 6, "half": 1 / 12, "corrected": 0.0}[estimator]
    result = {}
    for dt in map(float, data["dt"].values):
        of_step = some["temperature"].sel(dt=dt)
        ratio = (of_step.sel(kind="rotation") / of_step.sel(kind="translation") - 1).values.ravel()
        estimate = mean(ratio[np.isfinite(ratio)])
        if isfinite(estimate.low):
            result[dt] = Gap(estimate.value, estimate.low, estimate.high, factor * dt * dt * (rotation - translation))
    return result


def lost_first(of_method: Mapping[float, MeanDrift]) -> tuple[float, MeanDrift] | None:
    """The shortest step with which a run was lost."""
    return next(((dt, of_step) for dt, of_step in of_method.items() if of_step.lost), None)


def signed(of_step: MeanDrift) -> str:
    """A drift with two digits and its sign; in brackets how much it may be, where zero is in its interval."""
    if not of_step.is_shown and isfinite(of_step.low):
        return rf"(${{<}}\,${_two(of_step.largest)})" if isfinite(of_step.largest) else "lost"
    return rf"${'+' if of_step.drift > 0 else '-'}$\,{_two(abs(of_step.drift))}"


def _two(value: float) -> str:
    return rf"\num{{{float(f'{value:.2g}'):g}}}"


def lost(of_method: Mapping[float, MeanDrift]) -> str:
    """The shortest step with which a run was lost, after which time and in which direction."""
    first = lost_first(of_method)
    if first is None:
        return "never"
    dt, of_step = first
    return rf"{dt:g}; {_two(of_step.lost_at / 1e3)} {'hot' if of_step.lost_by > 0 else 'cold'}"
