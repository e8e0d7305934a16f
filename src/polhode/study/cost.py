"""From errors and step times to the time a solution takes: cost.nc, a function of single_body.nc and timing.nc alone.

A method meets a target error with some step size. How long that takes is the number of steps times what a step costs, and as
many torques as the method evaluates times what one of them costs. The step sizes come from the errors that the study measured
on its ladders; the cost of a step comes from the timing; the price of a torque is a matter of the reader's own problem, and so
a coordinate here.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, isfinite, nan
from pathlib import Path
from typing import Any, cast

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from polhode.methods.protocol import Method
from polhode.operations import Operations, operations
from polhode.problems.system import System
from polhode.registry import catalogue
from polhode.study.configuration import Study
from polhode.study.many_body_cost import many_body_times
from polhode.study.orders import FLOOR_FACTOR, Order, fit_order
from polhode.study.storage import group_names, has_group, read_dataset, write_groups

#: What the price of a torque is counted in steps of, and what speed-ups are relative to.
UNIT = "euler"
RIVAL = "spiral_leapfrog"
#: The problem, the target errors and the metric of del Valle et al. (2024), Fig. 5 and Table 2.
PUBLISHED_PROBLEM = "spiral_cylinder"
PUBLISHED_TARGETS = (1e-5, 1e-4, 1e-3, 1e-2)
PUBLISHED_METRIC = (
    "mean of the relative L1 errors of q and of the method's own omega, each at its own time; Eq. 13 of del Valle et al. (2024)"
)
METRIC = "mean of the relative L1 errors of q and omega at the same whole time, at the end"
#: Runs that stop short of the horizon by more than this fraction of it answer another question.
END_TOLERANCE = 0.01
#: Kinds of operations that cost.nc states.
OPERATIONS = {
    "torques": "torque evaluations",
    "additions": "additions and subtractions",
    "multiplications": "multiplications",
    "divisions": "divisions",
    "square_roots": "square roots",
    "total": "all arithmetic",
    "constants": "those of the arithmetic that involve the step size and the body alone",
    "negations": "changes of sign, no part of the total",
    "comparisons": "comparisons, no part of the total",
}
#: The total with normalisation of the quaternion every step, and without.
SWITCHED = {"total_normalised": True, "total_left_alone": False}


@dataclass(frozen=True)
class Found:
    """The largest step size from which on downward a target is met, and how that is known.

    Parameters
    ----------
    dt : float
        In s; NaN where the target is not reached.
    how : str
        ``between`` two measured step sizes, ``coarsest``: also the coarsest one measured meets the target, ``extrapolated``
        beyond the finest one; where there is none: ``round-off`` or ``no order`` to extrapolate with.
    finer, coarser : float
        The measured step sizes on both sides, s, and the errors there; NaN where there is none.
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
        there = ~np.isnan(error)
        ascending = np.argsort(dt[there], kind="stable")
        object.__setattr__(self, "dt", dt[there][ascending])
        object.__setattr__(self, "error", error[there][ascending])

    @cached_property
    def order(self) -> Order:
        """The order of this error, fitted above round-off; see :func:`polhode.study.orders.fit_order`."""
        return fit_order(self.dt, np.where(np.isfinite(self.error), self.error, nan), self.horizon)

    def round_off(self, dt: ArrayLike) -> NDArray[np.float64]:
        """Up to which error round-off alone may explain what a run with this step size shows."""
        return np.asarray(FLOOR_FACTOR * np.finfo(float).eps * self.horizon / np.asarray(dt, float))

    def find(self, target: float) -> Found:
        """The largest step size from which on downward the error stays below ``target``.

        An error may dip below the target at coarse steps by accident, where it changes its sign; therefore everything finer
        has to meet the target as well. What misses it by no more than round-off explains is forgiven: there the error rises
        again towards small steps, and says nothing of the method. Between two points the error is a straight line in
        logarithms. Below the finest point the fitted order leads on, if it was fitted down to that point and if round-off
        leaves room for the target.

        Parameters
        ----------
        target : float
            Error, greater than zero.
        """
        if not (isfinite(target) and target > 0):
            raise ValueError(f"a target error must be a number greater than zero, got {target!r}")
        dt, error, floor = self.dt, self.error, self.round_off(self.dt)
        if not dt.size:
            return Found(nan, "not run")
        good = error <= target
        missed = ~good & (error > floor)
        stop = int(np.argmax(missed)) if missed.any() else len(dt)
        met = np.flatnonzero(good[:stop])
        if not met.size:
            return Found(nan, "round-off") if stop else self._beyond(target)
        i = int(met[-1])
        if i == len(dt) - 1:
            return Found(float(dt[i]), "coarsest", float(dt[i]), nan, float(error[i]), nan)
        known = (float(dt[i]), float(dt[i + 1]), float(error[i]), float(error[i + 1]))
        if not isfinite(error[i + 1]):
            return Found(float(dt[i]), "between", *known)
        # An error of exactly zero has no logarithm.
        low, high = np.log(max(error[i], np.finfo(float).eps)), np.log(error[i + 1])
        width = np.log(dt[i + 1] / dt[i])
        order = self.order.order if isfinite(self.order.order) else 1.0
        if error[i + 1] <= floor[i + 1] and high - low < 0.5 * order * width:
            return Found(nan, "round-off", *known)
        share = (np.log(target) - low) / (high - low) if high > low else 0.0
        return Found(float(dt[i] * np.exp(width * min(max(share, 0.0), 1.0))), "between", *known)

    def _beyond(self, target: float) -> Found:
        """Where the line of the fitted order meets the target below the finest measured step."""
        finest, error = float(self.dt[0]), float(self.error[0])
        known = (nan, finest, nan, error)
        fitted = self.order
        if not (isfinite(fitted.order) and fitted.order > 0.5 and fitted.dt_min <= finest * (1 + 1e-9)):
            return Found(nan, "no order", *known)
        dt = finest * (target / error) ** (1 / fitted.order)
        if float(self.round_off(dt)) > target:
            return Found(nan, "round-off", *known)
        return Found(dt, "extrapolated", *known)


