"""Grains in motion, with some methods, laws and steps from the same initial states: what a practitioner reads off."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import atan2, degrees, pi
from typing import Any

import numpy as np
import xarray as xr

from polhode.algebra.metrics import rotation_matrix
from polhode.interface.arrays import about
from polhode.manybody.forces import FORCES
from polhode.manybody.law import ForceLaw
from polhode.manybody.scene import Scene
from polhode.manybody.scenes import SCENES
from polhode.manybody.simulation import simulate
from polhode.manybody.walls import AXES
from polhode.methods import METHODS
from polhode_study.run.making import Settings

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
#: What walls that move have done on the grains, which the sum has besides.
WORK = "work_of_walls"
#: The time A of a viscoelastic contact, in contact times, with which a head-on impact at the speed of the contact time has the
#: restitution 0.67 of the scenes.
VISCOELASTIC = 0.0777458


@dataclass(frozen=True)
class Variant:
    """A method with a law of force and, if it is not that of the scene, a Young's modulus in Pa."""

    method: str
    law: ForceLaw
    label: str
    young: float | None = None


@dataclass(frozen=True)
class Observable:
    """Something that is read off a run: its meaning, its unit, and the function of a scene and its run that returns it."""

    meaning: str
    unit: str
    value: Callable[[Scene, xr.Dataset], float]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is run on a scene, and what is read off.

    Parameters
    ----------
    scene : Scene
    variants : mapping
        Key -> method and law, the one with which all are compared first.
    divisions : tuple of int
        Steps in the contact time of the scene, ascending; the last is the one with which others are compared.
    law_divisions : tuple of int
        Those of them that other laws run with, by default all.
    seeds : int
        Initial states.
    end, samples : the time simulated, s, after which hardly anything moves, and samples of it
    observables : mapping
    """

    scene: Scene
    variants: Mapping[str, Variant]
    divisions: tuple[int, ...]
    law_divisions: tuple[int, ...] = ()
    seeds: int
    end: float
    samples: int = 50
    observables: Mapping[str, Observable]

    def compared(self, key: str) -> str:
        """What a variant is for: a ``method`` with the first law and material, another ``law``, or another ``stiffness``."""
        first, variant = next(iter(self.variants.values())), self.variants[key]
        return "stiffness" if variant.young != first.young else "method" if variant.law is first.law else "law"

    def runs(self, key: str, division: int) -> bool:
        """Whether a variant runs with so many steps in a contact time."""
        return self.compared(key) != "law" or not self.law_divisions or division in self.law_divisions

    def scene_of(self, key: str) -> Scene:
        """The scene with the law and the material of a variant."""
        variant, scene = self.variants[key], self.scene
        material = scene.material if variant.young is None else replace(scene.material, young=variant.young)
        return replace(scene, law=variant.law, material=material)


def grains(
    experiment: Experiment, methods: Sequence[str], seeds: Sequence[int] = (), divisions: Sequence[int] = ()
) -> xr.Dataset:
    """What is read off grains at the end of runs, and their kinetic energy over time.

    Every method, law and step begins with the same initial states, seed by seed. Values are NaN where a run was ``lost``, and
    where there is none (``lost`` is -1).

    Parameters
    ----------
    methods : the methods of the study; variants with others are left out
    seeds, divisions : by default all of the experiment

    Returns
    -------
    xarray.Dataset
        The observables over variant, division (T over dt, with T of :meth:`polhode.manybody.Scene.contact_time`) and seed;
        ``kinetic`` (J) over these and time; ``lost``; and the ledger of the run with the shortest step of the experiment,
        ``ledger`` (J) over form and time, if there is one. Along
        variant: what it is ``compared`` for (:meth:`Experiment.compared`), the keys ``integrator`` and ``law``, ``young`` (Pa),
        ``contact_time`` (s) and the ``label``.
    """
    keys = [key for key, variant in experiment.variants.items() if variant.method in methods]
    if not keys:
        return xr.Dataset()
    seeds = list(seeds) or list(range(experiment.seeds))
    divisions, observables = list(divisions) or list(experiment.divisions), experiment.observables
    shape = len(keys), len(divisions), len(seeds)
    values = {name: np.full(shape, np.nan) for name in observables}
    kinetic = np.full((*shape, experiment.samples + 1), np.nan, "float32")
    lost = np.full(shape, -1, "int8")
    forms = [*FORMS, *([WORK] if experiment.scene.walls_move else [])]
    ledger = np.full((len(forms), experiment.samples + 1), np.nan)
    scenes = {key: experiment.scene_of(key) for key in keys}
    for place in np.ndindex(shape):
        key, division = keys[place[0]], divisions[place[1]]
        if not experiment.runs(key, division):
            continue
        scene, method = scenes[key], experiment.variants[key].method
        dt = scene.contact_time() / division
        run = simulate(scene, method, dt, seeds[place[2]], experiment.end, experiment.samples, record=True)
        with np.errstate(over="ignore"):  # of a run that is lost
            kinetic[place] = run["kinetic"].values
        lost[place] = "diverged" in run.attrs
        if (place[0], division, place[2]) == (0, experiment.divisions[-1], 0):
            ledger[:] = [run[form].values for form in forms]
        if not lost[place]:
            for name, observable in observables.items():
                values[name][place] = observable.value(scene, run)
    over = ("variant", "division", "seed")
    variables: dict[str, Any] = {
        name: (over, values[name], about(observable.meaning, observable.unit)) for name, observable in observables.items()
    }
    variables["kinetic"] = ((*over, "time"), kinetic, about("kinetic energy at the last step before this time", "J"))
    variables["lost"] = (over, lost, about("whether the run was lost (1) or not (0); -1 where there is none"))
    if experiment.divisions[-1] in divisions:
        variables["ledger"] = (
            ("form", "time"),
            ledger,
            about("energies of the first initial state with the first variant and the shortest step", "J"),
        )
    variants = [experiment.variants[key] for key in keys]
    variables["label"] = ("variant", [variant.label for variant in variants], {"long_name": "name of the method or the law"})
    coords: dict[str, Any] = {
        "variant": ("variant", keys, {"long_name": "key of the method, the law or the material"}),
        "compared": ("variant", list(map(experiment.compared, keys)), {"long_name": "what differs from the first variant"}),
        "integrator": ("variant", [variant.method for variant in variants], {"long_name": "key of the method"}),
        "law": ("variant", [variant.law.key for variant in variants], {"long_name": "key of the law of force"}),
        "young": ("variant", [scene.material.young for scene in scenes.values()], about("Young's modulus", "Pa")),
        "contact_time": ("variant", [scene.contact_time() for scene in scenes.values()], about("contact time T", "s")),
        "division": ("division", list(divisions), about("steps in the contact time")),
        "seed": ("seed", seeds, {"long_name": "seed of the initial state"}),
        "time": ("time", np.linspace(0, experiment.end, experiment.samples + 1), about("time", "s")),
        "form": ("form", forms, {"long_name": "form of energy"}),
    }
    scene = experiment.scene
    attributes = {
        "scene": scene.key,
        "clumps": len(scene),
        "friction": scene.force_law.value("friction"),
        "restitution": scene.force_law.value("restitution"),
        "speed": scene.speed,
        "speed_units": "m s-1",
    }
    if scene.drum:
        attributes |= {"radius": scene.drum.radius, "radius_units": "m", "rate": scene.drum.rate, "rate_units": "rad s-1"}
    return xr.Dataset(variables, coords, attributes)


# ---- what is read off ----


def height(scene: Scene, run: xr.Dataset) -> float:
    """The mean height of the centres of mass above the floor at the end, m."""
    return float(run["r"][-1, :, 2].mean()) + scene.box / 2


def distances(scene: Scene, run: xr.Dataset) -> np.ndarray:
    """The horizontal distances (clumps,) of the centres of mass from the middle of the box at the end, m."""
    away: np.ndarray = np.linalg.norm(run["r"].values[-1, :, :2], axis=-1)
    return away


def runout(scene: Scene, run: xr.Dataset) -> float:
    """The horizontal distance from the middle within which 95 % of the centres of mass lie at the end, m."""
    return float(np.quantile(distances(scene, run), 0.95))


def heap_angle(scene: Scene, run: xr.Dataset) -> float:
    """The angle in degrees of the cone of even density with the mean height and the mean distance from the axis at the end.

    Of a cone of height H and radius R the first is H/4, the second R/2.
    """
    return degrees(atan2(2 * height(scene, run), float(distances(scene, run).mean())))


def contacts(scene: Scene, run: xr.Dataset) -> float:
    """Contacts of a grain at the end."""
    return touching(scene, run["r"].values[-1], run["q"].values[-1]) / len(scene)


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
    if scene.drum:
        axis = AXES.index(scene.drum.axis)
        round_about = np.linalg.norm(np.delete(at, axis, axis=1), axis=1) > scene.drum.radius - radius
        return int(pairs.sum() + walls[:, axis].sum() + round_about.sum())
    return int(pairs.sum() + walls.sum())


def settling_time(time: np.ndarray, kinetic: np.ndarray, level: float) -> float:
    """When the kinetic energy falls below ``level`` for good, s; NaN if it does not.

    Interpolated between samples, linearly in the logarithm of the energy.
    """
    last = int(np.flatnonzero(kinetic >= level)[-1])
    if last + 1 == len(time):
        return float("nan")
    before, after, ended = np.log([kinetic[last], kinetic[last + 1], level])
    return float(time[last] + (time[last + 1] - time[last]) * (before - ended) / (before - after))


def slope(scene: Scene, run: xr.Dataset) -> float:
    """The angle in degrees from the vertical to the line from the axis of a drum to the centre of mass, the mean over a run.

    It is that of the surface, if this is plane.
    """
    x, _, z = run["r"].mean("clump").values.T
    return float(np.degrees(np.abs(np.arctan2(x, -z))).mean())


def dissipated(run: xr.Dataset) -> float:
    """The energy that is dissipated in a run, J."""
    return sum(
        float(run[f"dissipated_{name}"][-1] - run[f"dissipated_{name}"][0]) for name in ("normal", "tangential", "sliding")
    )


def power(scene: Scene, run: xr.Dataset) -> float:
    """The energy that is dissipated in a unit of time, W."""
    return dissipated(run) / float(run["time"][-1] - run["time"][0])


def energy_share(form: str, sign: float, scene: Scene, run: xr.Dataset) -> float:
    """The growth of a form of energy in a run over all that is dissipated."""
    return sign * float(run[form][-1] - run[form][0]) / dissipated(run)


def in_second_half(observable: Observable) -> Observable:
    """The same for the second half of the samples of a run."""
    return replace(
        observable,
        meaning=f"{observable.meaning}, in the second half of the run",
        value=lambda scene, run: observable.value(scene, run.isel(time=slice(run.sizes["time"] // 2, None))),
    )


COMMON = {
    "contacts": Observable("contacts of a grain with spheres of others and with walls", "1", contacts),
    **{
        name: Observable(
            f"energy dissipated by {what} over all dissipated", "1", partial(energy_share, f"dissipated_{name}", 1.0)
        )
        for name, what in {"normal": "normal dashpots", "tangential": "tangential dashpots", "sliding": "sliding"}.items()
    },
    "made": Observable("energy made by the law of force over all dissipated", "1", partial(energy_share, "taken_by_law", -1.0)),
    "closure": Observable(
        "error of the sum of all energies over the energy at the start", "1", lambda scene, run: float(run["closure"][-1])
    ),
}


# ---- what is run ----


def methods_of(scene: Scene, *methods: str) -> dict[str, Variant]:
    """Methods with the law of a scene."""
    return {key: Variant(key, scene.force_law, METHODS[key].label) for key in methods}


def laws_of(scene: Scene, method: str) -> dict[str, Variant]:
    """A method with other laws of the same friction, and of the same contact time and restitution at the speed of a scene."""
    law, time = scene.force_law, scene.contact_time()
    clump, nu = scene.clumps[0][0], scene.material.poisson
    rough = {"friction": law.value("friction")}
    elastic = {**rough, "restitution": law.value("restitution")}
    linear = {"stiffness": scene.material.density * clump.volume * (pi / time) ** 2, "ratio": 2 * (1 - nu) / (2 - nu)}
    laws = {
        "hertz_mindlin_incremental": elastic,
        "linear_spring_dashpot": elastic | linear,
        "viscoelastic": rough | {"damping_time": VISCOELASTIC * time},
    }
    others = {key: FORCES[key].with_parameters(**values) for key, values in laws.items()}
    variants = {key: Variant(method, other, other.label) for key, other in others.items()}
    return variants | {"as_in_LAMMPS": Variant(method, law.as_in("LAMMPS"), "bookkeeping as in LAMMPS")}


def moduli_of(scene: Scene, method: str, *moduli: float) -> dict[str, Variant]:
    """A method with the law of a scene and with other Young's moduli in Pa."""
    return {f"{young:.0e}": Variant(method, scene.force_law, f"{young:.0e} Pa", young) for young in moduli}


