"""What a measure of a published statement finds: a number, its interval where seeds or samples scatter, and words about it."""

from collections.abc import Callable
from math import nan
from typing import NamedTuple


class Measured(NamedTuple):
    """One measured number.

    Parameters
    ----------
    value : float
        What is held against the published number.
    evidence : str
        Where it comes from, in words.
    low, high : float
        Interval of ``value`` where it is a statistic over seeds or samples, or a fit that depends on its window; NaN where it
        is one number, which a second run repeats to the last bit.
    """

    value: float
    evidence: str
    low: float = nan
    high: float = nan


#: A measure takes the results as seen from the problem of the claim, and the arguments of the claim; a pair has no interval.
Measure = Callable[..., Measured | tuple[float, str]]
