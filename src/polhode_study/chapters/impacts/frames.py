"""What the check ``impacts`` says: errors and orders by stage of cure, and how much rotation methods differ."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from polhode.fits.impact_errors import ALIKE, LEADING, STATED, StepsInAContact, order, ratios, steps_in_a_contact
from polhode.fits.laws import Spread
from polhode.fits.seed_statistics import mean
from polhode_study.inputs import Inputs, NotInRun

#: The stage with a predicted velocity in the spring.
SPRING = "spring"
#: The names of stages and methods.
NAMED = {"stage": "stage_label", "integrator": "label"}
#: The impact that slides from its beginning to its end: its tangential force never depends on the spring.
SLIDES = "sphere_60"
#: The impact with dashpots.
DAMPED = "clump_damped"
#: Methods that differ from the others more than a band can show.
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


def waterfall(inputs: Inputs) -> pd.DataFrame:
    """What is wrong with a step: mean errors over random impacts, in per cent, by ``quantity`` and ``cause``.

    Errors of the spin are in units of its largest change, those of the kinetic energy in units of that before. The first row
    of a quantity is a step as codes have it; each cure takes its row away (a gain), and what is left follows. The last rows are
    not part of this sum: by how much other methods of rotation differ, closure, and what the law makes at any step.
    """
    data = random(inputs)
    names = {
        key: dict(zip(map(str, data[key].values), map(str, data[label].values), strict=True)) for key, label in NAMED.items()
    }
    stages, methods = names["stage"], names["integrator"]
    records = []
    for quantity in map(str, data["quantity"].values):
        of_stage, of_method = (data[name].sel(quantity=quantity) for name in ("by_stage", "by_method"))
        errors = {stage: of_stage.sel(stage=stage).values for stage in stages}
        change = {key: of_method.sel(integrator=key).values - of_method.sel(integrator=LEADING).values for key in methods}
        alike = [abs(change[key]) for key in methods if key not in APART]
        first, *_, last = stages
        rows = [("whole", stages[first], errors[first])]
        rows += [("cure", stages[after], errors[before] - errors[after]) for before, after in pairwise(stages)]
        rows += [
            ("left", "left with all corrections", errors[last]),
            ("beside", "other rotation methods", np.max(alike, axis=0)),
        ]
        rows += [("beside", f"{methods[key]} instead", change[key]) for key in methods if key in APART]
        if quantity == "energy":
            rows += [("beside", "closure of the energies", data["closure"].values)]
            rows += [("beside", "made or taken by the law", abs(data["made"].values))]
        for kind, cause, values in rows:
            estimate = mean(100 * values)
            records.append({"quantity": quantity, "kind": kind, "cause": cause, "percent": estimate.value})
            records[-1] |= {"low": estimate.low, "high": estimate.high}
    return pd.DataFrame(records)
