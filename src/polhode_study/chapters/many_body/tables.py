"""Tables of energy errors of many bodies."""

from functools import partial
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
from polhode.interface.table import Column, Table
from polhode_study.chapters.many_body.frames import (
    CASES,
    OTHER,
    TARGET,
    chess_pieces,
    own_scenes,
    read_scenes,
    shown_row,
)
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.formats import INFINITE, labels_of, ratio
from polhode_study.report.latex import NOT_AVAILABLE, number, or_dash, stacked, step
from polhode_study.report.tables import of_methods


def many_body(inputs: Inputs) -> Table:
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

    to_spiral = stacked("ratio to", "SPIRAL", top=False)
    columns: list[Column] = []
    for full, run in pairs.values():
        over = spin_label(next(data for data in (full, run) if data is not None))
        of_case = [
            Column("mean", None, partial(_mean, full), "c", over=over),
            Column(to_spiral, None, partial(_to_spiral, full), "c", over=over),
        ]
        if not columns:
            few = "this run" if run is None else f"{run.sizes['seed']} states"
            of_case.insert(1, Column(few, None, partial(_mean, run, interval=False), "c", over=over))
            of_case.append(Column(r"$\dt$ (s)", None, partial(_published_level, full), "c", over=over))
        columns += of_case
    return of_methods(inputs, records, labels, labels.get, columns, tight=True)


def many_body_methods(inputs: Inputs) -> Table:
    """Every method on the chess pieces: its error at each step, over that of SPIRAL, and how many runs blew up; a file only."""
    data = chess_pieces(inputs)
    if OTHER not in data["integrator"]:
        raise NotInRun(f"the scene has no {OTHER}, to which others are compared")
    return Table(pd.DataFrame(_records("", CASES[0], data)).drop(columns=["study", "dt_at_published_level"]))


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


def _to_spiral(data: xr.Dataset | None, method: str) -> str:
    """The ratio to SPIRAL over all steps, as text."""
    if data is None or method not in data["integrator"]:
        return "--"
    return "1" if method == OTHER else _between(ratio_over_steps(data, method, OTHER)) if OTHER in data["integrator"] else "--"


def _published_level(data: xr.Dataset | None, method: str) -> str:
    """The step at the published level, as text."""
    return "--" if data is None or method not in data["integrator"] else or_dash(step(step_for(data, method, TARGET), 2))


def _between(estimate: Estimate) -> str:
    """A ratio with its interval below it, as text."""
    if estimate.value == inf:
        return INFINITE
    if not isfinite(estimate.value):
        return NOT_AVAILABLE
    if not isfinite(estimate.low):
        return ratio(estimate.value)
    return stacked(ratio(estimate.value), f"({ratio(estimate.low)}--{ratio(estimate.high)})")
