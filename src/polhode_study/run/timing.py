"""The time of a step of every method, measured so that the methods can be compared.

All methods in all forms run in one process, on one core where the system allows this choice, and take turns: a round times
each of them once, in a different order every round, so that other work on the machine affects all alike. A sample is the
CPU time of the thread for a block of many steps of the compiled kernels under a constant torque, less that of a call without
steps. The fastest sample is the one least disturbed by the rest of the machine; all samples are kept.
"""

import gc
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import numpy as np
import xarray as xr

from polhode.compiling.in_advance import compile_all
from polhode.interface.arrays import about
from polhode.methods import METHODS
from polhode.methods.lab_frame import in_lab
from polhode.methods.protocol import Method
from polhode.problems import single_body
from polhode.problems.problem import Problem

#: The problem whose torque is used: constant, so that it costs next to nothing.
PROBLEM = "spiral_cylinder"
#: The method with which the others are compared, in the form it declares. It is always timed.
UNIT = "euler"
#: Where the angular velocity is kept between steps: as in the method, or in the lab, see :mod:`polhode.methods.lab_frame`.
FRAMES = ("body", "lab")
#: Time step, s: so small that no quaternion leaves the unit sphere and no angle leaves the range of the polynomials.
DT = 1e-6
#: Number of steps in the first block tried, and the largest in any.
FEWEST, MOST = 1024, 2**34
#: How often a block is tried before it counts as long enough; all methods take turns in this as well.
TRIALS = 5

Clock = Callable[[], float]
Key = TypeVar("Key")
#: Frame -> keys of the methods that are timed in it.
Timed = Mapping[str, Collection[str]]


@dataclass(frozen=True)
class Form:
    """One method in one form."""

    method: str
    frame: str
    normalised: bool


def clock() -> tuple[str, Clock]:
    """The clock and its name: the CPU time of the thread, or the wall time where that is too coarse."""
    if time.get_clock_info("thread_time").resolution <= 1e-6:
        return "CPU time of the thread", time.thread_time
    return "elapsed time", time.perf_counter


@contextmanager
def without_collection() -> Iterator[None]:
    """Disable garbage collection meanwhile: it takes as long as a sample, and may always affect the same one."""
    collects = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def one_core() -> Iterator[int | None]:
    """Keep this process on one core meanwhile: the last of those it may use. None where the system does not support this."""
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    allowed = os.sched_getaffinity(0)
    core = max(allowed)
    try:
        os.sched_setaffinity(0, {core})
    except OSError:
        yield None
        return
    try:
        yield core
    finally:
        os.sched_setaffinity(0, allowed)


def runs_of(
    methods: Sequence[Method], frames: Sequence[str] = FRAMES, timed: Timed | None = None
) -> dict[Form, Callable[[int], object]]:
    """Every method in every form that exists, or those ``timed`` -> a function that runs a given number of its steps.

    The forms: kept in the body frame and in the lab, with and without normalisation. A method whose normalisation cannot be
    switched has only the declared form.
    """
    problem = single_body(PROBLEM)
    runs: dict[Form, Callable[[int], object]] = {}
    for method in methods:
        for frame, in_frame in forms_of(method, frames_of(method.key, timed, frames)).items():
            for normalised in (False, True) if method.normalisable else (method.normalises,):
                switch = normalised if method.normalisable else None
                runs[Form(method.key, frame, normalised)] = partial(_run, in_frame, problem, switch)
    return runs


def frames_of(key: str, timed: Timed | None, frames: Sequence[str] = FRAMES) -> list[str]:
    """The frames in which a method is timed; :data:`UNIT` in all."""
    return [frame for frame in frames if timed is None or key == UNIT or key in timed[frame]]


def forms_of(method: Method, frames: Sequence[str] = FRAMES) -> dict[str, Method]:
    """The method itself and, where there is such a form, behind an interface in the lab, by frame."""
    forms = {}
    for frame in frames:
        with suppress(ValueError):
            forms[frame] = in_lab(method) if frame == "lab" else method
    return forms


