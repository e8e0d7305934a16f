"""Numbers on many bodies."""

from contextlib import suppress
from math import isfinite, nan

import numpy as np
import xarray as xr

from polhode.fits.orders import straight_line
from polhode.fits.seed_statistics import (
    Estimate,
    coverage_of_mean,
    coverage_of_ratio,
    followed,
    mean,
    mean_error,
    median,
    median_error,
    of_seeds,
    ran,
    ranks,
    ratio_of_means,
    ratio_of_steps,
    ratio_over_steps,
    step_for,
)
from polhode.fits.seed_statistics import ratio as ratio_of
from polhode.study.chapters.many_body.frames import (
    MACRO_NAMES,
    NEAR,
    OTHER,
    SHOWN_DT,
    TARGET,
    chess_pieces,
    common_rows,
    shown_row,
)
from polhode.study.chapters.many_body.measures import HALF_STEP, ONE_BOX, RODS, delay, reached, rise
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.report.formats import enumerated, factor, labels_of, macro_name, plain, ratio, with_interval
from polhode.study.report.latex import NOT_AVAILABLE, escape, number

#: Published time steps in macros, s.
STEPS = {3.1e-7: "Fine", 4.85e-6: "Large"}


def scenes(inputs: Inputs) -> dict[str, str]:
    """Macros for the scenes and their intrinsic times."""
    return {name: text for case in inputs.scenes for name, text in _scene(inputs.many_body(case), case, "").items()}


def released(inputs: Inputs) -> dict[str, str]:
    """Macros for the scenes and their errors, from the published-scale results shipped in data/released."""
    result: dict[str, str] = {}
    noted: dict[str, list[str]] = {name: [] for name in ("version", "commit", "date", "processor", "cpu_hours")}
    for case in MACRO_NAMES:
        with suppress(NotInRun):
            data = inputs.released_many_body(case)
            result |= _scene(data, case, "Full") | _errors(data, case, "Full")
            for name, values in noted.items():
                values.append(str(data.attrs.get(name, NOT_AVAILABLE)))
            result[f"studyFullHours{MACRO_NAMES[case]}"] = escape(noted["cpu_hours"][-1])
    if not result:
        raise NotInRun("data/released has no many-body results")
    # Scenes are renewed one by one: their dates differ, and the commit is that of the first, the pieces with spin.
    dates = sorted({date[:10] for date in noted["date"]})
    return result | {
        "studyFullVersion": escape(noted["version"][0]),
        "studyFullCommit": rf"\texttt{{{escape(noted['commit'][0][:12])}}}",
        "studyFullDate": escape(" to ".join(dict.fromkeys((dates[0], dates[-1])))),
        "studyFullProcessor": escape(noted["processor"][0]),
    }


def _scene(data: xr.Dataset, case: str, full: str) -> dict[str, str]:
    name = f"study{full}{MACRO_NAMES.get(case, '')}"
    if case not in MACRO_NAMES:
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
        f"{name}Methods": str(data.sizes["integrator"]),
        f"{name}Steps": str(data.sizes["dt"]),
        f"{name}DtMin": plain(float(dt.min())),
        f"{name}DtMax": plain(float(dt.max())),
        f"{name}Rayleigh": number(rayleigh, 3),
        f"{name}Contact": number(contact, 3),
        f"{name}ContactSteps": number(contact / float(dt.max()), 2),
        f"{name}DtOverRayleigh": factor(float(dt.max()) / rayleigh),
        f"{name}Runs": str(int((data["energy_error"].notnull() | (data["diverged"] == 1)).sum())),
        f"{name}Diverged": str(int(data["diverged"].sum())),
    }


