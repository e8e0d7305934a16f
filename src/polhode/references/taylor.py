"""Arbitrary-precision Taylor integrator for any problem: it checks the closed forms, and replaces them where there is none.

The state (q, omega) is expanded in power series of time, order by order (Jorba and Zou, Exp. Math. 14 (2005) 99),

    dq/dt = q (0, omega) / 2,    I d(omega)/dt = torque(t, q, omega) - omega x I omega,

and for the bodies of a system also dr/dt = v, m dv/dt = force, unless their centres are fixed. The series are evaluated at the
requested times inside each step. A step ends at the problem's breakpoints, and is shortened until the torque along it is the
one of the series (:mod:`polhode.references.defect`). Torques and loads are the problem's own functions, run on series, so there
is no second version of them. Nothing is shared with the closed forms or with the methods.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import mul
from typing import TYPE_CHECKING, Any

import mpmath
import numpy as np

from polhode.algebra.vector import cross
from polhode.compiling.plain import plain_copy
from polhode.interface.extras import load
from polhode.problems.pieces import BEFORE_TABLE
from polhode.problems.problem import plus_wheels
from polhode.problems.system import System
from polhode.references.defect import GOLDEN, Looks
from polhode.references.precision import GUARD_DIGITS, digits_and_guard

if TYPE_CHECKING:
    from polhode.problems.problem import Case, Problem

gmpy2 = load("gmpy2", what="the Taylor integrator")

#: How many of the last coefficients determine the step; single ones vanish in series of definite parity.
TAIL = 6
#: Bits that the equations of motion may lack at the end of a step: of the guard digits the larger part.
SLACK = 30
#: The binary exponent below which a vector counts as zero, in parts of the precision: a body at rest is not accurate relative
#: to what the foot of a later pulse gives it.
REST = -3
#: Before the end of a step, in parts of it, they are evaluated there: a breakpoint may be the end itself.
BEFORE_END = 2.0**-20
#: The shortest step, in parts of the whole time; what needs a shorter one cannot be expanded.
SHORTEST = 2.0**-90
#: A branch of the torque is taken as it is after this part of the whole time, or of that to the next breakpoint.
INSIDE, INSIDE_PIECE = 2.0**-40, 2.0**-10

Vector = tuple[Any, ...]
#: (time, series of the state's vectors) -> their rates of change, as series or numbers.
Equations = Callable[[Any, Sequence[Any]], list[Any]]


class Series:
    """A power series whose coefficients are computed on demand.

    ``rule(k)`` gives coefficient k from lower ones, of the series it depends on or its own; each is computed once. Coefficients
    are gmpy2 numbers in the current precision. ``+ - * /`` and powers combine series with series and with numbers.
    """

    __slots__ = ("coefficients", "rule")

    #: The time (s) after the expansion at which comparisons are decided, see :func:`_sign`.
    inside: Any = 0.0

    def __init__(self, rule: Callable[[int], Any], *initial: Any):
        self.rule = rule
        self.coefficients = list(initial)

    def upto(self, k: int) -> list[Any]:
        """The list of the known coefficients, from number 0 up to at least number k."""
        known = self.coefficients
        while len(known) <= k:
            known.append(self.rule(len(known)))
        return known

    def __getitem__(self, k: int) -> Any:
        return self.upto(k)[k]

    def __lt__(self, other: Any) -> bool:
        return bool(_sign(self - other) < 0)

    def __le__(self, other: Any) -> bool:
        return bool(_sign(self - other) <= 0)

    def __gt__(self, other: Any) -> bool:
        return bool(_sign(self - other) > 0)

    def __ge__(self, other: Any) -> bool:
        return bool(_sign(self - other) >= 0)

    def __abs__(self) -> "Series":
        return -self if self < 0 else self

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


def _sign(x: Series) -> Any:
    """A number of the sign that the series has shortly after its expansion, which decides the branches of a torque.

    A breakpoint is a binary number; the sum or quotient that a torque compares with the time may be another one by rounding. So
    not the value at the breakpoint decides, but the one a little inside of the piece that begins there. Of the state, whose
    rates are not known before the torque is, the value decides.
    """
    try:
        return x[0] + x[1] * Series.inside
    except IndexError:
        return x[0]


def convolution(x: Series, y: Series, k: int) -> Any:
    """Coefficient k, a number, of the product of the series x and y."""
    # The longer list may be ahead by one order; map stops at the end of the reversed one.
    return sum(map(mul, x.upto(k), y.upto(k)[k::-1]))


def derivative(x: Series) -> Series:
    """The derivative of a series by its argument, a series whose coefficients are computed when they are needed."""
    return Series(lambda k: (k + 1) * x[k + 1])


def exp(x: Any) -> Any:
    """The exponential of a series, as a series, or of a number of gmpy2, as such a number."""
    if not isinstance(x, Series):
        return gmpy2.exp(x)
    rate = derivative(x)
    result = Series(lambda k: convolution(rate, result, k - 1) / k if k else gmpy2.exp(x[0]))
    return result


def sin(x: Any) -> Any:
    """The sine of a series, as a series, or of a number of gmpy2, as such a number; the argument is in rad."""
    return _sine_and_cosine(x)[0] if isinstance(x, Series) else gmpy2.sin(x)


def cos(x: Any) -> Any:
    """The cosine of a series, as a series, or of a number of gmpy2, as such a number; the argument is in rad."""
    return _sine_and_cosine(x)[1] if isinstance(x, Series) else gmpy2.cos(x)


def _sine_and_cosine(x: Series) -> tuple[Series, Series]:
    rate = derivative(x)
    sine = Series(lambda k: convolution(rate, cosine, k - 1) / k if k else gmpy2.sin(x[0]))
    cosine = Series(lambda k: -convolution(rate, sine, k - 1) / k if k else gmpy2.cos(x[0]))
    return sine, cosine


def sqrt(x: Any) -> Any:
    """The square root of a series, as a series, or of a number of gmpy2, as such a number."""
    return x**0.5 if isinstance(x, Series) else gmpy2.sqrt(x)


#: Replacements for the functions of ``math`` in a torque.
FUNCTIONS = {math.exp: exp, math.sin: sin, math.cos: cos, math.sqrt: sqrt}


def on_series(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a plain-Python or compiled function that also runs on series.

    The kernels that it calls become plain Python, and the functions of ``math`` those of this module, also in what it calls.

    Raises
    ------
    ValueError
        If it uses a function of ``math`` that has no series in this module.
    """

    lack = "math.{name} has no series, only {known} have; give the problem a torque_series"
    converted: Callable[..., Any] = plain_copy(function, FUNCTIONS, lack)
    return converted


