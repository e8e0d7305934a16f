"""Closed form for a body with Iy = Iz under a constant torque about x: the orientation is a Landau-Zener problem.

The angular velocity is del Valle et al. (2024), Eqs. 11, C.4, C.17, C.20, written so that it stays regular for Mx = 0 and when
omega_x crosses zero. With a = Mx/Ix, lam = Ix/I*, c = 1 - lam, Phi = integral of omega_x and W = omega_y + i omega_z,

    omega_x = omega_x0 + a t,    W = W0 exp(-i c Phi).

The publication integrates the orientation numerically; it also has a closed form. Write alpha = q0 + i qx, beta = qy + i qz,
alpha = exp(+i c Phi/2) A, beta = exp(-i c Phi/2) B. Then dq/dt = q (0, omega)/2 becomes a two-level system with a linear sweep
and a constant coupling, the problem of Landau and Zener,

    A' = +(i/2) lam omega_x A - conj(W0)/2 B,    B' = -(i/2) lam omega_x B + W0/2 A,

solved by Kummer functions M(s, b, z) for a != 0 and by a rotation for a = 0. For a weak sweep s or z is large, and the sums
of M are long and lose digits; there the solution is summed as one power series of t.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import mpmath

from polhode.references.closed_form import check_body, multiply
from polhode.references.precision import digits_and_guard

if TYPE_CHECKING:
    from polhode.problems.problem import Problem

#: Beyond this |s| or |z| a sweep can count as weak.
LARGEST_ARGUMENT = 100


def solve(problem: "Problem", times: Sequence[float], digits: int) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Exact (q, omega) at each time in s, to ``digits`` decimal digits, as mpmath numbers.

    q (4,) is the orientation, body to lab, scalar first, omega (3,) the angular velocity in the body frame, rad/s.

    Floating-point inputs count as the exact binary numbers they are. The torque is (Mx, 0, 0), constant in the body frame; that
    the torque of the problem is this one is not checked beyond its parameters.

    Raises
    ------
    ValueError
        If the body has wheels or a controller, if Iy != Iz, or if the problem has other parameters than ``Mx`` (N m) alone.
    """
    check_body(problem)
    moments = problem.body.inertia
    if moments[1] != moments[2]:
        raise ValueError(f"problem {problem.key!r}: this closed form needs Iy = Iz, got {moments}")
    if list(problem.parameters) != ["Mx"]:
        raise ValueError(f"problem {problem.key!r}: this closed form needs the single parameter Mx, got {problem.parameters}")
    with digits_and_guard(digits):
        return [_state(problem, mpmath.mpf(float(t))) for t in times]


