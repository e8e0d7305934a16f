r"""Heat baths for liquids: Langevin's equation, stochastic velocity rescaling, and chains of Nose-Hoover thermostats.

>>> from polhode import manybody
>>> bath = manybody.Langevin(friction=1e-3, seed=1)  # 1/fs
>>> run = manybody.simulate("water64", "no_squish", dt=4.0, t_end=40.0, bath=bath)
>>> run.attrs["bath"]
"Langevin(friction=0.001, temperature=300.0, seed=1, scheme='BAOAB', friction_rotation=None)"

The letters of a scheme are the parts of a step: B a kick of half a step, A the free motion, O friction and noise
(:mod:`polhode.manybody.bathed` has the equations). ``BAOAB`` and ``OBABO`` are the Langevin schemes of Leimkuhler and
Matthews (2013) and of Bussi and Parrinello (2007). Around NO_SQUISH and with ``friction_rotation`` BAOAB is the Langevin C of
Davidchack, Ouldridge and Tretyakov (2015), as read from ``fix nve/dotc/langevin`` of LAMMPS; their A and B could not be read.
``LAMMPS`` adds friction and noise to forces and torques once a step, as ``fix rigid/nve/small ... langevin`` does (friction
identified by running it), to compare with: its noise is normal where LAMMPS takes uniform numbers of the same variance.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, sqrt
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from polhode.interface.arguments import positive, shown, whole
from polhode.interface.arrays import Arrays, about
from polhode.registry import nearest

if TYPE_CHECKING:
    from polhode.manybody.fluid import Fluid
    from polhode.manybody.placement import State
    from polhode.methods.protocol import OneTorque

SCHEMES = ("BAOAB", "OBABO", "LAMMPS")
LARGEST_SEED = 2**63 - 1
#: The most thermostats in a chain: the motion of the last then no longer matters.
MOST_LINKS = 100
#: The largest kinetic energy of the motion as a whole that counts as none, kT: a degree of freedom has 1/2.
LARGEST_OF_WHOLE = 1e-3


class Bath(ABC):
    """What all baths have in common; temperature and units as of :class:`Langevin`.

    In its methods ``fluid`` is the :class:`polhode.manybody.Fluid` in the bath, ``state`` its :class:`polhode.manybody.State`
    at the start, and ``dt`` the time step, in the fluid's unit of time.
    """

    temperature: float | None
    #: Thermostats in a chain.
    links = 0
    #: Of which velocities a run in the bath has temperatures besides: a word for the names of variables, and what they are.
    further_velocities = "middle", "between the kicks"

    @property
    @abstractmethod
    def scheme_of_parts(self) -> str:
        """The key by which :mod:`polhode.manybody.bathed` knows the order of the parts of a step, such as ``BAOAB``."""

    def degrees_of_freedom(self, fluid: "Fluid") -> tuple[int, int]:
        """The numbers of degrees of freedom of translation and of rotation, two ints; each has the mean energy kT/2.

        N molecules have 3 N - 3 of translation, as the momentum of the whole stays zero unless a bath changes it.
        """
        return fluid.degrees_of_freedom

    @abstractmethod
    def numbers(self, fluid: "Fluid", state: "State", dt: float) -> np.ndarray:
        """The numbers of the bath for each molecule, (molecules, 10), in the coherent units of the fluid.

        :data:`polhode.manybody.bathed.NUMBERS` says what the columns are.
        """

    def _check(self, duration_or_rate: str) -> None:
        """Check the argument of this name, the temperature if there is one, and the seed if there is noise."""
        bath = type(self).__name__
        for name in (duration_or_rate,) if self.temperature is None else (duration_or_rate, "temperature"):
            object.__setattr__(self, name, positive(f"{bath}: {name}", getattr(self, name)))
        if (seed := getattr(self, "seed", None)) is not None:
            object.__setattr__(self, "seed", whole(f"{bath}: seed", seed, least=0, most=LARGEST_SEED))

    def _check_start(self, fluid: "Fluid", state: "State") -> None:
        """Refuse a state that velocities times a factor cannot warm: at rest, or in motion as a whole."""
        bath = type(self).__name__
        if not (state.v.any() or state.omega.any()):
            raise ValueError(f"{bath}: nothing moves at the start; see Fluid.with_velocities")
        masses = fluid.setup.masses[:, None]
        of_whole = float(((masses * state.v).sum(0) ** 2).sum() / (2 * masses.sum())) / self.thermal(fluid)
        if not of_whole < LARGEST_OF_WHOLE:
            raise ValueError(
                f"{bath}: the liquid moves as a whole, with {of_whole:.3g} kT; subtract the mean velocity, sum(m v)/sum(m)"
            )

    def at_temperature_of(self, fluid: "Fluid") -> "Bath":
        """The bath itself if it has a temperature, otherwise a copy with the temperature of the fluid."""
        return self if self.temperature is not None else replace(cast(Any, self), temperature=fluid.temperature)

    def thermal(self, fluid: "Fluid") -> float:
        """k_B T of the bath in the engine's unit of energy, mass length^2 / time^2 in the units of the fluid."""
        assert self.temperature is not None
        return self.temperature * fluid.units.boltzmann / fluid.units.energy

    def parts(self, method: "OneTorque") -> Any:
        """The parts of the engine's loop around the free motion of a method, compiled.

        They are a :class:`polhode.manybody.engine.MethodParts`.

        Raises
        ------
        ValueError
            If there is no bath around this method: if it is none of :data:`polhode.manybody.bathed.DRIFTS`.
        """
        from polhode.manybody import bathed

        if method.key not in bathed.DRIFTS:
            raise ValueError(
                f"bath: the method must be one of {', '.join(bathed.DRIFTS)}, whose free motion a bath can divide; got "
                f"{method.key!r}, which VelocityRescaling can hold"
            )
        return bathed.parts_of(self.scheme_of_parts, method.key, self.links)

    def name_results(self, fluid: "Fluid", arrays: Arrays, outcome: Any) -> None:
        """Add to ``arrays``, in place, the variables and attributes that a run in a bath has besides.

        These are temperatures and ``heat`` over time, in the units of the fluid, see ``bath`` in
        :func:`polhode.manybody.simulate`. ``outcome`` is the dict that :func:`polhode.manybody.simulation.run` returns.
        """
        units, freedoms = fluid.units, self.degrees_of_freedom(fluid)
        sums = np.where(np.isnan(outcome["energies"][:, :1]), np.nan, outcome["sums"]) * units.energy
        degree = units.names["temperature"]
        for name, column, number in zip(("translation", "rotation"), sums.T, freedoms, strict=False):
            per_energy = 2 / (max(number, 1) * units.boltzmann)
            whole_step = arrays.variables[f"kinetic_{name}"][1] * per_energy
            word, which = self.further_velocities
            meanings = (f"temperature of {name}", whole_step), (f"temperature of {name} {which}", column * per_energy)
            for key, (meaning, values) in zip((f"temperature_{name}", f"temperature_{word}_{name}"), meanings, strict=True):
                arrays.variables[key] = ("time", values, about(meaning, degree))
        meaning = "energy that the bath has given since the start"
        arrays.variables["heat"] = ("time", sums[:, 2], about(meaning, units.names["energy"]))
        for name in ("lost_at", "lost_by"):  # of runs at constant energy
            arrays.attributes.pop(name, None)
        arrays.attributes["bath"] = repr(self)
        arrays.attributes["temperature"] = self.temperature