BED, COLUMN, DRUM = SCENES["bed"], SCENES["column"], SCENES["drum"]
FIRST = "spiral_leapfrog"
BED_EXPERIMENT = Experiment(
    scene=BED,
    variants=methods_of(BED, FIRST, "fincham1992", "no_squish", "pcdm2016", "exact_rotor") | laws_of(BED, FIRST),
    divisions=(4, 10, 20, 40, 80),
    law_divisions=(20,),
    seeds=8,
    end=0.2,
    observables={
        "height": Observable("mean height of the centres of mass above the floor", "m", height),
        "settling_time": Observable(
            "time at which the kinetic energy falls below 0.01 of that at the start",
            "s",
            lambda scene, run: settling_time(run["time"].values, run["kinetic"].values, 0.01 * float(run["kinetic"][0])),
        ),
        **COMMON,
    },
)
COLUMN_EXPERIMENT = Experiment(
    scene=COLUMN,
    variants=methods_of(COLUMN, FIRST, "fincham1992", "pcdm2016") | laws_of(COLUMN, FIRST),
    divisions=(4, 10, 20, 40),
    law_divisions=(20,),
    seeds=4,
    end=0.5,
    observables={
        "height": Observable("mean height of the centres of mass above the floor", "m", height),
        "runout": Observable("distance from the middle within which 95 % of the centres of mass lie", "m", runout),
        "angle": Observable(
            "angle of the cone with the same mean height and mean distance from the axis", "degree", heap_angle
        ),
        "settling_time": Observable(
            "time at which the kinetic energy falls below 0.2 of its largest",
            "s",
            lambda scene, run: settling_time(run["time"].values, run["kinetic"].values, 0.2 * float(run["kinetic"].max())),
        ),
        **COMMON,
    },
)
DRUM_EXPERIMENT = Experiment(
    scene=DRUM,
    variants=methods_of(DRUM, FIRST, "fincham1992", "pcdm2016") | laws_of(DRUM, FIRST),
    divisions=(4, 10, 20, 40),
    law_divisions=(20,),
    seeds=3,
    end=1.6,
    samples=80,
    observables={
        name: in_second_half(observable)
        for name, observable in {
            "angle": Observable("angle from the vertical to the centre of mass, seen from the axis, the mean", "degree", slope),
            "kinetic_energy": Observable("mean kinetic energy", "J", lambda scene, run: float(run["kinetic"].mean())),
            "power": Observable("energy dissipated in a unit of time", "W", power),
            **{name: COMMON[name] for name in ("normal", "tangential", "sliding", "made")},
        }.items()
    }
    | {name: COMMON[name] for name in ("contacts", "closure")},
)
#: The experiments of the default study, each a check.
EXPERIMENTS = {"bed": BED_EXPERIMENT, "column": COLUMN_EXPERIMENT, "drum": DRUM_EXPERIMENT}
LARGE = BED.scaled(512)
#: Those released with the code, :mod:`polhode_study.cli.release`.
RELEASED = {
    "bed": replace(EXPERIMENTS["bed"], seeds=50),
    "column": replace(EXPERIMENTS["column"], seeds=50),
    "drum": replace(EXPERIMENTS["drum"], seeds=50),
    "stiffness": Experiment(
        scene=LARGE,
        variants=moduli_of(LARGE, FIRST, 1e8, 1e7, 1e9),
        divisions=(4, 10, 40),
        seeds=50,
        end=0.4,
        observables=EXPERIMENTS["bed"].observables,
    ),
}


def bed(settings: Settings) -> xr.Dataset:
    """Grains that fall into a box and settle, with the methods of a study."""
    return grains(BED_EXPERIMENT, settings["methods"], settings.get("seeds", ()), settings.get("divisions", ()))


def column(settings: Settings) -> xr.Dataset:
    """A column of grains that collapses, with the methods of a study."""
    return grains(COLUMN_EXPERIMENT, settings["methods"], settings.get("seeds", ()), settings.get("divisions", ()))


def drum(settings: Settings) -> xr.Dataset:
    """Grains in a drum that turns, with the methods of a study."""
    return grains(DRUM_EXPERIMENT, settings["methods"], settings.get("seeds", ()), settings.get("divisions", ()))
