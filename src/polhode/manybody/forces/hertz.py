r"""Frictionless elastic contact: Hertz (1882); Johnson, Contact Mechanics (1985), Ch. 4.

.. math::

   F = \tfrac43 E^* \sqrt{R^*}\, \delta^{3/2}, \qquad U = \tfrac8{15} E^* \sqrt{R^*}\, \delta^{5/2}
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from polhode.compiling.kernel import kernel
from polhode.manybody.law import ForceLaw
from polhode.manybody.material import MaterialPair


@kernel
def normal(overlap: float, radius: float, constants: Any) -> tuple[float, float]:
    """The force, N, and the stored energy, J, at an overlap and with a radius R* in m; the first constant is 4/3 E*, Pa."""
    force = constants[0] * sqrt(radius * overlap) * overlap
    return force, 0.4 * force * overlap


def constants(pair: MaterialPair, values: Mapping[str, Any]) -> tuple[float, ...]:
    """The constant of the kernel: 4/3 E*, Pa, from the materials of a pair; the law has no parameters (``values``)."""
    return (4 / 3 * pair.reduced,)


LAW = ForceLaw(
    key="hertz",
    label="Hertz",
    source="Hertz (1882); Johnson (1985), Ch. 4",
    conserves_energy=True,
    onset=1.5,
    constants=constants,
    normal=normal,
)
