"""Closed form for a free body with three different moments, in Jacobi's elliptic and theta functions.

After Jacobi, and van Zon and Schofield, J. Comput. Phys. 225 (2007) 145. The axes are renamed so that omega_3 never vanishes:
I1 < I2 < I3 if L^2 > 2 E I2, else I1 > I2 > I3, with signs that make omega_3 positive and the frame right-handed. With
P_i = L^2 - 2 E I_i,

    p^2 = P1 (I3 - I2)/(I1 I2 I3),    1 - m = (I3 - I1) P2/((I3 - I2) P1),    u = p t + eps,
    (omega_1, omega_2, omega_3) = (a1 cn u, sign(I3 - I1) a2 sn u, a3 dn u),
    a1^2 = P3/(I1 (I1 - I3)),    a2^2 = P3/(I2 (I2 - I3)),    a3^2 = P1/(I3 (I3 - I1)).

The orientation, up to a fixed rotation that takes the angular momentum to the axis z, is Rz(psi) Rx(theta) Rz(phi) with

    cos theta = I3 omega_3/L,    phi = atan2(I1 omega_1, I2 omega_2),
    psi' = L/I3 - (L P3/I3)/(L^2 - I3^2 omega_3^2).

The second part of psi is -(L P3/(I3 p d)) Pi(nu; u), an integral of the third kind with d = L^2 - I3^2 a3^2 and
nu = -I3^2 a3^2 m/d. In Jacobi's form, with nu = m sn^2(i alpha), that is sn(alpha, 1 - m) = I3 a3/L, it is the argument of a
theta function and a part linear in time: psi = constant t + sign(I3 - I1) arg theta_4(u + i alpha).
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import mpmath

from polhode.references.closed_form import conjugate, digits_of, latest_time, multiply, real
from polhode.references.precision import digits_and_guard
from polhode.references.theta import Jacobi, Point

if TYPE_CHECKING:
    from polhode.problems.problem import Problem


def solve(problem: "Problem", times: Sequence[float], digits: int) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Exact (q, omega) at each time in s, to ``digits`` decimal digits, as mpmath numbers.

    q (4,) is the orientation, body to lab, scalar first, omega (3,) the angular velocity in the body frame, rad/s.

    Floating-point inputs count as the exact binary numbers they are.

    Raises
    ------
    ValueError
        If the torque class is not "free", if the body has wheels or a controller, if two moments are equal or if the motion is
        exactly on the separatrix, where this closed form does not hold; or if a time is not finite.
    """
    where = f"problem {problem.key!r}"
    latest = latest_time(problem, times, "free")
    if len(set(problem.body.inertia)) < 3:
        raise ValueError(
            f"{where}: this closed form needs three different moments, got {problem.body.inertia}; "
            "name the equal ones Ix and Iy and use the reference symmetric_top"
        )
    if sum(w != 0 for w in problem.omega0) < 2:
        with digits_and_guard(digits + digits_of(Fraction(latest) * Fraction(max(map(abs, problem.omega0))))):
            return [_steady(problem, mpmath.mpf(float(t))) for t in times]
    invariants = _FreeInvariants(problem)
    if invariants.p2 == 0:
        raise ValueError(
            f"{where}: the motion is exactly on the separatrix, L^2 = 2 E I2, where this closed form does not hold; "
            "use polhode.references.taylor"
        )
    with digits_and_guard(digits + invariants.digits_lost(latest)):
        motion = _FreeMotion(problem, invariants)
        return [motion.state(mpmath.mpf(float(t))) for t in times]


