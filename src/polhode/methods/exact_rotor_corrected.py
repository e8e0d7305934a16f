r"""Exact-rotor splitting with a symplectic corrector: Wisdom, Holman and Touma (1996) for rigid bodies; Omelyan (2008).

The steps are those of ``exact_rotor``, half kick, exact free rotation, half kick, with one torque each. Let h be the step, A
the free motion, B the kick and x the commutator with hA. The part of the step's error that is linear in the torque is a change
of variables,

.. math::

   e^{hB/2} e^{hA} e^{hB/2} = e^{-C} e^{h(A+B) + O(B^2)} e^{C}, \qquad
   C = \Bigl(\frac{x}{12} - \frac{x^3}{720} + \frac{x^5}{30240} - \ldots\Bigr) hB

(:mod:`polhode.methods.correctors`). It is applied before the first step and undone at every output, by five free motions and
four kicks, which leave nothing up to x^5 (:class:`polhode.methods.processor.Processor`). Of the error remains what is of second
order in the torque, the bracket (h^2/24) {B, {A, B}}: the error falls with the square of the torque, and the energy does not
drift. The order in h remains two.

Where the torque in the lab frame does not depend on the orientation, the bracket vanishes: with the angular momentum in the lab
frame for a variable, B adds to it what depends on time alone, and [A, B] does not contain it, since the velocity of the free
body is linear in it. For such torques the method is of fourth order, whatever their strength.

Where a torque has a kink, as at the onset of a contact, or depends on the angular velocity, the maps undo no more than they
can: the error there is that of ``exact_rotor``.
"""

from dataclasses import replace

from polhode.methods import exact_rotor
from polhode.methods.correctors import corrected

METHOD = replace(
    corrected(exact_rotor.METHOD),
    key="exact_rotor_corrected",
    label="exact rotor, corrected",
    short_label="rotor, corr.",
    rank=7,
    order_exceptions={"lab": (4, 4)},
    source="van Zon and Schofield (2007); corrector of Wisdom, Holman and Touma (1996)",
    citation="vanzon2007,wisdom1996,omelyan2008",
    reconstruction="The closed form of the free rotation is ours, and the shares of the corrector.",
    note="Symplectic and reversible; the error is of second order in the torque.",
)
