"""The note of Calzavarini (2010): what each misprint costs, and which methods keep their order under friction."""

from collections.abc import Callable
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd

from polhode.study import comparison
from polhode.study.comparison import FRICTION
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.tables.latex import NOT_AVAILABLE, decimal, escape, number, tabular
from polhode.study.tables.torque_classes import grouped_rows

#: The problems and quantities whose orders stand beside each misprint, with their heads.
SHOWN: tuple[tuple[str, str, str], ...] = (
    ("asymmetric_heavy_top", "q", r"heavy top, $q$"),
    ("damped_top", "omega", r"damped top, $\omega$"),
    ("sinking_propeller", "v", r"propeller, $v$"),
)
#: The variants in LaTeX; one that is not here is named by its own description.
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
#: An order below this is none: the error does not go to zero with the step.
NONE = 0.5
#: The angular velocity that a method hands to the torque, in words.
HANDED: dict[str, str] = {
    "calzavarini2010": "extrapolated (Eq. 10)",
    "calzavarini2010_mean": "mean (Eq. 8), a step old",
    **dict.fromkeys(
        (
            "fincham1992",
            "fincham1992_delvalle2024",
            "omelyan1998",
            "spiral_leapfrog",
            "spiral_omelyan",
            "pfc4_delvalle2024",
        ),
        "half a step old",
    ),
    **dict.fromkeys(("verlet", "verlet_delvalle2024", "no_squish", "buss2000", "pfc4"), "without the last half kick"),
    "pcdm2016": "predicted",
    "pcdm2013_mid": "predicted",
    "pcdm2013_lag": "half a step old",
    "pcdm2013_lead": "a step old",
    "scalar_factor": "a step old",
    "johnson2008_delvalle2024": "without the torque of the step",
    **dict.fromkeys(("spiral_synchronous", "euler", "buss2000_delvalle2024"), "in time; torque frozen"),
    "johnson2008": "corrected, two torques",
    "rk4": "four stages",
}
#: The step at which errors are compared, s; the nearest one of the run serves.
COMPARED_DT = 1e-2


