"""Which methods can win a motion: the others are left out before they are compiled.

The laws of random bodies (``laws.nc``) and the times of steps say what each method would take for the error of a motion, for
each of these bodies. A method is left out that is the fastest for none of them, and far slower than the fastest for nearly
all. Of methods that ask less of a code than the fastest one, and that an answer names beside it, those that are most often the
best of their kind are run; of a kind that is far slower for all bodies like this one, the one that is best most often.

Then one method is run after the other. The steps that it needs for this very motion say which of the random bodies are like it,
and a method that is hardly ever the fastest for these is left out, too, before it is compiled (:meth:`Contenders.narrowed`).

The laws were measured for smooth torques of limited strength. For other motions all methods are run, and also for a motion that
takes more than :data:`UNLIKE` times the steps of any random body.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite, log

import numpy as np

from polhode.advice import files
from polhode.advice.cases import ALIASES, BodyCase
from polhode.advice.motion import KnownMotion
from polhode.advice.prices import Prices
from polhode.ensembles.draw import STRONGEST, WEAKEST
from polhode.fits import law_file, laws
from polhode.fits.largest_step import SHARE_OF_CASES
from polhode.fits.ranking import AS_PUBLISHED
from polhode.interface.netcdf import DamagedFile, read_table
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
#: A body is like a motion if each method that was run needs the same number of steps for both, within this factor; and the
#: fewest such bodies that say anything. A method is run that is the fastest for this part of them.
AS_MANY, ENOUGH, WINS = 1.5, 20, 0.02
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
    steps, seconds : method -> the steps and the time, s, of a run for each of the bodies (class, body)
    kinds : method -> what it asks of a code, for those that may be recommended
    dropped : keys of methods that are left out since others were run
    alike : number of bodies behind this
    """

    run: tuple[str, ...]
    left_out: tuple[str, ...]
    bodies: int
    words: str
    most: Mapping[str, float]
    steps: Mapping[str, Array] = field(default_factory=dict, repr=False)
    seconds: Mapping[str, Array] = field(default_factory=dict, repr=False)
    kinds: Mapping[str, str] = field(default_factory=dict, repr=False)
    dropped: tuple[str, ...] = ()
    alike: int = 0

    def narrowed(self, needed: Mapping[str, int], tried: Collection[str], fewer: Sequence[str]) -> "Contenders":
        """The methods that can win, now that some were run.

        The same if no further one waits, if the laws have none of those in ``needed``, or if fewer than :data:`ENOUGH` random
        bodies need as many steps as this motion.

        Parameters
        ----------
        needed : method -> number of steps with which it meets the error; those that do not are missing
        tried : methods that were run
        fewer : the kinds (:func:`polhode.advice.from_runs.kind`) that ask less of a code than the fastest method so far: of
            each the best is wanted as well
        """
        waiting = [key for key in self.run if key not in tried and key in self.kinds]
        known = [key for key in needed if key in self.seconds]
        if not waiting or not known:
            return self
        like = np.logical_and.reduce([abs(np.log(self.steps[key] / needed[key])) <= log(AS_MANY) for key in known])
        best = np.min([self.seconds[key][like] for key in self.kinds], axis=0)
        if np.isfinite(best).sum() < ENOUGH:
            return self
        can_win = {key: float(np.mean(self.seconds[key][like] <= best)) for key in waiting}
        stay = [key for key in waiting if can_win[key] >= WINS]
        for kind in fewer:
            stay += _often_best({key: self.seconds[key][like] for key in self.kinds if self.kinds[key] == kind}, best, MOST_OF)
        waiting_on = sorted((key for key in waiting if key in stay), key=lambda key: -can_win[key])
        # The best of a kind for these bodies may be another one than for all.
        waiting_on += [key for key in dict.fromkeys(stay) if key not in (*tried, *waiting_on)]
        run = (*(key for key in self.run if key in tried or key not in self.kinds), *waiting_on)
        dropped = tuple(key for key in (*self.dropped, *waiting) if key not in run)
        left_out = tuple(key for key in self.left_out if key not in run)
        return replace(self, run=run, left_out=left_out, dropped=dropped, alike=int(np.sum(like)))

    def is_like_the_bodies(self, steps: Mapping[str, int]) -> bool:
        """Whether no method takes more than :data:`UNLIKE` times the steps that it takes for the body that needs most of it.

        Methods of which the laws have no steps do not count; False if there are no others.

        Parameters
        ----------
        steps : method -> number of steps with which it meets the error; those that do not meet it are missing
        """
        return any(key in self.most for key in steps) and all(
            number <= UNLIKE * self.most.get(key, number) for key, number in steps.items()
        )

    def on_left_out(self) -> str:
        """What is said of the methods that were not run, in sentences; empty if all were run."""
        said = []
        if self.left_out:
            said.append(
                f"{len(self.left_out)} methods were not run (`everything` runs them). They are the fastest for none of "
                f"{self.bodies:,} random bodies (torques: {self.words}), and for {1 - SHARE:.0%} slower by more than a factor "
                f"of {FACTOR:g}; of those that need as few torques in a step and in the first steps others are the best more "
                "often."
            )
        if number := len(self.dropped):
            said.append(
                f"{number} {'further methods were' if number > 1 else 'further method was'} not run either: the fastest for "
                f"less than {WINS:.0%} of the {self.alike:,} random bodies for which the methods that were run need as many "
                f"steps as here, within a factor of {AS_MANY:g}."
            )
        return " ".join(said)


