"""Why no candidate makes the steps of a run: what its rows say of moments, units, damping and the exact motion.

Each function looks at states that are already in the principal frame of the moments given, and returns a number or a sentence;
an empty sentence says that the rows do not show the cause. q (n, 4) is body to lab, scalar first, omega (n, 3) the angular
velocity in the body frame, in rad and the time of the file; ``inertia`` (3,) are the moments given, in any unit; ``dt`` is the
time from row to row in the file, a number or (n - 1,).
"""

import math
from collections.abc import Sequence
from itertools import permutations

import numpy as np
from scipy.integrate import solve_ivp

from polhode_engines import cases, identify
from polhode_engines.conventions import rotations, turned_back
from polhode_engines.environments import Run, Spun

#: Rows that are compared with the exact motion at most.
EXACT_ROWS = 24
#: The exact motion is nearest if the next candidate is this many times further off.
NEARER = 10.0
#: Relative changes of the momentum below which it counts as conserved, and how many times smaller than with the moments given.
CONSERVED, BETTER = 1e-3, 20.0
#: Factors within which a body turns, or speeds up, as it should: in steps below an angle in rad, and in larger ones.
USUAL, USUAL_IN_LARGE_STEPS, LARGE = 1.25, 1.8, 0.5
#: Ratio of the ninth to the first tenth of factors that are one constant.
CONSTANT = 1.2
#: A tensor is another one than that given if an element differs by this part of its trace, times the squared angle of a step,
#: within these bounds: methods conserve the momentum of other moments.
OTHER, OTHER_LEAST, OTHER_MOST = 0.1, 2e-3, 0.03
#: What a change of omega may miss of Euler's equations, over its length, for a factor to be named.
CLEAR = 0.3
#: Constant factors with their usual origin, and within which factor they are recognised.
SURE = 1.1
FACTORS = {
    2.0: "the half of the half angle is missing (dq/dt = q omega instead of q omega / 2)",
    0.5: "an angle is halved twice",
    4.0: "an angle is doubled twice",
    math.pi / 180: "an angle in degrees is taken for one in radians, or converted twice",
    180 / math.pi: "an angle in radians is taken for one in degrees, or converted twice",
    2 * math.pi: "revolutions are converted into radians once too often",
    0.5 / math.pi: "revolutions are not converted into radians",
    2 * math.pi / 60: "revolutions per minute are converted once too often",
    30 / math.pi: "revolutions per minute are not converted",
    1e3: "a time in milliseconds is taken for one in seconds",
    1e-3: "a time in seconds is taken for one in milliseconds",
}


def exact_deviation(run: Run, spun: Spun, stretch: int = 1) -> float:
    """The largest difference between a row and the exact motion from the row before; infinite if it cannot be computed.

    At most :data:`EXACT_ROWS` rows, spread over the run, are compared.
    It has no unit, as :func:`polhode_engines.identify.apart`; ``stretch`` steps of ``run.dt`` lie between two rows.
    """
    inertia, load, value = np.array(run.inertia), cases.LOADS[run.load], run.value
    rows = np.unique(np.linspace(1, max(1, identify.usable(run, spun) - 1), EXACT_ROWS).astype(int))
    start = np.hstack([spun.q[rows] / np.linalg.norm(spun.q[rows], axis=1, keepdims=True), spun.omega[rows]])
    steps = (np.array(run.steps)[rows] if run.steps else np.full(len(rows), run.dt)) * stretch

    def rate(_: float, flat: np.ndarray) -> np.ndarray:
        states = flat.reshape(-1, 7)
        q, w = states[:, :4], states[:, 4:]
        torque = np.array([load(0.0, tuple(a), tuple(b), value) for a, b in zip(q, w, strict=True)])
        turning = np.column_stack([-(q[:, 1:] * w).sum(1), q[:, :1] * w + np.cross(q[:, 1:], w)]) / 2
        change = np.hstack([turning, (torque - np.cross(w, inertia * w)) / inertia])
        return np.asarray((change * steps[:, None]).ravel())

    try:
        with np.errstate(all="ignore"):
            ends = solve_ivp(rate, (0, 1), start.ravel(), "DOP853", rtol=3e-14, atol=1e-16).y[:, -1].reshape(-1, 7)
    except (ArithmeticError, ValueError):
        return math.inf
    apart = [identify.apart(end[:4], end[4:], spun.q[n + 1], spun.omega[n + 1]) for end, n in zip(ends, rows, strict=True)]
    return max(apart)


