"""The times of a step as rows, shared by the table of the report, its text and the command line."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

#: The methods with which all others are compared.
UNIT, OTHER = "euler", "spiral_leapfrog"


def in_frame(step: xr.Dataset, frame: str) -> pd.DataFrame:
    """One row per method, with the angular velocity kept in one frame.

    Parameters
    ----------
    step : the group ``step`` of timing.nc or cost.nc
    frame : ``body`` or ``lab``

    Returns
    -------
    Columns: method, label, frame, normalises ("yes" or "no"), timed ("no": the time is from a release, in proportion); step,
    the fastest sample in ns as the method declares, median and upper_quartile of its samples; normalised and left_alone, the
    fastest with and without normalisation; to_euler and to_spiral, the ratios to these two. NaN where a form does not exist
    or was not timed.
    """
    times = step.sel({"frame": frame})
    declared = times["declared"].astype(int)
    keys = list(map(str, times["integrator"].values))
    fastest = times["fastest"].isel(normalised=declared).values
    columns: dict[str, Any] = {
        "method": keys,
        "label": list(map(str, times["label"].values)),
        "frame": frame,
        "normalises": np.where(declared.values == 1, "yes", "no"),
        "timed": np.where(times["timed"].values == 0, "no", "yes") if "timed" in times else "yes",
        "step": fastest,
        "median": times["median"].isel(normalised=declared).values,
        "upper_quartile": times["upper_quartile"].isel(normalised=declared).values,
        "normalised": times["fastest"].sel(normalised=1).values,
        "left_alone": times["fastest"].sel(normalised=0).values,
        "to_euler": fastest / fastest[keys.index(UNIT)],
        "to_spiral": fastest / fastest[keys.index(OTHER)] if OTHER in keys else np.nan,
    }
    return pd.DataFrame(columns)
