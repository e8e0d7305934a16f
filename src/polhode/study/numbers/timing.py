"""The numbers of the text that are times of a step, or made from them; their macros begin with ``cost``."""

from collections.abc import Callable
from math import floor, isfinite, nan
from typing import Any

import numpy as np
import pandas as pd

from polhode.study import comparison
from polhode.study.cost_claims import BLOCKS
from polhode.study.inputs import Inputs
from polhode.study.numbers.comparison import listed
from polhode.study.numbers.formats import macro_name
from polhode.study.step_times import OTHER, UNIT, in_frame
from polhode.study.tables.latex import NOT_AVAILABLE, decimal, escape

#: How the frames are called in macros.
FRAMES = {"body": "Body", "lab": "Lab"}


def measured(inputs: Inputs) -> dict[str, str]:
    """On what machine the times were taken, and how."""
    noted = inputs.cost("step").attrs
    texts = {name: escape(str(noted.get(name, NOT_AVAILABLE))) for name in ("cpu", "system", "clock", "core", "problem")}
    block, dt = float(noted.get("block", nan)), float(noted.get("dt", nan))
    return {
        "costCpu": texts["cpu"],
        "costSystem": texts["system"],
        "costClock": texts["clock"],
        "costDay": escape(str(noted.get("date", NOT_AVAILABLE))[:10]),
        "costVersions": f"Numba {escape(str(noted.get('numba', NOT_AVAILABLE)))}",
        "costRounds": str(noted.get("rounds", NOT_AVAILABLE)),
        "costBlock": decimal(1e3 * block, 1),
        "costStepSize": rf"\num{{{dt:.0e}}}" if isfinite(dt) else NOT_AVAILABLE,
    }


def steps(inputs: Inputs) -> dict[str, str]:
    """The time of a step of each method, in ns and relative to direct Euler, and what normalisation adds."""
    step = inputs.cost("step")
    result: dict[str, str] = {}
    for frame, name in FRAMES.items():
        rows = in_frame(step, frame)
        for row in comparison.records(rows):
            key = macro_name(row["method"])
            result[f"costStep{name}{key}"] = decimal(row["step"], 1)
            result[f"costRelative{name}{key}"] = decimal(row["to_euler"], 2)
            result[f"costNormalising{name}{key}"] = percent(row["normalised"] / row["left_alone"] - 1)
            result[f"costToSpiral{name}{key}"] = decimal(row["to_spiral"], 2)
            result[f"costExtra{name}{key}"] = percent(row["to_euler"] - 1)
        result |= _compared(rows, name)
    body, lab = (in_frame(step, frame).set_index("method") for frame in FRAMES)
    exchange = lab["step"] - body["step"]
    for key in body.index:
        result[f"costExchange{macro_name(str(key))}"] = decimal(float(exchange[key]), 0)
    return result


def percent(part: float) -> str:
    """A part as a whole number of per cent, with its sign if it is negative."""
    return rf"\num{{{100 * part:.0f}}}\,\%" if isfinite(part) else NOT_AVAILABLE


def _compared(rows: pd.DataFrame, name: str) -> dict[str, str]:
    """What is said about all methods with the angular velocity kept in one frame."""
    labels: Any = rows["label"]
    added = rows["normalised"] / rows["left_alone"] - 1
    # The variants as published are left out of what the text ranks.
    ranked = rows[~rows["method"].str.endswith("_delvalle2024")].sort_values("step")
    ours = float(ranked["step"][ranked["method"] == OTHER].min())
    cheaper = ranked[(ranked["step"] < ours) & (ranked["method"] != UNIT)]
    dearest = comparison.records(ranked)[-1]
    spread = rows["median"] / rows["step"] - 1
    return {
        f"costNormalisingLeast{name}": percent(float(added.min())),
        f"costNormalisingMost{name}": percent(float(added.max())),
        f"costNormalisingMostOf{name}": escape(str(labels[added.idxmax()])) if added.notna().any() else NOT_AVAILABLE,
        f"costCheaper{name}": listed(escape(label) for label in cheaper["label"]) if len(cheaper) else "none",
        f"costDearest{name}": escape(str(dearest["label"])),
        f"costDearestRelative{name}": decimal(float(dearest["to_euler"]), 1),
        f"costMedianAbove{name}": percent(float(spread.median())),
        f"costMedianAboveMost{name}": percent(float(spread.max())),
    }


def operations(inputs: Inputs) -> dict[str, str]:
    """How the time of a step follows from its operations: the range of the time of one of them."""
    step, counts = inputs.cost("step"), inputs.cost("operations")["total"].to_series()
    rows = in_frame(step, "body").set_index("method")
    each = (rows["step"] / counts.reindex(rows.index)).dropna()
    if each.empty:
        return {}
    labels: Any = rows["label"]
    ratio = np.log(rows["to_euler"] / (counts.reindex(rows.index) / counts[UNIT])).dropna()
    return {
        "costOperationLeast": decimal(float(each.min()), 2),
        "costOperationLeastOf": escape(str(labels[each.idxmin()])),
        "costOperationMost": decimal(float(each.max()), 2),
        "costOperationMostOf": escape(str(labels[each.idxmax()])),
        "costOperationOff": decimal(floor(10 * float(np.exp(np.abs(ratio).max()))) / 10, 1),
    }


def published(inputs: Inputs) -> dict[str, str]:
    """What the publications say, and how our findings on it end."""
    stated: Any = inputs.published_numbers("delvalle_cost").set_index("quantity")
    one = float(stated.loc[["step"], "value"].iloc[0])
    rows = inputs.cost_claim_rows
    counted = rows[rows["kind"].isin(("number", "statement"))]["verdict"].value_counts()
    ordered = sorted(counted.items(), key=lambda item: (-int(item[1]), str(item[0])))
    return {
        "costPublishedExtra": percent(one - 1),
        "costBlocks": str(BLOCKS),
        "costCoverage": percent(1 - 2 ** (1 - BLOCKS)),
        "costClaimCount": str(int(counted.sum())),
        "costClaimVerdicts": ", ".join(rf"{count} \emph{{{escape(str(verdict))}}}" for verdict, count in ordered),
    }


GROUPS: tuple[Callable[[Inputs], dict[str, str]], ...] = (measured, steps, operations, published)
