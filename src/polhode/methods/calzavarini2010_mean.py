r"""Calzavarini's leapfrog with the other option of the note: Calzavarini (2010), Sec. III, Eqs. 7 and 8.

The torque at t + dt is evaluated with the mean of omega(t + dt/2) and omega(t - dt/2), that is omega(t), which is one step old.

.. math::

   \omega^{\mathrm{lab}}_n = \tfrac12 (\omega^{\mathrm{lab}}_{n-1/2} + \omega^{\mathrm{lab}}_{n-3/2})
   \quad \text{for the torque; the rest as in calzavarini2010}
"""

from dataclasses import replace

from polhode.methods.calzavarini2010 import scheme

METHOD = replace(
    scheme(mean=True),
    key="calzavarini2010_mean",
    label="Calzavarini (mean velocities)",
    short_label="Calz. mean",
    group="leapfrogs of the angular momentum",
    rank=3,
    omega_handed="mean (Eq. 8), a step old",
    source="Calzavarini (2010), Eqs. 3-8, corrected",
    order_exceptions={"velocity": (1, 1)},
    variant_of="calzavarini2010",
    note="The torque receives a mean angular velocity that is a whole step old; under friction this makes it first order.",
)