def _steady(problem: "Problem", t: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Spin about a principal axis, or rest."""
    omega = tuple(mpmath.mpf(w) for w in problem.omega0)
    half = sum(omega) * t / 2
    turned = (mpmath.cos(half), *(mpmath.sin(half) if w else mpmath.mpf(0) for w in omega))
    return multiply(tuple(mpmath.mpf(x) for x in problem.q0), turned), omega


class _FreeInvariants:
    """The renamed axes and the conserved quantities, as exact fractions: the digits depend on their differences."""

    def __init__(self, problem: "Problem"):
        moments = [Fraction(i) for i in problem.body.inertia]
        spin = [Fraction(w) for w in problem.omega0]
        order = sorted(range(3), key=lambda i: moments[i])
        if _defect(moments, spin, order[1]) < 0:
            order.reverse()
        # The product of the signs is 1 for a cyclic order of the axes and -1 for any other: the frame stays right-handed.
        cyclic = (order[1] - order[0]) % 3 == 1
        sign = -1 if spin[order[2]] < 0 else 1
        self.order = order
        self.signs = (sign if cyclic else -sign, 1, sign)
        self.moments = i1, i2, i3 = tuple(moments[k] for k in order)
        self.spin = tuple(s * spin[k] for s, k in zip(self.signs, order, strict=True))
        self.p1, self.p2, self.p3 = (_defect(moments, spin, k) for k in order)
        self.momentum2 = sum(((i * w) ** 2 for i, w in zip(self.moments, self.spin, strict=True)), Fraction(0))
        self.m1 = (i3 - i1) * self.p2 / ((i3 - i2) * self.p1)
        self.amplitudes2 = (
            self.p3 / (i1 * (i1 - i3)),
            self.p3 / (i2 * (i2 - i3)),
            self.p1 / (i3 * (i3 - i1)),
        )
        self.d = self.momentum2 - i3 * i3 * self.amplitudes2[2]
        self.p_squared = self.p1 * (i3 - i2) / (i1 * i2 * i3)

    def digits_lost(self, latest: float) -> int:
        """Digits lost to cancellation near the separatrix, near steady spin, and in the angles turned up to a time in s."""
        fastest = sum(map(abs, self.spin)) * max(self.moments) / min(self.moments)
        return digits_of(1 / self.m1) + digits_of(self.momentum2 / self.d) + digits_of(Fraction(latest) * fastest)


def _defect(moments: Sequence[Fraction], spin: Sequence[Fraction], k: int) -> Fraction:
    """L^2 - 2 E I_k"""
    return sum((i * (i - moments[k]) * w * w for i, w in zip(moments, spin, strict=True)), Fraction(0))


class _FreeMotion:
    """The motion of one body, in the current precision: the constants of the motion, and the state at a time."""

    def __init__(self, problem: "Problem", invariants: _FreeInvariants):
        self.order, self.signs = invariants.order, invariants.signs
        i1, i2, i3 = map(real, invariants.moments)
        momentum = mpmath.sqrt(real(invariants.momentum2))
        a1, a2, a3 = (mpmath.sqrt(real(x)) for x in invariants.amplitudes2)
        self.sense = 1 if invariants.moments[2] > invariants.moments[0] else -1
        self.amplitudes = (a1, self.sense * a2, a3)
        # n = (components of L in the body)/L
        self.direction = (i1 * a1 / momentum, i2 * a2 / momentum, i3 * a3 / momentum)
        self.p = mpmath.sqrt(real(invariants.p_squared))
        self.functions = Jacobi(real(1 - invariants.m1), real(invariants.m1))
        w1, w2, w3 = map(real, invariants.spin)
        self.start = self.functions.argument(self.sense * w2 / a2, w1 / a1, w3 / a3)

        sine = self.direction[2]
        cosine2 = real(invariants.d / invariants.momentum2)
        alpha = sine * mpmath.elliprf(cosine2, 1 - self.functions.m1 * sine * sine, 1)
        self.line = self.functions.line(alpha, 4)
        coupling = -momentum * real(invariants.p3) / (i3 * real(invariants.d))
        self.turning = momentum / i3 + coupling - self.sense * self.p * self.line.rate_at(self.functions.at(mpmath.mpf(0)))
        raw, _ = self._raw(mpmath.mpf(0))
        self.q0 = multiply([mpmath.mpf(x) for x in problem.q0], self._named(conjugate(raw)))

    def state(self, t: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        raw, point = self._raw(t)
        omega = [a * f for a, f in zip(self.amplitudes, (point.cn, point.sn, point.dn), strict=True)]
        _, *omega = self._named((0, *omega))
        return multiply(self.q0, self._named(raw)), tuple(omega)

    def _named(self, q: Sequence[Any]) -> tuple[Any, ...]:
        """A quaternion in the axes of the problem."""
        named = [q[0]] * 4
        for k, sign, x in zip(self.order, self.signs, q[1:], strict=True):
            named[k + 1] = sign * x
        return tuple(named)

    def _raw(self, t: Any) -> tuple[tuple[Any, ...], Point]:
        """Rz(psi) Rx(theta) Rz(phi)"""
        point = self.functions.at(self.p * t + self.start)
        b1, b2, b3 = self.direction
        # phi = pi/2 - sense chi, and chi never differs from z by a quarter turn, which unwraps it.
        along = mpmath.mpc(b1 * point.cn, b2 * point.sn)
        sine = abs(along)
        half_z = mpmath.expj(point.z / 2)
        half_chi = half_z * mpmath.sqrt(along / sine * mpmath.conj(half_z * half_z))
        # Nor does the argument of theta_4 ever reach a quarter turn.
        value = self.line.at(point)
        half_psi = mpmath.sqrt(value / abs(value))
        if self.sense < 0:
            half_chi, half_psi = mpmath.conj(half_chi), mpmath.conj(half_psi)
        half_psi *= mpmath.expj(self.turning * t / 2)
        half_phi = mpmath.mpc(1, 1) / mpmath.sqrt(2) * mpmath.conj(half_chi)
        cosine = mpmath.sqrt((1 + b3 * point.dn) / 2)
        x = cosine * half_psi * half_phi
        y = sine / (2 * cosine) * half_psi * mpmath.conj(half_phi)
        return (x.real, y.real, y.imag, x.imag), point
