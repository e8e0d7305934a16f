r"""SPIRAL's rotation with Omelyan's angular velocity: in the data of del Valle et al. (2024), but not in the paper.

Eq. 7 of the paper with the kick of Eqs. B.10-B.12; it separates the effect of the exact rotation from that of SSPRK3. It starts
like SPIRAL: this reproduces the authors' data to 1e-6, whereas Omelyan's explicit Euler start is off by 4 %.

.. math::

   \omega_{n+1/2} &= \omega_{n-1/2}
   + \tfrac{\Delta t}{2}\bigl[a(\omega_{n-1/2}, M_n) + a(\omega_{n+1/2}, M_n)\bigr] \\
   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\omega_{n+1/2})

The state is q, and omega of half a step before; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.quaternion import rotate
from polhode.compiling.kernel import kernel
from polhode.methods.omelyan1998 import kick, read
from polhode.methods.protocol import OneTorque
from polhode.methods.spiral_leapfrog import start
from polhode.methods.states import stored_in_body_frame, torque_wanted_at_state


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    omega = kick(omega, torque, body, dt)
    return rotate(q, omega, dt) + omega


METHOD = OneTorque(
    key="spiral_omelyan",
    label="SPIRAL-O",
    group="SPIRAL and Omelyan",
    rank=3,
    omega_handed="half a step old",
    source="del Valle et al. (2024), Eq. 7 with Eqs. B.11, B.12",
    citation="delvalle2024,omelyan1998",
    order_q=2,
    order_omega=2,
    starts="half a kick back: SSPRK3 with -dt/2",
    reads="half a kick with the torque at the whole time",
    order_exceptions={"velocity": (1, 1)},
    normalises=False,
    start=start,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read,
    stored=stored_in_body_frame,
    stored_offset=-0.5,
)
