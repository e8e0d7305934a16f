r"""Fincham's explicit leapfrog: Fincham (1984; 1992), as given by Allen and Tildesley (1987), fiche F.6.

The angular momentum advances in the lab frame by a leapfrog. A quaternion predicted at the half step, not normalised, turns it
into the body frame for the full step: omega(t + dt/2) = I^-1 A(q_a) L(t + dt/2). This makes the scheme second order; Eqs.
B.4-B.6 of del Valle et al. (2024) leave it open, and codes that use the old orientation there lose an order.

.. math::

   L_{n+1/2} &= L_{n-1/2} + \Delta t\, R(q_n) M_n \\
   \omega_n &= I^{-1} R(q_n)^T (L_{n-1/2} + \tfrac{\Delta t}{2} R(q_n) M_n) \\
   q_a &= q_n + \tfrac{\Delta t}{2}\, \dot q(q_n, \omega_n) \\
   \omega_{n+1/2} &= I^{-1} R(q_a)^T L_{n+1/2} \\
   q_{n+1} &= q_n + \Delta t\, \dot q(q_a, \omega_{n+1/2})

The state is q, and the angular momentum L in the lab frame and omega of half a step before; shapes, frames and units are as in
:mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import angular_momentum, angular_velocity, euler_equations
from polhode.algebra.quaternion import derivative, increment, to_body, to_lab
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import torque_wanted_at_momentum


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    momentum = to_lab(q, axpy(-0.5 * dt, torque, angular_momentum(omega, body)))
    return q + momentum + axpy(-0.5 * dt, euler_equations(omega, torque, body), omega)


@kernel
def half_step(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """L(t + dt/2) (3,) in N m s, lab frame, and the quaternion q_a (4,) predicted at the half step, not normalised.

    The torque (N m, body frame) belongs to the beginning of the step of ``dt`` (s), as q in the state does; L and omega in it
    are half a step older, and omega is not read.
    """
    q, momentum = state[:4], state[4:7]
    torque_lab = to_lab(q, torque)
    omega = angular_velocity(to_body(q, axpy(0.5 * dt, torque_lab, momentum)), body)
    return axpy(dt, torque_lab, momentum), increment(0.5 * dt, derivative(q, omega), q)


@kernel
def full_step(q: Any, momentum: Any, half: Any, orientation: Any, body: Any, dt: Any) -> Any:
    """The state after a step of ``dt`` (s): q (4,), L (3,) in N m s, lab frame, and omega (3,) in rad/s, body frame.

    ``q`` (4,) is the quaternion at the beginning; ``momentum`` (3,) is L(t + dt/2); ``half`` (4,) is the quaternion at the half
    step, of which the rate is taken, and ``orientation`` (4,) the one that turns L(t + dt/2) into the body frame.
    """
    omega = angular_velocity(to_body(orientation, momentum), body)
    return increment(dt, derivative(half, omega), q) + momentum + omega


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    momentum, half = half_step(state, torque, body, dt)
    return full_step(state[:4], momentum, half, half, body, dt)


@kernel
def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The q (body to lab) and omega (rad/s, body frame) at the whole time, from the state and the torque (N m) there."""
    q, momentum = state[:4], state[4:7]
    return q, angular_velocity(axpy(0.5 * dt, torque, to_body(q, momentum)), body)


@kernel
def stored(state: Any, body: Any, dt: Any) -> Any:
    """The angular velocity (3,) that the method holds, half a step before q, in rad/s, body frame."""
    return state[7:10]


METHOD = OneTorque(
    key="fincham1992",
    label="Fincham",
    group="leapfrogs of the angular momentum",
    rank=1,
    omega_handed="half a step old",
    source="Fincham (1984), (1992); Allen and Tildesley (1987), fiche F.6; del Valle et al. (2024), Eqs. B.4-B.6",
    citation="fincham1984,fincham1992,allen1987,delvalle2024",
    order_q=2,
    order_omega=2,
    published_order="second order",
    starts="half a kick back: L(-dt/2) = L(0) - dt/2 M(0)",
    reads="half a kick of L with the torque at the whole time",
    order_exceptions={"velocity": (1, 1)},
    normalises=True,
    momentum_frame="lab",
    start=start,
    before_torque=torque_wanted_at_momentum,
    after_torque=after_torque,
    read=read,
    stored=stored,
    stored_offset=-0.5,
)
