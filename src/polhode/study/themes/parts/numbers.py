"""Numbers on the parts of a method."""

from math import floor

import numpy as np

from polhode.study.inputs import Inputs
from polhode.study.report.formats import factor, plain
from polhode.study.report.latex import decimal
from polhode.study.themes.parts import analysis
from polhode.study.themes.parts.analysis import BASE, FACTORS, STEPS


def parts(inputs: Inputs) -> dict[str, str]:
    """Macros for the text: size of the design, shares in per cent, and some exchanges."""
    error, over_bodies = analysis.errors(inputs), analysis.errors_over_bodies(inputs)
    second = analysis.of_second_order(over_bodies)
    of_bodies = analysis.shares(second)
    means, means_of_all = of_bodies.mean("body"), analysis.shares(over_bodies).mean("body")
    attributes = inputs.check("parts_over_bodies").attrs
    result = {
        "studyPartsCount": str(int(np.prod([error.sizes[name] for name in FACTORS]))),
        "studyPartsSecondCount": str(int(np.prod([second.sizes[name] for name in FACTORS]))),
        "studyPartsSteps": str(STEPS),
        "studyPartsBodies": str(over_bodies.sizes["body"]),
        "studyPartsRadians": plain(attributes["radians"]),
        "studyPartsStepsPerRadian": plain(attributes["steps"] / attributes["radians"]),
    }
    friction = over_bodies["class_declared"].values == "velocity"
    varied = np.isin(over_bodies["class_declared"], ("lab", "state", "velocity"))
    result |= {
        "studyPartsPlaceVariedLeast": decimal(100 * float(means["place"][varied].min()), 0),
        "studyPartsPlaceVariedMost": decimal(100 * float(means["place"][varied].max()), 0),
        "studyPartsPlaceVariedNineOfTen": decimal(
            floor(100 * float(of_bodies["place"][varied].quantile(0.1, "body").min())), 0
        ),
    }
    # A torque of the start of a step is of first order too, wherever it varies.
    later = analysis.shares(second.drop_sel(place="start")).mean("body")
    if friction.any():
        worse, pairs, most = analysis.worse_predicted(second)
        result |= {"studyPartsWorse": str(worse), "studyPartsPairs": f"{pairs:,}".replace(",", r"\,")}
        result["studyPartsWorseMost"] = decimal(most, 1)
        result["studyPartsLaterPlaceFrictionLeast"] = decimal(100 * float(later["place"][friction].min()), 0)
        result["studyPartsLaterPlaceFrictionMost"] = decimal(100 * float(later["place"][friction].max()), 0)
    for key in map(str, over_bodies["torque_class"].values):
        name = key.title().replace("_", "")
        for part in (*FACTORS, "interplay"):
            result[f"studyParts{part.capitalize()}{name}"] = decimal(100 * float(means[part].sel(torque_class=key)), 0)
            result[f"studyPartsLater{part.capitalize()}{name}"] = decimal(100 * float(later[part].sel(torque_class=key)), 0)
        result[f"studyPartsAllKick{name}"] = decimal(100 * float(means_of_all["kick"].sel(torque_class=key)), 0)
    names = dict(zip(map(str, error["problem"].values), map(str, error["torque_class"].values), strict=True))
    base = error.sel(BASE)
    for name, changed in {
        "Linear": {"rotation": "linear"},
        "Matrix": {"rotation": "matrix"},
        "Euler": {"kick": "euler"},
        "Midpoint": {"kick": "midpoint"},
        "Exact": {"kick": "exact"},
        "Old": {"place": "leapfrog"},
        "Middle": {"place": "middle predicted"},
    }.items():
        for problem in error["problem"].values:
            ratio = float(error.sel({**BASE, **changed}).sel(problem=problem) / base.sel(problem=problem))
            result[f"studyExchanged{name}{names[str(problem)].capitalize()}"] = factor(ratio)
    return result
