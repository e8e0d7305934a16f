"""What publications state, judged by what this run measured: data/claims.yaml -> claims.csv.

A claim names one of the measures below, the published number and how to compare. A measure that the run cannot supply
(a method or a target left out of the configuration) gives the verdict "not measured".
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
import yaml

from polhode.study.inputs import interpolated_step, is_published_ladder
from polhode.study.storage import read_dataset, write_text

COLUMNS = ["id", "source", "location", "statement", "published", "measured", "tolerance", "verdict", "evidence"]
PROBLEM = "spiral_cylinder"


class NotMeasured(LookupError):
    """The run does not hold what a measure needs; the message says what."""


class Results:
    """The gathered results of one problem and the published table, as the measures read them."""

    def __init__(self, single_body: str | Path, published: str | Path) -> None:
        self.runs = read_dataset(single_body, PROBLEM)
        self.published = pd.read_csv(published, comment="#")
        self.single_body = single_body

    def group(self, name: str) -> xr.Dataset:
        """A group below the problem's."""
        try:
            return read_dataset(self.single_body, f"{PROBLEM}/{name}")
        except ValueError as error:
            raise NotMeasured(f"no {name} in this run") from error

    @staticmethod
    def of(data: xr.Dataset, method: str) -> xr.Dataset:
        """The row of one method."""
        if method not in data.method:
            raise NotMeasured(f"{method} is not in this run")
        # Not data.sel(method=...): that keyword of xarray means inexact look-up.
        return data.sel({"method": method})


Measure = Callable[..., tuple[float, str]]


def worst_target_ratio(results: Results, method: str, targets: list[float]) -> tuple[float, str]:
    """The ratio of our step size to the published one that is farthest from 1, over these target errors (Table 2)."""
    found = results.of(results.group("targets"), method)
    rows = results.published[results.published.method == method].set_index("target_error").dt
    ratios = {t: float(found.step_size.sel(target_error=t)) / rows[t] for t in targets if t in found.target_error}
    if not ratios:
        raise NotMeasured(f"targets {targets} are not in this run")
    return _worst(ratios)


def worst_interpolated_ratio(results: Results, method: str, targets: list[float]) -> tuple[float, str]:
    """The same with our step size read off the error curve between the published step sizes."""
    runs = results.runs.where(results.runs.dt_set == "published", drop=True)
    if not is_published_ladder(runs.dt.values):
        raise NotMeasured("the published step sizes are not in this run")
    rows = results.published[results.published.method == method].set_index("target_error").dt
    error = results.of(runs, method).mean_error.values
    return _worst({t: interpolated_step(runs.dt.values, error, t) / rows[t] for t in targets})


def _worst(ratios: dict[float, float]) -> tuple[float, str]:
    """The ratio farthest from 1, and all of them in words."""
    worst = max(ratios.values(), key=lambda r: abs(np.log(r)) if np.isfinite(r) else np.inf)
    return worst, "ours/published: " + ", ".join(f"{ratio:.5g} at {target:.0e}" for target, ratio in ratios.items())


def order_per_step(results: Results, method: str, quantity: str) -> tuple[float, str]:
    """The order of the error of one step, as publications of this field count: the order at a fixed time plus 1."""
    row = results.of(results.runs, method)
    value = float(row[f"{quantity}_order"])
    if not np.isfinite(value):
        raise NotMeasured(f"too few step sizes for an order of {method}")
    low, high = float(row[f"{quantity}_order_dt_min"]), float(row[f"{quantity}_order_dt_max"])
    error = float(row[f"{quantity}_order_stderr"])
    return value + 1, f"at a fixed time {value:.4g}, standard error {error:.2g}, fitted over dt = {low:.2g} to {high:.2g} s"


def highest_order_per_step(results: Results, methods: list[str], quantity: str) -> tuple[float, str]:
    """The highest of several methods' orders."""
    found = {m: order_per_step(results, m, quantity)[0] for m in methods}
    best = max(found, key=lambda m: found[m])
    return found[best], ", ".join(f"{m} {value:.3g}" for m, value in found.items())


def share_won(results: Results, method: str, rivals: list[str], quantity: str) -> tuple[float, str]:
    """The share of published step sizes at which no rival has a smaller error.

    Where every rival is below the round-off that the steps may accumulate (their number times the machine precision),
    nothing can be said, and the step size does not count against the method.
    """
    runs = results.runs.where(results.runs.dt_set == "published", drop=True)
    if not runs.dt.size:
        raise NotMeasured("no published step sizes in this run")
    own = results.of(runs, method)[quantity].values
    others = np.min([results.of(runs, r)[quantity].values for r in rivals], axis=0)
    floor = np.finfo(float).eps * results.of(runs, method).steps.values
    open_ = np.maximum(own, others) < floor
    won = (own <= others) & ~open_
    lost = [f"{dt:.2g}" for dt in runs.dt.values[~won & ~open_]]
    evidence = f"{int(won.sum())} of {won.size} step sizes, {int(open_.sum())} more undecided by rounding"
    return float((won | open_).mean()), evidence + (f"; not at dt = {', '.join(lost)} s" if lost else "")


