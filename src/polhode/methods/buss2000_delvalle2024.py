"""Buss's method as the comparison of del Valle et al. (2024) has it: App. B.4, Eqs. B.7-B.9.

Eq. B.8 prints dt^2/12, Buss's own coefficient; the published curve is had with dt^2/16. The angular momentum advances
with the torque at the start of the step, which is first order for any torque that turns with the body.
"""

from typing import Any

from polhode.body import angular_momentum, angular_velocity, euler_equations
from polhode.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.quaternion import rotate, to_body, to_lab
from polhode.vector import add, axpy, cross, scale

COEFFICIENT = 1 / 16


@kernel
def mean_rotation(omega: Any, acceleration: Any, dt: Any, coefficient: Any) -> Any:
    """The constant angular velocity that turns the body as omega(t) does over one step (Eq. B.8), in the body frame."""
    turning = cross(acceleration, omega)
    return add(axpy(0.5 * dt, acceleration, omega), scale(coefficient * dt * dt, turning))


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    return q + to_lab(q, angular_momentum(omega, body))


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    q, momentum = state[:4], state[4:7]
    return state, q, angular_velocity(to_body(q, momentum), body)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    q, momentum = state[:4], state[4:7]
    omega = angular_velocity(to_body(q, momentum), body)
    # Eq. B.7 in body components: d(omega)/dt is the same vector in both frames.
    mean = mean_rotation(omega, euler_equations(omega, torque, body), dt, COEFFICIENT)
    return rotate(q, mean, dt) + axpy(dt, to_lab(q, torque), momentum)


@kernel
def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    q, momentum = state[:4], state[4:7]
    return q, angular_velocity(to_body(q, momentum), body)


@kernel
def stored(state: Any, body: Any, dt: Any) -> Any:
    return angular_velocity(to_body(state[:4], state[4:7]), body)


METHOD = OneTorque(
    key="buss2000_delvalle2024",
    label="Buss (as published)",
    source="del Valle et al. (2024), Eqs. B.7-B.9, with dt^2/16 for dt^2/12",
    citation="delvalle2024",
    order_q=1,
    order_omega=1,
    published_order="second order",
    normalises=False,
    momentum_frame="lab",
    variant_of="buss2000",
    note="The angular momentum advances with the torque at the start of the step; that makes it first order.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read,
    stored=stored,
)
