"""Tables of the time a method takes to a given error, for one body and for many."""

from collections.abc import Sequence
from contextlib import suppress
from math import isfinite, nan
from typing import Any

import numpy as np
import pandas as pd

from polhode.study.analysis.frames import keyed
from polhode.study.analysis.many_body import TARGET, times_to_level
from polhode.study.analysis.selection import PUBLISHED_SET
from polhode.study.inputs import Inputs
from polhode.study.report.formats import labels_of, plain
from polhode.study.report.latex import above_head, decimal, escape, grouped_rows, number, or_dash, spanning, step, tabular

#: The scenes that the publications time, in the order of the columns; a user's own come after them.
PUBLISHED_SCENES = ("chess", "rods")

#: Methods as described by their originators, added to the published set.
MEANT = ("verlet", "fincham1992", "buss2000", "johnson2008", "pfc4")


def speed_up(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the speed-up over direct Euler at the published target errors, with the angular velocity in either frame."""
    data = inputs.cost("published")
    present = [str(key) for key in data["integrator"].values]
    frames = [str(frame) for frame in data["frame"].values]
    targets = [float(t) for t in sorted(data["target_error"].values, reverse=True)]
    records: list[dict[str, Any]] = []
    for key in inputs.in_order(present):
        for target in targets:
            at_target = data.sel(integrator=key, target_error=target)
            for frame in frames:
                in_frame = at_target.sel(frame=frame)
                gain = float(in_frame["speed_up_spiral"])
                records.append(
                    {
                        "method": key,
                        "frame": frame,
                        "target_error": target,
                        "dt": float(at_target["dt"]),
                        "steps": float(at_target["steps"]),
                        "seconds": float(in_frame["time_to_solution"]),
                        "speed_up_over_euler": float(in_frame["speed_up_euler"]),
                        "speed_up_of_spiral": 1 / gain if gain else nan,
                    }
                )
    frame_of = pd.DataFrame(records)
    by_run = keyed(frame_of, "method", "frame", "target_error")
    labels = labels_of(data)

    def row(key: str) -> list[str]:
        cells = [_ratio(by_run[key, frame, t]["speed_up_over_euler"]) for frame in ("lab", "body") for t in targets]
        return [escape(labels[key]), *cells]

    rows: list[Sequence[str] | str] = []
    for group in (PUBLISHED_SET, MEANT, inputs.plugins):
        keys = [key for key in group if key in present]
        rows += [r"\addlinespace[3pt]"] if rows and keys else []
        rows += [row(key) for key in keys]
    head = [r"method \hfill target error:", *([_power(t) for t in targets] * 2)]
    text = tabular("l" + "r" * len(targets) + "@{\\hspace{14pt}}" + "r" * len(targets), head, rows)
    n = len(targets)
    spans = [rf"\multicolumn{{{n}}}{{c}}{{$\omega$ kept in the {frame} frame}}" for frame in ("lab", "body")]
    top = " & ".join(["", *spans]) + r" \\" + "\n"
    top += rf"\cmidrule(r{{14pt}}){{2-{n + 1}}}\cmidrule{{{n + 2}-{2 * n + 1}}}" + "\n"
    return frame_of, above_head(text, top)


def _power(target: float) -> str:
    return rf"\num{{{target:.0e}}}"


def _ratio(value: float) -> str:
    """A ratio with two digits, as a whole number above ten."""
    if not isfinite(value):
        return "--"
    return rf"\num{{{value:.0f}}}" if value >= 9.95 else rf"\num{{{value:.1f}}}" if value >= 0.995 else rf"\num{{{value:.2f}}}"


def many_body_cost(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the time of a step in each scene, and of a run at the published energy error, with published values."""
    times, steps = times_to_level(inputs), inputs.cost("many_body")
    published = inputs.published_numbers("delvalle_many_body").set_index("method")
    records = []
    for case in map(str, times["case"].values):
        for method in map(str, times["integrator"].values):
            row = times.sel(case=case, integrator=method)
            records.append(
                {
                    "scene": case,
                    "method": method,
                    "step_time_us": float(row["step_time"]),
                    "dt": float(row["dt"]),
                    "steps": float(row["steps"]),
                    "cpu_s": float(row["cpu"]),
                    "published_dt": published["dt"].get(method, np.nan) if case == "chess" else np.nan,
                    "published_cpu_s": published["cpu"].get(method, np.nan) if case == "chess" else np.nan,
                }
            )
    frame = pd.DataFrame(records)
    timed = list(map(str, steps["scene"].values))
    scenes = sorted(timed, key=lambda s: PUBLISHED_SCENES.index(s) if s in PUBLISHED_SCENES else len(timed))
    found_for = keyed(frame, "scene", "method")

    released = str(steps.attrs.get("released", "")).split(",")

    def row_of(method: str) -> list[str]:
        cells = [escape(str(times["label"].sel(integrator=method).item()))]
        mark = r"\rlap{$^*$}" if method in released else ""
        cells += [decimal(float(steps["fastest"].sel(scene=s, integrator=method)), 2) + mark for s in scenes]
        with suppress(KeyError):
            record = found_for["chess", method]
            return [
                *cells,
                *(or_dash(step(record[name], 2)) for name in ("dt", "published_dt")),
                or_dash(number(record["cpu_s"], 2)),
                or_dash(plain(record["published_cpu_s"])),  # as printed
            ]
        return [*cells, "--", "--", "--", "--"]

    head = ["method", *map(escape, scenes), r"$\dt$ (s)", "published", "CPU (s)", "published"]
    rows = grouped_rows(inputs, inputs.in_order(map(str, times["integrator"].values)), row_of)
    text = tabular("l" + "c" * len(scenes) + "cccc", head, rows)
    top = spanning((r"step ($\mu$s)", len(scenes)), (rf"chess, mean error {TARGET}\,\%", 4))
    return frame, above_head(text, top)