def share_of_time_won(results: Results, method: str, rivals: list[str], quantity: str) -> tuple[float, str]:
    """The share of the samples of the long run at which no rival has a smaller error."""
    data = results.group("long_run").isel(time=slice(1, None))
    own = results.of(data, method)[quantity].values
    others = np.min([results.of(data, r)[quantity].fillna(np.inf).values for r in rivals], axis=0)
    won = own <= others
    return float(won.mean()), f"{int(won.sum())} of {won.size} samples up to t = {float(data.time[-1]):g} s"


def long_run_maximum(results: Results, method: str, quantity: str) -> tuple[float, str]:
    """The largest value of an error over the long run."""
    data = results.group("long_run")
    row = results.of(data, method)[quantity]
    return float(row.max()), f"up to t = {float(data.time[-1]):g} s at dt = {data.attrs['dt']:g} s"


def long_run_ratio(results: Results, method: str, other: str, quantity: str) -> tuple[float, str]:
    """The largest error of one method over the long run, divided by that of another."""
    one, where = long_run_maximum(results, method, quantity)
    two, _ = long_run_maximum(results, other, quantity)
    return one / two, f"{one:.2g} against {two:.2g} {where}"


def error_ratio(results: Results, method: str, other: str, quantity: str) -> tuple[float, str]:
    """The geometric mean of the ratio of two methods' errors over the step sizes of the fit of the second."""
    runs = results.runs
    low, high = (float(results.of(runs, other)[f"q_order_dt_{end}"]) for end in ("min", "max"))
    chosen = (runs.dt >= low) & (runs.dt <= high)
    ratio = (results.of(runs, method)[quantity] / results.of(runs, other)[quantity]).where(chosen, drop=True)
    return float(np.exp(np.log(ratio).mean())), f"dt = {low:.2g} to {high:.2g} s"


def step_ratio(results: Results, method: str, other: str, target: float) -> tuple[float, str]:
    """How much larger the step of one method may be than that of another, at one target error."""
    found = results.group("targets")
    if target not in found.target_error:
        raise NotMeasured(f"target {target:g} is not in this run")
    one, two = (float(results.of(found, m).step_size.sel(target_error=target)) for m in (method, other))
    return one / two, f"dt = {one:.4g} s against {two:.4g} s at a mean error of {target:.0e}"


MEASURES: dict[str, Measure] = {
    f.__name__: f
    for f in (
        worst_target_ratio,
        worst_interpolated_ratio,
        order_per_step,
        highest_order_per_step,
        share_won,
        share_of_time_won,
        long_run_maximum,
        long_run_ratio,
        error_ratio,
        step_ratio,
    )
}


def verdict(comparison: str, published: float, measured: float, tolerance: float) -> bool:
    """Whether the measured number bears the published one out: "equal" within a relative tolerance, "at least" or "at most"."""
    if comparison == "equal":
        return bool(abs(measured - published) <= tolerance * abs(published))
    if comparison == "at least":
        return bool(measured >= published * (1 - tolerance))
    if comparison == "at most":
        return bool(measured <= published * (1 + tolerance))
    raise ValueError(f"unknown comparison {comparison!r}; use 'equal', 'at least' or 'at most'")


def judge(single_body: str | Path, published: str | Path, claims: str | Path, output: str | Path) -> None:
    """Judge every claim of the YAML file ``claims`` and write the table.

    Raises
    ------
    ValueError
        If a claim names an unknown measure or comparison; the message names the claim.
    """
    results = Results(single_body, published)
    rows = []
    for claim in yaml.safe_load(Path(claims).read_text(encoding="utf-8")):
        rows.append(_row(claim, results))
    write_text(output, pd.DataFrame(rows, columns=COLUMNS).to_csv(index=False, lineterminator="\n"))


def _row(claim: dict[str, Any], results: Results) -> dict[str, Any]:
    if claim["measure"] not in MEASURES:
        raise ValueError(f"claim {claim['id']}: unknown measure {claim['measure']!r}; known are {', '.join(MEASURES)}")
    tolerance = float(claim.get("tolerance", 0.0))
    row = {name: claim[name] for name in ("id", "source", "location", "statement", "published")}
    row["tolerance"] = tolerance
    try:
        measured, evidence = MEASURES[claim["measure"]](results, **claim["arguments"])
        borne_out = verdict(claim["comparison"], float(claim["published"]), measured, tolerance)
    except NotMeasured as missing:
        return row | {"measured": np.nan, "verdict": "not measured", "evidence": str(missing)}
    except ValueError as error:
        raise ValueError(f"claim {claim['id']}: {error}") from error
    words = ("reproduced", "not reproduced") if claim["kind"] == "number" else ("holds", "does not hold")
    reason = claim.get("reason", "")
    if not borne_out and reason:
        evidence = f"{evidence}; {reason}"
    return row | {"measured": float(f"{measured:.6g}"), "verdict": words[not borne_out], "evidence": evidence}
