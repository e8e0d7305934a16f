r"""The modified kick of the lazy implementer (Wisdom; Rein, Tamayo and Brown 2019), on the rotation group.

As ``rotor_modified_kick``, with lambda = 1 (:mod:`polhode.methods.compositions`): the torque at the displaced orientation takes
the place of a difference,

.. math::

   M' = M(q \exp(s\, I^{-1} M)) + s\, I^{-1} M \times M, \qquad s = \frac{\Delta t^2}{12}

It costs the same and is of the same order, but a kick by it has no potential, and the energy drifts.
"""

from dataclasses import replace

from polhode.methods import rotor_modified_kick
from polhode.methods.compositions import composed

METHOD = replace(
    rotor_modified_kick.METHOD,
    key="rotor_lazy_kick",
    label="exact rotor, modified kick (lazy)",
    short_label="lazy kick",
    source="Rein, Tamayo and Brown (2019); on the rotation group this work",
    citation="rein2019,hairer2009",
    rank=8,
    variant_of="rotor_modified_kick",
    note="The torque at the displaced orientation is no gradient: the energy drifts.",
    drifts="has a kick without a potential",
    step=composed(*rotor_modified_kick.SHARES, displaced=1.0),
)