def _errors(data: xr.Dataset, case: str, full: str) -> dict[str, str]:
    """Macros for means, medians and ratios at the published steps and over all, and for the step at the published level."""
    result: dict[str, str] = {}
    if case == "rods":
        return result
    dt = data["dt"].values
    at = {short: row for named, short in STEPS.items() if (row := shown_row(dt, named)) is not None}
    shown = shown_row(dt)
    name = f"{full}{MACRO_NAMES[case]}"
    for key in map(str, data["integrator"].values):
        method = macro_name(key)
        for short, row in at.items():
            result |= with_interval(f"study{name}Mean{short}", mean_error(data, key, row), _two_digits, method)
            result[f"study{name}Median{short}{method}"] = number(median_error(data, key, row).value, 2)
        result[f"study{name}Level{method}"] = number(step_for(data, key, TARGET), 2)
        if OTHER in data["integrator"]:
            if shown is not None:
                result |= with_interval(f"study{name}Ratio", ratio_of_means(data, key, shown, OTHER), _ratio, method)
            ratios = [ratio_of_means(data, key, row, OTHER).value for row in range(len(dt)) if ran(data, key, row)]
            ratios = [value for value in ratios if isfinite(value)] or [nan]
            result[f"study{name}RatioSteps{method}"] = str(sum(map(isfinite, ratios)))
            result[f"study{name}RatioLeast{method}"] = ratio(min(ratios))
            result[f"study{name}RatioMost{method}"] = ratio(max(ratios))
            result |= with_interval(f"study{name}Overall", ratio_over_steps(data, key, OTHER), _ratio, method)
            result |= with_interval(f"study{name}StepRatio", ratio_of_steps(data, OTHER, key, TARGET), _ratio, method)
        result |= with_interval(f"study{name}Order", exponent(data, key), _ratio, method)
        result |= with_interval(f"study{name}OrderShorter", exponent(data, key, longest=False), _ratio, method)
    result |= _near(data, name)
    return result | _coverages(data, name)


def _near(data: xr.Dataset, name: str) -> dict[str, str]:
    """Macros for the methods near SPIRAL that have a curve over the step: how many, and their least and largest ratio.

    Those that are SPIRAL to the last bit here, because nothing depends on the angular velocity, do not count.
    """
    if OTHER not in data["integrator"]:
        return {}
    ratios = [ratio_over_steps(data, key, OTHER) for key in followed(data) if key != OTHER]
    near = [
        estimate.value
        for estimate in ratios
        if 1 / NEAR < estimate.value < NEAR and (estimate.low, estimate.high) != (estimate.value, estimate.value)
    ]
    return {
        f"study{name}NearCount": str(len(near)),
    }


def _two_digits(value: float) -> str:
    return number(value, 2)


def _ratio(value: float) -> str:
    """A ratio, which may not exist."""
    return ratio(value) if isfinite(value) else NOT_AVAILABLE


def _coverages(data: xr.Dataset, name: str) -> dict[str, str]:
    """Macros for the coverage of the intervals, in per cent: exact for medians, simulated for means."""
    seeds = data.sizes["seed"]
    known = _simulated(data, seeds)
    shares = [value for value in _simulated_ratios(data) if isfinite(value)]
    return {
        f"study{name}RatioCoverage": number(100 * _middle(shares), 2),
        f"study{name}RatioCoverageLeast": number(100 * min(shares, default=nan), 2),
        f"study{name}MedianCoverage": number(100 * ranks(seeds)[1], 3) if seeds > 1 else NOT_AVAILABLE,
        f"study{name}MeanCoverage": number(100 * _middle(known), 2),
        f"study{name}MeanCoverageLeast": number(100 * min(known, default=nan), 2),
    }


def _middle(values: list[float]) -> float:
    return float(np.median(values)) if values else nan


def _simulated(data: xr.Dataset, seeds: int) -> list[float]:
    """The coverage of the interval of a mean of ``seeds`` states, for each method and step of ``data`` without a blow-up."""
    keys = map(str, data["integrator"].values)
    values = [coverage_of_mean(of_seeds(data, key, row), seeds) for key in keys for row in range(data.sizes["dt"])]
    return [value for value in values if isfinite(value)]


