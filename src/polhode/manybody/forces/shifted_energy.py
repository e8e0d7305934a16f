r"""Charges whose energy is shifted to end at zero: the force jumps at the cut-off, so that no method conserves the energy.

.. math::

   V = \frac1r - \frac{1}{r_c}

Lennard-Jones forces are those of :mod:`polhode.manybody.forces.shifted_power`.
"""

from math import sqrt
from typing import Any

from polhode.compiling.kernel import kernel
from polhode.manybody.forces.shifted_power import with_charges


@kernel
def coulomb(squared: float, constants: Any) -> tuple[float, float]:
    """Force over distance, and energy c (1/r - 1/r_c), of two charges, in the units of the fluid.

    ``squared`` is r^2; the constants from the seventh on are c and c/r_c, see :func:`of_charges`.
    """
    inverse = 1.0 / squared
    first = constants[6] * (sqrt(squared) * inverse)
    return first * inverse, first - constants[7]


def of_charges(charge: float, cutoff: float) -> tuple[float, ...]:
    """The constants of the kernel, c and c/r_c, in the fluid's units.

    ``charge`` is c, the product of two charges times the constant of Coulomb's law, and ``cutoff`` the length r_c.
    """
    return charge, charge / cutoff


LAW = with_charges(
    key="shifted_energy",
    label="shifted energy (C0)",
    source="Allen and Tildesley (2017), Sec. 5.7.3",
    onset=0.0,
    coulomb=coulomb,
    of_charges=of_charges,
)
