"""One cell of the fan-out: one method on one problem with one step size, written as one small file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polhode.methods import METHODS
from polhode.simulate import simulate_arrays
from polhode.study.storage import write_cell


def run_cell(problem: str, method: str, dt: float, settings: Mapping[str, Any], output: str | Path, job: str = "") -> str:
    """Simulate and write; returns a message for the log.

    ``settings`` are the horizon (s), the number of samples, whether the run may be truncated, and whether the normalisation is
    switched relative to the method's declaration; ``job`` is recorded in the file as its origin. A run that blows up is
    a result: it is recorded as diverged, with the time, and the study continues.
    """
    normalise = not METHODS[method].normalises if settings.get("switched") else None
    horizon, samples, truncate = settings["horizon"], settings["samples"], settings["truncate"]
    run = simulate_arrays(problem, method, dt, horizon, samples, truncate=truncate, normalise=normalise)
    # netCDF-3 has no integers beyond 2^31; floating-point numbers are exact up to 2^53.
    for name in ("steps", "torque_evaluations"):
        dims, value, about = run.variables[name]
        run.variables[name] = dims, float(value), about
    write_cell(run, output, job)
    blown = f", diverged by t = {run.attributes['diverged']:g} s" if "diverged" in run.attributes else ""
    return f"{run.variables['steps'][1]:.0f} steps{blown}"
