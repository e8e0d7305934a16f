"""The largest step at which friction between two cylinders still slows them (Seelen et al. 2016, Sec. 3.4)."""

from collections.abc import Callable
from functools import partial
from math import inf

import numpy as np
import xarray as xr

from polhode.interface.arrays import about
from polhode.methods.protocol import OneTorque
from polhode.problems.system import System
from polhode_study.run.check import chosen_methods, problem_of
from polhode_study.run.making import Settings

#: Number of steps of a run that tests stability, and the largest product of rate and step tried.
STABILITY_STEPS = 400
LARGEST = 20.0
#: Below this value, relative to its start, sliding has ended; the remainder is rounding, or the norm error of an orientation.
ENDED = 1e-6


def stability(settings: Settings) -> xr.Dataset:
    """The largest k dt at which friction between two cylinders still slows them; k is the decay rate of the sliding."""
    system = problem_of("coupled_cylinders")
    methods = {key: m for key, m in chosen_methods(settings).items() if isinstance(m, OneTorque) and m.runs(system)}
    rate = decay_rate(system)
    limits = [stability_limit(partial(_sliding_decays, system, m, rate)) for m in methods.values()]
    return xr.Dataset(
        {"limit": ("integrator", limits, about("largest stable product of decay rate and step size"))},
        {"integrator": list(methods)},
        {"rate": rate, "rate_units": "s-1", "steps": STABILITY_STEPS, "largest": LARGEST},
    )


def decay_rate(system: System) -> float:
    """k = eta (R1^2/I1 + R2^2/I2), 1/s, of Seelen et al. (2016), Sec. 3.4."""
    p = system.parameters
    return p["eta"] * sum(p[f"R{i + 1}"] ** 2 / system.bodies[i].inertia[0] for i in range(2))


def _sliding_decays(system: System, method: OneTorque, rate: float, x: float) -> bool:
    """Whether the sliding velocity shrinks over a run with dt = x / rate."""
    with np.errstate(over="ignore", invalid="ignore"):
        _, omega, *_ = method.integrate_system(system, x / rate, np.arange(STABILITY_STEPS + 1))
        p = system.parameters
        sliding = np.abs(p["R1"] * omega[:, 0, 0] + p["R2"] * omega[:, 1, 0])
    # The first quarter is left out: the initial value may be far above the later ones.
    quarter = STABILITY_STEPS // 4
    earlier, later = sliding[quarter : 2 * quarter].max(), sliding[-quarter:].max()
    return bool(np.isfinite(sliding).all() and later <= max(earlier, ENDED * sliding[0]))


def stability_limit(stable: Callable[[float], bool], tolerance: float = 1e-4) -> float:
    """The smallest x at which ``stable(x)`` is false; infinite if there is none up to :data:`LARGEST`."""
    grid = np.arange(1, round(LARGEST / 0.05) + 1) * 0.05
    for low, high in zip(np.concatenate([[0.0], grid[:-1]]), grid, strict=True):
        if stable(float(high)):
            continue
        while high - low > tolerance:
            middle = 0.5 * (low + high)
            low, high = (middle, high) if stable(middle) else (low, middle)
        return float(low)
    return inf
