"""Gather all many-body runs into one file: energy errors over scene, method, step size and initial state."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr
from tqdm import tqdm

from polhode import manybody
from polhode.interface.arrays import about
from polhode.interface.netcdf import plain, read_dataset
from polhode_study.configuration import SceneStudy, method
from polhode_study.declarations import method_declarations
from polhode_study.gather.single_body import methods_shown, with_released
from polhode_study.plan import Plan
from polhode_study.released import MANY_BODY
from polhode_study.run.scene import scene_of

#: The energy errors of a run. The first is plotted by del Valle et al. (2024); its definition is from the authors' program.
ENERGIES = {
    "energy_error": ("the smaller of the mean over the samples and the last value of |dE/E0|, as published", "%"),
    "energy_error_mean": ("mean over the samples of |dE/E0|", "1"),
    "energy_error_largest": ("largest value of |dE/E0| over the samples", "1"),
    "energy_drift": ("dE/E0 at the end", "1"),
}


def run_energies(relative: np.ndarray) -> dict[str, float]:
    """All :data:`ENERGIES` of one run from its relative energy change at the samples after the start; NaN if it blew up."""
    size = np.abs(relative)
    mean, last = float(size.mean()), float(size[-1])
    return {
        "energy_error": 100 * min(mean, last),
        "energy_error_mean": mean,
        "energy_error_largest": float(size.max()),
        "energy_drift": float(relative[-1]),
    }


def relative_change(run: Mapping[str, Any]) -> np.ndarray:
    """dE/E0 at every sample of a run."""
    energy = run["kinetic"] + run["potential"]
    with np.errstate(over="ignore", invalid="ignore"):  # a run about to blow up
        return np.asarray(energy / energy[0] - 1)


def gather_scenes(plan: Plan) -> dict[str, xr.Dataset]:
    """The output of all runs of many bodies, with one group per scene of the study.

    Raises
    ------
    DamagedFile
        If a file is not what the plan expects under its name; the message names it.
    """
    study = plan.study
    attributes = {
        "title": "Energy errors of rigid clumps that collide in a box; one group for each scene",
        "configuration": study.json,
        "plugins": ",".join(study.plugin_methods),
    }
    root = method_declarations(methods_shown(study)).assign_attrs(attributes)
    groups = {"/": root} | {f"/{key}": _scene(plan, scene) for key, scene in study.computed.scenes.items()}
    return with_released(plan, MANY_BODY, groups, lambda name: study.scenes[name[1:]])


def _scene(plan: Plan, study: SceneStudy) -> xr.Dataset:
    shape = (len(study.methods), len(study.steps), study.seeds)
    values = {name: np.full(shape, np.nan) for name in (*ENERGIES, "diverged_at", "contacts")}
    scene = scene_of({"scene": study.scene, "spin": study.spin})
    along: dict[str, np.ndarray] = {}
    times = np.array([])
    for i, key in enumerate(tqdm(study.methods, desc=f"gather {study.key}", unit="method")):
        for j, step in ((j, step) for j, step in enumerate(study.steps) if step.runs(key)):
            path = plan.path("many_body_runs", study.key, step.name, key)
            runs = read_dataset(path, job=plan.origin(path))
            for seed in range(study.seeds):
                run = plain(runs.isel(seed=seed))
                relative = relative_change(run)
                for name, value in run_energies(relative[1:]).items():
                    values[name][i, j, seed] = value
                values["diverged_at"][i, j, seed] = run["diverged_at"]
                values["contacts"][i, j, seed] = float(run["contact_steps"]) * step.dt / (scene.contact_time() * len(scene))
                if study.over_time:
                    times = run["time"]
                    for name, line in _along(run, relative).items():
                        along.setdefault(name, np.full((len(study.methods), study.seeds, len(times)), np.nan))[i, seed] = line
    dims = ("integrator", "dt", "seed")
    data: dict[str, Any] = {name: (dims, values[name], about(*text)) for name, text in ENERGIES.items()}
    data["diverged"] = (dims, np.isfinite(values["diverged_at"]).astype("int8"), about("1 where the run blew up"))
    data["diverged_at"] = (dims, values["diverged_at"], about("time by which the run blew up", "s"))
    data["contacts"] = (dims, values["contacts"], about("time in contact of all pairs over contact_time, for each clump"))
    for name, line in along.items():
        data[name] = (("integrator", "seed", "time"), line, about(*ALONG[name]))
    coordinates: dict[str, Any] = {
        "integrator": list(study.methods),
        "label": ("integrator", [method(key).label for key in study.methods]),
        "variant_of": ("integrator", [method(key).variant_of for key in study.methods]),
        "dt": ("dt", [step.dt for step in study.steps], about("step size", "s")),
        "dt_set": ("dt", [step.set_name for step in study.steps]),
        "steps": ("dt", [step.steps for step in study.steps], about("steps of a run")),
        "end_time": ("dt", [step.end_time for step in study.steps], about("end of a run", "s")),
        "seed": ("seed", np.arange(study.seeds), {"long_name": "seed of the initial state"}),
    }
    if along:
        coordinates["time"] = ("time", times, about("time", "s"))
    return xr.Dataset(data, coordinates, scene_attributes(study))


#: Variables kept along a run if ``over_time`` is set; the last two only for scenes of rods.
ALONG = {
    "energy_change": ("change of the energy since the start, relative", "1"),
    "axial_spin_change": (
        "largest change over all rods of the angular velocity about the long axis",
        "rad s-1",
    ),
    "axial_spin": ("largest angular velocity about the long axis, over all rods", "rad s-1"),
}


def _along(run: Mapping[str, Any], relative: np.ndarray) -> dict[str, np.ndarray]:
    series = {"energy_change": relative}
    if "axial_spin" in run:
        spin = run["axial_spin"]
        series["axial_spin_change"] = np.abs(spin - spin[0]).max(axis=1)
        series["axial_spin"] = np.abs(spin).max(axis=1)
    return series


def scene_attributes(study: SceneStudy) -> dict[str, Any]:
    """A description of a scene, and its characteristic times, s."""
    scene: manybody.Scene = scene_of({"scene": study.scene, "spin": study.spin})
    return {
        "scene": scene.key,
        "label": scene.label,
        "source": scene.source,
        "clumps": len(scene),
        "spheres": sum(len(clump.radii) for clump in scene.every_clump),
        "box": scene.box,
        "speed": scene.speed,
        "spin": scene.spin,
        "density": scene.material.density,
        "young": scene.material.young,
        "poisson": scene.material.poisson,
        "solid_fraction": scene.solid_fraction,
        "horizon": study.horizon,
        "samples": study.samples,
        "rayleigh_step": scene.rayleigh_step,
        "p_wave_step": scene.p_wave_step,
        "contact_time": scene.contact_time(),
        "units": "m, kg, s, rad, Pa",
    }
