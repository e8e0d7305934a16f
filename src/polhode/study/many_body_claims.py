"""What the publications state about many bodies, as measures for data/claims.yaml."""

import numpy as np
import xarray as xr

from polhode.study.ensembles import mean_error, of_seeds, paired_ratio
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.measured import Measure


def _row(data: xr.Dataset, method: str, dt: float) -> int:
    """The place of a step size; the method is there too."""
    if method not in data["method"].values:
        raise NotInRun(f"{method} is not among the methods of this scene")
    row = int(np.argmin(np.abs(data["dt"].values / dt - 1)))
    if abs(data["dt"].values[row] / dt - 1) > 1e-6:
        raise NotInRun(f"dt = {dt:g} s is not among the steps of this scene")
    return row


def energy_of_many(results: Inputs, scene: str, method: str, dt: float) -> tuple[float, str]:
    """The mean energy error over initial states, %."""
    data = results.many_body(scene)
    row = _row(data, method, dt)
    found = mean_error(data, method, row)
    seeds = of_seeds(data, method, row)
    words = f"{len(seeds)} initial states, interval {found.low:.2g} to {found.high:.2g}, median {np.median(seeds):.2g}"
    return found.value, words


def paired_energy(results: Inputs, scene: str, method: str, other: str, dt: float) -> tuple[float, str]:
    """The median over initial states of the ratio of two methods' energy errors from the same state."""
    data = results.many_body(scene)
    row = _row(data, other, dt)
    found = paired_ratio(data, method, other, _row(data, method, dt))
    return found.value, f"{len(of_seeds(data, other, row))} initial states, interval {found.low:.2g} to {found.high:.2g}"


def energy_across_steps(results: Inputs, scene: str, method: str, dt: float, other: str, other_dt: float) -> tuple[float, str]:
    """The mean energy error of one method at one step over that of another at another."""
    one, _ = energy_of_many(results, scene, method, dt)
    two, _ = energy_of_many(results, scene, other, other_dt)
    rayleigh = float(results.many_body(scene).attrs["rayleigh_step"])
    return one / two, f"{one:.2g} % against {two:.2g} %; the Rayleigh step is {rayleigh:.3g} s"


def axial_spin_of_rods(results: Inputs, method: str) -> tuple[float, str]:
    """The largest change of a rod's angular velocity about its long axis, rad/s."""
    own, words = _along(results, method)
    return float(np.nanmax(own["axial_spin_change"].values)), words


def energy_of_rods(results: Inputs, method: str, other: str) -> tuple[float, str]:
    """The largest relative change of energy of one method over that of another."""
    one, two = (float(_along(results, key)[0]["energy_change"].values.max()) for key in (method, other))
    return one / two, f"{one:.2g} against {two:.2g} {_along(results, method)[1]}"


def _along(results: Inputs, method: str) -> tuple[xr.Dataset, str]:
    data = results.many_body("rods")
    if "energy_change" not in data or method not in data["method"].values:
        raise NotInRun(f"the rods were not followed over time with {method}")
    own = abs(data[["energy_change", "axial_spin_change"]].sel({"method": method})).max("seed")
    return own, f"up to t = {float(data.time[-1]):g} s"


MEASURES: dict[str, Measure] = {
    f.__name__: f for f in (energy_of_many, paired_energy, energy_across_steps, axial_spin_of_rods, energy_of_rods)
}
