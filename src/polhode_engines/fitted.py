"""A code's step, damping and acting moments from its rows, where they differ from the given ones.

A code may round its step to single precision or shorten a long one, damp by default, or act with other moments than those set.
A candidate with other numbers then makes the same steps. The numbers are fitted by least squares over steps of the run, for the
candidates that come closest; then all candidates are compared again with them. A fit of a few numbers to dozens of rows that
ends at their round-off is no accident.

``spun`` are the rows of the run ``run``; ``stretch`` steps of ``run.dt`` lie between two of them, and ``eps`` is their
round-off. ``deviations`` belong to the candidates, smallest first, and ``damping`` the rate of damped ones, 1/s; 0: none.
"""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from polhode.methods.protocol import Method
from polhode_engines import identify
from polhode_engines.candidates import DAMPED, FACTORS, damped_makers
from polhode_engines.conventions import rotations
from polhode_engines.environments import Run, Spun
from polhode_engines.identify import Deviation

#: Steps of a run over which numbers are fitted, iterations, and the relative change of a number in a difference quotient.
STEPS, ITERATIONS, CHANGE = 24, 12, 1e-6
#: Candidates that are fitted: the closest within this factor, and at most so many.
NEAR, MOST = 10.0, 16
#: Factors of the angular velocity in a step that are one number: their spread, over what they are less than 1.
STEADY = 0.02
#: A step that differs by this part from that given is another one, and the difference from single precision that is none.
NOTICED_STEP, SINGLE_WITHIN = 0.02, 1e-11
#: A rate has few digits if it is a number of so few within its error, in units of the error of a factor.
ROUND, DIGITS = 8.0, 6
#: The turn above which Bullet bends the rotation of a step, rad, and how well its formula must fit.
BENT, BENT_WITHIN = math.pi / 4, 1e-3

#: Law of a damping at the rate c -> the rate from the factor of omega in a step.
RATES: Mapping[str, Callable[[float, float], float]] = {
    "linear": lambda factor, dt: (1 - factor) / dt,
    "power": lambda factor, dt: 1 - factor ** (1 / dt),
    "exp": lambda factor, dt: -math.log(factor) / dt,
    "implicit": lambda factor, dt: (1 / factor - 1) / dt,
}
assert set(RATES) == set(FACTORS)


def closest(deviations: Sequence[Deviation], damping: float) -> Iterator[tuple[Method, str]]:
    """The candidates that come closest, each with the way in which it begins, a key of ``identify.MODES``.

    They are the first :data:`MOST` that deviate by at most :data:`NEAR` times the smallest deviation, without those that begin
    with their memory.
    """
    known = {method.key: method for method in identify.all_candidates(damping)}
    for deviation in deviations[:MOST]:
        if deviation.value <= NEAR * deviations[0].value and deviation.mode != "memory":
            yield known[deviation.key], deviation.mode


def misses(method: Method, mode: str, run: Run, spun: Spun, stretch: int) -> np.ndarray:
    """What a candidate misses of the next states, relative to their lengths, in one row (7 n,) for n of the steps of a run.

    Four numbers for q and three for omega of each step; ``mode`` is a key of ``identify.MODES``.
    """
    count = identify.usable(run, spun)
    steps = np.unique(np.linspace(identify.judged_from(mode), count - 1, STEPS).astype(int)).tolist()
    rows = []
    for n, (p, w) in zip(steps, identify.predictions(method, mode, run, spun, steps, stretch), strict=True):
        q, omega = spun.q[n + 1] / np.linalg.norm(spun.q[n + 1]), spun.omega[n + 1]
        a = np.array(p) / math.sqrt(sum(x * x for x in p))
        rows.append(np.concatenate([a * np.sign(a @ q) - q, (np.array(w) - omega) / np.linalg.norm(omega)]))
    return np.concatenate(rows)


def least(residual: Callable[[np.ndarray], np.ndarray], count: int) -> tuple[np.ndarray, float]:
    """The numbers (count,), near zero, at which a residual is smallest, and its largest element there in absolute value.

    ``residual`` takes such numbers and returns an array (m,). Where it fails, the element is infinite and the numbers are zero.
    """
    x = np.zeros(count)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # moments of a plane body, in a difference quotient
            return _iterated(residual, x)
    except (ArithmeticError, ValueError, TypeError, np.linalg.LinAlgError):
        return x, math.inf


