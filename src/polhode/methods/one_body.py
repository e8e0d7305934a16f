"""The loop over samples and pauses of one body, and what drivers need to keep states in arrays.

The loop is one function for all methods, compiled once: compiled code is optimised again in every function that it is linked
into, which took half of the time in which a method compiles. The driver of a method, which holds its kernels and the loops over
steps, is handed to it, ``march(part, states, reading, n, end, body, torque, parameters, dt, normalise, moves)`` with ``part``
one of

``START``
    First the state from which the first step begins, from q and omega in the first two rows of ``reading``; a processed method
    changes them before (:mod:`polhode.methods.processor`, from which ``moves`` are).
``STEPS``
    The steps from n to ``end``: from the state in row 0 of ``states`` into it.
``READ``
    Last q, omega and the stored omega at ``end``, into the three rows of ``reading``.

Every part includes the loops over steps, here over none. With separate branches the code would take half as long again to
compile, and a step of some methods would be slower by a tenth.

The arguments of ``march`` besides ``part``, in SI units:

``states`` (1, width), ``reading`` (3, 4)
    Float arrays, overwritten: the state of the method, and in the rows of the other q, omega and the stored omega, both
    omegas (3,) in rad/s, body frame.
``n``, ``end``
    The numbers of steps done before and after.
``body``
    A tuple of floats, :meth:`polhode.methods.protocol.Method.numbers_of`.
``torque``, ``parameters`` (m,)
    A compiled torque ``(t, q, omega, parameters) -> (3,)``, N m in the body frame, and the float array passed to it.
``dt``, ``normalise``
    The time step (s), and whether the quaternion is normalised every step.
``moves`` (rows, 3)
    Float array, :meth:`polhode.methods.processor.Processor.moves`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from polhode.algebra import quaternion
from polhode.algebra.body import Body
from polhode.compiling.kernel import compile_driver, kernel
from polhode.compiling.plain import in_plain_python
from polhode.problems.pieces import BEFORE_TABLE, driven_wheels, sample

START, STEPS, READ = range(3)
#: The numbers of a body (:meth:`polhode.algebra.body.Body.coefficients`).
NUMBERS = 9
#: The row of ``states`` that one body has. A NumPy integer: Numba compiles a function again for every value of a Python integer
#: that it is handed as a constant, and systems of bodies hand the same functions any row.
ONLY = np.int64(0)

#: Any body, and generic values with which a kernel ``start`` is run to inspect its states.
SOME_BODY = Body((1.0, 1.7, 2.3))
SOME_Q, SOME_OMEGA, SOME_TORQUE = (0.5, -0.1, 0.7, 0.5), (0.9, -0.7, 1.1), (0.4, -0.5, 0.2)


@cache
def march_type(numbers: int = NUMBERS) -> Any:
    """The signature of ``march``, a type of Numba, for bodies of so many numbers."""
    from numba import types

    from polhode.compiling import signatures as of

    body, rows, whole = types.UniTuple(of.float_type, numbers), of.samples_type, types.int64
    return types.void(
        whole, rows, rows, whole, whole, body, of.torque_type, of.parameters_type, of.float_type, types.boolean, rows
    )


@cache
def drive_type(numbers: int = NUMBERS) -> Any:
    """The signature of :func:`drive`, a type of Numba, for bodies of so many numbers."""
    from numba import types

    from polhode.compiling import signatures as of

    body, rows = types.UniTuple(of.float_type, numbers), of.samples_type
    return types.int64(
        types.FunctionType(march_type(numbers)),
        *(rows, rows, of.quaternion_type, of.vector_type, body, of.torque_type, of.parameters_type, of.float_type),
        *(types.boolean, rows, of.steps_type, of.pause_type, rows, rows, rows),
    )


@kernel
def normalised(state: Any) -> Any:
    """The state, a tuple of floats, with its quaternion, the first four, divided by its norm."""
    return quaternion.normalise(state[:4]) + state[4:]


@kernel
def row4(rows: Any, i: int) -> Any:
    """The first four numbers (4,) of the row ``i`` of a float array (n, 4 or more), usually a quaternion."""
    return (rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3])


@kernel
def row3(rows: Any, i: int) -> Any:
    """The first three numbers (3,) of the row ``i`` of a float array (n, 3 or more), in its unit."""
    return (rows[i, 0], rows[i, 1], rows[i, 2])


@kernel
def put3(rows: Any, i: int, values: Any) -> None:
    """Write three ``values`` into the first columns of the row ``i`` of a float array (n, 3 or more)."""
    rows[i, 0], rows[i, 1], rows[i, 2] = values[0], values[1], values[2]


@kernel
def put4(rows: Any, i: int, values: Any) -> None:
    """Write four ``values`` into the first columns of the row ``i`` of a float array (n, 4 or more)."""
    rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3] = values[0], values[1], values[2], values[3]


@kernel
def put_reading(reading: Any, q: Any, omega: Any, stored: Any) -> None:
    """Write q (4,), omega (3,) and the stored omega (3,), rad/s in the body frame, into the rows of ``reading``, a float array
    (3, 4).
    """
    put4(reading, 0, q)
    put3(reading, 1, omega)
    put3(reading, 2, stored)


def width_of(start: Callable[..., Any], *handed: Any) -> int:
    """The number of values in the states that the kernel ``start`` returns for these arguments. It runs as plain Python:
    nothing is compiled.
    """
    return len(in_plain_python(start)(*handed))


@cache
def state_rows(width: int, first: int = 0) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Kernels that read so many numbers of a row as a tuple, ``(rows, i) -> tuple``, and write them, ``(rows, i, state)``.

    ``rows`` is a float array; the numbers begin at the column ``first`` of its row ``i``. The source of the kernels is
    generated because Numba builds tuples only from elements that are written out.
    """
    elements = "".join(f"rows[i, {first + k}], " for k in range(width))
    lines = "".join(f"    rows[i, {first + k}] = state[{k}]\n" for k in range(width)) or "    pass\n"
    made: dict[str, Any] = {}
    exec(f"def load(rows, i):\n    return ({elements})\n\ndef store(rows, i, state):\n{lines}", made)
    return kernel(made["load"]), kernel(made["store"])


