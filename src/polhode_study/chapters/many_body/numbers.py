"""Numbers on many bodies."""

from contextlib import suppress
from functools import partial
from math import isfinite, nan

import numpy as np
import xarray as xr

from polhode.fits.orders import straight_line
from polhode.fits.seed_statistics import (
    Estimate,
    coverage_of_mean,
    coverage_of_ratio,
    mean,
    median,
    of_seeds,
    ran,
    ratio_of_means,
    ratio_of_steps,
    ratio_over_steps,
)
from polhode.fits.seed_statistics import ratio as ratio_of
from polhode_study.chapters.many_body.frames import (
    MACRO_NAMES,
    OTHER,
    TARGET,
    chess_pieces,
    common_rows,
    shown_row,
)
from polhode_study.chapters.many_body.measures import HALF_STEP, ONE_BOX, RODS, delay, reached, rise
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.report.formats import enumerated, factor, labels_of, macro_name, plain, ratio, with_interval
from polhode_study.report.frames import only_finite
from polhode_study.report.latex import NOT_AVAILABLE, escape, number

#: Methods whose energy error is set against SPIRAL's.
NEAR_SPIRAL = ("buss2000", "fincham1992", "no_squish", "omelyan1998", "verlet")
PUBLISHED = "fincham1992_delvalle2024"


def released(inputs: Inputs) -> dict[str, str]:
    """Macros for the published-scale results in data/released: their origin, the pieces with spin, and errors."""
    data = inputs.released_many_body("chess")
    result, dates = {}, set()
    for case, name in MACRO_NAMES.items():
        with suppress(NotInRun):
            attributes = inputs.released_many_body(case).attrs
            dates.add(str(attributes.get("date", NOT_AVAILABLE))[:10])
            result[f"studyFullHours{name}"] = escape(str(attributes.get("cpu_hours", NOT_AVAILABLE)))
    noted = {name: str(data.attrs.get(name, NOT_AVAILABLE)) for name in ("version", "commit", "processor")}
    longest, rayleigh = float(data["dt"].max()), float(data.attrs["rayleigh_step"])
    return (
        result
        | _errors(data)
        | {
            "studyFullVersion": escape(noted["version"]),
            "studyFullCommit": rf"\texttt{{{escape(noted['commit'][:12])}}}",
            # Scenes are renewed one by one.
            "studyFullDate": escape(" to ".join(dict.fromkeys((min(dates), max(dates))))),
            "studyFullProcessor": escape(noted["processor"]),
            "studyFullChessClumps": str(int(data.attrs["clumps"])),
            "studyFullChessSpheres": str(int(data.attrs["spheres"])),
            "studyFullChessBox": plain(float(data.attrs["box"])),
            "studyFullChessHorizon": plain(float(data.attrs["horizon"])),
            "studyFullChessSamples": str(int(data.attrs["samples"])),
            "studyFullChessSteps": str(data.sizes["dt"]),
            "studyFullChessDtMin": plain(float(data["dt"].min())),
            "studyFullChessDtMax": plain(longest),
            "studyFullChessRayleigh": number(rayleigh, 3),
            "studyFullChessContact": number(float(data.attrs["contact_time"]), 3),
            "studyFullChessContactSteps": number(float(data.attrs["contact_time"]) / longest, 2),
            "studyFullChessDtOverRayleigh": factor(longest / rayleigh),
        }
    )


def _errors(data: xr.Dataset) -> dict[str, str]:
    """Macros for exponents, for ratios to SPIRAL's errors over all steps, and for the coverage of intervals in per cent."""
    result = {
        f"studyFullChessOrder{macro_name(key)}": _ratio(exponent(data, key).value)
        for key in ("omelyan1998", "pcdm2016", "verlet")
    }
    for key in (PUBLISHED, OTHER):
        result |= with_interval("studyFullChessOrder", exponent(data, key), _ratio, macro_name(key))
    result |= with_interval("studyFullChessOrderShorter", exponent(data, OTHER, longest=False), _ratio, macro_name(OTHER))
    for key in NEAR_SPIRAL:
        result |= with_interval("studyFullChessOverall", ratio_over_steps(data, key, OTHER), _ratio, macro_name(key))
    result |= with_interval(
        "studyFullChessStepRatio", ratio_of_steps(data, OTHER, PUBLISHED, TARGET), _ratio, macro_name(PUBLISHED)
    )
    for key in ("omelyan1998", "pcdm2016"):
        ratios = [ratio_of_means(data, key, row, OTHER).value for row in range(data.sizes["dt"]) if ran(data, key, row)]
        ratios = only_finite(ratios) or [nan]
        result[f"studyFullChessRatioLeast{macro_name(key)}"] = ratio(min(ratios))
        result[f"studyFullChessRatioMost{macro_name(key)}"] = ratio(max(ratios))
        if key == "omelyan1998":
            result["studyFullChessRatioStepsOmelyan"] = str(sum(map(isfinite, ratios)))
    for called, shares in (("Ratio", _simulated_ratios(data)), ("Mean", _simulated(data, data.sizes["seed"]))):
        shares = only_finite(shares)
        result[f"studyFullChess{called}Coverage"] = number(100 * _middle(shares), 2)
        result[f"studyFullChess{called}CoverageLeast"] = number(100 * min(shares, default=nan), 2)
    return result


