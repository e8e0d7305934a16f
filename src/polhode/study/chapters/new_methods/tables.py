"""Table of the new methods: gain over SPIRAL by class of torque, stability, drift."""

from collections.abc import Sequence
from math import isfinite, isnan

import pandas as pd

from polhode.study.chapters.new_methods import frames
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.latex import above_head, decimal, escape, step, tabular


def new_methods(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the gain in accuracy over SPIRAL at equal steps, the stability limit under friction and the energy drift."""
    frame = frames.compared(inputs)
    new = frames.new(inputs)
    if not new:
        raise NotInRun("this run holds no method of this work")
    classes = [name for name, _ in frames.representatives(inputs)]
    rows: list[Sequence[str] | str] = []
    for record in frame.to_dict("records"):
        if rows and record["method"] not in new and r"\addlinespace[3pt]" not in rows:
            rows.append(r"\addlinespace[3pt]")
        gains = [float(record[f"gain_{name}"]) for name in classes]
        drifts = [float(record[f"energy_{problem}"]) for problem in frames.LONG_RUNS]
        rows.append(
            [
                escape(str(record["label"])),
                *(_gain(gain) for gain in gains),
                _limit(float(record["stability"])),
                *(step(value, 2) if isfinite(value) else "lost" for value in drifts),
            ]
        )
    head = ["method", *classes, r"$k\dt$", "free", "heavy"]
    last = len(classes) + 1
    top = (
        rf" & \multicolumn{{{len(classes)}}}{{c}}{{error of SPIRAL over own}} & friction & \multicolumn{{2}}{{c}}{{energy}} \\"
        + "\n"
    )
    top += rf"\cmidrule(lr){{2-{last}}}\cmidrule(lr){{{last + 1}-{last + 1}}}\cmidrule(lr){{{last + 2}-{last + 3}}}" + "\n"
    return frame, above_head(tabular("l" + "r" * len(classes) + "ccc", head, rows), top)


def _limit(value: float) -> str:
    """A stability limit; infinite where none was found."""
    return "--" if isnan(value) else decimal(value, 2) if isfinite(value) else r"none"


def _gain(value: float) -> str:
    if not isfinite(value):
        return "--"
    return rf"\num{{{float(f'{value:.2g}'):g}}}"
