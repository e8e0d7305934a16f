r"""Three torques and exact free motion, of fourth order: Forest and Ruth (1990), Yoshida (1990).

Three steps of drift, kick and drift, the middle one back in time, so that the errors of third order cancel.

.. math::

   A_{\theta \Delta t/2}\; B_{\theta \Delta t}\; A_{(1 - \theta) \Delta t/2}\; B_{(1 - 2\theta) \Delta t}\;
   A_{(1 - \theta) \Delta t/2}\; B_{\theta \Delta t}\; A_{\theta \Delta t/2}, \qquad \theta = \frac{1}{2 - 2^{1/3}}

from left to right, A free motion and B kick (:mod:`polhode.methods.compositions`).
"""

from polhode.methods.compositions import composition

THETA = 1 / (2 - 2 ** (1 / 3))
SHARES = (THETA / 2, (1 - THETA) / 2, (1 - THETA) / 2, THETA / 2), (THETA, 1 - 2 * THETA, THETA)

METHOD = composition(
    *SHARES,
    key="rotor_forest_ruth",
    label="exact rotor, Forest-Ruth",
    short_label="Forest-Ruth",
    rank=11,
    source="Forest and Ruth (1990); Yoshida (1990)",
    citation="forest1990,yoshida1990",
    order_q=4,
    order_omega=4,
    published_order="fourth order",
    note="Symplectic and reversible; exact without a torque.",
)