def _state(problem: "Problem", t: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    axial, transverse, _ = (mpmath.mpf(i) for i in problem.body.inertia)
    x0, y0, z0 = (mpmath.mpf(w) for w in problem.omega0)
    a = mpmath.mpf(problem.parameters["Mx"]) / axial
    lam = axial / transverse
    c = 1 - lam
    coupling = mpmath.mpc(y0, z0)

    phi = x0 * t + a * t * t / 2
    w = coupling * mpmath.expj(-c * phi)
    omega = (x0 + a * t, w.real, w.imag)

    big_a, big_b = _landau_zener(a, lam, x0, coupling, t)
    alpha = mpmath.expj(c * phi / 2) * big_a
    beta = mpmath.expj(-c * phi / 2) * big_b
    turned = (alpha.real, alpha.imag, beta.real, beta.imag)
    return multiply(tuple(mpmath.mpf(x) for x in problem.q0), turned), omega


def _landau_zener(a: Any, lam: Any, x0: Any, coupling: Any, t: Any) -> tuple[Any, Any]:
    """A and B at t, from A = 1, B = 0 at t = 0."""
    if a == 0:
        return _steady(lam, x0, coupling, t)
    # Bound of the phase between 0 and t; |s| and the |z| at t = 0 exceed it if omega hardly changes in that time.
    phase = (lam * (abs(x0) + abs(a) * t / 2) + abs(coupling)) * t / 2
    largest = max(abs(coupling) ** 2 / (8 * lam * abs(a)), lam * x0**2 / (2 * abs(a)))
    if largest > max(phase, LARGEST_ARGUMENT):
        return _weak_sweep(a, lam, x0, coupling, t, phase)
    return _sweep(a, lam, x0, coupling, t)


def _sweep(a: Any, lam: Any, x0: Any, coupling: Any, t: Any) -> tuple[Any, Any]:
    """A and B for a != 0; u is the time measured from the instant at which omega_x vanishes."""
    kappa = lam * a / 2
    strength = abs(coupling) ** 2
    s = mpmath.mpc(0, -1) * strength / (16 * kappa)
    u0 = x0 / a
    u = t + u0
    f1, f2, g1, d2 = _solutions(s, kappa, u, mpmath.mp.prec)
    _, _, g1_0, d2_0 = _solutions(s, kappa, u0, mpmath.mp.prec)
    phase = mpmath.expj(kappa * (u * u + u0 * u0) / 2)
    return phase * (f1 * d2_0 + strength / 4 * f2 * g1_0), coupling / 2 * phase * (g1 * d2_0 - d2 * g1_0)


# Those at u0 are needed for every t.
@lru_cache(maxsize=2)
def _solutions(s: Any, kappa: Any, u: Any, bits: int) -> tuple[Any, Any, Any, Any]:
    """M(s, 1/2, z), u M(s + 1/2, 3/2, z), u M(s + 1, 3/2, z) and M(s + 1/2, 1/2, z), z = -i kappa u^2.

    ``bits`` is the current precision; s is imaginary. Two of them follow from Kummer's transformation,
    M(s, b, z) = exp(z) M(b - s, b, -z), whose second factor is the complex conjugate of M(b + s, b, z).
    """
    half = mpmath.mpf(1) / 2
    z = mpmath.mpc(0, -1) * kappa * u * u
    f1, g1 = mpmath.hyp1f1(s, half, z), u * mpmath.hyp1f1(s + 1, 3 * half, z)
    turn = mpmath.exp(z)
    return f1, turn * mpmath.conj(g1), g1, turn * mpmath.conj(f1)


def _weak_sweep(a: Any, lam: Any, x0: Any, coupling: Any, t: Any, phase: Any) -> tuple[Any, Any]:
    """A and B for small a: one power series, which converges for all t."""
    # The terms grow up to exp(phase) before they fall, and cancel.
    with mpmath.extradps(int(phase / mpmath.log(10)) + 5):
        rate = mpmath.mpc(0, lam / 2)
        # The terms A_n t^n and B_n t^n, and the previous ones.
        p, q, p_before, q_before = mpmath.mpc(1), mpmath.mpc(0), mpmath.mpc(0), mpmath.mpc(0)
        big_a, big_b = p, q
        n = 0
        while n < phase or max(abs(p), abs(q), abs(p_before), abs(q_before)) > mpmath.eps:
            sweep_p, sweep_q = rate * (x0 * p + a * t * p_before), rate * (x0 * q + a * t * q_before)
            p_before, q_before = p, q
            n += 1
            p, q = t / n * (sweep_p - mpmath.conj(coupling) / 2 * q), t / n * (coupling / 2 * p - sweep_q)
            big_a, big_b = big_a + p, big_b + q
        return big_a, big_b


def _steady(lam: Any, x0: Any, coupling: Any, t: Any) -> tuple[Any, Any]:
    """A and B for a = 0: a constant two-level system."""
    k = lam * x0 / 2
    g = mpmath.sqrt(k * k + abs(coupling) ** 2 / 4)
    if g == 0:
        return mpmath.mpc(1), mpmath.mpc(0)
    sine = mpmath.sin(g * t) / g
    return mpmath.mpc(mpmath.cos(g * t), k * sine), coupling / 2 * sine
