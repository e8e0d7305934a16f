r"""Exact states of the ensembles: a Taylor integrator in double-double arithmetic, compiled, with an estimate of its digits.

The state (q, omega), and for torques that vary with time also s = sin(nu t) and c = cos(nu t), is expanded in power series of
time, coefficient by coefficient (Jorba and Zou, Exp. Math. 14 (2005) 99):

.. math::

   \dot q = \tfrac12 q\, (0, \omega), \quad I \dot\omega = M - \omega \times I \omega, \quad
   \dot s = \nu c, \quad \dot c = -\nu s.

Every torque class has its own recurrence here, so that there is a second version of its torque besides the one that the methods
run; ``tests/test_ensembles.py`` compares both, and the states with those of :mod:`polhode.references.taylor`, which runs the
torque itself in arbitrary precision, and with the closed form of the free top.

Everything is dimensionless (:mod:`polhode.ensembles.classes`). A state is q, a quaternion from body to lab, then omega in the
body frame: 7 numbers. Compiled functions work on the arrays ``high`` and ``low``, (:data:`VARIABLES`, order + 1): the
coefficients of all series as pairs of doubles; :data:`Q`, :data:`OMEGA` and so on are the rows at which the series begin.
``kind`` is the number of a torque class in :data:`~polhode.ensembles.classes.CLASSES`, counted from 0.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import types

from polhode.compiling.kernel import compile_driver, compiled, float_type
from polhode.ensembles.classes import CLASSES
from polhode.ensembles.double_double import (
    add,
    divide,
    inverse_root,
    multiply,
    quick_two_sum,
    subtract,
    times,
    two_product,
    two_sum,
)
from polhode.ensembles.draw import Ensemble

#: Orders of the expansion and relative sizes of their last terms, of the run and of its check.
ORDER, TOLERANCE = 28, 1e-31
CHECK_ORDER, CHECK_TOLERANCE = 22, 1e-30
#: A step ends where the last term of the series is of the relative size of the tolerance, and is shortened by this factor.
SAFETY = 0.7
#: No estimate of the digits is larger: the rounding of a pair is 2^-104.
MOST_DIGITS = 31.0
#: The states that a run may need at most; a body whose series has too small a radius is refused.
MOST_STEPS = 1_000_000
#: Number of variables: q, omega, sin(nu t), cos(nu t), the six products and auxiliary series of the torque. NumPy integers:
#: Numba compiles a function again for every value of a Python integer that it is handed as a constant.
Q, OMEGA, SINE, COSINE, MOMENT, HELP = map(np.int64, (0, 4, 7, 8, 9, 12))
X, Y, Z = map(np.int64, range(3))
VARIABLES = 18

_table = types.Array(types.float64, 2, "C")
_list = types.Array(types.float64, 1, "C")
_SIGNATURE = types.int64(types.int64, _list, _list, _list, _list, _list, types.int64, float_type, _table, _table)


@compiled
def product(high: Any, low: Any, i: Any, j: Any, k: int) -> Any:
    """Coefficient k of the product of the series in rows i and j, a pair (high, low) of doubles."""
    s, rest = 0.0, 0.0
    for m in range(k + 1):
        p, e = two_product(high[i, m], high[j, k - m])
        e += high[i, m] * low[j, k - m] + low[i, m] * high[j, k - m]
        s, f = two_sum(s, p)
        rest += e + f
    return quick_two_sum(s, rest)


@compiled
def put(high: Any, low: Any, i: Any, k: int, value: Any) -> None:
    """Set coefficient k of the series in row i to ``value``, a pair (high, low)."""
    high[i, k], low[i, k] = value


@compiled
def turned(high: Any, low: Any, k: int, first: Any) -> Any:
    """Coefficient k of R(q)^T v, three pairs, for the series v in three rows from ``first`` on.

    R^T v = v - 2 q0 t + 2 q x t, with the vector part of q, and t = q x v, whose coefficient k is written into the rows from
    HELP on. Coefficients of q and v up to k must be known, and the ones of t below k must be in its rows: call it for k = 0, 1
    and so on, each time with the same v.
    """
    for n in range(3):
        a, b = (n + 1) % 3, (n + 2) % 3
        put(
            high,
            low,
            HELP + n,
            k,
            subtract(
                product(high, low, Q + 1 + a, first + b, k),
                product(high, low, Q + 1 + b, first + a, k),
            ),
        )
    x = body_component(high, low, k, first, X)
    y = body_component(high, low, k, first, Y)
    z = body_component(high, low, k, first, Z)
    return x, y, z


@compiled
def body_component(high: Any, low: Any, k: int, first: Any, n: Any) -> Any:
    """Component n (0, 1 or 2) of :func:`turned`, with its k and ``first``, once t is known: a pair (high, low)."""
    a, b = (n + 1) % 3, (n + 2) % 3
    across = subtract(
        product(high, low, Q + 1 + a, HELP + b, k),
        product(high, low, Q + 1 + b, HELP + a, k),
    )
    across = subtract(across, product(high, low, Q, HELP + n, k))
    return add((high[first + n, k], low[first + n, k]), times(2.0, across))


@compiled
def moment(kind: int, high: Any, low: Any, k: int, parameters: Any) -> Any:
    """Coefficient k of the torque of class ``kind`` in the body frame: three pairs (high, low).

    Coefficients up to k of the state must be known; ``parameters`` (n,) are the numbers of the torque. Series that it needs
    are continued in the rows from :data:`MOMENT` on.
    """
    zero = (0.0, 0.0)
    x, y, z = zero, zero, zero
    if kind == 1 and k == 0:
        x, y, z = (parameters[0], 0.0), (parameters[1], 0.0), (parameters[2], 0.0)
    elif kind == 2 or kind == 3:
        s, c = (high[SINE, k], low[SINE, k]), (high[COSINE, k], low[COSINE, k])
        x = add(times(parameters[3], s), times(parameters[6], c))
        y = add(times(parameters[4], s), times(parameters[7], c))
        z = add(times(parameters[5], s), times(parameters[8], c))
        if k == 0:
            x = add(x, (parameters[0], 0.0))
            y = add(y, (parameters[1], 0.0))
            z = add(z, (parameters[2], 0.0))
        if kind == 3:
            put(high, low, MOMENT, k, x)
            put(high, low, MOMENT + 1, k, y)
            put(high, low, MOMENT + 2, k, z)
            x, y, z = turned(high, low, k, MOMENT)
    elif kind == 4:
        for n in range(3):
            put(high, low, MOMENT + n, k, zero)
        if k == 0:
            put(high, low, MOMENT + 2, k, (-1.0, 0.0))
        gx, gy, gz = turned(high, low, k, MOMENT)
        x = subtract(times(parameters[1], gz), times(parameters[2], gy))
        y = subtract(times(parameters[2], gx), times(parameters[0], gz))
        z = subtract(times(parameters[0], gy), times(parameters[1], gx))
    elif kind >= 5:
        wx, wy, wz = (
            (high[OMEGA, k], low[OMEGA, k]),
            (high[OMEGA + 1, k], low[OMEGA + 1, k]),
            (high[OMEGA + 2, k], low[OMEGA + 2, k]),
        )
        if kind == 5:
            x, y, z = times(-parameters[0], wx), times(-parameters[0], wy), times(-parameters[0], wz)
        elif kind == 6:
            x = add(add(times(-parameters[0], wx), times(-parameters[5], wy)), times(-parameters[4], wz))
            y = add(add(times(-parameters[5], wx), times(-parameters[1], wy)), times(-parameters[3], wz))
            z = add(add(times(-parameters[4], wx), times(-parameters[3], wy)), times(-parameters[2], wz))
        else:
            # u = omega^2 + epsilon^2 in HELP, p = 1 / sqrt(u) in HELP + 1: 2 u p' = -u' p.
            u = add(
                add(product(high, low, OMEGA, OMEGA, k), product(high, low, OMEGA + 1, OMEGA + 1, k)),
                product(high, low, OMEGA + 2, OMEGA + 2, k),
            )
            if k == 0:
                u = add(u, two_product(parameters[1], parameters[1]))
                put(high, low, HELP, k, u)
                put(high, low, HELP + 1, k, inverse_root(u))
            else:
                put(high, low, HELP, k, u)
                total = zero
                for j in range(1, k + 1):
                    term = multiply((high[HELP, j], low[HELP, j]), (high[HELP + 1, k - j], low[HELP + 1, k - j]))
                    total = add(total, times(0.5 * j - k, term))
                root = (high[HELP, 0], low[HELP, 0])
                put(high, low, HELP + 1, k, divide(total, times(float(k), root)))
            x = times(-parameters[0], product(high, low, HELP + 1, OMEGA, k))
            y = times(-parameters[0], product(high, low, HELP + 1, OMEGA + 1, k))
            z = times(-parameters[0], product(high, low, HELP + 1, OMEGA + 2, k))
    return x, y, z


@compiled
def expand(kind: int, high: Any, low: Any, order: int, inertia: Any, parameters: Any) -> None:
    """Fill the coefficients 1 to ``order`` of the state in ``high`` and ``low`` from its coefficients of order 0.

    ``inertia`` (3,) are the principal moments, ``parameters`` (n,) the numbers of the torque of class ``kind``.
    """
    ix, iy, iz = inertia[0], inertia[1], inertia[2]
    yz, zx, xy = two_sum(iy, -iz), two_sum(iz, -ix), two_sum(ix, -iy)
    for k in range(order):
        n = float(k + 1)
        mx, my, mz = moment(kind, high, low, k, parameters)
        wx, wy, wz = OMEGA, OMEGA + 1, OMEGA + 2
        x = divide(add(mx, multiply(yz, product(high, low, wy, wz, k))), (ix, 0.0))
        y = divide(add(my, multiply(zx, product(high, low, wz, wx, k))), (iy, 0.0))
        z = divide(add(mz, multiply(xy, product(high, low, wx, wy, k))), (iz, 0.0))
        a = add(add(product(high, low, Q + 1, wx, k), product(high, low, Q + 2, wy, k)), product(high, low, Q + 3, wz, k))
        b = subtract(add(product(high, low, Q, wx, k), product(high, low, Q + 2, wz, k)), product(high, low, Q + 3, wy, k))
        c = subtract(add(product(high, low, Q, wy, k), product(high, low, Q + 3, wx, k)), product(high, low, Q + 1, wz, k))
        d = subtract(add(product(high, low, Q, wz, k), product(high, low, Q + 1, wy, k)), product(high, low, Q + 2, wx, k))
        put(high, low, wx, k + 1, divide(x, (n, 0.0)))
        put(high, low, wy, k + 1, divide(y, (n, 0.0)))
        put(high, low, wz, k + 1, divide(z, (n, 0.0)))
        put(high, low, Q, k + 1, divide(times(-0.5, a), (n, 0.0)))
        put(high, low, Q + 1, k + 1, divide(times(0.5, b), (n, 0.0)))
        put(high, low, Q + 2, k + 1, divide(times(0.5, c), (n, 0.0)))
        put(high, low, Q + 3, k + 1, divide(times(0.5, d), (n, 0.0)))
        if kind == 2 or kind == 3:
            s, c = (high[SINE, k], low[SINE, k]), (high[COSINE, k], low[COSINE, k])
            put(high, low, SINE, k + 1, divide(times(parameters[9], c), (n, 0.0)))
            put(high, low, COSINE, k + 1, divide(times(-parameters[9], s), (n, 0.0)))


@compiled
def longest_step(high: Any, order: int, tolerance: float) -> float:
    """The step at which the last two terms are of the size of the tolerance, relative to a state of length 1, times
    :data:`SAFETY`.

    It is in the unit of time of the series. ``order`` belongs to the last coefficients in ``high``.
    """
    step = 1e300
    for k in range(order - 1, order + 1):
        size = 0.0
        for i in range(MOMENT):
            size = max(size, abs(high[i, k]))
        if size > 0.0:
            step = min(step, (tolerance / size) ** (1.0 / k))
    return SAFETY * step


def integrate(  # type: ignore[no-untyped-def]
    kind, inertia, q0, omega0, parameters, ends, order, tolerance, high_out, low_out
):
    """Write the states at the ascending times ``ends`` (t,) into ``high_out`` and ``low_out`` (t, 7), as sums of two doubles.

    Parameters
    ----------
    inertia, q0, omega0, parameters : (3,), (4,), (3,) and (n,); the body, its start, and the numbers of the torque
    order, tolerance : of the expansions, and the relative size of their last terms

    Returns
    -------
    The number of steps, or -1 if they are more than :data:`MOST_STEPS` or no longer positive.
    """
    high, low = np.zeros((VARIABLES, order + 1)), np.zeros((VARIABLES, order + 1))
    # The orientation that q0 stands for is that of the unit quaternion beside it, q0 (1 - (|q0|^2 - 1) / 2).
    excess = (-1.0, 0.0)
    for i in range(4):
        excess = add(excess, two_product(q0[i], q0[i]))
    for i in range(4):
        high[i, 0], low[i, 0] = quick_two_sum(q0[i], -0.5 * excess[0] * q0[i])
    for i in range(3):
        high[OMEGA + i, 0] = omega0[i]
    high[COSINE, 0] = 1.0
    now = (0.0, 0.0)
    steps = 0
    for n in range(ends.size):
        while True:
            expand(kind, high, low, order, inertia, parameters)
            step = longest_step(high, order, tolerance)
            left = subtract((ends[n], 0.0), now)
            last = step >= left[0]
            h = left if last else (step, 0.0)
            for i in range(MOMENT):
                value = (high[i, order], low[i, order])
                for k in range(order - 1, -1, -1):
                    value = add(multiply(value, h), (high[i, k], low[i, k]))
                high[i, 0], low[i, 0] = value
            now = add(now, h)
            steps += 1
            if last:
                break
            if steps > MOST_STEPS or not step > 0.0:
                return -1
        for i in range(7):
            high_out[n, i] = high[i, 0]
            low_out[n, i] = low[i, 0]
    return steps


@cache
def _compiled() -> Callable[..., Any]:
    return compile_driver(integrate, _SIGNATURE)


def solve(
    torque_class: str,
    moments: np.ndarray,
    q0: np.ndarray,
    omega0: np.ndarray,
    parameters: np.ndarray,
    times: np.ndarray,
    order: int = ORDER,
    tolerance: float = TOLERANCE,
) -> tuple[np.ndarray, np.ndarray]:
    """The state of one body under a torque of a class, at ascending times, as pairs of doubles.

    Parameters
    ----------
    torque_class : key of :data:`polhode.ensembles.classes.CLASSES`
    moments (3,), q0 (4,), omega0 (3,), parameters (k,) : the body, its start, the numbers of the torque; exact as given
    times : (t,), positive
    order, tolerance : of the expansions, and the relative size of their last terms

    Returns
    -------
    The high and the low parts, (t, 7) each: q and omega. The state is their sum.

    Raises
    ------
    ArithmeticError
        If the solution cannot be continued to the last time.
    ValueError
        For an unknown class.
    """
    ends = np.ascontiguousarray(times, dtype=float)
    high, low = np.full((len(ends), 7), np.nan), np.full((len(ends), 7), np.nan)
    given = (np.ascontiguousarray(values, dtype=float) for values in (moments, q0, omega0, [*parameters, 0.0]))
    if _compiled()(list(CLASSES).index(torque_class), *given, ends, order, tolerance, high, low) < 0:
        raise ArithmeticError(f"torque class {torque_class}: the Taylor series cannot be continued to t = {ends[-1]}")
    return high, low


def reference(ensemble: Ensemble, torque_class: str, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The exact states of all n bodies under a torque class, named by its key, at ascending, positive ``times`` (t,).

    Returns
    -------
    high, low : (n, t, 7)
        q and omega as sums of two doubles.
    digits : (n,)
        -log10 of the largest difference, over times and components, from a run of another order and other steps; at most
        :data:`MOST_DIGITS`.

    Raises
    ------
    ArithmeticError
        If a solution cannot be continued to the last time.
    ValueError
        For an unknown class.
    """
    bodies = ensemble.bodies(torque_class)
    rows = list(zip(bodies.moments, bodies.q0, bodies.omega0, bodies.parameters, strict=True))
    solutions = [solve(torque_class, *row, times) for row in rows]
    others = [solve(torque_class, *row, times, CHECK_ORDER, CHECK_TOLERANCE) for row in rows]
    high, low = (np.array([solution[i] for solution in solutions]) for i in range(2))
    high2, low2 = (np.array([solution[i] for solution in others]) for i in range(2))
    apart = np.abs((high - high2) + (low - low2)).max(axis=(1, 2))
    return high, low, np.minimum(-np.log10(np.maximum(apart, 10.0**-MOST_DIGITS)), MOST_DIGITS)


