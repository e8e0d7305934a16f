r"""A symmetric top without torque: Seelen et al. (2016), Sec. 3.1, there over 10,000 s.

No rigid body has the published moments: the axial one, 2600 kg m^2, exceeds the sum of the other two. Euler's equations hold
nevertheless.

.. math::

   I \dot\omega + \omega \times I \omega = 0, \qquad I_x = I_y
"""

from typing import Any

from polhode.algebra.body import Body
from polhode.problems.problem import Problem


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """Zero torque, (3,) N m in the body frame, at any time, orientation and angular velocity; no parameter is read."""
    return (0.0, 0.0, 0.0)


PROBLEM = Problem(
    key="free_symmetric_top",
    label="free symmetric top",
    short_label="symmetric top",
    rank=1,
    source="Seelen et al. (2016), Sec. 3.1",
    body=Body((1100.0, 1100.0, 2600.0), triangle=False),
    omega0=(1.2, 0.45, -0.6),
    torque=torque,
    load_formula="$M=0$",
    torque_class="free",
    horizon=10.0,
    reference="symmetric_top",
    formula="turns about the angular momentum and about the axis of symmetry",
    conserves=("energy", "momentum"),
)
