"""Laws of the error of ensembles: error per radian = C (Omega dt)^p, for each method and class of torque, over random bodies.

Everything is dimensionless: the step ``h = Omega dt`` in radians, the time in radians turned, the angular velocity in units of
its scale Omega. The functions take the dataset of ensembles.nc, or plain arrays, and know no registry. The dimension over
methods is called ``integrator`` in all datasets.

Where a question can be answered from measured errors it is: steps for a given error are interpolated between the steps that
were run, and a law is used only below the finest of these, which is flagged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from polhode.fits import seed_statistics
from polhode.fits.largest_step import SHARE_OF_CASES, largest_step, round_off
from polhode.fits.orders import CEILING, Fits, fit, straight_line

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]

#: The errors with a law; ``both`` is the larger of the two, and what is meant by "error" elsewhere.
QUANTITIES = ("q", "omega", "both")
#: Smallest number of steps in a fit, and the largest rms residual in decades up to which coarser steps are added.
FEWEST = 3
RESIDUAL = 0.01
#: An error above this, in radians, means that the orientation is lost.
STABLE = 0.5
#: Rounding has begun where the error exceeds the law by this factor.
ROUNDED = 2.0
#: The errors per radian for which steps are stated.
TARGETS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
#: Classes of torque asked for together.
TOGETHER = {
    "smooth": ("constant", "time", "lab", "state"),
    "friction": ("friction_isotropic", "friction_anisotropic", "friction_smooth_coulomb"),
}
#: The part of the bodies below and above the spread that is stated.
SPREAD = (0.1, SHARE_OF_CASES)


def errors(data: "xr.Dataset") -> "xr.DataArray":
    """The errors over quantity, torque_class, method, body, step (ascending) and radians.

    The quantities are :data:`QUANTITIES`: the angle (rad), the error of the angular velocity over Omega, and the larger of
    both. Infinite where a run diverged, NaN where there was none.
    """
    import xarray as xr

    data = data.sortby("step")
    lost = data["diverged"].astype(bool)
    dims = ("torque_class", "integrator", "body", "step", "radians")
    q, omega = (data[f"error_{name}"].transpose(*dims).astype(float) for name in ("q", "omega"))
    q, omega = (e.where(~(lost & e.isnull()), np.inf) for e in (q, omega))
    stacked = np.stack([q.values, omega.values, np.maximum(q.values, omega.values)])
    coords = {name: data[name].values for name in dims if name in data.coords}
    return xr.DataArray(stacked, {"quantity": list(QUANTITIES), **coords}, ("quantity", *dims))


def laws(data: "xr.Dataset") -> "xr.Dataset":
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
    * ``rounding``: the coarsest of the steps (rad) below the fit at which, as at all finer ones, the error exceeds the law by
      :data:`ROUNDED` and is not larger than :func:`round_off` explains;
    * ``stable``: the largest step (rad) that, as all finer ones, leaves an error below :data:`STABLE`; ``stable_at_least``
      tells that it is the coarsest step that was run.
    """
    import xarray as xr

    all_errors = errors(data)
    step, radians = all_errors["step"].values, all_errors["radians"].values
    total = float(radians[-1])
    every = all_errors.values
    error = every[..., -1]
    usable = np.isfinite(error) & (error > round_off(step, total)) & (error < CEILING)
    line = fit(step, error, usable, FEWEST, RESIDUAL).without_flat()
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


def in_file(data: "xr.Dataset") -> "xr.Dataset":
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
    import xarray as xr

    # One class after the other: the errors of all, three times, need much memory.
    parts = [laws(data.isel(torque_class=[i])) for i in range(data.sizes["torque_class"])]
    both = {name: np.concatenate([law[name].sel(quantity="both").values for law in parts]) for name in parts[0].data_vars}
    dims = ("torque_class", "integrator", "body")
    columns: dict[str, tuple[Array, str, str]] = {n: (both[of], units, text) for n, (of, units, text) in IN_FILE.items()}
    with np.errstate(over="ignore"):
        floor = both["coefficient"] * both["rounding"] ** both["order"]
    columns["law_floor"] = (floor, "1", "error per radian of the law where round-off begins; NaN if it shows at no step")
    for quantity, text in (("q", "orientation"), ("omega", "angular velocity")):
        orders = np.concatenate([law["order"].sel(quantity=quantity).values for law in parts])
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
    slope = straight_line(np.log10(radians), np.where(np.isfinite(y), y, np.nan))[0]
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


