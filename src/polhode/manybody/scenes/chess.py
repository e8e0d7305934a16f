"""The 32 pieces of a game of chess in a box; :mod:`polhode.manybody.shapes` makes them."""

from math import pi

from polhode.manybody.material import Material
from polhode.manybody.scene import Scene
from polhode.manybody.shapes import chess

SCENE = Scene(
    key="chess",
    label="chess pieces in a box",
    # The text gives neither the number of pieces nor the edge of the box: both are those of the authors' program.
    source="del Valle et al. (2024), Sec. 5, Figs. 6, 7, with the box of the authors' program and our own shapes",
    kinds=chess,
    material=Material(density=3200.0, young=60e9, poisson=0.25),
    box=0.5,
    speed=1.0,
    spin=pi,
    horizon=1.5,
    dt=4.85e-6,
)
