r"""The free asymmetric top spinning almost about its middle axis: it turns over, back and over again.

This spin is unstable; one hundredth of it about the other axes grows until the body turns over, after some seconds.

.. math::

   I \dot\omega + \omega \times I \omega = 0, \qquad \omega(0) \approx (0, \omega_y, 0)
"""

from dataclasses import replace

from polhode.problems.free_asymmetric_top import PROBLEM as FREE_ASYMMETRIC_TOP

PROBLEM = replace(
    FREE_ASYMMETRIC_TOP,
    key="free_asymmetric_top_unstable",
    label="free asymmetric top about its middle axis",
    short_label="unstable axis",
    rank=3,
    represents_class=False,
    omega0=(0.01, 2.0, 0.015),
)
