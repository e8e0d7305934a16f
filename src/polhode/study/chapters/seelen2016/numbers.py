"""Numbers on the four cases of Seelen et al. (2016)."""

from contextlib import suppress
from math import floor, isfinite, log10, nan
from typing import Any

import numpy as np

from polhode.fits.values import at, quotient
from polhode.study.chapters.seelen2016 import frames, measures
from polhode.study.chapters.seelen2016 import theory as pcdm_theory
from polhode.study.chapters.seelen2016.frames import (
    COMPARED,
    CYLINDER,
    FREE_TOP,
    LAST_SAMPLES,
    METHODS,
    PAIR,
    ROWS,
    SPHERE,
    counterpart,
    error_percent,
    first_spin_error,
    mean_slope,
    printed_rows,
    published_ladder,
    rounding_floor,
    sphere_end,
)
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.judge.measured import Measure
from polhode.study.report.formats import factor, macro_name, plain, upper
from polhode.study.report.latex import NOT_AVAILABLE, decimal, in_range, number

#: Macro names of the two schemes compared in Figs. 1 and 5.
NAMES = dict(zip(COMPARED, ("Original", "Improved"), strict=True))

#: The step of the original scheme at whose error the larger step of the improved scheme is determined, s.
LARGER_THAN = 1e-5


def free_top(inputs: Inputs) -> dict[str, str]:
    """Macros for case 1: the energy of the free top, computed and predicted."""
    data = inputs.of(FREE_TOP).long_run
    top = frames.free_top(inputs)
    dt, time = float(data.attrs["dt"]), data["time"].values
    last = float(time[-1])
    result = {
        "studySeelenTopDt": plain(dt),
        "studySeelenTopEnd": plain(last),
        "studySeelenTopSamples": str(min(LAST_SAMPLES, len(time))),
        "studySeelenTopMoments": ", ".join(f"{x:g}" for x in top.inertia),
        "studySeelenTopOffset": number(float(pcdm_theory.energy_error(top, COMPARED[1], dt, dt)), 2),
    }
    drifts, apart = {}, []
    for key, name in NAMES.items():
        drifts[key] = at(data, "energy_drift", key, time=-1)
        result[f"studySeelenEnergy{name}"] = number(drifts[key], 3)
        result[f"studySeelenPhase{name}"] = number(abs(float(pcdm_theory.phase_error(top, key, dt, last))), 2)
        result[f"studySeelenAngle{name}"] = number(at(data, "angle_error", key, time=-1), 2)
        result[f"studySeelenNorm{name}"] = number(upper(at(data, "norm_error", key, time=-1), 1), 1)
        if isfinite(drifts[key]):
            predicted = pcdm_theory.energy_error(top, key, dt, time[1:])
            apart.append(np.abs(data["energy_drift"].sel(integrator=key).values[1:] / predicted - 1).max())
    result["studySeelenEnergyRatio"] = _three(quotient(drifts[COMPARED[1]], drifts[COMPARED[0]]))
    result["studySeelenPredictionApart"] = number(upper(float(max(apart, default=nan)), 1), 1)
    return result


def _three(ratio: float) -> str:
    """A ratio with three digits, as text."""
    return decimal(ratio, max(0, 2 - floor(log10(ratio)))) if isfinite(ratio) and ratio > 0 else NOT_AVAILABLE


def sphere(inputs: Inputs) -> dict[str, str]:
    """Macros for case 2: Table 1, printed and ours."""
    printed, ours = printed_rows(inputs), sphere_end(inputs)
    theory, exact = float(printed.x["Theory"]), float(ours.x["exact"])
    result = {
        "studySeelenArrowX": decimal(exact, 7),
        "studySeelenTheoryPercent": number(error_percent(theory, exact), 2),
        "studySeelenSphereDt": plain(float(inputs.of(SPHERE).long_run.attrs["dt"])),
    }
    for row, candidates in ROWS.items():
        name = "".join(word.capitalize() for word in row.split())
        apart = nan
        with suppress(NotInRun):
            _, apart = counterpart(ours, float(printed.x[row]), candidates)
        result[f"studySeelenApart{name}"] = number(abs(apart), 2)
    errors = {}
    for key in METHODS:
        x = float(ours.x[key]) if key in ours.index else nan
        errors[key] = error_percent(x, exact)
        result[f"studySeelenPercent{macro_name(key)}"] = number(error_percent(x, theory), 2)
        result[f"studySeelenExactPercent{macro_name(key)}"] = number(errors[key], 2)
    result["studySeelenSphereGain"] = factor(quotient(errors["pcdm2013_lead"], errors["pcdm2016"]))
    return result


