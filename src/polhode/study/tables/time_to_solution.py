"""How long each method takes to a target error, on each problem, and what that is against others."""

from collections.abc import Callable, Sequence
from math import isfinite, nan
from typing import Any

import pandas as pd
import xarray as xr

from polhode.study import comparison
from polhode.study.figures.delvalle2024 import PUBLISHED_SET
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.ranking import at_the_edge, candidates, winners
from polhode.study.tables.latex import escape, tabular

#: The target errors and prices that the printed table shows; the CSV has all.
SHOWN_TARGETS = (1e-2, 1e-4, 1e-6, 1e-8)
SHOWN_PRICES = (0.0, 100.0, 10000.0)
#: Beside the published set: the methods as their originators meant them.
MEANT = ("verlet", "fincham1992", "buss2000", "johnson2008", "pfc4")


def speed_up(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Speed-up over direct Euler at the published target errors, with the angular velocity kept in either frame."""
    data = inputs.cost("published")
    present = [str(key) for key in data["integrator"].values]
    frames = [str(frame) for frame in data["frame"].values]
    targets = [float(t) for t in sorted(data["target_error"].values, reverse=True)]
    records: list[dict[str, Any]] = []
    for key in comparison.in_order(present):
        for target in targets:
            own = data.sel(integrator=key, target_error=target)
            for frame in frames:
                here = own.sel(frame=frame)
                gain = float(here["speed_up_spiral"])
                records.append(
                    {
                        "method": key,
                        "frame": frame,
                        "target_error": target,
                        "dt": float(own["dt"]),
                        "steps": float(own["steps"]),
                        "seconds": float(here["time_to_solution"]),
                        "speed_up_over_euler": float(here["speed_up_euler"]),
                        "speed_up_of_spiral": 1 / gain if gain else nan,
                    }
                )
    frame_of = pd.DataFrame(records)
    found = comparison.keyed(frame_of, "method", "frame", "target_error")
    labels = {str(key): str(text) for key, text in zip(data["integrator"].values, data["label"].values, strict=True)}

    def row(key: str) -> list[str]:
        cells = [_ratio(found[key, frame, t]["speed_up_over_euler"]) for frame in ("lab", "body") for t in targets]
        return [escape(labels[key]), *cells]

    groups = ([key for key in PUBLISHED_SET if key in present], [key for key in MEANT if key in present])
    plugins = [key for key in inputs.plugins if key in present]
    rows: list[Sequence[str] | str] = []
    for keys in (*groups, plugins):
        if rows and keys:
            rows.append(r"\addlinespace[3pt]")
        rows += [row(key) for key in keys]
    head = ["method", *([_power(t) for t in targets] * 2)]
    text = tabular("l" + "r" * len(targets) + "@{\\hspace{14pt}}" + "r" * len(targets), head, rows)
    n = len(targets)
    top = (
        rf" & \multicolumn{{{n}}}{{c}}{{kept in the lab frame}} & \multicolumn{{{n}}}{{c}}{{kept in the body frame}} \\" + "\n"
    )
    top += rf"\cmidrule(r{{14pt}}){{2-{n + 1}}}\cmidrule{{{n + 2}-{2 * n + 1}}}" + "\n"
    return frame_of, text.replace("\\toprule\n", "\\toprule\n" + top, 1)


def time_to_solution(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Which method is first to a target error, and how much longer the first with one torque in a step takes.

    The CSV has every method on every problem at every target error and price, with its place and how many times as long it
    takes as the first; the variants as published have no place.
    """
    records: list[dict[str, Any]] = []
    rows: list[Sequence[str] | str] = []
    for torque_class, problems in comparison.problems_by_class(inputs):
        for problem in problems:
            records += _records(inputs.cost(problem), torque_class)
        wanted = comparison.REPRESENTATIVES.get(torque_class, "")
        shown = wanted if wanted in problems else problems[0]
        if rows:
            rows.append(r"\addlinespace[3pt]")
        rows += _first_rows(inputs.cost(shown), torque_class)
    if not records:
        raise NotInRun("this run holds no problem")
    head = ["class", "price", *(_power(t) for t in SHOWN_TARGETS)]
    return pd.DataFrame(records).astype({"place": "Int64"}), tabular("lr" + "l" * len(SHOWN_TARGETS), head, rows)


def _records(data: xr.Dataset, torque_class: str) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = []
    places = {
        case: {key: (place, seconds / rows[0][1]) for place, (key, seconds) in enumerate(rows, 1)}
        for case, rows in winners(data, candidates(data)).items()
    }
    for key in comparison.in_order(data["integrator"].values):
        for target in data["target_error"].values:
            own = data.sel(integrator=key, target_error=target)
            for price in data["torque_price"].values:
                here = own.sel(torque_price=price)
                place, times_first = places.get((float(target), float(price)), {}).get(key, (None, nan))
                result.append(
                    {
                        "torque_class": torque_class,
                        "problem": str(data.attrs["problem"]),
                        "method": key,
                        "target_error": float(target),
                        "torque_price": float(price),
                        "dt": float(own["dt"]),
                        "steps": float(own["steps"]),
                        "torque_evaluations": float(own["torque_evaluations"]),
                        "extrapolated": int(own["extrapolated"]),
                        "coarsest": int(own["coarsest"]),
                        "seconds": float(here["priced_time"]),
                        "place": place,
                        "times_first": times_first,
                        "speed_up_over_euler": float(here["priced_speed_up_euler"]),
                        "speed_up_over_spiral": float(here["priced_speed_up_spiral"]),
                    }
                )
    return result


def _first_rows(data: xr.Dataset, torque_class: str) -> list[list[str]]:
    everyone, single = (winners(data, candidates(data, one_torque)) for one_torque in (False, True))
    labels = {str(key): str(text) for key, text in zip(data["integrator"].values, data["label"].values, strict=True)}
    result: list[list[str]] = []
    for price in SHOWN_PRICES:
        cells = []
        for target in SHOWN_TARGETS:
            first, ours = everyone.get((target, price), []), single.get((target, price), [])
            if not first:
                cells.append("--")
                continue
            key, seconds = first[0]
            text = escape(short(labels[key])) + ("*" if at_the_edge(data, key, target) else "")
            if not ours:
                text += " (--)"
            elif ours[0][0] != key:
                text += rf" ({_ratio(ours[0][1] / seconds)}: {escape(short(labels[ours[0][0]]))})"
            cells.append(text)
        result.append(["" if result else escape(torque_class), rf"\num{{{price:.0f}}}", *cells])
    return result


def short(label: str) -> str:
    """The name of a method where there is little room."""
    shorter = {
        "Runge-Kutta 4": "RK4",
        "velocity Verlet": "Verlet",
        "improved PCDM": "PCDM 2016",
        "PCDM (torque of the half step)": "PCDM half",
        "SPIRAL, synchronous": "SPIRAL sync.",
    }
    return shorter.get(label, label)


def _power(target: float) -> str:
    return rf"\num{{{target:.0e}}}"


def _ratio(value: float) -> str:
    """Two digits, whole numbers above ten."""
    if not isfinite(value):
        return "--"
    return rf"\num{{{value:.0f}}}" if value >= 9.95 else rf"\num{{{value:.1f}}}" if value >= 0.995 else rf"\num{{{value:.2f}}}"


TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {"speed_up": speed_up, "time_to_solution": time_to_solution}
