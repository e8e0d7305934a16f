r"""The free asymmetric top close to its separatrix: it spins about all axes, with L^2 = 2 E Iy to four parts in a billion.

The body lingers in a spin about its middle axis, and small errors decide when and to which side it leaves this state.

.. math::

   I \dot\omega + \omega \times I \omega = 0, \qquad |I \omega|^2 \approx 2 E I_y
"""

from dataclasses import replace

from polhode.problems.free_asymmetric_top import PROBLEM as FREE_ASYMMETRIC_TOP

PROBLEM = replace(
    FREE_ASYMMETRIC_TOP,
    key="free_asymmetric_top_separatrix",
    label="free asymmetric top next to the separatrix",
    short_label="separatrix",
    rank=4,
    represents_class=False,
    omega0=(2.5322914, 3.0, 1.5),
)
