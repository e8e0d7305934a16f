r"""The free asymmetric top set spinning about its middle axis, a little off: it turns over, back and over again.

Such a spin is unstable; a hundredth of it about the other axes grows until the body turns over, after some seconds.

.. math::

   I \dot\omega + \omega \times I \omega = 0, \qquad \omega(0) \approx (0, \omega_y, 0)
"""

from dataclasses import replace

from polhode.problems.free_asymmetric_top import PROBLEM as FREE_ASYMMETRIC_TOP

PROBLEM = replace(
    FREE_ASYMMETRIC_TOP,
    key="free_asymmetric_top_unstable",
    label="free asymmetric top about its middle axis",
    omega0=(0.01, 2.0, 0.015),
)
