"""Methods compared by the time that they take for one radian, and the operations of a step, as frames."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from polhode.fits import laws
from polhode.fits.laws import Compared
from polhode.fits.step_times import UNIT
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.laws.frames import FREE, FRICTION, SMOOTH, EnsembleLaws, Situation
from polhode_study.inputs import Inputs, NotInRun

#: The situations that are shown, and the prices of a torque in the map, in steps of direct Euler.
SHOWN = (FREE, SMOOTH, FRICTION)
MAP_PRICES = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)


def read(inputs: Inputs) -> tuple[EnsembleLaws, dict[str, float]]:
    """The ensembles and the times of a step.

    Raises
    ------
    NotInRun
        If the run lacks one of them, or times no method of the ensembles.
    """
    ens = law_frames.ensemble(inputs)
    times = law_frames.step_times(inputs)
    if not any(np.isfinite(times.get(key, np.nan)) for key in ens.methods):
        raise NotInRun("no method of the ensembles was timed")
    return ens, times


def in_time(
    ens: EnsembleLaws, times: Mapping[str, float], situation: Situation, price: float, target: float, one_torque: bool
) -> Compared:
    """All methods of a situation against the best, of all or of those with one torque a step, in time."""
    rows = ens.rows(situation)
    work = law_frames.time_per_radian(ens, ens.steps_of(rows, target), times, price, "free" if situation is FREE else "")
    allowed = ens.recommendable & (law_frames.one_torque(ens) | (not one_torque))
    return laws.compare(work, allowed)


@dataclass(frozen=True)
class Map:
    """The fastest of all methods of a situation, over prices of a torque (rows) and errors per radian (columns).

    Parameters
    ----------
    best : (price, target) of int
        Position of the method; -1 where none reaches the error.
    apart : (price, target) of bool
        Whether the bodies tell it from all others.
    """

    best: NDArray[np.int64]
    apart: NDArray[np.bool_]


def fastest(ens: EnsembleLaws, times: Mapping[str, float], situation: Situation) -> Map:
    """The fastest methods for all :data:`MAP_PRICES` and :data:`polhode.fits.laws.TARGETS`."""
    best = np.full((len(MAP_PRICES), len(laws.TARGETS)), -1)
    apart = np.zeros(best.shape, bool)
    for row, price in enumerate(MAP_PRICES):
        for column, target in enumerate(laws.TARGETS):
            compared = in_time(ens, times, situation, price, target, False)
            best[row, column] = compared.best
            rivals = ens.recommendable & ~np.isnan(compared.value) & (np.arange(len(ens.methods)) != compared.best)
            apart[row, column] = bool(compared.told_apart[rivals].all())
    return Map(best, apart)


def mapped(ens: EnsembleLaws) -> list[Situation]:
    """The situations of the map: those of the run with a torque."""
    return [situation for situation in present(ens) if situation is not FREE]


def present(ens: EnsembleLaws) -> list[Situation]:
    """The situations of which the run has a class."""
    return [situation for situation in SHOWN if any(name in ens.classes for name in situation.classes)]


#: The kinds of operations included in the total, with column heads.
OPERATIONS = {
    "additions": "$+$",
    "multiplications": r"$\times$",
    "divisions": r"$\div$",
    "square_roots": r"$\sqrt{\phantom{x}}$",
}

COUNTS = ("torques", *OPERATIONS, "total", "constants", "negations", "comparisons", "total_normalised", "total_left_alone")


def counts(inputs: Inputs) -> pd.DataFrame:
    """The operations of a step, one row for each method of the cost study.

    Columns: method, label, normalises; :data:`COUNTS`, the first with normalisation as declared by the method, the last two
    with it switched on and off; relative, the total over that of :data:`UNIT`. Entries are empty if normalisation cannot be
    switched or, for a plug-in, operations were not counted.

    Raises
    ------
    NotInRun
        If the run has no cost study.
    """
    data = inputs.cost("operations")
    frame = data.rename(integrator="method").to_dataframe().reset_index().set_index("method", drop=False)
    frame = frame.loc[inputs.in_order(frame["method"])]
    frame["normalises"] = frame["normalises"].map({1: "yes", 0: "no"})
    frame["relative"] = frame["total"] / frame["total"].get(UNIT, float("nan"))
    frame = frame[["method", "label", "normalises", *COUNTS, "relative"]].reset_index(drop=True)
    return frame.astype(dict.fromkeys(COUNTS, "Int64"))
