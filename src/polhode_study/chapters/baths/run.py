r"""Water in a Langevin bath: temperatures, potential energy and curvature of the potential, by scheme, friction and step.

Each case runs in blocks, of which the means are kept. Among them are both sides of the configurational temperature of rotation,

.. math::

   kT = \frac{\langle \sum M_k^2 \rangle}{\langle -\sum \partial M_k / \partial \theta_k \rangle} ,

with the torques M about the body axes of all molecules and turns :math:`\theta` about these axes. It depends on orientations
and places alone. The divergence is estimated: all molecules turn at once, about each axis by :math:`\pm \epsilon`, with signs
z drawn for each snapshot, and the mean of :math:`\sum z_k\, dM_k/d\epsilon` over the draws is the divergence.

Beside them are what a liquid is usually judged by: the height of the first peak of the radial distribution of the first sites
(:data:`PEAK`), and how dipoles point: the mean cosine between neighbours, and Kirkwood's factor of the whole box.

A method whose step a bath cannot divide gets O, friction and noise, in halves before and after :data:`STRETCH` steps, from the
state on whole steps: the splitting O B A B O with the whole stretch in its middle.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, nan, pi, sqrt
from typing import Any
from zlib import crc32

import numpy as np
import xarray as xr

from polhode.algebra.metrics import rotation_matrix
from polhode.fits.bath_runs import CHAINS
from polhode.interface.arrays import about
from polhode.manybody.bath import Bath, Langevin, NoseHoover
from polhode.manybody.fluid import Fluid
from polhode.manybody.placement import State
from polhode.manybody.scenes import SCENES
from polhode.manybody.simulation import run
from polhode.methods import METHODS
from polhode.methods.protocol import OneTorque
from polhode_study.run.making import Settings

#: The free motion in the baths, and steps of a stretch between halves of O for other methods.
ROTOR, STRETCH = "no_squish", 25
#: Blocks of a run, the fs between samples at most about, samples between two snapshots whose torques are looked at, and the
#: most samples of a block whose structure is.
BLOCKS, BETWEEN, SNAPSHOT, SNAPSHOTS = 20, 30.0, 50, 50
#: The turn by which torques are differentiated, rad, and the step from rest that gives torques, in usual steps.
TURN, BRIEF = 1e-4, 1e-4
STARTS = 3
#: The shell at the first peak of SPC/E water, and the distance up to which molecules are neighbours, its first minimum, in
#: Angstrom.
PEAK, NEIGHBOURS = (2.7, 2.8), 3.3
#: What is read: name -> meaning and unit; a mean over the block.
READINGS = {
    "translation": ("temperature of translation at the end of the steps", "K"),
    "rotation": ("temperature of rotation at the end of the steps", "K"),
    "middle_translation": ("temperature of translation between the kicks", "K"),
    "middle_rotation": ("temperature of rotation between the kicks", "K"),
    "potential": ("potential energy of a molecule, kT", "1"),
    "left": ("energy less what the bath has given since the start, per degree of freedom, kT", "1"),
    "squares": ("sum of the squares of the torques about the body axes of a molecule, (kT)^2", "1"),
    "divergence": ("minus the divergence of these torques, kT", "1"),
    "peak": ("radial distribution of the first sites, mean over 2.7 to 2.8 Angstrom", "1"),
    "cosine": ("mean cosine between the dipoles of molecules whose first sites are within 3.3 Angstrom", "1"),
    "kirkwood": ("square of the sum of the directions of all dipoles, for a molecule", "1"),
}


@dataclass(frozen=True)
class BathCase:
    """A liquid, a scheme of a bath or the key of a method, friction in 1/ps, step and duration in fs.

    Chains of Nose-Hoover thermostats have the inverse of their time in the place of the friction.
    """

    scene: str
    scheme: str
    friction: float
    dt: float
    duration: float

    @property
    def key(self) -> str:
        """Its name in the data."""
        return f"{self.scene} {self.scheme} {self.friction:g} {self.dt:g}"

    @property
    def divides(self) -> bool:
        """Whether friction and noise stand within the step."""
        return self.scheme not in METHODS

    def bath(self, noise: int) -> Bath:
        """The bath within its steps."""
        if self.scheme == CHAINS:
            return NoseHoover(1e3 / self.friction)
        return Langevin(self.friction * 1e-3, seed=noise, scheme=self.scheme)

    @property
    def exchange(self) -> float:
        """The time between the middles of two O, fs."""
        return self.dt * (1 if self.divides else STRETCH)


#: The durations in fs by step: usual ones; those of BAOAB and of the others at the friction at which schemes are compared, so
#: long that a bias of 0.01 kT a molecule is seen with 1 to 4 fs; and those of a larger box.
STEPS = (1.0, 2.0, 4.0, 6.0, 8.0)
USUAL = dict.fromkeys(STEPS, 60_000.0) | {1.0: 30_000.0}
LONG = {1.0: 4_800_000.0, 2.0: 2_400_000.0, 4.0: 3_000_000.0, 6.0: 2_000_000.0, 8.0: 2_000_000.0}
MEDIUM = USUAL | dict.fromkeys((1.0, 2.0, 4.0), 300_000.0)
SHORT = dict.fromkeys(STEPS, 10_000.0)
#: What is run of each box: scheme and friction in 1/ps, with durations.
BOXES: dict[str, dict[tuple[str, float], dict[float, float]]] = {
    "water64": {
        ("BAOAB", 0.1): USUAL,
        ("BAOAB", 1.0): LONG,
        ("BAOAB", 10.0): USUAL,
        **{(scheme, friction): USUAL for scheme in ("OBABO", "LAMMPS") for friction in (0.1, 10.0)},
        **{(scheme, 1.0): MEDIUM for scheme in ("OBABO", "LAMMPS")},
        (CHAINS, 10.0): USUAL,
    },
    "water125": dict.fromkeys((("BAOAB", 0.1), ("BAOAB", 1.0), ("BAOAB", 10.0), ("OBABO", 1.0)), SHORT),
}
#: Methods that a bath cannot divide.
OTHERS, FRICTIONS, OTHER_STEPS = ("spiral_leapfrog", "magnus_adams4"), (0.1, 1.0, 10.0), {2.0: 15_000.0, 4.0: 15_000.0}
CASES = tuple(
    BathCase(scene, scheme, friction, dt, duration)
    for scene, ladders in BOXES.items()
    for (scheme, friction), steps in ladders.items()
    for dt, duration in steps.items()
) + tuple(
    BathCase("water64", method, friction, dt, duration)
    for method in OTHERS
    for friction in FRICTIONS
    for dt, duration in OTHER_STEPS.items()
)


def torques(fluid: Fluid, r: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The torques (molecules, 3) about the body axes, in units of kT, of molecules at r with orientations q."""
    rest, still, dt = METHODS[ROTOR], np.zeros((len(fluid), 3)), BRIEF * fluid.usual_step
    assert isinstance(rest, OneTorque)
    # From rest, the angular velocities after a short step are the torques over the moments times it.
    after: np.ndarray = run(fluid, rest, dt, State(r, still, q, still), np.array([0, 1]), record=True)["motion"][1, :, 10:]
    in_kt: np.ndarray = after / dt * _moments(fluid) / (fluid.thermal / fluid.units.energy)
    return in_kt


