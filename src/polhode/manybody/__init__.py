"""Many rigid clumps of spheres in a box: shapes, contacts, and an engine that runs any one-torque method on them.

>>> from polhode import manybody
>>> run = manybody.simulate("rods", "spiral_leapfrog", dt=38.3e-6, seed=1, t_end=1.0)
>>> print(manybody.scenes)
"""

from polhode.manybody.clump import Clump
from polhode.manybody.material import Material
from polhode.manybody.placement import BoxTooFull, State
from polhode.manybody.scene import CHESS, RODS, Scene, Scenes
from polhode.manybody.simulation import simulate

scenes = Scenes(CHESS, RODS)

__all__ = ["BoxTooFull", "Clump", "Material", "Scene", "State", "scenes", "simulate"]
