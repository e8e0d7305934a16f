r"""The numbers that the text of the report uses, as LaTeX macros; the text itself contains none.

Every macro exists for every built-in method, also where a run leaves that method out: it then prints "n/a".
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from math import degrees, floor, isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

import polhode.methods as _methods
from polhode.references.precision import GUARD_DIGITS
from polhode.study import comparison as compared
from polhode.study.claims import ABOUT, COUNTED, ORDER_BAND, VARIANT_DIVISION
from polhode.study.comparison import SNAPSHOT_TIME
from polhode.study.inputs import ERRATA_KINDS, Inputs, NotInRun, is_published_ladder
from polhode.study.numbers import comparison, cost, many_body, seelen2016, time_to_solution, timing
from polhode.study.numbers.comparison import SOURCE_NAMES
from polhode.study.numbers.formats import at, factor, macro_name, order_text, peak, plain, quotient, upper
from polhode.study.storage import write_text
from polhode.study.tables.judgement import SOURCES
from polhode.study.tables.latex import NOT_AVAILABLE, decimal, escape, number

registry: Any = _methods

#: Packages whose versions the report states.
PACKAGES = {"Numba": "numba", "Numpy": "numpy", "Mpmath": "mpmath", "Snakemake": "snakemake", "Xarray": "xarray"}
#: The step size at which originators and published variants are compared in the text, s; the nearest one of the ladder serves.
COMPARED_DT = 1e-4


def numbers(inputs: Inputs, commit: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Macro name (without backslash, letters only) -> LaTeX text.

    Parameters
    ----------
    inputs : the files of the run
    commit : ``commit``, ``commit_time`` (seconds since the epoch) and ``dirty`` of the checkout, as far as known
    """
    result = _origin(commit or {})
    for group in GROUPS:
        # A run without the problem of a group leaves out its numbers; render writes them as not available.
        with suppress(NotInRun):
            result |= group(inputs)
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
    missing = [key for key in registry if key not in ladder["integrator"].values]
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
        "studyMethodCount": str(ladder.sizes["integrator"]),
        "studyStepCount": str(ladder.sizes["dt"]),
        "studyCellCount": str(int(np.isfinite(inputs.errors["steps"].values).sum())),
        "studyDtMin": plain(float(ladder["dt"].min())),
        "studyDtMax": plain(float(ladder["dt"].max())),
        "studyLongDt": plain(dt),
        "studyLongEnd": plain(float(times.max())),
        "studyLongSteps": plain(round(float(times.max()) / dt)) if isfinite(dt) else NOT_AVAILABLE,
        "studySnapshotTime": plain(float(times[np.argmin(np.abs(times - SNAPSHOT_TIME))])),
        "studyGuardDigits": str(GUARD_DIGITS),
        "studyReferenceDigits": escape(str(reference.attrs.get("digits", NOT_AVAILABLE))),
        "studyReferenceAgreement": rf"\num{{{floor(agreement * 10) / 10:g}}}" if isfinite(agreement) else NOT_AVAILABLE,
        "studyReferenceTime": plain(float(reference.attrs.get("agreement_time", nan))),
    }


def _methods_numbers(inputs: Inputs) -> dict[str, str]:
    errors, long_run, targets = inputs.errors, inputs.long_run, inputs.targets
    snapshot = int(np.argmin(np.abs(long_run["time"].values - SNAPSHOT_TIME)))
    columns = {f"{float(t):.0e}": i for i, t in enumerate(targets["target_error"].values)}
    per_method: dict[str, Callable[[str], str]] = {
        "OrderQ": lambda key: order_text(errors, "q", key),
        "OrderOmega": lambda key: order_text(errors, "omega", key),
        "LongQ": lambda key: number(at(long_run, "q_error_l1", key, time=-1), 2),
        "LongOmega": lambda key: number(at(long_run, "stored_omega_error_l1", key, time=-1), 2),
        "SnapshotAngle": lambda key: number(degrees(at(long_run, "angle_error", key, time=snapshot)), 2),
        "NormDrift": lambda key: number(upper(peak(long_run, "norm_error", key), 1), 1),
    }
    for name, target in (("Five", "1e-05"), ("Four", "1e-04"), ("Three", "1e-03"), ("Two", "1e-02")):
        column = columns.get(target)

        def step(key: str, column: int | None = column) -> str:
            return NOT_AVAILABLE if column is None else number(at(targets, "step_size", key, target_error=column), 3)

        per_method[f"Target{name}"] = step
    return {f"study{name}{macro_name(key)}": make(key) for key in registry for name, make in per_method.items()}


