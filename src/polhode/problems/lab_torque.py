r"""An asymmetric body with a torque defined in the lab frame: our test of methods that freeze the torque in the body frame.

The torque depends only on time, but its body components change as the body turns; a method that keeps them fixed during a
rotation has a first-order error. The angular momentum in the lab is known at all times as its initial value plus the
impulse. The constant part is small, so that the body spins up slowly in a long run.

.. math::

   I \dot\omega + \omega \times I \omega = R(q)^T M^{\mathrm{lab}}(t), \qquad
   M^{\mathrm{lab}}_k = c_k + a_k \sin(\nu t + k), \quad k = 0, 1, 2
"""

from math import sin
from typing import Any

import numpy as np

from polhode.algebra.body import Body
from polhode.algebra.quaternion import to_body
from polhode.problems.problem import Problem


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque c_k + a_k sin(nu t + k), k = 0, 1, 2 for the lab axes x, y, z, turned into the body frame: (3,), N m.

    t in s; q (4,) scalar first, body to lab; omega is not read; ``parameters``: c_x, c_y, c_z, a_x, a_y, a_z (N m), nu (rad/s).
    """
    lab = (
        parameters[0] + parameters[3] * sin(parameters[6] * t),
        parameters[1] + parameters[4] * sin(parameters[6] * t + 1.0),
        parameters[2] + parameters[5] * sin(parameters[6] * t + 2.0),
    )
    return to_body(q, lab)


def impulse(t: Any, parameters: Any) -> Any:
    """The lab torque integrated from 0 to t: c_k t + (a_k / nu) (cos(k) - cos(nu t + k)). (3,) N m s, lab frame.

    t in s, a number or an array; ``parameters`` as of :func:`torque`.
    """
    c, a, nu = parameters[0:3], parameters[3:6], parameters[6]
    return tuple(c[k] * t + a[k] / nu * (np.cos(k) - np.cos(nu * t + k)) for k in range(3))


PROBLEM = Problem(
    key="lab_torque",
    label="asymmetric body under a lab torque",
    short_label="lab torque",
    rank=1,
    represents_class=True,
    source="our choice",
    body=Body((0.8, 1.3, 1.9)),
    omega0=(0.9, -0.7, 1.1),
    q0=(6 / 9, -2 / 9, 5 / 9, 4 / 9),
    torque=torque,
    parameters={"cx": 0.12, "cy": -0.08, "cz": 0.1, "ax": 0.9, "ay": -0.7, "az": 0.8, "nu": 1.7},
    load_formula=r"$M=A(q)M^{\mathrm{lab}}$, $M^{\mathrm{lab}}_k=c_k+a_k\sin(\nu t+k)$, $k=0,1,2$ for $x,y,z$",
    symbols={"cx": "c_x", "cy": "c_y", "cz": "c_z", "ax": "a_x", "ay": "a_y", "az": "a_z", "nu": r"\nu"},
    torque_class="lab",
    horizon=2.0,
    impulse=impulse,
    conserves=("momentum",),
)
