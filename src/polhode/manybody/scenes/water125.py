"""SPC/E water as in :mod:`polhode.manybody.scenes.water64`, with more molecules and a longer cut-off."""

from pathlib import Path

from polhode.manybody.fluid import Fluid
from polhode.manybody.forces import FORCES
from polhode.manybody.molecule import Molecule


def molecules() -> tuple[tuple[Molecule, int], ...]:
    """The molecules and how many of each: SPC/E water."""
    from polhode.manybody.molecules.spce import MOLECULE  # finds its axes with mpmath

    return ((MOLECULE, 125),)


SCENE = Fluid(
    key="water125",
    label="water, 125 molecules",
    source="polhode",
    molecules=molecules,
    box=15.53707589625059,
    temperature=300.0,
    horizon=10000.0,
    dt=2.0,
    law=FORCES["shifted_power"].with_parameters(inner=6.0, cutoff=7.7),
    states=tuple(Path(__file__).with_name("states") / name for name in ("spce125.npz",)),
)
