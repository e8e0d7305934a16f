"""A method of one's own: SPIRAL's leapfrog written out again under another key, as a pattern to change."""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import rotate
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import stored_in_body_frame, torque_wanted_at_state


@kernel
def kick(omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Angular velocity after dt under a frozen torque: one SSPRK3 step of Euler's equations."""
    k1 = euler_equations(omega, torque, body)
    k2 = euler_equations(axpy(dt, k1, omega), torque, body)
    k3 = euler_equations(axpy(dt / 4, k2, axpy(dt / 4, k1, omega)), torque, body)
    return axpy(2 * dt / 3, k3, axpy(dt / 6, k2, axpy(dt / 6, k1, omega)))


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state before the first step: q(0) and omega(-dt/2)."""
    return q + kick(omega, torque, body, -0.5 * dt)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The step: omega from t - dt/2 to t + dt/2, then q by the exact rotation with it."""
    q, omega = state[:4], state[4:7]
    omega = kick(omega, torque, body, dt)
    return rotate(q, omega, dt) + omega


@kernel
def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Orientation and omega at the same whole time: omega lacks half a kick."""
    return state[:4], kick(state[4:7], torque, body, 0.5 * dt)


METHOD = OneTorque(
    key="my_spiral",
    label="My SPIRAL",
    source="docs/adding-a-method.md",
    citation="delvalle2024",
    order_q=2,
    order_omega=3,
    order_exceptions={"time": (2, 2), "lab": (2, 2), "state": (2, 2), "velocity": (1, 1)},
    starts="half a kick back: SSPRK3 with -dt/2",
    reads="half a kick with the torque at the whole time",
    normalises=False,
    start=start,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read,
    stored=stored_in_body_frame,
    stored_offset=-0.5,
)
