r"""As :mod:`polhode.manybody.forces.hertz_mindlin_tsuji`, but the force of the tangential spring is kept, not its stretch.

.. math::

   dF_t = -k_t\, d\xi

While the overlap changes at constant stretch, the force does not change, as it does in the total law. YADE has this law
(``Law2_ScGeom_MindlinPhys_Mindlin``) without a dashpot in the tangential direction beside a sliding contact.
"""

from polhode.manybody.forces.hertz import normal
from polhode.manybody.forces.hertz_mindlin_tsuji import PARAMETERS, constants, damping, stiffness
from polhode.manybody.friction import with_friction

LAW = with_friction(
    key="hertz_mindlin_incremental",
    label="Hertz-Mindlin, incremental",
    source="Mindlin (1949) by increments, as in YADE; dashpots of Tsuji, Tanaka and Ishida (1992)",
    parameters=PARAMETERS,
    onset=0.25,
    constants=constants,
    normal=normal,
    stiffness=stiffness,
    damping=damping,
    incremental=True,
)
