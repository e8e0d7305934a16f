"""The angular velocity of the forced cylinder in closed form: an independent check of the Taylor series.

For the orientation, Seelen et al. (2016), Sec. 3.3, have no analytical solution; the angular velocity has one. With Ix = Ia,
Iy = Iz = It, mu = (It - Ia)/It, W = omega_y + i omega_z and T = tau_y + i tau_z, the torque being a function of time alone,
Euler's equations are

    Ia d(omega_x)/dt = tau_x,    dW/dt = T/It - i mu omega_x W,

so that W = exp(-i mu Phi) [W0 + integral of (T/It) exp(i mu Phi)] with Phi the integral of omega_x. For tau_x = a sin(nu t),

    omega_x = omega_x0 + b (1 - cos(nu t)),    Phi = w t - (b/nu) sin(nu t),    b = a/(Ia nu),    w = omega_x0 + b,

the generating function of the Bessel functions expands exp(-i z sin(nu t)), z = mu b/nu, in harmonics J_n(z) exp(-i n nu t),
and for T a sum of exponentials each term can be integrated. The sum over n converges faster than any power, as J_n does.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import mpmath

from polhode.references.closed_form import check_body
from polhode.references.precision import digits_and_guard

if TYPE_CHECKING:
    from polhode.problems.problem import Problem

PARAMETERS = ["x_amplitude", "x_frequency", "y_amplitude", "y_growth", "z_amplitude", "z_growth"]


def angular_velocity(problem: "Problem", times: Sequence[float], digits: int) -> list[tuple[Any, Any, Any]]:
    """Exact omega at each time in s, to ``digits`` decimal digits: three mpmath numbers in rad/s, body frame.

    ``problem`` is that of :mod:`polhode.problems.forced_cylinder`, or a modification with another body with Iy = Iz, another
    start or other parameters. Floating-point inputs count as the exact binary numbers they are.

    Raises
    ------
    ValueError
        If the body has wheels or a controller, if Iy != Iz, or if the names of the parameters are not :data:`PARAMETERS`, of
        the torque of Seelen et al., Eq. 5.
    ZeroDivisionError
        If the frequency of the torque about x is 0.
    """
    check_body(problem)
    axial, transverse, third = problem.body.inertia
    if transverse != third:
        raise ValueError(f"problem {problem.key!r}: this closed form needs Iy = Iz, got {problem.body.inertia}")
    if list(problem.parameters) != PARAMETERS:
        raise ValueError(f"problem {problem.key!r}: this closed form needs parameters {PARAMETERS}, got {problem.parameters}")
    with digits_and_guard(digits):
        ia, it = mpmath.mpf(axial), mpmath.mpf(transverse)
        a, nu, y, y_growth, z, z_growth = (mpmath.mpf(p) for p in problem.parameters.values())
        x0, y0, z0 = (mpmath.mpf(w) for w in problem.omega0)
        mu = (it - ia) / it
        b = a / (ia * nu)
        w = x0 + b
        depth = mu * b / nu
        # T / It is a sum of amplitude * exp(growth t).
        growing = ((y * mpmath.e**3 / it, y_growth), (mpmath.mpc(0, z) / it, z_growth))
        harmonics = _harmonics(depth)

        def omega(t: Any) -> tuple[Any, Any, Any]:
            integral = mpmath.mpc(y0, z0)
            for n, weight in harmonics:
                for amplitude, growth in growing:
                    rate = mpmath.mpc(growth, mu * w - n * nu)
                    integral += weight * amplitude * mpmath.expm1(rate * t) / rate
            turned = mpmath.expj(-mu * w * t + depth * mpmath.sin(nu * t)) * integral
            return (x0 + b * (1 - mpmath.cos(nu * t)), turned.real, turned.imag)

        return [omega(mpmath.mpf(float(t))) for t in times]


def _harmonics(z: Any) -> list[tuple[int, Any]]:
    """Pairs (n, J_n(z)), n of either sign, of all terms that matter in the current precision."""
    terms = [(0, mpmath.besselj(0, z))]
    n = 0
    while abs(terms[-1][1]) > mpmath.eps**2:
        n += 1
        value = mpmath.besselj(n, z)
        terms += [(n, value), (-n, (-1) ** n * value)]
    return terms
