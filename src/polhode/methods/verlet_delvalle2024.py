r"""Velocity Verlet as used in the comparison of del Valle et al. (2024): App. B.2, Eqs. B.2 and B.3.

Eq. B.2 turns the quaternion with omega(t + dt), which is not yet known; omega(t + dt/2) reproduces the published curve. Both
half kicks are explicit: the second evaluates the gyroscopic term at the half step, which loses an order.

.. math::

   \omega_{n+1/2} &= \omega_n + \tfrac{\Delta t}{2}\, a(\omega_n, M_n) \\
   q_{n+1} &= q_n + \Delta t\, \dot q(q_n, \omega_{n+1/2}) \\
   \omega_{n+1} &= \omega_{n+1/2} + \tfrac{\Delta t}{2}\, a(\omega_{n+1/2}, M_{n+1})

The state is q, omega and the last torque (N m, body frame); shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import derivative, increment
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    return q + omega + torque


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, omega, torque = state[:4], state[4:7], state[7:10]
    omega = axpy(0.5 * dt, euler_equations(omega, torque, body), omega)
    q = increment(dt, derivative(q, omega), q)
    return q + omega + torque, q, omega


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    omega = axpy(0.5 * dt, euler_equations(omega, torque, body), omega)
    return q + omega + torque


METHOD = OneTorque(
    key="verlet_delvalle2024",
    label="velocity Verlet (as published)",
    group="as published in 2024",
    rank=1,
    omega_handed="without the last half kick",
    source="del Valle et al. (2024), Eqs. B.2, B.3, with omega(t + dt/2) in the first",
    citation="delvalle2024",
    order_q=1,
    order_omega=1,
    published_order="second order",
    normalises=True,
    rotates_before_torque=True,
    variant_of="verlet",
    note="The second half kick takes the gyroscopic term at the half step; that makes it first order.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=1.0,
)
