"""The motion with which runs are compared: computed twice, by two methods of fourth order that share nothing but the torque.

One integrates quaternion and angular velocity by the classical Runge-Kutta rules, the other composes exponentials on the group
of rotations. Both take steps of many lengths: the time is divided into cells, short where the torque changes fast.

The cells follow from the torque itself. It is looked at along the motion at a million instants that no step shares, and a cell
is halved until a polynomial through five of its values predicts all that were looked at in it, or until what it does not
predict is too short to matter: there the torque jumps, or has a corner if its values on both sides come together. The steps in
the cells are refined until both methods agree with each other, and each with itself, to well below the error in question; then
the torque is looked at again, elsewhere. Jumps and corners that depend on the state move with every refinement: they count as
known once new cells leave the motion as it is. The difference that is left is the uncertainty of the motion. A torque needs no
Taylor series for this, and may have branches.
"""

import time as clocks
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from math import ceil, inf, isfinite, log2, sqrt
from typing import Any

import numpy as np
from numba import types

from polhode.advice.budget import Budget
from polhode.advice.errors import AdviceError, TimeOver
from polhode.algebra import metrics
from polhode.algebra.body import euler_equations
from polhode.algebra.quaternion import derivative, normalise
from polhode.compiling.kernel import (
    compile_driver,
    float_type,
    inertia_type,
    kernel,
    parameters_type,
    samples_type,
    torque_type,
)
from polhode.methods import METHODS, runs
from polhode.methods.one_body import row4
from polhode.methods.protocol import Method, SeveralTorques
from polhode.problems.pieces import BEFORE_TABLE, edges_of, intervals_begun, sample
from polhode.problems.problem import Problem
from polhode.references.defect import GOLDEN

Array = np.ndarray

#: The two methods: one on quaternions, one on the group.
FIRST, SECOND = "rk4", "cf4"
#: The uncertainty sought, in parts of the error in question, and the largest that still leaves a meaning.
SOUGHT, ALLOWED = 0.01, 0.1
#: The uncertainty, in parts of the error, with which steps are still tested once the time is over; the answer is not confirmed.
TESTED = 0.4
#: Cells per radian turned before the torque is looked at, and the smallest and largest number of cells (powers of two).
PER_RADIAN, FEWEST, MOST = 4, 2**6, 2**21
#: Instants in each look at the torque, and in one at another start of the same case.
LOOKS, LOOKS_ELSEWHERE = 2**20, 2**17
#: The smallest number of instants in a cell, besides the five of its polynomial.
IN_A_CELL = 8
#: What the polynomials may leave out of the torque, added up over the time, in parts of the error; and the part of this that
#: may be left out in a cell where it does not get smaller with the cell.
LEFT_OUT, AT_A_JUMP = 0.01, 2.0**-10
#: Rounding of a torque, relative to its size.
ROUNDING = 1e-11
#: How often the cells may change because the torque was found to change elsewhere.
CHANGES = 12
#: How often new cells must leave the motion as it is before it counts as known, where the torque changes with the state.
UNMOVED = 2
#: What a cell holds, besides nothing.
JUMP, CORNER = 1.0, 2.0
#: Halvings by which a jump is told from a corner, and the part of the change of the torque that is left at a jump.
HALVINGS, LEFT_AT_A_JUMP = 12, 0.25
#: What a refinement takes, in its number of steps: both methods, with something left for runs; and the instants at which the
#: torque is looked at in the time of a step.
EACH, LOOKS_PER_STEP = 4.0, 2.0
#: In a shorter time than this, s, other work on the machine may be most of what a clock shows.
INTERRUPTED = 0.1
#: The largest number of steps of the two methods, and of steps in a cell: methods of fourth order reach round-off with fewer.
MOST_STEPS, MOST_IN_A_CELL = 2**31, 2**11
#: The angle (rad) by which a start is turned to see how neighbouring motions part.
TURNED = 1e-7
#: Two motions so far apart (rad) part as far as they can.
PARTED = 0.1
#: The largest number of parts of the horizon whose ends may hit every jump of the torque, and of jumps for which it is sought.
PARTS, HIT = 2**20, 1000
#: Numbers of parts that are looked at together.
TOGETHER = 2**14
#: Times at which a motion is compared with the one before.
COMPARED = 256


