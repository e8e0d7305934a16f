"""The measure for the statements about single impacts, from the check ``impacts`` of the run."""

from polhode.fits.impact_errors import LEADING, order
from polhode_study.chapters.impacts import frames
from polhode_study.inputs import Inputs
from polhode_study.judge.measured import Measured


def impact_order(results: Inputs, impact: str, stage: str) -> Measured:
    """The order of the spin after an impact, with the contact update of a stage of the check ``impacts``."""
    errors = frames.check(results)["error_spin"].sel(case=impact, stage=stage, integrator=LEADING)
    steps = f"T/{int(errors['division'].min())} to T/{int(errors['division'].max())}"
    return Measured(order(errors), f"{impact}, {LEADING}, runs with {steps}")
