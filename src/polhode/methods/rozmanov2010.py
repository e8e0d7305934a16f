r"""Rotational velocity Verlet, method A of Rozmanov and Kusalik (2010), Sec. IV.A, Eqs. 17-28, after Svanberg (1997).

The angular momentum takes half a kick at either end, in the lab frame. In between the quaternion moves by the rate at the half
step, which is implicit: the half-step quaternion turns the momentum into the body frame, and omega turns the quaternion.

.. math::

   L_{n+1/2} &= L_n + \tfrac{\Delta t}{2} R(q_n) M_n \\
   q_h &= N\bigl(q_n + \tfrac{\Delta t}{2}\, \dot q(q_h, \omega_h)\bigr), \qquad
   \omega_h = I^{-1} R(q_h)^T L_{n+1/2}, \qquad N(q) = q/|q| \\
   q_{n+1} &= N\bigl(q_n + \Delta t\, \dot q(q_h, \omega_h)\bigr) \\
   L_{n+1} &= L_{n+1/2} + \tfrac{\Delta t}{2} R(q_{n+1}) M_{n+1}

The first :math:`q_h` is that of the angular velocity predicted in the body frame, :math:`\omega_n + \tfrac{\Delta t}{2} a_n`.
It is iterated until it changes by less than 1e-13. The iteration converges if :math:`\tfrac{\Delta t}{2} |L|` is less than the
smallest moment of inertia, and is given up after 50 rounds. A solution keeps the length of the quaternion, as
:math:`q_h (\sqrt{1 - c^2} \pm \tfrac{\Delta t}{4} (0, \omega_h))` with :math:`c = \tfrac{\Delta t}{4} |\omega_h|` are
:math:`q_{n+1}` and :math:`q_n`. The step is time-symmetric, and keeps the angular momentum of a free body.

The state is q, the angular momentum L and the last torque (N m), both in the lab frame; shapes, frames and units are as in
:mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import angular_velocity, euler_equations
from polhode.algebra.quaternion import derivative, increment, norm_squared, normalise, to_body
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.richardson import after_torque, start
from polhode.methods.states import read_momentum, stored_momentum

#: The square of the change at which the iteration ends, and the largest number of rounds.
CHANGE_SQUARED = 1e-26
ROUNDS = 50


@kernel
def half_step(half: Any, q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """The rate dq/dt (4,), in 1/s, at the half step, and the quaternion (4,) there, in one round of the iteration.

    ``half`` (4,) is the half-step quaternion of the round before and q (4,) the quaternion at the beginning of the step of
    ``dt`` (s); ``momentum`` (3,) is L at the half step, N m s in the lab frame.
    """
    rate = derivative(half, angular_velocity(to_body(half, momentum), body))
    return rate, normalise(increment(0.5 * dt, rate, q))


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, torque = state[:4], state[7:10]
    omega = angular_velocity(to_body(q, state[4:7]), body)
    predicted = axpy(0.5 * dt, euler_equations(omega, to_body(q, torque), body), omega)
    momentum = axpy(0.5 * dt, torque, state[4:7])
    rate = derivative(q, predicted)
    half = normalise(increment(0.5 * dt, rate, q))
    change, rounds = 1.0, 0
    while change > CHANGE_SQUARED and rounds < ROUNDS:
        old = half
        rate, half = half_step(old, q, momentum, body, dt)
        change = norm_squared(increment(-1.0, old, half))
        rounds += 1
    q = increment(dt, rate, q)
    return q + momentum + torque, q, angular_velocity(to_body(q, momentum), body)


METHOD = OneTorque(
    key="rozmanov2010",
    label="Rozmanov-Kusalik",
    short_label="Rozmanov-K.",
    group="kicks at both ends",
    rank=5,
    omega_handed="without the last half kick",
    source="Rozmanov and Kusalik (2010), Sec. IV.A, Eqs. 17-28, as AutoPas and Mirheo run it",
    citation="rozmanov2010,svanberg1997",
    order_q=2,
    order_omega=2,
    order_exceptions={"velocity": (1, 1)},
    normalises=True,
    rotates_before_torque=True,
    momentum_frame="lab",
    reconstruction="The paper was not available: this follows programs that cite its method A.",
    note="The rotation of a step is implicit, by the angular velocity at the half step.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_momentum,
    stored=stored_momentum,
    torque_time=1.0,
)
