"""The loop over the steps of one body around the kernels of a method, and the runs of a method.

The loops that call it, over samples and pauses, are compiled once for all methods: :mod:`polhode.methods.one_body` and, for
systems of bodies, :mod:`polhode.methods.several_bodies`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.methods import one_body, several_bodies
from polhode.methods.fourth_order_start import fourth_order_step
from polhode.methods.one_body import ONLY, READ, START, normalised, put_reading, row3, row4, state_rows
from polhode.methods.processor import change_of, compiled_passage

if TYPE_CHECKING:
    from polhode.methods.protocol import Method, OneTorque, SeveralTorques
    from polhode.problems.system import System


def march_of_one_torque(method: "OneTorque") -> Callable[..., Any]:
    """The function ``march`` of a one-torque method, in plain Python around its kernels, not yet compiled.

    Its arguments are those in the docstring of :mod:`polhode.methods.one_body`; it is compiled for
    :func:`polhode.methods.one_body.march_type`.
    """
    start, before_torque, after_torque = method.start, method.before_torque, method.after_torque
    read, stored = method.read, method.stored
    load, store = state_rows(method.state_width)
    torque_time = float(method.torque_time)
    torque_completes_reading = torque_time == 0.0
    rotates_before_torque = method.rotates_before_torque
    # Constants, like those above: Numba leaves the lines of a warm-up out of the loops of other methods.
    warm_up_steps = int(method.warm_up_steps)
    change, is_processed = change_of(method.processor), method.processor is not None

    def march(part, states, reading, n, end, body, torque, parameters, dt, normalise, moves):  # type: ignore[no-untyped-def]
        if part == START:
            q, omega = row4(reading, 0), row3(reading, 1)
            q, omega = change(q, omega, 0.0, dt, body, torque, parameters, moves, 0, len(moves) // 2)
            state = start(q, omega, torque(0.0, q, omega, parameters), body, dt)
        else:
            state = load(states, ONLY)
        if warm_up_steps > 0:
            while n < min(end, warm_up_steps):
                state, q, omega = before_torque(state, body, dt)
                moment = torque(n * dt, q, omega, parameters)
                memory = after_torque(state, moment, body, dt)[7:]
                q, omega = fourth_order_step(q, omega, moment, n * dt, dt, body, torque, parameters)
                state = q + omega + memory
                if normalise:
                    state = normalised(state)
                n += 1
        # Two loops: a branch on normalisation inside one loop would make a step of some methods slower by a tenth.
        if normalise:
            while n < end:
                state, q, omega = before_torque(state, body, dt)
                if rotates_before_torque:
                    state = normalised(state)
                    q = state[:4]
                moment = torque((n + torque_time) * dt, q, omega, parameters)
                state = after_torque(state, moment, body, dt)
                if not rotates_before_torque:
                    state = normalised(state)
                n += 1
        else:
            while n < end:
                state, q, omega = before_torque(state, body, dt)
                moment = torque((n + torque_time) * dt, q, omega, parameters)
                state = after_torque(state, moment, body, dt)
                n += 1
        store(states, ONLY, state)
        if part == READ:
            if torque_completes_reading:
                half, q, omega = before_torque(state, body, dt)
                q, omega = read(half, torque(n * dt, q, omega, parameters), body, dt)
            else:
                q, omega = read(state, (0.0, 0.0, 0.0), body, dt)
            q, omega = change(q, omega, n * dt, dt, body, torque, parameters, moves, len(moves) // 2, len(moves))
            put_reading(reading, q, omega, omega if is_processed else stored(state, body, dt))

    return march


def march_of_several_torques(method: "SeveralTorques") -> Callable[..., Any]:
    """The function ``march`` of a method with several torques per step, in plain Python around its kernels, not yet compiled.

    Its arguments are those in the docstring of :mod:`polhode.methods.one_body`; it is compiled for
    :func:`polhode.methods.one_body.march_type`.
    """
    start, step, read, stored = method.start, method.step, method.read, method.stored
    load, store = state_rows(method.state_width)
    change, is_processed = change_of(method.processor), method.processor is not None

    def march(part, states, reading, n, end, body, torque, parameters, dt, normalise, moves):  # type: ignore[no-untyped-def]
        if part == START:
            q, omega = row4(reading, 0), row3(reading, 1)
            q, omega = change(q, omega, 0.0, dt, body, torque, parameters, moves, 0, len(moves) // 2)
            state = start(q, omega, body)
        else:
            state = load(states, ONLY)
        if normalise:  # two loops, as above
            while n < end:
                state = normalised(step(state, n * dt, dt, body, torque, parameters))
                n += 1
        else:
            while n < end:
                state = step(state, n * dt, dt, body, torque, parameters)
                n += 1
        store(states, ONLY, state)
        if part == READ:
            q, omega = read(state, (0.0, 0.0, 0.0), body, dt)
            q, omega = change(q, omega, n * dt, dt, body, torque, parameters, moves, len(moves) // 2, len(moves))
            put_reading(reading, q, omega, omega if is_processed else stored(state, body, dt))

    return march


def run(
    method: "Method",
    q0: tuple[float, ...],
    omega0: tuple[float, ...],
    body: tuple[float, ...],
    torque: Callable[..., Any],
    parameters: np.ndarray,
    dt: float,
    sample_steps: np.ndarray,
    normalise: bool | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Run one body: the arguments and results of :meth:`polhode.methods.protocol.Method.integrate`, where their units are.

    Returns q (samples, 4), body to lab, omega and the stored omega (samples, 3) in rad/s, body frame, and the number of torque
    evaluations; samples after a blow-up are NaN. Raises ValueError if ``normalise`` is given and cannot be switched.
    """
    from polhode.compiling.marching import Pauses

    normalise = method.normalisation(normalise)
    pauses = Pauses()
    q, omega, stored = (np.full((len(sample_steps), size), np.nan) for size in (4, 3, 3))
    steps = one_body.driver(len(body))(
        method.compiled_march(),
        np.zeros((1, method.state_width)),
        np.zeros((3, 4)),
        tuple(float(x) for x in q0),
        tuple(float(x) for x in omega0),
        body,
        torque,
        parameters,
        float(dt),
        normalise,
        method.moves,
        np.ascontiguousarray(sample_steps, dtype=np.int64),
        pauses,
        q,
        omega,
        stored,
    )
    pauses.end()
    return q, omega, stored, method.torques_in(int(steps))


