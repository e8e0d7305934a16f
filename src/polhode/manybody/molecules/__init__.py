"""All molecules, one file each; ``print(polhode.manybody.molecules)`` lists them, ``polhode.manybody.molecules[key]`` is one.

A file takes part by defining ``MOLECULE``, a :class:`polhode.manybody.Molecule`. ``polhode.manybody.molecules.load(path)`` adds
the molecule that a file of your own defines.
"""

from polhode.manybody.molecule import Molecule
from polhode.registry import Registry

MOLECULES: Registry[Molecule] = Registry(
    __name__,
    "MOLECULE",
    Molecule,
    (
        ("key", lambda molecule: molecule.key),
        ("molecule", lambda molecule: molecule.label),
        ("sites", lambda molecule: " ".join(molecule.names)),
        ("units", lambda molecule: molecule.units),
        ("degrees of freedom", lambda molecule: str(molecule.degrees_of_freedom)),
        ("source", lambda molecule: molecule.source),
    ),
)
