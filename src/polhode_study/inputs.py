"""The input files of figures, tables and numbers, opened once and read lazily."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, wraps
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import numpy as np
import pandas as pd
import xarray as xr

from polhode.fits import NotInRun as NotInRun
from polhode.interface.cf_attributes import CLASSES, ROWS
from polhode.interface.netcdf import at_the_top, plain, read_dataset, read_groups
from polhode.interface.reading import load_yaml
from polhode_study.artefacts import ARTEFACTS, CHECKOUT


def _registered() -> xr.Dataset:
    """The declarations of the methods registered now; imported here because recent files hold those of their methods."""
    from polhode.methods import METHODS
    from polhode_study.declarations import method_declarations

    return method_declarations(list(METHODS))


def _last_group() -> str:
    """The group of methods that no file lists; imported here because this rarely happens."""
    from polhode.methods.checks import OTHERS

    return OTHERS


#: What a run says that lacks a file, where its meaning is not enough.
ABSENT = {
    "cost": "this run measured no times (cost: null)",
    "cost_claims": "this run judged no statements about time",
    "ensembles": "this run has no ensembles of random bodies (ensembles: null)",
    "references": "this run does not contain the reference of {problem}",
    "checks": "this run has no check {check}",
    "films": "this run has no film of the scene {scene}",
}


class Inputs:
    """The data of a run from which the report is made.

    Properties of a single problem (:attr:`errors`, :attr:`long_run`, ...) are those of :attr:`problem`; :meth:`of` selects
    another one.

    Parameters
    ----------
    single_body : path of this file; empty if the run has none, or it is not needed
    problem : str
        Key of the problem, which names the groups of ``single_body``.
    checkout : the current commit: ``commit``, ``commit_time`` (seconds since the epoch), ``dirty``
    checks_needed : the experiments that may be read, for a chapter those that it declares; by default all
    paths : the other files by their kind (:data:`~polhode_study.artefacts.ARTEFACTS`), or the folder where there are several,
        and the data of the checkout (:data:`~polhode_study.artefacts.CHECKOUT`), as
        :func:`~polhode_study.artefacts.places` returns them
    """

    def __init__(
        self,
        single_body: str | Path = "",
        *,
        problem: str = "spiral_cylinder",
        checkout: Mapping[str, Any] = MappingProxyType({}),
        checks_needed: Sequence[str] | None = None,
        **paths: str | Path,
    ) -> None:
        if unknown := sorted(paths.keys() - ARTEFACTS.keys() - CHECKOUT.keys()):
            raise TypeError(f"unknown kind of file {', '.join(unknown)}; known are: {', '.join([*ARTEFACTS, *CHECKOUT])}")
        self.paths: dict[str, str | Path] = {"single_body": single_body, **paths}
        self.problem, self.checkout, self.checks_needed = problem, checkout, checks_needed
        self._others: dict[str, Inputs] = {problem: self}
        self._read: dict[str, Mapping[str, xr.Dataset]] = {}
        self._declared: dict[str, dict[str, Any]] = {}
        self._analysed: dict[tuple[Any, ...], tuple[Any, frozenset[str]]] = {}
        #: The experiments read so far that are taken from the release, for some methods or as a whole.
        self.from_release: set[str] = set()

    def of(self, problem: str) -> "Inputs":
        """This run viewed from another problem; files are still read only once."""
        if problem not in self._others:
            other = self._others[problem] = type(self)(
                problem=problem, checkout=self.checkout, checks_needed=self.checks_needed, **self.paths
            )
            other._others, other._read, other._declared, other._analysed, other.from_release = (
                self._others, self._read, self._declared, self._analysed, self.from_release,
            )  # fmt: skip
        return self._others[problem]

    def sharing(self, **places: Any) -> "Inputs":
        """The same run with another choice of files; what both have is read only once."""
        other = Inputs(**places)
        other._read = self._read
        return other

    def file(self, kind: str, *names: str) -> Path:
        """The file of a kind, from the names in its path if there are several.

        Raises
        ------
        NotInRun
            If the run does not contain it.
        """
        artefact, root = ARTEFACTS[kind], str(self.paths.get(kind, ""))
        path = Path(root + artefact.filled(names).removeprefix(artefact.root))
        if not root or not path.is_file():
            absent = ABSENT.get(kind, f"this run has no file {artefact.path}: {artefact.meaning}")
            raise NotInRun(absent.format(**dict(zip(artefact.fields, names, strict=True))))
        return path

    def released_file(self, kind: str) -> Path:
        """The file with the published-scale results of a kind; no file if the results are without."""
        return Path(self.paths["released"], ARTEFACTS[kind].released) if self.paths.get("released") else Path()

    def released_path(self, name: str) -> Path:
        """A file of data/released; :class:`NotInRun` if there is none."""
        path = Path(self.paths.get("released", ""), name)
        if not self.paths.get("released") or not path.is_file():
            raise NotInRun(f"data/released has no {name}")
        return path

    def released_data(self, name: str, group: str = "") -> xr.Dataset:
        """A group of a file of data/released, by default its root, read once; :class:`NotInRun` if there is none."""
        path = self.released_path(name)
        if str(path) not in self._read:
            self._read[str(path)] = read_groups(path)
        if f"/{group}" not in self._read[str(path)]:
            raise NotInRun(f"data/released has no {group} in {name}")
        return self._read[str(path)][f"/{group}"]

    def single(self, kind: str, *names: str) -> xr.Dataset:
        """The dataset of one of the files of a kind, read once; :class:`NotInRun` as from :meth:`file`."""
        path = str(self.file(kind, *names))
        if path not in self._read:
            self._read[path] = {"/": read_dataset(path, **dict(zip(ARTEFACTS[kind].fields, names, strict=True)))}
        return self._read[path]["/"].copy(deep=False)

    def groups(self, kind: str, released: bool = False) -> Mapping[str, xr.Dataset]:
        """The groups of the file of a kind by their paths, each read once; an empty mapping if there is no such file.

        ``released``: of the published-scale results.
        """
        path = self.released_file(kind) if released else Path(self.paths.get(kind, ""))
        if not path.is_file():
            return {}
        if str(path) not in self._read:
            self._read[str(path)] = read_groups(path)
        return self._read[str(path)]

    @cached_property
    def problems(self) -> list[str]:
        """Keys of the problems in this run, in the order of the configuration."""
        return at_the_top(self.groups("single_body"))

    def _group(self, *names: str) -> xr.Dataset:
        if self.problem not in self.problems:
            raise NotInRun(f"this run does not contain the problem {self.problem}")
        groups, name = self.groups("single_body"), "/".join(("", self.problem, *names))
        if name not in groups:
            raise NotInRun(f"this run has no {' '.join(names)} of the problem {self.problem}")
        return self._noted(self.problem.replace("_", " "), groups[name])

    def _noted(self, what: str, data: xr.Dataset) -> xr.Dataset:
        """Data of an experiment, noted if some of them are from the release."""
        if data.attrs.get("released"):
            self.from_release.add(what)
        return data

    def check(self, name: str) -> xr.Dataset:
        """An experiment on single methods: checks/NAME.nc.

        Raises
        ------
        ValueError
            If it is none of :attr:`checks_needed`.
        """
        if self.checks_needed is not None and name not in self.checks_needed:
            raise ValueError(f"the experiment {name} is read and not declared: add checks/{name} to needs in chapter.py")
        return self._noted(name.replace("_", " "), self.single("checks", name))

    def cost(self, group: str) -> xr.Dataset:
        """A group of cost.nc: ``step`` (times), ``operations`` (counts), or the key of a problem (times to target errors).

        Raises
        ------
        NotInRun
            If the run has no cost study, or lacks this group.
        """
        self.file("cost")
        if f"/{group}" not in self.groups("cost"):
            raise NotInRun(f"the cost study of this run does not contain {group}")
        of_many = group in ("many_body", "many_body_times")
        times = "/many_body" if of_many else "/step"
        if group != "operations" and times in self.groups("cost"):
            self._noted("times of a step of many bodies" if of_many else "times of a step", self.groups("cost")[times])
        return self.groups("cost")[f"/{group}"]

    @cached_property
    def scenes(self) -> list[str]:
        """Keys of the many-body scenes in this run."""
        return at_the_top(self.groups("many_body"))

    def many_body(self, scene: str) -> xr.Dataset:
        """The many-body runs of a scene: a group of many_body.nc.

        Raises
        ------
        NotInRun
            If the run does not contain the scene.
        """
        if scene not in self.scenes:
            raise NotInRun(f"this run has no many-body runs of the scene {scene}")
        return self._noted(scene.replace("_", " "), self.groups("many_body")[f"/{scene}"])

    @cached_property
    def released_scenes(self) -> list[str]:
        """Keys of the many-body scenes among the published-scale results."""
        return at_the_top(self.groups("many_body", released=True))

    def released_many_body(self, scene: str) -> xr.Dataset:
        """The published-scale many-body runs of a scene: a group of released/many_body.nc."""
        if scene not in self.released_scenes:
            raise NotInRun(f"data/released has no results of the scene {scene}")
        return self.groups("many_body", released=True)[f"/{scene}"]

    @property
    def ensembles(self) -> xr.Dataset:
        """The errors on random bodies: ensembles.nc; :class:`NotInRun` if the run does not contain them."""
        self.file("ensembles")
        return self._noted("random bodies", self.groups("ensembles")["/"])

    @property
    def atlas(self) -> xr.Dataset:
        """The engine atlas, released/atlas.nc, made by ``polhode atlas``; :class:`NotInRun` if there is none."""
        return self.released_data("atlas.nc")

    def film(self, scene: str) -> dict[str, Any]:
        """A short run of a scene with all data needed to draw it, see :func:`polhode_study.run.scene.make_film`."""
        return plain(self.single("films", scene))

    @property
    def errors(self) -> xr.Dataset:
        """Errors over integrator and dt."""
        return self._group()

    @property
    def ladder(self) -> xr.Dataset:
        """The data of :attr:`errors` without the step sizes used only for the fits of the orders."""
        shown = (self.errors["dt_set"] != "fit").values
        return self.errors.isel(dt=shown) if shown.any() else self.errors

    @property
    def long_run(self) -> xr.Dataset:
        """Errors over integrator and time at one dt."""
        return self._group("long_run")

    @property
    def long_run_switched(self) -> xr.Dataset:
        """The long runs repeated with normalisation switched, for the methods that allow it."""
        data = self._group("long_run_switched")
        return data.isel(integrator=data["diverged"].notnull().values) if "diverged" in data else data

    @property
    def targets(self) -> xr.Dataset:
        """The largest step that meets each target error, over integrator and target_error."""
        return self._group("targets")

    @cached_property
    def plugins(self) -> list[str]:
        """Keys of the user's own methods."""
        root = self.groups("single_body").get("/")
        named = "" if root is None else str(root.attrs.get("plugins", ""))
        return [key for key in named.split(",") if key]

    @cached_property
    def reference_states(self) -> xr.Dataset:
        """The exact q and omega over time."""
        return self.single("references", self.problem)

    @cached_property
    def published_steps(self) -> pd.DataFrame:
        """The published dt for each method and target error: del Valle et al. (2024), Table 2."""
        return self.published_numbers("delvalle2024_table2")

    def published_step(self, method: str, target: float) -> float:
        """The published dt of a method for a target error in s (del Valle et al. 2024, Table 2), NaN if none is printed."""
        steps = self.published_steps
        rows = steps[(steps["method"] == method) & np.isclose(steps["target_error"].astype(float), target, rtol=1e-6)]
        return float(rows["dt"].iloc[0]) if len(rows) else float("nan")

    def published_numbers(self, name: str) -> pd.DataFrame:
        """A table of published numbers: NAME.csv in the folder ``published``."""
        return pd.read_csv(Path(self.paths.get("published", "")) / f"{name}.csv", comment="#")

    @cached_property
    def claim_rows(self) -> pd.DataFrame:
        """The statements checked in the publications, one row each; every cell is text."""
        return pd.read_csv(self.file("claims"), dtype=str, keep_default_na=False)

    @cached_property
    def cost_claim_rows(self) -> pd.DataFrame:
        """The checked statements about time, one row each; every cell is text."""
        return pd.read_csv(self.file("cost_claims"), dtype=str, keep_default_na=False)

    @cached_property
    def errata_rows(self) -> list[dict[str, str]]:
        """Errors in the texts of the publications, and choices that had to be made, see :func:`load_errata`."""
        return load_errata(self.paths["errata"])

    @cached_property
    def source_rows(self) -> list[dict[str, Any]]:
        """Every numbered item of the sources and its counterpart here, see :func:`load_sources`."""
        return load_sources(self.paths["sources"])

    @cached_property
    def declarations(self) -> xr.Dataset:
        """The declarations of the methods of the run, one row each: the root of single_body.nc or many_body.nc."""
        for kind in ("single_body", "many_body"):
            if (groups := self.groups(kind)) and ROWS in groups["/"].dims:
                return groups["/"]
        return _registered()  # older files lack them

    def _arithmetic(self, name: str) -> xr.DataArray:
        """A variable of :mod:`polhode_study.gather.arithmetic`, at the root of single_body.nc."""
        root = self.groups("single_body").get("/", xr.Dataset())
        if name not in root:
            raise NotInRun("this run has no counts of the parts of a step")
        return root[name]

    def block_operations(self, block: str) -> int:
        """The additions, multiplications, divisions and square roots of a part of a step, a key in ``building_block``."""
        keys = [str(key) for key in self._arithmetic("building_block").values]
        if block not in keys:
            raise NotInRun(f"the operations of {block} are not among those counted: {', '.join(keys)}")
        return int(self._arithmetic("building_block_operations").values[keys.index(block)])

    def rotation_rounding(self, name: str) -> xr.DataArray:
        """A result of :func:`polhode_study.gather.arithmetic.rotation_rounding`, a scalar."""
        return self._arithmetic(f"rotation_rounding_{name}")

    @cached_property
    def torque_classes(self) -> dict[str, str]:
        """The classes of torque in their order, and what the torque depends on in each."""
        declared = self.declarations
        if "torque_class_meaning" not in declared:  # an older file
            declared = _registered()
        keys, meanings = (map(str, declared[name].values) for name in ("torque_class", "torque_class_meaning"))
        return dict(zip(keys, meanings, strict=True))

    def _all_declared(self) -> dict[str, dict[str, Any]]:
        """The table of declarations as plain values, built once for all problems: many look-ups by xarray take seconds."""
        if not self._declared:
            columns = {
                str(name): (column.max(CLASSES) if CLASSES in column.dims else column).values.tolist()
                for name, column in self.declarations.data_vars.items()
                if ROWS in column.dims
            }
            for i, key in enumerate(columns["method"]):
                self._declared[str(key)] = {name: column[i] for name, column in columns.items()}
        return self._declared

    def declared(self, method: str, name: str, default: Any = "") -> Any:
        """One declaration of a method, a variable of :attr:`declarations`; for orders, the highest over all torque classes.

        For a method that the run does not list: the entry in the data of the problem, otherwise ``default``.
        """
        if method in self._all_declared():
            return self._declared[method].get(name, default)
        if self.problem in self.problems and name in self.errors and method in self.errors["integrator"].values:
            return self.errors[name].sel(integrator=method).values.item()
        return default

    def grouped(self, methods: Iterable[str]) -> list[tuple[str, list[str]]]:
        """Methods by group, in the order of figures and tables; methods that the run does not list come last."""
        groups: dict[str, list[str]] = {}
        for key in sorted(dict.fromkeys(map(str, methods)), key=lambda key: self.declared(key, "place", inf)):
            groups.setdefault(str(self.declared(key, "group") or _last_group()), []).append(key)
        return list(groups.items())

    def in_order(self, methods: Iterable[str]) -> list[str]:
        """Methods in the order of :meth:`grouped`."""
        return [key for _, keys in self.grouped(methods) for key in keys]

    @property
    def problem_declarations(self) -> dict[str, Any]:
        """The declarations of the problem: the attributes of its group; empty if the run does not contain it."""
        if self.problem not in self.problems:
            return {}
        said = dict(self.errors.attrs)
        if "setup" in said:
            return said
        from polhode.problems import PROBLEMS  # as above, for an older file
        from polhode_study.declarations import problem_declarations

        return problem_declarations(PROBLEMS[self.problem]) | said if self.problem in PROBLEMS else said

    @property
    def setup(self) -> dict[str, Any]:
        """The numbers that define the problem, see :func:`polhode_study.declarations.setup_of`.

        Raises
        ------
        NotInRun
            If the run does not contain the problem.
        """
        if "setup" not in self.problem_declarations:
            raise NotInRun(f"this run does not contain the problem {self.problem}")
        numbers: dict[str, Any] = json.loads(self.problem_declarations["setup"])
        return numbers

    @property
    def known(self) -> list[str]:
        """Keys of all methods that the run lists, whether or not they run this problem."""
        return list(self._all_declared())

    def label(self, method: str) -> str:
        """The name of a method in figures and tables; its key if this problem does not have it."""
        return str(self.declared(method, "label", method))


