r"""Linear springs and dashpots: Cundall and Strack (1979). The springs conserve energy, and much is known in closed form.

.. math::

   F_n = \max(0, k_n \delta + c\, u), \qquad F_t = -k_t \xi - \theta\, c\, v_t, \qquad |F_t| \le \mu F_n

The stiffness is a parameter, not a property of the material. With b = c/(2 m*) and w^2 = k_n/m* - b^2 a contact without
attraction lasts until the force vanishes, and :math:`e = \exp(-(b/w)(\pi - \arctan(2 b w/(w^2 - b^2))))`: Schwager and Poeschel
(2007).
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from polhode.compiling.kernel import kernel
from polhode.manybody.friction import with_friction
from polhode.manybody.law import Parameter
from polhode.manybody.material import MaterialPair
from polhode.manybody.restitution import linear_damping


@kernel
def normal(overlap: float, radius: float, constants: Any) -> tuple[float, float]:
    """The force, N, and the stored energy, J, at an overlap in m; the first constant is k_n, N/m."""
    force = constants[0] * overlap
    return force, 0.5 * force * overlap


@kernel
def stiffness(overlap: float, radius: float, constants: Any) -> float:
    """k_t, N/m, whatever overlap and radius are: the second constant."""
    k: float = constants[1]
    return k


@kernel
def damping(overlap: float, radius: float, mass: float, constants: Any) -> float:
    """2 D sqrt(k_n m*), kg/s, with the mass m* in kg; the first constant is k_n, N/m, the third D, without a unit.

    D is the part of critical damping; overlap and radius have no effect.
    """
    c: float = 2.0 * constants[2] * sqrt(constants[0] * mass)
    return c


def constants(pair: MaterialPair, values: Mapping[str, Any]) -> tuple[float, ...]:
    """The constants of the kernels: k_n and k_t (N/m), and the part of critical damping (without a unit).

    They follow from ``values``, the parameters of the law by name, whatever the materials of the pair are.
    """
    return values["stiffness"], values["stiffness"] * values["ratio"], linear_damping(values["restitution"])


LAW = with_friction(
    key="linear_spring_dashpot",
    label="linear spring and dashpot",
    source="Cundall and Strack (1979); Schwager and Poeschel (2007)",
    parameters={
        "stiffness": Parameter(1e5, "stiffness k_n of the normal spring", "N/m", least=1e-30),
        "ratio": Parameter(2 / 7, "stiffness of the tangential spring over that of the normal one"),
        "restitution": Parameter(0.8, "normal coefficient of restitution, which is obtained", least=1e-3, most=1.0),
    },
    onset=0.0,
    constants=constants,
    normal=normal,
    stiffness=stiffness,
    damping=damping,
)
