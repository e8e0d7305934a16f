r"""The preprocessed discrete Moser-Veselov algorithm of order 4: Hairer and Vilmart (2006); McLachlan and Zanna (2005).

A free step of ``moser_veselov`` is the exact motion, to any order, of a body whose reciprocal moments of inertia are scaled and
shifted by amounts that depend on energy and momentum alone. The preprocessed algorithm takes the step with moments changed the
other way. With :math:`H = \tfrac12 \sum y_j^2/I_j` and :math:`C = \tfrac12 \sum y_j^2`, both constant on a free step,

.. math::

   \frac1{\tilde I_j} &= \frac{1 + \Delta t^2 s_3}{I_j} + \Delta t^2 d_3 , \\
   s_3 &= \frac{I_1 + I_2 + I_3}{6 I_1 I_2 I_3}\, C - \frac13 \Bigl(\frac1{I_1} + \frac1{I_2} + \frac1{I_3}\Bigr) H , \qquad
   d_3 = \frac{I_1 + I_2 + I_3}{6 I_1 I_2 I_3}\, H - \frac{1}{3 I_1 I_2 I_3}\, C .

The free motion is of fourth order and keeps energy and momentum. The torque enters by Strang splitting, and with it the method
is of second order. The moments depend on the state, so that the step is symplectic to fifth order in dt only. Newton iterations
and residual are those of ``moser_veselov``; omega is :math:`I^{-1} y` with the true moments.

The state is q, the angular momentum L in the lab frame and the last torque (N m, body frame); shapes, frames and units are as
in :mod:`polhode.methods.protocol`.
"""

from dataclasses import replace
from typing import Any

from polhode.algebra.body import angular_velocity
from polhode.algebra.quaternion import to_body, to_lab
from polhode.algebra.vector import axpy, dot, scale
from polhode.compiling.kernel import kernel
from polhode.methods import moser_veselov
from polhode.methods.implicit_midpoint import turned
from polhode.methods.moser_veselov import rotation


@kernel
def modified_inverses(momentum: Any, body: Any, dt: Any) -> Any:
    """The reciprocals (3,), in 1/(kg m^2), of the modified moments of inertia for a step of ``dt`` (s) with the angular
    momentum ``momentum`` (3,), N m s in the body frame.
    """
    twice_energy, square = dot(momentum, angular_velocity(momentum, body)), dot(momentum, momentum)
    inverse = body[3] * body[4] * body[5]
    mixed = inverse * (body[0] + body[1] + body[2]) / 6
    h = 0.5 * dt * dt
    s = 1.0 + h * (mixed * square - (body[3] + body[4] + body[5]) / 3 * twice_energy)
    d = h * (mixed * twice_energy - inverse / 3 * square)
    return (s * body[3] + d, s * body[4] + d, s * body[5] + d)


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, torque = state[:4], state[7:10]
    momentum = axpy(0.5 * dt, to_lab(q, torque), state[4:7])
    in_body = to_body(q, momentum)
    inverses = modified_inverses(in_body, body, dt)
    x, y, z = 1.0 / inverses[0], 1.0 / inverses[1], 1.0 / inverses[2]
    a = (inverses[0] * in_body[0], inverses[1] * in_body[1], inverses[2] * in_body[2])
    f = ((y - z) * inverses[0], (z - x) * inverses[1], (x - y) * inverses[2])
    q = turned(q, rotation(scale(0.5 * dt, a), f))
    return q + momentum + torque, q, angular_velocity(to_body(q, momentum), body)


METHOD = replace(
    moser_veselov.METHOD,
    key="moser_veselov4",
    label="Moser-Veselov, 4th order",
    short_label="DMV4",
    other_names=(),
    rank=6,
    source="Hairer and Vilmart (2006), their program DMV10, order 4; McLachlan and Zanna (2005)",
    citation="hairer2006,mclachlan2005",
    order_exceptions={"free": (4, 4), "velocity": (1, 1)},
    published_order="fourth order",
    note="Fourth order without a torque; the splitting of the torque is second order.",
    before_torque=before_torque,
)
