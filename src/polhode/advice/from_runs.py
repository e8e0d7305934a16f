"""Advice from runs: methods that can win are run on the very problem, to find the largest step of each that meets the error.

A step counts only if all finer steps that were tried meet the error too. Errors are compared at many times of the run, since a
small error at the end may be a coincidence. The motion with which runs are compared is computed by two other methods
(:mod:`polhode.advice.motion`). The step that is named is sufficient for other starts of the same body too: turned ones, and,
where these are the same motion or the given one turns about a fixed axis, starts with residual rates about other axes.

If the time is over before a step is confirmed, the answer is the best step that was tested, marked as not confirmed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, inf, isfinite, log, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from polhode.advice.answer import (
    CLOSE,
    SHOWN,
    Choice,
    Recommendation,
    duration,
    known_as,
    names_on_lines,
    price_in_words,
)
from polhode.advice.budget import Budget
from polhode.advice.cases import BodyCase
from polhode.advice.cautions import at_outputs, drift, restarts
from polhode.advice.contenders import SLOWER, Contenders, contenders
from polhode.advice.errors import AdviceError, Angle, TimeOver
from polhode.advice.halving import halved
from polhode.advice.motion import (
    ALLOWED,
    COMPARED,
    FIRST,
    SECOND,
    KnownMotion,
    compile_drivers,
    largest_error,
    motion_of,
    run,
)
from polhode.advice.prices import USUAL, Prices, prices
from polhode.compiling.in_advance import compile_all
from polhode.fits import ranking
from polhode.fits.ranking import AS_PUBLISHED
from polhode.methods import METHODS
from polhode.methods.protocol import Method, OneTorque
from polhode.methods.runs import has_pieces, steps_in
from polhode.methods.wheels import KERNELS
from polhode.problems.pieces import edges_of
from polhode.problems.problem import Problem
from polhode.references.defect import GOLDEN

#: Time limit of an answer if none is given, s of processor time after the compilation.
LIMIT = 60.0
#: The part of what is left of a given time limit that the compilation may take.
COMPILING = 0.5
#: The part of the time that motions from other starts than the first leave for runs.
FOR_RUNS = 0.5
#: If less than this part of the time is left for runs, methods of high order (:data:`FIRST_TRIED`) first try one short step
#: if they are compiled, so that there is a step to be named when the time is over.
SHORT, FIRST_TRIED = 0.5, ("magnus_adams4", "cf4", "rk4")
#: Runs of at least so many steps tell how long a step of a method takes: in shorter ones other work does.
TIMED = 10_000
#: The part of the error that a run may use: the rest is for times between those compared, and for the rounding of the step.
MARGIN = 0.8
#: The number of times at which a run is compared with the motion.
CHECKS = 64
#: The coarsest step tried, in radians turned.
COARSEST = 2.0
#: Number of halvings of a step at which the error must be met as well.
FINER = 2
#: Finer steps at which the step found is checked once more, as ratios of numbers of steps.
NEIGHBOURS = (1.02, 1.05, 1.1, 1.2, 1.35, 1.6)
#: Relative precision of the number of steps.
PRECISION = 0.01
#: What methods ask of a code (:func:`kind`), the least first.
KINDS = ("one torque", "several torques at first", "several torques")
#: A body that turned less than this part of its radians at its initial angular velocity starts near rest.
AT_REST = 0.1
#: An error below which it must decrease with the step, and the steps per radian from which on a larger one must too.
SMALL, FINE = 0.03, 1000.0
#: Number of other starts that the step has to serve, and the part of the starts that must be known for an answer.
OTHERS, MOST_OF = 19, 0.75
#: Other starts from which it is decided whether turned starts are the same motion.
TURNED_STARTS = 3
#: Sizes of residual rates, in parts of the largest angular velocity of the given motion: these, beside a motion about a fixed
#: axis; between these, with random logarithms, where turned starts are the same motion.
RESIDUAL, BETWEEN = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2), (1e-7, 1e-2)
#: Parts of the time limit that a run from one start may take, in the first round, the second and so on, until a method meets
#: the error: methods that never do must not take the time of those that would.
ROUNDS = (1 / 1000, 1 / 100, 1 / 10)
#: Numbers of parts up to which all steps divide the times of jumps; beyond it steps that do not are tried too.
MANY_PARTS = 20_000
#: Steps within the shortest change of the torque from which on an error must decrease with the step.
WITHIN = 4.0
#: Runs of two methods agree with each other and not with the motion if they are closer to each other by this factor.
CLOSER = 0.1
#: The methods that are run for a body with wheels: those to which wheels are part of the body, and others of high order. The
#: second name is of the one that moves such a body exactly between two torques.
WITH_WHEELS = (*KERNELS, "rk4", "cf4", "magnus_adams4", "spiral_predicted", "rkmk4")
EXACT_WITH_WHEELS = "exact_rotor"
#: The mark of a method with the fewest steps that there can be.
FROM_EDGE_TO_EDGE = "one step from edge to edge"
#: Methods that are often among the best go first: those that cannot win are then given up early.
FAVOURITES = ("spiral_leapfrog", "spiral_predicted", "magnus_adams4", "cf4", "rk4", "spiral_dkd", "no_squish", "pcdm2016")
#: Methods that codes run and their users know by name, of second order or more. If there was no time for one of them the answer
#: says so first: it may be the better one.
WELL_KNOWN = ("rk4", "verlet", "no_squish", "moser_veselov", "fincham1992", "richardson", "adams_bashforth4", "spiral_leapfrog")


@dataclass(frozen=True)
class FewestSteps:
    """The fewest steps with which a method meets an error.

    Parameters
    ----------
    steps : number of steps over the horizon; 0 if none was found
    error : the largest error with these steps
    coarsest : whether they are the fewest that were tried
    why : the reason if there are none: "gave up" (it takes too long), "does not meet it", "no time"
    finest : the largest number of steps tried, of a method that does not meet it
    """

    steps: int
    error: float
    coarsest: bool = False
    why: str = ""
    finest: int = 0


def from_runs(
    case: BodyCase,
    error: float,
    torque_price: float = USUAL,
    one_torque: bool = True,
    everything: bool = False,
    budget: Budget | None = None,
    results: Path | None = None,
    progress: Callable[[str, float], object] = lambda stage, done: None,
) -> Recommendation:
    """The answer to :func:`polhode.advice.for_motion`, from runs of the methods that can win.

    Parameters
    ----------
    case : the body with its torque and its starts
    error : to stay below: the larger of the angle in rad and of omega relative to its largest value; of the angle alone an
        :class:`~polhode.advice.errors.Angle`
    torque_price : the time of one torque in steps of direct Euler
    one_torque : whether only methods with one torque in a step may be recommended
    everything : whether all methods are run
    budget : the time that is left, compilation included; without it :data:`LIMIT`, compilation left out
    results : folder of a run with the times of steps; by default a run or the released data
    progress : called with the name of a stage and the part of it that is done, 0 to 1

    Raises
    ------
    AdviceError
        If the motion cannot be known to well below the error, or no method meets it.
    TimeOver
        If the time is over before a step is tested; with what runs with half the step say (:mod:`polhode.advice.halving`).
    """
    limited = budget is not None
    budget = budget or Budget(LIMIT)
    try:
        return _searched(case, error, torque_price, one_torque, everything, budget, limited, results, progress)
    except TimeOver as over:
        over.halved = halved(case, error, one_torque, budget)
        raise


def _searched(
    case: BodyCase,
    error: float,
    torque_price: float,
    one_torque: bool,
    everything: bool,
    budget: Budget,
    limited: bool,
    results: Path | None,
    progress: Callable[[str, float], object],
) -> Recommendation:
    """:func:`from_runs` within a budget; ``limited`` says whether the compilation counts."""
    methods = candidates(one_torque, everything)
    priced = prices(torque_price, results).between(edges_of(case.starts[0], case.horizon))
    compile_drivers()
    starts = _starts(case, error, budget, progress)
    if isinstance(error, Angle):
        starts = replace(starts, motions=[replace(motion, of_omega=False) for motion in starts.motions])
    finding = Search(starts.motions, error, budget)
    exact = ranking.WITHOUT_TORQUE if all(motion.problem.torque_class == "free" for motion in starts.motions) else ""
    few = None
    if with_wheels := [motion.problem for motion in starts.motions if motion.problem.body.wheels]:
        methods = methods if everything else [method for method in methods if method.key in WITH_WHEELS]
        with budget.paused():
            priced.measure_wheels(with_wheels[0], METHODS[EXACT_WITH_WHEELS], METHODS[FIRST])
    elif not everything:
        few = contenders(case, starts.motions, methods, finding.allowed, priced, kind)
    fewest: dict[str, FewestSteps] = {}
    late: list[str] = []

    def search(some: Sequence[Method], share: float = 1.0) -> None:
        """Compile these methods and run them: ``share`` of all that is to be run, with what was run before."""
        ready, lost = _compiled(some, exact, budget, limited)
        late.extend(lost)
        progress("compiling", share)
        if not ready and not fewest:
            raise TimeOver(
                f"the time limit of {budget.seconds:g} s is over before the methods are compiled, which is done once and takes "
                "up to a minute or two; allow more time with `limit`, or ask without it"
            )
        if not fewest and budget.left() < SHORT * budget.seconds:
            finding.try_first(methods, ready)
        finding.search(ready, priced, exact, everything, lambda stage, done: progress(stage, done * share), fewest)

    if few is None:
        # Where no torque acts the exact rotor turns a body with wheels exactly: if it can win, it does so with the fewest runs.
        search(sorted(methods, key=lambda method: (not with_wheels or method.key != EXACT_WITH_WHEELS, _rank(method))))
    while few:
        waiting = sorted((key for key in few.run if key not in (*fewest, *late)), key=lambda key: key != exact)
        if not waiting:
            break
        search([METHODS[waiting[0]]], (len(fewest) + 1) / (len(fewest) + len(waiting)))
        reached = {key: result.steps for key, result in fewest.items() if result.steps}
        seconds = {key: priced.seconds(METHODS[key], steps) for key, steps in reached.items()}
        asks = KINDS.index(kind(METHODS[min(seconds, key=lambda key: seconds[key])])) if seconds else 0
        few = few.narrowed(reached, fewest, KINDS[:asks])
    reached = {key: result.steps for key, result in fewest.items() if result.steps}
    if few and not (finding.reaches(fewest) and few.is_like_the_bodies(reached)):
        few = None
        late.clear()
        search(sorted((m for m in methods if m.key not in fewest or fewest[m.key].why == "no time"), key=_rank))
    _refuse_a_wrong_motion(fewest, finding)
    if not finding.reaches(fewest):
        if not late and all(result.why != "no time" for result in fewest.values()):
            raise AdviceError(_unreached(finding, error))
        return _not_confirmed(case, finding, priced, starts, error, one_torque, fewest, late)
    served = [METHODS[key] for key, result in fewest.items() if result.steps]
    for method in served:
        priced.measure(method, METHODS[FIRST])
    best = min(priced.seconds(m, fewest[m.key].steps) for m in served if not m.key.endswith(AS_PUBLISHED))
    if fewest.get(exact, FewestSteps(0, inf)).steps:
        best = priced.seconds(METHODS[exact], fewest[exact].steps)
    rows = _choices(case, served, fewest, priced, best)
    rows.sort(key=lambda row: row.method != exact)
    first = next(row for row in rows if not row.method.endswith(AS_PUBLISHED))
    alone = _one_by_one(METHODS[first.method], starts.motions, error, budget, progress, finding.errors)
    return _recommendation(case, error, rows, first, fewest, finding, priced, starts, alone, one_torque, everything, few, late)


def _compiled(methods: Sequence[Method], exact: str, budget: Budget, limited: bool) -> tuple[list[Method], list[str]]:
    """The methods that are compiled, and the keys of those without time for it.

    Parameters
    ----------
    methods : the most promising first
    exact : the method that goes before them, if there is one
    budget : the time that is left
    limited : whether the compilation counts, and may take :data:`COMPILING` of it
    """
    keys = sorted((method.key for method in methods), key=lambda key: key != exact)
    if limited:
        late = compile_all(keys, problems=False, seconds=max(0.0, COMPILING * budget.left()))
    else:
        with budget.paused():
            late = compile_all(keys, problems=False, seconds=None)
    return [method for method in methods if method.key not in late], late


def _refuse_a_wrong_motion(fewest: Mapping[str, FewestSteps], finding: "Search") -> None:
    """Raise if methods that do not meet the error agree with each other: then the motion they are compared with is wrong.

    Not if more methods meet it than agree so: methods that are related may share a fault.
    """
    motion = finding.motions[0]
    at = np.arange(1, 9, dtype=np.int64)
    lost = {
        key: result.finest // 8 * 8 for key, result in fewest.items() if result.finest >= 8 and not key.endswith(AS_PUBLISHED)
    }
    ends = {
        key: run(motion.problem, METHODS[key], steps, at * (steps // 8))[1:]
        for key, steps in lost.items()
        if finding.allows(METHODS[key], steps)
    }
    exact = motion.at(at / 8 * motion.problem.horizon)
    apart = {key: largest_error(*end, *exact, motion.scale) for key, end in ends.items()}
    pairs = [
        (max(apart[a], apart[b]), a, b)
        for a, b in combinations(ends, 2)
        if largest_error(*ends[a], *ends[b], motion.scale) < CLOSER * min(apart[a], apart[b])
    ]
    agreeing = {key for _, *pair in pairs for key in pair}
    if pairs and len(agreeing) > sum(result.steps > 0 for result in fewest.values()):
        difference, a, b = max(pairs)
        raise AdviceError(
            f"{METHODS[a].label} and {METHODS[b].label} agree with each other and differ from the exact motion by "
            f"{difference:.1g}: that motion, or the torque, is not what it seems, and there is no answer. If the torque has "
            "short pulses or jumps, name their times under breakpoints"
        )


def _enough(fastest: dict[str, float], kind_of_method: str) -> float:
    """The time (s) beyond which a method is of no interest, from the fastest of each kind so far.

    A method is given up when it must take longer than the best of its kind by :data:`~polhode.advice.contenders.SLOWER`, or at
    once if none of its kind comes within this factor of the best of all: of a kind that cannot compete only the best is wanted.
    """
    if kind_of_method not in fastest:
        return inf
    return fastest[kind_of_method] * (SLOWER if fastest[kind_of_method] <= SLOWER * min(fastest.values()) else 1.0)


def kind(method: Method) -> str:
    """What a method asks of a code: several torques in every step, several in the first ones, or one in all.

    The word for it, one of :data:`KINDS`.
    """
    if not isinstance(method, OneTorque):
        return "several torques"
    return "one torque" if not (method.warm_up_steps or method.processor) else "several torques at first"


def candidates(one_torque: bool = False, everything: bool = False) -> list[Method]:
    """The registered methods that may be recommended; with ``everything`` also variants of publications' code.

    With ``one_torque`` only those that take one torque in a step.
    """
    methods = list(METHODS.values())
    if one_torque:
        methods = [method for method in methods if method.torques_per_step == 1]
    return [method for method in methods if everything or not method.key.endswith(AS_PUBLISHED)]


class Search:
    """The search for the fewest steps that meet an error from each of several starts.

    An error is the larger of the angle in rad and of omega relative to its largest value, or the angle alone if omega does not
    count in the motions.

    Parameters
    ----------
    motions : the exact motions from these starts
    error : to be met
    budget : the time that is left
    errors : of runs of another search for the same error, which are not made again
    """

    #: The number of steps from which on an error must decrease with the step: before that a pulse may fall between two steps.
    resolved: float = 0.0
    #: Numbers of steps are multiples of this, so that jumps of the torque lie between steps.
    unit: int = 1

    def __init__(
        self,
        motions: Sequence[KnownMotion],
        error: float,
        budget: Budget,
        errors: dict[tuple[int, str, int], float] | None = None,
    ) -> None:
        self.motions, self.budget = list(motions), budget
        #: The error of each run: of a motion (its identity), a method and the number of steps in all pieces.
        self.errors = {} if errors is None else errors
        #: Of each method and number of steps: the largest error, and from how many starts.
        self.tested: dict[tuple[str, int], tuple[float, int]] = {}
        #: The same of methods that were tried from the given start only.
        self.tried_first: dict[tuple[str, int], tuple[float, int]] = {}
        #: The error that a run may have: the uncertainty of the motion is taken off.
        self.allowed = MARGIN * error - max(motion.uncertainty for motion in motions)
        self.radians = max(motion.radians for motion in motions)
        self.unit = motions[0].parts if len({motion.parts for motion in motions}) == 1 else 1
        #: The number of steps as long as the longest piece: with fewer all runs are the same.
        self.pieces = max(
            ceil(motion.problem.horizon / np.diff(edges_of(motion.problem, motion.problem.horizon)).max()) for motion in motions
        )
        self.resolved = max(WITHIN * motion.problem.horizon / motion.shortest for motion in motions)
        #: The lengths of the pieces, s, which are the same from all starts; none if a motion has no pieces.
        self.lengths = np.empty(0)
        if all(has_pieces(motion.problem, motion.problem.horizon) for motion in motions):
            self.resolved = 0.0  # no pulse falls between two steps
            self.lengths = np.diff(edges_of(motions[0].problem, motions[0].problem.horizon))
        #: The number of runs so far.
        self.runs = 0
        #: The time of a step of each method, s, once it is known.
        self.per_step: dict[str, float] = {}

    def allows(self, method: Method, steps: int) -> bool:
        """Whether there is time for a run with so many steps, as far as known: by its own steps, else by the motion's."""
        return self.budget.allows(steps, self.per_step.get(method.key))

    def error(self, method: Method, steps: int) -> float:
        """The largest error over the starts; at least the first one that is too large, since the others do not matter then.

        Raises
        ------
        TimeOver
            If there is no time for a run with so many steps.
        """
        if (method.key, steps) in self.tested:
            return self.tested[method.key, steps][0]
        worst = 0.0
        for i, motion in enumerate(self.motions):
            if not self.allows(method, steps):
                raise TimeOver(
                    f"the time limit of {self.budget.seconds:g} s is over after {self.runs} runs; ask for a shorter time or a "
                    "larger error, or allow more time with `limit`"
                )
            worst = max(worst, self._error_of(motion, method, steps))
            self.tested[method.key, steps] = (worst, i + 1)
            if worst > self.allowed:
                # The start that was lost is tried first with the next step.
                self.motions.insert(0, self.motions.pop(i))
                break
        return worst

    def _error_of(self, motion: KnownMotion, method: Method, steps: int) -> float:
        """The error of a run from one start; known before if another number of steps is the same run in pieces."""
        # Two numbers of steps with the same sum have the same steps in each piece: none has fewer of them for more steps.
        in_all = int(steps_in(self.lengths, motion.problem.horizon / steps).sum()) if len(self.lengths) else steps
        run = id(motion), method.key, in_all
        if run not in self.errors:
            self.runs += 1
            begun = self.budget.now()
            self.errors[run] = motion.error(method, steps, CHECKS)
            if steps >= TIMED:
                seconds = (self.budget.now() - begun) / steps
                self.per_step[method.key] = min(seconds, self.per_step.get(method.key, inf))
        return self.errors[run]

    def search(
        self,
        methods: Sequence[Method],
        priced: Prices,
        exact: str,
        everything: bool,
        progress: Callable[[str, float], object],
        fewest: dict[str, FewestSteps] | None = None,
    ) -> dict[str, FewestSteps]:
        """The fewest steps of each method; in rounds, so that those that never meet the error do not take all the time.

        Parameters
        ----------
        methods : compiled ones, the most promising first
        priced : times of steps, and of torques
        exact : key of the method that is run to its end whatever it takes, empty if there is none
        everything : whether all of them are
        progress : called with the name of a stage and the part of it that is done, 0 to 1
        fewest : what is known already, to which these are added

        Returns
        -------
        Key of the method -> its fewest steps: ``fewest`` itself if it is given.
        """
        fewest = {} if fewest is None else fewest
        place = {method.key: i for i, method in enumerate(methods)}
        fastest: dict[str, float] = {}

        def note(method: Method) -> None:
            if (steps := fewest[method.key].steps) and not method.key.endswith(AS_PUBLISHED):
                fastest[kind(method)] = min(fastest.get(kind(method), inf), priced.seconds(method, steps))

        for key in fewest:
            note(METHODS[key])
        for share in ROUNDS:
            longest = share * self.budget.seconds / self.budget.per_step
            ordered = sorted(methods, key=lambda m: (m.key != exact, self.nearest_error(m), place[m.key]))
            for i, method in enumerate(ordered):
                if method.key in fewest and fewest[method.key].why != "no time":
                    continue
                enough = inf if everything or method.key == exact else _enough(fastest, kind(method))
                try:
                    fewest[method.key] = self.fewest(method, priced.steps(method, enough), longest)
                except TimeOver:
                    fewest[method.key] = FewestSteps(0, inf, why="no time")
                note(method)
                progress("methods", max(share, (i + 1) / len(methods) if share == ROUNDS[0] else 0))
            if fastest or not any(result.why == "no time" for result in fewest.values()):
                break
        return fewest

    @staticmethod
    def reaches(fewest: Mapping[str, FewestSteps]) -> bool:
        """Whether a method that may be recommended meets the error, which variants of publications' code may not.

        ``fewest``: key of the method -> its fewest steps.
        """
        return any(result.steps and not key.endswith(AS_PUBLISHED) for key, result in fewest.items())

    def try_first(self, methods: Iterable[Method], compiled: Sequence[Method]) -> None:
        """Run from the given start, with at least as many steps as the exact motion took, until a method meets the error.

        Of :data:`FIRST_TRIED` those that are ``compiled`` (in memory or on disk, the most promising first), else the first of
        them. The errors are added to :attr:`tried_first`: key of the method and steps -> error and 1.
        """
        given = self.motions[0]
        steps = self.unit * ceil(max(given.steps, self.resolved) / self.unit)
        keys = {method.key for method in compiled}
        quick = [m for m in methods if m.key in FIRST_TRIED and (m.key in keys or m.is_kept())]
        for method in quick or compiled[:1]:
            if self.allows(method, steps):
                self.runs += 1
                error = given.error(method, steps, CHECKS)
                self.tried_first[method.key, steps] = error, 1
                if error <= self.allowed:
                    break

    def nearest_error(self, method: Method) -> float:
        """The smallest error of a method so far; infinite if it was not run, or all of its errors are 1 or above."""
        errors = (error for (key, _), (error, _) in self.tested.items() if key == method.key and error < 1)
        return min(errors, default=inf)

    def fewest(self, method: Method, most: float = inf, longest: float = inf) -> FewestSteps:
        """The fewest steps with which a method meets the error, as with all larger numbers that are tried; or why none does.

        Parameters
        ----------
        most : the largest number of steps that is of interest; a method that misses the error with these is given up at once
        longest : the largest number of steps for which there is time now

        Raises
        ------
        TimeOver
            If the time is over.
        """
        in_parts = self._fewest(method, most, longest, self.unit)
        if self.unit <= MANY_PARTS:
            return in_parts
        anywhere = self._fewest(method, min(most, in_parts.steps or most), longest, 1)
        return anywhere if anywhere.steps else in_parts

    def _fewest(self, method: Method, most: float, longest: float, unit: int) -> FewestSteps:
        """The fewest steps, a multiple of ``unit``."""
        errors: dict[int, float] = {}

        # All numbers of steps are counted in units here.
        def meets(steps: int) -> bool:
            if steps not in errors:
                errors[steps] = self.error(method, steps * unit)
            return errors[steps] <= self.allowed

        most = most / unit
        coarsest = max(ceil(2 / unit), ceil(self.radians / COARSEST / unit), ceil(self.pieces / unit))
        if most < coarsest or (isfinite(most) and not meets(int(most))):
            return FewestSteps(0, inf, why="gave up")
        low, high = 0, coarsest
        while True:
            # The ladder: the first rung from which on all meet the error.
            while high * unit > longest or not meets(high):
                if high * unit > longest:
                    return FewestSteps(0, inf, why="no time")
                low, high = high, 2 * high
                if low < int(min(most, high)) < high:
                    high = int(most)  # known to meet it
                elif high > most:
                    return FewestSteps(0, inf, why="gave up")
                seen = {steps: error for steps, error in errors.items() if steps * unit >= self.resolved}
                if stuck(seen, FINE * self.radians / unit):
                    return FewestSteps(0, inf, why="does not meet it", finest=max(errors) * unit)
            lost = [steps for k in range(1, FINER + 1) if not meets(steps := high << k)]
            if lost:
                low, high = lost[-1], 2 * lost[-1]
                continue
            # Between the two.
            while low and high > low + 1 and high > (1 + PRECISION) * low:
                middle = min(max(round(sqrt(low * high)), low + 1), high - 1)
                low, high = (low, middle) if meets(middle) else (middle, high)
            lost = [steps for ratio in NEIGHBOURS if not meets(steps := max(high + 1, round(ratio * high)))]
            if not lost:
                return FewestSteps(high * unit, errors[high], coarsest=high == coarsest and (unit == 1 or coarsest > 1))
            low = lost[-1]
            high = min(steps for steps, error in errors.items() if steps > low and error <= self.allowed)


