r"""Three kicks, the middle one modified, and exact free motion, of fourth order: Omelyan, Mryglod and Folk (2002).

.. math::

   A_{\theta \Delta t}\; B_{\lambda \Delta t}\; A_{(1/2 - \theta) \Delta t}\; B'_{(1 - 2\lambda) \Delta t}\;
   A_{(1/2 - \theta) \Delta t}\; B_{\lambda \Delta t}\; A_{\theta \Delta t}

from left to right, A free motion, B kick, and B' the modified kick by M + s G (:mod:`polhode.methods.compositions`). Of fourth
order are all with

.. math::

   \theta = \frac12 - \frac{1}{\sqrt{24 \lambda}}, \quad
   (1 - 2\lambda)\, s = \frac{\Delta t^2}{6} \bigl(1 - \sqrt{6\lambda}\, (1 - \lambda)\bigr)

and lambda = 0.2470939580390842 makes the error of fifth order small. Gradient schemes around exact free motion were tried on
water by van Zon, Omelyan and Schofield (2008), who found one of fourth order (GIER4) the best for small errors.
"""

from math import sqrt

from polhode.methods.compositions import composition

LAMBDA = 0.2470939580390842
THETA = 0.5 - 1 / sqrt(24 * LAMBDA)
GRADIENT = (1 - sqrt(6 * LAMBDA) * (1 - LAMBDA)) / 6 / (1 - 2 * LAMBDA)
SHARES = (THETA, 0.5 - THETA, 0.5 - THETA, THETA), (LAMBDA, 1 - 2 * LAMBDA, LAMBDA), (0.0, GRADIENT, 0.0)

METHOD = composition(
    *SHARES,
    key="rotor_gradient4",
    label="exact rotor, gradient 4",
    short_label="gradient 4",
    rank=13,
    source="Omelyan, Mryglod and Folk (2002); van Zon, Omelyan and Schofield (2008)",
    citation="omelyangradient2002,vanzon2008",
    order_q=4,
    order_omega=4,
    published_order="fourth order",
    reconstruction="The gradient on the rotation group, by a second torque, is ours; those of GIER4 were not available.",
    note="Reversible; symplectic but for a ten-thousandth of its error; exact without a torque.",
)
