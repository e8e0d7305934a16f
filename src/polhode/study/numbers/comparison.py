"""The numbers of the comparison over torque classes, of the long runs, the note, NO_SQUISH and the index of sources."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import polhode.methods as _methods
from polhode.study import comparison, declared
from polhode.study.comparison import BOUNDED, FRICTION
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.numbers.formats import at, factor, macro_name, peak, plain, quotient, upper
from polhode.study.symplecticity import ROUNDING, symplectic
from polhode.study.tables.calzavarini2010 import COMPARED_DT, note_corrections
from polhode.study.tables.latex import NOT_AVAILABLE, decimal, escape, number
from polhode.study.tables.long_runs import DEFECT_DIVISION, reversibility, symplecticity

registry: Any = _methods

#: Names of the long runs in macros.
LONG_NAMES = dict(zip(comparison.LONG_PROBLEMS, ("Free", "Heavy", "Asymmetric", "Lab"), strict=True))
#: The other free tops, whose runs are as long but not drawn.
LONG_OTHERS = {"free_asymmetric_top_unstable": "Unstable", "free_asymmetric_top_separatrix": "Separatrix"}
#: Problems on which methods show a higher order than for their class, with their names in macros.
HIGHER = {"free_asymmetric_top_separatrix": "Separatrix", "exponential_sphere": "Sphere"}
#: Where methods of one order are compared: problem -> (name in macros, step in s; the nearest one of the run serves).
SPREAD: dict[str, tuple[str, float]] = {
    "lab_torque": ("Lab", 1e-3),
    "heavy_top": ("Heavy", 1e-3),
    "asymmetric_heavy_top": ("Asymmetric", 1e-3),
    "exponential_sphere": ("Sphere", 1e-3),
    "forced_cylinder": ("Cylinder", 1e-6),
}
#: A coarse step on the forced cylinder, s.
SPLIT_COARSE = 2e-4
#: Names of what is followed along them.
FOLLOWED_NAMES = {
    "energy_drift": "Energy",
    "momentum_drift": "Momentum",
    "norm_error": "Norm",
    "angle_error": "Angle",
}


def spoken(inputs: Inputs, method: str) -> str:
    """The name of a method inside a sentence, without a comma of its own."""
    first, comma, second = comparison.label(inputs, method).partition(", ")
    return escape(f"{second} {first}" if comma else first)


def listed(items: Iterable[str], none: str = "none") -> str:
    """Names in a row, as a sentence has them."""
    names = list(items)
    if not names:
        return none
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def torque_classes(inputs: Inputs) -> dict[str, str]:
    """Orders over the classes, and who loses one where."""
    frame = comparison.orders(inputs)
    lowest = comparison.lowest_orders(frame)
    classes = [name for name, _ in comparison.problems_by_class(inputs)]

    def names(keys: Iterable[str]) -> str:
        return listed(spoken(inputs, key) for key in comparison.in_order(keys))

    result = {
        "studyProblemCount": str(len(inputs.problems)),
        "studyClassCount": str(len(classes)),
        "studyOrderCount": str(int(np.isfinite(frame[["q_order", "omega_order"]].to_numpy(float)).sum())),
        "studyOrderCells": str(2 * len(frame)),
    }
    worst = frame.groupby("method")[["q_order", "omega_order"]].min().min(axis=1)
    second = [key for key in worst.index if worst[key] >= 2 - comparison.TOLERANCE]
    result["studyKeepSecond"] = names(second)
    result["studyKeepSecondOne"] = names(key for key in second if int(inputs.declared(key, "torques_per_step", 1)) == 1)
    for name in classes:
        # A method that is of first order at its best has none to lose.
        here = frame[(frame["torque_class"] == name) & (frame["highest_q"] >= 2)]
        fallen = list(dict.fromkeys(here[here["q_order"] < 1 + comparison.TOLERANCE]["method"]))
        result[f"studyFirst{name.capitalize()}"] = names(fallen)
        result[f"studyFirstCount{name.capitalize()}"] = str(len(fallen))
    missed = frame[frame["missed_q"] | frame["missed_omega"]]
    result["studyOrderTolerance"] = plain(comparison.TOLERANCE)
    result["studyMissedNote"] = " Asterisk: lower than it declares for this one." if len(missed) else ""
    unfitted = frame[frame["unfitted_q"] | frame["unfitted_omega"]]
    result["studyUnfitted"] = _unfitted(inputs, unfitted, int(frame[["unfitted_q", "unfitted_omega"]].to_numpy(bool).sum()))
    # Orders that are higher on one problem than declared for its class.
    for short, called in zip(comparison.QUANTITIES, ("Q", "Omega"), strict=True):
        for row in comparison.records(frame):
            if row["problem"] in HIGHER and row["method"] in registry:
                name = f"study{HIGHER[row['problem']]}Order{called}{macro_name(row['method'])}"
                result[name] = decimal(float(row[f"{short}_order"]), 1)
    result["studyMissedCount"] = str(int(frame[["missed_q", "missed_omega"]].to_numpy(bool).sum()))
    short_of = listed(
        f"{spoken(inputs, row['method'])} ({escape(comparison.short_name(inputs, row['problem']))})"
        for row in comparison.records(missed)
    )
    result["studyMissedSentence"] = (
        f"Below what is declared for the class: {short_of}."
        if len(missed)
        else "No method stays below what it declares for a class."
    )
    result["studyPluginSentence"] = _plugin_orders(inputs)
    series = [p for p in inputs.problems if not _closed_form(inputs, p)]
    result["studyNoClosedForm"] = listed(escape(comparison.short_name(inputs, p)) for p in series)
    result["studySeriesCount"] = str(len(series))
    result["studyClosedForms"] = str(len(inputs.problems) - len(series))
    digits = [comparison.reference_digits(inputs, p) for p in inputs.problems]
    result["studyLeastAgreement"] = str(round(min(digits))) if all(map(isfinite, digits)) else NOT_AVAILABLE
    for (key, name), found in comparison.keyed(lowest, "method", "torque_class").items():
        if key in registry:
            for short, called in zip(comparison.QUANTITIES, ("Q", "Omega"), strict=True):
                text = decimal(float(found[f"{short}_order"]), 2)
                result[f"studyClass{called}{name.capitalize()}{macro_name(key)}"] = text
    return result


def _plugin_orders(inputs: Inputs) -> str:
    """What plug-ins declare and a run does not find, as a sentence; empty where it finds all."""
    found = [one for p in inputs.problems for one in declared.below(inputs.of(p).errors) if one.method in inputs.plugins]
    if not found:
        return ""
    parts = [
        f"{escape(one.label)} declares order {one.declared} in the {one.quantity} and has "
        f"{decimal(one.measured, 2) if isfinite(one.measured) else 'none'} on the problem "
        f"\\emph{{{escape(comparison.short_name(inputs, one.problem))}}}"
        for one in found[: declared.MOST]
    ]
    more = f"; so it is {len(found) - len(parts)} times more" if len(found) > len(parts) else ""
    return f"Of the plug-ins of this run not all is measured that they declare: {'; '.join(parts)}{more}."


def _closed_form(inputs: Inputs, problem: str) -> bool:
    """Whether the exact solution of a problem is a closed form."""
    formula = str(inputs.of(problem).errors.attrs.get("formula", ""))
    return bool(formula) and not formula.startswith("Taylor")


def spread(inputs: Inputs) -> dict[str, str]:
    """How far methods of one order lie apart: the largest error of the orientation over the smallest, at one step.

    Taken over the methods with one torque per step that declare second order for the class.
    """
    result: dict[str, str] = {}
    for problem, (name, wanted) in SPREAD.items():
        if problem not in inputs.problems:
            continue
        data = inputs.of(problem).errors
        row = int(np.argmin(np.abs(np.log(data["dt"].values / wanted))))
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
    """What the splitting of NO_SQUISH costs on a body that spins fast."""
    problem = comparison.REPRESENTATIVES["time"]
    data = inputs.of(problem).errors
    result: dict[str, str] = {}
    for name, wanted in (("Fine", SPREAD[problem][1]), ("Coarse", SPLIT_COARSE)):
        row = int(np.argmin(np.abs(np.log(data["dt"].values / wanted))))
        own, other = (at(data, "angle_error", key, dt=row) for key in ("no_squish", "pcdm2016"))
        first = [
            at(data, "angle_error", str(m), dt=row)
            for m in data["integrator"].values
            if at(data, "claimed_q_order", str(m)) == 1
        ]
        result |= {
            f"studySplitDt{name}": plain(float(data["dt"].values[row])),
            f"studySplitAngle{name}": number(own, 2),
            f"studySplitAngle{name}Pcdm": number(other, 2),
            f"studySplitCost{name}": factor(quotient(own, other)),
            f"studySplitBeaten{name}": str(sum(x < own for x in first)) if isfinite(own) else NOT_AVAILABLE,
            f"studySplitFirst{name}": str(len(first)),
        }
    return result


def largest_norm(inputs: Inputs) -> dict[str, str]:
    """The largest departure of the norm from one that a method shows in any run, at any step, on any problem."""
    worst: dict[str, float] = {}
    for problem in inputs.problems:
        held = [inputs.of(problem).errors]
        with suppress(NotInRun):
            held.append(inputs.of(problem).long_run)
        for data in held:
            for key in map(str, data["integrator"].values):
                found = [x for x in (worst.get(key, nan), peak(data, "norm_error", key)) if isfinite(x)]
                worst[key] = max(found, default=nan)
    return {f"studyNormEver{macro_name(key)}": number(worst.get(key, nan), 2) for key in registry}


def long_runs(inputs: Inputs) -> dict[str, str]:
    """Sizes and growths at the end of the long runs."""
    frame = comparison.long_runs(inputs, [*comparison.LONG_PROBLEMS, *LONG_OTHERS])
    result: dict[str, str] = {}
    for problem, name in (LONG_NAMES | LONG_OTHERS).items():
        here = frame[frame["problem"] == problem]
        if len(here):
            result[f"studyRunDt{name}"] = plain(float(here["dt"].iloc[0]))
            result[f"studyRunSteps{name}"] = plain(float(here["steps"].iloc[0]))
            result[f"studyRunEnd{name}"] = plain(float(here["dt"].iloc[0] * here["steps"].iloc[0]))
        energy = here[here["quantity"] == "energy_drift"]
        bounded = [str(m) for m in energy[(energy["growth"] < BOUNDED) & (energy["last"] < comparison.LOST)]["method"]]
        result[f"studyBounded{name}"] = listed(spoken(inputs, m) for m in comparison.in_order(bounded))
        gone = here[here["quantity"] == "energy_drift"]
        lost = [str(m) for m in gone[~(gone["last"] < comparison.LOST)]["method"]]
        result[f"studyLost{name}"] = listed(spoken(inputs, m) for m in comparison.in_order(lost))
        momentum = here[here["quantity"] == "momentum_drift"]
        gone_momentum = [str(m) for m in momentum[~(momentum["last"] < comparison.LOST)]["method"]]
        result[f"studyLostMomentum{name}"] = listed(
            (spoken(inputs, m) for m in comparison.in_order(gone_momentum)), "no method"
        )
        # Within a factor of ten of the best, of those that do not lose it.
        best = min(comparison.only_finite(momentum["last"]), default=nan)
        held = [str(m) for m in momentum[momentum["last"] < 10 * best]["method"]]
        result[f"studyHeldMomentum{name}"] = listed(spoken(inputs, m) for m in comparison.in_order(held))
        result[f"studyHeldMomentumBelow{name}"] = number(upper(_largest(momentum[momentum["last"] < 10 * best]), 1), 1)
        rest = momentum[(momentum["last"] >= 10 * best) & (momentum["last"] < comparison.LOST)]
        result[f"studyRestMomentumLow{name}"] = number(min(comparison.only_finite(rest["last"]), default=nan), 2)
        result[f"studyRestMomentumHigh{name}"] = number(_largest(rest), 2)
    growths: dict[str, list[float]] = {}
    every = comparison.long_runs(inputs, inputs.problems)
    energies = every[every["quantity"] == "energy_drift"]
    for row in comparison.records(energies):
        growths.setdefault(row["method"], []).append(row["growth"] if row["last"] < comparison.LOST else nan)
    problems = energies["problem"].nunique()
    result["studyEnergyProblems"] = str(problems)
    everywhere = [m for m, g in growths.items() if len(g) == problems and all(x < BOUNDED for x in g)]
    result["studyBoundedEverywhere"] = listed(spoken(inputs, m) for m in comparison.in_order(everywhere))
    for row in comparison.records(frame):
        if row["method"] in registry:
            where = (LONG_NAMES | LONG_OTHERS)[row["problem"]]
            name = f"{FOLLOWED_NAMES[row['quantity']]}{where}{macro_name(row['method'])}"
            result[f"studyRun{name}"] = number(row["last"], 2)
            result[f"studyGrowth{name}"] = decimal(row["growth"] + 0.0, 1).replace("{-0.0}", "{0.0}")
    return result


def _largest(frame: pd.DataFrame) -> float:
    """The largest value that is left at the end of the runs of a frame."""
    return max(comparison.only_finite(frame["last"]), default=nan)


def normalisation(inputs: Inputs) -> dict[str, str]:
    """What normalising every step changes, and who cannot do without."""
    problems = ("free_asymmetric_top", "heavy_top")
    keys = ["problem", "method", "quantity"]
    both = comparison.long_runs(inputs, problems).merge(
        comparison.long_runs(inputs, problems, "long_run_switched"), on=keys, suffixes=("", "_switched")
    )
    rows = comparison.keyed(both, "problem", "method", "quantity")
    result: dict[str, str] = {}
    lost_always: set[str] = set()
    for problem in problems:
        # Of those that normalise: blown up without it (the norm, or the energy), and lost with it already.
        needs, lost = [], []
        for found, method, quantity in rows:
            if found != problem or quantity != "energy_drift" or not inputs.of(problem).declared(method, "normalises", False):
                continue
            energy, norm = rows[problem, method, "energy_drift"], rows.get((problem, method, "norm_error"))
            if not energy["last"] < comparison.LOST:
                lost.append(method)
            elif not isfinite(energy["last_switched"]) or (norm and not norm["last_switched"] < comparison.LOST):
                needs.append(method)
        lost_always |= set(lost)
        result[f"studyNormNeeded{LONG_NAMES[problem]}"] = listed(spoken(inputs, m) for m in comparison.in_order(needs))
        result[f"studyNormLost{LONG_NAMES[problem]}"] = listed(spoken(inputs, m) for m in comparison.in_order(lost))
    result["studyNormLost"] = listed(spoken(inputs, m) for m in comparison.in_order(lost_always))
    bent = rows.get(("heavy_top", "calzavarini2010", "energy_drift"))
    result["studyNormGainCalzavarini"] = factor(quotient(bent["last"], bent["last_switched"]) if bent else nan)
    never = [m for m in comparison.all_methods(inputs) if not inputs.declared(m, "normalisable", True)]
    result["studyNormNever"] = listed(spoken(inputs, m) for m in never)
    free = [str(m) for m in both["method"].drop_duplicates() if not inputs.of(problems[0]).declared(str(m), "normalises", True)]
    ratios = []
    for row in comparison.records(both[both["method"].isin(free) & both["quantity"].isin(("angle_error", "energy_drift"))]):
        # Where the motion is lost, what is left says nothing.
        if row["last"] < 0.1:
            ratios.append(abs(quotient(row["last_switched"], row["last"]) - 1))
    worst = max(comparison.only_finite(ratios), default=nan)
    result["studyNormIdle"] = number(upper(worst, 1), 1)
    for row in comparison.records(both):
        if row["method"] in registry and row["problem"] in LONG_NAMES:
            name = f"{FOLLOWED_NAMES[row['quantity']]}{LONG_NAMES[row['problem']]}{macro_name(row['method'])}"
            result[f"studySwitched{name}"] = number(row["last_switched"], 2)
    return result


def return_trips(inputs: Inputs) -> dict[str, str]:
    """How far from its start each method is after a return."""
    data, _ = reversibility(inputs)
    result: dict[str, str] = {}
    exact: set[str] = set()
    for method, rows in data.groupby("method"):
        if (rows["largest_angle"] < 1e-10).all():
            exact.add(str(method))
        if method in registry:
            result[f"studyReturn{macro_name(str(method))}"] = number(upper(float(rows["largest_angle"].max()), 1), 1)
            orders = [decimal(x, 1) for x in rows["order"] if isfinite(x)]
            result[f"studyReturnOrder{macro_name(str(method))}"] = listed(dict.fromkeys(orders), NOT_AVAILABLE)
    # What the order of a method makes of the way back: of even order the leading error cancels.
    even, more, own, first = 0, 0, [], []
    for row in comparison.records(data):
        method, problem = row["method"], row["problem"]
        declared = _declared_q(inputs, problem, method)
        if not (isfinite(row["order"]) and isfinite(declared)) or method in exact:
            continue
        if declared == 1:
            first.append(row["order"])
        elif declared % 2 == 0:
            even += 1
            if row["order"] >= declared + 1 - comparison.TOLERANCE:
                more += 1
            else:
                own.append(method)
    result["studyReturnEvenCount"] = str(even)
    result["studyReturnMoreCount"] = str(more)
    result["studyReturnOwn"] = listed(spoken(inputs, m) for m in comparison.in_order(own))
    result["studyReturnFirstLow"] = decimal(min(first, default=nan), 1)
    result["studyReturnFirstHigh"] = decimal(max(first, default=nan), 1)
    result["studyReversible"] = listed(spoken(inputs, m) for m in comparison.in_order(exact))
    return result


def _declared_q(inputs: Inputs, problem: str, method: str) -> float:
    """The order of q that a method declares for the torque of a problem, NaN where the run does not hold it."""
    if problem not in inputs.problems:
        return nan
    return at(inputs.of(problem).errors, "claimed_q_order", method)


#: More runs than this are counted in the text, not named.
NAMED = 12


def _unfitted(inputs: Inputs, rows: pd.DataFrame, count: int) -> str:
    """A sentence on the orders without a fit: which runs they belong to, if they are few."""
    if not count:
        return "Every order has a fit."
    which = [
        f"{spoken(inputs, r['method'])} ({escape(comparison.short_name(inputs, r['problem']))})"
        for r in comparison.records(rows)
    ]
    named = f": {listed(which)}" if len(which) <= NAMED else r", grey in Fig.~\ref{fig:map}"
    return (
        f"{count} orders are missing{named}. There no six steps in a row between the errors that are too large for a fit "
        "and those that rounding spoils lie on a power."
    )


def note(inputs: Inputs) -> dict[str, str]:
    """The misprints of the note, and its scheme beside Fincham's."""
    check = inputs.check("note_corrections")
    data, _ = note_corrections(inputs)
    single = data[~data["variant"].isin(("corrected", "matrix", "as_printed"))].set_index("variant")
    result = {
        "studyMisprintCount": str(len(single)),
        "studyFinchamDistance": _distance(check, "fincham_distance"),
        "studyFinchamPlain": _distance(check, "fincham_distance_plain"),
        "studyFinchamSteps": rf"\num{{{int(check.attrs['fincham_steps'])}}}",
        "studyFinchamDt": plain(float(check.attrs["fincham_dt"])),
    }
    rows = data.set_index("variant")
    for variant in rows.index:
        for problem, quantity in (("asymmetric_heavy_top", "q"), ("damped_top", "omega"), ("sinking_propeller", "v")):
            column = f"{problem}_{quantity}"
            if f"{column}_order" in rows:
                name = macro_name(f"{variant}_{problem.split('_')[0]}")
                result[f"studyNoteOrder{name}"] = decimal(float(rows[f"{column}_order"][variant]), 2)
                result[f"studyNoteError{name}"] = number(float(rows[f"{column}_finest_error"][variant]), 2)
    return result


