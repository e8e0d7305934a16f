"""What the laws of the ensembles say about methods, as frames and short answers for the chapters; from files only.

The work of a method is counted in torques per radian: where a torque costs much more than the rest of a step, that is its time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isclose, nan
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from polhode.fits import contact_law, law_file, laws
from polhode.fits.largest_step import COARSEST, EXTRAPOLATED
from polhode.fits.ranking import AS_PUBLISHED, CLOSE
from polhode.fits.seed_statistics import Estimate, followed
from polhode_study.chapters.contacts import frames as contact_scenes
from polhode_study.chapters.long_runs import frames_of_drift
from polhode_study.chapters.many_body.frames import CASES, chess_pieces
from polhode_study.inputs import Inputs, NotInRun, once
from polhode_study.report.frames import keyed

Array = NDArray[np.float64]

#: The error per radian for which one number of steps is stated.
TARGET = 1e-4
#: The part of the bodies beside the range of 80 %.
NEARLY_ALL = 0.95
#: The energy error, relative to the energy at the start, for which steps per contact are stated.
ENERGY = 1e-4
#: The group of methods that repeat a publication's code: never recommended.
PUBLISHED = "as published in 2024"
#: Codes and textbooks: what a reader's program is likely to run.
USUAL = ("verlet", "fincham1992", "fincham1992_yade", "richardson", "euler")
#: The method that is followed everywhere as the one choice for all torques, and that of the publication.
ROBUST, SPIRAL = "spiral_predicted", "spiral_leapfrog"


@dataclass(frozen=True)
class Situation:
    """Classes of torque among which a reader need not distinguish."""

    key: str
    label: str
    classes: tuple[str, ...]


FREE = Situation("free", "no torque", ("free",))
SMOOTH = Situation("smooth", "torque of time or orientation", laws.TOGETHER["smooth"])
FRICTION = Situation("friction", "torque of the angular velocity", laws.TOGETHER["friction"])


@dataclass(frozen=True)
class EnsembleLaws:
    """Random bodies with the laws of their errors.

    Parameters
    ----------
    data : the dataset of ensembles.nc, or that of laws.nc
    """

    data: xr.Dataset

    @cached_property
    def condensed(self) -> bool:
        """Whether the dataset is that of laws.nc, without errors."""
        return "departure" in self.data

    @cached_property
    def _fits(self) -> xr.Dataset:
        return laws.laws(self.data)

    @cached_property
    def laws(self) -> xr.Dataset:
        """The laws of the larger error over torque_class, method and body, see :func:`polhode.fits.laws.laws`."""
        return law_file.unpacked(self.data) if self.condensed else self._fits.sel(quantity="both")

    @cached_property
    def steps(self) -> xr.Dataset:
        """See :func:`polhode.fits.laws.steps_per_radian`."""
        if self.condensed:
            return law_file.steps_per_radian(self.data)
        return laws.steps_per_radian(self.data, known_laws=self._fits)

    def orders(self, name: str) -> Array:
        """The order of the error of ``q`` or ``omega``, the median over the bodies, over (class, method)."""
        if self.condensed:
            return np.asarray(self.data[f"order_{name}"].transpose("torque_class", "integrator").values, float)
        return laws.spread(self._fits["order"].sel(quantity=name).values).median

    @property
    def radians(self) -> float:
        """The time of the laws."""
        return float(self.data.attrs["radians"] if self.condensed else np.max(self.data["radians"].values))

    @cached_property
    def classes(self) -> list[str]:
        """The classes of torque of the run."""
        return [str(name) for name in self.data["torque_class"].values]

    @cached_property
    def methods(self) -> list[str]:
        """Keys of all methods."""
        return [str(key) for key in self.data["integrator"].values]

    @property
    def bodies(self) -> int:
        """The number of bodies."""
        return int(self.data.sizes["body"])

    def declared(self, name: str, default: Any) -> list[Any]:
        """One declaration of every method."""
        return list(self.data[name].values.tolist()) if name in self.data else [default] * len(self.methods)

    def label(self, method: str) -> str:
        """The name of a method."""
        return str(self.declared("label", method)[self.methods.index(method)])

    def class_label(self, torque_class: str) -> str:
        """The name of a class of torque."""
        names = self.data["class_label"].values.tolist() if "class_label" in self.data else self.classes
        return str(names[self.classes.index(torque_class)]).replace("_", " ")

    @cached_property
    def torques_per_step(self) -> Array:
        """Torque evaluations of a step, over methods."""
        return np.asarray(self.declared("torques_per_step", 1), float)

    @cached_property
    def recommendable(self) -> NDArray[np.bool_]:
        """Which methods are not a repetition of a publication's code."""
        groups = self.declared("group", "")
        return np.array(
            [not key.endswith(AS_PUBLISHED) and group != PUBLISHED for key, group in zip(self.methods, groups, strict=True)]
        )

    def rows(self, situation: Situation) -> list[int]:
        """Positions of the classes of a situation that the run has.

        Raises
        ------
        NotInRun
            If it has none.
        """
        positions = [self.classes.index(name) for name in situation.classes if name in self.classes]
        if not positions:
            raise NotInRun(f"the ensembles of this run have no {situation.label}")
        return positions

    def steps_of(self, rows: Sequence[int], target: float = TARGET) -> Array:
        """Steps per radian over (method, class, body)."""
        values = self.steps["steps"].sel(target=target).values[list(rows)]
        return np.asarray(np.moveaxis(values, 1, 0))

    def work(self, rows: Sequence[int], target: float = TARGET) -> Array:
        """Torques per radian over (method, class, body); steps where there is no torque."""
        free = all(self.classes[row] == "free" for row in rows)
        steps = self.steps_of(rows, target)
        return steps if free else steps * self.torques_per_step[:, None, None]

    def how(self, rows: Sequence[int], method: str, target: float = TARGET) -> NDArray[np.int8]:
        """How the steps of one method were found, over (class, body)."""
        values = self.steps["how"].sel(target=target).values[list(rows)]
        return np.asarray(values[:, self.methods.index(method)])


