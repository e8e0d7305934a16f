r"""Magnus-Adams 4, this work (2026): torque extrapolated as by Adams, Magnus series for q; fourth order with one torque a step.

The body torque :math:`M_n` is found at :math:`q_n` and :math:`\omega_n`. Over the step it is continued by the cubic through it
and the three torques before it, written with backward differences (:math:`\nabla M_n = M_n - M_{n-1}` and so on):

.. math::

   M(t_n + c\,\Delta t) = M_n + c\,\nabla M_n + \frac{c(c+1)}{2}\nabla^2 M_n + \frac{c(c+1)(c+2)}{6}\nabla^3 M_n

The classical Runge-Kutta scheme carries omega through Euler's equations with this torque, at c = 0, 1/2 and 1. The mean angular
velocity of the step is that of the cubic that has omega and its rate of change at both ends (Simpson's rule with the middle
taken from it). The Magnus series of :math:`\dot q = q\,(0,\omega)/2` ends with its first commutator, as fourth order allows;
omega is in the body frame and stands on the right of q, which gives the commutator its sign:

.. math::

   \bar\omega &= \tfrac12(\omega_n + \omega_{n+1}) + \tfrac{\Delta t}{12}(\dot\omega_n - \dot\omega_{n+1}) \\
   q_{n+1} &= q_n \exp\bigl(\tfrac12 [\Delta t\,\bar\omega + \tfrac{\Delta t^2}{12}\,\omega_n \times \omega_{n+1}]\bigr)

A constant torque makes all differences vanish, and the method is of fourth order from the first step on. In general it needs
torques of three earlier steps. All drivers begin with three Runge-Kutta-Munthe-Kaas steps of four torques each, that of many
bodies with four evaluations of all loads (:mod:`polhode.methods.fourth_order_start`): nine more evaluations in a run. Without
them the extrapolation is constant in the first step, linear in the second and quadratic in the third, and the error of the
first step remains: second order.

A jump of the torque costs an error of first order and a kink one of second, as for SPIRAL; neither is looked for. If the
extrapolation keeps missing the torques that are found, as it does under strong friction, it becomes linear
(:mod:`polhode.methods.backward_differences`). Under friction at a rate k this moves the limit of stability from
:math:`k\,\Delta t = 0.3`, that of Adams-Bashforth 4, to 1, that of Adams-Bashforth 2.

An elastic oscillation of frequency :math:`\nu`, as of a molecule in the field of its neighbours, is damped by the factor
:math:`1 - \tfrac{5}{16}(\nu\,\Delta t)^6` a step (:mod:`polhode.methods.libration`). It is not for long conservative runs.

The state is q, omega and the memory of the torques, 14 floats (:mod:`polhode.methods.backward_differences`); shapes, frames and
units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import exponential, multiply
from polhode.algebra.vector import add, axpy, cross, scale
from polhode.compiling.kernel import kernel
from polhode.methods.backward_differences import NOTHING, continued, subtract
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame, torque_wanted_at_state


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (21 floats) before the first step: q (body to lab), omega (rad/s, body frame), and the memory, empty.

    The torque and ``dt`` are not read.
    """
    return q + omega + NOTHING


@kernel
def runge_kutta(omega: Any, rate: Any, middle: Any, end: Any, body: Any, dt: Any) -> Any:
    """Omega (3,) after ``dt`` (s) by the classical Runge-Kutta scheme for Euler's equations, rad/s in the body frame.

    ``rate`` (3,), in rad/s^2, is the rate of ``omega`` at the beginning of the step; ``middle`` and ``end`` (3,) are the
    torques in the middle and at the end of the step, in N m, body frame.
    """
    k2 = euler_equations(axpy(0.5 * dt, rate, omega), middle, body)
    k3 = euler_equations(axpy(0.5 * dt, k2, omega), middle, body)
    k4 = euler_equations(axpy(dt, k3, omega), end, body)
    return axpy(dt / 6, k4, axpy(dt / 3, k3, axpy(dt / 3, k2, axpy(dt / 6, rate, omega))))


@kernel
def magnus(q: Any, omega: Any, rate: Any, new_omega: Any, new_rate: Any, dt: Any) -> Any:
    """q (4,) after ``dt`` (s), given omega and its rate at both ends of the step: the Magnus series to fourth order.

    ``omega`` and ``new_omega`` (3,) in rad/s, ``rate`` and ``new_rate`` (3,) in rad/s^2, all in the body frame.
    """
    mean = axpy(dt / 12, subtract(rate, new_rate), scale(0.5, add(omega, new_omega)))
    return multiply(q, exponential(axpy(dt * dt / 12, cross(omega, new_omega), scale(dt, mean))))


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    first, second, third, end, memory = continued(state[7:21], torque)
    middle = axpy(5 / 16, third, axpy(3 / 8, second, axpy(1 / 2, first, torque)))
    rate = euler_equations(omega, torque, body)
    new_omega = runge_kutta(omega, rate, middle, end, body, dt)
    return magnus(q, omega, rate, new_omega, euler_equations(new_omega, end, body), dt) + new_omega + memory


METHOD = OneTorque(
    key="magnus_adams4",
    label="Magnus-Adams 4",
    short_label="Magnus-A.",
    group="new in this work",
    rank=4,
    omega_handed="in time",
    source="this work (2026); series of Magnus (1954)",
    citation="magnus1954,iserles1999,munthekaas1999",
    order_q=4,
    order_omega=4,
    normalises=False,
    note="The first three steps take four torques each; without them, and across contacts, the order is two.",
    start=start,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    warm_up_steps=3,
)
