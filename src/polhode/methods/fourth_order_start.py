r"""The first steps of a fourth-order multistep method: Runge-Kutta-Munthe-Kaas steps whose first torque is already known.

A multistep method needs torques of earlier steps, and has none at the start. A one-step method takes the first steps. It has to
be of the order of the method or one less, since its local errors are added up over a fixed number of steps only. The classical
Runge-Kutta scheme runs on :math:`(u, \omega)`, with the rotation vector u of :math:`q = q_n \exp(u/2)` and
:math:`\dot u = \mathrm{dexp}^{-1}_{-u}\,\omega` (Munthe-Kaas 1999); the quaternion keeps its norm, and a body that turns
steadily is turned exactly, which the multistep methods do too.

.. math::

   \mathrm{dexp}^{-1}_{-u}\,\omega &\approx \omega + \tfrac12\, u \times \omega + \tfrac1{12}\, u \times (u \times \omega) \\
   k_i &= \mathrm{dexp}^{-1}_{-u_i}\,\omega_i, \qquad a_i = a(\omega_i, M(t_i, q_n \exp(u_i/2), \omega_i)), \\
   u_1 &= 0, \quad u_2 = \tfrac{\Delta t}{2} k_1, \quad u_3 = \tfrac{\Delta t}{2} k_2, \quad u_4 = \Delta t\, k_3

and likewise for omega with :math:`a_i` in place of :math:`k_i`; each step ends with the weights 1/6, 1/3, 1/3, 1/6.
"""

from typing import Any

from polhode.body import euler_equations
from polhode.kernel import kernel
from polhode.methods.lie_rk4_naive import weighted
from polhode.quaternion import rotate
from polhode.vector import axpy, cross, scale

#: The torques that a step evaluates besides the one at its beginning.
FURTHER_TORQUES = 3


@kernel
def rate(u: Any, omega: Any) -> Any:
    """The rate du/dt of the rotation vector: dexp^-1 up to two brackets. The next term has four, and is O(dt^5) in a step."""
    bracket = cross(u, omega)
    return axpy(1 / 12, cross(u, bracket), axpy(0.5, bracket, omega))


@kernel
def fourth_order_step(
    q: Any, omega: Any, moment: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any
) -> tuple[Any, Any]:
    """(q, omega) at t + dt.

    Parameters
    ----------
    q, omega : the state at t
    moment : the torque there
    torque : function (t, q, omega, parameters) -> torque in the body frame; it is called three times
    """
    # A torque is a call, across which values are kept in memory: what is needed after it is computed after it.
    a1 = euler_equations(omega, moment, body)

    q2, omega2 = rotate(q, omega, 0.5 * dt), axpy(0.5 * dt, a1, omega)
    a2 = euler_equations(omega2, torque(t + 0.5 * dt, q2, omega2, parameters), body)
    k2 = rate(scale(0.5 * dt, omega), omega2)

    q3, omega3 = rotate(q, k2, 0.5 * dt), axpy(0.5 * dt, a2, omega)
    a3 = euler_equations(omega3, torque(t + 0.5 * dt, q3, omega3, parameters), body)
    k3 = rate(scale(0.5 * dt, k2), omega3)

    q4, omega4 = rotate(q, k3, dt), axpy(dt, a3, omega)
    a4 = euler_equations(omega4, torque(t + dt, q4, omega4, parameters), body)
    k4 = rate(scale(dt, k3), omega4)

    return rotate(q, weighted(omega, k2, k3, k4), dt / 6), axpy(dt / 6, weighted(a1, a2, a3, a4), omega)
