r"""Exact free motion, one modified kick in the middle, and other variables: of fourth order with two torques a step.

.. math::

   A_{\Delta t/2}\; B'_{\Delta t}\; A_{\Delta t/2}, \qquad M' = M + \frac{\Delta t^2}{12} G

from left to right, A free motion and B' the kick by M' (:mod:`polhode.methods.compositions`). In Cartesian coordinates the
modified force is that of Takahashi and Imada (1984); Rowlands (1991) found that drift, kick and drift with it is a step of
fourth order in other variables. Wisdom, Holman and Touma (1996) gave the change of variables for planets, Omelyan (2008)
processed splittings for molecules, whose formulas were not available to us. The moves before the first step and at an output
are those of :func:`polhode.methods.correctors.shares` with two pairs, even in the step: six torques each.

The step has no error of second order, and is symplectic but for what the difference of two torques leaves out of G.
"""

from polhode.methods.compositions import composition, moved
from polhode.methods.correctors import shares
from polhode.methods.processor import Processor

SHARES = (0.5, 0.5), (1.0,), (1 / 12,)

METHOD = composition(
    *SHARES,
    key="rotor_modified_kick",
    label="exact rotor, modified kick",
    short_label="modified kick",
    rank=7,
    source="Rowlands (1991); Wisdom, Holman and Touma (1996); on the rotation group this work",
    citation="rowlands1991,wisdom1996,omelyan2008",
    order_q=4,
    order_omega=4,
    starts="pre-map of the corrector, with six torques",
    reads="post-map of the corrector, with six torques",
    reconstruction="The gradient on the rotation group, by a second torque, is ours.",
    note="Reversible; symplectic but for a ten-thousandth of its error; exact without a torque.",
    processor=Processor(moved, shares(5, "drift-kick-drift", even=True)),
)
