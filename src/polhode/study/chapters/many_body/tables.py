"""Tables of energy errors of many bodies."""

from math import inf, isfinite
from typing import Any

import pandas as pd
import xarray as xr

from polhode.fits.seed_statistics import (
    Estimate,
    followed,
    mean_error,
    median_error,
    ran,
    ratio_of_means,
    ratio_over_steps,
    spin_label,
    step_for,
)
from polhode.study.chapters.many_body.frames import (
    CASES,
    OTHER,
    TARGET,
    chess_pieces,
    common_rows,
    own_scenes,
    read_scenes,
    shown_row,
)
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.formats import INFINITE, labels_of, ratio
from polhode.study.report.latex import (
    NOT_AVAILABLE,
    above_head,
    escape,
    grouped_rows,
    number,
    or_dash,
    spanning,
    stacked,
    step,
    tabular,
)


def many_body(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of mean energy errors with intervals, those of this run, the ratio to SPIRAL over all steps, and the step at the
    published level. Scenes after the first have only the mean and the ratio.

    The CSV has every scene, method and step size of the published-scale results and of this run, with medians and coverages.
    """
    ours = read_scenes(inputs.many_body, own_scenes(inputs))
    studies = {"released": read_scenes(inputs.released_many_body), "this run": ours}
    records = [
        record for study, scenes in studies.items() for case, data in scenes.items() for record in _records(study, case, data)
    ]
    cases = [case for case in CASES if any(case in scenes for scenes in studies.values())]
    if not cases:
        raise NotInRun("neither this run nor data/released has the chess pieces")
    pairs = {case: tuple(scenes.get(case) for scenes in studies.values()) for case in cases}
    labels = labels_of(*(data.sel(integrator=followed(data)) for pair in pairs.values() for data in pair if data is not None))

    def row_of(method: str) -> list[str]:
        cells = [escape(labels[method])]
        for number_of, (full, run) in enumerate(pairs.values()):
            over_steps, dt = _pair(full, method)
            cells += [_mean(full, method), *([] if number_of else [_mean(run, method, False)]), over_steps]
            cells += [] if number_of else [dt]
        return cells

    run = pairs[cases[0]][1]
    few = "this run" if run is None else f"{run.sizes['seed']} states"
    to_spiral = stacked("ratio to", "SPIRAL", top=False)
    head = ["method", "mean", few, to_spiral, r"$\dt$ (s)", *(["mean", to_spiral] * (len(cases) - 1))]
    text = tabular("@{}lcccc" + "cc" * (len(cases) - 1) + "@{}", head, grouped_rows(inputs, inputs.in_order(labels), row_of))
    spins = [spin_label(next(data for data in pair if data is not None)) for pair in pairs.values()]
    top = spanning((spins[0], 4), *((spin, 2) for spin in spins[1:]))
    return pd.DataFrame(records), above_head(text, top)


def many_body_methods(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of every method on the chess pieces: the ratio to SPIRAL's error at each step, and how many runs blew up."""
    data = chess_pieces(inputs)
    if OTHER not in data["integrator"]:
        raise NotInRun(f"the scene has no {OTHER}, to which others are compared")
    labels = labels_of(data)
    rows = common_rows(data)
    steps = data["dt"].values[rows]

    def row_of(method: str) -> list[str]:
        ratios = [ratio_of_means(data, method, row, OTHER) for row in rows]
        cells = ["1" if method == OTHER else _between(estimate, one_line=True) for estimate in ratios]
        lost = int(data["diverged"].sel(integrator=method).isel(dt=rows).sum())
        return [escape(labels[method]), *cells, str(lost) if lost else ""]

    head = ["method", *(rf"$\dt={number(dt, 3)}$\,s" for dt in steps), "blew up"]
    text = tabular("@{}l" + "l" * len(steps) + "r@{}", head, grouped_rows(inputs, inputs.in_order(labels), row_of))
    return pd.DataFrame(_records("", CASES[0], data)).drop(columns=["study", "dt_at_published_level"]), text


def _records(study: str, case: str, data: xr.Dataset) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for method in map(str, data["integrator"].values):
        level = step_for(data, method, TARGET)
        for row, dt in ((row, dt) for row, dt in enumerate(data["dt"].values) if ran(data, method, row)):
            estimates = {"mean": mean_error(data, method, row), "median": median_error(data, method, row)}
            if OTHER in data["integrator"]:
                estimates["ratio"] = ratio_of_means(data, method, row, OTHER)
            record: dict[str, Any] = {"study": study, "scene": case, "method": method, "dt": dt, "seeds": data.sizes["seed"]}
            for name, estimate in estimates.items():
                record |= {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
            record["coverage_of_medians"] = estimates["median"].coverage
            record["diverged"] = int(data["diverged"].sel(integrator=method).isel(dt=row).sum())
            records.append({**record, "dt_at_published_level": level})
    return records


def _mean(data: xr.Dataset | None, method: str, interval: bool = True) -> str:
    """The mean at the displayed step, with its interval, as text."""
    at = shown_row(data["dt"].values) if data is not None else None
    if data is None or at is None or method not in data["integrator"]:
        return "--"
    estimate = mean_error(data, method, at)
    if estimate.value == inf:
        return INFINITE
    value = number(estimate.value, 2)
    if not interval or not isfinite(estimate.low):
        return value
    return stacked(value, f"({number(estimate.low, 2)}--{number(estimate.high, 2)})")


def _pair(data: xr.Dataset | None, method: str) -> tuple[str, str]:
    """The ratio to SPIRAL over all steps, and the step at the published level, as text."""
    if data is None or method not in data["integrator"]:
        return "--", "--"
    pairs = "--" if OTHER not in data["integrator"] else _between(ratio_over_steps(data, method, OTHER))
    return "1" if method == OTHER else pairs, or_dash(step(step_for(data, method, TARGET), 2))


def _between(estimate: Estimate, one_line: bool = False) -> str:
    """A ratio with its interval, as text: below it, or on one line."""
    if estimate.value == inf:
        return INFINITE
    if not isfinite(estimate.value):
        return NOT_AVAILABLE
    if not isfinite(estimate.low):
        return ratio(estimate.value)
    value, interval = ratio(estimate.value), f"({ratio(estimate.low)}--{ratio(estimate.high)})"
    return f"{value} {interval}" if one_line else stacked(value, interval)