def steps_per_radian(
    data: "xr.Dataset", targets: Sequence[float] = TARGETS, known_laws: "xr.Dataset | None" = None
) -> "xr.Dataset":
    """The number of steps per radian that keep the error per radian below each target, of every body.

    The inverse of :func:`~polhode.fits.largest_step.largest_step`, below the finest step by the law if it reaches down to it.

    Parameters
    ----------
    data : the dataset of ensembles.nc
    targets : errors per radian
    known_laws : what :func:`laws` returns, if known already

    Returns
    -------
    Over torque_class, method, body and target: ``steps`` per radian, infinite where the target is not reached and NaN where
    nothing was run; ``how``, as that function says: one of :data:`~polhode.fits.largest_step.NOT_RUN` to
    :data:`~polhode.fits.largest_step.UNREACHED`.

    Raises
    ------
    ValueError
        If a target is no positive number.
    """
    import xarray as xr

    known_laws = laws(data) if known_laws is None else known_laws
    every = errors(data).sel(quantity="both").isel(radians=-1)
    step, error = every["step"].values, every.values / float(every["radians"])
    law = known_laws.sel(quantity="both")
    order = np.where(law["finest"].values <= step[0] * (1 + 1e-9), law["order"].values, np.nan)
    largest, how = zip(
        *(largest_step(step, error, target, order, law["coefficient"].values, time=1.0) for target in targets), strict=True
    )
    with np.errstate(divide="ignore"):
        steps = 1 / np.stack(largest, axis=-1)
    dims = ("torque_class", "integrator", "body", "target")
    return xr.Dataset(
        {"steps": (dims, steps, {"long_name": "steps per radian"}), "how": (dims, np.stack(how, axis=-1))},
        {**{name: every[name] for name in dims[:-1] if name in every.coords}, "target": list(targets)},
    )


@dataclass(frozen=True)
class Spread:
    """The median over bodies, and the ends of the range that leaves out a tenth of them on either side."""

    median: Array
    low: Array
    high: Array


def spread(values: ArrayLike, axis: int = -1) -> Spread:
    """Median, 10 % and 90 % over an axis; infinite values count as large, NaN as missing, and NaN where all are missing.

    Three arrays without this axis, in the unit of the values.
    """
    values = np.moveaxis(np.asarray(values, float), axis, -1)
    # Of an even number the median lies between the two in the middle.
    middle = (quantile(values, 0.5) + -quantile(-values, 0.5)) / 2
    return Spread(middle, *(quantile(values, share) for share in SPREAD))


def quantile(values: ArrayLike, share: float) -> Array:
    """The smallest of the values of the last axis that is not exceeded by this part of them; counted as in :func:`spread`.

    (..., n) -> (...), in the unit of the values.
    """
    ordered = np.sort(np.asarray(values, float), axis=-1)
    count = (~np.isnan(ordered)).sum(axis=-1)
    place = np.clip(np.ceil(share * count - 1e-9).astype(int) - 1, 0, None)
    return np.where(count > 0, np.take_along_axis(ordered, place[..., None], axis=-1)[..., 0], np.nan)


@dataclass(frozen=True)
class Compared:
    """Each method against the best, from the same bodies; arrays over methods.

    Parameters
    ----------
    best : int
        Position of the best method; -1 if none reaches the target.
    value, low, high : arrays (method,)
        The median over bodies of the ratio of work, and the ends of its interval; infinite where the target is not reached,
        NaN where nothing was run, and all NaN if there is no best method.
    """

    best: int
    value: Array
    low: Array
    high: Array

    @property
    def told_apart(self) -> NDArray[np.bool_]:
        """Whether the interval excludes 1, an array (methods,); False without an interval."""
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
        What a method needs for one radian, such as steps or torques. Over several classes the ratio of a body is the geometric
        mean. Infinite where a method does not reach the target, NaN where it was not run.
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
    worst = [max((-spread(_ratios(logarithm, finalist, finalists)).median).tolist()) for finalist in finalists]
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

    (..., n) -> three arrays (...): median, low and high, in the unit of the values.

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
    """The median over bodies of the work of one method over the work of another, a number, with its interval.

    Parameters
    ----------
    work, other : (body,) or (class, body)
        In one unit; over several classes the ratio of a body is the geometric mean. A ratio that is NaN is left out.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(np.atleast_2d(np.asarray(work, float))) - np.log(np.atleast_2d(np.asarray(other, float)))
        ratio = ratio.mean(axis=0)
    estimate = seed_statistics.median(ratio[~np.isnan(ratio)])
    value, low, high = (float(np.exp(x)) for x in (estimate.value, estimate.low, estimate.high))
    return seed_statistics.Estimate(value, low, high, estimate.coverage)
