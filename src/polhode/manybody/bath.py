r"""Heat baths for liquids: Langevin's equation, and stochastic velocity rescaling.

>>> from polhode import manybody
>>> bath = manybody.Langevin(friction=1e-3, seed=1)  # 1/fs
>>> run = manybody.simulate("water64", "no_squish", dt=4.0, t_end=40.0, bath=bath)
>>> run.attrs["bath"]
"Langevin(friction=0.001, temperature=300.0, seed=1, scheme='BAOAB', friction_rotation=None)"

The letters of a scheme are the parts of a step: B a kick of half a step, A the free motion, O friction and noise
(:mod:`polhode.manybody.bathed` has the equations). ``BAOAB`` and ``OBABO`` are the Langevin schemes of Leimkuhler and
Matthews (2013) and of Bussi and Parrinello (2007). Around NO_SQUISH and with ``friction_rotation`` BAOAB is the Langevin C of
Davidchack, Ouldridge and Tretyakov (2015), as read from ``fix nve/dotc/langevin`` of LAMMPS; their A and B could not be read.
``LAMMPS`` adds friction and noise to forces and torques once a step, as ``fix rigid/nve/small ... langevin`` does, to compare
with: its noise is normal where LAMMPS takes uniform numbers of the same variance.
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


class Bath(ABC):
    """What both baths have in common; temperature, seed and units as of :class:`Langevin`."""

    temperature: float | None
    seed: int

    @property
    @abstractmethod
    def scheme_of_parts(self) -> str:
        """The key by which :mod:`polhode.manybody.bathed` knows the order of the parts of a step."""

    @abstractmethod
    def degrees_of_freedom(self, fluid: "Fluid") -> tuple[int, int]:
        """The numbers of degrees of freedom of translation and of rotation that have kT/2 each."""

    @abstractmethod
    def numbers(self, fluid: "Fluid", state: "State", dt: float) -> np.ndarray:
        """The numbers of the bath for each molecule (molecules, 10), see :data:`polhode.manybody.bathed.NUMBERS`."""

    def _check(self, duration_or_rate: str) -> None:
        """Check the argument of this name, the temperature if there is one, and the seed."""
        bath = type(self).__name__
        for name in (duration_or_rate,) if self.temperature is None else (duration_or_rate, "temperature"):
            object.__setattr__(self, name, positive(f"{bath}: {name}", getattr(self, name)))
        object.__setattr__(self, "seed", whole(f"{bath}: seed", self.seed, least=0, most=LARGEST_SEED))

    def at_temperature_of(self, fluid: "Fluid") -> "Bath":
        """The bath with the temperature of the fluid if it has none."""
        return self if self.temperature is not None else replace(cast(Any, self), temperature=fluid.temperature)

    def thermal(self, fluid: "Fluid") -> float:
        """k_B T of the bath, in the engine's unit of energy."""
        assert self.temperature is not None
        return self.temperature * fluid.units.boltzmann / fluid.units.energy

    def parts(self, method: "OneTorque") -> Any:
        """The compiled parts of the engine's loop around the free motion of a method.

        Raises
        ------
        ValueError
            If there is no bath around this method.
        """
        from polhode.manybody import bathed

        if method.key not in bathed.DRIFTS:
            raise ValueError(
                f"bath: the method must be one of {', '.join(bathed.DRIFTS)}, whose free motion a bath can divide; got "
                f"{method.key!r}"
            )
        return bathed.parts_of(self.scheme_of_parts, method.key)

    def name_results(self, fluid: "Fluid", arrays: Arrays, outcome: Any) -> None:
        """Add what a run in a bath holds besides: see :func:`polhode.manybody.simulate`."""
        units, freedoms = fluid.units, self.degrees_of_freedom(fluid)
        sums = np.where(np.isnan(outcome["energies"][:, :1]), np.nan, outcome["sums"]) * units.energy
        degree = units.names["temperature"]
        for name, column, number in zip(("translation", "rotation"), sums.T, freedoms, strict=False):
            per_energy = 2 / (max(number, 1) * units.boltzmann)
            whole_step = arrays.variables[f"kinetic_{name}"][1] * per_energy
            meanings = (f"temperature of {name}", whole_step), (f"temperature of {name} between the kicks", column * per_energy)
            for key, (meaning, values) in zip((f"temperature_{name}", f"temperature_middle_{name}"), meanings, strict=True):
                arrays.variables[key] = ("time", values, about(meaning, degree))
        if self.scheme_of_parts != "LAMMPS":
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
        """The scheme."""
        return self.scheme

    def degrees_of_freedom(self, fluid: "Fluid") -> tuple[int, int]:
        """All 3 N of translation, as friction and noise do not keep the momentum of the whole, and all of rotation."""
        return 3 * len(fluid), fluid.degrees_of_freedom[1]

    def numbers(self, fluid: "Fluid", state: "State", dt: float) -> np.ndarray:
        """Factors and scatter of O, or rates and the scatter of force and torque, for each molecule; and the seed.

        Raises
        ------
        ValueError
            If friction is so strong that the forces of the scheme ``LAMMPS`` would blow up.
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
    """Stochastic velocity rescaling: all velocities times one factor, before the first kick of each step.

    The factor follows Bussi, Donadio and Parrinello (2007), Eq. A7: the kinetic energy, of translation and rotation
    together, relaxes to its distribution at the temperature. The momentum of the whole must be zero, and stays so.

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

    @property
    def scheme_of_parts(self) -> str:
        """Rescaling, kick, free motion, kick."""
        return "RBAB"

    def degrees_of_freedom(self, fluid: "Fluid") -> tuple[int, int]:
        """As at constant energy: the momentum of the whole is zero."""
        return fluid.degrees_of_freedom

    def numbers(self, fluid: "Fluid", state: "State", dt: float) -> np.ndarray:
        """What the kernel needs, the same for each molecule: the persistence of a step, mean kinetic energy, degrees of
        freedom.

        Raises
        ------
        ValueError
            If there are fewer than three degrees of freedom, or nothing moves at the start.
        """
        freedoms = sum(self.degrees_of_freedom(fluid))
        if freedoms < 3:
            raise ValueError(f"VelocityRescaling: the fluid must have at least 3 degrees of freedom, it has {freedoms}")
        if not (state.v.any() or state.omega.any()):
            raise ValueError("VelocityRescaling: nothing moves at the start; see Fluid.with_velocities")
        mean = 0.5 * freedoms * self.thermal(fluid)
        row = exp(-dt / self.time), 0.0, 0.0, 0.0, mean, float(freedoms), 0.0, 0.0, *_seeds(self.seed)
        return np.tile(row, (len(fluid), 1))


def checked_bath(bath: Any, scene: Any, normalise: bool | None) -> Bath | None:
    """The argument ``bath`` of :func:`polhode.manybody.simulate`, with a temperature.

    Raises
    ------
    TypeError, ValueError
        If it is no bath, the scene is no liquid, or a choice of ``normalise`` is made.
    """
    from polhode.manybody.fluid import Fluid

    if bath is None:
        return None
    if not isinstance(bath, Bath):
        hint = nearest(bath, ["Langevin", "VelocityRescaling"]) if isinstance(bath, str) else "such as Langevin(friction=0.001)"
        raise TypeError(f"bath must be a polhode.manybody.Langevin or VelocityRescaling, got {shown(bath)}; {hint}")
    if not isinstance(scene, Fluid):
        raise ValueError(f"bath: a heat bath is for liquids; scene {scene.key!r} has clumps, which lose energy in contacts")
    if normalise is not None:
        raise ValueError("normalise: with a bath the quaternion is treated as the free motion needs it; leave it out")
    return bath.at_temperature_of(scene)
