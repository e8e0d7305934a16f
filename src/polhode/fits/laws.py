"""Laws of the error of ensembles: error per radian = C (Omega dt)^p, for each method and class of torque, over random bodies.

Everything is dimensionless: the step ``h = Omega dt`` in radians, the time in radians turned, the angular velocity in units of
its scale Omega. The functions take the dataset of ensembles.nc, or plain arrays, and know no registry.

Where a question can be answered from measured errors it is: steps for a given error are interpolated between the steps that
were run, and a law is used only below the finest of these, which is flagged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from polhode.fits import seed_statistics
from polhode.fits.orders import CEILING, FLOOR_FACTOR

Array = NDArray[np.float64]

#: The errors with a law; ``both`` is the larger of the two, and what is meant by "error" elsewhere.
QUANTITIES = ("q", "omega", "both")
#: Smallest number of steps in a fit, and the largest rms residual in decades up to which coarser steps are added.
FEWEST = 3
RESIDUAL = 0.01
#: An error that falls more slowly with the step than with this power has no law: it is round-off, of a method that is exact.
LOWEST = 0.5
#: An error above this, in radians, means that the orientation is lost.
STABLE = 0.5
#: Rounding has begun where the error exceeds the law by this factor.
ROUNDED = 2.0
#: The errors per radian for which steps are stated.
TARGETS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
#: How a number of steps was found, the values of ``how``.
NOT_RUN, BETWEEN, COARSEST, EXTRAPOLATED, UNREACHED = 0, 1, 2, 3, 4
#: The part of the bodies below and above the spread that is stated.
SPREAD = (0.1, 0.9)


def errors(data: xr.Dataset) -> xr.DataArray:
    """The errors over quantity, torque_class, method, body, step (ascending) and radians.

    Infinite where a run diverged, NaN where there was none.
    """
    data = data.sortby("step")
    lost = data["diverged"].astype(bool)
    dims = ("torque_class", "integrator", "body", "step", "radians")
    q, omega = (data[f"error_{name}"].transpose(*dims).astype(float) for name in ("q", "omega"))
    q, omega = (e.where(~(lost & e.isnull()), np.inf) for e in (q, omega))
    stacked = np.stack([q.values, omega.values, np.maximum(q.values, omega.values)])
    coords = {name: data[name].values for name in dims if name in data.coords}
    return xr.DataArray(stacked, {"quantity": list(QUANTITIES), **coords}, ("quantity", *dims))


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
        """The fits with an order above :data:`LOWEST`."""
        sloping = self.order > LOWEST
        ends = (np.where(sloping, end, -1) for end in (self.first, self.last))
        return Fits(np.where(sloping, self.order, np.nan), np.where(sloping, self.intercept, np.nan), *ends)


def fit(step: ArrayLike, error: ArrayLike, usable: ArrayLike) -> Fits:
    """Least-squares lines through the finest usable steps of each curve, extended to coarser ones while they stay straight.

    This is the window of :func:`polhode.fits.orders.fit_order`, for ladders with a factor of two between steps and
    for many curves at once: the first :data:`FEWEST` neighbouring usable steps, from the finest on, with an rms residual of at
    most :data:`RESIDUAL` decades, and all coarser ones up to the first with which the residual is larger.

    Parameters
    ----------
    step : (S,), ascending
    error : (..., S)
    usable : (..., S)
        Which errors are clear of round-off and asymptotic.
    """
    x = np.log10(np.asarray(step, float))
    usable = np.asarray(usable, bool)
    y = np.log10(np.where(usable, error, 1.0))
    shape, size = y.shape[:-1], y.shape[-1]
    order, intercept = np.full(shape, np.nan), np.full(shape, np.nan)
    first, last = np.full(shape, -1), np.full(shape, -1)
    for start in range(size - FEWEST + 1):
        # Curves that still look for their window; then those whose window still grows.
        growing = first < 0
        for end in range(start + FEWEST, size + 1):
            growing = growing & usable[..., start:end].all(axis=-1)
            if not growing.any():
                break
            slope, at_zero, residual = _line(x[start:end], y[..., start:end])
            growing = growing & (residual <= RESIDUAL)
            order, intercept = np.where(growing, slope, order), np.where(growing, at_zero, intercept)
            first, last = np.where(growing, start, first), np.where(growing, end - 1, last)
    return Fits(order, intercept, first, last)


def _line(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """Slope, intercept and rms residual of straight lines through (x, y), y over (..., points)."""
    middle = y.mean(axis=-1)
    centred = x - x.mean()
    slope = (centred * y).sum(axis=-1) / (centred**2).sum()
    rest = y - middle[..., None] - slope[..., None] * centred
    return slope, middle - slope * x.mean(), np.sqrt((rest**2).mean(axis=-1))


def round_off(step: ArrayLike, radians: float) -> Array:
    """The error below which round-off of the ``radians / step`` steps may show."""
    return np.asarray(FLOOR_FACTOR * np.finfo(float).eps * radians / np.asarray(step, float))


def laws(data: xr.Dataset) -> xr.Dataset:
    """The law of every torque class, method, body and quantity.

    Parameters
    ----------
    data : the dataset of ensembles.nc

    Returns
    -------
    Over quantity, torque_class, method and body, NaN where there is none:

    * ``order`` p and ``coefficient`` C of: error per radian at the last checkpoint = C step^p, fitted between ``finest`` and
      ``coarsest`` (rad);
    * ``leading``: C if p is rounded to the whole number, from the finest steps of the fit, so that bodies can be compared;
    * ``growth``: the exponent of the radians turned with which the error grows at a given step, the median over the fit;
    * ``rounding``: the coarsest of the steps below the fit at which, as at all finer ones, the error exceeds the law by
      :data:`ROUNDED` and is not larger than :func:`round_off` explains;
    * ``stable``: the largest step that, as all finer ones, leaves an error below :data:`STABLE`; ``stable_at_least`` tells
      that it is the coarsest step that was run.
    """
    all_errors = errors(data)
    step, radians = all_errors["step"].values, all_errors["radians"].values
    total = float(radians[-1])
    every = all_errors.values
    error = every[..., -1]
    usable = np.isfinite(error) & (error > round_off(step, total)) & (error < CEILING)
    line = fit(step, error, usable).without_flat()
    columns = {
        "order": (line.order, "order of the error in the step"),
        "coefficient": (10.0**line.intercept / total, "error per radian at a step of one radian, by the law"),
        "leading": (_leading(step, error, line) / total, "the same with the order rounded to a whole number"),
        "finest": (_at(step, line.first), "finest step of the fit, rad"),
        "coarsest": (_at(step, line.last), "coarsest step of the fit, rad"),
        "growth": (_growth(radians, every, line), "exponent of the radians turned with which the error grows"),
        "rounding": (_rounding(step, error, line, total), "coarsest step at which round-off shows, rad"),
        "stable": (_stable(step, error), "largest stable step, rad"),
    }
    dims = all_errors.dims[:-2]
    result = xr.Dataset({name: (dims, values, {"long_name": text}) for name, (values, text) in columns.items()})
    result["stable_at_least"] = (dims, np.asarray(columns["stable"][0] == step[-1]))
    return result.assign_coords({name: all_errors[name] for name in dims if name in all_errors.coords})


#: What :func:`in_file` says of a law: name in the file -> (name in :func:`laws`, units, meaning).
IN_FILE: dict[str, tuple[str, str, str]] = {
    "law_order": ("order", "1", "p of the law: error per radian = C step^p, the larger of both errors at the last time"),
    "law_coefficient": ("coefficient", "1", "C of the law: error per radian at a step of one radian"),
    "law_leading": ("leading", "1", "C of the law with p rounded to a whole number, for comparison between bodies"),
    "law_growth": ("growth", "1", "exponent of the radians turned with which the error at a given step grows"),
    "law_finest": ("finest", "1", "finest step of the fit, in radians"),
    "law_coarsest": ("coarsest", "1", "coarsest step of the fit, in radians"),
    "law_rounding": ("rounding", "1", "coarsest step at which round-off shows, in radians; NaN if it does at none"),
    "law_stable": ("stable", "1", "largest stable step, in radians"),
}
#: Those whose distribution over the bodies is in the file, and those that are steps of the ladder, to all digits.
DISTRIBUTED = ("law_order", "law_coefficient", "law_leading", "law_growth")
STEPS = ("law_finest", "law_coarsest", "law_rounding", "law_stable")


def in_file(data: xr.Dataset) -> xr.Dataset:
    """The laws as ensembles.nc holds them, NaN where there is none.

    Parameters
    ----------
    data : the dataset of ensembles.nc without them

    Returns
    -------
    Over torque_class, method and body: the variables of :data:`IN_FILE`; ``law_order_q`` and ``law_order_omega``, the orders of
    each error; ``law_floor``, the error per radian by the law where round-off begins; ``law_stable_at_least``. Over
    torque_class, method and quantile: ``law_order_quantile`` and so on, of :data:`DISTRIBUTED`.
    """
    # One class after the other: the errors of all, three times, need much memory.
    parts = [laws(data.isel(torque_class=[i])) for i in range(data.sizes["torque_class"])]
    both = {name: np.concatenate([one[name].sel(quantity="both").values for one in parts]) for name in parts[0].data_vars}
    dims = ("torque_class", "integrator", "body")
    columns: dict[str, tuple[Array, str, str]] = {n: (both[of], units, text) for n, (of, units, text) in IN_FILE.items()}
    with np.errstate(over="ignore"):
        floor = both["coefficient"] * both["rounding"] ** both["order"]
    columns["law_floor"] = (floor, "1", "error per radian of the law where round-off begins; NaN if it shows at no step")
    for quantity, text in (("q", "orientation"), ("omega", "angular velocity")):
        orders = np.concatenate([one["order"].sel(quantity=quantity).values for one in parts])
        columns[f"law_order_{quantity}"] = (orders, "1", f"fitted order of the error of the {text}")
    variables: dict[str, Any] = {
        name: (dims, values if name in STEPS else values.astype("float32"), {"long_name": text, "units": units})
        for name, (values, units, text) in columns.items()
    }
    bound = {"long_name": "whether larger steps may be stable: law_stable is the coarsest step that was run", "units": "1"}
    variables["law_stable_at_least"] = (dims, both["stable_at_least"].astype("int8"), bound)
    for name in DISTRIBUTED:
        values, units, text = columns[name]
        distribution = spread(values)
        ends = np.stack([distribution.low, distribution.median, distribution.high], axis=-1).astype("float32")
        attributes = {"long_name": f"quantiles over the bodies of: {text}", "units": units}
        variables[f"{name}_quantile"] = ((*dims[:-1], "quantile"), ends, attributes)
    quantiles = {"long_name": "part of the bodies whose value is not larger", "units": "1"}
    coords = {name: data[name].variable for name in dims if name in data.coords}
    return xr.Dataset(variables, {**coords, "quantile": ("quantile", [SPREAD[0], 0.5, SPREAD[1]], quantiles)})


def _at(step: Array, index: NDArray[np.int64]) -> Array:
    return np.where(index < 0, np.nan, step[index])


def _leading(step: Array, error: Array, line: Fits) -> Array:
    """C of error = C step^n with n the nearest whole number to the order, the geometric mean over the finest of a fit."""
    whole = np.rint(line.order)
    logarithms = np.full((*line.order.shape, FEWEST), np.nan)
    for k in range(FEWEST):
        at = np.where(line.first < 0, 0, line.first + k)
        error_there = np.take_along_axis(error, at[..., None], axis=-1)[..., 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            logarithms[..., k] = np.log10(error_there) - whole * np.log10(step[at])
    return np.asarray(np.where(line.first < 0, np.nan, 10.0 ** logarithms.mean(axis=-1)))


def _growth(radians: Array, error: Array, line: Fits) -> Array:
    """The median over the steps of a fit of the slope of log(error) over log(radians); ``error`` over (..., step, radians)."""
    if len(radians) < 2:
        return np.full(line.order.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log10(error)
    slope = _line(np.log10(radians), np.where(np.isfinite(y), y, np.nan))[0]
    place = np.arange(error.shape[-2])
    inside = (place >= line.first[..., None]) & (place <= line.last[..., None]) & (line.first[..., None] >= 0)
    slope = np.where(inside, slope, np.nan)
    some = np.isfinite(slope).any(axis=-1)
    result = np.full(line.order.shape, np.nan)
    result[some] = np.nanmedian(slope[some], axis=-1)
    return result


def _rounding(step: Array, error: Array, line: Fits, radians: float) -> Array:
    """The coarsest step of the run of finest steps whose errors exceed the law; above the bound of round-off the law ends."""
    with np.errstate(invalid="ignore"):
        law = 10.0 ** (line.intercept[..., None] + line.order[..., None] * np.log10(step))
        beyond = (error > ROUNDED * law) & (error <= round_off(step, radians))
        beyond &= np.arange(len(step)) < line.first[..., None]
    count = np.cumprod(beyond, axis=-1).sum(axis=-1)
    return np.where(count > 0, step[np.maximum(count - 1, 0)], np.nan)


def _stable(step: Array, error: Array) -> Array:
    """The largest step that leaves, as do all finer ones, an error below :data:`STABLE`; NaN where there is none."""
    with np.errstate(invalid="ignore"):
        count = np.cumprod(error < STABLE, axis=-1).sum(axis=-1)
    return np.where(count > 0, step[np.maximum(count - 1, 0)], np.nan)


def steps_per_radian(data: xr.Dataset, targets: Sequence[float] = TARGETS, known_laws: xr.Dataset | None = None) -> xr.Dataset:
    """The number of steps per radian that keep the error per radian below each target, of every body.

    As in :mod:`polhode.fits.ladders`: the largest step for which it and all finer ones meet the target, except where
    round-off explains a miss; interpolated in logarithms; below the finest step from the law, if this reaches down to that
    step and round-off leaves room.

    Parameters
    ----------
    data : the dataset of ensembles.nc
    targets : errors per radian
    found : what :func:`laws` returns, if known already

    Returns
    -------
    Over torque_class, method, body and target: ``steps`` per radian, infinite where the target is not reached and NaN where
    nothing was run; ``how``, one of :data:`BETWEEN`, :data:`COARSEST` (fewer might do), :data:`EXTRAPOLATED`,
    :data:`UNREACHED` and :data:`NOT_RUN`.
    """
    known_laws = laws(data) if known_laws is None else known_laws
    every = errors(data).sel(quantity="both").isel(radians=-1)
    step, total = every["step"].values, float(every["radians"])
    error = every.values / total
    law = known_laws.sel(quantity="both")
    floor = round_off(step, total) / total
    steps = np.full((*error.shape[:-1], len(targets)), np.nan)
    how = np.full(steps.shape, NOT_RUN, "int8")
    for i, target in enumerate(targets):
        steps[..., i], how[..., i] = _steps(step, error, floor, target, law, total)
    dims = ("torque_class", "integrator", "body", "target")
    return xr.Dataset(
        {"steps": (dims, steps, {"long_name": "steps per radian"}), "how": (dims, how)},
        {**{name: every[name] for name in dims[:-1] if name in every.coords}, "target": list(targets)},
    )


def _steps(
    step: Array, error: Array, floor: Array, target: float, law: xr.Dataset, total: float
) -> tuple[Array, NDArray[np.int8]]:
    size = len(step)
    run = ~np.isnan(error).all(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        good = error <= target
        missed = ~good & ~(error <= floor)
        stop = np.where(missed.any(axis=-1), missed.argmax(axis=-1), size)
        # The last step that meets the target before the first that misses it.
        place = np.where(good & (np.arange(size) < stop[..., None]), np.arange(size), -1).max(axis=-1)
        low = np.take_along_axis(error, np.maximum(place, 0)[..., None], axis=-1)[..., 0]
        high = np.take_along_axis(error, np.minimum(place + 1, size - 1)[..., None], axis=-1)[..., 0]
        low = np.log(np.maximum(low, np.finfo(float).tiny))
        share = np.clip((np.log(target) - low) / (np.log(high) - low), 0.0, 1.0)
        # Beside a step that diverged nothing is interpolated.
        share = np.where(np.isfinite(high), share, 0.0)
        width = np.log(step[np.minimum(place + 1, size - 1)] / step[place])
        between = step[place] * np.exp(share * width)
        order, coefficient = law["order"].values, law["coefficient"].values
        beyond = (target / coefficient) ** (1 / order)
        possible = law["finest"].values <= step[0] * (1 + 1e-9)
        possible &= (beyond < step[0]) & (round_off(beyond, total) / total <= target)
        cases = [~run, place == size - 1, place >= 0, (stop == 0) & possible]
        h = np.select(cases, [np.nan, step[-1], between, beyond], 0.0)
        how = np.select(cases, [NOT_RUN, COARSEST, BETWEEN, EXTRAPOLATED], UNREACHED)
        return np.asarray(1 / h), how.astype("int8")


@dataclass(frozen=True)
class Spread:
    """The median over bodies, and the ends of the range that leaves out a tenth of them on either side."""

    median: Array
    low: Array
    high: Array


def spread(values: ArrayLike, axis: int = -1) -> Spread:
    """Median, 10 % and 90 % over an axis; infinite values count as large, NaN as missing, and NaN where all are missing."""
    ordered = np.sort(np.moveaxis(np.asarray(values, float), axis, -1), axis=-1)
    count = (~np.isnan(ordered)).sum(axis=-1)

    def at(index: NDArray[np.int64]) -> Array:
        taken = np.take_along_axis(ordered, np.clip(index, 0, None)[..., None], axis=-1)[..., 0]
        return np.where(count > 0, taken, np.nan)

    def quantile(share: float) -> Array:
        """The smallest value that is not exceeded by this part of the values."""
        return at(np.ceil(share * count - 1e-9).astype(int) - 1)

    return Spread((at((count - 1) // 2) + at(count // 2)) / 2, *(quantile(share) for share in SPREAD))


def quantile(values: ArrayLike, share: float) -> float:
    """The smallest of some values that is not exceeded by this part of them; counted as in :func:`spread`."""
    ordered = np.sort(np.asarray(values, float).ravel())
    ordered = ordered[~np.isnan(ordered)]
    return float(ordered[int(np.ceil(share * ordered.size - 1e-9)) - 1]) if ordered.size else np.nan


@dataclass(frozen=True)
class Compared:
    """Each method against the best, from the same bodies; arrays over methods.

    Parameters
    ----------
    best : int
        Position of the best method; -1 if none reaches the target.
    value, low, high : arrays (method,)
        The median over bodies of the ratio of work, and the ends of its interval; infinite where the target is not reached,
        NaN where nothing was run.
    """

    best: int
    value: Array
    low: Array
    high: Array

    @property
    def told_apart(self) -> NDArray[np.bool_]:
        """Whether the interval excludes 1."""
        return np.asarray((self.low > 1) | (self.high < 1))


#: Only this many methods with the smallest median are considered as the best.
FINALISTS = 8


def compare(work: ArrayLike, allowed: ArrayLike) -> Compared:
    """Methods against the best of those allowed, body by body.

    The best is the one that is beaten least: the largest median, over all rivals, of its work divided by theirs for the same
    body is smallest. The median of a ratio over bodies has the exact, distribution-free interval of the sign test
    (:func:`polhode.fits.seed_statistics.ranks`): what resampling bodies would approach, without random numbers.

    Parameters
    ----------
    work : (method, body) or (method, class, body)
        What a method needs for one radian. Over several classes the ratio of a body is the geometric mean.
    allowed : (method,) of bool
        Which methods may be the best.
    """
    work = np.asarray(work, float)
    work = work[:, None, :] if work.ndim == 2 else work
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log(work)
    methods, _, bodies = logarithm.shape
    nothing = np.full(methods, np.nan)
    typical = spread(logarithm.reshape(methods, -1)).median
    typical = np.where(np.asarray(allowed, bool) & np.isfinite(typical), typical, np.inf)
    finalists = [int(i) for i in np.argsort(typical, kind="stable")[:FINALISTS] if np.isfinite(typical[i])]
    if not finalists or not bodies:
        return Compared(-1, nothing, nothing, nothing)
    worst = [max((-spread(_ratios(logarithm, one, finalists)).median).tolist()) for one in finalists]
    best = finalists[int(np.argmin(worst))]
    ratios = _ratios(logarithm, best, range(methods))
    value, low, high = interval(ratios)
    return Compared(best, np.exp(value), np.exp(low), np.exp(high))


def _ratios(logarithm: Array, of: int, others: Sequence[int] | range) -> Array:
    """Logarithms of the work of ``others`` over that of one method, (other, body); geometric means over the classes."""
    of_one = logarithm[of][None]
    of_others = logarithm[list(others)]
    with np.errstate(invalid="ignore"):
        return np.asarray((of_others - of_one).mean(axis=1))


def interval(values: ArrayLike) -> tuple[Array, Array, Array]:
    """The median over the last axis with the interval of :func:`~polhode.fits.seed_statistics.ranks`; NaN is left out.

    A value without interval, that of a single body, has NaN for its ends.
    """
    ordered = np.sort(np.asarray(values, float), axis=-1)
    count = (~np.isnan(ordered)).sum(axis=-1)
    value = spread(ordered).median
    low, high = np.full(count.shape, np.nan), np.full(count.shape, np.nan)
    for n in np.unique(count):
        if n < 2:
            continue
        k, _ = seed_statistics.ranks(int(n))
        of_size = count == n
        low[of_size], high[of_size] = ordered[of_size][:, k - 1], ordered[of_size][:, n - k]
    return value, low, high


def paired(work: ArrayLike, other: ArrayLike) -> seed_statistics.Estimate:
    """The median over bodies of the work of one method over that of another, with its interval.

    Parameters
    ----------
    work, other : (body,) or (class, body)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(np.atleast_2d(np.asarray(work, float))) - np.log(np.atleast_2d(np.asarray(other, float)))
        ratio = ratio.mean(axis=0)
    estimate = seed_statistics.median(ratio[~np.isnan(ratio)])
    value, low, high = (float(np.exp(x)) for x in (estimate.value, estimate.low, estimate.high))
    return seed_statistics.Estimate(value, low, high, estimate.coverage)
