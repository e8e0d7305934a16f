r"""A change of variables around the steps of a method, and the passages of all bodies through stages that evaluate loads.

A *processed* method (Wisdom, Holman and Touma 1996; Blanes, Casas and Murua) takes its steps in variables that differ a little
from q and omega: a pre-map leads into them before the first step, and its exact inverse, the post-map, leads out at every
output. The steps are those of an ordinary method. Both maps are made of free motions, forwards and backwards, and kicks:

.. math::

   \text{pre-map: for } i = 1 \ldots m: \quad \text{free motion for } a_i\,\Delta t, \quad \text{kick of } b_i\,\Delta t

with the shares (a_i, b_i) of :mod:`polhode.methods.correctors`; the post-map has them in reverse order with opposite signs. A
torque is evaluated for every kick, at the time that belongs to the free motion, t + (a_1 + ... + a_i) dt: a torque that depends
on the time is treated as if time were a coordinate.

Loads of several bodies are evaluated together. A *passage* therefore moves all bodies in stages, with one evaluation of all
loads for each. There are two: the maps of a processor, and the Runge-Kutta step with which a multistep method begins
(:mod:`polhode.methods.fourth_order_start`). Either is ``next_stage(stage, held, r, v, q, omega, force, torque, bodies, masses,
fixed, dt, moves)``.

The arguments of a passage are as for :func:`polhode.methods.fourth_order_start.next_stage`: float arrays with a row for each
body, of positions (m) and velocities (m/s) in the lab frame, orientations (scalar first, body to lab) and angular velocities
(rad/s, frames of the bodies), which it overwrites, and of the loads of the stage, forces (N, lab frame) and torques (N m,
frames of the bodies).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np

from polhode.algebra.body import angular_momentum, angular_velocity
from polhode.algebra.vector import axpy
from polhode.compiling.kernel import compile_driver, kernel, subroutine
from polhode.methods.fourth_order_start import TIMES, next_stage
from polhode.methods.one_body import NUMBERS, put3, put4, row3, row4, state_rows

_body_of, _ = state_rows(NUMBERS)


@cache
def passage_type() -> Any:
    """The signature of a passage for all bodies, a type of Numba."""
    from numba import types

    from polhode.compiling.signatures import float_type, parameters_type, samples_type

    return types.void(types.int64, *(samples_type,) * 8, parameters_type, types.boolean, float_type, samples_type)


@dataclass(frozen=True)
class Processor:
    """The change of variables of a processed method.

    Parameters
    ----------
    drift : kernel (q, momentum, body, dt) -> (q, momentum)
        The free motion; the angular momentum is in the body frame. Back and forth it must return to where it was.
    shares : tuple of pairs (a, b)
        The pre-map: free motion for a steps and then a kick of b steps, one pair after the other. The last kick is 0.

    Raises
    ------
    ValueError
        If the last kick is not 0.
    """

    drift: Callable[..., Any] = field(repr=False)
    shares: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        if not self.shares or self.shares[-1][1] != 0.0:
            raise ValueError(f"processor: the last of the shares must be (a, 0.0), a free motion alone, got {self.shares!r}")

    @property
    def torques(self) -> int:
        """The number of torques that a map evaluates: before the first step, and at every output."""
        return len(self.shares) - 1

    def moves(self) -> np.ndarray:
        """Both maps, the post-map behind the pre-map: a float array (2 n, 3) for n shares, in each row the free motion, the
        kick and the time of the kick after the beginning of the map, in steps.
        """
        drifts, kicks = ([float(x) for x in column] for column in zip(*self.shares, strict=True))
        back = [-a for a in reversed(drifts)], [*(-b for b in reversed(kicks[:-1])), 0.0]
        return np.vstack([np.column_stack([a, b, list(accumulate(a))]) for a, b in ((drifts, kicks), back)])


#: The rows of a Runge-Kutta step as a passage: its stages know their shares, and the last row is its end.
RUNGE_KUTTA_MOVES = np.array([[0.0, 0.0, time] for time in (*TIMES, 1.0)])
#: The rows of a method without passages.
NO_MOVES = np.zeros((0, 3))


@cache
def move_of(drift: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of one row of a map for one body: a free motion, and a kick if its share is not 0.

    It is ``move(q, momentum, t, dt, body, torque, parameters, share, kick, time) -> (q, momentum)`` with q (4,), body to lab,
    and the momentum (3,), N m s in the body frame; ``t`` (s) is the time at which the map begins, ``dt`` (s) the step,
    ``torque(t, q, omega, parameters)`` in N m, body frame, and ``share``, ``kick`` and ``time`` are the row, in steps.
    ``drift`` is as for :class:`Processor`.
    """

    @kernel
    def move(
        q: Any, momentum: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any, share: Any, kick: Any, time: Any
    ) -> Any:
        q, momentum = drift(q, momentum, body, share * dt)
        if kick != 0.0:
            moment = torque(t + time * dt, q, angular_velocity(momentum, body), parameters)
            momentum = axpy(kick * dt, moment, momentum)
        return q, momentum

    return move


