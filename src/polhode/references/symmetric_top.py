"""Closed form for a free body with Ix = Iy: rotations about the fixed angular momentum and about the axis of symmetry.

With I1 = Ix = Iy, I3 = Iz, the initial angular momentum I omega0 and Lambda = omega_z (I3 - I1)/I1,

    q = q0 R(I omega0 t/I1) R(-Lambda t e_z),    omega_x + i omega_y = (omega_x0 + i omega_y0) exp(i Lambda t),

where R(v) is the unit quaternion of the rotation vector v: Landau and Lifshitz, Mechanics, 3rd ed., Secs. 33 and 36. Wheels
along the axis of symmetry with the momentum h are part of the angular momentum: I3 omega_z + h takes the place of I3 omega_z.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import mpmath

from polhode.references.closed_form import digits_of, latest_time, multiply, turn
from polhode.references.precision import digits_and_guard

if TYPE_CHECKING:
    from polhode.problems.problem import Problem


def solve(problem: "Problem", times: Sequence[float], digits: int) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Exact (q, omega) at each time in s, to ``digits`` decimal digits, as mpmath numbers.

    q (4,) is the orientation, body to lab, scalar first, omega (3,) the angular velocity in the body frame, rad/s.

    Floating-point inputs count as the exact binary numbers they are.

    Raises
    ------
    ValueError
        If the torque class is not "free", Ix != Iy, wheels turn about another axis than z or there is a controller, so that
        this closed form does not hold, or if a time is not finite.
    """
    latest = latest_time(problem, times, "free", wheels=True)
    moments = problem.body.inertia
    if moments[0] != moments[1]:
        raise ValueError(f"problem {problem.key!r}: this closed form needs Ix = Iy, got {moments}")
    x, y, z = problem.body.wheel_momentum
    if x or y:
        raise ValueError(f"problem {problem.key!r}: this closed form needs wheels along z, got the momentum {(x, y, z)}")
    fastest = Fraction(max(abs(w) for w in problem.omega0)) * Fraction(1 + moments[2] / moments[0]) + Fraction(
        abs(z)
    ) / Fraction(moments[0])
    with digits_and_guard(digits + digits_of(Fraction(latest) * fastest)):
        return [_state(problem, mpmath.mpf(float(t))) for t in times]


def _state(problem: "Problem", t: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    transverse, _, axial = (mpmath.mpf(i) for i in problem.body.inertia)
    x0, y0, z0 = (mpmath.mpf(w) for w in problem.omega0)
    axial_rate = (axial * z0 + mpmath.mpf(problem.body.wheel_momentum[2])) / transverse
    back = axial_rate - z0
    turned = multiply(turn((x0 * t, y0 * t, axial_rate * t)), turn((0, 0, -back * t)))
    w = mpmath.mpc(x0, y0) * mpmath.expj(back * t)
    return multiply(tuple(mpmath.mpf(x) for x in problem.q0), turned), (w.real, w.imag, z0)
