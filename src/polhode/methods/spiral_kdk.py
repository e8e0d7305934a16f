r"""SPIRAL as kick, drift, kick: synchronous and second order for every torque, with one torque a step.

Half kicks by SSPRK3 (del Valle et al. 2024, Eqs. 9, 10), each with the torque of its own end, around the exact rotation of
Eq. 7. The torque at the end of a step also begins the next one, so that a code with a velocity Verlet step takes it as it is.
A torque that depends on the angular velocity gets a prediction of it (:mod:`polhode.methods.predictor`). With
K(omega, M, t) the kick over the time t:

.. math::

   \omega_{n+1/2} &= K(\omega_n, M_n, \tfrac{\Delta t}{2}) \\
   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\omega_{n+1/2}) \\
   e_{n+1} &= K(\omega_{n+1/2}, M_n, \tfrac{\Delta t}{2}), \qquad
   \omega^*_{n+1} = \omega^*_n + \frac{e_{n+1} - \omega^*_n}{1 + \tfrac{\Delta t}{2} \kappa_n} \\
   M_{n+1} &= M(t_{n+1}, q_{n+1}, \omega^*_{n+1}) \\
   \omega_{n+1} &= K(\omega_{n+1/2}, M_{n+1}, \tfrac{\Delta t}{2})

The state is q, omega, the last torque (N m, body frame) and the omega with which it was evaluated, the rate of the secant
(1/s), and the omega for the torque of now; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.quaternion import rotate
from polhode.compiling.kernel import kernel
from polhode.methods.predictor import damped, secant_rate
from polhode.methods.protocol import OneTorque
from polhode.methods.spiral_leapfrog import kick
from polhode.methods.states import read_synchronous, stored_in_body_frame
from polhode.methods.translation import VERLET_SECANT

# The state: q and omega; the last torque and the omega handed to it; the rate; the omega handed to the torque of now.


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    return q + omega + torque + omega + (0.0,) + omega


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    torque = state[7:10]
    omega = kick(state[4:7], torque, body, 0.5 * dt)
    q = rotate(state[:4], omega, dt)
    predicted = damped(kick(omega, torque, body, 0.5 * dt), state[10:13], state[13], dt)
    return q + omega + state[7:14] + predicted, q, predicted


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    predicted = state[14:17]
    rate = secant_rate(torque, state[7:10], predicted, state[10:13], body)
    return state[:4] + kick(state[4:7], torque, body, 0.5 * dt) + torque + predicted + (rate,) + predicted


METHOD = OneTorque(
    key="spiral_kdk",
    label="SPIRAL, kick-drift-kick",
    short_label="SPIRAL KDK",
    group="new in this work",
    rank=2,
    omega_handed="predicted by a secant",
    source="this work; kick and rotation of del Valle et al. (2024), Eqs. 7, 9, 10",
    citation="delvalle2024,swope1982,barzilai1988",
    order_q=2,
    order_omega=3,
    order_exceptions={"time": (2, 2), "lab": (2, 2), "state": (2, 2), "velocity": (2, 2)},
    normalises=False,
    rotates_before_torque=True,
    note="Time-symmetric but for SSPRK3, the error of which is of third order; a velocity Verlet code takes it as it is.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=1.0,
    translation=VERLET_SECANT,
)
