"""Advice from runs: every method that applies is run on the very problem, and its largest step that meets the error is found.

A step counts only if all finer steps that were tried meet the error too. Errors are compared at many times of the run, since a
small error at the end may be a coincidence. The motion with which runs are compared is computed by two other methods
(:mod:`polhode.advice.motion`). The step that is named serves other starts of the same body too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from math import ceil, inf, isfinite, log, nan, sqrt
from pathlib import Path

import numpy as np

from polhode.advice.answer import CLOSE, SHOWN, Choice, Recommendation, price_in_words
from polhode.advice.cases import BodyCase
from polhode.advice.errors import AdviceError, TimeOver
from polhode.advice.motion import FIRST, SECOND, Budget, KnownMotion, largest_error, motion_of, run
from polhode.advice.prices import USUAL, Prices, prices
from polhode.compiling.in_advance import compile_all
from polhode.fits import ranking
from polhode.fits.ranking import AS_PUBLISHED
from polhode.methods import METHODS
from polhode.methods.protocol import Method, OneTorque

#: Time limit of an answer, s.
LIMIT = 60.0
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
#: A method is given up when it must take longer than the best of its kind by this factor, or at once if none of
#: its kind comes within this factor of the best of all.
SLOWER = 4.0
#: A body that turned less than this part of its radians at its initial angular velocity starts near rest.
AT_REST = 0.1
#: An error below which it must decrease with the step, and the steps per radian from which on a larger one must too.
SMALL, FINE = 0.03, 1000.0
#: Number of other starts that the step has to serve, and the part of the starts that must be known for an answer.
OTHERS, MOST_OF = 19, 0.75
#: Steps within the shortest change of the torque from which on an error must decrease with the step.
WITHIN = 4.0
#: Runs of two methods agree with each other and not with the motion if they are closer to each other by this factor.
CLOSER = 0.1
#: Methods that are often among the best go first: those that cannot win are then given up early.
FAVOURITES = ("spiral_leapfrog", "spiral_predicted", "magnus_adams4", "cf4", "rk4", "spiral_dkd", "no_squish", "pcdm2016")


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
    limit: float = LIMIT,
    results: Path | None = None,
    progress: Callable[[str, float], object] = lambda stage, done: None,
) -> Recommendation:
    """The answer for a case, from runs of all methods that apply.

    Parameters
    ----------
    case : body, torque and starts
    error : to stay below, at all times: the angle (rad) and |omega - exact| over the largest |omega|; between 0 and 1
    torque_price : the time of a torque in steps of direct Euler
    one_torque : only methods with one torque in a step
    everything : also the variants that reproduce a publication's code, which are never recommended
    limit : time limit, s of processor time
    results : folder of a run, for the times of steps
    progress : called with the name of a stage and the part of it that is done

    Raises
    ------
    AdviceError
        If there is no answer; the message says why, and what to ask.
    """
    methods = candidates(one_torque, everything)
    keys = [method.key for method in methods]
    priced = prices(keys, torque_price, results)
    compile_all(keys, problems=False)
    progress("compiling", 1.0)
    budget = Budget(limit)
    motions, unknown = _motions(case, error, budget, progress)
    finding = Search(motions, error, budget)
    fewest: dict[str, FewestSteps] = {}
    fastest: dict[str, float] = {}
    for i, method in enumerate(sorted(methods, key=_favourites_first)):
        enough = inf if everything else _enough(fastest, kind(method))
        try:
            fewest[method.key] = finding.fewest(method, priced.steps(method, enough))
        except TimeOver:
            if not fastest:
                raise
            fewest[method.key] = FewestSteps(0, inf, why="no time")
        if fewest[method.key].steps and not method.key.endswith(AS_PUBLISHED):
            seconds = priced.seconds(method, fewest[method.key].steps)
            fastest[kind(method)] = min(fastest.get(kind(method), inf), seconds)
        progress("methods", (i + 1) / len(methods))
    _refuse_a_wrong_motion(fewest, finding)
    if not fastest:
        raise AdviceError(_unreached(finding, error))
    best = min(fastest.values())
    rows = _choices(case, [m for m in methods if fewest[m.key].steps], fewest, priced, best)
    first = next(row for row in rows if not row.method.endswith(AS_PUBLISHED))
    alone = _one_by_one(METHODS[first.method], motions, error, budget, progress)
    return _recommendation(case, rows, first, fewest, finding, priced, Others(alone, unknown), one_torque, everything)


def _refuse_a_wrong_motion(fewest: Mapping[str, FewestSteps], finding: "Search") -> None:
    """Raise if methods that do not meet the error agree with each other: then the motion they are compared with is wrong.

    Not if more methods meet it than agree so: methods that are related may share a fault.
    """
    motion = finding.motions[0]
    at = np.arange(1, 9, dtype=np.int64)
    lost = {key: one.finest // 8 * 8 for key, one in fewest.items() if one.finest >= 8 and not key.endswith(AS_PUBLISHED)}
    ends = {key: run(motion.problem, METHODS[key], steps, at * (steps // 8)) for key, steps in lost.items()}
    exact = motion.at(at / 8 * motion.problem.horizon)
    apart = {key: largest_error(*end, *exact, motion.scale) for key, end in ends.items()}
    pairs = [
        (max(apart[a], apart[b]), a, b)
        for a, b in combinations(ends, 2)
        if largest_error(*ends[a], *ends[b], motion.scale) < CLOSER * min(apart[a], apart[b])
    ]
    agreeing = {key for _, *pair in pairs for key in pair}
    if pairs and len(agreeing) > sum(one.steps > 0 for one in fewest.values()):
        difference, a, b = max(pairs)
        raise AdviceError(
            f"{METHODS[a].label} and {METHODS[b].label} agree with each other and differ from the exact motion by "
            f"{difference:.1g}: that motion, or the torque, is not what it seems, and there is no answer. If the torque has "
            "short pulses or jumps, name their times under breakpoints"
        )


def _enough(fastest: dict[str, float], kind_of_method: str) -> float:
    """The time (s) beyond which a method is of no interest, from the fastest of each kind so far.

    Of a kind that cannot compete with the others only the best is wanted.
    """
    if kind_of_method not in fastest:
        return inf
    return fastest[kind_of_method] * (SLOWER if fastest[kind_of_method] <= SLOWER * min(fastest.values()) else 1.0)


def kind(method: Method) -> str:
    """What a method asks of a code: several torques in every step, several in the first ones, or one in all."""
    if not isinstance(method, OneTorque):
        return "several torques"
    return "one torque" if not (method.warm_up_steps or method.processor) else "several torques at first"


def candidates(one_torque: bool = False, everything: bool = False) -> list[Method]:
    """The registered methods that may be recommended; with ``everything`` also variants of publications' code."""
    methods = list(METHODS.values())
    if one_torque:
        methods = [method for method in methods if method.torques_per_step == 1]
    return [method for method in methods if everything or not method.key.endswith(AS_PUBLISHED)]


