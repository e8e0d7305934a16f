r"""The numbers that the text of the report uses, as LaTeX macros; the text itself contains none.

Every macro exists for every built-in method, also where a run leaves that method out: it then prints "n/a".
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from math import ceil, degrees, floor, isfinite, log10, nan
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import polhode.methods as _methods
from polhode.references.precision import GUARD_DIGITS
from polhode.study.figures import SNAPSHOT_TIME
from polhode.study.inputs import Inputs, is_published_ladder
from polhode.study.storage import write_text
from polhode.study.tables import NOT_AVAILABLE, escape, number, published_step, with_error

registry: Any = _methods

_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
#: Packages whose versions the report states.
PACKAGES = {"Numba": "numba", "Numpy": "numpy", "Mpmath": "mpmath", "Snakemake": "snakemake", "Xarray": "xarray"}
#: The step size at which originators and published variants are compared in the text, s; the nearest one of the ladder serves.
COMPARED_DT = 1e-4
#: The published method whose time steps we cannot reproduce; the text treats it apart.
UNREPRODUCED = "pfc4"


def macro_name(key: str) -> str:
    """A method key as part of a macro name, letters only: ``buss2000_delvalle2024`` -> ``BussPublished``.

    The year of the publication is left out, other digits are spelt.
    """
    parts = [part for part in key.replace("_delvalle2024", "_published").split("_") if part]
    words = [re.sub(r"(19|20)\d\d$", "", part) for part in parts]
    return "".join(re.sub(r"\d", lambda m: _DIGITS[int(m[0])], word[:1].upper() + word[1:]) for word in words)


def _at(data: xr.Dataset, name: str, key: str, **where: int) -> float:
    if name not in data or key not in data["method"].values:
        return nan
    return float(data[name].sel({"method": key}).isel(where).values)


def _peak(data: xr.Dataset, name: str, key: str) -> float:
    if name not in data or key not in data["method"].values:
        return nan
    values = data[name].sel({"method": key}).values
    return float(np.nanmax(values)) if np.isfinite(values).any() else nan


def _quotient(a: float, b: float) -> float:
    return a / b if isfinite(a) and isfinite(b) and b != 0 else nan


def _factor(value: float) -> str:
    """A ratio as one says it: two digits, whole above ten."""
    if not isfinite(value):
        return NOT_AVAILABLE
    if value <= 0:
        return number(value, 2)
    rounded = round(value, 1 - floor(log10(value)))
    return rf"\num{{{rounded:.0f}}}" if rounded >= 10 else rf"\num{{{rounded:.{max(0, 1 - floor(log10(rounded)))}f}}}"


def _upper(value: float, digits: int) -> float:
    """``value`` rounded up to so many significant digits, for a number that the text states as a bound."""
    if not isfinite(value) or value == 0:
        return value
    unit = 10.0 ** (floor(log10(abs(value))) + 1 - digits)
    return ceil(value / unit - 1e-9) * unit


def _plain(value: float) -> str:
    """A number without trailing zeros, for step sizes and times."""
    if not isfinite(value):
        return NOT_AVAILABLE
    text = f"{value:.3g}" if value == 0 or 1e-2 <= abs(value) < 1e4 else f"{value:.2e}"
    return rf"\num{{{re.sub(r'[.]?0+e', 'e', text) if 'e' in text else text}}}"


def numbers(inputs: Inputs, commit: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Macro name (without backslash, letters only) -> LaTeX text.

    Parameters
    ----------
    inputs : the files of the run
    commit : ``commit``, ``commit_time`` (seconds since the epoch) and ``dirty`` of the checkout, as far as known
    """
    result = {**_origin(commit or {}), **_scope(inputs), **_methods_numbers(inputs), **_comparisons(inputs), **_counts(inputs)}
    bad = [name for name in result if not re.fullmatch("study[A-Za-z]+", name)]
    assert not bad, bad
    return result


def _origin(commit: Mapping[str, Any]) -> dict[str, str]:
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


