"""A problem of one's own, as a pattern to change: a magnetic needle that swings in a uniform field.

The moment m is fixed in the body, the field B in the lab; all numbers are examples.
"""

from typing import Any

from polhode.algebra.body import Body
from polhode.algebra.quaternion import to_body
from polhode.algebra.vector import cross
from polhode.problems.problem import Problem


def torque(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
    """m x B in the body frame; m lies along the body's z axis, B along the lab's z axis."""
    return cross((0.0, 0.0, parameters[0]), to_body(q, (0.0, 0.0, parameters[1])))


def potential(q: Any, parameters: Any) -> Any:
    """-m . B, J."""
    return -parameters[0] * parameters[1] * (q[0] * q[0] - q[1] * q[1] - q[2] * q[2] + q[3] * q[3])


PROBLEM = Problem(
    key="magnetic_needle",
    label="magnetic needle",
    source="docs/adding-a-problem.md",
    body=Body((1.0, 1.2, 0.3)),
    omega0=(0.2, 0.1, 0.5),
    q0=(0.8, 0.6, 0.0, 0.0),
    torque=torque,
    parameters={"m": 2.0, "B": 1.5},
    torque_class="state",
    horizon=5.0,
    potential=potential,
    conserves=("energy", "vertical momentum"),
)
