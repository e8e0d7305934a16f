r"""An asymmetric body slowed by friction, with a rotor inside: our own test of a velocity-dependent torque.

The friction torque is -C omega with a different constant about each axis. The rotor has the constant angular momentum h in the
body frame; turning it requires the torque -omega x h, which couples the axes and does no work, so that the body loses energy at
the rate omega . C omega.

.. math::

   I \dot\omega + \omega \times I \omega = h \times \omega - C \omega
"""

from typing import Any

from polhode.algebra.body import Body
from polhode.algebra.vector import cross
from polhode.problems.problem import Problem


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque -C omega + h x omega in the body frame, (3,) N m, from omega (3,), rad/s, body frame; t and q are not read.

    ``parameters`` are the friction about each axis, c_x, c_y, c_z (N m s), and h_x, h_y, h_z (N m s), body frame.
    """
    x, y, z = cross((parameters[3], parameters[4], parameters[5]), omega)
    return (x - parameters[0] * omega[0], y - parameters[1] * omega[1], z - parameters[2] * omega[2])


PROBLEM = Problem(
    key="damped_top",
    label="damped asymmetric body",
    short_label="damped top",
    rank=1,
    represents_class=True,
    source="our choice",
    body=Body((0.8, 1.3, 1.9)),
    omega0=(1.8, -1.4, 2.2),
    q0=(6 / 9, -2 / 9, 5 / 9, 4 / 9),
    torque=torque,
    parameters={"cx": 0.5, "cy": 0.9, "cz": 1.4, "hx": 0.6, "hy": -0.5, "hz": 0.8},
    load_formula=r"$M=h\times\omega-(c_x\omega_x,c_y\omega_y,c_z\omega_z)$",
    symbols={"cx": "c_x", "cy": "c_y", "cz": "c_z", "hx": "h_x", "hy": "h_y", "hz": "h_z"},
    torque_class="velocity",
    horizon=2.0,
)
