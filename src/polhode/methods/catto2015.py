r"""Catto's implicit gyroscopic step: Catto (2015), slides on gyroscopic torque; Bullet has it with the torque added.

Implicit Euler for the free body in its own frame, I (omega' - omega) + dt omega' x I omega' = 0, by a single Newton step from
the old angular velocity. One Newton step from there is a step of the linearly implicit (Rosenbrock) Euler scheme. Bullet
(``btRigidBody::computeGyroscopicImpulseImplicit_Body``) adds the change of omega to that by the torque, which is explicit, and
then turns the body exactly.

.. math::

   f &= \Delta t\, \omega_n \times I \omega_n \\
   J &= I + \Delta t\, \bigl([\omega_n]_\times I - [I \omega_n]_\times\bigr) \\
   \omega_{n+1} &= \omega_n - J^{-1} f + \Delta t\, I^{-1} M_n \\
   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\omega_{n+1})

where :math:`[a]_\times b = a \times b`. After the Newton step the equation is met up to
:math:`\Delta t\,\delta \times I \delta`, which is of third order, :math:`\delta = -J^{-1} f` being the change.

The state is q and omega; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import angular_velocity
from polhode.algebra.quaternion import rotate
from polhode.algebra.vector import add, axpy
from polhode.compiling.kernel import kernel
from polhode.methods.linear_system import solve
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, start_with_omega, stored_in_body_frame, torque_wanted_at_state


@kernel
def newton_step(omega: Any, body: Any, dt: Any) -> Any:
    """The change -J^-1 f (3,) of the angular velocity in a Newton step, rad/s in the body frame, from ``omega`` (3,) likewise.

    The equations are divided by the moments of inertia: with principal axes, I^-1 J has ones on its diagonal and the gyroscopic
    coefficients of Euler's equations beside it.
    """
    a, b, c = dt * body[6], dt * body[7], dt * body[8]
    return solve(
        (1.0, -a * omega[2], -a * omega[1]),
        (-b * omega[2], 1.0, -b * omega[0]),
        (-c * omega[1], -c * omega[0], 1.0),
        (a * omega[1] * omega[2], b * omega[2] * omega[0], c * omega[0] * omega[1]),
    )


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    omega = axpy(dt, angular_velocity(torque, body), add(omega, newton_step(omega, body, dt)))
    return rotate(q, omega, dt) + omega


METHOD = OneTorque(
    key="catto2015",
    label="Catto",
    group="engines and codes",
    rank=2,
    omega_handed="in time; torque frozen",
    source="Catto (2015), gyroscopic torque; Bullet, computeGyroscopicImpulseImplicit_Body",
    citation="catto2015,coumans2015",
    order_q=1,
    order_omega=1,
    normalises=True,
    reconstruction="The slides were not at hand: the formulas are those of Bullet and of other code that cites them.",
    note="Bullet bends the rotation in a step above a quarter of pi, which is left out here.",
    start=start_with_omega,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
)
