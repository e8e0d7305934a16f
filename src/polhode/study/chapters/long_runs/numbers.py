"""Numbers on the long runs: drift, normalisation, reversibility, symplecticity, librations."""

from contextlib import suppress
from math import isfinite, nan

import numpy as np
import xarray as xr

from polhode.fits import drift
from polhode.fits.canonical_form import ROUNDING, symplectic
from polhode.fits.drift import BOUNDED
from polhode.fits.values import at, peak, quotient
from polhode.study.chapters.long_runs import frames, frames_of_drift
from polhode.study.chapters.long_runs.frames import DEFECT_DIVISION, FITTED, reversibility, symplecticity
from polhode.study.chapters.long_runs.frames import ROUNDING as ANGLE_ROUNDING
from polhode.study.chapters.methods import frames as order_frames
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report import selection
from polhode.study.report.formats import enumerated, factor, macro_name, plain, spoken, spoken_list, upper
from polhode.study.report.frames import keyed, only_finite, records
from polhode.study.report.latex import NOT_AVAILABLE, decimal, escape, number

#: Names of the long runs in macros.
LONG_NAMES = dict(zip(frames_of_drift.LONG_PROBLEMS, ("Free", "Heavy", "Asymmetric", "Lab"), strict=True))

#: The other free tops, whose runs are equally long but not drawn.
LONG_OTHERS = {"free_asymmetric_top_unstable": "Unstable", "free_asymmetric_top_separatrix": "Separatrix"}

#: Names of the quantities followed along the runs.
FOLLOWED_NAMES = {
    "energy_drift": "Energy",
    "momentum_drift": "Momentum",
    "norm_error": "Norm",
    "angle_error": "Angle",
}


def largest_norm(inputs: Inputs) -> dict[str, str]:
    """Macros for the largest departure of the norm from one for each method, over all runs, steps and problems."""
    worst: dict[str, float] = {}
    for problem in inputs.problems:
        held = [inputs.of(problem).errors]
        with suppress(NotInRun):
            held.append(inputs.of(problem).long_run)
        for data in held:
            for key in map(str, data["integrator"].values):
                known = [x for x in (worst.get(key, nan), peak(data, "norm_error", key)) if isfinite(x)]
                worst[key] = max(known, default=nan)
    return {f"studyNormEver{macro_name(key)}": number(worst.get(key, nan), 2) for key in inputs.built_in(worst)}


def long_runs(inputs: Inputs) -> dict[str, str]:
    """Macros for sizes and growths at the end of the long runs."""
    frame = frames_of_drift.long_runs(inputs, [*frames_of_drift.LONG_PROBLEMS, *LONG_OTHERS])
    result: dict[str, str] = {}
    for problem, name in (LONG_NAMES | LONG_OTHERS).items():
        of_problem = frame[frame["problem"] == problem]
        if len(of_problem):
            result[f"studyRunDt{name}"] = plain(float(of_problem["dt"].iloc[0]))
            result[f"studyRunSteps{name}"] = plain(float(of_problem["steps"].iloc[0]))
            result[f"studyRunEnd{name}"] = plain(float(of_problem["dt"].iloc[0] * of_problem["steps"].iloc[0]))
        energy, momentum = (of_problem[of_problem["quantity"] == quantity] for quantity in ("energy_drift", "momentum_drift"))
        result[f"studyLost{name}"] = spoken_list(inputs, energy[~(energy["last"] < drift.LOST_CHANGE)]["method"])
        gone = momentum[~(momentum["last"] < drift.LOST_CHANGE)]["method"]
        result[f"studyLostMomentum{name}"] = spoken_list(inputs, gone, "no method")
    everywhere, problems = frames_of_drift.bounded_methods(inputs)
    result["studyEnergyProblems"] = str(len(problems))
    result["studyBoundedRounding"] = plain(drift.ROUNDING)
    result["studyBoundedEveryCount"] = str(len(everywhere))
    result["studyBoundedEverywhere"] = spoken_list(inputs, everywhere)
    for row in records(frame):
        if row["method"] not in inputs.plugins:
            where = (LONG_NAMES | LONG_OTHERS)[row["problem"]]
            name = f"{FOLLOWED_NAMES[row['quantity']]}{where}{macro_name(row['method'])}"
            result[f"studyRun{name}"] = number(row["last"], 2)
            result[f"studyGrowth{name}"] = decimal(row["growth"] + 0.0, 1).replace("{-0.0}", "{0.0}")
    return result