_last: list[EnsembleLaws] = []


def of_run(inputs: Inputs) -> EnsembleLaws:
    """The ensembles of a run with their errors; the laws are derived once in a process.

    Raises
    ------
    NotInRun
        If the run has no ensembles.
    """
    data = inputs.ensembles
    if not data.sizes.get("body") or not data.sizes.get("integrator"):
        raise NotInRun("the ensembles of this run are empty")
    if not _last or _last[0].data is not data:
        _last[:] = [EnsembleLaws(data)]
    return _last[0]


def released(inputs: Inputs, ens: EnsembleLaws) -> xr.Dataset:
    """The released laws of many bodies, if they tell more than those of the run.

    Raises
    ------
    NotInRun
        If there are none, if they have no more bodies than the run, or if those of the run belong to another time.
    """
    data = inputs.released_data("laws.nc")
    if data.sizes["body"] <= ens.bodies:
        raise NotInRun(f"the released laws have no more bodies than this run, {ens.bodies}")
    if not isclose(ens.radians, float(data.attrs["radians"])):
        raise NotInRun(f"the released laws belong to {data.attrs['radians']:g} radians, those of this run to {ens.radians:g}")
    return data


def begins_with(data: xr.Dataset, ens: EnsembleLaws) -> bool:
    """Whether the bodies of the run are the first of the released ones: the same moments, in the precision of the file."""
    if "moments" not in data or "moments" not in ens.data:
        return False
    ours = ens.data["moments"].values
    return bool(np.allclose(data["moments"].values[: len(ours)], ours, rtol=1e-5))


