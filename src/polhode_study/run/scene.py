"""Runs of many clumps: one method with one step size from several initial states, and films."""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from polhode import manybody
from polhode.interface.arrays import Arrays, about
from polhode.interface.storage import write_text
from polhode.manybody.simulation import simulate_arrays
from polhode_study.run.stacking import blown_up, stacked
from polhode_study.workflow.signals import end_with_head


def scene_of(settings: Mapping[str, Any]) -> manybody.Scene:
    """The scene named by ``settings`` (``scene``), with the spin in ``spin`` (rad/s) unless that is None."""
    scene: manybody.Scene = manybody.scenes[settings["scene"]]
    return scene if settings["spin"] is None else scene.with_spin(settings["spin"])


def make_seeds(
    wildcards: Mapping[str, str], settings: Mapping[str, Any], workers: int = 1, costs: str | Path | None = None
) -> tuple[xr.Dataset, str]:
    """The runs of a method on a scene with one step size from several initial states, over ``seed``; and a message for the log.

    They are the same for any number of workers. A run that blows up is a result: ``diverged_at`` is the time by which it did,
    NaN for the others.

    Parameters
    ----------
    wildcards : mapping
        ``scene`` (its name in the configuration), ``method``, ``dt`` (s, as text).
    settings : mapping
        ``scene`` (key), ``spin`` (rad/s or None), ``horizon`` (s), ``samples``, ``seeds``.
    workers : int
        Number of processes; with one the runs are done in this process.
    costs : path
        A folder, where ``SCENE/METHOD/DT.log`` gets a line about each run and the CPU seconds of all; these are recorded
        nowhere else.
    """
    began = time.perf_counter()
    method, dt = wildcards["method"], float(wildcards["dt"])
    # Compiled before the processes part, so that they share it.
    simulate_arrays(scene_of(settings), method, dt, seed=0, t_end=dt, samples=1)
    work = partial(_run_seed, method, dt, dict(settings))
    runs, cpu = zip(*_spread(work, range(settings["seeds"]), workers), strict=True)
    dataset = stacked(runs, "seed", range(settings["seeds"]))
    blown = dataset["diverged_at"].values
    done = [int(steps) if np.isnan(end) else round(end / dt) for steps, end in zip(dataset["steps"].values, blown, strict=True)]
    if costs is not None:
        lines = [
            f"seed {seed}: {steps} steps, {1e6 * seconds / max(steps, 1):.3f} us a step, {seconds:.3f} s"
            for seed, (steps, seconds) in enumerate(zip(done, cpu, strict=True))
        ]
        lines += [f"wall_seconds {time.perf_counter() - began:.6f}", f"cpu_seconds {sum(cpu):.6f}"]
        write_text(Path(costs, wildcards["scene"], method, f"{wildcards['dt']}.log"), "\n".join(lines) + "\n")
    of_a_step = 1e6 * sum(cpu) / max(sum(done), 1)
    return dataset, f"{len(runs)} runs, {sum(done)} steps, {of_a_step:.3f} us a step{blown_up(dataset)}"


def _spread(work: Callable[[int], tuple[Arrays, float]], seeds: Sequence[int], workers: int) -> Iterator[tuple[Arrays, float]]:
    workers = min(workers, len(seeds))
    # A freshly started process would import and compile everything again.
    if workers <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(work, seeds)
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), end_with_head) as pool:
        try:
            yield from pool.map(work, seeds)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _run_seed(method: str, dt: float, settings: Mapping[str, Any], seed: int) -> tuple[Arrays, float]:
    """One run, and its CPU seconds."""
    began = time.process_time()
    run = simulate_arrays(scene_of(settings), method, dt, seed=seed, t_end=settings["horizon"], samples=settings["samples"])
    cpu = time.process_time() - began
    for name in ("energy", "energy_error"):  # the gathering makes them again
        del run.variables[name]
    return run, cpu


def make_film(wildcards: Mapping[str, str], settings: Mapping[str, Any]) -> tuple[xr.Dataset, str]:
    """Run seed 0 for a short time and record all positions and the spheres themselves, which is enough to draw the scene.

    ``settings`` are those of :func:`make_seeds`, and ``film``: method, dt (s), horizon (s), frames. The file
    holds ``r`` (m) and ``q`` over time and clump, the ``kind`` of each clump, and the spheres of each kind:
    ``sphere_kind``, ``centre`` in the body frame and ``radius`` (m).
    """
    film = settings["film"]
    arrays = film_of(scene_of(settings), film["method"], film["dt"], film["horizon"], film["frames"])
    return arrays.dataset(), f"{film['frames']} frames after the first"


def film_of(scene: manybody.Scene, method: str, dt: float, horizon: float, frames: int, seed: int = 0) -> Arrays:
    """A short run of any scene as :func:`make_film` records it; ``horizon`` in s, ``frames`` after the first."""
    run = simulate_arrays(scene, method, dt, seed, horizon, frames, record=True)
    look = scene.solids()
    kinds = [clump for clump, _ in scene.clumps]
    motion = {
        name: (dims, values.astype("float32"), notes) for name, (dims, values, notes) in run.variables.items() if name in "rq"
    }
    return Arrays(
        {
            **motion,
            "kind": ("clump", look["kind"], about("number of its kind, from 0")),
            "sphere_kind": ("sphere", look["sphere_kind"], about("kind of clump that has the sphere")),
            "centre": (
                ("sphere", "axis"),
                look["centre"],
                about("centre of the sphere in the body frame", "m"),
            ),
            "radius": ("sphere", look["radius"], about("radius of the sphere", "m")),
        },
        {"time": run.coordinates["time"]},
        {**run.attributes, "kinds": ",".join(k.key for k in kinds), "labels": ",".join(k.label for k in kinds)},
    )
