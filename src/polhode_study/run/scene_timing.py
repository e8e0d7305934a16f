"""The time of a step of the many-body engine with every method, measured like that of a single body."""

import multiprocessing
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from polhode import manybody
from polhode.compiling import cache
from polhode.compiling.in_advance import processors_here
from polhode.compiling.marching import Laps
from polhode.interface.arrays import about
from polhode.manybody.engine import method_parts
from polhode.manybody.simulation import run
from polhode.methods import METHODS
from polhode.methods.protocol import Method, OneTorque
from polhode.problems import PROBLEMS
from polhode.problems.problem import Case, Problem
from polhode_study.run.timing import FRAMES, Clock, Timed, clock, forms_of, frames_of, in_turn, one_core, without_collection
from polhode_study.workflow.signals import end_with_head

#: Number of steps in a sample: the same part of the same run for every method, long enough for some contacts.
STEPS = 20000
#: The scene on which the engine is compiled; the code is the same for all.
SCENE = "rods"
#: Number of steps before it, in which the margins of the neighbour lists settle.
SETTLED = 2000


def compile_beforehand(
    methods: Sequence[Method],
    problems: Sequence[Case],
    engine: Sequence[OneTorque],
    timed: Timed | None = None,
    of_systems: Collection[str] | None = None,
) -> None:
    """Compile what the timing and the runs after it need, with one process per processor; the code is then found on disk.

    The processes are forked from this one, which has imported everything, and take one task at a time. The longest is first:
    the many-body engine, with one method. What it needs of the other methods does not wait for it.

    Parameters
    ----------
    methods : those that are timed
    problems : their torques and loads are compiled too, and for systems of bodies what each method needs for them
    engine : the methods for which the many-body engine is compiled
    timed : the methods that are timed in each frame; None: all
    of_systems : the methods that run systems of bodies; None: all, if one of the problems is a system
    """
    if of_systems is None:
        systems = any(not isinstance(problem, Problem) for problem in problems)
        of_systems = [method.key for method in methods] if systems else ()
    frames = {method.key: frames_of(method.key, timed) for method in methods}
    forms = [partial(_compile_forms, key, key in of_systems, chosen) for key, chosen in frames.items() if chosen]
    torques = [partial(_compile_load, problem.key) for problem in problems]
    workers = processors_here()
    keys = [method.key for method in engine]
    parts = [partial(_compile_parts, key) for key in keys[1:]]
    if workers == 1 or cache.folder() is None or "fork" not in multiprocessing.get_all_start_methods():
        for task in (*forms, *torques, partial(_first_steps, keys[:1]), *parts):
            task()
        return
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), end_with_head) as pool:
        try:
            for job in [pool.submit(task) for task in (partial(_first_steps, keys[:1]), *forms, *parts, *torques)]:
                job.result()
        except BaseException:  # also Ctrl-C: what has not begun never does
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _compile_forms(key: str, systems: bool, frames: Sequence[str] = FRAMES) -> None:
    """The drivers of a method in its forms, and for systems of bodies; the forms share most of its kernels."""
    method = METHODS[key]
    for form in forms_of(method, frames).values():
        form.compile(systems and form is method)


def _compile_load(key: str) -> None:
    problem: Any = PROBLEMS[key]
    problem.compile()


def _compile_parts(key: str) -> None:
    """What the engine needs of a method, for a law that wants no velocities."""
    method = METHODS[key]
    assert isinstance(method, OneTorque)
    method_parts(method, method.normalisation(None), False)


def _first_steps(methods: Sequence[str]) -> None:
    """One step of the engine with each of these methods."""
    scene = manybody.scenes[SCENE]
    for method in methods:
        manybody.simulate(scene, method, scene.usual_step, seed=0, t_end=scene.usual_step, samples=1)