def cylinder(inputs: Inputs) -> dict[str, str]:
    """Macros for case 3: the orders of both time averages, and the smallest errors reached."""
    data = inputs.of(CYLINDER).errors
    dt, _ = published_ladder(inputs)
    result = {
        "studySeelenCylinderEnd": plain(float(data["end_time"].max())),
        "studySeelenCylinderDtMin": plain(float(dt.min())),
        "studySeelenCylinderDtMax": plain(float(dt.max())),
    }
    for key in METHODS:
        for name, quantity in (("Inclination", "inclination_error_mean"), ("Rotation", "angle_error_mean")):
            try:
                fit = mean_slope(inputs, key, quantity)
                slope = in_range(fit.order, fit.low, fit.high)
                least = number(rounding_floor(inputs, key, quantity), 1)
            except NotInRun:
                slope = least = NOT_AVAILABLE
            result[f"studySeelen{name}Slope{macro_name(key)}"] = slope
            result[f"studySeelen{name}Floor{macro_name(key)}"] = least
    return result


def pair(inputs: Inputs) -> dict[str, str]:
    """Macros for case 4: the two cylinders."""
    data, setup = inputs.of(PAIR).long_run, inputs.of(PAIR).setup
    dt, p = float(data.attrs["dt"]), setup["parameters"]
    moments = [values[0] for values in setup["moments"]]
    rate = p["eta"] * sum(p[f"R{i + 1}"] ** 2 / moments[i] for i in range(2))
    end = data["exact_omega"].values[-1, :, 0]
    result = {
        "studySeelenPairDt": plain(dt),
        "studySeelenPairEnd": plain(float(data["time"].values[-1])),
        "studySeelenPairMass": plain(setup["masses"][0]),
        "studySeelenPairMomentRatio": number(moments[0] / moments[1], 2),
        "studySeelenPairRate": plain(rate),
        "studySeelenPairOmegaOne": decimal(float(end[0]), 3),
        "studySeelenPairOmegaTwo": decimal(float(end[1]), 3),
    }
    for key in METHODS:
        worst = nan
        with suppress(NotInRun):
            worst = float(np.nanmax(first_spin_error(inputs, key)))
        result[f"studySeelenPairError{macro_name(key)}"] = number(worst, 2)
    return result


def stability(inputs: Inputs) -> dict[str, str]:
    """Macros for the stability limits under friction."""
    data = inputs.check("stability")
    return {f"studySeelenLimit{macro_name(key)}": decimal(at(data, "limit", key), 3) for key in METHODS}


def statements(inputs: Inputs) -> dict[str, str]:
    """Macros for the statements on larger steps, on normalising and on matrices."""

    def measured(measure: Measure, problem: str, **arguments: Any) -> float:
        try:
            return float(measure(inputs.of(problem), **arguments)[0])
        except NotInRun:
            return nan

    def gain(other: str) -> str:
        return factor(measured(measures.larger_step, CYLINDER, method=COMPARED[1], other=other, dt=LARGER_THAN))

    rounding = measures.rotation_rounding(inputs)
    result = {
        "studySeelenLargerThan": plain(LARGER_THAN),
        "studySeelenLarger": gain("pcdm2013_lag"),
        "studySeelenLargerMid": gain("pcdm2013_mid"),
        "studySeelenMatrixRounding": decimal(rounding.value, 2),
        "studySeelenMatrixRoundingLow": decimal(rounding.low, 2),
        "studySeelenMatrixRoundingHigh": decimal(rounding.high, 2),
        "studySeelenNormalised": number(
            upper(abs(measured(measures.switched_ratio, "free_asymmetric_top", method=COMPARED[1]) - 1), 1), 1
        ),
    }
    for vectors, name in ((1, "One"), (2, "Two")):
        for by, block in (("Matrix", "matrix"), ("Product", "quaternion")):
            result[f"studySeelen{by}Operations{name}"] = str(inputs.block_operations(f"{block}_{vectors}"))
    return result
