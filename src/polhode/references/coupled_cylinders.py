"""Closed form for two cylinders on fixed parallel axes with friction proportional to the sliding velocity at their contact.

With the sliding velocity v = R1 omega1 + R2 omega2 and the friction force -eta v of Seelen et al. (2016), Eq. 9, the axial
spins obey I_i d(omega_i)/dt = -R_i eta v. Hence dv/dt = -k v with k = eta (R1^2/I1 + R2^2/I2). With s_i = R_i eta v0/I_i and
theta_i the angle turned,

    omega_i = omega_i0 - s_i E,    theta_i = omega_i0 t - s_i (t - E)/k,    E = (1 - exp(-k t))/k.

The centres are at rest. The angular momentum of the two bodies is not conserved, since the forces on the axes form a couple;
I1 omega1/R1 - I2 omega2/R2 is.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import mpmath

from polhode.references.closed_form import multiply, turn
from polhode.references.precision import digits_and_guard

if TYPE_CHECKING:
    from polhode.problems.system import System


def solve(system: "System", times: Sequence[float], digits: int) -> list[list[tuple[tuple[Any, ...], ...]]]:
    """Exact (r, v, q, omega) of both bodies at each time in s, to ``digits`` decimal digits, as mpmath numbers.

    r (3,) is the position of the centre, m, v (3,) its velocity, m/s, both in the lab frame, q (4,) the orientation, body to
    lab, scalar first, omega (3,) the angular velocity in the body frame, rad/s.

    Floating-point inputs count as the exact binary numbers they are.

    Raises
    ------
    ValueError
        If there are not two bodies with fixed centres, a body spins about an axis other than x, or the parameters are not eta,
        R1 and R2.
    """
    where = f"problem {system.key!r}: this closed form needs"
    if list(system.parameters) != ["eta", "R1", "R2"]:
        raise ValueError(f"{where} parameters eta, R1, R2, got {system.parameters}")
    if not system.fixed or len(system.bodies) != 2:
        raise ValueError(f"{where} two bodies with fixed centres")
    if any(y or z for _, y, z in system.omega0):
        raise ValueError(f"{where} spins about x alone, got {system.omega0}")
    with digits_and_guard(digits):
        eta, *radii = (mpmath.mpf(p) for p in system.parameters.values())
        moments = [mpmath.mpf(body.inertia[0]) for body in system.bodies]
        spins = [mpmath.mpf(omega[0]) for omega in system.omega0]
        k = eta * sum(radius**2 / moment for radius, moment in zip(radii, moments, strict=True))
        sliding = sum(radius * spin for radius, spin in zip(radii, spins, strict=True))
        states: list[list[tuple[tuple[Any, ...], ...]]] = []
        for t in (mpmath.mpf(float(t)) for t in times):
            # The integral of v/v0 from 0 to t, and its integral; without friction their factor is zero.
            once = -mpmath.expm1(-k * t) / k if k else t
            twice = (t - once) / k if k else 0
            state: list[tuple[tuple[Any, ...], ...]] = []
            for i, (radius, moment, spin) in enumerate(zip(radii, moments, spins, strict=True)):
                slowing = radius * eta * sliding / moment
                theta = spin * t - slowing * twice
                r, v, q = (tuple(map(mpmath.mpf, values[i])) for values in (system.r0, system.v0, system.q0))
                state.append((r, v, multiply(q, turn((theta, 0, 0))), (spin - slowing * once, mpmath.mpf(0), mpmath.mpf(0))))
            states.append(state)
        return states
