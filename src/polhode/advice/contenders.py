"""Which methods can win a motion: the others are left out before they are compiled.

The laws of random bodies (``laws.nc``) and the times of steps say what each method would take for the error of a motion, for
each of these bodies. A method is left out that is the fastest for none of them, and far slower than the fastest for nearly
all. Of methods that ask less of a code than the fastest one, and that an answer names beside it, those that are most often the
best of their kind are run; of a kind that is far slower for all bodies like this one, the one that is best most often.

The laws were measured for smooth torques of limited strength. For other motions all methods are run, and also for a motion that
takes more steps than any of the random bodies.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite

import numpy as np

from polhode.advice import files
from polhode.advice.cases import ALIASES, BodyCase
from polhode.advice.motion import KnownMotion
from polhode.advice.prices import Prices
from polhode.ensembles.draw import STRONGEST, WEAKEST
from polhode.fits import law_file, laws
from polhode.fits.largest_step import SHARE_OF_CASES
from polhode.fits.ranking import AS_PUBLISHED
from polhode.interface.netcdf import DamagedFile, read_dataset
from polhode.methods.protocol import Method
from polhode.problems.problem import TORQUE_CLASSES

Array = np.ndarray

#: A method is run that is the fastest for a body, or that for this part of them takes no longer than it by this factor.
FACTOR, SHARE = 1.5, 0.01
#: A kind that takes longer by this factor cannot compete: only the best of it is wanted.
SLOWER = 4.0
#: How much weaker or stronger than the torques on the random bodies a torque may be.
BEYOND = 2.0
#: A motion that takes more steps than any body by this factor is not one of the laws.
UNLIKE = 1.5
#: Of each further kind, as many methods are run as include the best one for this part of the nearest bodies; and the number
#: of these bodies, whose moments and strengths are nearest to the case.
MOST_OF, NEAREST = 0.5, 64
#: Times of a motion at which the strength of its torque is taken.
TIMES = 64


@dataclass(frozen=True)
class Contenders:
    """The methods that can win a motion.

    Parameters
    ----------
    run, left_out : keys of methods
    bodies : number of random bodies behind the choice
    words : the torques of these bodies, in words
    most : method -> the largest number of steps that one of the bodies takes over the time of the motion
    """

    run: tuple[str, ...]
    left_out: tuple[str, ...]
    bodies: int
    words: str
    most: Mapping[str, float]

    def is_like_the_bodies(self, steps: Mapping[str, int]) -> bool:
        """Whether the methods that were run take no more steps than for any of the bodies.

        Parameters
        ----------
        steps : method -> number of steps with which it meets the error; those that do not meet it are missing
        """
        return any(key in self.most for key in steps) and all(
            number <= UNLIKE * self.most.get(key, number) for key, number in steps.items()
        )

    def on_left_out(self) -> str:
        """What is said of the methods that were not run, in a sentence."""
        return (
            f"{len(self.left_out)} methods were not run (`everything` runs them). They are the fastest for none of "
            f"{self.bodies:,} random bodies (torques: {self.words}), and for {1 - SHARE:.0%} slower by more than a factor of "
            f"{FACTOR:g}; of those that need as few torques in a step and in the first steps others are the best more often."
        )


def contenders(
    case: BodyCase,
    motions: Sequence[KnownMotion],
    methods: Sequence[Method],
    error: float,
    priced: Prices,
    kind: Callable[[Method], str],
) -> Contenders | None:
    """The methods that can win; None if the laws do not say.

    Parameters
    ----------
    case, motions : the question, and the exact motions from its starts
    methods : those that may be recommended
    error : that a run may have
    priced : times of steps
    kind : of a method: what it asks of a code
    """
    path = files.released(files.LAWS)
    if path is None or error <= 0 or _is_unlike(case, motions):
        return None
    try:
        data = read_dataset(path)
        known = [str(key) for key in data["torque_class"].values]
        classes = related(case, known)
        if not classes:
            return None
        radians = max(motion.radians for motion in motions)
        data = data.sel(torque_class=classes)
        needed = law_file.steps_per_radian(data, [error], radians)["steps"].isel(target=0)
        steps = needed.transpose("integrator", "torque_class", "body").values * radians
        places = {str(key): i for i, key in enumerate(data["integrator"].values)}
        words = " or ".join(map(str, data["class_label"].values))
    except (DamagedFile, LookupError, AttributeError, ValueError):
        return None
    seconds = {m.key: _seconds(m, steps[places[m.key]], priced) for m in methods if m.key in places and m.key in priced.step}
    # A body that was not run counts as one for which the method takes for ever.
    seconds = {key: np.nan_to_num(times, nan=inf, posinf=inf) for key, times in seconds.items() if not np.isnan(times).all()}
    plain = [method for method in methods if method.key in seconds and not method.key.endswith(AS_PUBLISHED)]
    if not plain:
        return None
    best = np.min([seconds[method.key] for method in plain], axis=0)
    if np.mean(np.isfinite(best)) < SHARE_OF_CASES:
        return None
    run = [method.key for method in methods if method.key not in seconds]
    reached = np.isfinite(best)
    winners = [method.key for method in plain if _can_win(seconds[method.key][reached], best[reached])]
    run += winners
    near = _nearest(case, motions, data["moments"].values, data["strength"].values)
    for of_kind in dict.fromkeys(map(kind, plain)):
        run += _often_best({m.key: seconds[m.key][:, near] for m in plain if kind(m) == of_kind}, best[:, near])
    # The kinds that can win first, and in each those that are best most often.
    ordered = sorted(dict.fromkeys(run), key=lambda key: float(np.median(seconds[key])) if key in winners else inf)
    most = {key: float(np.nanmax(steps[places[key]])) for key in seconds}
    left_out = tuple(method.key for method in methods if method.key not in run)
    finite = {key: number for key, number in most.items() if isfinite(number)}
    return Contenders(tuple(ordered), left_out, data.sizes["body"] * len(classes), words, finite)


def _seconds(method: Method, steps: Array, priced: Prices) -> Array:
    """What runs with so many steps take, s: as :meth:`Prices.seconds`."""
    torques = method.torques_per_step * steps + method.starting_torques(1 << 30)
    return np.asarray(steps * priced.step[method.key] + torques * priced.torque * priced.unit)


def _can_win(seconds: Array, best: Array) -> bool:
    """Whether a method that takes so long for bodies may be the fastest for another one."""
    return bool((seconds <= best).any() or np.mean(seconds <= FACTOR * best) >= SHARE)


def _nearest(case: BodyCase, motions: Sequence[KnownMotion], moments: Array, strengths: Array) -> Array:
    """The random bodies that are nearest to a case in the logarithms of moments and strength; all, if it has several bodies."""
    ours = np.unique([motion.problem.body.inertia for motion in motions], axis=0)
    if len(ours) > 1:
        return np.arange(len(moments))
    of_bodies, of_case = (np.log(each) - np.log(each).mean(axis=-1, keepdims=True) for each in (moments, ours))
    if case.question.get("strength"):
        of_bodies = np.column_stack([of_bodies, np.log(strengths)])
        of_case = np.column_stack([of_case, np.log([case.question["strength"]])])
    return np.argsort(np.linalg.norm((of_bodies - of_case) / of_bodies.std(axis=0), axis=-1), kind="stable")[:NEAREST]


def _often_best(seconds: Mapping[str, Array], best: Array) -> list[str]:
    """The fewest methods of a kind, most often best first, of which one is its best for :data:`MOST_OF` the bodies.

    One, if the kind cannot compete: ``best`` are the times of the fastest of all.
    """
    every = np.array(list(seconds.values()))
    count = np.bincount(every[:, np.isfinite(every.min(axis=0))].argmin(axis=0), minlength=len(every))
    order = np.argsort(-count, kind="stable")
    competes = bool((every.min(axis=0) <= SLOWER * best)[np.isfinite(best)].any())
    enough = int(np.searchsorted(np.cumsum(count[order]), MOST_OF * count.sum())) + 1 if competes else 1
    return [list(seconds)[i] for i in order[:enough]]


def related(case: BodyCase, known: Sequence[str]) -> list[str]:
    """The classes of random torques to which the torque of a case belongs.

    A torque of formulas or of a problem may be one of those that depend on less, too, but is not none.
    """
    torque = str(case.question.get("torque"))
    if "problem" not in case.question:
        return [key for key in laws.TOGETHER.get(torque, (ALIASES.get(torque, torque),)) if key in known]
    depends = list(TORQUE_CLASSES)
    declared = depends[min(1, depends.index(torque)) : depends.index(torque) + 1]
    return [key for key in known if key in declared or (key.startswith("friction") and "velocity" in declared)]


def _is_unlike(case: BodyCase, motions: Sequence[KnownMotion]) -> bool:
    """Whether a torque jumps, or is far stronger or weaker than the torques on the random bodies."""
    if any(len(motion.jumps) or len(motion.corners) for motion in motions):
        return True
    if "problem" in case.question:
        return not all(map(_is_of_strength, motions))
    strength = case.question.get("strength")
    return strength is not None and case.question["torque"] != "free" and not _is_near(strength)


def _is_near(strength: float) -> bool:
    return bool(WEAKEST / BEYOND <= strength <= BEYOND * STRONGEST)


def _is_of_strength(motion: KnownMotion) -> bool:
    """Whether the angular acceleration by the torque, over the squared angular velocity, is one of the random bodies' range."""
    problem = motion.problem
    if problem.torque_class == "free":
        return True
    speed = float(np.linalg.norm(problem.omega0))
    if speed < motion.scale / BEYOND:
        return False
    times = np.linspace(0, problem.horizon, TIMES)
    largest = 0.0
    for t, q, omega in zip(times, *motion.at(times), strict=True):
        torque = problem.compiled_torque(float(t), tuple(q), tuple(omega), problem.parameter_array)
        largest = max(largest, float(np.linalg.norm(np.array(torque) / problem.body.inertia)))
    return _is_near(largest / speed**2)
