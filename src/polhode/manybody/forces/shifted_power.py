r"""Lennard-Jones and Coulomb forces, cut off so smoothly that their slope is continuous: ``lj/gromacs/coul/gromacs`` of LAMMPS.

.. math::

   V_p(r) = r^{-p} + \tfrac13 A x^3 + \tfrac14 B x^4 + C, \qquad -V_p'(r) = p\, r^{-(p+1)} - A x^2 - B x^3, \qquad
   x = \max(r - r_1, 0)

With w = r_c - r_1 and the derivatives E' and E'' of E = r_c^-p, A = (w E'' - 3 E')/w^2, B = (2 E' - w E'')/w^3 and
C = -E + w E'/2 - w^2 E''/12: then V, V' and V'' vanish at r_c. Lennard-Jones is 4 epsilon (sigma^12 V_12 - sigma^6 V_6).
"""

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

from polhode.compiling.kernel import kernel
from polhode.manybody.law import ForceLaw, Parameter, SitePair


@kernel
def lennard_jones(squared: float, constants: Any) -> tuple[float, float]:
    """c12/r^12 - c6/r^6 with its smooth end: force over distance, and energy; the constants are c12, c6, A, B, C, r_1.

    ``squared`` is r^2; in the units of the fluid.
    """
    inverse, r = 1.0 / squared, sqrt(squared)
    x = r - constants[5]
    x = x if x > 0.0 else 0.0
    sixth = inverse * inverse * inverse
    c12, c6, a, b = constants[0] * sixth * sixth, constants[1] * sixth, constants[2], constants[3]
    slope = (12.0 * c12 - 6.0 * c6) * inverse - x * x * (a + b * x) * (r * inverse)
    return slope, c12 - c6 + x * x * x * ((1 / 3) * a + 0.25 * b * x) + constants[4]


@kernel
def coulomb(squared: float, constants: Any) -> tuple[float, float]:
    """c/r with its smooth end: force over distance, and energy; the constants from the seventh on are c, A, B, C, r_1.

    ``squared`` is r^2; in the units of the fluid.
    """
    inverse, r = 1.0 / squared, sqrt(squared)
    x = r - constants[10]
    x = x if x > 0.0 else 0.0
    first = constants[6] * (r * inverse)
    a, b = constants[7], constants[8]
    slope = first * inverse - x * x * (a + b * x) * (r * inverse)
    return slope, first + x * x * x * ((1 / 3) * a + 0.25 * b * x) + constants[9]


def smooth_end(power: int, begin: float, cutoff: float) -> tuple[float, float, float]:
    """The coefficients A, B and C that end r^-power smoothly between the distances r_1, ``begin``, and r_c, ``cutoff``.

    Both distances are in one unit of length, and the coefficients in its powers.

    Raises
    ------
    ValueError
        If ``begin`` is not below ``cutoff``.
    """
    if not begin < cutoff:
        raise ValueError(f"inner and inner_charges must be less than the cutoff, {cutoff:g}, got {begin:g}")
    w, value = cutoff - begin, cutoff**-power
    slope, curvature = -power * value / cutoff, power * (power + 1) * value / cutoff**2
    a, b = (w * curvature - 3 * slope) / w**2, (2 * slope - w * curvature) / w**3
    return a, b, -value + w * slope / 2 - w**2 * curvature / 12


def of_lennard_jones(pair: SitePair, values: Mapping[str, Any]) -> tuple[float, ...]:
    """The constants of ``lennard_jones``, c12, c6, A, B, C and r_1, in the fluid's units.

    ``values`` are the parameters of the law by name, of which ``inner`` (r_1) and ``cutoff`` (r_c) are used.

    Raises
    ------
    ValueError
        If ``inner`` is not below ``cutoff``.
    """
    c12, c6 = 4 * pair.epsilon * pair.sigma**12, 4 * pair.epsilon * pair.sigma**6
    ends = zip(smooth_end(12, values["inner"], values["cutoff"]), smooth_end(6, values["inner"], values["cutoff"]), strict=True)
    return c12, c6, *(c12 * of_12 - c6 * of_6 for of_12, of_6 in ends), values["inner"]


def constants(pair: SitePair, values: Mapping[str, Any]) -> tuple[float, ...]:
    """The constants of ``lennard_jones``, c12, c6, A, B, C and r_1, and then of ``coulomb``, c, A, B, C and r_1.

    They are in the units of the fluid; ``values`` are the parameters of the law by name.

    Raises
    ------
    ValueError
        If ``inner`` or ``inner_charges`` is not below ``cutoff``.
    """
    inner, cutoff = values["inner_charges"], values["cutoff"]
    return *of_lennard_jones(pair, values), pair.charge, *(pair.charge * end for end in smooth_end(1, inner, cutoff)), inner


CUTOFF = Parameter(10.0, "distance r_c beyond which there are no forces", "length", least=1e-30)
INNER = Parameter(0.0, "distance r_1 from which Lennard-Jones forces are made to end", "length")


def with_charges(
    key: str, label: str, source: str, onset: float, coulomb: Callable[..., Any], of_charges: Callable[[float, float], Any]
) -> ForceLaw:
    """The law with these Lennard-Jones forces and other forces of charges.

    Parameters
    ----------
    key, label, source, onset : as for :class:`polhode.manybody.law.ForceLaw`
    coulomb : kernel (squared, constants) -> (slope, energy)
        As for :class:`polhode.manybody.law.ForceLaw`; its constants are those from the seventh on.
    of_charges : function (product of charges, cut-off) -> tuple of floats
        These constants.
    """

    def constants(pair: SitePair, values: Mapping[str, Any]) -> tuple[float, ...]:
        return *of_lennard_jones(pair, values), *of_charges(pair.charge, values["cutoff"])

    return ForceLaw(
        key=key,
        label=label,
        source=source,
        parameters={"cutoff": CUTOFF, "inner": INNER},
        conserves_energy=True,
        onset=onset,
        constants=constants,
        lennard_jones=lennard_jones,
        coulomb=coulomb,
    )


LAW = ForceLaw(
    key="shifted_power",
    label="Lennard-Jones and charges, smooth (C2)",
    source="LAMMPS, pair_style lj/gromacs/coul/gromacs; van der Spoel and van Maaren (2006)",
    parameters={
        "cutoff": CUTOFF,
        "inner": INNER,
        "inner_charges": Parameter(0.0, "distance r_1 from which Coulomb forces are made to end", "length"),
    },
    conserves_energy=True,
    onset=2.0,
    constants=constants,
    lennard_jones=lennard_jones,
    coulomb=coulomb,
)
