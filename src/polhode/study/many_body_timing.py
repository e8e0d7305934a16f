"""The time of a step of the many-body engine with every method, measured like that of a single body."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial

import numpy as np
import xarray as xr

from polhode import manybody
from polhode.manybody.simulation import run
from polhode.methods.protocol import OneTorque
from polhode.study.timing import Clock, clock, one_core, without_collection

#: The step with which a scene is timed, s: those that the publications name.
DT = {"chess": 4.85e-6, "rods": 3.83e-5}
#: Steps of a sample: the same stretch of the same run for every method, long enough for some contacts.
STEPS = 20000


def many_body_timing(
    methods: Sequence[OneTorque], scenes: Sequence[str], rounds: int, *, used: Clock | None = None, steps: int = STEPS
) -> xr.Dataset:
    """Microseconds of a step of all clumps of each scene with each method: group ``many_body`` of timing.nc.

    All pairs run in one process on one core and take turns; each sample is the first ``steps`` steps from the initial state of
    seed 0, less the fastest run of one step. Other work of the machine can only add to a sample, so that the fastest stands for
    the pair; where the difference is not positive the clock has failed, and the pair has no time (NaN).

    Parameters
    ----------
    methods : those that can run many bodies
    scenes : keys of the library's scenes
    rounds : how often each pair is timed
    used : clock in s; by default the CPU time of the thread
    steps : of a sample
    """
    tick = used or clock()[1]
    runs = {(s, m.key): _runner(manybody.scenes[s], m, DT[s]) for s in scenes for m in methods}
    for each in runs.values():
        each(1)
    samples = np.empty((len(scenes), len(methods), rounds))
    keys = list(runs)
    empty = dict.fromkeys(keys, np.inf)
    taken = {key: np.empty(rounds) for key in keys}
    with one_core() if used is None else nullcontext(), without_collection():
        for turn in range(rounds):
            # Another pair goes first, and every second round runs backwards: none has always the same one before it.
            first = turn * len(keys) // rounds
            order = keys[first:] + keys[:first]
            for key in order if turn % 2 == 0 else reversed(order):
                empty[key] = min(empty[key], _taken(tick, runs[key], 1))
                taken[key][turn] = _taken(tick, runs[key], steps)
    for i, scene in enumerate(scenes):
        for j, method in enumerate(methods):
            key = scene, method.key
            samples[i, j] = (taken[key] - empty[key]) / (steps - 1) * 1e6
    samples[samples.min(-1) <= 0] = np.nan
    dims = ("scene", "integrator", "sample")
    return xr.Dataset(
        {
            "samples": (dims, samples, {"long_name": "time of a step of the scene, each sample", "units": "us"}),
            "fastest": (dims[:2], samples.min(-1), {"long_name": "time of a step of the scene, fastest sample", "units": "us"}),
            "median": (dims[:2], np.median(samples, -1), {"long_name": "median of the samples", "units": "us"}),
        },
        {
            "scene": list(scenes),
            "integrator": [m.key for m in methods],
            "label": ("integrator", [m.label for m in methods]),
            "dt": ("scene", [DT[s] for s in scenes], {"long_name": "step size", "units": "s"}),
            "clumps": ("scene", [len(manybody.scenes[s]) for s in scenes], {"long_name": "clumps", "units": "1"}),
        },
        {"steps": steps, "rounds": rounds},
    )


def _runner(scene: manybody.Scene, method: OneTorque, dt: float) -> Callable[[int], object]:
    return partial(_run, scene, method, dt, scene.initial_state(0))


def _run(scene: manybody.Scene, method: OneTorque, dt: float, state: manybody.State, steps: int) -> object:
    return run(scene, method, dt, state, np.array([steps]))


def _taken(tick: Clock, timed: Callable[[int], object], steps: int) -> float:
    begin = tick()
    timed(steps)
    return tick() - begin
