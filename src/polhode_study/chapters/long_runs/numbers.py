"""Numbers on the long runs: drift, normalisation, reversibility, symplecticity, librations."""

from contextlib import suppress
from math import isfinite, nan

import numpy as np
import xarray as xr

from polhode.fits import drift
from polhode.fits.canonical_form import ROUNDING, symplectic
from polhode.fits.drift import BOUNDED
from polhode.fits.values import peak, quotient
from polhode_study.chapters.long_runs import frames, frames_of_drift
from polhode_study.chapters.long_runs.frames import DEFECT_DIVISION, FITTED, reversibility
from polhode_study.chapters.long_runs.frames import ROUNDING as ANGLE_ROUNDING
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import selection
from polhode_study.report.formats import enumerated, plain, spoken, spoken_list, upper
from polhode_study.report.frames import keyed, only_finite, records
from polhode_study.report.latex import NOT_AVAILABLE, escape, number

#: Problems of which the text names the methods that need to be normalised, with their names in macros.
NORMALISED = {"free_asymmetric_top": "Free", "heavy_top": "Heavy"}


def largest_norm(inputs: Inputs) -> dict[str, str]:
    """A macro for the largest departure of the norm from one in all runs of NO_SQUISH."""
    errors = []
    for problem in inputs.problems:
        errors.append(peak(inputs.of(problem).errors, "norm_error", "no_squish"))
        with suppress(NotInRun):
            errors.append(peak(inputs.of(problem).long_run, "norm_error", "no_squish"))
    return {"studyNormEverNoSquish": number(max(only_finite(errors), default=nan), 2)}


def long_runs(inputs: Inputs) -> dict[str, str]:
    """Macros for the methods that lose the motion, and for those whose energy stays bounded."""
    rows = frames_of_drift.long_runs(inputs, ["asymmetric_heavy_top"])
    lost = rows[(rows["quantity"] == "energy_drift") & ~(rows["last"] < drift.LOST_CHANGE)]["method"]
    everywhere, problems = frames_of_drift.bounded_methods(inputs)
    return {
        "studyLostAsymmetric": spoken_list(inputs, lost),
        "studyEnergyProblems": str(len(problems)),
        "studyBoundedRounding": plain(drift.ROUNDING),
        "studyBoundedEveryCount": str(len(everywhere)),
        "studyBoundedEverywhere": spoken_list(inputs, everywhere),
    }


def normalisation(inputs: Inputs) -> dict[str, str]:
    """Macros for the effect of normalising every step, and for the methods that need it."""
    keys = ["problem", "method", "quantity"]
    both = frames_of_drift.long_runs(inputs, [*NORMALISED]).merge(
        frames_of_drift.long_runs(inputs, [*NORMALISED], "long_run_switched"), on=keys, suffixes=("", "_switched")
    )
    rows = keyed(both, "problem", "method", "quantity")
    result: dict[str, str] = {}
    for problem, name in NORMALISED.items():
        # Methods that normalise and blow up without it (norm or energy), and do not lose the motion even with it.
        needs = []
        for its_problem, method, quantity in rows:
            normalises = inputs.of(problem).declared(method, "normalises", False)
            if (its_problem, quantity) != (problem, "energy_drift") or not normalises:
                continue
            energy, norm = rows[problem, method, "energy_drift"], rows.get((problem, method, "norm_error"))
            blows_up = not isfinite(energy["last_switched"]) or (norm and not norm["last_switched"] < drift.LOST_CHANGE)
            if energy["last"] < drift.LOST_CHANGE and blows_up:
                needs.append(method)
        result[f"studyNormNeeded{name}"] = spoken_list(inputs, needs)
    free_top = inputs.of("free_asymmetric_top")
    free = [m for m in map(str, both["method"].drop_duplicates()) if not free_top.declared(m, "normalises", True)]
    ratios = []
    for row in records(both[both["method"].isin(free) & both["quantity"].isin(("angle_error", "energy_drift"))]):
        # Once the motion is lost, the remaining values mean nothing.
        if row["last"] < 0.1:
            ratios.append(abs(quotient(row["last_switched"], row["last"]) - 1))
    worst = max(only_finite(ratios), default=nan)
    return result | {"studyNormIdle": number(upper(worst, 1), 1)}


def return_trips(inputs: Inputs) -> dict[str, str]:
    """Macros for the methods that return to their start, at any step or at short ones."""
    data = reversibility(inputs)
    every = data.groupby("method")
    exact = {str(method) for method, rows in every if (rows["largest_angle"] < ANGLE_ROUNDING).all()}
    finer = [str(method) for method, rows in every if method not in exact and rows["rounding"].all()]
    of_squish = data[data["method"] == "no_squish"]["largest_angle"]
    return {
        "studyReturnNoSquish": number(upper(float(of_squish.max()), 1), 1),
        "studyReturnFitted": number(FITTED, 1),
        "studyReversibleFiner": f" At short enough steps the same holds for {spoken_list(inputs, finer)}." if finer else "",
        "studyReversible": spoken_list(inputs, exact),
    }


#: Number of iterations of RATTLE's constraint that the text calls few.
FEW_ITERATIONS = 4
#: A run whose final energy is within this fraction of the initial kinetic energy still follows the motion.
SMALL_CHANGE = 0.01


def canonical_form(inputs: Inputs) -> dict[str, str]:
    """Macros for the symplectic methods, the deviation of the others, and the effect of iterated constraints."""
    check = inputs.check("symplecticity")
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


#: Time over which the drift of water is quoted, ps, and the methods of the text.
WATER_TIME = 6.0
LIBRATING = {"magnus_adams4": "Magnus", "rk4": "RkFour", "pcdm2016": "Pcdm"}
#: The step at which the drift of a molecule is quoted, fs, and the shorter one at which methods are compared with SPIRAL.
QUOTED, COMPARED = 2.0, 1.0
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
    spiral = thermal.get(("spiral_leapfrog", COMPARED), {}).get("drift", nan)
    ratios = only_finite(thermal[key, COMPARED]["drift"] / spiral for key in HEATING if (key, COMPARED) in thermal)
    result |= {
        "studyThermalRatioLow": number(min(ratios, default=nan), 2),
        "studyThermalRatioHigh": number(max(ratios, default=nan), 2),
    }
    return result
