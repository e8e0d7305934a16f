r"""Six torques and exact free motion, of fourth order with a small error: Blanes and Moan (2002), Table 3, SRKN 6b.

.. math::

   B_{b_1}\; A_{a_1}\; B_{b_2}\; A_{a_2}\; B_{b_3}\; A_{a_3}\; B_{b_4}\; A_{a_3}\; B_{b_3}\; A_{a_2}\;
   B_{b_2}\; A_{a_1}\; B_{b_1}

from left to right, A free motion and B kick for these shares of the step (:mod:`polhode.methods.compositions`). The
coefficients are those of a Runge-Kutta-Nystroem method: fewer conditions, since [B, [B, [B, A]]] is zero. The last kick of a
step and the first of the next are one, with one torque; so the kick B at the very start is the change of variables of
:class:`polhode.methods.processor.Processor`, which an output takes back.
"""

from polhode.methods.compositions import composition, moved
from polhode.methods.processor import Processor

A1, A2 = 0.245298957184271, 0.604872665711080
A3 = 0.5 - (A1 + A2)
B1, B2, B3 = 0.0829844064174052, 0.396309801498368, -0.0390563049223486
B4 = 1 - 2 * (B1 + B2 + B3)
#: From behind the first kick of a step to behind that of the next.
SHARES = (A1, A2, A3, A3, A2, A1), (B2, B3, B4, B3, B2, 2 * B1)

METHOD = composition(
    *SHARES,
    key="rotor_srkn6",
    label="exact rotor, Blanes-Moan 6b",
    short_label="Blanes-Moan",
    rank=14,
    source="Blanes and Moan (2002), Table 3",
    citation="blanes2002",
    order_q=4,
    order_omega=4,
    published_order="fourth order",
    starts="first kick of the first step, with one torque",
    reads="last kick of the last step, with one torque",
    note="Symplectic and reversible; exact without a torque.",
    processor=Processor(moved, ((0.0, B1), (0.0, 0.0))),
)
