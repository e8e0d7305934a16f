"""Liquids in other codes and in ours from the same states: potential energies of each step, and the drift of the others."""

import datetime
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from polhode import manybody
from polhode.interface.arrays import about
from polhode.manybody.scenes import SCENES
from polhode.methods import METHODS
from polhode.version import __version__
from polhode_engines.environments import RUN_LIMIT
from polhode_engines.liquids import flow, flow_through
from polhode_engines.protocol import Engine, Liquids, all_engines
from polhode_study.provenance import processor
from polhode_study.run.making import Settings

#: Fluids, and the steps at which they are compared, in the units of each.
STEPS = {"water64": (1.0, 2.0, 4.0), "water125": (1.0, 2.0, 4.0), "trimers": (0.004, 0.008, 0.016)}
#: Number of steps compared, each.
COMPARED = 100
#: Runs for the drift: the fluid, its initial states, the steps (fs), the time simulated (fs) and that between samples.
DRIFTING, STARTS, LONG_STEPS, LONG, BETWEEN = "water64", (0, 1), (2.0, 4.0), 40_000.0, 20.0
#: Runs for the time of a step, of the same fluid: steps before it is measured, and steps measured.
WARMING, TIMED = 500, 3000
#: Names of the step sizes, which differ between fluids.
SIZES = ("short", "middle", "long")


def liquid_codes(settings: Settings) -> xr.Dataset:
    """Potential energies of fluids over :data:`COMPARED` steps by the methods that LAMMPS has, for comparison with its own.

    Returns
    -------
    xarray.Dataset
        ``potential`` and ``kinetic`` over scene, integrator, size (of the step) and step.
    """
    methods = settings.get("options") or tuple(dict.fromkeys(_declared().options.values()))
    fluids = {key: STEPS[key] for key in settings.get("fluids", STEPS)}
    energies = np.full((2, len(fluids), len(methods), len(SIZES), COMPARED + 1), np.nan)
    for s, (key, steps) in enumerate(fluids.items()):
        for m, method in enumerate(methods):
            for d, dt in enumerate(steps):
                run = manybody.simulate(key, method, dt, t_end=COMPARED * dt, samples=COMPARED)
                energies[:, s, m, d] = run["potential"], run["kinetic_translation"] + run["kinetic_rotation"]
    over = "scene", "integrator", "size", "step"
    return xr.Dataset(
        {
            "potential": (over, energies[0], about("potential energy; reduced for trimers", "kcal mol-1")),
            "kinetic": (over, energies[1], about("kinetic energy; reduced for trimers", "kcal mol-1")),
        },
        {**_over_steps(fluids), "integrator": list(methods)},
    )


def _declared() -> Liquids:
    declared = all_engines()["lammps"].liquids
    assert declared is not None
    return declared


def _over_steps(fluids: Mapping[str, tuple[float, ...]] = STEPS) -> dict[str, Any]:
    """The coordinates that the runs of codes and of ours have in common."""
    return {
        "scene": ("scene", list(fluids), {"long_name": "fluid"}),
        "size": ("size", list(SIZES), {"long_name": "step size of the fluid"}),
        "step": ("step", np.arange(COMPARED + 1), about("number of the step")),
        "dt": (("scene", "size"), np.array(list(fluids.values())), about("step; fs, or reduced", "fs")),
    }


def jobs(engine: Engine) -> int:
    """The number of runs of an engine, for a bar."""
    assert engine.liquids is not None
    return len(engine.liquids.options) * (len(STEPS) * len(SIZES) + len(STARTS) * len(LONG_STEPS) + 1)


