"""All integrators, one file each; ``print(polhode.methods)`` lists them.

``polhode.methods[key]`` is the :class:`~polhode.methods.protocol.Method`, ``polhode.methods.load(path)`` adds a user's own.
"""

from polhode.methods.protocol import Method
from polhode.registry import Catalogue

Catalogue.adopt(
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