_T = TypeVar("_T")
_Rest = ParamSpec("_Rest")


def once(analysis: Callable[Concatenate[Inputs, _Rest], _T]) -> Callable[Concatenate[Inputs, _Rest], _T]:
    """A decorator: an analysis of a run is done once for all figures, tables and numbers made from the same :class:`Inputs`.

    Its other arguments must be hashable; nobody changes its result.
    """

    @wraps(analysis)
    def analysis_once(inputs: Inputs, /, *args: _Rest.args, **kwargs: _Rest.kwargs) -> _T:
        key = (analysis, inputs.problem, args, tuple(sorted(kwargs.items())))
        if key not in inputs._analysed:
            before = set(inputs.from_release)
            inputs.from_release.clear()
            made = analysis(inputs, *args, **kwargs)
            inputs._analysed[key] = made, frozenset(inputs.from_release)
            inputs.from_release |= before
        result, read = inputs._analysed[key]
        inputs.from_release |= read
        return cast("_T", result)

    return analysis_once


#: Fields of every entry of errata.yaml; ``source`` is a key in paper/refs.bib, all other values are LaTeX text.
ERRATA_FIELDS = ("id", "source", "location", "kind", "printed", "problem", "reading", "shown")
#: Errors or contradictions in a text, and choices of ours, each in a table of its own.
ERRATA_KINDS = ("misprint", "discrepancy")
READING_KINDS = ("ambiguity", "inference", "convention")
#: Optional field of an entry: ``check: pdf`` if it rests on one glyph, which the text conversion that we read may have misread.
ERRATA_CHECKS = ("pdf",)


