r"""Velocity Verlet for quaternions as published: Omelyan (1998), its iteration for omega by Martys and Mountain (1999).

The quaternion moves by its Taylor polynomial of second order, and a multiple of :math:`q_n`, the force of the constraint
:math:`|q| = 1`, keeps its length (Omelyan 1998, modified quaternion approach, Eq. 12). The angular velocity takes half a kick
with Euler's equations at either end. The last one is implicit in the gyroscopic term: it begins with the torque alone, and
three iterations of that term follow (Martys and Mountain 1999, Eqs. 10-14 make up their "constraint force algorithm").
ESPResSo runs it with six.

.. math::

   \dot q_n &= \tfrac12 q_n (0, \omega_n), \qquad
   \ddot q_n = \tfrac12 q_n (0, a(\omega_n, M_n)) - |\dot q_n|^2 q_n \\
   q_{n+1} &= (1 - \lambda)\, q_n + \Delta t\, \dot q_n + \tfrac{\Delta t^2}{2}\, \ddot q_n, \qquad
   \lambda = \mu - \sqrt{\mu^2 - \Delta t^3\, \dot q_n \cdot \ddot q_n - \tfrac{\Delta t^4}{4} |\ddot q_n|^2}, \qquad
   \mu = 1 - \tfrac{\Delta t^2}{2} |\dot q_n|^2 \\
   \omega_{n+1/2} &= \omega_n + \tfrac{\Delta t}{2}\, a(\omega_n, M_n) \\
   \omega_{n+1} &= \omega_{n+1/2} + \tfrac{\Delta t}{2}\, a(\omega_{n+1}, M_{n+1})

Three iterations leave an error of :math:`O(\Delta t^4)` in a step, an order beyond that of the method. A torque gets
omega(t + dt/2), the mean over the move, as by Martys and Mountain. For a body that turns steadily the root exists up to
:math:`|\omega| \Delta t = 2`; where it does not, it counts as zero, and the quaternion loses its length.

The state is q, omega and the last torque (N m, body frame); shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from math import sqrt
from typing import Any

from polhode.algebra.body import angular_velocity, euler_equations
from polhode.algebra.quaternion import derivative, increment, norm_squared
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame
from polhode.methods.verlet_delvalle2024 import start


@kernel
def constrained(q: Any, omega: Any, rate: Any, dt: Any) -> Any:
    """The quaternion (4,) after ``dt`` (s) by its Taylor polynomial and the force of the constraint |q| = 1.

    ``omega`` (3,) in rad/s and its rate ``rate`` (3,) in rad/s^2, body frame, belong to the beginning, as q (4,) does.
    """
    first = derivative(q, omega)
    square = norm_squared(first)
    second = increment(-square, q, derivative(q, rate))
    product = first[0] * second[0] + first[1] * second[1] + first[2] * second[2] + first[3] * second[3]
    half = 0.5 * dt
    mu = 1.0 - half * dt * square
    under = mu * mu - dt * dt * (dt * product + half * half * norm_squared(second))
    root = 0.0
    if under > 0.0:
        root = sqrt(under)
    return increment(root - mu, q, increment(half * dt, second, increment(dt, first, q)))


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, omega, torque = state[:4], state[4:7], state[7:10]
    rate = euler_equations(omega, torque, body)
    q = constrained(q, omega, rate, dt)
    omega = axpy(0.5 * dt, rate, omega)
    return q + omega + torque, q, omega


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    half, old = 0.5 * dt, state[4:7]
    omega = axpy(half, angular_velocity(torque, body), old)
    omega = axpy(half, euler_equations(omega, torque, body), old)
    omega = axpy(half, euler_equations(omega, torque, body), old)
    omega = axpy(half, euler_equations(omega, torque, body), old)
    return state[:4] + omega + torque


METHOD = OneTorque(
    key="martys1999",
    label="Martys-Mountain",
    short_label="Martys-M.",
    group="kicks at both ends",
    rank=2,
    omega_handed="without the last half kick",
    source="Martys and Mountain (1999), Eqs. 10-14; Omelyan (1998), Eq. 12; ESPResSo, src/core/rotation.cpp",
    citation="martys1999,omelyanmodified1998,weik2019",
    order_q=2,
    order_omega=2,
    order_exceptions={"velocity": (1, 1)},
    normalises=False,
    rotates_before_torque=True,
    reconstruction="Read from the authors' web pages, whose formulas are lost, and the code of ESPResSo that follows them.",
    note="Velocity Verlet with a Taylor step of the quaternion, whose length a constraint keeps.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=1.0,
)
