r"""Richardson iteration, as LAMMPS moves rigid bodies and aspherical particles (``fix rigid``, ``fix nve/asphere``).

Velocity Verlet for the angular momentum in the lab frame; between the two half kicks the quaternion advances once by the whole
step and once by two halves, omega being computed anew from the momentum in between (``MathExtra::richardson``). The difference
of the two removes the error of second order. Each quaternion is normalised.

With :math:`N(q) = q/|q|` and :math:`\omega(q, L) = I^{-1} R(q)^T L`:

.. math::

   L_{n+1/2} &= L_n + \tfrac{\Delta t}{2} R(q_n) M_n \\
   q_f &= N\bigl(q_n + \Delta t\, \dot q(q_n, \omega(q_n, L_{n+1/2}))\bigr) \\
   q_a &= N\bigl(q_n + \tfrac{\Delta t}{2}\, \dot q(q_n, \omega(q_n, L_{n+1/2}))\bigr) \\
   q_h &= N\bigl(q_a + \tfrac{\Delta t}{2}\, \dot q(q_a, \omega(q_a, L_{n+1/2}))\bigr) \\
   q_{n+1} &= N(2 q_h - q_f) \\
   L_{n+1} &= L_{n+1/2} + \tfrac{\Delta t}{2} R(q_{n+1}) M_{n+1}

Torques are evaluated with the omega that the iteration leaves behind, that of q_a, as ``fix rigid`` gives it to the particles.

The state is q, the angular momentum L and the last torque (N m), both in the lab frame; shapes, frames and units are as in
:mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import angular_velocity
from polhode.algebra.quaternion import derivative, increment, norm_squared, normalise, scaled, to_body, to_lab
from polhode.algebra.vector import axpy, scale
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_momentum, start_with_momentum, stored_momentum


@kernel
def extrapolated(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """The quaternion (4,) after ``dt`` (s) at constant momentum, not yet normalised, and the angular velocity (3,) at dt/2,
    rad/s in the lab frame.

    q (4,) is the quaternion at the beginning; ``momentum`` (3,) is in N m s, lab frame.
    """
    rate = derivative(q, angular_velocity(to_body(q, momentum), body))
    full = normalise(increment(dt, rate, q))
    half = normalise(increment(0.5 * dt, rate, q))
    omega = angular_velocity(to_body(half, momentum), body)
    twice = normalise(increment(0.5 * dt, derivative(half, omega), half))
    return increment(-1.0, full, scaled(2.0, twice)), to_lab(half, omega)


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    return start_with_momentum(q, omega, torque, body, dt) + to_lab(q, torque)


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    momentum = axpy(0.5 * dt, state[7:10], state[4:7])
    q, omega_lab = extrapolated(state[:4], momentum, body, dt)
    # The quaternion has to be normalised yet; to_body multiplies by the square of its norm.
    omega = scale(1.0 / norm_squared(q), to_body(q, omega_lab))
    return q + momentum + state[7:10], q, omega


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q = state[:4]
    torque_lab = to_lab(q, torque)
    return q + axpy(0.5 * dt, torque_lab, state[4:7]) + torque_lab


METHOD = OneTorque(
    key="richardson",
    label="Richardson (LAMMPS)",
    short_label="Richardson",
    group="engines and codes",
    rank=4,
    omega_handed="half a step old",
    source="LAMMPS (2022): MathExtra::richardson in fix rigid and fix nve/asphere",
    citation="thompson2022",
    order_q=2,
    order_omega=2,
    order_exceptions={"velocity": (1, 1)},
    normalises=True,
    rotates_before_torque=True,
    momentum_frame="lab",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_momentum,
    stored=stored_momentum,
    torque_time=1.0,
)
