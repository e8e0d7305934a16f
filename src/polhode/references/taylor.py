"""Arbitrary-precision Taylor integrator for any problem: it checks the closed forms, and serves where there is none.

The state (q, omega) is expanded in power series of time, order by order (Jorba and Zou, Exp. Math. 14 (2005) 99),

    dq/dt = q (0, omega) / 2,    I d(omega)/dt = torque(t, q, omega) - omega x I omega,

and the series are evaluated at the times wanted inside each step. The torque is the problem's own function, run on series
instead of floats, so there is no second version of it. Nothing is shared with the closed forms or with the methods.
"""

import math
from collections.abc import Callable, Sequence
from operator import mul
from types import BuiltinFunctionType, CellType, CodeType, FunctionType
from typing import TYPE_CHECKING, Any

import gmpy2
import mpmath

from polhode.references.precision import GUARD_DIGITS, digits_and_guard

if TYPE_CHECKING:
    from polhode.problems.problem import Problem

#: How many of the last coefficients set the step; single ones vanish in series with a parity.
TAIL = 6

State = tuple[tuple[Any, ...], tuple[Any, ...]]


class Series:
    """A power series whose coefficients are found when asked for.

    ``rule(k)`` gives coefficient k from lower ones, of the series it is made of or of its own; each is found once. Coefficients
    are gmpy2 numbers of the precision in force. ``+ - * /`` and powers combine series with series and with numbers.
    """

    __slots__ = ("coefficients", "rule")

    def __init__(self, rule: Callable[[int], Any], *initial: Any):
        self.rule = rule
        self.coefficients = list(initial)

    def upto(self, k: int) -> list[Any]:
        """The list of coefficients, with at least number k in it."""
        found = self.coefficients
        while len(found) <= k:
            found.append(self.rule(len(found)))
        return found

    def __getitem__(self, k: int) -> Any:
        return self.upto(k)[k]

    def __add__(self, other: Any) -> "Series":
        if isinstance(other, Series):
            return Series(lambda k: self[k] + other[k])
        return Series(lambda k: self[k], self[0] + other)

    __radd__ = __add__

    def __neg__(self) -> "Series":
        return Series(lambda k: -self[k])

    def __pos__(self) -> "Series":
        return self

    def __sub__(self, other: Any) -> "Series":
        if isinstance(other, Series):
            return Series(lambda k: self[k] - other[k])
        return Series(lambda k: self[k], self[0] - other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Series):
            return Series(lambda k: convolution(self, other, k))
        return Series(lambda k: self[k] * other) if other else gmpy2.mpfr(0)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Series):
            return self * other**-1
        return Series(lambda k: self[k] / other)

    def __rtruediv__(self, other: Any) -> Any:
        return self**-1 * other

    def __pow__(self, exponent: Any) -> Any:
        if isinstance(exponent, int) and exponent >= 0:
            return self * self ** (exponent - 1) if exponent else 1

        # From x y' = exponent x' y.
        def rule(k: int) -> Any:
            if k == 0:
                return self[0] ** exponent
            terms = ((exponent * j - (k - j)) * self[j] * power.coefficients[k - j] for j in range(1, k + 1))
            return sum(terms) / (k * self[0])

        power = Series(rule)
        return power


def convolution(x: Series, y: Series, k: int) -> Any:
    """Coefficient k of the product x y."""
    # The longer list may run ahead by one order; map stops at the end of the reversed one.
    return sum(map(mul, x.upto(k), y.upto(k)[k::-1]))


def derivative(x: Series) -> Series:
    """dx/dt"""
    return Series(lambda k: (k + 1) * x[k + 1])


def exp(x: Any) -> Any:
    """Exponential of a series or a number."""
    if not isinstance(x, Series):
        return gmpy2.exp(x)
    rate = derivative(x)
    result = Series(lambda k: convolution(rate, result, k - 1) / k if k else gmpy2.exp(x[0]))
    return result


def sin(x: Any) -> Any:
    """Sine of a series or a number."""
    return _sine_and_cosine(x)[0] if isinstance(x, Series) else gmpy2.sin(x)


def cos(x: Any) -> Any:
    """Cosine of a series or a number."""
    return _sine_and_cosine(x)[1] if isinstance(x, Series) else gmpy2.cos(x)


