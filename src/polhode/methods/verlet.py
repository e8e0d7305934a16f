r"""Velocity Verlet for Euler's equations: omega(t + dt) = omega(t) + dt/2 [a(t) + a(t + dt)] with a the angular acceleration.

Half a kick with the old torque, rotation by omega(t + dt/2), half a kick with the new torque: Swope et al. (1982) applied to
the angular velocity; Eqs. B.2 and B.3 of del Valle et al. (2024) have the same structure. Since a(t + dt) depends on omega(t +
dt) through the gyroscopic term, the second half kick is implicit, the mirror image of the first.

Three fixed-point iterations from the value before the half kick leave the error :math:`(\tfrac{\Delta t}{2})^4 G^3 a` in the
new one, up to its sign, where G is the derivative of a by omega. It is :math:`O(\Delta t^4)` in a step, an order beyond the
error of the method, and makes the energy of a free body drift, which it would not do with a converged iteration.

.. math::

   \omega_{n+1/2} &= \omega_n + \tfrac{\Delta t}{2}\, a(\omega_n, M_n) \\
   q_{n+1} &= q_n + \Delta t\, \dot q(q_n, \omega_{n+1/2}) \\
   \omega_{n+1} &= \omega_{n+1/2} + \tfrac{\Delta t}{2}\, a(\omega_{n+1}, M_{n+1})

The state is q, omega and the last torque (N m, body frame); shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame
from polhode.methods.verlet_delvalle2024 import before_torque, start


@kernel
def implicit_half_kick(omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The angular velocity (3,) after dt/2 with the acceleration at the end, by three fixed-point iterations from the old
    value.

    It and ``omega`` (3,) are in rad/s, ``torque`` (3,) is in N m, all in the body frame; ``dt`` is the whole step in s.
    """
    new = axpy(0.5 * dt, euler_equations(omega, torque, body), omega)
    new = axpy(0.5 * dt, euler_equations(new, torque, body), omega)
    return axpy(0.5 * dt, euler_equations(new, torque, body), omega)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    return state[:4] + implicit_half_kick(state[4:7], torque, body, dt) + torque


METHOD = OneTorque(
    key="verlet",
    label="velocity Verlet (second order)",
    short_label="Verlet",
    group="kicks at both ends",
    rank=1,
    omega_handed="without the last half kick",
    source="Swope et al. (1982); del Valle et al. (2024), Eqs. B.2, B.3 with both half kicks in step",
    citation="swope1982,delvalle2024",
    order_q=2,
    order_omega=2,
    published_order="second order",
    order_exceptions={"velocity": (1, 1)},
    normalises=True,
    rotates_before_torque=True,
    reconstruction="Swope et al. (1982) move positions: the implicit second half kick of the angular velocity is ours.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=1.0,
)
