"""What publications state, judged by what this run measured: data/claims.yaml -> claims.csv.

A claim names one of the measures below, the problem it is about (``problem:``, by default that of del Valle et al. 2024), the
published number and how to compare. A measure that the run cannot supply (a problem, a method or a target left out of the
configuration) gives the verdict "not measured".
"""

from collections.abc import Mapping
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
import yaml

from polhode.study import comparison, many_body_claims, seelen2016
from polhode.study.inputs import Inputs, NotInRun, interpolated_step, is_published_ladder
from polhode.study.measured import Measure, Measured
from polhode.study.storage import write_text

COLUMNS = [
    "id",
    "source",
    "kind",
    "location",
    "statement",
    "note",
    "published",
    "threshold",
    "measured",
    "low",
    "high",
    "comparison",
    "tolerance",
    "verdict",
    "evidence",
]
#: Verdicts by the kind of a claim: borne out, not, or undecided. An extension is a question of ours that no publication
#: answers; what holds by construction here is no finding. Neither is counted among the statements of the publications.
VERDICTS: dict[str, tuple[str, str, str]] = {
    "number": ("reproduced", "not reproduced", "undecided"),
    "statement": ("holds", "does not hold", "undecided"),
    "construction": ("by construction", "does not hold", "undecided"),
    "extension": ("ours: holds", "ours: does not hold", "ours: undecided"),
}
COUNTED = ("number", "statement")


def of(data: xr.Dataset, method: str) -> xr.Dataset:
    """The row of one method.

    Raises
    ------
    NotInRun
        If the data do not hold it.
    """
    if method not in data.method:
        raise NotInRun(f"{method} is not in this run")
    # Not data.sel(method=...): that keyword of xarray means inexact look-up.
    return data.sel({"method": method})


def worst_interpolated_ratio(results: Inputs, method: str, targets: list[float]) -> tuple[float, str]:
    """The ratio of our step size to the published one that is farthest from 1, over these target errors (Table 2).

    Ours is read off the error curve between the published step sizes, as the publication's is, and in its measure.
    """
    runs = results.errors.where(results.errors.dt_set == "published", drop=True)
    if not is_published_ladder(runs.dt.values):
        raise NotInRun("the published step sizes are not in this run")
    printed = results.published_steps
    rows = printed[printed.method == method].set_index("target_error").dt
    error = of(runs, method).mean_error_as_published.values
    return _worst({t: interpolated_step(runs.dt.values, error, t) / rows[t] for t in targets})


def _worst(ratios: dict[float, float]) -> tuple[float, str]:
    """The ratio farthest from 1, and all of them in words."""
    worst = max(ratios.values(), key=lambda r: abs(np.log(r)) if np.isfinite(r) else np.inf)
    return worst, "ours/published: " + ", ".join(f"{ratio:.5g} at {target:.0e}" for target, ratio in ratios.items())


def order_per_step(results: Inputs, method: str, quantity: str) -> Measured:
    """The order of the error of one step, as publications of this field count: the order at a fixed time plus 1."""
    row = of(results.errors, method)
    value = float(row[f"{quantity}_order"])
    if not np.isfinite(value):
        raise NotInRun(f"too few step sizes for an order of {method}")
    low, high, dt_min, dt_max = (float(row[f"{quantity}_order_{name}"]) for name in ("low", "high", "dt_min", "dt_max"))
    words = f"at a fixed time {value:.4g} [{low:.4g}, {high:.4g}], fitted over dt = {dt_min:.2g} to {dt_max:.2g} s"
    return Measured(value + 1, words, low + 1, high + 1)


def highest_order_per_step(results: Inputs, methods: list[str], quantity: str) -> Measured:
    """The highest of several methods' orders."""
    found = {m: order_per_step(results, m, quantity) for m in methods}
    words = ", ".join(f"{m} {one.value:.3g}" for m, one in found.items())
    highest = [max(getattr(one, name) for one in found.values()) for name in ("value", "low", "high")]
    return Measured(highest[0], words, *highest[1:])


