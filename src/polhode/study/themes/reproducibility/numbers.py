"""The identity of this run: commit, versions, scope."""

from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from math import floor, isfinite, nan

import numpy as np

from polhode.study.analysis.ladders import is_published_ladder
from polhode.study.analysis.selection import SNAPSHOT_TIME
from polhode.study.inputs import Inputs
from polhode.study.report.formats import plain
from polhode.study.report.latex import NOT_AVAILABLE, escape

#: Packages whose versions are stated in the report.
PACKAGES = {"Numba": "numba", "Numpy": "numpy", "Mpmath": "mpmath", "Snakemake": "snakemake", "Xarray": "xarray"}

#: The number of problems in the full study, of which the text speaks.
PROBLEMS = 13


def origin(inputs: Inputs) -> dict[str, str]:
    """Macros for the current commit, and the versions of the numerical software."""
    commit = inputs.checkout
    seconds = commit.get("commit_time") or 0
    day = datetime.fromtimestamp(int(seconds), UTC)
    sha = str(commit.get("commit", "unknown"))
    result = {
        "studydate": f"{day.day} {day:%B %Y}" if seconds else "date unknown",
        "studycommit": rf"\texttt{{{escape(sha[:12])}}}" if sha != "unknown" else NOT_AVAILABLE,
        "studydirty": " with local changes" if commit.get("dirty") else "",
        "studyVersionPolhode": _version("polhode"),
    }
    result.update({f"studyVersion{name}": _version(package) for name, package in PACKAGES.items()})
    return result


def _version(package: str) -> str:
    try:
        return escape(version(package))
    except PackageNotFoundError:
        if package == "polhode":
            import polhode

            return escape(polhode.__version__)
        return NOT_AVAILABLE


def scope(inputs: Inputs) -> dict[str, str]:
    """Macros for the scope of this run, with a note if it is a reduced one."""
    ladder, long_run, reference = inputs.ladder, inputs.long_run, inputs.reference_states
    times = long_run["time"].values
    dt = float(long_run.attrs.get("dt", nan))
    agreement = float(reference.attrs.get("agreement", nan))
    missing = [key for key in inputs.known if key not in ladder["integrator"].values]
    reduced = [
        *([f"{len(missing)} of its methods left out"] if missing else []),
        *([f"{len(inputs.problems)} of its {PROBLEMS} problems"] if len(inputs.problems) < PROBLEMS else []),
        *([] if is_published_ladder(ladder["dt"].values) else ["other time steps than the published ones"]),
        *(
            [f"{len(inputs.targets['target_error'])} of its four target errors"]
            if inputs.targets.sizes["target_error"] < 4
            else []
        ),
        *(["a coarser long run"] if dt > 1.01e-5 else []),
    ]
    note = (
        f"This is a reduced run of the study, with {', '.join(reduced)}. Its text is written for the full one."
        if reduced
        else ""
    )
    return {
        "studyReduced": rf" \emph{{{note}}}" if note else "",
        "studyMethodCount": str(ladder.sizes["integrator"]),
        "studyStepCount": str(ladder.sizes["dt"]),
        "studyCellCount": str(int(np.isfinite(inputs.errors["steps"].values).sum())),
        "studyDtMin": plain(float(ladder["dt"].min())),
        "studyDtMax": plain(float(ladder["dt"].max())),
        "studyLongDt": plain(dt),
        "studyLongEnd": plain(float(times.max())),
        "studyLongSteps": plain(round(float(times.max()) / dt)) if isfinite(dt) else NOT_AVAILABLE,
        "studySnapshotTime": plain(float(times[np.argmin(np.abs(times - SNAPSHOT_TIME))])),
        "studyGuardDigits": escape(str(reference.attrs.get("guard_digits", NOT_AVAILABLE))),
        "studyReferenceDigits": escape(str(reference.attrs.get("digits", NOT_AVAILABLE))),
        "studyReferenceAgreement": rf"\num{{{floor(agreement * 10) / 10:g}}}" if isfinite(agreement) else NOT_AVAILABLE,
        "studyReferenceTime": plain(float(reference.attrs.get("agreement_time", nan))),
    }