class Search:
    """The search for the fewest steps that meet an error from each of several starts.

    Parameters
    ----------
    motions : the exact motions from these starts
    error : to be met
    budget : the time that is left
    """

    #: The number of steps from which on an error must decrease with the step: before that a pulse may fall between two steps.
    resolved: float = 0.0
    #: Numbers of steps are multiples of this, so that jumps of the torque lie between steps.
    unit: int = 1

    def __init__(self, motions: Sequence[KnownMotion], error: float, budget: Budget) -> None:
        self.motions, self.budget = list(motions), budget
        #: The error that a run may have: the uncertainty of the motion is taken off.
        self.allowed = MARGIN * error - max(motion.uncertainty for motion in motions)
        self.radians = max(motion.radians for motion in motions)
        self.unit = motions[0].parts if len({motion.parts for motion in motions}) == 1 else 1
        self.resolved = max(WITHIN * motion.problem.horizon / motion.shortest for motion in motions)
        #: The number of runs so far.
        self.runs = 0

    def error(self, method: Method, steps: int) -> float:
        """The largest error over the starts; at least the first one that is too large, since the others do not matter then."""
        worst = 0.0
        for i, motion in enumerate(self.motions):
            if not self.budget.allows(steps):
                raise TimeOver(
                    f"the time limit of {self.budget.seconds:g} s is over after {self.runs} runs; ask for a shorter time or a "
                    "larger error, or allow more time with `limit`"
                )
            self.runs += 1
            worst = max(worst, motion.error(method, steps, CHECKS))
            if worst > self.allowed:
                # The start that was lost is tried first with the next step.
                self.motions.insert(0, self.motions.pop(i))
                break
        return worst

    def fewest(self, method: Method, most: float = inf) -> FewestSteps:
        """The fewest steps with which a method meets the error, as with all larger numbers that are tried.

        Parameters
        ----------
        most : the largest number of steps that is of interest; a method that misses the error with these is given up at once
        """
        errors: dict[int, float] = {}

        # All numbers of steps are counted in units here.
        def meets(steps: int) -> bool:
            if steps not in errors:
                errors[steps] = self.error(method, steps * self.unit)
            return errors[steps] <= self.allowed

        most = most / self.unit
        coarsest = max(ceil(2 / self.unit), ceil(self.radians / COARSEST / self.unit))
        if most < coarsest or (isfinite(most) and not meets(int(most))):
            return FewestSteps(0, inf, why="gave up")
        low, high = 0, coarsest
        while True:
            # The ladder: the first rung from which on all meet the error.
            while not meets(high):
                low, high = high, 2 * high
                if low < int(min(most, high)) < high:
                    high = int(most)  # known to meet it
                elif high > most:
                    return FewestSteps(0, inf, why="gave up")
                seen = {steps: error for steps, error in errors.items() if steps * self.unit >= self.resolved}
                if stuck(seen, FINE * self.radians / self.unit):
                    return FewestSteps(0, inf, why="does not meet it", finest=max(errors) * self.unit)
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
                return FewestSteps(
                    high * self.unit, errors[high], coarsest=high == coarsest and (self.unit == 1 or coarsest > 1)
                )
            low = lost[-1]
            high = min(steps for steps, error in errors.items() if steps > low and error <= self.allowed)


