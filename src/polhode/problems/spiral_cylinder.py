r"""A steel cylinder under a constant torque about its axis: del Valle et al. (2024), Sec. 3.

Radius 5 cm, height 15 cm, density 7750 kg/m^3, axis along x, Mx = 0.5 N m. The moments of inertia follow from the dimensions
without rounding: the publication prints 0.0114 and 0.0228 kg m^2, which are 0.1 % off and change the state after one second by
as much as the largest errors it plots.

.. math::

   I \dot\omega + \omega \times I \omega = (M_x, 0, 0)
"""

from typing import Any

from polhode.algebra.body import Body
from polhode.problems.problem import Problem


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque (Mx, 0, 0) in the body frame, (3,), N m, at any time, orientation and omega; ``parameters`` are Mx alone."""
    return (parameters[0], 0.0, 0.0)


PROBLEM = Problem(
    key="spiral_cylinder",
    label="cylinder under a constant axial torque",
    short_label="SPIRAL's cylinder",
    rank=1,
    represents_class=True,
    source="del Valle et al. (2024), Sec. 3",
    body=Body.cylinder(radius=0.05, height=0.15, density=7750.0),
    omega0=(0.3, -0.9, 0.6),
    torque=torque,
    parameters={"Mx": 0.5},
    load_formula="$M=(M_x,0,0)$",
    symbols={"Mx": "M_x"},
    torque_class="constant",
    horizon=1.0,
    reference="axial_torque",
    formula="Landau-Zener sweep in Kummer functions",
)
