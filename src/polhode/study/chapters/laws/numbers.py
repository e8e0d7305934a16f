"""Numbers of the laws: scope and fits, worst cases, gains, contacts, and the answers."""

from collections.abc import Iterable
from contextlib import suppress
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd

from polhode.fits import contact_law, laws
from polhode.fits.largest_step import EXTRAPOLATED, NOT_RUN
from polhode.fits.seed_statistics import LEVEL, ranks
from polhode.study.chapters.laws import advice as analysis
from polhode.study.chapters.laws import frames as law_frames
from polhode.study.chapters.laws import frames_of_checks as law_checks
from polhode.study.chapters.laws.advice import Advice, count
from polhode.study.chapters.laws.frames import (
    FREE,
    FRICTION,
    ROBUST,
    SITUATIONS,
    SMOOTH,
    SPIRAL,
    TARGET,
    BestMethod,
    EnsembleLaws,
)
from polhode.study.chapters.many_body.frames import chess_pieces
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.formats import enumerated, factor_or_infinite, macro_name, plain, power, with_interval
from polhode.study.report.frames import only_finite
from polhode.study.report.latex import NOT_AVAILABLE, decimal, escape, number

#: A median order within this part of the declared one agrees with it.
AGREES = 0.1
#: Pairs of methods whose torques per radian the text compares.
PAIRS = (
    (ROBUST, "verlet"),
    (ROBUST, "verlet_delvalle2024"),
    (ROBUST, "fincham1992"),
    (ROBUST, "fincham1992_yade"),
    (ROBUST, "richardson"),
    (ROBUST, "pcdm2016"),
    (ROBUST, "euler"),
    (ROBUST, SPIRAL),
    (SPIRAL, "verlet"),
    (SPIRAL, "verlet_delvalle2024"),
)


def scope(inputs: Inputs) -> dict[str, str]:
    """Macros for what was run, how many errors have a law, and how many orders agree with the declared ones."""
    ens = law_frames.ensemble(inputs)
    frame = law_frames.sheet(ens)
    data, both = ens.data, ens.laws
    within, total = law_frames.departures(frame, AGREES)
    ran = ens.steps["how"].values[..., 0] != NOT_RUN
    # A method that is exact in a class has no law there.
    fitted = np.isfinite(both["order"].values) & ran
    _, coverage = ranks(ens.bodies)
    how = ens.steps["how"].values
    beyond = how == EXTRAPOLATED
    first = _lowest_orders(ens).T == 1
    rounding = both["rounding"].values[ran]
    step = np.sort(data["step"].values.astype(float))
    growth = laws.spread(both["growth"].values.ravel())
    return {
        "studyLawBodies": str(ens.bodies),
        "studyLawMethods": str(len(ens.methods)),
        "studyLawClasses": str(len(ens.classes)),
        "studyLawSteps": str(len(step)),
        "studyLawFinest": number(float(step[0]), 2),
        "studyLawCoarsest": plain(float(step[-1])),
        "studyLawRadians": plain(ens.radians),
        "studyLawCurves": rf"\num{{{int(ran.sum())}}}",
        "studyLawFitted": decimal(100 * float(fitted.sum() / max(1, ran.sum())), 1),
        "studyLawOrdersWithin": str(within),
        "studyLawOrdersAll": str(total),
        "studyLawAgrees": str(round(100 * AGREES)),
        "studyLawTarget": power(TARGET),
        "studyLawLevel": str(round(100 * LEVEL)),
        "studyLawCoverage": decimal(100 * coverage, 1),
        "studyLawExtrapolated": decimal(100 * float(beyond.sum() / max(1, (how > 0).sum())), 1),
        "studyLawExtrapolatedFirst": decimal(100 * float(beyond[first].sum() / max(1, beyond.sum())), 0),
        "studyLawRounded": decimal(100 * float(np.isfinite(rounding).mean()) if rounding.size else nan, 1),
        "studyLawRoundedCoarsest": number(max(only_finite(rounding), default=nan), 2),
        "studyLawStable": plain(laws.STABLE),
        "studyLawStableBounds": decimal(100 * float(frame["stable_at_least"][frame["stable"].notna()].mean()), 0),
        "studyLawGrowthLow": decimal(float(growth.low), 1),
        "studyLawGrowth": decimal(float(growth.median), 1),
        "studyLawGrowthHigh": decimal(float(growth.high), 1),
        "studyLawDigits": _digits(ens),
    }


