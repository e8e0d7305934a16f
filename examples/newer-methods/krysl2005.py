r"""Krysl (2005), LIEMID[EA]: a momentum-conserving step that approximates the midpoint rule in the Lie sense.

Half a kick, two steps of half the length by the midpoint rule of the free body, half a kick. The rotation vector
:math:`\Theta` of a half is the one whose body angular velocity is that in its own middle, and turns the momentum P of the
body frame exactly, so that the momentum in the lab stands still between the kicks:

.. math::

   \Theta &= h\, I^{-1} \exp(-\tfrac12 \Theta)\, P, \qquad h = \tfrac{\Delta t}{2} \\
   q' &= q \exp(\tfrac12 \Theta), \qquad P' = \exp(-\Theta)\, P

The torque is evaluated once, at the end. Four Newton iterations from :math:`h \omega` solve the equation. What is left is
below 1e-12 rad up to :math:`|\omega| \Delta t = 0.5` for any body, needles included.
"""

from typing import Any

from polhode.algebra.body import angular_velocity
from polhode.algebra.quaternion import exponential, multiply, to_body
from polhode.algebra.vector import add, axpy, cross, dot, scale
from polhode.compiling.kernel import kernel
from polhode.methods import splitting
from polhode.methods.linear_system import solve_or_huge
from polhode.methods.protocol import OneTorque


@kernel
def newton(turn: Any, momentum: Any, body: Any, h: Any) -> Any:
    """The rotation vector (rad) after a Newton iteration; its derivative has the first terms of the exponential's."""
    v = to_body(exponential(scale(0.5, turn)), momentum)
    gap = axpy(h, angular_velocity(v, body), scale(-1.0, turn))
    # The derivative of v by the rotation vector t is g [v x] - (t v - t.v)/8 + (v x t) t/48.
    g, d = 0.5 - dot(turn, turn) / 48.0, dot(v, turn) / 8.0
    w = scale(1.0 / 48.0, cross(v, turn))
    s = scale(g, v)
    x = axpy(turn[0] / 8.0, v, axpy(-w[0], turn, (-d, s[2], -s[1])))
    y = axpy(turn[1] / 8.0, v, axpy(-w[1], turn, (-s[2], -d, s[0])))
    z = axpy(turn[2] / 8.0, v, axpy(-w[2], turn, (s[1], -s[0], -d)))
    x = axpy(h * body[3], x, (1.0, 0.0, 0.0))
    y = axpy(h * body[4], y, (0.0, 1.0, 0.0))
    z = axpy(h * body[5], z, (0.0, 0.0, 1.0))
    return add(turn, solve_or_huge(x, y, z, gap))


@kernel
def midpoint(q: Any, momentum: Any, body: Any, h: Any) -> Any:
    """q and the momentum (N m s, body frame) of a free body after h (s)."""
    turn = scale(h, angular_velocity(momentum, body))
    turn = newton(newton(turn, momentum, body, h), momentum, body, h)
    turn = newton(newton(turn, momentum, body, h), momentum, body, h)
    step = exponential(turn)
    return multiply(q, step), to_body(step, momentum)


@kernel
def drift(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """q and the momentum (N m s, body frame) of a free body after dt (s), in two halves."""
    q, momentum = midpoint(q, momentum, body, 0.5 * dt)
    return midpoint(q, momentum, body, 0.5 * dt)


METHOD = OneTorque(
    key="krysl2005",
    label="Krysl, LIEMID[EA]",
    short_label="Krysl",
    omega_handed="without the last half kick",
    source="Krysl (2005), Int. J. Numer. Meth. Engng 63, 2171",
    citation="",
    order_q=2,
    order_omega=2,
    order_exceptions={"velocity": (1, 1)},
    reconstruction="The paper was not at hand: the equations are as others print them who cite it.",
    normalises=False,
    rotates_before_torque=True,
    note="Keeps the momentum of a free body; reversible.",
    start=splitting.start,
    before_torque=splitting.kicked(drift),
    after_torque=splitting.after_torque,
    read=splitting.read,
    stored=splitting.stored,
    torque_time=1.0,
)
