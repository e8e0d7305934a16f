r"""Omelyan's advanced leapfrog: Omelyan (1998); del Valle et al. (2024), App. B.5, Eqs. B.10-B.12.

The products of angular velocities at the whole time are means over the adjacent half steps, found by iteration; the
quaternion turns by a Cayley transform, which preserves its norm. Eq. B.10 prints one product with q too many.

Three fixed-point iterations from the old angular velocity, the first of which is a step of explicit Euler, leave the error
:math:`(\tfrac{\Delta t}{2} G)^3\, \Delta t\, a` in the new one, up to its sign, where G is the derivative of a by omega. It is
:math:`O(\Delta t^4)` in a step, an order beyond the error of the method, and makes the energy of a free body drift, which it
would not do with a converged iteration.

.. math::

   \omega_{n+1/2} &= \omega_{n-1/2}
   + \tfrac{\Delta t}{2}\bigl[a(\omega_{n-1/2}, M_n) + a(\omega_{n+1/2}, M_n)\bigr] \\
   q_{n+1} &= \frac{(1 - s)\, q_n + \Delta t\, \dot q(q_n, \omega_{n+1/2})}{1 + s}, \qquad
   s = \tfrac{\Delta t^2}{16} |\omega_{n+1/2}|^2

The state is q, and omega of half a step before; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import derivative, increment, scaled
from polhode.algebra.vector import add, axpy, dot
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import stored_in_body_frame, torque_wanted_at_state


@kernel
def sweep(new: Any, old: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The angular velocity (3,) after one fixed-point iteration of a kick for ``dt`` (s), rad/s in the body frame.

    The kick from ``omega`` (3,) has the mean of two angular accelerations: ``old`` (3,), rad/s^2, at its beginning, and the one
    at ``new`` (3,), the angular velocity of the iteration before, under ``torque`` (3,), N m in the body frame.
    """
    return axpy(0.5 * dt, add(old, euler_equations(new, torque, body)), omega)


@kernel
def kick(omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The angular velocity (3,) after ``dt`` (s), with gyroscopic products averaged over both ends (Eqs. B.11, B.12).

    It is found by three iterations. It and ``omega`` (3,) are in rad/s, ``torque`` (3,) is in N m, all in the body frame.
    """
    old = euler_equations(omega, torque, body)
    return sweep(sweep(axpy(dt, old, omega), old, omega, torque, body, dt), old, omega, torque, body, dt)


@kernel
def cayley(q: Any, omega: Any, dt: Any) -> Any:
    """The quaternion (4,) that a constant ``omega`` (3,), rad/s in the body frame, makes of q (4,) in ``dt`` (s), by the Cayley
    transform (Eq. B.10).
    """
    a = (0.0625 * dt * dt) * dot(omega, omega)
    return scaled(1.0 / (1.0 + a), increment(dt, derivative(q, omega), scaled(1.0 - a, q)))


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    return q + axpy(-0.5 * dt, euler_equations(omega, torque, body), omega)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    omega = kick(omega, torque, body, dt)
    return cayley(q, omega, dt) + omega


@kernel
def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The q (body to lab) and omega (rad/s, body frame) at the whole time, from the state and the torque (N m) there."""
    return state[:4], kick(state[4:7], torque, body, 0.5 * dt)


METHOD = OneTorque(
    key="omelyan1998",
    label="Omelyan",
    group="SPIRAL and Omelyan",
    rank=4,
    omega_handed="half a step old",
    source="Omelyan (1998); del Valle et al. (2024), Eqs. B.10-B.12, without the second factor q in B.10",
    citation="omelyan1998,delvalle2024",
    order_q=2,
    order_omega=2,
    published_order="third order",
    starts="half a step back: explicit Euler for omega",
    reads="half a kick with the torque at the whole time",
    order_exceptions={"velocity": (1, 1)},
    reconstruction="The start, which del Valle et al. (2024) leave open; explicit Euler meets their numbers.",
    normalises=False,
    start=start,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read,
    stored=stored_in_body_frame,
    stored_offset=-0.5,
)
