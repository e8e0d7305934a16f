"""Numbers on the long runs: drift, reversibility, symplecticity, librations."""

from contextlib import suppress
from math import nan

import numpy as np
import xarray as xr

from polhode.fits import drift
from polhode.fits.canonical_form import ROUNDING, symplectic
from polhode.fits.values import peak
from polhode_study.chapters.long_runs import frames, frames_of_drift
from polhode_study.chapters.long_runs.frames import DEFECT_DIVISION, FITTED, reversibility
from polhode_study.chapters.long_runs.frames import ROUNDING as ANGLE_ROUNDING
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report import selection
from polhode_study.report.formats import plain, spoken_list, upper
from polhode_study.report.frames import keyed, only_finite
from polhode_study.report.latex import NOT_AVAILABLE, escape, number


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
