"""Closed form for a body that rotates only about its y axis, under a torque about that axis that grows exponentially.

With the torque tau_y = A exp(t) of Seelen et al. (2016), Eq. 4, and neither torque nor spin about x and z, Euler's equations
reduce to Iy d(omega_y)/dt = A exp(t), and the angle theta turned about y is the integral of omega_y:

    omega_y = omega_y0 + (A/Iy) (exp(t) - 1),    theta = omega_y0 t + (A/Iy) (exp(t) - 1 - t).

The axis keeps its direction, so the rotation by theta is exact.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import mpmath

from polhode.references.closed_form import check_body, multiply, turn
from polhode.references.precision import digits_and_guard

if TYPE_CHECKING:
    from polhode.problems.problem import Problem


def solve(problem: "Problem", times: Sequence[float], digits: int) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Exact (q, omega) at each time in s, to ``digits`` decimal digits, as mpmath numbers.

    q (4,) is the orientation, body to lab, scalar first, omega (3,) the angular velocity in the body frame, rad/s.

    Floating-point inputs count as the exact binary numbers they are. That the torque of the problem is A exp(t) about y is not
    checked beyond its parameters.

    Raises
    ------
    ValueError
        If the body has wheels or a controller or spins about x or z at the start, or if the problem has other parameters than
        ``A`` (N m) alone.
    """
    check_body(problem)
    if problem.omega0[0] or problem.omega0[2]:
        raise ValueError(f"problem {problem.key!r}: this closed form needs a spin about y alone, got {problem.omega0}")
    if list(problem.parameters) != ["A"]:
        raise ValueError(f"problem {problem.key!r}: this closed form needs the single parameter A, got {problem.parameters}")
    with digits_and_guard(digits):
        return [_state(problem, mpmath.mpf(float(t))) for t in times]


def _state(problem: "Problem", t: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    spin = mpmath.mpf(problem.omega0[1])
    rate = mpmath.mpf(problem.parameters["A"]) / mpmath.mpf(problem.body.inertia[1])
    grown = mpmath.expm1(t)
    theta = spin * t + rate * (grown - t)
    q = multiply([mpmath.mpf(x) for x in problem.q0], turn((0, theta, 0)))
    return q, (mpmath.mpf(0), spin + rate * grown, mpmath.mpf(0))
