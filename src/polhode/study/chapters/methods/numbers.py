"""Macros for the methods on all classes of torque."""

from math import isfinite, nan

import numpy as np
import pandas as pd

from polhode.fits import departures
from polhode.fits.values import at, nearest_step, quotient
from polhode.study.chapters.methods import frames
from polhode.study.inputs import Inputs
from polhode.study.report import selection
from polhode.study.report.formats import enumerated, factor, macro_name, plain, spoken, spoken_list
from polhode.study.report.frames import keyed, records
from polhode.study.report.latex import NOT_AVAILABLE, decimal, escape, number

#: Problems on which methods show a higher order than for their class, with their names in macros.
HIGHER = {"free_asymmetric_top_separatrix": "Separatrix", "exponential_sphere": "Sphere"}

#: Cases in which methods of equal order are compared: problem -> (name in macros, step in s; the nearest one of the run).
SPREAD: dict[str, tuple[str, float]] = {
    "lab_torque": ("Lab", 1e-3),
    "heavy_top": ("Heavy", 1e-3),
    "asymmetric_heavy_top": ("Asymmetric", 1e-3),
    "exponential_sphere": ("Sphere", 1e-3),
    "forced_cylinder": ("Cylinder", 1e-6),
}

#: The case in which splitting is expensive, a body that spins fast; and a coarse step for it, s.
SPLIT = "forced_cylinder"
SPLIT_COARSE = 2e-4


def torque_classes(inputs: Inputs) -> dict[str, str]:
    """Macros for the orders in the classes, and for the methods that lose one."""
    frame = frames.orders(inputs)
    lowest = frames.lowest_orders(frame)
    classes = [name for name, _ in selection.problems_by_class(inputs)]
    result = {
        "studyProblemCount": str(len(inputs.problems)),
        "studyClassCount": str(len(classes)),
        "studyOrderCount": str(int(np.isfinite(frame[["q_order", "omega_order"]].to_numpy(float)).sum())),
    }
    worst = frame.groupby("method")[["q_order", "omega_order"]].min().min(axis=1)
    second = [key for key in worst.index if worst[key] >= 2 - frames.TOLERANCE]
    one = [key for key in worst.index if int(inputs.declared(key, "torques_per_step", 1)) == 1]
    result["studyOneTorqueCount"] = str(len(one))
    result["studyKeepSecondOneCount"] = str(len([key for key in second if key in one]))
    result["studyKeepSecondOne"] = spoken_list(inputs, [key for key in second if key in one])
    for name in classes:
        # A method whose highest order is the first has none to lose.
        of_class = frame[(frame["torque_class"] == name) & (frame["highest_q"] >= 2)]
        fallen = list(dict.fromkeys(of_class[of_class["q_order"] < 1 + frames.TOLERANCE]["method"]))
        result[f"studyFirst{name.capitalize()}"] = spoken_list(inputs, fallen)
        result[f"studyFirstCount{name.capitalize()}"] = str(len(fallen))
    missed = frame[frame["missed_q"] | frame["missed_omega"]]
    result["studyOrderTolerance"] = plain(frames.TOLERANCE)
    result["studyMissedNote"] = " Asterisk: lower than the order declared for this class." if len(missed) else ""
    unfitted = frame[frame["unfitted_q"] | frame["unfitted_omega"]]
    result["studyUnfitted"] = _unfitted(inputs, unfitted, int(frame[["unfitted_q", "unfitted_omega"]].to_numpy(bool).sum()))
    # Orders that are higher on one problem than declared for its class.
    for short, called in zip(frames.QUANTITIES, ("Q", "Omega"), strict=True):
        for row in records(frame):
            if row["problem"] in HIGHER and row["method"] not in inputs.plugins:
                name = f"study{HIGHER[row['problem']]}Order{called}{macro_name(row['method'])}"
                result[name] = decimal(float(row[f"{short}_order"]), 1)
    result["studyMissedSentence"] = (
        f"Measured below the declaration for the class: {enumerated(_runs(inputs, missed))}."
        if len(missed)
        else "No method falls short of the order that it declares for a class."
    )
    result["studyPluginSentence"] = _plugin_orders(inputs)
    series = [p for p in inputs.problems if not _closed_form(inputs, p)]
    result["studyNoClosedForm"] = enumerated(escape(selection.short_name(inputs, p)) for p in series)
    result["studySeriesCount"] = str(len(series))
    result["studyClosedForms"] = str(len(inputs.problems) - len(series))
    digits = [selection.reference_digits(inputs, p) for p in inputs.problems]
    result["studyLeastAgreement"] = str(round(min(digits))) if all(map(isfinite, digits)) else NOT_AVAILABLE
    for (key, name), record in keyed(lowest, "method", "torque_class").items():
        if key not in inputs.plugins:
            for short, called in zip(frames.QUANTITIES, ("Q", "Omega"), strict=True):
                text = decimal(float(record[f"{short}_order"]), 2)
                result[f"studyClass{called}{name.capitalize()}{macro_name(key)}"] = text
    return result