def _scope(inputs: Inputs) -> dict[str, str]:
    ladder, long_run, reference = inputs.ladder, inputs.long_run, inputs.reference_states
    times = long_run["time"].values
    dt = float(long_run.attrs.get("dt", nan))
    agreement = float(reference.attrs.get("agreement", nan))
    missing = [key for key in registry if key not in ladder["method"].values]
    reduced = [
        *([f"{len(missing)} of its methods left out"] if missing else []),
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
        "studyReduced": rf"\par\medskip\noindent\emph{{{note}}}" if note else "",
        "studyMethodCount": str(ladder.sizes["method"]),
        "studyStepCount": str(ladder.sizes["dt"]),
        "studyCellCount": str(int(np.isfinite(inputs.errors["steps"].values).sum())),
        "studyDtMin": _plain(float(ladder["dt"].min())),
        "studyDtMax": _plain(float(ladder["dt"].max())),
        "studyLongDt": _plain(dt),
        "studyLongEnd": _plain(float(times.max())),
        "studyLongSteps": _plain(round(float(times.max()) / dt)) if isfinite(dt) else NOT_AVAILABLE,
        "studySnapshotTime": _plain(float(times[np.argmin(np.abs(times - SNAPSHOT_TIME))])),
        "studyGuardDigits": str(GUARD_DIGITS),
        "studyReferenceDigits": escape(str(reference.attrs.get("digits", NOT_AVAILABLE))),
        "studyReferenceAgreement": rf"\num{{{floor(agreement * 10) / 10:g}}}" if isfinite(agreement) else NOT_AVAILABLE,
        "studyReferenceTime": _plain(float(reference.attrs.get("agreement_time", nan))),
    }


def _methods_numbers(inputs: Inputs) -> dict[str, str]:
    errors, long_run, targets = inputs.errors, inputs.long_run, inputs.targets
    snapshot = int(np.argmin(np.abs(long_run["time"].values - SNAPSHOT_TIME)))
    columns = {f"{float(t):.0e}": i for i, t in enumerate(targets["target_error"].values)}
    per_method: dict[str, Callable[[str], str]] = {
        "OrderQ": lambda key: with_error(_at(errors, "q_order", key), _at(errors, "q_order_stderr", key)),
        "OrderOmega": lambda key: with_error(_at(errors, "omega_order", key), _at(errors, "omega_order_stderr", key)),
        "LongQ": lambda key: number(_at(long_run, "q_error_l1", key, time=-1), 2),
        "LongOmega": lambda key: number(_at(long_run, "stored_omega_error_l1", key, time=-1), 2),
        "SnapshotAngle": lambda key: number(degrees(_at(long_run, "angle_error", key, time=snapshot)), 2),
        "NormDrift": lambda key: number(_upper(_peak(long_run, "norm_error", key), 1), 1),
    }
    for name, target in (("Five", "1e-05"), ("Four", "1e-04"), ("Three", "1e-03"), ("Two", "1e-02")):
        column = columns.get(target)

        def step(key: str, column: int | None = column) -> str:
            return NOT_AVAILABLE if column is None else number(_at(targets, "step_size", key, target_error=column), 3)

        per_method[f"Target{name}"] = step
    return {f"study{name}{macro_name(key)}": make(key) for key in registry for name, make in per_method.items()}


