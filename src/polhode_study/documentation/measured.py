"""The measurements shown on the pages: those distributed with polhode."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, nan

import pandas as pd
import xarray as xr

from polhode.fits.ranking import candidates, ranked
from polhode.interface.netcdf import group_names, read_dataset
from polhode.problems import PROBLEMS, representative
from polhode.problems.problem import TORQUE_CLASSES
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.workflow.entry import HOME


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


@dataclass(frozen=True)
class Measurements:
    """The measurements of methods and problems that are distributed with polhode; ``inputs`` are their files."""

    inputs: Inputs

    @classmethod
    def released(cls) -> "Measurements":
        """Those of this checkout."""
        folder = HOME / "data/released"
        return cls(_Released(cost=folder / "cost.nc", released=folder))

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
        """A group of cost.nc: the key of a problem, or ``step``."""
        return self._once(f"cost {group}", lambda: self.inputs.cost(group))

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

    def first(self, problem: str, target: float, price: float, one_torque: bool = True) -> pd.Series | None:
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
