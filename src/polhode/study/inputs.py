"""The files that figures, tables and numbers are made from, opened once and read lazily."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
import yaml
from numpy.typing import ArrayLike

import polhode.methods as _methods
from polhode.study.storage import read_cell, read_dataset, read_groups, read_values

methods: Any = _methods


def _at_the_top(groups: dict[str, xr.Dataset]) -> list[str]:
    return [name[1:] for name in groups if name.count("/") == 1 and name != "/"]


class NotInRun(LookupError):
    """The run does not hold what a figure, table or number needs; the message says what."""


@dataclass(frozen=True)
class Inputs:
    """Where a run keeps what the report shows.

    What belongs to one problem (:attr:`errors`, :attr:`long_run`, ...) is that of :attr:`problem`; :meth:`of` gives the same of
    another.

    Parameters
    ----------
    single_body : path of single_body.nc
    references : folder of the references, a file PROBLEM.nc each
    checks : folder of the experiments on single methods, a file NAME.nc each
    published : folder of the published numbers
    errata : path of errata.yaml
    claims : path of claims.csv
    sources : path of sources.yaml
    cost_file : path of cost.nc; empty where the run has none
    cost_claims : path of cost_claims.csv
    many_body_file : path of many_body.nc; empty where the run has none
    films : folder of the films of many bodies, a file SCENE.nc each
    released : folder of results that came with the code
    problem : str
        Key of the problem, which names the groups of ``single_body``.
    """

    single_body: str | Path
    references: str | Path = ""
    checks: str | Path = ""
    published: str | Path = ""
    errata: str | Path = ""
    claims: str | Path = ""
    sources: str | Path = ""
    cost_file: str | Path = ""
    cost_claims: str | Path = ""
    many_body_file: str | Path = ""
    films: str | Path = ""
    released: str | Path = ""
    problem: str = "spiral_cylinder"
    _others: dict[str, "Inputs"] = field(default_factory=dict, repr=False, compare=False)
    _read: dict[str, dict[str, xr.Dataset]] = field(default_factory=dict, repr=False, compare=False)

    def of(self, problem: str) -> "Inputs":
        """The same run, seen from another problem; each file is read once."""
        if problem == self.problem:
            return self
        if problem not in self._others:
            self._others[problem] = replace(self, problem=problem)
        return self._others[problem]

    @cached_property
    def problems(self) -> list[str]:
        """Keys of the problems in this run, in the order of the configuration."""
        return _at_the_top(self._groups(self.single_body))

    def _groups(self, path: str | Path) -> dict[str, xr.Dataset]:
        """The groups of a file, which is opened once: that takes longer than reading them all."""
        if str(path) not in self._read:
            self._read[str(path)] = read_groups(path)
        return self._read[str(path)]

    def _group(self, *names: str) -> xr.Dataset:
        if self.problem not in self.problems:
            raise NotInRun(f"this run does not hold the problem {self.problem}")
        groups, name = self._groups(self.single_body), "/".join(("", self.problem, *names))
        if name not in groups:
            raise NotInRun(f"this run has no {' '.join(names)} of the problem {self.problem}")
        return groups[name]

    def check(self, name: str) -> xr.Dataset:
        """An experiment on single methods: checks/NAME.nc."""
        path = Path(self.checks) / f"{name}.nc"
        if not path.is_file():
            raise NotInRun(f"this run has no check {name}")
        return read_values(path, check=name)

    def cost(self, group: str) -> xr.Dataset:
        """A group of cost.nc: ``step`` (times), ``operations`` (counts), or the key of a problem (times to target errors).

        Raises
        ------
        NotInRun
            If the run has no cost study, or not this group.
        """
        if not str(self.cost_file) or not Path(self.cost_file).is_file():
            raise NotInRun("this run measured no times (cost: null)")
        groups = self._groups(self.cost_file)
        if f"/{group}" not in groups:
            raise NotInRun(f"the cost study of this run does not hold {group}")
        return groups[f"/{group}"]

    @cached_property
    def scenes(self) -> list[str]:
        """Keys of the many-body scenes in this run."""
        there = str(self.many_body_file) and Path(self.many_body_file).is_file()
        return _at_the_top(self._groups(self.many_body_file)) if there else []

    def many_body(self, scene: str) -> xr.Dataset:
        """The many-body runs of a scene: a group of many_body.nc.

        Raises
        ------
        NotInRun
            If the run does not hold the scene.
        """
        if scene not in self.scenes:
            raise NotInRun(f"this run does not hold many bodies of the scene {scene}")
        return self._groups(self.many_body_file)[f"/{scene}"]

    def released_many_body(self, scene: str) -> xr.Dataset:
        """The same of the full study that came with the code: a group of released/many_body.nc."""
        path = Path(self.released) / "many_body.nc"
        if not str(self.released) or not path.is_file() or f"/{scene}" not in self._groups(path):
            raise NotInRun(f"no full study of the scene {scene} came with this code")
        return self._groups(path)[f"/{scene}"]

    def film(self, scene: str) -> dict[str, Any]:
        """A short run of a scene with all that is needed to draw it, see :func:`polhode.study.many_body.run_film`."""
        path = Path(self.films) / f"{scene}.nc"
        if not path.is_file():
            raise NotInRun(f"this run has no film of the scene {scene}")
        return read_cell(path, scene=scene)

    @cached_property
    def errors(self) -> xr.Dataset:
        """Errors over integrator and dt."""
        return self._group()

    @cached_property
    def ladder(self) -> xr.Dataset:
        """:attr:`errors` without the step sizes that serve the fits of the orders alone."""
        shown = (self.errors["dt_set"] != "fit").values
        return self.errors.isel(dt=shown) if shown.any() else self.errors

    @cached_property
    def long_run(self) -> xr.Dataset:
        """Errors over integrator and time at one dt."""
        return self._group("long_run")

    @cached_property
    def long_run_switched(self) -> xr.Dataset:
        """The same runs with normalisation switched, of the methods that can switch it."""
        data = self._group("long_run_switched")
        return data.isel(integrator=data["diverged"].notnull().values) if "diverged" in data else data

    @cached_property
    def targets(self) -> xr.Dataset:
        """The largest step that meets each target error, over integrator and target_error."""
        return self._group("targets")

    @cached_property
    def plugins(self) -> list[str]:
        """Keys of the user's own methods."""
        named = str(self._groups(self.single_body)["/"].attrs["plugins"])
        return [key for key in named.split(",") if key]

    @cached_property
    def reference_states(self) -> xr.Dataset:
        """The exact q and omega over time."""
        path = Path(self.references) / f"{self.problem}.nc"
        if not path.is_file():
            raise NotInRun(f"this run does not hold the reference of {self.problem}")
        return read_dataset(path, problem=self.problem)

    @cached_property
    def published_steps(self) -> pd.DataFrame:
        """The published dt for each method and target error: del Valle et al. (2024), Table 2."""
        return self.published_numbers("delvalle2024_table2")

    def published_step(self, method: str, target: float) -> float:
        """The published dt of a method for a target error in s (del Valle et al. 2024, Table 2), NaN where none is printed."""
        steps = self.published_steps
        found = steps[(steps["method"] == method) & np.isclose(steps["target_error"].astype(float), target, rtol=1e-6)]
        return float(found["dt"].iloc[0]) if len(found) else float("nan")

    def published_numbers(self, name: str) -> pd.DataFrame:
        """A table of published numbers: NAME.csv of :attr:`published`."""
        return pd.read_csv(Path(self.published) / f"{name}.csv", comment="#")

    @cached_property
    def claim_rows(self) -> pd.DataFrame:
        """What was checked of the publication, one statement a row; every cell is text."""
        return pd.read_csv(self.claims, dtype=str, keep_default_na=False)

    @cached_property
    def cost_claim_rows(self) -> pd.DataFrame:
        """The same for statements about time."""
        if not str(self.cost_claims) or not Path(self.cost_claims).is_file():
            raise NotInRun("this run judged no statements about time")
        return pd.read_csv(self.cost_claims, dtype=str, keep_default_na=False)

    @cached_property
    def errata_rows(self) -> list[dict[str, str]]:
        """What is wrong in the texts of the publications, and what had to be chosen, see :func:`load_errata`."""
        return load_errata(self.errata)

    @cached_property
    def source_rows(self) -> list[dict[str, Any]]:
        """Every numbered item of the sources and where it stands here, see :func:`load_sources`."""
        return load_sources(self.sources)

    def interpolated_step(self, method: str, target: float) -> float:
        """The dt at which the error curve over the ladder, drawn with straight lines in logarithms, meets a target error.

        That is how del Valle et al. (2024) obtain their Table 2 from the data of their Fig. 2, each method in the measure that
        they take for it (``mean_error_as_published``). NaN where it is not met, and on
        any other ladder than theirs: a line between other points is another number.
        """
        if not is_published_ladder(self.ladder["dt"].values):
            return float("nan")
        if method not in self.ladder["integrator"].values:
            return float("nan")
        error = self.ladder["mean_error_as_published"].sel(integrator=method).values
        return interpolated_step(self.ladder["dt"].values, error, target)

    def declared(self, method: str, name: str, default: Any = "") -> Any:
        """What a method declares: from the registry, else from the data, else ``default``."""
        if method in methods:
            return getattr(methods[method], name, default)
        if name in self.errors and method in self.errors["integrator"].values:
            return self.errors[name].sel(integrator=method).values.item()
        return default

    def label(self, method: str) -> str:
        """The name of a method in figures and tables: from the data, which also know the plug-ins."""
        if "label" in self.errors and method in self.errors["integrator"].values:
            return str(self.errors["label"].sel(integrator=method).values.item())
        return str(self.declared(method, "label", method))


