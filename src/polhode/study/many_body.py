"""Runs of many clumps: one method with one step size from several initial states, a small file for each of them."""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from polhode import manybody
from polhode.study.storage import write_cell

Say = Callable[[str], object]


def scene_of(settings: Mapping[str, Any]) -> manybody.Scene:
    """The scene that ``settings`` name (``scene``), with their spin in rad/s (``spin``) unless that is None."""
    scene = manybody.scenes[settings["scene"]]
    return scene if settings["spin"] is None else scene.with_spin(settings["spin"])


def run_seeds(
    method: str, dt: float, settings: Mapping[str, Any], outputs: Sequence[str | Path], workers: int = 1, say: Say = print
) -> None:
    """Run seeds 0, 1, ... and write each as soon as it is done.

    A file depends on its seed, the method, the step and the settings alone, not on who computed it: the same bytes come out for
    any number of workers. A run that blows up is a result, recorded with its time.

    Parameters
    ----------
    method : str
        Key.
    dt : float
        Step in s.
    settings : mapping
        ``scene`` (key), ``spin`` (rad/s or None), ``horizon`` (s), ``samples``.
    outputs : paths
        One netCDF-3 file a seed, in the order of the seeds.
    workers : int
        Processes; with one the runs are done in this process.
    say : function
        Called with a line about each run and one about all: steps, time of a step, CPU seconds. None of it goes into the data.
    """
    began = time.perf_counter()
    cpu_seconds = 0.0
    tasks = list(enumerate(map(str, outputs)))
    work = partial(_run_seed, method, dt, dict(settings))
    if tasks:
        # Compiled before the processes part, so that they share it.
        manybody.simulate(scene_of(settings), method, dt, seed=0, t_end=dt, samples=1)
    for line, cpu in _spread(work, tasks, workers):
        cpu_seconds += cpu
        say(line)
    say(f"{len(tasks)} runs of {method} on {settings['scene']}, dt {dt!r} s")
    say(f"wall_seconds {time.perf_counter() - began:.6f}")
    say(f"cpu_seconds {cpu_seconds:.6f}")


def _spread(
    work: Callable[[tuple[int, str]], tuple[str, float]], tasks: Sequence[tuple[int, str]], workers: int
) -> Iterator[tuple[str, float]]:
    workers = min(workers, len(tasks))
    if workers <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(work, tasks)
        return
    # A process started anew would import and compile everything again.
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        yield from pool.imap_unordered(work, tasks)


def _run_seed(method: str, dt: float, settings: Mapping[str, Any], task: tuple[int, str]) -> tuple[str, float]:
    """Run one seed and write it; returns a line about it and its CPU seconds."""
    seed, output = task
    began = time.process_time()
    run = manybody.simulate(scene_of(settings), method, dt, seed=seed, t_end=settings["horizon"], samples=settings["samples"])
    cpu = time.process_time() - began
    run = run.drop_vars(["energy", "energy_error"])  # the gathering makes them again
    run = run.assign(steps=run["steps"].astype("int32"))  # netCDF-3 has no 64-bit whole numbers
    write_cell(run, output)
    line = f"seed {seed}: {int(run.steps)} steps, {1e6 * cpu / int(run.steps):.3f} us a step, {cpu:.3f} s"
    if "diverged" in run.attrs:
        line += f", diverged at t = {run.attrs['diverged']:g} s"
    return line, cpu


def run_film(settings: Mapping[str, Any], output: str | Path) -> None:
    """Run seed 0 for a moment and keep where everything is, with the spheres themselves: enough to draw the scene.

    ``settings`` are those of :func:`run_seeds`, and ``film``: method, dt (s), horizon (s), frames. The file (netCDF-3) holds
    ``r`` (m) and ``q`` over time and clump, the ``kind`` of each clump, and the spheres of each kind: ``sphere_kind``,
    ``centre`` in the body frame and ``radius`` (m).
    """
    scene, film = scene_of(settings), settings["film"]
    run = manybody.simulate(
        scene, film["method"], film["dt"], seed=0, t_end=film["horizon"], samples=film["frames"], record=True
    )
    kinds = [clump for clump, _ in scene.clumps]
    number = {id(clump): i for i, clump in enumerate(kinds)}
    kept = xr.Dataset(
        {
            "r": run["r"].variable.astype("float32"),
            "q": run["q"].variable.astype("float32"),
            "kind": ("clump", np.array([number[id(clump)] for clump in scene.every_clump], "int32")),
            "sphere_kind": ("sphere", np.repeat(np.arange(len(kinds), dtype="int32"), [len(k.radii) for k in kinds])),
            "centre": (("sphere", "axis"), np.concatenate([k.centres for k in kinds]), {"units": "m"}),
            "radius": ("sphere", np.concatenate([k.radii for k in kinds]), {"units": "m"}),
        },
        {"time": run["time"]},
        {**run.attrs, "kinds": ",".join(k.key for k in kinds), "labels": ",".join(k.label for k in kinds)},
    )
    write_cell(kept, output)
