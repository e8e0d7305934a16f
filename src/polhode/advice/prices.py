"""The time of a step of each method, and of a run with a torque of a given price."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from polhode.advice import evidence, files
from polhode.advice.errors import AdviceError
from polhode.interface.netcdf import contents

if TYPE_CHECKING:
    from polhode.methods.protocol import Method
    from polhode.problems.problem import Problem

#: The method whose step is the unit of prices.
UNIT = "euler"
#: The price of a torque that is not named: the forces of a simulation take far longer than a rotation.
USUAL = 100.0
#: The file with the times of steps; and the released ones by themselves, which `polhode release --cost` writes beside it: to
#: open the other file takes 0.15 s.
COST, STEPS_ALONE = "cost.nc", "step_times.json"
#: The problem, the step (s), the number of steps and the number of repetitions with which a method is timed here.
PROBLEM, DT, STEPS, REPETITIONS = "spiral_cylinder", 1e-6, 20_000, 9
#: Radians of wheels and body over which the exact motion of a body with wheels is timed.
PARTS = 500.0
#: Steps whose length is below this part of the longest one are shorter.
SHORTER = 0.999


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
    fixed : dict
        Method -> time of a run that does not depend on its number of steps, s: of the exact motion of a body with wheels.
    pieces : tuple of float
        The lengths, s, of the pieces in which runs are made; empty for runs in steps of one length.
    """

    step: dict[str, float]
    torque: float
    source: str
    timed: list[str] = field(default_factory=list)
    fixed: dict[str, float] = field(default_factory=dict)
    pieces: tuple[float, ...] = ()

    @property
    def unit(self) -> float:
        """The time of a step of direct Euler, s."""
        return self.step[UNIT]

    def between(self, edges: "np.ndarray") -> "Prices":
        """The same for runs in pieces between these ``edges`` (n,), s; between two of them steps have one length.

        Without edges inside, n = 2, for runs in steps of one length.
        """
        return replace(self, pieces=tuple(np.diff(edges)) if len(edges) > 2 else ())

    def in_pieces(self, steps: float) -> "np.ndarray":
        """The number of steps in each piece, (pieces,), where none is longer than one of ``steps`` equal ones.

        Without pieces ``steps`` alone, (1,).
        """
        from polhode.methods.runs import steps_in

        return steps_in(np.array(self.pieces), sum(self.pieces) / steps) if self.pieces else np.array([steps])

    def equal(self, steps: int) -> float:
        """The number of equal steps that are as long as the longest of a run in pieces, for which ``steps`` were allowed.

        Without pieces ``steps`` themselves.
        """
        if not self.pieces:
            return steps
        return float(sum(self.pieces) / (np.array(self.pieces) / self.in_pieces(steps)).max())

    def usual(self, steps: float) -> float | None:
        """The length, s, of the steps that take most of the time of a run in pieces; None where these are the longest, too."""
        if not self.pieces:
            return None
        pieces = np.array(self.pieces)
        lengths = pieces / self.in_pieces(steps)
        order = np.argsort(lengths, kind="stable")
        usual = float(lengths[order][np.searchsorted(np.cumsum(pieces[order]), pieces.sum() / 2)])
        return usual if usual < SHORTER * lengths.max() else None

    def torques(self, method: "Method", steps: float) -> int:
        """The number of torque evaluations of a run of ``steps`` equal steps; in pieces there are more steps."""
        from polhode.methods.runs import torques_in

        return torques_in(method, self.in_pieces(steps))

    def seconds(self, method: "Method", steps: float) -> float:
        """The time of a run, s; for a method whose step has no known time, the time of the torques alone."""
        moving = int(self.in_pieces(steps).sum()) * self.step.get(method.key, 0.0) + self.fixed.get(method.key, 0.0)
        return moving + self.torques(method, steps) * self.torque * self.unit

    def steps(self, method: "Method", seconds: float) -> float:
        """About the number of steps that take this time, s, fewer in pieces; infinite if neither step nor torque takes any."""
        per_step = self.step.get(method.key, 0.0) + method.torques_per_step * self.torque * self.unit
        return max(0.0, seconds - self.fixed.get(method.key, 0.0)) / per_step if per_step else np.inf

    def measure_wheels(self, problem: "Problem", method: "Method", beside: "Method") -> None:
        """Time the exact motion of a problem with wheels, relative to a step of the method ``beside``, whose time is known.

        The time of ``method`` over the horizon, s, goes to :attr:`fixed`.
        """
        from polhode.methods.runs import integrate

        speed = float(np.linalg.norm(problem.omega0) + np.linalg.norm(problem.body.wheel_momentum) / min(problem.body.inertia))
        short = min(problem.horizon, PARTS / speed)
        seconds = min(_seconds_of(lambda: integrate(problem, method, short, np.array([1]))) for _ in range(REPETITIONS))
        self.fixed[method.key] = seconds / _timed(beside) * self.step[beside.key] * (problem.horizon / short)
        self.timed.append(f"{method.label} with wheels")

    def measure(self, method: "Method", beside: "Method") -> None:
        """Time a step of the method if no file has it, relative to a step of the method ``beside``, whose time is known.

        The time, s, goes to :attr:`step`.
        """
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
    results : folder of a run; by default a run or the released data
    anywhere : whether other times are taken if the run has none

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
    alone = path.with_name(STEPS_ALONE)
    if files.is_released(path) and alone.is_file():
        with evidence.of_this_version(alone):
            recorded = json.loads(alone.read_text(encoding="utf-8"))
            if recorded["sha256"] == sha256(path):
                return dict(recorded["seconds"]), str(recorded["cpu"])
    return times_in(path)


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(contents(path)).hexdigest()


