"""Grains in a drum that turns slowly: they are carried up its rough wall and roll down again."""

from dataclasses import replace

from polhode.manybody.clump import Clump
from polhode.manybody.scenes.bed import RADIUS
from polhode.manybody.scenes.bed import SCENE as BED
from polhode.manybody.walls import Drum


def kinds() -> tuple[tuple[Clump, int], ...]:
    """The clumps and how many of each: two spheres whose centres are a radius apart."""
    return ((Clump.rod(2, RADIUS, RADIUS, key="grain", label="grain"), 96),)


SCENE = replace(
    BED,
    key="drum",
    label="a drum of grains",
    kinds=kinds,
    box=0.05,
    drum=Drum(radius=0.045, rate=3.0),
    between={("grain", "wall"): {"friction": 0.9}},
    horizon=2.0,
)