def compile_forms(methods: Sequence[Method], frames: Sequence[str] = FRAMES) -> None:
    """Compile registered methods in all forms, with one process per processor; code in the cache costs nothing."""
    forms = [f"{in_lab.__module__}:{in_lab.__name__}"] if "lab" in frames else []
    compile_all([method.key for method in methods], forms=forms)


def _run(method: Method, problem: Problem, normalise: bool | None, steps: int) -> object:
    return method.integrate(
        problem.q0,
        problem.omega0,
        problem.body.coefficients(),
        problem.compiled_torque,
        problem.parameter_array,
        DT,
        np.array([steps]),
        normalise,
    )


def measure(
    runs: Mapping[Form, Callable[[int], object]],
    rounds: int,
    block: float,
    clock: Clock,
    progress: Callable[[], object] = lambda: None,
) -> dict[Form, np.ndarray]:
    """Time of a step of each run in nanoseconds: ``rounds`` samples, in the order in which they were taken.

    Parameters
    ----------
    runs : what is timed: functions of a number of steps, already compiled
    rounds : how often each is timed
    block : minimum time of one sample, s; the number of steps is doubled until this is reached
    clock : time in s
    progress : called after each sample

    Raises
    ------
    RuntimeError
        If the clock does not advance.
    """

    def taken(run: Callable[[int], object], steps: int) -> float:
        begin = clock()
        run(steps)
        return clock() - begin

    keys = list(runs)
    steps = dict.fromkeys(keys, FEWEST)
    short = keys
    while short:
        # The fastest of separate trials: if a disturbance lengthened all of them, blocks would remain too short.
        least = dict.fromkeys(short, np.inf)
        for _ in range(TRIALS):
            for key in short:
                least[key] = min(least[key], taken(runs[key], steps[key]))
        short = [key for key in short if least[key] < block]
        for key in short:
            if steps[key] >= MOST:
                raise RuntimeError(f"{steps[key]} steps of {key.method} take no time by this clock; it cannot be used")
            steps[key] *= 2
    whole = {key: np.empty(rounds) for key in keys}
    empty = dict.fromkeys(keys, np.inf)
    with without_collection():
        for turn, key in in_turn(keys, rounds):
            empty[key] = min(empty[key], taken(runs[key], 0))
            whole[key][turn] = taken(runs[key], steps[key])
            progress()
    return {key: (whole[key] - empty[key]) / steps[key] * 1e9 for key in keys}


def in_turn(keys: Sequence[Key], rounds: int) -> Iterator[tuple[int, Key]]:
    """The number of a round and what is timed in it: each time others go first, and every second round runs backwards.

    So none always follows the same one.
    """
    for turn in range(rounds):
        first = turn * len(keys) // rounds
        order = [*keys[first:], *keys[:first]]
        yield from ((turn, key) for key in order[:: -1 if turn % 2 else 1])


def timing(
    methods: Sequence[Method],
    rounds: int,
    block: float,
    host: Mapping[str, str],
    *,
    frames: Sequence[str] = FRAMES,
    timed: Timed | None = None,
    warmed: Callable[[], object] = lambda: None,
    progress: Callable[[], object] = lambda: None,
) -> dict[str, xr.Dataset]:
    """Measure and assemble the contents of timing.nc: the root, with attributes only, and the group ``step``.

    Parameters
    ----------
    methods : what is listed; :data:`UNIT` is added if it is not among them
    rounds, block : see :func:`measure`
    host : what is recorded about the machine
    frames : of :data:`FRAMES`
    timed : the methods that are timed in each frame; None: all
    warmed : called after each form is compiled
    progress : called after each sample
    """
    methods = with_unit(methods)
    runs = runs_of(methods, frames, timed)
    for run in runs.values():
        run(FEWEST)
        warmed()
    name, used = clock()
    with one_core() as core:
        samples = measure(runs, rounds, block, used, progress)
    attributes: dict[str, Any] = {
        **host,
        "date": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "title": "CPU time of a step of each method",
        "rounds": rounds,
        "block": block,
        "clock": name,
        "core": "not chosen" if core is None else str(core),
        "problem": PROBLEM,
        "dt": DT,
    }
    return {"/": xr.Dataset(attrs=attributes), "step": dataset(methods, samples, attributes)}


