"""Angular grains that settled in a narrow box, whose walls are then taken away: a column that collapses to a heap."""

from dataclasses import replace

import numpy as np

from polhode.manybody.clump import Clump
from polhode.manybody.scenes.bed import SCENE as BED

RADIUS = 4e-3


def kinds() -> tuple[tuple[Clump, int], ...]:
    """The clumps and how many of each: four spheres at the corners of a tetrahedron, 1.6 radii apart; they do not roll away."""
    corners = 0.8 * RADIUS * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(2)
    return ((Clump.of_spheres("angular", corners, np.full(4, RADIUS), label="angular grain"), 160),)


NARROW = replace(
    BED,
    key="narrow_box",
    label="grains in a narrow box",
    kinds=kinds,
    box=0.09,
    horizon=0.3,
    between={("angular", "wall"): {"friction": 1.0}},
)

SCENE = replace(NARROW, key="column", label="a column of grains", box=0.3, horizon=0.5, settles_in=NARROW)
