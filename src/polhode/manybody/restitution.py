r"""Which damping gives which coefficient of restitution, for contacts that push and never pull.

A dashpot would pull at the end of a contact, where the surfaces separate fast and the spring has hardly any force left. Codes
cut this attraction off, and obtain more than formulas for the whole motion promise. Here the contact ends where its force
vanishes, so what is asked for is obtained.

A linear spring and dashpot obey :math:`m^* \ddot x = -k x - c \dot x`, with the part :math:`D = c/(2 \sqrt{k m^*})` of
critical damping. Hertz's spring with the dashpot of Tsuji et al. obeys, in units of its own,
:math:`\ddot x = -x^{3/2} - \alpha x^{1/4} \dot x`. In the time s with :math:`ds = x^{1/4} dt` and with :math:`z = x^{5/4}`
this is linear, :math:`z' = \frac54 v`, :math:`v' = -z - \alpha v`, and the force vanishes where that of the linear dashpot
does: restitution is that of :math:`D = \alpha/\sqrt5`, whatever the speed, the mass, the radius and the stiffness.

LAMMPS follows its dashpots to zero overlap unless ``limit_damping`` cuts the attraction off: :func:`lammps_damping`. YADE's
dashpots never pull, but take the mass of a sphere where it belongs to a clump: :func:`yade_en`.
"""

from collections.abc import Callable
from functools import cache
from math import atan2, exp, log, nan, pi, sqrt
from types import MappingProxyType

#: The largest part of critical damping that is searched; the restitution is 2.5e-7 there.
STRONGEST = 1e3


def linear_restitution(damping: float) -> float:
    """The coefficient of restitution, from 0 to 1, of a linear spring and dashpot; ``damping`` is the part of critical damping.

    Schwager and Poeschel (2007), Eq. 21. A contact ends when its force vanishes.
    """
    w = sqrt(abs(1 - damping * damping))
    if damping < 1:
        return exp(-damping / w * (pi - atan2(2 * damping * w, w * w - damping * damping)))
    return exp(-damping / w * log((damping + w) / (damping - w))) if w > 0 else exp(-2)


@cache
def linear_damping(restitution: float) -> float:
    """The damping, as a fraction of critical damping, that gives a coefficient of restitution (above 2.5e-7, at most 1)."""
    if restitution >= 1:
        return 0.0
    low, high = 0.0, STRONGEST
    while low < (damping := (low + high) / 2) < high:  # by halves to the last digit; every job would wait for SciPy's solvers
        low, high = (damping, high) if linear_restitution(damping) > restitution else (low, damping)
    return damping


def tsuji_restitution(alpha: float) -> float:
    """The coefficient of restitution, from 0 to 1, of Hertz's spring with the dashpot of Tsuji et al.

    ``alpha`` is its dimensionless damping, see the module's docstring.
    """
    return linear_restitution(alpha / sqrt(5))


def tsuji_damping(restitution: float) -> float:
    """The dimensionless alpha of Tsuji et al. that gives a coefficient of restitution (above 2.5e-7, at most 1)."""
    return sqrt(5) * linear_damping(restitution)


def pulling_restitution(alpha: float) -> float:
    """The coefficient of restitution of Hertz's spring if the dashpot of Tsuji et al. may pull: a contact ends at zero overlap.

    exp(-pi D/sqrt(1 - D^2)) with D = alpha/sqrt(5), and zero from critical damping on; ``alpha`` is dimensionless.
    """
    damping = alpha / sqrt(5)
    return exp(-pi * damping / sqrt(1 - damping * damping)) if damping < 1 else 0.0


def tsuji_polynomial(restitution: float) -> float:
    """The dimensionless alpha that ``damping tsuji`` of LAMMPS' ``pair_style granular`` makes of a restitution from 0 to 1.

    Eq. 53 of Marshall, J. Comput. Phys. 228 (2009) 1541, times the root of 2. It is the damping with attraction.
    """
    value = 0.0
    for coefficient in (4.8218, -18.022, 27.467, -22.348, 11.087, -4.2783, 1.2728):
        value = value * restitution + coefficient
    return sqrt(2) * value


def coefficient_damping(restitution: float) -> float:
    """The dimensionless alpha that ``damping coeff_restitution`` of LAMMPS makes of a restitution from 0 to 1.

    It is the inverse of :func:`pulling_restitution` in closed form.
    """
    return sqrt(5) / sqrt(1 + (pi / log(restitution)) ** 2) if 0 < restitution < 1 else sqrt(5) if restitution <= 0 else 0.0


#: The dampings of LAMMPS that take a coefficient of restitution, with the alpha that they make of it.
LAMMPS_DAMPINGS = MappingProxyType({"tsuji": tsuji_polynomial, "coeff_restitution": coefficient_damping})


def lammps_damping(restitution: float, alpha: Callable[[float], float] = tsuji_polynomial) -> float:
    """The number from 0 to 1 to write in LAMMPS with ``limit_damping``, so that a coefficient of restitution is obtained.

    NaN where no number gives so little.

    Parameters
    ----------
    restitution : the coefficient to obtain, up to 1
    alpha : one of :data:`LAMMPS_DAMPINGS`, a function (number written) -> dimensionless alpha
    """
    if restitution >= 1:
        return 1.0
    if tsuji_restitution(alpha(0.0)) > restitution:
        return nan
    low, high = 0.0, 1.0
    while low < (value := (low + high) / 2) < high:
        low, high = (low, value) if tsuji_restitution(alpha(value)) > restitution else (value, high)
    return value


def yade_restitution(en: float, heavier: float) -> float:
    """The coefficient of restitution, from 0 to 1, that ``en`` of YADE's Hertz-Mindlin law gives a clump in a head-on impact.

    Its dashpot is alpha sqrt(m k) with the mass m of the sphere that touches, and the alpha that gives ``en`` to a body of
    that mass (read in ``Law2_ScGeom_MindlinPhys_Mindlin``; measured for spheres).

    Parameters
    ----------
    en : the restitution that is written in YADE, between 0 and 1
    heavier : the mass of the clump over that of the sphere; for two clumps of a kind the ratio is the same
    """
    return tsuji_restitution(tsuji_damping(en) / sqrt(heavier))


def yade_en(restitution: float, heavier: float) -> float:
    """The ``en`` to write in YADE so that a clump has this coefficient of restitution: :func:`yade_restitution` inverted.

    ``heavier`` is the mass of the clump over the mass of the sphere that touches.
    """
    return tsuji_restitution(tsuji_damping(restitution) * sqrt(heavier))
