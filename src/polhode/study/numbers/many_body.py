"""The numbers of the many-body section; those that are times begin with ``cost``."""

from collections.abc import Callable
from contextlib import suppress
from math import isfinite, nan

import numpy as np
import xarray as xr

from polhode.study.ensembles import mean_error, median_error, paired_ratio, step_for
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.many_body_cost import TARGET
from polhode.study.numbers.comparison import listed
from polhode.study.numbers.formats import factor, macro_name, plain
from polhode.study.tables.latex import NOT_AVAILABLE, escape, number
from polhode.study.tables.many_body import OTHER, shown_row

#: How the scenes are called in macros.
CASES = {"chess": "Chess", "chess_no_spin": "Still", "rods": "Rods"}
#: Published time steps in macros, s.
STEPS = {3.1e-7: "Fine", 4.85e-6: "Large"}


def scenes(inputs: Inputs) -> dict[str, str]:
    """What the scenes are, and the times they have of their own."""
    return {name: text for case in inputs.scenes for name, text in _scene(inputs.many_body(case), case, "").items()}


def released(inputs: Inputs) -> dict[str, str]:
    """The same, and the errors, of the full study that came with the code."""
    result: dict[str, str] = {}
    for case in CASES:
        with suppress(NotInRun):
            data = inputs.released_many_body(case)
            result |= _scene(data, case, "Full") | _errors(data, case, "Full")
            noted = {
                name: str(data.attrs.get(name, NOT_AVAILABLE))
                for name in ("version", "commit", "date", "processor", "cpu_hours")
            }
            result |= {
                "studyFullVersion": escape(noted["version"]),
                "studyFullCommit": rf"\texttt{{{escape(noted['commit'][:12])}}}",
                "studyFullDate": escape(noted["date"][:10]),
                "studyFullProcessor": escape(noted["processor"]),
                f"studyFullHours{CASES[case]}": escape(noted["cpu_hours"]),
            }
    if not result:
        raise NotInRun("no full study came with the code")
    return result


def _scene(data: xr.Dataset, case: str, full: str) -> dict[str, str]:
    name = f"study{full}{CASES.get(case, '')}"
    if case not in CASES:
        return {}
    noted = data.attrs
    rayleigh, contact = float(noted["rayleigh_step"]), float(noted["contact_time"])
    dt = data["dt"].values
    return {
        f"{name}Clumps": str(int(noted["clumps"])),
        f"{name}Spheres": str(int(noted["spheres"])),
        f"{name}Filling": number(100 * float(noted["solid_fraction"]), 2),
        f"{name}Box": plain(float(noted["box"])),
        f"{name}Spin": number(float(noted["spin"]), 3),
        f"{name}Horizon": plain(float(noted["horizon"])),
        f"{name}Samples": str(int(noted["samples"])),
        f"{name}Seeds": str(data.sizes["seed"]),
        f"{name}Methods": str(data.sizes["method"]),
        f"{name}Steps": str(data.sizes["dt"]),
        f"{name}DtMin": plain(float(dt.min())),
        f"{name}DtMax": plain(float(dt.max())),
        f"{name}Rayleigh": number(rayleigh, 3),
        f"{name}Contact": number(contact, 3),
        f"{name}ContactSteps": number(contact / float(dt.max()), 2),
        f"{name}DtOverRayleigh": factor(float(dt.max()) / rayleigh),
        f"{name}Runs": str(int(data["energy_error"].size)),
        f"{name}Diverged": str(int(data["diverged"].sum())),
    }


def chess(inputs: Inputs) -> dict[str, str]:
    """Energy errors of the chess pieces."""
    result: dict[str, str] = {}
    for case in inputs.scenes:
        if case in CASES and case != "rods":
            result |= _errors(inputs.many_body(case), case, "")
    return result


def _errors(data: xr.Dataset, case: str, full: str) -> dict[str, str]:
    """Means, medians and ratios at the steps that the publication names, and the step at the level it names."""
    result: dict[str, str] = {}
    if case == "rods":
        return result
    dt = data["dt"].values
    at = {short: row for named, short in STEPS.items() if (row := shown_row(dt, named)) is not None}
    shown = shown_row(dt)
    for key in map(str, data["method"].values):
        name = f"{full}{CASES[case]}"
        own = macro_name(key)
        for short, row in at.items():
            result[f"study{name}Mean{short}{own}"] = number(mean_error(data, key, row).value, 2)
            result[f"study{name}Median{short}{own}"] = number(median_error(data, key, row).value, 2)
        result[f"study{name}Level{own}"] = _reached(step_for(data, key, TARGET))
        if OTHER in data["method"] and shown is not None:
            found = paired_ratio(data, key, OTHER, shown)
            result[f"study{name}Ratio{own}"] = factor(found.value)
            result[f"study{name}RatioLow{own}"] = factor(found.low)
            result[f"study{name}RatioHigh{own}"] = factor(found.high)
        result[f"study{name}Order{own}"] = number(_slope(data, key), 2)
    return result


