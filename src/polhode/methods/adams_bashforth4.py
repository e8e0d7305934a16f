r"""Adams-Bashforth 4 for quaternion and angular velocity together: Bashforth and Adams (1883); one torque per step.

The flight simulator JSBSim offers it for both (``FGPropagate``, ``eAdamsBashforth4``), with the quaternion normalised after
each step. With :math:`y = (q, \omega)` and its rate :math:`f_n = (\dot q(q_n, \omega_n), a(\omega_n, M_n))`:

.. math::

   y_{n+1} = y_n + \tfrac{\Delta t}{24} (55 f_n - 59 f_{n-1} + 37 f_{n-2} - 9 f_{n-3})

The first three steps are Runge-Kutta steps of fourth order (:mod:`polhode.methods.fourth_order_start`). JSBSim fills the rates
of earlier steps with that of the first, which leaves the method of second order for the rest of the run. Under a linear
friction k the method is stable for :math:`k\,\Delta t < 3/10`.

With Buss's or Barker's rotation for q the order of q is 2.0 by measurement, as with the formula of third order; see
``adams_bashforth3``.

The state is q, omega, and the rates of both, dq/dt (4, 1/s) and d(omega)/dt (3, rad/s^2), of the last three steps, the newest
first; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from dataclasses import replace
from typing import Any

from polhode.compiling.kernel import kernel
from polhode.methods import adams_bashforth3
from polhode.methods.adams_bashforth import fourth, rates


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    first = rates(q, omega, torque, body)
    return q + omega + first + first + first


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega, last, before, first = state[:4], state[4:7], state[7:14], state[14:21], state[21:28]
    newest = rates(q, omega, torque, body)
    return fourth(q, omega, newest, last, before, first, dt) + newest + last + before


METHOD = replace(
    adams_bashforth3.METHOD,
    key="adams_bashforth4",
    label="Adams-Bashforth 4",
    short_label="AB4",
    rank=13,
    source="Bashforth and Adams (1883); JSBSim (2004), FGPropagate: eAdamsBashforth4",
    order_q=4,
    order_omega=4,
    published_order="fourth order",
    note="The first three steps take four torques each.",
    start=start,
    after_torque=after_torque,
    warm_up_steps=3,
)
