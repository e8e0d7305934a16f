"""Tables on the note of Calzavarini (2010): effects of its misprints, and methods that keep their order under friction."""

from math import isfinite, nan
from operator import itemgetter
from typing import Any

import numpy as np

from polhode.fits.values import at, nearest_step
from polhode.interface.table import Column, Table
from polhode_study.chapters.calzavarini2010 import frames
from polhode_study.chapters.methods import frames as order_frames
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.latex import decimal, escape, number
from polhode_study.report.selection import FRICTION

#: The key of the note in the bibliography.
SOURCE = "calzavarini2010"

#: The problems and quantities whose orders are listed for each misprint, with column heads.
SHOWN: tuple[tuple[str, str, str], ...] = (
    ("asymmetric_heavy_top", "q", r"heavy top, $q$"),
    ("damped_top", "omega", r"damped top, $\omega$"),
    ("sinking_propeller", "v", r"propeller, $v$"),
)

#: The variants in LaTeX; a variant not listed here is named by its own description.
PRINTED: dict[str, str] = {
    "corrected": "all corrected",
    "a13": "$A_{13}=2(q_1q_3+q_0q_2)$, meant $2(q_1q_3-q_0q_2)$",
    "a21": "$A_{21}=2(q_1q_2+q_0q_3)$, meant $2(q_1q_2-q_0q_3)$",
    "a32": "$A_{32}=2(q_2q_3+q_0q_1)$, meant $2(q_2q_3-q_0q_1)$",
    "matrix": "these three together: $A$ is symmetric",
    "old_omega": r"$\omega(t+\frac{\dt}2)=A^T\omega^b(t)$, meant $A^T\omega^b(t+\frac{\dt}2)$",
    "omega_sum": r"$\omega(t+\dt)=\frac12(3\omega_++\omega_-)$, meant $\frac12(3\omega_+-\omega_-)$",
    "velocity_sum": r"$v(t+\dt)=\frac12(3v_++v_-)$, meant $\frac12(3v_+-v_-)$",
    "divided_twice": r"$v_+=v_-+\frac am\dt$ with $a$ an acceleration, meant $v_-+a\,\dt$",
    "as_printed": "all as printed",
}

#: An order below this means no convergence: the error does not vanish with the step.
NONE = 0.5


def note_corrections(inputs: Inputs) -> Table:
    """A table of the misprints restored one at a time: measured orders, or the remaining error without convergence."""
    check = inputs.check("note_corrections")
    columns = [
        Column("printed, and intended", None, lambda row: PRINTED.get(row["variant"], escape(row["description"])), "70mm"),
        Column(rf"place in~\cite{{{SOURCE}}}", "equation", _place),
    ]
    columns += [
        Column(head, itemgetter(f"{problem}_{name}_order", f"{problem}_{name}_finest_error"), _order_or_error, "c")
        for problem, name, head in SHOWN
        if problem in check["problem"].values and name in check["quantity"].values
    ]
    return Table(frames.note_corrections(inputs), columns)


def _place(equation: str) -> str:
    return escape(equation).replace("-", "--").replace("Sec. II, second part", "Sec. II")


def _order_or_error(measured: tuple[float, float]) -> str:
    """A measured order as text; without convergence, the remaining error."""
    order, error = measured
    if isfinite(order) and order >= NONE:
        return decimal(order, 2)
    return f"none ({number(error, 2)})" if isfinite(error) else "none"


def velocity_torque(inputs: Inputs) -> Table:
    """The orders of all methods for torques of the velocity, with the omega that each supplies to the torque; a file only."""
    frame = order_frames.orders(inputs)
    frame = frame[frame["torque_class"] == "velocity"]
    if frame.empty:
        raise NotInRun("this run has no problem with a torque that depends on the angular velocity")
    problems = list(dict.fromkeys(frame["problem"]))
    # If the centre of mass moves, its orders are included.
    quantities = {p: ("q", "omega", "r", "v") if _moves(inputs, p) else ("q", "omega") for p in problems}
    records: list[dict[str, Any]] = []
    for method in inputs.in_order(frame["method"]):
        record: dict[str, Any] = {"method": method, "handed_to_torque": str(inputs.declared(method, "omega_handed"))}
        record["translation"] = str(inputs.declared(method, "translation"))
        for problem in problems:
            for short in quantities[problem]:
                record[f"{problem}_{short}_order"] = at(inputs.of(problem).errors, f"{short}_order", method)
        records.append(record | dict(zip(("dt", "omega_error"), _error_at(inputs, method), strict=True)))

    return Table(records)


def _moves(inputs: Inputs, problem: str) -> bool:
    """Whether the centre of mass moves in a problem."""
    data = inputs.of(problem).errors
    return "r_order" in data and bool(np.isfinite(data["r_order"].values.astype(float)).any())


def _error_at(inputs: Inputs, method: str) -> tuple[float, float]:
    """The step nearest to COMPARED_DT, s, and the error of omega there, on the problem of the figure."""
    try:
        data = inputs.of(FRICTION).errors
    except NotInRun:
        return nan, nan
    if method not in data["integrator"].values:
        return nan, nan
    row = nearest_step(data["dt"].values, frames.COMPARED_DT)
    return float(data["dt"].values[row]), float(data["omega_error_l1"].sel(integrator=method).values[row])