def stuck(errors: Mapping[int, float], fine: float = inf) -> bool:
    """Whether an error no longer decreases with the step: four halvings gain nothing, of a small one or with ``fine`` steps."""
    tried = sorted(errors)[-5:]
    last = [errors[n] for n in tried]
    return len(last) == 5 and (last[0] < SMALL or tried[0] >= fine) and min(last[1:]) > 0.7 * last[0]


def _favourites_first(method: Method) -> tuple[int, int]:
    key = method.key
    return (FAVOURITES.index(key) if key in FAVOURITES else len(FAVOURITES), method.torques_per_step)


def _choices(
    case: BodyCase, methods: Iterable[Method], fewest: dict[str, FewestSteps], priced: Prices, best: float
) -> list[Choice]:
    rows = []
    for method in methods:
        one = fewest[method.key]
        seconds = priced.seconds(method, one.steps)
        rows.append(
            Choice(
                method.key,
                method.label,
                case.horizon / one.steps,
                one.steps,
                priced.torques(method, one.steps),
                seconds,
                seconds / best,
                one.error,
                "coarsest step tried" if one.coarsest else "",
            )
        )
    return sorted(rows, key=lambda row: row.seconds or inf)


@dataclass(frozen=True)
class Others:
    """What single starts need.

    Parameters
    ----------
    alone : list of int
        The fewest steps with which the method serves a start by itself, the given one first; of as many as there was time for.
    unknown : int
        The number of starts that were left out, because their motion cannot be known so well.
    """

    alone: list[int]
    unknown: int


def _motions(
    case: BodyCase, error: float, budget: Budget, progress: Callable[[str, float], object]
) -> tuple[list[KnownMotion], int]:
    """The exact motions from the starts that a step has to serve, and how many of these cannot be known well enough.

    The start of a case that leaves nothing open comes first, and must be known. Other starts may take half of the time.
    """
    starts = case.starts if case.open_questions else [*case.starts, *(case.again(i) for i in range(OTHERS))]
    motions: list[KnownMotion] = []
    unknown, failure = 0, None
    for i, start in enumerate(starts):
        if motions and not case.open_questions and budget.left() < 0.5 * budget.seconds:
            break
        try:
            motions.append(motion_of(start, error, budget, motions[0] if motions else None))
        except TimeOver:
            raise
        except AdviceError as one:
            if not (case.open_questions or motions):
                raise
            unknown, failure = unknown + 1, one
        progress("motion", (i + 1) / len(starts))
    if failure and len(motions) < MOST_OF * (len(motions) + unknown):
        raise AdviceError(f"of {len(motions) + unknown} starts {unknown} cannot be known: {failure}")
    return motions, unknown


