"""What runs of one method say when the time is over before the motion or a step is known: the step is halved, over and over.

Two runs, with a step and with half of it, differ by the error of the longer step, as far as anybody can know without the exact
motion. They take a small part of its time: no torque is looked at between steps, and one method is run from one start.
"""

from dataclasses import dataclass
from math import ceil, inf

import numpy as np

from polhode.advice.budget import Budget
from polhode.advice.cases import BodyCase
from polhode.advice.errors import Angle
from polhode.advice.motion import largest_error
from polhode.methods import METHODS, runs
from polhode.methods.protocol import Method
from polhode.problems.pieces import edges_of
from polhode.problems.problem import Problem

Array = np.ndarray

#: The methods that are run: one that takes several torques in a step, and one that takes one.
SEVERAL, ALONE = "rk4", "magnus_adams4"
#: Runs of up to so many steps are made even if no time is left: they take hundredths of a second.
AT_LEAST = 2**15
#: The part of the error by which two runs may differ: the rest is for times between those compared.
MARGIN = 0.8
#: The fewest steps and the largest number of them, and the radians of spin or nutation in the longest step.
FEWEST, MOST, COARSEST = 8, 2**31, 2.0
#: Times at which two runs are compared, and edges of the torque among them.
TIMES, EDGES = 64, 256
#: So many halvings that do not bring two runs closer are the last.
STALLED = 4


@dataclass(frozen=True)
class Halved:
    """Two runs of which one takes half the step of the other.

    Parameters
    ----------
    method : key
    steps : number of steps of the run with the longer step, as if all were equal
    difference : the larger of the angle between the two, rad, and of the difference of omega relative to its largest value; the
        angle alone if the error asked for is one
    runs : number of runs in all
    radians : that the body turns, rad
    """

    method: str
    steps: int
    difference: float
    runs: int
    radians: float

    def meets(self, error: float) -> bool:
        """Whether two runs agree to within :data:`MARGIN` of the error, which is in the unit of :attr:`difference`."""
        return self.difference <= MARGIN * error


def halved(case: BodyCase, error: float, one_torque: bool, budget: Budget) -> Halved | None:
    """The first two runs from the given start that agree to within :data:`MARGIN` of the error, or those that agree best.

    Parameters
    ----------
    error : the larger of the angle in rad and of omega relative to its largest value; of the angle alone an
        :class:`~polhode.advice.errors.Angle`
    one_torque : whether the method may take one torque in a step only
    budget : the time that is left; runs of :data:`AT_LEAST` steps are made in any case, if nothing has to be compiled

    Returns
    -------
    None if there was no time, or no two runs came closer than 1.
    """
    method, problem = METHODS[ALONE if one_torque else SEVERAL], case.starts[0]
    if not (method.is_kept() or budget.left() > 0):
        return None
    lengths = np.diff(edges_of(problem, case.horizon))
    fastest = max(case.speed, problem.body.nutation)
    steps = max(FEWEST, ceil(fastest * case.horizon / COARSEST), ceil(case.horizon / lengths.max()))
    coarsest, best, before, number, stalled = steps, None, None, 0, 0
    per_step: float | None = None
    while steps <= MOST and stalled < STALLED:
        in_all = int(runs.steps_in(lengths, case.horizon / steps).sum())
        if in_all > AT_LEAST and not budget.allows(in_all, per_step):
            break
        begun = budget.now()
        states = _states(problem, method, steps, coarsest)
        per_step = (budget.now() - begun) / in_all
        number += 1
        if before is not None:
            difference, radians = _apart(before, states, case.horizon, isinstance(error, Angle))
            closer = difference < (1.0 if best is None else best.difference)
            stalled = 0 if closer or best is None else stalled + 1
            best = Halved(method.key, steps // 2, difference, number, radians) if closer else best
            if (best is not None and best.meets(error)) or (radians == 0 and in_all > AT_LEAST):
                break  # or it does not turn
        before, steps = states, 2 * steps
    return best


def _states(problem: Problem, method: Method, steps: int, coarsest: int) -> Array:
    """Rows (n, 8) of time, q and omega of a run: at its start, at edges of the torque, and at times between them.

    Without edges the times come from a run with the ``coarsest`` steps, of which ``steps`` is a multiple.
    """
    dt = problem.horizon / steps
    if runs.has_pieces(problem, problem.horizon):
        edges, even = edges_of(problem, problem.horizon)[1:], np.linspace(0.0, problem.horizon, TIMES + 1)[1:]
        some = edges[np.unique(np.rint(np.linspace(0, len(edges) - 1, min(len(edges), EDGES))).astype(int))]
        made = runs.in_pieces(problem, method, dt, problem.horizon, np.unique(np.concatenate([even, some])))
        times, q, omega = made.times, made.q, made.omega
    else:
        at = np.unique(np.rint(np.linspace(0, coarsest, min(coarsest, TIMES) + 1)).astype(np.int64))[1:] * (steps // coarsest)
        q, omega, *_ = runs.integrate(problem, method, dt, at)
        times = at * dt
    first = np.array([0.0, *problem.q0, *problem.omega0])
    return np.vstack([first, np.column_stack([times, q, omega])])


def _apart(coarse: Array, fine: Array, horizon: float, orientation_alone: bool) -> tuple[float, float]:
    """The difference of two runs at the times that both have, infinite if one of them blows up, and the radians turned."""
    place = np.clip(np.searchsorted(fine[:, 0], coarse[:, 0] - 1e-12 * horizon), 0, len(fine) - 1)
    both = abs(fine[place, 0] - coarse[:, 0]) <= 1e-12 * horizon
    a, b = coarse[both], fine[place[both]]
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return inf, inf
    speed = np.linalg.norm(fine[:, 5:], axis=1)
    if not speed.max() > 0:  # it does not turn
        return inf, 0.0
    scale = inf if orientation_alone else float(speed.max())
    with np.errstate(over="ignore", invalid="ignore"):
        difference = largest_error(a[:, 1:5], a[:, 5:], b[:, 1:5], b[:, 5:], scale)
    radians = float((np.diff(fine[:, 0]) * (speed[1:] + speed[:-1])).sum() / 2)
    return difference if np.isfinite(difference) else inf, radians
