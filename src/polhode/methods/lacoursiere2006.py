r"""Linearly implicit gyroscopic step of Lacoursière (2006), as the Open Dynamics Engine has it.

The gyroscopic term takes the old angular momentum and the new angular velocity, both with the old orientation, which leaves one
linear system. ODE (``step.cpp``, ``quickstep.cpp``) turns its solution into a torque, adds the torques on the body, and takes a
semi-implicit step; this amounts to the formulas here. Orientations advance linearly and are normalised (``dxStepBody``, in its
mode of infinitesimal rotations).

.. math::

   L &= I \omega_n, \qquad I \omega' + \Delta t\, \omega' \times L = L \\
   \omega_{n+1} &= \omega' + \Delta t\, I^{-1} M_n \\
   q_{n+1} &= q_n + \Delta t\, \dot q(q_n, \omega_{n+1})

The matrix is the inertia minus :math:`\Delta t\,[L]_\times`. Its determinant
:math:`I_x I_y I_z + \Delta t^2\, L \cdot I L` is never zero. Multiplied by :math:`\omega'`, the equation also says that the
kinetic energy of the free body cannot grow: :math:`\omega' \cdot I \omega' = \omega' \cdot I \omega_n`.

The state is q and omega; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import derivative, increment
from polhode.algebra.vector import add, axpy, cross, scale
from polhode.compiling.kernel import kernel
from polhode.methods.linear_system import solve
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, start_with_omega, stored_in_body_frame, torque_wanted_at_state


@kernel
def implicit_step(omega: Any, body: Any, dt: Any) -> Any:
    """The angular velocity (3,) of the free body after ``dt`` (s): the solution of (I - dt [L]x) omega' = L, rad/s in the body
    frame.

    It is solved for the change omega' - omega, whose right-hand side is dt L x omega: nothing changes where nothing should.
    """
    momentum = scale(dt, angular_momentum(omega, body))
    x, y, z = momentum
    return add(omega, solve((body[0], z, -y), (-z, body[1], x), (y, -x, body[2]), cross(momentum, omega)))


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    omega = axpy(dt, angular_velocity(torque, body), implicit_step(omega, body, dt))
    return increment(dt, derivative(q, omega), q) + omega


METHOD = OneTorque(
    key="lacoursiere2006",
    label="Lacoursière",
    group="engines and codes",
    rank=3,
    omega_handed="in time; torque frozen",
    source="Lacoursière (2006); Open Dynamics Engine, step.cpp and dxStepBody",
    citation="lacoursiere2006,smith2006",
    order_q=1,
    order_omega=1,
    normalises=True,
    reconstruction="The report was not at hand: the formulas are those of the Open Dynamics Engine, which cites it.",
    start=start_with_omega,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
)
