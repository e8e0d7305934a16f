r"""Drift, kick, drift with the kick of SPIRAL: this work, found by exchanging parts (:mod:`polhode.study.run.parts`).

Half a rotation, one kick with the torque of the middle of the step, half a rotation. The angular velocity passed to the torque
is predicted for the middle by half a kick with the last torque, so that friction does not cost an order. K(omega, M, h) is the
SSPRK3 kick of SPIRAL (:mod:`polhode.methods.spiral_leapfrog`) over the time h:

.. math::

   q_{n+1/2} &= q_n \exp(\tfrac{\Delta t}{4}\,\omega_n) \\
   M_{n+1/2} &= M\bigl(t_{n+1/2},\; q_{n+1/2},\; K(\omega_n, M_{n-1/2}, \tfrac{\Delta t}{2})\bigr) \\
   \omega_{n+1} &= K(\omega_n, M_{n+1/2}, \Delta t) \\
   q_{n+1} &= q_{n+1/2} \exp(\tfrac{\Delta t}{4}\,\omega_{n+1})
"""

from typing import Any

from polhode.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.spiral_leapfrog import kick
from polhode.methods.states import read_synchronous, stored_in_body_frame
from polhode.quaternion import rotate


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    return q + omega + torque


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    q, omega, torque = state[:4], state[4:7], state[7:10]
    q = rotate(q, omega, 0.5 * dt)
    return q + omega + torque, q, kick(omega, torque, body, 0.5 * dt)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    q, omega = state[:4], kick(state[4:7], torque, body, dt)
    return rotate(q, omega, 0.5 * dt) + omega + torque


METHOD = OneTorque(
    key="spiral_dkd",
    label="SPIRAL, drift-kick-drift",
    short_label="SPIRAL dkd",
    group="new in this work",
    rank=3,
    omega_handed="predicted",
    source="this work; the kick and the rotation of del Valle et al. (2024)",
    citation="delvalle2024",
    order_q=2,
    order_omega=3,
    order_exceptions={"time": (2, 2), "lab": (2, 2), "state": (2, 2), "velocity": (2, 2)},
    normalises=False,
    note="Torque in the middle of the step; the positions of moving bodies are needed there, too.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=0.5,
)
