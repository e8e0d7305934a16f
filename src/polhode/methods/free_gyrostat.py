r"""The motion of a body with wheels without a torque, nearly to rounding: for a splitting that treats it as exact.

The closed form, in elliptic functions of the roots of a quartic, has a case for each kind of motion. Here the motion is
composed of rotors (:mod:`polhode.methods.wheels`), which keep the angular momentum in space; it needs no torque. A step is
divided into equal parts in which the body nutates and turns by at most :data:`LARGEST` radians. Each part is the composition of
eighth order of Kahan and Li (1997) with 17 symmetric steps. A radian of nutation has an error near 1e-13.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any

from polhode.algebra.body import angular_velocity
from polhode.algebra.vector import axpy, dot
from polhode.compiling.kernel import kernel

#: The shares of the 17 symmetric steps: nine, and the first eight backwards.
FIRST = (
    *(0.13020248308889008087881763, 0.56116298177510838456196441, -0.38947496264484728640807860),
    *(0.15884190655515560089621075, -0.39590389413323757733623154, 0.18453964097831570709183254),
    *(0.25837438768632204729397911, 0.29501172360931029887096624, -0.60550853383003451169892108),
)
SHARES = FIRST + FIRST[7::-1]
#: Radians in a part of a step, and the largest number of parts.
LARGEST, MOST = 0.2, 1_000_000


@kernel
def largest(v: Any) -> Any:
    """The largest of the three numbers v (3,), in their unit."""
    value = v[0]
    if v[1] > value:
        value = v[1]
    if v[2] > value:
        value = v[2]
    return value


def exact(drift: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel ``moved(q, momentum, body, dt) -> (q, momentum)``: the motion for ``dt`` (s) without a torque.

    It is composed of the kernel ``drift`` with the same arguments, which must be symmetric in time and of second order. q (4,),
    scalar first, takes body to lab; ``momentum`` (3,) is I omega + h in the body frame, N m s; ``body`` has h (3,), N m s,
    behind its nine coefficients (:meth:`polhode.algebra.body.Body.coefficients`).
    """

    @kernel
    def moved(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
        h, rates = (body[9], body[10], body[11]), (body[3], body[4], body[5])
        omega = angular_velocity(axpy(-1.0, h, momentum), body)
        twice_energy = (body[0] * omega[0] * omega[0] + body[1] * omega[1] * omega[1]) + body[2] * omega[2] * omega[2]
        # Nutation is fastest about the axis of the largest moment; at this energy the body turns
        # fastest about the axis of the smallest.
        nutation = dot(h, h) * largest((rates[0] * rates[1], rates[1] * rates[2], rates[2] * rates[0]))
        fast = sqrt(nutation) + sqrt(twice_energy * largest(rates))
        length = fast * dt
        if length < 0.0:
            length = -length
        parts = MOST
        if length < LARGEST * MOST:
            parts = 1 + int(length / LARGEST)
        t = dt / parts
        for _ in range(parts):
            for k in range(len(SHARES)):
                q, momentum = drift(q, momentum, body, SHARES[k] * t)
        return q, momentum

    return moved
