r"""Krysl and Endres (2005): the explicit Newmark algorithm (beta 0, gamma 1/2) on the rotation group, in the body frame.

The orientation turns by the rotation vector that Newmark's formula gives, and the angular velocity at the end of a step solves
its equation of motion there; the torque is explicit. :mod:`polhode.methods.verlet` is the same algorithm with a linear
rotation, three fixed-point iterations and another angular velocity for the torque.

.. math::

   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2} (\omega_n + \tfrac{\Delta t}{2} a_n)) \\
   \omega_{n+1} &= \omega_n + \tfrac{\Delta t}{2} \bigl[a_n + a(\omega_{n+1}, M_{n+1})\bigr], \qquad
   a_{n+1} = a(\omega_{n+1}, M_{n+1})

The torque is evaluated with :math:`\omega_n + \Delta t\, a_n`. The equation of omega is the implicit midpoint rule with
another right-hand side, and is solved by the same three Newton iterations.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import rotate
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.implicit_midpoint import mean_velocity
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame

# The state: q, omega, the acceleration; between the torque's two parts omega of the half step in the place of omega.


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    return q + omega + euler_equations(omega, torque, body)


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The part of a step before its torque: the state, and the q and omega (rad/s) at which the torque is evaluated."""
    acceleration = state[7:10]
    half = axpy(0.5 * dt, acceleration, state[4:7])
    q = rotate(state[:4], half, dt)
    return q + half + acceleration, q, axpy(0.5 * dt, acceleration, half)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    omega = mean_velocity(state[4:7], torque, body, dt)
    return state[:4] + omega + euler_equations(omega, torque, body)


METHOD = OneTorque(
    key="krysl_endres2005",
    label="Krysl and Endres, Newmark",
    short_label="Newmark",
    omega_handed="predicted",
    source="Krysl and Endres (2005), Int. J. Numer. Meth. Engng 62, 2154, body frame",
    citation="",
    order_q=2,
    order_omega=2,
    reconstruction="Of the paper only the introduction was at hand: the equations come from codes that cite it, the omega at "
    "which the torque is evaluated is ours.",
    normalises=False,
    rotates_before_torque=True,
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=1.0,
)