def load_errata(path: str | Path) -> list[dict[str, str]]:
    """The entries of an errata file, checked; ``check`` is empty if an entry has none.

    Raises
    ------
    If an entry lacks a field, has an unknown field, repeats an id, or names an unknown kind or check; the message names file
    and entry.
    """
    data = load_yaml(path)
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


#: Fields of an item of sources.yaml apart from its source.
SOURCE_FIELDS = ("item", "about", "here", "missing")


def load_sources(path: str | Path) -> list[dict[str, Any]]:
    """The items of an index of sources, checked: source, item, about, here (a list of names), missing (may be empty).

    Raises
    ------
    ValueError
        If an item has an unknown field, lacks its name or description, gives neither its location nor the reason why it is
        missing, or is listed twice; the message names file and item.
    """
    data = load_yaml(path)
    rows: list[dict[str, Any]] = []
    for source in data["sources"]:
        for entry in source["items"]:
            where = f"{path}: {source['key']}, {entry.get('item', 'an item without a name')}"
            if unknown := set(entry) - set(SOURCE_FIELDS):
                raise ValueError(f"{where}: unknown field {sorted(unknown)}; known are: {', '.join(SOURCE_FIELDS)}")
            if not (entry.get("item") and entry.get("about")):
                raise ValueError(f"{where}: item and about must not be empty")
            places, missing = list(entry.get("here", [])), str(entry.get("missing", ""))
            if not places and not missing:
                raise ValueError(f"{where}: say where it is (here) or why it is not (missing)")
            row = {"source": source["key"], "item": entry["item"], "about": entry["about"], "here": places, "missing": missing}
            if any(row["source"] == other["source"] and row["item"] == other["item"] for other in rows):
                raise ValueError(f"{where}: it is listed twice")
            rows.append(row)
    return rows
