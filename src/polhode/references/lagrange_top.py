"""Closed form for Lagrange's heavy top in Jacobi's elliptic and theta functions, with nutation at any phase.

Whittaker, Analytical Dynamics, 4th ed., Secs. 71-73; Klein and Sommerfeld, Theorie des Kreisels. With I1 = Ix = Iy, I3 = Iz,
u = cos theta, a = I3 omega_z/I1, b = L_vertical/I1, alpha = (2 E - I3 omega_z^2)/I1 and beta = 2 m g l/I1,

    u'^2 = (alpha - beta u)(1 - u^2) - (b - a u)^2 = beta (u - u1)(u2 - u)(u3 - u),    u1 <= u2 <= 1 <= u3,
    u = u1 + (u2 - u1) sn^2(p t + eps),    p^2 = beta (u3 - u1)/4,    m = (u2 - u1)/(u3 - u1).

The quaternion is two complex numbers, the Cayley-Klein parameters, in Euler's angles phi (precession), theta, psi (spin):

    X = q0 + i qz = cos(theta/2) exp(i (phi + psi)/2),    (phi + psi)' = omega_z - a + (b + a)/(1 + u),
    Y = qx + i qy = sin(theta/2) exp(i (phi - psi)/2),    (phi - psi)' = a - omega_z + (b - a)/(1 - u).

With u inserted these are integrals of the third kind, the arguments of theta functions whose moduli are cos(theta/2) and
sin(theta/2). Up to factors that are constant or rotate steadily, X is theta_4 and Y is theta_3, on lines parallel to the real
axis, over theta_4. Both, and their rates, from which omega follows, remain regular where the top passes the vertical.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import mpmath

from polhode.references.closed_form import digits_of, latest_time, real
from polhode.references.precision import digits_and_guard
from polhode.references.theta import Jacobi, Line, Point

if TYPE_CHECKING:
    from polhode.problems.problem import Problem


def solve(problem: "Problem", times: Sequence[float], digits: int) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Exact (q, omega) at each time in s, to ``digits`` decimal digits, as mpmath numbers.

    q (4,) is the orientation, body to lab, scalar first, omega (3,) the angular velocity in the body frame, rad/s.

    Floating-point inputs count as the exact binary numbers they are. The torque is mgl (n_y, -n_x, 0), n being the lab's z in
    the body frame; that the torque of the problem is this one is not checked beyond its class and parameters.

    Raises
    ------
    ValueError
        If Ix != Iy, if the torque class is not "state" or its parameters are not ``mgl`` > 0 alone, if the body has wheels or a
        controller, if the nutation has no period (steady precession, a sleeping top and the motions that tend to them), or if a
        time is not finite.
    """
    where = f"problem {problem.key!r}"
    latest = latest_time(problem, times, "state")
    moments = problem.body.inertia
    if moments[0] != moments[1]:
        raise ValueError(f"{where}: this closed form needs Ix = Iy, got {moments}")
    if list(problem.parameters) != ["mgl"] or not problem.parameters["mgl"] > 0:
        raise ValueError(f"{where}: this closed form needs the single parameter mgl > 0, got {problem.parameters}")
    invariants = _TopInvariants(problem)
    if invariants.discriminant == 0:
        raise ValueError(
            f"{where}: the nutation has no period (steady precession, or a motion that tends to it), and this closed form "
            "does not hold; use polhode.references.taylor"
        )
    with digits_and_guard(digits + invariants.digits_lost(latest)):
        motion = _TopMotion(invariants)
        begin = tuple(map(mpmath.mpf, problem.q0)), tuple(map(mpmath.mpf, problem.omega0))
        # From rest, an omega that is not exact would have no correct digit relative to its norm.
        return [motion.state(mpmath.mpf(float(t))) if t else begin for t in times]


