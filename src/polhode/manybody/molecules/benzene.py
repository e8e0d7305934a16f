"""Benzene of OPLS-AA, rigid: a regular hexagon of twelve sites, each with a charge and a Lennard-Jones potential.

Bonds of 1.40 Angstrom (C-C) and 1.08 (C-H). OPLS combines unlike sites by geometric means, of sigma too. A symmetric top: the
moments in the plane are equal.
"""

from math import sqrt

from polhode.manybody.molecule import Molecule

HEXAGON = [(1.0, 0.0), (0.5, sqrt(0.75)), (-0.5, sqrt(0.75)), (-1.0, 0.0), (-0.5, -sqrt(0.75)), (0.5, -sqrt(0.75))]

MOLECULE = Molecule.of_sites(
    "benzene",
    positions=[[radius * x, radius * y, 0.0] for radius in (1.40, 2.48) for x, y in HEXAGON],
    masses=[12.011] * 6 + [1.008] * 6,
    charges=[-0.115] * 6 + [0.115] * 6,
    epsilon=[0.07] * 6 + [0.03] * 6,
    sigma=[3.55] * 6 + [2.42] * 6,
    names=("C",) * 6 + ("H",) * 6,
    label="benzene (OPLS-AA)",
    source="Jorgensen and Severance, J. Am. Chem. Soc. 112 (1990) 4768",
)