def stuck(errors: Mapping[int, float], fine: float = inf) -> bool:
    """Whether an error no longer decreases with the step: the last four halvings have not brought it below 0.7 of its value.

    That counts if it was below :data:`SMALL` before them, or if all five runs have ``fine`` steps or more. False of fewer runs.

    Parameters
    ----------
    errors : number of steps -> error
    """
    tried = sorted(errors)[-5:]
    last = [errors[n] for n in tried]
    return len(last) == 5 and (last[0] < SMALL or tried[0] >= fine) and min(last[1:]) > 0.7 * last[0]


def _rank(method: Method) -> tuple[int, int]:
    key = method.key
    return (FAVOURITES.index(key) if key in FAVOURITES else len(FAVOURITES), method.torques_per_step)


def _choices(
    case: BodyCase, methods: Iterable[Method], fewest: dict[str, FewestSteps], priced: Prices, best: float
) -> list[Choice]:
    rows = []
    for method in methods:
        result = fewest[method.key]
        steps = priced.equal(result.steps)
        seconds = priced.seconds(method, steps)
        number, usual = int(priced.in_pieces(steps).sum()), priced.usual(steps)
        rows.append(
            Choice(
                method.key,
                known_as(method.key),
                case.horizon / steps,
                number,
                priced.torques(method, steps),
                seconds,
                seconds / best,
                result.error,
                FROM_EDGE_TO_EDGE
                if number == len(priced.pieces)
                else "coarsest step tried"
                if result.coarsest
                else _mostly(usual),
                usual,
            )
        )
    return sorted(rows, key=lambda row: row.seconds or inf)


