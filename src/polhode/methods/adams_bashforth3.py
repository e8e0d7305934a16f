r"""Adams-Bashforth 3 for quaternion and angular velocity together: Bashforth and Adams (1883); one torque per step.

The flight simulator JSBSim offers it for both (``FGPropagate``, ``eAdamsBashforth3``), with the quaternion normalised after
each step. With :math:`y = (q, \omega)` and its rate :math:`f_n = (\dot q(q_n, \omega_n), a(\omega_n, M_n))`:

.. math::

   y_{n+1} = y_n + \tfrac{\Delta t}{12} (23 f_n - 16 f_{n-1} + 5 f_{n-2})

The first two steps are Runge-Kutta steps of fourth order (:mod:`polhode.methods.fourth_order_start`). JSBSim fills the rates of
earlier steps with that of the first, which leaves the method of second order for the rest of the run. Under a linear friction
k the method is stable for :math:`k\,\Delta t < 6/11`.

JSBSim can also turn q by Buss's or Barker's rotation with this formula for omega. These are of second order: under friction q
is then of order 2.0, and on the asymmetric heavy top, where the torque takes q, omega too, both by measurement. They are
therefore no methods of their own here; the engine atlas has them among its candidates.

The state is q, omega, and the rates of both, dq/dt (4, 1/s) and d(omega)/dt (3, rad/s^2), of the last step and of the step
before; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.compiling.kernel import kernel
from polhode.methods.adams_bashforth import rates, third
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame, torque_wanted_at_state


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    first = rates(q, omega, torque, body)
    return q + omega + first + first


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega, last, before = state[:4], state[4:7], state[7:14], state[14:21]
    newest = rates(q, omega, torque, body)
    return third(q, omega, newest, last, before, dt) + newest + last


METHOD = OneTorque(
    key="adams_bashforth3",
    label="Adams-Bashforth 3",
    short_label="AB3",
    group="multistep",
    rank=12,
    omega_handed="in time",
    source="Bashforth and Adams (1883); JSBSim (2004), FGPropagate: eAdamsBashforth3",
    citation="bashforth1883,berndt2004",
    order_q=3,
    order_omega=3,
    published_order="third order",
    normalises=True,
    note="The first two steps take four torques each.",
    start=start,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    warm_up_steps=2,
)
