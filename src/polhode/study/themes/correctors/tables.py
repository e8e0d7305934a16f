"""Table of correctors: what they gain for several splittings."""

from collections.abc import Sequence
from math import isfinite

import pandas as pd

from polhode.study.analysis import law_checks
from polhode.study.inputs import Inputs
from polhode.study.report.latex import decimal, escape, or_dash, tabular
from polhode.study.themes.correctors import analysis


def correctors(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the factor by which a corrector lowers the torques per radian, by splitting, class and strength."""
    frame = law_checks.strengths(inputs)
    labels = dict(zip(frame["method"], frame["label"], strict=True))
    strengths = [x for x in sorted(frame["strength"].unique()) if x <= 1]
    tables = {name: analysis.torques(inputs, name, analysis.TIGHT) for name in ("state", "lab")}
    records, rows = [], []
    for method in labels:
        plain = method.partition("_corrected")[0]
        if plain == method:
            continue
        gains = {
            (name, strength): analysis.gain(table, method, plain, strength)
            for name, table in tables.items()
            for strength in strengths
        }
        records.append(
            {"method": method, "splitting": plain, **{f"{name}_{strength:g}": x for (name, strength), x in gains.items()}}
        )
        numbers = [or_dash(decimal(x, 1 if x < 10 else 0) if isfinite(x) else "") for x in gains.values()]
        rows.append([escape(labels[method]), *numbers])
    head = ["", *(f"${strength:g}$" for _ in tables for strength in strengths)]
    listed: list[Sequence[str] | str] = [*rows]
    return pd.DataFrame(records), tabular("@{}l" + "r" * (len(head) - 1) + "@{}", head, listed)
