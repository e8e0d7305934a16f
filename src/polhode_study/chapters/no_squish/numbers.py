"""Numbers on symplectic quaternions: the arbitrary moment of the extended phase space, the order of the rotors."""

import numpy as np

from polhode_study.chapters.no_squish import frames
from polhode_study.inputs import Inputs
from polhode_study.report.formats import factor, plain, upper
from polhode_study.report.latex import NOT_AVAILABLE, decimal, number


def extended_inertia(inputs: Inputs) -> dict[str, str]:
    """Macros for the arbitrary moment of the extended phase space."""
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


def rotor_order(inputs: Inputs) -> dict[str, str]:
    """Macros for the order of the rotors: size of the experiment, spread over the orders, and the order chosen by score."""
    data = inputs.check("rotor_order")
    spread, chosen = frames.spread(data), frames.chosen(data)
    result = {
        "studyRotorBodies": str(data.sizes["body"]),
        "studyRotorSteps": rf"\num{{{int(data.attrs['steps'])}}}",
        "studyRotorAngle": plain(float(data.attrs["angle"])),
    }
    for family in map(str, data["family"].values):
        of_family, name = spread.sel(family=family), family.capitalize()
        result[f"studyRotorSpread{name}"] = factor(float(of_family.median()))
        result[f"studyRotorSpreadMost{name}"] = factor(float(of_family.max()))
    gain = chosen.sel(family="rotors") / chosen.sel(family="top")
    return result | {
        "studyRotorGain": factor(float(gain.median())),
        "studyRotorTopBetter": decimal(100 * float((gain > 1).mean()), 0),
    }