def solve(
    problem: "Problem", times: Sequence[float], digits: int, order: int | None = None
) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """(q, omega) at each time in s, to ``digits`` decimal digits, as mpmath numbers, for any problem; times in any order.

    q (4,) is the orientation, body to lab, scalar first, omega (3,) the angular velocity in the body frame, rad/s.
    Floating-point inputs count as the exact binary numbers they are.

    Parameters
    ----------
    order : int, optional
        Order of the expansions; by default the one with the least work for the precision. Step sizes follow from it.

    Raises
    ------
    ValueError
        If a time is negative or not finite, if the torque uses a function of ``math`` that :func:`on_series` refuses and the
        problem has no ``torque_series``, or if a controller takes too many samples.
    ArithmeticError
        If the solution cannot be continued to the last time, as where the torque jumps at a time that ``breakpoints`` of the
        problem does not name.
    """
    return [(q, omega) for q, omega in _solve(problem, _one_body, times, digits, order)]


def solve_system(
    system: "System", times: Sequence[float], digits: int, order: int | None = None
) -> list[list[tuple[tuple[Any, ...], ...]]]:
    """A list of (r, v, q, omega) over the bodies of a system at each time; arguments and errors: see :func:`solve`.

    r (3,) is the position of the centre of mass, m, v (3,) its velocity, m/s, both in the lab frame, q (4,) the orientation,
    body to lab, scalar first, omega (3,) the angular velocity in the body frame, rad/s.
    """
    return [
        [vectors[i : i + 4] for i in range(0, len(vectors), 4)]
        for vectors in _solve(system, _several_bodies, times, digits, order)
    ]


def _solve(
    case: "Case",
    equations: Callable[[Looks], tuple[list[Vector], "Equations"]],
    times: Sequence[float],
    digits: int,
    order: int | None,
) -> list[tuple[Vector, ...]]:
    """The vectors of the state at each time, as mpmath numbers."""
    if not all(math.isfinite(t) and t >= 0 for t in times):
        raise ValueError(f"problem {case.key!r}: reference times must be finite and not negative, got {list(times)!r}")
    with digits_and_guard(digits):
        bits = mpmath.mp.prec
        # The order with the least work per unit of time: Jorba and Zou, Sec. 3.2.
        order = order or math.ceil(bits * math.log(2) / 2) + 1
        with gmpy2.context(gmpy2.get_context(), precision=bits):
            wanted = sorted({float(t) for t in times})
            # Another precision or order looks at other instants.
            looks = Looks(case, wanted[-1] if wanted else 0.0, (bits * order * GOLDEN) % 1)
            states = _integrate(looks, *equations(looks), [gmpy2.mpfr(t) for t in wanted], bits, order)
        by_time = dict(zip(wanted, states, strict=True))
        return [tuple(tuple(map(to_mpmath, vector)) for vector in by_time[float(t)]) for t in times]


