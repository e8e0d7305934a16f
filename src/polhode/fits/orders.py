"""The order of convergence, fitted to errors over step sizes above the round-off floor."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.fits.largest_step import LOWEST, round_off

Array = NDArray[np.float64]

#: Errors above this are not asymptotic.
CEILING = 0.1
#: Smallest number of points in a fit, and the largest rms residual, in decades, up to which coarser points are added.
FEWEST = 6
RESIDUAL = 0.008
#: Number of points in a window of the bracket, and how many times coarser a window must be to bound the bias of the finest.
WINDOW = 4
SHIFT = 4.0
#: A measured order counts as lower than another number if the difference exceeds this.
TOLERANCE = 0.3


@dataclass(frozen=True)
class Fits:
    """Straight lines log10(error) = a + order * log10(step) over many curves at once; NaN where there is none.

    Parameters
    ----------
    order, intercept : arrays (...)
    first, last : arrays (...) of int
        Positions of the finest and the coarsest step of the fit; -1 where there is none.
    """

    order: Array
    intercept: Array
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def without_flat(self) -> "Fits":
        """The fits with an order above :data:`LOWEST`; the others become NaN, their positions -1."""
        sloping = self.order > LOWEST
        ends = (np.where(sloping, end, -1) for end in (self.first, self.last))
        return Fits(np.where(sloping, self.order, np.nan), np.where(sloping, self.intercept, np.nan), *ends)


def fit(step: ArrayLike, error: ArrayLike, usable: ArrayLike, fewest: int, largest_residual: float) -> Fits:
    """Least-squares lines through the finest usable steps of each curve, extended to coarser ones while they stay straight.

    The window follows the asymptotic range of each curve: the first ``fewest`` neighbouring usable steps, from the finest on,
    with an rms residual of at most ``largest_residual`` decades, and all coarser ones up to the first with which it is larger.

    Parameters
    ----------
    step : (S,), ascending, in any unit
    error : (..., S), in any unit
    usable : (..., S) of bool
        Which errors are clear of round-off and asymptotic.
    """
    x = np.log10(np.asarray(step, float))
    usable = np.asarray(usable, bool)
    y = np.log10(np.where(usable, error, 1.0))
    shape, size = y.shape[:-1], y.shape[-1]
    order, intercept = np.full(shape, np.nan), np.full(shape, np.nan)
    first, last = np.full(shape, -1), np.full(shape, -1)
    for start in range(size - fewest + 1):
        # Curves that still look for their window; then those whose window still grows.
        growing = first < 0
        for end in range(start + fewest, size + 1):
            growing = growing & usable[..., start:end].all(axis=-1)
            if not growing.any():
                break
            slope, at_zero, residual = straight_line(x[start:end], y[..., start:end])
            growing = growing & (residual <= largest_residual)
            order, intercept = np.where(growing, slope, order), np.where(growing, at_zero, intercept)
            first, last = np.where(growing, start, first), np.where(growing, end - 1, last)
    return Fits(order, intercept, first, last)


def slope(step: ArrayLike, error: ArrayLike, fewest: int = 2) -> float:
    """The order: the power of the step with which an error grows; least squares over all steps, NaN from less than ``fewest``.

    ``step`` and ``error`` (n,) in any unit; errors that are zero or not finite are left out.
    """
    step, error = np.asarray(step, float), np.asarray(error, float)
    usable = np.isfinite(error) & (error > 0)
    return float(straight_line(np.log(step[usable]), np.log(error[usable]))[0]) if usable.sum() >= fewest else np.nan


def straight_line(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """Slope, intercept and rms residual of straight lines by least squares through x (n,) and y (..., n). Three arrays (...).

    The slope is in units of y over x, the others in the unit of y.
    """
    middle = y.mean(axis=-1)
    centred = x - x.mean()
    slope = (centred * y).sum(axis=-1) / (centred**2).sum()
    rest = y - middle[..., None] - slope[..., None] * centred
    return slope, middle - slope * x.mean(), np.sqrt((rest**2).mean(axis=-1))


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


def fit_order(dt: Array, error: Array, end_time: float) -> Order:
    """Least-squares slope of log(error) over log(dt), on the finest steps not affected by round-off.

    Of the line of :func:`fit`, over :data:`FEWEST` points or more.

    The bracket contains this slope, those over :data:`WINDOW` neighbouring points from the finest of the fit to points
    :data:`SHIFT` times as coarse, and the mirror image of the last of them about the first. Where the error is ``C dt^p (1 + c
    dt^m)`` with m >= 1 and ``c dt^m < 1/2`` in the finest window, the slope there differs from p by less than it differs from
    the one four times as coarse: p lies between that slope and its mirror image.

    Parameters
    ----------
    dt, error : arrays (n,), step sizes in s and relative errors, in any order; NaN is ignored
    end_time : the time simulated in s, which gives the number of steps
    """
    dt, error = np.asarray(dt, float), np.asarray(error, float)
    usable = np.isfinite(error) & (error > round_off(dt, end_time)) & (error < CEILING)
    dt, error = dt[usable], error[usable]
    ascending = np.argsort(dt)
    dt, error = dt[ascending], error[ascending]
    line = fit(dt, error, np.ones(len(dt), bool), FEWEST, RESIDUAL)
    first, last = int(line.first), int(line.last)
    if first < 0:
        return NO_ORDER
    possible = [float(line.order), *_shifted(dt[first:], np.log10(dt[first:]), np.log10(error[first:]))]
    return Order(possible[0], min(possible), max(possible), float(dt[first]), float(dt[last]), last - first + 1)


def _shifted(dt: Array, x: Array, y: Array) -> list[float]:
    """The slopes over shifted windows that make the bracket of :func:`fit_order`, from the finest step of the fit on."""
    starts = range(len(x) - WINDOW + 1)
    # If the ladder ends before a window that coarse, its coarsest window is used.
    most = next((i for i in starts if dt[i] >= SHIFT * dt[0]), starts[-1])
    slopes = [float(straight_line(x[i : i + WINDOW], y[i : i + WINDOW])[0]) for i in starts[: most + 1]]
    return [*slopes, 2 * slopes[0] - slopes[-1]]
