"""Runs in pieces: steps end where the torque jumps, and each piece is a smooth problem of its own.

A fixed step passes over a jump, which costs every method its order, and a pulse of 20 ms may fall between two steps. Where a
problem (:class:`polhode.problems.problem.Case`) declares its jumps as ``breakpoints`` the run is cut there, and where a
:class:`Controller` samples the state. In a piece from a to b the torque is evaluated at times that are held a few units of
rounding inside (a, b), so that a branch at an edge is on the side of the piece (:func:`polhode.methods.runs.in_pieces`). A
method begins again in each piece, from the q and omega that are read at the end of the one before.

A torque in pieces reads the parameters of the problem; then where the piece begins and the two times between which
it stays; and of a controller the time between samples, the number of its last interval, and for each interval three components
of its torque. If it commands motors of wheels these are nine numbers: also the torque u on the wheels, and the momentum h that
they have at the sample. Within the interval it is h + u s after the time s, and the body gets what the wheels lose.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.algebra.vector import add, axpy, cross
from polhode.compiling.kernel import compile_torque, kernel
from polhode.compiling.trials import TORQUE, checked_function
from polhode.interface.arguments import positive, shown

if TYPE_CHECKING:
    from polhode.problems.problem import Problem


#: How far inside a piece times are held, in units of rounding of the horizon.
INSIDE = 4
#: The numbers of a piece, and how many stand before the torques of a controller, behind the problem's.
OF_PIECE, BEFORE_TABLE = 3, 5
#: The numbers of an interval of a controller: its torque, and if it commands motors of wheels theirs, and the wheels' momentum.
OF_INTERVAL, WITH_MOTORS = 3, 9
#: A run longer than a whole number of samples by this part of one has no further sample.
TOLERANCE = 1e-9
#: The largest number of samples of a controller in a run.
MOST_SAMPLES = 10**7


@dataclass(frozen=True)
class Controller:
    """A torque that is computed from the state every so often, and held in between; it is added to the torque of a problem.

    Parameters
    ----------
    every : float
        Time between two samples, s; the first is taken at t = 0.
    torque : function (t, q, omega, parameters) -> (tx, ty, tz)
        The torque in the body frame, N m, from the state at the sample; ``parameters`` belong to the problem, and behind them
        stands the momentum of the wheels, (hx, hy, hz) in N m s, if the body has any. In plain arithmetic, so that it compiles.
    motors : function (t, q, omega, parameters) -> (ux, uy, uz), optional
        The torque of motors on the wheels of the body, likewise: the sum over the wheels, along their axes. It changes their
        momentum, and the body gets the opposite (:meth:`polhode.algebra.body.Body.with_free_wheels`).

    Raises
    ------
    TypeError, ValueError
        If the time is no positive number, or a torque is no such function.
    """

    every: float
    torque: Callable[..., Any] = field(repr=False)
    motors: Callable[..., Any] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        positive("controller: every", self.every, "s")
        checked_function("controller", "torque", self.torque, TORQUE)
        if self.motors is not None:
            checked_function("controller", "motors", self.motors, TORQUE)

    @property
    def width(self) -> int:
        """How many numbers a :meth:`table` has for each interval: 3, with motors 9."""
        return OF_INTERVAL if self.motors is None else WITH_MOTORS

    def intervals(self, end: float) -> int:
        """The number of samples in a run to ``end`` (s).

        Raises
        ------
        ValueError
            If it is beyond :data:`MOST_SAMPLES`.
        """
        number = end / self.every * (1 - TOLERANCE)
        if number > MOST_SAMPLES:
            raise ValueError(f"controller: every {shown(self.every)} s makes {number:.3g} samples, more than {MOST_SAMPLES:g}")
        return max(1, ceil(number))

    def table(self, end: float, momentum: Sequence[float]) -> np.ndarray:
        """The numbers that :func:`plus_held` reads in a run to ``end`` (s), before anything is sampled: a float array (n,).

        They are the time between samples, s, the number of the last interval, and :attr:`width` numbers for each interval: its
        torque, N m, and with motors their torque, N m, and the momentum of the wheels, N m s, all in the body frame and zero
        but for the ``momentum`` (3,) of the wheels at the start. Errors: :meth:`intervals`.
        """
        number = self.intervals(end)
        rows = np.zeros((number, self.width))
        if self.motors is not None:
            rows[0, 6:] = momentum
        return np.concatenate([[self.every, number - 1], rows.ravel()])

    def wheel_momentum(self, table: np.ndarray, times: np.ndarray) -> np.ndarray:
        """The momentum (n, 3) of driven wheels, N m s, body frame, at ``times`` (n,), s, from the :meth:`table` after a run.

        The controller must have motors.
        """
        rows = table[2:].reshape(-1, WITH_MOTORS)
        number = np.clip((times / self.every).astype(np.int64), 0, len(rows) - 1)
        return np.asarray(rows[number, 6:] + rows[number, 3:6] * (times - number * self.every)[:, None])


def held_inside(torque: Callable[..., Any], numbers: int) -> Callable[..., Any]:
    """The torque of a piece, a function (t, q, omega, parameters) -> (3,) N m in the body frame; t in s from the piece's start.

    In the parameters, behind the first ``numbers``, stand the start of the piece and the two times between which it stays, s.
    ``torque`` has the same arguments, and gets the time of the run.
    """
    load = torque if hasattr(torque, "py_func") else kernel(torque)

    def inside(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
        time = t + parameters[numbers]
        if time < parameters[numbers + 1]:
            time = parameters[numbers + 1]
        if time > parameters[numbers + 2]:
            time = parameters[numbers + 2]
        return load(time, q, omega, parameters)

    return inside


@kernel
def sample(
    t: Any, q: Any, omega: Any, control: Any, motors: Any, parameters: Any, table: int, width: int, interval: int
) -> None:
    """Write the numbers of an interval of a controller, which begins at t (s), into the array ``parameters`` (n,).

    The state there is q (4,), scalar first, body to lab, and omega (3,), rad/s, body frame. ``control`` and ``motors`` are the
    torques of the controller, (t, q, omega, parameters) -> (3,) N m, body frame. The rows of ``width`` numbers begin at
    ``table``, and ``interval`` is the number of the row. With motors the momentum of the wheels (N m s, body frame) is written
    behind the parameters of the problem, too, before they are read.
    """
    at = table + width * interval
    if width > OF_INTERVAL:
        for k in range(3):
            if interval > 0:
                before = at - width + k
                parameters[at + 6 + k] = parameters[before + 6] + parameters[table - 2] * parameters[before + 3]
            parameters[table - BEFORE_TABLE - 3 + k] = parameters[at + 6 + k]
        driven = motors(t, q, omega, parameters)
        for k in range(3):
            parameters[at + 3 + k] = driven[k]
    held = control(t, q, omega, parameters)
    for k in range(3):
        parameters[at + k] = held[k]


@kernel
def driven_wheels(parameters: Any, at: int, s: Any) -> Any:
    """The momentum (3,) of wheels, N m s, and the torque (3,) of their motors, N m, both in the body frame.

    ``s`` is the time since the sample, s; the numbers of the interval begin at ``parameters[at]``.
    """
    u = (parameters[at + 3], parameters[at + 4], parameters[at + 5])
    return axpy(s, u, (parameters[at + 6], parameters[at + 7], parameters[at + 8])), u


@cache
def plus_driven(torque: Callable[..., Any], numbers: int) -> Callable[..., Any]:
    """A function (t, q, omega, parameters): ``torque`` plus h x omega of driven wheels minus the torque of their motors.

    (3,) N m in the body frame; the :meth:`Controller.table` that has h stands in the parameters, behind the first ``numbers``
    and the numbers of a piece.
    """
    load = torque if hasattr(torque, "py_func") else kernel(torque)
    first = numbers + OF_PIECE

    def whole(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
        interval = int(min(max(t / parameters[first], 0.0), parameters[first + 1]))
        h, u = driven_wheels(parameters, numbers + BEFORE_TABLE + WITH_MOTORS * interval, t - interval * parameters[first])
        return add(load(t, q, omega, parameters), axpy(-1.0, u, cross(h, omega)))

    return whole


@cache
def plus_held(torque: Callable[..., Any], numbers: int, width: int = OF_INTERVAL) -> Callable[..., Any]:
    """A function (t, q, omega, parameters): ``torque`` plus the torque that the controller holds, (3,) N m in the body frame.

    The :meth:`Controller.table` stands in the parameters, behind the first ``numbers`` and the numbers of a piece; its rows
    have the ``width``.
    """
    load = torque if hasattr(torque, "py_func") else kernel(torque)
    first = numbers + OF_PIECE

    def whole(t: Any, q: Any, omega: Any, parameters: Any) -> Any:
        place = min(max(t / parameters[first], 0.0), parameters[first + 1])
        at = numbers + BEFORE_TABLE + width * int(place)
        x, y, z = load(t, q, omega, parameters)
        return (x + parameters[at], y + parameters[at + 1], z + parameters[at + 2])

    return whole


def edges_of(problem: "Problem", end: float) -> np.ndarray:
    """The times (n,), s, ascending, at which pieces begin and end: 0, breakpoints, samples of a controller, and ``end`` (s).

    None is after ``end``, and of times that are equal but for rounding there is one. Errors: :meth:`Controller.intervals`.
    """
    margin = 2 * INSIDE * np.spacing(end)
    edges = np.array([t for t in problem.breakpoints if margin < t < end - margin])
    if problem.controller is not None:
        samples = problem.controller.every * np.arange(1, problem.controller.intervals(end))
        edges = np.sort(np.concatenate([samples, edges[intervals_begun(problem, end, edges) < 0]]))
    return np.concatenate([[0.0], edges, [end]])


def intervals_begun(problem: "Problem", end: float, times: np.ndarray) -> np.ndarray:
    """The number (n,) of the interval of the controller that begins at each of ``times`` (n,), s; -1 where none does.

    ``end`` is the time to which the run goes, s. Errors: :meth:`Controller.intervals`.
    """
    if problem.controller is None:
        return np.full(len(times), -1)
    number = np.rint(times / problem.controller.every).astype(np.int64)
    begins = abs(number * problem.controller.every - times) <= 2 * INSIDE * np.spacing(end)
    return np.where(begins & (number < problem.controller.intervals(end)), number, -1)


@cache
def compiled(torque: Callable[..., Any], numbers: int, width: int = 0) -> Callable[..., Any]:
    """:func:`held_inside`, with :func:`plus_held` of a controller of this width (0: none), compiled; (3,) N m, body frame.

    The torque itself was tried before.
    """
    return compile_torque(held_inside(plus_held(torque, numbers, width) if width else torque, numbers))


@cache
def compiled_with_held(torque: Callable[..., Any], numbers: int, width: int) -> Callable[..., Any]:
    """:func:`plus_held`, compiled, for motions that are not computed in pieces; (3,) N m in the body frame.

    The torque itself was tried before.
    """
    return compile_torque(plus_held(torque, numbers, width))
