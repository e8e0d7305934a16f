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
    """c (1/r - 1/r_c); the constants from the seventh on are c and c/r_c.

    Force over distance, and energy, of two charges; ``squared`` is r^2.
    """
    inverse = 1.0 / squared
    first = constants[6] * (sqrt(squared) * inverse)
    return first * inverse, first - constants[7]


def of_charges(charge: float, cutoff: float) -> tuple[float, ...]:
    """The constants of the kernel, c and c/r_c, in the fluid's units."""
    return charge, charge / cutoff


LAW = with_charges(
    key="shifted_energy",
    label="shifted energy (C0)",
    source="Allen and Tildesley (2017), Sec. 5.7.3",
    onset=0.0,
    coulomb=coulomb,
    of_charges=of_charges,
)
