"""Means, medians and paired comparisons over the initial states of many-body runs, with intervals of known coverage.

``data`` is a scene's group of many_body.nc, with errors over integrator, dt and seed; ``method`` is a key, ``row`` the position
of a step size along dt. A function that takes these raises :class:`~polhode.fits.NotInRun` for a method that the data lack.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import comb, isclose, isfinite, nan, pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from polhode.fits import NotInRun
from polhode.fits.largest_step import BETWEEN, largest_step

if TYPE_CHECKING:
    import xarray as xr

#: Nominal coverage of the intervals. Their actual coverage is stated with them.
LEVEL = 0.95
#: Number of samples from which the coverage of the interval of a mean is determined.
DRAWS = 2000


@dataclass(frozen=True)
class Estimate:
    """A statistic over initial states with its interval.

    Parameters
    ----------
    value, low, high : float
        The value and the ends of the interval; these are NaN if there is none.
    coverage : float
        The probability that such an interval contains the true value, if it follows without further assumptions; else NaN.
    """

    value: float
    low: float = nan
    high: float = nan
    coverage: float = nan


@cache
def ranks(n: int) -> tuple[int, float]:
    """The distribution-free interval of a median from ``n`` values: from the k-th smallest to the k-th largest.

    Each value is below the median or above it with probability 1/2 (the sign test). k is the largest with a coverage of
    :data:`LEVEL`, or 1 if no k has that: from five values no interval covers more than 93.75 %.

    Returns
    -------
    k, and the coverage
    """
    k, below, coverage_of_k = 1, 1, float(1 - 2 / 2**n)
    # Whether one value more on either side may be left out.
    while k < n // 2 and (coverage := float(1 - 2 * (below := below + comb(n, k)) / 2**n)) >= LEVEL:
        k, coverage_of_k = k + 1, coverage
    return k, coverage_of_k if n > 1 else nan


def median(values: np.ndarray) -> Estimate:
    """The median of ``values`` (n,), which may be infinite, with the exact interval of :func:`ranks`, if n > 1.

    In the unit of the values.
    """
    ordered = np.sort(np.asarray(values, float))
    n = len(ordered)
    if n == 0:
        return Estimate(nan)
    with np.errstate(invalid="ignore"):
        value = float(np.median(ordered))
    if n == 1:
        return Estimate(value)
    k, coverage = ranks(n)
    return Estimate(value, float(ordered[k - 1]), float(ordered[-k]), coverage)


def mean(values: np.ndarray, comparisons: int = 1) -> Estimate:
    """The mean of ``values`` (n,) with Student's interval, if n > 1 and the mean is finite, in the unit of the values.

    Errors are skewed, so the interval covers less than :data:`LEVEL`; see :func:`coverage_of_mean`. For several ``comparisons``
    it is wider, so that all of them hold together at this level (Bonferroni).
    """
    values = np.asarray(values, float)
    value = float(np.mean(values)) if len(values) else nan
    if len(values) < 2 or not isfinite(value):
        return Estimate(value)
    half = student(len(values), comparisons) * float(np.std(values, ddof=1)) / len(values) ** 0.5
    return Estimate(value, value - half, value + half)


def student(n: int, comparisons: int = 1) -> float:
    """The quantile of Student's distribution for a two-sided interval from ``n`` values, one of several ``comparisons``.

    A number, in standard errors of the mean; the level is :data:`LEVEL`.
    """
    level = 1 - (1 - LEVEL) / comparisons
    share = (1 + level) / 2
    if n == 3:  # in closed form, with the same bits: answers on liquids, of three starts each, need not wait for SciPy
        return (2 * share - 1) / sqrt(2 * share * (1 - share))
    from scipy import special  # imported here because it takes a while, and most jobs need no interval of a mean

    return float(special.stdtrit(n - 1, share))


def coverage_of_mean(population: np.ndarray, n: int) -> float:
    """The fraction of intervals of :func:`mean`, from ``n`` values drawn from ``population``, that contain the mean of all.

    ``population`` (m,) in any unit; a number from 0 to 1. The draws are the same in every call, so that a report is
    reproducible byte for byte. NaN for a single value, and for a population that is not finite.
    """
    population = np.asarray(population, float)
    if n < 2 or not np.isfinite(population).all():
        return nan
    drawn = population[np.random.Generator(np.random.PCG64(n)).integers(len(population), size=(DRAWS, n))]
    half = student(n) * drawn.std(axis=1, ddof=1) / n**0.5
    return float(np.mean(np.abs(drawn.mean(axis=1) - population.mean()) <= half))


def jackknife(statistic: Callable[[np.ndarray], float], n: int) -> Estimate:
    """A positive statistic of ``n`` states, and Student's interval of its logarithm from leaving out each state in turn.

    There is no interval for a single state, nor for a statistic that is zero or not finite.

    Parameters
    ----------
    statistic : function of an array (k,) of indices of states, from 0 to n - 1, that returns a number
    """
    every = np.arange(n)
    value = statistic(every)
    if n < 2 or not (isfinite(value) and value > 0):
        return Estimate(value)
    without = np.log([statistic(np.delete(every, left_out)) for left_out in range(n)])
    half = student(n) * ((n - 1) * float(np.var(without))) ** 0.5
    return Estimate(value, float(value * np.exp(-half)), float(value * np.exp(half)))


def ratio(ours: np.ndarray, theirs: np.ndarray) -> Estimate:
    """The ratio of the means of two sets of errors from the same states, the comparison of methods on many bodies.

    A few states with large errors weigh more in a mean than in a median; but the publication plots means, and both start from
    the same states.

    Parameters
    ----------
    ours, theirs : arrays (n,), or (rows, n) for the geometric mean of the ratios of the rows; inf where a run blew up
        Both in one unit; the ratio has none.
    """
    ours, theirs = np.atleast_2d(ours), np.atleast_2d(theirs)

    def of(states: np.ndarray) -> float:
        return float(np.exp(np.mean(np.log(ours[:, states].mean(axis=1)) - np.log(theirs[:, states].mean(axis=1)))))

    with np.errstate(divide="ignore", invalid="ignore"):
        return jackknife(of, ours.shape[1])


def coverage_of_ratio(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The fraction of intervals of :func:`ratio`, from as many states drawn from these, that contain the ratio of all.

    Both (n,), in one unit; a number from 0 to 1.

    NaN where it has no interval. The draws are the same in every call.
    """
    n = len(ours)
    whole = ratio(ours, theirs)
    if not isfinite(whole.low):
        return nan
    drawn = np.random.Generator(np.random.PCG64(n)).integers(n, size=(DRAWS, n))
    sums = [errors[drawn].sum(axis=1, keepdims=True) for errors in (ours, theirs)]
    value = np.log(sums[0] / sums[1])[:, 0]
    without = np.log((sums[0] - ours[drawn]) / (sums[1] - theirs[drawn]))
    half = student(n) * ((n - 1) * np.var(without, axis=1)) ** 0.5
    return float(np.mean(np.abs(value - np.log(whole.value)) <= half))


