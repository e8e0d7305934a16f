"""Changes of what is read off a bed, with another step or another method, against the scatter of initial states."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import xarray as xr

from polhode.fits.seed_statistics import Estimate, mean
from polhode.study.inputs import Inputs, NotInRun


@dataclass(frozen=True)
class Observable:
    """How something that is read off is shown: its name, its unit, what multiplies a value in SI units, and decimals."""

    name: str
    unit: str
    factor: float
    decimals: int


#: What is compared with the scatter of initial states. What a law makes is no more than bookkeeping, but goes with the split.
COMPARED = {
    "height": Observable("height", "mm", 1e3, 2),
    "contacts": Observable("contacts of a grain", "", 1.0, 2),
    "settling_time": Observable("settling time", "ms", 1e3, 1),
    "normal": Observable("by normal dashpots", "%", 100.0, 1),
    "tangential": Observable("by tangential dashpots", "%", 100.0, 1),
    "sliding": Observable("by sliding", "%", 100.0, 1),
    "made": Observable("made by the law", "%", 100.0, 2),
}
#: Those of them that say where the energy went.
SPLIT = ("normal", "tangential", "sliding", "made")


class Verdict(StrEnum):
    """Whether a change is larger than the scatter: as far as its interval says."""

    LEAVES = "leaves the scatter of seeds"
    WITHIN = "within"
    UNDECIDED = "undecided"


def data_of(inputs: Inputs) -> xr.Dataset:
    """The check ``bed``.

    Raises
    ------
    NotInRun
        If the run does not contain it, or none of its methods.
    """
    data = inputs.check("bed")
    if not data.sizes.get("integrator"):
        raise NotInRun("this run has none of the methods of the check bed")
    return data


def scatter(data: xr.Dataset, name: str) -> float:
    """The standard deviation over seeds with the shortest step: its root mean square over the methods."""
    finest = data[name].isel(division=-1)
    return float(np.sqrt((finest.std("seed", ddof=1) ** 2).mean()))


def change_with_step(data: xr.Dataset, name: str, division: int, methods: Sequence[str] = ()) -> Estimate:
    """The mean change from the shortest step of the same method and seed, with Student's interval over seeds.

    Changes are first averaged over ``methods``, by default all. A seed with a lost run is left out.
    """
    values = data[name].sel(integrator=list(methods) or data["integrator"].values)
    return _mean((values.sel(division=division) - values.isel(division=-1)).mean("integrator", skipna=False))


def change_with_method(data: xr.Dataset, name: str, method: str, division: int) -> Estimate:
    """The mean difference of a method from the median of all others, with the same step and the same seeds."""
    values = data[name].sel(division=division)
    others = values.sel(integrator=[key for key in values["integrator"].values if key != method])
    return _mean(values.sel(integrator=method) - others.median("integrator", skipna=False))


def _mean(changes: xr.DataArray) -> Estimate:
    return mean(changes.values[np.isfinite(changes.values)])


def verdict(change: Estimate, spread: float) -> Verdict:
    """Whether the whole interval of a change lies beyond the scatter of seeds, or within it."""
    if change.low > spread or change.high < -spread:
        return Verdict.LEAVES
    if -spread < change.low and change.high < spread:
        return Verdict.WITHIN
    return Verdict.UNDECIDED


def coarser(data: xr.Dataset) -> list[int]:
    """The steps that are compared with the shortest, as divisions of the contact time, coarsest first."""
    return [int(n) for n in data["division"].values[:-1]]


def verdicts_of_step(data: xr.Dataset, division: int) -> dict[str, Verdict]:
    """The verdict on the change by a step, over all methods, of everything in :data:`COMPARED`."""
    return {name: verdict(change_with_step(data, name, division), scatter(data, name)) for name in COMPARED}


def leaving_alone(data: xr.Dataset, division: int) -> list[tuple[str, str]]:
    """What leaves the scatter by a step with a single method, by method and what is compared."""
    return [
        (key, name)
        for key in map(str, data["integrator"].values)
        for name in COMPARED
        if verdict(change_with_step(data, name, division, [key]), scatter(data, name)) is Verdict.LEAVES
    ]


def verdicts_of_methods(data: xr.Dataset, division: int) -> dict[tuple[str, str], Verdict]:
    """The verdict on each method against all others with a step, by method and what is compared."""
    keys = [str(key) for key in data["integrator"].values]
    if len(keys) < 2:
        return {}
    return {
        (key, name): verdict(change_with_method(data, name, key, division), scatter(data, name))
        for key in keys
        for name in COMPARED
    }
