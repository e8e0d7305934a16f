"""The errors of single impacts by method, and the steps that they take: what page 1, the advice and the explorer state.

The step for an error is sufficient for :data:`SHARE_OF_IMPACTS` of all impacts with as much confidence, by the tolerance
limit of Wilks (Ann. Math. Statist. 12, 91, 1941): the second smallest step of 118 random impacts. The step for 90 %, as of
bodies, would be too long: of 100 other impacts two missed the error by 2 and 3 times, and none with this step, which costs a
fifth more. The smallest step would be too short: for 0.1 % a single draw makes it T/168 instead of T/115. The impacts are not
chosen by friction and restitution: the nearest half of them would be too few to know more, and a simulation has all angles,
spins and shapes.
"""

from typing import NamedTuple

import numpy as np
import xarray as xr

from polhode.fits.errors_of_steps import ErrorsOfSteps
from polhode.fits.laws import Spread, spread
from polhode.fits.orders import slope

#: The method of the curves: a leapfrog.
LEADING = "spiral_leapfrog"
#: The stages of the contact update without a correction and with all of them.
LIKE_CODES, CURED = "usual", "dashpot"
#: The steps in a contact at which errors are stated.
STATED = (20, 40)
#: The errors of random impacts for which steps are stated, in units of the change of spin and velocity.
ERRORS = (0.001, 0.01)
#: The part of all impacts that the step to take serves, and the confidence of that.
SHARE_OF_IMPACTS = 0.95
#: Methods whose errors are within this part of those of :data:`LEADING` count as alike.
ALIKE = 0.02


def order(error: xr.DataArray) -> float:
    """The order: the power of dt with which the errors of one curve fall from the last of :data:`STATED` to the shortest step.

    ``error`` (division,), in any unit, over the number of steps in a contact; the slope of a line in logarithms.
    """
    fine = error.sel(division=error["division"] >= STATED[-1])
    return -slope(fine["division"].values, fine.values)


def ratios(data: xr.Dataset) -> xr.DataArray:
    """The errors of the spin over those of :data:`LEADING`, with all corrections, over case, integrator and division.

    Numbers without a unit; ``data``: the check ``impacts``, with ``error_spin`` over these and stage.
    """
    cured = data["error_spin"].sel(stage=CURED)
    return cured / cured.sel(integrator=LEADING, drop=True)


def curves(data: xr.Dataset) -> dict[str, ErrorsOfSteps]:
    """The larger of the errors of spin and velocity of random impacts over steps and impacts, in units of their change.

    The keys are :data:`LIKE_CODES`, without a correction of the contact update, and :data:`CURED`, with all of them. ``data``:
    the check ``random_impacts``, with ``error_spin`` and ``error_velocity`` over bookkeeping, division and draw.
    """
    data = data.sortby("division", ascending=False)
    spin, velocity = (data[name].transpose("bookkeeping", "division", "draw") for name in ("error_spin", "error_velocity"))
    larger = spin.where(spin > velocity, velocity)
    share = 1 / data["division"].values
    return {kind: ErrorsOfSteps(share, larger.sel(bookkeeping=kind).values) for kind in (LIKE_CODES, CURED)}


class StepsInAContact(NamedTuple):
    """Steps in a contact for an error: those to take (:func:`served`), and those sufficient for half (``half``), a tenth
    (``low``), nine tenths (``high``) and all (``most``) of some impacts.
    """

    take: float
    half: float
    low: float
    high: float
    most: float


def steps_in_a_contact(data: xr.Dataset, error: float) -> tuple[StepsInAContact, StepsInAContact, Spread]:
    """Steps in a contact for an error of random impacts, as codes have it and with all corrections, and their ratio.

    ``data`` and the unit of ``error`` are as in :func:`curves`; the ratio is the median over the impacts with its spread.
    Steps are infinite where the error is not reached. ValueError for an error that is no positive number.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        codes, cured = (1 / curve.largest_of_each(error, curve.exponent) for curve in curves(data).values())
        saved = spread(codes / cured)
    return _steps(codes), _steps(cured), saved


def served(of_each: np.ndarray) -> float:
    """The number that :data:`SHARE_OF_IMPACTS` of all impacts do not exceed, with as much confidence, from a sample.

    ``of_each`` (impacts,), in its unit. Of fewer than 59 impacts it is the largest, with less confidence.
    """
    # The binomial quantile, added up: to import scipy.stats takes longer than all of an answer.
    n, from_the_end = len(of_each), 0
    exactly = at_most = SHARE_OF_IMPACTS**n
    while at_most < 1 - SHARE_OF_IMPACTS:
        exactly *= (n - from_the_end) / (from_the_end + 1) * (1 - SHARE_OF_IMPACTS) / SHARE_OF_IMPACTS
        from_the_end, at_most = from_the_end + 1, at_most + exactly
    return float(np.sort(of_each)[-max(from_the_end, 1)])


def _steps(of_each: np.ndarray) -> StepsInAContact:
    of = spread(of_each)
    return StepsInAContact(served(of_each), *map(float, (of.median, of.low, of.high, np.max(of_each))))
