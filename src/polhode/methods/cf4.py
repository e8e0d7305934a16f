r"""The commutator-free Lie group method of order four: Celledoni, Marthinsen and Owren (2003).

The classical Runge-Kutta scheme with products of exponentials in place of commutators. Each stage takes one exponential, the
fourth of them from the orientation of the second; the end of the step takes two. The angular velocity is a vector, for which
the scheme is the classical one.

.. math::

   \omega_1 &= \omega_n, \quad q_1 = q_n, \quad a_i = a(\omega_i, M(t_i, q_i, \omega_i)) \\
   \omega_2 &= \omega_n + \tfrac{\Delta t}{2} a_1, \quad q_2 = q_n \exp(\tfrac{\Delta t}{4}\,\omega_1) \\
   \omega_3 &= \omega_n + \tfrac{\Delta t}{2} a_2, \quad q_3 = q_n \exp(\tfrac{\Delta t}{4}\,\omega_2) \\
   \omega_4 &= \omega_n + \Delta t\, a_3, \quad q_4 = q_2 \exp(\tfrac{\Delta t}{2}(\omega_3 - \tfrac12\omega_1)) \\
   \omega_{n+1} &= \omega_n + \tfrac{\Delta t}{6}(a_1 + 2 a_2 + 2 a_3 + a_4) \\
   q_{n+1} &= q_n \exp\bigl(\tfrac{\Delta t}{24}(3\omega_1 + 2\omega_2 + 2\omega_3 - \omega_4)\bigr)
   \exp\bigl(\tfrac{\Delta t}{24}(-\omega_1 + 2\omega_2 + 2\omega_3 + 3\omega_4)\bigr)

The state is q and omega; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import rotate
from polhode.algebra.vector import add, axpy, scale
from polhode.compiling.kernel import kernel
from polhode.methods.fourth_order_start import weighted
from polhode.methods.protocol import SeveralTorques
from polhode.methods.rk4 import start
from polhode.methods.states import read_synchronous, stored_in_body_frame


@kernel
def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The state after a step of ``dt`` (s) from ``t`` (s) under ``torque(t, q, omega, parameters)`` (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    a1 = euler_equations(omega, torque(t, q, omega, parameters), body)

    q2, omega2 = rotate(q, omega, 0.5 * dt), axpy(0.5 * dt, a1, omega)
    a2 = euler_equations(omega2, torque(t + 0.5 * dt, q2, omega2, parameters), body)

    q3, omega3 = rotate(q, omega2, 0.5 * dt), axpy(0.5 * dt, a2, omega)
    a3 = euler_equations(omega3, torque(t + 0.5 * dt, q3, omega3, parameters), body)

    q4, omega4 = rotate(q2, axpy(-0.5, omega, omega3), dt), axpy(dt, a3, omega)
    a4 = euler_equations(omega4, torque(t + dt, q4, omega4, parameters), body)

    middle = scale(2.0, add(omega2, omega3))
    q = rotate(q, axpy(3.0, omega, axpy(-1.0, omega4, middle)), dt / 12)
    q = rotate(q, axpy(-1.0, omega, axpy(3.0, omega4, middle)), dt / 12)
    return q + axpy(dt / 6, weighted(a1, a2, a3, a4), omega)


METHOD = SeveralTorques(
    key="cf4",
    label="commutator-free 4",
    short_label="CF4",
    group="several torques per step",
    rank=4,
    omega_handed="four stages",
    source="Celledoni, Marthinsen and Owren (2003)",
    citation="celledoni2003",
    order_q=4,
    order_omega=4,
    published_order="fourth order",
    normalises=False,
    start=start,
    step=step,
    evaluations_per_step=4,
    read=read_synchronous,
    stored=stored_in_body_frame,
)