def _mostly(usual: float | None) -> str:
    """The length of most steps (s) beside the longest one, as the mark of a method."""
    return "" if usual is None else f"mostly {usual:.4g} s"


@dataclass(frozen=True)
class Starts:
    """The motions that a step has to serve.

    Parameters
    ----------
    motions : list of KnownMotion
        That of the given start first, if the question leaves nothing open.
    unknown : int
        The number of starts that were left out, because their motion cannot be known so well.
    beside : int
        How many of the motions begin with the given rates and residual ones about other axes.
    alike : bool
        Whether turned starts are the same motion, so that there are none among them.
    """

    motions: list[KnownMotion]
    unknown: int
    beside: int = 0
    alike: bool = False


def _starts(case: BodyCase, error: float, budget: Budget, progress: Callable[[str, float], object]) -> Starts:
    """The exact motions from the starts that a step has to serve.

    The start of a case that leaves nothing open comes first, and must be known. Other starts leave a part of the time,
    :data:`FOR_RUNS`.
    """
    motions: list[KnownMotion] = []
    lost: list[AdviceError] = []
    reserved = FOR_RUNS * budget.left()

    def add(starts: Iterable[Problem]) -> int:
        """Compute these motions as long as there is time; returns how many are known."""
        before = len(motions)
        for start in starts:
            with budget.reserving(reserved if motions else 0.0):
                if motions and budget.left() < 0:
                    break
                try:
                    motions.append(motion_of(start, error, budget, motions[0] if motions else None))
                except TimeOver:
                    if not motions:
                        raise
                    break
                except AdviceError as refusal:
                    if not (case.open_questions or motions):
                        raise
                    lost.append(refusal)
            progress("motion", min(1.0, (len(motions) + len(lost)) / (1 + OTHERS)))
        return len(motions) - before

    add(case.starts)
    beside, alike = 0, False
    if not case.open_questions:
        given = motions[0]
        turned = add(map(case.again, range(TURNED_STARTS)))
        alike = turned > 0 and not lost and all(_is_same(given, other, error) for other in motions[1:])
        if alike:
            del motions[1:]
            beside = add(case.beside(i, given.scale * _between(i)) for i in range(OTHERS))
        else:
            if _has_fixed_axis(given, error):
                beside = add(case.beside(i, given.scale * rate) for i, rate in enumerate(RESIDUAL))
            add(map(case.again, range(TURNED_STARTS, OTHERS)))
    if lost and len(motions) < MOST_OF * (len(motions) + len(lost)):
        raise AdviceError(f"of {len(motions) + len(lost)} starts {len(lost)} cannot be known: {lost[-1]}")
    return Starts(motions, len(lost), beside, alike)


