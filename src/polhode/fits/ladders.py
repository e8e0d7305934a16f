"""The largest step size that meets a target error, from errors measured on a ladder of steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, isfinite, nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.fits.largest_step import BETWEEN, COARSEST, EXTRAPOLATED, NOT_RUN, largest_step
from polhode.fits.orders import Order, fit_order

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
        beyond the finest one; if there is none: ``unreached`` or ``not run``.
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
    dt, error : arrays (n,)
        Step sizes in s, in any order; relative errors, such as :data:`METRIC`, infinite where a run blew up, NaN where there
        was none.
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

    @property
    def order_below(self) -> float:
        """The order if it was fitted down to the finest step, NaN otherwise."""
        return self.order.order if self.dt.size and self.order.dt_min <= self.dt[0] * (1 + 1e-9) else nan

    def find(self, target: float) -> LargestStep:
        """The largest step size (s) for a target error, see :func:`polhode.fits.largest_step.largest_step`.

        The target has the unit of the errors; ValueError if it is no positive number.
        """
        dt, error = self.dt, self.error
        largest, how = (float(x) for x in largest_step(dt, error, target, self.order_below, time=self.horizon))
        if how not in KNOWN_AS:
            return LargestStep(nan, "not run" if how == NOT_RUN else "unreached")
        i = int(np.searchsorted(dt, largest * (1 + 1e-12), side="right")) - 1
        known = [(float(dt[j]), float(error[j])) if 0 <= j < len(dt) else (nan, nan) for j in (i, i + 1)]
        return LargestStep(largest, KNOWN_AS[how], known[0][0], known[1][0], known[0][1], known[1][1])


def largest_of_each(ladders: Sequence[Ladder], target: float) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """The largest step of each of several ladders for a target error, and how it is known: as :meth:`Ladder.find`, at once.

    Two arrays (ladders,): the step in s, NaN where there is none; and one of the numbers
    :data:`~polhode.fits.largest_step.NOT_RUN` to :data:`~polhode.fits.largest_step.UNREACHED`. ``target`` has the unit of the
    errors; ValueError if it is no positive number.
    """
    steps, how = np.full(len(ladders), nan), np.full(len(ladders), NOT_RUN, "int8")
    for dt in {ladder.dt.tobytes(): ladder.dt for ladder in ladders}.values():
        same = [i for i, ladder in enumerate(ladders) if np.array_equal(ladder.dt, dt)]
        errors, orders = np.array([ladders[i].error for i in same]), [ladders[i].order_below for i in same]
        steps[same], how[same] = largest_step(dt, errors, target, orders, time=ladders[same[0]].horizon)
    return np.where(np.isin(how, list(KNOWN_AS)), steps, nan), how


#: The words for how a step is known.
KNOWN_AS: dict[float, str] = {BETWEEN: "between", COARSEST: "coarsest", EXTRAPOLATED: "extrapolated"}


def whole_steps(dt: float, horizon: float) -> float:
    """The number of whole steps no longer than ``dt`` in the time ``horizon``, both in s; NaN for a NaN."""
    return float(ceil(horizon / dt * (1 - 1e-12))) if isfinite(dt) else nan


def is_published_ladder(dt: ArrayLike) -> bool:
    """Whether these are the step sizes of del Valle et al. (2024), Fig. 2, ascending, to 1e-5 of each.

    There are 20 from 1e-7 s to 0.1 s, logarithmically spaced.
    """
    steps = np.asarray(dt, float)
    return steps.shape == (20,) and np.allclose(steps, np.geomspace(1e-7, 1e-1, 20), rtol=1e-5, atol=0)


def priced(
    steps: ArrayLike, evaluations: ArrayLike, step_time: ArrayLike, price: ArrayLike, unit: float
) -> NDArray[np.float64]:
    """Time in s of ``steps`` steps and ``evaluations`` torques that cost ``price`` times ``unit`` seconds each.

    Arrays that broadcast to the shape of the result; the time of a step, ``step_time``, in s.

    A price of zero needs no unit: the step time already includes the cheapest possible torque.
    """
    extra = np.where(np.asarray(price, float) == 0, 0.0, np.asarray(price, float) * unit)
    return np.asarray(np.asarray(steps, float) * step_time + np.asarray(evaluations, float) * extra)
