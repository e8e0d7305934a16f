"""The result of measuring a published statement: a number, its interval if seeds or samples scatter, and the evidence."""

from collections.abc import Callable
from math import nan
from typing import NamedTuple


class Measured(NamedTuple):
    """One measured number.

    Parameters
    ----------
    value : float
        The number compared with the published one.
    evidence : str
        Its origin, in words.
    low, high : float
        Interval of ``value`` where it is a statistic over seeds or samples, or a fit that depends on its window; NaN where it
        is a single number, which a second run reproduces to the last bit.
    """

    value: float
    evidence: str
    low: float = nan
    high: float = nan


#: A measure takes the results as seen from the problem of the claim, and the arguments of the claim; a pair has no interval.
Measure = Callable[..., Measured | tuple[float, str]]