def drive(  # type: ignore[no-untyped-def]
    march,
    states,
    reading,
    q0,
    omega0,
    body,
    torque,
    parameters,
    dt,
    normalise,
    moves,
    sample_steps,
    pause,
    q_out,
    omega_out,
    stored_out,
):
    """Run to the last of ``sample_steps`` and read the body at each of them.

    Parameters
    ----------
    march : the driver of a method, see the module's docstring
    states, reading, body, torque, parameters, dt, normalise, moves : as for ``march``; the first two are overwritten
    q0, omega0 : initial orientation (4,), body to lab, and angular velocity (3,), rad/s in the body frame
    sample_steps : int64 array (samples,), ascending whole numbers of steps
    pause : function n -> the step of the next pause, or n to end the run (:mod:`polhode.compiling.marching`)
    q_out, omega_out, stored_out : float arrays (samples, 4), (samples, 3) and (samples, 3)
        Written: orientations, angular velocities and stored angular velocities, rad/s in the body frame.

    Returns
    -------
    The number of steps done. The row of a reading that is not finite remains as it is, and is the last.
    """
    for k in range(4):
        reading[0, k] = q0[k]
    for k in range(3):
        reading[1, k] = omega0[k]
    march(START, states, reading, 0, 0, body, torque, parameters, dt, normalise, moves)
    n = 0
    stop = pause(n)
    for i in range(sample_steps.size):
        while n < sample_steps[i]:
            end = min(sample_steps[i], stop)
            march(STEPS, states, reading, n, end, body, torque, parameters, dt, normalise, moves)
            n = end
            if n == stop:
                stop = pause(n)
                if stop == n:
                    return n
        march(READ, states, reading, n, n, body, torque, parameters, dt, normalise, moves)
        total = reading[0, 0] + reading[0, 1] + reading[0, 2] + reading[0, 3]
        for row in range(1, 3):
            for k in range(3):
                total += reading[row, k]
        if total - total != 0.0:
            break
        for k in range(4):
            q_out[i, k] = reading[0, k]
        for k in range(3):
            omega_out[i, k] = reading[1, k]
            stored_out[i, k] = reading[2, k]
    return n


@kernel
def same_body(body: Any, parameters: Any, place: int, width: int, interval: int) -> Any:
    """The numbers of a body in a piece: ``body``, a tuple of floats in SI units, as it is. The other arguments are as for
    :func:`driven_body`.
    """
    return body


@kernel
def driven_body(body: Any, parameters: Any, place: int, width: int, interval: int) -> Any:
    """The numbers of a body in a piece, with the momentum of driven wheels at its beginning and the torque of their motors.

    Parameters
    ----------
    body : tuple of floats, of which the first nine are the coefficients of the body
    parameters : float array (m,), with the numbers of the pieces (:mod:`polhode.problems.pieces`)
    place : where the numbers of a piece begin in it; the first is the time at which the piece begins, s
    width : the number of numbers of an interval of the controller
    interval : the number of the interval in which the piece lies

    Returns
    -------
    15 floats: the nine coefficients (SI units), the momentum (3) in N m s and the torque (3) in N m, body frame.
    """
    s = parameters[place] - interval * parameters[place + BEFORE_TABLE - 2]
    h, u = driven_wheels(parameters, place + BEFORE_TABLE + width * interval, s)
    return body[:9] + h + u


