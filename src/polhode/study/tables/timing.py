"""What a step costs in time, and what the publications say about time."""

from collections.abc import Callable
from math import isfinite
from typing import Any

import pandas as pd

from polhode.study import comparison
from polhode.study.inputs import Inputs
from polhode.study.step_times import in_frame
from polhode.study.tables.judgement import CLAIM_COLUMNS, CLAIM_HEAD, by_source, claim_cells
from polhode.study.tables.latex import decimal, escape, tabular
from polhode.study.tables.torque_classes import grouped_rows


def cost(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """The time of a step of every method in every form; the CSV has a row for each method and frame."""
    step, counts = inputs.cost("step"), inputs.cost("operations")
    data = pd.concat([in_frame(step, frame) for frame in map(str, step["frame"].values)], ignore_index=True)
    totals = counts["total"].to_series()
    data["operations"] = data["method"].map(totals)
    data["operations_to_euler"] = data["operations"] / totals["euler"]
    found = comparison.keyed(data, "method", "frame")

    def row(key: str) -> list[str]:
        cells = [escape(found[key, "body"]["label"]), _decimal(found[key, "body"]["operations_to_euler"], 2)]
        for frame in ("body", "lab"):
            own = found[key, frame]
            cells.append(_decimal(own["to_euler"], 2))
            for name, declared in (("normalised", "yes"), ("left_alone", "no")):
                # Plain digits: siunitx would set them upright.
                text = f"{own[name]:.1f}" if isfinite(own[name]) else "--"
                cells.append(rf"\emph{{{text}}}" if own["normalises"] == declared else text)
        return cells

    rows = grouped_rows(list(map(str, step["integrator"].values)), row)
    head = ["method", "operations", *(["relative", "norm.", "not"] * 2)]
    text = tabular("lc@{\\hspace{10pt}}rrr@{\\hspace{14pt}}rrr", head, rows)
    top = r" & & \multicolumn{3}{c}{kept in the body frame} & \multicolumn{3}{c}{kept in the lab frame} \\" + "\n"
    top += r"\cmidrule(r{10pt}){3-5}\cmidrule(l){6-8}" + "\n"
    return data, text.replace("\\toprule\n", "\\toprule\n" + top, 1)


def _decimal(value: Any, decimals: int) -> str:
    return decimal(float(value), decimals) if isfinite(float(value)) else "--"


def cost_claims(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """The published statements about time, with what this run measured."""
    data = inputs.cost_claim_rows
    rows = by_source([(str(r["source"]), claim_cells(r)) for r in data.to_dict("records")], len(CLAIM_HEAD))
    return data, tabular(CLAIM_COLUMNS, CLAIM_HEAD, rows)


TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {"cost": cost, "cost_claims": cost_claims}
