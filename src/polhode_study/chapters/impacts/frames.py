"""What the check ``impacts`` says: errors and orders by stage of correction, and how much rotation methods differ."""

from typing import Any

import pandas as pd
import xarray as xr

from polhode.fits.impact_errors import ALIKE, LEADING, STATED, StepsInAContact, order, ratios, steps_in_a_contact
from polhode.fits.laws import Spread
from polhode_study.inputs import Inputs, NotInRun

#: The stage with a predicted velocity in the spring.
SPRING = "spring"
#: The impact that slides from its beginning to its end: its tangential force never depends on the spring.
SLIDES = "sphere_60"
#: The impact with dashpots.
DAMPED = "clump_damped"
#: Methods that differ from the others.
APART = ("spiral_synchronous", "pcdm2016", "magnus_adams4")


def check(inputs: Inputs) -> xr.Dataset:
    """The check, if the run has it and the method of the curves."""
    data = inputs.check("impacts")
    if "integrator" not in data or LEADING not in data["integrator"].values:
        raise NotInRun(f"the check impacts of this run has not the method {LEADING}")
    return data


def random(inputs: Inputs) -> xr.Dataset:
    """The check on random impacts, if the run has it and the method of the curves."""
    data = inputs.check("random_impacts")
    if "by_stage" not in data:
        raise NotInRun(f"the check random_impacts of this run has not the method {LEADING}")
    return data


def steps(inputs: Inputs, error: float) -> tuple[StepsInAContact, StepsInAContact, Spread]:
    """Steps in a contact with friction and damping, see :func:`~polhode.fits.impact_errors.steps_in_a_contact`."""
    return steps_in_a_contact(random(inputs), error)


def frame(data: xr.Dataset) -> pd.DataFrame:
    """A row for each case, stage and method: errors of spin and velocity and closure at :data:`STATED`, and orders."""
    rows: list[dict[str, Any]] = []
    for case, case_label in zip(data["case"].values, data["case_label"].values, strict=True):
        for stage, label in zip(data["stage"].values, data["stage_label"].values, strict=True):
            for key in data["integrator"].values:
                curve = data.sel(case=case, stage=stage, integrator=key)
                row: dict[str, Any] = {
                    "case": str(case),
                    "case_label": str(case_label),
                    "stage": str(stage),
                    "stage_label": str(label),
                }
                row |= {"method": str(key)}
                for steps in STATED:
                    of_step = curve.sel(division=steps)
                    row |= {f"{name}_{steps}": float(of_step[name]) for name in ("error_spin", "error_velocity", "closure")}
                row |= {f"order_{name}": order(curve[f"error_{name}"]) for name in ("spin", "velocity")}
                rows.append(row)
    return pd.DataFrame(rows)


def alike(data: xr.Dataset) -> list[str]:
    """The methods whose errors are those of :data:`LEADING` to within :data:`ALIKE` in all impacts, at :data:`STATED`."""
    off = abs(ratios(data).sel(division=list(STATED)) - 1).max(("case", "division"))
    return [str(key) for key, value in zip(data["integrator"].values, off.values, strict=True) if value <= ALIKE]
