r"""A cubesat of three units that tumbles under the gradient of the Earth's gravity: our own test of a torque of an orbit.

The satellite flies in a circular orbit and turns about three times as fast as it flies round; the time simulated is about one
orbit. With the direction :math:`\hat r` from the Earth to the satellite (:mod:`polhode.problems.orbit`),

.. math::

   I \dot\omega + \omega \times I \omega = 3 n^2\, \hat r_B \times I \hat r_B, \qquad \hat r_B = R(q)^T \hat r(t)

The torque has a potential, :math:`\tfrac32 n^2\, \hat r_B \cdot I \hat r_B`, that stands still in a frame which turns with the
orbit, at the rate n about its normal c. The energy in this frame is therefore constant:

.. math::

   \tfrac12\, \omega \cdot I \omega - n\, c_B \cdot I \omega + \tfrac32 n^2\, \hat r_B \cdot I \hat r_B
"""

from typing import Any

from polhode.algebra.body import Body
from polhode.problems import orbit
from polhode.problems.problem import Problem

#: The satellite, and an orbit inclined like the orbit of the space station.
BODY, ORBIT = Body((0.007, 0.035, 0.036)), orbit.Orbit(altitude=4e5, inclination=0.9, phase=0.4)


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque of gravity, (3,) N m in the body frame.

    ``q`` (4,) is the orientation, scalar first, body to lab, ``t`` the time in s; ``omega`` is not read. ``parameters`` are the
    numbers of :func:`polhode.problems.orbit.numbers_of` for this torque.
    """
    return orbit.gravity_gradient(t, q, parameters, 0)


PROBLEM = Problem(
    key="gravity_gradient",
    label="satellite under the gravity gradient",
    short_label="gravity gradient",
    rank=3,
    source="our choice; torque as in Wertz (1978)",
    body=BODY,
    omega0=(0.0021, -0.0015, 0.0027),
    q0=(6 / 9, -2 / 9, 5 / 9, 4 / 9),
    torque=torque,
    parameters=orbit.numbers_of("gravity_gradient", ORBIT, BODY.inertia),
    load_formula=r"$M=3n^2\,\hat r\times I\hat r$, $\hat r=A(q)(\cos u,\sin u\cos i,\sin u\sin i)$, $u=u_0+nt$",
    symbols={"cos_i": r"\cos i", "sin_i": r"\sin i", "u0": "u_0", "Ix": "I_x", "Iy": "I_y", "Iz": "I_z"},
    dependence=r"$M(t,q)$",
    torque_class="state",
    horizon=5600.0,
)
