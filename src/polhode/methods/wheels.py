r"""Splittings for a body with wheels: the internal momentum belongs to the part that is solved exactly.

A body whose wheels have the constant angular momentum h in its frame (a *gyrostat*) has the momentum L = I omega + h and the
kinetic energy

.. math:: T = \sum_k \frac{(L_k - h_k)^2}{2 I_k}

so that under each term alone the body turns about its axis k at the constant rate (L_k - h_k)/I_k, and L_k stays: the rotors of
:mod:`polhode.methods.splitting` with another rate. DLM and NO_SQUISH keep their order of axes. Written out,

.. math:: T = \sum_k \frac{L_k^2}{2 I_k} - \sum_k \frac{h_k L_k}{I_k} + \text{constant}

and the second sum turns the body at the constant angular velocity -h_k/I_k: the splitting of Touma and Wisdom composes its
motion of the first sum with half of this turn before and half after. The exact rotor has the exact motion of the body with its
wheels (:mod:`polhode.methods.free_gyrostat`), so that its step follows the torque and not the nutation. All of these are
symplectic and reversible, need no torque for h x omega, and keep the length of L to rounding. Other methods get h x omega as a
torque that depends on the angular velocity (:attr:`polhode.problems.problem.Problem.whole_torque`).

With motors h is linear in time within a step, h(t) = h + u t, and L changes by no other torque: what the wheels gain the body
loses. Between two torques h is held as it is in mid-step, which keeps the second order and the length of L.

In the functions q is (4,), body to lab, ``momentum`` is L (3,) in N m s, body frame, p (4,) is 2 q (0, L)
in N m s (:mod:`polhode.methods.no_squish`), and times are in s. ``body`` has h (3,) in N m s, body frame, behind the
nine coefficients of the body, and with motors u (3,) in N m behind h. The state is q, L and the last torque (N m, body frame),
of NO_SQUISH q, p and the last torque; with motors h is at its end. All else is as in :mod:`polhode.methods.protocol`.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.quaternion import cos_sinc, derivative, exponential, increment, multiply, scaled
from polhode.algebra.vector import add, axpy, cross
from polhode.compiling.kernel import kernel
from polhode.methods import no_squish, splitting
from polhode.methods.free_gyrostat import exact
from polhode.methods.numbered import numbered
from polhode.methods.protocol import Method, OneTorque
from polhode.methods.touma1994 import drift as touma_drift

# The kernels find h behind the nine numbers of the body (:mod:`polhode.methods.numbered`). The state of all but NO_SQUISH is q,
# L and the last torque.


@kernel
def internal(body: Any) -> Any:
    """The angular momentum h of the wheels (3,), N m s in the body frame, from ``body``."""
    return (body[9], body[10], body[11])


@kernel
def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (q, L, torque) before the first step, ten floats: L = I omega + h in N m s, the torque in N m, body frame."""
    return q + add(angular_momentum(omega, body), internal(body)) + torque


@kernel
def omega_of(momentum: Any, body: Any) -> Any:
    """The angular velocity (L - h)/I (3,), rad/s in the body frame, from ``momentum``, L = I omega + h (N m s, body frame)."""
    return angular_velocity(axpy(-1.0, internal(body), momentum), body)


