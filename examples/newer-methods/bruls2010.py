r"""The generalised alpha method on the rotation group: Brüls and Cardona (2010), with spectral radius 0.9 at infinite steps.

Multibody codes take it for the sake of constraints; Exudyn does by default. What is held beside q and omega is an algorithmic
acceleration b, which lags behind the acceleration a of the equations of motion.

.. math::

   (1 - \alpha_m) b_{n+1} + \alpha_m b_n &= (1 - \alpha_f) a_{n+1} + \alpha_f a_n, \qquad
   a_{n+1} = a(\omega_{n+1}, M_{n+1}) \\
   \omega_{n+1} &= \omega_n + \Delta t\,[(1 - \gamma) b_n + \gamma b_{n+1}] \\
   q_{n+1} &= q_n \exp\bigl(\tfrac{\Delta t}{2} \{\omega_n + \Delta t\,[(\tfrac12 - \beta) b_n + \beta b_{n+1}]\}\bigr)

With the radius r, :math:`\alpha_m = (2r - 1)/(r + 1)`, :math:`\alpha_f = r/(r + 1)`,
:math:`\gamma = \tfrac12 + \alpha_f - \alpha_m` and :math:`\beta = \tfrac14 (\gamma + \tfrac12)^2`. The codes iterate on the
torque as well. Here it is evaluated once, where :math:`b_{n+1} = b_n` leads, which keeps the order. The equation of omega is
the implicit midpoint rule with another right-hand side, and is solved by the same three Newton iterations.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import rotate
from polhode.algebra.vector import axpy, scale
from polhode.compiling.kernel import kernel
from polhode.methods.implicit_midpoint import newton
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame

RADIUS = 0.9
ALPHA_M, ALPHA_F = (2.0 * RADIUS - 1.0) / (RADIUS + 1.0), RADIUS / (RADIUS + 1.0)
GAMMA = 0.5 + ALPHA_F - ALPHA_M
BETA = 0.25 * (GAMMA + 0.5) ** 2
#: The share of the new acceleration in the algorithmic one.
SHARE = (1.0 - ALPHA_F) / (1.0 - ALPHA_M)

# The state: q, omega, the acceleration, the algorithmic acceleration.


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    acceleration = euler_equations(omega, torque, body)
    return q + omega + acceleration + acceleration


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The part of a step before its torque: the state, and the q and omega (rad/s) at which the torque is evaluated."""
    omega, lagging = state[4:7], state[10:13]
    return state, rotate(state[:4], axpy(0.5 * dt, lagging, omega), dt), axpy(dt, lagging, omega)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    omega, acceleration, lagging = state[4:7], state[7:10], state[10:13]
    # The algorithmic acceleration but for its share of the new one.
    rest = scale(1.0 / (1.0 - ALPHA_M), axpy(ALPHA_F, acceleration, scale(-ALPHA_M, lagging)))
    known = axpy((1.0 - GAMMA) * dt, lagging, axpy(GAMMA * dt, rest, omega))
    share = GAMMA * SHARE * dt
    new = axpy(share, euler_equations(axpy(dt, lagging, omega), torque, body), known)
    new = newton(new, known, torque, body, share)
    new = newton(new, known, torque, body, share)
    new = newton(new, known, torque, body, share)
    newest = euler_equations(new, torque, body)
    algorithmic = axpy(SHARE, newest, rest)
    mean = axpy((0.5 - BETA) * dt, lagging, axpy(BETA * dt, algorithmic, omega))
    return rotate(state[:4], mean, dt) + new + newest + algorithmic


METHOD = OneTorque(
    key="bruls2010",
    label="generalised alpha on the group",
    short_label="gen. alpha",
    omega_handed="predicted",
    source="Brüls and Cardona (2010), J. Comput. Nonlinear Dynam. 5, 031002",
    citation="",
    order_q=2,
    order_omega=2,
    reconstruction="The paper was not at hand: the equations come from codes that cite it, the state at which the torque is "
    "evaluated is ours.",
    normalises=False,
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=1.0,
)