def normalisation(inputs: Inputs) -> dict[str, str]:
    """Macros for the effect of normalising every step, and for the methods that need it."""
    problems = ("free_asymmetric_top", "heavy_top")
    keys = ["problem", "method", "quantity"]
    both = frames_of_drift.long_runs(inputs, problems).merge(
        frames_of_drift.long_runs(inputs, problems, "long_run_switched"), on=keys, suffixes=("", "_switched")
    )
    rows = keyed(both, "problem", "method", "quantity")
    result: dict[str, str] = {}
    lost_always: set[str] = set()
    for problem in problems:
        # Methods that normalise: those that blow up without it (norm or energy), and those that lose the motion even with it.
        needs, lost = [], []
        for its_problem, method, quantity in rows:
            normalises = inputs.of(problem).declared(method, "normalises", False)
            if (its_problem, quantity) != (problem, "energy_drift") or not normalises:
                continue
            energy, norm = rows[problem, method, "energy_drift"], rows.get((problem, method, "norm_error"))
            if not energy["last"] < drift.LOST_CHANGE:
                lost.append(method)
            elif not isfinite(energy["last_switched"]) or (norm and not norm["last_switched"] < drift.LOST_CHANGE):
                needs.append(method)
        lost_always |= set(lost)
        result[f"studyNormNeeded{LONG_NAMES[problem]}"] = spoken_list(inputs, needs)
    result["studyNormLost"] = spoken_list(inputs, lost_always)
    bent = rows.get(("heavy_top", "calzavarini2010", "energy_drift"))
    result["studyNormGainCalzavarini"] = factor(quotient(bent["last"], bent["last_switched"]) if bent else nan)
    never = [m for m in selection.all_methods(inputs) if not inputs.declared(m, "normalisable", True)]
    result["studyNormNever"] = enumerated(spoken(inputs, m) for m in never)
    free = [str(m) for m in both["method"].drop_duplicates() if not inputs.of(problems[0]).declared(str(m), "normalises", True)]
    ratios = []
    for row in records(both[both["method"].isin(free) & both["quantity"].isin(("angle_error", "energy_drift"))]):
        # Once the motion is lost, the remaining values mean nothing.
        if row["last"] < 0.1:
            ratios.append(abs(quotient(row["last_switched"], row["last"]) - 1))
    worst = max(only_finite(ratios), default=nan)
    result["studyNormIdle"] = number(upper(worst, 1), 1)
    for row in records(both):
        if row["method"] not in inputs.plugins and row["problem"] in LONG_NAMES:
            name = f"{FOLLOWED_NAMES[row['quantity']]}{LONG_NAMES[row['problem']]}{macro_name(row['method'])}"
            result[f"studySwitched{name}"] = number(row["last_switched"], 2)
    return result


def return_trips(inputs: Inputs) -> dict[str, str]:
    """Macros for the distance of each method from its start after a return."""
    data = reversibility(inputs)
    result: dict[str, str] = {}
    exact: set[str] = set()
    finer: list[str] = []
    for method, rows in data.groupby("method"):
        if (rows["largest_angle"] < ANGLE_ROUNDING).all():
            exact.add(str(method))
        elif rows["rounding"].all():
            finer.append(str(method))
        if method not in inputs.plugins:
            result[f"studyReturn{macro_name(str(method))}"] = number(upper(float(rows["largest_angle"].max()), 1), 1)
    # Relation between the order of a method and of its return: for even order the leading error cancels.
    even, more, not_more, first = 0, 0, [], []
    for row in records(data):
        method, problem = row["method"], row["problem"]
        declared = _declared_q(inputs, problem, method)
        if not (isfinite(row["order"]) and isfinite(declared)) or method in exact:
            continue
        if declared == 1:
            first.append(row["order"])
        elif declared % 2 == 0:
            even += 1
            if row["order"] >= declared + 1 - order_frames.TOLERANCE:
                more += 1
            else:
                not_more.append(method)
    result["studyReturnEvenCount"] = str(even)
    result["studyReturnMoreCount"] = str(more)
    result["studyReturnOwn"] = spoken_list(inputs, not_more)
    result["studyReturnFirstLow"] = decimal(min(first, default=nan), 1)
    result["studyReturnFirstHigh"] = decimal(max(first, default=nan), 1)
    result["studyReturnFitted"] = number(FITTED, 1)
    result["studyReversibleFiner"] = f" At short enough steps the same holds for {spoken_list(inputs, finer)}." if finer else ""
    result["studyReversible"] = spoken_list(inputs, exact)
    return result


