"""Molecules of three Lennard-Jones sites, the model of ortho-terphenyl of Lewis and Wahnstroem, in reduced units."""

from pathlib import Path

from polhode.manybody.fluid import Fluid
from polhode.manybody.forces import FORCES
from polhode.manybody.molecule import Molecule


def molecules() -> tuple[tuple[Molecule, int], ...]:
    """The molecules and how many of each: three sites each."""
    from polhode.manybody.molecules.trimer import MOLECULE  # finds its axes with mpmath

    return ((MOLECULE, 64),)


SCENE = Fluid(
    key="trimers",
    label="three-site molecules",
    source="Lewis and Wahnstroem (1994)",
    molecules=molecules,
    box=5.794216146372113,
    temperature=0.66,
    horizon=100.0,
    dt=0.004,
    law=FORCES["shifted_power"].with_parameters(inner=1.8, cutoff=2.5),
    states=tuple(Path(__file__).with_name("states") / name for name in ("trimers64.npz",)),
)
