r"""Omelyan's revised angular-momentum leapfrog: Omelyan (1999), arXiv physics/9901025.

The angular momentum is carried in the lab frame at half steps, as by Fincham, but nothing is extrapolated: the orientation that
turns it into the body frame is interpolated between both ends of the step, which makes the rotation implicit. The quaternion
turns by a Cayley transform, which preserves its norm (Omelyan 1998).

.. math::

   L_{n+1/2} &= L_{n-1/2} + \Delta t\, R(q_n) M_n \\
   \omega_{n+1/2} &= I^{-1}\, \tfrac12 \bigl[R(q_n) + R(q_{n+1})\bigr]^T L_{n+1/2} \\
   q_{n+1} &= \frac{(1 - s)\, q_n + \Delta t\, \dot q(q_n, \omega_{n+1/2})}{1 + s}, \qquad
   s = \tfrac{\Delta t^2}{16} |\omega_{n+1/2}|^2

It is iterated, beginning with :math:`R(q_n)` at both ends, as in ``rozmanov2010``, until :math:`\omega \Delta t` changes by
less than 1e-13. With the mean quaternion, normalised, in place of the mean matrix the rotation would be that of Rozmanov and
Kusalik (2010) up to terms of third order.

The state is q, and the angular momentum L in the lab frame and omega of half a step before; shapes, frames and units are as in
:mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import angular_velocity
from polhode.algebra.quaternion import to_body, to_lab
from polhode.algebra.vector import add, axpy, dot, scale
from polhode.compiling.kernel import kernel
from polhode.methods.fincham1992 import read, start, stored
from polhode.methods.omelyan1998 import cayley
from polhode.methods.protocol import OneTorque
from polhode.methods.rozmanov2010 import CHANGE_SQUARED, ROUNDS
from polhode.methods.states import torque_wanted_at_momentum


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q = state[:4]
    momentum = axpy(dt, to_lab(q, torque), state[4:7])
    old = to_body(q, momentum)
    omega = angular_velocity(old, body)
    change, rounds = 1.0, 0
    while change > CHANGE_SQUARED and rounds < ROUNDS:
        last = omega
        new = to_body(cayley(q, last, dt), momentum)
        omega = angular_velocity(scale(0.5, add(old, new)), body)
        gap = axpy(-1.0, last, omega)
        change = dt * dt * dot(gap, gap)
        rounds += 1
    return cayley(q, omega, dt) + momentum + omega


METHOD = OneTorque(
    key="omelyan1999_momentum",
    label="Omelyan, revised momentum",
    short_label="Omelyan L",
    group="leapfrogs of the angular momentum",
    rank=4,
    omega_handed="half a step old",
    source="Omelyan (1999), arXiv physics/9901025, abstract",
    citation="omelyan1999",
    order_q=2,
    order_omega=2,
    starts="half a kick back: L(-dt/2) = L(0) - dt/2 M(0)",
    reads="half a kick of L with the torque at the whole time",
    order_exceptions={"velocity": (1, 1)},
    normalises=False,
    momentum_frame="lab",
    reconstruction="Only the abstract was available: the mean of the matrices and the Cayley transform are our reading.",
    start=start,
    before_torque=torque_wanted_at_momentum,
    after_torque=after_torque,
    read=read,
    stored=stored,
    stored_offset=-0.5,
)