def _between(i: int) -> float:
    """A residual rate between the smallest and the largest, in parts of the largest angular velocity."""
    low, high = BETWEEN
    return float(low * (high / low) ** (((i + 1) * GOLDEN) % 1))


def _is_same(motion: KnownMotion, other: KnownMotion, error: float) -> bool:
    """Whether two motions of a body are the same but for a rotation of the space, to within an error: in the body frame."""
    times = np.linspace(0, motion.problem.horizon, COMPARED)
    apart = np.linalg.norm(motion.at(times)[1] - other.at(times)[1], axis=1).max()
    return bool(apart < error * motion.scale)


def _has_fixed_axis(motion: KnownMotion, error: float) -> bool:
    """Whether a body turns about the same axis of its own all the time, to within an error."""
    omega = motion.states[:, 4:]
    axis = omega[np.argmax(np.linalg.norm(omega, axis=1))] / motion.scale
    return bool(np.linalg.norm(np.cross(omega, axis), axis=1).max() < error * motion.scale)


def _one_by_one(
    method: Method,
    motions: Sequence[KnownMotion],
    error: float,
    budget: Budget,
    progress: Callable[[str, float], object],
    errors: dict[tuple[int, str, int], float],
) -> list[int]:
    """The fewest steps with which a method serves single starts, of as many as there is time for; ``errors`` are known."""
    steps: list[int] = []
    for i, motion in enumerate(motions):
        try:
            steps.append(Search([motion], error, budget, errors).fewest(method).steps)
        except TimeOver:
            break
        progress("interval", (i + 1) / len(motions))
    return [number for number in steps if number]


