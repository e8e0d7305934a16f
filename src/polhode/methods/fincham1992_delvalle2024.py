r"""Fincham's leapfrog as used in the comparison of del Valle et al. (2024): App. B.3, Eqs. B.4-B.6.

Eq. B.5 uses omega(t) twice, and Eq. B.6 does not say at which orientation L(t + dt/2) is turned into the body frame. The
published curve is obtained with the *old* quaternion there, as in the code of YADE (pkg/dem/NewtonIntegrator.cpp,
``NewtonIntegrator::leapfrogAsphericalRotate``), which makes the method first order. The quaternion predicted at the half step
is normalised, which YADE omits.

.. math::

   L_{n+1/2} &= L_{n-1/2} + \Delta t\, R(q_n) M_n \\
   \omega_n &= I^{-1} R(q_n)^T (L_{n-1/2} + \tfrac{\Delta t}{2} R(q_n) M_n) \\
   q_a &= \frac{q_n + \tfrac{\Delta t}{2}\, \dot q(q_n, \omega_n)}
   {|q_n + \tfrac{\Delta t}{2}\, \dot q(q_n, \omega_n)|} \\
   \omega_{n+1/2} &= I^{-1} R(q_n)^T L_{n+1/2} \\
   q_{n+1} &= q_n + \Delta t\, \dot q(q_a, \omega_{n+1/2})

The state is q, and the angular momentum L in the lab frame and omega of half a step before; shapes, frames and units are as in
:mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.quaternion import normalise
from polhode.compiling.kernel import kernel
from polhode.methods.fincham1992 import full_step, half_step, read, start, stored
from polhode.methods.protocol import OneTorque
from polhode.methods.states import torque_wanted_at_momentum


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q = state[:4]
    momentum, half = half_step(state, torque, body, dt)
    return full_step(q, momentum, normalise(half), q, body, dt)


METHOD = OneTorque(
    key="fincham1992_delvalle2024",
    label="Fincham (as published)",
    group="as published in 2024",
    rank=2,
    omega_handed="half a step old",
    source="del Valle et al. (2024), Eqs. B.4-B.6, L(t + dt/2) turned with q(t)",
    citation="delvalle2024",
    order_q=1,
    order_omega=1,
    published_order="second order",
    starts="half a kick back: L(-dt/2) = L(0) - dt/2 M(0)",
    reads="half a kick of L with the torque at the whole time",
    normalises=True,
    momentum_frame="lab",
    variant_of="fincham1992",
    note="The angular velocity at the half step is taken with the old orientation; that makes it first order.",
    start=start,
    before_torque=torque_wanted_at_momentum,
    after_torque=after_torque,
    read=read,
    stored=stored,
    stored_offset=-0.5,
)