def _digits(ens: EnsembleLaws) -> str:
    if "reference_digits" not in ens.data:
        return NOT_AVAILABLE
    digits = float(np.nanmin(ens.data["reference_digits"].values))
    return str(int(digits)) if isfinite(digits) else NOT_AVAILABLE


def worst(inputs: Inputs) -> dict[str, str]:
    """Macros for how far methods are behind the best one-torque method, at the least and the most over classes."""
    ens = law_frames.ensemble(inputs)
    frame = law_frames.slowdowns(ens)
    result: dict[str, str] = {}
    for key, name in (
        (SPIRAL, "Spiral"),
        (ROBUST, "Predicted"),
        ("exact_rotor", "Rotor"),
        ("magnus_adams4", "Magnus"),
        ("verlet", "Verlet"),
    ):
        for where, classes in (
            ("Free", FREE.classes),
            ("Smooth", SMOOTH.classes),
            ("Friction", FRICTION.classes),
            ("Everywhere", ens.classes),
        ):
            result |= _range(f"studyLaw{name}{where}", _values(frame, key, classes))
    keep = np.zeros(len(ens.methods), bool)
    with suppress(NotInRun):
        keep = law_frames.keepers(inputs, ens) & law_frames.one_torque(ens)
    for name, among in (("studyLawAllround", law_frames.one_torque(ens)), ("studyLawAllroundKept", keep)):
        method = _allround(ens, frame, among)
        result[name] = escape(ens.label(method)) if method else NOT_AVAILABLE
        result |= _range(name, _values(frame, method, ens.classes))
    result["studyLawKeepers"] = str(int(keep.sum())) if keep.any() else NOT_AVAILABLE
    return result | _among_second_order(ens, _second_order(ens))


def _lowest_orders(ens: EnsembleLaws) -> np.ndarray:
    """The lower of the declared orders of q and omega, over (method, class); NaN where none is declared."""
    orders = [ens.data[f"order_{name}_declared"] for name in ("q", "omega") if f"order_{name}_declared" in ens.data]
    if not orders:
        return np.full((len(ens.methods), len(ens.classes)), nan)
    return np.asarray(np.min([o.transpose("integrator", "torque_class").values.astype(float) for o in orders], axis=0))


def _second_order(ens: EnsembleLaws) -> np.ndarray:
    """The one-torque methods that declare at most second order in every class."""
    return np.asarray(law_frames.one_torque(ens) & ~(_lowest_orders(ens).max(axis=1) > 2))


def _among_second_order(ens: EnsembleLaws, allowed: np.ndarray) -> dict[str, str]:
    """How far SPIRAL, and SPIRAL with a prediction, are behind the best of the one-torque methods of second order."""
    slowdowns: dict[tuple[str, str], list[float]] = {}
    for row, torque_class in enumerate(ens.classes):
        pair = laws.compare(ens.work([row]), allowed & ens.recommendable)
        where = next((s.key.capitalize() for s in SITUATIONS if torque_class in s.classes), "Other")
        for key in (SPIRAL, ROBUST):
            if key in ens.methods:
                value = float(pair.value[ens.methods.index(key)])
                for place in (where, "Everywhere"):
                    slowdowns.setdefault((key, place), []).append(value)
    result = {"studyLawSecondOrder": str(int(allowed.sum()))}
    for (key, where), values in slowdowns.items():
        result |= _range(f"studyLaw{'Spiral' if key == SPIRAL else 'Predicted'}{where}SecondOrder", values)
    return result


