"""The result of measuring a published statement: a number, its interval if seeds or samples scatter, and the evidence."""

from collections.abc import Callable
from functools import wraps
from math import inf, isnan, nan
from typing import Any, NamedTuple, TypeVar

import xarray as xr

from polhode.fits import NotInRun


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


def not_judged(measure: Measure) -> Measure:
    """The measure with an unbounded interval, its own in the words of the evidence: the claim stays undecided."""

    @wraps(measure)
    def without_verdict(*args: Any, **kwargs: Any) -> Measured:
        measured = Measured(*measure(*args, **kwargs))
        scatter = "" if isnan(measured.low) else f" ({measured.low:.3g} to {measured.high:.3g})"
        words = f"measured here{scatter}: {measured.evidence}; not judged"
        return measured._replace(evidence=words, low=-inf, high=inf)

    return without_verdict


_Data = TypeVar("_Data", xr.Dataset, xr.DataArray)


def of(data: _Data, method: str) -> _Data:
    """The row of one method.

    Raises
    ------
    NotInRun
        If the data do not hold it.
    """
    if method not in data.integrator:
        raise NotInRun(f"{method} is not in this run")
    return data.sel(integrator=method)
