r"""The gyroscopic step proposed for Avian in 2026: the modified Jolt method of Spiers (2026).

Avian, like Jolt, takes an explicit step of the angular momentum in the body and restores its length
(:mod:`polhode.methods.rescaled_momentum`). The proposal turns the momentum instead, about :math:`\Omega = \omega - J' L` with
the J' of ``spiers2026.py``, and the body then by the new angular velocity, as before:

.. math::

   L &= I \omega_n + \Delta t\, M_n, \qquad k = \omega_n \times L, \qquad J' = \frac{k \cdot I^{-1} k}{|k|^2} \\
   \omega_{n+1} &= I^{-1} \exp(-\Delta t\, (\omega_n - J' L)) L \\
   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\omega_{n+1})

For a free body with two equal moments omega and the energy are exact. The orientation is not: it turns by the new omega
for the whole step, so that the momentum keeps its length and not its direction in the lab.
"""

from typing import Any

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import exponential, rotate, to_body
from polhode.algebra.vector import axpy, cross, dot, scale
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, start_with_omega, stored_in_body_frame, torque_wanted_at_state


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    momentum = axpy(dt, torque, angular_momentum(omega, body))
    k = cross(omega, momentum)
    square, ratio = dot(k, k), 0.0
    if square > 0.0:
        ratio = dot(k, angular_velocity(k, body)) / square
    turn = scale(dt, axpy(-ratio, momentum, omega))
    omega = angular_velocity(to_body(exponential(turn), momentum), body)
    return rotate(q, omega, dt) + omega


METHOD = OneTorque(
    key="avian2026",
    label="Avian (proposed in 2026)",
    short_label="Avian 2026",
    omega_handed="in time; torque frozen",
    source="Spiers, A better way to spin (2026), the modified Jolt method; Avian, request 993",
    citation="",
    order_q=1,
    order_omega=1,
    normalises=True,
    reconstruction="Of the request to Avian only the beginning was at hand; the formulas come from the page that it names.",
    note="Exact in omega for a free body with two equal moments; the momentum keeps its length alone.",
    start=start_with_omega,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
)