def _distance(check: xr.Dataset, name: str) -> str:
    """A number of a check, zero as such."""
    if name not in check:
        return NOT_AVAILABLE
    return number(float(check[name]), 2) if float(check[name]) else "0"


def friction(inputs: Inputs) -> dict[str, str]:
    """The two options of the note on the damped top."""
    data = inputs.of(FRICTION).errors
    row = int(np.argmin(np.abs(np.log(data["dt"].values / COMPARED_DT))))
    mean = at(data, "omega_error_l1", "calzavarini2010_mean", dt=row)
    result = {
        "studyFrictionDt": plain(float(data["dt"].values[row])),
        "studyFrictionMean": number(mean, 2),
        "studyFrictionExtrapolated": number(at(data, "omega_error_l1", "calzavarini2010", dt=row), 2),
        "studyFrictionGain": factor(quotient(mean, at(data, "omega_error_l1", "calzavarini2010", dt=row))),
    }
    for key in registry:
        for name, short in (("Q", "q"), ("Omega", "omega")):
            result[f"studyFriction{name}{macro_name(key)}"] = decimal(at(data, f"{short}_order", key), 2)
    return result


def bearing(inputs: Inputs) -> dict[str, str]:
    """How much friction both options of the note bear."""
    data = inputs.check("stability")
    return {
        f"studyBears{macro_name(key)}": decimal(at(data, "limit", key), 2)
        for key in ("calzavarini2010", "calzavarini2010_mean", "fincham1992")
    }