def of_seeds(data: "xr.Dataset", method: str, row: int, name: str = "energy_error") -> np.ndarray:
    """The error of every initial state of a method at the ``row``-th step size, an array (seed,).

    inf where the run blew up or is missing, but NaN for all states if there is no run with this step size.

    Parameters
    ----------
    name : the variable, in its unit: ``energy_error`` in %, ``energy_error_mean`` relative

    Raises
    ------
    NotInRun
        If the data do not contain the method.
    """
    methods = data["integrator"].values.tolist()
    if method not in methods:
        raise NotInRun(f"{method} is not among the methods of this scene")
    # Without data.sel, which would take a second for the thousand rows of a table.
    place = {"integrator": methods.index(method), "dt": row}
    values = np.asarray(data.variables[name].isel(place).values, float)
    missing = np.isnan(values)
    if missing.all() and not (data.variables["diverged"].isel(place).values == 1).any():
        return values
    return np.where(missing, np.inf, values)


def ran(data: "xr.Dataset", method: str, row: int) -> bool:
    """Whether a method was run with the ``row``-th step size; a run that blew up counts."""
    return not np.isnan(of_seeds(data, method, row, "energy_error_mean")).any()


def mean_error(data: "xr.Dataset", method: str, row: int) -> Estimate:
    """The mean over initial states, as del Valle et al. (2024) plot it; inf if one run blew up.

    The energy error in %, with its interval.
    """
    return mean(of_seeds(data, method, row))


