"""One cell of the fan-out: one method on one problem with one step size, written as one small file."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from polhode.registry import catalogue
from polhode.simulate import simulate
from polhode.study.storage import write_cell, write_text


def run_cell(problem: str, method: str, dt: float, settings: Mapping[str, Any], output: str | Path, log: str | Path) -> None:
    """Simulate and write; the times it took go into the log, never into the data.

    ``settings`` are the horizon (s), the number of samples, whether the run may be truncated, and whether the normalisation is
    switched against what the method declares. A run that blows up is a
    result: it is recorded as diverged, with the time, and the study goes on.
    """
    wall, cpu = time.perf_counter(), time.thread_time()
    normalise = not catalogue("polhode.methods")[method].normalises if settings.get("switched") else None
    samples, truncate = settings["samples"], settings["truncate"]
    run = simulate(problem, method, dt, settings["horizon"], samples, truncate=truncate, normalise=normalise)
    run.attrs.update({key: float(value) for key, value in settings.items()})
    # netCDF-3 has no 64-bit whole numbers.
    run = run.assign({name: run[name].astype("int32") for name in ("steps", "torque_evaluations")})
    write_cell(run, output)
    lines = [
        f"problem {problem}, method {method}, dt {dt!r} s, {int(run.steps)} steps",
        f"wall_seconds {time.perf_counter() - wall:.6f}",
        f"cpu_seconds {time.thread_time() - cpu:.6f}",
    ]
    if "diverged" in run.attrs:
        lines.insert(1, f"diverged by t = {run.attrs['diverged']:g} s")
    write_text(log, "\n".join(lines) + "\n")
