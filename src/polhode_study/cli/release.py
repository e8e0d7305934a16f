"""Release the many-body results of a full run as a small file distributed with the code.

``polhode release`` makes data/released/many_body.nc from the results folder. The file records the code version, the date,
the processor and the time that each method took; the report shows it as published-scale results. ``--laws``, ``--checks`` and
``--cost`` release the laws of random bodies, what advice on single impacts reads, and the times of steps, instead; ``--full``
the experiments that a study with ``further: released`` does not compute.
"""

import argparse
import gzip
import json
import multiprocessing
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import xarray as xr

import polhode
from polhode.advice.prices import write_step_times
from polhode.cli import UsageError, check_writable
from polhode.fits import law_file
from polhode.fits.impact_errors import CURED
from polhode.interface.netcdf import group_names, read_dataset, read_groups
from polhode.interface.progress import Stage, watched
from polhode.interface.storage import write_atomically, write_dataset, write_groups, write_text
from polhode.methods import METHODS
from polhode.registry import nearest
from polhode.results import INTERNAL
from polhode_study import provenance
from polhode_study.archive import manifest
from polhode_study.archive.zips import moment_of
from polhode_study.artefacts import ARTEFACTS
from polhode_study.checks import CHECKS as CHECKS_OF_STUDY
from polhode_study.comparing import NUMERICAL, Manifest, variable_of
from polhode_study.released import ENSEMBLES, INDEX, MANY_BODY, SINGLE_BODY, Release, check_file, this_machine
from polhode_study.run.check import make_check
from polhode_study.run.ensemble_states import states_dataset
from polhode_study.workflow.entry import HOME

#: The variables that are kept; those along a run only in single precision.
RELEASED = ("energy_error", "energy_error_mean", "energy_error_largest", "energy_drift", "diverged", "diverged_at", "contacts")

#: The manifest, beside the folder of the release.
MANIFEST = "manifest.zip"
#: Values up to which a variable is not compressed.
SMALL = 64
#: Digits of the numbers in sheets: more than a page shows.
DIGITS = 6

#: The checks that advice on single impacts and the landing page rest on: the variables that they read.
CHECKS = {
    "impacts": ("error_spin", "label"),
    "random_impacts": (
        *("error_spin", "error_velocity", "friction", "restitution"),
        *("by_stage", "by_method", "closure", "made", "label", "stage_label"),
    ),
}


def released(results: str | Path, today: str = "", commit: str = "") -> dict[str, xr.Dataset]:
    """The groups of the released file from the folder ``results`` of a run.

    Parameters
    ----------
    commit : that of the runs, if nothing but many_body.nc was made and there is no provenance.json; machine and versions are
        then those of this process

    Raises
    ------
    FileNotFoundError
        If the folder lacks many_body.nc, or provenance.json and there is no ``commit``; the message says which.
    ValueError
        If the two are of different configurations.
    """
    results = Path(results)
    root = _dataset(results / MANY_BODY)
    noted = _noted("", today) | _origin(results, root, commit)
    groups = {"/": root.assign_attrs(noted)}
    for scene in group_names(results / "many_body.nc"):
        data = read_dataset(results / "many_body.nc", scene)
        along = {name: data[name].astype("float32") for name in data if "time" in data[name].dims}
        seconds = _cpu_seconds(results / "logs" / "many_body" / scene, data)
        dataset = data[[name for name in RELEASED if name in data]].assign(along)
        dataset["cpu_seconds"] = (
            ("integrator", "dt"),
            seconds,
            {"long_name": "CPU time of the runs of all seeds", "units": "s"},
        )
        groups[f"/{scene}"] = dataset.assign_attrs({**data.attrs, **noted, "cpu_hours": _hours(dataset)})
    return groups


