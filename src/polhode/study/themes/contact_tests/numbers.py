"""Numbers on the tests of contacts."""

from polhode.study.inputs import Inputs
from polhode.study.report.latex import decimal, step
from polhode.study.themes.contact_tests import analysis

#: Options of a law and their names in macros.
NAMES = {"start": "Start", "slip": "Slip", "plane": "Plane", "dashpot": "Dashpot"}

#: The steps in the unit of time at which errors of returns are stated.
SHOWN = 40


def contact_tests(inputs: Inputs) -> dict[str, str]:
    """Macros for the text: rigid bodies, orders of single cures, rolling and rest."""
    data = analysis.check(inputs)
    slide, off = analysis.rigid(data)
    result = {
        "studyTestsSamples": str(data.sizes["sample"]),
        "studyTestsSlide": str(slide),
        "studyTestsRigid": step(off, 1),
        "studyTestsMawSlides": decimal(7 * analysis.compliance(data) - 1, 1),
        "studyTestsLawSlides": decimal(analysis.start_of_sliding(data, "psi_law"), 1),
        "studyTestsPoisson": f"{data.attrs['poisson']:g}",
        "studyTestsTurns": str(round(float(data["turns"]))),
        "studyTestsAcceleration": step(abs(float(data["acceleration"])), 1),
        "studyTestsAngular": step(float(data["angular_momentum"]), 1),
        "studyTestsSlip": step(float(data["slip"]), 1),
        "studyTestsCreep": step(float(data["creep"]), 1) if float(data["creep"]) else "0",
    }
    for cure, (cured, usual) in analysis.orders(data).items():
        result |= {f"studyTestsOrder{NAMES[cure]}": decimal(cured, 2), f"studyTestsOrder{NAMES[cure]}Usual": decimal(usual, 2)}
    for name in data["return"].values:
        errors = data["return_error"].sel({"return": name})
        result[f"studyTestsReturn{str(name).capitalize()}"] = step(float(errors.sel(steps=SHOWN)), 1)
        result[f"studyTestsReturn{str(name).capitalize()}Order"] = decimal(analysis.order(errors), 2)
    return result | {"studyTestsReturnSteps": str(SHOWN)}