def _declared_q(inputs: Inputs, problem: str, method: str) -> float:
    """The order of q that a method declares for the torque of a problem, NaN if the run does not contain it."""
    if problem not in inputs.problems:
        return nan
    return at(inputs.of(problem).errors, "claimed_q_order", method)


#: Number of iterations of RATTLE's constraint that the text calls few.
FEW_ITERATIONS = 4
#: A run whose final energy is within this fraction of the initial kinetic energy still follows the motion.
SMALL_CHANGE = 0.01


def canonical_form(inputs: Inputs) -> dict[str, str]:
    """Macros for the symplectic methods, the deviation of the others, and the effect of iterated constraints."""
    check = inputs.check("symplecticity")
    data = symplecticity(inputs)
    symplectic_methods = symplectic(check)
    defects, memory = check["defect"], check["memory"]
    tried = memory.notnull().any("problem")
    history = (memory > ROUNDING).all("problem") & tried
    partly = (memory > ROUNDING).any("problem") & ~history
    largest = defects.max(("problem", "division")).min("reading")
    largest = largest.where(~largest["integrator"].isin(symplectic_methods)).dropna("integrator")

    no_defects = np.ravel(defects.sel(integrator=symplectic_methods).values)

    def names(chosen: xr.DataArray) -> str:
        return spoken_list(inputs, check["integrator"].values[chosen.values])

    result = {
        "studySymplectic": spoken_list(inputs, symplectic_methods),
        "studySymplecticCount": str(len(symplectic_methods)),
        "studySymplecticTried": str(int((tried & ~history).sum())),
        "studySymplecticHistory": names(history),
        "studySymplecticHistoryTorque": names(partly),
        "studySymplecticDefect": number(upper(max(only_finite(no_defects), default=nan), 1), 1),
        "studySymplecticRest": number(float(largest.min()) if largest.size else nan, 1),
        "studySymplecticRestMethod": escape(selection.label(inputs, str(largest.idxmin().item())))
        if largest.size
        else NOT_AVAILABLE,
        "studySymplecticSteps": str(DEFECT_DIVISION),
    }
    rows = keyed(data, "method", "reading", "problem")
    for (method, reading, problem), row in rows.items():
        if method not in inputs.plugins and problem in LONG_NAMES:
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
        runs = frames_of_drift.long_runs(inputs, [str(p) for p in check["problem"].values])
        bounded = runs[runs["quantity"].eq("energy_drift") & runs["growth"].lt(BOUNDED) & runs["last"].lt(SMALL_CHANGE)]
        bounded = bounded[bounded["method"].isin(check["integrator"].values) & ~bounded["method"].isin(symplectic_methods)]
        where = {
            m: enumerated(escape(selection.short_name(inputs, p)) for p in bounded[bounded["method"] == m]["problem"])
            for m in inputs.in_order(bounded["method"])
        }
        result["studyBoundedOnly"] = enumerated((f"{spoken(inputs, m)} ({on})" for m, on in where.items()), "no method")
    return result


#: Number of iterations with which the methods of :func:`iterations` are run.
RUN_ITERATIONS = 3
#: Schemes whose implicit kick is the trapezoidal rule, with their names in macros.
TRAPEZOIDAL = {"omelyan1998": "Omelyan", "verlet": "Verlet"}


