"""The largest step that meets an error: the one definition, from errors that were measured with some steps.

A step counts only if it and all finer ones meet the error: at a coarse step an error may be small by accident, where it changes
its sign. A miss that round-off explains is no miss: there the error rises again towards fine steps and says nothing about the
method. Between two steps the error is a power of the step. Beside a step that blew up nothing is interpolated, and beyond the
coarsest one nothing is promised. Below the finest step the error follows the power that was fitted to it, as far as round-off
leaves room.

Bodies and states differ, and each has its own largest step. Numbers by which methods are compared are the median over the
cases; the step to take where the case is not known is sufficient for :data:`SHARE_OF_CASES` of them
(:func:`polhode.fits.laws.spread`).

Which error is meant depends on the use, and every statement names it:

* a body whose motion is followed: the larger of the angle (rad) and of ``|omega - exact| / Omega``, per radian turned, after 16
  radians (:data:`polhode.fits.laws.QUANTITIES`);
* elastic contacts: the mean over a run of the relative error of the energy (:mod:`polhode.fits.contact_law`);
* contacts with friction: the larger error of spin and velocity over their change (:mod:`polhode.fits.impact_errors`);
* molecules: the drift of the energy, which no single run shows (:mod:`polhode.fits.liquid_drifts`);
* one given motion: the largest error at any time of it (:mod:`polhode.advice.from_runs`, which runs the steps that it tries);
* the published comparison of single bodies: :data:`polhode.fits.ladders.METRIC`, at the end of the run.
"""

from math import floor, log10

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

#: How a step is known: nothing was run; between two steps; even the coarsest meets the error; below the finest; not reached.
NOT_RUN, BETWEEN, COARSEST, EXTRAPOLATED, UNREACHED = range(5)
#: The part of the cases that a step serves which is to be taken where the case is not known; methods are compared by half.
SHARE_OF_CASES = 0.9
#: An error that falls more slowly with the step than with this power is not extrapolated: it is round-off, or stuck.
LOWEST = 0.5
#: Round-off of n steps stays below this many units in the last place times n; errors must be clear of it.
FLOOR_FACTOR = 10.0
EPS = float(np.finfo(float).eps)
#: Digits of a step that follows from a formula, wherever it is written.
DIGITS = 2


def rounded_down(step: float, digits: int = DIGITS) -> float:
    """A step with a few digits, never a longer one.

    Parameters
    ----------
    step : positive, in any unit
    digits : significant digits; a step that is off by round-off alone keeps its own
    """
    unit = 10.0 ** (floor(log10(step)) - digits + 1)
    nearest, below = round(step / unit), floor(step / unit)
    return float(f"{(nearest if abs(nearest * unit - step) <= 1e-9 * step else below) * unit:.{digits}g}")


def round_off(step: ArrayLike, time: float) -> Array:
    """The error, relative or in rad, below which round-off of the ``time / step`` steps may show, in the shape of ``step``.

    ``step`` (...) and ``time`` in one unit, such as s; with a ``time`` of 1, the error per unit of time.
    """
    return np.asarray(FLOOR_FACTOR * EPS * time / np.asarray(step, float))


def largest_step(
    step: ArrayLike,
    error: ArrayLike,
    target: float,
    order: ArrayLike = np.nan,
    coefficient: ArrayLike | None = None,
    time: float = 0.0,
) -> tuple[Array, NDArray[np.int8]]:
    """The largest step for which it and all finer ones meet an error, for many curves at once; see the head of this module.

    Parameters
    ----------
    step : (S,)
        Ascending, in any unit.
    error : (..., S)
        Relative or in rad. Infinite where a run blew up; a curve of NaN was not run.
    target : float
        The error to meet, greater than zero, in the unit of ``error``.
    order, coefficient : arrays (...)
        ``error = coefficient step^order`` below the finest step; NaN where nothing is known, by default a line through the
        error of the finest step.
    time : float
        The time of a run in units of the step, or 1 for errors per unit of time, from which round-off follows.

    Returns
    -------
    step, how : arrays (...)
        In the unit of ``step``, 0 where the target is not reached, NaN where nothing was run; and one of :data:`NOT_RUN` to
        :data:`UNREACHED`.

    Raises
    ------
    ValueError
        If the target is no positive number.

    Examples
    --------
    >>> h = np.array([0.01, 0.1, 1.0])
    >>> [float(x[0].round(4)) for x in (largest_step(h, h**2, 2.5e-3), largest_step(h, h**2, 2.5e-5, order=2.0))]
    [0.05, 0.005]
    """
    if not (np.isfinite(target) and target > 0):
        raise ValueError(f"a target error must be a number greater than zero, got {target!r}")
    step, error = np.asarray(step, float), np.asarray(error, float)
    size, order = len(step), np.asarray(order, float)
    if not size:
        return np.full(error.shape[:-1], np.nan), np.full(error.shape[:-1], NOT_RUN, "int8")
    floor = round_off(step, time)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        good = error <= target
        missed = ~good & ~(error <= floor)
        stop = np.where(missed.any(axis=-1), missed.argmax(axis=-1), size)
        # The last step that meets the target before the first that misses it.
        place = np.where(good & (np.arange(size) < stop[..., None]), np.arange(size), -1).max(axis=-1)
        after = np.minimum(place + 1, size - 1)
        fine, coarse = (np.take_along_axis(error, i[..., None], axis=-1)[..., 0] for i in (np.maximum(place, 0), after))
        # An error of exactly zero has no logarithm.
        low, high, width = np.log(np.maximum(fine, EPS)), np.log(coarse), np.log(step[after] / step[place])
        share = np.where(high > low, np.clip((np.log(target) - low) / (high - low), 0.0, 1.0), 0.0)
        between = step[place] * np.exp(width * np.where(np.isfinite(coarse), share, 0.0))
        # Nothing is read off where errors only scatter.
        flat = (coarse <= floor[after]) & (high - low < LOWEST * np.where(np.isfinite(order), order, 1.0) * width)
        if coefficient is None:
            beyond = step[0] * (target / error[..., 0]) ** (1 / order)
        else:
            beyond = (target / np.asarray(coefficient, float)) ** (1 / order)
        possible = (stop == 0) & (order > LOWEST) & (beyond < step[0]) & (round_off(beyond, time) <= target)
        cases = [np.isnan(error).all(axis=-1), place == size - 1, (place >= 0) & ~flat, (place < 0) & possible]
        return (
            np.select(cases, [np.nan, step[-1], between, beyond], 0.0),
            np.select(cases, [NOT_RUN, COARSEST, BETWEEN, EXTRAPOLATED], UNREACHED).astype("int8"),
        )