def _seeds(seed: int) -> tuple[float, float]:
    """A seed as two numbers of 32 bits."""
    return float(seed & 0xFFFFFFFF), float(seed >> 32)


@dataclass(frozen=True)
class Langevin(Bath):
    """Langevin's equation: friction and noise on the velocity of each molecule and on its angular momentum in the body frame.

    Parameters
    ----------
    friction : float
        The rate gamma at which momenta decay, per unit of time of the fluid: 0.001 (1/fs) is 1/ps.
    temperature : float, optional
        In the unit of the fluid; by default its temperature.
    seed : int
        Determines the noise, with molecule and step.
    scheme : str
        ``BAOAB``, the default; ``OBABO``; ``LAMMPS``, to compare with (see :mod:`polhode.manybody.bath`).
    friction_rotation : float, optional
        The sum of the rates at which the angular momenta about the principal axes decay, each inversely proportional to its
        moment, so that the same torque resists a turn about each axis (Davidchack, Ouldridge and Tretyakov 2015;
        ``fix nve/dotc/langevin`` of LAMMPS). By default each rate is ``friction``.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or an impossible value; the message names it.
    """

    friction: float
    temperature: float | None = None
    seed: int = 0
    scheme: str = "BAOAB"
    friction_rotation: float | None = None

    def __post_init__(self) -> None:
        self._check("friction")
        if self.friction_rotation is not None:
            self._check("friction_rotation")
        if self.scheme not in SCHEMES:
            raise ValueError(f"Langevin: scheme must be one of {', '.join(SCHEMES)}, got {shown(self.scheme)}")

    @property
    def scheme_of_parts(self) -> str:
        """The key of the order of the parts, which is the argument ``scheme``."""
        return self.scheme

    def degrees_of_freedom(self, fluid: "Fluid") -> tuple[int, int]:
        """The numbers of degrees of freedom, two ints: all 3 N of translation, and all of rotation.

        Friction and noise do not keep the momentum of the whole.
        """
        return 3 * len(fluid), fluid.degrees_of_freedom[1]

    def numbers(self, fluid: "Fluid", state: "State", dt: float) -> np.ndarray:
        """Factors and scatter of O, or rates and the scatter of force and torque, and the seed, for each molecule.

        (molecules, 10), in the coherent units of the fluid, with the columns of :data:`polhode.manybody.bathed.NUMBERS`.

        Raises
        ------
        ValueError
            If the scheme is ``LAMMPS``, whose forces would then blow up, and a rate times ``dt`` is 1 or more.
        """
        kt, share, rows = self.thermal(fluid), 0.5 if self.scheme == "OBABO" else 1.0, []
        for molecule, number in fluid.clumps:
            body, freedoms = molecule.body(), molecule.degrees_of_freedom
            turns = np.array([freedoms == 6, freedoms > 4, freedoms > 4])
            rates = self.friction, *self._rates(body.inertia, turns)
            if self.scheme == "LAMMPS":
                if max(rates) * dt >= 1:
                    raise ValueError(
                        f"Langevin: with the scheme LAMMPS friction times dt must be below 1, got {max(rates) * dt:g}"
                    )
                factors, scatter = rates, [sqrt(2 * kt * rate / dt) for rate in rates]
            else:
                factors = tuple(exp(-share * rate * dt) for rate in rates)
                scatter = [sqrt(-kt * np.expm1(-2 * share * rate * dt)) for rate in rates]
            weights = body.mass ** (0.5 if self.scheme == "LAMMPS" else -0.5), *(np.sqrt(body.inertia) * turns)
            rows += [(*factors, *np.multiply(scatter, weights), *_seeds(self.seed))] * number
        return np.array(rows)

    def _rates(self, inertia: Sequence[float], turns: np.ndarray) -> Sequence[float]:
        """The rates at which the angular momenta about the axes decay, about which a molecule ``turns`` or not."""
        if self.friction_rotation is None or not turns.any():
            return (self.friction,) * 3
        shares = np.where(turns, 1 / np.asarray(inertia), 0.0)
        return tuple(map(float, self.friction_rotation * shares / shares.sum()))


