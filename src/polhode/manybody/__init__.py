"""Many rigid clumps of spheres in a box: shapes, contacts, and an engine that runs any one-torque method on them.

>>> from polhode import manybody
>>> run = manybody.simulate("rods", "spiral_leapfrog", dt=38.3e-6, seed=1, t_end=0.01)
>>> int(run["steps"]), run.sizes["clump"]
(261, 30)

``print(manybody.scenes)`` and ``print(manybody.forces)`` show what there is to choose from.
"""

from typing import TYPE_CHECKING

from polhode.public import Public

if TYPE_CHECKING:
    from polhode.manybody.bath import Langevin, NoseHoover, VelocityRescaling
    from polhode.manybody.clump import Clump
    from polhode.manybody.fluid import Fluid
    from polhode.manybody.forces import FORCES as forces
    from polhode.manybody.law import ForceLaw, Parameter, Response, Touch
    from polhode.manybody.material import Material
    from polhode.manybody.molecule import Molecule
    from polhode.manybody.molecules import MOLECULES as molecules
    from polhode.manybody.motion_files import write_motion
    from polhode.manybody.placement import BoxTooFull, State
    from polhode.manybody.scene import Scene
    from polhode.manybody.scenes import SCENES as scenes
    from polhode.manybody.simulation import simulate
    from polhode.manybody.walls import Drum, Shaking

__all__ = [
    "BoxTooFull",
    "Clump",
    "Drum",
    "Fluid",
    "ForceLaw",
    "Langevin",
    "Material",
    "Molecule",
    "NoseHoover",
    "Parameter",
    "Response",
    "Scene",
    "Shaking",
    "State",
    "Touch",
    "VelocityRescaling",
    "forces",
    "molecules",
    "scenes",
    "simulate",
    "write_motion",
]

# An answer of ``polhode recommend`` needs few of them, and not the engine.
Public.of(__name__).defined = {
    "BoxTooFull": ("polhode.manybody.placement", "BoxTooFull"),
    "Clump": ("polhode.manybody.clump", "Clump"),
    "Drum": ("polhode.manybody.walls", "Drum"),
    "Fluid": ("polhode.manybody.fluid", "Fluid"),
    "ForceLaw": ("polhode.manybody.law", "ForceLaw"),
    "Langevin": ("polhode.manybody.bath", "Langevin"),
    "Material": ("polhode.manybody.material", "Material"),
    "Molecule": ("polhode.manybody.molecule", "Molecule"),
    "NoseHoover": ("polhode.manybody.bath", "NoseHoover"),
    "Parameter": ("polhode.manybody.law", "Parameter"),
    "Response": ("polhode.manybody.law", "Response"),
    "Scene": ("polhode.manybody.scene", "Scene"),
    "Shaking": ("polhode.manybody.walls", "Shaking"),
    "State": ("polhode.manybody.placement", "State"),
    "Touch": ("polhode.manybody.law", "Touch"),
    "VelocityRescaling": ("polhode.manybody.bath", "VelocityRescaling"),
    "forces": ("polhode.manybody.forces", "FORCES"),
    "molecules": ("polhode.manybody.molecules", "MOLECULES"),
    "scenes": ("polhode.manybody.scenes", "SCENES"),
    "simulate": ("polhode.manybody.simulation", "simulate"),
    "write_motion": ("polhode.manybody.motion_files", "write_motion"),
}
