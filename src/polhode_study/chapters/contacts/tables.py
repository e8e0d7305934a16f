"""Table of the laws of all methods on all scenes."""

from math import isfinite
from typing import Any

from polhode.fits import contact_law as analysis
from polhode.interface.table import Column, Table
from polhode_study.chapters.contacts import frames
from polhode_study.inputs import Inputs
from polhode_study.report.frames import keyed
from polhode_study.report.latex import broken, decimal, number, or_dash, stacked
from polhode_study.report.tables import of_methods


def contact_law(inputs: Inputs) -> Table:
    """A table of the exponent of the time step, and of the error at a thirtieth of the contact time, by method and scene."""
    scenes = frames.scenes(inputs)
    frame = analysis.frame(scenes)
    rows = keyed(frame, "method", "scene")
    labels = dict(zip(frame["method"], frame["label"], strict=True))

    def cell(row: dict[str, Any] | None) -> str:
        if row is None or not isfinite(row["exponent"]):
            return "--"
        low, high = (decimal(row[name], 1) for name in ("exponent_low", "exponent_high"))
        return stacked(rf"{decimal(row['exponent'], 1)} [{low}, {high}]", or_dash(number(row["error_at_shown_step"], 2)))

    times_run = frame["method"].value_counts()
    common = [method for method in dict.fromkeys(frame["method"]) if times_run[method] > 1 or len(scenes) == 1]
    columns = [
        Column(broken(name), lambda method, scene=scene: rows.get((method, scene)), cell, "c")
        for scene, name in analysis.names_with_states(scenes).items()
    ]
    return of_methods(inputs, frame, common, labels.get, columns, tight=True)
