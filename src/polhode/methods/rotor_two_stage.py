r"""Two torques and exact free motion, with the smallest error of second order: McLachlan (1995).

.. math::

   A_{\xi \Delta t}\; B_{\Delta t/2}\; A_{(1 - 2\xi) \Delta t}\; B_{\Delta t/2}\; A_{\xi \Delta t}, \qquad
   \xi = \tfrac12 - \tfrac{(2\sqrt{326} + 36)^{1/3}}{12} + \tfrac{1}{6 (2\sqrt{326} + 36)^{1/3}} = 0.19318\ldots

from left to right, A free motion and B kick (:mod:`polhode.methods.compositions`). xi makes the sum of the squares of the two
coefficients of third order least, those of [A, [A, B]] and [B, [A, B]] (the closed form: Omelyan, Mryglod and Folk 2002).

Van Zon, Omelyan and Schofield (2008) recommend a modified Verlet scheme with exact free motion, HOA, for errors of about a per
cent. Only their abstract was available to us, and whether HOA is this step we do not know.
"""

from math import sqrt

from polhode.methods.compositions import composition

ROOT = (2 * sqrt(326) + 36) ** (1 / 3)
XI = 0.5 - ROOT / 12 + 1 / (6 * ROOT)

SHARES = (XI, 1 - 2 * XI, XI), (0.5, 0.5)

METHOD = composition(
    *SHARES,
    key="rotor_two_stage",
    label="exact rotor, two stages",
    short_label="two stages",
    rank=10,
    source="McLachlan (1995); Omelyan, Mryglod and Folk (2002)",
    citation="mclachlansymmetric1995,omelyan2002",
    order_q=2,
    order_omega=2,
    published_order="second order",
    note="Symplectic and reversible; exact without a torque.",
)
