"""`polhode.identify`: which method a code of one's own runs, from the rows that it wrote.

The rows are brought into the conventions of polhode (:mod:`polhode_engines.conventions`), wrong rows are named and left
out, and every candidate takes one step from each row (:mod:`polhode_engines.identify`). Time is measured in a power of
two of seconds in which the body turns by about a radian, and inertia likewise, so that no bit changes and no limit is absolute.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise, permutations
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from polhode.algebra.body import Body
from polhode.algebra.quaternion import to_lab
from polhode.fits.tumbling import NOTICED_CHANGE, other_turns
from polhode.interface.arguments import is_ordered, shown
from polhode.methods import METHODS
from polhode_engines import cases, causes, fitted, identify, meaning, recipe
from polhode_engines.advice import measured_advice, order_words
from polhode_engines.candidates import DAMPED as DAMPED_KEY
from polhode_engines.candidates import LAWS, candidate, damped, plain_label
from polhode_engines.conventions import ANGLES, TIMES, Convention, Fit, fits, misses, plausible, rotations
from polhode_engines.environments import Run, Spun
from polhode_engines.identify import APART, FEW, WITHIN, Deviation
from polhode_engines.run_files import Rows, all_single, of_arrays, read_run, settings_of
from polhode_engines.run_numbers import plain_unit, seconds_of, unit_of

#: Loads and the number of their values.
LOAD_VALUES = {"free": 0, "constant": 3, "lab": 3, "velocity": 1}
#: Most rows of a run that are compared, most rows among which faults are sought, and most conventions that are tried.
MOST_ROWS, MOST_JUDGED, MOST_CONVENTIONS = 400, 4000, 3
#: Most methods among which a further run is sought that tells them apart.
MOST_MEMBERS = 20
#: A step is at fault if it misses so many times more than nine tenths of the others do.
FAULTY = 20.0
#: Round-offs in a step beyond which it is at fault: below the first unit of the last place, and for fewer digits.
FINE, COARSE = 1e-6, 20.0
#: What a step of a body that has become fast or slow may miss: rounding grows with the angle turned.
ROUGH = 1e-6
#: Rows at the start whose angular velocity is that from which a run that diverges departs.
FEW_AT_START = 4
#: The angle of a step, rad, by which it is judged whether methods are one step, and the difference that rounding makes.
TELLING, SAME = 0.5, 1e-11
#: Steps in which methods are compared with each other.
SEVERAL = 8
#: Numbers beyond this are none: their squares overflow.
HUGE = 1e100
#: Fewer faults than this part of the steps are single rows; more of them are no method of ours.
SINGLE = 0.2
#: Words of every sentence that asks for another step.
STEP_WORDS = "turns the body by"
#: Angles turned in a step, rad: below the first, methods are hard to tell apart; beyond the last, rows say little.
SMALL, LARGE = 0.02, 1.5
#: Words for a step that is known to all digits; a step that is fitted makes up for a rotation without the gyroscopic term.
ROUNDED_STEP = "in single precision"
#: A relative loss of the angular momentum of a free body in a radian that is worth a word.
DAMPED = 1e-4
#: Steps of the free spin that shows where energy goes.
SPIN_STEPS = 30_000
#: Error, rad in a radian, for which another method is recommended.
ERROR = 1e-3
#: Angle turned in a step of the finest reference, rad.
REFERENCE_STEP = 0.004
#: Errors, rad, beyond which a run shows no order; how many of the last rows within it show one; orders that are believed.
FAR_OFF, ROWS_OF_ORDER, ORDERS = 0.5, 4, (0.5, 12.0)
#: A measured order that differs by more than this from the order of a method contradicts it; by less than this it agrees.
OTHER_ORDER, CLOSE_ORDER = 0.5, 0.25
#: Rows of a higher order converge to the exact motion of the body given: inertia, torque and step are right.
CONVERGING = 1.5
#: A reading is wrong if its closest candidate is so many times further away than the closest candidate of another reading.
FURTHER = 30.0
#: A difference from the exact motion in a step that is rounding in double precision.
EXACT = 1e-13
#: A method whose step misses less than this is one whose iteration is stopped early, if all others miss far more.
LOOSE, ALIKE = 1e-11, 3.0
#: Relative changes of moments that a code may make of those given; larger ones are other moments.
OWN_MOMENTS = 0.03
#: Limits of engines on the turn in a step, rad, and on the angular velocity, rad/s; a limit is one of them within a factor.
TURN_LIMITS = {math.pi / 4: "a quarter of pi, as in Bullet and Rapier"}
SPEED_LIMITS = {47.1239: "as in Jolt, crashcat and Rapier at 60 Hz", 100.0: "as in Havok, PhysX and Bullet's multibodies"}
KNOWN_LIMIT = 1.02
#: Angular velocities that differ by less than this part are one that is cut.
CUT = 1e-6
#: Rows at the end in which a body that stands still is asleep.
RESTING = 3
#: Steps above a limit that show it by themselves.
SEVERAL_BEYOND = 3
WIDTH = 100
#: The most lines of an answer without its reasons.
MOST_LINES = 12
#: The most steps from row to row: each row costs as many steps of every candidate.
MOST_STEPS = 1000
#: The smallest angle turned in a step, rad, for which rows of several steps tell methods apart.
SMALLEST = 1e-5
#: Quaternions of a run begin with unit length within this, however they drift.
NEAR_UNIT = 0.1
#: Units of settings, in plain letters: those of inertia and torque only have to be of one system.
SETTING_UNITS = {
    "inertia": {"kgm^2", "kgm2", "kgm²", "kg*m^2", "kg*m2", "kg*m**2", "kgm**2", "kg.m2", "kg.m^2", "kg·m²", "kg·m^2"},
    "torque": {"nm", "n*m", "n.m", "n·m"},
    "damping": {"1/s", "s^-1", "hz", "/s"},
    "every": {"step", "steps"},
}


class IdentifyError(ValueError):
    """A run that cannot be identified; the message names the argument and says what to give."""


@dataclass
class OwnRun:
    """The rows of a run with what is known beside them.

    Parameters
    ----------
    rows : the rows
    inertia : principal moments, kg m^2 or any other unit
    load, value : the torque, as in :data:`polhode_engines.cases.LOADS`
    dt : the step in the unit of time of the rows
    every : steps between two rows
    damping : the rate that the code declares, 1/s
    axes : (3, 3), the principal axes in the body frame of the rows, one a column: a vector v of that frame has the components
        ``axes.T @ v`` along them; a torque that is constant in the body frame has been turned already
    intervals : (n - 1,) times from row to row, where the steps are not equal; in the unit of the rows
    """

    rows: Rows
    inertia: np.ndarray
    load: str
    value: tuple[float, ...]
    dt: float
    every: int = 1
    damping: float = 0.0
    axes: np.ndarray = field(default_factory=lambda: np.eye(3))
    intervals: np.ndarray | None = None

    @property
    def row_step(self) -> float | np.ndarray:
        """The time from each row to the next, in the unit of the file: one number, or (n - 1,)."""
        return self.dt * self.every if self.intervals is None else self.intervals


@dataclass(frozen=True)
class Answer:
    """The method of a code; printing it gives the answer in words, and ``why()`` how it is known.

    Parameters
    ----------
    identified : whether one class of methods fits to round-off, and all others are at least a thousand round-offs away; or
        fits nearly so, and all others are a thousand times as far away
    methods : the class, the closest first; without an identification those that the run cannot exclude, or the closest
    deviation, runner_up, runner_up_deviation : in round-offs
    deviations : candidate -> its deviation; behind the second best these are lower bounds
    convention, ambiguous : what the numbers mean, and what else they could mean
    half_steps : how far the angular velocity of a row is from its orientation, in steps
    round_off : the relative unit of the last place of the rows
    precision : "double", "single" or the number of digits printed
    angle : the angle turned in a step, rad
    speed, dt : of the first run, rad/s and s
    order : the order of q measured, NaN where no two runs show it
    energy, momentum : largest relative changes in the free run, of the momentum's length; NaN without one
    momentum_vector : the same of the momentum as a vector in the lab
    faults : rows that are wrong, each named
    limits : what limits the identification, and what to do
    further : the run that would tell the methods apart
    exact : the largest difference of a row from the exact motion, in a step from the row before; NaN with half steps, a
        damping, or no rows to compare
    fitted : what the rows say of the code's own numbers (step, damping, moments, limits), where they are not those given
    """

    identified: bool
    methods: tuple[str, ...]
    deviation: float
    runner_up: str
    runner_up_deviation: float
    deviations: Mapping[str, float]
    convention: str
    ambiguous: tuple[str, ...]
    half_steps: float
    round_off: float
    precision: str
    angle: float
    speed: float
    dt: float
    order: float
    energy: float
    momentum: float
    faults: tuple[str, ...]
    limits: tuple[str, ...]
    further: str
    exact: float = math.nan
    momentum_vector: float = math.nan
    fitted: tuple[str, ...] = ()

    @property
    def method(self) -> str:
        """The key of the first method of the class; empty if there is none."""
        return self.methods[0] if self.methods else ""

    @property
    def is_exact(self) -> bool:
        """Whether the rows follow the exact motion to round-off, which an accurate solver makes too.

        They differ from it by less than :data:`EXACT`, or by fewer than ``WITHIN`` round-offs; or, if methods are identified
        that are further away than that, by less than ``ALIKE`` times what these differ by.
        """
        is_loose = self.identified and self.deviation >= WITHIN and self.exact < ALIKE * self.deviation * self.round_off
        return self.exact < max(WITHIN * self.round_off, EXACT) or is_loose

    @property
    def lacks_gyroscopic_term(self) -> bool:
        """Whether methods fit, within ``WITHIN`` round-offs or identified, and none of the closest has the gyroscopic term."""
        fit = [key for key in self.methods if self.deviations[key] <= self.deviation]
        return bool(fit) and (self.identified or self.deviation < WITHIN) and all(map(_is_without_term, fit))

    @property
    def is_near_exact(self) -> bool:
        """Whether no method fits and the rows are nearer to the exact motion than to what any candidate makes of it by its own.

        :func:`polhode_engines.causes.is_nearest` has the limits.
        """
        values = [value * self.round_off for value in self.deviations.values()]
        return not self.identified and self.deviation >= WITHIN and causes.is_nearest(self.exact, values)

    @property
    def is_settled(self) -> bool:
        """Whether a method is identified, the rows do not follow the exact motion, and one step remains.

        It is one method, or several that no run distinguishes or that differ in the law and place of their damping alone.
        """
        is_one = len(self.methods) == 1 or self.further.startswith("No run") or _differ_in_damping(self.methods)
        return self.identified and not self.is_exact and is_one

    @cached_property
    def spin(self) -> meaning.LongSpin:
        """A long free spin of :attr:`method`, of :data:`SPIN_STEPS` steps (:func:`polhode_engines.meaning.long_spin`).

        Its end is empty, and nothing was run, if no method is identified, the rows follow the exact motion, or the methods
        make different steps of a free body.
        """
        if not self.identified or self.is_exact or not meaning.are_one_free_step(self.methods):
            return meaning.LongSpin()
        return meaning.long_spin(self.method, SPIN_STEPS)

    @cached_property
    def spin_at_step(self) -> meaning.LongSpin:
        """A long free spin of :attr:`method` with the step of the rows, if that is longer than the step of :attr:`spin`.

        Otherwise, or if :attr:`spin` has no end, it has none and was not run.
        """
        if not self.spin.end or not self.angle > cases.LONG_STEP:
            return meaning.LongSpin()
        return meaning.spin_with_step(self.method, SPIN_STEPS, self.angle)

    @cached_property
    def engines(self) -> tuple[str, ...]:
        """The engines that have the same step, as the atlas found or read them; none unless one method remains."""
        return meaning.same_engines(self.methods) if self.is_settled else ()

    @cached_property
    def advice(self) -> tuple[str, ...]:
        """Sentences on what the answer means for a user, and what to use instead; perhaps none.

        There is none if :attr:`spin` has no end, or if the remaining methods differ in their order or in the gyroscopic term.
        """
        spin = self.spin
        orders = {candidate(key).order_q for key in self.methods}
        kinds = set(map(_is_without_term, self.methods))
        if not spin.end or len(orders) > 1 or len(kinds) > 1:
            return ()
        order, instead = orders.pop(), meaning.instead(self.method, self.speed, ERROR) if self.is_settled else ()
        is_other = abs(self.order - order) > OTHER_ORDER
        if is_other and spin.is_as_exact and not _drift_words(self.spin_at_step):
            return instead
        changes, turns = (spin.energy, spin.momentum), (spin.turns, spin.exact_turns)
        said = measured_advice(order, spin.end, "no" if kinds.pop() else "yes", changes, spin.turned, turns)
        if spin.is_as_exact and (drift := _drift_words(self.spin_at_step)):
            said = (
                f"{order_words(order)}, and with the step of these rows, {self.angle:.2g} rad, {drift} in "
                f"{SPIN_STEPS} steps: take smaller ones ({cases.LONG_STEP:g} rad: {max(map(abs, changes)):.1g})."
            )
        _, comma, rest = said.partition(" order, ")
        if is_other and comma:
            said = f"Order {self.order:.1f} at these steps, {rest}"
        return (said, *instead)

    @property
    def _damping_words(self) -> str:
        """What of a damping makes no difference in the rows, where methods differ in nothing else."""
        names = [key.partition(DAMPED_KEY)[2].split("_")[:2] for key in self.methods]
        laws, places = ({name[k] for name in names} for k in (0, 1))
        said = "The law of the damping" if len(laws) > 1 else "The place of the damping before the rotation"
        said += " and its place before the rotation make" if min(len(laws), len(places)) > 1 else " makes"
        return f"{said} no difference in these rows."

    @property
    def _measured_order(self) -> str:
        """The order measured, as a sentence after another; empty without one."""
        return f" Order measured: {self.order:.2f} at this step." if math.isfinite(self.order) else ""

    @property
    def _order_words(self) -> str:
        """Why a measured order is not the order of the methods; empty if it is."""
        orders = {candidate(key).order_q for key in self.methods} if self.identified else set()
        if len(orders) != 1 or abs(self.order - (order := orders.pop())) < CLOSE_ORDER:
            return ""
        if self.lacks_gyroscopic_term:
            return "; without the gyroscopic term smaller steps do not lead to the exact motion"
        return f" (the method is of order {order}, which shows in smaller steps)"

    def to_json(self, **options: Any) -> str:
        """The answer as a JSON object of the fields, :attr:`engines`, :attr:`advice` and the long free spins that were run.

        ``deviations`` has the twelve closest candidates alone. Options go to :func:`json.dumps`; what is not finite is
        null.
        """
        names = [name for name in self.__dataclass_fields__ if name != "deviations"]
        content = {name: getattr(self, name) for name in names}
        content["deviations"] = {key: value for key, value in list(self.deviations.items())[:12]}
        content |= {"engines": self.engines, "advice": self.advice}
        content |= {name: asdict(spin) for name in ("spin", "spin_at_step") if (spin := getattr(self, name)).end}
        return json.dumps(_finite(content), **{"indent": 2, "allow_nan": False, **options})

    def __str__(self) -> str:
        # What to do comes first; what does not fit is with `why`.
        lines: list[str] = []
        for text in self._first():
            rows = wrap(text, WIDTH, subsequent_indent="  ")
            lines += rows if not lines or len(lines) + len(rows) < MOST_LINES else []
        return "\n".join([*lines, "What was excluded, how the rows were read, and how it is known: `why`."])

    def why(self) -> str:
        """The whole answer: also what was excluded, how the rows were read, and what was measured on them."""
        lines = self._first()
        if self.is_near_exact:
            lines += [f"Closest: {label_of(self.method)}, {_rounded(self.deviation)} round-offs off in a step."]
        if self.runner_up:
            lines += [f"Next: {label_of(self.runner_up)}, {_rounded(self.runner_up_deviation)} round-offs."]
        excluded = [(k, v) for k, v in self.deviations.items() if k not in self.methods and k in METHODS and v >= APART]
        if self.identified and excluded:
            some = "; ".join(f"{METHODS[key].label} ({_rounded(value)})" for key, value in excluded[:4])
            lines += [f"It is not: {some}, nor any other of {len(self.deviations)} candidates."]
        elif excluded and self.deviation >= WITHIN:
            some = "; ".join(f"{METHODS[key].label} ({_rounded(value)})" for key, value in excluded[:4])
            lines += [f"Excluded: all {len(self.deviations)} candidates; of the methods these are nearest: {some}."]
        lines += ["", f"Read as: {self.convention}."]
        if self.half_steps:
            side = "before" if self.half_steps < 0 else "after"
            lines += [f"The vector in a row is that of half a step {side} its orientation."]
        if self.ambiguous:
            lines += ["This run would be the same if read as: " + "; or ".join(self.ambiguous) + "."]
        lines += [
            f"Precision: {self.precision}; a round-off is {self.round_off:.1e}. A step turns the body by {self.angle:.3g} rad."
        ]
        if math.isfinite(self.order):
            lines += [f"Order measured from two steps: {self.order:.2f}{self._order_words}."]
        if math.isfinite(self.energy):
            lines += [
                f"Free run: energy changes by {self.energy:.1e}, the length of the angular momentum by {self.momentum:.1e}, "
                f"its vector in the lab by {self.momentum_vector:.1e}, at most."
            ]
        if self.spin.end:
            spin = self.spin
            lines += [
                f"A free spin of {SPIN_STEPS} steps of {cases.LONG_STEP} rad {spin.start}: energy {spin.energy:+.1e}, "
                f"length of the momentum {spin.momentum:+.1e}{_turned_words(spin)}, "
                f"{_end_words(spin, self.lacks_gyroscopic_term)}."
            ]
        if self.spin_at_step.end:
            drift = _drift_words(self.spin_at_step) or f"a free spin keeps energy and momentum within {NOTICED_CHANGE:.0%}"
            lines += [f"With the step of these rows, {self.angle:.2g} rad, {drift} in as many steps."]
        return "\n".join(row for line in lines for row in (wrap(line, WIDTH, subsequent_indent="  ") or [""]))

    def _first(self) -> list[str]:
        """The method and what to do about it, for which rows that holds, and what another method would bring."""
        verdict, *more = self._verdict()
        advice = list(self.advice)
        if self.identified and advice:
            verdict += f" {advice.pop(0)}"
        texts = [verdict, *more, *([self.further] if self.further else [])]
        texts += [f"Limit: {limit}" for limit in self.limits]
        texts += [f"Wrong rows: {fault}." for fault in self.faults]
        texts += [f"Fitted: {words}" for words in self.fitted]
        if self.identified and not self.is_exact:
            deviation = self.deviations[self.method] if _differ_in_damping(self.methods) else self.deviation
            digits = f"{self.precision} precision" if self.precision in ("double", "single") else self.precision
            texts += [
                f"Every step agrees within {_rounded(deviation)} round-offs ({digits}), and turns the body by "
                f"{self.angle:.3g} rad."
            ]
        texts += advice
        return [*texts, f"The same step as: {', '.join(self.engines)}."] if self.engines else texts

    def _verdict(self) -> list[str]:
        """Which method it is, or that none was identified."""
        names = [label_of(key) for key in self.methods]
        some, more = "; ".join(names[:8]), f"; {len(names) - 8} more" if len(names) > 8 else ""
        lines = []
        if self.identified and self.is_exact:
            lines += [
                f"Identified: the exact motion, to {_rounded(self.deviation)} round-offs in a step. In such a run it is made "
                f"by {some}{more}; and by any solver with error control, if its tolerance is small enough."
            ]
        elif self.identified and len(names) == 1:
            lines += [f"Identified: {some}."]
        elif self.identified and _differ_in_damping(self.methods):
            lines += [f"Identified: {names[0]}. {self._damping_words}"]
        elif self.identified and self.further.startswith("No run"):
            lines += [f"Identified: {' = '.join(names)}."]
        elif self.identified:
            lines += [f"Identified as one of {len(names)} methods that are one step in such a run: {some}{more}."]
        elif self.methods and self.deviation < WITHIN and len(names) > MOST_MEMBERS:
            fit = [key for key in self.methods if self.deviations[key] < WITHIN]
            some = "; ".join(f"{label_of(key)}, {_rounded(self.deviations[key])} round-offs" for key in fit[:8])
            said = f": {some}" if len(fit) <= MOST_MEMBERS else ""
            lines += [f"Not identified: {len(fit)} of {len(self.deviations)} candidates fit these rows{said}."]
        elif self.methods and self.deviation < WITHIN:
            lines += [f"One of {len(names)} methods that this run cannot distinguish with certainty: {some}{more}."]
            numbers = "; ".join(f"{key} {_rounded(self.deviations[key])}" for key in self.methods[:5])
            lines += [f"Their deviations in round-offs: {numbers}."]
        elif self.is_near_exact:
            near = f"They are nearer to the exact motion ({self.exact:.1e} in a step) than to any known method."
            lines += [f"{UNKNOWN}.{self._measured_order or NO_ORDER} {near} {IF_YOURS}"]
        elif self.methods and abs(self.exact / (self.deviation * self.round_off) - 1) < 0.1:
            lines += [f"Not identified. Closest: the exact motion, {_rounded(self.deviation)} round-offs off in a step."]
        elif self.methods:
            closest = f"Closest: {names[0]}, {_rounded(self.deviation)} round-offs off in a step."
            is_unknown = self.order > CONVERGING and not self.limits
            lines += [f"{UNKNOWN}.{self._measured_order} {closest} {IF_YOURS}" if is_unknown else f"Not identified. {closest}"]
        else:
            lines += ["Not identified: no rows could be compared."]
        if self.lacks_gyroscopic_term and not self.identified:
            lines += [
                "None of them has the gyroscopic term: the code turns the body by an angular velocity that is constant in the "
                "lab unless a torque acts. Which of them it is, these rows do not tell."
            ]
        if self.identified and self.deviation >= WITHIN and not self.is_exact:
            lines += [
                "All others are far away: this is that method with an iteration that is stopped early, or a rounded constant."
            ]
        if self.identified and any(NOT_UNDER_TORQUE in limit for limit in self.limits):
            lines[0] = lines[0].replace("Identified", "Identified for the free body alone", 1)
        return lines


#: What is said of a load under which the rows of the free body's method are not met.
NOT_UNDER_TORQUE = "no method of the free run fits"
#: What is said of a method that is not known, what to do if it is one's own, and about rows that show no order.
UNKNOWN = "Not identified: no known method makes these steps"
IF_YOURS = "If the method is yours: --method FILE (in Python: polhode.methods.load)."
NO_ORDER = " A second run with half the step shows the order: such rows come from a method of higher order, or a solver."
#: Ends of a free spin in words.
ENDS = {
    "tumbles": "it tumbles as it should",
    "diverges": "it diverges",
    "stops": "it stops",
    **{f"{axis} moment": f"it ends about the axis of the {axis} moment" for axis in ("smallest", "middle", "largest")},
}


def _end_words(spin: meaning.LongSpin, lacks_term: bool = False) -> str:
    """The end of a free spin in words; a body that loses, gains or turns over otherwise than the exact one is said to."""
    if lacks_term and spin.end.endswith(" moment"):
        return "it turns about the same axis from the start, while the exact body tumbles"
    if spin.end != "tumbles" or spin.is_as_exact:
        return ENDS.get(spin.end, spin.end)
    said = "it still tumbles"
    name, change = max((("energy", spin.energy), ("momentum", spin.momentum)), key=lambda pair: abs(pair[1]))
    if abs(change) > NOTICED_CHANGE:
        said += f", and has {'lost' if change < 0 else 'gained'} {abs(change):.2g} of its {name}"
    if other_turns(spin.turns, spin.exact_turns):
        said += f", and turns over {spin.turns} times where the exact body does {spin.exact_turns} times"
    return said


def _drift_words(spin: meaning.LongSpin) -> str:
    """What a free spin with the step of the rows loses or gains, or where it ends; empty if it keeps energy and momentum."""
    if not spin.end:
        return ""
    if spin.end != "tumbles":
        return f"a free spin {ENDS[spin.end].removeprefix('it ')}"
    name, change = max((("energy", spin.energy), ("momentum", spin.momentum)), key=lambda pair: abs(pair[1]))
    way = "loses" if change < 0 else "gains"
    return f"a free spin {way} {abs(change):.1%} of its {name}" if abs(change) > NOTICED_CHANGE else ""


def _is_without_term(key: str) -> bool:
    """Whether a candidate leaves the gyroscopic term out."""
    return key.startswith("no_gyroscopic")


def _differ_in_damping(keys: Sequence[str]) -> bool:
    """Whether candidates are the same but for the law of their damping, and its place before the rotation or after it."""
    kinds = {(key.partition(DAMPED_KEY)[0], "_after_" in key) for key in keys}
    return len(kinds) == 1 and len(keys) > 1 and all(DAMPED_KEY in key for key in keys)


def _turned_words(spin: meaning.LongSpin) -> str:
    """The angle by which the momentum turns in the lab, if it is worth a word."""
    return f", its direction in the lab by {spin.turned:.2g} rad" if spin.turned > NOTICED_CHANGE else ""


def label_of(key: str) -> str:
    """The candidate with a key in words, with this key behind them."""
    words = plain_label(key)
    return words if key == words else f"{words} ({key})"


def _rounded(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:.1e}"


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return bool(value) if isinstance(value, np.bool_) else value


def identify_run(
    t: Any,
    q: Any,
    omega: Any,
    *,
    inertia: Any,
    torque: Any = None,
    damping: float = 0.0,
    every: int = 1,
) -> Answer:
    """Which method made a run, in any of the usual conventions.

    Parameters
    ----------
    t : array (n,) or float
        The times of the rows, as numbers or dates, or the step; in s or a unit that the rows show.
    q : array (n, 4)
        Quaternions, scalar first or last, body to lab or back.
    omega : array (n, 3)
        Angular velocity or momentum, in the body frame or the lab, at whole or half steps; in rad/s or a unit that the rows
        show, a momentum in the unit of ``inertia`` and the time.
    inertia : (I1, I2, I3), or a tensor
        Principal moments, in the order of the axes of the body frame; or the tensor in that frame, (3, 3) or six numbers Ixx,
        Iyy, Izz, Ixy, Ixz, Iyz, as in :meth:`polhode.Body.from_tensor`. In kg m^2 or any other unit.
    torque : (str, numbers), optional
        ``("constant", (Mx, My, Mz))`` in the body frame, ``("lab", (Mx, My, Mz))``, or ``("velocity", c)`` for the friction
        -c omega; None for a free body. In the unit that belongs to ``inertia`` and s.
    damping : float
        The rate with which the code says that it damps omega, 1/s.
    every : int
        The number of steps from row to row.

    Returns
    -------
    Answer
        ``identified``, ``methods``, ``deviation`` and so on; printed, it is the answer in words.

    Raises
    ------
    IdentifyError, polhode_engines.run_files.RunFileError
        ValueErrors that name the argument, and say what to give.
    """
    rows = of_arrays(t, q, omega)
    return identify_runs([own_run(rows, inertia, torque, damping=damping, every=every)])


def own_run(
    rows: Rows,
    inertia: Any = None,
    torque: Any = None,
    dt: float | None = None,
    damping: float | None = None,
    every: int | None = None,
) -> OwnRun:
    """A run: its rows with what the arguments say beside them, or where these are None, its file.

    Parameters
    ----------
    inertia, torque, damping, every : as of :func:`identify_run`; a torque also in one text, as in ``"lab 0.1 0 0"``
    dt : step, s; by default the times of the rows say it

    Raises
    ------
    IdentifyError
        If something is missing or impossible.
    """
    _check_rows(rows)
    moments, axes = _moments(rows, inertia if inertia is not None else rows.settings.get("inertia"))
    load, value = _torque(rows, torque)
    if load == "constant":
        value = tuple(map(float, axes.T @ value))
    step, rate = (_number(rows, name, number) for name, number in (("dt", dt), ("damping", damping)))
    count = _number(rows, "every", every)
    steps = _steps_of(rows) if count is None else int(count) if count >= 1 and count.is_integer() else 0
    if steps < 1 or not steps < math.inf:
        raise IdentifyError(f"{rows.name}: every must be a whole number of steps from row to row, at least 1, got {count:g}")
    if step is not None and rows.t is None and rows.steps is not None:
        rows = replace(rows, t=(rows.steps - rows.steps[0]) * step)
    if step is None:
        step = spacing(rows) / steps
    else:
        rows = _timed(rows, step, steps)
    if rate and not rate * step < 1:
        raise IdentifyError(
            f"{rows.name}: a damping of {rate:g}/s leaves nothing of omega after a step of {step:g} s; check the rate"
        )
    _check_steps(rows, steps)
    return OwnRun(rows, moments, load, value, step, steps, rate or 0.0, axes)


def _counted(steps: int) -> str:
    return "a step" if steps == 1 else f"{steps} steps"


def _timed(rows: Rows, step: float, steps: int) -> Rows:
    """The rows with times in s, by the step that is given; without their times, if these do not grow.

    Raises
    ------
    IdentifyError
        If the times advance by another step, in whatever unit or number of steps.
    """
    if rows.t is None:
        return rows
    try:
        between = spacing(rows)
    except IdentifyError:
        return replace(rows, t=None)
    miss = 1e-3 + 4 * float(np.nanmedian(np.abs(np.diff(rows.t) / between - 1)))  # of steps that are not equal
    units = (1.0,) if rows.time_unit else TIMES.values()
    factor = next((unit for unit in units if abs(between * unit / (step * steps) - 1) < miss), 0.0)
    if not factor and not rows.time_unit and between in (1.0, steps):
        factor = step * steps / between
    if not factor:
        raise IdentifyError(
            f"{rows.name}: from row to row its times advance by {between:.6g}{' s' if rows.time_unit else ''}, which is not "
            f"{_counted(steps)} of dt = {step:g} s: leave dt out, or name the steps from row to row (every)"
        )
    return rows if factor == 1 else replace(rows, t=rows.t * factor, t_unit=rows.t_unit * factor)


def _check_rows(rows: Rows) -> None:
    """Refuse rows that are too few, or that have no angular velocity.

    Raises
    ------
    IdentifyError
        Naming the file and what to write.
    """
    fine = np.isfinite(rows.q).all(1) & np.isfinite(rows.spin).all(1)
    count, least = int(fine.sum()), FEW + 2
    if count < least:
        bad = (
            f", and {len(fine) - count} that are not finite, or beyond {HUGE:g} ({rows.line_word} {rows.lines[~fine][0]})"
            if count < len(fine)
            else ""
        )
        left = f"; {rows.remarks[0]}" if rows.remarks and not bad else ""
        said = f"{count} row{'' if count == 1 else 's'}"
        raise IdentifyError(f"{rows.name} has {said} of finite numbers{bad}: write at least {least}, better a hundred{left}")
    length = np.linalg.norm(rows.q[fine], axis=1)
    if np.abs(length - 1).min() > NEAR_UNIT:
        raise IdentifyError(
            f"{rows.name}: no quaternion has unit length (that of {rows.line_word} {rows.lines[fine][0]} is {length[0]:.3g}); "
            "normalise them, or check the order of the columns, or name them: t,qw,qx,qy,qz,wx,wy,wz"
        )
    if not rows.spin[fine].any():
        raise IdentifyError(
            f"{rows.name}: {rows.quantity or 'the angular velocity or momentum'} is zero in all rows, so that no step can be "
            "compared; write that of the body, or let it turn"
        )


def _check_steps(rows: Rows, steps: int) -> None:
    """Refuse rows that are so many steps apart that methods are the same, or that comparing them takes hours.

    Raises
    ------
    IdentifyError
        Naming the number of steps.
    """
    if steps == 1:
        return
    with np.errstate(all="ignore"):
        q = rows.q / np.linalg.norm(rows.q, axis=1, keepdims=True)
        cosine = np.abs((q[1:] * q[:-1]).sum(1))
    angle = 2 * float(np.nanmedian(np.arccos(np.clip(cosine, 0, 1))))
    if steps > MOST_STEPS or angle / steps < SMALLEST:
        raise IdentifyError(
            f"{rows.name}: with every = {steps:.6g} steps from row to row, in which the body turns by {angle:.2g} rad, a step "
            f"turns it by {angle / steps:.1g} rad: methods are the same to rounding, or take hours to compare; write every "
            f"step, or at least every {MOST_STEPS}th, and steps of more than {SMALLEST:g} rad"
        )


def _moments(rows: Rows, inertia: Any) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments (3,), and the principal axes in the frame of the rows (3, 3), one a column.

    Raises
    ------
    IdentifyError
        If inertia is missing, or is that of no body.
    """
    if inertia is None:
        raise IdentifyError(
            f"{rows.name}: inertia is missing: three principal moments, or a tensor, Ixx Iyy Izz Ixy Ixz Iyz; or a line "
            "'# inertia: 0.6 1 1.4' in it"
        )
    numbers: Any = _numbers_in(rows, "inertia", inertia) if isinstance(inertia, str) else inertia
    if is_ordered(numbers):
        numbers = [list(row) if is_ordered(row) else row for row in numbers]
    try:
        body, (s, x, y, z) = Body.from_tensor(numbers)
    except (TypeError, ValueError) as error:
        said = str(error).partition(". To compute")[0]
        said = said if said.startswith("inertia") else f"inertia must be that of a body: {said}"
        raise IdentifyError(f"{rows.name}: {said}") from None
    axes = [to_lab((s, x, y, z), unit) for unit in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))]
    return np.array(body.inertia), np.array(axes).T


