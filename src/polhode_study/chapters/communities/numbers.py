"""Numbers in the caption of the first page's table."""

from polhode.fits import liquid_drifts
from polhode_study.chapters.communities import frames
from polhode_study.inputs import Inputs
from polhode_study.report.latex import decimal


def communities(inputs: Inputs) -> dict[str, str]:
    """Macros for the caption: the coefficient of Hertz's contact time, and the drift that is accepted in a liquid."""
    return {"studyPageHertz": decimal(frames.HERTZ, 2), "studyPageDrift": f"{liquid_drifts.STATED:g}"}