def share_won(results: Inputs, method: str, rivals: list[str], quantity: str) -> tuple[float, str]:
    """The share of the decided published step sizes at which no rival has a smaller error.

    Where the method and a rival are below the round-off that the steps may accumulate (their number times the machine
    precision), nothing can be said, and the step size counts neither for nor against the method.
    """
    runs = results.errors.where(results.errors.dt_set == "published", drop=True)
    if not runs.dt.size:
        raise NotInRun("no published step sizes in this run")
    own = of(runs, method)[quantity].values
    others = np.min([of(runs, r)[quantity].values for r in rivals], axis=0)
    floor = np.finfo(float).eps * of(runs, method).steps.values
    open_ = np.maximum(own, others) < floor
    won = (own <= others) & ~open_
    lost = [f"{dt:.2g}" for dt in runs.dt.values[~won & ~open_]]
    if open_.all():
        raise NotInRun("rounding decides at every step size")
    evidence = f"{int(won.sum())} of {int((~open_).sum())} step sizes" + (f", not at dt = {', '.join(lost)} s" if lost else "")
    undecided = f"; {int(open_.sum())} more are undecided by rounding and not counted" if open_.any() else ""
    return float(won[~open_].mean()), evidence + undecided


def share_of_time_won(results: Inputs, method: str, rivals: list[str], quantity: str) -> tuple[float, str]:
    """The share of the samples of the long run at which no rival has a smaller error."""
    data = results.long_run.isel(time=slice(1, None))
    own = of(data, method)[quantity].values
    others = np.min([of(data, r)[quantity].fillna(np.inf).values for r in rivals], axis=0)
    won = own <= others
    return float(won.mean()), f"{int(won.sum())} of {won.size} samples up to t = {float(data.time[-1]):g} s"


def long_run_maximum(results: Inputs, method: str, quantity: str) -> tuple[float, str]:
    """The largest value of an error over the long run."""
    data = results.long_run
    row = of(data, method)[quantity]
    return float(row.max()), f"up to t = {float(data.time[-1]):g} s at dt = {data.attrs['dt']:g} s"


def long_run_ratio(results: Inputs, method: str, other: str, quantity: str) -> tuple[float, str]:
    """The largest error of one method over the long run, divided by that of another."""
    one, where = long_run_maximum(results, method, quantity)
    two, _ = long_run_maximum(results, other, quantity)
    return one / two, f"{one:.2g} against {two:.2g} {where}"


def error_ratio(results: Inputs, method: str, other: str, quantity: str) -> tuple[float, str]:
    """The geometric mean of the ratio of two methods' errors over the step sizes of the fit of the second."""
    runs = results.errors
    low, high = (float(of(runs, other)[f"q_order_dt_{end}"]) for end in ("min", "max"))
    chosen = (runs.dt >= low) & (runs.dt <= high)
    ratio = (of(runs, method)[quantity] / of(runs, other)[quantity]).where(chosen, drop=True)
    return float(np.exp(np.log(ratio).mean())), f"dt = {low:.2g} to {high:.2g} s"


def step_ratio(results: Inputs, method: str, other: str, target: float) -> tuple[float, str]:
    """How much larger the step of one method may be than that of another, at one target error."""
    found = results.targets
    if target not in found.target_error:
        raise NotInRun(f"target {target:g} is not in this run")
    one, two = (float(of(found, m).step_size.sel(target_error=target)) for m in (method, other))
    return one / two, f"dt = {one:.4g} s against {two:.4g} s at a mean error of {target:.0e}"


def order(results: Inputs, method: str, quantity: str) -> Measured:
    """The order of the error at a fixed time."""
    value, evidence, low, high = order_per_step(results, method, quantity)
    return Measured(value - 1, evidence.replace("at a fixed time ", "fit ", 1), low - 1, high - 1)


