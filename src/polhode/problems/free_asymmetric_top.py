r"""A torque-free asymmetric top: omega circles the axis of the largest moment and is given by Jacobi's elliptic functions.

Moments and spin are our choice: six turns about the angular momentum in ten seconds.

.. math::

   I \dot\omega + \omega \times I \omega = 0, \qquad I_x < I_y < I_z
"""

from typing import Any

from polhode.algebra.body import Body
from polhode.problems.problem import Problem


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """Zero torque, (3,) N m in the body frame, at any time, orientation and angular velocity; no parameter is read."""
    return (0.0, 0.0, 0.0)


PROBLEM = Problem(
    key="free_asymmetric_top",
    label="free asymmetric top",
    short_label="asymmetric top",
    rank=2,
    represents_class=True,
    source="our choice",
    body=Body((0.8, 1.3, 1.9)),
    omega0=(1.1, -0.7, 2.0),
    torque=torque,
    load_formula="$M=0$",
    torque_class="free",
    horizon=10.0,
    reference="asymmetric_top",
    formula="Jacobi elliptic and theta functions",
    conserves=("energy", "momentum"),
)
