r"""What engines do beyond the methods of the registry: first-order steps made of one kick and one rotation each.

They are candidates of the identification alone, and not methods that anybody should choose. The kick is

* ``explicit``: :math:`\omega' = \omega + \Delta t\, a(\omega, M)`, Euler's equations at the old state;
* ``implicit``: linearly implicit in omega with the torque inside,
  :math:`J (\omega' - \omega) = \Delta t\,(M - \omega \times I\omega)`
  with the Jacobian J of Catto (2015);
* ``rescaled``: an explicit step of the free body, rescaled to its old |L|, then the torque, as in ``rescaled_momentum``;
* ``torque_explicit``, ``torque_implicit``, ``torque_rescaled``: the torque first, then the step of the free body;
* ``no_gyroscopic``: :math:`\omega' = \omega + \Delta t\, I^{-1} M`, without the gyroscopic term;
* ``lab_momentum``: the lab momentum is kicked, and omega is formed from it with the old orientation; as a leapfrog with a
  predicted one (``momentum_leapfrog``), as codes for grains often have it.

The orientation turns with the new angular velocity (``new``), the old one (``old``) or their mean (``mean``): exactly
(``exp``), or linearly with normalisation (``linear``). With four substeps, the whole is done four times with a quarter of the
step and the same torque in the lab (``4x``).

Two methods of Runge and Kutta follow, of Munthe-Kaas's kind with the full inverse of the differential of the exponential: the
classical one (``rkmk4_full``; ``rkmk4`` of the registry has the usual truncation, of the same order), and the explicit midpoint
(``rkmk2_midpoint``). Then textbook Runge-Kutta methods (:data:`TABLEAUX`) on the components of q and omega, omega kept in the
body frame or in the lab, on modified Rodrigues parameters, and for omega alone (:data:`FOR_OMEGA`). Last, Adams-Bashforth
formulas for omega with one of several rotations (:data:`FORMULAS`, :data:`ORIENTATIONS`), as a flight simulator pairs them.

Engines that damp by default are also compared with damped steps (:func:`damped`); in the atlas the coefficient is the engine's
own, and never fitted, as it is for the rows of a code (:mod:`polhode_engines.fitted`).

In all kernels q (4,) is a unit quaternion, scalar first, body to lab, omega (3,) the angular velocity in rad/s and torque (3,)
in N m, both in the body frame, body the nine numbers of :meth:`polhode.algebra.body.Body.coefficients`, and dt the step in s. A
state is q + omega, seven numbers. Where a step evaluates torques itself, ``torque`` is the function (t, q, omega, parameters)
of a problem, t the time in s, and parameters are its numbers.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from math import atan2, cos, exp, sin, sqrt
from pathlib import Path
from typing import Any

from pydantic.dataclasses import dataclass

from polhode.algebra.body import angular_momentum, angular_velocity, euler_equations
from polhode.algebra.quaternion import (
    conjugate,
    derivative,
    exponential,
    increment,
    multiply,
    normalise,
    rotate,
    to_body,
    to_lab,
)
from polhode.algebra.vector import add, axpy, cross, dot, scale
from polhode.compiling.kernel import kernel
from polhode.interface.declared import STRICT, declared
from polhode.methods import METHODS
from polhode.methods.adams_bashforth import FOURTH, SECOND, THIRD, rates
from polhode.methods.adams_bashforth2_barker import local_linearisation
from polhode.methods.buss2000 import COEFFICIENT
from polhode.methods.buss2000_delvalle2024 import mean_rotation
from polhode.methods.lacoursiere2006 import implicit_step
from polhode.methods.linear_system import solve
from polhode.methods.protocol import Method, OneTorque, SeveralTorques
from polhode.methods.rk4 import start
from polhode.methods.states import (
    read_synchronous,
    start_with_omega,
    stored_in_body_frame,
    stored_momentum,
    torque_wanted_at_momentum,
    torque_wanted_at_state,
)
from polhode_engines.protocol import known_engines


@kernel
def explicit(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Omega (rad/s, body frame) after dt (s) by Euler's equations at the old state; the torque is in N m."""
    return axpy(dt, euler_equations(omega, torque, body), omega)


