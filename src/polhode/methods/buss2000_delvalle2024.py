r"""Buss's method as used in the comparison of del Valle et al. (2024): App. B.4, Eqs. B.7-B.9.

Eq. B.8 prints dt^2/12, Buss's own coefficient; the published curve is obtained with dt^2/16. The angular momentum advances
with the torque at the start of the step, which is of first order for any torque that turns with the body.

.. math::

   \bar\omega &= \omega_n + \tfrac{\Delta t}{2}\, a_n + \tfrac{\Delta t^2}{16}\, a_n \times \omega_n,
   \qquad a_n = a(\omega_n, M_n) \\
   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\bar\omega) \\
   L_{n+1} &= L_n + \Delta t\, R(q_n) M_n

The state is q and the angular momentum L in the lab frame; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import rotate, to_lab
from polhode.algebra.vector import add, axpy, cross, scale
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import (
    omega_of_momentum,
    read_momentum,
    start_with_momentum,
    stored_momentum,
    torque_wanted_at_momentum,
)

COEFFICIENT = 1 / 16


@kernel
def mean_rotation(omega: Any, acceleration: Any, dt: Any, coefficient: Any) -> Any:
    """The constant angular velocity (3,), rad/s in the body frame, that turns the body about as omega(t) does over one step
    (Eq. B.8).

    ``omega`` (3,) in rad/s and ``acceleration`` (3,) in rad/s^2, body frame, belong to the beginning of the step of ``dt`` (s);
    ``coefficient`` is the number before dt^2, 1/12 or 1/16.
    """
    turning = cross(acceleration, omega)
    return add(axpy(0.5 * dt, acceleration, omega), scale(coefficient * dt * dt, turning))


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, momentum = state[:4], state[4:7]
    omega = omega_of_momentum(state, body)
    # Eq. B.7 in body components: d(omega)/dt is the same vector in both frames.
    mean = mean_rotation(omega, euler_equations(omega, torque, body), dt, COEFFICIENT)
    return rotate(q, mean, dt) + axpy(dt, to_lab(q, torque), momentum)


METHOD = OneTorque(
    key="buss2000_delvalle2024",
    label="Buss (as published)",
    group="as published in 2024",
    rank=3,
    omega_handed="in time; torque frozen",
    source="del Valle et al. (2024), Eqs. B.7-B.9, with dt^2/16 for dt^2/12",
    citation="delvalle2024",
    order_q=1,
    order_omega=1,
    published_order="second order",
    order_exceptions={"free": (2, 2)},
    normalises=False,
    momentum_frame="lab",
    variant_of="buss2000",
    note="The angular momentum advances with the torque at the start of the step; that makes it first order.",
    start=start_with_momentum,
    before_torque=torque_wanted_at_momentum,
    after_torque=after_torque,
    read=read_momentum,
    stored=stored_momentum,
)
