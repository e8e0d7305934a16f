"""The table of what a step changes in grains; its file has methods and laws as well."""

from contextlib import suppress
from math import isfinite
from typing import Any

import pandas as pd

from polhode.interface.table import Column, RowGroup, Table, placed
from polhode_study.chapters.grains import frames as analysis
from polhode_study.chapters.grains.frames import CURVE, SCENES, STIFFNESS, Quantity, Verdict
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.latex import decimal, escape, stacked

#: What stands after a change: nothing where it is within the scatter; what leaves it is in bold type.
UNDECIDED_MARK = r"\,?"
#: What stands for a change with a step at which no run of some method lasts.
LOST_RUN = "lost"


def grains(inputs: Inputs) -> Table:
    """A table of the change with each step, over all methods; the file has all comparisons of all experiments."""
    frames, rows, datasets = [], [], analysis.scenes(inputs)
    for experiment, data in datasets.items():
        frame = analysis.frame(inputs, experiment)
        frames.append(frame.assign(experiment=experiment))
        steps = analysis.chosen(frame, "step", "all")
        methods = data.isel(division=-1).sel(variant=analysis.variants(data, "method"))
        for name, quantity in analysis.compared(data).items():
            value = "" if name == CURVE else decimal(float(methods[name].mean()) * quantity.factor, quantity.decimals)
            scatter = decimal(analysis.scatter(data, name) * quantity.factor, quantity.decimals)
            changes = steps[steps["quantity"] == name].set_index("steps_in_contact").to_dict("index")
            title = rf"\emph{{{SCENES[experiment]}}}, shortest step $T/{int(data['division'].values[-1])}$"
            rows.append((title, quantity, changes, value, scatter))
    with suppress(NotInRun):
        frames.append(analysis.frame(inputs, STIFFNESS).assign(experiment=STIFFNESS))
    divisions = sorted({n for data in datasets.values() for n in analysis.coarser(data)})
    changes_of = [_changes(rf"$T/{division}$", division) for division in divisions]
    columns = [Column("", 1, _name), *placed(["shortest", "scatter"], "rr", first=3), *changes_of]
    return Table(pd.concat(frames, ignore_index=True), columns, rows=rows, groups=[RowGroup(0, title=str)])


def _changes(head: str, key: Any) -> Column:
    """The changes with a step or a law."""
    return Column(head, None, lambda row: _cell(row[2][key], row[1]) if key in row[2] else "", "c")


def _name(quantity: Quantity) -> str:
    return rf"\quad {escape(quantity.name + (f' ({quantity.unit})' if quantity.unit else ''))}"


def _cell(row: dict[Any, Any], quantity: Quantity) -> str:
    if not isfinite(row["change"]):
        return LOST_RUN
    ends = (round(row[end] * quantity.factor, quantity.decimals) + 0.0 for end in ("change", "low", "high"))  # no -0.0
    value, low, high = (decimal(x, quantity.decimals) for x in ends)
    first = rf"{{\boldmath{value}}}" if row["verdict"] == Verdict.LEAVES else value
    return stacked(first + (UNDECIDED_MARK if row["verdict"] == Verdict.UNDECIDED else ""), f"[{low}, {high}]")
