"""Means, medians and paired comparisons over the initial states of many-body runs, with bootstrap intervals."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isclose, nan, pi

import numpy as np
import xarray as xr

from polhode.study.inputs import interpolated_step

#: How often the initial states are drawn anew, and the part of the outcomes that an interval holds.
RESAMPLES, LEVEL = 2000, 0.95


@dataclass(frozen=True)
class Estimate:
    """A statistic over initial states with the interval of its bootstrap."""

    value: float
    low: float
    high: float


def bootstrap(values: np.ndarray, statistic: Callable[..., np.ndarray]) -> Estimate:
    """``statistic`` (``numpy.mean`` or ``numpy.median``) of ``values`` (n,) and its bootstrap interval.

    The draws are the same for all values of one length, so that a figure has the same bytes twice. There is no interval of one
    value alone, and none if the statistic is not finite.
    """
    values = np.asarray(values, float)
    n = len(values)
    if n == 0:
        return Estimate(nan, nan, nan)
    value = float(statistic(values))
    if n == 1 or not np.isfinite(value):
        return Estimate(value, nan, nan)
    drawn = np.random.Generator(np.random.PCG64(n)).integers(n, size=(RESAMPLES, n))
    with np.errstate(invalid="ignore"):
        found = statistic(values[drawn], axis=1)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(found, (tail, 1 - tail), method="inverted_cdf")
    return Estimate(value, float(low), float(high))


def of_seeds(data: xr.Dataset, method: str, row: int, name: str = "energy_error") -> np.ndarray:
    """The energy error in % of every initial state of a method at the ``row``-th step size; inf where the run blew up."""
    values = np.asarray(data[name].sel({"method": method}).isel(dt=row).values, float)
    return np.where(np.isnan(values), np.inf, values)


def mean_error(data: xr.Dataset, method: str, row: int) -> Estimate:
    """The mean over initial states, as del Valle et al. (2024) plot it; inf if one run blew up."""
    return bootstrap(of_seeds(data, method, row), np.mean)


def median_error(data: xr.Dataset, method: str, row: int) -> Estimate:
    """The median over initial states; finite while half of them are."""
    return bootstrap(of_seeds(data, method, row), np.median)


def paired_ratio(data: xr.Dataset, method: str, other: str, row: int) -> Estimate:
    """The median over initial states of the ratio of two methods' errors from the same state, as means over the samples.

    Not as published: the smaller of the mean and the last value is tiny by accident where the energy passes its start at the
    end, and the ratio of two such values says little.
    States from which both blew up do not count. Ratios span decades; the median of their logarithms and its interval are taken.
    """
    ours, theirs = (of_seeds(data, key, row, "energy_error_mean") for key in (method, other))
    fair = np.isfinite(ours) | np.isfinite(theirs)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(ours[fair]) - np.log(theirs[fair])
    found = bootstrap(ratios[~np.isnan(ratios)], np.median)
    return Estimate(*(float(np.exp(x)) for x in (found.value, found.low, found.high)))


def spin_label(data: xr.Dataset) -> str:
    """The spin of the clumps of a scene at the start, in words that TeX and Matplotlib both understand."""
    spin = float(data.attrs["spin"])
    if spin == 0:
        return "no spin"
    return r"spin $\pi$ rad/s" if isclose(spin, pi, rel_tol=1e-3) else f"spin {spin:g} rad/s"


def mean_curve(data: xr.Dataset, method: str) -> np.ndarray:
    """The mean error in % over the step sizes."""
    return np.array([np.mean(of_seeds(data, method, row)) for row in range(data.sizes["dt"])])


def step_for(data: xr.Dataset, method: str, error: float) -> float:
    """The largest step in s up to which the mean error, drawn with straight lines in logarithms, stays below ``error`` %.

    A step from which a run blew up counts as above, and the curve ends there. NaN where it does not cross the level, or is
    above it from the first step on.
    """
    mean = mean_curve(data, method)
    kept = np.flatnonzero(~np.isfinite(mean))
    end = int(kept[0]) if kept.size else len(mean)
    if end == 0 or mean[0] >= error:
        return nan
    return interpolated_step(data["dt"].values[:end], mean[:end], error)
