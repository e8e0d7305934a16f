"""Advice for a liquid of rigid molecules at constant energy: the step as a share of the period of its fastest libration.

It rests on the drift of the energy in water (:mod:`polhode.study.run.liquids`). What a method does to a libration depends on
steps per period alone (:mod:`polhode.methods.libration`), so a drift per period is that of another liquid, too.
"""

from math import inf, isfinite, pi
from pathlib import Path

import numpy as np
import xarray as xr

from polhode.advice import files
from polhode.advice.answer import Choice, Recommendation, joined_names
from polhode.advice.errors import AdviceError
from polhode.fits import seed_statistics
from polhode.interface.netcdf import group_names, read_dataset
from polhode.methods import METHODS
from polhode.registry import nearest

#: The released file, its group of drifts, and the liquid that these are of.
RELEASED, DRIFTS, MEASURED = "liquids.nc", "followed", "water64"
#: The share of the kinetic energy of rotation that belongs to slower librations than the fastest.
QUANTILE = 0.99
#: The method to recommend if it takes as long steps as any other.
USUAL = "exact_rotor"
#: The drift asked for by default, kT per degree of freedom and ns, and one that spoils a run, at the step of :data:`COMMON`.
DRIFT, SPOILS, COMMON = 0.01, 1.0, 2.0
FEMTOSECOND = 1e-15


def fastest_period(spectrum: xr.Dataset) -> float:
    """The period of the fastest libration in fs: of the :data:`QUANTILE` of the spectrum of the angular velocities."""
    share = spectrum["spectrum"].sum("axis").values.cumsum()
    return float(2 * pi / np.interp(QUANTILE * share[-1], share, spectrum["frequency"].values))


def from_liquids(liquid: str | float, drift: float, results: Path | None = None, everything: bool = False) -> Recommendation:
    """The method that takes the longest steps at constant energy, and that step.

    Parameters
    ----------
    liquid : key of a liquid that was run, or the period of the fastest libration, s
    drift : allowed, kT per degree of freedom and ns
    results : folder of a run; by default the released data
    everything : list all methods that stay below it

    Raises
    ------
    AdviceError
        If the measurements do not answer this.
    """
    path, data, spectra = _measurements(results)
    periods = {key: fastest_period(spectrum) for key, spectrum in spectra.items()}
    of_water = periods[MEASURED]
    if isinstance(liquid, str):
        if liquid not in periods:
            raise AdviceError(
                f"liquid: {liquid!r} was not run; {nearest(liquid, list(periods))}; or give the period of the fastest libration"
            )
        period = periods[liquid]
    else:
        period = liquid / FEMTOSECOND
    steps, starts = data["dt"].values, data.sizes["seed"]
    bounds = {str(key): _bounds(data.sel(integrator=key)) for key in data["integrator"].values}
    # The same drift per period.
    allowed = drift * period / of_water
    longest = {key: _longest(steps, bound, allowed) for key, bound in bounds.items()}
    serving = {key: dt for key, dt in longest.items() if dt > 0}
    if not serving:
        least = min(bound[0] for bound in bounds.values()) * of_water / period
        raise AdviceError(
            f"drift: {starts} starts of {float(data.attrs['duration']) / 1e3:g} ps cannot show that a drift is below "
            f"{drift:g} kT/ns, only below {least:.2g}; ask for a larger one"
        )
    order = sorted(serving, key=lambda key: (-serving[key], key != USUAL, bounds[key][list(steps).index(serving[key])]))
    scale = period / of_water * FEMTOSECOND
    choices = [
        Choice(
            key,
            METHODS[key].label,
            serving[key] * scale,
            relative=serving[order[0]] / serving[key],
            mark=f"period/{of_water / serving[key]:.3g}",
        )
        for key in order
    ]
    best, tied = choices[0], [choice.label for choice in choices[1:] if choice.dt == choices[0].dt]
    spoiled = [key for key in bounds if key in METHODS and _drift_at(data.sel(integrator=key), COMMON) > SPOILS]
    at_longest = bounds[best.method]
    best_step = serving[best.method]
    beyond = steps[list(steps).index(best_step) + 1 :]
    remarks = [
        *([f"As long steps with: {joined_names(tied)}."] if tied else []),
        "It has one torque a step. The cut-off must be smooth: energy, force and slope of the force continuous (C2), or the "
        "drift of the cut-off hides that of the method.",
        "On whole steps rotation looks colder than translation, with every method alike: read temperatures as "
        "(K_whole + 2 K_half)/3.",
        f"Not for long runs at constant energy: at {COMMON:g} fs in water more than {SPOILS:g} kT per degree of freedom and ns "
        f"go in or out with {joined_names([METHODS[key].label for key in spoiled])}."
        if spoiled
        else "",
        "What changes this: a thermostat, which hides a drift; faster librations, so measure their period.",
    ]
    evidence = [
        f"{data.attrs['molecules']} molecules of water (SPC/E) at {data.attrs['temperature']:g} K, {starts} starts of "
        f"{float(data.attrs['duration']) / 1e3:g} ps, {data.sizes['integrator']} methods, steps of "
        f"{joined_names([f'{dt:g}' for dt in steps])} fs. The whole interval of {seed_statistics.LEVEL:.0%} of the drift is "
        "below what is allowed, with this and all shorter steps.",
        f"Period of the fastest libration: {period:.3g} fs, where the slowest {QUANTILE:.0%} of the kinetic energy of rotation "
        f"end; in water {of_water:.3g} fs. The drift per period is taken to be that of water.",
        f"From {path}" + (", which comes with polhode." if files.is_released(path) else "."),
    ]
    named = f"{liquid}" if isinstance(liquid, str) else f"a liquid whose fastest libration has a period of {period:.3g} fs"
    first_bad = beyond[0] * scale if len(beyond) else inf
    return Recommendation(
        question=f"{named} at constant energy, drift below {drift:g} kT per degree of freedom and ns",
        best=best,
        sentence=f"Take {best.label} ({best.method}) with dt = {best.dt / FEMTOSECOND:.3g} fs: "
        f"{period * FEMTOSECOND / best.dt:.3g} steps in a period of the fastest libration.",
        interval=(best.dt, first_bad if isfinite(first_bad) else best.dt),
        interval_means="Interval: this step, and the next that was run"
        + (f", with which the drift may be {_at_next(at_longest, steps, best_step)} kT/ns in water." if len(beyond) else "."),
        alternatives=choices if everything else choices[:12],
        evidence=evidence,
        error=drift,
        kind="liquid",
        asked={"liquid": liquid, "drift": drift},
        remarks=[remark for remark in remarks if remark],
    )