def self_agreement(case: "Case", times: Sequence[float], digits: int, states: Sequence[Any] | None = None) -> list[float]:
    """The decimal digits that the Taylor solution shares at each time with a run of higher precision and order.

    ``case`` is a problem or a system, ``times`` are in s, ``states`` its solution at ``digits`` digits if already known. The
    result has a number for each time, as of :func:`agreement`; for errors see :func:`solve`.
    """
    solver = solver_of(case)
    # The checking run shares no step and no rounding.
    finer = digits + 10
    others = solver(case, times, finer, round(1.6 * (finer + GUARD_DIGITS)))
    return shared_digits(states or solver(case, times, digits), others, digits)


def solver_of(case: "Case") -> Callable[..., list[Any]]:
    """The function that solves this case: :func:`solve` for a problem, :func:`solve_system` for a system."""
    return solve_system if isinstance(case, System) else solve


def shared_digits(states: Sequence[Any], others: Sequence[Any], digits: int) -> list[float]:
    """The decimal digits that each pair of states shares (:func:`agreement`), at most ``digits`` plus the guard digits.

    ``states`` and ``others`` are solutions at the same times, as :func:`solve` or :func:`solve_system` returns them.
    """
    return [agreement(a, b, digits + GUARD_DIGITS) for a, b in zip(states, others, strict=True)]


def agreement(a: Any, b: Any, cap: int) -> float:
    """Decimal digits that two states share: log10(max(|a|, |b|)/|a - b|), the smallest over their vectors, at most ``cap``.

    A state is a tuple of vectors, (q, omega), or for several bodies a list of such tuples. Rounded down to a tenth; further
    decimals have no meaning.
    """
    if isinstance(a, list):
        return min(agreement(x, y, cap) for x, y in zip(a, b, strict=True))
    worst = float(cap)
    with digits_and_guard(cap):
        for x, y in zip(a, b, strict=True):
            distance = mpmath.sqrt(sum((p - q) ** 2 for p, q in zip(x, y, strict=True)))
            size = max(mpmath.sqrt(sum(p * p for p in x)), mpmath.sqrt(sum(q * q for q in y)))
            if distance:
                worst = min(worst, math.floor(10 * float(mpmath.log10(size / distance))) / 10)
    return worst


def to_mpmath(x: Any) -> Any:
    """A finite number of gmpy2 as a number of mpmath, rounded to the current precision of mpmath."""
    mantissa, exponent = x.as_mantissa_exp()
    return mpmath.mpf((int(mantissa), int(exponent)))


def _integrate(
    looks: Looks, start: list[Vector], equations: "Equations", times: Sequence[Any], bits: int, order: int
) -> list[list[Vector]]:
    """The vectors of the state at ascending ``times``, in the current gmpy2 precision."""
    vectors = start
    t = gmpy2.mpfr(0)
    states: list[list[Vector]] = []
    while len(states) < len(times):
        end = next((gmpy2.mpfr(b) for b in looks.edges if t < b < times[-1]), times[-1])
        Series.inside = min((end - t) * INSIDE_PIECE, times[-1] * INSIDE)
        series = expand(t, vectors, equations)
        for x in chain.from_iterable(series):
            x.upto(order)
        step = min(longest_step(series, bits, order), end - t)
        while step > 0 and not _holds(looks, equations, t, step, end, series, bits, order):
            step /= 2
            if step < SHORTEST * times[-1]:
                raise ArithmeticError(
                    f"problem {looks.case.key!r}: the torque jumps or has a kink at about t = {float(t):.15g} s, where no "
                    "power series can follow it; name this time under breakpoints of the problem"
                )
        while len(states) < len(times) and times[len(states)] - t <= step:
            states.append(values(series, times[len(states)] - t, order))
        if len(states) == len(times):
            break
        vectors = values(series, step, order)
        if t + step == t or not all(gmpy2.is_finite(x) for x in chain.from_iterable(vectors)):
            raise ArithmeticError(f"problem {looks.case.key!r}: the Taylor series cannot be continued beyond t = {float(t)} s")
        t += step
    return states


