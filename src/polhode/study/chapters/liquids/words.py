"""What table and numbers on liquids say in the same words: drifts and losses."""

from collections.abc import Mapping
from math import isfinite

from polhode.fits import liquid_drifts
from polhode.study.chapters.liquids import frames as liquids


def signed(of_step: liquid_drifts.MeanDrift) -> str:
    """A drift with two digits and its sign; in brackets how much it may be, where zero is in its interval."""
    if not of_step.is_shown and isfinite(of_step.low):
        return rf"(${{<}}\,${_two(of_step.largest)})" if isfinite(of_step.largest) else "lost"
    return rf"${'+' if of_step.drift > 0 else '-'}$\,{_two(abs(of_step.drift))}"


def _two(value: float) -> str:
    return rf"\num{{{float(f'{value:.2g}'):g}}}"


def lost(of_method: Mapping[float, liquid_drifts.MeanDrift]) -> str:
    """The shortest step with which a run was lost, after which time and in which direction."""
    first = liquids.lost_first(of_method)
    if first is None:
        return "never"
    dt, of_step = first
    return rf"{dt:g}; {_two(of_step.lost_at / 1e3)} {'hot' if of_step.lost_by > 0 else 'cold'}"
