"""What the runs of a liquid say: drifts with intervals, the largest steps, and the method to take."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Any

import numpy as np
import xarray as xr

from polhode.fits.seed_statistics import mean

#: The released runs, and the steps of a study in fs, each the check ``liquid_1fs``, ...
RELEASED, STUDY_STEPS = "liquids.nc", (1.0, 2.0, 4.0, 6.0)
#: The drift on which the recommendation rests, kT per degree of freedom and ns, and the method it names unless another one is
#: shown to be better.
STATED, PREFERRED = 0.01, "exact_rotor"
#: The length of runs for which that drift is stated, ns; how much longer the longer ones are for which pages name steps, too;
#: and what codes run that hold molecules by constraints (SHAKE, RATTLE, SETTLE).
LENGTH, LONGER, CONSTRAINTS = 1.0, 10.0, "moser_veselov"
#: The heat capacity of SPC/E water at constant volume, k per degree of freedom of a rigid molecule: 1.62 +- 0.05 by energies
#: and temperatures of six runs of ``water64`` of 150 ps between 275 and 332 K.
HEAT_CAPACITY = 1.6
#: The share of the spectrum below the frequency that counts as the fastest.
FASTEST = 0.99


def check_of_step(dt: float) -> str:
    """The name of the check of a study that runs the liquid with a step of ``dt`` fs, for instance ``liquid_4fs``.

    A check is an experiment on single methods; this one measures the drift of the energy of each.
    """
    return f"liquid_{dt:g}fs"


def fastest(data: xr.Dataset) -> float:
    """The angular frequency below which :data:`FASTEST` of a spectrum lies, rad/fs, interpolated between its frequencies.

    ``data``: the check ``liquid_spectrum``, with ``spectrum`` over axis and ``frequency`` (rad/fs).
    """
    return fastest_of(data["spectrum"].sum("axis").values, data["frequency"].values)


def fastest_of(shares: np.ndarray, frequencies: np.ndarray) -> float:
    """The angular frequency below which :data:`FASTEST` of a spectrum lies, in the unit of ``frequencies``.

    ``shares`` (n,): parts of the kinetic energy of rotation, whose sum is 1, at the ascending ``frequencies`` (n,).
    """
    return float(np.interp(FASTEST, np.cumsum(shares), frequencies))


def power_spectrum(omega: np.ndarray, moments: np.ndarray, interval: float, segment: int) -> tuple[np.ndarray, np.ndarray]:
    """The spectrum (3, n) of the kinetic energy of rotation about each axis, whose sum is 1, at angular frequencies (n,).

    The frequencies are in rad per unit of time of ``interval``; n is ``segment // 2 + 1``.

    Parameters
    ----------
    omega : (samples, molecules, 3), body frame, in any unit
    moments : (molecules, 3), in any unit
    interval : time between two samples
    segment : samples of the pieces, each with a Hann window, over which the mean is taken; they overlap by half
    """
    window = np.hanning(segment)[:, None, None]
    begins = range(0, len(omega) - segment + 1, segment // 2)
    power = sum(np.abs(np.fft.rfft(omega[begin : begin + segment] * window, axis=0)) ** 2 for begin in begins)
    of_axes = np.sum(power * moments, 1).T
    return of_axes / of_axes.sum(), 2 * np.pi * np.fft.rfftfreq(segment, interval)


@dataclass(frozen=True)
class MeanDrift:
    """What the starts of a method with one step did.

    Parameters
    ----------
    drift, low, high : float
        The mean drift with the ends of Student's interval, kT per ns and degree of freedom; the ends are NaN without one.
    block_error : float
        The mean of the errors that the blocks of single runs give, in the same unit.
    rms : float
        The mean scatter of the energy about its line, kT per degree of freedom; both without lost runs, NaN if all are lost.
    starts, lost : int
        How many were run, and how many of them were lost.
    lost_at : float
        The median time at which they were lost, fs; NaN if none was.
    lost_by : int
        1 if most of them heat, -1 if most cool, 0 if neither.
    """

    drift: float
    low: float
    high: float
    block_error: float
    rms: float
    starts: int
    lost: int
    lost_at: float
    lost_by: int

    @property
    def is_shown(self) -> bool:
        """Whether zero is outside the interval; False without one."""
        return self.low > 0 or self.high < 0

    @property
    def largest(self) -> float:
        """The largest drift that the interval allows, kT per ns and degree of freedom; infinite without one, and if a start
        was lost.
        """
        return max(abs(self.low), abs(self.high)) if isfinite(self.low) and not self.lost else inf

    @property
    def smallest(self) -> float:
        """The smallest drift that the interval allows, kT per ns and degree of freedom; the size of the mean without one."""
        return min(abs(self.low), abs(self.high)) if self.is_shown else 0.0 if isfinite(self.low) else abs(self.drift)


def warming(drift: float, length: float, temperature: float = 300.0) -> float:
    """By how many K a drift (kT per degree of freedom and ns) warms water in a run of ``length`` ns at constant volume.

    ``temperature`` of the water, K.
    """
    return drift * length * temperature / HEAT_CAPACITY


def run_length(drift: float) -> str:
    """How long a run may be, in words, for as much heat as :data:`STATED` brings in :data:`LENGTH`.

    ``drift`` in kT per ns and degree of freedom.
    """
    length = LENGTH * STATED / drift
    return f"{length:.3g} ns" if length >= LENGTH else f"{1000 * length:.3g} ps"


def outcome(data: xr.Dataset) -> MeanDrift | None:
    """What the starts of one method with one step did; None if nothing was run.

    ``data``: of a check of :func:`check_of_step`, ``drift``, ``rms``, ``block_error``, ``lost_at`` and ``lost_by`` over seed.
    """
    return _outcome(*(data[name].values for name in _OF_STARTS))


#: What :func:`outcome` reads of the starts.
_OF_STARTS = ("drift", "rms", "block_error", "lost_at", "lost_by")


def _outcome(
    drift: np.ndarray, rms: np.ndarray, block_error: np.ndarray, lost_at: np.ndarray, lost_by: np.ndarray
) -> MeanDrift | None:
    ran = np.isfinite(lost_by)
    if not ran.any():
        return None
    estimate = mean(drift[ran])
    lost = ran & (lost_by != 0)
    rms, block = rms[ran & ~lost], block_error[ran & ~lost]
    return MeanDrift(
        estimate.value,
        estimate.low,
        estimate.high,
        float(block.mean()) if len(block) else nan,
        float(rms.mean()) if len(rms) else nan,
        int(ran.sum()),
        int(lost.sum()),
        float(np.median(lost_at[lost])) if lost.any() else nan,
        int(np.sign(lost_by[lost].sum())) if lost.any() else 0,
    )


def outcomes(data: xr.Dataset) -> dict[str, dict[float, MeanDrift]]:
    """Key of a method -> step in fs, ascending -> what its starts did, without steps that were not run.

    ``data``: as for :func:`outcome`, over integrator, dt (fs) and seed.
    """
    # As arrays, once: a selection by xarray for each method and step takes longer than all the rest.
    data = data.sortby("dt")
    arrays = [data[name].transpose("integrator", "dt", "seed").values for name in _OF_STARTS]
    steps = [float(dt) for dt in data["dt"].values]
    table: dict[str, dict[float, MeanDrift]] = {}
    for i, key in enumerate(map(str, data["integrator"].values)):
        each = {dt: _outcome(*(array[i, k] for array in arrays)) for k, dt in enumerate(steps)}
        table[key] = {dt: of_step for dt, of_step in each.items() if of_step is not None}
    return table


def largest_steps(of_method: Mapping[float, Any], allowed: float) -> tuple[float, float]:
    """The largest step up to which drift or bias is shown to be below ``allowed``, and up to which it may be; 0 for none.

    ``of_method``: step in fs, ascending -> a drift or bias with the properties ``largest`` and ``smallest``, of which
    ``allowed`` has the unit.
    """
    ends = []
    for name in ("largest", "smallest"):
        end = 0.0
        for dt, of_step in of_method.items():
            if not getattr(of_step, name) < allowed:
                break
            end = dt
        ends.append(end)
    return ends[0], ends[1]


@dataclass(frozen=True)
class Best:
    """A method, the largest step (fs) shown to drift by less than what is allowed, and the others shown to be as good there."""

    method: str
    dt: float
    others: tuple[str, ...]


#: method -> the largest step up to which the drift is shown to be small enough, and up to which it may be; 0 for none.
Steps = dict[str, tuple[float, float]]


def steps_of(*boxes: Mapping[str, Mapping[float, MeanDrift]], allowed: float) -> Steps:
    """Key of a method -> its two largest steps (fs): up to which its drift is shown to be below ``allowed``, and up to which
    it may be.

    They come from the box that shows the longest, as longer runs of more molecules show more; 0 for none. ``boxes``: results
    of :func:`outcomes`; ``allowed`` in kT per ns and degree of freedom.
    """
    steps: Steps = {}
    for every in boxes:
        for key, of_method in every.items():
            steps[key] = max(steps.get(key, (0.0, 0.0)), largest_steps(of_method, allowed))
    return steps


def best(steps: Steps) -> Best | None:
    """:data:`PREFERRED` if it has a step and may drift so little at the longest step shown of any method, else that method.

    ``steps``: the result of :func:`steps_of`. None if no method is shown to drift so little.
    """
    if not steps or not max(steps.values())[0]:
        return None
    method = max(steps, key=lambda key: steps[key])
    if PREFERRED in steps and steps[PREFERRED][0] and steps[PREFERRED][1] >= steps[method][0]:
        method = PREFERRED
    dt = steps[method][0]
    return Best(method, dt, tuple(key for key, (shown, _) in steps.items() if shown >= dt and key != method))
