r"""Johnson's predictor-corrector: Johnson, Williams and Cook (2008), as del Valle et al. (2024), App. B.6 describe it.

The orientation is turned by the classical Runge-Kutta scheme; the lab angular momentum advances by a second-order
predictor-corrector, which costs two torques and two rotations per step. The predictor uses the old torque over the whole step,
the corrector the mean of the torques at both ends. In both the momentum varies linearly over the stages of the rotation;
the description leaves this open, but otherwise the orientation would be of first order.

With RK(q, L, T) the classical Runge-Kutta step of dq/dt = q (0, omega)/2, omega = I^-1 R(q)^T (L + T t):

.. math::

   T_n &= R(q_n) M_n, \quad \tilde q = \mathrm{RK}(q_n, L_n, T_n), \quad
   \tilde T = R(\tilde q)\, M(t_{n+1}, \tilde q, \tilde\omega) \\
   \bar T &= \tfrac12 (T_n + \tilde T) \\
   q_{n+1} &= \mathrm{RK}(q_n, L_n, \bar T), \quad L_{n+1} = L_n + \Delta t\, \bar T

The state is q and the angular momentum L in the lab frame; shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import normalise, to_body, to_lab
from polhode.algebra.vector import add, axpy, scale
from polhode.compiling.kernel import kernel
from polhode.methods.johnson2008_delvalle2024 import runge_kutta
from polhode.methods.protocol import SeveralTorques
from polhode.methods.states import omega_of_momentum, read_momentum, stored_momentum


@kernel
def start(q: Any, omega: Any, body: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab) and omega (rad/s, body frame)."""
    return q + to_lab(q, angular_momentum(omega, body))


@kernel
def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The state after a step of ``dt`` (s) from ``t`` (s) under ``torque(t, q, omega, parameters)`` (N m, body frame)."""
    q, momentum = state[:4], state[4:7]
    old = to_lab(q, torque(t, q, omega_of_momentum(state, body), parameters))
    predicted = normalise(runge_kutta(q, momentum, old, body, dt))
    omega = angular_velocity(to_body(predicted, axpy(dt, old, momentum)), body)
    new = to_lab(predicted, torque(t + dt, predicted, omega, parameters))
    mean = scale(0.5, add(old, new))
    return runge_kutta(q, momentum, mean, body, dt) + axpy(dt, mean, momentum)


METHOD = SeveralTorques(
    key="johnson2008",
    label="Johnson (second order)",
    short_label="Johnson",
    group="several torques per step",
    rank=1,
    omega_handed="corrected, two torques",
    source="Johnson, Williams and Cook (2008); del Valle et al. (2024), Eqs. B.13-B.15 with the corrector of App. B.6",
    citation="johnson2008,delvalle2024",
    order_q=2,
    order_omega=2,
    published_order="second order",
    order_exceptions={"free": (4, 4)},
    reconstruction="The original was not available: that the momentum is linear over the stages of the rotations is ours.",
    normalises=True,
    momentum_frame="lab",
    start=start,
    step=step,
    evaluations_per_step=2,
    read=read_momentum,
    stored=stored_momentum,
)