def whole_steps(dt: float, horizon: float) -> float:
    """How many whole steps no longer than ``dt`` the time ``horizon`` takes, both in s; NaN for a NaN."""
    return float(ceil(horizon / dt * (1 - 1e-12))) if isfinite(dt) else nan


def declared_step_time(step: xr.Dataset, methods: Sequence[str], frame: str = "body") -> NDArray[np.float64]:
    """Seconds of one step of each method, normalised as the method declares; NaN for methods that were not timed.

    Parameters
    ----------
    step : the group ``step`` of timing.nc or cost.nc
    frame : where the angular velocity is kept, ``body`` or ``lab``
    """
    present = {str(key) for key in step["integrator"].values}
    fastest = step["fastest"].sel(frame=frame)
    result = np.full(len(methods), nan)
    for i, key in enumerate(methods):
        if key in present:
            own = fastest.sel(integrator=key)
            result[i] = 1e-9 * float(own.sel(normalised=int(step["declared"].sel(integrator=key))))
    return result


def priced(
    steps: ArrayLike, evaluations: ArrayLike, step_time: ArrayLike, price: ArrayLike, unit: float
) -> NDArray[np.float64]:
    """Seconds of ``steps`` steps and ``evaluations`` torques that cost ``price`` times ``unit`` seconds each.

    A price of zero needs no unit: the step time includes a torque as cheap as can be.
    """
    extra = np.where(np.asarray(price, float) == 0, 0.0, np.asarray(price, float) * unit)
    return np.asarray(np.asarray(steps, float) * step_time + np.asarray(evaluations, float) * extra)


