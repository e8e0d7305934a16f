"""TIP4P/2005 water: Lennard-Jones on the oxygen, and its charge on a massless site M between it and the hydrogens.

An O-H bond of 0.9572 Angstrom, 104.52 degrees, and M 0.1546 Angstrom from the oxygen. Masses and rounding are those of LAMMPS'
``Howto_tip4p``; epsilon is 93.2 K times Boltzmann's constant in the paper.
"""

from math import cos, radians, sin

from polhode.manybody.molecule import Molecule

BOND, HALF = 0.9572, radians(104.52) / 2
ACROSS, ALONG = BOND * sin(HALF), BOND * cos(HALF)

MOLECULE = Molecule.of_sites(
    "tip4p2005",
    positions=[[0.0, 0.0, 0.0], [ACROSS, ALONG, 0.0], [-ACROSS, ALONG, 0.0], [0.0, 0.1546, 0.0]],
    masses=[15.9994, 1.008, 1.008, 0.0],
    charges=[0.0, 0.5564, 0.5564, -1.1128],
    epsilon=[0.1852, 0.0, 0.0, 0.0],
    sigma=[3.1589, 0.0, 0.0, 0.0],
    names=("O", "H", "H", "M"),
    label="TIP4P/2005 water",
    source="Abascal and Vega, J. Chem. Phys. 123 (2005) 234505",
)
