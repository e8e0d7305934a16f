r"""What engines do beyond the methods of the registry: first-order steps made of one kick and one rotation each.

They are candidates of the identification alone, and not methods that anybody should choose. The kick is

* ``explicit``: :math:`\omega' = \omega + \Delta t\, a(\omega, M)`, Euler's equations at the old state;
* ``implicit``: linearly implicit in omega with the torque inside, :math:`J (\omega' - \omega) = \Delta t\,(M - \omega \times I\omega)`
  with the Jacobian J of Catto (2015);
* ``no_gyroscopic``: :math:`\omega' = \omega + \Delta t\, I^{-1} M`, without the gyroscopic term;
* ``lab_momentum``: the lab momentum is kicked, and omega is formed from it with the old orientation.

The orientation turns with the new angular velocity (``new``), the old one (``old``) or their mean (``mean``): exactly
(``exp``), or linearly with normalisation (``linear``).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from polhode.body import angular_momentum, angular_velocity, euler_equations
from polhode.kernel import kernel
from polhode.methods import METHODS
from polhode.methods.linear_system import solve
from polhode.methods.protocol import Method, OneTorque
from polhode.methods.states import read_synchronous, start_with_omega, stored_in_body_frame, torque_wanted_at_state
from polhode.quaternion import derivative, increment, normalise, rotate, to_body, to_lab
from polhode.vector import add, axpy, scale


@kernel
def explicit(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Euler's equations at the old state."""
    return axpy(dt, euler_equations(omega, torque, body), omega)


@kernel
def implicit(q: Any, omega: Any, torque: Any, body: Any, dt: Any) -> Any:
    """Linearly implicit, with the torque inside the equations."""
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
    """The torque alone."""
    return axpy(dt, angular_velocity(torque, body), omega)


KICKS: dict[str, Callable[..., Any]] = {"explicit": explicit, "implicit": implicit, "no_gyroscopic": no_gyroscopic}


@kernel
def exact_rotation(q: Any, omega: Any, dt: Any) -> Any:
    """By the exponential."""
    return rotate(q, omega, dt)


@kernel
def linear_rotation(q: Any, omega: Any, dt: Any) -> Any:
    """Linearly, then normalised."""
    return normalise(increment(dt, derivative(q, omega), q))


ROTATIONS: dict[str, Callable[..., Any]] = {"exp": exact_rotation, "linear": linear_rotation}


@kernel
def with_new(omega: Any, new: Any) -> Any:
    """The new angular velocity."""
    return new


@kernel
def with_old(omega: Any, new: Any) -> Any:
    """The old angular velocity."""
    return omega


@kernel
def with_mean(omega: Any, new: Any) -> Any:
    """The mean of both."""
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

    name = f"lab_momentum_{rotation}"
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


@cache
def combinations() -> tuple[Method, ...]:
    """The combinations that no method of the registry is; with the new omega both frames are the same."""
    known = [
        _made(kick, rotation, turn, held)
        for kick in KICKS
        for rotation in ROTATIONS
        for turn in TURNS
        for held in ("body", "lab")
        if (turn, held) != ("new", "lab") and (kick, rotation, turn) != ("explicit", "linear", "new")
    ]
    return (*known, *map(_lab_momentum, ROTATIONS))


def candidates() -> tuple[Method, ...]:
    """The methods of the registry, then the combinations."""
    return (*METHODS.values(), *combinations())


def candidate(key: str) -> Method:
    """The candidate with this key."""
    return next(one for one in candidates() if one.key == key)
