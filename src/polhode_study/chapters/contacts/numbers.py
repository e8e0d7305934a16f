"""Numbers on the energy of contacts."""

from math import isfinite, nan

from polhode.fits import contact_law as analysis
from polhode.fits.seed_statistics import ranks
from polhode_study.chapters.contacts import frames
from polhode_study.inputs import Inputs
from polhode_study.report.latex import NOT_AVAILABLE, decimal, number

#: Energy errors for which the text states time steps, with their names in macros.
ERRORS = {1e-3: "Coarse", 1e-4: "Usual", 1e-5: "Fine"}


def contact_law(inputs: Inputs) -> dict[str, str]:
    """Macros for the law: scenes, its coefficient and spread, the exponents, and the steps of a contact that follow."""
    scenes = frames.scenes(inputs)
    middle, least, most = analysis.law(scenes)
    leading = analysis.LEADING
    run = [data for data in scenes.values() if leading in data["integrator"].values]
    exponents, shorter = (
        [value for value in (analysis.exponent(data, leading, longest).value for data in run) if isfinite(value)]
        for longest in (True, False)
    )
    contacts = [analysis.time_in_contact(data) for data in scenes.values()]
    bodies = [int(data.attrs["clumps"]) for data in scenes.values()]
    states = sorted({data.sizes["seed"] for data in scenes.values()})
    coverages = sorted({ranks(n)[1] for n in states if n > 1})
    counted = sorted({int(data.attrs.get("contact_states", data.sizes["seed"])) for data in scenes.values()})
    result = {
        "studyCollisionScenes": str(len(scenes)),
        "studyCollisionReleased": str(sum(bool(data.attrs.get("released")) for data in scenes.values())),
        "studyCollisionStates": _from_to([str(n) for n in states]),
        "studyCollisionCoverage": _from_to([number(100 * x, 3) for x in coverages]) if coverages else NOT_AVAILABLE,
        "studyCollisionCountedLeast": str(counted[0]),
        "studyCollisionContactsLeast": number(min(contacts), 2),
        "studyCollisionContactsMost": number(max(contacts), 2),
        "studyCollisionBodiesLeast": str(min(bodies)),
        "studyCollisionBodiesMost": str(max(bodies)),
        "studyCollisionCoefficient": number(middle, 2),
        "studyCollisionLeast": number(least, 2),
        "studyCollisionMost": number(most, 2),
        "studyCollisionSpread": number(most / least, 2),
        "studyCollisionBounce": number(analysis.bounce(), 3),
        "studyCollisionHeadOn": number(analysis.head_on(), 2),
        "studyCollisionExponentLeast": decimal(min(exponents, default=nan), 2),
        "studyCollisionExponentMost": decimal(max(exponents, default=nan), 2),
        "studyCollisionExponentShorterLeast": decimal(min(shorter, default=nan), 2),
        "studyCollisionExponentShorterMost": decimal(max(shorter, default=nan), 2),
    }
    curves = [curve for name, data in scenes.items() for curve in analysis.curves(name, data) if curve.method == leading]
    for error, size in ERRORS.items():
        result[f"studyCollisionError{size}"] = number(error, 1)
        steps = analysis.steps_in_contact(curves, error)
        result[f"studyCollisionSteps{size}"] = decimal(float(steps.median), 0)
        result[f"studyCollisionSteps{size}Worst"] = decimal(float(steps.high), 0)
    result |= {"studyCollisionTime": decimal(analysis.CONTACTS, 0), "studyCollisionBodies": str(analysis.BODIES)}
    largest = analysis.LARGEST_OVER_MEAN
    result |= {
        "studyCollisionLargest": number(largest, 2),
        "studyCollisionLargestSteps": number(largest ** (1 / analysis.EXPONENT), 2),
    }
    return result


def _from_to(texts: list[str]) -> str:
    """The first and the last of some ordered numbers, or the only one."""
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"