@dataclass(frozen=True)
class KnownMotion:
    """A motion known at the ends of cells, and by further steps within them.

    Parameters
    ----------
    problem : Problem
    nodes : (cells + 1,)
        The ends of the cells, from 0 to the horizon, s.
    states : (cells + 1, 7)
        q, body to lab (4), and omega in the body frame, rad/s (3), there.
    substeps : int
        Steps of the two methods in each cell.
    uncertainty : float
        The largest error they may have: the larger of the angle (rad) and of omega relative to :attr:`scale`.
    looked : float
        A pulse of the torque that is shorter than this, s, may not have been seen.
    jumps, corners : (n,)
        The times, s, at which the torque jumps, or seems to, and those at which it is continuous and its rate jumps.
    shortest : float
        The shortest time, s, within which the torque changes, or stays between two jumps.
    numbers : (k,)
        What the torque reads along this motion: the parameters of the problem, and what its controller has sampled.
    of_omega : bool
        Whether the angular velocity counts in the :meth:`error` of a run, or the orientation alone does.
    """

    problem: Problem
    nodes: Array = field(repr=False)
    states: Array = field(repr=False)
    substeps: int
    uncertainty: float
    looked: float
    jumps: Array = field(repr=False)
    corners: Array = field(repr=False)
    shortest: float
    numbers: Array = field(repr=False)
    of_omega: bool = True

    @property
    def steps(self) -> int:
        """The number of steps of the runs behind it."""
        return self.substeps * (len(self.nodes) - 1)

    @cached_property
    def scale(self) -> float:
        """The largest angular velocity of the motion, rad/s; errors of omega are relative to it."""
        return float(np.linalg.norm(self.states[:, 4:], axis=1).max())

    @cached_property
    def radians(self) -> float:
        """The angle turned, rad: the integral of |omega| over the horizon."""
        return radians_of(self.nodes, self.states)

    @cached_property
    def parts(self) -> int:
        """The fewest equal parts of the horizon at whose ends all jumps lie, as far as they are known.

        All corners too, if that is possible. In steps that divide these parts no torque jumps, and a method keeps its order.
        1 if there are no jumps and corners or more than :data:`HIT`, if fewer than :data:`PARTS` parts do not hit them, and if
        runs are made in pieces.
        """
        if runs.has_pieces(self.problem, self.problem.horizon):  # where steps end by themselves
            return 1
        for edges in (np.sort(np.concatenate([self.jumps, self.corners])), self.jumps):
            if 0 < len(edges) <= HIT and (number := self._parts_at(edges)) > 1:
                return number
        return 1

    def _parts_at(self, edges: Array) -> int:
        place = np.clip(np.searchsorted(self.nodes, edges, side="right") - 1, 0, len(self.nodes) - 2)
        known = np.maximum(np.diff(self.nodes)[place], 1e-13 * self.problem.horizon) / self.problem.horizon
        for first in range(1, PARTS, TOGETHER):
            # Of the numbers of parts, those that hit one edge after the other.
            number = np.arange(first, first + TOGETHER)
            for edge, precision in zip(edges, known, strict=True):
                apart = number * (edge / self.problem.horizon)
                number = number[abs(apart - np.rint(apart)) <= np.minimum(precision * number, 1e-4)]
            if len(number):
                return int(number[0])
        return 1

    def at(self, times: Array) -> tuple[Array, Array]:
        """q (n, 4), body to lab, and omega (n, 3), body frame, rad/s, at ``times`` (n,), s.

        They come from steps of the second method from the ends of the cells.
        """
        return _split(_between(self, np.asarray(times, float)))

    @cached_property
    def checks(self) -> Array:
        """Times (n,), s, at which a run is compared beside those evenly spaced: where cells are many, something happens."""
        numbers = np.unique(np.rint(np.linspace(0, len(self.nodes) - 1, COMPARED // 4)).astype(int))
        return np.asarray(self.nodes[numbers])

    def error(self, method: Method, steps: int, checks: int) -> float:
        """The largest error of a run: the larger of the angle (rad) and, if it counts, of omega relative to :attr:`scale`.

        Parameters
        ----------
        method : runs over the horizon
        steps : in so many steps
        checks : number of times, evenly spaced, at which the run is compared; all steps if there are fewer. Half as many more
            are spaced by a constant factor from the first step on.

        Returns
        -------
        The error; infinite if the run blows up.
        """
        horizon = self.problem.horizon
        even = np.linspace(0, steps, min(steps, checks) + 1)
        # What strong friction does is over after a few steps.
        early = np.geomspace(1, steps, min(steps, checks // 2))
        at = np.unique(np.rint(np.concatenate([even, early, self.checks / horizon * steps])).astype(np.int64))[1:]
        times, q, omega = run(self.problem, method, steps, at)
        if not (np.isfinite(q).all() and np.isfinite(omega).all()):
            return inf
        with np.errstate(over="ignore", invalid="ignore"):
            error = largest_error(q, omega, *self.at(times), self.scale if self.of_omega else inf)
        return error if isfinite(error) else inf


def run(problem: Problem, method: Method, steps: int, at: Array) -> tuple[Array, Array, Array]:
    """Times (n,), s, q (n, 4), body to lab, and omega (n, 3), body frame, rad/s, in a run over the horizon of a problem.

    Where the problem has edges the steps end there, none is longer, and the times are the ends of the nearest steps, each once.

    Parameters
    ----------
    steps : number of equal steps
    at : (n,) ascending numbers of steps after which the state is read
    """
    dt = problem.horizon / steps
    if runs.has_pieces(problem, problem.horizon):
        made = runs.in_pieces(problem, method, dt, problem.horizon, at * dt)
        return made.times, made.q, made.omega
    q, omega, _, _ = runs.integrate(problem, method, dt, at)
    return at * dt, q, omega


def largest_error(q: Array, omega: Array, exact_q: Array, exact_omega: Array, scale: float) -> float:
    """The larger of the angles between q and exact_q (n, 4), in rad, and of |omega - exact_omega| (n, 3) over ``scale``.

    Quaternions are unit ones; ``scale`` is in the unit of omega, infinite if omega does not count.
    """
    angle = metrics.geodesic_angle(q, exact_q).max()
    return float(max(angle, np.linalg.norm(omega - exact_omega, axis=-1).max() / scale))


def radians_of(nodes: Array, states: Array) -> float:
    """The angle turned, rad: the integral of |omega| over the nodes (n,), s.

    ``states`` (n, 7) are q and omega (rad/s) there.
    """
    speed = np.linalg.norm(states[:, 4:], axis=1)
    return float((np.diff(nodes) * (speed[1:] + speed[:-1])).sum() / 2)


def motion_of(problem: Problem, error: float, budget: Budget, like: KnownMotion | None = None) -> KnownMotion:
    """The motion of a problem, known to :data:`SOUGHT` of ``error``.

    To :data:`ALLOWED` of it if more steps do not help, to :data:`TESTED` if there is no time for them.

    Parameters
    ----------
    error : in question: the larger of the angle (rad) and of omega relative to its largest value
    budget : the time that is left
    like : another start of the same case, whose cells show where the torque changes; the torque is then looked at less often

    Raises
    ------
    TimeOver
        An AdviceError, if it takes too long; the message says how long it would take.
    AdviceError
        If it cannot be known so well, as in a chaotic motion or near round-off, or the body does not turn; the message says
        what to ask.
    """
    looks = LOOKS if like is None else LOOKS_ELSEWHERE
    grid = _grid(problem) if like is None else like.nodes
    nodes, substeps, changes = grid, 1, 0
    before: KnownMotion | None = None
    best, stalled, settled, unmoved, lost = inf, 0, False, 0, ""
    at_looks = 0.0
    compile_drivers()
    problem.compiled_control, problem.compiled_motors  # noqa: B018  so that the first steps are not taken for slow ones
    while True:
        steps = substeps * (len(nodes) - 1)
        if steps > MOST_STEPS or not budget.allows(EACH * steps + at_looks):
            if before is not None and before.uncertainty <= TESTED * error:
                cells, edges, shortest, looked = _look(before, error, before.scale, looks, changes)
                return replace(before, looked=looked, jumps=edges[0], corners=edges[1], shortest=shortest)
            seconds = _seconds_needed(steps, at_looks, before, error, budget)
            raise TimeOver(_too_long(problem, error, best, seconds, lost))
        begun, worked = budget.now(), clocks.process_time()
        # The first method has other stages than the second.
        first, _ = _run(problem, FIRST, nodes, substeps + 1)
        second, numbers = _run(problem, SECOND, nodes, substeps)
        seconds = budget.now() - begun
        if seconds < INTERRUPTED:
            seconds = min(seconds, clocks.process_time() - worked)
        else:
            at_looks = looks / LOOKS_PER_STEP
        budget.per_step = max(1e-8, seconds / (2 * steps + len(nodes)))
        finite = bool(np.isfinite(first).all() and np.isfinite(second).all())
        scale = float(np.linalg.norm(second[:, 4:], axis=1).max()) if finite else inf
        lost = "" if finite else _blown_up(problem, second, nodes)
        if scale == 0:
            raise AdviceError(
                "the body does not turn: give it an angular velocity, or a torque that is not zero at its orientation"
            )
        uncertainty = inf
        if finite and isfinite(scale):
            both = largest_error(*_split(first), *_split(second), scale)
            now = KnownMotion(problem, nodes, second, substeps, inf, inf, np.empty(0), np.empty(0), inf, numbers)
            # |y(h) - y(h/2)| bounds the error of y(h/2) for any order of at least one.
            times = _instants(problem.horizon, COMPARED, changes)
            uncertainty = max(both, inf if before is None else largest_error(*before.at(times), *now.at(times), scale))
            before = now = replace(now, uncertainty=uncertainty)
            unmoved = unmoved if uncertainty <= SOUGHT * error else 0
            # The torque is looked at along a first motion, and along the one that will be the answer.
            if not settled or uncertainty <= SOUGHT * error:
                if radians_of(nodes, second) * PER_RADIAN > 2 * len(nodes) and len(nodes) < MOST:
                    nodes = _halved(nodes)
                    continue
                cells, edges, shortest, looked = _look(now, error, scale, looks, changes)
                known = uncertainty <= SOUGHT * error
                settled, added = True, len(cells) > len(nodes)
                if known and not (added and unmoved < UNMOVED):
                    return replace(now, looked=looked, jumps=edges[0], corners=edges[1], shortest=shortest)
                if added and changes >= CHANGES:
                    raise AdviceError(_never_still(problem, edges[0]))
                if added:
                    nodes, changes, stalled, best, unmoved = cells, changes + 1, 0, inf, unmoved + known
                    continue
        stalled = stalled + 1 if uncertainty > 0.5 * best else 0
        best = min(best, uncertainty)
        # Round-off, or neighbouring motions that part: more steps do not help.
        if stalled >= 3 or (finite and substeps > MOST_IN_A_CELL):
            if finite and uncertainty <= ALLOWED * error:
                cells, edges, shortest, looked = _look(now, error, scale, looks, changes)
                return replace(now, looked=looked, jumps=edges[0], corners=edges[1], shortest=shortest)
            raise AdviceError(lost or _stalled(problem, now, first, best))
        # Not a multiple of the number before: no step ends where one did.
        substeps = 2 * substeps + 1


def _grid(problem: Problem) -> Array:
    """The ends of the cells before anything is known: evenly spaced, from the initial rates and the rate at which a body with
    wheels nutates, and the edges of pieces.

    An edge is a cell of its own, of a few units of rounding, so that no step beside it evaluates the torque beyond it.
    """
    omega, moments = np.array(problem.omega0), np.array(problem.body.inertia)
    torque = np.array(problem.compiled_torque(0.0, problem.q0, problem.omega0, problem.parameter_array), float)
    if not np.isfinite(torque).all():
        raise AdviceError(f"the torque has no finite value at the start: {tuple(torque)}")
    horizon = problem.horizon
    turning = max(float(np.linalg.norm(omega)), problem.body.nutation)
    rate = max(turning, sqrt(np.abs(torque / moments).max()), 1 / horizon)
    cells = 1 << ceil(log2(min(MOST, max(FEWEST, PER_RADIAN * rate * horizon))))
    # An odd number: no step shares the instants of a run with 2^n steps.
    nodes = np.linspace(0, horizon, cells + 2)
    margin = 4 * np.spacing(horizon)
    inside = edges_of(problem, horizon)[1:-1]
    if not len(inside):
        return nodes
    next_edge = np.minimum(np.searchsorted(inside, nodes), len(inside) - 1)
    apart = np.minimum(abs(nodes - inside[next_edge]), abs(nodes - inside[np.maximum(next_edge - 1, 0)])) > 2 * margin
    return np.unique(np.concatenate([nodes[apart], inside - margin, inside + margin]))


def _halved(nodes: Array) -> Array:
    return np.sort(np.concatenate([nodes, (nodes[1:] + nodes[:-1]) / 2]))


def _instants(horizon: float, number: int, offset: int) -> Array:
    """Times in each of ``number`` equal parts of the horizon, at places that repeat nowhere."""
    count = np.arange(number)
    return np.asarray((count + ((count + 1) * GOLDEN + offset * sqrt(2)) % 1) * (horizon / number))


def _split(states: Array) -> tuple[Array, Array]:
    return states[:, :4], states[:, 4:]


def _look(
    motion: KnownMotion, error: float, scale: float, looks: int, offset: int
) -> tuple[Array, tuple[Array, Array], float, float]:
    """Cells in which the torque along a motion is known, the times of its jumps and of its corners, its shortest change, and
    the length of what would not have been seen.

    Raises
    ------
    AdviceError
        If there are more than :data:`MOST` of them.
    """
    problem = motion.problem
    horizon = problem.horizon
    allowed = LEFT_OUT * error * min(scale, 1 / horizon)
    out = np.empty((2, MOST + 1))
    count = _cells_driver()(
        motion.nodes[None],
        np.ascontiguousarray(motion.states),
        problem.body.coefficients(),
        problem.compiled_torque,
        motion.numbers,
        (horizon / looks, (offset * sqrt(2)) % 1, allowed / horizon, AT_A_JUMP * allowed),
        out,
    )
    ends, edge = out[0, : abs(count)], out[1, : abs(count)]
    if count < 0:
        raise AdviceError(
            f"the torque changes too often to be followed: {MOST:,} pieces did not suffice, from t = 0 to {ends[-1]:.6g} s of "
            f"{horizon:g} s; ask for a shorter time"
        )
    nodes = np.concatenate([[0.0], ends])
    width = np.diff(nodes)
    middle = nodes[:-1] + width / 2
    # Edges are jumps too, as far as anybody can know.
    jumps = np.unique(np.concatenate([middle[edge == JUMP], edges_of(problem, horizon)[1:-1]]))
    corners = middle[edge == CORNER]
    at = np.union1d(jumps, corners)
    if len(at):
        # Cells shrink towards a jump, which says nothing about the torque beside it.
        place = np.searchsorted(at, middle)
        away = np.minimum(abs(middle - at[np.minimum(place, len(at) - 1)]), abs(middle - at[np.maximum(place - 1, 0)]))
        apart = np.diff(jumps)
        apart = apart[apart > 16 * width.min()]
        alone = width[(away > 4 * width) & (edge == 0)]
        shortest = min(apart.min(initial=horizon), alone.min(initial=horizon))
    else:
        shortest = float(width.min())
    return nodes, (jumps, corners), float(shortest), 2 * horizon / looks


def _seconds_needed(steps: int, at_looks: float, before: KnownMotion | None, error: float, budget: Budget) -> float:
    """An estimate of the time, s, that the exact motion needs in all.

    Parameters
    ----------
    steps : number of steps of the next refinement; more are needed if ``before``, the last one, is far from the error, which
        decreases as the fourth power of the number of steps
    at_looks : steps that take as long as the looks at the torque
    """
    if before is not None and isfinite(before.uncertainty):
        steps = max(steps, ceil(before.steps * (before.uncertainty / (SOUGHT * error)) ** 0.25))
    return budget.now() + (EACH * steps + at_looks) * budget.per_step


def _too_long(problem: Problem, error: float, reached: float, seconds: float, lost: str) -> str:
    known = f"it is known to {reached:.1g} so far; " if isfinite(reached) else f"with the steps tried, {lost}; " if lost else ""
    return (
        f"the motion over {problem.horizon:g} s cannot be computed to well below {error:g} within the time limit; {known}"
        f"it alone needs about {_up(seconds)} s{'' if known else ' or more'}; ask for a shorter time (errors grow with it at "
        "least in proportion) or a larger error, or allow more time with `limit`"
    )


def _never_still(problem: Problem, jumps: Array) -> str:
    where = ", ".join(f"{t:.6g}" for t in jumps[:3])
    return (
        f"the torque changes in other places each time that the motion is computed more closely (near t = {where or '0'} s), "
        "as one that jumps with the state does; smooth it, or name its jumps under breakpoints"
    )


def _blown_up(problem: Problem, states: Array, nodes: Array) -> str:
    """Where a motion has no finite value, and whether its torque has one there, at the last state that is finite."""
    bad = ~np.isfinite(states).all(axis=1)
    at = int(np.argmax(bad)) if bad.any() else len(nodes) - 1
    last = states[max(at - 1, 0)]
    torque = problem.compiled_torque(nodes[at], tuple(last[:4]), tuple(last[4:]), problem.parameter_array)
    why = "" if np.isfinite(torque).all() else ", nor has the torque: see its formula"
    return f"the motion has no finite value at t = {nodes[at]:.6g} s{why}"


def _stalled(problem: Problem, motion: KnownMotion, first: Array, best: float) -> str:
    """Why the two methods do not come closer: neighbouring motions part, the torque jumps, or rounding."""
    q, omega = np.array(problem.q0), np.array(problem.omega0)
    near, _ = _run(problem, SECOND, motion.nodes, motion.substeps, (*_turned(q), *(omega * (1 + TURNED))))
    parted = largest_error(*_split(near), *_split(motion.states), motion.scale)
    growth = parted / TURNED
    if parted > PARTED and best > ALLOWED:
        return (
            f"the motion is chaotic: over {problem.horizon:g} s neighbouring motions part by a factor of {growth:.2g} or more, "
            "and double precision does not follow it; ask for a shorter time"
        )
    # An error is below 1.
    larger = f"ask for an error of {_up(best / ALLOWED)} or more, or for" if best < 0.9 * ALLOWED else "ask for"
    larger += " a shorter time"
    rounding = 1e-15 * growth * sqrt(motion.steps)
    if best <= 100 * rounding:
        why = f"neighbouring motions part by a factor of {growth:.2g}" if growth > 100 else "rounding adds up"
        return (
            f"the motion itself can be computed to {best:.1g} only, in double precision over {problem.horizon:g} s ({why}); "
            f"{larger}"
        )
    apart = np.linalg.norm(first[:, 4:] - motion.states[:, 4:], axis=1) / motion.scale
    at = int(np.argmax(apart > 0.01 * apart.max()))
    return (
        f"the motion itself can be computed to {best:.1g} only: two methods do not come closer to each other from "
        f"t = {motion.nodes[at]:.6g} s on, where the torque jumps (cells of {np.diff(motion.nodes).min():.2g} s); name its "
        f"jumps under breakpoints or, if they depend on the state, smooth them, or {larger}"
    )


def _turned(q: Array) -> Array:
    turned = q + np.array([0.0, TURNED / 2, 0.0, 0.0])
    return np.asarray(turned / np.linalg.norm(turned))


def _up(value: float) -> str:
    """A bound in two digits that, read as it is written, is not below ``value``."""
    text = f"{value:.1e}"
    return f"{float(text):g}" if float(text) >= value else f"{float(text) + 10.0 ** (int(text[-3:]) - 1):.2g}"


# --- compiled ---------------------------------------------------------------------------------------------------------


@cache
def _follow_driver(key: str) -> Callable[..., Any]:
    """(nodes, substeps, body, torque, control, motors, begun, place, width, parameters, states): steps over all cells, into
    the rows of ``states``; at a node where an interval of a controller has ``begun`` (its number, or -1) it samples, and its
    ``width`` numbers are written from ``place`` on."""
    method = METHODS[key]
    assert isinstance(method, SeveralTorques)
    step = method.step

    def follow(nodes, substeps, body, torque, control, motors, begun, place, width, parameters, states):  # type: ignore[no-untyped-def]
        state = row4(states, 0) + row3_from(states, 0)
        for i in range(nodes.shape[1] - 1):
            if begun[i] >= 0:
                sample(nodes[0, i], state[:4], state[4:], control, motors, parameters, place, width, begun[i])
            dt = (nodes[0, i + 1] - nodes[0, i]) / substeps
            for j in range(substeps):
                state = step(state, nodes[0, i] + j * dt, dt, body, torque, parameters)
            state = normalise(state[:4]) + state[4:]
            for k in range(7):
                states[i + 1, k] = state[k]

    rows, of_nodes = samples_type, types.Array(types.int64, 1, "C")
    torques = inertia_type, torque_type, torque_type, torque_type, of_nodes, types.int64, types.int64, parameters_type
    return compile_driver(follow, types.void(rows, types.int64, *torques, rows))


def compile_drivers() -> None:
    """Compile, or load from disk, all that a motion needs, so that its first steps are not taken for slow ones."""
    for key in (FIRST, SECOND):
        _follow_driver(key)
    _between_driver()
    _cells_driver()


@cache
def _between_driver() -> Callable[..., Any]:
    """(nodes, states, substeps, times, place, body, torque, parameters, out): steps from the node before each time to it."""
    method = METHODS[SECOND]
    assert isinstance(method, SeveralTorques)
    step = method.step

    def between(nodes, states, substeps, times, place, body, torque, parameters, out):  # type: ignore[no-untyped-def]
        for i in range(times.shape[1]):
            n = place[i]
            state = row4(states, n) + row3_from(states, n)
            begun, way = nodes[0, n], times[0, i] - nodes[0, n]
            count = int(np.ceil(substeps * way / (nodes[0, n + 1] - begun)))
            for j in range(count):
                state = step(state, begun + j * (way / count), way / count, body, torque, parameters)
            for k in range(7):
                out[i, k] = state[k]

    rows = samples_type
    place = types.Array(types.int64, 1, "C")
    return compile_driver(
        between, types.void(rows, rows, types.int64, rows, place, inertia_type, torque_type, parameters_type, rows)
    )


def _run(
    problem: Problem, key: str, nodes: Array, substeps: int, start: tuple[float, ...] | None = None
) -> tuple[Array, Array]:
    """States (nodes, 7) of one of the two methods with so many steps in each cell, and what the torque has read."""
    states = np.empty((len(nodes), 7))
    states[0] = (*problem.q0, *problem.omega0) if start is None else start
    numbers, begun = problem.parameter_array, np.full(len(nodes), -1)
    if problem.controller is not None:
        edges = edges_of(problem, problem.horizon)[:-1]
        begun[np.append(0, np.searchsorted(nodes, edges[1:], side="right"))] = intervals_begun(problem, problem.horizon, edges)
    _follow_driver(key)(
        nodes[None],
        substeps,
        problem.body.coefficients(),
        problem.compiled_torque,
        problem.compiled_control,
        problem.compiled_motors,
        begun,
        len(problem.numbers) + BEFORE_TABLE,
        problem.controller.width if problem.controller else 0,
        numbers,
        states,
    )
    return states, numbers


def _between(motion: KnownMotion, times: Array) -> Array:
    out = np.empty((len(times), 7))
    place = np.clip(np.searchsorted(motion.nodes, times, side="right") - 1, 0, len(motion.nodes) - 2)
    _between_driver()(
        motion.nodes[None],
        motion.states,
        motion.substeps,
        np.ascontiguousarray(times[None]),
        place,
        motion.problem.body.coefficients(),
        motion.problem.compiled_torque,
        motion.numbers,
        out,
    )
    return out


@kernel
def _hermite(x: float, h: float, y0: float, r0: float, y1: float, r1: float) -> float:
    """The cubic with values y and slopes r at both ends of a cell of length h, at x in [0, 1]."""
    a, b = r0 * h, r1 * h
    return y0 + x * (a + x * (3.0 * (y1 - y0) - 2.0 * a - b + x * (2.0 * (y0 - y1) + a + b)))


@cache
def _cells_driver() -> Callable[..., Any]:
    """(nodes, states, body, torque, parameters, (interval, offset, smooth, jump), out) -> number of cells; minus that if full.

    Writes the ends of the cells into the first row of ``out``, and into the second whether the torque has a jump or a corner
    in them.
    """

    def acceleration(t, i, nodes, ends, rates, body, torque, parameters):  # type: ignore[no-untyped-def]
        h = nodes[0, i + 1] - nodes[0, i]
        x = (t - nodes[0, i]) / h
        q0 = _hermite(x, h, ends[i, 0], rates[0], ends[i + 1, 0], rates[7])
        q1 = _hermite(x, h, ends[i, 1], rates[1], ends[i + 1, 1], rates[8])
        q2 = _hermite(x, h, ends[i, 2], rates[2], ends[i + 1, 2], rates[9])
        q3 = _hermite(x, h, ends[i, 3], rates[3], ends[i + 1, 3], rates[10])
        wx = _hermite(x, h, ends[i, 4], rates[4], ends[i + 1, 4], rates[11])
        wy = _hermite(x, h, ends[i, 5], rates[5], ends[i + 1, 5], rates[12])
        wz = _hermite(x, h, ends[i, 6], rates[6], ends[i + 1, 6], rates[13])
        mx, my, mz = torque(t, normalise((q0, q1, q2, q3)), (wx, wy, wz), parameters)
        return mx * body[3], my * body[4], mz * body[5]

    along: Any = kernel(acceleration)

    def cells(nodes, states, body, torque, parameters, limits, out):  # type: ignore[no-untyped-def]
        interval, offset, smooth, jump = limits
        capacity = out.shape[1] - 1
        horizon = nodes[0, nodes.shape[1] - 1]
        smallest = 256.0 * 2.220446049250313e-16 * horizon
        count = 0
        stack = np.empty(2048)
        known = np.empty((5, 3))
        for i in range(nodes.shape[1] - 1):
            # The rates at both ends of the cell in which the motion has its steps.
            q, w = row4(states, i), row3_from(states, i)
            a = derivative(q, w) + euler_equations(w, torque(nodes[0, i], q, w, parameters), body)
            q, w = row4(states, i + 1), row3_from(states, i + 1)
            b = derivative(q, w) + euler_equations(w, torque(nodes[0, i + 1], q, w, parameters), body)
            rates = a + b
            begun = nodes[0, i]
            depth = 1
            stack[0] = nodes[0, i + 1]
            while depth > 0:
                end = stack[depth - 1]
                h = end - begun
                size = 0.0
                most = 0.0
                for p in range(5):
                    f = along(begun + 0.25 * p * h, i, nodes, states, rates, body, torque, parameters)
                    for k in range(3):
                        known[p, k] = f[k]
                        size = max(size, abs(f[k]))
                        most = max(most, abs(f[k] - known[0, k]))
                looks = max(IN_A_CELL, int(np.ceil(h / interval)))
                # Rounding of the time in a torque that changes fast.
                passes = smooth + ROUNDING * size + 8.0 * 2.220446049250313e-16 * horizon * most / h
                worst = 0.0
                for n in range(looks):
                    place = (n + ((n + 1) * GOLDEN + offset) % 1.0) / looks
                    f = along(begun + place * h, i, nodes, states, rates, body, torque, parameters)
                    s = 4.0 * place
                    a0 = (s - 1.0) * (s - 2.0) * (s - 3.0) * (s - 4.0) / 24.0
                    a1 = s * (s - 2.0) * (s - 3.0) * (s - 4.0) / -6.0
                    a2 = s * (s - 1.0) * (s - 3.0) * (s - 4.0) / 4.0
                    a3 = s * (s - 1.0) * (s - 2.0) * (s - 4.0) / -6.0
                    a4 = s * (s - 1.0) * (s - 2.0) * (s - 3.0) / 24.0
                    for k in range(3):
                        expected = a0 * known[0, k] + a1 * known[1, k] + a2 * known[2, k] + a3 * known[3, k] + a4 * known[4, k]
                        worst = max(worst, abs(f[k] - expected))
                    if h > smallest and worst > passes and worst * h > jump:
                        break
                bad = not worst <= passes
                if bad and not worst * h <= jump and h > smallest and depth < 2048:
                    stack[depth] = begun + 0.5 * h
                    depth += 1
                    continue
                if count == capacity:
                    return -count
                out[0, count] = end
                out[1, count] = 0.0
                if bad and worst > 0.05 * most:
                    # Towards the largest change: at a jump it stays, at a corner it becomes as short as the interval.
                    low, width = begun, 0.25 * h
                    size = 0.0
                    for p in range(4):
                        change = 0.0
                        for k in range(3):
                            change = max(change, abs(known[p + 1, k] - known[p, k]))
                        if change > size:
                            size, low = change, begun + 0.25 * p * h
                    left = size
                    for _ in range(HALVINGS):
                        if width < 8.0 * 2.220446049250313e-16 * horizon:
                            break
                        width *= 0.5
                        f0 = along(low, i, nodes, states, rates, body, torque, parameters)
                        f1 = along(low + width, i, nodes, states, rates, body, torque, parameters)
                        f2 = along(low + 2.0 * width, i, nodes, states, rates, body, torque, parameters)
                        left, right = 0.0, 0.0
                        for k in range(3):
                            left = max(left, abs(f1[k] - f0[k]))
                            right = max(right, abs(f2[k] - f1[k]))
                        if right > left:
                            left, low = right, low + width
                    out[1, count] = JUMP if left > LEFT_AT_A_JUMP * size else CORNER
                count += 1
                begun = end
                depth -= 1
        return count

    rows = samples_type
    limits = types.UniTuple(float_type, 4)
    return compile_driver(cells, types.int64(rows, rows, inertia_type, torque_type, parameters_type, limits, rows))


@kernel
def row3_from(rows: Array, i: int) -> tuple[float, float, float]:
    """Omega (3 numbers, rad/s) in row ``i`` of ``rows`` (n, 7), which hold q and omega."""
    return (rows[i, 4], rows[i, 5], rows[i, 6])
