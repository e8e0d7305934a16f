r"""Runge-Kutta 4 with mean angular velocities in one exponential, as in MuJoCo: Todorov et al. (2012); mj_RungeKutta.

Classical Runge-Kutta on the group, without the correction that makes it a Lie group method: every stage and the end of the step
rotate the old orientation by the exponential of a weighted mean of angular velocities. MuJoCo calls it "RK4" (``mj_RungeKutta``
and ``mj_integratePos`` of its engine_forward.c and engine_support.c). The exponent of the exact rotation has, beside the
integral of :math:`\omega`, the commutator :math:`\tfrac{\Delta t^3}{12}\,\omega \times \dot\omega`, which is missing here, so
that q is of second order; ``rkmk4`` has this term. The angular velocity is of fourth order as long as the torque does not
depend on q.

.. math::

   \omega_1 &= \omega_n, \quad q_1 = q_n, \quad a_i = a(\omega_i, M(t_i, q_i, \omega_i)) \\
   \omega_2 &= \omega_n + \tfrac{\Delta t}{2} a_1, \quad q_2 = q_n \exp(\tfrac{\Delta t}{4}\,\omega_1) \\
   \omega_3 &= \omega_n + \tfrac{\Delta t}{2} a_2, \quad q_3 = q_n \exp(\tfrac{\Delta t}{4}\,\omega_2) \\
   \omega_4 &= \omega_n + \Delta t\, a_3, \quad q_4 = q_n \exp(\tfrac{\Delta t}{2}\,\omega_3) \\
   \omega_{n+1} &= \omega_n + \tfrac{\Delta t}{6}(a_1 + 2 a_2 + 2 a_3 + a_4), \quad
   q_{n+1} = q_n \exp(\tfrac{\Delta t}{12}(\omega_1 + 2\omega_2 + 2\omega_3 + \omega_4))

The state is q and omega; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import rotate
from polhode.algebra.vector import axpy
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

    q4, omega4 = rotate(q, omega3, dt), axpy(dt, a3, omega)
    a4 = euler_equations(omega4, torque(t + dt, q4, omega4, parameters), body)

    return rotate(q, weighted(omega, omega2, omega3, omega4), dt / 6) + axpy(dt / 6, weighted(a1, a2, a3, a4), omega)


METHOD = SeveralTorques(
    key="lie_rk4_naive",
    label="naive Lie RK4",
    short_label="Lie RK4",
    group="several torques per step",
    rank=5,
    omega_handed="four stages",
    source="MuJoCo, mj_RungeKutta and mj_integratePos; Todorov et al. (2012)",
    citation="todorov2012",
    order_q=2,
    order_omega=4,
    order_exceptions={"lab": (2, 2), "state": (2, 2)},
    published_order="fourth order",
    normalises=True,
    note="Without the commutator of angular velocities the orientation is second order; rkmk4 is the scheme with it.",
    start=start,
    step=step,
    evaluations_per_step=4,
    read=read_synchronous,
    stored=stored_in_body_frame,
)