def contenders(
    case: BodyCase,
    motions: Sequence[KnownMotion],
    methods: Sequence[Method],
    error: float,
    priced: Prices,
    kind: Callable[[Method], str],
) -> Contenders | None:
    """The methods that can win; None if the laws do not say.

    They do not

    * if ``laws.nc`` is missing or damaged
    * if the error is not positive
    * if the torque jumps or has corners, or is of no class of the laws, or far weaker or stronger than those on the random
      bodies
    * if the torque is of formulas or of a problem, and the largest angular velocity is more than :data:`BEYOND` times the
      initial one
    * if no method has both a law there and a time of a step in ``priced``; variants as published do not count
    * if for less than :data:`~polhode.fits.largest_step.SHARE_OF_CASES` of the random bodies any of these methods has a step
      for the error

    Parameters
    ----------
    case, motions : the question, and the exact motions from its starts
    methods : those that may be recommended
    error : that a run may have: the larger of the angle in rad and of omega relative to its largest value
    priced : times of steps
    kind : function that returns of a method what it asks of a code, as a word (:func:`polhode.advice.from_runs.kind`)

    Raises
    ------
    polhode.interface.netcdf.UnreadableFile
        If the system does not let us read ``laws.nc``.
    """
    path = files.released(files.LAWS)
    if path is None or error <= 0 or _is_unlike(case, motions):
        return None
    try:
        data = read_table(path)
        known = [str(key) for key in data["torque_class"].values]
        classes = related(case, known)
        if not classes:
            return None
        radians = max(map(_radians, motions))
        data = data.sel(torque_class=classes)
        steps = law_file.steps_of_bodies(data, [error], radians)[0][..., 0].swapaxes(0, 1) * radians
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
    bodies = data.sizes["body"] * len(classes)
    of_bodies = {key: steps[places[key]] for key in seconds}
    kinds = {method.key: kind(method) for method in plain}
    return Contenders(tuple(ordered), left_out, bodies, words, finite, of_bodies, seconds, kinds)


def _radians(motion: KnownMotion) -> float:
    """The radians of a motion as the laws count them: at its initial angular velocity even if it decays, more if it grows."""
    return max(motion.radians, motion.problem.horizon * float(np.linalg.norm(motion.problem.omega0)))


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


def _often_best(seconds: Mapping[str, Array], best: Array, competing: float = 0.0) -> list[str]:
    """The fewest methods of a kind, most often best first, of which one is its best for :data:`MOST_OF` the bodies.

    One, if the kind cannot compete: ``best`` are the times of the fastest of all, and the kind comes near these for no larger
    part of the bodies than ``competing``.
    """
    every = np.array(list(seconds.values()))
    count = np.bincount(every[:, np.isfinite(every.min(axis=0))].argmin(axis=0), minlength=len(every))
    order = np.argsort(-count, kind="stable")
    competes = bool((every.min(axis=0) <= SLOWER * best)[np.isfinite(best)].mean() > competing)
    enough = int(np.searchsorted(np.cumsum(count[order]), MOST_OF * count.sum())) + 1 if competes else 1
    return [list(seconds)[i] for i in order[:enough]]


def related(case: BodyCase, known: Sequence[str]) -> list[str]:
    """The keys of the classes of random torques, of those ``known``, to which the torque of a case belongs; it may be none.

    A torque of formulas or of a problem may be one of those that depend on less, too, but is not the class without a torque
    unless it is declared so.
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
