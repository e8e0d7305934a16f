"""Runs of many clumps: one method from several initial states, with one small file each."""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

from polhode import manybody
from polhode.arrays import Arrays
from polhode.manybody.simulation import simulate_arrays
from polhode.study.storage import write_cell
from polhode.study.workflow.interruption import end_with_head

Say = Callable[[str], object]


def scene_of(settings: Mapping[str, Any]) -> manybody.Scene:
    """The scene named by ``settings`` (``scene``), with the spin in ``spin`` (rad/s) unless that is None."""
    scene = manybody.scenes[settings["scene"]]
    return scene if settings["spin"] is None else scene.with_spin(settings["spin"])


def run_all(
    method: str,
    settings: Mapping[str, Any],
    outputs: Sequence[str | Path],
    workers: int = 1,
    say: Say = print,
    jobs: Sequence[str] = (),
    done: Callable[[], object] = lambda: None,
) -> None:
    """Run one method from several initial states with one or more step sizes, and write each run as soon as it is done.

    A file depends only on its seed, the method, the step and the settings: its bytes are the same for any number of workers. A
    run that blows up is a result, recorded with its time.

    Parameters
    ----------
    method : str
        Key.
    settings : mapping
        ``scene`` (key), ``spin`` (rad/s or None), ``horizon`` (s), ``samples``.
    outputs : paths
        One netCDF-3 file per run; each path ends with the step size in s and the seed, ``STEP/SEED.nc``.
    workers : int
        Number of processes; with one the runs are done in this process.
    say : function
        Called with a line about each run and some about all: steps, time of a step, CPU seconds. None of this enters the data.
    jobs : sequence of str
        What each file records about its origin, see :func:`polhode.study.storage.job_text`.
    done : function
        Called after each run.
    """
    began = time.perf_counter()
    texts = jobs or [""] * len(outputs)
    tasks = [
        (float(path.parent.name), int(path.stem), str(path), text) for path, text in zip(map(Path, outputs), texts, strict=True)
    ]
    cpu_seconds = dict.fromkeys(sorted({task[0] for task in tasks}), 0.0)
    work = partial(_run_one, method, dict(settings))
    if tasks:
        # Compiled before the processes part, so that they share it.
        dt = tasks[0][0]
        simulate_arrays(scene_of(settings), method, dt, seed=0, t_end=dt, samples=1)
    for dt, line, cpu in _spread(work, tasks, workers):
        cpu_seconds[dt] += cpu
        say(line)
        done()
    say(f"{len(tasks)} runs of {method} on {settings['scene']}")
    say(f"wall_seconds {time.perf_counter() - began:.6f}")
    say(f"cpu_seconds {sum(cpu_seconds.values()):.6f}")
    for dt, seconds in cpu_seconds.items():
        say(f"cpu_seconds of dt {dt!r}: {seconds:.6f}")


#: Step size (s), seed and file of a run, and what the file records about its origin.
Task = tuple[float, int, str, str]


def _spread(
    work: Callable[[Task], tuple[float, str, float]], tasks: Sequence[Task], workers: int
) -> Iterator[tuple[float, str, float]]:
    workers = min(workers, len(tasks))
    # A freshly started process would import and compile everything again.
    if workers <= 1 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(work, tasks)
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), end_with_head) as pool:
        # Longest first, so that no process is left alone with a long one at the end.
        runs = [pool.submit(work, task) for task in sorted(tasks)]
        try:
            for run in as_completed(runs):
                yield run.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _run_one(method: str, settings: Mapping[str, Any], task: Task) -> tuple[float, str, float]:
    """Do one run and write it; returns its step size, a line about it and its CPU seconds."""
    dt, seed, output, job = task
    began = time.process_time()
    run = simulate_arrays(scene_of(settings), method, dt, seed=seed, t_end=settings["horizon"], samples=settings["samples"])
    cpu = time.process_time() - began
    for name in ("energy", "energy_error"):  # the gathering makes them again
        del run.variables[name]
    # netCDF-3 has no whole numbers beyond 2^31; floating-point numbers are exact up to 2^53.
    for name in ("steps", "contact_steps"):
        dims, value, about = run.variables[name]
        run.variables[name] = dims, float(value), about
    write_cell(run, output, job)
    blown = run.attributes.get("diverged")
    done = int(run.variables["steps"][1]) if blown is None else round(blown / dt)
    line = f"dt {dt!r} s, seed {seed}: {done} steps, {1e6 * cpu / max(done, 1):.3f} us a step, {cpu:.3f} s"
    if blown is not None:
        line += f", diverged at t = {blown:g} s"
    return dt, line, cpu


def run_film(settings: Mapping[str, Any], output: str | Path, job: str = "") -> None:
    """Run seed 0 for a short time and record all positions and the spheres themselves, which is enough to draw the scene.

    ``settings`` are those of :func:`run_all`, and ``film``: method, dt (s), horizon (s), frames. The file
    (netCDF-3) holds ``r`` (m) and ``q`` over time and clump, the ``kind`` of each clump, and the spheres of each kind:
    ``sphere_kind``, ``centre`` in the body frame and ``radius`` (m).
    """
    film = settings["film"]
    write_cell(film_of(scene_of(settings), film["method"], film["dt"], film["horizon"], film["frames"]), output, job)


def film_of(scene: manybody.Scene, method: str, dt: float, horizon: float, frames: int, seed: int = 0) -> Arrays:
    """A short run of any scene as :func:`run_film` records it; ``horizon`` in s, ``frames`` after the first."""
    run = simulate_arrays(scene, method, dt, seed, horizon, frames, record=True)
    look = scene.solids()
    kinds = [clump for clump, _ in scene.clumps]
    motion = {
        name: (dims, values.astype("float32"), about) for name, (dims, values, about) in run.variables.items() if name in "rq"
    }
    return Arrays(
        {
            **motion,
            "kind": ("clump", look["kind"], {"long_name": "number of its kind, from 0", "units": "1"}),
            "sphere_kind": ("sphere", look["sphere_kind"], {"long_name": "kind of clump that has the sphere", "units": "1"}),
            "centre": (
                ("sphere", "axis"),
                look["centre"],
                {"long_name": "centre of the sphere in the body frame", "units": "m"},
            ),
            "radius": ("sphere", look["radius"], {"long_name": "radius of the sphere", "units": "m"}),
        },
        {"time": run.coordinates["time"]},
        {**run.attributes, "kinds": ",".join(k.key for k in kinds), "labels": ",".join(k.label for k in kinds)},
    )