def _comparisons(inputs: Inputs) -> dict[str, str]:
    ladder, long_run, targets = inputs.ladder, inputs.long_run, inputs.targets
    result: dict[str, str] = {}

    # How much longer a step SPIRAL may take than another method, for the finest and the coarsest target of all.
    errors = targets["target_error"].values
    for name, column in (("Fine", int(np.argmin(errors))), ("Coarse", int(np.argmax(errors)))):
        result[f"studyGainTarget{name}"] = plain(float(errors[column]))
        for key in registry:
            gain = quotient(
                at(targets, "step_size", "spiral_leapfrog", target_error=column),
                at(targets, "step_size", key, target_error=column),
            )
            result[f"studyGain{name}{macro_name(key)}"] = factor(gain)

    # What the published variants lose against the methods as their originators meant them.
    row = int(np.argmin(np.abs(np.log(ladder["dt"].values / COMPARED_DT))))
    result["studyComparedDt"] = plain(float(ladder["dt"].values[row]))
    for key in registry:
        parent = registry[key].variant_of
        if parent:
            for name, variable in (("Q", "q_error_l1"), ("Omega", "omega_error_l1")):
                loss = quotient(at(ladder, variable, key, dt=row), at(ladder, variable, parent, dt=row))
                result[f"studyLoss{name}{macro_name(parent)}"] = factor(loss)

    # Direct comparisons at the end of the long run.
    for name, a, b in (
        ("SpiralRk", "spiral_leapfrog", "rk4"),
        ("SpiralSynchronous", "spiral_leapfrog", "spiral_synchronous"),
        ("OmelyanSpiral", "omelyan1998", "spiral_leapfrog"),
        ("OmelyanHybrid", "omelyan1998", "spiral_omelyan"),
    ):
        ratio = quotient(at(long_run, "q_error_l1", a, time=-1), at(long_run, "q_error_l1", b, time=-1))
        result[f"studyLongRatio{name}"] = factor(ratio)

    # Table 2: how far our steps are from the printed ones, and what measuring a method as its neighbours changes.
    published = inputs.published_steps
    drawn, found, apart = [], [], []
    equal = 0
    for key in dict.fromkeys(published["method"]):
        for column, target in enumerate(errors):
            printed = inputs.published_step(key, float(target))
            own = at(targets, "step_size_as_published", key, target_error=column)
            interpolated = inputs.interpolated_step(key, float(target))
            found.append(abs(quotient(own, printed) - 1))
            drawn.append(abs(quotient(interpolated, printed) - 1))
            equal += f"{interpolated:.3e}" == f"{printed:.3e}"
            if inputs.declared(key, "published_error", "quaternion") != "quaternion":
                apart.append(quotient(at(targets, "step_size", key, target_error=column), own))
    finite = [[x for x in values if isfinite(x)] for values in (drawn, found, apart)]
    entries = len(finite[0])
    result["studyTableWorst"] = number(max(finite[0], default=nan), 2)
    result["studyTableWorstFound"] = number(max(finite[1], default=nan), 2)
    result["studyTableEqual"] = f"all {entries}" if equal == entries else f"{equal} of the {entries}"
    result["studyMatrixGainLow"] = decimal(min(finite[2], default=nan), 2)
    result["studyMatrixGainHigh"] = decimal(max(finite[2], default=nan), 2)
    result["studyFewestSteps"] = _fewest_steps(inputs)
    missing = not np.isfinite(targets["step_size"].values.astype(float)).all()
    result["studyNoStepNote"] = "; n/a: no step within the range searched meets the target" if missing else ""
    return result