@once
def ensemble(inputs: Inputs) -> EnsembleLaws:
    """The random bodies on which tables, figures and the text rest: the released ones, of which the run repeats the first.

    Where the run has other bodies, or a method or a class of torque that the released laws have not, they are those of the run.

    Raises
    ------
    NotInRun
        If the run has no ensembles.
    """
    ens = of_run(inputs)
    try:
        data = released(inputs, ens)
    except NotInRun:
        return ens
    has_all = all(
        set(map(str, ens.data[name].values)) <= set(map(str, data[name].values)) for name in ("integrator", "torque_class")
    )
    if not has_all or not begins_with(data, ens):
        return ens
    data = data.sel({"integrator": ens.methods, "torque_class": ens.classes})
    names = [name for name in law_file.DECLARED if name in ens.data and "body" not in ens.data[name].dims]
    # Names as they are now.
    return EnsembleLaws(data.assign({name: (ens.data[name].dims, ens.data[name].values) for name in names}))


@dataclass(frozen=True)
class BestMethod:
    """The best of some methods in a situation.

    Parameters
    ----------
    method, label : str
        Empty if no method reaches the error.
    steps : Spread of scalars
        Steps per radian over all bodies and classes of the situation.
    torques : float
        Median torques per radian.
    at_least : bool
        Whether even the coarsest step that was run meets the error for most bodies: fewer steps might do.
    low_at_most : bool
        The same for a tenth of the bodies: the lower end of ``steps`` is a bound.
    equal : tuple of str
        The other methods whose interval of the paired ratio contains 1.
    nearly_all : float
        Steps per radian that :data:`NEARLY_ALL` of the bodies need at most.
    """

    method: str
    label: str
    steps: tuple[float, float, float]
    torques: float
    at_least: bool
    low_at_most: bool = False
    equal: tuple[str, ...] = ()
    nearly_all: float = nan


NO_METHOD = BestMethod("", "", (nan, nan, nan), nan, False)


def choose(ens: EnsembleLaws, situation: Situation, allowed: NDArray[np.bool_], target: float = TARGET) -> BestMethod:
    """The method with the fewest torques per radian in a situation, among those ``allowed`` (method,).

    Of several in its group that need as many to within :data:`polhode.fits.ranking.CLOSE` and are not distinguished it is that
    with the fewest torques at an output, and then the first in lists.
    """
    rows = ens.rows(situation)
    comparison = laws.compare(ens.work(rows, target), allowed & ens.recommendable)
    if comparison.best < 0:
        return NO_METHOD
    usable = np.flatnonzero(allowed & ens.recommendable & np.isfinite(comparison.value))
    equal = [i for i in usable if i == comparison.best or not comparison.told_apart[i]]
    groups, outputs, places = (ens.declared(name, 0) for name in ("group", "torques_per_output", "place"))
    alike = [i for i in equal if comparison.value[i] < CLOSE and groups[i] == groups[comparison.best]]
    first = min(alike, key=lambda i: (outputs[i], places[i]), default=comparison.best)
    equal = sorted((i for i in equal if i != first), key=lambda i: comparison.value[i])
    return of_method(ens, situation, ens.methods[first], target, tuple(ens.methods[i] for i in equal))


def of_method(
    ens: EnsembleLaws, situation: Situation, method: str, target: float = TARGET, equal: tuple[str, ...] = ()
) -> BestMethod:
    """The steps of a method in a situation."""
    rows = ens.rows(situation)
    if method not in ens.methods:
        return NO_METHOD
    at = ens.methods.index(method)
    of_method = ens.steps_of(rows, target)[at].ravel()
    spread = laws.spread(of_method)
    torques = laws.spread(ens.work(rows, target)[at].ravel()).median
    coarsest = float(np.mean(ens.how(rows, method, target) == COARSEST))
    steps = (float(spread.median), float(spread.low), float(spread.high))
    return BestMethod(
        method,
        ens.label(method),
        steps,
        float(torques),
        coarsest > 0.5,
        coarsest > 0.1,
        equal,
        float(laws.quantile(of_method, NEARLY_ALL)),
    )


