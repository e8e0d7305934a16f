"""Numbers on single impacts with friction."""

from collections.abc import Callable, Iterable
from math import nan

import numpy as np

from polhode.fits import impact_errors
from polhode.fits.impact_errors import ALIKE, CURED, LEADING, LIKE_CODES, STATED
from polhode_study.chapters.impacts import frames
from polhode_study.chapters.impacts.frames import SLIDES, SPRING
from polhode_study.inputs import Inputs
from polhode_study.report.formats import factor
from polhode_study.report.latex import decimal


def impacts(inputs: Inputs) -> dict[str, str]:
    """Macros for the text: sizes, orders with and without the corrections, and how much the methods differ."""
    data = frames.check(inputs)
    frame = frames.frame(data)
    methods = [str(key) for key in data["integrator"].values]
    of_leading = frame[frame["method"] == LEADING]
    result = {
        "studyImpactMethods": str(len(methods)),
        "studyImpactPhases": str(data.attrs["phases"]),
        "studyImpactDigits": str(data.attrs["digits"]),
        "studyImpactAlike": str(len(frames.alike(data))),
        "studyImpactAlikePercent": f"{100 * ALIKE:g}",
        "studyImpactCoarse": str(STATED[0]),
        "studyImpactUsual": str(STATED[1]),
    }
    others = [case for case in map(str, data["case"].values) if case != SLIDES]
    of_codes = of_leading[(of_leading["stage"] == LIKE_CODES) & of_leading["case"].isin(others)]["order_spin"]
    ends = [decimal(end, 1) for end in (of_codes.min(), of_codes.max())]
    result["studyImpactOrderCodes"] = " to ".join(dict.fromkeys(ends))
    error = data["error_spin"].sel(integrator=LEADING, division=STATED[-1])
    gains = error.sel(stage=LIKE_CODES) / error.sel(stage=CURED)
    result |= _range("studyImpactGain", gains.sel(case=others).values, factor)
    spring = data["error_spin"].sel(division=STATED[-1], case=others)
    result |= _range(
        "studyImpactSpring", (spring.sel(stage=SPRING) / spring.sel(stage=CURED)).sel(integrator=LEADING).values, factor
    )
    ratios = impact_errors.ratios(data).sel(division=list(STATED))
    for key, name in (("spiral_synchronous", "Synchronous"), ("pcdm2016", "Pcdm"), ("magnus_adams4", "Magnus")):
        values = ratios.sel(case=others, integrator=key).values if key in methods else np.array([nan])
        result |= _range(f"studyImpact{name}", values.ravel(), factor)
    return result


def steps(inputs: Inputs) -> dict[str, str]:
    """Macros for the steps of random impacts with all corrections, and how many times as many without, for two errors."""
    made = {
        "studyImpactServed": f"{100 * impact_errors.SHARE_OF_IMPACTS:g}",
        "studyImpactRandom": str(frames.random(inputs).sizes["draw"]),
    }
    for error, of_error in zip(impact_errors.ERRORS, ("", "Loose"), strict=True):
        made[f"studyImpactPercent{of_error}"] = f"{100 * error:g}"
        _, cured, saved = frames.steps(inputs, error)
        for end, value in {"": cured.half, "Low": cured.low, "High": cured.high, "Take": cured.take}.items():
            made[f"studyImpactStepsCured{of_error}{end}"] = f"{value:.0f}"
        for end, ratio in {"": saved.median, "Low": saved.low, "High": saved.high}.items():
            made[f"studyImpactStepsSaved{of_error}{end}"] = factor(float(ratio))
    return made


def _range(name: str, values: Iterable[float], form: Callable[[float], str]) -> dict[str, str]:
    """Macros NAMELeast and NAMEMost."""
    numbers = [float(x) for x in values]
    return {f"{name}Least": form(min(numbers)), f"{name}Most": form(max(numbers))}