@kernel
def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The q (body to lab) and omega (rad/s, body frame) at the whole time, from the state; the torque is not used."""
    return state[:4], omega_of(state[4:7], body)


@kernel
def stored(state: Any, body: Any, dt: Any) -> Any:
    """The angular velocity (3,) that the method holds, in rad/s, body frame."""
    return omega_of(state[4:7], body)


@kernel
def rotor1(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """q (4,) and L (3,), N m s in the body frame, after ``dt`` (s) with the Hamiltonian (L_1 - h_1)^2/(2 I_1)."""
    c, s = splitting.half_angle(momentum[0] - body[9], body[3], dt)
    q = (c * q[0] - s * q[1], c * q[1] + s * q[0], c * q[2] + s * q[3], c * q[3] - s * q[2])
    y, z = splitting.turned_back(c, s, momentum[1], momentum[2])
    return q, (momentum[0], y, z)


@kernel
def rotor2(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """q (4,) and L (3,), N m s in the body frame, after ``dt`` (s) with the Hamiltonian (L_2 - h_2)^2/(2 I_2)."""
    c, s = splitting.half_angle(momentum[1] - body[10], body[4], dt)
    q = (c * q[0] - s * q[2], c * q[1] - s * q[3], c * q[2] + s * q[0], c * q[3] + s * q[1])
    z, x = splitting.turned_back(c, s, momentum[2], momentum[0])
    return q, (x, momentum[1], z)


@kernel
def rotor3(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """q (4,) and L (3,), N m s in the body frame, after ``dt`` (s) with the Hamiltonian (L_3 - h_3)^2/(2 I_3)."""
    c, s = splitting.half_angle(momentum[2] - body[11], body[5], dt)
    q = (c * q[0] - s * q[3], c * q[1] + s * q[2], c * q[2] - s * q[1], c * q[3] + s * q[0])
    x, y = splitting.turned_back(c, s, momentum[0], momentum[1])
    return q, (x, y, momentum[2])


@kernel
def dlm_drift(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """q (4,) and L (3,), N m s in the body frame, after ``dt`` (s) without a torque, to second order, the axes in the order x,
    y, z, y, x.
    """
    half = 0.5 * dt
    q, momentum = rotor1(q, momentum, body, half)
    q, momentum = rotor2(q, momentum, body, half)
    q, momentum = rotor3(q, momentum, body, dt)
    q, momentum = rotor2(q, momentum, body, half)
    return rotor1(q, momentum, body, half)


@kernel
def turned_by_wheels(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
    """q (4,) and L (3,), N m s in the body frame, after the turn at the constant angular velocity -h/I for ``dt`` (s).

    L as a difference, so that rounding of the turn changes its length in second order only.
    """
    w, x, y, z = exponential((-body[9] * body[3] * dt, -body[10] * body[4] * dt, -body[11] * body[5] * dt))
    axis = (x, y, z)
    across = cross(axis, momentum)
    return multiply(q, (w, x, y, z)), axpy(2.0, axpy(-w, across, cross(axis, across)), momentum)


def composed(drift: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel ``(q, momentum, body, dt) -> (q, momentum)``: the motion without a torque of a body with wheels, to second
    order.

    ``drift`` is such a kernel for the motion of a body without wheels.
    """

    @kernel
    def with_wheels(q: Any, momentum: Any, body: Any, dt: Any) -> Any:
        q, momentum = turned_by_wheels(q, momentum, body, 0.5 * dt)
        q, momentum = drift(q, momentum, body, dt)
        return turned_by_wheels(q, momentum, body, 0.5 * dt)

    return with_wheels


def kicked(drift: Callable[..., Any], predicted: bool = False) -> Callable[..., Any]:
    """The kernel ``before_torque`` of half a kick and a drift.

    ``drift(q, momentum, body, dt) -> (q, momentum)`` is the motion without a torque. With ``predicted`` the torque gets an
    omega predicted by the last torque, otherwise the omega after the drift.
    """
    ahead = 0.5 if predicted else 0.0

    @kernel
    def before_torque(state: Any, body: Any, dt: Any) -> Any:
        q, momentum, torque = state[:4], state[4:7], state[7:10]
        q, momentum = drift(q, splitting.kick(momentum, torque, 0.5 * dt), body, dt)
        return q + momentum + torque, q, omega_of(splitting.kick(momentum, torque, ahead * dt), body)

    return before_torque


# NO_SQUISH: p = 2 q (0, L), and p . P_k q = 2 L_k.


@kernel
def squish_angle(p: Any, turned: Any, momentum: Any, inverse: Any, dt: Any) -> Any:
    """The cosine and sine of half the angle by which the body turns in ``dt`` (s) about its axis k.

    ``p`` (4,) in N m s, ``turned`` is P_k q (4,), ``momentum`` is h_k in N m s, and ``inverse`` is 1/I_k in 1/(kg m^2).
    """
    a = 0.25 * inverse * dt * (no_squish.product(p, turned) - 2.0 * momentum)
    c, s = cos_sinc(a * a)
    return c, a * s


@kernel
def squish1(q: Any, p: Any, body: Any, dt: Any) -> Any:
    """q (4,) and p (4,), N m s, after ``dt`` (s) with the Hamiltonian (p . P_1 q - 2 h_1)^2/(8 I_1)."""
    c, s = squish_angle(p, no_squish.p1(q), body[9], body[3], dt)
    return increment(s, no_squish.p1(q), scaled(c, q)), increment(s, no_squish.p1(p), scaled(c, p))


@kernel
def squish2(q: Any, p: Any, body: Any, dt: Any) -> Any:
    """q (4,) and p (4,), N m s, after ``dt`` (s) with the Hamiltonian (p . P_2 q - 2 h_2)^2/(8 I_2)."""
    c, s = squish_angle(p, no_squish.p2(q), body[10], body[4], dt)
    return increment(s, no_squish.p2(q), scaled(c, q)), increment(s, no_squish.p2(p), scaled(c, p))


@kernel
def squish3(q: Any, p: Any, body: Any, dt: Any) -> Any:
    """q (4,) and p (4,), N m s, after ``dt`` (s) with the Hamiltonian (p . P_3 q - 2 h_3)^2/(8 I_3)."""
    c, s = squish_angle(p, no_squish.p3(q), body[11], body[5], dt)
    return increment(s, no_squish.p3(q), scaled(c, q)), increment(s, no_squish.p3(p), scaled(c, p))


