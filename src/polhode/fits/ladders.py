"""The largest step size that meets a target error, from errors measured on a ladder of steps."""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, isfinite, nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.fits.orders import FLOOR_FACTOR, Order, fit_order

#: The method whose steps are the unit for the price of a torque, and to which speed-ups are relative.
UNIT = "euler"
RIVAL = "spiral_leapfrog"
#: Description of the errors of a ladder.
METRIC = "mean of the relative L1 errors of q and omega at the same whole time, at the end"


@dataclass(frozen=True)
class LargestStep:
    """The largest step size for which it and all finer ones meet a target, and how it was found.

    Parameters
    ----------
    dt : float
        In s; NaN where the target is not reached.
    how : str
        ``between`` two measured step sizes; ``coarsest``: even the coarsest one measured meets the target; ``extrapolated``
        beyond the finest one; if there is none: ``round-off`` or ``no order`` to extrapolate with.
    finer, coarser : float
        The measured step sizes on both sides, s; NaN where there is none.
    finer_error, coarser_error : float
        The errors there.
    """

    dt: float
    how: str
    finer: float = nan
    coarser: float = nan
    finer_error: float = nan
    coarser_error: float = nan


@dataclass(frozen=True)
class Ladder:
    """The errors of one method on one problem over the step size.

    Parameters
    ----------
    dt, error : equally long arrays
        Step sizes in s, in any order; errors, infinite where a run blew up, NaN where there was none.
    horizon : float
        The time simulated, s.
    """

    dt: NDArray[np.float64]
    error: NDArray[np.float64]
    horizon: float

    def __post_init__(self) -> None:
        dt, error = np.asarray(self.dt, float), np.asarray(self.error, float)
        run = ~np.isnan(error)
        ascending = np.argsort(dt[run], kind="stable")
        object.__setattr__(self, "dt", dt[run][ascending])
        object.__setattr__(self, "error", error[run][ascending])

    @cached_property
    def order(self) -> Order:
        """The order of this error, fitted above round-off; see :func:`polhode.fits.orders.fit_order`."""
        return fit_order(self.dt, np.where(np.isfinite(self.error), self.error, nan), self.horizon)

    def round_off(self, dt: ArrayLike) -> NDArray[np.float64]:
        """The largest error of a run with this step size that can be explained by round-off alone."""
        return np.asarray(FLOOR_FACTOR * np.finfo(float).eps * self.horizon / np.asarray(dt, float))

    def find(self, target: float) -> LargestStep:
        """The largest step size for which the error stays below ``target`` there and at all finer ones.

        An error may accidentally dip below the target at coarse steps, where it changes sign; therefore all finer steps have
        to meet the target as well. A miss that round-off can explain is tolerated: there the error rises again towards small
        steps, and says nothing about the method. Between two points the error is interpolated linearly in logarithms. Below
        the finest point it is extrapolated with the fitted order, if it was fitted down to that point and if round-off leaves
        room for the target.

        Parameters
        ----------
        target : float
            Error, greater than zero.
        """
        if not (isfinite(target) and target > 0):
            raise ValueError(f"a target error must be a number greater than zero, got {target!r}")
        dt, error, floor = self.dt, self.error, self.round_off(self.dt)
        if not dt.size:
            return LargestStep(nan, "not run")
        good = error <= target
        missed = ~good & (error > floor)
        stop = int(np.argmax(missed)) if missed.any() else len(dt)
        met = np.flatnonzero(good[:stop])
        if not met.size:
            return LargestStep(nan, "round-off") if stop else self._beyond(target)
        i = int(met[-1])
        if i == len(dt) - 1:
            return LargestStep(float(dt[i]), "coarsest", float(dt[i]), nan, float(error[i]), nan)
        known = (float(dt[i]), float(dt[i + 1]), float(error[i]), float(error[i + 1]))
        if not isfinite(error[i + 1]):
            return LargestStep(float(dt[i]), "between", *known)
        # An error of exactly zero has no logarithm.
        low, high = np.log(max(error[i], np.finfo(float).eps)), np.log(error[i + 1])
        width = np.log(dt[i + 1] / dt[i])
        order = self.order.order if isfinite(self.order.order) else 1.0
        if error[i + 1] <= floor[i + 1] and high - low < 0.5 * order * width:
            return LargestStep(nan, "round-off", *known)
        share = (np.log(target) - low) / (high - low) if high > low else 0.0
        return LargestStep(float(dt[i] * np.exp(width * min(max(share, 0.0), 1.0))), "between", *known)

    def _beyond(self, target: float) -> LargestStep:
        """The step size below the finest measured one at which the line of the fitted order meets the target."""
        finest, error = float(self.dt[0]), float(self.error[0])
        known = (nan, finest, nan, error)
        fitted = self.order
        if not (isfinite(fitted.order) and fitted.order > 0.5 and fitted.dt_min <= finest * (1 + 1e-9)):
            return LargestStep(nan, "no order", *known)
        dt = finest * (target / error) ** (1 / fitted.order)
        if float(self.round_off(dt)) > target:
            return LargestStep(nan, "round-off", *known)
        return LargestStep(dt, "extrapolated", *known)


def whole_steps(dt: float, horizon: float) -> float:
    """The number of whole steps no longer than ``dt`` in the time ``horizon``, both in s; NaN for a NaN."""
    return float(ceil(horizon / dt * (1 - 1e-12))) if isfinite(dt) else nan


def is_published_ladder(dt: ArrayLike) -> bool:
    """Whether these are the step sizes of del Valle et al. (2024), Fig. 2: 20 from 1e-7 s to 0.1 s, logarithmically spaced."""
    steps = np.asarray(dt, float)
    return steps.shape == (20,) and np.allclose(steps, np.geomspace(1e-7, 1e-1, 20), rtol=1e-5)


def interpolated_step(dt: ArrayLike, error: ArrayLike, target: float) -> float:
    """The dt at which a curve through (dt, error), interpolated linearly in logarithms, first rises above ``target``.

    Parameters
    ----------
    dt, error : step sizes in s, ascending, and the errors there; points that are not finite and positive are left out
    """
    x, y = np.asarray(dt, float), np.asarray(error, float)
    positive = np.isfinite(y) & (y > 0)
    x, y = np.log(x[positive]), np.log(y[positive]) - np.log(target)
    crossings = np.flatnonzero((y[:-1] < 0) & (y[1:] >= 0))
    if crossings.size == 0:
        return float("nan")
    i = crossings[0]
    return float(np.exp(x[i] - y[i] * (x[i + 1] - x[i]) / (y[i + 1] - y[i])))


def priced(
    steps: ArrayLike, evaluations: ArrayLike, step_time: ArrayLike, price: ArrayLike, unit: float
) -> NDArray[np.float64]:
    """Time in s of ``steps`` steps and ``evaluations`` torques that cost ``price`` times ``unit`` seconds each.

    A price of zero needs no unit: the step time already includes the cheapest possible torque.
    """
    extra = np.where(np.asarray(price, float) == 0, 0.0, np.asarray(price, float) * unit)
    return np.asarray(np.asarray(steps, float) * step_time + np.asarray(evaluations, float) * extra)