def median_error(data: "xr.Dataset", method: str, row: int) -> Estimate:
    """The median over initial states; finite as long as more than half of them are.

    The energy error in %, with its interval.
    """
    return median(of_seeds(data, method, row))


def ratio_of_means(data: "xr.Dataset", method: str, row: int, other: str, other_row: int | None = None) -> Estimate:
    """The :func:`ratio` of two methods' errors, as means over the samples, at one step or at two; 0 or inf where one blew up.

    NaN where both did, or one was not run. ``other`` is the second method, ``other_row`` its step size, by default the same.

    The published measure is not used: the smaller of the mean and the last value is accidentally small if the energy passes its
    initial value at the end, and scatters more.
    """
    ours = of_seeds(data, method, row, "energy_error_mean")
    return ratio(ours, of_seeds(data, other, row if other_row is None else other_row, "energy_error_mean"))


def ratio_over_steps(data: "xr.Dataset", method: str, other: str) -> Estimate:
    """The geometric mean of :func:`ratio_of_means` over all step sizes at which every run of both lasted. A number.

    NaN if there is no such step size.
    """
    both = [[of_seeds(data, key, row, "energy_error_mean") for row in range(data.sizes["dt"])] for key in (method, other)]
    ours, theirs = (np.array(errors) for errors in both)
    lasted = np.isfinite(ours).all(axis=1) & np.isfinite(theirs).all(axis=1)
    return ratio(ours[lasted], theirs[lasted]) if lasted.any() else Estimate(nan)


def followed(data: "xr.Dataset") -> list[str]:
    """The keys of the methods that were run with more than half of the step sizes: those whose error can be followed over the
    step.
    """
    keys = list(map(str, data["integrator"].values))
    return [key for key in keys if sum(ran(data, key, row) for row in range(data.sizes["dt"])) > data.sizes["dt"] / 2]


def spin_label(data: "xr.Dataset") -> str:
    """The initial spin of the clumps of a scene, in words that both TeX and Matplotlib understand."""
    spin = float(data.attrs["spin"])
    if spin == 0:
        return "no spin"
    return r"spin $\pi$ rad/s" if isclose(spin, pi, rel_tol=1e-3) else f"spin {spin:g} rad/s"


def mean_curve(data: "xr.Dataset", method: str) -> np.ndarray:
    """The mean error in % over the step sizes, an array (dt,).

    inf where a run blew up, NaN where the method does not run.
    """
    return np.array([np.mean(of_seeds(data, method, row)) for row in range(data.sizes["dt"])])


def step_for(data: "xr.Dataset", method: str, error: float) -> float:
    """The largest step in s with which the mean error stays below ``error`` %; NaN unless it lies between two that were run."""
    return _step_of_mean(data["dt"].values, mean_curve(data, method), error)


def _step_of_mean(dt: np.ndarray, curve: np.ndarray, error: float) -> float:
    run = ~np.isnan(curve)
    step, how = largest_step(dt[run], curve[run], error)
    return float(step) if how == BETWEEN else nan


def ratio_of_steps(data: "xr.Dataset", method: str, other: str, error: float) -> Estimate:
    """Ratio of the steps of :func:`step_for` of two methods for a mean ``error`` in %. A number, with its interval.

    NaN where one of the steps is.
    """
    dt = data["dt"].values
    ours, theirs = (np.array([of_seeds(data, key, row) for row in range(len(dt))]) for key in (method, other))

    def ratio(states: np.ndarray) -> float:
        first, second = (_step_of_mean(dt, values[:, states].mean(axis=1), error) for values in (ours, theirs))
        return first / second

    return jackknife(ratio, data.sizes["seed"])
