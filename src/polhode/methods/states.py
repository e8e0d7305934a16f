"""The two kinds of state carried by most methods: how each starts, requests the torque and is read.

Both begin with the orientation q, followed by the angular velocity in the body frame or the angular momentum in the lab frame;
a method may append more.

q (4,) takes body to lab; omega and the torque (3,) are in rad/s and N m, body frame, L (3,) in N m s, lab frame. The other
arguments are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import to_body, to_lab
from polhode.compiling.kernel import kernel

# q, then omega in the body frame


@kernel
def start_with_omega(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The kernel ``start`` without a half step: the state (q, omega), seven floats, omega in rad/s, body frame."""
    return q + omega


@kernel
def torque_wanted_at_state(state: Any, body: Any, dt: Any) -> Any:
    """The kernel ``before_torque`` of a method whose torque is needed at its q and omega: the state, q, and omega (rad/s, body
    frame).
    """
    return state, state[:4], state[4:7]


@kernel
def read_synchronous(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The kernel ``read`` of a method that holds q and omega (rad/s, body frame) at the same whole time: these two."""
    return state[:4], state[4:7]


@kernel
def stored_in_body_frame(state: Any, body: Any, dt: Any) -> Any:
    """The kernel ``stored`` of a method that holds omega behind q: omega (3,), rad/s in the body frame."""
    return state[4:7]


# q, then the angular momentum in the lab frame


@kernel
def start_with_momentum(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The kernel ``start`` without a half step: the state (q, L), seven floats, L in N m s, lab frame."""
    return q + to_lab(q, angular_momentum(omega, body))


@kernel
def omega_of_momentum(state: Any, body: Any) -> Any:
    """The angular velocity I^-1 A(q) L (3,), rad/s in the body frame, from a state that begins with q and L (lab frame)."""
    return angular_velocity(to_body(state[:4], state[4:7]), body)


@kernel
def torque_wanted_at_momentum(state: Any, body: Any, dt: Any) -> Any:
    """The kernel ``before_torque`` of a method whose torque is needed at its q and L: the state, q, and omega (rad/s, body
    frame).
    """
    return state, state[:4], omega_of_momentum(state, body)


@kernel
def read_momentum(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The kernel ``read`` of a method that holds q and L at the same whole time: q, and omega (rad/s, body frame)."""
    return state[:4], omega_of_momentum(state, body)


@kernel
def stored_momentum(state: Any, body: Any, dt: Any) -> Any:
    """The kernel ``stored`` of a method that holds L behind q: omega (3,), rad/s in the body frame."""
    return omega_of_momentum(state, body)
