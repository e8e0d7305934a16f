"""All test problems, one file each; ``print(polhode.problems)`` lists them, ``polhode.problems[key]`` is one.

>>> import polhode
>>> top = polhode.problems["heavy_top"]
>>> top.label, top.torque_class, top.horizon
('heavy symmetric top', 'state', 2.0)
"""

from polhode.problems.problem import Case, Problem
from polhode.problems.system import System
from polhode.registry import Registry

PROBLEMS: Registry[Case] = Registry(
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


def single_body(key: str) -> Problem:
    """The single-body problem with this key.

    Raises
    ------
    KeyError, TypeError
        If there is no such problem, or if it has several bodies.
    """
    problem = PROBLEMS[key]
    if not isinstance(problem, Problem):
        raise TypeError(f"problem {key!r} must be one of a single body, got a {type(problem).__name__}")
    return problem


def several_bodies(key: str) -> System:
    """The problem of several bodies with this key.

    Raises
    ------
    KeyError, TypeError
        If there is no such problem, or if it has a single body.
    """
    problem = PROBLEMS[key]
    if not isinstance(problem, System):
        raise TypeError(f"problem {key!r} must be one of several bodies, got a {type(problem).__name__}")
    return problem


def representative(torque_class: str) -> str:
    """The key of the problem that represents a torque class: the one that declares it, otherwise the first of the class.

    ``torque_class`` is one of :data:`polhode.problems.problem.TORQUE_CLASSES` that a problem has.
    """
    members = sorted((p.rank, p.key) for p in PROBLEMS.values() if p.torque_class == torque_class)
    return next((key for _, key in members if PROBLEMS[key].represents_class), members[0][1])
