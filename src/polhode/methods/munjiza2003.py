r"""Munjiza's direct integration with four angular velocities: Munjiza, Latham and John (2003); Munjiza (2004), Eqs. 5.79-5.90.

The angular momentum in the lab frame advances by the torque at the beginning of the step. The body then turns exactly by the
mean angular velocity, weighted as in the classical Runge-Kutta scheme. Kratos DEM has it as its ``RungeKuttaScheme``.

.. math::

   \omega_1 &= J(q_n)^{-1} L_n, \qquad L_{n+1} = L_n + \Delta t\, R(q_n) M_n \\
   \omega_2 &= J(q_1)^{-1} L_{n+1}, \qquad q_1 = \exp(\tfrac{\Delta t}{4}\,\omega_1)\, q_n \\
   \omega_3 &= J(q_2)^{-1} L_{n+1}, \qquad q_2 = \exp(\tfrac{\Delta t}{4}\,\omega_2)\, q_n \\
   \omega_4 &= J(q_3)^{-1} L_{n+1}, \qquad q_3 = \exp(\tfrac{\Delta t}{2}\,\omega_3)\, q_n \\
   q_{n+1} &= \exp\bigl(\tfrac{\Delta t}{12}(\omega_1 + 2 \omega_2 + 2 \omega_3 + \omega_4)\bigr)\, q_n

with :math:`J(q)^{-1} = R(q) I^{-1} R(q)^T`, the omegas in the lab frame. Rotations do not commute: the mean of four angular
velocities lacks the term :math:`\Delta t^2\,\dot\omega \times \omega/12` that Buss adds, so the orientation is of second order
without a torque, not of fourth. With a torque it is of first order, since the first stage has the old momentum and the others
that of the end of the step.

The state is q and the angular momentum L in the lab frame; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import angular_velocity
from polhode.algebra.quaternion import exponential, multiply, to_body, to_lab
from polhode.algebra.vector import axpy, scale
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_momentum, start_with_momentum, stored_momentum, torque_wanted_at_momentum


@kernel
def omega_in_lab(q: Any, momentum: Any, body: Any) -> Any:
    """The angular velocity (3,) in rad/s that belongs to an angular momentum (3,) in N m s at the orientation q (4,), both in
    the lab frame.
    """
    return to_lab(q, angular_velocity(to_body(q, momentum), body))


@kernel
def turned(q: Any, omega: Any, dt: Any) -> Any:
    """The quaternion q (4,) turned for ``dt`` (s) by an angular velocity (3,) in rad/s, lab frame."""
    return multiply(exponential(scale(dt, omega)), q)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, momentum = state[:4], state[4:7]
    w1 = omega_in_lab(q, momentum, body)
    momentum = axpy(dt, to_lab(q, torque), momentum)
    w2 = omega_in_lab(turned(q, w1, 0.5 * dt), momentum, body)
    w3 = omega_in_lab(turned(q, w2, 0.5 * dt), momentum, body)
    w4 = omega_in_lab(turned(q, w3, dt), momentum, body)
    mean = scale(1 / 6, axpy(2.0, w3, axpy(2.0, w2, axpy(1.0, w4, w1))))
    return turned(q, mean, dt) + momentum


METHOD = OneTorque(
    key="munjiza2003",
    label="Munjiza",
    group="engines and codes",
    rank=6,
    omega_handed="in time; torque frozen",
    source="Munjiza, Latham and John (2003); Munjiza (2004), Eqs. 5.79-5.90",
    citation="munjiza2003,munjiza2004",
    order_q=1,
    order_omega=1,
    published_order="fourth order",
    order_exceptions={"free": (2, 2)},
    normalises=False,
    momentum_frame="lab",
    reconstruction="The article was not at hand: the formulas are those of the book, the last rotation as in Kratos.",
    start=start_with_momentum,
    before_torque=torque_wanted_at_momentum,
    after_torque=after_torque,
    read=read_momentum,
    stored=stored_momentum,
)
