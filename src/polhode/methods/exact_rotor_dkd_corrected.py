r"""Exact-rotor splitting with the torque in the middle and a symplectic corrector: conjugate to ``exact_rotor_corrected``.

.. math::

   (q', \Pi') &= \Phi_{\Delta t/2}(q_n, \Pi_n) \\
   \Pi'' &= \Pi' + \Delta t\, M(t_n + \tfrac{\Delta t}{2}, q') \\
   (q_{n+1}, \Pi_{n+1}) &= \Phi_{\Delta t/2}(q', \Pi'')

with the exact free motion Phi of :mod:`polhode.methods.free_top`. The change of variables is

.. math::

   e^{hA/2} e^{hB} e^{hA/2} = e^{-C} e^{h(A+B) + O(B^2)} e^{C}, \qquad
   C = \Bigl(-\frac{x}{24} + \frac{7 x^3}{5760} - \frac{31 x^5}{967680} + \ldots\Bigr) hB

(:mod:`polhode.methods.correctors`). Without it the part of the error that is linear in the torque is half of that of
``exact_rotor`` with the other sign; with it both have the same error, since one step is the other seen from half a step ahead.
A torque that depends on the angular velocity gets the velocity of Pi' + (dt/2) M_{n-1/2}.

The state is q, the angular momentum Pi in the body frame and the last torque (N m, body frame); shapes, frames and units are as
in :mod:`polhode.methods.protocol`.
"""

from dataclasses import replace
from typing import Any

from polhode.algebra.body import angular_velocity
from polhode.compiling.kernel import kernel
from polhode.methods import exact_rotor, exact_rotor_corrected, splitting
from polhode.methods.correctors import corrected
from polhode.methods.free_top import moved
from polhode.methods.translation import MIDPOINT_SECANT


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, momentum, torque = state[:4], state[4:7], state[7:10]
    q, momentum = moved(q, momentum, body, 0.5 * dt)
    return q + momentum + torque, q, angular_velocity(splitting.kick(momentum, torque, 0.5 * dt), body)


@kernel
def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The rest of a step of ``dt`` (s): the new state (floats), from the torque (N m, body frame)."""
    q, momentum = moved(state[:4], splitting.kick(state[4:7], torque, dt), body, 0.5 * dt)
    return q + momentum + torque


METHOD = replace(
    corrected(replace(exact_rotor.METHOD, before_torque=before_torque, after_torque=after_torque, torque_time=0.5)),
    key="exact_rotor_dkd_corrected",
    label="exact rotor DKD, corrected",
    short_label="rotor DKD, corr.",
    rank=8,
    order_exceptions=exact_rotor_corrected.METHOD.order_exceptions,
    source=exact_rotor_corrected.METHOD.source,
    citation=exact_rotor_corrected.METHOD.citation,
    reconstruction=exact_rotor_corrected.METHOD.reconstruction,
    note=exact_rotor_corrected.METHOD.note,
    translation=MIDPOINT_SECANT,
)
