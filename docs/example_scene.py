"""A scene of one's own, as a pattern to change: dumbbells and balls of steel that fly about in a box.

All numbers are examples.
"""

from polhode.manybody import Clump, Material, Scene


def kinds() -> tuple[tuple[Clump, int], ...]:
    """Two spheres that overlap a little, a small and a large one; and single spheres."""
    dumbbell = Clump.dimer(0.012, 0.008, distance=0.016, key="dumbbell")
    return ((dumbbell, 12), (Clump.sphere(0.01, key="ball"), 6))


SCENE = Scene(
    key="dumbbells",
    label="dumbbells and balls in a box",
    source="docs/adding-a-scene.md",
    kinds=kinds,
    material=Material(density=7800.0, young=1e9, poisson=0.3),
    box=0.2,
    speed=0.5,
    spin=20.0,
    horizon=0.5,
    dt=5e-6,
)
