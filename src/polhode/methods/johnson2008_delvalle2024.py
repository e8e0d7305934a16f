r"""Johnson's method as used in the comparison of del Valle et al. (2024): App. B.6, Eqs. B.13-B.15.

Eq. B.14 prints omega(t) in all four stages. The published curve is obtained with the angular momentum frozen and
omega = I^-1 A(q) L evaluated at the quaternion of each stage, not normalised; then the momentum advances with the torque at
the *new* orientation. The method is first order, because the rotation never sees the momentum at the end of the step.

With RK(q, L) the classical Runge-Kutta step of dq/dt = q (0, omega)/2, omega = I^-1 R(q)^T L:

.. math::

   q_{n+1} &= \mathrm{RK}(q_n, L_n) \\
   L_{n+1} &= L_n + \Delta t\, R(q_{n+1}) M_{n+1}

The state is q and the angular momentum L in the lab frame; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import angular_velocity
from polhode.algebra.quaternion import derivative, increment, to_body, to_lab
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_momentum, start_with_momentum, stored_momentum


@kernel
def orientation_rate(q: Any, momentum: Any, body: Any) -> Any:
    """The rate dq/dt (4,), in 1/s, at an angular momentum L (3,), N m s in the lab frame (Eq. B.14, omega = I^-1 A(q) L)."""
    return derivative(q, angular_velocity(to_body(q, momentum), body))


@kernel
def runge_kutta(q: Any, momentum: Any, torque_lab: Any, body: Any, dt: Any) -> Any:
    """The quaternion (4,) after ``dt`` (s), not normalised, by the classical Runge-Kutta scheme (Eq. B.13) with the angular
    momentum L(t) = momentum + torque_lab t.

    ``momentum`` (3,) in N m s and ``torque_lab`` (3,) in N m, lab frame.
    """
    half = axpy(0.5 * dt, torque_lab, momentum)
    full = axpy(dt, torque_lab, momentum)
    k1 = orientation_rate(q, momentum, body)
    k2 = orientation_rate(increment(0.5 * dt, k1, q), half, body)
    k3 = orientation_rate(increment(0.5 * dt, k2, q), half, body)
    k4 = orientation_rate(increment(dt, k3, q), full, body)
    q = increment(dt / 6, k1, q)
    q = increment(dt / 3, k2, q)
    q = increment(dt / 3, k3, q)
    return increment(dt / 6, k4, q)


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, momentum = state[:4], state[4:7]
    q = runge_kutta(q, momentum, (0.0, 0.0, 0.0), body, dt)
    return q + momentum, q, angular_velocity(to_body(q, momentum), body)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, momentum = state[:4], state[4:7]
    return q + axpy(dt, to_lab(q, torque), momentum)


METHOD = OneTorque(
    key="johnson2008_delvalle2024",
    label="Johnson (as published)",
    group="as published in 2024",
    rank=4,
    omega_handed="without the torque of the step",
    source="del Valle et al. (2024), Eqs. B.13-B.15, omega re-evaluated at each stage",
    citation="delvalle2024",
    order_q=1,
    order_omega=1,
    published_order="second order",
    order_exceptions={"free": (4, 4)},
    normalises=True,
    rotates_before_torque=True,
    momentum_frame="lab",
    variant_of="johnson2008",
    note="The momentum is frozen while the orientation turns; that makes it first order.",
    start=start_with_momentum,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_momentum,
    stored=stored_momentum,
    torque_time=1.0,
)
