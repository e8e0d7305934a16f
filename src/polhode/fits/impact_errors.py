"""The errors of single impacts by method: what the report and the advice compare."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from polhode.fits.errors_of_steps import ErrorsOfSteps
from polhode.fits.orders import slope

#: The method of the curves: a leapfrog.
LEADING = "spiral_leapfrog"
#: The stages of the bookkeeping of a contact without a cure and with all of them.
LIKE_CODES, CURED = "usual", "dashpot"
#: The steps in a contact at which errors are stated.
STATED = (20, 40)
#: The errors of random impacts for which steps are stated, in units of the change of spin and velocity.
ERRORS = (0.001, 0.01)
#: Methods whose errors are within this part of those of :data:`LEADING` count as alike.
ALIKE = 0.02


def order(error: xr.DataArray) -> float:
    """The power of dt with which the errors of one curve fall from :data:`STATED` to the shortest step: a straight line."""
    fine = error.sel(division=error["division"] >= STATED[-1])
    return -slope(fine["division"].values, fine.values)


def ratios(data: xr.Dataset) -> xr.DataArray:
    """The errors of the spin over those of :data:`LEADING`, with all cures, over case, integrator and division."""
    cured = data["error_spin"].sel(stage=CURED)
    return cured / cured.sel(integrator=LEADING, drop=True)


def curves(data: xr.Dataset, draws: Sequence[int] | None = None) -> dict[str, ErrorsOfSteps]:
    """The larger of the errors of spin and velocity of random impacts, or of some of them, without and with all cures."""
    data = data.sortby("division", ascending=False)
    data = data if draws is None else data.isel(draw=list(draws))
    spin, velocity = (data[name].transpose("bookkeeping", "division", "draw") for name in ("error_spin", "error_velocity"))
    larger = spin.where(spin > velocity, velocity)
    share = 1 / data["division"].values
    return {kind: ErrorsOfSteps(share, larger.sel(bookkeeping=kind).values) for kind in (LIKE_CODES, CURED)}


def steps_in_a_contact(data: xr.Dataset, error: float = ERRORS[0]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Steps in a contact for an error as codes have it, with all cures, and the ratio: the middle of all impacts, then
    the ends of 80 % of them.
    """
    codes, cured = (1 / curve.largest_of_each(error, curve.exponent) for curve in curves(data).values())
    return tuple(np.quantile(values, (0.5, 0.1, 0.9)) for values in (codes, cured, codes / cured))  # type: ignore[return-value]
