r"""PFC4 as implemented for clumps in MercuryDPM: Ostanin et al. (2024); Kernel/Particles/ClumpParticle.cc of MercuryDPM.

A step consists of half a kick with the torque of the old time, the exact rotation by omega(t + dt/2), and half a kick with the
torque of the new time (``integrateBeforeForceComputation``, ``rotatePrincipalDirections``, ``integrateAfterForceComputation``).
Both half kicks solve omega' = omega + dt/2 J^-1 (M - omega' x J omega') by three fixed-point sweeps
(``angularAccelerateClumpIterative``; its comment says that PFC 4.0 takes four), which leave an error of
:math:`O(\Delta t^4)` in omega' as in ``verlet``, two orders beyond that of a step. With an explicit first half kick this would
be velocity Verlet, of second order; implicit at both ends it is of first order.

MercuryDPM keeps omega and the principal axes in the lab frame. A rotation about omega leaves the body components of omega
unchanged, and each half kick sees one orientation, so that the scheme can be written here in the body frame. Neither code
orthonormalises anything. MercuryDPM omits rotations by less than 1e-8 rad; here they are carried out.

.. math::

   \omega_{n+1/2} &= \omega_n + \tfrac{\Delta t}{2}\, a(\omega_{n+1/2}, M_n) \\
   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\omega_{n+1/2}) \\
   \omega_{n+1} &= \omega_{n+1/2} + \tfrac{\Delta t}{2}\, a(\omega_{n+1}, M_{n+1})

The state is q, omega and the last torque (N m, body frame); shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.quaternion import rotate
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame
from polhode.methods.verlet import implicit_half_kick
from polhode.methods.verlet_delvalle2024 import start


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, omega, torque = state[:4], state[4:7], state[7:10]
    omega = implicit_half_kick(omega, torque, body, dt)
    q = rotate(q, omega, dt)
    return q + omega + torque, q, omega


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    return state[:4] + implicit_half_kick(state[4:7], torque, body, dt) + torque


METHOD = OneTorque(
    key="pfc4",
    label="PFC4",
    group="kicks at both ends",
    rank=4,
    omega_handed="without the last half kick",
    source="MercuryDPM, ClumpParticle::angularAccelerateClumpIterative; Ostanin et al. (2024)",
    citation="pfc4,ostanin2024",
    order_q=1,
    order_omega=1,
    published_order="second order",
    normalises=False,
    rotates_before_torque=True,
    reconstruction="The manual of PFC 4.0 was not available: this follows the code of MercuryDPM, which refers to it.",
    note="Velocity Verlet with the first half kick implicit too; that makes it first order.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=1.0,
)
