"""The motion with which runs are compared: computed twice, by two methods of fourth order that share nothing but the torque.

One integrates quaternion and angular velocity by the classical Runge-Kutta rules, the other composes exponentials on the group
of rotations. The steps are halved until both agree with each other, and each with itself, to well below the error in question.
The difference that is left is the uncertainty of the motion. A torque needs no Taylor series for this, and may have branches.
"""

import time as clocks
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, inf, isfinite, log2, sqrt

import numpy as np

from polhode import metrics
from polhode.advice.errors import AdviceError, TimeOver
from polhode.methods import METHODS
from polhode.methods.protocol import Method
from polhode.problems.problem import Problem

Array = np.ndarray

#: The two methods: one on quaternions, one on the group.
FIRST, SECOND = "rk4", "cf4"
#: The uncertainty sought, in parts of the error in question, and the largest that still leaves a meaning.
SOUGHT, ALLOWED = 0.01, 0.1
#: Samples of the motion per radian turned, and their smallest and largest number (powers of two).
PER_RADIAN, FEWEST, MOST = 48, 2**8, 2**19
#: Points of the polynomial between two samples.
POINTS = 8
#: The largest number of steps of the two methods.
MOST_STEPS = 2**31


class Budget:
    """The time that an answer may take.

    Parameters
    ----------
    seconds : time limit, s
    clock : function that returns the time in s; by default that of the processor, so that other work on it does not count
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = clocks.process_time) -> None:
        self.seconds, self._clock, self._begun = seconds, clock, clock()
        #: The time of one step of the motion and of the torque in it, s, once known.
        self.per_step = 2e-7

    def left(self) -> float:
        """Seconds until the limit."""
        return self.seconds - (self._clock() - self._begun)

    def allows(self, steps: float) -> bool:
        """Whether so many steps end before the limit."""
        return steps * self.per_step < self.left()


@dataclass(frozen=True)
class Motion:
    """A motion known at equidistant samples, and by polynomials between them.

    Parameters
    ----------
    problem : Problem
    q, omega : (samples + 1, 4) and (samples + 1, 3)
        Orientation and body angular velocity (rad/s) from 0 to the horizon.
    uncertainty : float
        The largest error they may have: the larger of the angle (rad) and of omega relative to :attr:`scale`.
    steps : int
        Steps of the finest runs behind them.
    """

    problem: Problem
    q: Array = field(repr=False)
    omega: Array = field(repr=False)
    uncertainty: float
    steps: int

    @cached_property
    def scale(self) -> float:
        """The largest angular velocity of the motion, rad/s; errors of omega are relative to it."""
        return float(np.linalg.norm(self.omega, axis=1).max())

    @cached_property
    def radians(self) -> float:
        """The angle turned: the integral of |omega| over the horizon."""
        speed = np.linalg.norm(self.omega, axis=1)
        return float((speed[1:] + speed[:-1]).mean() / 2 * self.problem.horizon)

    @cached_property
    def _states(self) -> Array:
        return np.concatenate([self.q, self.omega], axis=1)

    def at(self, fractions: Array) -> tuple[Array, Array]:
        """q (n, 4) and omega (n, 3) at ``fractions`` (n,) of the horizon, by polynomials through :data:`POINTS` samples."""
        states = interpolated(self._states, fractions)
        return states[:, :4], states[:, 4:]

    def error(self, method: Method, steps: int, checks: int) -> float:
        """The largest error of a run: the larger of the angle (rad) and of omega relative to :attr:`scale`.

        Parameters
        ----------
        method : runs over the horizon
        steps : in so many steps
        checks : number of times, evenly spaced, at which the run is compared; all steps if there are fewer

        Returns
        -------
        The error; infinite if the run blows up.
        """
        at = np.unique(np.rint(np.linspace(0, steps, min(steps, checks) + 1)).astype(np.int64))[1:]
        q, omega = run(self.problem, method, steps, at)
        if not (np.isfinite(q).all() and np.isfinite(omega).all()):
            return inf
        with np.errstate(over="ignore", invalid="ignore"):
            found = largest_error(q, omega, *self.at(at / steps), self.scale)
        return found if isfinite(found) else inf


def run(problem: Problem, method: Method, steps: int, at: Array) -> tuple[Array, Array]:
    """q (n, 4) and omega (n, 3) after ``at`` (n,) of ``steps`` steps over the horizon of a problem."""
    q, omega, _, _ = method.integrate(
        problem.q0,
        problem.omega0,
        problem.body.coefficients(),
        problem.compiled_torque,
        problem.parameter_array,
        problem.horizon / steps,
        at,
    )
    return q, omega


def largest_error(q: Array, omega: Array, exact_q: Array, exact_omega: Array, scale: float) -> float:
    """The larger of the angles between q and exact_q (n, 4), in rad, and of |omega - exact_omega| (n, 3) over ``scale``."""
    angle = metrics.geodesic_angle(q, exact_q).max()
    return float(max(angle, np.linalg.norm(omega - exact_omega, axis=-1).max() / scale))


def interpolated(samples: Array, fractions: Array) -> Array:
    """Values at ``fractions`` (n,) of the interval that ``samples`` (m, k) divide evenly -> (n, k).

    The polynomial through the :data:`POINTS` nearest samples, in Lagrange's form.
    """
    last = len(samples) - 1
    points = min(POINTS, last + 1)
    place = np.asarray(fractions, float) * last
    first = np.clip(np.floor(place).astype(int) - points // 2 + 1, 0, last + 1 - points)
    node = np.arange(points)
    # The products over all other nodes, (n, points).
    offset = (place - first)[:, None] - node
    apart = np.eye(points, dtype=bool)
    weight = np.where(apart, 1.0, offset[:, None, :]).prod(-1) / np.where(apart, 1, node[:, None] - node).prod(-1)
    return np.asarray((weight[:, None, :] @ samples[first[:, None] + node])[:, 0])


def motion_of(problem: Problem, error: float, budget: Budget) -> Motion:
    """The motion of a problem, known to well below ``error``.

    Raises
    ------
    AdviceError
        If it takes too long or cannot be known so well, as in a chaotic motion or near round-off; the message says what to ask.
    """
    samples = sampling(problem)
    steps, before, found, best = samples, None, None, inf
    stalled = 0
    while True:
        if steps > MOST_STEPS or not budget.allows(3.0 * steps):
            raise TimeOver(_too_long(problem, error, best))
        at = np.arange(samples + 1, dtype=np.int64) * (steps // samples)
        begun = clocks.perf_counter()
        states = [run(problem, METHODS[key], steps, at) for key in (FIRST, SECOND)]
        budget.per_step = max(1e-8, (clocks.perf_counter() - begun) / (2 * steps))
        if all(np.isfinite(x).all() for state in states for x in state):
            scale = float(np.linalg.norm(states[1][1], axis=1).max())
            if scale == 0:
                raise AdviceError("the body does not turn: give it an angular velocity or a torque")
            both = largest_error(*states[0], *states[1], scale)
            # |y(h) - y(h/2)| bounds the error of y(h/2) for any order of at least one.
            halved = inf if before is None else largest_error(*before, *states[1], scale)
            between = _between(states[1], scale)
            uncertainty = max(both, halved, between)
            stalled = stalled + 1 if uncertainty > 0.5 * best else 0
            if uncertainty < best:
                best = uncertainty
                found = Motion(problem, *states[1], uncertainty, steps)
            if between > 0.5 * max(both, halved) and between > SOUGHT * error and samples < MOST:
                samples *= 2
            before = states[1] if len(states[1][0]) == samples + 1 else None
            if found is not None and found.uncertainty <= SOUGHT * error:
                return found
            # Round-off, or neighbouring motions that part: more steps do not help.
            if stalled >= 3:
                if found is not None and found.uncertainty <= ALLOWED * error:
                    return found
                raise AdviceError(
                    f"the motion itself can be computed to {best:.1g} only, in double precision over {problem.horizon:g} s; "
                    f"ask for an error of {best / ALLOWED:.1g} or more, or for a shorter time"
                )
        steps *= 2


def sampling(problem: Problem) -> int:
    """The number of samples of a motion, a power of two: so many per radian, from the initial rates."""
    omega, moments = np.array(problem.omega0), np.array(problem.body.inertia)
    torque = np.array(problem.compiled_torque(0.0, problem.q0, problem.omega0, problem.parameter_array), float)
    if not np.isfinite(torque).all():
        raise AdviceError(f"the torque has no finite value at the start: {tuple(torque)}")
    rate = max(float(np.linalg.norm(omega)), sqrt(np.abs(torque / moments).max()), 1 / problem.horizon)
    return 1 << ceil(log2(min(MOST, max(FEWEST, PER_RADIAN * rate * problem.horizon))))


def _between(state: tuple[Array, Array], scale: float) -> float:
    """The error of the polynomials between the samples: of those through every second sample, at the others, over 16.

    Halving the distance divides the error of a smooth motion by 2^8; 16 leaves room for one with kinks.
    """
    last = len(state[0]) - 1
    fractions = np.arange(1, last, 2) / last
    coarse = [interpolated(x[::2], fractions) for x in state]
    return largest_error(coarse[0], coarse[1], state[0][1::2], state[1][1::2], scale) / 16


def _too_long(problem: Problem, error: float, reached: float) -> str:
    known = f"it is known to {reached:.1g} so far; " if isfinite(reached) else ""
    return (
        f"the motion over {problem.horizon:g} s cannot be computed to well below {error:g} within the time limit; {known}"
        "ask for a shorter time (errors grow with it at least in proportion) or a larger error, or allow more: --limit"
    )
