"""What the publications state about time, as measures for data/cost_claims.yaml.

Apart from :mod:`polhode.study.claims`: claims.csv has the same bytes in every run, and a measured time never has.
"""

import numpy as np

from polhode.study.claims import of
from polhode.study.ensembles import median
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.measured import Measure, Measured


def relative_step_time(results: Inputs, method: str, frame: str) -> tuple[float, str]:
    """The time of a step of a method as it declares, over that of direct Euler, with omega kept in this frame."""
    step = results.cost("step")
    row = of(step, method).sel(frame=frame)
    value = float(row.relative.sel(normalised=row.declared))
    if not np.isfinite(value):
        raise NotInRun(f"{method} was not timed in this form")
    other = "lab" if frame == "body" else "body"
    apart = float(of(step, method).relative.sel(frame=other, normalised=row.declared))
    return value, f"{float(row.fastest.sel(normalised=row.declared)):.3g} ns; kept in the {other} frame {apart:.3g}"


def normalisation_time(results: Inputs, method: str, frame: str) -> tuple[float, str]:
    """The time of a step with normalisation over that without."""
    row = of(results.cost("step"), method).sel(frame=frame).fastest
    off, on = float(row.sel(normalised=0)), float(row.sel(normalised=1))
    if not np.isfinite(on / off):
        raise NotInRun(f"{method} was not timed in both forms")
    return on / off, f"{on:.3g} ns against {off:.3g} ns"


def time_ratio(results: Inputs, method: str, other: str, target: float, frame: str = "body") -> tuple[float, str]:
    """How many times longer another method takes to a target error."""
    # By the published metric, and with the time steps that the study searched for where it did.
    found = results.cost(f"{results.problem}/published").sel(frame=frame)
    if target not in found.target_error:
        raise NotInRun(f"target {target:g} is not in this run")
    one, two = (float(of(found, m).time_to_solution.sel(target_error=target)) for m in (method, other))
    if not np.isfinite(two / one):
        raise NotInRun(f"{method} or {other} does not reach {target:g} in this run")
    return two / one, f"{two:.3g} s against {one:.3g} s at an error of {target:.0e}"


def smallest_time_ratio(results: Inputs, method: str, others: list[str], target: float) -> tuple[float, str]:
    """The same for the fastest of several others."""
    found = {other: time_ratio(results, method, other, target)[0] for other in others}
    least = min(found, key=lambda other: found[other])
    return found[least], ", ".join(f"{other} {value:.3g}" for other, value in found.items())


def many_body_time_ratio(results: Inputs, scene: str, method: str, dt: float, other: str, other_dt: float) -> Measured:
    """How many times longer another method takes for the same stretch of a many-body scene, each with its own step.

    The median over the rounds of the timing, in each of which both methods had their turn, with its exact interval.
    """
    timed = results.cost("many_body")
    if scene not in timed.scene:
        raise NotInRun(f"the scene {scene} was not timed in this run")
    one, two = (of(timed, m).samples.sel({"scene": scene}).values for m in (method, other))
    if not (np.isfinite(one).all() and np.isfinite(two).all()):
        raise NotInRun(f"{method} or {other} has no time in this run")
    found = median(two / one * (dt / other_dt))
    steps = "" if dt == other_dt else f", with {dt / other_dt:.3g} times as many steps"
    words = f"{np.median(two):.3g} us a step against {np.median(one):.3g} us{steps}; {len(one)} rounds"
    return Measured(found.value, words, found.low, found.high)


MEASURES: dict[str, Measure] = {
    f.__name__: f for f in (relative_step_time, normalisation_time, time_ratio, smallest_time_ratio, many_body_time_ratio)
}