def is_published_ladder(dt: ArrayLike) -> bool:
    """Whether these are the step sizes of del Valle et al. (2024), Fig. 2: 20 from 1e-7 s to 0.1 s, evenly in the logarithm."""
    steps = np.asarray(dt, float)
    return steps.shape == (20,) and np.allclose(steps, np.geomspace(1e-7, 1e-1, 20), rtol=1e-5)


def interpolated_step(dt: ArrayLike, error: ArrayLike, target: float) -> float:
    """Where a curve through (dt, error), straight between its points in logarithms, first rises above ``target``.

    Parameters
    ----------
    dt, error : step sizes in s, ascending, and the errors there; points that are not finite and positive are left out
    """
    x, y = np.asarray(dt, float), np.asarray(error, float)
    there = np.isfinite(y) & (y > 0)
    x, y = np.log(x[there]), np.log(y[there]) - np.log(target)
    crossings = np.flatnonzero((y[:-1] < 0) & (y[1:] >= 0))
    if crossings.size == 0:
        return float("nan")
    i = crossings[0]
    return float(np.exp(x[i] - y[i] * (x[i + 1] - x[i]) / (y[i + 1] - y[i])))


#: What every entry of errata.yaml has; the source is its key in paper/refs.bib, all other values are LaTeX text.
ERRATA_FIELDS = ("id", "source", "location", "kind", "printed", "problem", "reading", "shown")
#: What is wrong in a text or contradicts it, and what we had to choose, each in a table of its own.
ERRATA_KINDS = ("misprint", "discrepancy")
READING_KINDS = ("ambiguity", "inference", "convention")
#: What an entry may have besides: ``check: pdf`` where it rests on one glyph, which the conversion we read may have misread.
ERRATA_CHECKS = ("pdf",)


