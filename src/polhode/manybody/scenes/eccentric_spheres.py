"""Spheres whose centre of mass is not in their middle: the simplest bodies whose contacts turn them."""

from polhode.manybody.clump import Clump
from polhode.manybody.material import Material
from polhode.manybody.scene import Scene


def kinds() -> tuple[tuple[Clump, int], ...]:
    """The clumps and how many of each: spheres with a heavy core, which moves their centre of mass by a sixth of the radius."""
    return ((Clump.loaded_sphere(0.01, core=0.005, distance=0.005, ratio=5.0, key="eccentric sphere"), 40),)


SCENE = Scene(
    key="eccentric_spheres",
    label="eccentric spheres in a box",
    source="polhode",
    kinds=kinds,
    material=Material(density=2500.0, young=1e9, poisson=0.3),
    box=0.15,
    speed=1.0,
    spin=50.0,
    horizon=0.5,
)
