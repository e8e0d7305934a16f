"""Measures for the statements of del Valle et al. (2024) and others on errors, orders and steps: one function each."""

from typing import Any

import numpy as np
import xarray as xr

from polhode.fits.ladders import Ladder, is_published_ladder
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.judge.measured import Measured, of
from polhode_study.judge.measures import order_per_step, share_below
from polhode_study.report import selection


def worst_interpolated_ratio(results: Inputs, method: str, targets: list[float]) -> tuple[float, str]:
    """The ratio of our step size to the published one that is farthest from 1, over these target errors (Table 2).

    Ours is read off the error curve between the published step sizes, as in the publication, and with its measure.
    """
    runs = _as_published(results)
    if not is_published_ladder(runs.dt.values):
        raise NotInRun("the published step sizes are not in this run")
    printed = results.published_steps
    rows = printed[printed.method == method].set_index("target_error").dt
    ladder = Ladder(runs.dt.values, of(runs, method).mean_error_as_published.values, float(runs.end_time.max()))
    return _worst({t: ladder.find(t).dt / rows[t] for t in targets})


def _worst(ratios: dict[float, float]) -> tuple[float, str]:
    """The ratio farthest from 1, and all of them in words."""
    worst = max(ratios.values(), key=lambda r: abs(np.log(r)) if np.isfinite(r) else np.inf)
    return worst, "ours/published: " + ", ".join(f"{ratio:.5g} at {target:.0e}" for target, ratio in ratios.items())


def highest_order_per_step(results: Inputs, methods: list[str], quantity: str) -> Measured:
    """The highest of several methods' orders."""
    orders = {m: order_per_step(results, m, quantity) for m in methods}
    words = ", ".join(f"{results.label(m)} {order.value:.3g}" for m, order in orders.items())
    highest = [max(getattr(order, name) for order in orders.values()) for name in ("value", "low", "high")]
    return Measured(highest[0], words, *highest[1:])


def share_won(results: Inputs, method: str, rivals: list[str], quantity: str) -> Measured:
    """The fraction of the published step sizes at which no rival has a smaller error.

    Where the method and a rival are below the round-off that the steps may accumulate (their number times the machine
    precision), nothing can be decided; such step sizes give the interval, from all lost to all won.
    """
    runs = _published_runs(results)
    errors = of(runs, method)[quantity].values
    others = np.min([of(runs, r)[quantity].values for r in rivals], axis=0)
    return share_below(errors, others, _floor(of(runs, method)), [f"{dt:.2g} s" for dt in runs.dt.values], "step sizes", "dt")


def share_of_time_won(results: Inputs, method: str, rivals: list[str], quantity: str) -> Measured:
    """The fraction of the samples of the long run at which no rival has a smaller error, with an interval as above."""
    data = results.long_run.isel(time=slice(1, None))
    errors = of(data, method)[quantity].values
    others = np.min([of(data, r)[quantity].fillna(np.inf).values for r in rivals], axis=0)
    time = data.time.values
    share = share_below(
        errors, others, np.finfo(float).eps * time / data.attrs["dt"], [f"{t:.3g} s" for t in time], "samples", "t"
    )
    return share._replace(evidence=f"{share.evidence}; up to t = {float(time[-1]):g} s")


def _published_runs(results: Inputs) -> xr.Dataset:
    """The runs with the step sizes of the publication."""
    runs = _as_published(results)
    if not runs.dt.size:
        raise NotInRun("no published step sizes in this run")
    return runs


def _as_published(results: Inputs) -> xr.Dataset:
    return results.errors.isel(dt=(results.errors.dt_set == "published").values)


def _floor(runs: xr.Dataset) -> Any:
    """The round-off that the steps of runs may accumulate."""
    return np.finfo(float).eps * runs.steps.values


def ranked_as_stated(results: Inputs, method: str, better: list[str], worse: list[str], quantity: str) -> tuple[float, str]:
    """The fraction of other methods on the stated side of one: the smaller error at most of the published step sizes.

    Parameters
    ----------
    better, worse : keys of methods stated to be more, and less, accurate than ``method``
    """
    shares = {other: share_won(results, method, [other], quantity).value for other in (*better, *worse)}
    right = {other: share < 0.5 if other in better else share > 0.5 for other, share in shares.items()}
    words = ", ".join(f"{results.label(other)} {share:.0%}" for other, share in shares.items())
    return float(np.mean(list(right.values()))), f"step sizes at which {results.label(method)} is better: {words}"