def _holds(
    looks: Looks, equations: "Equations", t: Any, step: Any, end: Any, series: list[list[Series]], bits: int, order: int
) -> bool:
    """Whether series expanded at t solve the equations of motion in a step: in double precision within, in full at its end.

    The latter is needed where a pulse begins: what double precision does not see of it is in the digits asked for.
    """
    scale = [gmpy2.mpfr(1)]
    for _ in range(order):
        scale.append(scale[-1] * step)
    scaled = [
        np.array([[float(c * x) for c, x in zip(scale, component.coefficients, strict=False)] for component in v]).T
        for v in series
    ]
    if looks.misses(float(t), float(step), scaled):
        return False
    h = step * (1 - BEFORE_END)
    Series.inside = min((end - t - h) * INSIDE_PIECE, looks.last * INSIDE)
    next_series = expand(t + h, values(series, h, order), equations)
    for vector, other in zip(series, next_series, strict=True):
        size = max(abs(c * x) for component in vector for c, x in zip(scale, component.coefficients, strict=False))
        size = max(size, gmpy2.mpfr(2) ** (REST * bits))
        for component, expanded in zip(vector, other, strict=True):
            slope = gmpy2.mpfr(0)
            for k in range(order, 0, -1):
                slope = slope * h + k * component[k]
            if not abs(slope - expanded[1]) * step <= size * gmpy2.mpfr(2) ** (SLACK - bits):
                return False
    return True


def expand(t: Any, vectors: Sequence[Vector], equations: "Equations") -> list[list[Series]]:
    """The series of a state's vectors about the time t, from their values there: lists of :class:`Series` by vector.

    ``vectors`` are tuples of gmpy2 numbers; ``equations`` (t, series of the vectors) returns their rates of change by t, as
    series or numbers. Coefficient k has the unit of its component by the unit of t to the power k.
    """
    rates: list[list[Series]] = []

    def unknown(i: int, j: int, value: Any) -> Series:
        return Series(lambda k: rates[i][j][k - 1] / k, value)

    series = [[unknown(i, j, x) for j, x in enumerate(vector)] for i, vector in enumerate(vectors)]
    time = Series(lambda k: gmpy2.mpfr(1 if k == 1 else 0), t)
    rates.extend([r if isinstance(r, Series) else _constant(r) for r in rate] for rate in equations(time, series))
    return series


def _one_body(looks: Looks) -> tuple[list[Vector], "Equations"]:
    """The initial vectors (q, omega), and the function giving their rates of change.

    The first expansion in an interval of a controller is at its sample, since steps end there.
    """
    problem: Problem = looks.case  # type: ignore[assignment]
    inertia = _numbers(problem.body.inertia)
    parameters = _numbers(problem.numbers)
    torque = problem.torque_series or on_series(problem.torque)
    if problem.body.wheels and not problem.has_motors:
        torque = on_series(plus_wheels(torque, len(problem.parameters)))

    controller, held = problem.controller, dict[int, Vector]()
    control = on_series(controller.torque) if controller else torque
    motors = on_series(controller.motors) if controller and controller.motors else None
    across = on_series(cross)
    samples = [k * controller.every for k in range(controller.intervals(looks.last))] if controller else []

    def sampled(t: Any, q: Vector, omega: Vector, number: int) -> Vector:
        """The numbers of an interval, as :mod:`polhode.problems.pieces` has them."""
        assert controller is not None
        if number not in held:
            numbers, h = parameters, _numbers(problem.body.wheel_momentum)
            if motors and number:
                h = tuple(x + controller.every * u for x, u in zip(held[number - 1][6:], held[number - 1][3:6], strict=True))
            if motors:
                numbers = (*parameters[:-3], *h)
            state = t, tuple(x[0] for x in q), tuple(x[0] for x in omega), numbers
            held[number] = (*_numbers(control(*state)), *((*_numbers(motors(*state)), *h) if motors else ()))
            at = len(problem.numbers) + BEFORE_TABLE + controller.width * number
            looks.parameters[at : at + controller.width] = [float(x) for x in held[number]]
        return held[number]

    def rates(t: Series, vectors: Sequence[Any]) -> list[Any]:
        q, omega = (tuple(v) for v in vectors)
        load = torque(t, q, omega, parameters)
        if controller:
            number = bisect_right(samples, t[0]) - 1
            numbers = sampled(t[0], q, omega, number)
            load = tuple(x + u for x, u in zip(load, numbers, strict=False))
            if motors:
                h = tuple(x + u * (t - samples[number]) for x, u in zip(numbers[6:], numbers[3:6], strict=True))
                load = tuple(x + y - u for x, y, u in zip(load, across(h, omega), numbers[3:6], strict=True))
        return [turning(q, omega), euler(omega, load, inertia)]

    return [_numbers(problem.q0), _numbers(problem.omega0)], rates