def _plugin_orders(inputs: Inputs) -> str:
    """A sentence on orders that plug-ins declare and a run does not confirm; empty if it confirms all."""
    below = [departure for problem in inputs.problems for departure in departures.below(inputs.of(problem).errors)]
    unconfirmed = [departure for departure in below if departure.method in inputs.plugins]
    if not unconfirmed:
        return ""
    parts = [
        f"{escape(one.label)} declares order {one.declared} in the {one.quantity} and has "
        f"{decimal(one.measured, 2) if isfinite(one.measured) else 'none'} on the problem "
        f"\\emph{{{escape(selection.short_name(inputs, one.problem))}}}"
        for one in unconfirmed[: departures.MOST]
    ]
    more = f"; and {len(unconfirmed) - len(parts)} more" if len(unconfirmed) > len(parts) else ""
    return f"Some orders declared by plug-ins are not confirmed by this run: {'; '.join(parts)}{more}."


def _closed_form(inputs: Inputs, problem: str) -> bool:
    """Whether the exact solution of a problem is a closed form."""
    formula = str(inputs.of(problem).errors.attrs.get("formula", ""))
    return bool(formula) and not formula.startswith("Taylor")


def spread(inputs: Inputs) -> dict[str, str]:
    """Macros for the spread among methods of equal order: the ratio of largest to smallest orientation error, at one step.

    It covers the methods with one torque per step that declare second order for the class.
    """
    result: dict[str, str] = {}
    for problem, (name, wanted) in SPREAD.items():
        if problem not in inputs.problems:
            continue
        data = inputs.of(problem).errors
        row = nearest_step(data["dt"].values, wanted)
        angle = {str(m): at(data, "angle_error", str(m), dt=row) for m in data["integrator"].values}
        one_torque = [m for m in angle if int(inputs.of(problem).declared(m, "torques_per_step", 1)) == 1]
        declared = {m: at(data, "claimed_q_order", m) for m in one_torque}
        second = [m for m in one_torque if declared[m] == 2 and isfinite(angle[m])]
        best = min(second, key=lambda m: angle[m], default="")
        worst = max(second, key=lambda m: angle[m], default="")
        result |= {
            f"studySpread{name}": factor(quotient(angle.get(worst, nan), angle.get(best, nan))),
            f"studySpreadBest{name}": spoken(inputs, best) if best else NOT_AVAILABLE,
            f"studySpreadWorst{name}": spoken(inputs, worst) if worst else NOT_AVAILABLE,
            f"studySpreadDt{name}": plain(float(data["dt"].values[row])),
        }
    return result


def splitting(inputs: Inputs) -> dict[str, str]:
    """Macros for the cost of NO_SQUISH's splitting on a body that spins fast."""
    problem = SPLIT
    data = inputs.of(problem).errors
    result: dict[str, str] = {}
    for name, wanted in (("Fine", SPREAD[problem][1]), ("Coarse", SPLIT_COARSE)):
        row = nearest_step(data["dt"].values, wanted)
        split, other = (at(data, "angle_error", key, dt=row) for key in ("no_squish", "pcdm2016"))
        first = [
            at(data, "angle_error", str(m), dt=row)
            for m in data["integrator"].values
            if at(data, "claimed_q_order", str(m)) == 1
        ]
        result |= {
            f"studySplitDt{name}": plain(float(data["dt"].values[row])),
            f"studySplitAngle{name}": number(split, 2),
            f"studySplitAngle{name}Pcdm": number(other, 2),
            f"studySplitCost{name}": factor(quotient(split, other)),
            f"studySplitBeaten{name}": str(sum(x < split for x in first)) if isfinite(split) else NOT_AVAILABLE,
            f"studySplitFirst{name}": str(len(first)),
        }
    return result


#: A larger number of runs is counted in the text instead of being named.
NAMED = 12


def _runs(inputs: Inputs, rows: pd.DataFrame) -> list[str]:
    """The methods of some rows, each with its problem."""
    return [f"{spoken(inputs, r['method'])} ({escape(selection.short_name(inputs, r['problem']))})" for r in records(rows)]


def _unfitted(inputs: Inputs, rows: pd.DataFrame, count: int) -> str:
    """A sentence on the orders without a fit: the runs they belong to, if these are few."""
    if not count:
        return "Every order has a fit."
    which = _runs(inputs, rows)
    named = f": {enumerated(which)}" if len(which) <= NAMED else r", grey in Fig.~\ref{fig:map}"
    return (
        f"{count} orders are missing{named}: no six consecutive steps, between errors too large for a fit and errors spoilt by "
        "rounding, follow a power law."
    )
