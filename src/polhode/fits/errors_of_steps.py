"""The steps that are sufficient for a part of some cases, from their errors at some steps."""

from dataclasses import dataclass

import numpy as np

from polhode.fits.largest_step import SHARE_OF_CASES, largest_step
from polhode.fits.laws import quantile
from polhode.fits.orders import slope


@dataclass(frozen=True)
class ErrorsOfSteps:
    """The errors of runs with some steps. To ask for an error that is no positive number is a ValueError.

    Parameters
    ----------
    share : (n,)
        Steps over the contact time, ascending.
    errors : (n, runs)
        The errors of each run, in one unit; infinite where it blew up.
    """

    share: np.ndarray
    errors: np.ndarray

    def largest_of_each(self, error: float, exponent: float) -> np.ndarray:
        """The largest share of each run (runs,), see :func:`~polhode.fits.largest_step.largest_step`; 0 where none meets the
        error.

        ``error`` has the unit of the errors. Below the finest step, and only there, the error is the power ``exponent`` of the
        step.
        """
        return largest_step(self.share, self.errors.T, error, exponent)[0]

    def largest(self, error: float, exponent: float, fraction: float = SHARE_OF_CASES) -> float:
        """The largest share with which, as with all smaller ones, ``fraction`` of the runs stay below ``error``; 0 if there is
        none.

        A share is the step over the contact time; ``error`` has the unit of the errors, which below the finest step are the
        power ``exponent`` of the step.
        """
        return float(-quantile(-self.largest_of_each(error, exponent), fraction))

    def is_extrapolated(self, share: float) -> bool:
        """Whether a share lies outside of what was run: beyond the finest or the coarsest step by more than 0.1 % of it."""
        return not 0.999 * self.share[0] <= share <= 1.001 * self.share[-1]

    @property
    def exponent(self) -> float:
        """The power p, a number, of the step with which the median error grows, over all steps; NaN from less than three."""
        return slope(self.share, quantile(self.errors, 0.5), 3)