def _several_bodies(looks: Looks) -> tuple[list[Vector], "Equations"]:
    """The initial vectors r, v, q, omega, body by body, and the function giving their rates of change."""
    system: System = looks.case  # type: ignore[assignment]
    inertia = [_numbers(body.inertia) for body in system.bodies]
    mass = _numbers(body.mass for body in system.bodies)
    parameters = _numbers(system.parameters.values())
    loads = on_series(system.loads)

    def rates(t: Series, vectors: Sequence[Any]) -> list[Any]:
        r, v, q, omega = (vectors[i::4] for i in range(4))
        force, torque = ([[gmpy2.mpfr(0)] * 3 for _ in mass] for _ in range(2))
        loads(t, r, v, q, omega, parameters, force, torque)
        changes: list[Any] = []
        for i, m in enumerate(mass):
            moving = [[0] * 3] * 2 if system.fixed else [v[i], [f / m for f in force[i]]]
            changes += [*moving, turning(q[i], omega[i]), euler(omega[i], torque[i], inertia[i])]
        return changes

    start = zip(system.r0, system.v0, system.q0, system.omega0, strict=True)
    return [_numbers(vector) for vector in chain.from_iterable(start)], rates


def turning(q: Sequence[Any], omega: Sequence[Any]) -> tuple[Any, ...]:
    """The rate dq/dt (4,), 1/s, from q (4,), body to lab, and omega (3,), rad/s, body frame; all are series or numbers.

    q is scalar first.
    """
    q0, qx, qy, qz = q
    x, y, z = omega
    return (
        -(qx * x + qy * y + qz * z) / 2,
        (q0 * x + qy * z - qz * y) / 2,
        (q0 * y + qz * x - qx * z) / 2,
        (q0 * z + qx * y - qy * x) / 2,
    )


def euler(omega: Sequence[Any], torque: Sequence[Any], inertia: Sequence[Any]) -> tuple[Any, ...]:
    """The rate d(omega)/dt (3,), rad/s^2, by Euler's equations in the body frame; all are series or numbers.

    ``omega`` (3,) is in rad/s, ``torque`` (3,) in N m, ``inertia`` are the principal moments (3,), kg m^2.
    """
    x, y, z = omega
    tx, ty, tz = torque
    ix, iy, iz = inertia
    return ((tx + (iy - iz) * (y * z)) / ix, (ty + (iz - ix) * (z * x)) / iy, (tz + (ix - iy) * (x * y)) / iz)


def _numbers(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(gmpy2.mpfr(x) for x in values)


def _constant(value: Any) -> Series:
    return Series(lambda k: gmpy2.mpfr(0), gmpy2.mpfr(value))


def longest_step(series: Sequence[Sequence[Series]], bits: int, order: int) -> Any:
    """A step h for which the last terms c_k h^k are below the rounding of the largest term, for each vector of the state.

    A number of gmpy2 in the unit of the argument of the series, such as s; infinite if the series terminate earlier. ``bits``
    is the precision, ``order`` the number of the last term. Binary exponents are precise enough: a factor of two in a
    coefficient changes the step by one or two per cent.
    """
    smallest = math.inf
    for vector in series:
        size = [max((gmpy2.get_exp(x[k]) for x in vector if x[k]), default=None) for k in range(order + 1)]
        head = [(k, s) for k, s in enumerate(size[: order + 1 - TAIL]) if s is not None] + [(0, REST * bits)]
        for j in range(order + 1 - TAIL, order + 1):
            last = size[j]
            if last is not None:
                smallest = min(smallest, max((s - last - bits) / (j - k) for k, s in head))
    # A float, so that the times at which steps begin add up exactly.
    return gmpy2.mpfr(2.0**smallest if smallest < 1000 else math.inf)


def _evaluate(x: Series, h: Any, order: int) -> Any:
    """The value of the series at h, by Horner's rule."""
    value = x[order]
    for c in x.coefficients[order - 1 :: -1]:
        value = value * h + c
    return value


def values(series: Sequence[Sequence[Series]], h: Any, order: int) -> list[Vector]:
    """The vectors of the state at the distance h from the expansion, tuples of numbers, by terms up to number ``order``."""
    return [tuple(_evaluate(x, h, order) for x in vector) for vector in series]
