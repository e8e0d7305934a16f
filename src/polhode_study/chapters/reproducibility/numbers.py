"""The identity of this run: commit, versions, scope."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from math import isfinite, nan
from pathlib import Path
from typing import cast

import numpy as np
import xarray as xr

from polhode.fits.ladders import is_published_ladder
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.released import INDEX
from polhode_study.report.formats import plain
from polhode_study.report.latex import NOT_AVAILABLE, escape
from polhode_study.report.selection import SNAPSHOT_TIME

#: Packages whose versions are stated in the report.
PACKAGES = {"Numba": "numba", "Numpy": "numpy", "Mpmath": "mpmath", "Snakemake": "snakemake", "Xarray": "xarray"}

#: The number of problems in the full study, of which the text speaks.
PROBLEMS = 14


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


def reduction(inputs: Inputs) -> dict[str, str]:
    """A macro for the note on the first page that this run is a reduced one; empty for the full study."""
    ladder, targets, long_run = (_if_there(inputs, name) for name in ("ladder", "targets", "long_run"))
    missing = [] if ladder is None else [key for key in inputs.known if key not in ladder["integrator"].values]
    published = ladder is not None and is_published_ladder(ladder["dt"].values)
    reduced = [
        *([f"{len(missing)} of its methods left out"] if missing else []),
        *([f"{len(inputs.problems)} of its {PROBLEMS} problems"] if len(inputs.problems) < PROBLEMS else []),
        *([] if published else ["other time steps than the published ones"]),
        *([f"{0 if targets is None else targets.sizes['target_error']} of its four target errors"] if _few(targets) else []),
        *(["no long run of SPIRAL's test"] if long_run is None else []),
        *(["a coarser long run"] if long_run is not None and float(long_run.attrs.get("dt", nan)) > 1.01e-5 else []),
    ]
    note = f"This is a reduced run of the study, with {', '.join(reduced)}."
    return {"studyReduced": rf" \emph{{{note}}}" if reduced else ""}


def _if_there(inputs: Inputs, name: str) -> xr.Dataset | None:
    with suppress(NotInRun):
        return cast("xr.Dataset", getattr(inputs, name))
    return None


def _few(targets: xr.Dataset | None) -> bool:
    return targets is None or targets.sizes["target_error"] < 4


def scope(inputs: Inputs) -> dict[str, str]:
    """Macros for the methods and steps of this run."""
    ladder = inputs.ladder
    return {
        "studyMethodCount": str(ladder.sizes["integrator"]),
        "studyStepCount": str(ladder.sizes["dt"]),
        "studyCellCount": str(int(np.isfinite(inputs.errors["steps"].values).sum())),
        "studyDtMin": plain(float(ladder["dt"].min())),
        "studyDtMax": plain(float(ladder["dt"].max())),
    }


def long_run(inputs: Inputs) -> dict[str, str]:
    """Macros for the long run."""
    long_run = inputs.long_run
    times, dt = long_run["time"].values, float(long_run.attrs.get("dt", nan))
    return {
        "studyLongDt": plain(dt),
        "studyLongEnd": plain(float(times.max())),
        "studyLongSteps": plain(round(float(times.max()) / dt)) if isfinite(dt) else NOT_AVAILABLE,
        "studySnapshotTime": plain(float(times[np.argmin(np.abs(times - SNAPSHOT_TIME))])),
    }


def release(inputs: Inputs) -> dict[str, str]:
    """Macros for the origin of the release that further experiments are taken from."""
    path = Path(inputs.paths.get("released", ""), "full", INDEX)
    if not path.is_file():
        raise NotInRun("data/released has no release of the full study")
    run = json.loads(path.read_text(encoding="utf-8"))["run"]
    return {
        "studyReleaseCommit": rf"\texttt{{{escape(run['commit'][:12])}}}",
        "studyReleaseDate": escape(run["ended"][:10]),
        "studyReleaseProcessor": escape(run["processor"]),
    }


def reference(inputs: Inputs) -> dict[str, str]:
    """A macro for the digits with which the exact states were computed beyond those requested."""
    return {"studyGuardDigits": escape(str(inputs.reference_states.attrs.get("guard_digits", NOT_AVAILABLE)))}