@cache
def change_of(processor: Processor | None) -> Callable[..., Any]:
    """The maps of a processor for one body: ``change(q, omega, t, dt, body, torque, parameters, moves, first, last)``.

    It returns q (4,), body to lab, and omega (3,), rad/s in the body frame, after the rows of ``moves`` from ``first`` to
    before ``last``, without a processor as they were. ``t`` (s) is the time at which the map begins, ``dt`` (s) the step, and
    ``torque(t, q, omega, parameters)`` in N m, body frame.
    """
    if processor is None:

        @kernel
        def nothing(
            q: Any, omega: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any, moves: Any, first: Any, last: Any
        ) -> Any:
            return q, omega

        return nothing
    move = move_of(processor.drift)

    @subroutine
    def change(
        q: Any, omega: Any, t: Any, dt: Any, body: Any, torque: Any, parameters: Any, moves: Any, first: Any, last: Any
    ) -> Any:
        momentum = angular_momentum(omega, body)
        for i in range(first, last):
            q, momentum = move(q, momentum, t, dt, body, torque, parameters, moves[i, 0], moves[i, 1], moves[i, 2])
        return q, angular_velocity(momentum, body)

    return change


def change_of_all(drift: Callable[..., Any]) -> Callable[..., Any]:
    """The passage of all bodies by the maps of a processor, in plain Python; their centres of mass move freely and are kicked
    with them.

    It has the arguments in the module's docstring; ``drift`` is as for :class:`Processor`. Stage -1 is the first free motion;
    the stage i kicks by the loads there and moves on.
    """

    def change(stage, held, r, v, q, omega, force, torque, bodies, masses, fixed, dt, moves):  # type: ignore[no-untyped-def]
        kick, share = moves[stage, 1] * dt if stage >= 0 else 0.0, moves[stage + 1, 0] * dt
        for b in range(q.shape[0]):
            body = _body_of(bodies, b)
            momentum = axpy(kick, row3(torque, b), angular_momentum(row3(omega, b), body))
            turned, momentum = drift(row4(q, b), momentum, body, share)
            put4(q, b, turned)
            put3(omega, b, angular_velocity(momentum, body))
            if not fixed:
                velocity = axpy(kick / masses[b], row3(force, b), row3(v, b))
                put3(v, b, velocity)
                put3(r, b, axpy(share, velocity, row3(r, b)))

    return change


@cache
def _all_of(drift: Callable[..., Any] | None) -> Callable[..., Any]:
    plain = getattr(next_stage, "py_func", next_stage) if drift is None else change_of_all(drift)
    return compile_driver(plain, passage_type(), part=True)


def compiled_passage(processor: Processor | None) -> Callable[..., Any]:
    """The passage of a processor, compiled for :func:`passage_type`; without a processor a Runge-Kutta step
    (:mod:`polhode.methods.fourth_order_start`).
    """
    return _all_of(processor.drift if processor else None)
