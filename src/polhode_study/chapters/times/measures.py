"""Measures for the published statements about time.

The time of a step is the fastest of many samples. To estimate the uncertainty of a ratio of two such times, the samples of a
run are divided into :data:`BLOCKS` successive parts, and the fastest of each part is taken: the interval is the range of the
ratios of the parts. It contains the overall ratio, and the median of such ratios with a probability of 1 - 2^(1 - BLOCKS) =
97 %. Effects that persist throughout a run (the processor, the placement of code in memory) are not included.

Nor is what another processor, compiler or coding of the same methods would change, which is more: the published times are those
of other programs on other machines. A run cannot bound that, so no measure here decides a claim.
"""

import numpy as np

from polhode.fits.seed_statistics import median
from polhode.fits.step_times import UNIT
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.judge.measured import Measure, Measured, of
from polhode_study.report.selection import label

#: Number of parts into which the samples of a run are divided.
BLOCKS = 6

#: A form of a method: its key, the frame in which omega is kept, and whether the quaternion is normalised (None: as declared).
TimedForm = tuple[str, str, bool | None]


def _step_ratio(results: Inputs, numerator: TimedForm, two: TimedForm) -> Measured:
    """The time of a step of one form over that of another, with its interval."""
    samples = [_samples(results, *form) for form in (numerator, two)]
    fastest = [float(row.min()) for row in samples]
    words = f"{fastest[0]:.3g} ns against {fastest[1]:.3g} ns"
    value = fastest[0] / fastest[1]
    if samples[0].size < 2 * BLOCKS:
        return Measured(value, words)
    first, second = (np.array([block.min() for block in np.array_split(row, BLOCKS)]) for row in samples)
    ratios = first / second
    return Measured(value, words, float(ratios.min()), float(ratios.max()))


def _samples(results: Inputs, method: str, frame: str, normalised: bool | None) -> np.ndarray:
    row = of(results.cost("step"), method).sel(frame=frame)
    form = int(row.declared) if normalised is None else int(normalised)
    samples = np.asarray(row.samples.sel(normalised=form).values, float)
    if not np.isfinite(samples).all():
        raise NotInRun(f"{method} was not timed in this form")
    return samples


def scaled(measured: Measured, factor: float) -> Measured:
    """A measured ratio and its interval, times a known number."""
    return measured._replace(value=measured.value * factor, low=measured.low * factor, high=measured.high * factor)


def decades(measured: Measured) -> Measured:
    """A measured ratio and its interval in orders of magnitude."""
    value, low, high = (float(np.log10(x)) for x in (measured.value, measured.low, measured.high))
    return measured._replace(value=value, low=low, high=high)


def extra_step_time(results: Inputs, method: str, frame: str) -> Measured:
    """Extra time of a step relative to direct Euler, in per cent, both in their declared form, in this frame."""
    ratio = _step_ratio(results, (method, frame, None), (UNIT, frame, None))
    value, low, high = (100 * (x - 1) for x in (ratio.value, ratio.low, ratio.high))
    return ratio._replace(value=value, low=low, high=high)


def largest_step_time(results: Inputs, method: str, others: list[str], frame: str) -> Measured:
    """The time of a step of a method over that of the cheapest of several others."""
    ratios = {other: _step_ratio(results, (method, frame, None), (other, frame, None)) for other in others}
    worst = max(ratios, key=lambda other: ratios[other].value)
    words = ", ".join(f"{label(results, other)} {ratio.value:.3g}" for other, ratio in ratios.items())
    return ratios[worst]._replace(evidence=words)


def normalisation_time(results: Inputs, method: str, frame: str) -> Measured:
    """The time of a step with normalisation over that without."""
    return _step_ratio(results, (method, frame, True), (method, frame, False))


def time_ratio(results: Inputs, method: str, other: str, target: float, frame: str = "body") -> Measured:
    """Ratio of the times of two methods to a target error. The numbers of steps are known; their times scatter."""
    # By the published metric, and with the time steps that the study searched for where it did.
    costs = results.cost("published").sel(frame=frame)
    if target not in costs.target_error:
        raise NotInRun(f"target {target:g} is not in this run")
    first, second = (float(of(costs, m).time_to_solution.sel(target_error=target)) for m in (method, other))
    if not np.isfinite(second / first):
        raise NotInRun(f"{method} or {other} does not reach {target:g} in this run")
    step = _step_ratio(results, (other, frame, None), (method, frame, None))
    words = f"{second:.3g} s against {first:.3g} s at an error of {target:.0e}"
    return scaled(step, second / first / step.value)._replace(value=second / first, evidence=words)


def smallest_time_decades(results: Inputs, method: str, others: list[str], target: float) -> Measured:
    """Orders of magnitude by which the fastest of several other methods takes longer to a target error."""
    return _extreme(results, method, others, target, min)


def largest_time_decades(results: Inputs, method: str, others: list[str], target: float) -> Measured:
    """Orders of magnitude by which the slowest of several other methods takes longer to a target error."""
    return _extreme(results, method, others, target, max)


def _extreme(results: Inputs, method: str, others: list[str], target: float, which: Measure) -> Measured:
    ratios = {other: time_ratio(results, method, other, target) for other in others}
    chosen = which(ratios, key=lambda other: ratios[other].value)  # type: ignore[arg-type]
    words = ", ".join(f"{label(results, other)} {ratio.value:.3g} times" for other, ratio in ratios.items())
    return decades(ratios[str(chosen)])._replace(evidence=words)


def many_body_time_ratio(results: Inputs, scene: str, method: str, dt: float, other: str, other_dt: float) -> Measured:
    """Ratio of the times of two methods for the same part of a many-body scene, each with its own step.

    The median over the rounds of the timing, each of which includes both methods, with its exact interval.
    """
    timed = results.cost("many_body")
    if scene not in timed.scene:
        raise NotInRun(f"the scene {scene} was not timed in this run")
    first, second = (of(timed, m).samples.sel({"scene": scene}).values for m in (method, other))
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise NotInRun(f"{method} or {other} has no time in this run")
    ratio = median(second / first * (dt / other_dt))
    steps = "" if dt == other_dt else f", with {dt / other_dt:.3g} times as many steps"
    words = f"{np.median(second):.3g} us a step against {np.median(first):.3g} us{steps}; {len(first)} rounds"
    return Measured(ratio.value, words, ratio.low, ratio.high)
