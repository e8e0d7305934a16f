"""The Lewis-Wahnström trimer, a model of ortho-terphenyl: three equal Lennard-Jones sites, two sides of one sigma, 75 degrees.

In reduced units: epsilon, sigma and the mass of a site are 1.
"""

from math import cos, radians, sin

from polhode.manybody.molecule import Molecule

HALF = radians(75.0) / 2

MOLECULE = Molecule.of_sites(
    "trimer",
    positions=[[0.0, 0.0, 0.0], [sin(HALF), cos(HALF), 0.0], [-sin(HALF), cos(HALF), 0.0]],
    masses=[1.0, 1.0, 1.0],
    epsilon=[1.0, 1.0, 1.0],
    sigma=[1.0, 1.0, 1.0],
    names=("A", "B", "B"),
    label="Lewis-Wahnström trimer",
    units="lj",
    source="Lewis and Wahnström, Phys. Rev. E 50 (1994) 3865",
)
