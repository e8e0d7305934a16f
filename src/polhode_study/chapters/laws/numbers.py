"""Numbers of the laws: scope and fits, worst cases, gains, contacts, and the answers."""

from collections.abc import Iterable
from contextlib import suppress
from math import isfinite, nan

import numpy as np
import pandas as pd

from polhode.fits import laws
from polhode.fits.largest_step import EXTRAPOLATED, NOT_RUN
from polhode.fits.seed_statistics import LEVEL, ranks
from polhode_study.chapters.laws import advice as analysis
from polhode_study.chapters.laws import frames as law_frames
from polhode_study.chapters.laws import frames_of_checks as law_checks
from polhode_study.chapters.laws.advice import Advice, count
from polhode_study.chapters.laws.frames import (
    FRICTION,
    ROBUST,
    SMOOTH,
    SPIRAL,
    TARGET,
    EnsembleLaws,
    Situation,
)
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.formats import factor_or_infinite, macro_name, plain, power, with_interval
from polhode_study.report.latex import NOT_AVAILABLE, decimal, escape, number


def scope(inputs: Inputs) -> dict[str, str]:
    """Macros for what was run, how many errors have a law, and how many orders agree with the declared ones."""
    ens = law_frames.ensemble(inputs)
    data, both = ens.data, ens.laws
    ran = ens.steps["how"].values[..., 0] != NOT_RUN
    # A method that is exact in a class has no law there.
    fitted = np.isfinite(both["order"].values) & ran
    _, coverage = ranks(ens.bodies)
    how = ens.steps["how"].values
    beyond = how == EXTRAPOLATED
    step = np.sort(data["step"].values.astype(float))
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
        "studyLawTarget": power(TARGET),
        "studyLawLevel": str(round(100 * LEVEL)),
        "studyLawCoverage": decimal(100 * coverage, 1),
        "studyLawExtrapolated": decimal(100 * float(beyond.sum() / max(1, (how > 0).sum())), 1),
        "studyLawStable": plain(laws.STABLE),
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
    for key, name, where, classes in (
        (SPIRAL, "Spiral", "Smooth", SMOOTH.classes),
        (SPIRAL, "Spiral", "Friction", FRICTION.classes),
        (ROBUST, "Predicted", "Friction", FRICTION.classes),
    ):
        result |= _range(f"studyLaw{name}{where}", _values(frame, key, classes))
    result["studyLawPredictedEverywhereMost"] = _most(_values(frame, ROBUST, ens.classes))
    result["studyLawVerletFrictionMost"] = _most(_values(frame, "verlet", FRICTION.classes))
    method = _allround(ens, frame, law_frames.one_torque(ens))
    result["studyLawAllround"] = escape(ens.label(method)) if method else NOT_AVAILABLE
    return result | {"studyLawAllroundMost": _most(_values(frame, method, ens.classes))}


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
    return {f"{name}Least": first, f"{name}Most": _most(values)}


def _most(values: list[float]) -> str:
    """The largest of some ratios."""
    return factor_or_infinite(max(values, default=nan))


def gains(inputs: Inputs) -> dict[str, str]:
    """Macros for how many times as many torques as SPIRAL with a prediction others take."""
    ens = law_frames.ensemble(inputs)
    result: dict[str, str] = {}
    for situation, over in ((SMOOTH, "verlet"), (FRICTION, "pcdm2016"), (FRICTION, SPIRAL)):
        with suppress(NotInRun):
            result |= with_interval(_gain(over, situation), law_frames.gain(ens, situation, ROBUST, over), factor_or_infinite)
    for situation, over in ((SMOOTH, "fincham1992_yade"), (FRICTION, "verlet")):
        with suppress(NotInRun):
            result[_gain(over, situation)] = factor_or_infinite(law_frames.gain(ens, situation, ROBUST, over).value)
    return result


def _gain(over: str, situation: Situation) -> str:
    return f"studyLawGain{macro_name(ROBUST)}Over{macro_name(over)}{situation.key.capitalize()}"


def contacts(inputs: Inputs) -> dict[str, str]:
    """Macros for steps per contact: of the recommended method, of those that are as good, and ratios to others."""
    collisions = law_frames.collisions(inputs)
    best = law_frames.recommended_in_contacts(collisions)
    if best is None:
        raise NotInRun("no method keeps the energy in collisions to this error")
    result = {
        "studyContactEnergy": power(law_frames.ENERGY),
        "studyContactMethod": escape(best.label),
        "studyContactSteps": count(best.steps[0]),
        "studyContactStepsLow": count(best.steps[1]),
        "studyContactStepsHigh": count(best.steps[2]),
    }
    for contact in law_frames.contacts(inputs):
        if contact.method == "pcdm2016":
            result["studyContactPcdmOver"] = factor_or_infinite(contact.over(best).value)
    return result


