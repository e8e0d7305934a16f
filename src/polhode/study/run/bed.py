"""A bed of grains that settles, with some methods and steps from the same initial states: what is read off at the end."""

from typing import Any

import numpy as np
import xarray as xr

from polhode.algebra.metrics import rotation_matrix
from polhode.interface.arrays import about
from polhode.manybody.scene import Scene
from polhode.manybody.scenes import SCENES
from polhode.manybody.simulation import simulate
from polhode.methods import METHODS
from polhode.study.run.making import Settings

SCENE = "bed"
METHODS_OF_BED = ("spiral_leapfrog", "fincham1992", "no_squish", "pcdm2016", "exact_rotor")
#: Steps in the shortest contact at the initial speed, and initial states.
DIVISIONS = (4, 10, 20, 40, 80)
SEEDS = 8
#: The time simulated, s, after which hardly anything moves, and samples of it.
END, SAMPLES = 0.2, 50
#: The grains have settled when the kinetic energy is this part of that at the start.
SETTLED = 0.01
#: The forms of energy in a run, whose sum stays the same but for the error of the step.
FORMS = (
    "kinetic",
    "gravitational",
    "potential",
    "dissipated_normal",
    "dissipated_tangential",
    "dissipated_sliding",
    "taken_by_law",
)
#: What is read off a run, its meaning and unit.
OBSERVABLES = {
    "height": ("mean height of the centres of mass above the floor", "m"),
    "contacts": ("contacts of a grain with spheres of others and with walls", "1"),
    "settling_time": (f"time at which the kinetic energy falls below {SETTLED:g} of that at the start", "s"),
    "normal": ("energy dissipated by normal dashpots over all dissipated", "1"),
    "tangential": ("energy dissipated by tangential dashpots over all dissipated", "1"),
    "sliding": ("energy dissipated by sliding over all dissipated", "1"),
    "made": ("energy made by the law of force over all dissipated", "1"),
    "closure": ("error of the sum of all energies over the energy at the start", "1"),
}


def bed(settings: Settings) -> xr.Dataset:
    """What is read off a bed of grains at its end, and its kinetic energy over time.

    Every method and step begins with the same initial states, seed by seed. Values are NaN where a run was ``lost``.

    Returns
    -------
    xarray.Dataset
        :data:`OBSERVABLES` over integrator, division (T over dt, with T of :meth:`polhode.manybody.Scene.contact_time`) and
        seed; ``kinetic`` (J) over these and time; ``lost``; and the ledger of one run, ``ledger`` (J) over form and time.
    """
    methods = [key for key in METHODS_OF_BED if key in settings["methods"]]
    if not methods:
        return xr.Dataset()
    scene = SCENES[SCENE]
    shape = len(methods), len(DIVISIONS), SEEDS
    values = {name: np.full(shape, np.nan) for name in OBSERVABLES}
    kinetic = np.full((*shape, SAMPLES + 1), np.nan, "float32")
    lost = np.zeros(shape, "int8")
    ledger = np.full((len(FORMS), SAMPLES + 1), np.nan)
    for place in np.ndindex(shape):
        run = run_of(scene, methods[place[0]], DIVISIONS[place[1]], place[2])
        kinetic[place] = run["kinetic"].values
        lost[place] = "diverged" in run.attrs
        if place == (0, len(DIVISIONS) - 1, 0):
            ledger[:] = [run[form].values for form in FORMS]
        if not lost[place]:
            for name, value in observed(scene, run).items():
                values[name][place] = value
    over = ("integrator", "division", "seed")
    variables: dict[str, Any] = {name: (over, values[name], about(*OBSERVABLES[name])) for name in OBSERVABLES}
    variables["kinetic"] = ((*over, "time"), kinetic, about("kinetic energy at the last step before this time", "J"))
    variables["lost"] = (over, lost, about("whether the run was lost (1) or not (0)"))
    variables["ledger"] = (
        ("form", "time"),
        ledger,
        about("energies of the first initial state with the first method and the shortest step", "J"),
    )
    variables["label"] = ("integrator", [METHODS[key].label for key in methods], {"long_name": "name of the method"})
    coords: dict[str, Any] = {
        "integrator": ("integrator", methods, {"long_name": "key of the method"}),
        "division": ("division", list(DIVISIONS), about("steps in the contact time")),
        "seed": ("seed", np.arange(SEEDS), {"long_name": "seed of the initial state"}),
        "time": ("time", np.linspace(0, END, SAMPLES + 1), about("time", "s")),
        "form": ("form", list(FORMS), {"long_name": "form of energy"}),
    }
    attributes = {
        "scene": scene.key,
        "clumps": len(scene),
        "law": scene.force_law.key,
        "friction": scene.force_law.value("friction"),
        "restitution": scene.force_law.value("restitution"),
        "speed": scene.speed,
        "speed_units": "m s-1",
        "contact_time": scene.contact_time(),
        "contact_time_units": "s",
    }
    return xr.Dataset(variables, coords, attributes)


def run_of(scene: Scene, method: str, division: int, seed: int) -> xr.Dataset:
    """One run of the bed with so many steps in a contact time."""
    return simulate(scene, method, scene.contact_time() / division, seed, END, SAMPLES, record=True)


def observed(scene: Scene, run: xr.Dataset) -> dict[str, float]:
    """The :data:`OBSERVABLES` of a run that was not lost."""
    energy = {name: float(run[name][-1]) for name in FORMS}
    dissipated = {name: energy[f"dissipated_{name}"] for name in ("normal", "tangential", "sliding")}
    total = sum(dissipated.values())
    return {
        "height": float(run["r"][-1, :, 2].mean()) + scene.box / 2,
        "contacts": touching(scene, run["r"].values[-1], run["q"].values[-1]) / len(scene),
        "settling_time": settling_time(run["time"].values, run["kinetic"].values),
        **{name: value / total for name, value in dissipated.items()},
        "made": -energy["taken_by_law"] / total,
        "closure": float(run["closure"][-1]),
    }


def touching(scene: Scene, r: np.ndarray, q: np.ndarray) -> int:
    """How many contacts all grains have: a contact of two grains counts for both, one with a wall once.

    Parameters
    ----------
    r, q : arrays (clumps, 3), m, and (clumps, 4)
    """
    centres, radii = [], []
    for clump, place, turned in zip(scene.every_clump, r, rotation_matrix(q), strict=True):
        centres.append(place + clump.centres @ turned.T)
        radii.append(clump.radii)
    owner = np.repeat(np.arange(len(radii)), [len(of_clump) for of_clump in radii])
    at, radius = np.concatenate(centres), np.concatenate(radii)
    distance = np.linalg.norm(at[:, None] - at[None, :], axis=-1)
    pairs = (distance < radius[:, None] + radius[None, :]) & (owner[:, None] != owner[None, :])
    walls = np.abs(at) > scene.box / 2 - radius[:, None]
    return int(pairs.sum() + walls.sum())


def settling_time(time: np.ndarray, kinetic: np.ndarray) -> float:
    """When the kinetic energy falls below :data:`SETTLED` of its first value for good, s; NaN if it does not.

    Interpolated between samples, linearly in the logarithm of the energy.
    """
    above = np.flatnonzero(kinetic >= SETTLED * kinetic[0])
    last = int(above[-1])
    if last + 1 == len(time):
        return float("nan")
    high, low, level = np.log([kinetic[last], kinetic[last + 1], SETTLED * kinetic[0]])
    return float(time[last] + (time[last + 1] - time[last]) * (high - level) / (high - low))
