"""Units of liquids: LAMMPS' ``real`` (Angstrom, femtosecond, gram per mole, kcal/mol) and reduced Lennard-Jones units.

The methods compute in coherent units: with lengths, times and masses of a system, an energy is mass length^2 / time^2. Energies
of force fields have a unit of their own; :attr:`Units.energy` converts.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Units:
    """A system of units.

    Parameters
    ----------
    key : str
        Its name, as LAMMPS calls it.
    names : mapping
        Unit of each ``length``, ``time``, ``mass``, ``charge``, ``temperature`` and ``energy``, as it stands in files.
    energy : float
        How many units of energy make up mass length^2 / time^2: an energy of the engine times this is one of the force field.
    boltzmann : float
        Boltzmann's constant, unit of energy per unit of temperature.
    coulomb : float
        Energy of two unit charges at unit distance.
    """

    key: str
    names: Mapping[str, str]
    energy: float
    boltzmann: float
    coulomb: float


#: The constants are those of LAMMPS (``mvv2e``, ``boltz`` and ``qqr2e`` of ``units real``), to meet it digit by digit.
REAL = Units(
    "real",
    {"length": "angstrom", "time": "fs", "mass": "g mol-1", "charge": "e", "temperature": "K", "energy": "kcal mol-1"},
    energy=48.88821291**2,
    boltzmann=0.0019872067,
    coulomb=332.06371,
)
LJ = Units("lj", dict.fromkeys(("length", "time", "mass", "charge", "temperature", "energy"), "1"), 1.0, 1.0, 1.0)
#: By key.
SYSTEMS = {units.key: units for units in (REAL, LJ)}