def margin_decades(results: Inputs, method: str, rivals: list[str], quantity: str, rank: int) -> tuple[float, str]:
    """Orders of magnitude by which rivals exceed a method's error, each at its worst step size; the ``rank``-th largest."""
    runs = _published_runs(results)
    row = of(runs, method)
    clear = row[quantity].values > _floor(row)
    if not clear.any():
        raise NotInRun("rounding decides at every step size")
    most = {r: float(np.nanmax(np.log10(of(runs, r)[quantity].values / row[quantity].values)[clear])) for r in rivals}
    ranked = sorted(most, key=lambda r: -most[r])
    if len(ranked) < rank:
        raise NotInRun(f"fewer than {rank} of the methods compared are in this run")
    return most[ranked[rank - 1]], "decades: " + ", ".join(f"{results.label(r)} {most[r]:.1f}" for r in ranked)


def order_gap(results: Inputs, method: str, other: str, quantity: str) -> Measured:
    """The order of one method minus that of another."""
    first, second = (order_per_step(results, m, quantity) for m in (method, other))
    words = f"{first.value:.3g} against {second.value:.3g} per step"
    return Measured(first.value - second.value, words, first.low - second.high, first.high - second.low)


def step_advantage(results: Inputs, method: str, rivals: list[str]) -> tuple[float, str]:
    """Ratio of a method's step to the longest of its rivals' steps; the smallest over the target errors."""
    targets = results.targets
    step, others = of(targets, method).step_size, np.max([of(targets, r).step_size.values for r in rivals], axis=0)
    ratio = step.values / others
    if not np.isfinite(ratio).all():
        raise NotInRun("not every target is met")
    return float(ratio.min()), ", ".join(f"{x:.3g} at {t:.0e}" for x, t in zip(ratio, targets.target_error.values, strict=True))


def step_decades(results: Inputs, method: str, other: str, target: float) -> tuple[float, str]:
    """Orders of magnitude by which the step of one method can exceed that of another, at one target error."""
    ratio, words = step_ratio(results, method, other, target)
    return float(np.log10(ratio)), words


def accuracy_decades(results: Inputs, method: str, others: list[str], target: float) -> tuple[float, str]:
    """Orders of magnitude by which a method is more accurate than others at its step for a target error; the smallest."""
    runs = _published_runs(results)
    step = Ladder(runs.dt.values, of(runs, method).mean_error.values, float(runs.end_time.max())).find(target).dt
    if not np.isfinite(step):
        raise NotInRun(f"{method} does not meet {target:g} in this run")
    x = np.log(runs.dt.values)
    gains = {}
    for other in others:
        error = of(runs, other).mean_error.values
        positive = np.isfinite(error) & (error > 0)
        gains[other] = float(np.interp(np.log(step), x[positive], np.log10(error[positive])) - np.log10(target))
    least = min(gains, key=lambda other: gains[other])
    return gains[least], f"decades at dt = {step:.3g} s: " + ", ".join(f"{results.label(o)} {g:.1f}" for o, g in gains.items())


def problems_won(results: Inputs, method: str, others: list[str], quantity: str) -> tuple[float, str]:
    """The fraction of the run's problems on which a method is the more accurate of two; the lowest over several others."""
    shares = {other: _problems_won(results, method, other, quantity) for other in others}
    words = ", ".join(f"{results.label(other)} {won} of {count}" for other, (won, count) in shares.items())
    return min(won / count for won, count in shares.values()), f"problems on which it is the more accurate: {words}"


