r"""Torques on a satellite in a circular orbit: gravity gradient, residual magnetic dipole, and drag.

The lab frame is inertial, with z along the axis of the Earth. At the time t the satellite is at R times

.. math:: \hat r = (\cos u, \sin u \cos i, \sin u \sin i), \quad u = u_0 + n t, \quad n = \sqrt{\mu/R^3}

with the inclination i, and flies along :math:`\hat v = d\hat r/du`. The torques in the body frame are (Wertz, Spacecraft
Attitude Determination and Control, 1978, Sec. 17.2 and App. H)

.. math:: 3 n^2\, \hat r \times I \hat r, \quad m \times B, \quad c \times \left(-\tfrac12 \varrho C_D A\, v^2\, \hat v\right)

with the moment m of the satellite, the distance c of the centre of pressure from the centre of mass, and the field of a dipole
:math:`B = -B_0 (R_E/R)^3\, [3 (\hat d\cdot\hat r)\, \hat r - \hat d]`, whose axis d is tilted against the axis of the Earth and
turns with it. The air does not turn, and the area does not depend on the attitude.

Each torque is a kernel ``(t, q, parameters, first)`` that reads its numbers from ``parameters[first]`` on, so that it may be
part of any torque; :data:`LOADS` has what numbers these are. t is in s, q (4,) is scalar first, body to lab, and the torque
(3,) is in the body frame, N m. First come the numbers of the orbit: n, rad/s, the cosine and the sine of i, and u at t = 0,
rad.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import cos, pi, sin, sqrt
from typing import Any

from polhode.algebra.quaternion import to_body
from polhode.algebra.vector import axpy, cross, dot
from polhode.compiling.kernel import kernel
from polhode.interface.arguments import number, positive, shown, vector

#: The gravitational parameter (m^3/s^2), the radius (m), the rate of rotation (rad/s), and of the field of a dipole the
#: strength at the equator (T) and the tilt (rad) of the Earth.
GRAVITY, RADIUS, ROTATION = 3.986004418e14, 6.3712e6, 7.292115e-5
FIELD, TILT = 2.98e-5, 9.4 * pi / 180
#: The numbers of an orbit, with which each torque's numbers begin: the rate n, the cosine and sine of i, and u at the start.
OF_ORBIT = 4


@kernel
def up(t: Any, parameters: Any, first: Any) -> Any:
    """The direction from the Earth to the satellite, a unit vector (3,) in the lab, from the numbers of the orbit."""
    u = parameters[first + 3] + parameters[first] * t
    return (cos(u), sin(u) * parameters[first + 1], sin(u) * parameters[first + 2])


@kernel
def ahead(t: Any, parameters: Any, first: Any) -> Any:
    """The direction of flight, a unit vector (3,) in the lab, from the numbers of the orbit."""
    u = parameters[first + 3] + parameters[first] * t
    return (-sin(u), cos(u) * parameters[first + 1], cos(u) * parameters[first + 2])


@kernel
def gravity_gradient(t: Any, q: Any, parameters: Any, first: Any) -> Any:
    """The torque of gravity on a body of finite size, N m; behind the orbit the principal moments, kg m^2."""
    x, y, z = to_body(q, up(t, parameters, first))
    at = first + OF_ORBIT
    load = cross((x, y, z), (parameters[at] * x, parameters[at + 1] * y, parameters[at + 2] * z))
    strength = 3.0 * parameters[first] * parameters[first]
    return (strength * load[0], strength * load[1], strength * load[2])


@kernel
def dipole(t: Any, q: Any, parameters: Any, first: Any) -> Any:
    """The torque of the Earth's field on a magnetic moment, N m; behind the orbit the moment in the body frame, A m^2, the
    field at the magnetic equator of the orbit, T, the cosine and sine of the tilt, and the rate (rad/s) and the angle at the
    start of the rotation of the Earth, rad."""
    at = first + OF_ORBIT
    angle = parameters[at + 7] + parameters[at + 6] * t
    axis = (parameters[at + 5] * cos(angle), parameters[at + 5] * sin(angle), parameters[at + 4])
    r = up(t, parameters, first)
    x, y, z = axpy(-3.0 * dot(axis, r), r, axis)
    field = to_body(q, (parameters[at + 3] * x, parameters[at + 3] * y, parameters[at + 3] * z))
    return cross((parameters[at], parameters[at + 1], parameters[at + 2]), field)


@kernel
def drag(t: Any, q: Any, parameters: Any, first: Any) -> Any:
    """The torque of the air, N m; behind the orbit the centre of pressure in the body frame, m, and the force, N."""
    at = first + OF_ORBIT
    x, y, z = to_body(q, ahead(t, parameters, first))
    force = -parameters[at + 3]
    return cross((parameters[at], parameters[at + 1], parameters[at + 2]), (force * x, force * y, force * z))


@dataclass(frozen=True)
class Orbit:
    """A circular orbit of the Earth.

    Parameters
    ----------
    altitude : height above the mean radius, m
    inclination : rad
    phase : u at t = 0, rad

    Raises
    ------
    TypeError, ValueError
        If a value is no finite number, or the altitude is not positive.
    """

    altitude: float
    inclination: float = 0.0
    phase: float = 0.0

    def __post_init__(self) -> None:
        positive("orbit: altitude", self.altitude, "m")
        number("orbit: inclination", self.inclination)
        number("orbit: phase", self.phase)

    @property
    def radius(self) -> float:
        """The radius R of the orbit, m."""
        return RADIUS + self.altitude

    @property
    def rate(self) -> float:
        """The rate n at which the satellite moves round the Earth, rad/s."""
        return sqrt(GRAVITY / self.radius**3)

    @property
    def numbers(self) -> dict[str, float]:
        """What the kernels read first: ``n`` (rad/s), ``cos_i`` and ``sin_i`` of the inclination, the phase ``u0`` (rad)."""
        return {"n": self.rate, "cos_i": cos(self.inclination), "sin_i": sin(self.inclination), "u0": self.phase}


def _of_gradient(orbit: Orbit, inertia: Sequence[float]) -> dict[str, float]:
    return dict(zip(("Ix", "Iy", "Iz"), inertia, strict=True))


def _of_dipole(
    orbit: Orbit,
    inertia: Sequence[float],
    moment: Sequence[float],
    field: float = FIELD,
    tilt: float = TILT,
    rotation: float = ROTATION,
    longitude: float = 0.0,
) -> dict[str, float]:
    at_equator = number("field", field) * (RADIUS / orbit.radius) ** 3
    axis = {"B": at_equator, "cos_tilt": cos(number("tilt", tilt)), "sin_tilt": sin(tilt)}
    turning = {"rotation": number("rotation", rotation), "longitude": number("longitude", longitude)}
    return dict(zip(("mx", "my", "mz"), vector("moment", moment, 3), strict=True)) | axis | turning


def _of_drag(
    orbit: Orbit, inertia: Sequence[float], centre: Sequence[float], density: float, area: float, coefficient: float = 2.2
) -> dict[str, float]:
    force = 0.5 * number("density", density) * number("area", area) * number("coefficient", coefficient)
    return dict(zip("xyz", vector("centre", centre, 3), strict=True)) | {"force": force * (orbit.rate * orbit.radius) ** 2}


#: The torques by their names: the kernel, the numbers behind the orbit's, and which of the arguments is a vector.
LOADS: dict[str, tuple[Callable[..., Any], Callable[..., dict[str, float]], str]] = {
    "gravity_gradient": (gravity_gradient, _of_gradient, ""),
    "dipole": (dipole, _of_dipole, "moment"),
    "drag": (drag, _of_drag, "centre"),
}


def numbers_of(name: str, orbit: Orbit, inertia: Sequence[float], given: Mapping[str, Any] | None = None) -> dict[str, float]:
    """The numbers that the kernel of a torque reads, by names and in its order: parameters of a problem.

    Parameters
    ----------
    name : of :data:`LOADS`
    orbit, inertia : the orbit, and the principal moments (3,), kg m^2
    given : of a dipole ``moment`` (A m^2, body frame) and, if they differ from the Earth's, ``field`` (T), ``tilt``,
        ``longitude`` (rad) and ``rotation`` (rad/s); of drag ``centre`` (m, body frame), ``density`` (kg/m^3), ``area`` (m^2)
        and ``coefficient``

    Raises
    ------
    TypeError, ValueError
        That names the torque and what is wrong.
    """
    if name not in LOADS:
        raise ValueError(f"loads: {shown(name)} is not known; known are: {', '.join(LOADS)}")
    if not isinstance(given, Mapping | None):
        raise TypeError(f"loads: {name} must be names with numbers, got {shown(given)}")
    try:
        return orbit.numbers | LOADS[name][1](orbit, inertia, **(given or {}))
    except (TypeError, ValueError) as error:
        said = str(error).rpartition("() ")[2]
        raise type(error)(f"loads: {name}: {said}") from None
