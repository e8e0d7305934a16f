"""Thirty rods of three spheres in a box: no contact can change their spin about the long axis."""

from math import sqrt

from polhode.manybody.clump import Clump
from polhode.manybody.material import Material
from polhode.manybody.scene import Scene

RADIUS = 0.02 * sqrt(3)


def kinds() -> tuple[tuple[Clump, int], ...]:
    """The clumps and how many of each: spheres that touch, in a row."""
    return ((Clump.rod(3, RADIUS, 2 * RADIUS, key="rod", label="rod"), 30),)


SCENE = Scene(
    key="rods",
    label="rods in a box",
    # The text says 1 m; the authors' program reads half the edge, and 30 rods of 21 cm move freely in 2 m.
    source="del Valle et al. (2025), Sec. 3, Fig. 2, with the box of the authors' program",
    kinds=kinds,
    material=Material(density=2500.0, young=1e9, poisson=0.1),
    box=2.0,
    speed=4.0,
    spin=4.0,
    horizon=300.0,
    dt=3.83e-5,
)