def gain(ens: EnsembleLaws, situation: Situation, method: str, over: str) -> Estimate:
    """How many times as many torques another method takes for the same error: the median over bodies, with its interval."""
    return ratio(ens, ens.work(ens.rows(situation)), over, method)


def ratio(ens: EnsembleLaws, values: Array, method: str, other: str) -> Estimate:
    """The ratio of ``values`` (method, class, body) of two methods on the same body, the median; NaN without one of them."""
    if method not in ens.methods or other not in ens.methods:
        return Estimate(nan)
    return laws.paired(values[ens.methods.index(method)], values[ens.methods.index(other)])


def one_torque(ens: EnsembleLaws) -> NDArray[np.bool_]:
    """The methods that evaluate one torque in a step."""
    return np.asarray(ens.torques_per_step == 1)


def several_torques(ens: EnsembleLaws) -> NDArray[np.bool_]:
    """The methods that evaluate several."""
    return np.asarray(ens.torques_per_step > 1)


def keepers(inputs: Inputs, ens: EnsembleLaws) -> NDArray[np.bool_]:
    """The methods whose energy and angular momentum did not drift in the long runs (:func:`frames_of_drift.bounded_methods`).

    Raises
    ------
    NotInRun
        If the run has no long runs.
    """
    methods, _ = frames_of_drift.bounded_methods(inputs, ("energy_drift", "momentum_drift"))
    return np.array([key in methods for key in ens.methods])


def slowdowns(ens: EnsembleLaws) -> pd.DataFrame:
    """The torques of every method over the best one-torque method's in each class, from the same bodies.

    Returns
    -------
    Columns: torque_class, method, slowdown (the median over bodies), low, high (its interval), best (the method with which
    it is compared), told_apart (whether the interval excludes 1).
    """
    frames = []
    for row, torque_class in enumerate(ens.classes):
        comparison = laws.compare(ens.work([row]), one_torque(ens) & ens.recommendable)
        frame = pd.DataFrame({"torque_class": torque_class, "method": ens.methods, "slowdown": comparison.value})
        best = ens.methods[comparison.best] if comparison.best >= 0 else ""
        ends = {"low": comparison.low, "high": comparison.high}
        frames.append(frame.assign(**ends, best=best, told_apart=comparison.told_apart))
    return pd.concat(frames, ignore_index=True)


def sheet(ens: EnsembleLaws) -> pd.DataFrame:
    """The law sheet: one row for each class of torque and method.

    Columns: torque_class, method, label; declared_q, declared_omega; order_q, order_omega, growth (medians over bodies);
    fitted (part of the bodies with a law); C, C_low, C_high (``leading`` of :func:`polhode.fits.laws.laws`);
    stable, stable_at_least; for each target T: steps_T with _low, _high, extrapolated_T (part of the bodies); and what
    :func:`slowdowns` returns.
    """
    slow = keyed(slowdowns(ens), "torque_class", "method")
    orders = {name: ens.orders(name) for name in ("q", "omega")}
    both = ens.laws
    medians = {name: laws.spread(both[name].values) for name in ("leading", "growth", "stable")}
    fitted = np.isfinite(both["order"].values).mean(axis=-1)
    steps = laws.spread(ens.steps["steps"].values, axis=2)
    extrapolated = (ens.steps["how"].values == EXTRAPOLATED).mean(axis=2)
    coarsest = (ens.steps["how"].values == COARSEST).mean(axis=2)
    rows = []
    for i, torque_class in enumerate(ens.classes):
        for j, method in enumerate(ens.methods):
            row: dict[str, Any] = {"torque_class": torque_class, "method": method, "label": ens.label(method)}
            for name in ("q", "omega"):
                declared = f"order_{name}_declared"
                row[f"declared_{name}"] = float(ens.data[declared].values[i, j]) if declared in ens.data else nan
                row[f"order_{name}"] = float(orders[name][i, j])
            row["fitted"] = float(fitted[i, j])
            row["growth"] = float(medians["growth"].median[i, j])
            row |= {f"C{end}": float(getattr(medians["leading"], field)[i, j]) for end, field in _ENDS}
            row["stable"] = float(medians["stable"].median[i, j])
            row["stable_at_least"] = bool(both["stable_at_least"].values[i, j].mean() > 0.5)
            for k, target in enumerate(laws.TARGETS):
                name = f"{target:.0e}"
                row |= {f"steps_{name}{end}": float(getattr(steps, field)[i, j, k]) for end, field in _ENDS}
                row[f"extrapolated_{name}"] = float(extrapolated[i, j, k])
                row[f"coarsest_{name}"] = float(coarsest[i, j, k])
            slowdown = slow[torque_class, method]
            row |= {name: slowdown[name] for name in ("slowdown", "low", "high", "best", "told_apart")}
            rows.append(row)
    return pd.DataFrame(rows)


