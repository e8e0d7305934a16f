"""SPC/E water whose forces end smoothly at half the box: a liquid with water's librations, without an Ewald sum."""

from pathlib import Path

from polhode.manybody.fluid import Fluid
from polhode.manybody.forces import FORCES
from polhode.manybody.molecule import Molecule


def molecules() -> tuple[tuple[Molecule, int], ...]:
    """The molecules and how many of each: SPC/E water."""
    from polhode.manybody.molecules.spce import MOLECULE  # finds its axes with mpmath

    return ((MOLECULE, 64),)


SCENE = Fluid(
    key="water64",
    label="water, 64 molecules",
    source="polhode",
    molecules=molecules,
    box=12.429660717000472,
    temperature=300.0,
    horizon=10000.0,
    dt=2.0,
    law=FORCES["shifted_power"].with_parameters(inner=4.5, cutoff=6.2),
    states=tuple(Path(__file__).with_name("states") / name for name in ("spce64.npz", "spce64b.npz")),
)