class _TopInvariants:
    """The initial state and the conserved quantities, as exact fractions, in units of the angular velocity."""

    def __init__(self, problem: "Problem"):
        i1, _, i3 = map(Fraction, problem.body.inertia)
        q = self.q = tuple(map(Fraction, problem.q0))
        x, y, z = self.omega = tuple(map(Fraction, problem.omega0))
        # A rounded quaternion is not quite of norm 1, and the torque scales with its square.
        norm = self.norm = sum((c * c for c in q), Fraction(0))
        up_x = 2 * (q[1] * q[3] - q[0] * q[2]) / norm
        up_y = 2 * (q[2] * q[3] + q[0] * q[1]) / norm
        self.u = u = (q[0] ** 2 - q[1] ** 2 - q[2] ** 2 + q[3] ** 2) / norm
        self.rate = up_x * y - up_y * x
        self.beta = beta = 2 * Fraction(problem.parameters["mgl"]) * norm / i1
        self.a = a = i3 * z / i1
        self.b = b = up_x * x + up_y * y + u * a
        alpha = x * x + y * y + beta * u
        # The cubic beta (u^3 + c2 u^2 + c1 u + c0), and its discriminant.
        self.cubic = c2, c1, c0 = -(alpha + a * a) / beta, 2 * a * b / beta - 1, (alpha - b * b) / beta
        self.discriminant = 18 * c2 * c1 * c0 - 4 * c2**3 * c0 + (c2 * c1) ** 2 - 4 * c1**3 - 27 * c0**2
        self.largest = max(abs(alpha), beta, a * a, b * b)

    def digits_lost(self, latest: float) -> int:
        """Digits lost to cancellation between the roots, and in the angles turned up to a time in s."""
        root = self.largest / self.beta
        roots = digits_of(root**4 / self.discriminant) + 2 * digits_of(root)
        return roots + digits_of(Fraction(latest) ** 2 * (self.largest + self.omega[2] ** 2))


def _roots(invariants: _TopInvariants) -> tuple[Any, Any, Any]:
    """u1 < u2 < u3, by Viete's formula for three real roots."""
    c2, c1, c0 = invariants.cubic
    middle = -c2 / 3
    at_middle = real(middle**3 + c2 * middle**2 + c1 * middle + c0)
    radius = mpmath.sqrt(real(middle * middle - c1 / 3))
    third = mpmath.acos(-at_middle / (2 * radius**3)) / 3
    turn = 2 * mpmath.pi / 3
    u1, u2, u3 = (real(middle) + 2 * radius * mpmath.cos(x) for x in (third + turn, third - turn, third))
    return u1, u2, u3


def _start(functions: Jacobi, roots: Sequence[Any], beta: Any, u: Any, rate: Any) -> Any:
    """The argument eps of the elliptic functions at t = 0."""
    u1, u2, u3 = roots
    below, above = u - u1, u2 - u
    # The smaller one follows from the rate, without cancellation.
    if below < above:
        below = rate * rate / (beta * above * (u3 - u))
    else:
        above = rate * rate / (beta * below * (u3 - u))
    sn, cn, dn = (mpmath.sqrt(x) for x in (below / (u2 - u1), above / (u2 - u1), (u3 - u) / (u3 - u1)))
    return functions.argument(sn, cn if rate >= 0 else -cn, dn)


