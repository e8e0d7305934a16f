"""The measurements shown on the pages: from a run if there is one, otherwise from the data distributed with polhode."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, nan
from pathlib import Path

import pandas as pd
import xarray as xr

from polhode.fits.ranking import candidates, ranked
from polhode.interface.netcdf import group_names, read_dataset
from polhode.problems import PROBLEMS, representative
from polhode.problems.problem import TORQUE_CLASSES
from polhode.study.analysis import selection
from polhode.study.artefacts import places
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.workflow.entry import HOME


class _Released(Inputs):
    """The released cost.nc in place of a run: it has problems and classes, but no separate errors."""

    @cached_property
    def problems(self) -> list[str]:
        return [name for name in group_names(self.paths["cost"]) if name in PROBLEMS]

    def _group(self, *names: str) -> xr.Dataset:
        if names or self.problem not in self.problems:
            raise NotInRun(f"{' '.join((self.problem, *names))} is not among the released data")
        return read_dataset(self.paths["cost"], self.problem)

    @cached_property
    def plugins(self) -> list[str]:
        return []


def _contents(path: Path) -> set[str]:
    """The problems and methods of a cost.nc."""
    problems = {name for name in group_names(path) if name in PROBLEMS}
    return problems | {f"method {key}" for key in read_dataset(path, "step")["integrator"].values}


@dataclass(frozen=True)
class Measurements:
    """The measurements of methods and problems.

    Parameters
    ----------
    inputs : the files
    run : whether they are those of a run
    """

    inputs: Inputs
    run: bool

    @classmethod
    def of(cls, results: Path | None = None, home: Path = HOME) -> "Measurements":
        """The measurements of the run in ``results`` (by default ``results`` of the checkout), or the released ones.

        A run is used only if it has every problem and method of the released data: pages from mixed sources would compare
        numbers that are not comparable.
        """
        folder = home / "results" if results is None else results
        released = home / "data/released"
        cost, older = folder / "cost.nc", released / "cost.nc"
        if not ((folder / "single_body.nc").is_file() and cost.is_file() and _contents(older) <= _contents(cost)):
            return cls(_Released(cost=released / "cost.nc", released=released), False)
        kinds = ("single_body", "references", "checks", "cost", "many_body")
        return cls(Inputs(**places(folder, kinds) | {"released": released}), True)

    @property
    def source(self) -> str:
        """The origin of the numbers, in words."""
        return "the run in the results folder" if self.run else "the released data, `data/released/cost.nc`"

    @cached_property
    def machine(self) -> str:
        """The processor on which steps were timed."""
        return str(read_dataset(self.inputs.paths["cost"]).attrs.get("cpu", "an unknown processor"))

    @cached_property
    def _read(self) -> dict[str, xr.Dataset | None]:
        return {}

    def _once(self, name: str, read: Callable[[], xr.Dataset]) -> xr.Dataset | None:
        """The value read by ``read``, read once; None if the data do not contain it."""
        if name not in self._read:
            try:
                self._read[name] = read()
            except NotInRun:
                self._read[name] = None
        return self._read[name]

    def cost(self, group: str) -> xr.Dataset | None:
        """A group of cost.nc: the key of a problem, ``step`` or ``operations``."""
        return self._once(f"cost {group}", lambda: self.inputs.cost(group))

    @cached_property
    def _classes(self) -> dict[str, list[str]]:
        return dict(selection.problems_by_class(self.inputs))

    def operations(self, method: str) -> dict[str, float] | None:
        """The operations of one step of a method."""
        data = self.cost("operations")
        if data is None or method not in data["integrator"].values:
            return None
        counts = data.sel(integrator=method)
        return {str(name): float(values) for name, values in counts.data_vars.items()}

    def step_time(self, method: str) -> tuple[float, float]:
        """Time of a step in the body frame as the method declares it, s, and its ratio to direct Euler's; NaN if not timed."""
        data = self.cost("step")
        if data is None or method not in data["integrator"].values:
            return nan, nan
        times = data.sel(integrator=method, frame="body")
        # A method whose normalisation cannot be switched has only one form.
        for normalised in (int(times["declared"]), 0, 1):
            form = times.sel(normalised=normalised)
            if isfinite(float(form["median"])):
                return float(form["median"]) * 1e-9, float(form["relative"])
        return nan, nan

    def orders(self, method: str, torque_class: str) -> dict[str, tuple[float, float]]:
        """Smallest and largest measured order over the problems of a class, by quantity.

        The quantities are ``q`` and ``omega`` in a run, and ``mean``, the mean of the two errors, in the released data.
        """
        by_class: dict[str, list[float]] = {}
        for problem in self._classes.get(torque_class, []):
            data = self.inputs.of(problem).errors
            if method not in data["integrator"].values:
                continue
            names = {"q": "q_order", "omega": "omega_order"} if self.run else {"mean": "order"}
            for quantity, name in names.items():
                if name in data and isfinite(value := float(data[name].sel(integrator=method))):
                    by_class.setdefault(quantity, []).append(value)
        return {quantity: (min(values), max(values)) for quantity, values in by_class.items()}

    def stability(self, method: str) -> float:
        """The largest stable product of decay rate and step size under friction; NaN where it was not measured."""
        data = self._once("stability", lambda: self.inputs.check("stability"))
        if data is None or method not in data["integrator"].values:
            return nan
        return float(data["limit"].sel(integrator=method))

    def drift(self, method: str, problem: str) -> tuple[float, float, float]:
        """Largest relative energy change in the long run of a problem, its step size and its end, s; NaN without such a run."""
        data = self._once(f"long run {problem}", lambda: self.inputs.of(problem).long_run)
        if data is None or "energy_drift" not in data or method not in data["integrator"].values:
            return nan, nan, nan
        change = abs(data["energy_drift"].sel(integrator=method)).max()
        return float(change), float(data.attrs["dt"]), float(data["time"][-1])

    def first(self, problem: str, target: float, price: float = 0.0, one_torque: bool = True) -> pd.Series | None:
        """The method that reaches an error on a problem soonest, as a row of :func:`polhode.fits.ranking.ranked`."""
        data = self.cost(problem)
        if data is None:
            return None
        key = (problem, target, price, one_torque)
        if key not in self._first:
            rows = ranked(data, target, price, candidates(data, one_torque))
            self._first[key] = None if rows.empty else rows.iloc[0]
        return self._first[key]

    @cached_property
    def _first(self) -> dict[tuple[str, float, float, bool], pd.Series | None]:
        return {}


def representatives() -> dict[str, str]:
    """The problem that represents each class of torque."""
    return {name: representative(name) for name in TORQUE_CLASSES}