def _at_next(bound: np.ndarray, steps: np.ndarray, dt: float) -> str:
    value = float(bound[list(steps).index(dt) + 1])
    return f"{value:.2g}" if isfinite(value) else "anything"


def _measurements(results: Path | None) -> tuple[Path, xr.Dataset, dict[str, xr.Dataset]]:
    """Where the drifts come from, the drifts by method, step and start, and the spectra of liquids by their keys."""
    if results is None and (path := files.released(RELEASED)) is not None:
        groups = [name for name in group_names(path) if name.startswith("spectrum_")]
        return path, read_dataset(path, DRIFTS), {name.partition("_")[2]: read_dataset(path, name) for name in groups}
    spectrum = files.find("checks/liquid_spectrum.nc", results)
    parts = sorted(spectrum.parent.glob("liquid_*fs.nc"))
    data = [read_dataset(part) for part in parts]
    data = [part for part in data if part.sizes.get("integrator")]
    if not data:
        raise AdviceError(
            f"there are no runs of liquids beside {spectrum}; make them: ./reproduce {spectrum.parent}/liquid_2fs.nc"
        )
    return (
        spectrum.parent,
        xr.concat(data, "dt", combine_attrs="drop_conflicts").sortby("dt"),
        {MEASURED: read_dataset(spectrum)},
    )


def _bounds(data: xr.Dataset) -> np.ndarray:
    """The largest size of the drift of a method that its interval allows, by step, 1/ns; inf where a run was lost."""
    bounds = []
    for dt in data["dt"].values:
        one = data.sel(dt=dt)
        estimate = seed_statistics.mean(one["drift"].values)
        bound = max(abs(estimate.low), abs(estimate.high), abs(estimate.value))
        bounds.append(bound if isfinite(bound) and not one["lost_by"].values.any() else inf)
    return np.array(bounds)


def _longest(steps: np.ndarray, bounds: np.ndarray, allowed: float) -> float:
    """The longest step up to which all bounds are below what is allowed, 0 if there is none."""
    good = np.logical_and.accumulate(bounds <= allowed)
    return float(steps[good][-1]) if good.any() else 0.0


def _drift_at(data: xr.Dataset, dt: float) -> float:
    """The size of the mean drift with a step, or 0 if it was not run."""
    return float(abs(data["drift"].sel(dt=dt).mean())) if dt in data["dt"].values else 0.0
