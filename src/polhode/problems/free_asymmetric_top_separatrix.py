r"""The free asymmetric top next to its separatrix: spinning about all axes, with L^2 = 2 E Iy to four parts in a billion.

The body lingers in a spin about its middle axis, and small errors decide when it leaves it, and to which side.

.. math::

   I \dot\omega + \omega \times I \omega = 0, \qquad |I \omega|^2 \approx 2 E I_y
"""

from dataclasses import replace

from polhode.problems.free_asymmetric_top import PROBLEM as FREE_ASYMMETRIC_TOP

PROBLEM = replace(
    FREE_ASYMMETRIC_TOP,
    key="free_asymmetric_top_separatrix",
    label="free asymmetric top next to the separatrix",
    omega0=(2.5322914, 3.0, 1.5),
)
