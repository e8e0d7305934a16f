r"""The momentum-first step of Spiers (2026), exact for a free body with two equal moments.

Between two kicks the angular momentum L stands still in the lab, and the step turns the body twice: about
:math:`\Omega = \omega - J' L`, fixed in the body, and about L. With :math:`k = \omega \times L` the number J' is the inverse
moment along k, for which the second derivative of the energy vanishes; of a symmetric top it is one over the two equal
moments, and both rotations are exact.

.. math::

   L_{n+1} &= L_n + \Delta t\, R(q_n) M_n \\
   J' &= \frac{k \cdot I^{-1} k}{|k|^2}, \qquad k = \omega \times I \omega, \quad \omega = I^{-1} R(q_n)^T L_{n+1} \\
   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2} J' I\omega) \exp(\tfrac{\Delta t}{2} (\omega - J' I\omega))

The energy of a free body is kept to second order. The orientation is of first order where the moments are three: in a step
the axis misses half of dt^2 times what of :math:`I^{-1} k` is not along k.
"""

from typing import Any

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import rotate, to_body, to_lab
from polhode.algebra.vector import axpy, cross, dot, scale
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_momentum, start_with_momentum, stored_momentum, torque_wanted_at_momentum


@kernel
def inverse_moment(k: Any, body: Any) -> Any:
    """The inverse moment along k, 1/(kg m^2); 0 for a k of zero, where any number does."""
    square, along = dot(k, k), dot(k, angular_velocity(k, body))
    ratio = 0.0
    if square > 0.0:
        ratio = along / square
    return ratio


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q = state[:4]
    momentum = axpy(dt, to_lab(q, torque), state[4:7])
    omega = angular_velocity(to_body(q, momentum), body)
    of_body = angular_momentum(omega, body)
    about_momentum = scale(inverse_moment(cross(omega, of_body), body), of_body)
    return rotate(rotate(q, about_momentum, dt), axpy(-1.0, about_momentum, omega), dt) + momentum


METHOD = OneTorque(
    key="spiers2026",
    label="Spiers, momentum first",
    short_label="Spiers",
    omega_handed="in time; torque frozen",
    source="Spiers, A better way to spin (2026), the momentum-first method",
    citation="",
    order_q=1,
    order_omega=1,
    normalises=True,
    momentum_frame="lab",
    note="Exact for a free body with two equal moments; keeps the momentum of every free body.",
    start=start_with_momentum,
    before_torque=torque_wanted_at_momentum,
    after_torque=after_torque,
    read=read_momentum,
    stored=stored_momentum,
)