def _variants(inputs: Inputs) -> dict[str, str]:
    """The published methods with one choice changed: how the error of q, of omega and the order answer to it."""
    check = inputs.check("published_variants")
    chosen = check.sel({"division": VARIANT_DIVISION})
    result = {"studyVariantDt": number(float(chosen["dt"]), 3), "studyVariantSteps": rf"\num{{{VARIANT_DIVISION}}}"}
    for key in map(str, check["variant"].values):
        row = chosen.sel({"variant": key})
        base = chosen.sel({"variant": str(row["base"].values)})
        for quantity, name in (("q", "Q"), ("omega", "Omega")):
            gain = float((base["error"] / row["error"]).sel({"quantity": quantity}))
            end = f"{name}{macro_name(key)}"
            result[f"studyVariantGain{end}"] = factor(gain)
            result[f"studyVariantPercent{end}"] = decimal(100 * abs(quotient(1.0, gain) - 1), 1)
            result[f"studyVariantOrder{end}"] = decimal(float(row["order"].sel({"quantity": quantity})), 2)
    return result


def _fewest_steps(inputs: Inputs) -> str:
    """At which target errors SPIRAL takes the longest steps of all methods with one torque, as the end of a sentence."""
    targets, own = inputs.targets, "spiral_leapfrog"
    if own not in targets["integrator"].values:
        return NOT_AVAILABLE
    rivals = [str(m) for m in targets["integrator"].values if int(inputs.declared(str(m), "torques_per_step", 1)) == 1]
    beaten = []
    for column, target in enumerate(targets["target_error"].values):
        steps = {m: at(targets, "step_size", m, target_error=column) for m in rivals}
        best = max((m for m in steps if isfinite(steps[m])), key=lambda m: steps[m], default=own)
        if best != own:
            size = f"{number(steps[best], 3)} against {number(steps[own], 3)}"
            beaten.append(rf"{plain(float(target))}, where {escape(inputs.label(best))} may take longer ones ({size}\,s)")
    return "at every target error" + (f" but {' and '.join(beaten)}" if beaten else "")


def _counts(inputs: Inputs) -> dict[str, str]:
    rows = inputs.claim_rows
    # What no publication states is our own question, and not counted among its statements.
    stated = rows[rows["kind"].isin(COUNTED)] if "kind" in rows else rows
    unmeasured = bool((rows["verdict"] == "not measured").any())
    verdicts = stated["verdict"].value_counts()
    ordered = sorted(verdicts.items(), key=lambda item: (-int(item[1]), str(item[0])))
    kinds = [entry["kind"] for entry in inputs.errata_rows]
    errata = [entry for entry in inputs.errata_rows if entry["kind"] in ERRATA_KINDS]
    sources = [entry["source"] for entry in errata]
    judged = list(stated["source"])
    named = {
        "misprint": "Misprints",
        "discrepancy": "Discrepancies",
        "ambiguity": "Ambiguities",
        "inference": "Inferences",
        "convention": "Conventions",
    }
    return {
        "studyClaimCount": str(len(stated)),
        "studyExtensionCount": str(int((rows["kind"] == "extension").sum()) if "kind" in rows else 0),
        "studyConstructionCount": str(int((rows["kind"] == "construction").sum()) if "kind" in rows else 0),
        "studyClaimVerdicts": ", ".join(rf"{count} \emph{{{escape(str(verdict))}}}" for verdict, count in ordered)
        or NOT_AVAILABLE,
        "studyUnmeasuredNote": r"\emph{Not measured} marks what a reduced run leaves out." if unmeasured else "",
        "studyErrataCount": str(len(errata)),
        "studyErrataToCheck": str(sum(entry["check"] == "pdf" for entry in errata)),
        "studyReadingCount": str(len(kinds) - len(errata)),
        **{f"studyErrataCount{SOURCE_NAMES[source]}": str(sources.count(source)) for source in SOURCES},
        **{f"studyClaimCount{SOURCE_NAMES[source]}": str(judged.count(source)) for source in SOURCES},
        **{f"study{name}": str(kinds.count(kind)) for kind, name in named.items()},
    }


