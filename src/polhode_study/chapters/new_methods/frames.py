"""The methods of this work and those with which they are compared: errors at one step, stability, drift."""

from math import isfinite, nan

import numpy as np
import pandas as pd

from polhode.fits.drift import drift
from polhode.fits.values import at, quotient
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import selection

#: The group in which new methods are declared.
GROUP = "new in this work"
#: The method from which gains are measured, and other methods that are best for some class of torque.
BASE = "spiral_leapfrog"
OTHERS = ("pcdm2016", "calzavarini2010", "adams_bashforth4")
#: Number of steps over the horizon at which errors are compared.
STEPS = 1024
#: Long runs whose energy is followed.
LONG_RUNS = ("free_asymmetric_top", "heavy_top")


def new(inputs: Inputs) -> list[str]:
    """The new methods in the run, in the order of their group."""
    return [key for key in selection.all_methods(inputs) if inputs.declared(key, "group") == GROUP]


def shown(inputs: Inputs) -> list[str]:
    """The new methods and those with which they are compared."""
    present = selection.all_methods(inputs)
    return [*new(inputs), *(key for key in (BASE, *OTHERS) if key in present)]


def representatives(inputs: Inputs) -> list[tuple[str, str]]:
    """Each class of torque in the run with the problem that represents it."""
    return [(name, selection.representative(inputs, keys)) for name, keys in selection.problems_by_class(inputs)]


def error(inputs: Inputs, problem: str, method: str) -> float:
    """The angle to the exact orientation at the end, at the run step nearest to :data:`STEPS` steps; NaN if there is none."""
    data = inputs.of(problem).errors
    fit = np.flatnonzero((data["dt_set"] == "fit").values)
    if not fit.size:
        return nan
    wanted = float(np.nanmax(data["end_time"].values)) / STEPS
    nearest = int(fit[np.argmin(np.abs(np.log(data["dt"].values[fit] / wanted)))])
    return at(data, "angle_error", method, dt=nearest)


def compared(inputs: Inputs) -> pd.DataFrame:
    """One row for each new method and each other: gain over the base for each class, stability limit, drift of the energy.

    ``gain_CLASS`` is the error of the base divided by that of the method; ``energy_PROBLEM`` the relative change of the energy
    at the end of a long run.
    """
    rows = []
    for key in shown(inputs):
        row: dict[str, object] = {"method": key, "label": selection.label(inputs, key)}
        for name, problem in representatives(inputs):
            row[f"error_{name}"] = error(inputs, problem, key)
            row[f"gain_{name}"] = quotient(error(inputs, problem, BASE), error(inputs, problem, key))
        row["stability"] = _stability(inputs, key)
        for problem in LONG_RUNS:
            row[f"energy_{problem}"] = _energy(inputs, problem, key)
        rows.append(row)
    if not rows:
        raise NotInRun("this run holds none of the new methods and those with which they are compared")
    return pd.DataFrame(rows)


def _stability(inputs: Inputs, key: str) -> float:
    try:
        return at(inputs.check("stability"), "limit", key)
    except NotInRun:
        return nan


def _energy(inputs: Inputs, problem: str, key: str) -> float:
    """The largest change of the energy in the last tenth of a long run, NaN if there is none."""
    try:
        data = inputs.of(problem).long_run
    except NotInRun:
        return nan
    if key not in data["integrator"].values or "energy_drift" not in data:
        return nan
    change = drift(data["time"].values, data["energy_drift"].sel(integrator=key).values).last
    return change if isfinite(change) else nan
