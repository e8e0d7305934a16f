"""Table of the laws of all methods on all scenes."""

from math import isfinite
from typing import Any

import pandas as pd

from polhode.fits import contact_law as analysis
from polhode.study.chapters.contacts import frames
from polhode.study.inputs import Inputs
from polhode.study.report.latex import broken, decimal, escape, grouped_rows, number, or_dash, stacked, tabular


def contact_law(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the exponent of the time step, and of the error at a thirtieth of the contact time, by method and scene."""
    scenes = frames.scenes(inputs)
    frame = analysis.frame(scenes)
    rows: dict[tuple[str, str], Any] = {(str(row.method), str(row.scene)): row for row in frame.itertuples()}

    def row_of(method: str) -> list[str]:
        label = next(row.label for key, row in rows.items() if key[0] == method)
        cells = [escape(label)]
        for scene in scenes:
            row = rows.get((method, scene))
            if row is None or not isfinite(row.exponent):
                cells.append("--")
                continue
            low, high = (decimal(value, 1) for value in (row.exponent_low, row.exponent_high))
            error = or_dash(number(row.error_at_shown_step, 2))
            cells.append(stacked(rf"{decimal(row.exponent, 1)} [{low}, {high}]", error))
        return cells

    times_run = frame["method"].value_counts()
    common = [method for method in dict.fromkeys(frame["method"]) if times_run[method] > 1 or len(scenes) == 1]
    methods = inputs.in_order(common)
    head = ["method", *(broken(name) for name in analysis.names_with_states(scenes).values())]
    return frame, tabular("@{}l" + "c" * len(scenes) + "@{}", head, grouped_rows(inputs, methods, row_of))
