"""Numbers on the note of Calzavarini (2010): misprints, its two options, and the friction that these tolerate."""

import xarray as xr

from polhode.fits.values import at, nearest_step, quotient
from polhode.study.chapters.calzavarini2010.frames import COMPARED_DT, note_corrections
from polhode.study.inputs import Inputs
from polhode.study.report.formats import factor, macro_name, plain
from polhode.study.report.latex import NOT_AVAILABLE, decimal, number
from polhode.study.report.selection import FRICTION


def note(inputs: Inputs) -> dict[str, str]:
    """Macros for the misprints of the note, and for its scheme compared with Fincham's."""
    check = inputs.check("note_corrections")
    data = note_corrections(inputs)
    single = data[~data["variant"].isin(("corrected", "matrix", "as_printed"))].set_index("variant")
    result = {
        "studyMisprintCount": str(len(single)),
        "studyFinchamApart": _apart(check),
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
    """Macros for the two options of the note on the damped top."""
    data = inputs.of(FRICTION).errors
    row = nearest_step(data["dt"].values, COMPARED_DT)
    mean = at(data, "omega_error_l1", "calzavarini2010_mean", dt=row)
    result = {
        "studyFrictionDt": plain(float(data["dt"].values[row])),
        "studyFrictionGain": factor(quotient(mean, at(data, "omega_error_l1", "calzavarini2010", dt=row))),
    }
    for key in inputs.of(FRICTION).built_in(data["integrator"].values):
        for name, short in (("Q", "q"), ("Omega", "omega")):
            result[f"studyFriction{name}{macro_name(key)}"] = decimal(at(data, f"{short}_order", key), 2)
    return result


def bearing(inputs: Inputs) -> dict[str, str]:
    """Macros for the amount of friction that both options of the note tolerate."""
    data = inputs.check("stability")
    return {
        f"studyBears{macro_name(key)}": decimal(at(data, "limit", key), 2)
        for key in ("calzavarini2010", "calzavarini2010_mean", "fincham1992")
    }
