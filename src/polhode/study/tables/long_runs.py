"""What long runs and reversed runs leave, in numbers."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import isfinite, nan

import numpy as np
import pandas as pd

from polhode.study import comparison
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.symplecticity import READINGS
from polhode.study.symplecticity import ROUNDING as NO_DEFECT
from polhode.study.tables.latex import NOT_AVAILABLE, decimal, escape, step, tabular
from polhode.study.tables.torque_classes import grouped_rows

#: Below this angle, rad, a run that was taken back is at its start but for rounding.
ROUNDING = 1e-10


def long_runs(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """How far energy, angular momentum and norm are at the end of long runs, and how they grew.

    The CSV has every problem with a long run, and the runs with normalisation switched (column switched).
    """
    frames = [comparison.long_runs(inputs, inputs.problems).assign(switched=False)]
    with suppress(NotInRun):
        frames.append(comparison.long_runs(inputs, inputs.problems, "long_run_switched").assign(switched=True))
    data = pd.concat(frames, ignore_index=True)
    own = comparison.keyed(frames[0], "problem", "method", "quantity")
    problems = [p for p in comparison.LONG_PROBLEMS if p in set(frames[0]["problem"])]
    held = {
        p: [q for q in ("energy_drift", "momentum_drift") if (frames[0].problem.eq(p) & frames[0].quantity.eq(q)).any()]
        for p in problems
    }
    if not problems:
        raise NotInRun(f"this run has no long run of {', '.join(comparison.LONG_PROBLEMS)}")
    methods = comparison.in_order(m for p, m, _ in own if p in problems)

    def entry(problem: str, method: str, quantity: str) -> str:
        if (problem, method, quantity) not in own:
            return "--"
        found = own[problem, method, quantity]
        if found["diverged"] or not found["last"] < comparison.LOST:
            return "lost"
        growth = f" ({found['growth']:.1f})" if isfinite(found["growth"]) and quantity == "energy_drift" else ""
        return step(float(found["last"]), 2) + growth.replace("-0.0", "0.0").replace("-", "$-$")

    def row(method: str) -> list[str]:
        cells = [escape(comparison.label(inputs, method))]
        for problem in problems:
            cells += [entry(problem, method, name) for name in held[problem]]
        norms = [own[key]["largest"] for key in ((p, method, "norm_error") for p in problems) if key in own]
        largest = max(comparison.only_finite(norms), default=nan)
        return [*cells, step(largest, 1) if isfinite(largest) else "--"]

    symbols = [comparison.FOLLOWED[name][1] for p in problems for name in held[p]]
    text = tabular(
        "l" + "c" * len(symbols) + "c", ["method", *symbols, comparison.FOLLOWED["norm_error"][1]], grouped_rows(methods, row)
    )
    top, rules, at = [""], "", 2
    for problem in problems:
        width = len(held[problem])
        top.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(comparison.SHORT_NAMES.get(problem, problem))}}}")
        rules += rf"\cmidrule(lr){{{at}-{at + width - 1}}}"
        at += width
    top_line = " & ".join([*top, "all"]) + r" \\" + "\n" + rules + "\n"
    return data, text.replace("\\toprule\n", "\\toprule\n" + top_line, 1)


def reversibility(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """How far each method is from its start after a return: at the finest step, and its order between the two finest."""
    check = inputs.check("reversibility")
    problems = [str(p) for p in check["problem"].values]
    records = []
    for problem in problems:
        chosen = check.sel({"problem": problem})
        dt = np.asarray(chosen["dt"].values, float)
        first, second = np.argsort(dt)[:2]
        for method in comparison.in_order(map(str, chosen["integrator"].values)):
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
    data = pd.DataFrame(records)
    own = comparison.keyed(data, "problem", "method")

    def row(method: str) -> list[str]:
        cells = [escape(comparison.label(inputs, method))]
        for problem in problems:
            found = own[problem, method]
            cells += [
                step(float(found["return_angle"]), 2),
                decimal(float(found["order"]), 1)
                if isfinite(found["order"])
                else "rounding"
                if found["largest_angle"] < ROUNDING
                else NOT_AVAILABLE,
            ]
        return cells

    methods = list(dict.fromkeys(data["method"]))
    head = ["method", *(["angle (rad)", "order"] * len(problems))]
    text = tabular("l" + "cc" * len(problems), head, grouped_rows(methods, row))
    names = [comparison.SHORT_NAMES.get(p, p) for p in problems]
    top = " & ".join(["", *(rf"\multicolumn{{2}}{{c}}{{{escape(name)}}}" for name in names)]) + r" \\" + "\n"
    top += "".join(rf"\cmidrule(lr){{{2 * i + 2}-{2 * i + 3}}}" for i in range(len(problems))) + "\n"
    return data, text.replace("\\toprule\n", "\\toprule\n" + top, 1)


#: Steps into which the horizon is divided for the defects of the table.
DEFECT_DIVISION = 256
#: Of two readings of a method the table shows both if their defects differ by more, relative to the smaller one.
SAME_DEFECT = 0.1


def symplecticity(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """The defect of the canonical form over one step of each method, and the power of the time step with which it falls."""
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
        for method in comparison.in_order(map(str, check["integrator"].values))
        for reading in READINGS
        for problem in problems
        for where in [{"integrator": method, "problem": problem, "reading": reading}]
    ]
    data = pd.DataFrame(records)
    own = comparison.keyed(data, "method", "reading", "problem")

    def cells(method: str, reading: str) -> list[str]:
        entries: list[str] = []
        for problem in problems:
            found = own[method, reading, problem]
            if not isfinite(found["defect"]):
                entries += ["no map" if isfinite(found["memory"]) else NOT_AVAILABLE, ""]
            elif found["defect"] < NO_DEFECT:
                entries += [step(found["defect"], 1), "rounding"]
            else:
                entries += [step(found["defect"], 2), decimal(found["power"], 1)]
        return entries

    def differ(method: str) -> bool:
        one, two = ([own[method, reading, p]["defect"] for p in problems] for reading in READINGS)
        return any(abs(a - b) > SAME_DEFECT * min(a, b) for a, b in zip(one, two, strict=True) if max(a, b) > NO_DEFECT)

    rows: list[Sequence[str] | str] = []
    for method in grouped_rows(list(dict.fromkeys(data["method"])), lambda key: [key]):
        if isinstance(method, str):
            rows.append(method)
            continue
        key = method[0]
        name = escape(comparison.label(inputs, key))
        rows.append([name, *cells(key, READINGS[0])])
        if differ(key):
            rows.append([r"\quad as read", *cells(key, READINGS[1])])
    text = tabular("l" + "rc" * len(problems), ["method", *(["defect", "power"] * len(problems))], rows)
    names = [comparison.SHORT_NAMES.get(p, p) for p in problems]
    top = " & ".join(["", *(rf"\multicolumn{{2}}{{c}}{{{escape(name)}}}" for name in names)]) + r" \\" + "\n"
    top += "".join(rf"\cmidrule(lr){{{2 * i + 2}-{2 * i + 3}}}" for i in range(len(problems))) + "\n"
    return data, text.replace("\\toprule\n", "\\toprule\n" + top, 1)


TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {
    "long_runs": long_runs,
    "reversibility": reversibility,
    "symplecticity": symplecticity,
}