def _number(rows: Rows, name: str, value: Any) -> float | None:
    """An argument that is a number, or what the rows say; None if neither does.

    Raises
    ------
    IdentifyError
        If it is no finite number, or negative.
    """
    if value is None and name not in rows.settings:
        return None
    numbers = _numbers_in(rows, name, rows.settings[name]) if value is None else [value]
    try:
        made = float(numbers[0]) if len(numbers) == 1 and not isinstance(numbers[0], str | bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        made = math.nan
    if not (math.isfinite(made) and made >= 0 and (made > 0 or name != "dt")):
        least = "finite, not negative" if name == "damping" else "positive"
        raise IdentifyError(
            f"{rows.name}: {name} must be a {least} number, got {shown(rows.settings[name] if value is None else value)}"
        )
    return made


def _numbers_in(rows: Rows, name: str, text: str) -> list[float]:
    """The numbers of a setting, which may end in its unit; dt in s.

    Raises
    ------
    IdentifyError
        For words that are neither.
    """
    words = re.split(r"[,;\s()\[\]{}]+", text.strip("()[]{} "))
    count = next((k for k, word in enumerate(words) if math.isnan(next(settings_of(word)))), len(words))
    unit = plain_unit(" ".join(words[count:]))
    values = [next(settings_of(word)) for word in words[:count]]
    seconds = seconds_of(unit) if name == "dt" and unit else None
    if not values or (unit and seconds is None and unit not in SETTING_UNITS.get(name, ())):
        remedy = "in s" if name == "dt" else "without a unit, all in one system (SI or any other)"
        raise IdentifyError(f"{rows.name}: {name} must be numbers, {remedy}, got {shown(text)}")
    return [float(Decimal(str(value)) * seconds) for value in values] if seconds is not None else values


def _steps_of(rows: Rows) -> int:
    """The steps from row to row that a column of steps shows; 1 without one.

    Raises
    ------
    IdentifyError
        If they are no whole numbers.
    """
    if rows.steps is None or len(rows.steps) < 2:
        return 1
    usual = float(np.nanmedian(np.diff(rows.steps))) if np.isfinite(rows.steps).any() else math.nan
    if not usual >= 1 or not usual.is_integer():
        raise IdentifyError(
            f"{rows.name}: its column of steps advances by {usual:g} from row to row, which is no whole number of steps; name "
            "the steps from row to row (every)"
        )
    return int(usual)


def _torque(rows: Rows, torque: Any) -> tuple[str, tuple[float, ...]]:
    """The load and its values."""
    if torque is None:
        torque = rows.settings.get("torque", "free")
    load, values = "", [math.nan]
    if isinstance(torque, str):
        load, _, rest = torque.strip().partition(" ")
        load = load.strip(",;:").lower()
        values = _numbers_in(rows, "torque", rest) if rest.strip() else []
    elif is_ordered(torque) and len(torque) and isinstance(torque[0], str):
        load = torque[0]
        try:
            values = [float(x) for rest in torque[1:] for x in np.ravel(rest)]
        except (TypeError, ValueError):
            values = [math.nan]
    if load not in LOAD_VALUES or len(values) != LOAD_VALUES[load] or not np.isfinite(values).all():
        raise IdentifyError(
            f"{rows.name}: torque must be free, constant Mx My Mz (in the body frame), lab Mx My Mz, or velocity c (the "
            f"friction -c omega), got {shown(torque)}"
        )
    return load, tuple(map(float, values)) or (0.0,)


def spacing(rows: Rows) -> float:
    """The time between two rows, in the unit of the file: the number with the fewest digits that explains the column of times.

    Of steps that are not equal it is the median.

    Raises
    ------
    IdentifyError
        If there are no times, or they do not grow from row to row or have too few digits.
    """
    if rows.t is None or len(rows.t) < 2:
        rest = ", ".join(rows.unread[:8])
        unread = f" (not read: {rest}; rename one to t if it is the time)" if rest else ""
        raise IdentifyError(f"{rows.name} has no times{unread}: give the step as dt (--dt 1e-6, or a line '# dt: 1e-6' in it)")
    usual = float(np.nanmedian(np.diff(rows.t)))
    with np.errstate(all="ignore"):
        counts = np.round((rows.t - rows.t[0]) / usual)
        fine = np.isfinite(counts) & (np.abs(rows.t - rows.t[0] - counts * usual) < 0.3 * usual)
    if usual > 0 and fine.mean() < 0.5 and np.diff(rows.t).min() > 4 * rows.t_unit:
        return usual  # of steps that are not equal
    if not usual > 0 or fine.mean() < 0.5:
        still = np.flatnonzero(~(np.diff(rows.t) > 0))
        where = f" ({rows.line_word}s {rows.lines[still[0]]} and {rows.lines[still[0] + 1]})" if len(still) else ""
        raise IdentifyError(
            f"{rows.name}: its times do not grow from row to row{where}, or have too few digits: write each row once, and give "
            "the step as dt if its times say nothing"
        )
    last = int(np.flatnonzero(fine)[-1])
    mean = float((rows.t[last] - rows.t[0]) / counts[last]) if counts[last] > 0 else usual
    unit = max(rows.t_unit, 2.0**-52 * float(np.nanmax(np.abs(rows.t))))
    rough, digits = _shortest(mean, 1e-5)  # a sum in single precision drifts
    return (
        rough
        if digits <= 3 and all_single(rows.t, rows.t_unit)
        else _shortest(mean, 4 * unit / (max(counts[last], 1.0) * usual) + 1e-14)[0]
    )


def _shortest(value: float, tolerance: float) -> tuple[float, int]:
    """The number with the fewest digits within a relative tolerance, or one over such a number; and the digits."""
    for digits in range(1, 17):
        for rounded in (float(f"{value:.{digits - 1}e}"), 1 / float(f"{1 / value:.{digits - 1}e}")):
            if abs(rounded / value - 1) <= tolerance:
                return rounded, digits
    return value, 17


def identify_files(
    paths: str | Path | Iterable[str | Path],
    inertia: Any = None,
    torque: Any = None,
    dt: float | None = None,
    damping: float | None = None,
    every: int | None = None,
    body: int | None = None,
    columns: str | Sequence[str] | None = None,
) -> Answer:
    """Which method made the runs in files (:mod:`polhode_engines.run_files`), in any of the usual conventions.

    What the arguments say has precedence over what the files say.

    Parameters
    ----------
    paths : one file, or several runs of the same code
    inertia, torque, damping, every : as of :func:`identify_run`; a torque also in one text, as in ``"lab 0.1 0 0"``
    dt : step, s; by default the times of the rows say it
    body : the id of the body, in a file with several
    columns : names of all columns in their order, such as ``"t,qw,qx,qy,qz,wx,wy,wz"``; ``-`` for one that is not to be read

    Raises
    ------
    IdentifyError, polhode_engines.run_files.RunFileError
        ValueErrors that name the file or the argument, and say what to give.
    """
    files = [paths] if isinstance(paths, str | Path) else list(paths) if isinstance(paths, Iterable) else []
    if not files:
        raise IdentifyError(f"paths must be the path of a file, or a list of paths of at least one, got {shown(paths)}")
    return identify_runs([own_run(read_run(path, body, columns), inertia, torque, dt, damping, every) for path in files])


@dataclass
class _Piece:
    """Consecutive rows without a fault from row ``first`` on, in the units of the comparison; that of time in s."""

    run: Run
    spun: Spun
    first: int
    unit: float

    def slice(self, start: int, stop: int) -> "_Piece":
        """The rows from ``start`` to before ``stop``."""
        spun = Spun(self.spun.q[start:stop], self.spun.omega[start:stop])
        run = replace(
            self.run,
            samples=tuple(range(stop - start)),
            q0=tuple(spun.q[0]),
            omega0=tuple(spun.omega[0]),
            steps=self.run.steps[start : stop - 1],
        )
        return _Piece(run, spun, self.first + start, self.unit)


@dataclass
class _Reading:
    """All runs read under one convention; ``ratio`` is the angle turned over omega dt in rad and the time of the file."""

    convention: Convention
    ratio: float = 1.0
    pieces: list[list[_Piece]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    deviations: dict[str, list[Deviation]] = field(default_factory=dict)
    eps: float = 0.0
    is_unequal: bool = False
    has_own_step: bool = False
    fitted: list[str] = field(default_factory=list)

    @property
    def misfits(self) -> list[str]:
        """The loads that no candidate fits."""
        return [load for load, values in self.deviations.items() if values and not _is_fitting(values, self.eps)]

    @property
    def best(self) -> float:
        """The deviation of the closest candidate, of the first load."""
        first = next(iter(self.deviations.values()), [])
        return first[0].value if first else math.inf


def identify_runs(runs: Sequence[OwnRun]) -> Answer:
    """The method behind several runs of one code.

    Raises
    ------
    IdentifyError
        If a run has too few rows or shows no motion, no convention makes sense of the rows, or a damping takes all of omega in
        a step.
    """
    runs = [_checked(run) for run in sorted(runs, key=lambda run: run.load != "free")]
    eps = max(_round_off(run.rows) for run in runs)
    intervals = [_own_intervals(run) for run in runs]
    ways: list[tuple[Sequence[OwnRun], float]] = [(runs, eps)]
    if any(timed for timed, _, _ in intervals):
        ways.append(
            (
                [timed or run for run, (timed, _, _) in zip(runs, intervals, strict=True)],
                max(eps, *(e for _, e, _ in intervals)),
            )
        )
        if max(share for _, _, share in intervals) > 0.5:
            ways.reverse()
    readings: list[_Reading] = []
    for way, unit in ways:
        for rows_ahead in (0, 1):
            for fit in _conventions(way[0], rows_ahead)[:MOST_CONVENTIONS]:
                is_first = not rows_ahead and all(reading.best >= WITHIN for reading in readings)
                readings.append(_judged(way, fit.convention, unit, is_first))
                readings[-1].ratio, readings[-1].is_unequal = fit.ratio, way is not runs
            if any(reading.best < WITHIN for reading in readings):
                break
        if any(reading.best < WITHIN for reading in readings):
            break
    if not readings:
        raise IdentifyError(_not_explained(runs[0]))
    _refuse_strong_damping(runs, readings)
    unequal = max(share for _, _, share in intervals)
    readings.sort(
        key=lambda reading: (reading.best >= WITHIN and unequal > 0.5 and not reading.is_unequal, reading.best * reading.eps)
    )
    chosen = readings[0]
    # A vector of the row before explains a damping after the rotation as well: it comes last.
    for reading in sorted((r for r in readings if not r.is_unequal), key=lambda r: r.convention.rows_ahead):
        if chosen.is_unequal or not chosen.misfits or reading.best > FURTHER * chosen.best:
            continue
        changed, better = _fitted(runs, reading)
        if len(better.misfits) < len(chosen.misfits) or reading is chosen:
            runs, chosen = changed, better
    same = [reading for reading in readings[1:] if reading.best < WITHIN and chosen.best < WITHIN]
    if chosen.is_unequal:
        runs = ways[0][0] if ways[0][0] is not runs else ways[1][0]
    return _answer(runs, chosen, same, unequal)


def _is_fitting(deviations: Sequence[Deviation], eps: float) -> bool:
    """Whether a candidate makes these steps: to round-off, or nearly so and far closer than all others."""
    return bool(deviations) and deviations[0].value < _bound([deviation.value for deviation in deviations], eps)


def _bound(values: Sequence[float], eps: float) -> float:
    """The deviation below which candidates fit, from all of them in ascending order."""
    best = values[0] if values else math.inf
    if best < WITHIN or best * eps >= LOOSE:
        return WITHIN
    others = [value for value in values if value >= ALIKE * best]
    return ALIKE * best if others and others[0] >= APART * best else WITHIN


def _fitted(runs: Sequence[OwnRun], reading: _Reading) -> tuple[Sequence[OwnRun], _Reading]:
    """The runs with the step, the damping and the moments that their rows tell, as far as no candidate fits those given."""
    for fit in (_with_own_step, _with_own_damping, _with_own_moments):
        if not reading.misfits:
            break
        for changed, words in fit(runs, reading):
            trial = _judged(changed, reading.convention, reading.eps, True)
            if len(trial.misfits) < len(reading.misfits):
                trial.ratio, trial.fitted = reading.ratio, [*reading.fitted, words, *trial.fitted]
                trial.has_own_step = reading.has_own_step or (fit is _with_own_step and ROUNDED_STEP not in words)
                runs, reading = changed, trial
                break
    return runs, reading


def _longest(reading: _Reading, k: int) -> _Piece | None:
    """The longest piece of a run, if there is one."""
    return max(reading.pieces[k], key=lambda piece: len(piece.run.samples), default=None)


#: Runs with numbers fitted to them, and the words for these.
_Fits = Iterable[tuple[list[OwnRun], str]]


def _with_own_step(runs: Sequence[OwnRun], reading: _Reading) -> _Fits:
    """The runs with steps that fit their rows."""
    changed, words = list(runs), ""
    for k, run in enumerate(runs):
        piece = _longest(reading, k)
        if piece is None or piece.run.steps or run.load not in reading.misfits:
            continue
        ratios = misses(piece.spun.q, piece.spun.omega, piece.run.dt * run.every)[1]
        rough, deviations = float(np.nanmedian(ratios)), reading.deviations[run.load]
        if causes.is_constant(ratios) and abs(rough - 1) > fitted.NOTICED_STEP:
            piece = replace(piece, run=replace(piece.run, dt=piece.run.dt * rough))
            deviations = _deviations([piece], reading.eps, run)
        else:
            rough = 1.0
        factor, miss, _ = fitted.step_factor(piece.run, piece.spun, deviations, run.damping, run.every)
        if not miss < WITHIN * reading.eps:
            return
        unit = TIMES[reading.convention.time]
        single, step = float(np.float32(run.dt * unit)), run.dt * unit * rough * factor
        if abs(single / step - 1) < fitted.SINGLE_WITHIN * max(1.0, reading.eps / np.finfo(float).eps):
            said = f"the steps have dt = {single:.12g} s, which is {run.dt * unit:g} s {ROUNDED_STEP}."
            step = single
        elif step < run.dt * unit:
            said = (
                f"a step of {run.dt * unit:g} s is carried out as one of {step:.3g} s: the code shortens steps (as Havok does "
                f"above 0.043 s), or dt is not right. The method shows in shorter steps, at an angular velocity that "
                f"{STEP_WORDS} {recipe.ANGLE_SINGLE:g} rad in each."
            )
        else:
            said = f"the steps have dt = {step:.9g} s, not {run.dt * unit:g} s: check dt, and that no rows are lost."
        changed[k], words = replace(run, dt=step / unit), f"{words} {run.rows.name}: {said}" if words else said
    if words:
        yield changed, words


def _with_own_damping(runs: Sequence[OwnRun], reading: _Reading) -> _Fits:
    """The runs with the rate by which omega or the momentum of a free body falls, for each law of a damping."""
    k = next((k for k, run in enumerate(runs) if run.load == "free" and reading.pieces[k]), None)
    if k is None:
        return
    run = runs[k]
    # With a damping times are in s.
    pieces = _cut(*_whole(replace(run, damping=1.0), reading.convention, []))
    piece = max(pieces, key=lambda candidate: len(candidate.run.samples), default=None)
    if piece is None or piece.run.steps:
        return
    step = run.dt * TIMES[reading.convention.time]
    whole = fitted.damping_factor(piece.spun, piece.run.inertia)
    if 1 - whole > 2 * WITHIN * reading.eps:
        laws = fitted.rates(whole ** (1 / run.every), step, reading.eps)
    else:
        laws = fitted.damping_by_fit(piece.run, piece.spun, run.every, reading.eps)
    for law, rate in laws:
        if not 0 < rate * step < 1:
            continue
        changed = [replace(run, damping=rate) for run in runs]
        trial = _cut(*_whole(changed[k], reading.convention, []))
        if trial and _is_damped_so(trial[0], reading.eps, changed[k]):
            given = f", not {run.damping:g}/s" if run.damping and abs(run.damping / rate - 1) > 1e-6 else ""
            rest = "" if run.damping else " Switch the damping off where you can."
            yield changed, f"the code damps omega at the rate c = {rate:g}/s{given}, {LAWS[law]}.{rest}"


def _is_damped_so(piece: _Piece, eps: float, run: OwnRun) -> bool:
    """Whether some damped candidate makes the first steps of a run."""
    steps = range(identify.FIRST)
    arguments = (piece.run, piece.spun, eps, steps, 1, run.every)
    with np.errstate(all="ignore"):
        return any(identify.deviation(method, "", *arguments) < WITHIN for method in damped(run.damping))


def _with_own_moments(runs: Sequence[OwnRun], reading: _Reading) -> _Fits:
    """The runs with moments that fit their rows; under no torque only moments near those given, for others are another body."""
    if reading.convention.quantity != "angular velocity":
        return
    changed, words = list(runs), []
    for load in reading.misfits:
        chosen = [k for k, run in enumerate(runs) if run.load == load]
        piece = max((p for k in chosen if (p := _longest(reading, k))), key=lambda p: len(p.run.samples), default=None)
        if piece is None:
            continue
        run = runs[chosen[0]]
        acting, miss, _ = fitted.moments(piece.run, piece.spun, reading.deviations[load], run.damping, run.every)
        ratio = acting / np.array(piece.run.inertia)
        if not miss < WITHIN * reading.eps or (load == "free" and np.abs(ratio - 1).max() > OWN_MOMENTS):
            continue
        moments = run.inertia * ratio
        numbers = " ".join(f"{x:.6g}" for x in moments)
        given = " ".join(f"{x:.6g}" for x in run.inertia)
        where = "of the free body" if load == "free" else f"under the torque ({load})"
        words.append(f"the moments that act {where} are {numbers}, where {given} are given")
        if load != "free" and np.ptp(ratio) < 1e-3 * ratio.mean() and abs(ratio.mean() - 1) > 1e-3:
            words[-1] += f"; or the torque is {1 / ratio.mean():.5g} times that given"
        for k in chosen:
            changed[k] = replace(runs[k], inertia=moments)
    if words:
        yield changed, f"{'; '.join(words)}."


def _checked(run: OwnRun) -> OwnRun:
    """The run with rows that are no finite numbers made NaN.

    Raises
    ------
    IdentifyError
        If there are too few rows, or they show no motion.
    """
    rows = run.rows
    if len(rows.q) < FEW + 2:
        raise IdentifyError(f"{rows.name} has {len(rows.q)} rows: write at least {FEW + 2}, better a hundred")
    with np.errstate(all="ignore"):
        q, spin = np.where(np.abs(rows.q) < HUGE, rows.q, np.nan), np.where(np.abs(rows.spin) < HUGE, rows.spin, np.nan)
        lost = ~(np.isfinite(q).all(1) & np.isfinite(spin).all(1) & (q != 0).any(1))
    if (~lost).sum() < FEW + 2:
        raise IdentifyError(
            f"{rows.name}: only {(~lost).sum()} of {len(lost)} rows have finite numbers and a quaternion that is not zero: "
            f"write at least {FEW + 2}, better a hundred"
        )
    q[lost], spin[lost] = np.nan, np.nan
    size = np.linalg.norm(spin[~lost], axis=1)
    if not size.any() or not np.median(size) > 0:
        raise IdentifyError(
            f"{rows.name}: {'in most rows ' * bool(size.any())}the angular velocities are zero, while a method shows in how "
            "they turn the body: write the angular velocity or momentum of each row, of a body that turns and does not sleep"
        )
    return replace(run, rows=replace(rows, q=q, spin=spin))


def _refuse_strong_damping(runs: Sequence[OwnRun], readings: Sequence[_Reading]) -> None:
    """Refuse a rate that takes all of omega in a step, in every unit of time that the rows may have.

    Raises
    ------
    IdentifyError
        For such a rate.
    """
    for run in runs:
        step = run.dt * min(TIMES[reading.convention.time] for reading in readings)
        if run.damping * step > 1:
            raise IdentifyError(
                f"{run.rows.name}: damping {run.damping:g}/s takes all of omega in a step of {step:.3g} s: give the rate in "
                f"1/s, below {1 / step:.3g}"
            )


def _own_intervals(run: OwnRun) -> tuple[OwnRun | None, float, float]:
    """The run with the time of each row where its steps are not equal, the round-off of that time, and the share of such steps.

    Rows with times that go back or stand still, or times that are as good as equal for their digits, give none.
    """
    t = run.rows.t
    if t is None or not np.isfinite(t).all():
        return None, 0.0, 0.0
    intervals = np.diff(t)
    unit = max(run.rows.t_unit, unit_of([repr(float(x)) for x in t]), float(np.spacing(np.abs(t).max())))
    if all_single(t, run.rows.t_unit):
        unit = max(unit, float(np.finfo("float32").eps) * float(np.abs(t).max()))
    share = float((np.abs(intervals - run.dt * run.every) > 2 * unit).mean())
    if not share or not (intervals > 2 * unit).all():
        return None, 0.0, 0.0
    turned = np.nanmedian(np.linalg.norm(np.diff(run.rows.q, axis=0), axis=1)) * 2
    return replace(run, intervals=intervals), float(turned * unit / np.median(intervals)), share


def _conventions(run: OwnRun, rows_ahead: int) -> list[Fit]:
    """The conventions that the first run may have.

    Raises
    ------
    IdentifyError
        If the orientation does not change.
    """
    turned = np.linalg.norm(np.diff(run.rows.q, axis=0), axis=1)
    if not np.nanmax(turned) > 10 * max(run.rows.q_unit, 1e-15):
        raise IdentifyError(f"{run.rows.name}: the orientation is the same in all rows; write those of a body that turns")
    return plausible(list(fits(_while_usual(run.rows), run.inertia, run.row_step, rows_ahead, run.axes)))


def _while_usual(rows: Rows) -> Rows:
    """The rows without those in which a body has become much faster or slower than at the start, if enough remain."""
    size = np.linalg.norm(rows.spin, axis=1)
    start = float(np.nanmedian(size[: FEW + 2]))
    with np.errstate(all="ignore"):
        usual = (size < identify.FASTEST * start) & (size > start / identify.FASTEST)
    usual[_asleep_from(rows.q) :] = False
    if usual.sum() < FEW + 2:
        return rows
    return replace(rows, q=np.where(usual[:, None], rows.q, np.nan))


def _asleep_from(q: np.ndarray) -> int:
    """The first row at which a body stands still that does so to the end of the run; the number of rows if it turns."""
    still = (np.diff(q, axis=0) == 0).all(1)
    first = len(still) - int(np.argmin(still[::-1])) if not still.all() else len(q)
    return first + 1 if len(still) - first >= RESTING else len(q)


def _not_explained(run: OwnRun) -> str:
    """Why no convention explains the rotations."""
    size = np.linalg.norm(run.rows.spin, axis=1)
    with np.errstate(all="ignore"):
        fast = np.flatnonzero(size > identify.FASTEST * np.nanmedian(size[:FEW_AT_START]))
    if fast.size and fast[0] < len(size) - 1 and np.nanmedian(size[fast[0] :]) > size[0]:
        line = f"{run.rows.line_word} {run.rows.lines[fast[0]]}"
        return (
            f"{run.rows.name}: by {line} the vector in the rows has grown to {size[fast[0]] / size[0]:.2g} times that of the "
            f"start: at this step the code diverges after {fast[0]} rows, too few to compare; write a run with a smaller dt, "
            "in which the body turns by 0.2 rad in a step"
        )
    angle = 2 * float(np.nanmedian(np.linalg.norm(np.diff(run.rows.q, axis=0), axis=1)))
    lost = np.flatnonzero(~(np.isfinite(run.rows.q).all(1) & np.isfinite(run.rows.spin).all(1)))
    ended = (
        f" ({len(lost)} rows are no finite numbers, from {run.rows.line_word} {run.rows.lines[lost[0]]} on)"
        if lost.size
        else ""
    )
    remedy = "that inertia is in the order of the axes of the body"
    for order in dict.fromkeys(permutations(map(float, run.inertia))):
        if plausible(list(fits(run.rows, np.array(order), run.row_step, 0, run.axes))):
            remedy = f"the order of inertia, which {' '.join(f'{x:.4g}' for x in order)} would explain"
            break
    units = ", that the units in the names of its columns are right" if run.rows.time_unit or run.rows.rate_unit else ""
    return (
        f"{run.rows.name}: from row to row the body turns by {angle:.2g} rad{ended}, which no convention explains by the "
        f"angular velocity or momentum in the rows and a step of {run.dt * run.every:g}: check that they are of one body, "
        f"{remedy}, that dt is right{units}, and that no rows are left out (--every)"
    )


def _round_off(rows: Rows) -> float:
    """The relative unit of the last place."""
    precision = float(np.finfo("float32" if rows.is_single else "float64").eps)
    return max(precision, rows.q_unit, rows.spin_unit / float(np.nanmedian(np.linalg.norm(rows.spin, axis=1))))


def _judged(runs: Sequence[OwnRun], convention: Convention, eps: float, cuts: bool) -> _Reading:
    """Every candidate's deviations under one convention; with ``cuts``, wrong rows that spoil them are named and left out."""
    reading = _Reading(convention, eps=eps)
    wholes = [_whole(run, convention, reading.faults) for run in runs]
    reading.pieces = [_cut(whole, bad) for whole, bad in wholes]
    for load in dict.fromkeys(run.load for run in runs):
        chosen = [k for k, run in enumerate(runs) if run.load == load]
        deviations = _deviations([p for k in chosen for p in reading.pieces[k]], eps, runs[chosen[0]])
        if cuts and deviations:
            cut, faults, limits = _without_wrong_rows([(runs[k], *wholes[k]) for k in chosen], convention, eps, deviations[0])
            if faults or limits:
                trial = _deviations([piece for pieces in cut for piece in pieces], eps, runs[chosen[0]])
                if trial and (trial[0].value < WITHIN or deviations[0].value >= WITHIN):
                    deviations = trial
                    reading.faults += faults
                    reading.fitted += limits
                    for k, pieces in zip(chosen, cut, strict=True):
                        reading.pieces[k] = pieces
        reading.deviations[load] = deviations
    return reading


def _deviations(pieces: Sequence[_Piece], eps: float, run: OwnRun) -> list[Deviation]:
    pieces = sorted(pieces, key=lambda piece: -len(piece.run.samples))
    runs, spun = [piece.run for piece in pieces], [piece.spun for piece in pieces]
    with np.errstate(all="ignore"):
        return identify.deviations(runs, spun, eps, run.damping, True, APART, run.every)


def _whole(run: OwnRun, convention: Convention, faults: list[str]) -> tuple[_Piece, np.ndarray]:
    """All rows of a run in the units of the comparison, and the steps that are no steps: of no finite numbers or times."""
    rows = run.rows
    q, omega = convention.states(rows, run.inertia, run.axes)
    unit, ahead = TIMES[convention.time], convention.rows_ahead
    faults += rows.remarks
    bad = np.zeros(len(q) - 1, bool)
    lost = np.flatnonzero(~(np.isfinite(q).all(1) & np.isfinite(omega).all(1)))
    for n in lost:
        bad[max(n - 1, 0) : n + 1] = True
    for group in np.split(lost, np.flatnonzero(np.diff(lost) > 1) + 1) if lost.size else ():
        first, last = rows.lines[ahead:][group[[0, -1]]]
        where = f"{rows.line_word} {first}" if first == last else f"{rows.line_word}s {first} to {last}"
        faults.append(f"{where}: values that are no finite numbers")
    if (first := _asleep_from(q)) < len(q):
        bad[first - 1 :] = True
        faults.append(
            f"from {rows.line_word} {rows.lines[ahead:][first]} on the body stands still: the code puts it to sleep; switch "
            "sleeping off, or let it turn faster"
        )
    if rows.t is not None and run.intervals is None:
        bad |= _faults_of_time(rows, run.dt * run.every, ahead, faults)
    # 2^power seconds are the unit of time, in which the body turns by about a radian; that of inertia likewise.
    size = float(np.nanmedian(np.linalg.norm(omega, axis=1)))
    time = 1.0 if run.damping else 2.0 ** -math.floor(math.log2(size))
    mass = 2.0 ** math.floor(math.log2(run.inertia.max()))
    torque = time / mass if run.load == "velocity" else time * time / mass
    value = tuple(np.array(run.value) @ run.axes) if run.load == "constant" else run.value
    steps = () if run.intervals is None else tuple(map(float, run.intervals[ahead:] * unit / run.every / time))
    dt = run.dt * run.every * unit / run.every / time
    scaled, moments = tuple(float(x) * torque for x in value), tuple(run.inertia / mass)
    case = Run(run.load, scaled, moments, tuple(q[0]), tuple(omega[0] * time), dt, tuple(range(len(q))), steps)
    return _Piece(case, Spun(q, omega * time), 0, time), bad


def _cut(whole: _Piece, bad: np.ndarray, most: int = MOST_ROWS, least: int = FEW + 2) -> list[_Piece]:
    """The stretches of at least so many rows between bad steps, without those in other units than the rest."""
    ends = [-1, *np.flatnonzero(bad), len(bad)]
    pieces = []
    for before, after in pairwise(ends):
        start, stop = before + 1, min(after + 1, before + 1 + most)
        if stop - start < least:
            continue
        pieces.append(whole.slice(start, stop))
    if len(ends) > 2 and pieces:
        ratios = [_ratio(piece) for piece in pieces]
        # Each fault has its own stretch, so that the longest may be one in other units.
        usual = min(ratios, key=lambda ratio: abs(math.log(abs(ratio))))
        pieces = [
            piece for piece, ratio in zip(pieces, ratios, strict=True) if abs(math.log(abs(ratio / usual))) < math.log(1.5)
        ]
    return pieces


def _ratio(piece: _Piece) -> float:
    """The median of the angle turned over omega times the time from row to row, up to a constant."""
    steps = np.array(piece.run.steps) if piece.run.steps else piece.run.dt
    return float(np.nanmedian(misses(piece.spun.q, piece.spun.omega, steps)[1])) or 1e-300


def _faults_of_time(rows: Rows, step: float, rows_ahead: int, faults: list[str]) -> np.ndarray:
    """Steps that are not one step long, by the column of times."""
    assert rows.t is not None
    count = np.diff(rows.t) / spacing(rows)
    slack = 0.1 + 2 * float(np.nanmedian(np.abs(count - 1)))
    bad = ~(np.abs(count - 1) < slack)
    word, lines = rows.line_word, rows.lines
    unit = 1.0
    for n in np.flatnonzero(bad):
        later, earlier = f"{word} {lines[n + 1]}", f"{word} {lines[n]}"
        if unit != 1 and abs(count[n] / unit - 1) < 0.01:
            continue
        following = count[n + 1 : n + 4]
        unit = (
            float(following[0]) if len(following) == 3 and bad[n + 1] and np.ptp(following) < 0.01 * abs(following[0]) else 1.0
        )
        if unit != 1:
            faults.append(f"from {later} on time advances by {unit:.4g} steps from row to row: another unit or another step")
        elif abs(count[n]) < slack:
            faults.append(f"{later} repeats the time of {earlier}")
        elif count[n] < 0:
            faults.append(f"time goes back from {earlier} to {later}")
        elif abs(count[n] - round(count[n])) < slack:
            faults.append(f"{round(count[n]) - 1} row(s) lost between {earlier} and {later}")
        elif math.isfinite(count[n]):
            faults.append(f"time jumps by {count[n]:.4g} steps between {earlier} and {later}")
    return np.asarray(bad[rows_ahead:] if not rows_ahead else bad[1:] | bad[:-1])


def _without_wrong_rows(
    runs: Sequence[tuple[OwnRun, _Piece, np.ndarray]], convention: Convention, eps: float, closest: Deviation
) -> tuple[list[list[_Piece]], list[str], list[str]]:
    """The stretches of runs without steps that the method of most steps does not make, these steps named, and limits of turns.

    Rows that a candidate makes are right, however much they turn; without such a candidate only rows that stand out are wrong.
    """
    every = runs[0][0].every
    first = [piece for _, whole, bad in runs for piece in _cut(whole, bad)]
    method, mode = next((m for m in identify.all_candidates(runs[0][0].damping) if m.key == closest.key), None), closest.mode
    if closest.value >= WITHIN:
        method, mode = _usual_method(first, eps, runs[0][0])
    limit = WITHIN if eps < FINE else COARSE
    cuts: list[list[_Piece]] = []
    faults: list[str] = []
    limits: list[str] = []
    for run, whole, bad in runs:
        lines = run.rows.lines[convention.rows_ahead :]
        values, unjudged = np.full(len(bad), np.nan), np.full(len(bad), method is not None)
        sizes = np.full(len(bad), np.nan)
        for piece in _cut(whole, bad, MOST_JUDGED):
            steps = range(len(piece.run.samples) - 1)
            if method:
                place = slice(piece.first, piece.first + len(steps))
                values[place], sizes[place] = _step_values(method, mode, piece, eps, steps, every)
                unjudged[piece.first + identify.judged_from(mode) : piece.first + len(steps)] = False
        with np.errstate(all="ignore"):
            size = np.linalg.norm(whole.spun.omega, axis=1)[:-1]
            ordinary = (size < identify.FASTEST * np.nanmedian(size[: FEW + 2])) & (size > identify.SLOWEST * size[0])
            taken = unjudged | (values < limit) | (~ordinary & ((values * eps < ROUGH) | ~np.isfinite(values)))
        beyond = ~unjudged & ordinary & ~(values < limit) if method else np.zeros(len(bad), bool)
        words = _limit_words(whole, sizes, beyond, ~unjudged & (values < limit)) if beyond.any() and run.every == 1 else ""
        if words:
            speed = words.partition("(")[2].partition(")")[0]
            limits += [words] if not any(f"({speed})" in known for known in limits) else []
            cuts.append(_cut(whole, bad | beyond, least=3))
            continue
        off = _faults_of_turning(run.rows, lines, whole, bad | taken, 0.7 if method else 0.95, faults)
        pieces = _cut(whole, bad | off)
        if method:
            cut, single = _without_single_faults(pieces, values, lines, run, ordinary, identify.judged_from(mode))
            pieces, faults = cut, [*faults, *single]
        cuts.append(pieces)
    return cuts, faults, limits


def _step_values(
    method: Any, mode: str, piece: _Piece, eps: float, steps: Iterable[int], every: int
) -> tuple[np.ndarray, np.ndarray]:
    """The deviations of a method in steps of a piece, infinite where and after it cannot be stepped, and its new |omega|."""
    numbers = list(steps)
    values, sizes = np.full(len(numbers), np.inf), np.full(len(numbers), np.nan)
    spun = piece.spun
    with np.errstate(all="ignore"):
        try:
            for k, (q, w) in enumerate(identify.predictions(method, mode, piece.run, spun, numbers, every)):
                following = numbers[k] + 1
                values[k] = identify.apart(q, w, spun.q[following], spun.omega[following]) / eps
                sizes[k] = np.linalg.norm(w)
        except (ArithmeticError, ValueError, TypeError):
            pass
    return values, sizes


def _limit_words(whole: _Piece, sizes: np.ndarray, beyond: np.ndarray, right: np.ndarray) -> str:
    """The limit of a code, if the steps that a method does not make are those in which the body would turn fastest.

    Parameters
    ----------
    sizes : the angular velocities after each step by that method
    beyond, right : the steps that it does not make, and those that it makes
    """
    if right.sum() < FEW:
        return ""
    steps = np.array(whole.run.steps) if whole.run.steps else whole.run.dt
    with np.errstate(all="ignore"):
        old = np.linalg.norm(whole.spun.omega[:-1], axis=1)
        # A body turns with its new angular velocity, the old one, or something between them.
        ways = [
            size for size in (sizes, old, np.fmax(old, sizes)) if (size * steps)[beyond].min() > (size * steps)[right].max()
        ]
    if not ways:
        return ""
    speeds = ways[0]
    turns = speeds * steps
    highest = float(turns[right].max())
    speed, least, slowest = float(speeds[right].max()) / whole.unit, float(turns[beyond].min()), float(speeds[beyond].min())
    known = next((words for at, words in TURN_LIMITS.items() if _is_between(at, highest, least)), "")
    known = known or next((words for at, words in SPEED_LIMITS.items() if _is_between(at, speed, slowest / whole.unit)), "")
    if not known and beyond.sum() < SEVERAL_BEYOND:
        return ""
    return (
        f"the code limits the angular velocity or the turn in a step: {int(beyond.sum())} steps that would turn the body by "
        f"{least:.4g} rad or more do not follow the method, and the others, up to {highest:.4g} rad ({speed:.4g} rad/s), "
        f"are{f' ({known})' if known else ''}. They are left out; take steps of {recipe.ANGLE_SINGLE:g} rad."
    )


def _is_between(limit: float, low: float, high: float) -> bool:
    """Whether a limit lies between two numbers, within a factor."""
    return low / KNOWN_LIMIT <= limit <= high * KNOWN_LIMIT


def _faults_of_turning(
    rows: Rows, lines: np.ndarray, whole: _Piece, known: np.ndarray, quantile: float, faults: list[str]
) -> np.ndarray:
    """Steps whose rotation or change of omega is out of line with that of the others.

    Steps that are ``known`` to be right or wrong are not judged; the quantile is that of steps which count as usual.
    """
    q, omega = whole.spun.q, whole.spun.omega
    with np.errstate(all="ignore"):
        miss, ratio = misses(q, omega, np.array(whole.run.steps) if whole.run.steps else whole.run.dt)
        ratio = ratio / np.nanmedian(ratio)
        change = np.linalg.norm(np.diff(omega, axis=0), axis=1) / np.linalg.norm(omega, axis=1)[:-1]
        off = np.zeros(len(miss), bool)
        for values in (miss, change):
            fine = values[np.isfinite(values)]
            usual = float(np.quantile(fine, quantile)) if fine.size else 0.0
            off |= values > FAULTY * usual + 1e-12
    off &= ~known
    if off.sum() > SINGLE * len(off):
        size = np.linalg.norm(omega, axis=1)
        jumps = [n for n in np.flatnonzero(off) if not 0.3 < size[n + 1] / size[n] < 3]
        if not jumps:
            return np.zeros(len(off), bool)
    word = rows.line_word
    n = 0
    numbers = list(np.flatnonzero(off))
    while n < len(numbers):
        at = numbers[n]
        scale = float(np.linalg.norm(omega[at + 1]) / np.linalg.norm(omega[at]))
        units = next((name for name, x in ANGLES.items() if name != "rad" and abs(math.log(scale * x)) < 0.2), "")
        back = next((name for name, x in ANGLES.items() if name != "rad" and abs(math.log(scale / x)) < 0.2), "")
        if numbers[n + 1 : n + 2] == [at + 1] and not (units or back):
            faults.append(f"{word} {lines[at + 1]} does not fit the rows around it")
            n += 1
        elif units or back:
            way = f"{units} instead of rad" if units else f"rad instead of {back}"
            faults.append(f"at {word} {lines[at + 1]} the angular velocity changes by a factor of {scale:.4g}: {way}")
        elif abs(ratio[at] - round(ratio[at])) < 0.2 and round(ratio[at]) > 1:
            lost = round(ratio[at]) - 1
            faults.append(f"{lost} row(s) lost between {word} {lines[at]} and {word} {lines[at + 1]}, by the angle turned")
        else:
            faults.append(f"the state jumps between {word} {lines[at]} and {word} {lines[at + 1]}")
        n += 1
    return off


def _without_single_faults(
    pieces: Sequence[_Piece], values: np.ndarray, lines: np.ndarray, run: OwnRun, ordinary: np.ndarray, first: int
) -> tuple[list[_Piece], list[str]]:
    """The pieces cut at the few steps in which the method of all others does not agree, and these named.

    ``values`` are its deviations in all steps of the run; the first steps of a piece, and those of a body that is not
    ``ordinary`` any more, are not judged.
    """
    cuts: list[_Piece] = []
    faults: list[str] = []
    for piece in pieces:
        count = len(piece.run.samples) - 1
        of_piece = values[piece.first : piece.first + count]
        off = (of_piece >= WITHIN) & ordinary[piece.first : piece.first + count]
        off[:first] = False  # the start need not be a state of the method
        if off.mean() > SINGLE:
            return list(pieces), []
        ends = [-1, *np.flatnonzero(off), len(off)]
        for before, n in pairwise(ends[:-1]):
            if n > before + 1:
                row, far = lines[piece.first + n + 1], _rounded(float(of_piece[n]))
                faults.append(f"{run.rows.line_word} {row} is {far} round-offs from the step that the other rows take")
        for before, after in pairwise(ends):
            if after - before > FEW + 2:
                cuts.append(piece.slice(before + 1, after + 1))
    return (cuts, faults) if faults and cuts else (list(pieces), [])


def _usual_method(pieces: Sequence[_Piece], eps: float, run: OwnRun) -> tuple[Any, str]:
    """The candidate that agrees in most steps, tried at some of them, with the way in which it begins; or nothing.

    If there is none, it is the one that agrees in most of the steps in which the body turns slowest: below a limit of the code.
    """
    longest = max(pieces, key=lambda piece: len(piece.run.samples), default=None)
    if longest is None:
        return None, ""
    count = len(longest.run.samples) - 1
    sizes = np.linalg.norm(longest.spun.omega, axis=1)
    slow = np.sort(1 + np.argsort(np.fmax(sizes[1:-1], sizes[2:]))[:FEW]).tolist()
    for spread in (list(range(1, count, max(1, count // FEW))), slow):
        best: tuple[float, Any, str] = (WITHIN, None, "")
        together = range(min(FEW + 4, count))
        for method in identify.all_candidates(run.damping):
            for mode in identify.modes(method, True, not longest.run.steps):
                steps = together if mode == "memory" else spread
                try:
                    arguments = (method, mode, longest.run, longest.spun, eps, steps, run.every)
                    value = _usual_value(identify.step_deviations(*arguments), 4 if mode == "memory" else 0, len(steps))
                except (ArithmeticError, ValueError, TypeError):
                    continue
                if value < best[0]:
                    best = value, method, mode
        if best[1] is not None:
            return best[1:]
    return None, ""


def _usual_value(values: Iterable[float], first: int, count: int) -> float:
    """The median of deviations from the first one on that counts; infinite as soon as it cannot be small any more."""
    judged: list[float] = []
    far = 0
    for n, value in enumerate(values):
        if n < first:
            continue
        judged.append(value)
        far += value >= WITHIN
        if far > (count - first) / 2:
            return math.inf
    return float(np.median(judged))


def _answer(runs: Sequence[OwnRun], reading: _Reading, same: Sequence[_Reading], unequal: float) -> Answer:
    """What the deviations say; ``same`` are other readings that a candidate fits, ``unequal`` the share of such steps."""
    eps = reading.eps
    limits: list[str] = []
    values, modes = _merged(reading, limits)
    best = min(values.values(), default=math.inf)
    order = list(values)
    bound = _bound(list(values.values()), eps)
    if best < bound:
        within = [key for key in order if values[key] < bound]
        members = [key for key in order if values[key] < max(bound, APART if best < WITHIN else 0.0)]
    else:
        within, members = [], order[:1]
    if within and _differ_in_damping(members):
        members = within
    rest = [key for key in order if key not in members]
    pieces = [piece for group in reading.pieces for piece in group]
    differ = _difference(members, modes, reading, runs) if len(within) > 1 and not _differ_in_damping(members) else 0.0
    shows_all = len(within) < 2 or _shows_gyroscopic_term(pieces) or meaning.are_one_free_step(members)
    identified = bool(within and set(members) == set(within) and rest and not differ and shows_all)
    if reading.has_own_step and all(map(_is_without_term, members)):
        identified = False
    others = [set(_members(other)) for other in same]
    if identified and any(keys != set(members) for keys in others):
        identified = False
        limits.append("read in another way, these rows are those of other methods: name the columns (qw, qx, ..., wx or Lx).")
    half = candidate(order[0]).stored_offset if within and modes[order[0]] in ("stored", "half") else 0.0
    exact = math.nan
    if pieces and not half and not runs[0].damping:
        longest = max(pieces, key=lambda piece: len(piece.run.samples))
        exact = causes.exact_deviation(longest.run, longest.spun, runs[0].every)
    free = next((k for k, run in enumerate(runs) if run.load == "free" and reading.pieces[k]), None)
    if identified:
        # One step in different words: the registry's first, then as they round.
        members.sort(key=lambda key: key not in METHODS)
    changes = (math.nan,) * 3 if free is None or half else _conserved(reading.pieces[free])
    run = runs[0]
    speed = angle = math.nan
    if pieces:
        q, omega = reading.convention.states(_while_usual(run.rows), run.inertia, run.axes)
        fine = np.isfinite(q).all(1) & np.isfinite(omega).all(1)
        speed = float(np.median(np.linalg.norm(omega[fine], axis=1)))
        turned = np.linalg.norm(rotations(q), axis=1)[fine[1:] & fine[:-1]]
        angle = float(np.median(turned)) / run.every if turned.size else math.nan
    measured = _order(runs, reading) if not half else math.nan
    if pieces and not within:
        limits += _why(runs, reading)
        is_near_exact = causes.is_nearest(exact, [value * eps for value in values.values()])
        if not limits and not is_near_exact and not measured > CONVERGING and not _is_beyond(angle):
            limits.append(NO_CANDIDATE)
    if unequal > SINGLE and not within:
        limits.append(
            "the steps are not equal by the times of the rows; each row was tried with its own step as well: print times with "
            "17 digits, and of a code with error control run a fixed step."
        )
    elif reading.is_unequal:
        limits.append("the steps are not equal: methods that use earlier steps, as Adams-Bashforth, are no candidates.")
    if run.damping and identified and not any(DAMPED_KEY in key for key in members):
        limits.append(f"the rows show no damping of {run.damping:g}/s.")
    limits += _contradicted_units(run.rows, reading.convention)
    limits += _limits(runs, reading, angle, speed, len(pieces), identified, differ)
    is_single, further = all(run.rows.is_single for run in runs), ""
    # One advice: another step, or another run.
    names_further_run = (
        not _differ_in_damping(members) if identified else not any(STEP_WORDS in said for said in (*limits, *reading.fitted))
    )
    if within and 1 < len(members) <= MOST_MEMBERS and names_further_run:
        known = () if identified else [(run.load, angle) for run in runs]
        further = meaning.telling_run(members, known, is_single, speed)
    return Answer(
        identified=identified,
        methods=tuple(members),
        deviation=max((values[key] for key in members if values[key] < bound), default=best),
        runner_up=rest[0] if rest else "",
        runner_up_deviation=values[rest[0]] if rest else math.inf,
        deviations=values,
        convention=_convention_words(reading.convention, run.rows),
        ambiguous=tuple(str(other.convention) for other in same),
        half_steps=half,
        round_off=eps,
        precision=_precision(runs, eps),
        angle=angle,
        speed=speed,
        dt=run.dt * TIMES[reading.convention.time],
        order=measured,
        energy=changes[0],
        momentum=changes[1],
        momentum_vector=changes[2],
        faults=tuple(dict.fromkeys(reading.faults)),
        limits=tuple(limits),
        further=further,
        exact=exact,
        fitted=tuple(dict.fromkeys(reading.fitted)),
    )


def _convention_words(convention: Convention, rows: Rows) -> str:
    """A convention in words, with the units that the names of columns say."""
    said = str(convention)
    if rows.scalar:
        said = said.replace(f"scalar {convention.scalar}", "quaternion by the names of its components")
    if rows.rate_unit and convention.angle == "rad":
        said = said.replace("rad/s", rows.rate_unit)
    if rows.time_unit and convention.time == "s":
        said = said.removesuffix("time in s") + f"time in {rows.time_unit}"
    return said


def _contradicted_units(rows: Rows, convention: Convention) -> list[str]:
    """Units in names of columns that the rows contradict, each with what to do."""
    factor = ANGLES[convention.angle] * TIMES[convention.time]
    unit = rows.rate_unit if convention.angle != "rad" else rows.time_unit if convention.time != "s" else ""
    if not unit:
        return []
    return [
        f"the names of the columns say {unit}, while the body turns by {factor:.4g} times what follows from it; the rows were "
        f"read as {convention.angle if convention.angle != 'rad' else convention.time}: write the right unit into the names."
    ]


#: What may be wrong if no candidate makes the steps of a run.
NO_CANDIDATE = (
    "no candidate makes this step. Check inertia (the order of the axes, products of inertia), the torque (--torque), steps "
    "between rows (--every), the unit of time (--dt); switch damping and contacts off, or name the rate (--damping). Otherwise "
    f"the method is none that polhode knows. {IF_YOURS}"
)


def _members(reading: _Reading) -> list[str]:
    """The methods that fit under a reading."""
    first = next(iter(reading.deviations.values()))
    bound = _bound([deviation.value for deviation in first], reading.eps)
    return [deviation.key for deviation in first if deviation.value < bound]


def _merged(reading: _Reading, limits: list[str]) -> tuple[dict[str, float], dict[str, str]]:
    """Each candidate's deviation under all loads, ascending, and how it was begun; a load that none fits is a limit."""
    first = next(iter(reading.deviations.values()))
    values = {deviation.key: deviation.value for deviation in first}
    modes = {deviation.key: deviation.mode for deviation in first}
    for load, deviations in list(reading.deviations.items())[1:]:
        of_load = {deviation.key: deviation.value for deviation in deviations}
        both = {key: max(values[key], of_load.get(key, math.inf)) for key in values}
        least = sorted(both.values())
        if (least and least[0] < _bound(least, reading.eps)) or not _is_fitting(first, reading.eps):
            values = both
            modes |= {deviation.key: deviation.mode for deviation in deviations if deviation.mode}
        else:
            closest = min(of_load, key=of_load.get) if of_load else ""  # type: ignore[arg-type]
            limits.append(
                f"under the torque ({load}) {NOT_UNDER_TORQUE}"
                + (f"; closest there: {label_of(closest)}, {_rounded(of_load[closest])} round-offs." if closest else ".")
                + " Check the value of the torque, its frame, and that it is set again in every step."
            )
    return dict(sorted(values.items(), key=lambda pair: pair[1])), modes


def _difference(members: Sequence[str], modes: Mapping[str, str], reading: _Reading, runs: Sequence[OwnRun]) -> float:
    """The smallest difference in a step of these rows between the first method and those that are another step; 0 if none is.

    Steps as large as :data:`TELLING` show whether two methods are one step.
    """
    smallest = math.inf
    for load, deviations in reading.deviations.items():
        chosen = [k for k, run in enumerate(runs) if run.load == load and reading.pieces[k]]
        modes_of_load = {deviation.key: deviation.mode for deviation in deviations}
        if not chosen:
            continue
        piece = max(reading.pieces[chosen[0]], key=lambda piece: len(piece.run.samples))
        speed = float(np.nanmedian(np.linalg.norm(piece.spun.omega, axis=1)))
        large = replace(piece.run, dt=max(piece.run.dt, TELLING / speed / runs[chosen[0]].every), steps=())
        first = max(identify.judged_from(modes_of_load.get(key, modes[key])) for key in members)
        states: list[dict[str, list[Any]]] = [{}, {}]
        for key in members:
            for case, known in zip((large, piece.run), states, strict=True):
                mode = modes_of_load.get(key, modes[key])
                try:
                    steps = range(min(SEVERAL, identify.usable(piece.run, piece.spun)))
                    arguments = (candidate(key), mode, case, piece.spun, steps, runs[chosen[0]].every)
                    known[key] = list(identify.predictions(*arguments))[first:]
                except (ArithmeticError, ValueError, TypeError):
                    known[key] = []
        for key in members[1:]:
            far, near = (
                max((identify.apart(*a, *b) for a, b in zip(known[members[0]], known[key], strict=False)), default=math.inf)
                for known in states
            )
            if far > SAME:
                smallest = min(smallest, near)
    return 0.0 if smallest == math.inf else max(smallest, float(np.finfo(float).eps))


def _shows_gyroscopic_term(pieces: Sequence[_Piece]) -> bool:
    """Whether a body turns between its axes in enough rows, and its moments differ; a method may bring it to an axis later."""
    omega, inertia = np.vstack([piece.spun.omega for piece in pieces]), np.array(pieces[0].run.inertia)
    with np.errstate(all="ignore"):
        gyroscopic = np.linalg.norm(np.cross(omega, inertia * omega), axis=1) / (inertia.max() * (omega * omega).sum(1))
    return bool((~(gyroscopic < 1e-3)).sum() >= min(FEW + 2, len(gyroscopic)))


def _conserved(pieces: Sequence[_Piece]) -> tuple[float, float, float]:
    """Largest relative changes of energy, of the momentum's length and of its vector in the lab, of a free run."""
    q, omega = (np.vstack([getattr(piece.spun, name) for piece in pieces]) for name in ("q", "omega"))
    inertia = np.array(pieces[0].run.inertia)
    with np.errstate(all="ignore"):
        energy = (inertia * omega * omega).sum(1)
        lab = causes.in_lab(q, inertia * omega)
        length = np.linalg.norm(inertia * omega, axis=1)
        vector = np.linalg.norm(lab - lab[0], axis=1) / length[0]
        return float(np.abs(energy / energy[0] - 1).max()), float(np.abs(length / length[0] - 1).max()), float(vector.max())


def _why(runs: Sequence[OwnRun], reading: _Reading) -> list[str]:
    """What the rows themselves say of the cause, where no candidate makes their steps."""
    run, convention = runs[0], reading.convention
    group = reading.pieces[0]
    if not group:
        return []
    piece = max(group, key=lambda piece: len(piece.run.samples))
    q, omega, inertia = piece.spun.q, piece.spun.omega, np.array(piece.run.inertia)
    step = (np.array(piece.run.steps) if piece.run.steps else piece.run.dt) * run.every
    is_free = run.load == "free" and not run.damping
    unit = ANGLES[convention.angle] * TIMES[convention.time]
    changes, miss = causes.change_factor(omega, inertia, step) if is_free else (math.nan, math.nan)
    ratios = misses(q, omega, step)[1]
    said = []
    if causes.is_constant(ratios):
        angle = float(np.nanmedian(np.linalg.norm(omega[:-1], axis=1) * step))
        said = [causes.factor_words(reading.ratio, changes * unit, miss, run.dt * run.every, unit, angle)]
    if is_free and not any(said):
        for order in causes.orders(omega, inertia, step)[:2]:
            if _usual_method([replace(piece, run=replace(piece.run, inertia=order))], reading.eps, run)[0]:
                scale = run.inertia.max() / inertia.max()
                numbers = " ".join(f"{x * scale:.4g}" for x in order)
                said.append(
                    f"with inertia in the order {numbers} a candidate makes these steps: give it in the order of the axes."
                )
                break
        else:
            said.append(causes.tensor_words(q, omega, inertia, run.axes, run.inertia.max() / inertia.max()))
            length = np.linalg.norm(inertia * omega, axis=1)
            if _loses_itself(reading, piece, length, run.every):
                return [words for words in said if words]
            radians = float((np.linalg.norm(omega[:-1], axis=1) * step).sum())
            said.append(causes.damping_words(length, step * piece.unit, radians, DAMPED))
    return [words for words in said if words]


def _loses_itself(reading: _Reading, piece: _Piece, length: np.ndarray, every: int) -> bool:
    """Whether the closest candidate loses much of the momentum that a run loses: it is the method's loss, no damping."""
    closest = next(iter(reading.deviations.values()))[:1]
    if not closest or DAMPED_KEY in closest[0].key or closest[0].mode:
        return False
    steps, inertia = range(1, min(SEVERAL, len(length) - 1)), np.array(piece.run.inertia)
    try:
        ends = identify.predictions(candidate(closest[0].key), "", piece.run, piece.spun, steps, every)
        shares = [float(np.linalg.norm(inertia * w) / length[n]) for n, (_, w) in zip(steps, ends, strict=True)]
    except (ArithmeticError, ValueError, TypeError):
        return False
    return bool(1 - np.median(shares) > 0.5 * (1 - np.median(length[1:] / length[:-1])))


def _precision(runs: Sequence[OwnRun], eps: float) -> str:
    """The precision of the rows in words."""
    if eps > 1.5 * float(np.finfo("float32" if runs[0].rows.is_single else "float64").eps):
        return f"{max(1, round(-math.log10(eps)))} digits printed"
    return "single" if runs[0].rows.is_single else "double"


def _limits(
    runs: Sequence[OwnRun], reading: _Reading, angle: float, speed: float, pieces: int, is_settled: bool, differ: float
) -> list[str]:
    """What limits an identification, each with what to do.

    ``differ`` is the smallest difference between methods that remain, in a step; 0 if they are one step.
    """
    limits, eps = [], reading.eps
    if not pieces:
        return [f"no {FEW + 2} rows follow each other without a fault: write every step, in one unit, of one body."]
    is_single = all(run.rows.is_single for run in runs)
    best = recipe.ANGLE_SINGLE if is_single else recipe.ANGLE
    wanted = f"dt = {best / speed:.2g} s {STEP_WORDS} {best:g} rad"
    if not _shows_gyroscopic_term([piece for group in reading.pieces for piece in group]):
        limits.append(
            "the body turns about a principal axis, or its moments are equal: the gyroscopic term is not seen. Take three "
            "different moments and an angular velocity between the axes (polhode identify --recipe)."
        )
    if any(STEP_WORDS in said for said in reading.fitted):
        return limits
    if not is_settled and eps > 1e-9 and not is_single:
        digits = math.ceil(-math.log10(differ / APART)) if differ else 17
        enough = f"{digits} tell these apart at this step, " if digits < 15 else ""
        limits.append(
            f"the rows have about {max(1, round(-math.log10(eps)))} digits, so that methods look alike that differ by less in "
            f"a step: print more ({enough}17 are best: %.17g), or write binary files."
        )
    elif not is_settled and is_single and angle < 0.7 * best:
        limits.append(f"in single precision larger steps tell more: {wanted}.")
    elif not is_settled and angle < SMALL:
        limits.append(
            f"a step turns the body by only {angle:.2g} rad, where methods of one order are the same to rounding: {wanted}."
        )
    if not is_settled and reading.misfits and _is_beyond(angle):
        limits.append(f"{_beyond_words([piece for group in reading.pieces for piece in group], angle)}: {wanted}.")
    if angle > LARGE:
        limits.append(f"a step turns the body by {angle:.2g} rad, where iterations and expansions of codes fail: {wanted}.")
    return limits


def _is_beyond(angle: float) -> bool:
    """Whether steps of this angle, rad, may be those that engines cut or bend."""
    return recipe.ANGLE_SINGLE < 0.95 * angle < LARGE


def _beyond_words(pieces: Sequence[_Piece], angle: float) -> str:
    """What engines do to steps of this angle, rad, or what the rows show of it."""
    sizes = np.concatenate([np.linalg.norm(piece.spun.omega[1:], axis=1) / piece.unit for piece in pieces])
    speed = float(sizes.max())
    if 2 * (sizes > (1 - CUT) * speed).sum() > FEW and sizes.min() < (1 - 1e3 * CUT) * speed:
        turn = speed * pieces[0].run.dt * pieces[0].unit
        known = next((words for at, words in TURN_LIMITS.items() if _is_between(at, turn, turn)), "")
        known = known or next((words for at, words in SPEED_LIMITS.items() if _is_between(at, speed, speed)), "")
        said = f"{turn:.4g} rad in a step{f' ({known})' if known else ''}"
        return f"the code cuts the angular velocity at {speed:.4g} rad/s, {said}"
    bent = sum(fitted.bent_rows(piece.spun, piece.run.dt) for piece in pieces if not piece.run.steps)
    if bent > FEW:
        return f"{bent} steps are bent as Bullet bends turns above a quarter of pi"
    return (
        f"a step turns the body by {angle:.2g} rad; engines bend or cut turns above a quarter of pi, and cut angular "
        "velocities (47 or 100 rad/s)"
    )


def _order(runs: Sequence[OwnRun], reading: _Reading) -> float:
    """The order of q from two runs that differ in their steps alone; NaN if there are none."""
    ends = []
    for run, group in zip(runs, reading.pieces, strict=True):
        if len(group) == 1 and group[0].first == 0:
            ends.append((run, group[0]))
    for i, (first, a) in enumerate(ends):
        for other, b in ends[i + 1 :]:
            ratio = b.run.dt * other.every / (a.run.dt * first.every)
            same = (a.run.load, a.run.value) == (b.run.load, b.run.value) and np.allclose(a.run.inertia, b.run.inertia)
            start = identify.apart(a.run.q0, a.run.omega0, b.run.q0, b.run.omega0)
            if same and start < 1e-2 and abs(math.log(ratio)) > 0.3:
                errors = np.array(
                    [_errors(run, piece, other_piece) for run, piece, other_piece in ((first, a, b), (other, b, a))]
                )
                errors = errors[:, : np.flatnonzero(np.append(errors.max(0), np.inf) >= FAR_OFF)[0]][:, -ROWS_OF_ORDER:]
                if errors.size and errors.sum(1).min() > 0:
                    order = math.log(errors[1].sum() / errors[0].sum()) / math.log(ratio)
                    return order if ORDERS[0] < order < ORDERS[1] else math.nan
    return math.nan


def _errors(run: OwnRun, piece: _Piece, other: _Piece) -> np.ndarray:
    """The angles to a fine solution at the times that two runs have in common, rad; (times,)."""
    every = run.every
    dt = piece.run.dt * every
    end = min((len(each.run.samples) - 1) * each.run.dt for each in (piece, other)) * every
    count = round(max(piece.run.dt, other.run.dt) * every / dt)
    rows = [n for n in range(count, math.floor(end / dt + 1e-6) + 1, count)]
    parts = max(1, math.ceil(dt * float(np.linalg.norm(piece.run.omega0)) / REFERENCE_STEP))
    fine = replace(piece.run, dt=dt / parts, samples=tuple(n * parts for n in rows))
    exact = meaning.states_of("rk4", fine)
    return cases.angle(piece.spun.q[rows], exact.q)
