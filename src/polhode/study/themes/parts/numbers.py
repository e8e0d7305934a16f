"""Numbers on the parts of a method."""

import numpy as np

from polhode.study.inputs import Inputs
from polhode.study.report.formats import factor
from polhode.study.report.latex import decimal
from polhode.study.themes.parts import analysis
from polhode.study.themes.parts.analysis import BASE, FACTORS, STEPS


def parts(inputs: Inputs) -> dict[str, str]:
    """Macros for the text: size of the design, shares in per cent, and some exchanges."""
    error = analysis.errors(inputs)
    second = analysis.of_second_order(error)
    found, every = analysis.shares(second), analysis.shares(error)
    names = dict(zip(map(str, error["problem"].values), map(str, error["torque_class"].values), strict=True))
    result = {
        "studyPartsCount": str(int(np.prod([error.sizes[name] for name in FACTORS]))),
        "studyPartsSecondCount": str(int(np.prod([second.sizes[name] for name in FACTORS]))),
        "studyPartsSteps": str(STEPS),
    }
    varied = [float(found["place"][problem]) for problem, name in names.items() if name in ("lab", "state", "velocity")]
    for end, share in (("Least", min(varied)), ("Most", max(varied))):
        result[f"studyPartsPlaceVaried{end}"] = decimal(100 * share, 1)
    for problem, row in found.iterrows():
        for name in (*FACTORS, "interplay"):
            result[f"studyParts{name.capitalize()}{names[str(problem)].capitalize()}"] = decimal(100 * float(row[name]), 0)
    result |= {f"studyPartsAllKick{names[str(p)].capitalize()}": decimal(100 * x, 0) for p, x in every["kick"].items()}
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
