r"""Scalar factor method: Kleppmann (2007), as compared in Zhao and van Wachem (2013) and Seelen et al. (2016), Sec. 3.2.

An Euler step for omega, with the torque of the new time; then q + tan(|omega| dt/2) (omega/|omega|) q, normalised. Since
1 + tan(a) n is (cos(a) + sin(a) n)/cos(a), the factor makes this the exact rotation by the new omega: here cos(a) + sin(a) n
is formed directly, which avoids the division by a cosine that may vanish. Only round-off remains to be normalised.

The torque is needed at t_{n+1}, as implied by Table 1 of Seelen et al. (2016); nothing predicts the state there, so q_n and
omega_n are passed on.

.. math::

   \omega_{n+1} &= \omega_n + \Delta t\, a(\omega_n, M_{n+1}) \\
   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\omega_{n+1})

The state is q and omega; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import rotate
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, start_with_omega, stored_in_body_frame, torque_wanted_at_state


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    omega = axpy(dt, euler_equations(omega, torque, body), omega)
    return rotate(q, omega, dt) + omega


METHOD = OneTorque(
    key="scalar_factor",
    label="scalar factor",
    short_label="scalar f.",
    group="PCDM and scalar factor",
    rank=5,
    omega_handed="a step old",
    source="Kleppmann (2007); Seelen et al. (2016), Sec. 3.2 and Table 1",
    citation="kleppmann2007,zhao2013,seelen2016",
    order_q=1,
    order_omega=1,
    reconstruction="The original was not available: the torque of the new time follows from Table 1 of Seelen et al. (2016).",
    normalises=True,
    start=start_with_omega,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=1.0,
)
