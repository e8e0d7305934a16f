r"""Steps composed of exact free motion and kicks: :func:`composed`, from two lists of shares of the time step.

With A the exact motion of the free body (:mod:`polhode.methods.free_top`), which also advances the time, and B the kick by the
torque, a step is

.. math::

   A_{a_1 \Delta t}\; B_{b_1 \Delta t}\; A_{a_2 \Delta t}\; B_{b_2 \Delta t} \cdots A_{a_{n+1} \Delta t}

from left to right. Kicks change the momentum alone, whatever the torque depends on, and free motion is quadratic in the
momentum; so the commutator [B, [B, [B, A]]] is zero, as for Runge-Kutta-Nystroem methods, and coefficients of such methods keep
their order. [B, [A, B]] is twice the kick by

.. math:: G = (I^{-1}M \cdot X)\, M + I^{-1}M \times M

where X_i is the derivative along a turn about axis i of the body. The second term is that of the group: turns about different
axes of the body do not commute. Without it the formula is that of Cartesian coordinates. A *modified kick* is one by M + s G,
with s a share of the square of the step. It takes a torque at a second orientation and no derivative:

.. math::

   M + s\,G \approx M + \frac{1}{\lambda} \bigl[M(q \exp(\lambda s\, I^{-1} M)) - M\bigr] + s\, I^{-1} M \times M

What the difference leaves out is of the size lambda s^2 and has no potential. With lambda = 1 it is the method of the lazy
implementer (Wisdom; Rein, Tamayo and Brown 2019, without the last term): reversible, but symplectic up to its order only, so
that the energy drifts (Hairer, McLachlan and Skeel 2009). A small lambda scales this down, until rounding, of the size of
1e-16/lambda, takes its place.

The state is q and the momentum Pi (N m s) in the body frame; shapes, frames and units are as in
:mod:`polhode.methods.protocol`.
"""

from collections.abc import Callable, Sequence
from typing import Any

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import rotate
from polhode.algebra.vector import add, axpy, cross, scale
from polhode.compiling.kernel import kernel, subroutine
from polhode.methods import free_top, splitting
from polhode.methods.protocol import SeveralTorques

#: lambda of a modified kick.
DISPLACED = 1e-4


@kernel
def start(q: Any, omega: Any, body: Any) -> Any:
    """The state (floats) before the first step, from q (body to lab) and omega (rad/s, body frame)."""
    return q + angular_momentum(omega, body)


@subroutine
def moved(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """q (4,) and the momentum (3,), N m s in the body frame, after free motion for ``dt`` (s):
    :func:`polhode.methods.free_top.moved`, compiled once, as inlined it would take seconds.
    """
    return free_top.moved(q, momentum, body, dt)


@kernel
def torque_at(t: Any, q: Any, momentum: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The torque (3,), N m in the body frame, at the time ``t`` (s), an orientation q (4,) and an angular momentum (3,), N m s
    in the body frame.
    """
    return torque(t, q, angular_velocity(momentum, body), parameters)


@kernel
def modified_torque(
    s: Any, displaced: Any, bracket: Any, t: Any, q: Any, momentum: Any, body: Any, torque: Any, parameters: Any
) -> Any:
    """The torque M + s G (3,), N m in the body frame, of a modified kick, from two torques.

    Parameters
    ----------
    s : a share of the square of the step, in s^2: the product of both
    displaced : lambda, without a unit, not zero
    bracket : the factor of the term s I^-1 M x M of the group: 1, or 0 to leave it out
    t, q, momentum : the time (s), the orientation (4,), and the angular momentum (3,), N m s in the body frame
    torque : function (t, q, omega, parameters) -> (3,), N m in the body frame
    """
    moment = torque_at(t, q, momentum, body, torque, parameters)
    turn = angular_velocity(moment, body)
    ahead = torque_at(t, rotate(q, turn, displaced * s), momentum, body, torque, parameters)
    along = scale(1.0 / displaced, axpy(-1.0, moment, ahead))
    return add(axpy(bracket * s, cross(turn, moment), moment), along)


def composed(
    drifts: Sequence[float],
    kicks: Sequence[float],
    gradients: Sequence[float] = (),
    displaced: float = DISPLACED,
    bracket: float = 1.0,
) -> Callable[..., Any]:
    """The kernel ``step`` of a :class:`polhode.methods.protocol.SeveralTorques` that drifts and kicks in turn.

    Parameters
    ----------
    drifts, kicks : sequences of floats
        Shares of the time step, as many of both, or one drift more, with which the step then ends.
    gradients : sequence of floats
        For each kick s as a share of the square of the step; 0 for a plain kick, empty if all are plain.
    displaced, bracket : float
        Of the kicks with a gradient, without units, see :func:`modified_torque`.

    Returns
    -------
    A kernel (state, t, dt, body, torque, parameters) -> state.
    """
    shares = float(drifts[0]), float(kicks[0]), float(gradients[0]) if gradients else 0.0
    modification = float(displaced), float(bracket)

    @kernel
    def stage(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
        q, momentum = moved(state[:4], state[4:7], body, shares[0] * dt)
        moment = torque_at(t + shares[0] * dt, q, momentum, body, torque, parameters)
        return q + splitting.kick(momentum, moment, shares[1] * dt)

    @kernel
    def modified_stage(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
        q, momentum = moved(state[:4], state[4:7], body, shares[0] * dt)
        s, t = shares[2] * dt * dt, t + shares[0] * dt
        moment = modified_torque(s, modification[0], modification[1], t, q, momentum, body, torque, parameters)
        return q + splitting.kick(momentum, moment, shares[1] * dt)

    @kernel
    def last_drift(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
        q, momentum = moved(state[:4], state[4:7], body, last[0] * dt)
        return q + momentum

    last = (float(drifts[-1]),)
    first = modified_stage if shares[2] else stage
    if len(kicks) > 1:
        rest = composed(drifts[1:], kicks[1:], gradients[1:], displaced, bracket)
    elif len(drifts) > 1:
        rest = last_drift
    else:
        return first

    @kernel
    def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
        """The state (q, then Pi in N m s, body frame) after a step of ``dt`` (s) from ``t`` (s) under ``torque(t, q, omega,
        parameters)`` (N m, body frame).
        """
        state = first(state, t, dt, body, torque, parameters)
        return rest(state, t + shares[0] * dt, dt, body, torque, parameters)

    return step


def composition(
    drifts: Sequence[float],
    kicks: Sequence[float],
    gradients: Sequence[float] = (),
    displaced: float = DISPLACED,
    bracket: float = 1.0,
    **declarations: Any,
) -> SeveralTorques:
    """The method whose step :func:`composed` makes of these shares of the time step.

    Parameters
    ----------
    drifts, kicks, gradients, displaced, bracket :
        As for :func:`composed`.
    declarations : other fields of the method
        ``key``, ``label``, ``source``, ``citation``, ``order_q`` and ``order_omega`` must be among them; they replace the
        defaults.

    Raises
    ------
    TypeError, ValueError
        If a declaration is missing, has a wrong type or an impossible value.
    """
    common = {
        "group": "several torques per step",
        "omega_handed": "before each kick",
        "order_exceptions": {"velocity": (1, 1)},
        "normalises": False,
        "start": start,
        "step": composed(drifts, kicks, gradients, displaced, bracket),
        "evaluations_per_step": len(kicks) + sum(s != 0.0 for s in gradients),
        "read": splitting.read,
        "stored": splitting.stored,
    }
    return SeveralTorques(**{**common, **declarations})
