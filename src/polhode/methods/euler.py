r"""Direct Euler: del Valle et al. (2024), App. B.1, Eq. B.1.

Explicit Euler for the angular velocity, then for the quaternion with the *new* angular velocity, then normalisation.

.. math::

   \omega_{n+1} &= \omega_n + \Delta t\, a(\omega_n, M_n) \\
   q_{n+1} &= q_n + \Delta t\, \dot q(q_n, \omega_{n+1})

The state is q and omega; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import derivative, increment
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, start_with_omega, stored_in_body_frame, torque_wanted_at_state


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    omega = axpy(dt, euler_equations(omega, torque, body), omega)
    return increment(dt, derivative(q, omega), q) + omega


METHOD = OneTorque(
    key="euler",
    label="direct Euler",
    short_label="Euler",
    group="simple",
    rank=1,
    omega_handed="in time; torque frozen",
    source="del Valle et al. (2024), Eq. B.1",
    citation="delvalle2024",
    order_q=1,
    order_omega=1,
    published_order="second order",
    normalises=True,
    start=start_with_omega,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
)
