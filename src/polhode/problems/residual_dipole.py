r"""The tumbling cubesat with a residual magnetic moment, in the field of a dipole that turns with the Earth.

Satellite and orbit are as in :mod:`polhode.problems.gravity_gradient`, here without the gradient. The moment m is
fixed in the body; the field B changes along the orbit, and as the Earth turns the tilted axis of the dipole
(:mod:`polhode.problems.orbit`).

.. math::

   I \dot\omega + \omega \times I \omega = m \times R(q)^T B(t)
"""

from dataclasses import replace
from typing import Any

from polhode.problems import orbit
from polhode.problems.gravity_gradient import BODY, ORBIT
from polhode.problems.gravity_gradient import PROBLEM as GRAVITY_GRADIENT


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque m x B of the Earth's field, (3,) N m in the body frame.

    ``q`` (4,) is the orientation, scalar first, body to lab, ``t`` the time in s; ``omega`` is not read. ``parameters`` are the
    numbers of :func:`polhode.problems.orbit.numbers_of` for this torque.
    """
    return orbit.dipole(t, q, parameters, 0)


PROBLEM = replace(
    GRAVITY_GRADIENT,
    key="residual_dipole",
    label="satellite with a residual magnetic dipole",
    short_label="residual dipole",
    rank=4,
    torque=torque,
    parameters=orbit.numbers_of("dipole", ORBIT, BODY.inertia, {"moment": (0.004, -0.003, 0.006), "longitude": 0.5}),
    load_formula=(
        r"$M=m\times A(q)B_0(d-3(d\cdot\hat r)\hat r)$, $\hat r=(\cos u,\sin u\cos i,\sin u\sin i)$, $u=u_0+nt$, "
        r"$d=(\sin\delta\cos\lambda,\sin\delta\sin\lambda,\cos\delta)$, $\lambda=\lambda_0+\Omega t$"
    ),
    symbols={
        **{"cos_i": r"\cos i", "sin_i": r"\sin i", "u0": "u_0", "mx": "m_x", "my": "m_y", "mz": "m_z", "B": "B_0"},
        **{"cos_tilt": r"\cos\delta", "sin_tilt": r"\sin\delta", "rotation": r"\Omega", "longitude": r"\lambda_0"},
    },
)