_ENDS = (("", "median"), ("_low", "low"), ("_high", "high"))


@dataclass(frozen=True)
class ContactSteps:
    """Steps per contact of a method in collisions, on all scenes, and pairs with another method on the chess pieces.

    Parameters
    ----------
    steps : half of the states, a tenth in the scene that asks least, and 90 % in that which asks most
        See :func:`polhode.fits.contact_law.steps_in_contact`.
    ratio : Estimate
        Its steps over those of the method that needs fewest, from the same states of the chess pieces.
    states : array
        Its steps for each of these states.
    """

    method: str
    label: str
    steps: tuple[float, float, float]
    ratio: Estimate
    states: Array = field(repr=False, compare=False)

    def over(self, other: "ContactSteps") -> Estimate:
        """The steps of this method over those of another, from the same states."""
        return laws.paired(self.states, other.states)


@once
def contacts(inputs: Inputs, energy: float = ENERGY) -> list[ContactSteps]:
    """Steps per contact of every method of the collisions, fewest first.

    Raises
    ------
    NotInRun
        If there are no collisions.
    """
    data = chess_pieces(inputs)
    scenes = {name: scene for name, scene in contact_scenes.scenes(inputs).items() if name != CASES[0]} | {CASES[0]: data}
    every = [curve for name, scene in scenes.items() for curve in contact_law.curves(name, scene)]
    of_methods = {key: [curve for curve in every if curve.method == key] for key in followed(data)}
    labels = dict(zip(map(str, data["integrator"].values), map(str, data["label"].values), strict=True))
    states = {}
    for key, curves in of_methods.items():
        power = contact_law.common_exponent(curves)
        with np.errstate(divide="ignore"):
            states[key] = 1 / curves[-1].of_contacts(contact_law.CONTACTS, power).largest_of_each(energy, power)
    best = min(states, key=lambda key: float(laws.spread(states[key]).median))
    result = []
    for key, samples in states.items():
        steps = contact_law.steps_in_contact(of_methods[key], energy)
        summary = (float(steps.median), float(steps.low), float(steps.high))
        result.append(ContactSteps(key, labels[key], summary, laws.paired(samples, states[best]), samples))
    return sorted(result, key=lambda entry: entry.steps[0])


def as_good(methods: Iterable[ContactSteps]) -> list[ContactSteps]:
    """The methods that the pairs of states do not tell from the one that needs the fewest steps, itself included."""
    return [method for method in methods if method.ratio.low <= 1 or method.ratio.value == 1]


def collisions(inputs: Inputs, energy: float = ENERGY) -> list[ContactSteps]:
    """Steps per contact of the recommendable methods, fewest first; empty if the run has no collisions."""
    try:
        every = contacts(inputs, energy)
    except NotInRun:
        return []
    return [each for each in every if not each.method.endswith(AS_PUBLISHED) and np.isfinite(each.steps[0])]


def recommended_in_contacts(collisions: list[ContactSteps]) -> ContactSteps | None:
    """Among the methods that collisions do not tell apart, SPIRAL if it is one of them, else the first."""
    equal = as_good(collisions)
    return next((each for each in equal if each.method == SPIRAL), equal[0] if equal else None)
