"""Table of the slowdown in time of every one-torque method."""

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

import numpy as np
import pandas as pd

from polhode.fits.laws import Compared
from polhode.study.chapters.laws import frames as law_frames
from polhode.study.chapters.laws.frames import FREE, PRICES, TARGET
from polhode.study.chapters.laws_in_time import frames as analysis
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.latex import escape, long_table

#: Larger ratios are not printed; the file has them.
LARGE = 1000


def slowdown_in_time(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A long table of the time per radian over that of the best one-torque method, by situation and price of a torque."""
    ens, times = analysis.read(inputs)
    groups, places = ens.declared("group", ""), ens.declared("place", 0)
    single = sorted(np.flatnonzero(law_frames.one_torque(ens)), key=lambda i: places[i])
    records: list[dict[str, Any]] = []
    rows: list[Sequence[str] | str] = []
    for situation in analysis.present(ens):
        prices = PRICES if situation is not FREE else PRICES[:1]
        by_price = [analysis.in_time(ens, times, situation, price, TARGET, True) for price in prices]
        timed = [i for i in single if any(not isnan(compared.value[i]) for compared in by_price)]
        if not timed:
            continue
        rows += [r"\addlinespace[4pt]"] if rows else []
        rows.append(rf"\multicolumn{{{1 + len(PRICES)}}}{{@{{}}l}}{{\textbf{{{escape(situation.label)}}}}} \\*[2pt]")
        last = groups[timed[0]]
        for i in timed:
            records += [
                {
                    "situation": situation.key,
                    "torque_price": price,
                    "method": ens.methods[i],
                    "slowdown": float(compared.value[i]),
                    "low": float(compared.low[i]),
                    "high": float(compared.high[i]),
                    "best": ens.methods[compared.best] if compared.best >= 0 else "",
                    "told_apart": bool(compared.told_apart[i]),
                }
                for price, compared in zip(prices, by_price, strict=True)
            ]
            rows += [r"\addlinespace[2pt]"] if groups[i] != last else []
            last = groups[i]
            cells = [_cell(c, int(i)) for c in by_price]
            cells += [""] * (len(PRICES) - len(cells))
            rows.append(" & ".join([escape(_shorter(ens.label(ens.methods[i]))), *cells]) + r" \\")
    if not rows:
        raise NotInRun("no one-torque method of the ensembles was timed")
    head = ["method", *(rf"$P={price:.0f}$" for price in PRICES)]
    return pd.DataFrame(records), long_table("@{}l" + "c" * len(PRICES) + "@{}", head, rows, "slowdownintime")


def _cell(compared: Compared, method: int) -> str:
    """The ratio of a method, with an asterisk if the bodies tell it from the best, and its interval."""
    value, low, high = (float(x[method]) for x in (compared.value, compared.low, compared.high))
    if isnan(value):
        return "--"
    if compared.best == method:
        return r"\textbf{1}"
    if low > LARGE:
        return f"{_two(low)}*"
    # "330--$>$1000" would look like an arrow.
    dash = " to " if high > LARGE else "--"
    ends = "" if isnan(low) else f" ({_two(low)}{dash}{_two(high)})"
    return f"{_two(value)}{'*' if compared.told_apart[method] else ''}{ends}"


def _two(value: float) -> str:
    """Two digits; beyond :data:`LARGE` only that it is."""
    if value > LARGE:
        return rf"$>$\num{{{LARGE}}}"
    if not isfinite(value):
        return "--"
    rounded = float(f"{value:.2g}")
    return rf"\num{{{rounded:.1f}}}" if rounded < 10 else rf"\num{{{rounded:.0f}}}"


def _shorter(label: str) -> str:
    for long, short in (("(as published)", "(publ.)"), ("(torque of the ", "("), ("(mean velocities)", "(mean)")):
        label = label.replace(long, short)
    return label
