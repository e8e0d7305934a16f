"""Tables on the cost of a step: operations and times, and the published statements about them."""

from math import isfinite

import pandas as pd

from polhode.fits.step_times import in_frame
from polhode.study.chapters.cost.frames import SHOWN, counts
from polhode.study.inputs import Inputs
from polhode.study.report.claims import CLAIM_COLUMNS, CLAIM_HEAD, by_source, claim_cells
from polhode.study.report.frames import keyed
from polhode.study.report.latex import decimal, escape, grouped_rows, long_table, or_dash


def operations(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the torques and operations of a step of every method, and their total relative to direct Euler."""
    data = counts(inputs)
    by_method = keyed(data, "method")

    def row(key: str) -> list[str]:
        record = by_method[key]
        cells = ["--" if pd.isna(record[name]) else str(record[name]) for name in ("torques", *SHOWN, "total", "constants")]
        for name in ("total_normalised", "total_left_alone"):
            text = "--" if pd.isna(record[name]) else str(record[name])
            cells.append(rf"\emph{{{text}}}" if text == str(record["total"]) else text)
        return [escape(record["label"]), *cells, decimal(record["relative"], 2)]

    head = ["method", "$n_M$", *SHOWN.values(), "total", "const.", "norm.", "not", "relative"]
    rows = grouped_rows(inputs, list(by_method), row)
    return data, long_table("lc" + "r" * (len(head) - 2), head, rows, "operations", gap="")


def cost(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the time of a step of every method in every form; the CSV has one row for each method and frame."""
    step, counted = inputs.cost("step"), inputs.cost("operations")
    data = pd.concat([in_frame(step, frame) for frame in map(str, step["frame"].values)], ignore_index=True)
    totals = counted["total"].to_series()
    data["operations"] = data["method"].map(totals)
    data["operations_to_euler"] = data["operations"] / totals["euler"]
    by_method = keyed(data, "method", "frame")

    def row(key: str) -> list[str]:
        cells = [escape(by_method[key, "body"]["label"]), or_dash(decimal(by_method[key, "body"]["operations_to_euler"], 2))]
        for frame in ("body", "lab"):
            record = by_method[key, frame]
            mark = r"\rlap{$^*$}" if record["timed"] == "no" and isfinite(record["to_euler"]) else ""
            cells.append(or_dash(decimal(record["to_euler"], 2)) + mark)
            for name, declared in (("normalised", "yes"), ("left_alone", "no")):
                # Plain digits: siunitx would set them upright.
                text = f"{record[name]:.1f}" if isfinite(record[name]) else "--"
                cells.append(rf"\emph{{{text}}}" if record["normalises"] == declared else text)
        return cells

    rows = grouped_rows(inputs, list(map(str, step["integrator"].values)), row)
    head = ["method", "operations", *(["relative", "norm.", "not"] * 2)]
    top = r" & & \multicolumn{3}{c}{kept in the body frame} & \multicolumn{3}{c}{kept in the lab frame} \\" + "\n"
    top += r"\cmidrule(r{10pt}){3-5}\cmidrule(l){6-8}" + "\n"
    return data, long_table("lc@{\\hspace{10pt}}rrr@{\\hspace{14pt}}rrr", head, rows, "steptimes", top, gap="")


def cost_claims(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the published statements about time, with the measurements of this run."""
    data = inputs.cost_claim_rows
    rows = by_source([(str(r["source"]), claim_cells(r)) for r in data.to_dict("records")], len(CLAIM_HEAD))
    return data, long_table(CLAIM_COLUMNS, CLAIM_HEAD, rows, "timeclaims")