def _reached(value: float) -> str:
    return number(value, 2) if isfinite(value) else NOT_AVAILABLE


def _slope(data: xr.Dataset, method: str) -> float:
    """The exponent of the time step with which the median energy error grows, fitted over all steps."""
    dt = data["dt"].values
    median = np.array([median_error(data, method, row).value for row in range(len(dt))])
    there = np.isfinite(median) & (median > 0)
    return float(np.polyfit(np.log(dt[there]), np.log(median[there]), 1)[0]) if there.sum() > 1 else nan


def rods(inputs: Inputs) -> dict[str, str]:
    """The rods at the end: energy, and the spin that should not have changed."""
    return _rods(inputs.many_body("rods"), "Rods")


def rods_released(inputs: Inputs) -> dict[str, str]:
    """The same of the full study that came with the code."""
    return _rods(inputs.released_many_body("rods"), "FullRods")


def _rods(data: xr.Dataset, name: str) -> dict[str, str]:
    if "energy_change" not in data:
        raise NotInRun("the rods were not followed over time")
    result = {f"study{name}Dt": plain(float(data["dt"].values[0]))}
    kept: list[str] = []
    turned: list[str] = []
    blown_up: list[str] = []
    for key, label in zip(map(str, data["method"].values), map(str, data["label"].values), strict=True):
        own = data.sel({"method": key})  # the worst of all initial states
        energy, spin = (abs(own[n]).max("seed").values for n in ("energy_change", "axial_spin_change"))
        result[f"study{name}Energy{macro_name(key)}"] = number(float(np.nanmax(energy)), 2)
        result[f"study{name}Spin{macro_name(key)}"] = number(float(np.nanmax(spin)), 2)
        lost = np.flatnonzero(spin >= float(data.attrs["spin"]))
        result[f"study{name}Lost{macro_name(key)}"] = number(float(data["time"].values[lost[0]]), 2) if lost.size else "never"
        blown = float(own["diverged_at"].min())
        result[f"study{name}Diverged{macro_name(key)}"] = number(blown, 3) if isfinite(blown) else "never"
        (blown_up if isfinite(blown) else turned if lost.size else kept).append(escape(label))
    zero = data["axial_spin_change"].max(("seed", "time"), skipna=False).values == 0
    exact = [escape(str(label)) for label, kept_exactly in zip(data["label"].values, zero, strict=True) if kept_exactly]
    result[f"study{name}ExactSpin"] = listed(exact) if exact else "none"
    result[f"study{name}KeptSpin"] = listed(kept) if kept else "none"
    result[f"study{name}LostSpin"] = listed(turned) if turned else "none"
    result[f"study{name}Blown"] = listed(blown_up) if blown_up else "none"
    return result


def times(inputs: Inputs) -> dict[str, str]:
    """Time of a step of each scene and of a run at the published level, and how many times longer than SPIRAL's."""
    steps, to_level = inputs.cost("many_body"), inputs.cost("many_body_times")
    result: dict[str, str] = {}
    for scene in map(str, steps["scene"].values):
        for key in map(str, steps["method"].values):
            value = float(steps["fastest"].sel({"scene": scene, "method": key}))
            result[f"costStep{CASES.get(scene, '')}{macro_name(key)}"] = number(value, 2)
    rows = inputs.published_numbers("delvalle_many_body")
    published = dict(zip(map(str, rows["method"]), map(float, rows["cpu"]), strict=True))
    for case in map(str, to_level["case"].values):
        if case not in CASES:
            continue
        values = to_level["cpu"].sel({"case": case}).values
        own = dict(zip(map(str, to_level["method"].values), map(float, values), strict=True))
        for key, value in own.items():
            name = f"{CASES[case]}{macro_name(key)}"
            result[f"costCpu{name}"] = number(value, 2)
            result[f"costCpuRatio{name}"] = factor(value / own.get(OTHER, nan))
    for key, value in published.items():
        result[f"costPublishedCpuRatio{macro_name(key)}"] = factor(value / published[OTHER])
    return result


GROUPS: tuple[Callable[[Inputs], dict[str, str]], ...] = (scenes, chess, rods, released, rods_released)
COST_GROUPS: tuple[Callable[[Inputs], dict[str, str]], ...] = (times,)
