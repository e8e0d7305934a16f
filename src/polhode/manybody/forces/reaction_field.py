r"""Charges with the field of a conductor beyond the cut-off: the force is continuous there, its slope is not.

.. math::

   V = \frac1r + \frac{r^2}{2 r_c^3} - \frac{3}{2 r_c}

Lennard-Jones forces are those of :mod:`polhode.manybody.forces.shifted_power`.
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from polhode.compiling.kernel import kernel
from polhode.manybody.forces.shifted_power import CUTOFF, INNER, lennard_jones, of_lennard_jones
from polhode.manybody.law import ForceLaw, SitePair


@kernel
def coulomb(squared: float, constants: Any) -> tuple[float, float]:
    """c (1/r + r^2/(2 r_c^3) - 3/(2 r_c)); the constants from the seventh on are c, c/r_c^3, 3 c/(2 r_c)."""
    inverse, r = 1.0 / squared, sqrt(squared)
    first = constants[6] * (r * inverse)
    return first * inverse - constants[7], first + 0.5 * constants[7] * squared - constants[8]


def constants(pair: SitePair, values: Mapping[str, Any]) -> tuple[float, ...]:
    """Those of both kernels."""
    cutoff = values["cutoff"]
    return *of_lennard_jones(pair, values), pair.charge, pair.charge / cutoff**3, 1.5 * pair.charge / cutoff


LAW = ForceLaw(
    key="reaction_field",
    label="reaction field (C1)",
    source="Barker and Watts (1973); Tironi et al. (1995)",
    parameters={"cutoff": CUTOFF, "inner": INNER},
    conserves_energy=True,
    onset=1.0,
    constants=constants,
    lennard_jones=lennard_jones,
    coulomb=coulomb,
)
