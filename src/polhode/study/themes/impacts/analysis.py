"""What the check ``impacts`` says: errors and orders by stage of cure, and how much rotation methods differ."""

from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from polhode.study.inputs import Inputs, NotInRun

#: The method of the curves: a leapfrog.
LEADING = "spiral_leapfrog"
#: The stage without a cure, that with all of them, and that with a predicted velocity in the spring.
USUAL, CURED, SPRING = "usual", "dashpot", "spring"
#: The steps in a contact at which errors are stated.
STATED = (20, 40)
#: The impact that slides from its beginning to its end: its tangential force never depends on the spring.
SLIDES = "sphere_60"
#: The impact with dashpots.
DAMPED = "clump_damped"
#: Methods whose errors are within this part of those of :data:`LEADING` count as alike.
ALIKE = 0.02
#: Methods that differ from the others more than a band can show.
APART = ("spiral_synchronous", "pcdm2016", "magnus_adams4")


def check(inputs: Inputs) -> xr.Dataset:
    """The check, if the run has it and the method of the curves."""
    data = inputs.check("impacts")
    if "integrator" not in data or LEADING not in data["integrator"].values:
        raise NotInRun(f"the check impacts of this run has not the method {LEADING}")
    return data


def order(error: xr.DataArray) -> float:
    """The power of dt with which the errors of one curve fall from :data:`STATED` to the shortest step: a straight line."""
    fine = error.sel(division=error["division"] >= STATED[-1])
    return float(-np.polyfit(np.log(fine["division"].values), np.log(fine.values), 1)[0])


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


def ratios(data: xr.Dataset) -> xr.DataArray:
    """The errors of the spin over those of :data:`LEADING`, with all cures, over case, integrator and division."""
    cured = data["error_spin"].sel(stage=CURED)
    return cured / cured.sel(integrator=LEADING, drop=True)


def alike(data: xr.Dataset) -> list[str]:
    """The methods whose errors are those of :data:`LEADING` to within :data:`ALIKE` in all impacts, at :data:`STATED`."""
    off = abs(ratios(data).sel(division=list(STATED)) - 1).max(("case", "division"))
    return [str(key) for key, value in zip(data["integrator"].values, off.values, strict=True) if value <= ALIKE]