def _heights(functions: Jacobi, roots: Sequence[Any], beta: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """The heights of the lines of X, where nu = (u1 - u2)/(1 + u1), and of Y, where nu = (u2 - u1)/(1 - u1)."""
    u1, u2, u3 = roots
    # The cubic is -(b + a)^2 at u = -1 and -(b - a)^2 at 1, which gives the smallest factor without cancellation.
    over_floor = (b + a) ** 2 / (beta * (1 + u2) * (1 + u3))
    under_roof, over_roof = 1 - u2, u3 - 1
    if under_roof < over_roof:
        under_roof = (b - a) ** 2 / (beta * (1 - u1) * over_roof)
    else:
        over_roof = (b - a) ** 2 / (beta * (1 - u1) * under_roof)

    def height(sine2: Any, cosine2: Any) -> Any:
        """The argument with the given sn^2 and cn^2, for the parameter 1 - m."""
        return mpmath.sqrt(sine2) * mpmath.elliprf(cosine2, 1 - functions.m1 * sine2, 1)

    alpha_x = height((u3 - u1) / (1 + u3), over_floor / (1 + u3))
    alpha_y = height(over_roof / (u3 - u2), under_roof / (u3 - u2))
    return alpha_x if b + a >= 0 else -alpha_x, alpha_y if b - a >= 0 else -alpha_y


class _TopMotion:
    """The motion of one top, in the current precision: the constants of the motion, and the state at a time."""

    def __init__(self, invariants: _TopInvariants):
        a, b, beta, u, rate = map(real, (invariants.a, invariants.b, invariants.beta, invariants.u, invariants.rate))
        u1, u2, u3 = roots = _roots(invariants)
        p = self.p = mpmath.sqrt(beta * (u3 - u1)) / 2
        functions = self.functions = Jacobi((u2 - u1) / (u3 - u1), (u3 - u2) / (u3 - u1))
        self.start = _start(functions, roots, beta, u, rate)
        self.denominator = functions.line(mpmath.mpf(0), 4)
        alpha_x, alpha_y = _heights(functions, roots, beta, a, b)
        line_x, line_y = functions.line(alpha_x, 4), functions.line(alpha_y, 3)

        self.size = mpmath.sqrt(real(invariants.norm))
        q0, qx, qy, qz = (real(c) / self.size for c in invariants.q)
        x, y = mpmath.mpc(q0, qz), mpmath.mpc(qx, qy)
        wx, wy, self.spin = map(real, invariants.omega)
        # From the rate of the argument where the modulus is largest; where it vanishes there is none.
        turning_x = (self.spin - a + (b + a) / (1 + u2)) / 2 - p * line_x.rate_at(functions.at(functions.quarter))
        turning_y = (a - self.spin + (b - a) / (1 - u1)) / 2 - p * line_y.rate_at(functions.at(mpmath.mpf(0)))
        # dq/dt = q (0, omega)/2
        x_rate = (1j * self.spin * x - y * mpmath.mpc(wx, -wy)) / 2
        y_rate = (x * mpmath.mpc(wx, wy) - 1j * self.spin * y) / 2
        self.x = line_x, turning_x, self._factor(line_x, turning_x, x, x_rate)
        self.y = line_y, turning_y, self._factor(line_y, turning_y, y, y_rate)

    def state(self, t: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        point = self.functions.at(self.p * t + self.start)
        x, x_rate = self._value_and_rate(*self.x, point, t)
        y, y_rate = self._value_and_rate(*self.y, point, t)
        # omega = 2 q* dq/dt
        w = mpmath.conj(x) * (2 * y_rate + 1j * self.spin * y) - y * mpmath.conj(2 * x_rate - 1j * self.spin * x)
        return tuple(self.size * c for c in (x.real, y.real, y.imag, x.imag)), (w.real, w.imag, self.spin)

    def _value_and_rate(self, line: Line, turning: Any, factor: Any, point: Point, t: Any) -> tuple[Any, Any]:
        """X or Y, and its derivative."""
        denominator = self.denominator.at(point).real
        ratio = line.at(point) / denominator
        slope = (line.derivative_at(point) - ratio * self.denominator.derivative_at(point).real) / denominator
        turned = factor * mpmath.expj(turning * t)
        return turned * ratio, turned * (self.p * slope + 1j * turning * ratio)

    def _factor(self, line: Line, turning: Any, value: Any, rate: Any) -> Any:
        """The constant factor of X or Y, from its value and rate at t = 0."""
        first, first_rate = self._value_and_rate(line, turning, 1, self.functions.at(self.start), mpmath.mpf(0))
        # One of them may vanish (the value, where the top is vertical), but not both.
        return value / first if self.p * abs(first) > abs(first_rate) else rate / first_rate
