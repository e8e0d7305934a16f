"""The numbers of the comparison over torque classes, of the long runs, the note, NO_SQUISH and the index of sources."""

from collections.abc import Callable, Iterable
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd

import polhode.methods as _methods
from polhode.study import comparison
from polhode.study.figures.calzavarini2010 import FRICTION
from polhode.study.figures.long_runs import GROWTHS
from polhode.study.inputs import Inputs
from polhode.study.numbers.formats import at, factor, macro_name, plain, quotient, upper
from polhode.study.tables.calzavarini2010 import COMPARED_DT, note_corrections
from polhode.study.tables.latex import NOT_AVAILABLE, decimal, escape, number
from polhode.study.tables.long_runs import reversibility

registry: Any = _methods

#: Names of the long runs in macros.
LONG_NAMES = dict(zip(comparison.LONG_PROBLEMS, ("Free", "Heavy", "Asymmetric", "Lab"), strict=True))
#: Names of what is followed along them.
FOLLOWED_NAMES = {
    "energy_drift": "Energy",
    "momentum_drift": "Momentum",
    "norm_error": "Norm",
    "angle_error": "Angle",
}
#: A growth below this exponent is called bounded.
BOUNDED = GROWTHS[1][0]


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
    for (key, name), found in comparison.keyed(lowest, "method", "torque_class").items():
        if key in registry:
            for short, called in zip(comparison.QUANTITIES, ("Q", "Omega"), strict=True):
                text = decimal(float(found[f"{short}_order"]), 2)
                result[f"studyClass{called}{name.capitalize()}{macro_name(key)}"] = text
    return result


def long_runs(inputs: Inputs) -> dict[str, str]:
    """Sizes and growths at the end of the long runs."""
    frame = comparison.long_runs(inputs, comparison.LONG_PROBLEMS)
    result: dict[str, str] = {}
    for problem, name in LONG_NAMES.items():
        here = frame[frame["problem"] == problem]
        if len(here):
            result[f"studyRunDt{name}"] = plain(float(here["dt"].iloc[0]))
            result[f"studyRunSteps{name}"] = plain(float(here["steps"].iloc[0]))
        energy = here[here["quantity"] == "energy_drift"]
        bounded = [str(m) for m in energy[(energy["growth"] < BOUNDED) & (energy["last"] < comparison.LOST)]["method"]]
        result[f"studyBounded{name}"] = listed(spoken(inputs, m) for m in comparison.in_order(bounded))
        gone = here[here["quantity"] == "energy_drift"]
        lost = [str(m) for m in gone[~(gone["last"] < comparison.LOST)]["method"]]
        result[f"studyLost{name}"] = listed(spoken(inputs, m) for m in comparison.in_order(lost))
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
            name = f"{FOLLOWED_NAMES[row['quantity']]}{LONG_NAMES[row['problem']]}{macro_name(row['method'])}"
            result[f"studyRun{name}"] = number(row["last"], 2)
            result[f"studyGrowth{name}"] = decimal(row["growth"] + 0.0, 1).replace("{-0.0}", "{0.0}")
    return result


def normalisation(inputs: Inputs) -> dict[str, str]:
    """What normalising every step changes, and who cannot do without."""
    problems = ("free_asymmetric_top", "heavy_top")
    keys = ["problem", "method", "quantity"]
    both = comparison.long_runs(inputs, problems).merge(
        comparison.long_runs(inputs, problems, "long_run_switched"), on=keys, suffixes=("", "_switched")
    )
    energy = both[both["quantity"] == "energy_drift"]
    blown = energy[np.isfinite(energy["last"]) & ~np.isfinite(energy["last_switched"])]["method"]
    needs = [str(m) for m in blown if inputs.of(problems[0]).declared(str(m), "normalises", False)]
    result = {"studyNormNeeded": listed(spoken(inputs, m) for m in comparison.in_order(set(needs)))}
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
    result["studyReversible"] = listed(spoken(inputs, m) for m in comparison.in_order(exact))
    return result


def note(inputs: Inputs) -> dict[str, str]:
    """The misprints of the note, and its scheme beside Fincham's."""
    check = inputs.check("note_corrections")
    data, _ = note_corrections(inputs)
    single = data[~data["variant"].isin(("corrected", "matrix", "as_printed"))].set_index("variant")
    distance = float(check["fincham_distance"])
    result = {
        "studyMisprintCount": str(len(single)),
        "studyFinchamDistance": "0" if distance == 0 else number(distance, 2),
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


def index(inputs: Inputs) -> dict[str, str]:
    """How much of the sources is here."""
    rows = inputs.source_rows
    return {
        "studySourceCount": str(len({row["source"] for row in rows})),
        "studySourceItems": str(len(rows)),
        "studySourceHere": str(sum(bool(row["here"]) and not row["missing"] for row in rows)),
        "studySourceMissing": str(sum(not row["here"] for row in rows)),
    }


def judged(inputs: Inputs) -> dict[str, str]:
    """Statements and corrections, source by source."""
    result: dict[str, str] = {}
    claims = pd.Series([str(s) for s in inputs.claim_rows["source"]]).value_counts()
    errata = pd.Series([entry["source"] for entry in inputs.errata_rows]).value_counts()
    for key in ("delvalle2024", "seelen2016", "calzavarini2010", "tuckerman2010"):
        result[f"studyClaimCount{SOURCE_NAMES[key]}"] = str(int(claims.get(key, 0)))
        result[f"studyErrataCount{SOURCE_NAMES[key]}"] = str(int(errata.get(key, 0)))
    return result


#: Names of the sources in macros.
SOURCE_NAMES = {
    "delvalle2024": "Delvalle",
    "seelen2016": "Seelen",
    "calzavarini2010": "Calzavarini",
    "tuckerman2010": "Tuckerman",
}

GROUPS: tuple[Callable[[Inputs], dict[str, str]], ...] = (
    torque_classes,
    long_runs,
    normalisation,
    return_trips,
    note,
    friction,
    bearing,
    extended_inertia,
    index,
    judged,
)
