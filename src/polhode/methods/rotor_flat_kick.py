r"""The modified kick as for particles, without the term of the rotation group: Takahashi and Imada (1984), Rowlands (1991).

As ``rotor_modified_kick`` without the vector product:

.. math::

   M' = M + \frac{\Delta t^2}{12}\, (I^{-1} M \cdot X)\, M

(:mod:`polhode.methods.compositions`). For components of the torque in the body frame the formula of particles loses its order:
the error is of second order, and the kick has no potential. It is here to be compared with.
"""

from dataclasses import replace

from polhode.methods import rotor_modified_kick
from polhode.methods.compositions import composed

METHOD = replace(
    rotor_modified_kick.METHOD,
    key="rotor_flat_kick",
    label="exact rotor, modified kick (flat)",
    short_label="flat kick",
    source="Takahashi and Imada (1984); Rowlands (1991)",
    citation="takahashi1984,rowlands1991",
    rank=9,
    variant_of="rotor_modified_kick",
    reconstruction="",
    order_q=2,
    order_omega=2,
    note="The formula of particles: without the term of the rotation group it is of second order.",
    drifts="has a kick without a potential",
    step=composed(*rotor_modified_kick.SHARES, bracket=0.0),
)
