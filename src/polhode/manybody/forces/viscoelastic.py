r"""Viscoelastic spheres: Kuwabara and Kono (1987); Brilliantov et al. (1996); the tangential spring is that of Mindlin.

.. math::

   F_n = \max\left(0, \tfrac43 E^* \sqrt{R^* \delta}\,\left(\delta + \tfrac32 A u\right)\right), \qquad
   F_t = -8 G^* \sqrt{R^* \delta}\, \xi - \theta\, c\, v_t, \quad c = 2 A E^* \sqrt{R^* \delta}

A is a time that belongs to the material. Restitution falls with the speed, as it does in experiments.
"""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from polhode.compiling.kernel import kernel
from polhode.manybody.forces.hertz import normal
from polhode.manybody.forces.hertz_mindlin_tsuji import stiffness
from polhode.manybody.friction import with_friction
from polhode.manybody.law import Parameter
from polhode.manybody.material import MaterialPair


@kernel
def damping(overlap: float, radius: float, mass: float, constants: Any) -> float:
    """2 A E* sqrt(R* overlap), kg/s, with overlap and radius R* in m; the first constant is 4/3 E*, Pa, the third A, s."""
    c: float = 1.5 * constants[0] * constants[2] * sqrt(radius * overlap)
    return c


def constants(pair: MaterialPair, values: Mapping[str, Any]) -> tuple[float, ...]:
    """The constants of the kernels: 4/3 E* and 8 G* of the pair (Pa), and A (s), which is in ``values``.

    ``values`` are the parameters of the law by name.
    """
    return 4 / 3 * pair.reduced, 8 * pair.shear, values["damping_time"]


LAW = with_friction(
    key="viscoelastic",
    label="viscoelastic",
    source="Kuwabara and Kono (1987); Brilliantov, Spahn, Hertzsch and Poeschel (1996), Eq. 15",
    parameters={"damping_time": Parameter(1e-6, "the time A of the material", "s")},
    onset=0.5,
    constants=constants,
    normal=normal,
    stiffness=stiffness,
    damping=damping,
)
