"""Adams-Bashforth formulas, for methods that keep the rates of the last steps: the newest rate comes first.

The coefficients are integrals over the coming step of the polynomial through the last rates (Bashforth and Adams 1883).
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
    """A vector after dt, by the formula of second order. In the unit of ``value``; rates per s, dt in s."""
    return axpy(SECOND[0] * dt, newest, axpy(SECOND[1] * dt, last, value))


@kernel
def third(q: Any, omega: Any, newest: Any, last: Any, before: Any, dt: Any) -> Any:
    """q and omega after dt, by the formula of third order; rates hold those of q and omega one after the other.

    q (4,) and omega (3,) in rad/s, body frame; rates (7,) per s.
    """
    b0, b1, b2 = THIRD[0] * dt, THIRD[1] * dt, THIRD[2] * dt
    q = increment(b0, newest[:4], increment(b1, last[:4], increment(b2, before[:4], q)))
    return q + axpy(b0, newest[4:7], axpy(b1, last[4:7], axpy(b2, before[4:7], omega)))


@kernel
def fourth(q: Any, omega: Any, newest: Any, last: Any, before: Any, first: Any, dt: Any) -> Any:
    """q and omega after dt, by the formula of fourth order; rates hold those of q and omega one after the other.

    q (4,) and omega (3,) in rad/s, body frame; rates (7,) per s.
    """
    b0, b1, b2, b3 = FOURTH[0] * dt, FOURTH[1] * dt, FOURTH[2] * dt, FOURTH[3] * dt
    q = increment(b0, newest[:4], increment(b1, last[:4], increment(b2, before[:4], increment(b3, first[:4], q))))
    return q + axpy(b0, newest[4:7], axpy(b1, last[4:7], axpy(b2, before[4:7], axpy(b3, first[4:7], omega))))


# A state of the methods that keep the rates of q and omega: q and omega, then these rates at the last steps, the newest first.


@kernel
def rates(q: Any, omega: Any, torque: Any, body: Any) -> Any:
    """The rates of change of q (4, 1/s) and omega (3, rad/s^2), one after the other."""
    return derivative(q, omega) + euler_equations(omega, torque, body)