def _ratio(value: float) -> str:
    """A ratio, which may not exist."""
    return ratio(value) if isfinite(value) else NOT_AVAILABLE


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
    return [coverage_of_ratio(error, other) for key in keys for error, other in zip(errors[key], errors[OTHER], strict=True)]


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
    """Macros for the one box of rods with a long run: the spin, which should not change, and the methods that blow up."""
    data = inputs.released_many_body(ONE_BOX)
    if "energy_change" not in data:
        raise NotInRun("the rods were not followed over time")
    spin = data["axial_spin_change"].sel(integrator="fincham1992")
    constant = data["axial_spin_change"].max(("seed", "time"), skipna=False).values == 0
    runs = data["diverged_at"].transpose("integrator", ...).values.reshape(data.sizes["integrator"], -1)
    return {
        "studyFullRodsClumps": str(int(data.attrs["clumps"])),
        "studyFullRodsHorizon": plain(float(data.attrs["horizon"])),
        "studyFullRodsSpinFincham": number(float(np.nanmax(abs(spin).max("seed").values)), 2),
        "studyFullRodsExactSpin": enumerated(escape(str(label)) for label in data["label"].values[constant]),
        "studyFullRodsBlown": enumerated(escape(str(label)) for label in data["label"].values[np.isfinite(runs).any(axis=1)]),
    }


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
        "studyStatesHorizon": plain(float(data.attrs["horizon"])),
    }
    methods = list(map(str, data["integrator"].values))
    largest = {name: abs(data[name]).fillna(np.inf).max("time") for name in ("energy_change", "axial_spin_change")}
    energy, spin = ({key: array.sel(integrator=key).values.ravel() for key in methods} for array in largest.values())
    for key in (PUBLISHED, "pcdm2016"):
        result[f"studyStatesEnergy{macro_name(key)}"] = number(median(energy[key]).value, 2)
    result["studyStatesSpinFincham"] = number(median(spin["fincham1992"]).value, 2)
    result |= with_interval("studyStatesSpin", median(spin[PUBLISHED]), partial(number, digits=2), macro_name(PUBLISHED))
    lost = np.isfinite(spin[PUBLISHED]) & (spin[PUBLISHED] >= float(data.attrs["spin"]))
    result[f"studyStatesLost{macro_name(PUBLISHED)}"] = str(int(lost.sum()))
    for key in NEAR_SPIRAL:
        result |= with_interval("studyStatesRatio", ratio_of(energy[key], energy[OTHER]), _ratio, macro_name(key))
    (unstable,) = map(str, half["integrator"].values)
    if unstable in data["integrator"].values:
        for name, runs in (("", data), ("Half", half)):
            result[f"studyStatesDoubled{name}"] = number(float(np.median(reached(runs, unstable, 1.0))), 2)
        result |= with_interval("studyStatesDelay", delay(data, half, unstable, 1.0), _ratio)
        result |= with_interval("studyStatesRise", rise(data, unstable), _ratio)
    return result


def few(inputs: Inputs) -> dict[str, str]:
    """A macro for the coverage, in per cent, of intervals from as few states as in this run, by the published-scale errors."""
    data, seeds = inputs.released_many_body("chess"), inputs.many_body("chess").sizes["seed"]
    return {"studyFewMeanCoverage": number(100 * _middle(_simulated(data, seeds)), 2)}


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
        "studyEveryMethodAlike": enumerated(labels[key] for key in inputs.in_order(alike)),
        "studyEveryMethodLost": enumerated(labels[key] for key in inputs.in_order(lost)),
    }