@dataclass(frozen=True)
class VelocityRescaling(Bath):
    """Stochastic velocity rescaling, around any method: all velocities times one factor, before each step.

    The factor follows Bussi, Donadio and Parrinello (2007), Eq. A7: the kinetic energy, of translation and rotation
    together, relaxes to its distribution at the temperature. The momentum of the whole must be zero, and stays so.

    The velocities are the ones that the method carries from step to step (:mod:`polhode.manybody.rescaling`). A leapfrog has
    them half a step before the places, where their kinetic energy is right for a libration whose angle is right. Most others
    have them at the end of the step, where a fast libration shows too little, so that its angle becomes too large.

    Parameters
    ----------
    time : float
        The relaxation time, in the unit of time of the fluid.
    temperature, seed :
        As of :class:`Langevin`.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or an impossible value; the message names it.
    """

    time: float
    temperature: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        self._check("time")

    further_velocities = "carried", "of the velocities that the method carries, after the last rescaling"

    @property
    def scheme_of_parts(self) -> str:
        """The key ``R``: rescaling, before the steps of any method."""
        return "R"

    def parts(self, method: "OneTorque") -> Any:
        """The parts of the engine's loop with rescaling before each step of a method, compiled.

        They are a :class:`polhode.manybody.engine.MethodParts`.

        Raises
        ------
        ValueError
            If the method carries no angular velocity or momentum that could be multiplied.
        """
        from polhode.manybody import rescaling

        return rescaling.parts_of(method)

    def numbers(self, fluid: "Fluid", state: "State", dt: float) -> np.ndarray:
        """What the kernel needs, the same row for each molecule: the persistence of a step, exp(-dt/time), the mean kinetic
        energy, the degrees of freedom, and the seed.

        (molecules, 10), in the coherent units of the fluid, with the columns of :data:`polhode.manybody.bathed.NUMBERS`.

        Raises
        ------
        ValueError
            If there are fewer than three degrees of freedom, nothing moves at the start, or the liquid moves as a whole.
        """
        freedoms = sum(self.degrees_of_freedom(fluid))
        if freedoms < 3:
            raise ValueError(f"VelocityRescaling: the fluid must have at least 3 degrees of freedom, it has {freedoms}")
        self._check_start(fluid, state)
        mean = 0.5 * freedoms * self.thermal(fluid)
        row = exp(-dt / self.time), 0.0, 0.0, 0.0, mean, float(freedoms), 0.0, 0.0, *_seeds(self.seed)
        return np.tile(row, (len(fluid), 1))


