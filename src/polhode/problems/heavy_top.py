r"""Lagrange's heavy top: symmetric, with its fixed point on the axis of symmetry, started in nutation.

Parameter ``mgl``: weight times distance of the centre of mass from the fixed point, N m. Moments are about the fixed point. All
numbers are our choice: two seconds contain two nutations, nearly four turns of spin and over a third of a turn of precession.

.. math::

   I \dot\omega + \omega \times I \omega = -m g l\; e_z \times R(q)^T e_z, \qquad I_x = I_y
"""

from typing import Any

from polhode.algebra.body import Body
from polhode.algebra.quaternion import to_body
from polhode.problems.problem import Problem


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque l e_z x m g in the body frame, (3,), N m; the weight acts along the lab's -z.

    q (4,) is scalar first, body to lab; t and omega are not read; ``parameters`` are mgl (N m) alone.
    """
    up = to_body(q, (0.0, 0.0, 1.0))
    return (parameters[0] * up[1], -parameters[0] * up[0], 0.0)


def potential(q: Any, parameters: Any) -> Any:
    """The potential energy m g l cos(theta), J: weight times height of the centre of mass above the fixed point.

    q (4,) is scalar first, body to lab, its components numbers or arrays; ``parameters`` as of :func:`torque`.
    """
    return parameters[0] * (q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3])


PROBLEM = Problem(
    key="heavy_top",
    label="heavy symmetric top",
    short_label="heavy top",
    rank=1,
    source="our choice, after Lagrange",
    body=Body((1.0, 1.0, 0.6)),
    omega0=(0.7, -0.5, 12.0),
    q0=(0.9, 0.3, -0.3, 0.1),
    torque=torque,
    parameters={"mgl": 8.0},
    load_formula=r"$M=mgl\,(u_y,-u_x,0)$, $u=A(q)(0,0,1)$",
    torque_class="state",
    horizon=2.0,
    reference="lagrange_top",
    formula="Lagrange's top in Jacobi elliptic and theta functions",
    potential=potential,
    conserves=("energy", "vertical momentum"),
)