def ladder_of(data: xr.Dataset, metric: str = "") -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Step sizes (s, ascending), errors over (method, step size), and the time simulated (s), from a group of single_body.nc.

    Parameters
    ----------
    data : xarray.Dataset
        A problem's group. Of all its sets of step sizes those runs count that end at the horizon, but for 1 % of it.
    metric : str, optional
        A variable of the group; by default the mean of ``q_error_l1`` and ``omega_error_l1``.
    """
    end = data["end_time"].values.astype(float)
    horizon = float(end.max())
    data = data.isel(dt=np.flatnonzero(end >= horizon * (1 - END_TOLERANCE))).sortby("dt")
    error = data[metric] if metric else (data["q_error_l1"] + data["omega_error_l1"]) / 2
    values = error.transpose("integrator", "dt").values.astype(float)
    if "diverged" in data:
        blown = data["diverged"].transpose("integrator", "dt").values == 1
        # A run that left the numbers is recorded as NaN, but says that this step is too long.
        values = np.where(blown, np.inf, values)
    return data["dt"].values.astype(float), values, horizon


def _starting_torques(data: xr.Dataset) -> NDArray[np.float64]:
    """How many torques each method evaluates before its first step."""
    per_step = data["torques_per_step"].values.astype(float)[:, None]
    extra = (data["torque_evaluations"] - data["steps"] * per_step).transpose("integrator", "dt").values.astype(float)
    finite = np.where(np.isfinite(extra), extra, -1).max(axis=1)
    return np.asarray(np.maximum(finite, 0.0))


def bodies_of(problem: str) -> tuple[int, bool]:
    """How many bodies a problem has, and whether their centres move."""
    problems = catalogue("polhode.problems")
    if problem in problems and isinstance(case := problems[problem], System):
        return len(case.bodies), not case.fixed
    return 1, False


def problem_cost(data: xr.Dataset, step: xr.Dataset, targets: Sequence[float], prices: Sequence[float]) -> xr.Dataset:
    """Step sizes, work and time to solution of every method on one problem, over target error and price of a torque.

    Parameters
    ----------
    data : the problem's group of single_body.nc
    step : the group ``step`` of timing.nc
    targets : target errors
    prices : costs of one torque, in steps of direct Euler
    """
    methods = [str(key) for key in data["integrator"].values]
    problem = str(data.attrs.get("problem", ""))
    bodies, moving = bodies_of(problem)
    dt, errors, horizon = ladder_of(data)
    ladders = [Ladder(dt, row, horizon) for row in errors]
    found = [[ladder.find(target) for target in targets] for ladder in ladders]
    sizes = np.array([[f.dt for f in row] for row in found]).reshape(len(methods), len(targets))
    steps = np.vectorize(lambda x: whole_steps(x, horizon), otypes=[float])(sizes)
    evaluations = steps * data["torques_per_step"].values.astype(float)[:, None] + _starting_torques(data)[:, None]
    seconds = declared_step_time(step, methods)[:, None] * bodies
    unit = float(declared_step_time(step, [UNIT])[0]) * bodies
    time = priced(steps, evaluations, seconds, 0, unit)
    dear = priced(steps[..., None], evaluations[..., None], seconds[..., None], np.asarray(prices, float), unit)

    def how(word: str) -> NDArray[np.int8]:
        return np.array([[f.how == word for f in row] for row in found]).reshape(sizes.shape).astype("int8")

    over = ("integrator", "target_error")
    data_variables: dict[str, Any] = {
        "dt": (over, sizes, _attrs("largest step size that meets the target from there on downward", "s")),
        "steps": (over, steps, _attrs("whole steps to the horizon", "1")),
        "torque_evaluations": (over, evaluations, _attrs("torque evaluations to the horizon", "1")),
        "extrapolated": (over, how("extrapolated"), _attrs("1 where the step lies beyond the finest one measured", "1")),
        "coarsest": (over, how("coarsest"), _attrs("1 where the coarsest step measured meets the target", "1")),
        "time_to_solution": (over, time, _attrs("CPU time to the horizon with a torque that costs next to nothing", "s")),
        "priced_time": ((*over, "torque_price"), dear, _attrs("CPU time to the horizon with a torque of this price", "s")),
        "ladder_error": (
            ("integrator", "ladder_dt"),
            errors,
            _attrs(f"error_used: {METRIC}; infinite where a run blew up", "1"),
        ),
        "order": ("integrator", [x.order.order for x in ladders], _attrs("fitted order of ladder_error", "1")),
        "order_low": (
            "integrator",
            [x.order.low for x in ladders],
            _attrs("lowest order over shifted windows of the fit", "1"),
        ),
        "order_high": (
            "integrator",
            [x.order.high for x in ladders],
            _attrs("highest order over shifted windows of the fit", "1"),
        ),
        "starting_torques": ("integrator", _starting_torques(data), _attrs("torque evaluations before the first step", "1")),
        "step_time": ("integrator", seconds[:, 0], _attrs("CPU time of one step, normalised as declared, body frame", "s")),
    }
    for name, key in (("euler", UNIT), ("spiral", RIVAL)):
        for prefix, values in (("", time), ("priced_", dear)):
            row = values[methods.index(key)] if key in methods else np.full(values.shape[1:], nan)
            dims = over if not prefix else (*over, "torque_price")
            text = f"time of {key} over that of the method; greater than 1 is faster"
            data_variables[f"{prefix}speed_up_{name}"] = (dims, row / values, _attrs(text, "1"))
    scope = "the rotation of one body" if bodies == 1 else f"the rotation of {bodies} bodies, a torque priced for each"
    if moving:
        scope += "; the motion of the centre of mass is not timed, and its error not looked at"
    coordinates = {
        name: ("integrator", data[name].values) for name in ("label", "variant_of", "torques_per_step") if name in data
    }
    return xr.Dataset(
        data_variables,
        {
            "integrator": methods,
            **coordinates,
            "target_error": ("target_error", list(map(float, targets)), _attrs("target error", "1")),
            "torque_price": ("torque_price", list(map(float, prices)), _attrs("cost of a torque in steps of euler", "1")),
            "ladder_dt": ("ladder_dt", dt, _attrs("step sizes measured", "s")),
        },
        {
            "problem": problem,
            "label": str(data.attrs.get("label", problem)),
            "torque_class": str(data.attrs.get("torque_class", "")),
            "horizon": horizon,
            "horizon_units": "s",
            "metric": METRIC,
            "bodies": bodies,
            "timed": scope,
            "price_unit": unit,
            "price_unit_units": "s",
        },
    )


def published_cost(data: xr.Dataset, targets: xr.Dataset | None, step: xr.Dataset) -> xr.Dataset:
    """Time to solution as del Valle et al. (2024) compute it for their Fig. 5: their metric, their targets, both interfaces.

    The step sizes are those found on real runs where the study searched for them (``targets`` of single_body.nc), else read
    from the ladder. The authors' program keeps the angular velocity in the lab and turns it into the body and back every
    step, hence the dimension ``frame``.
    """
    methods = [str(key) for key in data["integrator"].values]
    dt, errors, horizon = ladder_of(data, "mean_error_as_published")
    drawn = np.array([[Ladder(dt, row, horizon).find(t).dt for t in PUBLISHED_TARGETS] for row in errors])
    sizes = drawn.copy()
    if targets is not None:
        known = targets["target_error"].values
        for j, target in enumerate(PUBLISHED_TARGETS):
            here = np.flatnonzero(np.isclose(known, target, rtol=1e-9))
            for i, key in enumerate(methods):
                if here.size and key in targets["integrator"].values:
                    sizes[i, j] = float(targets["step_size_as_published"].sel(integrator=key).values[here[0]])
    steps = np.vectorize(lambda x: whole_steps(x, horizon), otypes=[float])(sizes)
    frames = [str(name) for name in step["frame"].values]
    time = np.stack([steps * declared_step_time(step, methods, frame)[:, None] for frame in frames])
    over = ("integrator", "target_error")
    variables: dict[str, Any] = {
        "dt": (over, sizes, _attrs("largest step size that meets the target", "s")),
        "ladder_dt_at_target": (over, drawn, _attrs("the same, read from the ladder of step sizes", "s")),
        "steps": (over, steps, _attrs("whole steps to the horizon", "1")),
        "time_to_solution": (("frame", *over), time, _attrs("CPU time to the horizon", "s")),
    }
    for name, key in (("euler", UNIT), ("spiral", RIVAL)):
        row = time[:, methods.index(key)] if key in methods else np.full((len(frames), len(PUBLISHED_TARGETS)), nan)
        text = f"time of {key} over that of the method; greater than 1 is faster"
        variables[f"speed_up_{name}"] = (("frame", *over), row[:, None] / time, _attrs(text, "1"))
    return xr.Dataset(
        variables,
        {
            "integrator": methods,
            **{name: ("integrator", data[name].values) for name in ("label", "variant_of") if name in data},
            "target_error": ("target_error", list(PUBLISHED_TARGETS), _attrs("target error", "1")),
            "frame": frames,
        },
        {"problem": PUBLISHED_PROBLEM, "metric": PUBLISHED_METRIC, "horizon": horizon, "horizon_units": "s"},
    )


def operation_counts(methods: Iterable[str]) -> xr.Dataset:
    """Operations and torques of one step, counted from the kernels; NaN where a plug-in's cannot be counted.

    As the method declares its normalisation, and the total with normalisation and without, NaN where it cannot be switched.
    """
    keys = list(methods)
    registry = catalogue("polhode.methods")
    rows = {name: np.full(len(keys), nan) for name in (*OPERATIONS, *SWITCHED)}
    for i, key in enumerate(keys):
        counted = _counted(registry, key, None)
        for name in OPERATIONS:
            rows[name][i] = getattr(counted, name, nan)
        for name, normalise in SWITCHED.items():
            rows[name][i] = getattr(_counted(registry, key, normalise), "total", nan)
    texts = OPERATIONS | {name: f"all arithmetic {'with' if on else 'without'} normalisation" for name, on in SWITCHED.items()}
    variables: dict[str, Any] = {
        name: ("integrator", rows[name], _attrs(f"{text} of one step", "1")) for name, text in texts.items()
    }
    known = [_known(registry, key) for key in keys]
    variables["normalises"] = (
        "integrator",
        np.array([bool(method and method.normalises) for method in known], "int8"),
        _attrs("whether the method declares normalisation, which all but the two totals go by", "1"),
    )
    labels = [method.label if method else key for key, method in zip(keys, known, strict=True)]
    return xr.Dataset(variables, {"integrator": keys, "label": ("integrator", labels)})


def _known(registry: Any, key: str) -> Method | None:
    try:
        return cast(Method, registry[key])
    except KeyError:
        return None


def _counted(registry: Any, key: str, normalise: bool | None) -> Operations | None:
    try:
        return operations(registry[key], normalise)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None


def cost_groups(
    timing: Mapping[str, xr.Dataset], single_body: str | Path, targets: Sequence[float], prices: Sequence[float]
) -> dict[str, xr.Dataset]:
    """The groups of cost.nc.

    Parameters
    ----------
    timing : the groups of timing.nc: its root (attributes alone) as ``/`` and ``step``
    single_body : path of single_body.nc
    targets, prices : target errors, and costs of one torque in steps of direct Euler
    """
    step = timing["step"]
    groups = {
        "/": xr.Dataset(attrs=dict(timing["/"].attrs)),
        "step": step,
        "operations": operation_counts(str(key) for key in step["integrator"].values),
    }
    targets, prices = sorted(targets, reverse=True), sorted(prices)
    for problem in group_names(single_body):
        data = read_dataset(single_body, problem)
        groups[problem] = problem_cost(data, step, targets, prices)
        if problem == PUBLISHED_PROBLEM:
            found = f"{problem}/targets"
            searched = read_dataset(single_body, found) if has_group(single_body, found) else None
            groups["published"] = published_cost(data, searched, step)
    return groups


def run_cost(timing: str | Path, single_body: str | Path, study: Study, output: str | Path, many_body: str | Path = "") -> None:
    """Write cost.nc from timing.nc, single_body.nc and, if there is one, many_body.nc, for a study's targets and prices."""
    assert study.cost is not None
    groups = {"/": read_dataset(timing), "step": read_dataset(timing, "step")}
    found = cost_groups(groups, single_body, study.cost.target_errors, study.cost.torque_prices)
    found["/"].attrs["title"] = "What it costs to reach an error: steps, torques and CPU time; one group for each problem"
    found["/"].attrs["configuration"] = study.json
    found["/"].attrs.pop("job", None)  # that of the timing alone
    if str(many_body) and has_group(timing, "many_body"):
        timed = read_dataset(timing, "many_body")
        scenes = {name: read_dataset(many_body, name) for name in group_names(many_body)}
        found |= {"many_body": timed, "many_body_times": many_body_times(timed, scenes)}
    write_groups(found, output)


def _attrs(long_name: str, units: str) -> dict[str, str]:
    return {"long_name": long_name, "units": units}
