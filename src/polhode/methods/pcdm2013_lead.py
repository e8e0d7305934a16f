r"""PCDM with the torque of the new time: Zhao and van Wachem (2013), as implied by Table 1 of Seelen et al. (2016).

The new q follows from the prediction alone, so it is known before the torque. The torque is evaluated at t_{n+1} with this q,
and with omega predicted there by the acceleration at t_n; the corrector uses it as the torque at t_{n+1/2}, held constant in
the body frame. It has the right time for the predictor of the next step.

.. math::

   q' &= q_n \exp\bigl(\tfrac{\Delta t}{4}(\omega_n + \tfrac{\Delta t}{4} a_n)\bigr), \qquad
   \omega' = \omega_n + \tfrac{\Delta t}{2}\, a_n \\
   q_{n+1} &= \exp\bigl(\tfrac{\Delta t}{2} R(q')\, \omega'\bigr)\, q_n \\
   M' &= M(t_{n+1}, q_{n+1}, \omega_n + \Delta t\, a_n) \\
   \omega_{n+1} &= \omega_n + \Delta t\, a(\omega', M'), \qquad a_{n+1} = a(\omega_{n+1}, M')

The state is q, omega and its angular acceleration (rad/s^2, body frame); between the two parts of a step the predicted omega'
stands in place of the acceleration; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.pcdm2013_mid import predict, turn
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame

# The state: q, omega, its angular acceleration; between the two parts of a step the predicted omega' replaces the last.


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    return q + omega + euler_equations(omega, torque, body)


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, omega, acceleration = state[:4], state[4:7], state[7:10]
    q_half, omega_half = predict(q, omega, acceleration, dt)
    q = turn(q, q_half, omega_half, dt)
    return q + omega + omega_half, q, axpy(dt, acceleration, omega)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega, omega_half = state[:4], state[4:7], state[7:10]
    omega = axpy(dt, euler_equations(omega_half, torque, body), omega)
    return q + omega + euler_equations(omega, torque, body)


METHOD = OneTorque(
    key="pcdm2013_lead",
    label="PCDM, new torque",
    short_label="PCDM new",
    group="PCDM and scalar factor",
    rank=4,
    omega_handed="a step old",
    source="Zhao and van Wachem (2013); Seelen et al. (2016), Sec. 2, with the torque that their Table 1 shows",
    citation="zhao2013,seelen2016",
    order_q=1,
    order_omega=1,
    order_exceptions={"free": (2, 2), "constant": (2, 2)},
    published_order="second order",
    reconstruction="The original was not available: the torque of the new time follows from Table 1 of Seelen et al. (2016).",
    normalises=False,
    rotates_before_torque=True,
    variant_of="pcdm2013_mid",
    note="The torque at the end of the step is used in place of that at its middle; a torque that varies makes it first order.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=1.0,
)