#: The ends of the names of a number of steps and of its spread.
ENDS = ("", "Low", "High")


def answers(inputs: Inputs) -> dict[str, str]:
    """Macros for the best methods under smooth torques, torques at outputs, and the steps of SPIRAL with their spread."""
    ens = law_frames.ensemble(inputs)
    result: dict[str, str] = {}
    advice = analysis.all_advice(inputs, ens)
    if "smooth" in advice:
        result |= _smooth(inputs, advice["smooth"])
    named = [choice.method for answer in advice.values() for choice in (answer.single, answer.steady)]
    outputs = max((int(inputs.declared(method, "torques_per_output", 0)) for method in named if method), default=0)
    result["studyOutputNote"] = rf" $^\ddagger$~And {outputs} torques at each output." if outputs else ""
    with suppress(NotInRun):
        steps = law_frames.of_method(ens, SMOOTH, SPIRAL).steps
        result |= {f"studyLawSpiralLeapfrogSmoothSteps{end}": count(x) for end, x in zip(ENDS, steps, strict=True)}
    return result


#: What a method does, where its label alone does not say it to the reader of an abstract.
IN_WORDS = {"exact_rotor_dkd_corrected": "drift--kick--drift with exact free rotation and a symplectic corrector"}


def _smooth(inputs: Inputs, answer: Advice) -> dict[str, str]:
    """What is said of the best methods under smooth torques: in the abstract, and to those who run simulations."""
    single, steady = (rf"\emph{{{escape(choice.label)}}}" for choice in (answer.single, answer.steady))
    words = IN_WORDS.get(answer.single.method, "")
    fewest = f"{words and f'{words} ('}{single}{words and ')'} needs the fewest steps under smooth torques"
    if answer.single.method == answer.steady.method:
        text = f"{fewest}, and its energy does not drift"
    else:
        drains = ", but drains liquids" if inputs.declared(answer.single.method, "caution") else ""
        text = f"{fewest}{drains}, and {steady} the fewest among methods whose energy does not drift"
    last = f"{steady} if energy and momentum must not drift, as in a liquid at constant energy"
    if answer.single.method == answer.steady.method:
        last = "its energy and momentum do not drift"
    return {"studySmoothAnswer": text, "studySmoothAdvice": f"{single} takes the fewest torques, and {last}"}


def stiff_friction(inputs: Inputs) -> dict[str, str]:
    """Macros for what methods need under stiff friction, in steps over those of SPIRAL with the secant."""
    frame = law_checks.stiff_friction(inputs)
    rates = sorted(frame["rate"].unique())
    result = {"studyStiffLeast": f"{rates[0]:g}", "studyStiffMost": f"{rates[-1]:g}", "studyStiffErrorLoose": power(1e-2)}
    for key, name, words, places in (
        ("pcdm2016", "Pcdm", ("", "Tight"), (0, 1)),
        ("magnus_adams4", "Magnus", ("", "Tight"), (0, 1)),
        ("spiral_predicted_last", "Last", ("", "Tight"), (0, 1)),
        ("spiral_predicted_last", "Last", ("Loose",), (1,)),
    ):
        for word in words:
            ends = law_checks.behind(frame, key, dict(zip(("Loose", "", "Tight"), law_checks.ERRORS, strict=True))[word], 1.0)
            result |= {f"studyStiff{name}{word}{('Least', 'Most')[place]}": decimal(ends[place], 2) for place in places}
    ahead = law_checks.ahead(frame, "magnus_adams4", TARGET)
    result["studyStiffMagnusAhead"] = f"{max(ahead):g}" if ahead else NOT_AVAILABLE
    return result


def long_times(inputs: Inputs) -> dict[str, str]:
    """Macros for what the step of nine bodies of ten after 16 radians is worth after many more."""
    frame = law_checks.long_times(inputs)
    result = {"studyLongRadians": f"{frame['radians'].max():g}", "studyLongMethods": str(frame["method"].nunique())}
    for name in ("lab", "state"):
        ends = zip(("Least", "Most"), law_checks.exceeding(frame, name), strict=False)
        result |= {f"studyLong{name.capitalize()}{end}": decimal(100 * fraction, 0) for end, fraction in ends}
    return result
