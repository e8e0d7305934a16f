r"""Adams-Bashforth 4 for quaternion and angular velocity together: Bashforth and Adams (1883); one torque per step.

The flight simulator JSBSim offers it for both (``FGPropagate``, ``eAdamsBashforth4``), with the quaternion normalised after
each step. With :math:`y = (q, \omega)` and its rate :math:`f_n = (\dot q(q_n, \omega_n), a(\omega_n, M_n))`:

.. math::

   y_{n+1} = y_n + \tfrac{\Delta t}{24} (55 f_n - 59 f_{n-1} + 37 f_{n-2} - 9 f_{n-3})

The first three steps are Runge-Kutta steps of fourth order (:mod:`polhode.methods.fourth_order_start`). JSBSim fills the rates
of earlier steps with that of the first, which leaves the method of second order for the rest of the run; so do systems of
bodies here, which start without several torques. Under a linear friction k the method is stable for
:math:`k\,\Delta t < 3/10`.
"""

from typing import Any

from polhode.kernel import kernel
from polhode.methods.adams_bashforth import fourth
from polhode.methods.adams_bashforth3 import rates
from polhode.methods.fourth_order_start import FURTHER_TORQUES, fourth_order_step
from polhode.methods.protocol import SEVERAL_BODIES, OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame, torque_wanted_at_state
from polhode.methods.translation import ADAMS

# The state: q and omega, then the rates of both at the last three steps, the newest first.


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    first = rates(q, omega, torque, body)
    return q + omega + first + first + first


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    q, omega, last, before, first = state[:4], state[4:7], state[7:14], state[14:21], state[21:28]
    newest = rates(q, omega, torque, body)
    return fourth(q, omega, newest, last, before, first, dt) + newest + last + before


@kernel
def warm_up(state: Any, moment: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    q, omega = state[:4], state[4:7]
    newest = rates(q, omega, moment, body)
    q, omega = fourth_order_step(q, omega, moment, t, dt, body, torque, parameters)
    return q + omega + newest + state[7:21]


METHOD = OneTorque(
    key="adams_bashforth4",
    label="Adams-Bashforth 4",
    short_label="AB4",
    group="multistep",
    rank=13,
    omega_handed="in time",
    source="Bashforth and Adams (1883); JSBSim (2004), FGPropagate: eAdamsBashforth4",
    citation="bashforth1883,berndt2004",
    order_q=4,
    order_omega=4,
    order_exceptions={SEVERAL_BODIES: (2, 2)},
    published_order="fourth order",
    normalises=True,
    note="The first three steps take four torques each.",
    start=start,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    warm_up=warm_up,
    warm_up_steps=3,
    warm_up_torques=FURTHER_TORQUES,
    translation=ADAMS,
)
