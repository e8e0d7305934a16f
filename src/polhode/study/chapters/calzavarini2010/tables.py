"""Tables on the note of Calzavarini (2010): effects of its misprints, and methods that keep their order under friction."""

import re
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd

from polhode.fits.values import at, nearest_step
from polhode.study.chapters.calzavarini2010 import frames
from polhode.study.chapters.methods import frames as order_frames
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report import selection
from polhode.study.report.frames import keyed, records
from polhode.study.report.latex import above_head, decimal, escape, grouped_rows, number, or_dash, spanning, tabular
from polhode.study.report.selection import FRICTION

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


def note_corrections(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the misprints restored one at a time: measured orders, or the remaining error without convergence."""
    check = inputs.check("note_corrections")
    data = frames.note_corrections(inputs)
    shown = [s for s in SHOWN if s[0] in check["problem"].values and s[1] in check["quantity"].values]
    rows = [
        [
            PRINTED.get(record["variant"], escape(record["description"])),
            escape(record["equation"]).replace("-", "--").replace("Sec. II, second part", "Sec. II"),
            *(_order_or_error(record[f"{p}_{q}_order"], record[f"{p}_{q}_finest_error"]) for p, q, _ in shown),
        ]
        for record in records(data)
    ]
    head = ["printed, and intended", rf"place in~\cite{{{SOURCE}}}", *(text for _, _, text in shown)]
    columns = r">{\raggedright\arraybackslash}p{70mm}l" + "c" * len(shown)
    return data, tabular(columns, head, rows)


def _order_or_error(order: float, error: float) -> str:
    """A measured order as text; without convergence, the remaining error."""
    if isfinite(order) and order >= NONE:
        return decimal(order, 2)
    return f"none ({number(error, 2)})" if isfinite(error) else "none"


def velocity_torque(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the orders of all methods for velocity-dependent torques, with the omega that each supplies to the torque.

    The CSV also names the scheme that moves the centre of mass.
    """
    frame = order_frames.orders(inputs)
    frame = frame[frame["torque_class"] == "velocity"]
    if frame.empty:
        raise NotInRun("this run has no problem with a torque that depends on the angular velocity")
    problems = list(dict.fromkeys(frame["problem"]))
    # If the centre of mass moves, its orders are included.
    quantities = {p: ("q", "omega", "r", "v") if _moves(inputs, p) else ("q", "omega") for p in problems}
    by_run = keyed(frame, "problem", "method")
    records: list[dict[str, Any]] = []
    cells: dict[str, list[str]] = {}
    for method in inputs.in_order(frame["method"]):
        record: dict[str, Any] = {"method": method, "handed_to_torque": str(inputs.declared(method, "omega_handed"))}
        record["translation"] = str(inputs.declared(method, "translation"))
        line = [escape(selection.label(inputs, method)), _cited(escape(record["handed_to_torque"])) or "--"]
        for problem in problems:
            held = (problem, method) in by_run
            for short in quantities[problem]:
                value = at(inputs.of(problem).errors, f"{short}_order", method)
                record[f"{problem}_{short}_order"] = value
                line.append(decimal(value, 2) if held else or_dash(decimal(value, 2)))
        dt, error = _error_at(inputs, method)
        record |= {"dt": dt, "omega_error": error}
        line.append(or_dash(number(error, 2)))
        records.append(record)
        cells[method] = line
    symbols = {"q": "$p_q$", "omega": r"$p_\omega$", "r": "$p_r$", "v": "$p_v$"}
    shown = [symbols[short] for p in problems for short in quantities[p]]
    head = ["method", r"$\omega$ supplied to the torque", *shown, r"$\varepsilon_\omega$"]
    text = tabular("ll" + "c" * len(shown) + "c", head, grouped_rows(inputs, list(cells), cells.__getitem__))
    names = [(escape(selection.short_name(inputs, p)), len(quantities[p])) for p in problems]
    return pd.DataFrame(records), above_head(text, spanning(*names, "", before=" &  & "))


def _cited(text: str) -> str:
    """A text in which the numbers of equations are those of the note, with its citation."""
    return re.sub(r"Eq\. (\d+)", rf"Eq.~\1 of~\\cite{{{SOURCE}}}", text)


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
