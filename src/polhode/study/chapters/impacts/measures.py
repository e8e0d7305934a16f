"""The measure for the statements about single impacts, from the check ``impacts`` of the run."""

import xarray as xr

from polhode.fits.impact_errors import LEADING, order
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.judge.measured import Measured


def _impact(results: Inputs, impact: str, stage: str) -> xr.DataArray:
    """The errors of the spin over the steps, with :data:`LEADING`; :class:`NotInRun` if there are none."""
    data = results.check("impacts")
    if "integrator" not in data or LEADING not in data["integrator"].values:
        raise NotInRun(f"the check impacts of this run has not the method {LEADING}")
    return data["error_spin"].sel(case=impact, stage=stage, integrator=LEADING)


def impact_order(results: Inputs, impact: str, stage: str) -> Measured:
    """The order of the spin after an impact, with the bookkeeping of a stage of the check ``impacts``."""
    errors = _impact(results, impact, stage)
    steps = f"T/{int(errors['division'].min())} to T/{int(errors['division'].max())}"
    return Measured(order(errors), f"{impact}, {LEADING}, runs with {steps}")