def _sine_and_cosine(x: Series) -> tuple[Series, Series]:
    rate = derivative(x)
    sine = Series(lambda k: convolution(rate, cosine, k - 1) / k if k else gmpy2.sin(x[0]))
    cosine = Series(lambda k: -convolution(rate, sine, k - 1) / k if k else gmpy2.cos(x[0]))
    return sine, cosine


def sqrt(x: Any) -> Any:
    """Square root of a series or a number."""
    return x**0.5 if isinstance(x, Series) else gmpy2.sqrt(x)


#: What a torque finds in place of the functions of ``math``.
FUNCTIONS = {math.exp: exp, math.sin: sin, math.cos: cos, math.sqrt: sqrt}


def on_series(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a plain-Python or compiled function that also runs on series.

    Kernels it calls become plain Python and the functions of ``math`` those of this module, in what it calls too.

    Raises
    ------
    ValueError
        If it uses a function of ``math`` that has no series here.
    """

    class Mathematics:
        """The module ``math`` on series."""

        def __getattr__(self, name: str) -> Any:
            return convert(getattr(math, name))

    done: dict[FunctionType, FunctionType] = {}

    def convert(value: Any) -> Any:
        value = getattr(value, "py_func", value)
        if value is math:
            return Mathematics()
        if isinstance(value, BuiltinFunctionType) and value.__module__ == "math":
            if value not in FUNCTIONS:
                known = ", ".join(known.__name__ for known in FUNCTIONS)
                raise ValueError(f"math.{value.__name__} has no series, only {known} have; give the problem a torque_series")
            return FUNCTIONS[value]
        if not isinstance(value, FunctionType):
            return value
        if value not in done:
            cells = tuple(CellType(convert(cell.cell_contents)) for cell in value.__closure__ or ())
            names = dict(value.__globals__)
            done[value] = FunctionType(value.__code__, names, value.__name__, value.__defaults__, cells)
            for name in _names(value.__code__) & set(names):
                names[name] = convert(names[name])
        return done[value]

    converted: Callable[..., Any] = convert(function)
    return converted


def _names(code: CodeType) -> set[str]:
    """All names that a function looks up, in its comprehensions and inner functions too."""
    return set(code.co_names).union(*(_names(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def solve(
    problem: "Problem", times: Sequence[float], digits: int, order: int | None = None
) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """(q, omega) at each time in s, to ``digits`` decimal digits, as mpmath numbers; any problem, times in any order.

    Floating-point inputs count as the exact binary numbers they are.

    Parameters
    ----------
    order : int, optional
        Order of the expansions; by default the one with least work for the precision. Step lengths follow from it.

    Raises
    ------
    ValueError
        If a time is negative or not finite.
    ArithmeticError
        If the solution cannot be continued to the last time.
    """
    if not all(math.isfinite(t) and t >= 0 for t in times):
        raise ValueError(f"problem {problem.key!r}: reference times must be finite and not negative, got {list(times)!r}")
    with digits_and_guard(digits):
        bits = mpmath.mp.prec
        # The order with least work per unit of time: Jorba and Zou, Sec. 3.2.
        order = order or math.ceil(bits * math.log(2) / 2) + 1
        with gmpy2.context(gmpy2.get_context(), precision=bits):
            wanted = sorted({float(t) for t in times})
            found = dict(zip(wanted, _integrate(problem, [gmpy2.mpfr(t) for t in wanted], bits, order), strict=True))
        return [(tuple(map(_number, q)), tuple(map(_number, omega))) for q, omega in (found[float(t)] for t in times)]


def self_agreement(problem: "Problem", times: Sequence[float], digits: int) -> list[float]:
    """Digits that :func:`solve` shares at each time with a run of higher precision and order."""
    other = solve(problem, times, *finer(digits))
    cap = digits + GUARD_DIGITS
    return [agreement(a, b, cap) for a, b in zip(solve(problem, times, digits), other, strict=True)]


def finer(digits: int) -> tuple[int, int]:
    """(digits, order) of a run that can judge one at ``digits``: no step and no rounding is the same."""
    digits += 10
    return digits, round(1.6 * (digits + GUARD_DIGITS))


def agreement(a: State, b: State, cap: int) -> float:
    """Decimal digits that two states (q, omega) share: -log10 |a - b| / |b|, the worse of q and omega, at most ``cap``.

    Rounded down to a tenth, which is as much as the number means.
    """
    worst = float(cap)
    with digits_and_guard(cap):
        for x, y in zip(a, b, strict=True):
            distance = mpmath.sqrt(sum((p - q) ** 2 for p, q in zip(x, y, strict=True)))
            size = max(mpmath.sqrt(sum(p * p for p in x)), mpmath.sqrt(sum(q * q for q in y)))
            if distance:
                worst = min(worst, math.floor(10 * float(mpmath.log10(size / distance))) / 10)
    return worst


def _number(x: Any) -> Any:
    mantissa, exponent = x.as_mantissa_exp()
    return mpmath.mpf((int(mantissa), int(exponent)))


def _integrate(problem: "Problem", times: Sequence[Any], bits: int, order: int) -> list[State]:
    """The states at ascending ``times``, in the gmpy2 precision in force."""
    inertia = [gmpy2.mpfr(i) for i in problem.body.inertia]
    parameters = [gmpy2.mpfr(p) for p in problem.parameters.values()]
    torque = problem.torque_series or on_series(problem.torque)
    q, omega = ([gmpy2.mpfr(x) for x in v] for v in (problem.q0, problem.omega0))
    t = gmpy2.mpfr(0)
    states: list[State] = []
    while True:
        series = _expand(t, q, omega, inertia, torque, parameters)
        for x in series:
            x.upto(order)
        step = _step(series, bits, order)
        while len(states) < len(times) and times[len(states)] - t <= step:
            values = [_evaluate(x, times[len(states)] - t, order) for x in series]
            states.append((tuple(values[:4]), tuple(values[4:])))
        if len(states) == len(times):
            return states
        values = [_evaluate(x, step, order) for x in series]
        if t + step == t or not all(gmpy2.is_finite(x) for x in values):
            raise ArithmeticError(f"problem {problem.key!r}: the Taylor series cannot be continued beyond t = {float(t)} s")
        t, q, omega = t + step, values[:4], values[4:]


def _expand(
    t: Any,
    q: Sequence[Any],
    omega: Sequence[Any],
    inertia: Sequence[Any],
    torque: Callable[..., Any],
    parameters: Sequence[Any],
) -> list[Series]:
    """The series of q and omega about the time t, from their values there."""
    rates: list[Any] = []

    def unknown(i: int, value: Any) -> Series:
        return Series(lambda k: rates[i][k - 1] / k, value)

    q0, qx, qy, qz = (unknown(i, x) for i, x in enumerate(q))
    x, y, z = (unknown(4 + i, w) for i, w in enumerate(omega))
    ix, iy, iz = inertia
    time = Series(lambda k: gmpy2.mpfr(1 if k == 1 else 0), t)
    tx, ty, tz = torque(time, (q0, qx, qy, qz), (x, y, z), parameters)
    right_hand_sides = (
        -(qx * x + qy * y + qz * z) / 2,
        (q0 * x + qy * z - qz * y) / 2,
        (q0 * y + qz * x - qx * z) / 2,
        (q0 * z + qx * y - qy * x) / 2,
        (tx + (iy - iz) * (y * z)) / ix,
        (ty + (iz - ix) * (z * x)) / iy,
        (tz + (ix - iy) * (x * y)) / iz,
    )
    rates.extend(r if isinstance(r, Series) else _constant(r) for r in right_hand_sides)
    return [q0, qx, qy, qz, x, y, z]


def _constant(value: Any) -> Series:
    return Series(lambda k: gmpy2.mpfr(0), gmpy2.mpfr(value))


def _step(series: Sequence[Series], bits: int, order: int) -> Any:
    """A step h for which the last terms c_k h^k are below the rounding of the largest term, for q and for omega.

    Infinite if the series have ended before. Binary exponents are precise enough: a factor of two in a coefficient changes the
    step by one or two per cent.
    """
    smallest = math.inf
    for vector in (series[:4], series[4:]):
        size = [max((gmpy2.get_exp(x[k]) for x in vector if x[k]), default=None) for k in range(order + 1)]
        head = [(k, s) for k, s in enumerate(size[: order + 1 - TAIL]) if s is not None]
        for j in range(order + 1 - TAIL, order + 1):
            last = size[j]
            if last is not None and head:
                smallest = min(smallest, max((s - last - bits) / (j - k) for k, s in head))
    # A float: the times at which steps begin then add up exactly.
    return gmpy2.mpfr(2.0**smallest if smallest < 1000 else math.inf)


def _evaluate(x: Series, h: Any, order: int) -> Any:
    """The value of the series at h, by Horner's rule."""
    value = x[order]
    for c in x.coefficients[order - 1 :: -1]:
        value = value * h + c
    return value
