"""The time of a step of each method, and of a run with a torque of a given price."""

from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from polhode.advice import files
from polhode.advice.errors import AdviceError
from polhode.interface.netcdf import read_dataset

if TYPE_CHECKING:
    from polhode.methods.protocol import Method

#: The method whose step is the unit of prices.
UNIT = "euler"
#: The price of a torque that is not named: the forces of a simulation take far longer than a rotation.
USUAL = 100.0
#: The file with the times of steps.
COST = "cost.nc"
#: The problem, the step (s), the number of steps and the number of repetitions with which a method is timed here.
PROBLEM, DT, STEPS, REPETITIONS = "spiral_cylinder", 1e-6, 20_000, 9


@dataclass(frozen=True)
class Prices:
    """Times of steps on one machine.

    Parameters
    ----------
    step : dict
        Method -> time of a step without its torques, s.
    torque : float
        The price of a torque, in steps of direct Euler.
    source : str
        Where the times come from.
    timed : list of str
        The methods that were timed here, by :meth:`measure`.
    """

    step: dict[str, float]
    torque: float
    source: str
    timed: list[str] = field(default_factory=list)

    @property
    def unit(self) -> float:
        """The time of a step of direct Euler, s."""
        return self.step[UNIT]

    def torques(self, method: "Method", steps: int) -> int:
        """The torque evaluations of a run."""
        return method.torques_in(steps)

    def seconds(self, method: "Method", steps: int) -> float:
        """The time of a run, s; for a method whose step has no known time, the time of the torques alone."""
        return steps * self.step.get(method.key, 0.0) + self.torques(method, steps) * self.torque * self.unit

    def steps(self, method: "Method", seconds: float) -> float:
        """About the number of steps that take this time; infinite if neither step nor torque takes any."""
        per_step = self.step.get(method.key, 0.0) + method.torques_per_step * self.torque * self.unit
        return seconds / per_step if per_step else np.inf

    def measure(self, method: "Method", beside: "Method") -> None:
        """Time a step of the method if no file has it, relative to a step of another method with a known time."""
        if method.key not in self.step:
            self.step[method.key] = _timed(method) / _timed(beside) * self.step[beside.key]
            self.timed.append(method.label)

    def known_from(self) -> str:
        """Where the times come from, in words."""
        return self.source + (f", of {', '.join(self.timed)} here" if self.timed else "")


def prices(torque: float, results: Path | None = None, anywhere: bool = False) -> Prices:
    """The times of steps of all methods that cost.nc has; nothing is timed.

    A method that the cost.nc of a run lacks has the released time, in proportion to the steps of direct Euler in both files.

    Parameters
    ----------
    torque : price of a torque, in steps of direct Euler
    results : folder of a run
    anywhere : whether other times serve if the run has none

    Raises
    ------
    AdviceError
        If there is no cost.nc, or it is damaged.
    """
    if anywhere and results is not None and not (results / COST).is_file():
        results = None
    path = files.find(COST, results)
    known, machine = _times(path)
    release = files.released(COST)
    if release is not None and not files.is_released(path):
        elsewhere, _ = _times(release)
        known = {key: time / elsewhere[UNIT] * known[UNIT] for key, time in elsewhere.items()} | known
    return Prices(known, torque, machine)


def _times(path: Path) -> tuple[dict[str, float], str]:
    """Method -> time of a step, s, and the processor on which they were measured."""
    try:
        data = read_dataset(path, "step")
        body = data["fastest"].sel(frame="body").transpose("integrator", "normalised").values
        declared = data["declared"].values.astype(int)
        known = {str(key): float(row[i]) * 1e-9 for key, row, i in zip(data["integrator"].values, body, declared, strict=True)}
        machine = str(data.attrs.get("cpu", "an unknown processor"))
    except (OSError, RuntimeError, ValueError, LookupError, AttributeError) as error:
        why = " ".join(str(error).split())
        raise AdviceError(f"{path} is damaged or not a cost.nc of this version ({why[:200]})") from error
    known = {key: time for key, time in known.items() if np.isfinite(time)}
    if UNIT not in known:
        raise AdviceError(f"{path} does not contain the time of a step of direct Euler")
    return known, machine


def _timed(method: "Method") -> float:
    """The time of a step here, s: the fastest of several runs."""
    from polhode.problems import single_body

    problem = single_body(PROBLEM)
    arguments = (problem.q0, problem.omega0, problem.body.coefficients(), problem.compiled_torque, problem.parameter_array)
    times = []
    for _ in range(REPETITIONS + 1):
        begun = perf_counter()
        method.integrate(*arguments, DT, np.array([STEPS]))
        times.append(perf_counter() - begun)
    return min(times[1:]) / STEPS
