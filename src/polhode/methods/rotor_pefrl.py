r"""Four torques and exact free motion, of fourth order: Omelyan, Mryglod and Folk (2002).

The position extended Forest-Ruth-like algorithm: one torque more than Forest and Ruth, and the parameter that it leaves free
makes the error of fifth order small.

.. math::

   A_{\xi \Delta t}\; B_{(1/2 - \lambda) \Delta t}\; A_{\chi \Delta t}\; B_{\lambda \Delta t}\;
   A_{(1 - 2\chi - 2\xi) \Delta t}\; B_{\lambda \Delta t}\; A_{\chi \Delta t}\; B_{(1/2 - \lambda) \Delta t}\; A_{\xi \Delta t}

from left to right, A free motion and B kick (:mod:`polhode.methods.compositions`).
"""

from polhode.methods.compositions import composition

XI, LAMBDA, CHI = 0.1786178958448091, -0.2123418310626054, -0.06626458266981849
SHARES = (XI, CHI, 1 - 2 * (CHI + XI), CHI, XI), (0.5 - LAMBDA, LAMBDA, LAMBDA, 0.5 - LAMBDA)

METHOD = composition(
    *SHARES,
    key="rotor_pefrl",
    label="exact rotor, PEFRL",
    short_label="PEFRL",
    rank=12,
    source="Omelyan, Mryglod and Folk (2002)",
    citation="omelyan2002",
    order_q=4,
    order_omega=4,
    published_order="fourth order",
    note="Symplectic and reversible; exact without a torque.",
)