def lowest_order(results: Inputs, method: str, problems: list[str]) -> Measured:
    """The lowest order of q or omega over several problems."""
    found = {f"{p}, {name}": order(results.of(p), method, name) for p in problems for name in ("q", "omega")}
    words = ", ".join(f"{one.value:.4g} ({key})" for key, one in found.items())
    lowest = [min(getattr(one, name) for one in found.values()) for name in ("value", "low", "high")]
    return Measured(lowest[0], words, *lowest[1:])


def mean_order(results: Inputs, method: str, quantity: str) -> Measured:
    """The order with which the mean of an error over time falls (Seelen et al. 2016, Fig. 3)."""
    fit = seelen2016.mean_slope(results, method, quantity)
    if not np.isfinite(fit.order):
        raise NotInRun(f"too few step sizes for an order of {method}")
    words = f"fit {fit.order:.4g} [{fit.low:.4g}, {fit.high:.4g}], over dt = {fit.dt_min:.2g} to {fit.dt_max:.2g} s"
    return Measured(fit.order, words, fit.low, fit.high)


def share_converging(results: Inputs, methods: list[str], quantity: str) -> tuple[float, str]:
    """The share of the published step sizes below which the mean error still falls; the lowest of the methods."""
    shares, words = [], []
    for method in methods:
        dt, error = seelen2016.mean_error(results, method, quantity)
        falls = np.diff(error) > 0
        if not falls.size:
            raise NotInRun("too few step sizes")
        shares.append(float(falls.mean()))
        stuck = [f"{step:.2g}" for step in dt[:-1][~falls]]
        words.append(f"{method}: {int(falls.sum())} of {falls.size}" + (f", not at dt = {', '.join(stuck)} s" if stuck else ""))
    return min(shares), "; ".join(words)


def growth_at_end(results: Inputs, methods: list[str], quantity: str) -> tuple[float, str]:
    """The error at the end of the long run over that at half of it; the lowest of the methods."""
    data = results.long_run
    middle = int(np.argmin(np.abs(data.time.values - data.time.values[-1] / 2)))
    pairs = {m: of(data, m)[quantity].values[[middle, -1]] for m in methods}
    words = ", ".join(f"{m} {half:.3g} to {end:.3g}" for m, (half, end) in pairs.items())
    return float(min(end / half for half, end in pairs.values())), f"{words} from t = {float(data.time[middle]):g} s to the end"


def arrow_component(results: Inputs, row: str, component: str) -> tuple[float, str]:
    """A component of the arrow on the sphere after 1 s: exact or of a method (Seelen et al. 2016, Table 1)."""
    ours = seelen2016.sphere_end(results)
    if row not in ours.index:
        raise NotInRun(f"{row} is not in this run")
    return float(ours[component][row]), f"{row}: x = {ours.x[row]:.7f}, z = {ours.z[row]:.7f}"


def arrow_error(results: Inputs, method: str) -> tuple[float, str]:
    """The error of x as Table 1 of Seelen et al. (2016) defines it, against the printed theory, in per cent."""
    x, _ = arrow_component(results, method, "x")
    exact, _ = arrow_component(results, "exact", "x")
    theory = float(seelen2016.printed_rows(results).x["Theory"])
    against_exact = seelen2016.error_percent(x, exact)
    return seelen2016.error_percent(x, theory), f"against the printed theory; {against_exact:.3g} % against the exact value"


def arrow_error_ratio(results: Inputs, method: str, other: str) -> tuple[float, str]:
    """How many times the error of x after 1 s of one method is that of another, against the exact value."""
    exact, _ = arrow_component(results, "exact", "x")
    one, two = (seelen2016.error_percent(arrow_component(results, m, "x")[0], exact) for m in (method, other))
    return one / two, f"{one:.3g} % against {two:.3g} %"


def pair_ratio(results: Inputs, method: str, other: str) -> tuple[float, str]:
    """The largest relative error of the first cylinder's spin over the run, divided by another method's (Fig. 5b)."""
    one, two = (float(np.nanmax(seelen2016.first_spin_error(results, m))) for m in (method, other))
    return one / two, f"{one:.2g} against {two:.2g} at dt = {results.of(seelen2016.PAIR).long_run.attrs['dt']:g} s"