def extended_inertia(inputs: Inputs) -> dict[str, str]:
    """The arbitrary moment of the extended phase space."""
    data = inputs.check("extended_inertia")
    moments = data["i11"].values.astype(float)
    angle, norm = (data[name].max("time").values for name in ("angle_to_plain", "norm_error"))
    tiny, ordinary = int(np.argmin(moments)), moments >= 1
    return {
        "studyInertiaDt": plain(float(data.attrs["dt"])),
        "studyInertiaSteps": rf"\num{{{int(data.attrs['steps'])}}}",
        "studyInertiaLow": plain(float(moments.min())),
        "studyInertiaHigh": plain(float(moments.max())),
        "studyInertiaOrdinary": number(upper(float(angle[ordinary].max()), 1), 1) if ordinary.any() else NOT_AVAILABLE,
        "studyInertiaTiny": number(float(angle[tiny]), 1),
        "studyInertiaTinyNorm": number(float(norm[tiny]), 1),
    }


#: A run whose energy ends within this of the kinetic energy at its start still follows the motion.
KEPT = 0.01


def canonical_form(inputs: Inputs) -> dict[str, str]:
    """Which methods are symplectic, how far the others are from it, and what iterated constraints do."""
    check = inputs.check("symplecticity")
    data, _ = symplecticity(inputs)
    found = symplectic(check)
    defects, memory = check["defect"], check["memory"]
    tried = memory.notnull().any("problem")
    history = (memory > ROUNDING).all("problem") & tried
    partly = (memory > ROUNDING).any("problem") & ~history
    there, rest = data[data["method"].isin(found)], data[~data["method"].isin(found) & np.isfinite(data["defect"])]

    def names(chosen: xr.DataArray) -> str:
        return listed(spoken(inputs, m) for m in comparison.in_order(map(str, check["integrator"].values[chosen.values])))

    result = {
        "studySymplectic": listed(spoken(inputs, m) for m in comparison.in_order(found)),
        "studySymplecticTried": str(int((tried & ~history).sum())),
        "studySymplecticHistory": names(history),
        "studySymplecticHistoryTorque": names(partly),
        "studySymplecticDefect": number(upper(_finite_max(defects.sel(integrator=found).values), 1), 1)
        if found
        else NOT_AVAILABLE,
        "studySymplecticRest": number(float(rest["defect"].min()) if len(rest) else nan, 1),
        "studySymplecticSteps": str(DEFECT_DIVISION),
        "studySymplecticThere": number(upper(float(there["defect"].max()), 1), 1) if len(there) else NOT_AVAILABLE,
    }
    rows = comparison.keyed(data, "method", "reading", "problem")
    for (method, reading, problem), row in rows.items():
        if method in registry and problem in LONG_NAMES:
            name = f"{reading.capitalize()}{LONG_NAMES[problem]}{macro_name(method)}"
            result[f"studyDefect{name}"] = number(row["defect"], 1)
    iterations = check["iterations"].values.astype(int)
    left = check["constraint_defect"].values
    few, met = int(np.argmin(np.abs(iterations - FEW_ITERATIONS))), np.flatnonzero(left < ROUNDING)
    problem = str(check.attrs["constraint_problem"])
    horizon = check["dt"].sel(problem=problem).values * check["division"].values
    result |= {
        "studyConstraintDt": plain(float(horizon[0]) / int(check.attrs["constraint_division"])),
        "studyConstraintFew": str(iterations[few]),
        "studyConstraintError": number(float(check["constraint_error"][few]), 1),
        "studyConstraintDefect": number(float(left[few]), 1),
        "studyConstraintReturn": number(float(check["constraint_return"][few]), 1),
        "studyConstraintEnough": str(iterations[met[0]]) if met.size else NOT_AVAILABLE,
        "studyConstraintMet": number(float(left[-1]), 1),
    }
    with suppress(NotInRun):
        runs = comparison.long_runs(inputs, [str(p) for p in check["problem"].values])
        bounded = runs[runs["quantity"].eq("energy_drift") & runs["growth"].lt(BOUNDED) & runs["last"].lt(KEPT)]
        bounded = bounded[bounded["method"].isin(check["integrator"].values) & ~bounded["method"].isin(found)]
        where = {
            m: listed(escape(comparison.short_name(inputs, p)) for p in bounded[bounded["method"] == m]["problem"])
            for m in comparison.in_order(bounded["method"])
        }
        result["studyBoundedOnly"] = listed((f"{spoken(inputs, m)} ({on})" for m, on in where.items()), "no method")
    return result


#: The constraint of RATTLE improved so often is what the text calls few.
FEW_ITERATIONS = 4


def _finite_max(values: Any) -> float:
    return max(comparison.only_finite(np.ravel(values)), default=nan)


def index(inputs: Inputs) -> dict[str, str]:
    """How much of the sources is here."""
    rows = inputs.source_rows
    return {
        "studySourceCount": str(len({row["source"] for row in rows})),
        "studySourceItems": str(len(rows)),
        "studySourceHere": str(sum(bool(row["here"]) and not row["missing"] for row in rows)),
        "studySourceMissing": str(sum(not row["here"] for row in rows)),
    }


#: Names of the sources in macros.
SOURCE_NAMES = {
    "delvalle2024": "Delvalle",
    "delvalle2025": "Review",
    "seelen2016": "Seelen",
    "calzavarini2010": "Calzavarini",
    "tuckerman2010": "Tuckerman",
}

GROUPS: tuple[Callable[[Inputs], dict[str, str]], ...] = (
    torque_classes,
    spread,
    splitting,
    largest_norm,
    long_runs,
    normalisation,
    return_trips,
    note,
    friction,
    bearing,
    extended_inertia,
    canonical_form,
    index,
)