def _comparisons(inputs: Inputs) -> dict[str, str]:
    ladder, long_run, targets = inputs.ladder, inputs.long_run, inputs.targets
    result: dict[str, str] = {}

    # How much longer a step SPIRAL may take than another method, for the finest and the coarsest target of all.
    errors = targets["target_error"].values
    for name, column in (("Fine", int(np.argmin(errors))), ("Coarse", int(np.argmax(errors)))):
        result[f"studyGainTarget{name}"] = _plain(float(errors[column]))
        for key in registry:
            gain = _quotient(
                _at(targets, "step_size", "spiral_leapfrog", target_error=column),
                _at(targets, "step_size", key, target_error=column),
            )
            result[f"studyGain{name}{macro_name(key)}"] = _factor(gain)

    # What the published variants lose against the methods as their originators meant them.
    row = int(np.argmin(np.abs(np.log(ladder["dt"].values / COMPARED_DT))))
    result["studyComparedDt"] = _plain(float(ladder["dt"].values[row]))
    for key in registry:
        parent = registry[key].variant_of
        if parent:
            for name, variable in (("Q", "q_error_l1"), ("Omega", "omega_error_l1")):
                loss = _quotient(_at(ladder, variable, key, dt=row), _at(ladder, variable, parent, dt=row))
                result[f"studyLoss{name}{macro_name(parent)}"] = _factor(loss)

    # Direct comparisons at the end of the long run.
    for name, a, b in (
        ("SpiralRk", "spiral_leapfrog", "rk4"),
        ("SpiralSynchronous", "spiral_leapfrog", "spiral_synchronous"),
        ("OmelyanSpiral", "omelyan1998", "spiral_leapfrog"),
        ("OmelyanHybrid", "omelyan1998", "spiral_omelyan"),
    ):
        quotient = _quotient(_at(long_run, "q_error_l1", a, time=-1), _at(long_run, "q_error_l1", b, time=-1))
        result[f"studyLongRatio{name}"] = _factor(quotient)

    # Table 2: the worst relative differences of the reproduced methods, and the range of the ratio of the one that is not.
    published = inputs.published_steps
    drawn, found, apart = [], [], []
    equal = 0
    for key in dict.fromkeys(published["method"]):
        for column, target in enumerate(errors):
            printed = published_step(published, key, float(target))
            ratio = _quotient(_at(targets, "step_size", key, target_error=column), printed)
            if key == UNREPRODUCED:
                apart.append(ratio)
            else:
                found.append(abs(ratio - 1))
                interpolated = inputs.interpolated_step(key, float(target))
                drawn.append(abs(_quotient(interpolated, printed) - 1))
                equal += f"{interpolated:.3e}" == f"{printed:.3e}"
    finite = [[x for x in values if isfinite(x)] for values in (drawn, found, apart)]
    result["studyTableWorst"] = number(_upper(max(finite[0], default=nan), 2), 2)
    result["studyTableWorstFound"] = number(_upper(max(finite[1], default=nan), 2), 2)
    result["studyTableEntries"] = str(len(finite[0]))
    result["studyTableEqual"] = str(equal)
    result["studyApartLow"] = _factor(-_upper(-min(finite[2], default=nan), 2))
    result["studyApartHigh"] = _factor(_upper(max(finite[2], default=nan), 2))
    return result


def _counts(inputs: Inputs) -> dict[str, str]:
    verdicts = inputs.claim_rows["verdict"].value_counts()
    ordered = sorted(verdicts.items(), key=lambda item: (-int(item[1]), str(item[0])))
    kinds = [entry["kind"] for entry in inputs.errata_rows]
    named = {"misprint": "Misprints", "ambiguity": "Ambiguities", "convention": "Conventions", "discrepancy": "Discrepancies"}
    return {
        "studyClaimCount": str(len(inputs.claim_rows)),
        "studyClaimVerdicts": ", ".join(rf"{count} \emph{{{escape(str(verdict))}}}" for verdict, count in ordered)
        or NOT_AVAILABLE,
        "studyErrataCount": str(len(kinds)),
        **{f"study{name}": str(kinds.count(kind)) for kind, name in named.items()},
    }


def render(inputs: Inputs, path: str | Path, commit: Mapping[str, Any] | None = None) -> None:
    r"""Write numbers.tex: one ``\newcommand`` for each of :func:`numbers`, sorted by name."""
    lines = [rf"\newcommand{{\{name}}}{{{text}}}" for name, text in sorted(numbers(inputs, commit).items())]
    write_text(path, "% Made by the study; the numbers of the text.\n" + "\n".join(lines) + "\n")
