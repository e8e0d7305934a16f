"""Adams-Bashforth formulas, for methods that keep the rates of the last steps: the newest rate comes first.

The coefficients are integrals over the coming step of the polynomial through the last rates (Bashforth and Adams 1883).
"""

from typing import Any

from polhode.kernel import kernel
from polhode.vector import axpy

SECOND = (3 / 2, -1 / 2)
THIRD = (23 / 12, -16 / 12, 5 / 12)
FOURTH = (55 / 24, -59 / 24, 37 / 24, -9 / 24)


@kernel
def second(value: Any, newest: Any, last: Any, dt: Any) -> Any:
    """A vector after dt, by the formula of second order."""
    return axpy(SECOND[0] * dt, newest, axpy(SECOND[1] * dt, last, value))