def liquids_in(engine: Engine, progress: Callable[[], object] = lambda: None, limit: float = RUN_LIMIT) -> xr.Dataset:
    """Liquids in an engine that declares them, from the initial states of our fluids.

    Parameters
    ----------
    progress : called after each of :func:`jobs` runs
    limit : seconds that one run may take

    Returns
    -------
    xarray.Dataset
        Over option: ``potential`` and ``kinetic`` over scene, size and step; ``long_energy``, the total energy less that at the
        start, over start, long_dt and time, and its ``drift``; ``step_time`` and ``our_step_time``. A run that failed has NaN,
        and a line in ``failures``.
    """
    declared = engine.liquids
    assert declared is not None
    plans: list[tuple[Any, int, float, Sequence[int]]] = [
        (SCENES[key], 0, dt, range(COMPARED + 1)) for key, steps in STEPS.items() for dt in steps
    ]
    plans += [(SCENES[DRIFTING], seed, dt, _sampled(dt)) for seed in STARTS for dt in LONG_STEPS]
    plans.append((SCENES[DRIFTING], STARTS[0], LONG_STEPS[0], (0, WARMING, WARMING + TIMED)))
    runs = [flow(fluid, fluid.initial_state(seed), dt, samples) for fluid, seed, dt, samples in plans]
    short, version, failures = len(STEPS) * len(SIZES), "", set()
    energies, long, times = [], [], []
    for option in declared.options:
        version, done = flow_through(engine, option, runs, progress, limit)
        energies.append([[run.potential, run.kinetic] for run in done[:short]])
        totals = [run.potential + run.kinetic for run in done[short:-1]]
        long.append([total - total[0] for total in totals])
        times.append(((done[-1].seconds[2] - done[-1].seconds[1]) / TIMED, step_time(declared.options[option])))
        failures |= {run.error for run in done if run.error}
    shape = len(times), len(STARTS), len(LONG_STEPS)
    at = np.arange(0, LONG + BETWEEN / 2, BETWEEN)
    later, fluid, long_energy = at >= LONG / 10, SCENES[DRIFTING], np.array(long).reshape(*shape, -1)
    centred = 1e-6 * (at[later] - at[later].mean())
    drifts = long_energy[..., later] @ centred / (centred @ centred) / ((sum(fluid.degrees_of_freedom) + 3) * fluid.thermal)
    of_steps = np.array(energies).reshape(len(times), len(STEPS), len(SIZES), 2, COMPARED + 1)
    over, methods = ("option", "scene", "size", "step"), list(declared.options.values())
    return xr.Dataset(
        {
            "potential": (over, of_steps[..., 0, :], about("potential energy; reduced for trimers", "kcal mol-1")),
            "kinetic": (over, of_steps[..., 1, :], about("kinetic energy; reduced for trimers", "kcal mol-1")),
            "long_energy": (
                ("option", "start", "long_dt", "time"),
                long_energy.astype("float32"),
                about(f"energy of {DRIFTING} less that at the start", "kcal mol-1"),
            ),
            "drift": (
                ("option", "start", "long_dt"),
                drifts,
                about("slope of the energy in kT per degree of freedom, without the first tenth", "ns-1"),
            ),
            "label": ("option", [METHODS[key].label for key in methods], {"long_name": "name of the method that it is"}),
            "scene_label": ("scene", [SCENES[key].label for key in STEPS], {"long_name": "name of the fluid"}),
            "step_time": ("option", [code for code, _ in times], about(f"CPU time of a step of {DRIFTING} on one core", "s")),
            "our_step_time": ("option", [ours for _, ours in times], about("the same of our engine, right after", "s")),
        },
        {
            **_over_steps(),
            "option": ("option", list(declared.options), {"long_name": "how the code holds molecules"}),
            "integrator": ("option", methods, {"long_name": "method that it is"}),
            "start": ("start", list(STARTS), about("number of the initial state")),
            "long_dt": ("long_dt", list(LONG_STEPS), about("step", "fs")),
            "time": ("time", at, about("time", "fs")),
        },
        {
            "title": f"Liquids of rigid molecules in {engine.label}",
            "code": engine.key,
            "label": engine.label,
            "version": version,
            "chosen_by": declared.chosen_by,
            "failures": "; ".join(sorted(failures)),
            "polhode": __version__,
            "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}",
            "processor": processor(),
        },
    )


def step_time(method: str) -> float:
    """CPU time of a step of :data:`DRIFTING` in our engine, s."""
    spent = []
    for steps in (1, WARMING, WARMING + TIMED):  # the first compiles
        began = time.process_time()
        manybody.simulate(DRIFTING, method, LONG_STEPS[0], t_end=steps * LONG_STEPS[0], samples=1)
        spent.append(time.process_time() - began)
    return (spent[2] - spent[1]) / TIMED


def _sampled(dt: float) -> Sequence[int]:
    """The steps after which a long run is read."""
    return range(0, round(LONG / dt) + 1, round(BETWEEN / dt))


def as_text(data: xr.Dataset) -> str:
    """For a terminal: of each option the energies at the start and after the last of the steps compared, and the drift."""
    lines = []
    for option in data["option"].values:
        of_option = data.sel(option=option)
        spent = [1e6 * float(of_option[name]) for name in ("step_time", "our_step_time")]
        lines.append(f"{option}: {spent[0]:.0f} us a step, here {spent[1]:.0f} us")
        for scene in data["scene"].values:
            ends = of_option["potential"].sel(scene=scene).isel(step=[0, -1]).values
            lines += [
                f"    {scene}, step {dt:g}: {a:.12f}, {b:.12f}" for dt, (a, b) in zip(STEPS[str(scene)], ends, strict=True)
            ]
    return "\n".join([*lines, *filter(None, [str(data.attrs["failures"])])])
