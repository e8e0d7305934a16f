"""Measures that several chapters use, on errors, orders and long runs: one function each."""

from typing import Any

import numpy as np

from polhode.fits.drift import drift
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.judge.measured import Measured, of
from polhode_study.report.selection import short_name


def order_per_step(results: Inputs, method: str, quantity: str) -> Measured:
    """The order of the error of one step, as publications of this field count: the order at a fixed time plus 1."""
    row = of(results.errors, method)
    value = float(row[f"{quantity}_order"])
    if not np.isfinite(value):
        raise NotInRun(f"too few step sizes for an order of {method}")
    low, high, dt_min, dt_max = (float(row[f"{quantity}_order_{name}"]) for name in ("low", "high", "dt_min", "dt_max"))
    words = f"at a fixed time {value:.4g} [{low:.4g}, {high:.4g}], fitted over dt = {dt_min:.2g} to {dt_max:.2g} s"
    return Measured(value + 1, words, low + 1, high + 1)


def share_below(errors: Any, others: Any, floor: Any, names: list[str], what: str, symbol: str) -> Measured:
    """The fraction of places at which ``errors`` is not above ``others``; undecided where both are below ``floor``."""
    open_ = np.maximum(errors, others) < floor
    won = (errors <= others) & ~open_
    if open_.all():
        raise NotInRun(f"rounding decides at all {what}")
    lost = [name for name, bad in zip(names, ~won & ~open_, strict=True) if bad]
    # The ends of a long list suffice.
    names = lost if len(lost) <= 5 else [*lost[:2], "...", *lost[-2:]]
    words = f"{int(won.sum())} of {int((~open_).sum())} {what}" + (f", not at {symbol} = {', '.join(names)}" if lost else "")
    value = float(won[~open_].mean())
    if not open_.any():
        return Measured(value, words)
    words += f"; {int(open_.sum())} more are undecided by rounding"
    return Measured(value, words, float(won.mean()), float((won | open_).mean()))


def long_run_maximum(results: Inputs, method: str, quantity: str) -> tuple[float, str]:
    """The largest value of an error over the long run."""
    data = results.long_run
    row = of(data, method)[quantity]
    return float(row.max()), f"up to t = {float(data.time[-1]):g} s at dt = {data.attrs['dt']:g} s"


def long_run_ratio(results: Inputs, method: str, other: str, quantity: str) -> tuple[float, str]:
    """The largest error of one method over the long run, divided by that of another."""
    first, where = long_run_maximum(results, method, quantity)
    second, _ = long_run_maximum(results, other, quantity)
    return first / second, f"{first:.2g} against {second:.2g} {where}"


def order(results: Inputs, method: str, quantity: str) -> Measured:
    """The order of the error at a fixed time."""
    value, evidence, low, high = order_per_step(results, method, quantity)
    return Measured(value - 1, evidence.replace("at a fixed time ", "fit ", 1), low - 1, high - 1)


def lowest_order(results: Inputs, method: str, problems: list[str]) -> Measured:
    """The lowest order of q or omega over several problems."""
    orders = {
        f"{short_name(results, p)}, {name}": order(results.of(p), method, name) for p in problems for name in ("q", "omega")
    }
    words = ", ".join(f"{order.value:.4g} ({key})" for key, order in orders.items())
    lowest = [min(getattr(order, name) for order in orders.values()) for name in ("value", "low", "high")]
    return Measured(lowest[0], words, *lowest[1:])


def drift_growth(results: Inputs, method: str, quantity: str) -> tuple[float, str]:
    """The exponent of time with which the error of a conserved quantity grows over the long run."""
    data = results.long_run
    fit = drift(data.time.values, of(data, method)[quantity].values)
    if not np.isfinite(fit.growth):
        raise NotInRun(f"no growth of {quantity} could be fitted for {method}")
    return fit.growth, f"{fit.last:.2g} at t = {float(data.time[-1]):g} s, dt = {data.attrs['dt']:g} s"
