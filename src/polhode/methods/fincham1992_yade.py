r"""Fincham's leapfrog as YADE runs it: ``NewtonIntegrator::leapfrogAsphericalRotate``.

Like the method as its author meant it, but L(t + dt/2) is turned into the body frame with the *old* orientation, which loses
an order. (The variant used by del Valle et al. (2024) also normalises the quaternion predicted at the half step.) YADE runs it
for all bodies with different moments of inertia in versions that have no choice, and with ``rotAlgorithm`` Fincham1992 in
later ones.

.. math::

   L_{n+1/2} &= L_{n-1/2} + \Delta t\, R(q_n) M_n \\
   \omega_n &= I^{-1} R(q_n)^T (L_{n-1/2} + \tfrac{\Delta t}{2} R(q_n) M_n) \\
   q_a &= q_n + \tfrac{\Delta t}{2}\, \dot q(q_n, \omega_n) \\
   \omega_{n+1/2} &= I^{-1} R(q_n)^T L_{n+1/2} \\
   q_{n+1} &= q_n + \Delta t\, \dot q(q_a, \omega_{n+1/2})

A torque gets omega(t - dt/2) of the last step, as YADE's contact laws are.

The state is q, and the angular momentum L in the lab frame and omega of half a step before; shapes, frames and units are as in
:mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.compiling.kernel import kernel
from polhode.methods.fincham1992 import full_step, half_step, read, start, stored
from polhode.methods.protocol import OneTorque


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    return state, state[:4], state[7:10]


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q = state[:4]
    momentum, half = half_step(state, torque, body, dt)
    return full_step(q, momentum, half, q, body, dt)


METHOD = OneTorque(
    key="fincham1992_yade",
    label="Fincham (YADE)",
    group="engines and codes",
    rank=5,
    omega_handed="half a step old",
    source="YADE (2021): NewtonIntegrator::leapfrogAsphericalRotate",
    citation="smilauer2021,fincham1992",
    order_q=1,
    order_omega=1,
    starts="half a kick back: L(-dt/2) = L(0) - dt/2 M(0)",
    reads="half a kick of L with the torque at the whole time",
    normalises=True,
    momentum_frame="lab",
    note="The angular velocity at the half step is taken with the old orientation; that makes it first order.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read,
    stored=stored,
    stored_offset=-0.5,
)