def _iterated(residual: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> tuple[np.ndarray, float]:
    """Gauss and Newton's iteration from ``x``, and the largest element of the residual where it ends.

    MINPACK (``scipy.optimize.least_squares``) ends before round-off here, so that moments that act are not named.
    """
    at = residual(x)
    for _ in range(ITERATIONS):
        slopes = np.column_stack([(residual(x + CHANGE * unit) - at) / CHANGE for unit in np.eye(len(x))])
        following = x + np.linalg.lstsq(slopes, -at, rcond=1e-6)[0]
        new = residual(following)
        if not np.linalg.norm(new) < 0.9 * np.linalg.norm(at):
            break
        x, at = following, new
    return x, float(np.abs(at).max())


def step_factor(
    run: Run, spun: Spun, deviations: Sequence[Deviation], damping: float, stretch: int
) -> tuple[float, float, Method | None]:
    """The ratio of the step that fits best to the given one, the largest miss with it (:func:`misses`), and the candidate.

    They are 1, infinite and None if nothing can be fitted.
    """
    best: tuple[float, float, Method | None] = (1.0, math.inf, None)
    for method, mode in closest(deviations, damping):

        def residual(x: np.ndarray, method: Method = method, mode: str = mode) -> np.ndarray:
            factor = 1.0 + float(x[0])
            changed = replace(run, dt=run.dt * factor, steps=tuple(dt * factor for dt in run.steps))
            return misses(method, mode, changed, spun, stretch)

        x, miss = least(residual, 1)
        if miss < best[1]:
            best = 1.0 + float(x[0]), miss, method
    return best


def moments(
    run: Run, spun: Spun, deviations: Sequence[Deviation], damping: float, stretch: int
) -> tuple[np.ndarray, float, Method | None]:
    """The moments (3,), kg m^2, that fit best, the largest miss with them (:func:`misses`), and the candidate.

    They are the given ones, infinite and None if nothing can be fitted.
    """
    given = np.array(run.inertia)
    best: tuple[np.ndarray, float, Method | None] = (given, math.inf, None)
    for method, mode in closest(deviations, damping):

        def residual(x: np.ndarray, method: Method = method, mode: str = mode) -> np.ndarray:
            a, b, c = map(float, given * np.exp(x))
            return misses(method, mode, replace(run, inertia=(a, b, c)), spun, stretch)

        x, miss = least(residual, 3)
        if miss < best[1]:
            best = given * np.exp(x), miss, method
    return best


def damping_factor(spun: Spun, inertia: Sequence[float]) -> float:
    """The factor by which omega or the momentum of a free body becomes smaller in every row; NaN if neither does so steadily.

    It is the median; steady is what scatters by less than :data:`STEADY` of one minus the factor, from the quantile 0.1 to
    0.9. ``inertia`` (3,) are the principal moments, in any unit.
    """
    best = (math.inf, math.nan)
    for vectors in (spun.omega, spun.omega * np.array(inertia)):
        with np.errstate(all="ignore"):
            length = np.linalg.norm(vectors, axis=1)
            factors = length[1:] / length[:-1]
        factors = factors[np.isfinite(factors)]
        if factors.size and 0 < (middle := float(np.median(factors))) < 1:
            low, high = np.quantile(factors, (0.1, 0.9))
            best = min(best, (float(high - low) / (1 - middle), middle))
    return best[1] if best[0] < STEADY else math.nan


def damping_by_fit(run: Run, spun: Spun, stretch: int, eps: float) -> list[tuple[str, float]]:
    """Laws, keys of ``candidates.LAWS``, with their rates, 1/s, of damped candidates that make the steps of a free body.

    The rate with the fewest digits comes first. This is for bodies that also lose momentum by the step itself, so that
    :func:`damping_factor` sees no factor.
    """
    lengths = np.linalg.norm(spun.omega * np.array(run.inertia), axis=1)
    with np.errstate(all="ignore"):
        rough = float(np.nanmedian(-np.diff(np.log(lengths)))) / (run.dt * stretch)
    if not rough * run.dt * stretch > 2 * identify.WITHIN * eps:
        return []
    speed = float(np.nanmedian(np.linalg.norm(spun.omega, axis=1)))
    starts = {"linear": rough, "proportional": rough, "quadratic": rough / (1 + speed)}
    ranked = []
    for make in damped_makers():
        for law, start in starts.items():
            if f"{DAMPED}{law}_" in (method := make(start)).key:
                ranked.append((float(np.abs(misses(method, "", run, spun, stretch)).max()), law, start, make))
    laws: dict[tuple[str, float], int] = {}
    for _, law, start, make in sorted(ranked, key=lambda fit: fit[0])[:MOST]:

        def residual(x: np.ndarray, start: float = start, make: Callable[[float], Method] = make) -> np.ndarray:
            return misses(make(start * (1.0 + float(x[0]))), "", run, spun, stretch)

        x, miss = least(residual, 1)
        if miss < identify.WITHIN * eps:
            rate = start * (1.0 + float(x[0]))
            known = (
                rates(1 - rate * run.dt, run.dt, eps) if law == "linear" else [(law, _rounded(rate, eps / (rate * run.dt))[0])]
            )
            laws |= {(name, value): _rounded(value, 0.0)[1] for name, value in known}
    return sorted(laws, key=lambda law_and_rate: laws[law_and_rate])


def rates(factor: float, dt: float, eps: float) -> list[tuple[str, float]]:
    """Laws, keys of :data:`RATES`, with the rate, 1/s, that each needs for a factor in a step ``dt`` (s).

    Rates are rounded to as few digits as the round-off allows; the rate with the fewest digits comes first.
    """
    known = [(*_rounded(rate_of(factor, dt), eps / (1 - factor)), law) for law, rate_of in RATES.items()]
    return [(law, rate) for rate, _, law in sorted(known, key=lambda rate: rate[1])]


def _rounded(rate: float, error: float) -> tuple[float, int]:
    """A rate with as few digits as its relative error allows, and their number."""
    digits = next((n for n in range(1, DIGITS) if abs(float(f"{rate:.{n - 1}e}") / rate - 1) <= ROUND * error), DIGITS)
    return float(f"{rate:.{digits - 1}e}"), digits


def bent_rows(spun: Spun, dt: float) -> int:
    """The number of steps that are bent as Bullet bends them: tan(a/2) = x tan(pi/8)/(pi/4) for x = |omega| dt above pi/4.

    a is the angle turned, rad, which must agree to :data:`BENT_WITHIN`, omega belongs to the end of the step, ``dt`` is in s.
    """
    turned = np.linalg.norm(rotations(spun.q), axis=1)
    nominal = np.linalg.norm(spun.omega[1:], axis=1) * dt
    with np.errstate(all="ignore"):
        bent = 2 * np.arctan(nominal * math.tan(BENT / 2) / BENT)
        return int(((nominal > BENT) & (np.abs(turned - bent) < BENT_WITHIN)).sum())
