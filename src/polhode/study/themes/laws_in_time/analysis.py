"""Methods compared by the time that they take for one radian, for a torque of a given price."""

from collections.abc import Mapping, Sequence

import numpy as np

from polhode.study.analysis import law_frames, laws
from polhode.study.analysis.law_frames import FREE, FRICTION, SMOOTH, Ensemble, Situation
from polhode.study.analysis.laws import Compared
from polhode.study.inputs import Inputs, NotInRun

#: The situations that are shown, and the prices of a torque in the map, in steps of direct Euler.
SHOWN = (FREE, SMOOTH, FRICTION)
MAP_PRICES = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)


def read(inputs: Inputs) -> tuple[Ensemble, dict[str, float]]:
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
    ens: Ensemble, times: Mapping[str, float], situation: Situation, price: float, target: float, one_torque: bool
) -> Compared:
    """All methods of a situation against the best, of all or of those with one torque a step, in time."""
    rows = ens.rows(situation)
    work = law_frames.time_per_radian(ens, ens.steps_of(rows, target), times, price, "free" if situation is FREE else "")
    allowed = ens.recommendable & (law_frames.one_torque(ens) | (not one_torque))
    return laws.compare(work, allowed)


def present(ens: Ensemble, situations: Sequence[Situation] = SHOWN) -> list[Situation]:
    """The situations of which the run has a class."""
    return [situation for situation in situations if any(name in ens.classes for name in situation.classes)]
