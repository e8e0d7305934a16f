"""SPC/E water: three charges, and a Lennard-Jones site on the oxygen.

An O-H bond of 1 Angstrom and the tetrahedral angle, 109.47 degrees. Masses and rounding are those of LAMMPS' ``Howto_spc``.
"""

from math import cos, radians, sin

from polhode.manybody.molecule import Molecule

HALF = radians(109.47) / 2

MOLECULE = Molecule.of_sites(
    "spce",
    positions=[[0.0, 0.0, 0.0], [sin(HALF), cos(HALF), 0.0], [-sin(HALF), cos(HALF), 0.0]],
    masses=[15.9994, 1.008, 1.008],
    charges=[-0.8476, 0.4238, 0.4238],
    epsilon=[0.1553, 0.0, 0.0],
    sigma=[3.166, 0.0, 0.0],
    names=("O", "H", "H"),
    label="SPC/E water",
    source="Berendsen, Grigera and Straatsma, J. Phys. Chem. 91 (1987) 6269",
)
