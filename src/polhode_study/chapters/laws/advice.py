"""The recommendation for each situation, which the table of answers and the numbers of the text share."""

from contextlib import suppress
from dataclasses import dataclass
from math import inf, isnan

from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.laws.frames import (
    FREE,
    FRICTION,
    NO_METHOD,
    SMOOTH,
    BestMethod,
    EnsembleLaws,
    Situation,
)
from polhode_study.inputs import Inputs, NotInRun


@dataclass(frozen=True)
class Advice:
    """What the laws recommend in one situation.

    Parameters
    ----------
    situation : Situation
    single : BestMethod
        The best method with one torque a step.
    steady : BestMethod
        The best of those whose energy and angular momentum do not drift in long runs.
    several : BestMethod
        The best with several torques a step.
    """

    situation: Situation
    single: BestMethod
    steady: BestMethod
    several: BestMethod


def advice(inputs: Inputs, ens: EnsembleLaws, situation: Situation) -> Advice:
    """The recommendation for one situation; raises :class:`NotInRun` if the run has none of its classes."""
    single, several = (
        law_frames.choose(ens, situation, some(ens)) for some in (law_frames.one_torque, law_frames.several_torques)
    )
    steady = NO_METHOD
    with suppress(NotInRun):
        steady = law_frames.choose(ens, situation, law_frames.one_torque(ens) & law_frames.keepers(inputs, ens))
    return Advice(situation, single, steady, several)


def all_advice(inputs: Inputs, ens: EnsembleLaws) -> dict[str, Advice]:
    """The recommendation for every situation that the run has."""
    answers = {}
    for situation in (FREE, SMOOTH, FRICTION):
        with suppress(NotInRun):
            answers[situation.key] = advice(inputs, ens, situation)
    if not answers:
        raise NotInRun("the ensembles of this run have none of the classes of torque")
    return answers


def count(value: float) -> str:
    """A number of steps with two digits; a dash where there is none."""
    if isnan(value):
        return "--"
    if value == inf:
        return r"$\infty$"
    rounded = float(f"{value:.2g}")
    form = ".1e" if rounded >= 1e6 else ".0f" if rounded >= 10 else "g"
    return rf"\num{{{rounded:{form}}}}"