def run_system(
    method: "OneTorque", system: "System", dt: float, sample_steps: np.ndarray, normalise: bool | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Run several bodies: the arguments and results of :meth:`polhode.methods.protocol.OneTorque.integrate_system`.

    Returns q (samples, bodies, 4), body to lab, omega and the stored omega (rad/s, frames of the bodies), r (m) and v (m/s, lab
    frame), each (samples, bodies, 3), and the number of evaluations of the loads; samples after a blow-up are NaN. Raises
    ValueError if ``normalise`` is given and cannot be switched.
    """
    from polhode.compiling.marching import Pauses

    normalise = method.normalisation(normalise)
    assert method.translation is not None
    turn = method.compiled(method.turn, several_bodies.turn_type())
    move, moving_width = several_bodies.compiled_stay() if system.fixed else several_bodies.compiled_move(method.translation)
    pauses = Pauses()
    shape = len(sample_steps), len(system.bodies)
    q, omega, stored, r, v = (np.full((*shape, size), np.nan) for size in (4, 3, 3, 3, 3))
    evaluations = several_bodies.driver()(
        turn,
        move,
        (method.state_width, moving_width),
        float(method.torque_time),
        int(method.warm_up_steps),
        compiled_passage(method.processor),
        method.moves,
        *(np.array(rows, dtype=float) for rows in (system.r0, system.v0, system.q0, system.omega0)),
        np.array([method.numbers_of(body) for body in system.bodies]),
        np.array([body.mass for body in system.bodies], dtype=float),
        system.fixed,
        system.compiled_loads,
        system.parameter_array,
        float(dt),
        (normalise and method.rotates_before_torque, normalise and not method.rotates_before_torque),
        np.ascontiguousarray(sample_steps, dtype=np.int64),
        pauses,
        q,
        omega,
        stored,
        r,
        v,
    )
    pauses.end()
    bad = ~np.isfinite(q + 0).all(axis=(1, 2)) | ~np.isfinite(r).all(axis=(1, 2)) | ~np.isfinite(v).all(axis=(1, 2))
    first = int(np.argmax(bad)) if bad.any() else len(bad)
    for values in (q, omega, stored, r, v):
        values[first:] = np.nan
    return q, omega, stored, r, v, int(evaluations)