def many_body_timing(
    methods: Sequence[OneTorque], scenes: Sequence[str], rounds: int, *, used: Clock | None = None, steps: int = STEPS
) -> xr.Dataset:
    """Time in microseconds of a step of all clumps, for each scene and method: group ``many_body`` of timing.nc.

    All pairs run in one process on one core and take turns; each sample is ``steps`` steps of one run from the initial state of
    seed 0, timed inside the run, after its set-up and the first ``SETTLED`` steps. Other work on the machine can only lengthen
    a sample, so the fastest represents the pair. A run that blows up, or a clock that does not advance, gives no information:
    such a pair has no time (NaN).

    Parameters
    ----------
    methods : those that can run many bodies
    scenes : keys of the library's scenes
    rounds : how often each pair is timed
    used : clock in s; by default the CPU time of the thread
    steps : of a sample
    """
    tick = used or clock()[1]
    dt = {s: manybody.scenes[s].usual_step for s in scenes}
    runs = {(s, m.key): _timed(manybody.scenes[s], m, dt[s], tick, steps) for s in scenes for m in methods}
    for scene in scenes:
        for method in methods:
            run(manybody.scenes[scene], method, dt[scene], manybody.scenes[scene].initial_state(0), np.array([1]))
    samples = np.empty((len(scenes), len(methods), rounds))
    with one_core() if used is None else nullcontext(), without_collection():
        for turn, (scene, key) in in_turn(list(runs), rounds):
            i, j = scenes.index(scene), [m.key for m in methods].index(key)
            samples[i, j, turn] = runs[scene, key]() / steps * 1e6
    # A pair with one bad sample is bad: minimum and median are NaN then.
    samples[~(samples.min(-1) > 0)] = np.nan
    dims = ("scene", "integrator", "sample")
    return xr.Dataset(
        {
            "samples": (dims, samples, about("time of a step of the scene, each sample", "us")),
            "fastest": (dims[:2], samples.min(-1), about("time of a step of the scene, fastest sample", "us")),
            "median": (dims[:2], np.median(samples, -1), about("median of the samples", "us")),
        },
        {
            "scene": list(scenes),
            "integrator": [m.key for m in methods],
            "label": ("integrator", [m.label for m in methods]),
            "dt": ("scene", [dt[s] for s in scenes], about("step size", "s")),
            "clumps": ("scene", [len(manybody.scenes[s]) for s in scenes], about("clumps")),
        },
        {"steps": steps, "rounds": rounds},
    )


def with_released_steps(steps: xr.Dataset, released: xr.Dataset, methods: Sequence[str]) -> xr.Dataset:
    """The times of further ``methods`` from a release, in proportion to the times of the methods that both have timed.

    Parameters
    ----------
    steps, released : the group ``many_body`` of timing.nc and of the released cost.nc
    methods : keys in the order of the result; those that neither has are left out

    Returns
    -------
    xarray.Dataset
        ``samples`` come from this run alone. ``released`` among the attributes lists the methods.
    """
    own, known = ({str(key) for key in data["integrator"].values} for data in (steps, released))
    taken = [key for key in methods if key in known - own]
    both = sorted(own & known)
    if not taken or not both:
        return steps
    order = [key for key in methods if key in own | known]
    rows = released.reindex(scene=steps["scene"].values).sel(integrator=taken)
    whole = steps.reindex(integrator=order)
    labels = [(steps if key in own else released)["label"].sel(integrator=key).item() for key in order]
    whole["label"] = whole["label"].copy(data=labels)
    for name in ("fastest", "median"):
        ratios = steps[name].sel(integrator=both) / released[name].sel(integrator=both)
        values = (rows[name] * ratios.median("integrator")).reset_coords(drop=True)
        whole[name] = whole[name].fillna(values).transpose(*steps[name].dims).assign_attrs(steps[name].attrs)
    return whole.assign_attrs(steps.attrs, released=",".join(taken))


def _timed(scene: manybody.Scene, method: OneTorque, dt: float, tick: Clock, steps: int) -> Callable[[], float]:
    """A function that runs this part once and returns the time it took, s; NaN if the run did not reach its end."""
    state, ends = scene.initial_state(0), [SETTLED, SETTLED + steps]

    def taken() -> float:
        laps = Laps(ends, tick)
        run(scene, method, dt, state, np.array(ends[-1:]), pauses=laps)
        return laps.clocked[1] - laps.clocked[0] if len(laps.clocked) == 2 else np.nan

    return taken
