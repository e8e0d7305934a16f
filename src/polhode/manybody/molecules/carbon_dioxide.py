"""Carbon dioxide of TraPPE, linear: bonds of 1.16 Angstrom.

Epsilon is 27.0 K (carbon) and 79.0 K (oxygen) times Boltzmann's constant; unlike sites combine by Lorentz and Berthelot.
"""

from polhode.manybody.molecule import Molecule
from polhode.manybody.units import REAL

MOLECULE = Molecule.of_sites(
    "carbon_dioxide",
    positions=[[0.0, 0.0, 0.0], [-1.16, 0.0, 0.0], [1.16, 0.0, 0.0]],
    masses=[12.011, 15.9994, 15.9994],
    charges=[0.70, -0.35, -0.35],
    epsilon=[27.0 * REAL.boltzmann, 79.0 * REAL.boltzmann, 79.0 * REAL.boltzmann],
    sigma=[2.80, 3.05, 3.05],
    names=("C", "O", "O"),
    label="carbon dioxide (TraPPE)",
    source="Potoff and Siepmann, AIChE J. 47 (2001) 1676",
)
