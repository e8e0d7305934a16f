r"""The kinetic energy of a rigid body split into parts that are solved exactly, between two half kicks by the torque.

The state is the orientation q, the angular momentum Pi in the body frame and the last torque. A kick changes Pi alone. Under
Pi_k^2/(2 I_k) alone the body turns about its axis k at the constant rate Pi_k/I_k, so that q turns forwards and Pi backwards:
a *rotor* (McLachlan 1993; Reich 1994; Touma and Wisdom 1994; Dullweber, Leimkuhler and McLachlan 1997).

In the functions q is (4,), body to lab, ``momentum`` is Pi (3,) in N m s, body frame, ``rate`` is 1/I_k, or a part of it, in
1/(kg m^2), and times are in s; all else is as in :mod:`polhode.methods.protocol`.
"""

from collections.abc import Callable
from typing import Any

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import cos_sinc
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel

# The state: q, Pi and the last torque.


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    return q + angular_momentum(omega, body) + torque


@kernel
def kick(momentum: Any, torque: Any, dt: Any) -> Any:
    """The momentum Pi (3,), N m s in the body frame, after ``dt`` (s) under a constant torque (3,), N m in the body frame."""
    return axpy(dt, torque, momentum)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    return state[:4] + kick(state[4:7], torque, 0.5 * dt) + torque


@kernel
def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The q (body to lab) and omega (rad/s, body frame) at the whole time, from the state; the torque is not used."""
    return state[:4], angular_velocity(state[4:7], body)


@kernel
def stored(state: Any, body: Any, dt: Any) -> Any:
    """The angular velocity (3,) that the method holds, in rad/s, body frame."""
    return angular_velocity(state[4:7], body)


# Rotors. ``rate`` is 1/I_k, or a part of it.


@kernel
def half_angle(momentum: Any, rate: Any, dt: Any) -> Any:
    """The cosine and sine of half the angle by which a body turns in ``dt`` (s) at the rate, in 1/(kg m^2), times ``momentum``,
    one component of Pi (N m s).
    """
    a = 0.5 * dt * (rate * momentum)
    c, s = cos_sinc(a * a)
    return c, a * s


@kernel
def turned_back(c: Any, s: Any, x: Any, y: Any) -> Any:
    """Two components x and y of a vector, in their unit, after a turn by the angle whose half has cosine c and sine s, against
    the sense from x to y.

    As differences, so that rounding of c changes the length in second order only: a body without torque turns by the same
    angles over and over.
    """
    return x - 2.0 * s * (s * x - c * y), y - 2.0 * s * (s * y + c * x)


@kernel
def rotor1(q: Any, momentum: Any, rate: Any, dt: Any) -> Any:
    """q (4,) and Pi (3,), N m s in the body frame, after ``dt`` (s) with the Hamiltonian rate Pi_1^2/2, rate in 1/(kg m^2)."""
    c, s = half_angle(momentum[0], rate, dt)
    q = (c * q[0] - s * q[1], c * q[1] + s * q[0], c * q[2] + s * q[3], c * q[3] - s * q[2])
    y, z = turned_back(c, s, momentum[1], momentum[2])
    return q, (momentum[0], y, z)


@kernel
def rotor2(q: Any, momentum: Any, rate: Any, dt: Any) -> Any:
    """q (4,) and Pi (3,), N m s in the body frame, after ``dt`` (s) with the Hamiltonian rate Pi_2^2/2, rate in 1/(kg m^2)."""
    c, s = half_angle(momentum[1], rate, dt)
    q = (c * q[0] - s * q[2], c * q[1] - s * q[3], c * q[2] + s * q[0], c * q[3] + s * q[1])
    z, x = turned_back(c, s, momentum[2], momentum[0])
    return q, (x, momentum[1], z)


@kernel
def rotor3(q: Any, momentum: Any, rate: Any, dt: Any) -> Any:
    """q (4,) and Pi (3,), N m s in the body frame, after ``dt`` (s) with the Hamiltonian rate Pi_3^2/2, rate in 1/(kg m^2)."""
    c, s = half_angle(momentum[2], rate, dt)
    q = (c * q[0] - s * q[3], c * q[1] + s * q[2], c * q[2] - s * q[1], c * q[3] + s * q[0])
    x, y = turned_back(c, s, momentum[0], momentum[1])
    return q, (x, y, momentum[2])


@kernel
def rotors(q: Any, momentum: Any, rates: Any, dt: Any) -> Any:
    """q (4,) and Pi (3,), N m s in the body frame, of a free body after ``dt`` (s), to second order.

    The rotors are 1, 2, 3, 2, 1, the third for all of dt, the others for half; ``rates`` (3,), one for each axis, are in 1/(kg
    m^2).
    """
    half = 0.5 * dt
    q, momentum = rotor1(q, momentum, rates[0], half)
    q, momentum = rotor2(q, momentum, rates[1], half)
    q, momentum = rotor3(q, momentum, rates[2], dt)
    q, momentum = rotor2(q, momentum, rates[1], half)
    return rotor1(q, momentum, rates[0], half)


def kicked(drift: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel ``before_torque`` of half a kick followed by a motion of the free body.

    The motion is the kernel ``drift(q, momentum, body, dt) -> (q, momentum)``.
    """

    @kernel
    def before_torque(state: Any, body: Any, dt: Any) -> Any:
        """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
        q, momentum, torque = state[:4], state[4:7], state[7:10]
        q, momentum = drift(q, kick(momentum, torque, 0.5 * dt), body, dt)
        return q + momentum + torque, q, angular_velocity(momentum, body)

    return before_torque
