"""The order of convergence, fitted to errors over step sizes, above the floor of round-off."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Errors above this are not asymptotic.
CEILING = 0.1
#: Round-off of n steps stays below this many units in the last place times n; errors must stand clear of it.
FLOOR_FACTOR = 10.0
#: Fewest points of a fit, and the largest root-mean-square residual, in decades, up to which coarser points are added.
FEWEST = 6
RESIDUAL = 0.008


@dataclass(frozen=True)
class Order:
    """A fitted order with its standard error and the step sizes (s) it rests on; NaN where no fit is possible."""

    order: float
    stderr: float
    dt_min: float
    dt_max: float
    points: int


NO_ORDER = Order(np.nan, np.nan, np.nan, np.nan, 0)


def fit_order(dt: NDArray[np.float64], error: NDArray[np.float64], end_time: float) -> Order:
    """Least-squares slope of log(error) over log(dt), on the finest steps that round-off does not spoil.

    Starting from the finest usable steps, coarser ones join while the points stay on a line. The window thus follows the
    asymptotic range of each method instead of being chosen by hand.

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
        if _line(x[first:last], y[first:last])[2] > RESIDUAL:
            continue
        while last < len(x) and _line(x[first : last + 1], y[first : last + 1])[2] <= RESIDUAL:
            last += 1
        slope, stderr, _ = _line(x[first:last], y[first:last])
        return Order(slope, stderr, float(dt[first]), float(dt[last - 1]), last - first)
    return NO_ORDER


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float, float]:
    """Slope, its standard error, and the root-mean-square residual of a straight line through the points."""
    centred = x - x.mean()
    slope = float((centred * y).sum() / (centred**2).sum())
    residuals = y - y.mean() - slope * centred
    square = float((residuals**2).sum())
    return slope, float(np.sqrt(square / (len(x) - 2) / (centred**2).sum())), float(np.sqrt(square / len(x)))