def serves(case: BodyCase, starts: Starts) -> str:
    """For which starts a step is sufficient, in a sentence or two.

    A step that is sufficient for n random starts is so for another one with probability n/(n + 1), whatever their distribution.
    """
    number, beside = len(starts.motions), starts.beside
    if case.open_questions:
        text = f"It is sufficient for {f'{number} random {case.starts_are}' if number > 1 else 'one random start'}"
    elif number > 1:
        low, high = BETWEEN if starts.alike else (RESIDUAL[0], RESIDUAL[-1])
        rates = f"{beside} with residual rates of {low:g} to {high:g} of the largest angular velocity about random axes"
        turned = number - 1 - beside
        if starts.alike:
            text, number = f"It is sufficient for the given start and {rates}", beside
        else:
            text, number = (
                f"It is sufficient for the given start{f', {rates},' if beside else ''} and {turned} other {case.starts_are}",
                turned,
            )
    else:
        text, number = "It is known to be sufficient for the given start ONLY", 0
        if not starts.unknown:
            text += ": there was no time for others; allow more with `limit`"
    if starts.unknown:
        text += f"; of {starts.unknown} more the motion cannot be known so well"
    elif number:
        text += f", and for another {'such start' if starts.alike else 'one'} with probability {number}/{number + 1}"
    if starts.alike:
        text += ". Turned starts were not counted: they are the same motion, seen from the body"
    elif beside:
        text += ". The given start turns about one axis of the body, beside which motions may part"
    return f"{text}."


