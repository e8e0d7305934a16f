"""Time to solution from errors and step times: cost.nc, a function of single_body.nc, many_body.nc and timing.nc alone.

A method meets a target error with some step size. The time to solution is the number of steps times the time of a step, plus
the number of torque evaluations times the price of a torque. The step sizes come from the errors measured on the ladders, the
time of a step from the timing; the price of a torque depends on the reader's own problem, and is therefore a coordinate. Only
the times of many bodies need many_body.nc.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from polhode.compiling.operations import Operations, operations
from polhode.fits.ladders import METRIC, RIVAL, UNIT, Ladder, priced, whole_steps
from polhode.fits.many_body_times import many_body_times
from polhode.interface.arrays import about
from polhode.interface.netcdf import at_the_top, read_groups
from polhode.interface.storage import write_groups
from polhode.methods import METHODS
from polhode.methods.wheels import KERNELS as WITH_WHEELS
from polhode_study.configuration import Study

#: The problem, the target errors and the metric of del Valle et al. (2024), Fig. 5 and Table 2.
PUBLISHED_PROBLEM = "spiral_cylinder"
PUBLISHED_TARGETS = (1e-5, 1e-4, 1e-3, 1e-2)
PUBLISHED_METRIC = (
    "mean of the relative L1 errors of q and of the method's own omega, each at its own time; Eq. 13 of del Valle et al. (2024)"
)
#: Runs that stop short of the horizon by more than this fraction of it are not comparable.
END_TOLERANCE = 0.01
#: Kinds of operations listed in cost.nc.
OPERATIONS = {
    "torques": "torque evaluations",
    "additions": "additions and subtractions",
    "multiplications": "multiplications",
    "divisions": "divisions",
    "square_roots": "square roots",
    "total": "all arithmetic",
    "constants": "arithmetic that involves the step size and the body alone",
    "negations": "changes of sign, not included in the total,",
    "comparisons": "comparisons, not included in the total,",
}
#: The total with normalisation of the quaternion every step, and without.
SWITCHED = {"total_normalised": True, "total_left_alone": False}


def declared_step_time(step: xr.Dataset, methods: Sequence[str], frame: str = "body") -> NDArray[np.float64]:
    """Time of one step of each method in s, normalised as the method declares; NaN for methods that were not timed.

    Parameters
    ----------
    step : the group ``step`` of timing.nc or cost.nc
    frame : where the angular velocity is kept, ``body`` or ``lab``
    """
    declared = step["fastest"].sel(frame=frame, normalised=step["declared"].astype(step["normalised"].dtype))
    return np.asarray(1e-9 * declared.reindex(integrator=list(methods)).values)


def ladder_of(data: xr.Dataset, metric: str = "") -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Step sizes (s, ascending), errors over (method, step size), and the time simulated (s), from a group of single_body.nc.

    Parameters
    ----------
    data : xarray.Dataset
        A problem's group. From all its sets of step sizes, the runs that end within 1 % of the horizon are used.
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
        # A run that overflowed is recorded as NaN, but shows that this step is too long.
        values = np.where(blown, np.inf, values)
    return data["dt"].values.astype(float), values, horizon


def _starting_torques(data: xr.Dataset) -> NDArray[np.float64]:
    """The number of torques that each method evaluates before its first step."""
    per_step = data["torques_per_step"].values.astype(float)[:, None]
    extra = (data["torque_evaluations"] - data["steps"] * per_step).transpose("integrator", "dt").values.astype(float)
    finite = np.where(np.isfinite(extra), extra, -1).max(axis=1)
    return np.asarray(np.maximum(finite, 0.0))


def bodies_of(data: xr.Dataset) -> tuple[int, bool]:
    """The number of bodies in the problem of a group of single_body.nc, and whether their centres move."""
    setup = json.loads(data.attrs["setup"])
    return len(setup["moments"]), bool(setup["r0"])


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
    bodies, moving = bodies_of(data)
    dt, errors, horizon = ladder_of(data)
    ladders = [Ladder(dt, row, horizon) for row in errors]
    at_targets = [[ladder.find(target) for target in targets] for ladder in ladders]
    sizes = np.array([[f.dt for f in row] for row in at_targets]).reshape(len(methods), len(targets))
    steps = np.vectorize(lambda x: whole_steps(x, horizon), otypes=[float])(sizes)
    evaluations = steps * data["torques_per_step"].values.astype(float)[:, None] + _starting_torques(data)[:, None]
    has_wheels = bool(json.loads(data.attrs["setup"]).get("wheels"))
    timed = np.where([has_wheels and key in WITH_WHEELS for key in methods], nan, declared_step_time(step, methods))
    seconds = timed[:, None] * bodies
    unit = float(declared_step_time(step, [UNIT])[0]) * bodies
    time = priced(steps, evaluations, seconds, 0, unit)
    at_price = priced(steps[..., None], evaluations[..., None], seconds[..., None], np.asarray(prices, float), unit)

    def how(word: str) -> NDArray[np.int8]:
        return np.array([[f.how == word for f in row] for row in at_targets]).reshape(sizes.shape).astype("int8")

    over = ("integrator", "target_error")
    data_variables: dict[str, Any] = {
        "dt": (over, sizes, about("largest step size that meets the target from there on downward", "s")),
        "steps": (over, steps, about("whole steps to the horizon")),
        "torque_evaluations": (over, evaluations, about("torque evaluations to the horizon")),
        "extrapolated": (over, how("extrapolated"), about("1 where the step lies beyond the finest one measured")),
        "coarsest": (over, how("coarsest"), about("1 where the coarsest step measured meets the target")),
        "time_to_solution": (over, time, about("CPU time to the horizon with a torque that costs next to nothing", "s")),
        "priced_time": ((*over, "torque_price"), at_price, about("CPU time to the horizon with a torque of this price", "s")),
        "ladder_error": (
            ("integrator", "ladder_dt"),
            errors,
            about(f"error_used: {METRIC}; infinite where a run blew up"),
        ),
        "order": ("integrator", [x.order.order for x in ladders], about("fitted order of ladder_error")),
        "order_low": (
            "integrator",
            [x.order.low for x in ladders],
            about("lowest order over shifted windows of the fit"),
        ),
        "order_high": (
            "integrator",
            [x.order.high for x in ladders],
            about("highest order over shifted windows of the fit"),
        ),
        "starting_torques": (
            "integrator",
            _starting_torques(data),
            about("torque evaluations beyond one a step, at the start"),
        ),
        "step_time": ("integrator", seconds[:, 0], about("CPU time of one step, normalised as declared, body frame", "s")),
    }
    for name, key in (("euler", UNIT), ("spiral", RIVAL)):
        for prefix, values in (("", time), ("priced_", at_price)):
            row = values[methods.index(key)] if key in methods else np.full(values.shape[1:], nan)
            dims = over if not prefix else (*over, "torque_price")
            text = f"time of {key} over that of the method; greater than 1 is faster"
            data_variables[f"{prefix}speed_up_{name}"] = (dims, row / values, about(text, "1"))
    scope = "the rotation of one body" if bodies == 1 else f"the rotation of {bodies} bodies, a torque priced for each"
    if moving:
        scope += "; the motion of the centre of mass is not timed, and its error is not used"
    if has_wheels:
        scope += "; not of methods to which wheels are part of the body, whose steps were timed without wheels"
    coordinates = {
        name: ("integrator", data[name].values) for name in ("label", "variant_of", "torques_per_step") if name in data
    }
    return xr.Dataset(
        data_variables,
        {
            "integrator": methods,
            **coordinates,
            "target_error": ("target_error", list(map(float, targets)), about("target error")),
            "torque_price": ("torque_price", list(map(float, prices)), about("cost of a torque in steps of euler")),
            "ladder_dt": ("ladder_dt", dt, about("step sizes measured", "s")),
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
    """Time to solution as in Fig. 5 of del Valle et al. (2024): their metric, their targets, both interfaces.

    The step sizes are those found on actual runs where the study searched for them (``targets`` of single_body.nc), otherwise
    read from the ladder. The authors' program keeps the angular velocity in the lab and transforms it into the body frame and
    back every step, hence the dimension ``frame``.
    """
    methods = [str(key) for key in data["integrator"].values]
    dt, errors, horizon = ladder_of(data, "mean_error_as_published")
    drawn = np.array([[Ladder(dt, row, horizon).find(t).dt for t in PUBLISHED_TARGETS] for row in errors])
    sizes = drawn.copy()
    if targets is not None:
        searched = targets["step_size_as_published"].transpose("integrator", "target_error")
        for j, target in enumerate(PUBLISHED_TARGETS):
            for column in np.flatnonzero(np.isclose(targets["target_error"], target, rtol=1e-9))[:1]:
                rows = [methods.index(str(key)) for key in searched["integrator"].values]
                sizes[rows, j] = searched.values[:, column]
    steps = np.vectorize(lambda x: whole_steps(x, horizon), otypes=[float])(sizes)
    frames = [str(name) for name in step["frame"].values]
    time = np.stack([steps * declared_step_time(step, methods, frame)[:, None] for frame in frames])
    over = ("integrator", "target_error")
    variables: dict[str, Any] = {
        "dt": (over, sizes, about("largest step size that meets the target", "s")),
        "ladder_dt_at_target": (over, drawn, about("the same, read from the ladder of step sizes", "s")),
        "steps": (over, steps, about("whole steps to the horizon")),
        "time_to_solution": (("frame", *over), time, about("CPU time to the horizon", "s")),
    }
    for name, key in (("euler", UNIT), ("spiral", RIVAL)):
        row = time[:, methods.index(key)] if key in methods else np.full((len(frames), len(PUBLISHED_TARGETS)), nan)
        text = f"time of {key} over that of the method; greater than 1 is faster"
        variables[f"speed_up_{name}"] = (("frame", *over), row[:, None] / time, about(text, "1"))
    return xr.Dataset(
        variables,
        {
            "integrator": methods,
            **{name: ("integrator", data[name].values) for name in ("label", "variant_of") if name in data},
            "target_error": ("target_error", list(PUBLISHED_TARGETS), about("target error")),
            "frame": frames,
        },
        {"problem": PUBLISHED_PROBLEM, "metric": PUBLISHED_METRIC, "horizon": horizon, "horizon_units": "s"},
    )


def operation_counts(methods: Iterable[str]) -> xr.Dataset:
    """Operations and torques of one step, counted from the kernels; NaN where those of a plug-in cannot be counted.

    Counts are for the declared normalisation; two more totals are with and without it, NaN where it cannot be switched.
    """
    keys = list(methods)
    rows = {name: np.full(len(keys), nan) for name in (*OPERATIONS, *SWITCHED)}
    for i, key in enumerate(keys):
        counted = _counted(key, None)
        for name in OPERATIONS:
            rows[name][i] = getattr(counted, name, nan)
        for name, normalise in SWITCHED.items():
            rows[name][i] = getattr(_counted(key, normalise), "total", nan)
    texts = OPERATIONS | {name: f"all arithmetic {'with' if on else 'without'} normalisation" for name, on in SWITCHED.items()}
    variables: dict[str, Any] = {name: ("integrator", rows[name], about(f"{text} of one step")) for name, text in texts.items()}
    normalises = np.array([key in METHODS and METHODS[key].normalises for key in keys], "int8")
    text = "whether the method declares normalisation, as all but the last two totals assume"
    variables["normalises"] = ("integrator", normalises, about(text))
    labels = [METHODS[key].label if key in METHODS else key for key in keys]
    return xr.Dataset(variables, {"integrator": keys, "label": ("integrator", labels)})


def _counted(key: str, normalise: bool | None) -> Operations | None:
    try:
        return operations(METHODS[key], normalise)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None


def cost_groups(
    timing: Mapping[str, xr.Dataset], single_body: str | Path, targets: Sequence[float], prices: Sequence[float]
) -> dict[str, xr.Dataset]:
    """The groups of cost.nc.

    Parameters
    ----------
    timing : the groups of timing.nc: its root (attributes only) as ``/`` and ``step``
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
    measured = read_groups(single_body)
    for problem in at_the_top(measured):
        data = measured[f"/{problem}"]
        groups[problem] = problem_cost(data, step, targets, prices)
        if problem == PUBLISHED_PROBLEM:
            groups["published"] = published_cost(data, measured.get(f"/{problem}/targets"), step)
    return groups


def run_cost(timing: str | Path, single_body: str | Path, study: Study, output: str | Path, many_body: str | Path = "") -> None:
    """Write cost.nc from timing.nc, single_body.nc and, if there is one, many_body.nc, for a study's targets and prices."""
    assert study.cost is not None
    measured = read_groups(timing)
    groups = {"/": measured["/"], "step": measured["/step"]}
    costs = cost_groups(groups, single_body, study.cost.target_errors, study.cost.torque_prices)
    costs["/"].attrs["title"] = "What it costs to reach an error: steps, torques and CPU time; one group for each problem"
    costs["/"].attrs["configuration"] = study.json
    costs["/"].attrs.pop("job", None)  # only that of the timing
    if str(many_body) and "/many_body" in measured:
        timed, runs = measured["/many_body"], read_groups(many_body)
        scenes = {name: runs[f"/{name}"] for name in at_the_top(runs)}
        costs |= {"many_body": timed, "many_body_times": many_body_times(timed, scenes)}
    write_groups(costs, output)