def _simulated_ratios(data: xr.Dataset) -> list[float]:
    """The coverage of the interval of the ratio to SPIRAL's mean, for each method and step at which all runs of both lasted."""
    if OTHER not in data["integrator"]:
        return []
    keys = [key for key in map(str, data["integrator"].values) if key != OTHER]
    errors = {key: [of_seeds(data, key, row, "energy_error_mean") for row in range(data.sizes["dt"])] for key in (*keys, OTHER)}
    return [coverage_of_ratio(one, other) for key in keys for one, other in zip(errors[key], errors[OTHER], strict=True)]


def exponent(data: xr.Dataset, method: str, longest: bool = True) -> Estimate:
    """The exponent with which the energy error grows with the time step: for each state, over the steps without blow-ups.

    ``longest``: with the longest of them, at which few steps make a contact and single states have large errors.
    """
    errors = np.array([of_seeds(data, method, row, "energy_error_mean") for row in range(data.sizes["dt"])])
    usable = (np.isfinite(errors) & (errors > 0)).all(axis=1)
    if not longest and usable.any():
        usable[np.flatnonzero(usable)[-1]] = False
    if usable.sum() < 2:
        return Estimate(nan)
    return mean(straight_line(np.log(data["dt"].values[usable]), np.log(errors[usable].T))[0])


def published(inputs: Inputs) -> dict[str, str]:
    """A macro for the ratio of the published step of SPIRAL to that of the variant of Fincham's method."""
    steps = inputs.published_numbers("delvalle_many_body").set_index("method")["dt"]
    return {"studyPublishedStepRatio": number(float(steps[OTHER] / steps["fincham1992_delvalle2024"]), 3)}


def rods_released(inputs: Inputs) -> dict[str, str]:
    """Macros for the one box of rods with a long run: energy, and the spin, which should not change."""
    return _rods(inputs.released_many_body(ONE_BOX), "FullRods")


def rods_repeated(inputs: Inputs) -> dict[str, str]:
    """Macros that tell whether this run of the rods equals the published-scale one, as far as both go."""
    ours, theirs = (
        data[["energy_change", "axial_spin_change"]] for data in (inputs.many_body("rods"), inputs.released_many_body("rods"))
    )
    ours, theirs = xr.align(ours.astype("float32"), theirs.astype("float32"), join="inner")
    same = all(ours.sizes.values()) and ours.equals(theirs)
    text = (
        "repeats the released one, as far as it goes, to all stored digits"
        if same
        else "differs from the released one in the last digits, and hence, after some contacts, in all of them"
    )
    return {"studyRodsRepeated": text}


def rods_states(inputs: Inputs) -> dict[str, str]:
    """Macros for rods from many initial states: medians of energy and spin changes, and the effect of half the step."""
    data, half = inputs.released_many_body(RODS), inputs.released_many_body(HALF_STEP)
    result = {
        "studyStatesSeeds": str(data.sizes["seed"]),
        "studyStatesHorizon": plain(float(data.attrs["horizon"])),
        "studyStatesCoverage": number(100 * ranks(data.sizes["seed"])[1], 3),
    }
    largest = {name: abs(data[name]).fillna(np.inf).max("time") for name in ("energy_change", "axial_spin_change")}
    spin = float(data.attrs["spin"])
    for key in map(str, data["integrator"].values):
        method = macro_name(key)
        energy, turned = (largest[name].sel(integrator=key).values.ravel() for name in largest)
        result |= with_interval("studyStatesEnergy", median(energy), _two_digits, method)
        result |= with_interval("studyStatesSpin", median(turned), _two_digits, method)
        result[f"studyStatesLost{method}"] = str(int((np.isfinite(turned) & (turned >= spin)).sum()))
        result[f"studyStatesBlown{method}"] = str(int(np.isfinite(data["diverged_at"].sel(integrator=key)).sum()))
        if OTHER in data["integrator"].values:
            other = largest["energy_change"].sel(integrator=OTHER).values.ravel()
            result |= with_interval("studyStatesRatio", ratio_of(energy, other), _ratio, method)
    (unstable,) = map(str, half["integrator"].values)
    if unstable in data["integrator"].values:
        for name, runs in (("", data), ("Half", half)):
            result[f"studyStatesDoubled{name}"] = number(float(np.median(reached(runs, unstable, 1.0))), 2)
        result |= with_interval("studyStatesDelay", delay(data, half, unstable, 1.0), _ratio)
        result |= with_interval("studyStatesRise", rise(data, unstable), _ratio)
    return result


