r"""A heavy top without any symmetry: gravity acts on a body with a fixed point; its centre of mass lies on no principal axis.

The moments are those about the fixed point. Moments, mass and arm are physically possible: with the second moments
s_x = (Iy + Iz - Ix)/2 and so on, the sum of m x^2/s_x over the three components of the arm is 0.49, and must not exceed 1. The
initial kinetic energy is of the order of the potential energy, so that the top neither swings nor spins regularly.

.. math::

   I \dot\omega + \omega \times I \omega = -m g\; r \times R(q)^T e_z
"""

from typing import Any

from polhode.algebra.body import Body
from polhode.algebra.quaternion import to_body
from polhode.algebra.vector import cross
from polhode.problems.problem import Problem


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque arm x weight in the body frame, (3,), N m; the weight m g points down along the lab's z axis.

    q (4,) is scalar first, body to lab; t and omega are not read. ``parameters`` are the weight m g (N) and the centre of mass
    seen from the fixed point, x, y, z (m) in the body frame.
    """
    return cross((parameters[1], parameters[2], parameters[3]), to_body(q, (0.0, 0.0, -parameters[0])))


def potential(q: Any, parameters: Any) -> Any:
    """The potential energy, m g times the height of the centre of mass above the fixed point, J.

    q (4,) is scalar first, body to lab, its components numbers or arrays; ``parameters`` as of :func:`torque`.
    """
    height = (
        2.0 * (q[1] * q[3] - q[0] * q[2]) * parameters[1]
        + 2.0 * (q[2] * q[3] + q[0] * q[1]) * parameters[2]
        + (q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3]) * parameters[3]
    )
    return parameters[0] * height


PROBLEM = Problem(
    key="asymmetric_heavy_top",
    label="asymmetric heavy top",
    short_label="asym. heavy top",
    rank=2,
    represents_class=True,
    source="our choice",
    body=Body((0.8, 1.3, 1.9)),
    omega0=(1.8, -1.4, 2.2),
    q0=(6 / 9, -2 / 9, 5 / 9, 4 / 9),
    torque=torque,
    parameters={"weight": 9.81, "x": 0.4, "y": -0.3, "z": 0.15},
    load_formula=r"$M=s\times A(q)(0,0,-G)$, $s=(x,y,z)$ the centre of mass, $G$ the weight",
    symbols={"weight": "G"},
    torque_class="state",
    horizon=2.0,
    potential=potential,
    conserves=("energy", "vertical momentum"),
)
