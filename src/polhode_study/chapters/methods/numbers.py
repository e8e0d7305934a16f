"""Macros for the methods on all classes of torque."""

from math import isfinite, nan

import numpy as np

from polhode.fits import departures
from polhode.fits.values import at, nearest_step, quotient
from polhode_study.chapters.methods import frames
from polhode_study.inputs import Inputs
from polhode_study.report import selection
from polhode_study.report.formats import enumerated, factor, macro_name, plain, spoken_list
from polhode_study.report.frames import keyed, only_finite
from polhode_study.report.latex import NOT_AVAILABLE, decimal, escape

#: Problems on which methods of equal order are compared, with their names in macros, and the step, s.
SPREAD, SPREAD_STEP = {"lab_torque": "Lab", "heavy_top": "Heavy"}, 1e-3

#: Lowest orders in a class of torque that the text names: quantity, method and class.
LOWEST = (
    *((quantity, ("no_squish", name)) for quantity in ("Q", "Omega") for name in ("state", "velocity")),
    *((quantity, ("spiral_synchronous", "state")) for quantity in ("Q", "Omega")),
    *(("Omega", ("spiral_leapfrog", name)) for name in ("constant", "state")),
)


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
    single = [key for key in worst.index if int(inputs.declared(key, "torques_per_step", 1)) == 1]
    result["studyKeepSecondOneCount"] = str(len([key for key in second if key in single]))
    result["studyKeepSecondOne"] = spoken_list(inputs, [key for key in second if key in single])
    for name in [name for name in classes if name in ("state", "velocity")]:
        # A method whose highest order is the first has none to lose.
        of_class = frame[(frame["torque_class"] == name) & (frame["highest_q"] >= 2)]
        fallen = list(dict.fromkeys(of_class[of_class["q_order"] < 1 + frames.TOLERANCE]["method"]))
        if name == "state":
            result["studyFirstState"] = spoken_list(inputs, fallen)
        result[f"studyFirstCount{name.capitalize()}"] = str(len(fallen))
    result["studyOrderTolerance"] = plain(frames.TOLERANCE)
    result["studyPluginSentence"] = _plugin_orders(inputs)
    series = [p for p in inputs.problems if not _closed_form(inputs, p)]
    result["studyNoClosedForm"] = enumerated(escape(selection.short_name(inputs, p)) for p in series)
    result["studySeriesCount"] = str(len(series))
    result["studyClosedForms"] = str(len(inputs.problems) - len(series))
    digits = [selection.reference_digits(inputs, p) for p in inputs.problems]
    result["studyLeastAgreement"] = str(round(min(digits))) if all(map(isfinite, digits)) else NOT_AVAILABLE
    rows = keyed(lowest, "method", "torque_class")
    for quantity, (key, name) in LOWEST:
        if (key, name) in rows:
            text = decimal(float(rows[key, name][f"{quantity.lower()}_order"]), 2)
            result[f"studyClass{quantity}{name.capitalize()}{macro_name(key)}"] = text
    return result


def _plugin_orders(inputs: Inputs) -> str:
    """A sentence on orders that plug-ins declare and a run does not confirm; empty if it confirms all."""
    below = [departure for problem in inputs.problems for departure in departures.below(inputs.of(problem).errors)]
    unconfirmed = [departure for departure in below if departure.method in inputs.plugins]
    if not unconfirmed:
        return ""
    parts = [
        f"{escape(departure.label)} declares order {departure.declared} in the {departure.quantity} and has "
        f"{decimal(departure.measured, 2) if isfinite(departure.measured) else 'none'} on the problem "
        f"\\emph{{{escape(selection.short_name(inputs, departure.problem))}}}"
        for departure in unconfirmed[: departures.MOST]
    ]
    more = f"; and {len(unconfirmed) - len(parts)} more" if len(unconfirmed) > len(parts) else ""
    return f"Some orders declared by plug-ins are not confirmed by this run: {'; '.join(parts)}{more}."


def _closed_form(inputs: Inputs, problem: str) -> bool:
    """Whether the exact solution of a problem is a closed form."""
    formula = str(inputs.of(problem).errors.attrs.get("formula", ""))
    return bool(formula) and not formula.startswith("Taylor")


def spread(inputs: Inputs) -> dict[str, str]:
    """Macros for the ratio of the largest to the smallest orientation error among methods of equal order, at one step.

    It covers the methods with one torque per step that declare second order for the class.
    """
    result: dict[str, str] = {}
    for problem, name in SPREAD.items():
        if problem not in inputs.problems:
            continue
        data = inputs.of(problem).errors
        row = nearest_step(data["dt"].values, SPREAD_STEP)
        one_torque = [
            m for m in map(str, data["integrator"].values) if int(inputs.of(problem).declared(m, "torques_per_step", 1)) == 1
        ]
        angles = [at(data, "angle_error", m, dt=row) for m in one_torque if at(data, "claimed_q_order", m) == 2]
        finite = only_finite(angles)
        result[f"studySpread{name}"] = factor(quotient(max(finite, default=nan), min(finite, default=nan)))
    return result
