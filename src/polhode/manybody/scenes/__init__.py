"""All scenes, one file each; ``print(polhode.manybody.scenes)`` lists them, ``polhode.manybody.scenes[key]`` is one.

A file takes part by defining ``SCENE``, a :class:`polhode.manybody.Scene` or a :class:`polhode.manybody.Fluid`.
``polhode.manybody.scenes.load(path)`` adds the scene that a file of your own defines.
"""

from typing import Any

from polhode.manybody.fluid import Fluid
from polhode.manybody.scene import Scene
from polhode.registry import Registry

SCENES: Registry[Any] = Registry(
    __name__,
    "SCENE",
    (Scene, Fluid),
    (
        ("key", lambda scene: scene.key),
        ("scene", lambda scene: scene.label),
        ("source", lambda scene: scene.source),
    ),
)
