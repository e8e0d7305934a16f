"""Jacobi's elliptic and theta functions of one parameter m at many arguments, for the closed forms of tops.

They are theta series (DLMF 20.2, 22.2) whose coefficients, and the quarter periods, are computed once; mpmath recomputes them
at each argument. One set of sines and cosines then serves every function at an argument. The nome is never too large: for m
within 1e-30 of 1 some forty terms give sixty digits.
"""

from dataclasses import dataclass
from typing import Any

import mpmath


@dataclass(frozen=True)
class Point:
    """The values at an argument u of :class:`Jacobi`: z = pi u/(2 K), sn, cn, dn, theta_4(z), and cos 2nz, sin 2nz for n = 1,
    2, ... up to the last term of the theta series; mpmath numbers without a unit.
    """

    z: Any
    sn: Any
    cn: Any
    dn: Any
    theta4: Any
    cosines: list[Any]
    sines: list[Any]


class Jacobi:
    """The functions of parameter m = k^2, 0 < m < 1, in the current precision.

    Parameters
    ----------
    m, m1 : mpf
        The parameter and 1 - m. Both are required: forming the difference would lose digits near either end.

    Attributes
    ----------
    quarter, complementary : mpf
        K(m) and K(1 - m).
    scale : mpf
        z/u = pi/(2 K).
    """

    def __init__(self, m: Any, m1: Any):
        half_pi = mpmath.pi / 2
        self.m1 = m1
        self.quarter = half_pi / mpmath.agm(1, mpmath.sqrt(m1))
        self.complementary = half_pi / mpmath.agm(1, mpmath.sqrt(m))
        self.scale = half_pi / self.quarter
        decay = mpmath.pi * self.complementary / self.quarter
        # On the lines u + i alpha the terms fall at least as fast as nome^(n^2 - n).
        self.terms = int(mpmath.sqrt(mpmath.mp.prec * mpmath.log(2) / decay)) + 2
        nome = mpmath.exp(-decay)
        signs = [(-1) ** n for n in range(self.terms + 1)]
        self.even = [2 * nome ** (n * n) for n in range(1, self.terms + 1)]
        self.even_alternating = [s * x for s, x in zip(signs[1:], self.even, strict=True)]
        # theta_1 and theta_2 without their common factor 2 nome^(1/4), which drops out of the ratios.
        odd = [nome ** (n * n + n) for n in range(self.terms + 1)]
        odd_alternating = [s * x for s, x in zip(signs, odd, strict=True)]
        theta2, theta3, theta4 = mpmath.fsum(odd), 1 + mpmath.fsum(self.even), 1 + mpmath.fsum(self.even_alternating)
        self._sn = [x * theta3 / theta2 for x in odd_alternating]
        self._cn = [x * theta4 / theta2 for x in odd]
        self._dn = theta4 / theta3

    def argument(self, sn: Any, cn: Any, dn: Any) -> Any:
        """The argument u in (-2K, 2K] at which the functions have these values, by Carlson's symmetric form (DLMF 19.25.5).

        Arguments and result are real mpmath numbers without a unit.
        """
        u = sn * mpmath.elliprf(cn * cn, dn * dn, 1)
        if cn >= 0:
            return u
        return (2 * self.quarter if sn >= 0 else -2 * self.quarter) - u

    def at(self, u: Any) -> Point:
        """All functions at a real argument u, an mpmath number without a unit."""
        z = self.scale * u
        step = mpmath.expj(z)
        powers = [step]
        for _ in range(2 * self.terms):
            powers.append(powers[-1] * step)
        # e^(i z), e^(3 i z), ... and e^(2 i z), e^(4 i z), ...
        odd, even = powers[::2], powers[1::2]
        cosines = [x.real for x in even]
        theta4 = 1 + mpmath.fdot(self.even_alternating, cosines)
        return Point(
            z=z,
            sn=mpmath.fdot(self._sn, [x.imag for x in odd]) / theta4,
            cn=mpmath.fdot(self._cn, [x.real for x in odd]) / theta4,
            dn=self._dn * (1 + mpmath.fdot(self.even, cosines)) / theta4,
            theta4=theta4,
            cosines=cosines,
            sines=[x.imag for x in even],
        )

    def line(self, alpha: Any, which: int) -> "Line":
        """The function theta_3 or theta_4, by ``which`` = 3 or 4, on the line u + i alpha, |alpha| < K(1 - m)."""
        return Line(self, alpha, which)


class Line:
    """theta_which(z + i y), z = pi u/(2 K) and y = pi alpha/(2 K), for real u.

    In Jacobi's form (DLMF 19.7, 20.9, 22.16) the circular integrals of the third kind consist of these and a part linear in u.
    With s, c, d = sn, cn, dn of alpha to the parameter 1 - m,

        integral of dv/(1 - nu sn^2 v) from 0 to u = u + S [arg theta_which(z + i y) - rate u],    rate = d arg/du at 0,

        which = 4: nu = m sn^2(i alpha) = -m s^2/c^2 < 0,          S = s c/d,
        which = 3: nu = m sn^2(K + i alpha) = m/d^2, m < nu < 1,   S = d/((1 - m) s c).

    For which = 4 the real part is positive: the argument is harmonic in z + i y, 0 on the real axis and between -pi/2 and pi/2
    for alpha = K(1 - m).
    """

    def __init__(self, functions: Jacobi, alpha: Any, which: int):
        weights = {3: functions.even, 4: functions.even_alternating}[which]
        step = mpmath.exp(2 * functions.scale * alpha)
        growing, falling = ([x**n for n in range(1, len(weights) + 1)] for x in (step, 1 / step))
        self.real = [w * (a + b) / 2 for w, a, b in zip(weights, growing, falling, strict=True)]
        self.imaginary = [-w * (a - b) / 2 for w, a, b in zip(weights, growing, falling, strict=True)]
        # The factor of d/du.
        self.real_rates = [-2 * n * functions.scale * x for n, x in enumerate(self.real, 1)]
        self.imaginary_rates = [2 * n * functions.scale * x for n, x in enumerate(self.imaginary, 1)]

    def at(self, point: Point) -> Any:
        """The value theta_which(z + i y), a complex mpmath number, at a point u of :meth:`Jacobi.at`."""
        return mpmath.mpc(1 + mpmath.fdot(self.real, point.cosines), mpmath.fdot(self.imaginary, point.sines))

    def derivative_at(self, point: Point) -> Any:
        """The derivative d/du of theta_which(z + i y), a complex mpmath number, at a point u of :meth:`Jacobi.at`."""
        return mpmath.mpc(mpmath.fdot(self.real_rates, point.sines), mpmath.fdot(self.imaginary_rates, point.cosines))

    def rate_at(self, point: Point) -> Any:
        """The derivative d/du of arg theta_which(z + i y), a real mpmath number, at a point u where theta does not vanish."""
        return (self.derivative_at(point) / self.at(point)).imag
