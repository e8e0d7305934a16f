r"""Explicit step with the angular momentum rescaled to its old length, the gyroscopic term of several game engines.

PhysX (``eENABLE_GYROSCOPIC_FORCES``), Jolt (``MotionProperties::ApplyGyroscopicForceInternal``), Rapier
(``RigidBody::angvel_with_gyroscopic_forces``) and Avian (``solve_gyroscopic_torque``) take an explicit Euler step of the free
body in its own frame, which lengthens the angular momentum, and restore the length. The torque is then applied to the old
inertia, and the body turns with the new angular velocity: in Jolt exactly, with the quaternion normalised.

.. math::

   L &= I \omega_n, \qquad L' = L - \Delta t\, \omega_n \times L \\
   \omega_{n+1} &= I^{-1}\, \frac{|L|}{|L'|} L' + \Delta t\, I^{-1} M_n \\
   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\omega_{n+1})

The engines hold omega in the lab frame. This makes no difference: a rotation about omega leaves omega as it is in both frames.

The state is q and omega; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from math import sqrt
from typing import Any

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import rotate
from polhode.algebra.vector import axpy, cross, dot, scale
from polhode.compiling.kernel import hides_nothing, kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, start_with_omega, stored_in_body_frame, torque_wanted_at_state


@hides_nothing
@kernel
def rescaled_step(momentum: Any, omega: Any, dt: Any) -> Any:
    """The angular momentum (3,) of the free body after ``dt`` (s), N m s in the body frame: an explicit step, with the length
    of the old value.

    ``momentum`` (3,) and ``omega`` (3,), rad/s in the body frame, belong to the beginning.
    """
    new = axpy(-dt, cross(omega, momentum), momentum)
    old_square, new_square = dot(momentum, momentum), dot(new, new)
    ratio = 1.0
    if new_square > 0.0:  # a body at rest
        ratio = old_square / new_square
    return scale(sqrt(ratio), new)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    momentum = rescaled_step(angular_momentum(omega, body), omega, dt)
    omega = angular_velocity(axpy(dt, torque, momentum), body)
    return rotate(q, omega, dt) + omega


METHOD = OneTorque(
    key="rescaled_momentum",
    label="rescaled momentum",
    short_label="rescaled L",
    group="engines and codes",
    rank=1,
    omega_handed="in time; torque frozen",
    source="source code of PhysX, Jolt (2022), Rapier and Avian: the gyroscopic term",
    citation="rouwe2022",
    order_q=1,
    order_omega=1,
    normalises=True,
    note="The engines limit the angular velocity and may damp it, which is left out here.",
    start=start_with_omega,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
)