def pieces_of(of_piece: Callable[..., Any]) -> Callable[..., Any]:
    """The driver of runs in pieces, in plain Python, with the kernel for the numbers of the body in a piece.

    ``of_piece`` is :func:`same_body` or :func:`driven_body`. :func:`driver_of_pieces` compiles the driver,
    :func:`polhode.methods.runs.in_pieces` calls it.
    """

    def drive_pieces(  # type: ignore[no-untyped-def]
        march,
        states,
        reading,
        q0,
        omega0,
        body,
        torque,
        control,
        motors,
        width,
        parameters,
        place,
        begun,
        edges,
        margin,
        counts,
        normalise,
        moves,
        piece,
        at,
        pause,
        q_out,
        omega_out,
        stored_out,
    ):
        """Run piece after piece, from ``edges[i]`` to ``edges[i + 1]`` in ``counts[i]`` steps, and read the body after the step
        ``at[j]`` of piece ``piece[j]``; ``states``, ``reading`` and ``parameters`` are overwritten.

        ``place`` is where the numbers of a piece begin among the parameters (:mod:`polhode.problems.pieces`), and ``begun[i]``
        the interval of the controller that begins with a piece, or -1; it has ``width`` numbers. Returns the number of steps
        done; rows after a reading that is not finite remain as they are.
        """
        q, omega = q0, omega0
        interval = 0
        before, j = 0, 0
        stop = pause(0)
        for i in range(counts.size):
            dt = (edges[i + 1] - edges[i]) / counts[i]
            parameters[place] = edges[i]
            parameters[place + 1] = edges[i] + margin
            parameters[place + 2] = edges[i + 1] - margin
            if begun[i] >= 0:
                interval = begun[i]
                sample(edges[i], q, omega, control, motors, parameters, place + BEFORE_TABLE, width, interval)
            body = of_piece(body, parameters, place, width, interval)
            put4(reading, 0, q)
            put3(reading, 1, omega)
            march(START, states, reading, 0, 0, body, torque, parameters, dt, normalise, moves)
            n = 0
            is_read = j < at.size and piece[j] == i
            while is_read or n < counts[i]:
                target = at[j] if is_read else counts[i]
                while n < target:
                    end = min(target, stop - before)
                    march(STEPS, states, reading, n, end, body, torque, parameters, dt, normalise, moves)
                    n = end
                    if before + n == stop:
                        stop = pause(before + n)
                        if stop == before + n:
                            return before + n
                march(READ, states, reading, n, n, body, torque, parameters, dt, normalise, moves)
                total = reading[0, 0] + reading[0, 1] + reading[0, 2] + reading[0, 3]
                for row in range(1, 3):
                    for k in range(3):
                        total += reading[row, k]
                if total - total != 0.0:
                    return before + n
                if is_read:
                    for k in range(4):
                        q_out[j, k] = reading[0, k]
                    for k in range(3):
                        omega_out[j, k] = reading[1, k]
                        stored_out[j, k] = reading[2, k]
                    j += 1
                    is_read = j < at.size and piece[j] == i
            q, omega = row4(reading, 0), row3(reading, 1)
            before += n
        return before

    return drive_pieces


@cache
def driver_of_pieces(numbers: int = NUMBERS, driven: bool = False) -> Callable[..., Any]:
    """The driver of :func:`pieces_of`, compiled for bodies of so many numbers; it takes the ``march`` of any method for such
    bodies. With ``driven`` the last six of the numbers are the momentum of wheels (N m s) and the torque of their motors (N m).
    """
    from numba import types

    from polhode.compiling import signatures as of

    body, rows, whole = types.UniTuple(of.float_type, numbers), of.samples_type, types.int64
    signature = types.int64(
        types.FunctionType(march_type(numbers)),
        *(rows, rows, of.quaternion_type, of.vector_type, body, of.torque_type, of.torque_type, of.torque_type),
        *(
            whole,
            of.parameters_type,
            whole,
            of.steps_type,
            of.parameters_type,
            of.float_type,
            of.steps_type,
            types.boolean,
            rows,
        ),
        *(of.steps_type, of.steps_type, of.pause_type, rows, rows, rows),
    )
    return compile_driver(pieces_of(driven_body if driven else same_body), signature)


@cache
def driver(numbers: int = NUMBERS) -> Callable[..., Any]:
    """The loop :func:`drive`, compiled for bodies of so many numbers; it takes the ``march`` of any method for such bodies."""
    return compile_driver(drive, drive_type(numbers))
