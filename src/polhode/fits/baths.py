r"""What a scheme of a heat bath samples: the stationary variances of one libration, from the linear map of a step.

A libration is an angle x with the moment 1, :math:`\ddot x = -\Omega^2 x`, friction gamma and noise at the temperature 1. A
step multiplies (x, p) by a matrix M and adds noise of covariance N. The covariance S of the stationary state solves

.. math::

   S = M S M^T + N .

For BAOAB and w = Omega dt the angle has the exact variance, :math:`\Omega^2 \langle x^2\rangle = 1`, for any gamma; the
momentum at the end of the step reads :math:`1 - w^2/4`, and 1 between the kicks. For OBABO the momentum at the end reads 1 and
the angle has :math:`1/(1 - w^2/4)`. All are stable for w < 2. The schemes are in :mod:`polhode.manybody.bath`; velocity
rescaling has no linear map of a single libration.

**A liquid** has many modes, and collisions exchange energy between them. Without a bath all have one temperature of the
conserved energy of the steps, and momenta between the kicks then read :math:`1 + w^2/12` of it (:math:`2 \tan(\phi/2)/\phi`
with :math:`\sin(\phi/2) = w/2`). O pulls each of them to 1. Where collisions exchange energy faster than the friction does, a
mode is between the two: between the kicks rotation, whose librations are faster, is hotter than translation by at most
:math:`(\Omega_r^2 - \Omega_t^2)\, \Delta t^2/12`, half of it above the temperature asked for and half below, with places
likewise. The sum of both is unbiased; the potential energy is not quite, as measured.

**Velocity rescaling** multiplies all velocities by one factor and leaves the modes with the common temperature that collisions
give them. A leapfrog carries momenta of half steps, in which a libration has the mean square of its angle: with
x = A cos(n phi) they are - A Omega sin((n + 1/2) phi). The bath holds the sum of their squares, so rotation is hotter than the
bath and translation colder by the bound above, whatever the relaxation time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: The schemes that have a linear map.
SCHEMES = ("BAOAB", "OBABO", "LAMMPS")
#: By how much a temperature may differ from the bath if nothing else is asked for, and the temperature of the liquids, K.
BIAS, TEMPERATURE = 0.5, 300.0


@dataclass(frozen=True)
class Variances:
    """Over their values in equilibrium, 1 if a scheme is exact: of the angle at the end of a step, and of the momentum there
    and between the two kicks (in BAOAB after O), as temperatures are read."""

    angle: float
    momentum: float
    middle: float


def stationary(scheme: str, turn: float, friction: float) -> Variances:
    """The stationary variances of a libration.

    Parameters
    ----------
    scheme : one of :data:`SCHEMES`
    turn : Omega dt, rad
    friction : gamma dt

    Raises
    ------
    ValueError
        For another scheme, or if the step is unstable: a libration grows without bound.
    """
    if scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(SCHEMES)}, got {scheme!r}")
    # x, p and, of LAMMPS, the force of the bath, in steps; the noise is a further component, drawn for each step.
    parts, middle = _parts(scheme, turn, friction)
    matrix, noise = _composed(parts)
    largest = float(np.abs(np.linalg.eigvals(matrix)).max())
    if not largest < 1:
        raise ValueError(f"{scheme} with Omega dt = {turn:g} and gamma dt = {friction:g} is unstable")
    size = len(matrix)
    covariance = np.linalg.solve(np.eye(size * size) - np.kron(matrix, matrix), noise.ravel()).reshape(size, size)
    to_middle, noise_to_middle = _composed(parts[:middle])
    between = to_middle @ covariance @ to_middle.T + noise_to_middle
    return Variances(float(covariance[0, 0] * turn**2), float(covariance[1, 1]), float(between[1, 1]))


def at_the_end(rate_squared: float, dt: float) -> float:
    """The kinetic temperature at the end of a step of BAOAB over the bath's, 1 - (Omega dt)^2/4; no unit.

    ``rate_squared``: Omega^2 of the libration, in the unit of 1/dt^2.
    """
    return 1 - rate_squared * dt**2 / 4


def of_places(rate_squared: float, dt: float) -> float:
    """The temperature of the angles under OBABO and weak LAMMPS over the bath's, 1 + (Omega dt)^2/4 to second order; no unit.

    ``rate_squared``: Omega^2 of the libration, in the unit of 1/dt^2.
    """
    return 1 + rate_squared * dt**2 / 4


def on_whole_steps(rate_squared: float, dt: float) -> float:
    """The kinetic temperature on whole steps at constant energy over the liquid's, 1 - (Omega dt)^2/6; no unit.

    ``rate_squared``: Omega^2 of translation or of rotation, in the unit of 1/dt^2.
    """
    return 1 - rate_squared * dt**2 / 6


def on_half_steps(rate_squared: float, dt: float) -> float:
    """The kinetic temperature between the kicks at constant energy over the liquid's, 1 + (Omega dt)^2/12; no unit.

    ``rate_squared``: Omega^2 of translation or of rotation, in the unit of 1/dt^2.
    """
    return 1 + rate_squared * dt**2 / 12


def apart(rates_squared: Sequence[float], dt: float) -> float:
    """By what share of T rotation is hotter, and translation colder, than the bath under BAOAB with weak friction, at most.

    ``rates_squared``: Omega^2 of translation and of rotation, such as the means of a spectrum, in the unit of 1/dt^2.
    """
    return (rates_squared[1] - rates_squared[0]) * dt**2 / 24


def longest_step(rates_squared: Sequence[float], share: float) -> float:
    """The step at which :func:`apart` is ``share``, in the unit of time of the rates.

    ``rates_squared``: Omega^2 of translation and of rotation; ``share``: a part of the temperature of the bath, no unit.
    """
    return sqrt(24 * share / (rates_squared[1] - rates_squared[0]))


def equal_friction(time: float) -> float:
    """The friction that takes heat out as fast as velocity rescaling with this relaxation time: 1/(2 time), in its inverse.

    Under a friction gamma a kinetic energy decays at the rate 2 gamma (:class:`polhode.manybody.Langevin`), under velocity
    rescaling at 1/``time`` (Bussi, Donadio and Parrinello 2007). So a method that brings in the energy d kT per degree of
    freedom and unit of time makes a liquid hotter than the bath by the share d/gamma = 2 d ``time``.
    """
    return 1 / (2 * time)


def longest_step_of_places(rate_squared: float, share: float) -> float:
    """The step at which :func:`of_places` is 1 + ``share``, in the unit of time of the rate.

    ``rate_squared``: Omega^2 of the libration; ``share``: a part of the temperature of the bath, no unit.
    """
    return sqrt(4 * share / rate_squared)


def _parts(scheme: str, turn: float, friction: float) -> tuple[list[tuple[Array, Array]], int]:
    """Matrices and noise amplitudes (vectors) of the parts of a step in order, and how many there are until its middle."""
    quiet = np.zeros(3)

    def kicked() -> tuple[Array, Array]:
        return np.array([[1.0, 0, 0], [-0.5 * turn**2, 1.0, 0.5], [0, 0, 1.0]]), quiet

    def drifted(share: float) -> tuple[Array, Array]:
        return np.array([[1.0, share, 0], [0, 1.0, 0], [0, 0, 1.0]]), quiet

    def exchanged(share: float) -> tuple[Array, Array]:
        decay = exp(-share * friction)
        return np.diag([1.0, decay, 0.0]), np.array([0, sqrt(1 - decay**2), 0])

    if scheme == "BAOAB":
        return [kicked(), drifted(0.5), exchanged(1.0), drifted(0.5), kicked()], 3
    if scheme == "OBABO":
        return [exchanged(0.5), kicked(), drifted(1.0), kicked(), exchanged(0.5)], 2
    pushed = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, -friction, 0]]), np.array([0, 0, sqrt(2 * friction)])
    return [kicked(), drifted(1.0), pushed, kicked()], 1


def _composed(parts: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    """The matrix of all parts one after the other, and the covariance of the noise that they add."""
    matrix, noise = np.eye(3), np.zeros((3, 3))
    for factor, amplitude in parts:
        matrix, noise = factor @ matrix, factor @ noise @ factor.T + np.outer(amplitude, amplitude)
    return matrix, noise
