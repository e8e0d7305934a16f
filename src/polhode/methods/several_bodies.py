"""The loop over steps for several interacting bodies, including their centres of mass.

The loop is one function for all methods, compiled once. What depends on the method, or on its scheme for the centres of mass,
is a function of its own, handed to the loop: it does one part of a step for all bodies, whose states are the rows of an array.
A step of the loop is two calls of each, with the single evaluation of all loads between them, and each kernel is compiled into
the function of its method once.

These functions are ``turn(part, states, later, q, omega, torque, bodies, stored, dt, normalise)`` for a method and
``move(part, states, later, r, v, force, masses, dt)`` for a scheme, with ``part`` one of

``START``
    States from which the first step begins, into ``later``.
``BEFORE``
    The part of a step before the loads: from ``states`` into ``later``, and q and omega (r and v) for the loads.
``AFTER``
    The rest of a step: from ``states`` into ``later``.
``READ``
    q, omega and the stored omega (r and v) at the whole time, from ``states``.

Their other arguments are float arrays with a row for each body, in SI units:

``states``, ``later`` (bodies, width)
    The states of the method (:mod:`polhode.methods.protocol`) or of the scheme (:mod:`polhode.methods.translation`).
``q`` (bodies, 4), ``omega``, ``stored``, ``torque`` (bodies, 3)
    Orientations, body to lab; angular velocities, also as the method stores them (rad/s), and torques (N m) in the frames of
    the bodies.
``r``, ``v``, ``force`` (bodies, 3)
    Positions (m), velocities (m/s) and forces (N) in the lab frame.
``bodies`` (bodies, 9 or more), ``masses`` (bodies,)
    The numbers of the bodies (:meth:`polhode.methods.protocol.Method.numbers_of`), and masses (kg).

``dt`` is the time step in s, and ``normalise`` says whether quaternions are normalised in this part.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from polhode.algebra.quaternion import normalise as unit_quaternion
from polhode.compiling.kernel import compile_driver
from polhode.methods.fourth_order_start import HELD
from polhode.methods.one_body import SOME_BODY, normalised, put3, put4, row3, row4, state_rows, width_of
from polhode.methods.processor import passage_type
from polhode.methods.translation import Translation

START, BEFORE, AFTER, READ = range(4)


@cache
def turn_type() -> Any:
    """The signature of ``turn``, a type of Numba."""
    from numba import types

    from polhode.compiling.signatures import float_type, samples_type

    return types.void(types.int64, *(samples_type,) * 7, float_type, types.boolean)


@cache
def move_type() -> Any:
    """The signature of ``move``, a type of Numba."""
    from numba import types

    from polhode.compiling.signatures import float_type, parameters_type, samples_type

    return types.void(types.int64, *(samples_type,) * 5, parameters_type, float_type)


@cache
def drive_type() -> Any:
    """The signature of the loop over steps, a type of Numba."""
    from numba import types

    from polhode.compiling import signatures as of

    rows, numbers = of.samples_type, of.parameters_type
    return types.int64(
        *(types.FunctionType(turn_type()), types.FunctionType(move_type())),
        *(types.UniTuple(types.int64, 2), of.float_type, types.int64, types.FunctionType(passage_type()), rows),
        *(*(rows,) * 5, numbers, types.boolean, of.loads_type, numbers, of.float_type, types.UniTuple(types.boolean, 2)),
        *(of.steps_type, of.pause_type, *(of.tables_type,) * 5),
    )


def turn_of(method: Any, width: int) -> Callable[..., Any]:
    """The function ``turn`` of a one-torque method, in plain Python around its kernels, to be compiled for :func:`turn_type`.

    ``width`` is the number of floats in a state of one body.
    """
    start, before_torque, after_torque = method.start, method.before_torque, method.after_torque
    read, stored_omega = method.read, method.stored
    load, store = state_rows(width)
    body_of, _ = state_rows(len(method.numbers_of(SOME_BODY)))

    def turn(part, states, later, q, omega, torque, bodies, stored, dt, normalise):  # type: ignore[no-untyped-def]
        for b in range(q.shape[0]):
            body = body_of(bodies, b)
            if part == START:
                store(later, b, start(row4(q, b), row3(omega, b), row3(torque, b), body, dt))
            elif part == BEFORE:
                state, q_b, omega_b = before_torque(load(states, b), body, dt)
                if normalise:
                    state = normalised(state)
                    q_b = state[:4]
                store(later, b, state)
                put4(q, b, q_b)
                put3(omega, b, omega_b)
            elif part == AFTER:
                state = after_torque(load(states, b), row3(torque, b), body, dt)
                if normalise:
                    state = normalised(state)
                store(later, b, state)
            else:
                state = load(states, b)
                q_b, omega_b = read(state, row3(torque, b), body, dt)
                put4(q, b, q_b)
                put3(omega, b, omega_b)
                put3(stored, b, stored_omega(state, body, dt))

    return turn


def move_of(scheme: Translation, width: int) -> Callable[..., Any]:
    """The function ``move`` of a scheme for centres of mass, in plain Python around its kernels, to be compiled for
    :func:`move_type`.

    ``width`` is the number of floats in a state of one body.
    """
    start, before_force, after_force, read = scheme.start, scheme.before_force, scheme.after_force, scheme.read
    load, store = state_rows(width)

    def move(part, states, later, r, v, force, masses, dt):  # type: ignore[no-untyped-def]
        for b in range(r.shape[0]):
            if part == START:
                store(later, b, start(row3(r, b), row3(v, b), row3(force, b), masses[b], dt))
            elif part == BEFORE:
                state, r_b, v_b = before_force(load(states, b), masses[b], dt)
                store(later, b, state)
                put3(r, b, r_b)
                put3(v, b, v_b)
            elif part == AFTER:
                store(later, b, after_force(load(states, b), row3(force, b), masses[b], dt))
            else:
                r_b, v_b = read(load(states, b), row3(force, b), masses[b], dt)
                put3(r, b, r_b)
                put3(v, b, v_b)

    return move


def _drive(  # type: ignore[no-untyped-def]
    turn,
    move,
    widths,
    torque_time,
    warm_up_steps,
    passage,
    moves,
    r,
    v,
    q,
    omega,
    bodies,
    masses,
    fixed,
    loads,
    parameters,
    dt,
    normalise,
    sample_steps,
    pause,
    q_out,
    omega_out,
    stored_out,
    r_out,
    v_out,
):
    """Run to the last of ``sample_steps`` and read all bodies at each of them; r, v, q and omega are overwritten.

    ``widths`` are the numbers of values in a state of the method and of the scheme, ``normalise`` says whether the quaternions
    are normalised before and after the loads. The states of a method with ``warm_up_steps`` begin with q and omega, those of
    its scheme with r and v. ``passage`` and ``moves`` are those of such a method or of a processor
    (:mod:`polhode.methods.processor`). Returns the number of evaluations of the loads, without those that outputs need.
    """
    count = q.shape[0]
    turning, moving = np.zeros((count, widths[0])), np.zeros((count, widths[1]))
    turning_half, moving_half = np.zeros((count, widths[0])), np.zeros((count, widths[1]))
    force, torque, stored = np.zeros((count, 3)), np.zeros((count, 3)), np.zeros((count, 3))
    held = np.zeros((count, HELD if warm_up_steps > 0 else 0))
    # Two maps, one behind the other, of a processor; one Runge-Kutta step of a method that begins with some.
    maps = len(moves) // 2 if warm_up_steps == 0 else 0
    evaluations = 1
    if maps > 0:
        passage(-1, held, r, v, q, omega, force, torque, bodies, masses, fixed, dt, moves)
        for stage in range(maps - 1):
            loads(moves[stage, 2] * dt, r, v, q, omega, parameters, force, torque)
            passage(stage, held, r, v, q, omega, force, torque, bodies, masses, fixed, dt, moves)
            evaluations += 1
    loads(0.0, r, v, q, omega, parameters, force, torque)
    turn(START, turning, turning, q, omega, torque, bodies, stored, dt, False)
    if not fixed:
        move(START, moving, moving, r, v, force, masses, dt)
    n = 0
    stop = pause(n)
    for i in range(sample_steps.size):
        while n < sample_steps[i]:
            turn(BEFORE, turning, turning, q, omega, torque, bodies, stored, dt, normalise[0])
            if not fixed:
                move(BEFORE, moving, moving, r, v, force, masses, dt)
            loads((n + torque_time) * dt, r, v, q, omega, parameters, force, torque)
            turn(AFTER, turning, turning, q, omega, torque, bodies, stored, dt, normalise[1])
            if not fixed:
                move(AFTER, moving, moving, r, v, force, masses, dt)
            if n < warm_up_steps:
                for stage in range(len(moves) - 1):
                    if stage > 0:
                        loads(n * dt + moves[stage, 2] * dt, r, v, q, omega, parameters, force, torque)
                        evaluations += 1
                    passage(stage, held, r, v, q, omega, force, torque, bodies, masses, fixed, dt, moves)
                for b in range(count):
                    if normalise[1]:
                        put4(q, b, unit_quaternion(row4(q, b)))
                    for k in range(4):
                        turning[b, k] = q[b, k]
                    for k in range(3):
                        turning[b, 4 + k] = omega[b, k]
                        if not fixed:
                            moving[b, k], moving[b, 3 + k] = r[b, k], v[b, k]
            n += 1
            evaluations += 1
            # Compared with the loads this check costs nothing.
            if n == stop:
                stop = pause(n)
                if stop == n:
                    return evaluations
        if torque_time == 0.0:  # the torque at the whole time completes the reading
            turn(BEFORE, turning, turning_half, q, omega, torque, bodies, stored, dt, False)
            if not fixed:
                move(BEFORE, moving, moving_half, r, v, force, masses, dt)
            loads(n * dt, r, v, q, omega, parameters, force, torque)
        else:  # the states are read as at the end of the step, and the loads are not used
            for b in range(count):
                for k in range(widths[0]):
                    turning_half[b, k] = turning[b, k]
                for k in range(widths[1]):
                    moving_half[b, k] = moving[b, k]
        turn(READ, turning_half, turning_half, q, omega, torque, bodies, stored, dt, False)
        if not fixed:
            move(READ, moving_half, moving_half, r, v, force, masses, dt)
        if maps > 0:
            back = moves[maps:]
            passage(-1, held, r, v, q, omega, force, torque, bodies, masses, fixed, dt, back)
            for stage in range(maps - 1):
                loads(n * dt + back[stage, 2] * dt, r, v, q, omega, parameters, force, torque)
                passage(stage, held, r, v, q, omega, force, torque, bodies, masses, fixed, dt, back)
            for b in range(count):
                put3(stored, b, row3(omega, b))
        finite = True
        for b in range(count):
            total = 0.0
            for k in range(4):
                total += q[b, k]
            for k in range(3):
                total += omega[b, k] + stored[b, k]
            finite &= total - total == 0.0
        if not finite:  # the row remains as it is
            break
        for b in range(count):
            for k in range(4):
                q_out[i, b, k] = q[b, k]
            for k in range(3):
                omega_out[i, b, k] = omega[b, k]
                stored_out[i, b, k] = stored[b, k]
                r_out[i, b, k] = r[b, k]
                v_out[i, b, k] = v[b, k]
    return evaluations


@cache
def driver() -> Callable[..., Any]:
    """The loop over steps, compiled for :func:`drive_type`; it takes the functions ``turn`` and ``move`` of any method and
    scheme.
    """
    return compile_driver(_drive, drive_type())


def _stay(part, states, later, r, v, force, masses, dt):  # type: ignore[no-untyped-def]
    """``move`` where all centres of mass are fixed."""


@cache
def compiled_stay() -> tuple[Callable[..., Any], int]:
    """The compiled function for ``move`` where all centres of mass are fixed, and the width of its states, 0.

    The loop never calls it. A scheme would take longer to compile than the method.
    """
    return compile_driver(_stay, move_type(), part=True), 0


@cache
def compiled_move(scheme: Translation) -> tuple[Callable[..., Any], int]:
    """The function ``move`` of a scheme, compiled, and the number of floats in a state of one body."""
    width = width_of(scheme.start, (0.3, 0.2, 0.1), (0.9, -0.7, 1.1), (0.4, -0.5, 0.2), 1.0, 1e-3)
    return compile_driver(move_of(scheme, width), move_type(), part=True), width