def _moments(fluid: Fluid) -> np.ndarray:
    moments: np.ndarray = np.repeat([kind.body().inertia for kind, _ in fluid.clumps], [count for _, count in fluid.clumps], 0)
    return moments


def turned(q: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Orientations (n, 4) turned further by rotation vectors (n, 3) in the body frame, rad."""
    half = np.linalg.norm(turns, axis=1, keepdims=True) / 2
    w, axis = np.cos(half), turns / 2 * np.sinc(half / np.pi)
    scalar = w * q[:, :1] - np.sum(axis * q[:, 1:], 1, keepdims=True)
    return np.hstack([scalar, w * q[:, 1:] + q[:, :1] * axis + np.cross(q[:, 1:], axis)])


def curvature(fluid: Fluid, motion: np.ndarray, random: np.random.Generator) -> tuple[float, float]:
    """The sum of squares of the torques and minus their estimated divergence, for a molecule, from a motion (molecules, 13)."""
    r, q = (np.ascontiguousarray(motion[:, columns]) for columns in (slice(3), slice(6, 10)))
    signs = random.choice([-1.0, 1.0], (len(fluid), 3))
    ahead, behind = (torques(fluid, r, turned(q, side * TURN * signs)) for side in (1, -1))
    squares, divergence = (torques(fluid, r, q) ** 2).sum(), (signs * (behind - ahead)).sum() / (2 * TURN)
    return float(squares) / len(fluid), float(divergence) / len(fluid)


def structure(fluid: Fluid, motions: np.ndarray) -> tuple[float, float, float]:
    """The height of the first peak, the mean cosine between neighbours and Kirkwood's factor, from motions (samples, n, 13).

    The liquid has molecules of one kind, whose first site is the one that distances are measured between.
    """
    (molecule, number), *others = fluid.clumps
    assert not others
    turns = rotation_matrix(motions[..., 6:10])
    dipole = np.asarray(molecule.charges) @ np.asarray(molecule.sites)
    directions = turns @ (dipole / np.linalg.norm(dipole))
    places = motions[..., :3] + turns @ np.asarray(molecule.sites[0])
    first, second = np.triu_indices(number, 1)
    apart = places[:, first] - places[:, second]
    distance = np.linalg.norm(apart - fluid.box * np.round(apart / fluid.box), axis=-1)
    shell = 4 / 3 * pi * (PEAK[1] ** 3 - PEAK[0] ** 3)
    in_shell = ((distance >= PEAK[0]) & (distance < PEAK[1])).mean()
    cosines = np.einsum("sni,sni->sn", directions[:, first], directions[:, second])
    of_all = (directions.sum(1) ** 2).sum(-1).mean() / number
    return float(in_shell / shell * fluid.box**3), float(cosines[distance < NEIGHBOURS].mean()), float(of_all)


@dataclass(frozen=True)
class Samples:
    """Samples of a block: kinetic energies (samples, 2) of translation and rotation at the end of the steps and between the
    kicks, potential energy and what the bath has given (samples,), all in kT, and motions (samples, molecules, 13).
    """

    end: np.ndarray
    middle: np.ndarray
    potential: np.ndarray
    heat: np.ndarray
    motions: np.ndarray


def blocks_of_bath(fluid: Fluid, case: BathCase, seed: int, noise: int) -> Iterator[Samples]:
    """The blocks of a run in a bath around :data:`ROTOR`."""
    method, kt = METHODS[ROTOR], fluid.thermal / fluid.units.energy
    assert isinstance(method, OneTorque)
    bath = case.bath(noise).at_temperature_of(fluid)
    between = max(1, round(BETWEEN / case.dt))
    count = int(case.duration / BLOCKS / (between * case.dt) + 1e-9)
    state, before, at = fluid.initial_state(seed), None, 0
    while True:
        steps = at + between * np.arange(1, count + 1)
        outcome = run(fluid, method, case.dt, state, steps, before, record=True, bath=bath)
        centres, (kinetic, potential) = outcome["kinetic_of_centres"], outcome["energies"].T
        middle, heat = outcome["sums"][:, :2] / kt, outcome["sums"][:, 2] / kt
        end = np.stack([centres, kinetic - centres], 1) / kt
        yield Samples(end, middle, potential / kt, heat, outcome["motion"])
        before, at = outcome["checkpoint"], int(steps[-1])
        if outcome["diverged"] >= 0:
            return


def blocks_of_stretches(fluid: Fluid, case: BathCase, seed: int, noise: int) -> Iterator[Samples]:
    """The blocks of a run with O in halves around stretches of a method without a bath."""
    method, kt = METHODS[case.scheme], fluid.thermal / fluid.units.energy
    assert isinstance(method, OneTorque)
    random, moments, masses = np.random.default_rng(noise), _moments(fluid), fluid.setup.masses[:, None]
    decay = exp(-case.friction * 1e-3 * case.exchange / 2)
    widths = np.sqrt(kt / masses) * sqrt(1 - decay**2), np.sqrt(kt / moments) * sqrt(1 - decay**2)
    state, heat = fluid.initial_state(seed), 0.0
    count = int(case.duration / BLOCKS / case.exchange + 1e-9)

    def kinetic(v: np.ndarray, omega: np.ndarray) -> np.ndarray:
        return np.array([(masses * v**2).sum(), (moments * omega**2).sum()]) / (2 * kt)

    def exchanged(v: np.ndarray, omega: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return tuple(decay * x + width * random.standard_normal(x.shape) for x, width in zip((v, omega), widths, strict=True))

    while True:
        rows, motions = [], []
        for _ in range(count):
            v, omega = exchanged(state.v, state.omega)
            heat += float((kinetic(v, omega) - kinetic(state.v, state.omega)).sum())
            begin = State(state.r, v, state.q, omega)
            outcome = run(fluid, method, case.dt, begin, np.array([STRETCH]), record=True)
            motion = outcome["motion"][0]
            if outcome["diverged"] >= 0 or not np.isfinite(motion).all():
                return
            q = motion[:, 6:10] / np.linalg.norm(motion[:, 6:10], axis=1, keepdims=True)
            v, omega = exchanged(motion[:, 3:6], motion[:, 10:])
            heat += float((kinetic(v, omega) - kinetic(motion[:, 3:6], motion[:, 10:])).sum())
            state = State(np.ascontiguousarray(motion[:, :3]), v, np.ascontiguousarray(q), omega)
            rows.append([*kinetic(v, omega), outcome["energies"][0, 1] / kt, heat])
            motions.append(np.hstack([motion[:, :6], q, motion[:, 10:]]))
        table = np.array(rows)
        yield Samples(table[:, :2], np.full((count, 2), nan), table[:, 2], table[:, 3], np.array(motions))


def case_of(case: BathCase, seed: int, blocks: int) -> np.ndarray:
    """The means (readings, blocks) of the first blocks of a case; NaN from the block on in which a run is lost."""
    fluid = SCENES[case.scene]
    assert isinstance(fluid, Fluid)
    noise = crc32(f"{case.key} {seed}".encode())
    random = np.random.default_rng(noise + 1)
    # With friction and noise all momenta are free; chains keep the momentum of the whole.
    of_stretches = 3 * len(fluid), fluid.degrees_of_freedom[1]
    freedoms = case.bath(noise).degrees_of_freedom(fluid) if case.divides else of_stretches
    per_kinetic = 2 * fluid.temperature / np.array(freedoms)
    values = np.full((len(READINGS), blocks), nan)
    samples = (blocks_of_bath if case.divides else blocks_of_stretches)(fluid, case, seed, noise)
    for block, read in zip(range(blocks), samples, strict=False):
        energy = read.end.sum(1) + read.potential
        if not np.isfinite(energy).all():
            break
        left = energy - read.heat
        of_torques = np.mean([curvature(fluid, motion, random) for motion in read.motions[::SNAPSHOT]], 0)
        spread = read.motions[:: max(1, len(read.motions) // SNAPSHOTS)]
        kinetic = np.hstack([read.end, read.middle]).mean(0) * np.tile(per_kinetic, 2)
        energies = read.potential.mean() / len(fluid), left.mean() / (6 * len(fluid))
        values[:, block] = *kinetic, *energies, *of_torques, *structure(fluid, spread)
    return values


def in_baths(cases: Sequence[BathCase], starts: int, blocks: int) -> xr.Dataset:
    """What water does in a bath, by case, start and block.

    Returns
    -------
    xarray.Dataset
        Over case, seed and block all of :data:`READINGS`, NaN in and after the block in which a run is lost. ``scene``,
        ``scheme`` (the key of a method where the bath does not divide its step), ``friction``, ``dt`` and ``exchange``, the
        time between two O, are of each case.
    """
    values = np.array([[case_of(case, seed, blocks) for seed in range(starts)] for case in cases])
    variables: dict[str, Any] = {
        name: (("case", "seed", "block"), values[:, :, i], about(*meaning))
        for i, (name, meaning) in enumerate(READINGS.items())
    }
    meanings = {
        "scene": ("liquid",),
        "scheme": ("scheme of the bath, or method between halves of friction and noise",),
        "friction": ("friction; of chains the inverse of their time", "ps-1"),
        "dt": ("time step", "fs"),
        "exchange": ("time between the middles of two times of friction and noise", "fs"),
        "duration": ("duration of a run", "fs"),
    }
    coordinates: dict[str, Any] = {
        "case": ("case", [case.key for case in cases], {"long_name": "liquid, scheme, friction in 1/ps and step in fs"}),
        "seed": ("seed", list(range(starts)), {"long_name": "seed of the initial state"}),
        "block": ("block", list(range(blocks)), {"long_name": "block of a run"}),
    }
    for name, meaning in meanings.items():
        column = [getattr(case, name) for case in cases]
        attributes = about(*meaning) if len(meaning) > 1 else {"long_name": meaning[0]}
        coordinates[name] = ("case", column, attributes)
    temperature = SCENES[cases[0].scene].temperature
    return xr.Dataset(variables, coordinates, {"temperature": temperature, "method": ROTOR, "stretch": STRETCH})


def baths(settings: Settings) -> xr.Dataset:
    """The runs of :data:`CASES`; with ``cases`` (keys), ``starts`` and ``blocks`` in the settings some of them."""
    keys = settings.get("cases", [case.key for case in CASES])
    return in_baths(
        [case for case in CASES if case.key in keys], settings.get("starts", STARTS), settings.get("blocks", BLOCKS)
    )
