r"""PCDM with the torque of the old time: Zhao and van Wachem (2013), as described by Seelen et al. (2016), end of Sec. 2.

The torque is evaluated at t_n, with q_n and omega_n. It serves both the predictor, for which this is the right time, and the
corrector, for which it is half a step old. It is held constant in the body frame, in which Seelen et al. (2016) define their
problems.

.. math::

   q' &= q_n \exp\bigl(\tfrac{\Delta t}{4}(\omega_n + \tfrac{\Delta t}{4} a_n)\bigr), \qquad
   \omega' = \omega_n + \tfrac{\Delta t}{2}\, a_n, \qquad a_n = a(\omega_n, M_n) \\
   q_{n+1} &= \exp\bigl(\tfrac{\Delta t}{2} R(q')\, \omega'\bigr)\, q_n \\
   \omega_{n+1} &= \omega_n + \Delta t\, a(\omega', M_n)

The state is q and omega; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.pcdm2013_mid import predict, turn
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, start_with_omega, stored_in_body_frame, torque_wanted_at_state


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    q_half, omega_half = predict(q, omega, euler_equations(omega, torque, body), dt)
    return turn(q, q_half, omega_half, dt) + axpy(dt, euler_equations(omega_half, torque, body), omega)


METHOD = OneTorque(
    key="pcdm2013_lag",
    label="PCDM, old torque",
    short_label="PCDM old",
    group="PCDM and scalar factor",
    rank=3,
    omega_handed="half a step old",
    source="Zhao and van Wachem (2013); Seelen et al. (2016), Sec. 2, last paragraph",
    citation="zhao2013,seelen2016",
    order_q=1,
    order_omega=1,
    order_exceptions={"free": (2, 2), "constant": (2, 2)},
    published_order="second order",
    reconstruction="The original was not available: the torque of the old time is how Seelen et al. (2016) describe it.",
    normalises=False,
    variant_of="pcdm2013_mid",
    note="The torque at the beginning of the step is used in place of that at its middle; if it varies, the order is one.",
    start=start_with_omega,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
)
