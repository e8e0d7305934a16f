"""Numbers on the note of Calzavarini (2010): misprints, its two options, and the friction that these tolerate."""

import xarray as xr

from polhode.fits.values import at, nearest_step, quotient
from polhode_study.chapters.calzavarini2010.frames import COMPARED_DT, note_corrections
from polhode_study.inputs import Inputs
from polhode_study.report.formats import factor, plain
from polhode_study.report.latex import NOT_AVAILABLE, number
from polhode_study.report.selection import FRICTION


def note(inputs: Inputs) -> dict[str, str]:
    """Macros for the misprints of the note, and for its scheme compared with Fincham's."""
    check = inputs.check("note_corrections")
    data = note_corrections(inputs)
    single = data[~data["variant"].isin(("corrected", "matrix", "as_printed"))].set_index("variant")
    return {
        "studyMisprintCount": str(len(single)),
        "studyFinchamApart": _apart(check),
        "studyFinchamSteps": rf"\num{{{int(check.attrs['fincham_steps'])}}}",
        "studyFinchamDt": plain(float(check.attrs["fincham_dt"])),
    }


def _distance(check: xr.Dataset, name: str) -> str:
    """A number of a check as text; an exact zero is written as 0."""
    if name not in check:
        return NOT_AVAILABLE
    return number(float(check[name]), 2) if float(check[name]) else "0"


def _apart(check: xr.Dataset) -> str:
    """The distance of the two schemes in words: with the half-step quaternion normalised in both, and in neither."""
    both, neither = (_distance(check, name) for name in ("fincham_distance", "fincham_distance_plain"))
    if both == neither == "0":
        return "are the same to the last bit, with this normalisation in both as with it in neither"
    return f"differ by {both} with this normalisation in both, and by {neither} with it in neither"


def friction(inputs: Inputs) -> dict[str, str]:
    """A macro for how much the first option of the note gains over the other on the damped top."""
    data = inputs.of(FRICTION).errors
    row = nearest_step(data["dt"].values, COMPARED_DT)
    mean, other = (at(data, "omega_error_l1", key, dt=row) for key in ("calzavarini2010_mean", "calzavarini2010"))
    return {"studyFrictionGain": factor(quotient(mean, other))}
