"""The time of a step of each method, and of a run with a torque of a given price."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np

from polhode.advice import files
from polhode.advice.errors import AdviceError
from polhode.compiling.in_advance import compile_all
from polhode.interface.netcdf import read_dataset
from polhode.methods import METHODS
from polhode.methods.protocol import Method
from polhode.problems import single_body

#: The method whose step is the unit of prices.
UNIT = "euler"
#: The price of a torque that is not named: the forces of a simulation take far longer than a rotation.
USUAL = 100.0
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
    """

    step: dict[str, float]
    torque: float
    source: str

    @property
    def unit(self) -> float:
        """The time of a step of direct Euler, s."""
        return self.step[UNIT]

    def torques(self, method: Method, steps: int) -> int:
        """The torque evaluations of a run."""
        return method.torques_in(steps)

    def seconds(self, method: Method, steps: int) -> float:
        """The time of a run, s."""
        return steps * self.step[method.key] + self.torques(method, steps) * self.torque * self.unit

    def steps(self, method: Method, seconds: float) -> float:
        """About the number of steps that take this time."""
        return seconds / (self.step[method.key] + method.torques_per_step * self.torque * self.unit)


def prices(keys: Iterable[str], torque: float, results: Path | None = None, anywhere: bool = False) -> Prices:
    """The times of steps of these methods, from cost.nc; a method that it lacks is timed here, against direct Euler.

    Parameters
    ----------
    keys : methods
    torque : price of a torque, in steps of direct Euler
    results : folder of a run
    anywhere : whether other times serve if the run has none

    Raises
    ------
    AdviceError
        If there is no cost.nc, or it is damaged.
    """
    if anywhere and results is not None and not (results / "cost.nc").is_file():
        results = None
    path = files.find("cost.nc", results)
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
    missing = [key for key in keys if key not in known]
    if missing:
        compile_all([*missing, UNIT], problems=False)
        measured = {key: _timed(METHODS[key]) for key in (*missing, UNIT)}
        known |= {key: measured[key] / measured[UNIT] * known[UNIT] for key in missing}
    return Prices(known, torque, machine)


def _timed(method: Method) -> float:
    """The time of a step here, s: the fastest of several runs."""
    problem = single_body(PROBLEM)
    arguments = (problem.q0, problem.omega0, problem.body.coefficients(), problem.compiled_torque, problem.parameter_array)
    times = []
    for _ in range(REPETITIONS + 1):
        begun = perf_counter()
        method.integrate(*arguments, DT, np.array([STEPS]))
        times.append(perf_counter() - begun)
    return min(times[1:]) / STEPS
