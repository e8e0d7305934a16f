"""All test problems, one file each; ``print(polhode.problems)`` lists them, ``polhode.problems[key]`` is one."""

from polhode.problems.problem import Case
from polhode.registry import Catalogue

Catalogue.adopt(
    __name__,
    "PROBLEM",
    Case,
    (
        ("key", lambda p: p.key),
        ("problem", lambda p: p.label),
        ("torque", lambda p: p.torque_class),
        ("horizon (s)", lambda p: f"{p.horizon:g}"),
        ("reference", lambda p: p.formula or "Taylor series"),
        ("source", lambda p: p.source),
    ),
)