def _allround(ens: EnsembleLaws, frame: pd.DataFrame, among: np.ndarray) -> str:
    """The method of ``among`` whose largest slowdown over the classes is smallest; empty if there is none."""
    keys = {key for key, allowed in zip(ens.methods, among & ens.recommendable, strict=True) if allowed}
    slowdowns = frame[frame["method"].isin(keys)].groupby("method", sort=False)["slowdown"]
    # A method that lacks a class has no largest one.
    largest = slowdowns.agg(lambda values: values.max(skipna=False))
    largest = largest[np.isfinite(largest)]
    return str(largest.idxmin()) if len(largest) else ""


def _values(frame: pd.DataFrame, key: str, classes: Iterable[str]) -> list[float]:
    """The slowdowns of a method in these classes."""
    return frame[(frame["method"] == key) & frame["torque_class"].isin(list(classes))]["slowdown"].dropna().tolist()


def _range(name: str, values: list[float]) -> dict[str, str]:
    """The smallest and the largest of some ratios to the best method, as macros ...Least and ...Most."""
    least, most = (min(values), max(values)) if values else (nan, nan)
    # The ratio of the best method to itself.
    first = r"\num{1} (itself the best)" if least == 1 < most else factor_or_infinite(least)
    return {f"{name}Least": first, f"{name}Most": factor_or_infinite(most)}


def gains(inputs: Inputs) -> dict[str, str]:
    """Macros for pairs of methods: how many times as many torques the second takes, with the interval."""
    ens = law_frames.ensemble(inputs)
    result: dict[str, str] = {}
    for situation in SITUATIONS:
        for method, over in PAIRS:
            name = f"studyLawGain{macro_name(method)}Over{macro_name(over)}{situation.key.capitalize()}"
            with suppress(NotInRun):
                result |= with_interval(name, law_frames.gain(ens, situation, method, over), factor_or_infinite)
    return result


def contacts(inputs: Inputs) -> dict[str, str]:
    """Macros for steps per contact: of the recommended method, of those that are as good, and ratios to others."""
    collisions = law_frames.collisions(inputs)
    best = law_frames.recommended_in_contacts(collisions)
    data = chess_pieces(inputs)
    if best is None:
        raise NotInRun("no method keeps the energy in collisions to this error")
    equal = [escape(contact.label) for contact in law_frames.as_good(collisions) if contact is not best]
    result = {
        "studyContactEnergy": power(law_frames.ENERGY),
        "studyContactCount": count(contact_law.time_in_contact(data)) if "contacts" in data else NOT_AVAILABLE,
        "studyContactMethod": escape(best.label),
        "studyContactEqual": enumerated(equal),
        "studyContactSteps": count(best.steps[0]),
        "studyContactStepsLow": count(best.steps[1]),
        "studyContactStepsHigh": count(best.steps[2]),
    }
    for contact in law_frames.contacts(inputs):
        result |= with_interval(f"studyContact{macro_name(contact.method)}Over", contact.over(best), factor_or_infinite)
    return result


def answers(inputs: Inputs) -> dict[str, str]:
    """Macros for the recommendation in each situation: method, steps per radian and their spread."""
    ens = law_frames.ensemble(inputs)
    result: dict[str, str] = {}
    advice = analysis.all_advice(inputs, ens)
    for key, answer in advice.items():
        name = key.capitalize()
        for kind, choice in (("One", answer.one), ("Kept", answer.steady), ("Several", answer.several)):
            result |= _choice(ens, f"studyAnswer{name}{kind}", choice)
        result[f"studyAnswer{name}SeveralTorques"] = count(answer.several.torques)
        result[f"studyAnswer{name}Breakeven"] = power(answer.breakeven) if isfinite(answer.breakeven) else "none"
    if "smooth" in advice:
        result |= _smooth(inputs, advice["smooth"])
    named = [choice.method for answer in advice.values() for choice in (answer.one, answer.steady)]
    outputs = max((int(inputs.declared(method, "torques_per_output", 0)) for method in named if method), default=0)
    result["studyOutputNote"] = rf" $^\ddagger$~And {outputs} torques at each output." if outputs else ""
    ends = [advice[key].breakeven if key in advice else nan for key in ("smooth", "friction")]
    result["studyAnswerBreakeven"] = _breakeven(*ends)
    for situation in SITUATIONS:
        for key in (ROBUST, SPIRAL, "verlet", "euler"):
            with suppress(NotInRun):
                name = f"studyLaw{macro_name(key)}{situation.key.capitalize()}"
                result |= _choice(ens, name, law_frames.of_method(ens, situation, key))
    return result


