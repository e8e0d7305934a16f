"""Times to target errors: the steps that a method needs for one, times what a step was measured to take."""

from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import polhode.methods as _methods
from polhode.operations import Operations, operations
from polhode.study.configuration import Study
from polhode.study.storage import read_dataset, write_groups

registry: Any = _methods


def counted(methods: list[str]) -> xr.Dataset:
    """The operations and torque evaluations of a step of each method, as it declares; NaN where they cannot be counted."""
    kinds = [field.name for field in fields(Operations)]
    values = {kind: np.full(len(methods), np.nan) for kind in (*kinds, "total")}
    for i, key in enumerate(methods):
        try:
            found = operations(registry[key])
        except (TypeError, ValueError):
            continue
        for kind, number in {**asdict(found), "total": found.total}.items():
            values[kind][i] = number
    texts = {kind: f"{kind.replace('_', ' ')} of a step" for kind in values}
    data = {kind: ("method", value, {"long_name": texts[kind], "units": "1"}) for kind, value in values.items()}
    return xr.Dataset(data, {"method": methods})


def run_cost(timing: str | Path, single_body: str | Path, study: Study, output: str | Path) -> None:
    """Write cost.nc from the times of a step and the measured errors.

    Parameters
    ----------
    timing : path of timing.nc
    single_body : path of single_body.nc
    study : the configuration, for target errors and prices of the torque
    output : path of cost.nc
    """
    step = read_dataset(timing, "step")
    write_groups(
        {"/": read_dataset(timing), "step": step, "operations": counted(list(map(str, step["method"].values)))}, output
    )
