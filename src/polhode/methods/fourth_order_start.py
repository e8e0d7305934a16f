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
from polhode.quaternion import exponential, multiply
from polhode.vector import axpy, cross, scale

#: The torques that a step evaluates besides the one at its beginning.
FURTHER_TORQUES = 3


@kernel
def rate(u: Any, omega: Any) -> Any:
    """The rate du/dt of the rotation vector: dexp^-1 up to two brackets. The next term has four, and is O(dt^5) in a step."""
    bracket = cross(u, omega)
    return axpy(1 / 12, cross(u, bracket), axpy(0.5, bracket, omega))


@kernel
def stage(q: Any, omega: Any, turn: Any, a: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The rates of the rotation vector and of omega at t + dt, where they are ``turn`` and omega + dt a; q and omega are at t.

    The rotation vector is formed once, for the quaternion and for its rate: a step that forms it twice, by ``rotate``, keeps
    more values across the call of the torque, and took up to 1.7 times as long in some processes.
    """
    omega = axpy(dt, a, omega)
    a = euler_equations(omega, torque(t + dt, multiply(q, exponential(turn)), omega, parameters), body)
    return rate(turn, omega), a


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
    half = 0.5 * dt
    a1 = euler_equations(omega, moment, body)
    k2, a2 = stage(q, omega, scale(half, omega), a1, t, half, body, torque, parameters)
    k3, a3 = stage(q, omega, scale(half, k2), a2, t, half, body, torque, parameters)
    k4, a4 = stage(q, omega, scale(dt, k3), a3, t, dt, body, torque, parameters)
    turn = scale(dt / 6, weighted(omega, k2, k3, k4))
    return multiply(q, exponential(turn)), axpy(dt / 6, weighted(a1, a2, a3, a4), omega)
