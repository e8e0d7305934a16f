r"""SPIRAL with an angular velocity predicted from the last torque alone: the simplest form of ``spiral_predicted``.

One vector more than SPIRAL in the state, half a kick more in the step. Second order under friction, stable only for
:math:`k\,\Delta t < 1` at the rate k: there it is the scheme of Adams and Bashforth. With K(omega, M, t) the kick by SSPRK3
over the time t (del Valle et al. 2024, Eqs. 9, 10):

.. math::

   \omega^*_n &= K(\omega_{n-1/2}, M_{n-1}, \tfrac{\Delta t}{2}), \qquad M_n = M(t_n, q_n, \omega^*_n) \\
   \omega_{n+1/2} &= K(\omega_{n-1/2}, M_n, \Delta t) \\
   q_{n+1} &= q_n \exp(\tfrac{\Delta t}{2}\,\omega_{n+1/2})

The state is q, omega of half a step before and the last torque (N m, body frame); shapes, frames and units are as in
:mod:`polhode.methods.protocol`.
"""

from dataclasses import replace
from typing import Any

from polhode.compiling.kernel import kernel
from polhode.methods import spiral_predicted
from polhode.methods.spiral_leapfrog import after_torque as spiral
from polhode.methods.spiral_leapfrog import kick
from polhode.methods.spiral_leapfrog import start as spiral_start
from polhode.methods.translation import LEAPFROG_PREDICTED

# The state: q_n, omega_{n-1/2} and the last torque.


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab), omega (rad/s) and torque (N m) of the body frame."""
    return spiral_start(q, omega, torque, body, dt) + torque


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    return state, state[:4], kick(state[4:7], state[7:10], body, 0.5 * dt)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    return spiral(state, torque, body, dt) + torque


METHOD = replace(
    spiral_predicted.METHOD,
    key="spiral_predicted_last",
    label="SPIRAL, last torque",
    short_label="SPIRAL l.t.",
    rank=1,
    omega_handed="predicted by the last torque",
    citation="delvalle2024",
    note="The same bits as SPIRAL where the torque does not depend on omega; under friction stable for k dt < 1 only.",
    start=start,
    before_torque=before_torque,
    after_torque=after_torque,
    translation=LEAPFROG_PREDICTED,
)