def _problems_won(results: Inputs, method: str, other: str, quantity: str) -> tuple[int, int]:
    """The number of problems on which one of two methods is more accurate, by geometric means, and the number compared."""
    ratios: dict[str, float] = {}
    for problem in results.problems:
        seen = results.of(problem)
        try:
            ratios[problem] = error_ratio(seen, method, other, quantity)[0]
        except NotInRun:
            continue
    known = {problem: ratio for problem, ratio in ratios.items() if np.isfinite(ratio)}
    if not known:
        raise NotInRun(f"no problem of this run has both {method} and {other}")
    return sum(ratio < 1 for ratio in known.values()), len(known)


def energies_won(results: Inputs, method: str, others: list[str], problems: list[str]) -> tuple[float, str]:
    """The fraction of the long runs, other methods times problems, in which the energy of one method changes less."""
    lost, pairs = [], 0
    for problem in problems:
        name, data = selection.short_name(results, problem), results.of(problem).long_run
        change = float(of(data, method).energy_drift.max())
        for other in others:
            theirs = float(of(data, other).energy_drift.fillna(np.inf).max())
            pairs += 1
            if not change < theirs:
                lost.append(f"{results.label(other)}, {name} ({theirs:.1e} against {change:.1e})")
    return 1 - len(lost) / pairs, f"{pairs - len(lost)} of {pairs}" + (f"; not against {', '.join(lost)}" if lost else "")


def error_ratio(results: Inputs, method: str, other: str, quantity: str) -> tuple[float, str]:
    """The geometric mean of the ratio of two methods' errors over the step sizes of the fit of the second."""
    runs = results.errors
    low, high = (float(of(runs[f"q_order_dt_{end}"], other)) for end in ("min", "max"))
    chosen = (runs.dt >= low) & (runs.dt <= high)
    ratio = (of(runs[quantity], method) / of(runs[quantity], other)).where(chosen, drop=True)
    return float(np.exp(np.log(ratio).mean())), f"dt = {low:.2g} to {high:.2g} s"


def step_ratio(results: Inputs, method: str, other: str, target: float) -> tuple[float, str]:
    """Ratio of the steps of two methods at one target error."""
    targets = results.targets
    if target not in targets.target_error:
        raise NotInRun(f"target {target:g} is not in this run")
    first, second = (float(of(targets, m).step_size.sel(target_error=target)) for m in (method, other))
    return first / second, f"dt = {first:.4g} s against {second:.4g} s at a mean error of {target:.0e}"


def _size(error: float) -> str:
    """An error with one digit; that of a run whose numbers overflowed has none."""
    return f"{error:.1g}" if np.isfinite(error) else "overflows"


def norm_as_stated(results: Inputs, keeping: list[str], losing: list[str], bound: float) -> tuple[float, str]:
    """The fraction of methods whose quaternion norm, never normalised, behaves as stated.

    Parameters
    ----------
    keeping, losing : stated to keep it, to within ``bound`` at every step size tried, or to lose it at one of them
    """
    check = results.check("normalisation")
    norms = {m: float(of(check, m).norm_error.sel(normalised=0).max()) for m in (*keeping, *losing)}
    right = {m: norm <= bound if m in keeping else norm > bound for m, norm in norms.items() if not np.isnan(norm)}
    if not right:
        raise NotInRun("the normalisation of none of these methods can be switched")
    words = ", ".join(f"{results.label(m)} {_size(norms[m])}" for m in right)
    return float(np.mean(list(right.values()))), f"norm errors up to t = {check.attrs['end_time']:g} s: {words}"


def least_gain_by_normalising(results: Inputs, methods: list[str], dt: float) -> tuple[float, str]:
    """Factor by which the final orientation error is larger without normalisation; the smallest over the methods."""
    gains = {m: _gain_by_normalising(results, m, dt) for m in methods}
    words = ", ".join(f"{results.label(m)} {gain:.2g}" for m, gain in gains.items())
    return min(gains.values()), f"at dt = {dt:g} s: {words}"


def _gain_by_normalising(results: Inputs, method: str, dt: float) -> float:
    """The orientation error at the end without normalisation over that with it."""
    row = of(results.check("normalisation"), method).q_error_l1.sel(dt=dt)
    value = float(row.sel(normalised=0) / row.sel(normalised=1))
    if np.isnan(value):
        raise NotInRun(f"the normalisation of {method} cannot be switched")
    return value


