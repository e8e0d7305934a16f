r"""Buss's augmented second-order method: Buss (2000); the rotation is del Valle et al. (2024), Eqs. B.7-B.9 with dt^2/12.

Buss assumes that the torque is given over a step and integrates the rotation. If the torque is evaluated once per step, the
angular momentum is of second order only if it is kicked with the torques of both ends. This is done here: half a kick with the
old torque, the rotation, half a kick with the new torque, all in the lab frame, where the kick is exact.

.. math::

   \bar\omega &= \omega_n + \tfrac{\Delta t}{2}\, a_n + \tfrac{\Delta t^2}{12}\, a_n \times \omega_n,
   \qquad a_n = a(\omega_n, M_n) \\
   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\bar\omega) \\
   L_{n+1} &= L_n + \tfrac{\Delta t}{2} \bigl[R(q_n) M_n + R(q_{n+1}) M_{n+1}\bigr]

The state is q, the angular momentum L in the lab frame and the last torque (N m, body frame); shapes, frames and units are as
in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import angular_velocity, euler_equations
from polhode.algebra.quaternion import rotate, to_body, to_lab
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.buss2000_delvalle2024 import mean_rotation
from polhode.methods.protocol import OneTorque
from polhode.methods.states import omega_of_momentum, read_momentum, start_with_momentum, stored_momentum

COEFFICIENT = 1 / 12


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    return start_with_momentum(q, omega, torque, body, dt) + torque


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, momentum, torque = state[:4], state[4:7], state[7:10]
    omega = omega_of_momentum(state, body)
    mean = mean_rotation(omega, euler_equations(omega, torque, body), dt, COEFFICIENT)
    momentum = axpy(0.5 * dt, to_lab(q, torque), momentum)
    q = rotate(q, mean, dt)
    return q + momentum + torque, q, angular_velocity(to_body(q, momentum), body)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, momentum = state[:4], state[4:7]
    return q + axpy(0.5 * dt, to_lab(q, torque), momentum) + torque


METHOD = OneTorque(
    key="buss2000",
    label="Buss (second order)",
    short_label="Buss",
    group="kicks at both ends",
    rank=3,
    omega_handed="without the last half kick",
    source="Buss (2000), augmented second order; del Valle et al. (2024), Eqs. B.7-B.9",
    citation="buss2000,delvalle2024",
    order_q=2,
    order_omega=2,
    published_order="second order",
    order_exceptions={"velocity": (1, 1)},
    reconstruction="Buss (2000) takes the torque as given; the half kicks of the angular momentum at both ends are ours.",
    normalises=False,
    momentum_frame="lab",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_momentum,
    stored=stored_momentum,
    torque_time=1.0,
)
