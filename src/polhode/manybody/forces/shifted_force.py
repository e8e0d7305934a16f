r"""Charges whose force is shifted to end at zero: the force is continuous at the cut-off, its slope is not.

.. math::

   V = \frac1r + \frac{r}{r_c^2} - \frac{2}{r_c}

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
    """c (1/r + r/r_c^2 - 2/r_c); the constants from the seventh on are c, c/r_c^2, 2 c/r_c."""
    inverse, r = 1.0 / squared, sqrt(squared)
    first = constants[6] * (r * inverse)
    return first * inverse - constants[7] * (r * inverse), first + constants[7] * r - constants[8]


def constants(pair: SitePair, values: Mapping[str, Any]) -> tuple[float, ...]:
    """Those of both kernels."""
    cutoff = values["cutoff"]
    return *of_lennard_jones(pair, values), pair.charge, pair.charge / cutoff**2, 2 * pair.charge / cutoff


LAW = ForceLaw(
    key="shifted_force",
    label="shifted force (C1)",
    source="Allen and Tildesley (2017), Sec. 5.7.3; Fennell and Gezelter (2006) without damping",
    parameters={"cutoff": CUTOFF, "inner": INNER},
    conserves_energy=True,
    onset=1.0,
    constants=constants,
    lennard_jones=lennard_jones,
    coulomb=coulomb,
)