def _tolerances(inputs: Inputs) -> dict[str, str]:
    """What the rules of the verdicts allow, and the fits of orders on which one of them rests."""
    orders = compared.orders(inputs)
    fits = np.concatenate([orders[f"{name}_order"].to_numpy(float) for name in compared.QUANTITIES])
    apart = np.abs(fits - np.rint(fits))[np.isfinite(fits)]
    rules = list(inputs.claim_rows.get("rule", []))
    return {
        "studyOrderBand": plain(ORDER_BAND),
        "studyAbout": rf"{100 * ABOUT:.0f}\,\%",
        "studyOrderFits": str(apart.size),
        "studyOrderFitsWithin": str(int((apart <= ORDER_BAND).sum())),
        "studyOrderFitsNinetyNine": number(float(np.quantile(apart, 0.99)), 2) if apart.size else NOT_AVAILABLE,
        "studyExceptionCount": str(rules.count("exception")),
    }


#: Where the macros come from, each from what it needs of a run.
GROUPS: tuple[Callable[[Inputs], dict[str, str]], ...] = (
    _scope,
    _methods_numbers,
    _comparisons,
    _variants,
    _counts,
    _tolerances,
    *seelen2016.GROUPS,
    *comparison.GROUPS,
    *many_body.GROUPS,
)


#: The same for the numbers that are times, or made from them; their macros begin with ``cost``.
COST_GROUPS: tuple[Callable[[Inputs], dict[str, str]], ...] = (
    *cost.GROUPS,
    *timing.GROUPS,
    *time_to_solution.GROUPS,
    *many_body.COST_GROUPS,
)


def render_cost(inputs: Inputs, path: str | Path, texts: Iterable[str | Path] = ()) -> None:
    r"""Write cost_numbers.tex: a ``\newcommand`` for each number of :data:`COST_GROUPS`, sorted by name.

    They have a file of their own, because no two runs measure the same. What ``texts`` use and this run cannot supply is
    written as not available.
    """
    found: dict[str, str] = {}
    for group in COST_GROUPS:
        with suppress(NotInRun):
            found |= group(inputs)
    _write(path, found, "cost", texts, "the times in the text")


def render(inputs: Inputs, path: str | Path, commit: Mapping[str, Any] | None = None, texts: Iterable[str | Path] = ()) -> None:
    r"""Write numbers.tex: one ``\newcommand`` for each of :func:`numbers`, sorted by name.

    A macro that the LaTeX files ``texts`` use and that this run cannot supply is written as not available.
    """
    _write(path, numbers(inputs, commit), "study", texts, "the numbers of the text")


def _write(path: str | Path, found: Mapping[str, str], prefix: str, texts: Iterable[str | Path], what: str) -> None:
    """Macros as a LaTeX file, those that ``texts`` use and ``found`` lacks as not available."""
    bad = [name for name in found if not re.fullmatch(f"{prefix}[A-Za-z]+", name)]
    assert not bad, bad
    pattern = rf"\\({prefix}[A-Za-z]+)"
    used = {name for text in texts for name in re.findall(pattern, Path(text).read_text(encoding="utf-8"))}
    lines = [
        rf"\newcommand{{\{name}}}{{{text}}}" for name, text in sorted({**dict.fromkeys(used, NOT_AVAILABLE), **found}.items())
    ]
    write_text(path, f"% Made by the study; {what}.\n" + "\n".join(lines) + "\n")