def with_unit(methods: Sequence[Method]) -> list[Method]:
    """The methods, followed by the one with which the others are compared if it is not among them."""
    unit = [] if any(method.key == UNIT for method in methods) else [METHODS[UNIT]]
    return [*methods, *unit]


def with_released(step: xr.Dataset, released: xr.Dataset) -> xr.Dataset:
    """The times of forms that were not timed from a release, in proportion to the steps of :data:`UNIT` in the same frame.

    Parameters
    ----------
    step, released : the group ``step`` of timing.nc and of the released cost.nc

    Returns
    -------
    xarray.Dataset
        ``samples`` come from this run alone. ``released`` among the attributes lists the methods.
    """
    units = [
        data["fastest"].sel(integrator=UNIT).isel(normalised=int(data["declared"].sel(integrator=UNIT)))
        for data in (step, released)
    ]
    scale = units[0] / units[1].reset_coords(drop=True)
    known = released.reindex(integrator=step["integrator"].values, frame=step["frame"].values)
    missing = ~step["timed"].astype(bool)
    for name in ("fastest", "lower_quartile", "median", "upper_quartile", "relative"):
        values = known[name] * scale if name != "relative" else known[name]
        values = values.reset_coords(drop=True).transpose(*step[name].dims)
        step[name] = step[name].where(~missing, values).transpose(*step[name].dims).assign_attrs(step[name].attrs)
    filled = (missing & step["fastest"].notnull().any("normalised")).any("frame")
    return step.assign_attrs(released=",".join(map(str, step["integrator"].values[filled.values])))


def dataset(methods: Sequence[Method], samples: Mapping[Form, np.ndarray], attributes: Mapping[str, Any]) -> xr.Dataset:
    """Samples as a dataset over method, frame, normalised and sample; NaN for forms that do not exist."""
    rounds = len(next(iter(samples.values())))
    dims = ("integrator", "frame", "normalised")
    keys = [method.key for method in methods]
    values = np.full((len(keys), len(FRAMES), 2, rounds), np.nan)
    for form, taken in samples.items():
        values[keys.index(form.method), FRAMES.index(form.frame), int(form.normalised)] = taken
    timed = np.isfinite(values).any(axis=(2, 3)).astype("int8")
    fastest = values.min(-1)
    unit = methods[keys.index(UNIT)]
    relative = fastest / fastest[keys.index(UNIT), :, int(unit.normalises)][:, None]
    quartiles = np.quantile(values, (0.25, 0.5, 0.75), axis=-1)
    names = ("lower_quartile", "median", "upper_quartile")
    spread = {
        name: (dims, quartile, about(f"{name.replace('_', ' ')} of the samples", "ns"))
        for name, quartile in zip(names, quartiles, strict=True)
    }
    return xr.Dataset(
        {
            "samples": ((*dims, "sample"), values, about("time of a step, each sample", "ns")),
            "fastest": (dims, fastest, {"long_name": "time of a step, the fastest sample", "units": "ns", "symbol": "t_step"}),
            **spread,
            "timed": (
                dims[:2],
                timed,
                about("1 where this run timed it; other times are from a release, in proportion, or NaN"),
            ),
            "relative": (
                dims,
                relative,
                about(f"fastest over that of {UNIT} in the same frame, normalised as it declares"),
            ),
        },
        {
            "integrator": keys,
            "frame": ("frame", list(FRAMES), {"long_name": "where the angular velocity is kept between steps"}),
            "normalised": (
                "normalised",
                np.array([0, 1], dtype=np.int8),
                {"long_name": "whether the quaternion is normalised every step"},
            ),
            "sample": ("sample", np.arange(rounds), {"long_name": "round"}),
            "label": ("integrator", [method.label for method in methods]),
            "declared": (
                "integrator",
                np.array([method.normalises for method in methods], dtype=np.int8),
                about("whether the method declares normalisation"),
            ),
        },
        dict(attributes),
    )