def density(steps: int, speed: float, horizon: float, turned: float, of: str = "at the initial angular velocity") -> str:
    """A number of steps per radian turned at the initial angular velocity, or another one that ``of`` names, in words.

    Of a body that hardly turns at the start, against what it turns later, the steps of all its radians are stated instead.

    Parameters
    ----------
    steps : of the run
    speed : angular velocity at the start, rad/s
    horizon : time, s
    turned : radians turned
    of : the angular velocity in words
    """
    at_first = speed * horizon
    if at_first < AT_REST * turned:
        return f"{steps} steps for {turned:.3g} rad turned"
    ratio = steps / at_first
    number = f"{ratio:.3g} steps a radian" if ratio >= 1 else f"{1 / ratio:.3g} radians a step"
    return f"{number} {of}"


def _recommendation(
    case: BodyCase,
    error: float,
    rows: list[Choice],
    first: Choice,
    fewest: dict[str, FewestSteps],
    finding: Search,
    priced: Prices,
    starts: Starts,
    alone: list[int],
    one_torque: bool,
    everything: bool,
    few: Contenders | None,
    not_compiled: Sequence[str],
) -> Recommendation:
    uncertainty = max(m.uncertainty for m in finding.motions)
    assert first.steps is not None and first.seconds is not None
    chosen, best, number = METHODS[first.method], first, len(finding.motions)
    gave_up = sum(result.why == "gave up" for result in fewest.values())
    late = [key for key, result in fewest.items() if result.why == "no time"]
    never = sum(result.why == "does not meet it" for result in fewest.values())
    lost = [f"{gave_up} given up as too slow"] if gave_up else []
    lost += [f"{never} never reach the error"] if never else []
    lost += [f"{len(late)} not finished within the time limit"] if late else []
    evidence = [
        f"{len(fewest)} methods were run on this very problem, {finding.runs:,} runs"
        + (f"; {' and '.join(lost)}" if lost else "")
        + f". The step is the largest at which, as at all finer ones tried, the error stays below {MARGIN:g} of the one asked "
        f"for, from every start: it is {best.error:.2g}.",
        *_how_known(case, finding, priced),
    ]
    if not everything and any(motion.problem.body.wheels for motion in finding.motions):
        evidence.insert(
            1, "With wheels only those are run that have wheels as part of the body, and some of high order; --all runs all."
        )
    if few and (few.left_out or few.dropped):
        evidence.insert(1, few.on_left_out())
    if case.open_questions:
        evidence.insert(
            1,
            f"Open in the question, and drawn for {number} {case.starts_are}: {' and '.join(case.open_questions)}.",
        )
    remarks = drift(first.method, [row.method for row in rows[:SHOWN]])
    jumps = finding.motions[0].jumps
    if len(jumps):
        several = len(jumps) > 3
        declared = bool(priced.pieces)
        remarks.append(
            f"The torque jumps at t = {', '.join(f'{t:.6g}' for t in jumps[:3])}{' ...' if several else ''} s. "
            + (
                "End a step at each: the time from one to the next is divided into the fewest equal steps of at most dt."
                if declared
                else "The step divides these times; one that does not may need to be far shorter."
                if finding.unit > 1 and best.steps is not None and best.steps % finding.unit == 0
                else "Steps of one length pass over the jumps; runs in pieces that end there need far fewer."
            )
        )
    plain = [row for row in rows if not row.method.endswith(AS_PUBLISHED)]
    if kind(chosen) != "one torque":
        when = "With one torque in a step" if kind(chosen) == "several torques" else "With one torque in its first steps too"
        remarks += _instead(when, plain, lambda method: kind(method) == "one torque")
    if all(motion.problem.torque_class == "free" for motion in starts.motions) and first.method == ranking.WITHOUT_TORQUE:
        remarks.append("Any step will do: without a torque it is exact.")
    elif first.mark == FROM_EDGE_TO_EDGE:
        remarks.append("It takes one step from each edge of the torque to the next, and there is no longer one.")
    elif first.mark and first.usual is None:
        remarks.append("It meets the error with the coarsest step tried; a longer one may do as well.")
    steps = [case.horizon / n for n in (max(alone), min(alone))] if alone else [first.dt, first.dt]
    low, high = min(first.dt, steps[0]), max(first.dt, steps[1])
    means = (
        f"Interval: for {len(alone)} {case.starts_are}, one by one, the largest step lies between {low:.3g} and {high:.3g} s."
        if alone
        else f"Interval: there was no time for single {case.starts_are}."
    )
    remarks += _without(late, not_compiled)
    is_known = uncertainty <= ALLOWED * error
    if not is_known:
        remarks.insert(0, _doubt(uncertainty))
    return Recommendation(
        **terms(case, priced, error, one_torque),
        best=best,
        sentence=("" if is_known else "NOT CONFIRMED: ") + take(case, best, _radians(case, starts)),
        confirmed=is_known,
        interval=(low, high),
        interval_means=means,
        serves=serves(case, starts),
        costs=f"It takes {first.torques:,} evaluations of the torque, {duration(first.seconds)} in all."
        + at_outputs(first.method, plain),
        notes=_unfinished(late, not_compiled),
        changes=_changes(chosen, plain, priced),
        alternatives=rows,
        evidence=evidence,
        remarks=remarks,
        shown=len(rows) if everything else SHOWN,
    )