def iterations(inputs: Inputs) -> dict[str, str]:
    """Macros for the change of energy of a free top, with the implicit kick iterated as it is run, and to rounding."""
    check = inputs.check("sweeps")
    if "energy_change" not in check:
        raise NotInRun("the check of iterations is of an older version, without the energy")
    change = check["energy_change"]
    most = int(change["sweeps"].max())
    result = {
        "studyIterationsMost": str(most),
        "studyIterationsSteps": plain(float(check.attrs["top_steps"])),
    }
    for key, name in TRAPEZOIDAL.items():
        for count, suffix in ((RUN_ITERATIONS, "Run"), (most, "Most")):
            result[f"studyIterationsEnergy{suffix}{name}"] = number(float(change.sel(integrator=key, sweeps=count)), 2)
    ends = [result[f"studyIterationsEnergyMost{name}"] for name in TRAPEZOIDAL.values()]
    result["studyIterationsEnergyMost"] = (
        f"both end {ends[0]} away" if len(set(ends)) == 1 else f"it ends {enumerated(ends)} away"
    )
    return result


#: Time over which the drift of water is quoted, ps, and the methods of the text.
WATER_TIME = 6.0
LIBRATING = {"magnus_adams4": "Magnus", "adams_bashforth4": "Adams", "rk4": "RkFour", "pcdm2016": "Pcdm"}
#: The step at which the drift of a molecule is quoted, fs, and the shorter one at which methods are compared with SPIRAL.
QUOTED, COMPARED = 2.0, 1.0
THERMAL = {"spiral_leapfrog": "Spiral", "omelyan1998": "Omelyan", "verlet": "Verlet"}
HEATING = ("fincham1992", "calzavarini2010", "buss2000")


def librations(inputs: Inputs) -> dict[str, str]:
    """Macros for the methods that damp librations, heat them and neither, and what this does to water."""
    data = frames.librations(inputs)
    steady, damped, heated = (
        data["method"][chosen] for chosen in (data.power == 0, data.coefficient < 0, data.coefficient > 0)
    )
    low, high = frames.WATER_LIBRATIONS
    result = {
        "studyLibrationSteady": str(len(steady)),
        "studyLibrationTried": str(int(data["power"].notna().sum())),
        "studyLibrationDamped": spoken_list(inputs, damped),
        "studyLibrationHeated": spoken_list(inputs, heated),
        "studyLibrationWaterLow": plain(low),
        "studyLibrationWaterHigh": plain(high),
        "studyLibrationWaterStep": plain(frames.WATER_STEP),
        "studyLibrationWaterTime": plain(WATER_TIME),
    }
    for method, row in keyed(data, "method").items():
        if method in LIBRATING:
            result[f"studyLibrationWater{LIBRATING[method]}"] = number(abs(1e-3 * WATER_TIME * row["water"]), 2)
            result[f"studyLibrationLimit{LIBRATING[method]}"] = decimal(row["limit"], 2)
    thermal = keyed(frames.thermal_librations(inputs), "method", "dt")
    check = inputs.check("librations")
    result |= {
        "studyThermalTemperature": plain(float(check.attrs["temperature"])),
        "studyThermalFastest": plain(float(check.attrs["fastest_libration"])),
        "studyThermalStarts": str(int(check.attrs["starts"])),
        "studyThermalSeen": plain(frames.SEEN),
        "studyThermalStep": plain(QUOTED),
        "studyThermalCompared": plain(COMPARED),
    }
    for key, name in THERMAL.items():
        if (key, QUOTED) in thermal:
            result[f"studyThermal{name}"] = number(abs(thermal[key, QUOTED]["drift"]), 2)
    spiral = thermal.get(("spiral_leapfrog", COMPARED), {}).get("drift", nan)
    ratios = only_finite(thermal[key, COMPARED]["drift"] / spiral for key in HEATING if (key, COMPARED) in thermal)
    result |= {
        "studyThermalRatioLow": number(min(ratios, default=nan), 2),
        "studyThermalRatioHigh": number(max(ratios, default=nan), 2),
    }
    return result