def _dataset(path: Path) -> xr.Dataset:
    """A file of a run, at its root."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; run the study first")
    return read_dataset(path)


def _noted(commit: str, today: str = "") -> dict[str, str]:
    """Version, commit and date, as attributes."""
    return {"version": polhode.__version__, "commit": commit, "date": today or f"{datetime.now(UTC):%Y-%m-%d}"}


def _noted_of(results: Path, commit: str, today: str = "") -> dict[str, str]:
    """Those of a run; the commit is that of its provenance.json unless it is given."""
    path = results / provenance.NAME
    run = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return _noted(commit or str(run.get("commit", "unknown")), today)


def _made_now(commit: str, today: str = "") -> dict[str, str]:
    """Those of runs that are made by this command, and the processor."""
    return _noted(commit or provenance.commit(Path())["commit"], today) | {"processor": str(provenance.host()["cpu"])}


def _origin(results: Path, root: xr.Dataset, commit: str) -> dict[str, Any]:
    """Commit, machine and versions of the runs, as attributes."""
    path = results / provenance.NAME
    if path.is_file():
        run = json.loads(path.read_text(encoding="utf-8"))
        if json.loads(root.attrs["configuration"])["many_body"] != run["configuration"]["many_body"]:
            raise ValueError(f"{path} belongs to another configuration than many_body.nc; run the study again")
    elif commit:
        host = provenance.host()
        run = {"commit": commit, "dirty": False, "processor": host["cpu"], "cores": host["cores"], "versions": host}
    else:
        raise FileNotFoundError(
            f"{path} is missing; it is made last: run the whole study first, or name the commit of the runs with --commit"
        )
    return {
        "commit": str(run["commit"]),
        "changed": "with local changes" if run["dirty"] else "as committed",
        "processor": str(run["processor"]),
        "cores": int(run["cores"] or 0),
        **{name: str(run["versions"].get(name, "unknown")) for name in ("numba", "llvmlite", "numpy")},
    }


def merged(scene: str, run: xr.Dataset, old: xr.Dataset) -> xr.Dataset:
    """The runs of a scene with those of the file, ``old``, of methods that only the file has or that came out the same.

    The attributes are those of the file; ``origin`` says, by method, from which commit and date its runs are. That both start
    from the same states is seen from a method that both ran: its errors have to be the same to the last bit.

    Raises
    ------
    ValueError
        If the run has other states or other steps than the file, or no method that shows that its states are the same.
    """
    old, run = (_with_origin(data) for data in (old, run))
    others = [key for key in old["integrator"].values if key not in run["integrator"].values]
    if not others:
        return run
    if run["seed"].values.tolist() != old["seed"].values.tolist():
        raise ValueError(f"{scene}: the run has {run.sizes['seed']} states, the file {old.sizes['seed']}; run as many")
    if new := sorted(set(run["dt"].values.tolist()) - set(old["dt"].values.tolist())):
        raise ValueError(f"{scene}: the file has no steps of {', '.join(f'{dt:g}' for dt in new)} s; run steps that it has")
    both = [key for key in run["integrator"].values if key in old["integrator"].values]
    errors = [
        data["energy_error_mean"].sel(integrator=both, dt=run["dt"].values).transpose("integrator", "dt", "seed").values
        for data in (run, old)
    ]
    pairs = zip(both, *errors, strict=True)
    same = [key for key, first, other in pairs if np.array_equal(first, other, equal_nan=True)]
    if not same:
        tried = f"{', '.join(both)} came out otherwise" if both else "there is no method of the file in the run"
        raise ValueError(
            f"{scene}: {tried}, so that nothing shows that the states are those of the file; run a method of the file as well, "
            f"such as {others[0]}, or all of them"
        )
    # Where no run has a value of some kind, it is missing in both; whole numbers would become floats beside missing ones.
    names = [name for name in old.data_vars if name in run.data_vars]
    along_dt = [name for name in old.coords if old[name].dims == ("dt",) and name != "dt"]
    # The file may have more steps of the methods that came out as they are in it.
    changed = run[names].sel(integrator=[key for key in run["integrator"].values if key not in same])
    wider = changed.drop_vars(along_dt, errors="ignore").reindex(dt=old["dt"].values, fill_value={"diverged": 0})
    unchanged = old[names].sel(integrator=[*others, *same])
    joined = xr.concat([unchanged.drop_vars(along_dt), wider], "integrator", combine_attrs="override")
    order = [*(key for key in old["integrator"].values), *(key for key in run["integrator"].values if key not in both)]
    result = joined.sel(integrator=order).assign_coords({name: old[name] for name in along_dt})
    return result.assign_attrs({**old.attrs, "cpu_hours": _hours(result)})


def _hours(data: xr.Dataset) -> str:
    """CPU hours of all runs of a scene, as text."""
    ran = (data["energy_error"].notnull() | (data["diverged"] == 1)).any("seed").transpose("integrator", "dt")
    seconds = data["cpu_seconds"].transpose("integrator", "dt").values[ran.values]
    return "unknown" if np.isnan(seconds).any() else f"{seconds.sum() / 3600:.2g}"


def _with_origin(data: xr.Dataset) -> xr.Dataset:
    """The data with a coordinate that says from which commit and date the runs of a method are."""
    if "origin" in data.coords:
        return data
    text = f"{data.attrs['commit']}, {data.attrs['date']}"
    return data.assign_coords(origin=("integrator", [text] * data.sizes["integrator"], {"long_name": "commit and date"}))


def _cpu_seconds(logs: Path, data: xr.Dataset) -> np.ndarray:
    """CPU seconds of all seeds of each method and step size, from the logs of :mod:`polhode_study.run.scene`; else NaN."""
    seconds = np.full((data.sizes["integrator"], data.sizes["dt"]), np.nan)
    for i, method in enumerate(map(str, data["integrator"].values)):
        for log in (logs / method).glob("*.log"):
            if line := _TOTAL.search(log.read_text()):
                seconds[i, data["dt"].values == float(log.stem)] = float(line[1])
    return seconds


#: The line about the runs of all seeds.
_TOTAL = re.compile(r"^cpu_seconds ([\d.]+)$", re.MULTILINE)


def released_laws(results: str | Path, commit: str = "", today: str = "") -> xr.Dataset:
    """The laws of ensembles.nc in the folder ``results``, with their origin as attributes.

    Raises
    ------
    FileNotFoundError
        If the folder lacks ensembles.nc.
    """
    results = Path(results)
    data = _dataset(results / ENSEMBLES)
    laws = law_file.packed(law_file.condensed(data))
    return laws.assign_attrs(
        {
            "title": "Laws of the errors of all methods on random bodies under torques of every class",
            **_noted_of(results, commit, today),
            "version": str(data.attrs.get("version", polhode.__version__)),
            "seed": int(data.attrs["seed"]),
            "bodies": int(data.sizes["body"]),
        }
    )


def released_grains(
    folder: Path, commit: str, seeds: int | None = None, released: Mapping[str, xr.Dataset] = MappingProxyType({})
) -> dict[str, xr.Dataset]:
    """The released experiments on grains: what ``folder`` and ``released`` lack is run, seed by seed.

    ``seeds`` is how many initial states are wanted at most, ``released`` are the groups of a file that keep theirs. Seeds with
    which a box is too full are left out, and an experiment with a single one.
    """
    from polhode.manybody.placement import BoxTooFull
    from polhode.methods import METHODS
    from polhode_study.chapters.grains.run import RELEASED as EXPERIMENTS
    from polhode_study.chapters.grains.run import grains

    noted = _made_now(commit)
    stage = Stage("running grains", sum(experiment.seeds for experiment in EXPERIMENTS.values()), "seeds")
    groups = {"/": xr.Dataset(attrs={"title": "What is read off grains in motion, by method, law and step", **noted})}
    with watched(stage):
        for name, experiment in EXPERIMENTS.items():
            old = released.get(f"/{name}")
            released_seeds = set() if old is None else {int(seed) for seed in old["seed"].values}
            known = released_seeds | {int(path.stem) for path in (folder / name).glob("*.nc")}
            for seed in count():
                if len(known) >= min(experiment.seeds, experiment.seeds if seeds is None else seeds):
                    break
                if seed not in known:
                    began = time.process_time()
                    try:
                        data = grains(experiment, list(METHODS), [seed])
                    except BoxTooFull:  # a few of a hundred
                        continue
                    data = data.assign_attrs(cpu_seconds=time.process_time() - began)
                    write_dataset(data, folder / name / f"{seed}.nc")
                    known.add(seed)
                stage.advance()
            if len(known) < 2:
                continue
            of_seeds = [read_dataset(folder / name / f"{seed}.nc") for seed in sorted(known - released_seeds)]
            pieces = of_seeds if old is None else [old, *of_seeds]
            once = {variable: pieces[0][variable] for variable in pieces[0] if "seed" not in pieces[0][variable].dims}
            over_seeds = [each.drop_vars(list(once)) for each in pieces]
            data = xr.concat(over_seeds, "seed", join="exact", combine_attrs="override").assign(once).sortby("seed")
            total = sum(float(each.attrs["cpu_seconds"]) for each in pieces)
            groups[f"/{name}"] = data.assign_attrs(**noted, cpu_seconds=total, cpu_hours=f"{total / 3600:.2g}")
    return groups


def liquid_runs() -> dict[str, Callable[[], xr.Dataset]]:
    """The runs of liquids at the published scale, piece by piece: GROUP/METHOD or GROUP/METHOD/STEP -> what makes the piece."""
    from polhode.methods import METHODS
    from polhode_study.chapters.liquids import run as liquids

    every = liquids.one_torque_methods(list(METHODS))
    methods = {
        "followed": liquids.FOLLOWED,
        "others": [key for key in every if key not in liquids.FOLLOWED],
        "large": liquids.FOLLOWED[: liquids.LARGE],
    }
    pieces: dict[str, Callable[[], xr.Dataset]] = {}
    for name, keys in methods.items():
        runs = liquids.RELEASED[name]
        starts = range(runs.starts)
        pieces[f"spectrum/{runs.scene}"] = partial(
            liquids.liquid_spectrum, runs.fluid, starts, liquids.SPECTRUM_STEP, liquids.SPECTRUM_TIME
        )
        for key in keys:
            for dt in runs.steps:
                work = partial(liquids.liquids, runs.fluid, [key], [dt], runs.duration, starts)
                pieces[f"{name}/{key}/{dt:g}"] = work
    for key in liquids.CUTOFF_METHODS:
        pieces[f"cutoffs/{key}"] = partial(liquids.cutoffs, liquids.RELEASED["cutoffs"], [key])
    runs = liquids.RELEASED["followed"]
    for key in liquids.POSITION_METHODS:
        for dt in liquids.POSITION_STEPS:
            pieces[f"positions/{key}/{dt:g}"] = partial(
                liquids.liquid_positions, runs.fluid, [key], [dt], liquids.POSITION_TIME, range(runs.starts)
            )
    return pieces


def _make_piece(folder: Path, name: str) -> None:
    began = time.process_time()
    data = liquid_runs()[name]()
    write_dataset(data.assign_attrs(cpu_seconds=time.process_time() - began), folder / f"{name}.nc")


def released_liquids(folder: Path, commit: str, cores: int = 1, today: str = "") -> dict[str, xr.Dataset]:
    """The runs of ``RELEASED`` of :mod:`polhode_study.chapters.liquids.run`: what ``folder`` lacks is run, piece by piece.

    With no cores nothing is run, and the pieces that there are make the file.
    """
    pieces = {name: folder / f"{name}.nc" for name in liquid_runs()}
    missing = [name for name, path in pieces.items() if not path.is_file()] if cores else []
    stage = Stage("running liquids", len(pieces), "pieces")
    with watched(stage), ProcessPoolExecutor(max(cores, 1), multiprocessing.get_context("spawn")) as pool:
        stage.advance(len(pieces) - len(missing))
        for _ in pool.map(partial(_make_piece, folder), missing):
            stage.advance()
    noted = _made_now(commit, today)
    groups = {"/": xr.Dataset(attrs={"title": "Liquids of rigid molecules at constant energy, by method and step", **noted})}
    for name in dict.fromkeys(piece.partition("/")[0] for piece in pieces):
        of_group = [read_dataset(path) for piece, path in pieces.items() if piece.startswith(f"{name}/") and path.is_file()]
        if not of_group:
            continue
        seconds = sum(float(data.attrs["cpu_seconds"]) for data in of_group)
        if name == "spectrum":
            groups |= {f"/spectrum_{data.attrs['scene']}": data.assign_attrs(noted) for data in of_group}
            continue
        data = xr.combine_by_coords(of_group, combine_attrs="drop_conflicts", join="outer")
        assert isinstance(data, xr.Dataset)
        order = list(dict.fromkeys(str(each["integrator"].values[0]) for each in of_group))
        groups[f"/{name}"] = data.sel(integrator=order).assign_attrs(
            **noted, cpu_seconds=seconds, cpu_hours=f"{seconds / 3600:.2g}"
        )
    return groups


def released_check(results: Path, name: str, commit: str = "") -> xr.Dataset:
    """What advice reads of a check, in single precision, with its origin as attributes.

    Raises
    ------
    FileNotFoundError
        If the folder lacks the check.
    """
    data = _dataset(results / "checks" / f"{name}.nc")
    data = data[[variable for variable in CHECKS[name] if variable in data]]
    data = data.sel(stage=[CURED]) if "stage" in data["error_spin"].dims else data
    attributes = {str(key): value for key, value in data.attrs.items() if key not in INTERNAL}
    data = data.drop_attrs(deep=False).assign_attrs({**attributes, **_noted_of(results, commit)})
    return data.map(lambda values: values.astype("float32") if values.dtype == float else values, keep_attrs=True)


def measured_sheets(folder: Path, commit: str, today: str = "") -> dict[str, Any]:
    """The sheets of all methods (``polhode sheet``): those that ``folder`` lacks are measured, one after the other."""
    from polhode.ensembles.classes import CLASSES
    from polhode.methods import METHODS
    from polhode_study.run import method_sheet as sheets

    noted = _made_now(commit, today)
    stage = Stage("measuring methods", len(METHODS), "methods")
    with watched(stage):
        exact = states_dataset(sheets.BODIES, sheets.SEED, list(CLASSES), (sheets.RADIANS,))
        for method in METHODS.values():
            if not (path := folder / f"{method.key}.json").is_file():
                row = sheets.measured([method], exact)[method.key] | {"made": noted}
                entry = {"row": row, "identity": sheets.identity(method), "beside": sheets.best_by_laws(method.key)}
                write_text(path, json.dumps(sheets.finite(entry, DIGITS), allow_nan=False))
            stage.advance()
    entries = {key: json.loads((folder / f"{key}.json").read_text(encoding="utf-8")) for key in METHODS}
    return sheets.settings_of(exact) | {"entries": entries}


def full_release(results: Path) -> tuple[dict[str, dict[str, xr.Dataset]], dict[str, Any]]:
    """What a study takes from the release, file by file and group by group, and the index without checksums.

    Raises
    ------
    UsageError
        If the run took something from a release itself, or lacks a file.
    """
    run = provenance.read_provenance(results)
    origin = {key: run[key] for key in ("commit", "dirty", "processor", "family", "python", "ended", "configuration")}
    origin["versions"] = {name: run["versions"][name] for name in NUMERICAL if name in run["versions"]}
    files: dict[str, dict[str, xr.Dataset]] = {}
    single = [name.strip("/") for name in read_groups(results / SINGLE_BODY)]
    wanted = {
        SINGLE_BODY: [name for name in single if name],
        MANY_BODY: [*group_names(results / MANY_BODY)],
        ENSEMBLES: [""],
        **{check_file(key): [""] for key, check in CHECKS_OF_STUDY.items() if check.witness is not None},
    }
    for file, groups in wanted.items():
        if not (results / file).is_file():
            raise UsageError(f"--results: {results / file} is missing; run workflow/config/full.yaml first")
        files[file] = {f"/{group}": _as_released(results / file, group) for group in groups}
    methods = {"": list(run["configuration"]["methods"]) if run["configuration"]["methods"] != "all" else list(METHODS)}
    for file, of_file in files.items():
        methods |= _methods_of(file, of_file)
    return files, {"run": origin, "methods": methods}


def _as_released(path: Path, group: str) -> xr.Dataset:
    """A group of a file of a run that computed everything, as it is released: compressed, without what belongs to the run."""
    data = read_dataset(path, group or None)
    if data.attrs.get("released"):
        raise UsageError(f"--results: {path} has runs from a release; run workflow/config/full.yaml, which computes all")
    attributes = {key: value for key, value in data.attrs.items() if key not in INTERNAL}
    return _packed(data.drop_attrs(deep=False).assign_attrs(attributes))


def _packed(data: xr.Dataset) -> xr.Dataset:
    """Data whose numbers are compressed when they are written, without loss."""
    for name, variable in data.variables.items():
        numbers = variable.dtype.kind in "fiu" and variable.size > SMALL
        data[name].encoding = {"zlib": True, "complevel": 9, "shuffle": True} if numbers else {}
    return data


def _methods_of(file: str, groups: Mapping[str, xr.Dataset]) -> dict[str, list[str]]:
    """The methods that the groups of a file have, as the index of the release lists them."""
    return {
        f"{file}{group}".rstrip("/"): list(dict.fromkeys(map(str, data["integrator"].values.ravel())))
        for group, data in groups.items()
        if "integrator" in data.coords
    }


def with_problems(
    results: Path, release: Release, known: Manifest, commit: str = ""
) -> tuple[dict[str, xr.Dataset], dict[str, Any], Manifest]:
    """The problems of the release with those of a run that it lacks, its index without checksums, and the manifest.

    The run is one of a few problems with the settings of workflow/config/full.yaml, some of which the release has: that this
    machine computes the bits of the release is seen from these, which must be the same in every variable.

    Raises
    ------
    UsageError
        If the run has no problem that the release lacks, none that it has, other bits of those or another number of digits.
    """
    path = results / SINGLE_BODY
    if not path.is_file():
        raise UsageError(f"--results: {path} is missing; run the problems first, with workflow/config/full.yaml")
    old, run = (
        {name: _as_released(file, name[1:]) for name in read_groups(file) if name != "/"}
        for file in (release.path(SINGLE_BODY), path)
    )
    new = {name: data for name, data in run.items() if name not in old}
    keys = sorted({name.split("/")[1] for name in new} - {name.split("/")[1] for name in old})
    if not keys or set(run) == set(new):
        lacks = "no problem that the release lacks" if not keys else "no problem of the release, which would show its bits"
        raise UsageError(f"--keep: {path} has {lacks}; run a new problem and one of the release, such as damped_top")
    for name in sorted(set(run) & set(old)):
        if different := _with_other_bits(old[name], run[name]):
            raise UsageError(
                f"--keep: {name[1:]} has other bits than in the release ({', '.join(different)}), so that those of "
                f"{', '.join(keys)} would have, too; run both on a machine that repeats the release"
            )
    configuration = json.loads(read_dataset(path).attrs["configuration"])
    index: dict[str, Any] = json.loads(json.dumps(release.index))
    if configuration["digits"] != index["run"]["configuration"]["digits"]:
        raise UsageError(f"--keep: {path} has references of {configuration['digits']} digits, unlike the release")
    settings = {key: configuration["problems"][key] for key in keys}
    origin = {"digits": configuration["digits"], **_made_now(commit)}
    index["run"]["configuration"]["problems"] |= settings
    index["methods"] |= _methods_of(SINGLE_BODY, new)
    index["added"] = index.get("added", {}) | dict.fromkeys(keys, origin)
    references = [ARTEFACTS["references"].filled(key) for key in keys]
    checked = manifest.of_run(results, {"files": [SINGLE_BODY, *references]})
    return old | new, index, manifest.with_problems(known, checked, settings, origin)


def _with_other_bits(old: xr.Dataset, run: xr.Dataset) -> list[str]:
    """The variables that do not have the same bits in two groups."""
    pairs = [[variable_of("", "", str(name), x.dims, x.values) for name, x in data.variables.items()] for data in (old, run)]
    sums, others = ({variable.name: variable.sha256 for variable in variables} for variables in pairs)
    return sorted(name for name in sums.keys() | others.keys() if sums.get(name) != others.get(name))


def released_experiment(check: str, release: Release) -> tuple[xr.Dataset, dict[str, Any]]:
    """An experiment of the release, run again with the methods and the seed of the release, and its origin.

    Raises
    ------
    UsageError
        If there is no such experiment, or no part of it is a witness.
    """
    known = [key for key, experiment in CHECKS_OF_STUDY.items() if experiment.witness is not None]
    if check not in known:
        raise UsageError(f"--experiment: {check!r} is not an experiment of the release; {nearest(check, known)}")
    made, here = release.index["run"]["configuration"], provenance.commit(HOME)
    settings = {"methods": list(release.methods("")), "seed": (made["ensembles"] or {}).get("seed", 0)}
    settings |= CHECKS_OF_STUDY[check].settings
    with watched(Stage(f"running {check}")):
        data, _ = make_check({"check": check}, settings)
    ended = datetime.now(UTC).isoformat(timespec="seconds")
    commit = {key: here[key] for key in ("commit", "dirty")}
    origin = {**commit, "processor": provenance.processor(), **this_machine(), "ended": ended}
    used = {} if not CHECKS_OF_STUDY[check].all_methods else {"methods": settings["methods"]}
    return data, origin | {"configuration": {"seed": settings["seed"], **CHECKS_OF_STUDY[check].settings, **used}}


def with_methods(known: xr.Dataset, data: xr.Dataset) -> xr.Dataset:
    """Laws with those of methods that they lack, from a file of the same bodies; the attributes are those of ``data``.

    Raises
    ------
    UsageError
        If the bodies are not the same.
    """
    for name in ("bodies", "seed"):
        if known.attrs.get(name) != data.attrs[name]:
            raise UsageError(
                f"--keep: the file has {name} {known.attrs.get(name)}, the run {data.attrs[name]}; they must agree"
            )
    others = [key for key in known["integrator"].values if key not in data["integrator"].values]
    both = xr.concat([known.sel(integrator=others), data], "integrator", data_vars="minimal", combine_attrs="override")
    return law_file.packed(both.sel(integrator=sorted(both["integrator"].values))).assign_attrs(data.attrs)


def _held(path: Path) -> dict[str, xr.Dataset]:
    """The groups of an existing released file."""
    try:
        return {f"/{name}": read_dataset(path, name) for name in group_names(path)}
    except (OSError, RuntimeError, ValueError, LookupError) as error:
        raise UsageError(
            f"--output: {path} exists and cannot be read ({' '.join(str(error).split())[:200]}); name another"
        ) from error


# ---- the command ----


@contextmanager
def _reading(results: Path, what: str, stage: str = "reading the run") -> Iterator[None]:
    """Show progress, and name the folder if it is not that of ``what``."""
    try:
        with watched(Stage(stage)):
            yield
    except UsageError:
        raise
    except provenance.Unusable as error:
        raise UsageError(f"--results: {error}") from error
    except (OSError, RuntimeError, ValueError, LookupError, AttributeError, TypeError) as error:
        said = str(error) if isinstance(error, FileNotFoundError | ValueError) else f"{type(error).__name__}: {error}"
        raise UsageError(f"--results: {results} is not the folder of {what}: {said}") from error


def _write(groups: dict[str, xr.Dataset], output: Path, lines: Iterable[str] = ()) -> None:
    """Write a file with what has several dimensions compressed, and print ``lines`` and its size."""
    for data in groups.values():
        for name in data:
            if data[name].ndim > 1:
                data[name].encoding = {"zlib": True, "complevel": 9}
    with watched(Stage("writing")):
        write_groups(groups, output)
    print("\n".join([*lines, f"{output}: {output.stat().st_size / 1e6:.1f} MB"]))


def _runs(groups: Mapping[str, xr.Dataset]) -> int:
    return sum(int(data["energy_error"].size) for name, data in groups.items() if name != "/")


def _release_many_body(arguments: argparse.Namespace) -> None:
    results, output = arguments.results, arguments.output
    with _reading(results, "a finished run"):
        groups = released(results, commit=arguments.commit)
    old = _held(output) if output.is_file() and (arguments.keep or not arguments.force) else {}
    if arguments.keep:
        try:
            groups |= {name: merged(name[1:], data, old[name]) for name, data in groups.items() if name in old}
        except ValueError as error:
            raise UsageError(f"--keep: {error}") from error
        groups = {"/": groups["/"], **{name: data for name, data in old.items() if name not in groups}, **groups}
    runs, known = _runs(groups), _runs(old)
    if output.is_file() and not arguments.force and known > runs:
        raise UsageError(f"{output} has {known} runs and would be left with {runs}; --force overwrites it")
    scenes = {name[1:]: data for name, data in groups.items() if name != "/"}
    _write(
        groups,
        output,
        [
            f"{name}: {data.sizes['integrator']} methods, {data['energy_error'].size} runs, {data.attrs['cpu_hours']} CPU hours"
            for name, data in scenes.items()
        ],
    )


def _release_laws(arguments: argparse.Namespace) -> None:
    output = arguments.output
    with _reading(arguments.results, "a run with random bodies", "fitting the laws"):
        data = released_laws(arguments.results, arguments.commit)
    if output.is_file() and arguments.keep:
        data = with_methods(read_dataset(output), data)
    elif output.is_file() and not arguments.force:
        known = int(read_dataset(output).sizes["body"])
        if known > data.sizes["body"]:
            raise UsageError(f"{output} has {known} bodies and would be left with {data.sizes['body']}; --force overwrites it")
    write_dataset(data, output)
    print(f"{output}: {data.sizes['body']} bodies, {output.stat().st_size / 1e6:.1f} MB")


def _release_grains(arguments: argparse.Namespace) -> None:
    old = _held(arguments.output) if arguments.keep and arguments.output.is_file() else {}
    groups = released_grains(arguments.results / "grains", arguments.commit, arguments.seeds, old)
    experiments = {name[1:]: data for name, data in groups.items() if name != "/"}
    counts = {name: int((data["lost"] >= 0).sum()) for name, data in experiments.items()}
    _write(
        groups,
        arguments.output,
        [f"{name}: {counts[name]} runs, {data.attrs['cpu_hours']} CPU hours" for name, data in experiments.items()],
    )


def _release_liquids(arguments: argparse.Namespace) -> None:
    groups = released_liquids(arguments.results / "liquids", arguments.commit, arguments.cores)
    write_groups(groups, arguments.output)
    for name, data in groups.items():
        if "drift" in data:
            print(f"{name[1:]}: {int(data['lost_by'].notnull().sum())} runs, {data.attrs['cpu_hours']} CPU hours")
    print(f"{arguments.output}: {arguments.output.stat().st_size / 1e6:.1f} MB")


def _release_checks(arguments: argparse.Namespace) -> None:
    with _reading(arguments.results, "a run with these checks"):
        datasets = {name: released_check(arguments.results, name, arguments.commit) for name in CHECKS}
    for name, data in datasets.items():
        path = arguments.output / f"{name}.nc"
        check_writable(path, "--output")
        write_dataset(data, path)
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")


def _release_cost(arguments: argparse.Namespace) -> None:
    """Release cost.nc without the times of runs of many bodies: the prices of all methods, from which advice answers."""
    path = arguments.results / "cost.nc"
    with _reading(arguments.results, "a run with times of steps"):
        groups = {name: data for name, data in read_groups(path).items() if name != "/many_body_times"}
        timed = set(map(str, groups["/step"]["integrator"].values))
    if groups["/step"].attrs.get("released"):
        raise UsageError(f"--results: {path} has times from a release; run workflow/config/full.yaml, which times all methods")
    missing = sorted(set(METHODS) - set(METHODS.plugins()) - timed)
    if missing and not arguments.force:
        raise UsageError(f"--results: {path} has no times of {', '.join(missing)}; time all methods, or --force releases it so")
    write_groups(groups, arguments.output)
    write_step_times(arguments.output)
    print(f"{arguments.output}: {len(timed)} methods, {arguments.output.stat().st_size / 1e6:.1f} MB")


def _add_problems(arguments: argparse.Namespace) -> None:
    """Add problems to the release and to the manifest beside it."""
    output: Path = arguments.output
    beside = output.parent / MANIFEST
    with _reading(arguments.results, "a run of problems with workflow/config/full.yaml"):
        known = manifest.read(beside)
        groups, index, joined = with_problems(arguments.results, Release(output), known, arguments.commit)
    with watched(Stage("writing")):
        write_groups({"/": xr.Dataset(), **groups}, output / SINGLE_BODY)
        index["files"][SINGLE_BODY] = provenance.sha256(output / SINGLE_BODY)
        write_text(output / INDEX, json.dumps(index, indent=1, sort_keys=True) + "\n")
        manifest.write(joined, beside, moment_of(beside))
    more = len(joined.variables) - len(known.variables)
    print(f"{output}: {', '.join(index['added'])}; {beside}: {more} more variables")


def _release_full(arguments: argparse.Namespace) -> None:
    output = arguments.output
    if arguments.keep:
        _add_problems(arguments)
        return
    with _reading(arguments.results, "a run of workflow/config/full.yaml"):
        files, index = full_release(arguments.results)
    check_writable(output / INDEX, "--output")
    stage = Stage("writing", len(files), "files")
    with watched(stage):
        for file, groups in files.items():
            write_groups(groups if "/" in groups else {"/": xr.Dataset(), **groups}, output / file)
            stage.advance()
    index["files"] = {file: provenance.sha256(output / file) for file in files}
    write_text(output / INDEX, json.dumps(index, indent=1, sort_keys=True) + "\n")
    size = sum((output / file).stat().st_size for file in files)
    print(f"{output}: {len(files)} files of commit {index['run']['commit'][:12]}, {size / 1e6:.1f} MB")


def _release_experiment(arguments: argparse.Namespace) -> None:
    """Run an experiment, and put it into the release, its index and the manifest beside the folder of the release."""
    output, check = arguments.output, arguments.experiment
    release, manifest_path, file = Release(output), output.parent / MANIFEST, check_file(check)
    if not (output / INDEX).is_file() or not manifest_path.is_file():
        raise UsageError(f"--output: {output} must have {INDEX}, and {manifest_path} must be beside it")
    check_writable(output / file, "--output")
    index = dict(release.index)
    data, origin = released_experiment(check, release)
    title = {"title": f"Experiment on single methods: {check}"}
    write_groups({"/": _packed(data.assign_attrs(title))}, output / file)
    index["files"] = {**index["files"], file: provenance.sha256(output / file)}
    index["added"] = {**index.get("added", {}), file: origin}
    index["methods"] = {**index["methods"], **_methods_of(file, {"/": data})}
    try:
        made = manifest.with_file(manifest.read(manifest_path), output, file, origin)
    except provenance.Unusable as error:
        raise UsageError(f"--output: {error}") from error
    manifest.write(made, manifest_path, moment_of(manifest_path))
    write_text(output / INDEX, json.dumps(index, indent=1, sort_keys=True) + "\n")
    number = sum(variable.file == file for variable in made.variables.values())
    changed = " with local changes" if origin["dirty"] else ""
    print(f"{output / file}: commit {origin['commit'][:12]}{changed}, {number} variables in {manifest_path}")


def _release_sheets(arguments: argparse.Namespace) -> None:
    sheets = measured_sheets(arguments.results / "sheets", arguments.commit)
    packed = gzip.compress(json.dumps(sheets, separators=(",", ":")).encode(), mtime=0)
    write_atomically(arguments.output, lambda temporary: temporary.write_bytes(packed))
    print(f"{arguments.output}: {len(sheets['entries'])} methods, {arguments.output.stat().st_size / 1e6:.1f} MB")


#: What is released instead of many_body.nc: option, file in data/released, function, help.
KINDS = (
    ("laws", "laws.nc", _release_laws, "release the laws of the random bodies instead"),
    ("checks", "checks", _release_checks, "release what advice on single impacts reads instead"),
    ("cost", "cost.nc", _release_cost, "release the times of steps and to target errors instead"),
    ("full", "full", _release_full, "release what a study with further: released does not compute, from a run of "
     "workflow/config/full.yaml"),
    ("grains", "grains.nc", _release_grains, "run what grains/ of the folder lacks of the experiments on grains, and release "
     "them instead"),
    ("liquids", "liquids.nc", _release_liquids, "run what liquids/ of the folder lacks of the liquids at constant energy, and "
     "release them instead"),
    ("sheets", "sheets.json.gz", _release_sheets, "measure what sheets/ of the folder lacks of the sheets of all methods, and "
     "release them"),
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode release``."""
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of a finished run; by default results")
    files = ", ".join(file for _, file, *_ in KINDS)
    parser.add_argument("--output", type=Path, help=f"what to write; by default many_body.nc, {files} in data/released")
    instead = parser.add_mutually_exclusive_group()
    for option, file, _, about in KINDS:
        instead.add_argument(f"--{option}", action="store_true", help=f"{about}: {file}")
    instead.add_argument(
        "--experiment",
        metavar="NAME",
        help="run an experiment on single methods as a whole, and put it into the release (full), its index and the manifest",
    )
    parser.add_argument("--cores", type=int, default=1, help="processes that run liquids; 0: release what there is")
    parser.add_argument(
        "--seeds", type=int, help="initial states of each experiment on grains at most; 0: those that there are"
    )
    parser.add_argument("--commit", default="", help="commit of a run that has no provenance.json yet")
    parser.add_argument("--force", action="store_true", help="overwrite a file that holds more runs")
    parser.add_argument(
        "--keep",
        action="store_true",
        help="keep what the file has: scenes that this run does not have, and in those it has methods that it does not have; "
        "laws of other methods; initial states of grains; with --full what is released, beside problems that it lacks",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write the file and print a summary."""
    chosen = ((file, release) for option, file, release, _ in KINDS if getattr(arguments, option))
    default = ("full", _release_experiment) if arguments.experiment else (MANY_BODY, _release_many_body)
    file, release = next(chosen, default)
    arguments.output = arguments.output or Path("data/released", file)
    if Path(file).suffix:  # not one of the folders, whose files are checked
        check_writable(arguments.output, "--output")
    release(arguments)
    return 0
