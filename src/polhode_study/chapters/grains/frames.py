"""Changes of what is read off grains, with another step, method or law, against the scatter of initial states."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd
import xarray as xr

from polhode.fits.seed_statistics import Estimate, mean
from polhode_study.inputs import Inputs, NotInRun, once

#: The experiments and their names in the text; that on the stiffness has no other methods and laws.
SCENES = {"bed": "bed", "column": "column", "drum": "drum"}
STIFFNESS = "stiffness"


@dataclass(frozen=True)
class Quantity:
    """How something that is read off is shown: its name, its unit, what multiplies a value in SI units, and decimals."""

    name: str
    unit: str
    factor: float
    decimals: int


#: The step at which laws and methods are shown, in parts of the contact time.
STATED = 20
#: What is compared with the scatter of initial states. What a law makes is no more than bookkeeping, but goes with the split.
COMPARED = {
    "height": Quantity("height", "mm", 1e3, 2),
    "runout": Quantity("runout", "mm", 1e3, 1),
    "angle": Quantity("angle", "degrees", 1.0, 2),
    "power": Quantity("dissipated power", "mW", 1e3, 1),
    "kinetic_energy": Quantity("kinetic energy", "mJ", 1e3, 2),
    "contacts": Quantity("contacts", "", 1.0, 2),
    "settling_time": Quantity("settling time", "ms", 1e3, 1),
    "kinetic": Quantity("K(t)", "", 1.0, 2),
    "normal": Quantity("by normal dashpots", "%", 100.0, 1),
    "tangential": Quantity("by tangential dashpots", "%", 100.0, 1),
    "sliding": Quantity("by sliding", "%", 100.0, 1),
    "made": Quantity("made by the law", "%", 100.0, 2),
}
#: Those of them that say where the energy went.
SPLIT = ("normal", "tangential", "sliding", "made")
#: The one that is a curve: what is compared is its logarithm, in units of its scatter at each time.
CURVE = "kinetic"


class Verdict(StrEnum):
    """Whether a change is larger than the scatter: as far as its interval says."""

    LEAVES = "leaves the scatter of seeds"
    WITHIN = "within"
    UNDECIDED = "undecided"


def verdict(low: float, high: float, scatter: float) -> Verdict:
    """Whether the whole interval of a change lies beyond the scatter of seeds, or within it."""
    if low > scatter or high < -scatter:
        return Verdict.LEAVES
    if -scatter < low and high < scatter:
        return Verdict.WITHIN
    return Verdict.UNDECIDED


def sources(inputs: Inputs, experiment: str) -> dict[str, xr.Dataset]:
    """An experiment as it is in the run and among the released results, whichever there are."""
    groups = inputs.groups("checks", released=True)
    datasets = {"released": groups[f"/{experiment}"]} if f"/{experiment}" in groups else {}
    if experiment in SCENES:  # that on the stiffness is released alone
        with suppress(NotInRun):
            datasets["run"] = inputs.check(experiment)
    return {name: data for name, data in datasets.items() if data.sizes.get("variant")}


def data_of(inputs: Inputs, experiment: str) -> xr.Dataset:
    """An experiment with as many initial states as there are: that of the run, or the released one.

    Raises
    ------
    NotInRun
        If there is neither, or none of its methods.
    """
    datasets = sources(inputs, experiment)
    if not datasets:
        raise NotInRun(f"this run has none of the methods of the check {experiment}, and data/released has no such results")
    return max(datasets.values(), key=lambda data: data.sizes["seed"])


def scenes(inputs: Inputs) -> dict[str, xr.Dataset]:
    """The experiments of :data:`SCENES` that there are; :class:`NotInRun` if there is none."""
    datasets: dict[str, xr.Dataset] = {}
    for experiment in SCENES:
        try:
            datasets[experiment] = data_of(inputs, experiment)
        except NotInRun as error:
            missing = error
    if not datasets:
        raise missing
    return datasets


def compared(data: xr.Dataset) -> dict[str, Quantity]:
    """What is compared in an experiment."""
    return {name: quantity for name, quantity in COMPARED.items() if name in data and "seed" in data[name].dims}


def variants(data: xr.Dataset, kind: str) -> list[str]:
    """The variants that are compared for their ``method``, ``law`` or ``stiffness``."""
    return [str(key) for key in data["variant"].values[(data["compared"] == kind).values]]


def coarser(data: xr.Dataset) -> list[int]:
    """The steps that are compared with the shortest, as divisions of the contact time, coarsest first."""
    return [int(n) for n in data["division"].values[:-1]]


def spread(values: xr.DataArray) -> xr.DataArray:
    """The standard deviation over seeds with the shortest step: its root mean square over the methods of the first law."""
    finest = values.isel(division=-1, variant=np.flatnonzero(values["compared"] == "method"))
    return (finest.std("seed", ddof=1) ** 2).mean("variant") ** 0.5


def scatter(data: xr.Dataset, name: str) -> float:
    """The scatter in whose units a quantity is compared: its :func:`spread`, and 1 for the curve, which is in this unit."""
    return 1.0 if name == CURVE else float(spread(data[name]))


def curves(data: xr.Dataset) -> np.ndarray:
    """The logarithm of the kinetic energy over its scatter (variant, division, seed, time), at times at which it scatters.

    NaN where a run was lost, or where of a state only the mean over states was released.
    """
    kinetic = data[CURVE].where(data["lost"] == 0).transpose("variant", "division", "seed", "time")
    logarithm = kinetic.copy(data=np.log(kinetic.values))
    unit = spread(logarithm).values
    scaled: np.ndarray = logarithm.values[..., unit > 0] / unit[unit > 0]
    return scaled


def size(changes: np.ndarray, comparisons: int) -> Estimate:
    """The root mean square over the time of the mean change of curves (seed, time), with its interval.

    By the triangle inequality the true one differs from it by no more than that of the error of the mean. This is, in all but
    the fraction of cases that the level allows, no larger than the root mean square of the half-widths of Student's intervals
    at each time: of all sums of squares of Gaussian variables with the same mean, that of a single variable has the longest
    tail (Szekely and Bakirov 2003), so curves whose times go together are the worst case.
    """
    means = [mean(at_time, comparisons) for at_time in changes.T] or [Estimate(np.nan)]
    value = float(np.sqrt(np.mean([of.value**2 for of in means])))
    half = float(np.sqrt(np.mean([(of.high - of.value) ** 2 for of in means])))
    return Estimate(value, float(np.maximum(value - half, 0.0)), value + half)  # NaN stays NaN


@dataclass(frozen=True)
class Comparison:
    """What is compared with what: the changes (seed, ...) of a quantity, given its values by variant and division."""

    compared: str
    variant: str
    division: int
    changes: Callable[[Mapping[tuple[str, int], np.ndarray]], np.ndarray]


def comparisons(data: xr.Dataset) -> list[Comparison]:
    """All comparisons of an experiment, each of runs from the same initial states.

    ``step``: the change from the shortest step, as the mean over all methods (variant ``all``), and of each law and stiffness.
    ``method``: the difference of a method from the mean of all others with the same step. ``law`` and ``stiffness``: the
    difference from the first variant with the same step. ``scaling``: by how much the change by a step differs from that of the
    first stiffness, for steps that are the same part of the contact time.
    """
    kinds = {kind: variants(data, kind) for kind in ("method", "law", "stiffness")}
    methods, first, finest = kinds["method"], str(data["variant"].values[0]), int(data["division"].values[-1])

    def step(keys: list[str], n: int) -> Callable[[Mapping[tuple[str, int], np.ndarray]], np.ndarray]:
        return lambda x: np.mean([x[key, n] - x[key, finest] for key in keys], axis=0)

    def less(key: str, others: list[str], n: int) -> Callable[[Mapping[tuple[str, int], np.ndarray]], np.ndarray]:
        return lambda x: x[key, n] - np.mean([x[other, n] for other in others], axis=0)

    def scaling(key: str, n: int) -> Callable[[Mapping[tuple[str, int], np.ndarray]], np.ndarray]:
        return lambda x: step([key], n)(x) - step([first], n)(x)

    rows = []
    for n in map(int, data["division"].values):
        if n != finest:
            rows.append(Comparison("step", "all", n, step(methods, n)))
            rows += [Comparison("step", key, n, step([key], n)) for key in kinds["law"] + kinds["stiffness"]]
            rows += [Comparison("scaling", key, n, scaling(key, n)) for key in kinds["stiffness"]]
        for key in methods if len(methods) > 1 else ():
            rows.append(Comparison("method", key, n, less(key, [other for other in methods if other != key], n)))
        for kind in ("law", "stiffness"):
            rows += [Comparison(kind, key, n, less(key, [first], n)) for key in kinds[kind]]
    return rows


@once
def frame(inputs: Inputs, experiment: str) -> pd.DataFrame:
    """All changes of an experiment with their intervals and verdicts, a row for each quantity and comparison.

    Intervals are Student's over the seeds in which all runs of a comparison lasted, at a level that Bonferroni's inequality
    gives: with 95 % all comparisons of one kind hold together. Values are in SI units, but for the change of the curve of the
    kinetic energy, which is the :func:`size` of that of its logarithm, in units of the scatter.
    """
    return frame_of(data_of(inputs, experiment))


def frame_of(data: xr.Dataset) -> pd.DataFrame:
    """The frame of :func:`frame` of some data."""
    keys, divisions = data["variant"].values.astype(str), data["division"].values
    ran = (data["lost"] >= 0).any("seed").transpose("variant", "division").values
    places = {(key, int(n)): (i, j) for i, key in enumerate(keys) for j, n in enumerate(divisions) if ran[i, j]}
    records = []
    for name in compared(data):
        values = curves(data) if name == CURVE else data[name].transpose("variant", "division", "seed").values
        of_runs = {place: values[at] for place, at in places.items()}
        unit = scatter(data, name)
        for comparison in comparisons(data):
            try:
                changes = comparison.changes(of_runs)
            except KeyError:  # this variant does not run with this step
                continue
            about = {"quantity": name, "compared": comparison.compared, "variant": comparison.variant}
            records.append(about | {"steps_in_contact": comparison.division, "changes": changes, "scatter": unit})
    rows = pd.DataFrame(records)
    together = rows.groupby("compared")["compared"].transform("size")
    pairs = zip(rows.pop("changes"), together, strict=True)
    estimates = [
        mean(changes[np.isfinite(changes)], count) if changes.ndim == 1 else size(changes[np.isfinite(changes).all(1)], count)
        for changes, count in pairs
    ]
    for name in ("value", "low", "high"):
        rows["change" if name == "value" else name] = [getattr(estimate, name) for estimate in estimates]
    rows["units"] = ["1" if name == CURVE else data[name].attrs["units"] for name in rows["quantity"]]
    rows["verdict"] = [str(verdict(*ends)) for ends in zip(rows["low"], rows["high"], rows["scatter"], strict=True)]
    return rows


def chosen(rows: pd.DataFrame, compared: str, variant: str = "", division: int = 0) -> pd.DataFrame:
    """The rows of :func:`frame` of one kind of comparison, of one variant and of one step, if they are named."""
    mask = rows["compared"] == compared
    if variant:
        mask &= rows["variant"] == variant
    if division:
        mask &= rows["steps_in_contact"] == division
    return rows[mask]
