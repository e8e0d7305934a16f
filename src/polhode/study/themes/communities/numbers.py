"""Numbers in the caption of the first page's table and figure."""

from math import gamma, pi, sqrt

from polhode.fits import liquid_drifts
from polhode.study.analysis import law_frames
from polhode.study.inputs import Inputs
from polhode.study.report.formats import power
from polhode.study.report.latex import decimal
from polhode.study.themes.communities import analysis


def communities(inputs: Inputs) -> dict[str, str]:
    """Macros for the captions: the errors, the coefficient of Hertz's contact time, and what is accepted in a liquid."""
    ens = law_frames.ensemble(inputs)
    # The largest overlap is (15 m v^2 / (16 sqrt(R) E*))^(2/5), and a contact lasts so many times that over v.
    accepted, length, longer = liquid_drifts.STATED, liquid_drifts.LENGTH, liquid_drifts.LENGTH * liquid_drifts.LONGER
    overlaps = 4 * sqrt(pi) * gamma(2 / 5) / (5 * gamma(9 / 10))
    return {
        "studyPageHertz": decimal(overlaps * (15 / 16) ** (2 / 5), 2),
        "studyPageDrift": f"{accepted:g}",
        "studyPageLonger": f"{longer:g}",
        "studyPageWarms": f"{liquid_drifts.warming(accepted, length):.1f}",
        "studyPageWarmsLonger": f"{liquid_drifts.warming(accepted, longer):.0f}",
        "studyPageFastest": f"{100 * (1 - liquid_drifts.FASTEST):g}",
        "studyPageGame": power(analysis.GAME),
        "studyPageSpace": power(analysis.SPACE),
        "studyPageBodies": str(ens.bodies),
    }
