r"""SPIRAL, synchronous (non-leapfrog) form: del Valle et al. (2024), App. A, Eqs. A.1-A.3.

.. math::

   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\omega_n) \exp(\tfrac{\Delta t^2}{4}\,a(\omega_n, M_n)) \\
   k_1 &= a(\omega_n, M_n), \quad k_2 = a(\omega_n + \Delta t\, k_1, M_n), \quad
   k_3 = a(\omega_n + \tfrac{\Delta t}{4}(k_1 + k_2), M_n) \\
   \omega_{n+1} &= \omega_n + \tfrac{\Delta t}{6}(k_1 + k_2 + 4 k_3)

The state is q and omega; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import rotate
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.spiral_leapfrog import kick
from polhode.methods.states import read_synchronous, start_with_omega, stored_in_body_frame, torque_wanted_at_state


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    acceleration = euler_equations(omega, torque, body)
    # Eq. A.2: one rotation by omega(t), then one by its growth; the two commute to second order.
    q = rotate(rotate(q, omega, dt), acceleration, 0.5 * dt * dt)
    return q + kick(omega, torque, body, dt)


METHOD = OneTorque(
    key="spiral_synchronous",
    label="SPIRAL, synchronous",
    short_label="SPIRAL s.",
    group="SPIRAL and Omelyan",
    rank=2,
    omega_handed="in time; torque frozen",
    source="del Valle et al. (2024), Eqs. A.1-A.3, 9, 10",
    citation="delvalle2024",
    order_q=2,
    order_omega=3,
    published_order="third order",
    order_exceptions={"time": (1, 1), "lab": (1, 1), "state": (1, 1), "velocity": (1, 1)},
    normalises=False,
    note="The torque of the old time is frozen over the whole step: a torque that varies makes it first order.",
    start=start_with_omega,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
)
