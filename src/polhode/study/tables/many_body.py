"""Many bodies in numbers: the energy of the chess pieces, and the time to the published level of its error."""

from collections.abc import Callable
from contextlib import suppress
from math import inf, isfinite
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from polhode.study import comparison
from polhode.study.ensembles import (
    Estimate,
    mean_error,
    median_error,
    paired_ratio,
    paired_ratio_over_steps,
    spin_label,
    step_for,
)
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.many_body_cost import TARGET, many_body_times
from polhode.study.tables.latex import NOT_AVAILABLE, decimal, escape, number, step, tabular
from polhode.study.tables.torque_classes import grouped_rows

#: The scenes in the order of the columns, with the method that pairs are formed with and the step of the columns, s.
CASES = ("chess", "chess_no_spin")
OTHER, SHOWN_DT = "spiral_leapfrog", 4.85e-6
INFINITE = r"$\infty$"


def shown_row(dt: np.ndarray, named: float = SHOWN_DT) -> int | None:
    """The place of a step size that the publication names, within 2 %; None if the study has none like it."""
    row = int(np.argmin(np.abs(np.log(np.asarray(dt) / named))))
    return row if abs(dt[row] / named - 1) <= 0.02 else None


def many_body(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Mean energy error with its interval, and in this run; the ratio to SPIRAL over all steps; the step at the published
    level. Scenes after the first have the mean and the ratio.

    The CSV has every scene, method and step size of the released study and of this run, with medians and coverages.
    """
    studies = {"released": _read(inputs.released_many_body), "this run": _read(inputs.many_body)}
    records = [
        record for study, scenes in studies.items() for case, data in scenes.items() for record in _records(study, case, data)
    ]
    cases = [case for case in CASES if any(case in scenes for scenes in studies.values())]
    if not cases:
        raise NotInRun("there are no chess pieces in this run, and none came with the code")
    pairs = {case: tuple(scenes.get(case) for scenes in studies.values()) for case in cases}
    labels = {
        str(m): str(label)
        for pair in pairs.values()
        for data in pair
        if data is not None
        for m, label in zip(data["integrator"].values, data["label"].values, strict=True)
    }

    def row_of(method: str) -> list[str]:
        cells = [escape(labels[method])]
        for number_of, (full, run) in enumerate(pairs.values()):
            over_steps, dt = _pair(full, method)
            cells += (
                [_mean(full, method), over_steps]
                if number_of
                else [_mean(full, method), _mean(run, method, False), over_steps, dt]
            )
        return cells

    run = pairs[cases[0]][1]
    few = "this run" if run is None else f"{run.sizes['seed']} states"
    head = ["method", "mean", few, "ratio to SPIRAL", r"$\dt$ (s)", *(["mean", "ratio to SPIRAL"] * (len(cases) - 1))]
    text = tabular("@{}llclc" + "ll" * (len(cases) - 1) + "@{}", head, grouped_rows(comparison.in_order(labels), row_of))
    spins = [spin_label(next(data for data in pair if data is not None)) for pair in pairs.values()]
    widths = [4, *([2] * (len(cases) - 1))]
    top = " & ".join(["", *(rf"\multicolumn{{{w}}}{{c}}{{{spin}}}" for w, spin in zip(widths, spins, strict=True))])
    ends = np.cumsum(widths) + 1
    top += r" \\" + "\n" + "".join(rf"\cmidrule(lr){{{e - w + 1}-{e}}}" for w, e in zip(widths, ends, strict=True)) + "\n"
    return pd.DataFrame(records), text.replace("\\toprule\n", "\\toprule\n" + top, 1)


#: All scenes that tables know; those of rods are followed over time.
SCENES = (*CASES, "rods", "rods_states", "rods_half_step")


def _read(read: Callable[[str], xr.Dataset]) -> dict[str, xr.Dataset]:
    found = {}
    for case in SCENES:
        with suppress(NotInRun):
            found[case] = read(case)
    return found


def _records(study: str, case: str, data: xr.Dataset) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for method in map(str, data["integrator"].values):
        level = step_for(data, method, TARGET)
        for row, dt in enumerate(data["dt"].values):
            estimates = {"mean": mean_error(data, method, row), "median": median_error(data, method, row)}
            if OTHER in data["integrator"]:
                estimates["ratio"] = paired_ratio(data, method, OTHER, row)
            record: dict[str, Any] = {"study": study, "scene": case, "method": method, "dt": dt, "seeds": data.sizes["seed"]}
            for name, found in estimates.items():
                record |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
            record["coverage_of_medians"] = estimates["median"].coverage
            record["diverged"] = int(data["diverged"].sel(integrator=method).isel(dt=row).sum())
            records.append({**record, "dt_at_published_level": level})
    return records


def _mean(data: xr.Dataset | None, method: str, interval: bool = True) -> str:
    """The mean at the shown step, with its interval."""
    at = shown_row(data["dt"].values) if data is not None else None
    if data is None or at is None or method not in data["integrator"]:
        return "--"
    found = mean_error(data, method, at)
    if found.value == inf:
        return INFINITE
    return number(found.value, 2) + (
        f" ({number(found.low, 2)}--{number(found.high, 2)})" if interval and isfinite(found.low) else ""
    )


def _pair(data: xr.Dataset | None, method: str) -> tuple[str, str]:
    """The ratio to SPIRAL over all steps, and the step at the published level."""
    if data is None or method not in data["integrator"]:
        return "--", "--"
    pairs = "--" if OTHER not in data["integrator"] else _between(paired_ratio_over_steps(data, method, OTHER))
    return "1" if method == OTHER else pairs, _or_dash(step_for(data, method, TARGET))


def _between(found: Estimate) -> str:
    """A ratio with its interval."""
    if found.value == inf:
        return INFINITE
    if not isfinite(found.value):
        return NOT_AVAILABLE
    if not isfinite(found.low):
        return ratio(found.value)
    return f"{ratio(found.value)} ({ratio(found.low)}--{ratio(found.high)})"


def ratio(value: float) -> str:
    """Two decimals near 1, two digits beyond."""
    return INFINITE if value == inf else decimal(value, 2) if value < 9.95 else number(value, 2)


def _or_dash(value: float) -> str:
    return step(value, 2) if isfinite(value) else "--"


def times_to_level(inputs: Inputs) -> xr.Dataset:
    """Time of a run at the published level: the steps of the released study, times what a step took in this run."""
    timing = inputs.cost("many_body")
    released = {case: data for case, data in _read(inputs.released_many_body).items() if case in CASES}
    if not released:
        raise NotInRun("no full study of the chess pieces came with this code")
    return many_body_times(timing, released)


def many_body_cost(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Time of a step of each scene, and of a run at the published level of the energy error, beside the published one."""
    times, steps = times_to_level(inputs), inputs.cost("many_body")
    published = inputs.published_numbers("delvalle_many_body").set_index("method")
    records = []
    for case in map(str, times["case"].values):
        for method in map(str, times["integrator"].values):
            own = times.sel(case=case, integrator=method)
            records.append(
                {
                    "scene": case,
                    "method": method,
                    "step_time_us": float(own["step_time"]),
                    "dt": float(own["dt"]),
                    "steps": float(own["steps"]),
                    "cpu_s": float(own["cpu"]),
                    "published_dt": published["dt"].get(method, np.nan) if case == "chess" else np.nan,
                    "published_cpu_s": published["cpu"].get(method, np.nan) if case == "chess" else np.nan,
                }
            )
    frame = pd.DataFrame(records)
    scenes = [s for s in ("chess", "rods") if s in steps["scene"]]
    found_for = comparison.keyed(frame, "scene", "method")

    def row_of(method: str) -> list[str]:
        cells = [escape(str(times["label"].sel(integrator=method).item()))]
        cells += [decimal(float(steps["fastest"].sel(scene=s, integrator=method)), 2) for s in scenes]
        with suppress(KeyError):
            found = found_for["chess", method]
            return [
                *cells,
                *(_or_dash(found[name]) for name in ("dt", "published_dt")),
                *(number(found[name], 2) if isfinite(found[name]) else "--" for name in ("cpu_s", "published_cpu_s")),
            ]
        return [*cells, "--", "--", "--", "--"]

    head = ["method", *scenes, r"$\dt$ (s)", "published", "CPU (s)", "published"]
    rows = grouped_rows(comparison.in_order(map(str, times["integrator"].values)), row_of)
    text = tabular("l" + "c" * len(scenes) + "cccc", head, rows)
    top = (
        rf" & \multicolumn{{{len(scenes)}}}{{c}}{{step ($\mu$s)}} & \multicolumn{{4}}{{c}}{{chess, mean error {TARGET}\,\%}} \\"
    )
    top += "\n" + rf"\cmidrule(lr){{2-{len(scenes) + 1}}}\cmidrule(lr){{{len(scenes) + 2}-{len(scenes) + 5}}}" + "\n"
    return frame, text.replace("\\toprule\n", "\\toprule\n" + top, 1)


TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {"many_body": many_body, "many_body_cost": many_body_cost}
