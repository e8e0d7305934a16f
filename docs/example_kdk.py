"""A method as kick, drift, kick, as a pattern to change; the drift turns the body about I^-1 times the mean of L."""

from typing import Any

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import exponential, multiply, to_body
from polhode.algebra.vector import add, axpy, scale
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame

# The state: q and omega, both at the whole time, and the torque there, which also begins the next step.


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state before the first step."""
    return q + omega + torque


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """Half kick and rotation; then q, and a prediction of omega, for the torque at the end of the step."""
    q, omega, torque = state[:4], state[4:7], state[7:10]
    momentum = axpy(0.5 * dt, torque, angular_momentum(omega, body))
    turned, turn = momentum, (1.0, 0.0, 0.0, 0.0)
    for _ in range(3):
        turn = exponential(scale(0.5 * dt, angular_velocity(add(momentum, turned), body)))
        turned = to_body(turn, momentum)
    q, omega = multiply(q, turn), angular_velocity(turned, body)
    return q + omega + torque, q, axpy(0.5 * dt, angular_velocity(torque, body), omega)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Half kick with the torque at the end of the step."""
    return state[:4] + axpy(0.5 * dt, angular_velocity(torque, body), state[4:7]) + torque


METHOD = OneTorque(
    key="my_mean_rotor",
    label="My kick-drift-kick",
    source="docs/challenge.md",
    citation="",
    order_q=2,
    order_omega=2,
    omega_handed="predicted by the last torque",
    normalises=False,
    rotates_before_torque=True,
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=1.0,
)