def few(inputs: Inputs) -> dict[str, str]:
    """Macros for the coverage, in per cent, of intervals from as few states as in this run, by the published-scale errors."""
    data, seeds = inputs.released_many_body("chess"), inputs.many_body("chess").sizes["seed"]
    known = _simulated(data, seeds)
    return {
        "studyFewMedianCoverage": number(100 * ranks(seeds)[1], 3) if seeds > 1 else NOT_AVAILABLE,
        "studyFewMeanCoverage": number(100 * _middle(known), 2),
    }


def _rods(data: xr.Dataset, name: str) -> dict[str, str]:
    if "energy_change" not in data:
        raise NotInRun("the rods were not followed over time")
    result = {f"study{name}Dt": plain(float(data["dt"].values[0]))}
    blown_up: list[str] = []
    for key, label in labels_of(data).items():
        runs = data.sel(integrator=key)  # the worst of all initial states
        energy, spin = (abs(runs[n]).max("seed").values for n in ("energy_change", "axial_spin_change"))
        result[f"study{name}Energy{macro_name(key)}"] = number(float(np.nanmax(energy)), 2)
        result[f"study{name}Spin{macro_name(key)}"] = number(float(np.nanmax(spin)), 2)
        lost = np.flatnonzero(spin >= float(data.attrs["spin"]))
        result[f"study{name}Lost{macro_name(key)}"] = number(float(data["time"].values[lost[0]]), 2) if lost.size else "never"
        if isfinite(float(runs["diverged_at"].min())):
            blown_up.append(escape(label))
    constant = data["axial_spin_change"].max(("seed", "time"), skipna=False).values == 0
    result[f"study{name}ExactSpin"] = enumerated(escape(str(label)) for label in data["label"].values[constant])
    result[f"study{name}Blown"] = enumerated(blown_up)
    return result


def every_method(inputs: Inputs) -> dict[str, str]:
    """Macros for every method on the chess pieces: how many, from how many states, and which of them do as well as SPIRAL."""
    data = chess_pieces(inputs)
    rows = common_rows(data)
    data = data.isel(dt=rows)
    labels = {key: escape(label) for key, label in labels_of(data).items()}
    keys = [key for key in map(str, data["integrator"].values) if key != OTHER]
    ratios = {key: ratio_over_steps(data, key, OTHER) for key in keys if OTHER in data["integrator"]}
    alike = [key for key, estimate in ratios.items() if estimate.low <= 1 <= estimate.high]
    lost = [key for key in keys if int(data["diverged"].sel(integrator=key).sum())]
    row = shown_row(data["dt"].values)
    blown_up = row is not None and bool((data["diverged"].isel(dt=row) == 1).any())
    return {
        "studyEveryMethodCount": str(data.sizes["integrator"]),
        "studyEveryMethodStates": str(data.sizes["seed"]),
        "studyEveryMethodSteps": str(len(rows)),
        "studyEveryMethodTriangle": "; triangle: blows up" if blown_up else "",
        "studyEveryMethodContactSteps": number(float(data.attrs["contact_time"]) / SHOWN_DT, 2),
        "studyEveryMethodAlike": enumerated(labels[key] for key in inputs.in_order(alike)),
        "studyEveryMethodLost": enumerated(labels[key] for key in inputs.in_order(lost)),
    }
