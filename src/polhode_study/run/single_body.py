"""The runs of one method on one problem with a set of step sizes."""

from collections.abc import Mapping
from typing import Any

import xarray as xr

from polhode.methods import METHODS
from polhode.simulate import simulate_arrays
from polhode_study.run.stacking import blown_up, stacked


def make_runs(wildcards: Mapping[str, str], settings: Mapping[str, Any]) -> tuple[xr.Dataset, str]:
    """The runs of a method on a problem over ``dt`` and ``sample``, and a message for the log.

    A run that blows up is a result: ``diverged_at`` is the time by which it did, NaN for the others.

    Parameters
    ----------
    wildcards : mapping
        ``problem`` and ``method``, keys.
    settings : mapping
        The ``horizon`` (s); the number of ``samples``; ``dt``, a mapping from step sizes (s, as text) to whether the run may
        end before the horizon; and ``switched``, whether the normalisation is other than the method declares.
    """
    problem, method = wildcards["problem"], wildcards["method"]
    normalise = not METHODS[method].normalises if settings["switched"] else None
    made = []
    for dt, truncate in settings["dt"].items():
        try:
            run = simulate_arrays(
                problem, method, float(dt), settings["horizon"], settings["samples"], truncate=truncate, normalise=normalise
            )
        except Exception as error:
            error.add_note(f"dt {dt} s")
            raise
        made.append(run)
    dataset = stacked(made, "dt", list(map(float, settings["dt"])), ("time", "sample"))
    return dataset, f"{len(made)} runs, {int(dataset['steps'].sum())} steps{blown_up(dataset)}"
