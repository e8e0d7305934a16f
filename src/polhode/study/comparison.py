"""What the comparison over torque classes and the long runs show, as tables of numbers that figures, tables and text share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, isfinite, nan
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import ArrayLike

from polhode.problems.problem import TORQUE_CLASSES
from polhode.study.inputs import Inputs, NotInRun

#: Methods that belong together, as figures and tables group them. Methods named nowhere, plug-ins among them, come last.
METHOD_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("SPIRAL and Omelyan", ("spiral_leapfrog", "spiral_synchronous", "spiral_omelyan", "omelyan1998")),
    ("leapfrogs of the angular momentum", ("fincham1992", "calzavarini2010", "calzavarini2010_mean")),
    ("kicks at both ends", ("verlet", "no_squish", "buss2000", "pfc4")),
    ("PCDM and scalar factor", ("pcdm2016", "pcdm2013_mid", "pcdm2013_lag", "pcdm2013_lead", "scalar_factor")),
    ("simple", ("euler",)),
    (
        "as published in 2024",
        (
            "verlet_delvalle2024",
            "fincham1992_delvalle2024",
            "buss2000_delvalle2024",
            "johnson2008_delvalle2024",
            "pfc4_delvalle2024",
        ),
    ),
    ("several torques per step", ("johnson2008", "rk4")),
)
#: The problems of the study, class by class, with the short names that figures use.
SHORT_NAMES: dict[str, str] = {
    "free_symmetric_top": "symmetric top",
    "free_asymmetric_top": "asymmetric top",
    "free_asymmetric_top_unstable": "unstable axis",
    "free_asymmetric_top_separatrix": "separatrix",
    "spiral_cylinder": "SPIRAL's cylinder",
    "exponential_sphere": "sphere",
    "forced_cylinder": "cylinder",
    "lab_torque": "lab torque",
    "heavy_top": "heavy top",
    "asymmetric_heavy_top": "asym. heavy top",
    "damped_top": "damped top",
    "coupled_cylinders": "two cylinders",
    "sinking_propeller": "propeller",
}
#: The problem that stands for its class where there is room for one.
REPRESENTATIVES: dict[str, str] = {
    "free": "free_asymmetric_top",
    "constant": "spiral_cylinder",
    "time": "forced_cylinder",
    "lab": "lab_torque",
    "state": "asymmetric_heavy_top",
    "velocity": "damped_top",
}
#: The problem on which two options for torques of the angular velocity are compared: those of the note of Calzavarini (2010).
FRICTION = REPRESENTATIVES["velocity"]
#: The time at which the cylinder of del Valle et al. (2024) is drawn, s: that of the inset of their Fig. 1.
SNAPSHOT_TIME = 15.0
#: A distance that grows with a lower exponent of time is called bounded; with one above the second, growing with time.
BOUNDED, GROWING = 0.25, 0.75
#: A measured order counts as lower than another number if it is lower by more than this.
TOLERANCE = 0.3
QUANTITIES = ("q", "omega")


def grouped(present: Iterable[str]) -> list[tuple[str, list[str]]]:
    """The methods ``present`` in the groups of :data:`METHOD_GROUPS`; what is named nowhere is a last group of its own."""
    left = list(dict.fromkeys(map(str, present)))
    groups = [(title, [key for key in keys if key in left]) for title, keys in METHOD_GROUPS]
    named = {key for _, keys in groups for key in keys}
    groups.append(("others", [key for key in left if key not in named]))
    return [(title, keys) for title, keys in groups if keys]


def in_order(present: Iterable[str]) -> list[str]:
    """The methods ``present`` in the order of :func:`grouped`."""
    return [key for _, keys in grouped(present) for key in keys]


def short_name(inputs: Inputs, problem: str) -> str:
    """The name of a problem where there is little room."""
    return SHORT_NAMES.get(problem) or str(inputs.of(problem).errors.attrs.get("label", problem))


def problems_by_class(inputs: Inputs) -> list[tuple[str, list[str]]]:
    """The problems of the run, grouped by torque class in the order of :data:`polhode.problems.problem.TORQUE_CLASSES`."""
    order = {key: i for i, key in enumerate(SHORT_NAMES)}
    classes = {key: str(inputs.of(key).errors.attrs.get("torque_class", "")) for key in inputs.problems}
    names = [*TORQUE_CLASSES, *sorted(set(classes.values()) - set(TORQUE_CLASSES))]
    groups = [(name, sorted((k for k in classes if classes[k] == name), key=lambda k: (order.get(k, 99), k))) for name in names]
    return [(name, keys) for name, keys in groups if keys]


def all_methods(inputs: Inputs) -> list[str]:
    """All methods of the run, over all its problems, in groups."""
    return in_order(key for problem in inputs.problems for key in inputs.of(problem).errors["integrator"].values)


def label(inputs: Inputs, method: str) -> str:
    """The name of a method, also of one that only some problems have."""
    for problem in [inputs.problem, *inputs.problems]:
        if problem in inputs.problems and method in inputs.of(problem).errors["integrator"].values:
            return inputs.of(problem).label(method)
    return inputs.label(method) if inputs.problem in inputs.problems else method


def _value(data: xr.Dataset, name: str, method: str) -> float:
    # Thousands of numbers are asked for: look-ups by xarray would take seconds.
    methods = list(data["integrator"].values)
    if name not in data.variables or method not in methods:
        return nan
    return float(data.variables[name].values[methods.index(method)])


def reference_digits(inputs: Inputs, problem: str) -> float:
    """In how many digits the reference of a problem agrees with its guard, rounded down; NaN where the run does not say."""
    try:
        return float(floor(float(inputs.of(problem).reference_states.attrs.get("agreement", nan))))
    except (NotInRun, ValueError):
        return nan


def orders(inputs: Inputs) -> pd.DataFrame:
    """Declared and measured orders, a row for each torque class, problem and method.

    Columns: torque_class, problem, method; for q and omega: declared_X, highest_X (what the method declares for torques that
    suit it best), X_order, X_order_low, X_order_high (over shifted windows of the fit), X_order_dt_min, X_order_dt_max (s),
    X_order_points, reduced_X (measured below the highest), missed_X (measured below what is declared for this class),
    unfitted_X (no order could be fitted).
    """
    rows: list[dict[str, Any]] = []
    classes = problems_by_class(inputs)
    for torque_class, keys in classes:
        for problem in keys:
            data = inputs.of(problem).errors
            for method in in_order(data["integrator"].values):
                row: dict[str, Any] = {"torque_class": torque_class, "problem": problem, "method": method}
                for short in QUANTITIES:
                    row[f"declared_{short}"] = _value(data, f"claimed_{short}_order", method)
                    for suffix in ("", "_low", "_high", "_dt_min", "_dt_max", "_points"):
                        row[f"{short}_order{suffix}"] = _value(data, f"{short}_order{suffix}", method)
                rows.append(row)
    if not rows:
        raise NotInRun("this run holds no problem")
    frame = pd.DataFrame(rows)
    for short in QUANTITIES:
        declared = frame.groupby("method")[f"declared_{short}"].max()
        highest = {key: _registered_highest(inputs, key, short, float(declared[key])) for key in declared.index}
        frame[f"highest_{short}"] = frame["method"].map(highest)
        measured = frame[f"{short}_order"]
        frame[f"reduced_{short}"] = measured < frame[f"highest_{short}"] - TOLERANCE
        frame[f"missed_{short}"] = measured < frame[f"declared_{short}"] - TOLERANCE
        frame[f"unfitted_{short}"] = ~np.isfinite(measured)
    return frame


def _registered_highest(inputs: Inputs, method: str, short: str, otherwise: float) -> float:
    """The highest order that a method declares over all torque classes, also those that the run leaves out."""
    first = inputs.declared(method, f"order_{short}", nan) if inputs.problem in inputs.problems else nan
    exceptions = inputs.declared(method, "order_exceptions", {}) if inputs.problem in inputs.problems else {}
    found = [first, *(pair[QUANTITIES.index(short)] for pair in dict(exceptions or {}).values())]
    known = [float(value) for value in found if isfinite(float(value))]
    return max(known) if known else otherwise


def lowest_orders(frame: pd.DataFrame) -> pd.DataFrame:
    """The lowest measured order of each method in each torque class, from :func:`orders`; a row for each."""
    columns = {f"{short}_order": "min" for short in QUANTITIES} | {f"declared_{short}": "min" for short in QUANTITIES}
    flags = {f"{flag}_{short}": "any" for flag in ("reduced", "missed", "unfitted") for short in QUANTITIES}
    result: pd.DataFrame = frame.groupby(["method", "torque_class"], sort=False, as_index=False).agg(columns | flags)
    return result


# Long runs


@dataclass(frozen=True)
class Drift:
    """How far a quantity has gone at the end of a long run, and how it got there.

    Parameters
    ----------
    last : float
        Largest distance over the last tenth of the run.
    largest : float
        Largest distance over all of it.
    growth : float
        Exponent of the power of time with which the distance grows: 0 where it only oscillates, 1/2 for a random walk, 1 for a
        steady drift. NaN where there are too few samples or no distance at all.
    """

    last: float
    largest: float
    growth: float


#: Windows of equal length in log t, over the last DECADES of a run, whose root mean squares give the growth.
WINDOWS, DECADES = 8, 1.5
#: A relative distance of this size says only that the quantity is lost.
LOST = 1.0


def drift(time: ArrayLike, distance: ArrayLike) -> Drift:
    """Size and growth of a distance over a long run.

    The growth is the slope, in logarithms, of the root mean squares in windows of time over the last one and a half decades, so
    that an oscillation counts by its height; a window weighs by its samples. (The largest of a window would not do: of more
    samples it is larger.)

    Parameters
    ----------
    time : times in s, ascending, from 0
    distance : what is zero in the exact motion, of either sign; NaN behind a blow-up
    """
    t, d = np.asarray(time, float), np.abs(np.asarray(distance, float))
    if not np.isfinite(d[-1]):
        return Drift(nan, nan, nan)
    last = float(np.nanmax(d[t >= 0.9 * t[-1]]))
    edges = t[-1] * 10.0 ** np.linspace(-DECADES, 0, WINDOWS + 1)
    edges[-1] *= 1 + 1e-9
    middles, sizes, weights = [], [], []
    for low, high in pairwise(edges):
        inside = (t >= low) & (t < high) & np.isfinite(d)
        if inside.any() and d[inside].max() > 0:
            middles.append(np.log(np.sqrt(np.mean(t[inside] ** 2))))
            # Scaled, since what has blown up is not to overflow when squared.
            top = d[inside].max()
            sizes.append(np.log(top) + 0.5 * np.log(np.mean((d[inside] / top) ** 2)))
            weights.append(np.sqrt(inside.sum()))
    growth = float(np.polyfit(middles, sizes, 1, w=weights)[0]) if len(middles) >= 4 else nan
    return Drift(last, float(np.nanmax(d)), growth)


#: What is followed over long runs: variable -> (name in tables and files, symbol).
FOLLOWED: dict[str, tuple[str, str]] = {
    "energy_drift": ("energy", r"$|\Delta E|/K_0$"),
    "momentum_drift": ("angular momentum", r"$|\Delta L|/|L_0|$"),
    "norm_error": ("norm", r"$|\,|q|-1\,|$"),
    "angle_error": ("orientation", r"angle (rad)"),
}
#: The problems whose long runs of a million steps are compared.
LONG_PROBLEMS = ("free_asymmetric_top", "heavy_top", "asymmetric_heavy_top", "lab_torque")


def long_runs(inputs: Inputs, problems: Sequence[str], group: str = "long_run") -> pd.DataFrame:
    """The :class:`Drift` of all that is followed, a row for each problem, method and quantity.

    Columns: problem, method, quantity (a key of :data:`FOLLOWED`), last, largest, growth, diverged, dt (s), steps.

    Raises
    ------
    NotInRun
        If none of ``problems`` has such a run.
    """
    rows: list[dict[str, Any]] = []
    for problem in problems:
        try:
            data: xr.Dataset = getattr(inputs.of(problem), group)
        except NotInRun:
            continue
        time = data["time"].values
        dt = float(data.attrs.get("dt", nan))
        for method in in_order(data["integrator"].values):
            diverged = bool(_value(data, "diverged", method) == 1)
            for name in FOLLOWED:
                if name not in data:
                    continue
                values = data[name].sel(integrator=method).values
                if not np.isfinite(data[name].values).any():
                    continue
                found = drift(time, values)
                rows.append(
                    {
                        "problem": problem,
                        "method": method,
                        "quantity": name,
                        "last": found.last,
                        "largest": found.largest,
                        "growth": found.growth,
                        "diverged": diverged,
                        "dt": dt,
                        "steps": round(time[-1] / dt) if isfinite(dt) else 0,
                    }
                )
    if not rows:
        raise NotInRun(f"this run has no {group.replace('_', ' ')} of {', '.join(problems)}")
    return pd.DataFrame(rows)


def keyed(frame: pd.DataFrame, *names: str) -> dict[Any, dict[str, Any]]:
    """The rows of a frame by the values of some columns: the value of one, the tuple of several."""
    rows: list[dict[str, Any]] = frame.to_dict("records")  # type: ignore[assignment]
    return {row[names[0]] if len(names) == 1 else tuple(row[name] for name in names): row for row in rows}


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame."""
    rows: list[dict[str, Any]] = frame.to_dict("records")  # type: ignore[assignment]
    return rows


def only_finite(values: Iterable[float]) -> list[float]:
    """Those of ``values`` that are numbers."""
    return [float(v) for v in values if isfinite(float(v))]
