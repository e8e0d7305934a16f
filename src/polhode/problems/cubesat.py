r"""A cubesat of three units with a momentum wheel that turns freely after its release: our own test of bodies with wheels.

The wheel has the constant angular momentum h about the body's y axis, so that the body nutates at about
:math:`h/\sqrt{I_x I_z}` = 0.31 rad/s, three times as fast as it turns; the time simulated has some eleven nutations. The energy
of the body and the angular momentum of body and wheel in the lab stay.

.. math::

   I \dot\omega + \omega \times (I \omega + h) = 0, \qquad h = (0, h, 0)

For methods without wheels :math:`h\times\omega` is a torque that depends on the angular velocity; hence the torque class. To
splittings the wheel is part of the body (:mod:`polhode.methods.wheels`).
"""

from typing import Any

from polhode.algebra.body import Body, Wheel
from polhode.problems.problem import Problem


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """Zero torque besides the torque of the wheel, (3,) N m in the body frame, at any time, orientation and omega."""
    return (0.0, 0.0, 0.0)


PROBLEM = Problem(
    key="cubesat",
    label="cubesat with a momentum wheel",
    short_label="cubesat",
    rank=4,
    source="our choice",
    body=Body((0.007, 0.035, 0.036), wheels=(Wheel((0.0, 1.0, 0.0), 0.005),)),
    omega0=(0.02, 0.06, 0.08),
    torque=torque,
    load_formula=r"$M=h\times\omega$",
    torque_class="velocity",
    horizon=200.0,
    conserves=("energy", "momentum"),
)