def row_of(case: BodyCase, priced: Prices, key: str, allowed: int, error: float, mark: str) -> Choice:
    """The row of a method that was run; its time is not compared with others.

    Parameters
    ----------
    priced : times of steps, for the pieces of the run
    key : of the method
    allowed : the number of steps of the run if all were as long as the longest may be
    error : with these steps, rad or relative
    mark : what else must be said, in a word or two
    """
    steps, method = priced.equal(allowed), METHODS[key]
    number, seconds = int(priced.in_pieces(steps).sum()), priced.seconds(method, steps)
    torques, usual = priced.torques(method, steps), priced.usual(steps)
    return Choice(key, known_as(key), case.horizon / steps, number, torques, seconds, None, error, mark, usual)


def _not_confirmed(
    case: BodyCase,
    finding: Search,
    priced: Prices,
    starts: Starts,
    error: float,
    one_torque: bool,
    fewest: Mapping[str, FewestSteps],
    not_compiled: Sequence[str],
) -> Recommendation:
    """The best step that was tested before the time was over.

    Raises
    ------
    TimeOver
        If none came near the error.
    """
    rows: dict[str, tuple[bool, float, Choice, int]] = {}
    for (key, allowed), (off, count) in (finding.tried_first | finding.tested).items():
        misses = off > error or count < len(finding.motions)
        if key.endswith(AS_PUBLISHED) or off >= 1:
            continue
        mark = "misses the error" if off > error else f"from {count} of {len(finding.motions)} starts" if misses else ""
        row = row_of(case, priced, key, allowed, off, mark)
        entry = (misses, off if misses else row.seconds or 0.0, row, count)
        rows[key] = min(rows.get(key, entry), entry, key=lambda row: row[:2])
    late = f"the time limit of {finding.budget.seconds:g} s is over after {finding.runs:,} runs"
    if not rows:
        raise TimeOver(
            f"{late}, none of which came near the error; ask for a shorter time or a larger error, or allow more time with "
            "`limit`"
        )
    ordered = sorted(rows.values(), key=lambda row: row[:2])
    misses, _, best, count = ordered[0]
    measured = f"its error was {best.error:.2g} from {count} start{'s' if count > 1 else ''} of {len(finding.motions)}"
    why = "it misses the error" if (best.error or 0) > error else "finer steps, which must meet the error too, were not run"
    said = "the best step tested is" if misses else "take"
    uncertainty = max(motion.uncertainty for motion in finding.motions)
    unfinished = [key for key, result in fewest.items() if result.why == "no time" and key not in rows]
    return Recommendation(
        **terms(case, priced, error, one_torque),
        best=best,
        sentence=f"NOT CONFIRMED: {take(case, best, _radians(case, starts), said)}",
        confirmed=False,
        interval=(best.dt, best.dt),
        interval_means="Interval: not known.",
        serves=f"Not confirmed, since {late}: {measured}, and {why}.",
        notes=_unfinished(unfinished, not_compiled),
        changes=["more time with `limit`", "a shorter time or a larger error", *restarts(METHODS[best.method])],
        alternatives=[row for _, _, row, _ in ordered],
        evidence=[
            f"{len({key for key, _ in (*finding.tested, *finding.tried_first)})} methods were run on this very problem, "
            f"{finding.runs:,} runs.",
            *_how_known(case, finding, priced),
        ],
        remarks=([_doubt(uncertainty)] if uncertainty > ALLOWED * error else []) + _without(unfinished, not_compiled),
    )


def _radians(case: BodyCase, starts: Starts) -> float:
    """The radians that the body turns, from the start that is given, or the most if several are open."""
    return max(motion.radians for motion in (starts.motions if case.open_questions else starts.motions[:1]))


def take(case: BodyCase, best: Choice, radians: float, said: str = "Take") -> str:
    """A method and its step, in a sentence, for a body that turns so many ``radians``; ``said`` are its first words."""
    steps = round(case.horizon / (best.usual or best.dt))
    body = case.starts[0].body
    often = density(steps, case.speed, case.horizon, radians)
    if body.nutation > case.speed:
        often = f"{density(steps, body.nutation, case.horizon, 0.0, f'of the nutation, {body.nutation:.3g} rad/s')}"
    edges = len(edges_of(case.starts[0], case.horizon)) - 2
    length = (
        f"steps of at most {best.dt:.4g} s, most of them {best.usual:.4g} s (between two of the {edges:,} edges of the torque "
        f"they are equal), {best.steps:,} in all"
        if best.usual
        else f"steps of at most {best.dt:.4g} s that end at the {edges:,} edges of the torque, {best.steps:,} in all"
        if edges
        else f"dt = {case.horizon:g} s / {steps} = {best.dt:.4g} s"
    )
    return f"{said} {best.label} ({best.method}) with {length}, {often}, for {case.horizon:g} s."