def _one_by_one(
    method: Method, motions: Sequence[KnownMotion], error: float, budget: Budget, progress: Callable[[str, float], object]
) -> list[int]:
    """The fewest steps with which a method serves single starts, of as many as there is time for."""
    steps: list[int] = []
    for i, motion in enumerate(motions):
        try:
            steps.append(Search([motion], error, budget).fewest(method).steps)
        except TimeOver:
            break
        progress("interval", (i + 1) / len(motions))
    return [number for number in steps if number]


def serves(case: BodyCase, number: int, unknown: int) -> str:
    """Which starts a step serves that serves ``number`` of them, in a sentence.

    A step that serves n random starts serves another one with probability n/(n + 1), whatever their distribution.
    """
    what = case.starts_are
    if case.open_questions:
        text = f"It serves {number} random {what}"
    elif number > 1:
        text, number = f"It serves the given start and {number - 1} other {what}", number - 1
    else:
        return "It is known to serve the given start ONLY: there was no time for others; allow more with `limit`."
    if unknown:
        return f"{text}; of {unknown} more the motion cannot be known so well, and no step serves them."
    return f"{text}, and another one with probability {number}/{number + 1}."


def density(steps: int, speed: float, horizon: float, turned: float) -> str:
    """A number of steps per radian turned at the initial angular velocity, in words.

    Of a body that hardly turns at the start, against what it turns later, the steps of all its radians are stated instead.

    Parameters
    ----------
    speed : angular velocity at the start, rad/s
    horizon : time, s
    turned : radians turned
    """
    at_first = speed * horizon
    if at_first < AT_REST * turned:
        return f"{steps} steps for {turned:.3g} rad turned"
    ratio = steps / at_first
    number = f"{ratio:.3g} steps a radian" if ratio >= 1 else f"{1 / ratio:.3g} radians a step"
    return f"{number} at the initial angular velocity"


