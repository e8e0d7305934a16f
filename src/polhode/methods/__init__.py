"""All integrators, one file each; ``print(polhode.methods)`` lists them.

The :class:`~polhode.methods.protocol.Method` with a given key is ``polhode.methods[key]``; ``polhode.methods.load(path)`` adds
a user's own.

>>> import polhode
>>> spiral = polhode.methods["spiral_leapfrog"]
>>> spiral.label, spiral.order_q, spiral.torques_per_step
('SPIRAL', 2, 1)
>>> [key for key in polhode.methods if key.startswith("pcdm")]
['pcdm2013_lag', 'pcdm2013_lead', 'pcdm2013_mid', 'pcdm2016']
"""

from collections.abc import Iterable

from polhode.methods.checks import GROUPS, OTHERS
from polhode.methods.protocol import Method
from polhode.registry import LAST, Registry

METHODS: Registry[Method] = Registry(
    __name__,
    "METHOD",
    Method,
    (
        ("key", lambda m: m.key),
        ("method", lambda m: m.label),
        ("torques/step", lambda m: str(m.torques_per_step)),
        ("order q", lambda m: str(m.order_q)),
        ("order omega", lambda m: str(m.order_omega)),
        ("normalises", lambda m: "yes" if m.normalises else "no"),
        ("ours", lambda m: "in part" if m.reconstruction else "no"),
        ("source", lambda m: m.source),
    ),
)


def group_of(key: str) -> str:
    """The group of ``polhode.methods.checks.GROUPS`` in which a method, by its key, is listed; a user's own and unknown ones
    are in the last.
    """
    return METHODS[key].group if key in METHODS and key not in METHODS.plugins() else OTHERS


def place_of(key: str) -> int:
    """The position of a method, by its key, in lists: first by group, then by rank. Methods with equal positions keep their
    order.
    """
    group = group_of(key)
    rank = METHODS[key].rank if key in METHODS and key not in METHODS.plugins() else LAST
    return GROUPS.index(group) * (LAST + 1) + rank


def short_label_of(key: str) -> str:
    """The name of a method, by its key, where space is limited.

    Raises
    ------
    KeyError
        If there is no such method.
    """
    method = METHODS[key]
    short = method.short_label or method.label
    if key in METHODS.plugins() and any(other.short_label == short for other in METHODS.values() if other is not method):
        return method.label  # inherited: the method was derived from a built-in one by dataclasses.replace
    return short


def grouped(keys: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Keys of methods by group, (group, keys) each, in the order in which they are listed; groups without a method are omitted,
    and a key that is there twice is listed once.
    """
    ordered = sorted(dict.fromkeys(keys), key=place_of)
    groups: dict[str, list[str]] = {}
    for key in ordered:
        groups.setdefault(group_of(key), []).append(key)
    return list(groups.items())


def in_order(keys: Iterable[str]) -> list[str]:
    """Keys of methods in the order of :func:`grouped`, each once."""
    return [key for _, members in grouped(keys) for key in members]