def terms(case: BodyCase, priced: Prices, error: float, one_torque: bool) -> dict[str, Any]:
    """What was asked, in words and as data: name -> value of the fields of a :class:`Recommendation` that say so.

    These are ``question`` (words), ``error``, ``kind`` ("runs") and ``asked``: the ``question`` of the case with ``error``,
    ``orientation_alone``, ``torque_price`` and ``one_torque``.

    Parameters
    ----------
    priced : with the price of a torque
    error : the larger of the angle in rad and of omega relative to its largest value; of the angle alone an
        :class:`~polhode.advice.errors.Angle`
    one_torque : whether only methods with one torque in a step might be recommended
    """
    alone = isinstance(error, Angle)
    below = f"angle of the orientation below {error:.3g} rad" if alone else f"error below {error:g}"
    return {
        "question": f"{case.words}, {below}, {price_in_words(priced.torque, priced.unit)}",
        "error": error,
        "kind": "runs",
        "asked": {
            **case.question,
            "error": error,
            "orientation_alone": alone,
            "torque_price": priced.torque,
            "one_torque": one_torque,
        },
    }


def _unfinished(late: Sequence[str], not_compiled: Sequence[str]) -> list[str]:
    """That the time was over before all methods were compared, in a sentence of the first paragraph.

    Those of :data:`WELL_KNOWN` are named.
    """
    counts = [(keys, what) for keys, what in ((late, "not finished"), (not_compiled, "not compiled")) if keys]
    if not counts:
        return []
    keys, ask = [*late, *not_compiled], ": allow more with `limit`"
    if len(keys) == 1:
        return [f"Within the time limit {METHODS[keys[0]].label} was {counts[0][1]}; it may be faster{ask}."]
    numbers = " and ".join(f"{len(some)} {'was' if len(some) == 1 else 'were'} {what}" for some, what in counts)
    said = f"Of the other methods {numbers} within the time limit; they may be faster"
    known = [METHODS[key].label for key in WELL_KNOWN if key in keys]
    return [names_on_lines(f"{said}, among them ", known, ask) if known else f"{said}{ask}."]


def _without(late: Sequence[str], not_compiled: Sequence[str]) -> list[str]:
    """Which methods were left out because there was no time to run or to compile them."""
    lists = [
        ("Not finished within the time limit: ", late),
        ("Not compiled within half of the time (what is compiled is kept: ask again): ", not_compiled),
    ]
    return [names_on_lines(text, [known_as(key) for key in _known_first(keys)]) for text, keys in lists if keys]


def _known_first(keys: Sequence[str]) -> list[str]:
    """Keys of methods, those of :data:`WELL_KNOWN` first."""
    return sorted(keys, key=lambda key: WELL_KNOWN.index(key) if key in WELL_KNOWN else len(WELL_KNOWN))


def _doubt(uncertainty: float) -> str:
    return f"The exact motion is known to {uncertainty:.1g} only, within the time limit; allow more with `limit`."


def _how_known(case: BodyCase, finding: Search, priced: Prices) -> list[str]:
    """What the error is, how the exact motion is known, and where the times come from."""
    # At other starts than the given one the torque is only looked at again.
    looked = (max if case.open_questions else min)(m.looked for m in finding.motions)
    of_both = all(motion.of_omega for motion in finding.motions)
    error = "the larger of the angle in rad and |omega - exact| over the largest |omega|" if of_both else "the angle in rad"
    return [
        f"Error: {error}, at {CHECKS} times of the run, in its first steps and where the torque changes.",
        f"Exact motion: {METHODS[FIRST].label} and {METHODS[SECOND].label} with {max(m.steps for m in finding.motions):,} "
        f"steps, short where the torque changes, which agree to {max(m.uncertainty for m in finding.motions):.1g}. The torque "
        f"was looked at every {looked:.2g} s: a shorter pulse would not have been seen; name it under breakpoints.",
        f"Times: steps measured on {priced.known_from()}; on another machine `polhode bench` shows how they compare.",
    ]


def _changes(best: Method, rows: Sequence[Choice], priced: Prices) -> list[str]:
    """What would change an answer from runs: the price of a torque, and changes of the step."""
    first = next(row for row in rows if row.method == best.key)
    changes = ["a smaller error, a longer time, a stronger torque: ask again, all of it is run"]
    crossings = []
    for row in rows:
        # Times are a + b price; the price at which both are equal.
        more = (row.torques or 0) - (first.torques or 0)
        less = (first.steps or 0) * priced.step[first.method] - (row.steps or 0) * priced.step[row.method]
        price = less / (more * priced.unit) if more else nan
        if price > 0 and abs(price - priced.torque) > CLOSE * priced.torque:
            crossings.append((abs(log(price / max(priced.torque, 0.01))), price, row.label))
    if crossings:
        _, price, label = min(crossings)
        changes.append(f"a torque that costs {'more' if price > priced.torque else 'less'} than {price:.2g} steps ({label})")
    return [*changes, *restarts(best)]


def _instead(when: str, rows: list[Choice], suits: Callable[[Method], bool]) -> list[str]:
    """The best of the methods that suit, as a remark; nothing if there is none."""
    row = next((row for row in rows if suits(METHODS[row.method])), None)
    if row is None:
        return []
    return [f"{when}: {row.label} ({row.method}) with dt = {row.dt:.4g} s, {row.relative:.2f} times as long."]


def _unreached(finding: Search, error: float) -> str:
    return (
        f"no method reaches {error:g} within what can be run: the motion turns {finding.radians:.3g} rad and is known to "
        f"{max(m.uncertainty for m in finding.motions):.1g}. Ask for a larger error or a shorter time"
    )
