r"""Drift, kick, drift with the kick of SPIRAL: this work, found by exchanging the parts of methods.

Half a rotation, one kick with the torque of the middle of the step, half a rotation. A torque that depends on the angular
velocity gets one predicted for the middle (:mod:`polhode.methods.predictor`). With K(omega, M, t) the kick by SSPRK3 of
del Valle et al. (2024), Eqs. 9 and 10, over the time t:

.. math::

   q_{n+1/2} &= q_n \exp(\tfrac{\Delta t}{4}\,\omega_n) \\
   e_{n+1/2} &= K(\omega_n, M_{n-1/2}, \tfrac{\Delta t}{2}), \qquad
   \omega^*_{n+1/2} = \omega^*_{n-1/2} + \frac{e_{n+1/2} - \omega^*_{n-1/2}}{1 + \tfrac{\Delta t}{2} \kappa_{n-1/2}} \\
   M_{n+1/2} &= M(t_{n+1/2}, q_{n+1/2}, \omega^*_{n+1/2}) \\
   \omega_{n+1} &= K(\omega_n, M_{n+1/2}, \Delta t) \\
   q_{n+1} &= q_{n+1/2} \exp(\tfrac{\Delta t}{4}\,\omega_{n+1})

The state is q, omega, the last torque (N m, body frame) and the omega with which it was evaluated, the rate of the secant
(1/s), and the omega for the torque of now; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.quaternion import rotate
from polhode.compiling.kernel import kernel
from polhode.methods.predictor import damped, secant_rate
from polhode.methods.protocol import OneTorque
from polhode.methods.spiral_kdk import start
from polhode.methods.spiral_leapfrog import kick
from polhode.methods.states import read_synchronous, stored_in_body_frame
from polhode.methods.translation import MIDPOINT_SECANT

# The state: q and omega; the last torque and the omega handed to it; the rate; the omega handed to the torque of now.


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    omega = state[4:7]
    q = rotate(state[:4], omega, 0.5 * dt)
    predicted = damped(kick(omega, state[7:10], body, 0.5 * dt), state[10:13], state[13], dt)
    return q + state[4:14] + predicted, q, predicted


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    predicted = state[14:17]
    rate = secant_rate(torque, state[7:10], predicted, state[10:13], body)
    omega = kick(state[4:7], torque, body, dt)
    return rotate(state[:4], omega, 0.5 * dt) + omega + torque + predicted + (rate,) + predicted


METHOD = OneTorque(
    key="spiral_dkd",
    label="SPIRAL, drift-kick-drift",
    short_label="SPIRAL DKD",
    group="new in this work",
    rank=3,
    omega_handed="predicted by a secant",
    source="this work; kick and rotation of del Valle et al. (2024), Eqs. 7, 9, 10",
    citation="delvalle2024,barzilai1988",
    order_q=2,
    order_omega=3,
    order_exceptions={"time": (2, 2), "lab": (2, 2), "state": (2, 2), "velocity": (2, 2)},
    normalises=False,
    note="The torque is taken in the middle of the step, where the positions of moving bodies are needed, too.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=0.5,
    translation=MIDPOINT_SECANT,
)
