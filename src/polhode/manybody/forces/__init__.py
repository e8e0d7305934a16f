"""All force laws, one file each; ``print(polhode.manybody.forces)`` lists them, ``polhode.manybody.forces[key]`` is one.

A file takes part by defining ``LAW``, a :class:`polhode.manybody.law.ForceLaw`. ``polhode.manybody.forces.load(path)`` adds the
law that a file of your own defines.
"""

from polhode.manybody.law import ForceLaw
from polhode.registry import Registry

FORCES: Registry[ForceLaw] = Registry(
    __name__,
    "LAW",
    ForceLaw,
    (
        ("key", lambda law: law.key),
        ("law", lambda law: law.label),
        ("conserves energy", lambda law: "yes" if law.conserves_energy else "no"),
        ("begins as", lambda law: f"overlap^{law.onset:g}"),
        ("source", lambda law: law.source),
    ),
)
