"""Numbers on the table of the first page, for its caption and for the sections on its rows."""

from contextlib import suppress

from polhode.fits import liquid_drifts
from polhode_study.chapters.communities import frames, rows
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.latex import decimal


def communities(inputs: Inputs) -> dict[str, str]:
    """Macros for the coefficient of Hertz's contact time and the drift that is accepted in a liquid, and of each row of the
    table what qualifies it (``studyPageElastic``), empty without its data.
    """
    result = {"studyPageHertz": decimal(frames.HERTZ, 2), "studyPageDrift": f"{liquid_drifts.STATED:g}"}
    for make in rows.MAKERS:
        macro = f"studyPage{make.__name__.strip('_').capitalize()}"
        result[macro] = ""
        with suppress(NotInRun):
            result[macro] = make(inputs).more
    return result