def _recommendation(
    case: BodyCase,
    rows: list[Choice],
    first: Choice,
    fewest: dict[str, FewestSteps],
    finding: Search,
    priced: Prices,
    others: Others,
    one_torque: bool,
    everything: bool,
) -> Recommendation:
    error = (finding.allowed + max(m.uncertainty for m in finding.motions)) / MARGIN
    assert first.steps is not None and first.seconds is not None
    chosen, best, number = METHODS[first.method], first, len(finding.motions)
    # At other starts than the given one the torque is only looked at again.
    looked = (max if case.open_questions else min)(m.looked for m in finding.motions)
    gave_up = sum(one.why == "gave up" for one in fewest.values())
    never = sum(one.why == "does not meet it" for one in fewest.values())
    lost = [f"{gave_up} given up as too slow"] if gave_up else []
    lost += [f"{never} never reach the error"] if never else []
    late = sum(one.why == "no time" for one in fewest.values())
    lost += [f"{late} not finished within the time limit"] if late else []
    evidence = [
        f"{len(fewest)} methods were run on this very problem, {finding.runs:,} runs"
        + (f"; {' and '.join(lost)}" if lost else "")
        + f". The step is the largest at which, as at all finer ones tried, the error stays below {MARGIN:g} of the one asked "
        f"for, from every start: it is {best.error:.2g}.",
        f"Error: the larger of the angle in rad and |omega - exact| over the largest |omega|, at {CHECKS} times of the run, "
        "in its first steps and where the torque changes.",
        f"Exact motion: {METHODS[FIRST].label} and {METHODS[SECOND].label} with {max(m.steps for m in finding.motions):,} "
        f"steps, short where the torque changes, which agree to {max(m.uncertainty for m in finding.motions):.1g}. The torque "
        f"was looked at every {looked:.2g} s: a shorter pulse would not have been seen; name "
        "it under breakpoints.",
        f"Times: steps measured on {priced.source}; on another machine `polhode bench` shows how they compare.",
    ]
    if case.open_questions:
        evidence.insert(
            1,
            f"Open in the question, and drawn for {number} {case.starts_are}: {' and '.join(case.open_questions)}.",
        )
    remarks = drift(first.method, [row.method for row in rows[:SHOWN]])
    jumps = finding.motions[0].jumps
    if len(jumps):
        several = len(jumps) > 3
        remarks.append(
            f"The torque jumps at t = {', '.join(f'{t:.6g}' for t in jumps[:3])}{' ...' if several else ''} s. "
            + (
                "The step divides these times; one that does not may need to be far shorter."
                if finding.unit > 1
                else "Steps of one length pass over the jumps; runs in pieces that end there need far fewer."
            )
        )
    plain = [row for row in rows if not row.method.endswith(AS_PUBLISHED)]
    if kind(chosen) != "one torque":
        when = "With one torque in a step" if kind(chosen) == "several torques" else "With one torque in its first steps too"
        remarks += _instead(when, plain, lambda method: kind(method) == "one torque")
    if first.mark:
        remarks.append("It meets the error with the coarsest step tried; a longer one may do as well.")
    steps = [case.horizon / n for n in (max(others.alone), min(others.alone))] if others.alone else [first.dt, first.dt]
    low, high = min(first.dt, steps[0]), max(first.dt, steps[1])
    means = (
        f"Interval: for {len(others.alone)} {case.starts_are}, one by one, the largest step lies between {low:.3g} and "
        f"{high:.3g} s."
        if others.alone
        else f"Interval: there was no time for single {case.starts_are}."
    )
    question = {**case.question, "error": error, "torque_price": priced.torque, "one_torque": one_torque}
    return Recommendation(
        question=f"{case.words}, error below {error:g}, {price_in_words(priced.torque, priced.unit)}",
        best=best,
        sentence=f"Take {best.label} ({best.method}) with dt = {case.horizon:g} s / {best.steps} = {best.dt:.4g} s, "
        f"{density(best.steps or 0, case.speed, case.horizon, finding.radians)}, for {case.horizon:g} s.",
        interval=(low, high),
        interval_means=means,
        serves=serves(case, number, others.unknown),
        changes=_changes(chosen, plain, priced),
        alternatives=rows,
        evidence=evidence,
        error=error,
        kind="runs",
        asked=question,
        remarks=remarks,
        shown=len(rows) if everything else SHOWN,
    )


def drift(best: str, methods: Iterable[str] = ()) -> list[str]:
    """What to know of the energy in long runs, where ``best`` is recommended and the other methods are named with it."""
    named = [METHODS[key] for key in dict.fromkeys((best, *methods)) if key in METHODS]
    processed = sorted((method for method in named if method.processor), key=lambda method: method.torques_per_output)
    outputs = [
        f"At every output, and at the start, {count} torques more: {', '.join(method.label for method in some)}."
        for count, some in groupby(processed, lambda method: method.torques_per_output)
    ]
    return [*ranking.drift(best, {method.label: method.caution for method in named}), *outputs]


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


def restarts(best: Method | None) -> list[str]:
    """What a step that changes, or a restart, takes of a method; nothing of one whose steps need nothing of those before."""
    if best is None:
        return []
    torques = best.starting_torques(1 << 30) + best.torques_per_output
    if isinstance(best, OneTorque) and best.warm_up_steps:
        return [f"steps that change, and restarts: it begins anew each time, with {torques} torques more"]
    if best.group == "multistep":
        return ["steps that change, and restarts: it begins anew each time, and loses accuracy"]
    if best.processor and best.moves[:, 0].any():
        return [f"steps that change: its variables belong to one step; {torques} torques more a change, or less is corrected"]
    if best.processor:
        return ["steps that change: the kick between two steps takes its share of each, or the orders are lost"]
    if best.stored_offset and best.order_q > 1:
        mean = "the kick between two steps takes their mean, or " if best.stored_offset < 0 else ""
        return [f"steps that change: {mean}an order is lost"]
    return []


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
