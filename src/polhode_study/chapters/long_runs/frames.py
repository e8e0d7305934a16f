"""Deviation of methods from their start after a return, and from a symplectic map, and librations, as frames."""

from math import isfinite, nan, pi

import numpy as np
import pandas as pd

from polhode.fits.canonical_form import READINGS
from polhode.fits.librations import energy_drift
from polhode_study.inputs import Inputs

#: Below this angle, rad, a run taken back differs from its start only by rounding.
ROUNDING = 1e-10
#: Angles above this, rad, are fitted: no method that returns at every step comes so far from its start.
FITTED = 1e-11
#: Number of steps in the horizon for the defects of the table.
DEFECT_DIVISION = 256


def reversibility(inputs: Inputs) -> pd.DataFrame:
    """A frame of the distance of each method from its start after a return, and of its order above rounding.

    Columns: problem, method, dt (s), return_angle and largest_angle (rad), return_omega, order, NaN where fewer than
    two steps return by more than :data:`FITTED`; rounding, whether this is because the others do not.
    """
    check = inputs.check("reversibility")
    problems = [str(p) for p in check["problem"].values]
    records = []
    for problem in problems:
        chosen = check.sel({"problem": problem})
        dt = np.asarray(chosen["dt"].values, float)
        ladder = np.argsort(dt)
        for method in inputs.in_order(map(str, chosen["integrator"].values)):
            angle = chosen["return_angle"].sel(integrator=method).values
            omega = chosen["return_omega"].sel(integrator=method).values
            first = ladder[0]
            above = [i for i in ladder if angle[i] > FITTED][:2]
            order = nan
            if len(above) == 2:
                fine, coarse = above
                order = float(np.log(angle[coarse] / angle[fine]) / np.log(dt[coarse] / dt[fine]))
            records.append(
                {
                    "problem": problem,
                    "method": method,
                    "dt": dt[first],
                    "return_angle": angle[first],
                    "return_omega": omega[first],
                    "largest_angle": float(np.max(angle)),
                    "order": order,
                    "rounding": bool(len(above) < 2 and angle[first] <= FITTED),
                }
            )
    return pd.DataFrame(records)


def symplecticity(inputs: Inputs) -> pd.DataFrame:
    """A frame of the defect of the canonical form over one step of each method, and the power of dt with which it falls.

    Columns: method, reading, problem, dt (s), defect, power, memory.
    """
    check = inputs.check("symplecticity")
    problems = [str(p) for p in check["problem"].values]
    records = [
        {
            "method": method,
            "reading": reading,
            "problem": problem,
            "dt": float(check["dt"].sel(problem=problem, division=DEFECT_DIVISION)),
            "defect": float(check["defect"].sel({"division": DEFECT_DIVISION} | where)),
            "power": float(check["power"].sel(where)),
            "memory": float(check["memory"].sel(integrator=method, problem=problem)),
        }
        for method in inputs.in_order(map(str, check["integrator"].values))
        for reading in READINGS
        for problem in problems
        for where in [{"integrator": method, "problem": problem, "reading": reading}]
    ]
    return pd.DataFrame(records)


#: Librations of water, cm^-1, and the time step, fs, for which the drift of a liquid is predicted; equal weights.
WATER_LIBRATIONS, WATER_STEP = (400.0, 900.0), 2.0
#: Radians per fs of a wave number of 1/cm: 2 pi c.
WAVE_NUMBER = 2 * pi * 2.99792458e-5


def librations(inputs: Inputs) -> pd.DataFrame:
    """A frame of the roots of each method for a librating body, and the drift of water that they predict.

    Columns: method, power, coefficient, shift_power, shift_coefficient, limit (:mod:`.run_librations`), and water:
    kT per ns and degree of freedom, half of that of a librational mode.
    """
    check = inputs.check("librations")
    frequencies = WAVE_NUMBER * np.linspace(*WATER_LIBRATIONS, 501)
    records = []
    for method in inputs.in_order(map(str, check["integrator"].values)):
        chosen = check.sel(integrator=method)
        record = {name: float(chosen[name]) for name in ("power", "coefficient", "shift_power", "shift_coefficient", "limit")}
        water = nan
        if isfinite(record["power"]):
            curve = chosen["turn"].values, chosen["growth"].values, int(record["power"])
            water = 1e6 * energy_drift(*curve, WATER_STEP, frequencies) / 2
        records.append({"method": method, **record, "water": water})
    return pd.DataFrame(records)


#: A drift is seen from this many standard errors on.
SEEN = 3.0


def thermal_librations(inputs: Inputs) -> pd.DataFrame:
    """A frame of the drift of a librating molecule for methods whose roots have modulus one.

    Columns: method, dt (fs), drift and error (kT per ns and degree of freedom; infinite if the molecule's energy is lost), and
    power, with which the drift grows from the step before; NaN where either is within :data:`SEEN` errors of zero.
    """
    check = inputs.check("librations")
    dt = check["dt"].values
    records = []
    for method in inputs.in_order(map(str, check["integrator"].values[(check["power"] == 0).values])):
        drifts, errors = (check[name].sel(integrator=method).values for name in ("thermal_drift", "thermal_error"))
        seen = np.isfinite(drifts) & (np.abs(drifts) > SEEN * errors)
        for i in range(len(dt)):
            power = nan
            if i and seen[i - 1] and seen[i] and drifts[i] / drifts[i - 1] > 0:
                power = float(np.log(drifts[i] / drifts[i - 1]) / np.log(dt[i] / dt[i - 1]))
            records.append({"method": method, "dt": dt[i], "drift": drifts[i], "error": errors[i], "power": power})
    return pd.DataFrame(records)
