"""Shared parts of the closed forms: quaternions of mpmath numbers, checks of torque class and times, digits lost."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import mpmath

if TYPE_CHECKING:
    from polhode.problems.problem import Problem


def check_body(problem: "Problem", wheels: bool = False) -> None:
    """Check that nothing but the torque acts on the body.

    Raises
    ------
    ValueError
        If the problem has a controller, or if its body has wheels and the closed form, without ``wheels``, holds for bodies
        without them.
    """
    if problem.body.wheels and not wheels:
        raise ValueError(f"problem {problem.key!r}: this closed form holds for a body without wheels")
    if problem.controller:
        raise ValueError(f"problem {problem.key!r}: this closed form holds without a controller")


def latest_time(problem: "Problem", times: Sequence[float], torque_class: str, wheels: bool = False) -> float:
    """The largest absolute value of the times in s, or 0 if there is none.

    Raises
    ------
    ValueError
        If a time is not finite, if the problem's torque is not of the class ``torque_class``, or if the body is not what
        :func:`check_body`, with the same ``wheels``, lets pass.
    """
    check_body(problem, wheels)
    if problem.torque_class != torque_class:
        raise ValueError(
            f"problem {problem.key!r}: this closed form needs torque class {torque_class!r}, got {problem.torque_class!r}"
        )
    if not all(math.isfinite(t) for t in times):
        raise ValueError(f"problem {problem.key!r}: reference times must be finite, got {list(times)!r}")
    return max((abs(float(t)) for t in times), default=0.0)


def digits_of(x: Fraction | float) -> int:
    """Decimal digits of a positive number before the decimal point, or one more; 0 for a small number.

    This many are lost when an angle of that size is reduced to one turn, or when two numbers are subtracted that exceed their
    difference by that factor. The arithmetic is exact, so the result does not depend on the current precision.
    """
    x = Fraction(x)
    return max(0, math.ceil((x.numerator.bit_length() - x.denominator.bit_length() + 1) * math.log10(2)))


def real(x: Fraction) -> Any:
    """An exact fraction as an mpmath number in the current precision."""
    return mpmath.mpf(x.numerator) / x.denominator


def multiply(p: Sequence[Any], q: Sequence[Any]) -> tuple[Any, ...]:
    """Hamilton's product p q of two quaternions (4,), scalar first: four numbers without a unit."""
    return (
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


def conjugate(q: Sequence[Any]) -> tuple[Any, ...]:
    """The conjugate q* of a quaternion (4,), scalar first: the inverse of a unit quaternion."""
    return (q[0], -q[1], -q[2], -q[3])


def turn(v: Sequence[Any]) -> tuple[Any, ...]:
    """The unit quaternion (4,), scalar first, of the rotation vector v (3,) in rad, in the current precision of mpmath."""
    angle = mpmath.sqrt(sum(x * x for x in v))
    ratio = mpmath.sin(angle / 2) / angle if angle else mpmath.mpf(1) / 2
    return (mpmath.cos(angle / 2), *(ratio * x for x in v))
