r"""Liquids at constant energy: drift, scatter and loss of the energy, temperatures, cut-offs, and the spectrum of the rotation.

With steps of :math:`\Delta t` a method of second order has its velocities wrong by a part of :math:`\Delta t^2`: on whole steps
the temperature is :math:`T (1 - \Omega^2 \Delta t^2/6)`, on half steps :math:`T (1 + \Omega^2 \Delta t^2/12)`, with the mean
squares of forces F and torques M (Eastwood et al. 2010)

.. math::

   \Omega_t^2 = \frac{\langle F^2 \rangle}{3 m k T}, \qquad
   \Omega_r^2 = \frac{1}{3 k T} \Bigl\langle \sum_k M_k^2/I_k \Bigr\rangle

for translation and rotation. These differ, so a gap opens between the two temperatures, but not in (T_whole + 2 T_half)/3.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil, nan
from typing import Any

import numpy as np
import xarray as xr

from polhode.compiling.plain import in_plain_python
from polhode.fits.liquid_drifts import STUDY_STEPS, power_spectrum
from polhode.interface.arrays import about
from polhode.manybody import engine
from polhode.manybody.fluid import LOST_KT, Fluid
from polhode.manybody.placement import State
from polhode.manybody.scenes import SCENES
from polhode.manybody.simulation import run, simulate
from polhode.methods import METHODS
from polhode.methods.protocol import OneTorque
from polhode_study.chapters.liquids import run_shadow as shadow_energy
from polhode_study.run.making import Settings

_motion_between = in_plain_python(engine.motion_between)
KINDS, ESTIMATORS = ("translation", "rotation"), ("whole", "half", "corrected")
#: Samples of a run at most, and about how many usual steps of the fluid lie between two of the shorter ones.
SAMPLES, BETWEEN = 10_000, 6
#: Pieces in which a run is made, after each of which one that is lost ends; the share that is dropped; blocks of the rest.
PIECES, DROPPED, BLOCKS = 40, 0.1, 10
#: The unit of time of a drift, in the unit of the scene, and its name.
LONG_TIMES = {"real": (1e6, "ns"), "lj": (1.0, "tau")}


@dataclass(frozen=True, kw_only=True)
class LiquidRuns:
    """What is run on a liquid: its name in the registry, steps and duration in its unit of time, and starts."""

    scene: str
    steps: tuple[float, ...]
    duration: float
    starts: int

    @property
    def fluid(self) -> Fluid:
        """The liquid."""
        fluid = SCENES[self.scene]
        assert isinstance(fluid, Fluid)
        return fluid


def long_time(fluid: Fluid) -> tuple[float, str]:
    """The unit of time of a drift, in that of a fluid, and its name."""
    return LONG_TIMES[fluid.units.key]


def one_torque_methods(keys: Sequence[str]) -> list[str]:
    """The methods that can run a liquid."""
    return [key for key in keys if isinstance(METHODS[key], OneTorque)]


# ---- one run ----


@dataclass(frozen=True)
class History:
    """Samples of a run: time; energy and kinetic energies (samples, kinds) of whole and of half steps, in units of kT."""

    time: np.ndarray
    energy: np.ndarray
    whole: np.ndarray
    half: np.ndarray


def half_step_energies(fluid: Fluid, before: np.ndarray, after: np.ndarray, dt: float) -> np.ndarray:
    """The kinetic energies (samples, kinds) between motions (samples, molecules, 13) a step apart, from their poses alone."""
    way = after[..., :3] - before[..., :3]
    if fluid.setup.periods.size:
        way -= fluid.box * np.round(way / fluid.box)
    poses = (tuple(np.moveaxis(motion[..., 6:10], -1, 0)) for motion in (before, after))
    v, omega = _motion_between((0.0, 0.0, 0.0), next(poses), tuple(np.moveaxis(way, -1, 0)), next(poses), dt)
    masses, moments = fluid.setup.masses, np.array([molecule.body().inertia for molecule in fluid.every_molecule]).T
    of_centres = masses * sum(x * x for x in v) / 2
    of_turning = sum(moment * x * x for moment, x in zip(moments, omega, strict=True)) / 2
    return np.stack([np.sum(of_centres, -1), np.sum(of_turning, -1)], -1)


def pieces_of_run(fluid: Fluid, method: OneTorque, dt: float, state: State, duration: float) -> Iterator[History]:
    """A run in pieces, one after the other."""
    steps = int(duration / dt + 1e-9)
    between = max(2, round(BETWEEN * fluid.usual_step / dt), ceil(steps / SAMPLES))
    kt, before = fluid.thermal / fluid.units.energy, None
    samples = np.arange(0, steps - 1, between)
    for at in np.array_split(samples, min(PIECES, len(samples))):
        pairs = np.stack([at, at + 1], 1).ravel()
        outcome = run(fluid, method, dt, state, pairs, before, record=True)
        kinetic, potential = outcome["energies"].T
        centres, motion = outcome["kinetic_of_centres"], outcome["motion"]
        whole = np.stack([centres, kinetic - centres], 1)
        with np.errstate(all="ignore"):  # what is lost may be anything
            half = half_step_energies(fluid, motion[::2], motion[1::2], dt)
            piece = History(at * dt, (kinetic + potential)[::2] / kt, whole[::2] / kt, half / kt)
        yield piece
        if outcome["diverged"] >= 0:
            return
        before = outcome["checkpoint"]


def followed(fluid: Fluid, method: OneTorque, dt: float, seed: int, duration: float) -> tuple[History, float, int]:
    """A run up to its end, or to the sample at which it is lost: this time, and 1 if it heats, -1 if it cools.

    NaN and 0 if it is not lost. A run that diverges heats.
    """
    pieces: list[History] = []
    bound, lost_at, lost_by = LOST_KT * len(fluid), nan, 0
    for piece in pieces_of_run(fluid, method, dt, fluid.initial_state(seed), duration):
        pieces.append(piece)
        change = piece.energy - pieces[0].energy[0]
        away = ~(np.abs(change) <= bound)
        if away.any():
            first = int(np.argmax(away))
            lost_at, lost_by = float(piece.time[first]), -1 if change[first] < 0 else 1
            break
    columns = (np.concatenate([getattr(piece, name) for piece in pieces]) for name in ("time", "energy", "whole", "half"))
    return History(*columns), lost_at, lost_by


@dataclass(frozen=True)
class EnergySlope:
    """The slope of an energy, its error from the means of blocks, and the scatter about the line."""

    slope: float
    block_error: float
    rms: float


def drift_of(time: np.ndarray, energy: np.ndarray) -> EnergySlope:
    """The line through an energy without the first tenth of its samples.

    The error takes the means of :data:`BLOCKS` blocks as independent, which the slow motions of a liquid make too small.
    """
    begin = int(DROPPED * len(time))
    time, energy = time[begin:], energy[begin:]
    slope, level = np.polyfit(time - time.mean(), energy - energy.mean(), 1)
    rest = energy - energy.mean() - level - slope * (time - time.mean())
    blocks = [block.mean() for block in np.array_split(rest, BLOCKS)]
    centres = np.array([block.mean() for block in np.array_split(time, BLOCKS)])
    variance = float(np.sum(np.square(blocks))) / (BLOCKS - 2)
    error = (variance / float(np.sum((centres - centres.mean()) ** 2))) ** 0.5
    return EnergySlope(float(slope), error, float(np.std(rest)))


def temperatures(fluid: Fluid, history: History) -> np.ndarray:
    """The mean temperatures (kinds, estimators) of a run without its first tenth, in units of that of the fluid."""
    begin = int(DROPPED * len(history.time))
    whole, half = (2 * values[begin:].mean(0) / fluid.degrees_of_freedom for values in (history.whole, history.half))
    return np.stack([whole, half, (whole + 2 * half) / 3], 1)


# ---- runs of several methods ----

#: What is read off each run: name -> meaning and unit, of which {long} is the unit of time of a drift.
READ_OFF = {
    "drift": ("drift of the energy per degree of freedom, kT per unit of time; of a lost run the mean until then", "{long}-1"),
    "block_error": ("error of the drift from the means of blocks", "{long}-1"),
    "rms": ("scatter of the energy about its line per degree of freedom, kT", "1"),
    "lost_at": ("time at which the energy has changed by so many kT a molecule that the run is lost", "{time}"),
    "lost_by": ("whether it is lost by heating (1) or by cooling (-1); 0 if it is not lost", "1"),
}


def liquids(fluid: Fluid, methods: Sequence[str], steps: Sequence[float], duration: float, starts: Sequence[int]) -> xr.Dataset:
    """What runs at constant energy do, by method, step and start, all from the same states.

    Parameters
    ----------
    steps, duration : in the unit of time of the fluid
    starts : seeds of :meth:`polhode.manybody.Fluid.initial_state`

    Returns
    -------
    xarray.Dataset
        Over integrator, dt and seed all of :data:`READ_OFF`, and ``temperature`` (in units of that of the fluid) over kind and
        estimator besides, NaN for lost runs. A run that is lost ends there.
    """
    shape = len(methods), len(steps), len(starts)
    values = {name: np.full(shape, nan) for name in READ_OFF}
    temperature = np.full((*shape, len(KINDS), len(ESTIMATORS)), nan)
    long, long_name = long_time(fluid)
    freedoms = 6 * len(fluid)
    for place in np.ndindex(shape):
        method = METHODS[methods[place[0]]]
        assert isinstance(method, OneTorque)
        history, lost_at, lost_by = followed(fluid, method, steps[place[1]], starts[place[2]], duration)
        values["lost_at"][place], values["lost_by"][place] = lost_at, lost_by
        if lost_by:
            values["drift"][place] = lost_by * LOST_KT * len(fluid) / freedoms / (lost_at / long)
            continue
        line = drift_of(history.time / long, history.energy / freedoms)
        values["drift"][place], values["block_error"][place], values["rms"][place] = line.slope, line.block_error, line.rms
        temperature[place] = temperatures(fluid, history)
    over, unit = ("integrator", "dt", "seed"), fluid.units.names["time"]
    variables: dict[str, Any] = {
        name: (over, values[name], about(meaning, units.format(long=long_name, time=unit)))
        for name, (meaning, units) in READ_OFF.items()
    }
    variables["temperature"] = (
        (*over, "kind", "estimator"),
        temperature,
        about("mean temperature over that of the liquid"),
    )
    return xr.Dataset(
        variables,
        {
            "integrator": ("integrator", list(methods), {"long_name": "key of the method"}),
            "dt": ("dt", list(map(float, steps)), about("time step", unit)),
            "seed": ("seed", list(starts), {"long_name": "seed of the initial state"}),
            "kind": ("kind", list(KINDS), {"long_name": "motion"}),
            "estimator": ("estimator", list(ESTIMATORS), {"long_name": "steps from which a temperature is taken"}),
            "label": ("integrator", [METHODS[key].label for key in methods], {"long_name": "name of the method"}),
        },
        {
            "scene": fluid.key,
            "molecules": len(fluid),
            "law": fluid.force_law.key,
            "temperature": fluid.temperature,
            "temperature_units": fluid.units.names["temperature"],
            "duration": duration,
            "duration_units": unit,
            "lost": LOST_KT,
        },
    )


# ---- the spectrum of the rotation ----

#: Step, duration and starts of the reference run, in fs, steps between two samples, samples of a segment, snapshots of loads.
SPECTRUM_STEP, SPECTRUM_TIME, SPECTRUM_STARTS, SPECTRUM_BETWEEN, SEGMENT, SNAPSHOTS = 0.5, 10_000.0, 2, 2, 2048, 20
SPECTRUM_METHOD = "exact_rotor"


def mean_square_rates(fluid: Fluid, motions: np.ndarray, kt: float) -> np.ndarray:
    """Omega_t^2 and Omega_r^2 from snapshots (n, molecules, 13), with kT in coherent units."""
    still = np.zeros((len(fluid), 3))
    masses, moments = fluid.setup.masses[:, None], np.array([molecule.body().inertia for molecule in fluid.every_molecule])
    method, dt = METHODS["no_squish"], 1e-4 * fluid.usual_step
    assert isinstance(method, OneTorque)
    squares = []
    for motion in motions:
        # From rest, the velocities after a short step are the loads times it.
        state = State(motion[:, :3], still, motion[:, 6:10], still)
        after = run(fluid, method, dt, state, np.array([0, 1]), record=True)["motion"][1] / dt
        squares.append([(masses * after[:, 3:6] ** 2).sum(), (moments * after[:, 10:] ** 2).sum()])
    mean: np.ndarray = np.mean(squares, 0) / (3 * len(fluid) * kt)
    return mean


def liquid_spectrum(fluid: Fluid, seeds: Sequence[int], dt: float, duration: float, segment: int = SEGMENT) -> xr.Dataset:
    """The spectrum of the angular velocities in body axes from runs with a short step, and the rates of both temperatures.

    Returns
    -------
    xarray.Dataset
        ``spectrum`` over axis and frequency, the share of the kinetic energy of rotation, with sum 1; ``rate_squared`` over
        kind, Omega^2 of translation and rotation.
    """
    method = METHODS[SPECTRUM_METHOD]
    assert isinstance(method, OneTorque)
    moments = np.array([molecule.body().inertia for molecule in fluid.every_molecule])
    at = np.arange(0, int(duration / dt) + 1, SPECTRUM_BETWEEN)
    spectra, rates = [], []
    for seed in seeds:
        outcome = run(fluid, method, dt, fluid.initial_state(seed), at, record=True)
        motion = outcome["motion"]
        share, frequency = power_spectrum(motion[..., 10:], moments, SPECTRUM_BETWEEN * dt, segment)
        spectra.append(share)
        kt = 2 * float(outcome["energies"][:, 0].mean()) / sum(fluid.degrees_of_freedom)
        rates.append(mean_square_rates(fluid, motion[:: len(motion) // SNAPSHOTS], kt))
    unit = fluid.units.names["time"]
    return xr.Dataset(
        {
            "spectrum": (
                ("axis", "frequency"),
                np.mean(spectra, 0),
                about("share of the kinetic energy of rotation, by body axis"),
            ),
            "rate_squared": ("kind", np.mean(rates, 0), about("Omega^2 of the error of a temperature", f"{unit}-2")),
        },
        {
            "axis": ("axis", ["x", "y", "z"], {"long_name": "body axis, by ascending moments"}),
            "frequency": ("frequency", frequency, about("angular frequency", f"rad {unit}-1")),
            "kind": ("kind", list(KINDS), {"long_name": "motion"}),
        },
        {"scene": fluid.key, "method": SPECTRUM_METHOD, "dt": dt, "duration": duration, "seeds": len(list(seeds))},
    )


# ---- what depends on positions ----

#: Methods, steps and duration of the runs in which it is read, in fs, and how many usual steps lie between samples.
POSITION_METHODS, POSITION_STEPS, POSITION_TIME = ("exact_rotor", "exact_rotor_corrected"), (1.0, 2.0, 4.0, 6.0), 100_000.0
POSITION_BETWEEN = 40
#: By how much the box and the centres in it are stretched for the virial, and the width of a shell of a distribution.
STRETCH, SHELL = 1e-4, 0.05
#: What is read: name -> meaning.
POSITION_READINGS = {
    "potential": "potential energy of a molecule, kT",
    "pressure": "pressure over that of an ideal gas",
    "peak": "height of the first peak of the distribution of distances between first sites",
}


def position_readings(fluid: Fluid, motion: np.ndarray, stretched: Sequence[Fluid]) -> tuple[float, float, np.ndarray]:
    """The potential energy of a motion (molecules, 13) and its virial, both in kT, and the numbers of pairs by distance.

    The virial, the sum of force times centre, is minus the change of the potential energy when box and centres are stretched
    and the molecules are not. ``stretched`` are the fluid and its box stretched once and twice by :data:`STRETCH`.
    """
    from scipy.spatial.transform import Rotation  # other jobs do not need it

    kt, still, rest = fluid.thermal / fluid.units.energy, np.zeros((len(fluid), 3)), METHODS["no_squish"]
    assert isinstance(rest, OneTorque)
    r, q = np.ascontiguousarray(motion[:, :3]), np.ascontiguousarray(motion[:, 6:10])
    states = [State(r * (1 + i * STRETCH), still, q, still) for i in range(len(stretched))]
    none, once, twice = (
        float(run(box, rest, 1.0, state, np.array([0]))["energies"][0, 1]) / kt
        for box, state in zip(stretched, states, strict=True)
    )
    first_sites = np.array([molecule.sites[0] for molecule in fluid.every_molecule])
    at = r + Rotation.from_quat(q, scalar_first=True).apply(first_sites)
    way = (at[:, None] - at)[np.triu_indices(len(at), 1)]
    distances = np.linalg.norm(way - fluid.box * np.round(way / fluid.box), axis=-1)
    shells, _ = np.histogram(distances, np.arange(0, fluid.box / 2, SHELL))
    return none, (1.5 * none - 2 * once + 0.5 * twice) / STRETCH, shells


def liquid_positions(
    fluid: Fluid, methods: Sequence[str], steps: Sequence[float], duration: float, starts: Sequence[int]
) -> xr.Dataset:
    """What depends on positions in runs at constant energy, which a corrector reads differently: energy, pressure, structure.

    Returns
    -------
    xarray.Dataset
        Over integrator, dt, seed and block all of :data:`POSITION_READINGS`: means over the blocks of a run without its first
        tenth.
    """
    stretched = [replace(fluid, box=fluid.box * (1 + i * STRETCH)) for i in range(3)]
    count, kt = len(fluid), fluid.thermal / fluid.units.energy
    edges = np.arange(0, fluid.box / 2, SHELL)
    expected = count * (count - 1) / 2 * 4 * np.pi / 3 * np.diff(edges**3) / fluid.box**3
    values = np.full((len(POSITION_READINGS), len(methods), len(steps), len(starts), BLOCKS), nan)
    for place in np.ndindex(values.shape[1:4]):
        method, dt = METHODS[methods[place[0]]], steps[place[1]]
        assert isinstance(method, OneTorque)
        at = np.arange(0, int(duration / dt) + 1, max(1, round(POSITION_BETWEEN * fluid.usual_step / dt)))
        outcome = run(fluid, method, dt, fluid.initial_state(starts[place[2]]), at, record=True)
        if outcome["diverged"] >= 0:
            continue
        rest = slice(int(DROPPED * len(at)), None)
        of_samples = [position_readings(fluid, motion, stretched) for motion in outcome["motion"][rest]]
        energy, virial, shells = (np.array(column) for column in zip(*of_samples, strict=True))
        pressure = (2 * outcome["kinetic_of_centres"][rest] / kt + virial) / (3 * count)
        for block, of_block in enumerate(np.array_split(np.arange(len(energy)), BLOCKS)):
            peak = (shells[of_block].mean(0) / expected).max()
            values[(slice(None), *place, block)] = energy[of_block].mean() / count, pressure[of_block].mean(), peak
    return xr.Dataset(
        {
            name: (("integrator", "dt", "seed", "block"), of_name, about(meaning))
            for (name, meaning), of_name in zip(POSITION_READINGS.items(), values, strict=True)
        },
        {
            "integrator": ("integrator", list(methods), {"long_name": "key of the method"}),
            "dt": ("dt", list(map(float, steps)), about("time step", fluid.units.names["time"])),
            "seed": ("seed", list(starts), {"long_name": "seed of the initial state"}),
        },
        {"scene": fluid.key, "molecules": count, "duration": duration, "duration_units": fluid.units.names["time"]},
    )


# ---- what the study runs ----

#: The runs of the default study; each step is a check of its own.
STUDY = LiquidRuns(scene="water64", steps=STUDY_STEPS, duration=10_000.0, starts=3)
#: Cut-offs from the smoothest, methods and steps with which they are compared.
LAWS = ("shifted_power", "reaction_field", "shifted_force", "shifted_energy")
CUTOFF_METHODS, CUTOFF_STEPS = ("exact_rotor", "omelyan1998", "spiral_leapfrog"), (1.0, 2.0, 4.0)
#: Those released with the code, :mod:`polhode_study.cli.release`: the methods that are followed for long, the others, the
#: larger box and cut-offs. What matters most comes first.
FOLLOWED = (
    "exact_rotor",
    "exact_rotor_corrected",
    "no_squish",
    "omelyan1998",
    "magnus_adams4",
    "spiral_leapfrog",
    "moser_veselov",
    "touma1994",
    "fincham1992",
    "calzavarini2010",
    "buss2000",
    "verlet",
    "dlm1997",
    "richardson",
    "rozmanov2010",
    "omelyan1999_momentum",
    "martys1999",
    "spiral_kdk",
    "spiral_dkd",
    "spiral_omelyan",
    "moser_veselov4",
)
RELEASED = {
    "followed": LiquidRuns(scene="water64", steps=(4.0, 2.0, 6.0, 5.0, 7.0, 8.0, 3.0, 1.0), duration=100_000.0, starts=3),
    "others": LiquidRuns(scene="water64", steps=(2.0, 4.0, 1.0, 6.0), duration=20_000.0, starts=3),
    "large": LiquidRuns(scene="water125", steps=(4.0, 2.0, 5.0), duration=400_000.0, starts=3),
    "cutoffs": LiquidRuns(scene="water64", steps=CUTOFF_STEPS, duration=50_000.0, starts=3),
}
LARGE = 6


def cutoffs(runs: LiquidRuns, methods: Sequence[str], names: Sequence[str] = LAWS) -> xr.Dataset:
    """The runs of :func:`liquids` with each law of ``names``, some of :data:`LAWS`, over law besides."""
    keys = [key for key in CUTOFF_METHODS if key in methods]
    if not keys:
        return xr.Dataset()
    fluid = runs.fluid
    laws = [fluid.force_law if key == fluid.force_law.key else fluid.with_law(key).force_law for key in names]
    of_laws = [liquids(fluid.with_law(law), keys, runs.steps, runs.duration, range(runs.starts)) for law in laws]
    every = xr.concat(of_laws, "law", combine_attrs="drop_conflicts", join="exact")
    onsets = ("law", [law.onset for law in laws], about("derivatives of the energy that are continuous at the cut-off"))
    labels = ("law", [law.label for law in laws], {"long_name": "name of the law"})
    return every.assign_coords(law=("law", list(names), {"long_name": "law of force"}), onset=onsets, law_label=labels)


def steps_check(settings: Settings) -> xr.Dataset:
    """The runs of :data:`STUDY` with one step, ``dt``, and all methods that can run them."""
    methods = one_torque_methods(settings["methods"])
    starts = range(settings.get("starts", STUDY.starts))
    return liquids(STUDY.fluid, methods, [settings["dt"]], STUDY.duration, starts) if methods else xr.Dataset()


def cutoffs_check(settings: Settings) -> xr.Dataset:
    """The runs of :data:`STUDY` with each law of :data:`LAWS`."""
    runs = replace(STUDY, steps=settings.get("steps", CUTOFF_STEPS), starts=settings.get("starts", STUDY.starts))
    return cutoffs(runs, settings["methods"], settings.get("laws", LAWS))


#: Steps, duration and samples of the runs whose shadow energy is looked at.
SHADOW_STEPS, SHADOW_TIME, SHADOW_SAMPLES = (1.0, 2.0, 4.0), 400.0, 50


def shadow_scatter(fluid: Fluid, steps: Sequence[float], duration: float, samples: int) -> xr.Dataset:
    """The scatter of the energy and of the shadow energy (:mod:`polhode_study.chapters.liquids.run_shadow`), over dt.

    In kT per degree of freedom.
    """
    unit = fluid.thermal * 6 * len(fluid)
    rows = []
    for dt in steps:
        of_run = simulate(fluid, shadow_energy.METHOD, dt, t_end=duration, samples=samples, record=True)
        motions = np.concatenate([of_run[name].values for name in ("r", "v", "q", "omega")], -1)
        energy = of_run["energy"].values
        shadow = energy + [shadow_energy.shadow_terms(fluid, motion, dt) for motion in motions]
        rows.append((energy.std() / unit, shadow.std() / unit))
    of_energy, of_shadow = np.transpose(rows)
    return xr.Dataset(
        {
            "energy_scatter": ("dt", of_energy, about("standard deviation of the energy per degree of freedom, kT")),
            "shadow_scatter": ("dt", of_shadow, about("that of the shadow energy")),
        },
        {"dt": ("dt", list(steps), about("time step", fluid.units.names["time"]))},
        {"scene": fluid.key, "method": shadow_energy.METHOD, "duration": duration},
    )


def shadow_check(settings: Settings) -> xr.Dataset:
    """The scatter of the shadow energy, :func:`shadow_scatter`; nothing without its method."""
    if shadow_energy.METHOD not in settings["methods"]:
        return xr.Dataset()
    return shadow_scatter(STUDY.fluid, settings.get("steps", SHADOW_STEPS), SHADOW_TIME, SHADOW_SAMPLES)


def spectrum_check(settings: Settings) -> xr.Dataset:
    """The spectrum of the librations in the liquid of :data:`STUDY`, :func:`liquid_spectrum`."""
    return liquid_spectrum(STUDY.fluid, range(SPECTRUM_STARTS), SPECTRUM_STEP, SPECTRUM_TIME)
