"""The step that serves most of the runs with an error, from their errors at some steps."""

from dataclasses import dataclass
from math import nan

import numpy as np

#: The part of the runs that must meet the error.
SERVED = 0.9


@dataclass(frozen=True)
class ErrorsOfSteps:
    """The errors of runs with some steps.

    Parameters
    ----------
    share : (n,)
        Steps over the contact time, ascending.
    errors : (n, runs)
        Those of each run; infinite where it blew up.
    """

    share: np.ndarray
    errors: np.ndarray

    def largest(self, error: float, exponent: float, fraction: float = SERVED) -> float:
        """The largest share with which, as with all smaller ones, ``fraction`` of the runs stay below ``error``.

        Between two steps that were run the error is a power of the step. Below the finest one, and for a scene that was run
        with a single step, it is that of ``exponent``.
        """
        errors = quantile(self.errors, fraction)
        good = errors <= error
        count = len(good) if good.all() else int(np.argmin(good))
        if count == 0 or len(good) == 1:
            return float(self.share[0] * (error / errors[0]) ** (1 / exponent)) if np.isfinite(errors[0]) else 0.0
        if count == len(good) or not np.isfinite(errors[count]):
            return float(self.share[count - 1])
        x, y = np.log(self.share[count - 1 : count + 1]), np.log(errors[count - 1 : count + 1])
        return float(np.exp(x[0] + (np.log(error) - y[0]) / (y[1] - y[0]) * (x[1] - x[0])))

    def is_extrapolated(self, share: float) -> bool:
        """Whether a share lies outside of what was run."""
        return not 0.999 * self.share[0] <= share <= 1.001 * self.share[-1]

    @property
    def exponent(self) -> float:
        """The power of the step with which the error grows, over all steps; NaN from less than three."""
        errors = quantile(self.errors, 0.5)
        good = np.isfinite(errors)
        return float(np.polyfit(np.log(self.share[good]), np.log(errors[good]), 1)[0]) if good.sum() >= 3 else nan


def quantile(errors: np.ndarray, fraction: float) -> np.ndarray:
    """The value below which ``fraction`` of the runs of each row lie: one of the values, since some may be infinite."""
    ordered = np.sort(errors, axis=1)
    return np.asarray(ordered[:, min(ordered.shape[1] - 1, int(np.ceil(fraction * ordered.shape[1])) - 1)])
