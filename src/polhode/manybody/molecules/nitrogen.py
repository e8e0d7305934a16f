"""Nitrogen of TraPPE, linear: two atoms 1.10 Angstrom apart, and a massless charge in the middle that makes the quadrupole.

Epsilon is 36.0 K times Boltzmann's constant.
"""

from polhode.manybody.molecule import Molecule
from polhode.manybody.units import REAL

MOLECULE = Molecule.of_sites(
    "nitrogen",
    positions=[[-0.55, 0.0, 0.0], [0.55, 0.0, 0.0], [0.0, 0.0, 0.0]],
    masses=[14.0067, 14.0067, 0.0],
    charges=[-0.482, -0.482, 0.964],
    epsilon=[36.0 * REAL.boltzmann, 36.0 * REAL.boltzmann, 0.0],
    sigma=[3.31, 3.31, 0.0],
    names=("N", "N", "M"),
    label="nitrogen (TraPPE)",
    source="Potoff and Siepmann, AIChE J. 47 (2001) 1676",
)