def is_nearest(exact: float, others: Sequence[float]) -> bool:
    """Whether rows are nearer to the exact motion than to every candidate that does not make that motion itself.

    ``exact`` is the deviation of the exact motion, ``others`` are the deviations of the candidates, without a unit. No
    candidate may deviate by half of ``exact`` or less; those within twice of it make the exact motion, and there must be
    others, all of which deviate by more than :data:`NEARER` times ``exact``. An ``exact`` of 0 or infinity gives False.
    """
    far = [deviation for deviation in others if deviation > 2 * exact]
    return bool(0 < exact < math.inf) and min(others, default=math.inf) > exact / 2 and min(far, default=0.0) > NEARER * exact


def change_factor(omega: np.ndarray, inertia: np.ndarray, dt: float | np.ndarray) -> tuple[float, float]:
    """The ratio of the change of a free body's omega in a step to the change by Euler's equations, and the relative miss.

    The miss is what remains of the change beside the multiple of Euler's; both are medians over the steps, without a unit, and
    NaN if no step gives a number.
    """
    with np.errstate(all="ignore"):
        rate = -np.cross(omega, inertia * omega) / inertia
        expected = (rate[:-1] + rate[1:]) / 2 * np.reshape(dt, (-1, 1))
        change = np.diff(omega, axis=0)
        factor = _median((change * expected).sum(1) / (expected * expected).sum(1))
        off = np.linalg.norm(change - factor * expected, axis=1) / np.linalg.norm(change, axis=1)
    return factor, _median(off)


def _median(values: np.ndarray) -> float:
    """The median of the numbers that are finite; NaN if there are none."""
    fine = values[np.isfinite(values)]
    return float(np.median(fine)) if fine.size else math.nan


def is_constant(ratios: np.ndarray) -> bool:
    """Whether ratios (n,) are one positive constant but for errors of a method; those that are not finite do not count.

    The quantile 0.9 must be less than :data:`CONSTANT` times the quantile 0.1. False if no ratio is finite.
    """
    fine = ratios[np.isfinite(ratios)]
    low, high = np.quantile(fine, (0.1, 0.9)) if fine.size else (0.0, 0.0)
    return bool(low > 0 and high < CONSTANT * low)


def factor_words(turns: float, changes: float, miss: float, dt: float, unit: float = 1.0, angle: float = 0.0) -> str:
    """A sentence on what it means that a body turns by a constant factor times omega dt; empty if the factor is usual.

    Usual is a factor for which units or a method may be the cause. It is empty also if ``turns`` is not positive and finite.

    Parameters
    ----------
    turns : the angle turned, over omega dt in rad and the time of the file
    changes, miss : see :func:`change_factor`; NaN if a torque acts
    dt : the step from row to row, in the time of the file
    unit : the factor that units explain
    angle : omega dt, rad
    """
    limit = math.log(USUAL if angle < LARGE else USUAL_IN_LARGE_STEPS)

    def is_usual(factor: float) -> bool:
        return factor > 0 and abs(math.log(factor)) < limit

    if not 0 < turns < math.inf:
        return ""
    is_clear = miss < CLEAR and changes > 0
    if is_clear and not is_usual(turns / changes):
        if is_usual(changes):
            said = f"while omega changes as Euler's equations say for this step{_origin(turns)}"
        else:
            said = f"and omega changes by {changes:.3g} times what Euler's equations say{_origin(turns / changes)}"
        return f"the body turns by {turns:.3g} times omega dt, {said}."
    if is_usual(turns / unit):
        return ""
    if not is_clear:
        return f"the body turns by {turns:.3g} times omega dt{_origin(turns)}."
    count = f", rows are written every {round(turns)} steps (--every)" if turns > 1.5 and abs(turns % 1 - 0.5) > 0.4 else ""
    return (
        f"the body turns by {turns:.3g} times omega dt, and omega changes by {changes:.3g} times what Euler's equations say: "
        f"the time from row to row is about {turns * dt:.3g} instead of {dt:.3g} (--dt){count}, or omega is in another unit."
    )


