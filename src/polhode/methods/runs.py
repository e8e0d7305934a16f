"""Runs of one body: with wheels, and in pieces where the torque jumps."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from polhode.methods import one_body
from polhode.methods.protocol import Method
from polhode.methods.wheels import with_wheels
from polhode.problems.pieces import INSIDE, OF_PIECE, edges_of, intervals_begun
from polhode.problems.problem import Problem

Array = np.ndarray

#: A piece that is longer than a whole number of steps by this part of one has no further step.
TOLERANCE = 1e-9


class InPieces(NamedTuple):
    """What is read of a run in pieces.

    Parameters
    ----------
    times : array (n,)
        The times of the readings, s.
    q : array (n, 4)
        Orientations, unit quaternions, scalar first, from body to lab.
    omega, stored : arrays (n, 3)
        Angular velocities at these times and as the method stores them, rad/s in the body frame.
    steps, evaluations : int
        The numbers of steps and torques of the whole run, without the torques that readings need.
    wheels : array (n, 3), optional
        The momentum of the wheels that motors drive, N m s in the body frame.
    """

    times: Array
    q: Array
    omega: Array
    stored: Array
    steps: int
    evaluations: int
    wheels: Array | None = None


def integrate(
    problem: Problem, method: Method, dt: float, sample_steps: Array, normalise: bool | None = None
) -> tuple[Array, Array, Array, int]:
    """Run a method from the initial state of a problem, wheels included, and read the body at each of ``sample_steps``.

    ``dt`` is the time step in s, ``sample_steps`` (samples,) are ascending whole numbers of steps, and ``normalise`` says
    whether the quaternion is normalised every step (None: as declared by the method). Returns q (samples, 4), body to lab,
    omega and the stored omega (samples, 3) in rad/s, body frame, and the number of torque evaluations, all as
    :meth:`polhode.methods.protocol.Method.integrate`, which also says what is raised, as does
    :meth:`polhode.problems.problem.Problem.compile`.
    """
    method, has_wheels = _for_body(method, problem)
    torque = problem.compiled_load if has_wheels else problem.compiled_torque
    start = problem.q0, problem.omega0, problem.body.coefficients()
    return method.integrate(*start, torque, problem.parameter_array, dt, sample_steps, normalise)


def _for_body(method: Method, problem: Problem) -> tuple[Method, bool]:
    """The method for the body of a problem, and whether its wheels are in the method's kernels: they then need no torque."""
    other = with_wheels(method, problem.body.wheel_momentum, problem.has_motors) if problem.body.wheels else None
    return other or method, other is not None


def has_pieces(problem: Problem, end: float) -> bool:
    """Whether a run of the problem to ``end`` (s) has several pieces, or a controller."""
    return problem.controller is not None or len(edges_of(problem, end)) > 2


def steps_in(lengths: Array, dt: float) -> Array:
    """The fewest equal steps (n,), whole numbers, in pieces of these lengths (n,), s, that are no longer than ``dt`` (s).

    Steps that are longer by up to :data:`TOLERANCE` of ``dt``, as by round-off, count as no longer.
    """
    return np.maximum(1, np.ceil(lengths / dt * (1 - TOLERANCE))).astype(np.int64)


def torques_in(method: Method, steps: Array) -> int:
    """The number of torques of a run in pieces of so many steps each (n,), without those that readings need: each piece begins
    as a run of its own.
    """
    numbers, pieces = np.unique(steps, return_counts=True)
    return sum(int(n) * method.torques_in(int(number)) for number, n in zip(numbers, pieces, strict=True))


def in_pieces(
    problem: Problem, method: Method, dt: float, end: float, samples: Sequence[float] | Array, normalise: bool | None = None
) -> InPieces:
    """A run of a problem to ``end`` (s) in pieces, each with the fewest equal steps that are no longer than ``dt`` (s).

    Parameters
    ----------
    samples : times (m,), s, ascending, of which those after ``end`` count as ``end``
        The state is read at the ends of steps that are next to them, and each only once.
    normalise : whether the quaternion is normalised every step; None: as declared by the method

    Returns
    -------
    The state at these ends of steps; NaN from a blow-up on.

    Raises
    ------
    ValueError
        If the controller takes too many samples, or ``normalise`` is given and the method's normalisation cannot be switched.
    """
    from polhode.compiling.marching import Pauses  # which imports Numba

    method, has_wheels = _for_body(method, problem)
    edges = edges_of(problem, end)
    steps = steps_in(np.diff(edges), dt)
    lengths = np.diff(edges) / steps
    readings = np.minimum(np.asarray(samples, float), end)
    piece = np.searchsorted(edges[1:], readings)
    at = np.rint((readings - edges[piece]) / lengths[piece]).astype(np.int64)
    is_first = np.append(True, (np.diff(piece) > 0) | (np.diff(at) > 0))
    piece, at = piece[is_first], at[is_first]
    q, omega, stored = (np.full((len(at), size), np.nan) for size in (4, 3, 3))
    body, pauses = method.numbers_of(problem.body), Pauses()
    torque = problem.compiled_piece_of_load if has_wheels else problem.compiled_piece
    numbers, place, control = problem.numbers_of_pieces(end), len(problem.numbers), problem.controller
    done = one_body.driver_of_pieces(len(body), has_wheels and problem.has_motors)(
        method.compiled_march(),
        np.zeros((1, method.state_width)),
        np.zeros((3, 4)),
        problem.q0,
        problem.omega0,
        body,
        torque,
        problem.compiled_control if control else torque,
        problem.compiled_motors if control else torque,
        control.width if control else 0,
        numbers,
        place,
        intervals_begun(problem, end, edges[:-1]),
        edges,
        INSIDE * np.spacing(end),
        steps,
        method.normalisation(normalise),
        method.moves,
        piece,
        at,
        pauses,
        q,
        omega,
        stored,
    )
    pauses.end()
    ended = np.searchsorted(np.cumsum(steps), done) + 1  # pieces, the last perhaps by a blow-up
    times = np.where(at == steps[piece], edges[piece + 1], edges[piece] + at * lengths[piece])
    wheels = control.wheel_momentum(numbers[place + OF_PIECE :], times) if control and control.motors else None
    return InPieces(times, q, omega, stored, int(steps[:ended].sum()), torques_in(method, steps[:ended]), wheels)
