r"""Improved PCDM: Seelen, Padding and Kuipers (2016), Sec. 2.2, steps 2b, 2c, 3 and 4.

Here q and omega are half a step ahead, at t_{n+1/2}. The torque is evaluated at whole times with the q' and omega' predicted
for them, so it is always at the right time. The predictor uses the angular acceleration of the last whole time. The paper does
not say how to start; without the initial half step the method would be of first order.

.. math::

   q'_{n+1} &= q_{n+1/2} \exp\bigl(\tfrac{\Delta t}{4}(\omega_{n+1/2} + \tfrac{\Delta t}{4} a_n)\bigr), \qquad
   \omega'_{n+1} = \omega_{n+1/2} + \tfrac{\Delta t}{2}\, a_n \\
   a_{n+1} &= a(\omega'_{n+1}, M(t_{n+1}, q'_{n+1}, \omega'_{n+1})) \\
   \omega_{n+3/2} &= \omega_{n+1/2} + \Delta t\, a_{n+1} \\
   q_{n+3/2} &= \exp\bigl(\tfrac{\Delta t}{2} R(q'_{n+1})\, \omega'_{n+1}\bigr)\, q_{n+1/2}

The state is q and omega half a step ahead, the angular acceleration of the last whole time (rad/s^2, body frame), and the q'
and omega' predicted for that time; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.pcdm2013_mid import before_torque, predict, turn
from polhode.methods.protocol import OneTorque
from polhode.methods.states import stored_in_body_frame
from polhode.methods.translation import PCDM

# The state: q and omega at t_{n+1/2}, the angular acceleration at t_n, and the predicted q' and omega' at t_n.


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    acceleration = euler_equations(omega, torque, body)
    q_half, omega_half = predict(q, omega, acceleration, dt)
    return q_half + omega_half + acceleration + q + omega


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q_half, omega_half, q, omega = state[:4], state[4:7], state[10:14], state[14:17]
    acceleration = euler_equations(omega, torque, body)  # step 3
    omega_half = axpy(dt, acceleration, omega_half)  # step 4
    return turn(q_half, q, omega, dt) + omega_half + acceleration + q + omega


@kernel
def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The q (body to lab) and omega (rad/s, body frame) at the whole time, from the state; the torque is not used."""
    return state[10:14], state[14:17]


METHOD = OneTorque(
    key="pcdm2016",
    label="improved PCDM",
    short_label="PCDM 2016",
    group="PCDM and scalar factor",
    rank=1,
    omega_handed="predicted",
    source="Seelen et al. (2016), Sec. 2.2, steps 2-4",
    citation="seelen2016",
    order_q=2,
    order_omega=2,
    published_order="second order",
    starts="half a step ahead: q and omega as the predictor has them",
    reads="q and omega predicted for the whole time, with which the torque was taken",
    reconstruction="The start half a step ahead, which the paper leaves open.",
    normalises=False,
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read,
    stored=stored_in_body_frame,
    stored_offset=0.5,
    torque_time=1.0,
    translation=PCDM,
)