def write_step_times(path: Path) -> None:
    """Write the times of steps of a released cost.nc into the file beside it, from which answers take them.

    Raises
    ------
    AdviceError
        If cost.nc is damaged.
    """
    seconds, cpu = times_in(path)
    text = json.dumps({"sha256": sha256(path), "cpu": cpu, "seconds": seconds}, indent=1)
    path.with_name(STEPS_ALONE).write_text(f"{text}\n", encoding="utf-8")


def times_in(path: Path) -> tuple[dict[str, float], str]:
    """Method -> time of a step, s, from a cost.nc, and the name of the processor on which they were measured.

    Methods that were not timed are missing.

    Raises
    ------
    AdviceError
        If it is damaged, or lacks the unit of prices.
    """
    with evidence.of_this_version(path):
        data = evidence.table(path, "step")
        in_body = list(map(str, data["frame"].values)).index("body")
        body = data["fastest"].transpose("frame", "integrator", "normalised").values[in_body]
        declared = data["declared"].values.astype(int)
        known = {str(key): float(row[i]) * 1e-9 for key, row, i in zip(data["integrator"].values, body, declared, strict=True)}
        machine = str(data.attrs.get("cpu", "an unknown processor"))
    known = {key: time for key, time in known.items() if np.isfinite(time)}
    if UNIT not in known:
        raise AdviceError(f"{path} does not contain the time of a step of direct Euler")
    return known, machine


def _timed(method: "Method") -> float:
    """The time of a step here, s: the fastest of several runs."""
    from polhode.problems import single_body

    problem = single_body(PROBLEM)
    arguments = (problem.q0, problem.omega0, problem.body.coefficients(), problem.compiled_torque, problem.parameter_array)
    times = [_seconds_of(lambda: method.integrate(*arguments, DT, np.array([STEPS]))) for _ in range(REPETITIONS + 1)]
    return min(times[1:]) / STEPS


def _seconds_of(call: Callable[[], object]) -> float:
    begun = perf_counter()
    call()
    return perf_counter() - begun