def _origin(factor: float) -> str:
    """The usual origin of a factor, to be put behind a statement."""
    for known, words in FACTORS.items():
        if abs(math.log(factor / known)) < math.log(SURE):
            return f": {words}"
    return ""


def momentum_variation(q: np.ndarray, omega: np.ndarray, tensor: np.ndarray) -> float:
    """The root mean square deviation of the lab momentum of a free body from its mean, over the length of the mean; no unit.

    q (n, 4), omega (n, 3) in the body frame, rad/s; ``tensor`` (3, 3), the inertia in this frame, in any unit.
    """
    lab = in_lab(q, omega @ tensor)
    mean = lab.mean(0)
    return float(np.sqrt(((lab - mean) ** 2).sum(1).mean()) / np.linalg.norm(mean))


def in_lab(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The lab components (n, 3) of body vectors v (n, 3), in their unit, for quaternions q (n, 4) of any length."""
    return turned_back(q / np.linalg.norm(q, axis=1, keepdims=True) * (1, -1, -1, -1), v)


#: The places of the elements of a tensor in six numbers.
PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))


def conserving_tensor(q: np.ndarray, omega: np.ndarray) -> tuple[np.ndarray, float] | None:
    """The inertia tensor (3, 3) with which the lab momentum of a free body varies least, and that variation; or None.

    The tensor is in the frame of q and omega, of trace 1; the variation is as of :func:`momentum_variation`. There is
    no tensor if the motion leaves it open, or if no body has it.
    """
    columns = []
    for i, j in PLACES:
        basis = np.zeros((3, 3))
        basis[i, j] = basis[j, i] = 1.0
        lab = in_lab(q, omega @ basis)
        columns.append((lab - lab.mean(0)).ravel())
    _, sizes, rows = np.linalg.svd(np.array(columns).T, full_matrices=False)
    tensor = np.zeros((3, 3))
    for value, (i, j) in zip(rows[-1], PLACES, strict=True):
        tensor[i, j] = tensor[j, i] = value
    if abs(np.trace(tensor)) < 1e-6 or sizes[-2] < BETTER * sizes[-1]:
        return None
    tensor = tensor / np.trace(tensor)
    moments = np.linalg.eigvalsh(tensor)
    if moments[0] <= 0 or 2 * moments[-1] > 1.001:
        return None
    return tensor, momentum_variation(q, omega, tensor)


def tensor_words(q: np.ndarray, omega: np.ndarray, inertia: np.ndarray, axes: np.ndarray, unit: float = 1.0) -> str:
    """A sentence on what the lab momentum of a free body says of the moments given: that others are the body's, and which.

    It is empty unless the momentum, in 12 or more finite rows, is nearly constant with a tensor (:func:`conserving_tensor`)
    that differs from the moments by more than a method may, and varies by :data:`BETTER` times as much or more with the
    moments.

    Parameters
    ----------
    axes : (3, 3), the axes of the moments in the frame of the file, as columns
    unit : the unit of the moments, in the unit of the file
    """
    fine = np.isfinite(q).all(1) & np.isfinite(omega).all(1)
    if fine.sum() < 12:
        return ""
    q, omega = q[fine], omega[fine]
    best = conserving_tensor(q, omega)
    given = momentum_variation(q, omega, np.diag(inertia))
    if best is None or not best[1] < CONSERVED or given < BETTER * best[1]:
        return ""
    inertia = inertia * unit
    angle = float(np.median(np.linalg.norm(rotations(q), axis=1)))
    other = min(max(OTHER * angle**2, OTHER_LEAST), OTHER_MOST)
    if np.abs(best[0] - np.diag(inertia / inertia.sum())).max() < other:
        return ""
    tensor, variation = axes @ best[0] @ axes.T * inertia.sum(), best[1]
    said = f"the angular momentum in the lab varies by {given:.1e} with the moments given, and by {variation:.1e} with"
    moments = np.diag(tensor)
    if np.abs(tensor - np.diag(moments)).max() < max(5 * variation, 1e-3) * inertia.sum():
        diagonal = np.allclose(axes, np.eye(3))
        if diagonal and np.allclose(sorted(moments), sorted(inertia), rtol=max(0.01, 10 * variation)):
            order = min(permutations(inertia), key=lambda permuted: float(np.abs(np.array(permuted) - moments).max()))
            return f"{said} the same moments in the order {_numbers(order)}: give inertia in the order of the body's axes."
        return f"{said} the moments {_numbers(moments)} (of the same sum): give the moments of your code as inertia."
    six = [tensor[place] for place in PLACES]
    return (
        f"{said} the inertia tensor Ixx Iyy Izz Ixy Ixz Iyz = {_numbers(six)} (of the same trace): the frame of the body is "
        "not the principal one; give the tensor of your code as inertia."
    )


def _numbers(values: Sequence[float] | np.ndarray) -> str:
    return " ".join(f"{value:.4g}" for value in values)


def orders(omega: np.ndarray, inertia: np.ndarray, dt: float | np.ndarray) -> list[tuple[float, float, float]]:
    """Other orders of the moments in which Euler's equations explain the change of a free body's omega better, best first.

    They miss it by less than half as much. Each is a tuple of the three moments, in the unit of ``inertia``.
    """
    others = [
        permuted for permuted in dict.fromkeys(permutations(map(float, inertia), 3)) if permuted != tuple(map(float, inertia))
    ]
    given = _miss(omega, inertia, dt)
    ranked = sorted((_miss(omega, np.array(permuted), dt), permuted) for permuted in others)
    return [permuted for miss, permuted in ranked if miss < given / 2]


def _miss(omega: np.ndarray, inertia: np.ndarray, dt: float | np.ndarray) -> float:
    factor, miss = change_factor(omega, inertia, dt)
    return miss if factor > 0 else math.inf


def damping_words(length: np.ndarray, dt: float | np.ndarray, angle: float, least: float) -> str:
    """A sentence on what it means that the angular momentum of a free body falls steadily, in more than 90 % of the steps.

    It is empty if the momentum does not, or loses no more than ``least`` times ``angle``, and of less than three rows.

    Parameters
    ----------
    length : (n,) lengths of the momentum, in any unit
    dt : the time from row to row, s, a number or (n - 1,)
    angle : the angle that the body turns in the run, rad
    least : a relative loss in a radian that is no method's
    """
    if len(length) < 3 or not (length > 0).all():
        return ""
    if (np.diff(length) < 0).mean() <= 0.9 or 1 - length[-1] / length[0] <= least * angle:
        return ""
    rates = -np.diff(np.log(length)) / dt
    rate = float(np.median(rates))
    if np.abs(rates - rate).mean() < 0.05 * rate:
        return (
            f"the angular momentum of the free body falls steadily, as with a damping of {rate:.3g}/s: switch damping and "
            "contacts off, or name the rate with --damping."
        )
    return (
        f"the angular momentum of the free body falls steadily, by {1 - length[-1] / length[0]:.2g} of it in the run, at a "
        "rate that changes: friction (--torque velocity c), contacts, or a loss of the method itself."
    )
