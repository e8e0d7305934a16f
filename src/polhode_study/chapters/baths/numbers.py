"""Numbers on liquids in a heat bath."""

from polhode.fits import baths as analysis
from polhode_study.chapters.baths import frames
from polhode_study.inputs import Inputs
from polhode_study.report.formats import plain
from polhode_study.report.latex import decimal


def baths(inputs: Inputs) -> dict[str, str]:
    """Macros for the runs, the gap of temperatures by linear analysis, and what methods that drift keep of their drift."""
    data, every, rates = frames.dataset(inputs), frames.runs(inputs), frames.rates(inputs)
    small, large = (every.of(scene) for scene in (frames.SMALL, frames.LARGE))
    usual = max(case.duration for case in small if case.friction != frames.FRICTION)
    result = {
        "studyBathStarts": str(data.sizes["seed"]),
        "studyBathDuration": plain(usual / 1e3),
        "studyBathLongDuration": plain(max(case.duration for case in small) / 1e6),
        "studyBathLargeDuration": plain(max(case.duration for case in large) / 1e3),
        "studyBathStretch": str(int(data.attrs["stretch"])),
        "studyBathGap": decimal(every.temperature * analysis.apart(rates, 4.0), 1),
        "studyBathStep": decimal(analysis.longest_step(rates, analysis.BIAS / every.temperature), 1),
    }
    return result
