"""The answer when the time is over before any step is tested: never nothing, and never as if it were confirmed.

Runs whose step is halved come first, if two of them agree to within the error (:mod:`polhode.advice.halving`). If there was no
time for those, random satellites or random bodies have a step; and if these have none, the two runs that agree best.
"""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from polhode.advice import from_laws, from_satellites
from polhode.advice.answer import Recommendation
from polhode.advice.cases import BodyCase
from polhode.advice.cautions import restarts
from polhode.advice.errors import AdviceError, Angle, TimeOver
from polhode.advice.from_runs import row_of, take, terms
from polhode.advice.halving import Halved
from polhode.advice.prices import Prices, prices
from polhode.methods import METHODS
from polhode.problems.pieces import edges_of

#: What an answer says would change it, first.
MORE_TIME = "more time with `limit`"


def not_confirmed(
    case: BodyCase, over: TimeOver, error: float, torque_price: float, one_torque: bool, results: Path | None = None
) -> Recommendation:
    """The answer to a question about a body of one's own for which the time is over.

    Parameters
    ----------
    case : the body with its torque and its starts
    over : the error that says so, with the runs that were made meanwhile
    error : to stay below: the larger of the angle in rad and of omega relative to its largest value; of the angle alone an
        :class:`~polhode.advice.errors.Angle`
    torque_price : the time of one torque in steps of direct Euler
    one_torque : whether only methods with one torque in a step may be recommended
    results : folder of the run from which prices of steps come

    Raises
    ------
    TimeOver
        ``over``, if no step is known from runs, nor from random satellites or bodies.
    """
    runs = over.halved
    if runs is None or not runs.meets(error):
        with suppress(AdviceError):
            return _from_random(case, over, error, torque_price, one_torque)
    if runs is None:
        raise over
    return _from_halving(case, runs, prices(torque_price, results), over, error, one_torque)


def _from_halving(
    case: BodyCase, runs: Halved, steps: Prices, over: TimeOver, error: float, one_torque: bool
) -> Recommendation:
    """The longer one of the two steps of a pair of runs."""
    priced = steps.between(edges_of(case.starts[0], case.horizon))
    row = row_of(case, priced, runs.method, runs.steps, runs.difference, "" if runs.meets(error) else "misses the error")
    what = "orientation differs" if isinstance(error, Angle) else "motion differs"
    start = "the given start" if not case.open_questions else f"one of the {len(case.starts)} {case.starts_are}"
    missed = "" if runs.meets(error) else ", which misses the error"
    return Recommendation(
        **terms(case, priced, error, one_torque),
        best=row,
        sentence=f"NOT CONFIRMED: {take(case, row, runs.radians, 'take' if not missed else 'the best step tested is')}",
        confirmed=False,
        interval=(row.dt, row.dt),
        interval_means="Interval: not known.",
        serves=f"Not confirmed, since {over}. It rests on {runs.runs} runs from {start}, each with half the step of the one "
        f"before: with this step and with half of it the {what} by {runs.difference:.2g}{missed}.",
        changes=[MORE_TIME, "a shorter time or a larger error", *restarts(METHODS[runs.method])],
        alternatives=[row],
        evidence=[
            f"{runs.runs} runs of {row.label} on this very problem; no other method was tried, and no other start.",
            "Difference: "
            + (
                "the angle in rad"
                if isinstance(error, Angle)
                else "the larger of the angle in rad and of omega over the largest |omega|"
            )
            + ", at times that both runs have, and where the torque changes.",
            f"Times: steps measured on {priced.known_from()}.",
        ],
    )


def _from_random(case: BodyCase, over: TimeOver, error: float, torque_price: float, one_torque: bool) -> Recommendation:
    """The step of random satellites, or of random bodies if the body has no wheels and the torque no edges.

    Raises
    ------
    AdviceError
        If no step is known from those.
    """
    problem, rates = case.starts[0], from_satellites.rates_of(case)
    # A body that is set in motion later turns faster than at its start.
    spin = max(rates.spin, over.halved.radians / case.horizon if over.halved else 0.0)
    if problem.body.wheels or len(rates.lengths):
        rates, whose = replace(rates, spin=spin), "satellites"
        answer = from_satellites.from_satellites(problem.body, rates, error, case.horizon, torque_price, one_torque)
    elif spin > 0:
        named = str(case.question["torque"])
        torque, whose = "friction" if named == "velocity" else named, "bodies"
        # Errors are taken to grow with the number of radians.
        per_radian = error / max(1.0, spin * case.horizon)
        answer = from_laws.from_laws(torque, per_radian, spin, None, torque_price, one_torque)
    else:
        raise over
    return replace(
        answer,
        sentence=f"NOT CONFIRMED: {answer.sentence}",
        confirmed=False,
        error=error,
        serves=f"Not confirmed, since it rests on no run of this problem but on random {whose}, and errors are taken to grow "
        f"with the number of radians: {over}. {answer.serves.partition('. ')[0].rstrip('.')}.",
        changes=[MORE_TIME, *answer.changes[1:]],
    )
