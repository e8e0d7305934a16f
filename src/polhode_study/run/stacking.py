"""Several runs as one dataset, along their step sizes or their initial states."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from polhode.interface.arrays import Arrays, about


def stacked(runs: Sequence[Arrays], dim: str, values: Sequence[float], ragged: tuple[str, str] | None = None) -> xr.Dataset:
    """Runs of one method along a new dimension, with the time by which each blew up (``diverged_at``, s; NaN if it did not).

    Parameters
    ----------
    runs : sequence of Arrays
        From :func:`polhode.simulate.simulate_arrays` or its counterpart for many bodies.
    dim, values : str, sequence of float
        Name and coordinate of the new dimension.
    ragged : (str, str)
        A coordinate in which the runs differ, in length too, and the dimension that replaces it; shorter runs are filled up
        with NaN. None if all coordinates are the same.
    """
    every = [run.plain() for run in runs]
    shared = {name for name in runs[0].coordinates if ragged is None or name != ragged[0]}
    variables: dict[str, Any] = {}
    for name, (dims, first, attributes_of) in every[0].items():
        if name in shared:
            variables[name] = dims, first, attributes_of
        else:
            arrays = [arrays[name][1] for arrays in every]
            over = tuple(ragged[1] if ragged and d == ragged[0] else d for d in dims)
            variables[name] = (dim, *over), _filled_up(arrays), attributes_of
    blown = [run.attributes.get("diverged", np.nan) for run in runs]
    variables["diverged_at"] = dim, blown, about("time by which the run blew up", "s")
    variables[dim] = dim, list(values)
    attributes = {name: value for name, value in runs[0].attributes.items() if name not in ("diverged", dim, f"{dim}_units")}
    coordinates = {name for run in runs for name in run.coordinates}
    return xr.Dataset(variables, attrs=attributes).set_coords(sorted(coordinates))


def blown_up(dataset: xr.Dataset) -> str:
    """How many of stacked runs blew up, and when the first did, for a log; empty if none did."""
    times = dataset["diverged_at"].values
    lost = int(np.isfinite(times).sum())
    return f", {lost} diverged, the first by t = {np.nanmin(times):g} s" if lost else ""


def _filled_up(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays stacked along a new first axis; where they differ in length, the shorter ones end with NaN."""
    if len({array.shape for array in arrays}) == 1:
        return np.stack(arrays)
    longest = max(map(len, arrays))
    filled = np.full((len(arrays), longest, *arrays[0].shape[1:]), np.nan)
    for row, array in zip(filled, arrays, strict=True):
        row[: len(array)] = array
    return filled