@kernel
def implicit(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Omega (rad/s) after dt (s): linearly implicit, with the torque (N m) inside the equations."""
    a, b, c = dt * body[6], dt * body[7], dt * body[8]
    return add(
        omega,
        solve(
            (1.0, -a * omega[2], -a * omega[1]),
            (-b * omega[2], 1.0, -b * omega[0]),
            (-c * omega[1], -c * omega[0], 1.0),
            scale(dt, euler_equations(omega, torque, body)),
        ),
    )


@kernel
def no_gyroscopic(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Omega (rad/s) after dt (s) by the torque (N m) alone, without the gyroscopic term."""
    return axpy(dt, angular_velocity(torque, body), omega)


@kernel
def rescaled(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Omega (rad/s): explicit, without the torque, with the momentum rescaled to its old length; then the torque."""
    old = angular_momentum(omega, body)
    new = axpy(-dt, cross(omega, old), old)
    return angular_velocity(axpy(sqrt(dot(old, old) / dot(new, new)), new, scale(dt, torque)), body)


@kernel
def torque_rescaled(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Omega (rad/s): the torque first, then the rescaled explicit step of the free body."""
    return rescaled(q, axpy(dt, angular_velocity(torque, body), omega), (0.0, 0.0, 0.0), body, dt)


@kernel
def torque_implicit(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Omega (rad/s): the torque first, then Catto's step of the free body."""
    return implicit(q, axpy(dt, angular_velocity(torque, body), omega), (0.0, 0.0, 0.0), body, dt)


@kernel
def torque_explicit(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Omega (rad/s): the torque first, then an explicit step of the free body."""
    return explicit(q, axpy(dt, angular_velocity(torque, body), omega), (0.0, 0.0, 0.0), body, dt)


KICKS: dict[str, Callable[..., Any]] = {
    "explicit": explicit,
    "implicit": implicit,
    "rescaled": rescaled,
    "torque_explicit": torque_explicit,
    "torque_implicit": torque_implicit,
    "torque_rescaled": torque_rescaled,
    "no_gyroscopic": no_gyroscopic,
}


@kernel
def exact_rotation(q: Any, omega: Any, dt: Any) -> Any:
    """The quaternion after dt (s) at omega (rad/s, body frame), by the exponential."""
    return rotate(q, omega, dt)


@kernel
def linear_rotation(q: Any, omega: Any, dt: Any) -> Any:
    """The quaternion after dt (s) at omega (rad/s, body frame), linearly, then normalised."""
    return normalise(increment(dt, derivative(q, omega), q))


ROTATIONS: dict[str, Callable[..., Any]] = {"exp": exact_rotation, "linear": linear_rotation}


@kernel
def with_new(omega: Any, new: Any) -> Any:
    """The new angular velocity, rad/s."""
    return new


@kernel
def with_old(omega: Any, new: Any) -> Any:
    """The old angular velocity, rad/s."""
    return omega


@kernel
def with_mean(omega: Any, new: Any) -> Any:
    """The mean of the old and the new angular velocity, rad/s."""
    return scale(0.5, add(omega, new))


TURNS: dict[str, Callable[..., Any]] = {"new": with_new, "old": with_old, "mean": with_mean}


def _made(kick: str, rotation: str, turn: str, held: str) -> OneTorque:
    """One combination; ``held`` is the frame in which the new angular velocity is kept while the body turns."""
    kicked, rotated, chosen = KICKS[kick], ROTATIONS[rotation], TURNS[turn]
    if held == "body":

        @kernel
        def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
            q, omega = state[:4], state[4:7]
            new = kicked(q, omega, torque, body, dt)
            return rotated(q, chosen(omega, new), dt) + new

    else:

        @kernel
        def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
            q, omega = state[:4], state[4:7]
            new = kicked(q, omega, torque, body, dt)
            turned = rotated(q, chosen(omega, new), dt)
            return turned + to_body(turned, to_lab(q, new))

    name = f"{kick}_{rotation}_{turn}" + ("" if held == "body" else "_lab")
    return _one_torque(name, after_torque)


def _one_torque(name: str, after_torque: Callable[..., Any]) -> OneTorque:
    """A step of first order on (q, omega)."""
    return OneTorque(
        key=name,
        label=name.replace("_", " "),
        source="a combination",
        citation="",
        order_q=1,
        order_omega=1,
        normalises=True,
        start=start_with_omega,
        before_torque=torque_wanted_at_state,
        after_torque=after_torque,
        read=read_synchronous,
        stored=stored_in_body_frame,
    )


def _lab_momentum(rotation: str) -> OneTorque:
    """The lab momentum is kicked; the body turns with the angular velocity that it has with the old orientation."""
    rotated = ROTATIONS[rotation]

    @kernel
    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        q, omega = state[:4], state[4:7]
        momentum = axpy(dt, torque, angular_momentum(omega, body))
        turned = rotated(q, angular_velocity(momentum, body), dt)
        return turned + angular_velocity(to_body(turned, to_lab(q, momentum)), body)

    return _one_torque(f"lab_momentum_{rotation}", after_torque)


def _momentum_leapfrog(rotation: str, predictor: str) -> OneTorque:
    """A leapfrog of the lab momentum: the body turns with the angular velocity at an orientation predicted for the half step.

    The prediction turns by the momentum of the whole time (``old``), as Fincham's does, or by that of the half step (``new``).
    """
    rotated = ROTATIONS[rotation]

    def start(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
        return q + to_lab(q, axpy(-0.5 * dt, torque, angular_momentum(omega, body)))

    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        q, momentum, kick = state[:4], state[4:7], to_lab(state[:4], scale(dt, torque))
        new = add(momentum, kick)
        first = new if predictor == "new" else axpy(0.5, kick, momentum)
        half = rotated(q, angular_velocity(to_body(q, first), body), 0.5 * dt)
        return rotated(q, angular_velocity(to_body(half, new), body), dt) + new

    def read(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        momentum = axpy(0.5 * dt, torque, to_body(state[:4], state[4:7]))
        return state[:4], angular_velocity(momentum, body)

    return replace(
        _one_torque(f"momentum_leapfrog_{rotation}_{predictor}", after_torque),
        order_q=2,
        order_omega=2,
        start=start,
        before_torque=torque_wanted_at_momentum,
        read=read,
        stored=stored_momentum,
        stored_offset=-0.5,
        momentum_frame="lab",
    )


@kernel
def lacoursiere_exact(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state after the kick of Lacoursière (2006), then the torque's, and the exact rotation with the new omega (rad/s)."""
    omega = axpy(dt, angular_velocity(torque, body), implicit_step(state[4:7], body, dt))
    return rotate(state[:4], omega, dt) + omega


#: What Brax adds to the length of omega before it divides by it, rad/s.
BRAX_LENGTH = 1e-8


@kernel
def lengthened(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state after the explicit kick and a rotation about omega/(|omega| + c) by dt (|omega| + c), normalised.

    c is :data:`BRAX_LENGTH`.
    """
    omega = explicit(state[:4], state[4:7], torque, body, dt)
    length = sqrt(dot(omega, omega)) + BRAX_LENGTH
    half = 0.5 * dt * length
    turn = scale(sin(half) / length, omega)
    return normalise(multiply(state[:4], (cos(half), turn[0], turn[1], turn[2]))) + omega


@kernel
def projected(state: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state after a kick by the torque alone and a linear rotation, from which omega follows.

    The new omega is 2/dt times the vector part of the normalised quaternion of the rotation.
    """
    omega = axpy(dt, angular_velocity(torque, body), state[4:7])
    less = scale(1.0 / sqrt(1.0 + 0.25 * dt * dt * dot(omega, omega)), omega)
    return linear_rotation(state[:4], omega, dt) + less


def _substeps(kick: str, rotation: str, count: int, gyroscopic_once: bool) -> OneTorque:
    """Steps of 1/count with the new angular velocity; the gyroscopic term at each, or at the first for the whole step."""
    kicked, rotated, plain = KICKS[kick], ROTATIONS[rotation], KICKS["no_gyroscopic"]

    if gyroscopic_once:

        @kernel
        def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
            q, omega = state[:4], state[4:7]
            lab, h = to_lab(q, torque), dt / count
            change = axpy(-1.0, omega, kicked(q, omega, (0.0, 0.0, 0.0), body, dt))
            change = to_lab(q, scale(1.0 / count, change))
            for _ in range(count):
                omega = plain(q, add(omega, to_body(q, change)), to_body(q, lab), body, h)
                q = rotated(q, omega, h)
            return q + omega

    else:

        @kernel
        def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
            q, omega = state[:4], state[4:7]
            lab, h = to_lab(q, torque), dt / count
            for _ in range(count):
                omega = kicked(q, omega, to_body(q, lab), body, h)
                q = rotated(q, omega, h)
            return q + omega

    return _one_torque(f"{kick}_{rotation}_new_{count}x{'_once' if gyroscopic_once else ''}", after_torque)


def _substeps_held(rotation: str, count: int, torque_first: bool, kick: str = "rescaled") -> OneTorque:
    """Substeps of a kick that all take the change of omega by the torque, in the lab, from the first."""
    rotated, free = ROTATIONS[rotation], KICKS[kick]

    @kernel
    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        q, omega = state[:4], state[4:7]
        h = dt / count
        change = to_lab(q, scale(h, angular_velocity(torque, body)))
        for _ in range(count):
            if torque_first:
                omega = free(q, add(omega, to_body(q, change)), (0.0, 0.0, 0.0), body, h)
            else:
                omega = add(free(q, omega, (0.0, 0.0, 0.0), body, h), to_body(q, change))
            q = rotated(q, omega, h)
        return q + omega

    return _one_torque(f"{'torque_' if torque_first else ''}{kick}_{rotation}_new_{count}x_held", after_torque)


#: Weights of the rates of the last steps, the newest first. The mean of the last two is of first order: an explicit formula
#: that has the name of the trapezoidal rule in JSBSim.
FORMULAS: dict[str, tuple[float, ...]] = {
    "euler": (1.0,),
    "mean_of_two": (0.5, 0.5),
    "ab2": SECOND,
    "ab3": THIRD,
    "ab4": FOURTH,
}
#: How the quaternion turns: exactly with the old omega, by Buss's second method, by Barker's local linearisation, by the same
#: with the factors of its cross product exchanged, or by the formula of omega on its components.
ORIENTATIONS = ("exp", "buss", "barker", "exchanged", "components")
#: Formulas of which the registry has the method.
_PAIRS_KNOWN = (("ab2", "buss"), ("ab2", "barker"), ("ab3", "components"), ("ab4", "components"))


@kernel
def with_rates(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """The state (28,) with which a multistep method starts: q, omega, and three times the rates of q and omega (7) there.

    The rates of the start, in 1/s and rad/s^2, stand in for the rates of the last three steps.
    """
    first = rates(q, omega, torque, body)
    return q + omega + first + first + first


def _exchanged(q: Any, omega: Any, acceleration: Any, dt: Any) -> Any:
    """:func:`local_linearisation` with v x u for u x v: the reverse rotation of the reverse motion, in the body frame."""
    turn = local_linearisation((1.0, 0.0, 0.0, 0.0), scale(-1.0, omega), scale(-1.0, acceleration), dt)
    return multiply(q, conjugate(turn))


def _adams(formula: str, orientation: str) -> OneTorque:
    """A formula of Adams and Bashforth for omega, and one of the rotations for q."""
    weights = FORMULAS[formula]

    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        q, omega, past = state[:4], state[4:7], state[7:]
        newest = rates(q, omega, torque, body)
        held = (newest, past[:7], past[7:14], past[14:21])
        new = omega
        for weight, rate in zip(weights, held, strict=False):
            new = axpy(weight * dt, rate[4:7], new)
        if orientation == "exp":
            turned = rotate(q, omega, dt)
        elif orientation == "buss":
            turned = rotate(q, mean_rotation(omega, newest[4:7], dt, COEFFICIENT), dt)
        elif orientation == "barker":
            turned = normalise(local_linearisation(q, omega, newest[4:7], dt))
        elif orientation == "exchanged":
            turned = normalise(_exchanged(q, omega, newest[4:7], dt))
        else:
            turned = q
            for weight, rate in zip(weights, held, strict=False):
                turned = increment(weight * dt, rate[:4], turned)
            turned = normalise(turned)
        return turned + new + newest + past[:14]

    order = 1 if formula == "mean_of_two" else len(weights)
    order_q = {"exp": 1, "components": order}.get(orientation, min(order, 2))
    made = _one_torque(f"{formula}_{orientation}", after_torque)
    return replace(made, order_q=order_q, order_omega=order, start=with_rates)


#: Most iterations of an implicit candidate, and the change of its angular velocity that ends them, rad/s.
PASSES, CLOSE = 200, 1e-17


def _iterated(improved: Callable[[Any], Any], guess: Any) -> Any:
    """The fixed point of a vector, from a guess."""
    for _ in range(PASSES):
        last, guess = guess, improved(guess)
        change = axpy(-1.0, last, guess)
        if dot(change, change) <= CLOSE * CLOSE:
            break
    return guess


def _generalised_alpha(radius: float) -> SeveralTorques:
    """The generalised alpha method on the group (Brüls and Cardona 2010), with spectral radius ``radius`` at infinite steps.

    The state also has the algorithmic acceleration, and 1 once there is one; at the start it is the acceleration.
    """
    m, f = (2.0 * radius - 1.0) / (radius + 1.0), radius / (radius + 1.0)
    gamma = 0.5 + f - m
    beta = 0.25 * (gamma + 0.5) ** 2

    def begin(q: Any, omega: Any, body: Any) -> Any:
        return q + omega + (0.0, 0.0, 0.0, 0.0)

    def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
        q, omega = state[:4], state[4:7]
        old = euler_equations(omega, torque(t, q, omega, parameters), body)
        held = state[7:10] if state[10] else old

        def algorithmic(new: Any) -> Any:
            return scale(1.0 / (gamma * dt), axpy(-1.0, axpy((1.0 - gamma) * dt, held, omega), new))

        def turned(new: Any) -> Any:
            turn = axpy((0.5 - beta) * dt, held, axpy(beta * dt, algorithmic(new), omega))
            return rotate(q, turn, dt)

        def improved(new: Any) -> Any:
            q_new = turned(new)
            rate = euler_equations(new, torque(t + dt, q_new, new, parameters), body)
            mean = axpy(1.0 - f, rate, axpy(f, old, scale(-m, held)))
            return axpy(gamma * dt / (1.0 - m), mean, axpy((1.0 - gamma) * dt, held, omega))

        new = _iterated(improved, omega)
        return turned(new) + new + algorithmic(new) + (1.0,)

    made = _several(f"generalised_alpha_{_digits(radius)}", step, 2, 2)
    return replace(made, start=begin)


def _theta(theta: float) -> SeveralTorques:
    """The theta method for omega, solved to rounding, and the exact rotation with the same mean of old and new omega."""

    def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
        q, omega = state[:4], state[4:7]
        old = euler_equations(omega, torque(t, q, omega, parameters), body)

        def turned(new: Any) -> Any:
            return rotate(q, axpy(theta, new, scale(1.0 - theta, omega)), dt)

        def improved(new: Any) -> Any:
            rate = euler_equations(new, torque(t + dt, turned(new), new, parameters), body)
            return axpy(theta * dt, rate, axpy((1.0 - theta) * dt, old, omega))

        new = _iterated(improved, omega)
        return turned(new) + new

    return _several(f"theta_{_digits(theta)}_exp", step, 2 if theta == 0.5 else 1, 2)


def _implicit_midpoint_exp(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The implicit midpoint rule for omega, solved to rounding, and the exact rotation with the omega of the midpoint."""
    q, omega = state[:4], state[4:7]

    def improved(middle: Any) -> Any:
        rate = euler_equations(middle, torque(t + 0.5 * dt, rotate(q, middle, 0.5 * dt), middle, parameters), body)
        return axpy(0.5 * dt, rate, omega)

    middle = _iterated(improved, omega)
    return rotate(q, middle, dt) + axpy(-1.0, omega, scale(2.0, middle))


@kernel
def dexp_inverse(u: Any, v: Any) -> Any:
    """The rate of change (3,), rad/s, of the rotation vector u (3,), rad, when the body turns with v (3,), rad/s, body frame.

    It is the inverse of the differential of the exponential: Munthe-Kaas, Appl. Numer. Math. 29 (1999) 115.
    """
    square = dot(u, u)
    if square < 1e-4:
        factor = 1.0 / 12 + square / 720 + square * square / 30240
    else:
        half = 0.5 * sqrt(square)
        factor = (1.0 - half * cos(half) / sin(half)) / square
    twice = cross(u, cross(u, v))
    return axpy(factor, twice, axpy(0.5, cross(u, v), v))


@kernel
def rkmk4_step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The state after classical Runge-Kutta for the rotation vector from the old orientation (rad), and for omega (rad/s)."""
    q, omega = state[:4], state[4:7]
    u1, a1 = omega, euler_equations(omega, torque(t, q, omega, parameters), body)
    u, w = scale(0.5 * dt, u1), axpy(0.5 * dt, a1, omega)
    u2, a2 = dexp_inverse(u, w), euler_equations(w, torque(t + 0.5 * dt, multiply(q, exponential(u)), w, parameters), body)
    u, w = scale(0.5 * dt, u2), axpy(0.5 * dt, a2, omega)
    u3, a3 = dexp_inverse(u, w), euler_equations(w, torque(t + 0.5 * dt, multiply(q, exponential(u)), w, parameters), body)
    u, w = scale(dt, u3), axpy(dt, a3, omega)
    u4, a4 = dexp_inverse(u, w), euler_equations(w, torque(t + dt, multiply(q, exponential(u)), w, parameters), body)
    turned = scale(dt / 6, axpy(2.0, u2, axpy(2.0, u3, add(u1, u4))))
    return multiply(q, exponential(turned)) + axpy(dt / 6, axpy(2.0, a2, axpy(2.0, a3, add(a1, a4))), omega)


@kernel
def rkmk2_step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The state after the explicit midpoint rule for the rotation vector (rad) and for omega (rad/s)."""
    q, omega = state[:4], state[4:7]
    u = scale(0.5 * dt, omega)
    w = axpy(0.5 * dt, euler_equations(omega, torque(t, q, omega, parameters), body), omega)
    a = euler_equations(w, torque(t + 0.5 * dt, multiply(q, exponential(u)), w, parameters), body)
    return multiply(q, exponential(scale(dt, dexp_inverse(u, w)))) + axpy(dt, a, omega)


@kernel
def midpoint_exp_step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The state after the explicit midpoint rule with the mean angular velocity (rad/s) in one exponential."""
    q, omega = state[:4], state[4:7]
    w = axpy(0.5 * dt, euler_equations(omega, torque(t, q, omega, parameters), body), omega)
    half = rotate(q, omega, 0.5 * dt)
    a = euler_equations(w, torque(t + 0.5 * dt, half, w, parameters), body)
    return rotate(q, w, dt) + axpy(dt, a, omega)


@kernel
def verlet_lab_step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The state after velocity Verlet with omega in the lab: a rotation vector of second order, half a kick on either side."""
    q, omega = state[:4], state[4:7]
    a = euler_equations(omega, torque(t, q, omega, parameters), body)
    half = to_lab(q, axpy(0.5 * dt, a, omega))
    q = rotate(q, axpy(0.5 * dt, a, omega), dt)
    omega = to_body(q, half)
    return q + axpy(0.5 * dt, euler_equations(omega, torque(t + dt, q, omega, parameters), body), omega)


@kernel
def midpoint_half_lab_step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """The state after the midpoint rule for omega, and one rotation with the new omega.

    This omega is brought to the lab by the orientation of the middle.
    """
    q, omega = state[:4], state[4:7]
    a = euler_equations(omega, torque(t, q, omega, parameters), body)
    half, middle = rotate(q, axpy(0.25 * dt, a, omega), 0.5 * dt), axpy(0.5 * dt, a, omega)
    new = axpy(dt, euler_equations(middle, torque(t + 0.5 * dt, half, middle, parameters), body), omega)
    return rotate(q, to_body(q, to_lab(half, new)), dt) + new


#: Explicit Runge-Kutta methods: the lower triangle of the matrix, the weights, the nodes.
TABLEAUX: dict[str, tuple[tuple[tuple[float, ...], ...], tuple[float, ...], tuple[float, ...]]] = {
    "euler": ((), (1.0,), (0.0,)),
    "midpoint": (((0.5,),), (0.0, 1.0), (0.0, 0.5)),
    "heun": (((1.0,),), (0.5, 0.5), (0.0, 1.0)),
    "shu_osher3": (((1.0,), (0.25, 0.25)), (1 / 6, 1 / 6, 2 / 3), (0.0, 1.0, 0.5)),
    "kutta3": (((0.5,), (-1.0, 2.0)), (1 / 6, 2 / 3, 1 / 6), (0.0, 0.5, 1.0)),
    "bogacki3": (((0.5,), (0.0, 0.75)), (2 / 9, 1 / 3, 4 / 9), (0.0, 0.5, 0.75)),
    "rk4": (((0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6), (0.0, 0.5, 0.5, 1.0)),
    "merson4": (
        ((1 / 3,), (1 / 6, 1 / 6), (1 / 8, 0.0, 3 / 8), (1 / 2, 0.0, -3 / 2, 2.0)),
        (1 / 6, 0.0, 0.0, 2 / 3, 1 / 6),
        (0.0, 1 / 3, 1 / 3, 1 / 2, 1.0),
    ),
    "fehlberg4": (
        (
            (1 / 4,),
            (3 / 32, 9 / 32),
            (1932 / 2197, -7200 / 2197, 7296 / 2197),
            (439 / 216, -8.0, 3680 / 513, -845 / 4104),
        ),
        (25 / 216, 0.0, 1408 / 2565, 2197 / 4104, -1 / 5),
        (0.0, 1 / 4, 3 / 8, 12 / 13, 1.0),
    ),
}
#: Methods of which omega alone is advanced, with a rotation by its new value; by Shu and Osher (1988) in GeoTaichi.
FOR_OMEGA = ("heun", "shu_osher3", "rk4")
#: Orders of those whose order is not the number of their stages.
ORDERS = {"merson4": 4, "fehlberg4": 4}


def _order(tableau: str) -> int:
    """The order of a tableau."""
    return ORDERS.get(tableau, len(TABLEAUX[tableau][1]))


def _stages(
    tableau: str, rates: Callable[..., Any], advanced: Callable[..., Any], t: Any, dt: Any, x: Any, spin: Any, *others: Any
) -> tuple[Any, Any]:
    """The variables of the orientation, and the spin, after one step of an explicit Runge-Kutta method.

    Parameters
    ----------
    rates : (t, x, spin, *others) -> rates of change of x and of the spin
    advanced : (h, rate, x) -> x + h rate
    """
    matrix, weights, nodes = TABLEAUX[tableau]
    slopes: list[Any] = []
    for row, node in zip(((), *matrix), nodes, strict=True):
        at, turning = x, spin
        for a, (dx, dspin) in zip(row, slopes, strict=True):
            at, turning = advanced(a * dt, dx, at), axpy(a * dt, dspin, turning)
        slopes.append(rates(t + node * dt, at, turning, *others))
    for b, (dx, dspin) in zip(weights, slopes, strict=True):
        x, spin = advanced(b * dt, dx, x), axpy(b * dt, dspin, spin)
    return x, spin


def _of_omega(tableau: str, rotation: str) -> OneTorque:
    """An explicit Runge-Kutta method for omega under the torque at the old state, then a rotation with the new omega."""
    rotated = ROTATIONS[rotation]

    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        q, omega = state[:4], state[4:7]

        def rates(t: Any, x: Any, spin: Any) -> Any:
            return (0.0, 0.0, 0.0), euler_equations(spin, torque, body)

        _, new = _stages(tableau, rates, axpy, 0.0, dt, (0.0, 0.0, 0.0), omega)
        return rotated(q, new, dt) + new

    return replace(_one_torque(f"{tableau}_omega_{rotation}", after_torque), order_omega=_order(tableau))


def _in_components(tableau: str, frame: str) -> SeveralTorques:
    """An explicit Runge-Kutta method on the components of q and of omega, which is kept in the lab or in the body frame.

    In the lab frame a stage's quaternion is normalised where it rotates a vector, and not in what is added up.
    """

    def rates(t: Any, q: Any, spin: Any, body: Any, torque: Any, parameters: Any) -> Any:
        if frame == "body":
            return derivative(q, spin), euler_equations(spin, torque(t, q, spin, parameters), body)
        unit = normalise(q)
        omega = to_body(unit, spin)
        return derivative(q, omega), to_lab(unit, euler_equations(omega, torque(t, unit, omega, parameters), body))

    def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
        q, omega = state[:4], state[4:7]
        spin = omega if frame == "body" else to_lab(q, omega)
        q, spin = _stages(tableau, rates, increment, t, dt, q, spin, body, torque, parameters)
        q = normalise(q)
        return q + (spin if frame == "body" else to_body(q, spin))

    return _several(f"{tableau}_{frame}", step, _order(tableau), len(TABLEAUX[tableau][1]))


def _angles(q: Any) -> Any:
    """The angles a, b, c of rotations about the body's x, y and z axes, one after the other, that end at a unit quaternion."""
    x, y, z = to_lab(q, (1.0, 0.0, 0.0)), to_lab(q, (0.0, 1.0, 0.0)), to_lab(q, (0.0, 0.0, 1.0))
    return atan2(-z[1], z[2]), atan2(z[0], sqrt(x[0] * x[0] + y[0] * y[0])), atan2(-y[0], x[0])


def _of_angles(angles: Any) -> Any:
    """The quaternion of these rotations."""
    a, b, c = scale(0.5, angles)
    return multiply(multiply((cos(a), sin(a), 0.0, 0.0), (cos(b), 0.0, sin(b), 0.0)), (cos(c), 0.0, 0.0, sin(c)))


def _angle_rates(angles: Any, spin: Any) -> Any:
    """The rates of the three angles of a body that turns with ``spin`` in the lab; singular where the second is a right one."""
    a, b, _ = angles
    last = (cos(a) * spin[2] - sin(a) * spin[1]) / cos(b)
    return spin[0] - sin(b) * last, cos(a) * spin[1] + sin(a) * spin[2], last


def _lab_acceleration(angles: Any, spin: Any, t: Any, body: Any, torque: Any, parameters: Any) -> Any:
    """Euler's equations in the lab."""
    q = _of_angles(angles)
    omega = to_body(q, spin)
    return to_lab(q, euler_equations(omega, torque(t, q, omega, parameters), body))


def _in_angles(tableau: str) -> SeveralTorques:
    """An explicit Runge-Kutta method on three angles and the lab components of omega."""

    def rates(t: Any, angles: Any, spin: Any, body: Any, torque: Any, parameters: Any) -> Any:
        return _angle_rates(angles, spin), _lab_acceleration(angles, spin, t, body, torque, parameters)

    def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
        q = normalise(state[:4])
        angles, spin = _stages(tableau, rates, axpy, t, dt, _angles(q), to_lab(q, state[4:7]), body, torque, parameters)
        q = _of_angles(angles)
        return q + to_body(q, spin)

    return _several(f"{tableau}_angles", step, _order(tableau), len(TABLEAUX[tableau][1]))


def _semi_explicit_in_angles(count: int) -> SeveralTorques:
    """Steps of 1/count: the lab components of omega first, then the three angles with their new values."""

    def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
        q, h = normalise(state[:4]), dt / count
        angles, spin = _angles(q), to_lab(q, state[4:7])
        for k in range(count):
            spin = axpy(h, _lab_acceleration(angles, spin, t + k * h, body, torque, parameters), spin)
            angles = axpy(h, _angle_rates(angles, spin), angles)
        q = _of_angles(angles)
        return q + to_body(q, spin)

    return _several(f"semi_explicit_angles_{count}x", step, 1, count)


def _verlet_in_angles(tolerance: float) -> SeveralTorques:
    """Velocity Verlet on three angles: their second order Taylor step, then the trapezoidal rule for omega, iterated.

    The iteration ends when omega changes by less than ``tolerance`` of its length, after ten passes, or when changes grow.
    """

    def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
        q = normalise(state[:4])
        angles, spin = _angles(q), to_lab(q, state[4:7])
        rates, old = _angle_rates(angles, spin), _lab_acceleration(angles, spin, t, body, torque, parameters)
        turned = axpy(dt * dt / 2, _second_rates(angles, rates, spin, old), axpy(dt, rates, angles))
        new, previous = axpy(dt, old, spin), float("inf")
        acceleration = _lab_acceleration(turned, new, t + dt, body, torque, parameters)
        for k in range(10):
            last, new = new, axpy(dt / 2, acceleration, axpy(dt / 2, old, spin))
            acceleration = _lab_acceleration(turned, new, t + dt, body, torque, parameters)
            change = sqrt(dot(axpy(-1.0, last, new), axpy(-1.0, last, new)) / dot(last, last))
            if change <= tolerance or (k > 1 and change > previous):
                break
            previous = change
        q = _of_angles(turned)
        return q + to_body(q, new)

    return _several("verlet_angles", step, 2, 2)


def _second_rates(angles: Any, rates: Any, spin: Any, acceleration: Any) -> Any:
    """The second derivatives of the three angles."""
    a, b, _ = angles
    da, db, last = rates
    steady = _angle_rates(angles, acceleration)
    # The derivatives of the two rows of the inverse that depend on the angles, at fixed omega.
    turned = -da * (sin(a) * spin[2] + cos(a) * spin[1])
    change = (turned + sin(b) * db * last) / cos(b)
    middle = da * (cos(a) * spin[2] - sin(a) * spin[1])
    return steady[0] - sin(b) * change - cos(b) * db * last, steady[1] + middle, steady[2] + change


def _in_rodrigues(tableau: str) -> SeveralTorques:
    """An explicit Runge-Kutta method on the modified Rodrigues parameters, of the rotation below half a turn, and omega."""

    def quaternion_of(sigma: Any) -> Any:
        square = dot(sigma, sigma)
        return ((1.0 - square) / (1.0 + square), *scale(2.0 / (1.0 + square), sigma))

    def rates(t: Any, sigma: Any, omega: Any, body: Any, torque: Any, parameters: Any) -> Any:
        turning = axpy(1.0 - dot(sigma, sigma), omega, axpy(2.0 * dot(sigma, omega), sigma, scale(2.0, cross(sigma, omega))))
        return scale(0.25, turning), euler_equations(omega, torque(t, quaternion_of(sigma), omega, parameters), body)

    def step(state: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any) -> Any:
        q, omega = normalise(state[:4]), state[4:7]
        sigma = scale(1.0 / (1.0 + q[0]), q[1:4]) if q[0] >= 0.0 else scale(1.0 / (q[0] - 1.0), q[1:4])
        sigma, omega = _stages(tableau, rates, axpy, t, dt, sigma, omega, body, torque, parameters)
        return quaternion_of(sigma) + omega

    return _several(f"{tableau}_rodrigues", step, _order(tableau), len(TABLEAUX[tableau][1]))


def _several(name: str, step: Callable[..., Any], order: int, torques: int | None = None) -> SeveralTorques:
    """A method on (q, omega); up to fourth order it can do with as many torques as its order."""
    return SeveralTorques(
        key=name,
        label=name.replace("_", " "),
        source="a combination",
        citation="",
        order_q=order,
        order_omega=order,
        normalises=True,
        start=start,
        step=step,
        evaluations_per_step=order if torques is None else torques,
        read=read_synchronous,
        stored=stored_in_body_frame,
    )


@cache
def combinations() -> tuple[Method, ...]:
    """The methods of this module, combinations that no method of the registry is.

    With the new omega both frames, body and lab, give the same step, which is there once.
    """
    known = [
        _made(kick, rotation, turn, held)
        for kick in KICKS
        for rotation in ROTATIONS
        for turn in TURNS
        for held in ("body", "lab")
        if (turn, held) != ("new", "lab") and (kick, rotation, turn) != ("explicit", "linear", "new")
    ]
    several = [_substeps(kick, rotation, 4, once) for kick in KICKS for rotation in ROTATIONS for once in (False, True)]
    several += [_substeps_held(rotation, 4, first) for rotation in ROTATIONS for first in (False, True)]
    several += [_substeps_held(rotation, 4, False, "no_gyroscopic") for rotation in ROTATIONS]
    return (
        *known,
        *map(_lab_momentum, ROTATIONS),
        *(_momentum_leapfrog(*pair) for pair in (("exp", "old"), ("exp", "new"), ("linear", "new"))),
        *several,
        _generalised_alpha(0.9),
        _theta(0.5),
        _theta(1.0),
        _several("implicit_midpoint_exp", _implicit_midpoint_exp, 2, 1),
        _one_torque("lacoursiere_exp", lacoursiere_exact),
        _one_torque("explicit_exp_lengthened", lengthened),
        _one_torque("no_gyroscopic_linear_projected", projected),
        *(
            _adams(formula, orientation)
            for formula in FORMULAS
            for orientation in ORIENTATIONS
            if formula != "euler" or orientation in ("buss", "barker", "exchanged")
            if (formula, orientation) not in _PAIRS_KNOWN
        ),
        _several("rkmk4_full", rkmk4_step, 4),
        _several("rkmk2_midpoint", rkmk2_step, 2),
        _several("midpoint_exp", midpoint_exp_step, 2),
        _several("verlet_exp_lab", verlet_lab_step, 1, 2),
        _several("midpoint_exp_half_lab", midpoint_half_lab_step, 1, 2),
        *(_of_omega(name, rotation) for name in FOR_OMEGA for rotation in ROTATIONS),
        *(
            _in_components(name, frame)
            for name in TABLEAUX
            for frame in ("body", "lab")
            if name != "euler" and (name, frame) != ("rk4", "body")
        ),
        *map(_in_rodrigues, TABLEAUX),
        *map(_in_angles, TABLEAUX),
        *map(_semi_explicit_in_angles, (1, 2)),
        _verlet_in_angles(1e-4),
    )


#: What the key of a damped candidate has in it.
DAMPED = "_damped_"


def _digits(rate: float) -> str:
    """A rate as a part of a key, rounded: 0p05 for 0.05, 1em05 for 1e-5."""
    return f"{rate:.3g}".translate(str.maketrans(".-", "pm", "+"))


#: Form of a damping at the rate c -> the factor of omega in a step.
FACTORS: dict[str, Callable[[float, float], float]] = {
    "exp": lambda c, dt: exp(-c * dt),
    "linear": lambda c, dt: 1.0 - c * dt,
    "implicit": lambda c, dt: 1.0 / (1.0 + c * dt),
    "power": lambda c, dt: (1.0 - c) ** dt,
}


#: The same in words.
LAWS = {
    "exp": "by exp(-c dt)",
    "linear": "by 1 - c dt",
    "implicit": "by 1/(1 + c dt)",
    "power": "by (1 - c)^dt",
    "proportional": "-c I omega",
    "quadratic": "-c (1 + |omega|) I omega",
}


#: Where a factor of omega stands: before the kick, between the torque and the kick of the free body, before or after the
#: rotation.
PLACES = ("first", "between", "before", "after")


def _damped_by_factor(kick: str, rotation: str, form: str, place: str, rate: float) -> OneTorque:
    """A kick and a rotation with the new omega, which is multiplied by a factor at one of the places."""
    kicked, rotated, factor = KICKS[kick], ROTATIONS[rotation], FACTORS[form]

    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        q, omega, share = state[:4], state[4:7], factor(rate, dt)
        if place == "first":
            new = less = kicked(q, scale(share, omega), torque, body, dt)
        elif place == "between":
            driven = axpy(dt, angular_velocity(torque, body), omega)
            new = less = kicked(q, scale(share, driven), (0.0, 0.0, 0.0), body, dt)
        else:
            new = kicked(q, omega, torque, body, dt)
            less = scale(share, new)
        return rotated(q, new if place == "after" else less, dt) + less

    return _one_torque(f"{kick}_{rotation}{DAMPED}{form}_{place}_{_digits(rate)}", after_torque)


def _damped_by_torque(kick: str, rotation: str, form: str, rate: float) -> OneTorque:
    """A kick and a rotation with the new omega under the added torque -c I omega, or -c (1 + |omega|) I omega."""
    kicked, rotated = KICKS[kick], ROTATIONS[rotation]

    def after_torque(state: Any, torque: Any, body: Any, dt: Any) -> Any:
        q, omega = state[:4], state[4:7]
        strength = rate * (1.0 + sqrt(dot(omega, omega))) if form == "quadratic" else rate
        new = kicked(q, omega, axpy(-strength, angular_momentum(omega, body), torque), body, dt)
        return rotated(q, new, dt) + new

    return _one_torque(f"{kick}_{rotation}{DAMPED}{form}_torque_{_digits(rate)}", after_torque)


#: Rates for which there have been candidates in this process.
_rates: set[float] = set()


@cache
def damped_makers() -> tuple[Callable[[float], OneTorque], ...]:
    """Functions of a rate, 1/s, that give a kick and a rotation damped at it, by a factor of omega or by a torque."""
    kinds = [(kick, rotation) for kick in KICKS for rotation in ROTATIONS]
    factors = [(form, place) for form in FACTORS for place in PLACES]
    return (
        # A torque that comes first is one before the factor only if that stands behind the kick.
        *(
            partial(_damped_by_factor, *kind, *factor)
            for kind in kinds
            for factor in factors
            if factor[1] != "between" or not kind[0].startswith("torque_")
        ),
        *(partial(_damped_by_torque, *kind, form) for kind in kinds for form in ("proportional", "quadratic")),
    )


@cache
def damped(rate: float) -> tuple[Method, ...]:
    """The methods of one kick and one rotation, damped at a rate, 1/s, by a factor of omega or by a torque.

    Once asked for, they are also found by :func:`candidate`.
    """
    _rates.add(rate)
    return tuple(make(rate) for make in damped_makers())


def candidates() -> tuple[Method, ...]:
    """The methods of the registry, then the combinations."""
    return (*METHODS.values(), *combinations())


def candidate(key: str) -> Method:
    """The candidate with this key.

    Raises
    ------
    ValueError
        If there is none.
    """
    known: Iterable[Method] = candidates()
    if DAMPED in key:
        rates = {option.damping for engine in known_engines().values() for option in engine.options.values()}
        known = (candidate for rate in (rates | _rates) - {0.0} for candidate in damped(rate))
    for candidate in known:
        if candidate.key == key:
            return candidate
    raise ValueError(f"{key!r} is neither a method nor a candidate of the identification")


@dataclass(frozen=True, config=STRICT)
class Words:
    """Words for keys of candidates: parts of a key, whole keys, formulas and rotations of Adams and Bashforth, dampings."""

    parts: Mapping[str, str]
    whole: Mapping[str, str]
    formulas: Mapping[str, str]
    orientations: Mapping[str, str]
    dampings: Mapping[str, str]


WORDS = declared(Words, Path(__file__).with_suffix(".yaml"))


def plain_label(key: str) -> str:
    """A candidate in words for a terminal, with the law of its damping."""
    law = LAWS.get(key.partition(DAMPED)[2].partition("_")[0], "")
    said = re.sub(r"\$([^$]*)\$", lambda match: _without_tex(match[1]), label(key)).replace(
        "torque alone", "no gyroscopic term"
    )
    return f"{said}, {law}" if law else said


def plain_name(key: str) -> str:
    """A registered method in words, with its key; a form of the candidates, which no page lists by its key, in words alone."""
    said = plain_label(key)
    return f"{said} ({key})" if key in METHODS else f"“{said}”, a form that is not a registered method"


def _without_tex(text: str) -> str:
    """A formula of one of the labels in plain letters."""
    text = re.sub(r"10\^\{?(-?\d+)\}?", r"1e\1", text).replace(r"\times", "x")
    return re.sub(r"\\([A-Za-z]+)|[{}]", lambda match: match[1] or "", text)


def label(key: str) -> str:
    """The candidate with a key in words, for tables; a method of the registry has its own label.

    A space in the key, and the way behind it in which a leapfrog was started, say that its angular velocity is the one that it
    stores, half a step old.
    """
    name, _, mode = key.partition(" ")
    if DAMPED in name:
        base, _, how = name.partition(DAMPED)
        said = f"{label(base)}, {WORDS.dampings[how.split('_')[1]]}"
    elif name in METHODS:
        said = METHODS[name].label
    elif name in WORDS.whole:
        said = WORDS.whole[name]
    elif name.rpartition("_")[0] in FORMULAS:
        formula, _, orientation = name.rpartition("_")
        said = f"{WORDS.formulas[formula]}, {WORDS.orientations[orientation]}"
    else:
        kick = max((k for k in KICKS if name.startswith(k)), key=len, default="")
        parts = name.removeprefix(kick).strip("_").split("_")
        said = ", ".join(filter(None, [WORDS.parts.get(kick, kick), *(WORDS.parts.get(part, "") for part in parts)])) or name
    return f"{said}, $\\omega$ half a step old" if mode else said