def evaluations_per_step(results: Inputs, method: str) -> tuple[float, str]:
    """Torque evaluations of the runs over their steps, at the finest step; one more at the start does not count."""
    row = of(results.errors, method)
    finest = int(np.argmin(row.dt.values))
    steps, count = float(row.steps.values[finest]), float(row.torque_evaluations.values[finest])
    return float(np.floor(count / steps)), f"{count:g} evaluations in {steps:g} steps"


def drift_growth(results: Inputs, method: str, quantity: str) -> tuple[float, str]:
    """The exponent of time with which something that the motion keeps departs from it over the long run."""
    data = results.long_run
    found = comparison.drift(data.time.values, of(data, method)[quantity].values)
    if not np.isfinite(found.growth):
        raise NotInRun(f"no growth of {quantity} could be fitted for {method}")
    return found.growth, f"{found.last:.2g} at t = {float(data.time[-1]):g} s, dt = {data.attrs['dt']:g} s"


def return_angle(results: Inputs, method: str) -> tuple[float, str]:
    """The largest angle between the start and where a run there and back ends, over problems and steps."""
    rows = of(results.check("reversibility"), method)
    words = ", ".join(f"{float(rows.return_angle.sel(problem=p).max()):.2g} ({p})" for p in map(str, rows.problem.values))
    return float(rows.return_angle.max()), words


def variant_order(results: Inputs, variant: str, problem: str, quantity: str) -> tuple[float, str]:
    """The order of the note of Calzavarini (2010) with these misprints; 0 where the error does not go to zero."""
    check = results.check("note_corrections")
    if variant not in check.variant or problem not in check.problem:
        raise NotInRun(f"the check holds no {variant} on {problem}")
    row = check.sel({"variant": variant, "problem": problem, "quantity": quantity})
    value = float(row["order"])
    return value if np.isfinite(value) else 0.0, f"error {float(row.finest_error):.2g} at dt = {float(row.dt.min()):.2g} s"


#: The division of the test's second at which single choices of the published methods are compared.
VARIANT_DIVISION = 2**13


def published_variant_gain(results: Inputs, variant: str, quantity: str) -> tuple[float, str]:
    """The error of a published method over its error with one choice changed (check ``published_variants``)."""
    check = results.check("published_variants")
    if variant not in check.variant or VARIANT_DIVISION not in check.division:
        raise NotInRun(f"the check holds no {variant}")
    row = check.sel({"division": VARIANT_DIVISION, "quantity": quantity})
    changed = row.sel({"variant": variant})
    base, own = (float(r.error) for r in (row.sel({"variant": str(changed.base.values)}), changed))
    return base / own, f"{base:.3g} against {own:.3g} at dt = {float(changed.dt):.3g} s"


def published_variant_order(results: Inputs, variant: str, quantity: str) -> tuple[float, str]:
    """The order of a published method with one choice changed."""
    check = results.check("published_variants")
    if variant not in check.variant:
        raise NotInRun(f"the check holds no {variant}")
    row = check.sel({"variant": variant, "quantity": quantity})
    return float(row.order), f"fitted over dt = {float(row.dt.min()):.2g} to {float(row.dt.max()):.2g} s"


def moment_influence(results: Inputs, least: float) -> tuple[float, str]:
    """The largest angle, rad, by which NO_SQUISH changes with its arbitrary moment, over moments from ``least`` kg m^2."""
    check = results.check("extended_inertia")
    chosen = check.isel(i11=(check.i11.values >= least))
    worst = chosen.angle_to_plain.max("time")
    at = float(chosen.i11.values[int(np.argmax(worst.values))])
    return float(worst.max()), f"at I_11 = {at:g} kg m^2, {check.attrs['steps']} steps of the {check.attrs['problem']}"


