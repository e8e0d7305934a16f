r"""A sphere initially at rest, turned faster and faster about one axis: Seelen et al. (2016), Sec. 3.2.

Diameter 2 m, density 1100 kg/m^3, torque tau_y = A exp(t) with A = 1e5 N m (Eq. 4). The publication follows an arrow that
initially points along x and compares its direction after 1 s, some 39 rad later.

.. math::

   I \dot\omega = (0, A\, e^{t}, 0)
"""

from math import exp
from typing import Any

from polhode.algebra.body import Body
from polhode.problems.problem import Problem


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """The torque (0, A exp(t), 0) in the body frame, (3,), N m: Eq. 4. t in s; q and omega are not read.

    ``parameters`` are A (N m) alone.
    """
    return (0.0, parameters[0] * exp(t), 0.0)


PROBLEM = Problem(
    key="exponential_sphere",
    label="sphere under an exponential torque",
    short_label="sphere",
    rank=1,
    source="Seelen et al. (2016), Sec. 3.2",
    body=Body.sphere(radius=1.0, density=1100.0),
    omega0=(0.0, 0.0, 0.0),
    torque=torque,
    parameters={"A": 1e5},
    load_formula=r"$M=(0,A\,\mathrm e^t,0)$",
    torque_class="time",
    horizon=1.0,
    reference="fixed_axis",
    formula="rotation about a fixed axis",
)
