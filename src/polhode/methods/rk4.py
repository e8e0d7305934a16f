r"""The classical Runge-Kutta scheme on (q, omega) together: Kutta (1901); four torques per step.

With y = (q, omega) and f its rate of change, dq/dt = q (0, omega)/2 and Euler's equations:

.. math::

   k_1 &= f(t_n, y_n), \quad k_2 = f(t_n + \tfrac{\Delta t}{2}, y_n + \tfrac{\Delta t}{2} k_1) \\
   k_3 &= f(t_n + \tfrac{\Delta t}{2}, y_n + \tfrac{\Delta t}{2} k_2), \quad
   k_4 = f(t_n + \Delta t, y_n + \Delta t\, k_3) \\
   y_{n+1} &= y_n + \tfrac{\Delta t}{6}(k_1 + 2 k_2 + 2 k_3 + k_4)

The state is q and omega; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import derivative, increment
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import SeveralTorques
from polhode.methods.states import read_synchronous, stored_in_body_frame


@kernel
def start(q: Any, omega: Any, body: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab) and omega (rad/s, body frame)."""
    return q + omega


@kernel
def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The state after a step of ``dt`` (s) from ``t`` (s) under ``torque(t, q, omega, parameters)`` (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    q1 = derivative(q, omega)
    w1 = euler_equations(omega, torque(t, q, omega, parameters), body)

    q_half, omega_half = increment(0.5 * dt, q1, q), axpy(0.5 * dt, w1, omega)
    q2 = derivative(q_half, omega_half)
    w2 = euler_equations(omega_half, torque(t + 0.5 * dt, q_half, omega_half, parameters), body)

    q_half, omega_half = increment(0.5 * dt, q2, q), axpy(0.5 * dt, w2, omega)
    q3 = derivative(q_half, omega_half)
    w3 = euler_equations(omega_half, torque(t + 0.5 * dt, q_half, omega_half, parameters), body)

    q_full, omega_full = increment(dt, q3, q), axpy(dt, w3, omega)
    q4 = derivative(q_full, omega_full)
    w4 = euler_equations(omega_full, torque(t + dt, q_full, omega_full, parameters), body)

    q = increment(dt / 6, increment(2.0, q2, increment(2.0, q3, increment(1.0, q4, q1))), q)
    omega = axpy(dt / 6, axpy(2.0, w2, axpy(2.0, w3, axpy(1.0, w4, w1))), omega)
    return q + omega


METHOD = SeveralTorques(
    key="rk4",
    label="Runge-Kutta 4",
    short_label="RK4",
    group="several torques per step",
    rank=2,
    omega_handed="four stages",
    source="Kutta (1901); the benchmark of del Valle et al. (2024), Sec. 3",
    citation="kutta1901,delvalle2024",
    order_q=4,
    order_omega=4,
    normalises=True,
    start=start,
    step=step,
    evaluations_per_step=4,
    read=read_synchronous,
    stored=stored_in_body_frame,
)