def load_errata(path: str | Path) -> list[dict[str, str]]:
    """The entries of an errata file, checked; ``check`` is empty where an entry has none.

    Raises
    ------
    ValueError
        If an entry lacks a field, has one too many, repeats an id, or names an unknown kind or check; the message names file
        and entry.
    """
    data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    seen: set[str] = set()
    for number, entry in enumerate(data["errata"], 1):
        where = f"{path}: entry {number} ({entry.get('id', 'without id')})"
        if set(entry) - {"check"} != set(ERRATA_FIELDS):
            raise ValueError(f"{where}: fields must be {', '.join(ERRATA_FIELDS)} and may be check; got {', '.join(entry)}")
        if not all(isinstance(value, str) and value.strip() for value in entry.values()):
            raise ValueError(f"{where}: every field must be text that is not empty")
        if entry["kind"] not in ERRATA_KINDS + READING_KINDS:
            raise ValueError(f"{where}: kind {entry['kind']!r} must be one of {', '.join(ERRATA_KINDS + READING_KINDS)}")
        if entry.get("check", "pdf") not in ERRATA_CHECKS:
            raise ValueError(f"{where}: check {entry['check']!r} must be {' or '.join(ERRATA_CHECKS)}, or left out")
        if entry["id"] in seen:
            raise ValueError(f"{where}: the id is taken by an earlier entry")
        seen.add(entry["id"])
    return [{name: " ".join(entry.get(name, "").split()) for name in (*ERRATA_FIELDS, "check")} for entry in data["errata"]]


#: What every item of sources.yaml may have besides its source.
SOURCE_FIELDS = ("item", "about", "here", "missing")


def load_sources(path: str | Path) -> list[dict[str, Any]]:
    """The items of an index of sources, checked: source, item, about, here (a list of names), missing (may be empty).

    Raises
    ------
    ValueError
        If an item has an unknown field, lacks its name or its description, says neither where it is nor why not, or stands
        there twice; the message names file and item.
    """
    data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = []
    for source in data["sources"]:
        for entry in source["items"]:
            where = f"{path}: {source['key']}, {entry.get('item', 'an item without a name')}"
            if unknown := set(entry) - set(SOURCE_FIELDS):
                raise ValueError(f"{where}: unknown field {sorted(unknown)}; known are: {', '.join(SOURCE_FIELDS)}")
            if not (entry.get("item") and entry.get("about")):
                raise ValueError(f"{where}: item and about must not be empty")
            here, missing = list(entry.get("here", [])), str(entry.get("missing", ""))
            if not here and not missing:
                raise ValueError(f"{where}: say where it is (here) or why it is not (missing)")
            row = {"source": source["key"], "item": entry["item"], "about": entry["about"], "here": here, "missing": missing}
            if any(row["source"] == other["source"] and row["item"] == other["item"] for other in rows):
                raise ValueError(f"{where}: it stands there twice")
            rows.append(row)
    return rows