def _smooth(inputs: Inputs, answer: Advice) -> dict[str, str]:
    """What is said of the best methods under smooth torques: in the abstract, and to those who run simulations."""
    one, steady = (rf"\emph{{{escape(choice.label)}}}" for choice in (answer.one, answer.steady))
    outputs = int(inputs.declared(answer.one.method, "torques_per_output", 0))
    fewest = f"{one} needs the fewest steps where the torque is smooth"
    if answer.one.method == answer.steady.method:
        text = f"{fewest}, and its energy does not drift"
        text += f"; each output costs {outputs} torques more" if outputs else ""
    else:
        drains = ", but drains liquids" if inputs.declared(answer.one.method, "caution") else ""
        text = f"{fewest}{drains}, and {steady} the fewest among methods whose energy does not drift"
    last = f"{steady} if energy and momentum must not drift, as in a liquid at constant energy"
    if answer.one.method == answer.steady.method:
        last = "its energy and momentum do not drift"
    return {"studySmoothAnswer": text, "studySmoothAdvice": f"{one} takes the fewest torques, and {last}"}


def _breakeven(smooth: float, friction: float) -> str:
    """At which errors several torques a step save torques, under torques of time or orientation and under friction."""
    ends = [rf"{power(value)} and smaller ones" if isfinite(value) else "none" for value in (smooth, friction)]
    if ends[0] == ends[1]:
        return f"{ends[0]}, be it under such torques or under friction"
    return f"{ends[0]} under such torques, and {ends[1]} under friction"


def _choice(ens: EnsembleLaws, name: str, choice: BestMethod) -> dict[str, str]:
    if not choice.method:
        return {}
    made: dict[str, Any] = {"Method": escape(choice.label), "Equal": enumerated(escape(ens.label(key)) for key in choice.equal)}
    made |= {suffix: count(x) for suffix, x in zip(("Steps", "StepsLow", "StepsHigh"), choice.steps, strict=True)}
    return {f"{name}{suffix}": text for suffix, text in made.items()}


def stiff_friction(inputs: Inputs) -> dict[str, str]:
    """Macros for what methods need under stiff friction, in steps over those of SPIRAL with the secant."""
    frame = law_checks.stiff_friction(inputs)
    rates = sorted(frame["rate"].unique())
    result = {"studyStiffLeast": f"{rates[0]:g}", "studyStiffMost": f"{rates[-1]:g}", "studyStiffErrorLoose": power(1e-2)}
    for key, name in (("pcdm2016", "Pcdm"), ("magnus_adams4", "Magnus"), ("spiral_predicted_last", "Last"), (SPIRAL, "Spiral")):
        for error, words in zip(law_checks.ERRORS, ("Loose", "", "Tight"), strict=True):
            ends = law_checks.behind(frame, key, error, 1.0)
            result |= {f"studyStiff{name}{words}{end}": decimal(x, 2) for end, x in zip(("Least", "Most"), ends, strict=True)}
    ahead = law_checks.ahead(frame, "magnus_adams4", TARGET)
    result["studyStiffMagnusAhead"] = f"{max(ahead):g}" if ahead else NOT_AVAILABLE
    return result


def long_times(inputs: Inputs) -> dict[str, str]:
    """Macros for what the step of nine bodies of ten after 16 radians is worth after many more."""
    frame = law_checks.long_times(inputs)
    result = {"studyLongRadians": f"{frame['radians'].max():g}", "studyLongMethods": str(frame["method"].nunique())}
    result["studyLongBodies"] = str(inputs.check("long_times").sizes["body"])
    for name in ("lab", "state"):
        ends = zip(("Least", "Most", "Unknown"), law_checks.exceeding(frame, name), strict=True)
        result |= {f"studyLong{name.capitalize()}{end}": decimal(100 * fraction, 0) for end, fraction in ends}
    return result
