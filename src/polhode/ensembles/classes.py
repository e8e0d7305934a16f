r"""The torque classes of the ensembles: from no torque to friction, each with parameters drawn for one body.

Everything is dimensionless. The body turns at first with the angular velocity 1, and the mean of its moments of inertia is 1.
The *strength* S of a torque is the root-mean-square angular acceleration that it causes over all its directions (for friction:
at the initial speed), in units of the square of the initial angular velocity. Vectors a, b, c, m and the matrix C below are
random for every body; each is scaled so that the torque has the strength drawn for the body.

.. math::

   \text{constant:}&\quad M = c \\
   \text{time:}&\quad M = c + a \sin \nu t + b \cos \nu t \\
   \text{lab:}&\quad M = R(q)^T (c + a \sin \nu t + b \cos \nu t) \\
   \text{state:}&\quad M = m \times R(q)^T (0, 0, -1) \\
   \text{friction, isotropic:}&\quad M = -c\, \omega \\
   \text{friction, anisotropic:}&\quad M = -C \omega \\
   \text{friction, smooth Coulomb:}&\quad M = -c\, \omega / \sqrt{\omega^2 + \epsilon^2}

The functions of all torques take the time t, the unit quaternion q = (q0, qx, qy, qz), body to lab, the angular velocity omega,
three numbers in the body frame, and the parameters, numbers in the order of :attr:`TorqueClass.parameters`. They return three
numbers in the body frame, and read what their formula has. For a body with moments in kg m^2 the same formulas hold in SI
units: s, rad/s, N m.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import cos, sin, sqrt
from typing import Any

from polhode.algebra.quaternion import to_body
from polhode.algebra.vector import cross
from polhode.compiling.kernel import compile_torque


@dataclass(frozen=True, kw_only=True)
class TorqueClass:
    """A torque that the ensembles apply to every body, with other parameters for each.

    Parameters
    ----------
    key, label : str
        Name in the configuration and in files; name in figures.
    declared : str
        The class, one of :data:`polhode.problems.problem.TORQUE_CLASSES`, for which methods declare their orders.
    formula : str
        The torque in the body frame, in LaTeX.
    parameters : tuple of str
        The names of its numbers, in the order in which the torque reads them.
    torque : function (t, q, omega, parameters) -> (tx, ty, tz)
        As that of a :class:`polhode.problems.problem.Problem`.
    """

    key: str
    label: str
    declared: str
    formula: str
    parameters: tuple[str, ...] = ()
    torque: Callable[..., Any] = field(repr=False)

    @cached_property
    def compiled_torque(self) -> Callable[..., Any]:
        """The kernel ``torque(t, q, omega, parameters)``, compiled once; the parameters are a float array (k,).

        Of t in s and omega in rad/s it has three numbers in N m, in the body frame.
        """
        return compile_torque(self.torque)


def no_torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque 0: three numbers, N m."""
    return (0.0, 0.0, 0.0)


def constant_torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque c, constant in the body frame: three numbers, N m. Parameters: c (N m)."""
    return (parameters[0], parameters[1], parameters[2])


def time_torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque c + a sin(nu t) + b cos(nu t) in the body frame: three numbers, N m.

    Parameters: c, a and b (N m), nu (rad/s).
    """
    s, c = sin(parameters[9] * t), cos(parameters[9] * t)
    return (
        parameters[0] + parameters[3] * s + parameters[6] * c,
        parameters[1] + parameters[4] * s + parameters[7] * c,
        parameters[2] + parameters[5] * s + parameters[8] * c,
    )


def lab_torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque c + a sin(nu t) + b cos(nu t) of the lab frame, turned into the body frame: three numbers, N m.

    Parameters: c, a and b, in the lab frame (N m), nu (rad/s).
    """
    s, c = sin(parameters[9] * t), cos(parameters[9] * t)
    lab = (
        parameters[0] + parameters[3] * s + parameters[6] * c,
        parameters[1] + parameters[4] * s + parameters[7] * c,
        parameters[2] + parameters[5] * s + parameters[8] * c,
    )
    return to_body(q, lab)


def gravity_torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque m x g of a heavy top in the body frame: three numbers, N m.

    Parameters: m, the arm in the body frame times the weight (N m); g is the direction of gravity, -z in the lab.
    """
    return cross((parameters[0], parameters[1], parameters[2]), to_body(q, (0.0, 0.0, -1.0)))


def isotropic_friction(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque -c omega in the body frame: three numbers, N m. Parameters: c (N m s)."""
    return (-parameters[0] * omega[0], -parameters[0] * omega[1], -parameters[0] * omega[2])


def anisotropic_friction(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque -C omega in the body frame: three numbers, N m.

    Parameters: the symmetric positive matrix C as Cxx, Cyy, Czz, Cyz, Czx, Cxy (N m s).
    """
    x, y, z = omega
    return (
        -(parameters[0] * x + parameters[5] * y + parameters[4] * z),
        -(parameters[5] * x + parameters[1] * y + parameters[3] * z),
        -(parameters[4] * x + parameters[3] * y + parameters[2] * z),
    )


def coulomb_friction(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque -c omega / sqrt(omega^2 + epsilon^2) in the body frame: three numbers, N m.

    It is of constant size while the body turns fast, and linear near rest. Parameters: c (N m), epsilon (rad/s).
    """
    x, y, z = omega
    rate = -parameters[0] / sqrt(x * x + y * y + z * z + parameters[1] * parameters[1])
    return (rate * x, rate * y, rate * z)


_WAVE = ("cx", "cy", "cz", "ax", "ay", "az", "bx", "by", "bz", "nu")

#: All torque classes by their keys, in the order of files and tables.
CLASSES: dict[str, TorqueClass] = {
    torque_class.key: torque_class
    for torque_class in (
        TorqueClass(key="free", label="no torque", declared="free", formula="$M=0$", torque=no_torque),
        TorqueClass(
            key="constant",
            label="constant in the body",
            declared="constant",
            formula="$M=c$",
            parameters=("cx", "cy", "cz"),
            torque=constant_torque,
        ),
        TorqueClass(
            key="time",
            label="varying in the body",
            declared="time",
            formula=r"$M=c+a\sin\nu t+b\cos\nu t$",
            parameters=_WAVE,
            torque=time_torque,
        ),
        TorqueClass(
            key="lab",
            label="varying in the lab",
            declared="lab",
            formula=r"$M=R(q)^T(c+a\sin\nu t+b\cos\nu t)$",
            parameters=_WAVE,
            torque=lab_torque,
        ),
        TorqueClass(
            key="state",
            label="heavy top",
            declared="state",
            formula=r"$M=m\times R(q)^T(0,0,-1)$",
            parameters=("mx", "my", "mz"),
            torque=gravity_torque,
        ),
        TorqueClass(
            key="friction_isotropic",
            label="isotropic friction",
            declared="velocity",
            formula=r"$M=-c\,\omega$",
            parameters=("c",),
            torque=isotropic_friction,
        ),
        TorqueClass(
            key="friction_anisotropic",
            label="anisotropic friction",
            declared="velocity",
            formula=r"$M=-C\omega$",
            parameters=("Cxx", "Cyy", "Czz", "Cyz", "Czx", "Cxy"),
            torque=anisotropic_friction,
        ),
        TorqueClass(
            key="friction_smooth_coulomb",
            label="smooth Coulomb friction",
            declared="velocity",
            formula=r"$M=-c\,\omega/\sqrt{\omega^2+\epsilon^2}$",
            parameters=("c", "epsilon"),
            torque=coulomb_friction,
        ),
    )
}
