"""Clumps of three unequal spheres in four sizes: three different moments, and masses that differ by a factor of 23."""

import numpy as np

from polhode.manybody.clump import Clump
from polhode.manybody.material import Material
from polhode.manybody.scene import Scene

#: Centres and radii of the spheres of a clump, in units of the largest radius.
CENTRES = np.array([[0.0, 0.0, 0.0], [1.3, 0.0, 0.0], [0.4, 1.0, 0.3]])
RADII = np.array([1.0, 0.8, 0.6])
#: The largest radius in m, and how many clumps have it.
SIZES = ((0.006, 24), (0.0085, 12), (0.012, 6), (0.017, 2))


def kinds() -> tuple[tuple[Clump, int], ...]:
    """The clumps and how many of each: the same shape in four sizes, fewer of the larger ones."""
    return tuple(
        (Clump.of_spheres(f"clump of {1e3 * size:g} mm", size * CENTRES, size * RADII), count) for size, count in SIZES
    )


SCENE = Scene(
    key="mixed_sizes",
    label="clumps of mixed sizes in a box",
    source="polhode",
    kinds=kinds,
    material=Material(density=2500.0, young=1e9, poisson=0.3),
    box=0.14,
    speed=1.0,
    spin=50.0,
    horizon=0.5,
)
