"""Tables of what a step and a law change in grains."""

from collections.abc import Sequence
from contextlib import suppress
from math import isfinite
from typing import Any

import pandas as pd

from polhode.study.chapters.grains import frames as analysis
from polhode.study.chapters.grains.frames import CURVE, SCENES, STATED, STIFFNESS, Quantity, Verdict
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.latex import broken, decimal, escape, stacked, tabular

#: What stands after a change: nothing where it is within the scatter; what leaves it is in bold type.
UNDECIDED_MARK = r"\,?"
#: What stands for a change with a step at which no run of some method lasts.
LOST_RUN = "lost"


def grains(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the change with each step, over all methods; the file has all comparisons of all experiments."""
    rows: list[Sequence[str] | str] = []
    frames, datasets = [], analysis.scenes(inputs)
    divisions = sorted({n for data in datasets.values() for n in analysis.coarser(data)})
    for experiment, data in datasets.items():
        frame = analysis.frame(inputs, experiment)
        frames.append(frame.assign(experiment=experiment))
        finest = int(data["division"].values[-1])
        rows.append(
            rf"\multicolumn{{{3 + len(divisions)}}}{{@{{}}l}}{{\emph{{{SCENES[experiment]}}}, shortest step $T/{finest}$}} \\"
        )
        steps = analysis.chosen(frame, "step", "all")
        for name, quantity in analysis.compared(data).items():
            of_name = steps[steps["quantity"] == name].set_index("steps_in_contact").to_dict("index")
            cells = [_cell(of_name[n], quantity) if n in of_name else "" for n in divisions]
            methods = data[name].isel(division=-1).sel(variant=analysis.variants(data, "method"))
            value = "" if name == CURVE else decimal(float(methods.mean()) * quantity.factor, quantity.decimals)
            rows.append(
                [_name(quantity), value, decimal(analysis.scatter(data, name) * quantity.factor, quantity.decimals), *cells]
            )
        rows.append(r"\addlinespace[3pt]")
    with suppress(NotInRun):
        frames.append(analysis.frame(inputs, STIFFNESS).assign(experiment=STIFFNESS))
    head = ["", "shortest", "scatter", *(rf"$T/{division}$" for division in divisions)]
    return pd.concat(frames, ignore_index=True), tabular("lrr" + "c" * len(divisions), head, rows[:-1])


def grains_laws(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the change with each law at one step."""
    rows: list[Sequence[str] | str] = []
    labels: dict[str, str] = {}
    frames, datasets = [], analysis.scenes(inputs)
    for data in datasets.values():
        labels |= {key: str(data["label"].sel(variant=key).values) for key in analysis.variants(data, "law")}
    for experiment, data in datasets.items():
        laws = analysis.chosen(analysis.frame(inputs, experiment), "law", division=STATED)
        frames.append(laws.assign(experiment=experiment))
        rows.append(rf"\multicolumn{{{1 + len(labels)}}}{{@{{}}l}}{{\emph{{{SCENES[experiment]}}}}} \\")
        for name, quantity in analysis.compared(data).items():
            of_name = laws[laws["quantity"] == name].set_index("variant").to_dict("index")
            rows.append([_name(quantity), *(_cell(of_name[key], quantity) if key in of_name else "" for key in labels)])
        rows.append(r"\addlinespace[3pt]")
    head = ["", *map(broken, labels.values())]
    return pd.concat(frames, ignore_index=True), tabular("l" + "c" * len(labels), head, rows[:-1])


def _name(quantity: Quantity) -> str:
    return rf"\quad {escape(quantity.name + (f' ({quantity.unit})' if quantity.unit else ''))}"


def _cell(row: dict[Any, Any], quantity: Quantity) -> str:
    if not isfinite(row["change"]):
        return LOST_RUN
    ends = (round(row[end] * quantity.factor, quantity.decimals) + 0.0 for end in ("change", "low", "high"))  # no -0.0
    value, low, high = (decimal(x, quantity.decimals) for x in ends)
    first = rf"{{\boldmath{value}}}" if row["verdict"] == Verdict.LEAVES else value
    return stacked(first + (UNDECIDED_MARK if row["verdict"] == Verdict.UNDECIDED else ""), f"[{low}, {high}]")