@kernel
def squish_start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (q, p, torque) before the first step, eleven floats: p = 2 q (0, I omega + h) in N m s, the torque in N m."""
    momentum = add(angular_momentum(omega, body), internal(body))
    return q + scaled(4.0, derivative(q, momentum)) + torque


@kernel
def squish_omega(q: Any, p: Any, body: Any) -> Any:
    """The angular velocity (3,) with the components (p . P_k q/2 - h_k)/I_k, rad/s in the body frame, from q and p (4,)."""
    momentum = (
        0.5 * no_squish.product(p, no_squish.p1(q)),
        0.5 * no_squish.product(p, no_squish.p2(q)),
        0.5 * no_squish.product(p, no_squish.p3(q)),
    )
    return omega_of(momentum, body)


@kernel
def squish_before_torque(state: Any, body: Any, dt: Any) -> Any:
    """The first part of a step of ``dt`` (s): the state, and q and omega (rad/s, body frame) for the torque."""
    q, p, torque = state[:4], state[4:8], state[8:11]
    p = no_squish.kick(q, p, torque, 0.5 * dt)
    half = 0.5 * dt
    q, p = squish3(q, p, body, half)
    q, p = squish2(q, p, body, half)
    q, p = squish1(q, p, body, dt)
    q, p = squish2(q, p, body, half)
    q, p = squish3(q, p, body, half)
    return q + p + torque, q, squish_omega(q, p, body)


@kernel
def squish_read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The q (body to lab) and omega (rad/s, body frame) at the whole time, from the state; the torque is not used."""
    return state[:4], squish_omega(state[:4], state[4:8], body)


@kernel
def squish_stored(state: Any, body: Any, dt: Any) -> Any:
    """The angular velocity (3,) that the method holds, in rad/s, body frame."""
    return squish_omega(state[:4], state[4:8], body)


#: The kernels of each method for a body with wheels, by its key.
KERNELS: dict[str, dict[str, Callable[..., Any]]] = {
    "dlm1997": {"before_torque": kicked(dlm_drift)},
    "touma1994": {"before_torque": kicked(composed(touma_drift))},
    "exact_rotor": {"before_torque": kicked(exact(dlm_drift), predicted=True)},
    "no_squish": {
        "start": squish_start,
        "before_torque": squish_before_torque,
        "read": squish_read,
        "stored": squish_stored,
    },
}


def driven(kernels: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """The kernels for wheels with motors, from those for wheels without, both by their names in
    :mod:`polhode.methods.protocol`.

    ``kernels`` has all five. h stands at the end of the state; behind the nine numbers of the body are the h with which a run
    begins (N m s), and the torque u of the motors (N m), both (3,) in the body frame.
    """
    starting, before, after = kernels["start"], kernels["before_torque"], kernels["after_torque"]
    reading, storing = kernels["read"], kernels["stored"]

    @kernel
    def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
        return starting(q, omega, torque, body[:12], dt) + internal(body)

    @kernel
    def before_torque(state: Any, body: Any, dt: Any) -> Any:
        h, u = state[-3:], (body[12], body[13], body[14])
        state, q, omega = before(state[:-3], body[:9] + axpy(0.5 * dt, u, h), dt)
        return state + axpy(dt, u, h), q, axpy(-0.5 * dt, angular_velocity(u, body), omega)

    @kernel
    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        return after(state[:-3], torque, body, dt) + state[-3:]

    @kernel
    def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        return reading(state[:-3], torque, body[:9] + state[-3:], dt)

    @kernel
    def stored(state: Any, body: Any, dt: Any) -> Any:
        return storing(state[:-3], body[:9] + state[-3:], dt)

    return {"start": start, "before_torque": before_torque, "after_torque": after_torque, "read": read, "stored": stored}


@cache
def _for_wheels(key: str, have_motors: bool) -> Any:
    from polhode.methods import METHODS

    method = METHODS[key]
    assert isinstance(method, OneTorque)
    kernels: dict[str, Callable[..., Any]] = {"start": start, "read": read, "stored": stored, **KERNELS[key]}
    if have_motors:
        return numbered(method, *[0.0] * 6, **driven({"after_torque": method.after_torque, **kernels}))
    return numbered(method, 0.0, 0.0, 0.0, **kernels)


def with_wheels(method: Method, momentum: tuple[float, float, float], have_motors: bool = False) -> Method | None:
    """The method for a body whose wheels have this momentum (3,), N m s in the body frame, at the start if they have motors.

    None if it has no kernels for wheels, as any method that is not the registered one of its key, and needs h x omega as a
    torque.
    """
    from polhode.methods import METHODS

    if method.key not in KERNELS or method is not METHODS[method.key]:
        return None
    chosen: Method = _for_wheels(method.key, have_motors).with_numbers(*momentum, *[0.0] * (3 * have_motors))
    return chosen
