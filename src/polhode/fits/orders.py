"""The order of convergence, fitted to errors over step sizes above the round-off floor."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Errors above this are not asymptotic.
CEILING = 0.1
#: Round-off of n steps stays below this many units in the last place times n; errors must be clear of it.
FLOOR_FACTOR = 10.0
#: Smallest number of points in a fit, and the largest rms residual, in decades, up to which coarser points are added.
FEWEST = 6
RESIDUAL = 0.008
#: Number of points in a window of the bracket, and how many times coarser a window must be to bound the bias of the finest.
WINDOW = 4
SHIFT = 4.0


@dataclass(frozen=True)
class Order:
    """A fitted order with its bracket and the step sizes (s) it rests on; NaN where no fit is possible.

    ``low`` and ``high`` come from fits over shifted windows, see :func:`fit_order`. The scatter about one line would say
    nothing about the distance from the asymptote.
    """

    order: float
    low: float
    high: float
    dt_min: float
    dt_max: float
    points: int


NO_ORDER = Order(np.nan, np.nan, np.nan, np.nan, np.nan, 0)


def fit_order(dt: NDArray[np.float64], error: NDArray[np.float64], end_time: float) -> Order:
    """Least-squares slope of log(error) over log(dt), on the finest steps not affected by round-off.

    Starting from the finest usable steps, coarser ones are added while the points stay on a line. The window thus follows the
    asymptotic range of each method instead of being chosen by hand.

    The bracket contains this slope, those over :data:`WINDOW` neighbouring points from the finest of the fit to points
    :data:`SHIFT` times as coarse, and the mirror image of the last of them about the first. Where the error is
    ``C dt^p (1 + c dt^m)`` with m >= 1 and ``c dt^m < 1/2`` in the finest window, the slope there differs from p by
    less than it differs from the one four times as coarse: p lies between that slope and its mirror image.

    Parameters
    ----------
    dt, error : equally long arrays, any order; NaN is ignored
    end_time : the time simulated in s, which gives the number of steps
    """
    dt, error = np.asarray(dt, float), np.asarray(error, float)
    floor = FLOOR_FACTOR * np.finfo(float).eps * end_time / dt
    usable = np.isfinite(error) & (error > floor) & (error < CEILING)
    dt, error = dt[usable], error[usable]
    ascending = np.argsort(dt)
    dt = dt[ascending]
    x, y = np.log10(dt), np.log10(error[ascending])
    for first in range(len(x) - FEWEST + 1):
        last = first + FEWEST
        if _line(x[first:last], y[first:last])[1] > RESIDUAL:
            continue
        while last < len(x) and _line(x[first : last + 1], y[first : last + 1])[1] <= RESIDUAL:
            last += 1
        slope = _line(x[first:last], y[first:last])[0]
        possible = [slope, *_shifted(dt[first:], x[first:], y[first:])]
        return Order(slope, min(possible), max(possible), float(dt[first]), float(dt[last - 1]), last - first)
    return NO_ORDER


def _shifted(dt: NDArray[np.float64], x: NDArray[np.float64], y: NDArray[np.float64]) -> list[float]:
    """The slopes over shifted windows that make the bracket of :func:`fit_order`, from the finest step of the fit on."""
    starts = range(len(x) - WINDOW + 1)
    # If the ladder ends before a window that coarse, its coarsest window is used.
    most = next((i for i in starts if dt[i] >= SHIFT * dt[0]), starts[-1])
    slopes = [_line(x[i : i + WINDOW], y[i : i + WINDOW])[0] for i in starts[: most + 1]]
    return [*slopes, 2 * slopes[0] - slopes[-1]]


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and root-mean-square residual of a straight line through the points."""
    centred = x - x.mean()
    slope = float((centred * y).sum() / (centred**2).sum())
    residuals = y - y.mean() - slope * centred
    return slope, float(np.sqrt((residuals**2).mean()))
