"""The effect of PCDM on motions with linear equations, in closed form: predictions with which to compare runs.

*Symmetric top without torque.* With the axis along z, Euler's equations conserve omega_z and rotate w = omega_x + i omega_y
at the constant rate Lambda = omega_z (Iz - Ix)/Ix: dw/dt = i Lambda w. A step depends on z = Lambda dt alone.

* The original predicts w' = (1 + iz/2) w at the half step and adds iz w': the midpoint rule. Each step multiplies w by
  1 + iz - z^2/2, and |w|^2 by 1 + z^4/4.
* The improved scheme holds w at half steps, predicts w'_{n+1} = w_{n+1/2} + (iz/2) w'_n and adds iz w'_{n+1}. Since
  iz w'_n = w_{n+1/2} - w_{n-1/2}, that is w_{n+3/2} = (1 + 3iz/2) w_{n+1/2} - (iz/2) w_{n-1/2}: the two-step method of
  Adams and Bashforth. Its characteristic equation is lambda^2 - (1 + 3iz/2) lambda + iz/2 = 0; the larger root multiplies
  |w|^2 by 1 + z^4/2 + O(z^6), twice the growth. The predicted w', the output, obeys the same recurrence; it begins with
  w'_0 = w_0 and w'_1 = (1 + iz) w_0.

*Friction.* The torque is the whole right-hand side, dv/dt = -k v, and only the readings of the torque differ. With
K = k dt, see :data:`FRICTION`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: The readings of the original scheme; without a torque they are identical.
ORIGINAL = ("pcdm2013_mid", "pcdm2013_lag", "pcdm2013_lead")
IMPROVED = "pcdm2016"


@dataclass(frozen=True)
class FreeTop:
    """A body with equal moments about x and y on which no torque acts.

    Parameters
    ----------
    inertia : principal moments (x, y, z), kg m^2
    omega0 : initial angular velocity in the body frame, rad/s

    Raises
    ------
    ValueError
        If the moments about x and y differ.
    """

    inertia: Sequence[float]
    omega0: Sequence[float]

    def __post_init__(self) -> None:
        if self.inertia[0] != self.inertia[1]:
            raise ValueError(f"the moments {self.inertia[0]:g} and {self.inertia[1]:g} kg m^2 about x and y differ")


def precession_rate(top: FreeTop) -> float:
    """Lambda, the rate in rad/s at which the transverse angular velocity rotates in the body frame."""
    x, _, z = top.inertia
    return top.omega0[2] * (z - x) / x


def exact_omega(top: FreeTop, time: ArrayLike) -> NDArray[np.float64]:
    """The angular velocity in the body frame, rad/s, at times in s; shape (..., 3)."""
    angle = precession_rate(top) * np.asarray(time, float)
    (x, y, z), cosine, sine = top.omega0, np.cos(angle), np.sin(angle)
    return np.stack([x * cosine - y * sine, x * sine + y * cosine, np.full_like(angle, z)], axis=-1)


def original_gain(z: float) -> complex:
    """The factor of w in a step of the original scheme."""
    return 1 + 1j * z - z * z / 2


def improved_gains(z: float) -> tuple[complex, complex]:
    """The two roots for the improved scheme: that near exp(iz), and the parasitic one near iz/2."""
    trace = 1 + 1.5j * z
    root = np.sqrt(trace * trace - 2j * z)
    return complex((trace + root) / 2), complex((trace - root) / 2)


def growth(method: str, z: float) -> float:
    """The factor of |w|^2 in a step; for the improved scheme once the parasitic root has died out.

    Raises
    ------
    KeyError
        If the method is not a PCDM scheme.
    """
    if method in ORIGINAL:
        return 1 + z**4 / 4
    if method == IMPROVED:
        return abs(improved_gains(z)[0]) ** 2
    raise KeyError(f"no prediction for the method {method!r}; there is one for {', '.join((*ORIGINAL, IMPROVED))}")


def transverse(method: str, z: float, step: ArrayLike) -> NDArray[np.complex128]:
    """w / w_0 as output by the method after a number of steps."""
    n = np.asarray(step, float)
    if method in ORIGINAL:
        return np.asarray(np.exp(n * np.log(original_gain(z))))
    if method != IMPROVED:
        raise KeyError(f"no prediction for the method {method!r}")
    first, second = improved_gains(z)
    share = (1 + 1j * z - second) / (first - second)
    return np.asarray(share * np.exp(n * np.log(first)) + (1 - share) * np.where(n > 300, 0.0, second ** np.minimum(n, 300)))


def energy_error(top: FreeTop, method: str, dt: float, time: ArrayLike) -> NDArray[np.float64]:
    """Predicted relative error of the kinetic energy at these times in s; positive where it has grown."""
    z = precession_rate(top) * dt
    moving = np.abs(transverse(method, z, np.rint(np.asarray(time, float) / dt))) ** 2 - 1
    inertia, omega = top.inertia, top.omega0
    about_axis, across = inertia[2] * omega[2] ** 2, inertia[0] * (omega[0] ** 2 + omega[1] ** 2)
    return np.asarray(moving * across / (about_axis + across))


#: Method -> the coefficients, from the highest power, of the characteristic polynomial for dv/dt = -k v with K = k dt.
#: The old torque (lag) and the scalar factor, which is given the old angular velocity, are Euler's method. With the torque at
#: the half step the prediction rests on the step before, so the original is the method of Adams and Bashforth, as the improved
#: one always is. With the new torque (lead) v_{n+1} = v_n - K u_{n+1}, u_{n+1} = v_n - K u_n.
FRICTION: dict[str, Callable[[float], tuple[float, ...]]] = {
    "pcdm2013_lag": lambda k: (1.0, k - 1),
    "scalar_factor": lambda k: (1.0, k - 1),
    "pcdm2013_mid": lambda k: (1.0, 1.5 * k - 1, -k / 2),
    "pcdm2016": lambda k: (1.0, 1.5 * k - 1, -k / 2),
    "pcdm2013_lead": lambda k: (1.0, 2 * k - 1, -k),
}
#: Where a root of that polynomial passes -1: the largest stable k dt.
STABLE_UP_TO = {
    "pcdm2013_lag": 2.0,
    "scalar_factor": 2.0,
    "pcdm2013_mid": 1.0,
    "pcdm2016": 1.0,
    "pcdm2013_lead": 2 / 3,
}