def normalising_ever_helps(results: Inputs, method: str) -> Measured:
    """The largest gain by normalisation for a method that does without it, over all runs that were done both ways.

    A statement that something can happen is confirmed by one run in which it does. Runs in which it does not decide nothing:
    the interval is open above.
    """
    check = of(results.check("normalisation"), method).q_error_l1
    gains = {f"dt = {float(dt):g} s": _gain_by_normalising(results, method, float(dt)) for dt in check.dt.values}
    for problem in results.problems:
        seen = results.of(problem)
        try:
            off, on = (float(of(data, method).energy_drift.max()) for data in (seen.long_run, seen.long_run_switched))
        except (NotInRun, AttributeError):
            continue
        gains[f"energy, {selection.short_name(results, problem)}"] = off / on
    best = max(gains, key=lambda name: gains[name])
    return Measured(gains[best], f"most of {len(gains)} runs ({best}); others may show more", gains[best], np.inf)


def sweeps_enough(results: Inputs, method: str, count: int) -> tuple[float, str]:
    """The error with this many iterations per step over that with many; the ratio farthest from 1, over q, omega and dt."""
    error = of(results.check("sweeps"), method).error
    ratio = error.sel(sweeps=count) / error.isel(sweeps=-1)
    stacked = ratio.stack(place=("quantity", "dt"))
    worst = int(np.argmax(np.abs(np.log(stacked.values))))
    place = stacked.place.values[worst]
    fewer = float((error.sel(sweeps=count - 1) / error.isel(sweeps=-1)).max())
    return float(stacked[worst]), f"{place[0]} at dt = {place[1]:.2g} s; with {count - 1} up to {fewer:.3g}"


def interpolation_gain(results: Inputs, variant: str) -> tuple[float, str]:
    """Factor by which the half-step quaternion in Fincham's leapfrog reduces the energy change of the free top."""
    check = results.check("simplified")
    first, second = (float(check.energy_change.sel(variant=v).max()) for v in ("without", variant))
    return first / second, f"{first:.2g} without, {second:.2g} with; {check.attrs['steps']} steps of {check.attrs['dt']:g} s"


def plain_kick_on_sphere(results: Inputs) -> tuple[float, str]:
    """The largest difference that a plain kick makes to SPIRAL on a sphere: q, or omega relative to its largest value."""
    check = results.check("simplified")
    fewer = results.block_operations("kick_spiral_leapfrog") / results.block_operations("kick_plain")
    words = f"q {float(check.sphere_q):.1g}, omega {float(check.sphere_omega):.1g}; SSPRK3 has {fewer:.2g} times the operations"
    return max(float(check.sphere_q), float(check.sphere_omega)), words


def kick_operations_ratio(results: Inputs, method: str, other: str) -> tuple[float, str]:
    """The operations of one method's kick of omega over those of another's."""
    first, second = (results.block_operations(f"kick_{name}") for name in (method, other))
    return first / second, f"{first} against {second}"


#: The number of steps per second at which single choices of the published methods are compared.
VARIANT_DIVISION = 2**13


def published_variant_gain(results: Inputs, variant: str, quantity: str) -> tuple[float, str]:
    """The error of a published method over its error with one choice changed (check ``published_variants``)."""
    check = results.check("published_variants")
    if variant not in check.variant or VARIANT_DIVISION not in check.division:
        raise NotInRun(f"the check has no {variant}")
    row = check.sel({"division": VARIANT_DIVISION, "quantity": quantity})
    changed = row.sel({"variant": variant})
    base, error = (float(r.error) for r in (row.sel({"variant": str(changed.base.values)}), changed))
    return base / error, f"{base:.3g} against {error:.3g} at dt = {float(changed.dt):.3g} s"


def published_variant_order(results: Inputs, variant: str, quantity: str) -> tuple[float, str]:
    """The order of a published method with one choice changed."""
    check = results.check("published_variants")
    if variant not in check.variant:
        raise NotInRun(f"the check has no {variant}")
    row = check.sel({"variant": variant, "quantity": quantity})
    return float(row.order), f"fitted over dt = {float(row.dt.min()):.2g} to {float(row.dt.max()):.2g} s"
