r"""Charges whose force is shifted to end at zero: the force is continuous at the cut-off, its slope is not.

.. math::

   V = \frac1r + \frac{r}{r_c^2} - \frac{2}{r_c}

Lennard-Jones forces are those of :mod:`polhode.manybody.forces.shifted_power`.
"""

from math import sqrt
from typing import Any

from polhode.compiling.kernel import kernel
from polhode.manybody.forces.shifted_power import with_charges


@kernel
def coulomb(squared: float, constants: Any) -> tuple[float, float]:
    """Force over distance, and energy c (1/r + r/r_c^2 - 2/r_c), of two charges, in the units of the fluid.

    ``squared`` is r^2; the constants from the seventh on are c, c/r_c^2 and 2 c/r_c, see :func:`of_charges`.
    """
    inverse, r = 1.0 / squared, sqrt(squared)
    first = constants[6] * (r * inverse)
    return first * inverse - constants[7] * (r * inverse), first + constants[7] * r - constants[8]


def of_charges(charge: float, cutoff: float) -> tuple[float, ...]:
    """The constants of the kernel, c, c/r_c^2 and 2 c/r_c, in the fluid's units.

    ``charge`` is c, the product of two charges times the constant of Coulomb's law, and ``cutoff`` the length r_c.
    """
    return charge, charge / cutoff**2, 2 * charge / cutoff


LAW = with_charges(
    key="shifted_force",
    label="shifted force (C1)",
    source="Allen and Tildesley (2017), Sec. 5.7.3; Fennell and Gezelter (2006) without damping",
    onset=1.0,
    coulomb=coulomb,
    of_charges=of_charges,
)
