"""Many bodies in numbers: the energy of the chess pieces, and the time to the published level of its error."""

from collections.abc import Callable
from contextlib import suppress
from math import inf, isfinite

import numpy as np
import pandas as pd

from polhode.study import comparison
from polhode.study.ensembles import Estimate, mean_error, median_error, paired_ratio, spin_label, step_for
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.many_body_cost import TARGET
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
    """Mean and median energy error, their intervals, the paired ratio to SPIRAL, and the step at the published level.

    The CSV has every scene, method and step size.
    """
    if not inputs.scenes:
        raise NotInRun("this run has no many bodies")
    records = []
    for case in inputs.scenes:
        data = inputs.many_body(case)
        for method in map(str, data["method"].values):
            for row, dt in enumerate(data["dt"].values):
                estimates = {"mean": mean_error(data, method, row), "median": median_error(data, method, row)}
                if OTHER in data["method"]:
                    estimates["ratio"] = paired_ratio(data, method, OTHER, row)
                record = {"scene": case, "method": method, "dt": dt, "seeds": data.sizes["seed"]}
                for name, found in estimates.items():
                    record |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
                blown = int(data["diverged"].sel({"method": method}).isel(dt=row).sum())
                records.append({**record, "diverged": blown, "dt_at_published_level": step_for(data, method, TARGET)})
    frame = pd.DataFrame(records)
    cases = [case for case in CASES if case in inputs.scenes]
    if not cases:
        raise NotInRun("there are no chess pieces in this run")
    first = {case: inputs.many_body(case) for case in cases}
    labels = {
        str(m): str(label)
        for data in first.values()
        for m, label in zip(data["method"].values, data["label"].values, strict=True)
    }

    def row_of(method: str) -> list[str]:
        cells = [escape(labels[method])]
        for data in first.values():
            at = shown_row(data["dt"].values)
            if method not in data["method"] or at is None:
                cells += ["--"] * 4
                continue
            cells += [
                _or_infinite(mean_error(data, method, at).value),
                _or_infinite(median_error(data, method, at).value),
                "1"
                if method == OTHER
                else _between(paired_ratio(data, method, OTHER, at))
                if OTHER in data["method"]
                else "--",
                _or_dash(step_for(data, method, TARGET)),
            ]
        return cells

    head = ["method", *(["mean", "median", "ratio to SPIRAL", r"$\dt$ (s)"] * len(cases))]
    text = tabular("l" + "cccc" * len(cases), head, grouped_rows(comparison.in_order(labels), row_of))
    top = " & ".join(["", *(rf"\multicolumn{{4}}{{c}}{{{spin_label(data)}}}" for data in first.values())]) + r" \\" + "\n"
    top += "".join(rf"\cmidrule(lr){{{4 * i + 2}-{4 * i + 5}}}" for i in range(len(cases))) + "\n"
    return frame, text.replace("\\toprule\n", "\\toprule\n" + top, 1)


def _or_infinite(value: float) -> str:
    """An error; infinite where a run blew up."""
    return INFINITE if value == inf else step(value, 2)


def _between(found: Estimate) -> str:
    """A ratio with its interval."""
    if found.value == inf:
        return INFINITE
    if not isfinite(found.value):
        return NOT_AVAILABLE
    if not isfinite(found.low):
        return number(found.value, 2)
    high = number(found.high, 2) if isfinite(found.high) else INFINITE
    return f"{number(found.value, 2)} ({number(found.low, 2)}--{high})"


def _or_dash(value: float) -> str:
    return step(value, 2) if isfinite(value) else "--"


def many_body_cost(inputs: Inputs) -> tuple[pd.DataFrame, str]:
    """Time of a step of each scene, and of a run at the published level of the energy error, beside the published one."""
    times, steps = inputs.cost("many_body_times"), inputs.cost("many_body")
    published = inputs.published_numbers("delvalle_many_body").set_index("method")
    records = []
    for case in map(str, times["case"].values):
        for method in map(str, times["method"].values):
            own = times.sel({"case": case, "method": method})
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
        cells = [escape(str(times["label"].sel({"method": method}).item()))]
        cells += [decimal(float(steps["fastest"].sel({"scene": s, "method": method})), 2) for s in scenes]
        with suppress(KeyError):
            found = found_for["chess", method]
            return [
                *cells,
                *(_or_dash(found[name]) for name in ("dt", "published_dt")),
                *(number(found[name], 2) if isfinite(found[name]) else "--" for name in ("cpu_s", "published_cpu_s")),
            ]
        return [*cells, "--", "--", "--", "--"]

    head = ["method", *scenes, r"$\dt$ (s)", "published", "CPU (s)", "published"]
    rows = grouped_rows(comparison.in_order(map(str, times["method"].values)), row_of)
    text = tabular("l" + "c" * len(scenes) + "cccc", head, rows)
    top = (
        rf" & \multicolumn{{{len(scenes)}}}{{c}}{{step ($\mu$s)}} & \multicolumn{{4}}{{c}}{{chess, mean error {TARGET}\,\%}} \\"
    )
    top += "\n" + rf"\cmidrule(lr){{2-{len(scenes) + 1}}}\cmidrule(lr){{{len(scenes) + 2}-{len(scenes) + 5}}}" + "\n"
    return frame, text.replace("\\toprule\n", "\\toprule\n" + top, 1)


TABLES: dict[str, Callable[[Inputs], tuple[pd.DataFrame, str]]] = {"many_body": many_body, "many_body_cost": many_body_cost}
