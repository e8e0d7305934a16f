r"""Hertz with Mindlin's tangential spring and the dashpots of Tsuji et al. (1992): the stretch of the spring is kept.

.. math::

   F_n &= \max\left(0, \tfrac43 E^* \sqrt{R^*}\, \delta^{3/2} + c\, u\right), \qquad
   c = \alpha \sqrt{\tfrac43 E^* \sqrt{R^*}\, m^*}\; \delta^{1/4} \\
   F_t &= -k_t \xi - \theta\, c\, v_t, \qquad k_t = 8 G^* \sqrt{R^* \delta}, \qquad |F_t| \le \mu F_n

With this power of the overlap the coefficient of restitution is the same for every speed, mass, radius and stiffness
(:mod:`polhode.manybody.restitution`). Mindlin's stiffness, without partial slip, does not come from a potential: contacts make
some parts in a thousand of their energy, which the ledger shows as taken by the law.
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from polhode.compiling.kernel import kernel
from polhode.manybody.forces.hertz import normal
from polhode.manybody.friction import with_friction
from polhode.manybody.law import Parameter
from polhode.manybody.material import MaterialPair
from polhode.manybody.restitution import tsuji_damping


@kernel
def stiffness(overlap: float, radius: float, constants: Any) -> float:
    """8 G* sqrt(R* overlap), N/m, with overlap and radius R* in m; the second constant is 8 G*, Pa."""
    k: float = constants[1] * sqrt(radius * overlap)
    return k


@kernel
def damping(overlap: float, radius: float, mass: float, constants: Any) -> float:
    """alpha sqrt(m* 4/3 E* sqrt(R*)) overlap^(1/4), kg/s, with overlap and radius R* in m and mass m* in kg.

    The first constant is 4/3 E*, Pa, the third alpha, without a unit.
    """
    c: float = constants[2] * sqrt(mass * constants[0] * sqrt(radius * overlap))
    return c


def constants(pair: MaterialPair, values: Mapping[str, Any]) -> tuple[float, ...]:
    """The constants of the kernels: 4/3 E* and 8 G* of the pair (Pa), and the dimensionless alpha.

    ``values`` are the parameters of the law by name, of which ``restitution`` gives alpha.
    """
    return 4 / 3 * pair.reduced, 8 * pair.shear, tsuji_damping(values["restitution"])


PARAMETERS = {"restitution": Parameter(0.8, "normal coefficient of restitution, which is obtained", least=1e-3, most=1.0)}

LAW = with_friction(
    key="hertz_mindlin_tsuji",
    label="Hertz-Mindlin, Tsuji",
    source="Mindlin (1949); Tsuji, Tanaka and Ishida (1992), Eqs. 9, 13, 17",
    parameters=PARAMETERS,
    onset=0.25,
    constants=constants,
    normal=normal,
    stiffness=stiffness,
    damping=damping,
)