MEASURES: dict[str, Measure] = many_body_claims.MEASURES | {
    f.__name__: f
    for f in (
        worst_interpolated_ratio,
        order_per_step,
        highest_order_per_step,
        share_won,
        share_of_time_won,
        long_run_maximum,
        long_run_ratio,
        error_ratio,
        step_ratio,
        order,
        lowest_order,
        mean_order,
        share_converging,
        growth_at_end,
        arrow_component,
        arrow_error,
        arrow_error_ratio,
        pair_ratio,
        evaluations_per_step,
        drift_growth,
        return_angle,
        variant_order,
        published_variant_gain,
        published_variant_order,
        moment_influence,
    )
}


def accepted(comparison: str, published: float, tolerance: float) -> tuple[float, float]:
    """The range of measured numbers that bear the published one out: within a relative tolerance, at least or at most.

    Raises
    ------
    ValueError
        If ``comparison`` is none of ``equal``, ``at least`` and ``at most``.
    """
    margin = tolerance * abs(published)
    if comparison == "equal":
        return published - margin, published + margin
    if comparison == "at least":
        return published - margin, inf
    if comparison == "at most":
        return -inf, published + margin
    raise ValueError(f"unknown comparison {comparison!r}; use 'equal', 'at least' or 'at most'")


def verdict(comparison: str, published: float, measured: Measured, tolerance: float) -> bool | None:
    """Whether the measured number bears the published one out; None where its interval does not decide.

    A number with an interval is borne out if all of the interval is accepted, and not if none of it is.
    """
    lowest, highest = accepted(comparison, published, tolerance)
    if not (isfinite(measured.low) or isfinite(measured.high)):
        return bool(lowest <= measured.value <= highest)
    if lowest <= measured.low and measured.high <= highest:
        return True
    if measured.high < lowest or measured.low > highest:
        return False
    return None


def judge(inputs: Inputs, claims: str | Path, output: str | Path, measures: Mapping[str, Measure] = MEASURES) -> None:
    """Judge every claim of the YAML file ``claims`` and write the table.

    Parameters
    ----------
    inputs : the run and the published numbers; a claim without a problem is about that of ``inputs``
    measures : what a claim may name

    Raises
    ------
    ValueError
        If a claim names an unknown measure or comparison; the message names the claim.
    """
    rows = []
    for claim in yaml.safe_load(Path(claims).read_text(encoding="utf-8")):
        rows.append(_row(claim, inputs.of(claim.get("problem", inputs.problem)), measures))
    write_text(output, pd.DataFrame(rows, columns=COLUMNS).to_csv(index=False, lineterminator="\n"))


def _row(claim: dict[str, Any], results: Inputs, measures: Mapping[str, Measure]) -> dict[str, Any]:
    if claim["measure"] not in measures:
        raise ValueError(f"claim {claim['id']}: unknown measure {claim['measure']!r}; known are {', '.join(measures)}")
    if claim["kind"] not in VERDICTS:
        raise ValueError(f"claim {claim['id']}: unknown kind {claim['kind']!r}; known are {', '.join(VERDICTS)}")
    tolerance = float(claim.get("tolerance", 0.0))
    row = {name: claim[name] for name in ("id", "source", "kind", "location", "statement", "published")}
    row |= {"note": "", "threshold": claim.get("threshold", "printed"), "comparison": claim["comparison"]}
    row |= {"tolerance": tolerance, "low": np.nan, "high": np.nan}
    try:
        measured = Measured(*measures[claim["measure"]](results, **claim["arguments"]))
        borne_out = verdict(claim["comparison"], float(claim["published"]), measured, tolerance)
    except NotInRun as missing:
        return row | {"measured": np.nan, "verdict": "not measured", "evidence": str(missing)}
    except ValueError as error:
        raise ValueError(f"claim {claim['id']}: {error}") from error
    words = VERDICTS[claim["kind"]]
    evidence, reason = measured.evidence, claim.get("reason", "")
    if claim.get("show"):
        row["note"] = evidence
    if borne_out is False and reason:
        evidence = f"{evidence}; {reason}"
    row |= {name: float(f"{getattr(measured, name):.6g}") for name in ("low", "high")}
    word = words[2] if borne_out is None else words[not borne_out]
    return row | {"measured": float(f"{measured.value:.6g}"), "verdict": word, "evidence": evidence}
