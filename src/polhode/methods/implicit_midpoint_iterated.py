r"""The implicit midpoint rule, implicit in the torque too, by four evaluations: Austin, Krishnaprasad and Wang (1993).

The step is that of ``implicit_midpoint``, but the torque belongs to the mean angular velocity and to the orientation half way
along the rotation of the step, so that the method is implicit in the torque as well and time-symmetric:

.. math::

   \bar\omega &= \omega_n + \tfrac{\Delta t}{2}\, a(\bar\omega, M(t_{n+1/2}, \bar q, \bar\omega)), \qquad
   \bar q = \frac{q_n + q_{n+1}}{|q_n + q_{n+1}|} \\
   \omega_{n+1} &= 2\bar\omega - \omega_n, \qquad
   q_{n+1} = q_n\, \frac{(1, \tfrac{\Delta t}{2}\bar\omega)}{\sqrt{1 + \tfrac{\Delta t^2}{4} |\bar\omega|^2}}

The torque is iterated four times from :math:`\bar\omega = \omega_n`; for each torque the equation of the mean angular velocity
is solved as in ``implicit_midpoint``. An iteration reduces the error by a factor k dt/2 under a friction k (torque over moment
of inertia and angular velocity), and by a factor of order dt^2 for a torque of the orientation. Four leave
:math:`(\tfrac{k \Delta t}{2})^4 \tfrac{\Delta t}{2}\, a`, that is :math:`O(\Delta t^5)`, of the mean angular velocity under
friction, and :math:`O(\Delta t^9)` for a torque of the orientation. The residual is therefore round-off only for small steps,
and time symmetry holds to the residual.

The state is q and omega; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from math import sqrt
from typing import Any

from polhode.algebra.quaternion import multiply, scaled
from polhode.algebra.vector import axpy, dot, scale
from polhode.compiling.kernel import kernel
from polhode.methods.implicit_midpoint import mean_velocity, turned
from polhode.methods.protocol import SeveralTorques
from polhode.methods.rk4 import start
from polhode.methods.states import read_synchronous, stored_in_body_frame


@kernel
def half_turned(q: Any, c: Any) -> Any:
    """The quaternion (4,) half way from q (4,) to q (1, c)/|(1, c)|, where c (3,) is the axis in the body times the tangent of
    half the angle of the whole rotation.
    """
    length = sqrt(1.0 + dot(c, c))
    w = 1.0 + length
    return scaled(1.0 / sqrt(w * w + dot(c, c)), multiply(q, (w, c[0], c[1], c[2])))


@kernel
def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The state after a step of ``dt`` (s) from ``t`` (s) under ``torque(t, q, omega, parameters)`` (N m, body frame)."""
    q, omega = state[:4], state[4:7]
    h, middle = 0.5 * dt, t + 0.5 * dt
    mean = omega
    for _ in range(4):
        moment = torque(middle, half_turned(q, scale(h, mean)), mean, parameters)
        mean = mean_velocity(omega, moment, body, dt)
    return turned(q, scale(h, mean)) + axpy(2.0, mean, scale(-1.0, omega))


METHOD = SeveralTorques(
    key="implicit_midpoint_iterated",
    label="implicit midpoint, iterated",
    short_label="midpoint it.",
    group="several torques per step",
    rank=6,
    omega_handed="of the midpoint, iterated",
    source="Austin, Krishnaprasad and Wang (1993)",
    citation="austin1993",
    order_q=2,
    order_omega=2,
    published_order="second order",
    reconstruction="The paper was not at hand; the torque at the middle of the rotation and its four iterations are ours.",
    normalises=False,
    note="Time-symmetric to the residual of its four iterations of the torque.",
    start=start,
    step=step,
    evaluations_per_step=4,
    read=read_synchronous,
    stored=stored_in_body_frame,
)