def errors(q: np.ndarray, omega: np.ndarray, high: np.ndarray, low: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The errors of double results against reference states, with the full precision of the differences.

    Parameters
    ----------
    q (..., 4), omega (..., 3) : results
    high, low (..., 7) : q and omega of the reference

    Returns
    -------
    The angle (...) between the orientations in rad, for which the norm of q does not count, and |omega - reference| (...), in
    the unit of omega.
    """
    sign = np.where((q * high[..., :4]).sum(-1, keepdims=True) < 0, -1.0, 1.0)
    # The first difference is exact near the reference; the sum of both is the difference from it, with a relative rounding.
    d = (sign * q - high[..., :4]) - low[..., :4]
    p = high[..., :4]
    # The rotation from the reference to the result is p* (p + d) = |p|^2 + p* d: its vector part is that of p* d.
    vector = p[..., :1] * d[..., 1:] - d[..., :1] * p[..., 1:] - np.cross(p[..., 1:], d[..., 1:])
    scalar = 1.0 + (p * d).sum(-1)
    angle = 2.0 * np.arctan2(np.sqrt((vector * vector).sum(-1)), np.abs(scalar))
    apart = (omega - high[..., 4:]) - low[..., 4:]
    return angle, np.sqrt((apart * apart).sum(-1))
