"""Deviation of methods from their start after a return, and from a symplectic map, as frames."""

from math import nan

import numpy as np
import pandas as pd

from polhode.study.analysis.canonical_form import READINGS
from polhode.study.inputs import Inputs

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
