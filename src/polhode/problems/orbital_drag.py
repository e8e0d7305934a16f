r"""The tumbling cubesat in thin air, whose drag acts on a centre of pressure beside the centre of mass.

Satellite and orbit are as in :mod:`polhode.problems.gravity_gradient`, here without the gradient. The force F is
constant and acts against the direction of flight :math:`\hat v`, at the place c in the body
(:mod:`polhode.problems.orbit`).

.. math::

   I \dot\omega + \omega \times I \omega = -F\, c \times R(q)^T \hat v(t)

As with the gravity gradient the energy is constant in a frame that turns with the orbit, here with the potential
:math:`F\, c \cdot R(q)^T \hat v`.
"""

from dataclasses import replace
from typing import Any

from polhode.problems import orbit
from polhode.problems.gravity_gradient import BODY, ORBIT
from polhode.problems.gravity_gradient import PROBLEM as GRAVITY_GRADIENT


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque of the air, (3,) N m in the body frame.

    ``q`` (4,) is the orientation, scalar first, body to lab, ``t`` the time in s; ``omega`` is not read. ``parameters`` are the
    numbers of :func:`polhode.problems.orbit.numbers_of` for this torque.
    """
    return orbit.drag(t, q, parameters, 0)


PROBLEM = replace(
    GRAVITY_GRADIENT,
    key="orbital_drag",
    label="satellite under drag",
    short_label="drag in orbit",
    rank=5,
    torque=torque,
    parameters=orbit.numbers_of("drag", ORBIT, BODY.inertia, {"centre": (0.02, 0.005, -0.008), "density": 4e-12, "area": 0.03}),
    load_formula=r"$M=-F\,c\times A(q)(-\sin u,\cos u\cos i,\cos u\sin i)$, $c=(x,y,z)$, $u=u_0+nt$",
    symbols={"cos_i": r"\cos i", "sin_i": r"\sin i", "u0": "u_0", "force": "F"},
)
