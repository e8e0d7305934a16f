"""One cell of the fan-out: one method on one problem with one step size, written as one small file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polhode.registry import catalogue
from polhode.simulate import simulate
from polhode.study.storage import write_cell


def run_cell(problem: str, method: str, dt: float, settings: Mapping[str, Any], output: str | Path, job: str = "") -> str:
    """Simulate and write; returns what to say about it.

    ``settings`` are the horizon (s), the number of samples, whether the run may be truncated, and whether the normalisation is
    switched against what the method declares; ``job`` is what the file says about where it comes from. A run that blows up is
    a result: it is recorded as diverged, with the time, and the study goes on.
    """
    normalise = not catalogue("polhode.methods")[method].normalises if settings.get("switched") else None
    horizon, samples, truncate = settings["horizon"], settings["samples"], settings["truncate"]
    run = simulate(problem, method, dt, horizon, samples, truncate=truncate, normalise=normalise)
    # netCDF-3 has no whole numbers beyond 2^31; floating-point numbers are exact up to 2^53.
    run = run.assign({name: run[name].astype("float64") for name in ("steps", "torque_evaluations")})
    write_cell(run, output, job)
    blown = f", diverged by t = {run.attrs['diverged']:g} s" if "diverged" in run.attrs else ""
    return f"{int(run.steps)} steps{blown}"
