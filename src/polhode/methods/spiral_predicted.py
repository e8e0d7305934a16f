r"""SPIRAL with a predicted angular velocity: second order under friction with one torque a step.

SPIRAL (del Valle et al. 2024, Eqs. 7-10) evaluates the torque at the whole time with the angular velocity of half a step
before, which loses an order under friction. Here the torque gets an angular velocity predicted for its own time from the
last torque and the last secant (:mod:`polhode.methods.predictor`). The step itself is that of SPIRAL: where the torque does not
depend on the angular velocity the two give the same bits. Friction means drag here, a smooth function of omega; for contacts
with friction see :mod:`polhode.methods.predictor`. With K(omega, M, t) the kick by SSPRK3 over the time t (Eqs. 9, 10):

.. math::

   e_n &= K(\omega_{n-1/2}, M_{n-1}, \tfrac{\Delta t}{2}) \\
   \omega^*_n &= \omega^*_{n-1} + \frac{e_n - \omega^*_{n-1}}{1 + \tfrac{\Delta t}{2} \kappa_{n-1}} \\
   M_n &= M(t_n, q_n, \omega^*_n) \\
   \kappa_n &= \max\Bigl(0, -\frac{(M_n - M_{n-1}) \cdot (\omega^*_n - \omega^*_{n-1})}
   {(\omega^*_n - \omega^*_{n-1}) \cdot I (\omega^*_n - \omega^*_{n-1})}\Bigr) \\
   \omega_{n+1/2} &= K(\omega_{n-1/2}, M_n, \Delta t) \\
   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\omega_{n+1/2})

The state is q, omega of half a step before, the last torque (N m, body frame) and the omega with which it was evaluated, the
rate of the secant (1/s), and the omega for the torque of now; shapes, frames and units are as in
:mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.compiling.kernel import kernel
from polhode.methods.predictor import HOLD, damped, secant_rate
from polhode.methods.protocol import OneTorque
from polhode.methods.spiral_leapfrog import after_torque as spiral
from polhode.methods.spiral_leapfrog import kick, read
from polhode.methods.spiral_leapfrog import start as spiral_start
from polhode.methods.states import stored_in_body_frame
from polhode.methods.translation import LEAPFROG_SECANT

# The state: q_n and omega_{n-1/2}; the last torque and the omega handed to it; the rate; the omega handed to the torque of now.


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    # The first prediction is the initial omega, and exactly so: a secant between the two would be nothing but rounding.
    return spiral_start(q, omega, torque, body, dt) + torque + omega + (HOLD,) + omega


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    predicted = damped(kick(state[4:7], state[7:10], body, 0.5 * dt), state[10:13], state[13], dt)
    return state[:14] + predicted, state[:4], predicted


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    predicted = state[14:17]
    rate = secant_rate(torque, state[7:10], predicted, state[10:13], body)
    return spiral(state, torque, body, dt) + torque + predicted + (rate,) + predicted


METHOD = OneTorque(
    key="spiral_predicted",
    label="SPIRAL, predicted",
    short_label="SPIRAL pr.",
    group="new in this work",
    rank=0,
    omega_handed="predicted by a secant",
    source="this work; kick and rotation of del Valle et al. (2024), Eqs. 7, 9, 10",
    citation="delvalle2024,barzilai1988",
    order_q=2,
    order_omega=3,
    starts="half a kick back: SSPRK3 with -dt/2; the first torque also stands for the one before",
    reads="half a kick with the torque at the whole time",
    order_exceptions={"time": (2, 2), "lab": (2, 2), "state": (2, 2), "velocity": (2, 2)},
    normalises=False,
    note="The same bits as SPIRAL where the torque does not depend on omega; no stability limit under drag at one rate.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read,
    stored=stored_in_body_frame,
    stored_offset=-0.5,
    translation=LEAPFROG_SECANT,
)
