r"""The implicit midpoint rule: Austin, Krishnaprasad and Wang (1993), with one torque, at a predicted midpoint.

The midpoint rule is applied to Euler's equations, and the orientation turns by the Cayley transform of the same mean angular
velocity. For the free body this keeps the energy and the angular momentum in the lab exactly:
:math:`I(\omega_{n+1} - \omega_n)` is perpendicular to the mean angular velocity, and the Cayley transform carries
:math:`I\omega_n` into :math:`I\omega_{n+1}`. The canonical form is kept to third order in a step, not exactly.

.. math::

   \bar\omega &= \omega_n + \tfrac{\Delta t}{2}\, a(\bar\omega, M_{n+1/2}), \qquad
   \omega_{n+1} = 2\bar\omega - \omega_n \\
   q_{n+1} &= q_n\, \frac{(1, \tfrac{\Delta t}{2}\bar\omega)}{\sqrt{1 + \tfrac{\Delta t^2}{4} |\bar\omega|^2}}

A torque that depends on q or omega makes the rule implicit in the torque as well; ``implicit_midpoint_iterated`` evaluates it
four times for that. Here it is evaluated once, at the midpoint that original PCDM predicts (``pcdm2013_mid``) from the mean
acceleration of the last step. The prediction has an error of second order, so that the method is of second order for every
torque, friction included. It is stable under linear friction k (torque over moment of inertia and angular velocity) for
:math:`k \Delta t < 1`. With a torque of the orientation the step is not time-symmetric, since the prediction is not.

Three Newton iterations from the explicit value solve the equation of the mean angular velocity. What is left is round-off,
below 1e-15 of omega, up to :math:`|\omega| \Delta t = 0.5` for any body, and below 1e-13 up to 1.

The state is q, omega, the mean angular acceleration of the last step (rad/s^2, body frame), and the q and omega predicted for
the torque; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from math import sqrt
from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import multiply, scaled
from polhode.algebra.vector import add, axpy, dot, scale
from polhode.compiling.kernel import kernel
from polhode.methods.linear_system import solve_or_huge
from polhode.methods.pcdm2013_mid import before_torque
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame
from polhode.methods.translation import MIDPOINT_PREDICTED


@kernel
def newton(mean: Any, omega: Any, torque: Any, body: Any, half: Any) -> Any:
    """The mean angular velocity (3,) after a Newton iteration of mean = omega + half a(mean, torque), from the one before it.

    ``mean`` and ``omega`` (3,) in rad/s and ``torque`` (3,) in N m, body frame; ``half`` is dt/2 in s.
    """
    gap = axpy(half, euler_equations(mean, torque, body), axpy(-1.0, mean, omega))
    x, y, z = half * body[6], half * body[7], half * body[8]
    a = (1.0, -x * mean[2], -x * mean[1])
    b = (-y * mean[2], 1.0, -y * mean[0])
    c = (-z * mean[1], -z * mean[0], 1.0)
    return add(mean, solve_or_huge(a, b, c, gap))


@kernel
def mean_velocity(omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The mean angular velocity (3,) of the midpoint rule with this torque: three Newton iterations from the explicit guess.

    It and ``omega`` (3,) at the beginning of the step of ``dt`` (s) are in rad/s and ``torque`` (3,) is in N m, body frame.
    """
    half = 0.5 * dt
    mean = axpy(half, euler_equations(omega, torque, body), omega)
    mean = newton(mean, omega, torque, body, half)
    mean = newton(mean, omega, torque, body, half)
    return newton(mean, omega, torque, body, half)


@kernel
def turned(q: Any, c: Any) -> Any:
    """The quaternion q (1, c)/|(1, c)| (4,): q (4,) turned about the axis c (3,) in the body, the tangent of half the angle
    being |c|.
    """
    return scaled(1.0 / sqrt(1.0 + dot(c, c)), multiply(q, (1.0, c[0], c[1], c[2])))


# The state: q, omega, the mean acceleration of the last step, and what `before_torque` predicts.


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    return q + omega + euler_equations(omega, torque, body) + q + omega


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    mean = mean_velocity(omega, torque, body, dt)
    q, omega = turned(q, scale(0.5 * dt, mean)), axpy(2.0, mean, scale(-1.0, omega))
    return q + omega + euler_equations(mean, torque, body) + state[10:17]


METHOD = OneTorque(
    key="implicit_midpoint",
    label="implicit midpoint",
    short_label="midpoint",
    group="implicit",
    rank=1,
    omega_handed="predicted",
    source="Austin, Krishnaprasad and Wang (1993); the predicted torque as in Zhao and van Wachem (2013)",
    citation="austin1993,zhao2013",
    order_q=2,
    order_omega=2,
    published_order="second order",
    reconstruction="The paper was not at hand; that the torque is that of an explicitly predicted midpoint is ours.",
    normalises=False,
    note="Keeps energy and momentum of the free body; three Newton iterations in a step.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=0.5,
    translation=MIDPOINT_PREDICTED,
)
