"""Clumps of two spheres that fall into a box, rub, lose their energy and settle: a bed of grains."""

from polhode.manybody.clump import Clump
from polhode.manybody.forces import FORCES
from polhode.manybody.material import Material
from polhode.manybody.scene import Scene

RADIUS = 5e-3


def kinds() -> tuple[tuple[Clump, int], ...]:
    """The clumps and how many of each: two spheres whose centres are a radius apart."""
    return ((Clump.rod(2, RADIUS, RADIUS, key="grain", label="grain"), 64),)


SCENE = Scene(
    key="bed",
    label="a bed of grains",
    source="polhode",
    kinds=kinds,
    material=Material(density=2500.0, young=1e8, poisson=0.3),
    box=0.06,
    speed=1.0,
    spin=50.0,
    horizon=0.6,
    law=FORCES["hertz_mindlin_tsuji"].with_parameters(friction=0.5, restitution=0.67),
    gravity=(0.0, 0.0, -9.81),
)
