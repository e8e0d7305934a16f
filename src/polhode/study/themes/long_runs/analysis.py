"""Deviation of methods from their start after a return, and from a symplectic map, as frames."""

from math import nan

import numpy as np
import pandas as pd

from polhode.study.analysis.canonical_form import READINGS
from polhode.study.inputs import Inputs

#: Below this angle, rad, a run taken back differs from its start only by rounding.
ROUNDING = 1e-10
#: Number of steps in the horizon for the defects of the table.
DEFECT_DIVISION = 256


def reversibility(inputs: Inputs) -> pd.DataFrame:
    """A frame of the distance of each method from its start after a return, and its order between the two finest steps.

    Columns: problem, method, dt (s), return_angle and largest_angle (rad), return_omega, order; NaN if all is rounding.
    """
    check = inputs.check("reversibility")
    problems = [str(p) for p in check["problem"].values]
    records = []
    for problem in problems:
        chosen = check.sel({"problem": problem})
        dt = np.asarray(chosen["dt"].values, float)
        first, second = np.argsort(dt)[:2]
        for method in inputs.in_order(map(str, chosen["integrator"].values)):
            angle = chosen["return_angle"].sel(integrator=method).values
            omega = chosen["return_omega"].sel(integrator=method).values
            with np.errstate(divide="ignore", invalid="ignore"):
                order = float(np.log(angle[second] / angle[first]) / np.log(dt[second] / dt[first]))
            records.append(
                {
                    "problem": problem,
                    "method": method,
                    "dt": dt[first],
                    "return_angle": angle[first],
                    "return_omega": omega[first],
                    "largest_angle": float(np.max(angle)),
                    "order": order if np.max(np.nan_to_num(angle)) > ROUNDING else nan,
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
