r"""Charges with the field of a conductor beyond the cut-off: the force is continuous there, its slope is not.

.. math::

   V = \frac1r + \frac{r^2}{2 r_c^3} - \frac{3}{2 r_c}

Lennard-Jones forces are those of :mod:`polhode.manybody.forces.shifted_power`.
"""

from math import sqrt
from typing import Any

from polhode.compiling.kernel import kernel
from polhode.manybody.forces.shifted_power import with_charges


@kernel
def coulomb(squared: float, constants: Any) -> tuple[float, float]:
    """Force over distance, and energy c (1/r + r^2/(2 r_c^3) - 3/(2 r_c)), of two charges, in the units of the fluid.

    ``squared`` is r^2; the constants from the seventh on are c, c/r_c^3 and 3 c/(2 r_c), see :func:`of_charges`.
    """
    inverse, r = 1.0 / squared, sqrt(squared)
    first = constants[6] * (r * inverse)
    return first * inverse - constants[7], first + 0.5 * constants[7] * squared - constants[8]


def of_charges(charge: float, cutoff: float) -> tuple[float, ...]:
    """The constants of the kernel, c, c/r_c^3 and 3 c/(2 r_c), in the fluid's units.

    ``charge`` is c, the product of two charges times the constant of Coulomb's law, and ``cutoff`` the length r_c.
    """
    return charge, charge / cutoff**3, 1.5 * charge / cutoff


LAW = with_charges(
    key="reaction_field",
    label="reaction field (C1)",
    source="Barker and Watts (1973); Tironi et al. (1995)",
    onset=1.0,
    coulomb=coulomb,
    of_charges=of_charges,
)
