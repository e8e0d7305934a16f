"""Numbers on the four cases of Seelen et al. (2016)."""

from contextlib import suppress
from math import floor, isfinite, log10, nan

import numpy as np

from polhode.fits.values import at, quotient
from polhode_study.chapters.seelen2016 import frames, measures
from polhode_study.chapters.seelen2016 import theory as pcdm_theory
from polhode_study.chapters.seelen2016.frames import (
    COMPARED,
    CYLINDER,
    FREE_TOP,
    LAST_SAMPLES,
    PAIR,
    SPHERE,
    error_percent,
    first_spin_error,
    published_ladder,
    sphere_end,
)
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.formats import factor, macro_name, plain, upper
from polhode_study.report.latex import NOT_AVAILABLE, decimal, number

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
        result[f"studySeelenAngle{name}"] = number(at(data, "angle_error", key, time=-1), 2)
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
    """Macros for case 2: the step, and how much nearer than a scheme of 2013 the improved one comes."""
    data = sphere_end(inputs)
    exact = float(data.x["exact"])
    errors = [error_percent(float(data.x.get(key, nan)), exact) for key in ("pcdm2013_lead", "pcdm2016")]
    return {
        "studySeelenSphereDt": plain(float(inputs.of(SPHERE).long_run.attrs["dt"])),
        "studySeelenSphereGain": factor(quotient(*errors)),
    }


def cylinder(inputs: Inputs) -> dict[str, str]:
    """Macros for case 3: its end and its steps."""
    dt, _ = published_ladder(inputs)
    return {
        "studySeelenCylinderEnd": plain(float(inputs.of(CYLINDER).errors["end_time"].max())),
        "studySeelenCylinderDtMin": plain(float(dt.min())),
        "studySeelenCylinderDtMax": plain(float(dt.max())),
    }


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
    for key in ("pcdm2013_lag", "pcdm2013_mid", "pcdm2016"):
        worst = nan
        with suppress(NotInRun):
            worst = float(np.nanmax(first_spin_error(inputs, key)))
        result[f"studySeelenPairError{macro_name(key)}"] = number(worst, 2)
    return result


def statements(inputs: Inputs) -> dict[str, str]:
    """Macros for the statement on larger steps."""

    def gain(other: str) -> str:
        try:
            return factor(float(measures.larger_step(inputs.of(CYLINDER), method=COMPARED[1], other=other, dt=LARGER_THAN)[0]))
        except NotInRun:
            return NOT_AVAILABLE

    return {
        "studySeelenLargerThan": plain(LARGER_THAN),
        "studySeelenLarger": gain("pcdm2013_lag"),
        "studySeelenLargerMid": gain("pcdm2013_mid"),
    }
