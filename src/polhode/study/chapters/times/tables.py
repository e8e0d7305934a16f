"""What a step and a solution cost, and what the laws of the ensembles mean in time."""

from collections.abc import Sequence
from contextlib import suppress
from math import isfinite, isnan, nan
from typing import Any

import numpy as np
import pandas as pd

from polhode.fits.laws import Compared
from polhode.fits.step_times import in_frame
from polhode.study.chapters.laws import frames as law_frames
from polhode.study.chapters.laws.frames import FREE, PRICES, TARGET
from polhode.study.chapters.many_body.frames import TARGET as LEVEL
from polhode.study.chapters.many_body.frames import times_to_level
from polhode.study.chapters.times import frames
from polhode.study.chapters.times.frames import OPERATIONS, counts
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.claims import CLAIM_COLUMNS, CLAIM_HEAD, by_source, claim_cells
from polhode.study.report.formats import labels_of, plain
from polhode.study.report.frames import keyed
from polhode.study.report.latex import (
    above_head,
    decimal,
    escape,
    grouped_rows,
    long_table,
    number,
    or_dash,
    spanning,
    step,
    tabular,
)
from polhode.study.report.selection import PUBLISHED_SET

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
    top = spanning((r"step ($\mu$s)", len(scenes)), (rf"chess, mean error {LEVEL}\,\%", 4))
    return frame, above_head(text, top)


def operations(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A table of the torques and operations of a step of every method, and their total relative to direct Euler."""
    data = counts(inputs)
    by_method = keyed(data, "method")

    def row(key: str) -> list[str]:
        record = by_method[key]
        cells = [
            "--" if pd.isna(record[name]) else str(record[name]) for name in ("torques", *OPERATIONS, "total", "constants")
        ]
        for name in ("total_normalised", "total_left_alone"):
            text = "--" if pd.isna(record[name]) else str(record[name])
            cells.append(rf"\emph{{{text}}}" if text == str(record["total"]) else text)
        return [escape(record["label"]), *cells, decimal(record["relative"], 2)]

    head = ["method", "$n_M$", *OPERATIONS.values(), "total", "const.", "norm.", "not", "relative"]
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


#: Larger ratios are not printed; the file has them.
LARGE = 1000


def slowdown_in_time(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """A long table of the time per radian over that of the best one-torque method, by situation and price of a torque."""
    ens, times = frames.read(inputs)
    groups, places = ens.declared("group", ""), ens.declared("place", 0)
    single = sorted(np.flatnonzero(law_frames.one_torque(ens)), key=lambda i: places[i])
    records: list[dict[str, Any]] = []
    rows: list[Sequence[str] | str] = []
    for situation in frames.present(ens):
        prices = PRICES if situation is not FREE else PRICES[:1]
        by_price = [frames.in_time(ens, times, situation, price, TARGET, True) for price in prices]
        timed = [i for i in single if any(not isnan(compared.value[i]) for compared in by_price)]
        if not timed:
            continue
        rows += [r"\addlinespace[4pt]"] if rows else []
        rows.append(rf"\multicolumn{{{1 + len(PRICES)}}}{{@{{}}l}}{{\textbf{{{escape(situation.label)}}}}} \\*[2pt]")
        last = groups[timed[0]]
        for i in timed:
            records += [
                {
                    "situation": situation.key,
                    "torque_price": price,
                    "method": ens.methods[i],
                    "slowdown": float(compared.value[i]),
                    "low": float(compared.low[i]),
                    "high": float(compared.high[i]),
                    "best": ens.methods[compared.best] if compared.best >= 0 else "",
                    "told_apart": bool(compared.told_apart[i]),
                }
                for price, compared in zip(prices, by_price, strict=True)
            ]
            rows += [r"\addlinespace[2pt]"] if groups[i] != last else []
            last = groups[i]
            cells = [_cell(c, int(i)) for c in by_price]
            cells += [""] * (len(PRICES) - len(cells))
            rows.append(" & ".join([escape(_shorter(ens.label(ens.methods[i]))), *cells]) + r" \\")
    if not rows:
        raise NotInRun("no one-torque method of the ensembles was timed")
    head = ["method", *(rf"$P={price:.0f}$" for price in PRICES)]
    return pd.DataFrame(records), long_table("@{}l" + "c" * len(PRICES) + "@{}", head, rows, "slowdownintime")


def _cell(compared: Compared, method: int) -> str:
    """The ratio of a method, with an asterisk if the bodies tell it from the best, and its interval."""
    value, low, high = (float(x[method]) for x in (compared.value, compared.low, compared.high))
    if isnan(value):
        return "--"
    if compared.best == method:
        return r"\textbf{1}"
    if low > LARGE:
        return f"{_two(low)}*"
    # "330--$>$1000" would look like an arrow.
    dash = " to " if high > LARGE else "--"
    ends = "" if isnan(low) else f" ({_two(low)}{dash}{_two(high)})"
    return f"{_two(value)}{'*' if compared.told_apart[method] else ''}{ends}"


def _two(value: float) -> str:
    """Two digits; beyond :data:`LARGE` only that it is."""
    if value > LARGE:
        return rf"$>$\num{{{LARGE}}}"
    if not isfinite(value):
        return "--"
    rounded = float(f"{value:.2g}")
    return rf"\num{{{rounded:.1f}}}" if rounded < 10 else rf"\num{{{rounded:.0f}}}"


def _shorter(label: str) -> str:
    for long, short in (("(as published)", "(publ.)"), ("(torque of the ", "("), ("(mean velocities)", "(mean)")):
        label = label.replace(long, short)
    return label
