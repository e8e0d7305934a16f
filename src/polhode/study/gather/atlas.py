"""The rows of all engines into one dataset: atlas.nc."""

from collections.abc import Sequence

import xarray as xr

from polhode.engines import atlas
from polhode.interface.netcdf import read_dataset
from polhode.study.plan import Plan
from polhode.study.run.engine import LEFT_OUT


def gather(plan: Plan) -> tuple[xr.Dataset, list[str]]:
    """The dataset of atlas.nc from the files of the engines, and a line for each engine that was left out.

    Raises
    ------
    ValueError
        If all engines were left out.
    DamagedFile
        If a file is damaged or was made by another job; it is removed, so that the next run makes it again.
    """
    return gathered([read_dataset(path, job=plan.origin(path)) for path in plan.files("engine_rows")])


def gathered(parts: Sequence[xr.Dataset]) -> tuple[xr.Dataset, list[str]]:
    """The rows of several engines, sorted by engine, and a line for each that was left out; errors as for :func:`gather`."""
    left_out = [str(dataset.attrs[LEFT_OUT]) for dataset in parts if LEFT_OUT in dataset.attrs]
    measured = [dataset for dataset in parts if LEFT_OUT not in dataset.attrs]
    if not measured:
        raise ValueError(f"no engine was run, so there is no atlas: {'; '.join(left_out)}; or leave atlas: out")
    data = atlas.joined(measured)
    data.attrs = {name: value for name, value in data.attrs.items() if name not in ("job", "checksum")}
    # Each engine is measured on a day of its own.
    data.attrs["date"] = max(str(dataset.attrs["date"]) for dataset in measured)
    return data.assign_attrs({LEFT_OUT: "; ".join(left_out)} if left_out else {}), left_out