@dataclass(frozen=True)
class NoseHoover(Bath):
    """Two chains of Nose-Hoover thermostats, for translation and for rotation: no noise, and as smooth as the forces.

    Martyna, Klein and Tuckerman (1992), for rigid molecules Kamberaj, Li and Hansen (2005). Around NO_SQUISH a step is the one
    of ``fix rigid/nvt/small`` of LAMMPS, as read from its source (the second paper could not be read). The chains hold the
    kinetic energies between the kicks: in the mean exactly with one thermostat, and nearly with ten. The
    momentum of the whole must be zero and stays so: translation has 3 N - 3 degrees of freedom, where LAMMPS counts 3 N.

    A run is reversible but for round-off and the splitting of the free motion. The kinetic energy oscillates with a period of
    about 4.4 ``time``. Single librations, a few molecules or a gas need not reach the distribution of the bath, as there is no
    noise: take :class:`Langevin`.

    Parameters
    ----------
    time : float
        The time of the thermostats, tau in Q = n kT tau^2, in the unit of time of the fluid: TDAMP of LAMMPS.
    temperature :
        As of :class:`Langevin`.
    links : int
        The number of thermostats in each chain, 1 to :data:`MOST_LINKS`; 10 in LAMMPS unless told otherwise.

    Raises
    ------
    TypeError, ValueError
        If an argument has the wrong type or an impossible value; the message names it.
    """

    time: float
    temperature: float | None = None
    links: int = 10

    def __post_init__(self) -> None:
        self._check("time")
        object.__setattr__(self, "links", whole("NoseHoover: links", self.links, least=1, most=MOST_LINKS))

    @property
    def scheme_of_parts(self) -> str:
        """The key ``BSANSB``: kick B, scaling S, free motion A, motion of the chains N, scaling S, kick B."""
        return "BSANSB"

    def numbers(self, fluid: "Fluid", state: "State", dt: float) -> np.ndarray:
        """What the kernels need, the same row for each molecule: factors of 1, degrees of freedom, kT and the time.

        (molecules, 10), in the coherent units of the fluid, with the columns of :data:`polhode.manybody.bathed.NUMBERS`.

        Raises
        ------
        ValueError
            If the step is not shorter than the time, nothing moves at the start, or the liquid moves as a whole.
        """
        if not dt < self.time:
            raise ValueError(f"NoseHoover: time must be longer than the step, {dt:g}, got {self.time:g}; take some 50 steps")
        self._check_start(fluid, state)
        row = 1.0, 1.0, 1.0, 1.0, *map(float, self.degrees_of_freedom(fluid)), self.thermal(fluid), self.time, 0.0, 0.0
        return np.tile(row, (len(fluid), 1))


#: The baths, by their names.
BATHS = (Langevin, NoseHoover, VelocityRescaling)


def checked_bath(bath: Any, scene: Any, normalise: bool | None) -> Bath | None:
    """The argument ``bath`` of :func:`polhode.manybody.simulate`, checked and with a temperature; None stays None.

    ``scene`` is what the bath is around, and ``normalise`` the argument of the same function.

    Raises
    ------
    TypeError, ValueError
        If it is no bath, the scene is no liquid, or a choice of ``normalise`` is made.
    """
    from polhode.manybody.fluid import Fluid

    if bath is None:
        return None
    if not isinstance(bath, Bath):
        *others, last = names = [each.__name__ for each in BATHS]
        hint = nearest(bath, names) if isinstance(bath, str) else "such as Langevin(friction=0.001)"
        raise TypeError(f"bath must be a polhode.manybody.{', '.join(others)} or {last}, got {shown(bath)}; {hint}")
    if not isinstance(scene, Fluid):
        raise ValueError(f"bath: a heat bath is for liquids; scene {scene.key!r} has clumps, which lose energy in contacts")
    if normalise is not None:
        raise ValueError("normalise: with a bath the quaternion is treated as the free motion needs it; leave it out")
    return bath.at_temperature_of(scene)
