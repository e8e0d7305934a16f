"""Numbers on the cost of a step: operations and times."""

from math import isfinite, nan
from typing import Any

import pandas as pd
from pandas import isna

from polhode.fits.step_times import OTHER, UNIT, in_frame
from polhode.study.chapters.cost.frames import counts
from polhode.study.chapters.cost.measures import BLOCKS
from polhode.study.inputs import Inputs
from polhode.study.report.formats import enumerated, macro_name, spoken, without_comma
from polhode.study.report.frames import keyed, records
from polhode.study.report.latex import NOT_AVAILABLE, decimal, escape

#: Names of parts of a step in macros, and their keys in single_body.nc.
PARTS = {"Normalise": "normalisation", "Rotate": "rotation", "Linear": "linear_update", "Frame": "change_of_frame"}


def operations(inputs: Inputs) -> dict[str, str]:
    """Macros for the operations of a step of each method, and of its building blocks."""
    rows = keyed(counts(inputs), "method")
    result = {f"costOperations{name}": str(inputs.block_operations(block)) for name, block in PARTS.items()}
    for key, row in rows.items():
        if not isna(row["total"]):
            result[f"costOperations{macro_name(key)}"] = str(row["total"])
            result[f"costOperationsRelative{macro_name(key)}"] = decimal(row["relative"], 1)
    # The text does not include the variants as published in its comparisons.
    one = [row for key, row in rows.items() if row["torques"] == 1 and not key.endswith("_delvalle2024")]
    one.sort(key=lambda row: int(row["total"]))
    names = [row["method"] for row in one]
    if not {UNIT, "spiral_leapfrog"} <= set(names):
        return result
    cheaper = one[names.index(UNIT) + 1 : names.index("spiral_leapfrog")]
    result["costOperationsCheaper"] = enumerated(spoken(inputs, str(row["method"])) for row in cheaper)
    result["costOperationsMost"] = escape(one[-1]["label"])
    result["costOperationsMostRelative"] = decimal(one[-1]["relative"], 1)
    return result


#: Names of the frames in macros.
FRAMES = {"body": "Body", "lab": "Lab"}


def measured(inputs: Inputs) -> dict[str, str]:
    """Macros for the machine on which the times were measured, and for the procedure."""
    step = inputs.cost("step")
    noted, released = step.attrs, "timed" in step and bool(step.attrs.get("released"))
    times = "Where marked $^*$ in the table, the relative time is from the release, and the other times follow from it."
    texts = {name: escape(str(noted.get(name, NOT_AVAILABLE))) for name in ("cpu", "system", "clock", "core", "problem")}
    block, dt = float(noted.get("block", nan)), float(noted.get("dt", nan))
    return {
        "costCpu": texts["cpu"],
        "costSystem": texts["system"],
        "costClock": texts["clock"],
        "costReleasedTimes": times if released else "",
        "costDay": escape(str(noted.get("date", NOT_AVAILABLE))[:10]),
        "costVersions": f"Numba {escape(str(noted.get('numba', NOT_AVAILABLE)))}",
        "costRounds": str(noted.get("rounds", NOT_AVAILABLE)),
        "costBlock": decimal(1e3 * block, 1),
        "costStepSize": rf"\num{{{dt:.0e}}}" if isfinite(dt) else NOT_AVAILABLE,
    }


def steps(inputs: Inputs) -> dict[str, str]:
    """Macros for the time of a step of each method, in ns and relative to direct Euler, and for the cost of normalisation."""
    step = inputs.cost("step")
    result: dict[str, str] = {}
    for frame, name in FRAMES.items():
        rows = in_frame(step, frame)
        for row in records(rows):
            key = macro_name(row["method"])
            result[f"costStep{name}{key}"] = decimal(row["step"], 1)
            result[f"costNormalising{name}{key}"] = percent(row["normalised"] / row["left_alone"] - 1)
            result[f"costExtra{name}{key}"] = percent(row["to_euler"] - 1)
        result |= _compared(rows, name)
    body, lab = (in_frame(step, frame).set_index("method") for frame in FRAMES)
    exchange = lab["step"] - body["step"]
    for key in body.index:
        result[f"costExchange{macro_name(str(key))}"] = decimal(float(exchange[key]), 0)
    return result


def percent(fraction: float) -> str:
    """A fraction as an integer percentage, with its sign if it is negative."""
    return rf"\num{{{100 * fraction:.0f}}}\,\%" if isfinite(fraction) else NOT_AVAILABLE


def _compared(rows: pd.DataFrame, name: str) -> dict[str, str]:
    """Macros on all methods with the angular velocity kept in one frame."""
    added = rows["normalised"] / rows["left_alone"] - 1
    # The text does not rank the variants as published.
    ranked = rows[~rows["method"].str.endswith("_delvalle2024")].sort_values("step")
    ours = float(ranked["step"][ranked["method"] == OTHER].min())
    cheaper = ranked[(ranked["step"] < ours) & (ranked["method"] != UNIT)]
    dearest = records(ranked)[-1]
    spread = rows["median"] / rows["step"] - 1
    return {
        f"costNormalisingLeast{name}": percent(float(added.min())),
        f"costNormalisingMost{name}": percent(float(added.max())),
        f"costCheaper{name}": enumerated(escape(without_comma(label)) for label in cheaper["label"]),
        f"costDearest{name}": escape(str(dearest["label"])),
        f"costDearestRelative{name}": decimal(float(dearest["to_euler"]), 1),
        f"costMedianAbove{name}": percent(float(spread.median())),
        f"costMedianAboveMost{name}": percent(float(spread.max())),
    }


def time_of_an_operation(inputs: Inputs) -> dict[str, str]:
    """Macros for the time of a step compared with its operations: the range of the time per operation."""
    step, totals = inputs.cost("step"), inputs.cost("operations")["total"].to_series()
    rows = in_frame(step, "body").set_index("method")
    each = (rows["step"] / totals.reindex(rows.index)).dropna()
    if each.empty:
        return {}
    labels: Any = rows["label"]
    return {
        "costOperationLeast": decimal(float(each.min()), 2),
        "costOperationLeastOf": escape(str(labels[each.idxmin()])),
        "costOperationMost": decimal(float(each.max()), 2),
        "costOperationMostOf": escape(str(labels[each.idxmax()])),
    }


def codings(inputs: Inputs) -> dict[str, str]:
    """Macros for the extra time of a step of SPIRAL over direct Euler's in two codings, whole per cent over all problems."""
    step_times: Any = inputs.published_numbers("two_codings").set_index(["method", "problem"])
    extra = 100 * (step_times.loc[OTHER] / step_times.loc[UNIT] - 1)
    ranges = {"Kernels": extra["kernels"], "C": extra["c"], "Both": extra.stack()}
    ends = {f"{name}{end}": value for name, of in ranges.items() for end, value in (("Least", of.min()), ("Most", of.max()))}
    return {f"costCoding{name}": rf"\num{{{value:.0f}}}" for name, value in ends.items()}


def published(inputs: Inputs) -> dict[str, str]:
    """Macros for the published value, and for the intervals of ours."""
    stated: Any = inputs.published_numbers("delvalle_cost").set_index("quantity")
    one = float(stated.loc[["step"], "value"].iloc[0])
    statements = inputs.cost_claim_rows["kind"].isin(("number", "statement"))
    return {
        "costPublishedExtra": percent(one - 1),
        "costBlocks": str(BLOCKS),
        "costCoverage": percent(1 - 2 ** (1 - BLOCKS)),
        "costClaimCount": str(int(statements.sum())),
    }
