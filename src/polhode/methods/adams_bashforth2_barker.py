r"""Adams-Bashforth 2 for the angular velocity with Barker's local linearisation: Barker, Bowles and Williams (1973); JSBSim.

dq/dt = q w(t) with w = (0, omega)/2 is solved for an omega that grows linearly over the step, to first order in its growth:

.. math::

   q_{n+1} &= q_n \Bigl[\exp(\Delta t\, w_n) + \int_0^{\Delta t} s\, \dot w_n \exp\bigl((\Delta t - s) w_n\bigr)\, ds\Bigr] \\
   &= q_n \bigl(C_1 - C_4\, v \cdot u,\; C_2\, v + C_3\, u + C_4\, u \times v\bigr), \qquad
   v = \tfrac12 \omega_n, \quad u = \tfrac12 a_n \\
   C_1 &= \cos\rho, \quad C_2 = \Delta t\, \frac{\sin\rho}{\rho}, \quad
   C_3 = \Delta t^2\, \frac{1 - \cos\rho}{\rho^2}, \quad C_4 = \Delta t^3\, \frac{\rho - \sin\rho}{\rho^3}, \qquad
   \rho = \tfrac{\Delta t}{2} |\omega_n| \\
   \omega_{n+1} &= \omega_n + \tfrac{\Delta t}{2} (3 a_n - a_{n-1}), \qquad a_n = a(\omega_n, M_n)

The quaternion is normalised. The cross product has the sign of the integral, which is that of the formulas of Barker et al. as
quoted in ``FGPropagate`` of JSBSim. The statement executed there (``eLocalLinearization``) has v x u instead. Once normalised,
that follows an omega of constant rate to one order more than the integral; the method is of second order either way. The first
step has :math:`a_{-1} = a_0`, as in JSBSim.

The state is q, omega and the angular acceleration of the last step (rad/s^2, body frame); shapes, frames and units are as in
:mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import cos_sinc, multiply
from polhode.algebra.vector import axpy, cross, dot, scale
from polhode.compiling.kernel import hides_nothing, kernel
from polhode.methods.adams_bashforth import second
from polhode.methods.adams_bashforth2_buss import start
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame, torque_wanted_at_state
from polhode.methods.translation import LEAPFROG_EXTRAPOLATED


@hides_nothing
@kernel
def third_coefficient(square: Any, sinc: Any) -> Any:
    """The number (rho - sin rho)/rho^3, without a unit, from ``square`` = rho^2 and ``sinc`` = (sin rho)/rho.

    Up to rho = 0.1 its series, whose next term is below 3e-16 there; the quotient cancels, by at most 1e-14.
    """
    ratio = 1 / 6 - square * (1 / 120 - square * (1 / 5040 - square / 362880))
    if square > 0.01:
        ratio = (1.0 - sinc) / square
    return ratio


@kernel
def local_linearisation(q: Any, omega: Any, acceleration: Any, dt: Any) -> Any:
    """The quaternion (4,) after ``dt`` (s), not normalised, for an angular velocity that grows at a constant rate.

    ``q`` (4,), body to lab; ``omega`` (3,) in rad/s and ``acceleration`` (3,) in rad/s^2, body frame.
    """
    v, u = scale(0.5, omega), scale(0.5, acceleration)
    square = dt * dt * dot(v, v)
    c1, sinc = cos_sinc(square)
    half_sinc = cos_sinc(0.25 * square)[1]
    c2 = dt * sinc
    c3 = 0.5 * dt * dt * half_sinc * half_sinc  # 1 - cos rho is 2 sin^2(rho/2), which does not cancel
    c4 = dt * dt * dt * third_coefficient(square, sinc)
    turn = axpy(c2, v, axpy(c3, u, scale(c4, cross(u, v))))
    return multiply(q, (c1 - c4 * dot(v, u), turn[0], turn[1], turn[2]))


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega, last = state[:4], state[4:7], state[7:10]
    acceleration = euler_equations(omega, torque, body)
    q = local_linearisation(q, omega, acceleration, dt)
    return q + second(omega, acceleration, last, dt) + acceleration


METHOD = OneTorque(
    key="adams_bashforth2_barker",
    label="AB2, Barker rotation",
    short_label="AB2 Barker",
    group="multistep",
    rank=11,
    omega_handed="in time",
    source="JSBSim, FGPropagate: eAdamsBashforth2 and eLocalLinearization; Barker, Bowles and Williams (1973)",
    citation="berndt2004,barker1973,bashforth1883",
    order_q=2,
    order_omega=2,
    published_order="second order",
    normalises=True,
    note="The first step is one of explicit Euler in omega, as in JSBSim; this costs no order.",
    reconstruction="The report was not at hand: the cross product has the sign of the integral that defines the method.",
    start=start,
    before_torque=torque_wanted_at_state,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    translation=LEAPFROG_EXTRAPOLATED,
)
