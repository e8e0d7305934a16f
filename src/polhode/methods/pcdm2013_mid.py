r"""Predictor-corrector direct multiplication (PCDM): Zhao and van Wachem (2013), as Seelen et al. (2016), Sec. 2, describe it.

Here q and omega refer to whole times. The angular acceleration at t_n predicts both at the half step, the prediction turns q
over the whole step, and the acceleration at the half step advances omega. This needs a torque at t_n and one at t_{n+1/2};
with one evaluation per step it is open which of them is used. There are three readings:

* here: at t_{n+1/2}, with the predicted q' and omega' of that time; the predictor uses the torque of the previous step, half
  a step older than t_n, which costs no order;
* ``pcdm2013_lag``: at t_n, also for the corrector, as Seelen et al. (2016) say of the original at the end of Sec. 2;
* ``pcdm2013_lead``: at t_{n+1}, for the corrector, which is implied for the original method by their Table 1.

Two public programs that name Zhao and van Wachem (2013), QuaternionIntegrator.jl (its ``docs/src/algorithm.md``) and a class
``PCDM`` in C++ whose comments number the equations 57 to 63 of the paper, evaluate two torques: at t_n for the predictor, and
at t_{n+1/2} with q' and omega' for the corrector. That is the reading here, with one more torque for the predictor.

.. math::

   q' &= q_n \exp\bigl(\tfrac{\Delta t}{4}(\omega_n + \tfrac{\Delta t}{4} a_n)\bigr), \qquad
   \omega' = \omega_n + \tfrac{\Delta t}{2}\, a_n \\
   \omega_{n+1} &= \omega_n + \Delta t\, a(\omega', M(t_{n+1/2}, q', \omega')) \\
   q_{n+1} &= \exp\bigl(\tfrac{\Delta t}{2} R(q')\, \omega'\bigr)\, q_n \\
   a_{n+1} &= a(\omega_{n+1}, M(t_{n+1/2}, q', \omega'))

The state is q, omega, the last angular acceleration (rad/s^2, body frame), and the q' and omega' predicted for the torque;
shapes, frames and units are as in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import exponential, multiply, rotate, to_lab
from polhode.algebra.vector import axpy, scale
from polhode.compiling.kernel import kernel
from polhode.methods.protocol import OneTorque
from polhode.methods.states import read_synchronous, stored_in_body_frame
from polhode.methods.translation import MIDPOINT_PREDICTED


@kernel
def predict(q: Any, omega: Any, acceleration: Any, dt: Any) -> Any:
    """The q' (4,) and omega' (3,), rad/s in the body frame, predicted at the half step (Seelen et al. 2016, steps 2b, 2c).

    q turns with the omega of a quarter step, from ``omega`` (3,) and ``acceleration`` (3,), rad/s^2, at the beginning of the
    step of ``dt`` (s). The source transforms that omega to the lab frame with q itself and multiplies from the left, which is
    ``rotate``.
    """
    q_half = rotate(q, axpy(0.25 * dt, acceleration, omega), 0.5 * dt)
    return q_half, axpy(0.5 * dt, acceleration, omega)


@kernel
def turn(q: Any, q_half: Any, omega_half: Any, dt: Any) -> Any:
    """The quaternion (4,) that q (4,) becomes after ``dt`` (s), turned by omega' of the half step (step 4).

    ``omega_half`` (3,), rad/s in the body frame, is transformed to the lab frame with ``q_half`` (4,) and multiplies from the
    left. Multiplying its body components from the right would be another method.
    """
    return multiply(exponential(scale(dt, to_lab(q_half, omega_half))), q)


# The state: q and omega, their last angular acceleration, and the prediction for the time of the torque.


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    return q + omega + euler_equations(omega, torque, body) + q + omega


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, omega, acceleration = state[:4], state[4:7], state[7:10]
    q_half, omega_half = predict(q, omega, acceleration, dt)
    return q + omega + acceleration + q_half + omega_half, q_half, omega_half


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, omega, q_half, omega_half = state[:4], state[4:7], state[10:14], state[14:17]
    omega = axpy(dt, euler_equations(omega_half, torque, body), omega)
    q = turn(q, q_half, omega_half, dt)
    return q + omega + euler_equations(omega, torque, body) + q_half + omega_half


METHOD = OneTorque(
    key="pcdm2013_mid",
    label="PCDM, mid-step torque",
    short_label="PCDM mid",
    group="PCDM and scalar factor",
    rank=2,
    omega_handed="predicted",
    source="Zhao and van Wachem (2013); Seelen et al. (2016), Sec. 2, with the torque at the half step",
    citation="zhao2013,seelen2016",
    order_q=2,
    order_omega=2,
    published_order="second order",
    reconstruction="The original was not available: that the torque is that of the half step is our reading.",
    normalises=False,
    note="The torque is taken at the half step with the predicted orientation and angular velocity there.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    read=read_synchronous,
    stored=stored_in_body_frame,
    torque_time=0.5,
    translation=MIDPOINT_PREDICTED,
)
