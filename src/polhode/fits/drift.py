"""How far a conserved quantity is off at the end of a long run, and how its deviation grew."""

from dataclasses import dataclass
from itertools import pairwise
from math import nan

import numpy as np
from numpy.typing import ArrayLike

#: A distance is called bounded if its exponent of time is below the first, and growing with time if it is above the second.
BOUNDED, GROWING = 0.25, 0.75


@dataclass(frozen=True)
class Drift:
    """Deviation of a conserved quantity at the end of a long run, and how it grew.

    Parameters
    ----------
    last : float
        Largest distance over the last tenth of the run, in the unit of the distance.
    largest : float
        Largest distance over all of it, in the same unit.
    growth : float
        Exponent of the power of time with which the distance grows: 0 where it only oscillates, 1/2 for a random walk, 1 for a
        steady drift. NaN where there are too few samples or no distance at all.
    """

    last: float
    largest: float
    growth: float


#: Number of windows of equal length in log t, over the last DECADES of a run, whose root mean squares give the growth.
WINDOWS, DECADES = 8, 1.5
#: A relative distance of this size only means that the quantity is lost.
LOST_CHANGE = 1.0
#: A relative change below this after a whole long run is rounding, which grows as a random walk.
ROUNDING = 1e-9


def bounded(growth: float, last: float) -> bool:
    """Whether a change of this exponent and final size counts as bounded: it oscillates, or it is rounding.

    Its ``growth``, a power of time, is below :data:`BOUNDED` and ``last``, which is relative, below :data:`LOST_CHANGE`; or
    ``last`` is below :data:`ROUNDING`. Both are as in :class:`Drift`; NaN is below nothing.
    """
    return last < ROUNDING or (growth < BOUNDED and last < LOST_CHANGE)


def drift(time: ArrayLike, distance: ArrayLike) -> Drift:
    """Size and growth of a distance over a long run.

    The growth is the slope, in logarithms, of the root mean squares in windows of time over the last one and a half decades, so
    that an oscillation counts by its amplitude; a window is weighted by its number of samples. (The maximum in a window would
    not do: it increases with the number of samples.)

    Parameters
    ----------
    time : (n,)
        Times in s, ascending, from 0.
    distance : (n,)
        A quantity that is zero in the exact motion, of either sign and in any unit; NaN after a blow-up. If the last value is
        NaN or infinite, all of the result is NaN.
    """
    t, d = np.asarray(time, float), np.abs(np.asarray(distance, float))
    if not np.isfinite(d[-1]):
        return Drift(nan, nan, nan)
    last = float(np.nanmax(d[t >= 0.9 * t[-1]]))
    edges = t[-1] * 10.0 ** np.linspace(-DECADES, 0, WINDOWS + 1)
    edges[-1] *= 1 + 1e-9
    middles, sizes, weights = [], [], []
    for first, end in pairwise(np.searchsorted(t, edges)):
        finite = first + np.flatnonzero(np.isfinite(d[first:end]))
        times, inside = t[finite], d[finite]
        if inside.size and (top := inside.max()) > 0:
            middles.append(np.log(np.sqrt(np.mean(times**2))))
            # Scaled, so that a run that blew up does not overflow when squared.
            sizes.append(np.log(top) + 0.5 * np.log(np.mean((inside / top) ** 2)))
            weights.append(np.sqrt(inside.size))
    growth = float(np.polyfit(middles, sizes, 1, w=weights)[0]) if len(middles) >= 4 else nan
    return Drift(last, float(np.nanmax(d)), growth)
