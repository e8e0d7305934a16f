"""Numbers on symplectic quaternions: the arbitrary moment of the extended phase space."""

import numpy as np

from polhode.study.inputs import Inputs
from polhode.study.report.formats import plain, upper
from polhode.study.report.latex import NOT_AVAILABLE, number


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