def note_corrections(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Every misprint of the note put back alone: measured orders, or the error that stays where there is none."""
    check = inputs.check("note_corrections")
    records: list[dict[str, Any]] = []
    rows = []
    shown = [s for s in SHOWN if s[0] in check["problem"].values and s[1] in check["quantity"].values]
    for variant in map(str, check["variant"].values):
        chosen = check.sel({"variant": variant})
        record: dict[str, Any] = {
            "variant": variant,
            "description": str(chosen["description"].values),
            "equation": str(chosen["equation"].values),
        }
        for problem in map(str, check["problem"].values):
            for quantity in map(str, check["quantity"].values):
                for name in ("order", "order_low", "order_high", "finest_error"):
                    value = chosen[name].sel({"problem": problem, "quantity": quantity}).values
                    record[f"{problem}_{quantity}_{name}"] = float(value)
        records.append(record)
        rows.append(
            [
                PRINTED.get(variant, escape(record["description"])),
                escape(record["equation"]).replace("-", "--").replace("Sec. II, second part", "Sec. II"),
                *(_order_or_error(record[f"{p}_{q}_order"], record[f"{p}_{q}_finest_error"]) for p, q, _ in shown),
            ]
        )
    head = ["printed, and meant", "place", *(text for _, _, text in shown)]
    columns = r">{\raggedright\arraybackslash}p{70mm}l" + "c" * len(shown)
    return pd.DataFrame(records), tabular(columns, head, rows)


def _order_or_error(order: float, error: float) -> str:
    """A measured order; where the error does not go to zero, the error that stays."""
    if isfinite(order) and order >= NONE:
        return decimal(order, 2)
    return f"none ({number(error, 2)})" if isfinite(error) else "none"


def velocity_torque(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Orders of all methods under torques of the angular velocity, and the angular velocity that each hands to the torque."""
    frame = comparison.orders(inputs)
    frame = frame[frame["torque_class"] == "velocity"]
    if frame.empty:
        raise NotInRun("this run holds no problem with a torque of the angular velocity")
    problems = list(dict.fromkeys(frame["problem"]))
    # Where the centre of mass moves, its orders as well.
    quantities = {p: ("q", "omega", "r", "v") if _moves(inputs, p) else ("q", "omega") for p in problems}
    own = comparison.keyed(frame, "problem", "method")
    records: list[dict[str, Any]] = []
    cells: dict[str, list[str]] = {}
    for method in comparison.in_order(frame["method"]):
        record: dict[str, Any] = {"method": method, "handed_to_torque": HANDED.get(method, "")}
        record["translation"] = _translation(inputs, method)
        line = [escape(comparison.label(inputs, method)), escape(record["handed_to_torque"]) or "--"]
        line.append(escape(record["translation"]) or "--")
        for problem in problems:
            held = (problem, method) in own
            for short in quantities[problem]:
                value = _order(inputs, problem, f"{short}_order", method)
                record[f"{problem}_{short}_order"] = value
                line.append(decimal(value, 2) if isfinite(value) else "--" if not held else NOT_AVAILABLE)
        dt, error = _error_at(inputs, method)
        record |= {"dt": dt, "omega_error": error}
        line.append(number(error, 2) if isfinite(error) else "--")
        records.append(record)
        cells[method] = line
    symbols = {"q": "$p_q$", "omega": r"$p_\omega$", "r": "$p_r$", "v": "$p_v$"}
    shown = [symbols[short] for p in problems for short in quantities[p]]
    head = ["method", r"$\omega$ handed to the torque", "translation", *shown, r"$\varepsilon_\omega$"]
    narrow = r">{\raggedright\arraybackslash}p"
    columns = f"l{narrow}{{22mm}}{narrow}{{17mm}}" + "c" * len(shown) + "c"
    text = tabular(columns, head, grouped_rows(list(cells), lambda key: cells[key]))
    top, rules, first = ["", "", ""], "", 4
    for p in problems:
        width = len(quantities[p])
        top.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(comparison.short_name(inputs, p))}}}")
        rules += rf"\cmidrule(lr){{{first}-{first + width - 1}}}"
        first += width
    top_line = " & ".join([*top, ""]) + r" \\" + "\n" + rules + "\n"
    return pd.DataFrame(records), text.replace("\\toprule\n", "\\toprule\n" + top_line, 1)


def _moves(inputs: Inputs, problem: str) -> bool:
    """Whether the centre of mass takes part in a problem."""
    data = inputs.of(problem).errors
    return "r_order" in data and bool(np.isfinite(data["r_order"].values.astype(float)).any())


def _order(inputs: Inputs, problem: str, name: str, method: str) -> float:
    data = inputs.of(problem).errors
    held = name in data and method in data["integrator"].values
    return float(data[name].sel(integrator=method).values) if held else nan


def _translation(inputs: Inputs, method: str) -> str:
    """The name of the scheme that moves a centre of mass beside a method; empty where it moves none."""
    if "many body" not in tuple(inputs.declared(method, "engines", ())):
        return ""
    return str(getattr(inputs.declared(method, "translation", ""), "name", ""))


def _error_at(inputs: Inputs, method: str) -> tuple[float, float]:
    """The step nearest to COMPARED_DT, s, and the error of omega there, on the problem of the figure."""
    try:
        data = inputs.of(FRICTION).errors
    except NotInRun:
        return nan, nan
    if method not in data["integrator"].values:
        return nan, nan
    row = int(np.argmin(np.abs(np.log(data["dt"].values / COMPARED_DT))))
    return float(data["dt"].values[row]), float(data["omega_error_l1"].sel(integrator=method).values[row])


TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {
    "note_corrections": note_corrections,
    "velocity_torque": velocity_torque,
}
