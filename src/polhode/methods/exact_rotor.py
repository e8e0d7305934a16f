r"""Exact-rotor splitting: half kick, exact free rotation, half kick; van Zon and Schofield (2007), Celledoni et al. (2008).

The kinetic energy is not split any further, so that all of the error comes from the torque. With Pi the angular momentum in the
body frame and Phi the exact motion of the free body (:mod:`polhode.methods.free_top`):

.. math::

   \Pi' &= \Pi_n + \tfrac{\Delta t}{2} M_n \\
   (q_{n+1}, \Pi'') &= \Phi_{\Delta t}(q_n, \Pi') \\
   \Pi_{n+1} &= \Pi'' + \tfrac{\Delta t}{2} M_{n+1}

A torque that depends on the angular velocity gets a predicted one, that of Pi'' + (dt/2) M_n, which costs nothing and
makes the step of second order then, too. Nothing else depends on the prediction. Under linear friction,
d(omega)/dt = -k omega, a step obeys lambda^2 - (1 - 3z/2) lambda - z/2 = 0 with z = k dt, and is stable for z < 1. The
velocity of a centre of mass that moves beside the rotation is predicted in the same way.

The sources write the exact motion with Jacobi's elliptic functions and an integral of the third kind, by theta functions or by
quadrature; the form used here is ours. Its error is that of rounding for every body, motion and step.

The state is q, the angular momentum Pi in the body frame and the last torque (N m, body frame); shapes, frames and units are as
in :mod:`polhode.methods.protocol`.
"""

from typing import Any

from polhode.algebra.body import angular_velocity
from polhode.compiling.kernel import kernel
from polhode.methods import splitting
from polhode.methods.free_top import moved
from polhode.methods.protocol import OneTorque
from polhode.methods.translation import VERLET_PREDICTED


@kernel
def before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, momentum, torque = state[:4], state[4:7], state[7:10]
    q, momentum = moved(q, splitting.kick(momentum, torque, 0.5 * dt), body, dt)
    return q + momentum + torque, q, angular_velocity(splitting.kick(momentum, torque, 0.5 * dt), body)


METHOD = OneTorque(
    key="exact_rotor",
    label="exact rotor",
    group="splittings and variational",
    rank=3,
    omega_handed="predicted by the last torque",
    source="van Zon and Schofield (2007); Celledoni et al. (2008)",
    citation="vanzon2007,celledoni2008",
    order_q=2,
    order_omega=2,
    reconstruction="The closed form of the free rotation is ours, and the angular velocity predicted for friction.",
    normalises=False,
    rotates_before_torque=True,
    note="Symplectic and reversible; exact without a torque.",
    start=splitting.start,
    before_torque=before_torque,
    after_torque=splitting.after_torque,
    read=splitting.read,
    stored=splitting.stored,
    torque_time=1.0,
    translation=VERLET_PREDICTED,
)
