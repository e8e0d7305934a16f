"""The time of a run of many bodies with a given energy error: the steps that it requires, times the measured time of a step."""

from collections.abc import Mapping

import numpy as np
import xarray as xr

from polhode.fits.seed_statistics import step_for

#: The mean energy error at which del Valle et al. (2024) compare methods, %.
TARGET = 0.0068


def many_body_times(timing: xr.Dataset, scenes: Mapping[str, xr.Dataset], error: float = TARGET) -> xr.Dataset:
    """The largest step that keeps the mean energy error below ``error`` %, and the CPU time of a run with it on one core.

    Parameters
    ----------
    timing : group ``many_body`` of timing.nc
    scenes : groups of many_body.nc
    error : %

    Returns
    -------
    Over case (the scenes of the study) and integrator: ``dt`` (s), ``steps``, ``step_time`` (us), ``cpu`` (s of one run). All
    but ``step_time`` are NaN if the error is not met, or not exceeded, within the step sizes of the study, and ``step_time``
    and ``cpu`` where nothing was timed.
    """
    methods = list(map(str, timing["integrator"].values))
    shape = (len(scenes), len(methods))
    dt, steps, step_time = (np.full(shape, np.nan) for _ in range(3))
    for i, data in enumerate(scenes.values()):
        scene = str(data.attrs["scene"])
        for j, key in enumerate(methods):
            if scene in timing["scene"]:
                step_time[i, j] = float(timing["fastest"].sel(scene=scene, integrator=key))
            if key in data["integrator"].values:
                dt[i, j] = step_for(data, key, error)
                steps[i, j] = np.floor(float(data.attrs["horizon"]) / dt[i, j]) if np.isfinite(dt[i, j]) else np.nan
    dims = ("case", "integrator")
    texts = {
        "dt": (dt, "largest step that keeps the mean energy error below the target", "s"),
        "steps": (steps, "steps of a run with it", "1"),
        "step_time": (step_time, "time of a step", "us"),
        "cpu": (steps * step_time * 1e-6, "CPU time of a run", "s"),
    }
    return xr.Dataset(
        {name: (dims, values, {"long_name": text, "units": units}) for name, (values, text, units) in texts.items()},
        {"case": list(scenes), "integrator": methods, "label": ("integrator", list(map(str, timing["label"].values)))},
        {"target_error": error, "target_error_units": "%"},
    )
