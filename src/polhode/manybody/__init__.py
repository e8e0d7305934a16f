"""Many rigid clumps of spheres in a box: shapes, contacts, and an engine that runs any one-torque method on them.

>>> from polhode import manybody
>>> run = manybody.simulate("rods", "spiral_leapfrog", dt=38.3e-6, seed=1, t_end=0.01)
>>> int(run["steps"]), run.sizes["clump"]
(261, 30)

``print(manybody.scenes)`` and ``print(manybody.forces)`` show what there is to choose from.
"""

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
    "Material",
    "Molecule",
    "Parameter",
    "Response",
    "Scene",
    "Shaking",
    "State",
    "Touch",
    "forces",
    "molecules",
    "scenes",
    "simulate",
    "write_motion",
]
