r"""Adams-Bashforth 2 for the angular velocity with Buss's rotation, as the flight simulator JSBSim offers them.

``FGPropagate`` integrates the rates of both quaternion and angular velocity at the beginning of a step. For omega it has
Adams-Bashforth formulas; for the quaternion also Buss's rotation (``eBuss2``), which takes omega and its rate of change.

.. math::

   a_n &= a(\omega_n, M_n) \\
   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\bar\omega), \qquad
   \bar\omega = \omega_n + \tfrac{\Delta t}{2}\, a_n + \tfrac{\Delta t^2}{12}\, a_n \times \omega_n \\
   \omega_{n+1} &= \omega_n + \tfrac{\Delta t}{2} (3 a_n - a_{n-1})

The first step has :math:`a_{-1} = a_0`, as in JSBSim, and is one of explicit Euler; a single step of first order leaves the
method of second order. Under a linear friction k the method is stable for :math:`k\,\Delta t < 1`.

The state is q, omega and the angular acceleration of the last step (rad/s^2, body frame); shapes, frames and units are as in
:mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import rotate
from polhode.compiling.kernel import kernel
from polhode.methods.adams_bashforth import second
from polhode.methods.buss2000 import COEFFICIENT
from polhode.methods.buss2000_delvalle2024 import mean_rotation
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame, torque_wanted_at_state
from polhode.methods.translation import LEAPFROG_EXTRAPOLATED


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    return q + omega + euler_equations(omega, torque, body)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega, last = state[:4], state[4:7], state[7:10]
    acceleration = euler_equations(omega, torque, body)
    q = rotate(q, mean_rotation(omega, acceleration, dt, COEFFICIENT), dt)
    return q + second(omega, acceleration, last, dt) + acceleration


METHOD = OneTorque(
    key="adams_bashforth2_buss",
    label="AB2, Buss rotation",
    short_label="AB2 Buss",
    group="multistep",
    rank=10,
    omega_handed="in time",
    source="JSBSim (2004), FGPropagate: eAdamsBashforth2 and eBuss2; Buss (2000)",
    citation="berndt2004,buss2000,bashforth1883",
    order_q=2,
    order_omega=2,
    published_order="second order",
    normalises=False,
    note="The first step is one of explicit Euler in omega, as in JSBSim; this costs no order.",
    start=start,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    translation=LEAPFROG_EXTRAPOLATED,
)
