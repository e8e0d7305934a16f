"""Table of the slowdown in time of every one-torque method."""

from collections.abc import Sequence
from math import inf, isfinite, isnan
from typing import Any

import numpy as np
import pandas as pd

from polhode.study.analysis import law_frames
from polhode.study.analysis.law_frames import PRICES, TARGET
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.latex import escape, tabular
from polhode.study.themes.laws_in_time import analysis


def slowdown_in_time(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the time per radian over that of the best one-torque method, by situation and price of a torque."""
    ens, times = analysis.read(inputs)
    columns = [(situation, price) for situation in analysis.present(ens) for price in PRICES if situation.key != "free" or price == 0]
    found = {(s.key, price): analysis.in_time(ens, times, s, price, TARGET, True) for s, price in columns}
    single = np.flatnonzero(law_frames.one_torque(ens))
    records: list[dict[str, Any]] = []
    rows: list[Sequence[str] | str] = []
    groups, places = ens.declared("group", ""), ens.declared("place", 0)
    last = None
    for i in sorted(single, key=lambda i: places[i]):
        values = [found[s.key, price] for s, price in columns]
        if all(isnan(own.value[i]) for own in values):
            continue
        for (s, price), own in zip(columns, values, strict=True):
            records.append(
                {
                    "situation": s.key,
                    "torque_price": price,
                    "method": ens.methods[i],
                    "slowdown": float(own.value[i]),
                    "low": float(own.low[i]),
                    "high": float(own.high[i]),
                    "best": ens.methods[own.best] if own.best >= 0 else "",
                    "told_apart": bool(own.told_apart[i]),
                }
            )
        if last is not None and groups[i] != last:
            rows.append(r"\addlinespace[2pt]")
        last = groups[i]
        cells = (_cell(float(c.value[i]), float(c.low[i]), float(c.high[i]), c.best == i, bool(c.told_apart[i])) for c in values)
        rows.append([escape(_shorter(ens.label(ens.methods[i]))), *cells])
    if not rows:
        raise NotInRun("no one-torque method of the ensembles was timed")
    head = ["method", *(rf"$P={price:.0f}$" for _, price in columns)]
    head = [name if name != "$P=0$" or columns[k - 1][0].key != "free" else "" for k, name in enumerate(head)]
    return pd.DataFrame(records), _with_top(tabular("@{}l" + "c" * len(columns) + "@{}", head, rows), columns)


def _with_top(text: str, columns: Sequence[tuple[Any, float]]) -> str:
    """The names of the situations above their columns."""
    top, rules, at = "", "", 2
    for key in dict.fromkeys(situation.key for situation, _ in columns):
        own = [situation for situation, _ in columns if situation.key == key]
        top += rf" & \multicolumn{{{len(own)}}}{{c}}{{{escape(own[0].label)}}}"
        rules += rf"\cmidrule(lr){{{at}-{at + len(own) - 1}}}" if len(own) > 1 else ""
        at += len(own)
    return text.replace("\\toprule\n", f"\\toprule\n{top} \\\\\n{rules}\n", 1)


def _cell(value: float, low: float, high: float, best: bool, told_apart: bool) -> str:
    if isnan(value):
        return "--"
    if best:
        return r"\textbf{1}"
    ends = "" if isnan(low) else f" ({_two(low)}--{_two(high)})"
    return f"{_two(value)}{'*' if told_apart else ''}{ends}"


def _two(value: float) -> str:
    """Two digits."""
    if value == inf:
        return r"$\infty$"
    if not isfinite(value):
        return "--"
    rounded = float(f"{value:.2g}")
    return rf"\num{{{rounded:.1f}}}" if rounded < 10 else rf"\num{{{rounded:.0f}}}" if rounded < 1e5 else rf"\num{{{rounded:.0e}}}"


def _shorter(label: str) -> str:
    for long, short in (("(as published)", "(publ.)"), ("(torque of the ", "("), ("(mean velocities)", "(mean)")):
        label = label.replace(long, short)
    return label
