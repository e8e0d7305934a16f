"""Adams-Bashforth formulas, for methods that keep the rates of the last steps: the newest rate comes first.

The coefficients are integrals over the coming step of the polynomial through the last rates (Bashforth and Adams 1883).

Rates (7,) hold dq/dt (1/s) and behind it d(omega)/dt (rad/s^2, body frame); other shapes, frames and units are as in
:mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import derivative, increment
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel

SECOND = (3 / 2, -1 / 2)
THIRD = (23 / 12, -16 / 12, 5 / 12)
FOURTH = (55 / 24, -59 / 24, 37 / 24, -9 / 24)


@kernel
def second(value: Any, newest: Any, last: Any, dt: Any) -> Any:
    """A vector (3,) after dt (s), by the formula of second order, from its value now and its rates (unit of ``value`` per s)
    now and a step ago.
    """
    return axpy(SECOND[0] * dt, newest, axpy(SECOND[1] * dt, last, value))


@kernel
def third(q: Any, omega: Any, newest: Any, last: Any, before: Any, dt: Any) -> Any:
    """q and omega after dt (s), seven floats, by the formula of third order.

    q (4,), body to lab, and omega (3,), rad/s in the body frame, belong to now; ``newest``, ``last`` and ``before`` are the
    rates (7,), dq/dt in 1/s and then d(omega)/dt in rad/s^2, of now, a step ago and two steps ago.
    """
    b0, b1, b2 = THIRD[0] * dt, THIRD[1] * dt, THIRD[2] * dt
    q = increment(b0, newest[:4], increment(b1, last[:4], increment(b2, before[:4], q)))
    return q + axpy(b0, newest[4:7], axpy(b1, last[4:7], axpy(b2, before[4:7], omega)))


@kernel
def fourth(q: Any, omega: Any, newest: Any, last: Any, before: Any, first: Any, dt: Any) -> Any:
    """q and omega after dt (s), seven floats, by the formula of fourth order.

    q (4,), body to lab, and omega (3,), rad/s in the body frame, belong to now; ``newest``, ``last``, ``before`` and ``first``
    are the rates (7,), dq/dt in 1/s and then d(omega)/dt in rad/s^2, of now and one, two and three steps ago.
    """
    b0, b1, b2, b3 = FOURTH[0] * dt, FOURTH[1] * dt, FOURTH[2] * dt, FOURTH[3] * dt
    q = increment(b0, newest[:4], increment(b1, last[:4], increment(b2, before[:4], increment(b3, first[:4], q))))
    return q + axpy(b0, newest[4:7], axpy(b1, last[4:7], axpy(b2, before[4:7], axpy(b3, first[4:7], omega))))


# A state of the methods that keep the rates of q and omega: q and omega, then these rates at the last steps, the newest first.


@kernel
def rates(q: Any, omega: Any, torque: Any, body: Any) -> Any:
    """The rates of change (7,): dq/dt (1/s), and then d(omega)/dt (rad/s^2, body frame) by Euler's equations under the torque
    (N m, body frame).
    """
    return derivative(q, omega) + euler_equations(omega, torque, body)
