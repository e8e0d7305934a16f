"""What the check ``strengths`` and the runs of a liquid say of correctors."""

from math import nan

import numpy as np

from polhode.fits.liquid_drifts import outcomes
from polhode.study.analysis import law_checks, liquids
from polhode.study.analysis.law_frames import TARGET
from polhode.study.inputs import Inputs

#: The plain splitting and the corrected one.
PLAIN, CORRECTED = "exact_rotor", "exact_rotor_corrected"
#: The coarsest step of the check, in radians: what needs no more is not told apart.
COARSEST = 0.5
#: The error at which splittings are compared with and without a corrector, small enough that no step is the coarsest.
TIGHT = 1e-6


Torques = dict[str, dict[float, float]]


def torques(inputs: Inputs, torque_class: str, error: float = TARGET) -> Torques:
    """Method -> strength -> the median torques per radian."""
    frame = law_checks.strengths(inputs)
    result: Torques = {}
    for row in frame[(frame["torque_class"] == torque_class) & (frame["error"] == error)].to_dict("records"):
        result.setdefault(row["method"], {})[row["strength"]] = row["torques"]
    return result


def gain(table: Torques, method: str, other: str, strength: float) -> float:
    """The torques of ``other`` over those of ``method``; NaN where one is not in the run."""
    try:
        return table[other][strength] / table[method][strength]
    except KeyError:
        return nan


def crossing(table: Torques, method: str, other: str) -> float:
    """The strength up to which ``method`` needs fewer torques than ``other``, between two that were run; NaN if not so."""
    strengths = sorted(table[method])
    ratio = np.log([table[method][x] / table[other][x] for x in strengths])
    place = np.flatnonzero((ratio[:-1] < 0) & (ratio[1:] >= 0))
    if place.size == 0:
        return nan
    x, y = np.log(strengths[place[-1] : place[-1] + 2]), ratio[place[-1] : place[-1] + 2]
    return float(np.exp(x[0] - y[0] / (y[1] - y[0]) * (x[1] - x[0])))


def scatter(inputs: Inputs, method: str) -> dict[float, float]:
    """Step in fs -> the mean scatter of the energy of a liquid, kT per degree of freedom, of runs that are not lost."""
    data = liquids.runs(inputs)
    if method not in data["integrator"].values:
        return {}
    values = data["rms"].sel(integrator=method).mean("seed", skipna=False)
    return {float(dt): float(x) for dt, x in zip(data["dt"].values, values.values, strict=True) if np.isfinite(x)}


def drifts(inputs: Inputs, method: str) -> dict[float, bool]:
    """Step in fs -> whether the energy of a liquid is shown to drift."""
    return {dt: of_step.is_shown for dt, of_step in outcomes(liquids.runs(inputs)).get(method, {}).items()}
