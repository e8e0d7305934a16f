"""Release the many-body results of a full run as a small file distributed with the code.

``polhode release`` makes data/released/many_body.nc from the results folder. The file records the code version, the date,
the processor and the time that each method took; the report shows it as published-scale results.
"""

import argparse
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import polhode
from polhode.cli import UsageError, check_writable
from polhode.progress import Stage, watched
from polhode.study.analysis import law_file
from polhode.study.storage import group_names, read_dataset, write_dataset, write_groups

SUMMARY = "the many-body results of a full run as a small file distributed with the code"
#: The variables that are kept; those along a run only in single precision.
KEPT = ("energy_error", "energy_error_mean", "energy_error_largest", "energy_drift", "diverged", "diverged_at", "contacts")


def released(results: str | Path, today: str = "") -> dict[str, xr.Dataset]:
    """The groups of the released file from the folder ``results`` of a finished run.

    Raises
    ------
    FileNotFoundError
        If the folder lacks many_body.nc or provenance.json; the message says which.
    ValueError
        If the two are of different configurations.
    """
    results = Path(results)
    for name, when in (
        ("many_body.nc", "run the study first"),
        ("provenance.json", "it is made last: run the whole study first"),
    ):
        if not (results / name).is_file():
            raise FileNotFoundError(f"{results / name} is missing; {when}")
    run = json.loads((results / "provenance.json").read_text(encoding="utf-8"))
    root = read_dataset(results / "many_body.nc")
    if json.loads(root.attrs["configuration"])["many_body"] != run["configuration"]["many_body"]:
        raise ValueError(
            f"{results / 'provenance.json'} belongs to another configuration than many_body.nc; run the study again"
        )
    noted = {
        "version": polhode.__version__,
        "commit": str(run["commit"]),
        "changed": "with local changes" if run["dirty"] else "as committed",
        "date": today or f"{datetime.now(UTC):%Y-%m-%d}",
        "processor": str(run["processor"]),
        "cores": int(run["cores"] or 0),
        **{name: str(run["versions"].get(name, "unknown")) for name in ("numba", "llvmlite", "numpy")},
    }
    groups = {"/": root.assign_attrs(noted)}
    for scene in group_names(results / "many_body.nc"):
        data = read_dataset(results / "many_body.nc", scene)
        along = {name: data[name].astype("float32") for name in data if "time" in data[name].dims}
        seconds = _cpu_seconds(results / "logs" / "many_body" / scene, data)
        kept = data[[name for name in KEPT if name in data]].assign(along)
        kept["cpu_seconds"] = (("integrator", "dt"), seconds, {"long_name": "CPU time of the runs of all seeds", "units": "s"})
        hours = "unknown" if np.isnan(seconds).any() else f"{seconds.sum() / 3600:.2g}"
        groups[f"/{scene}"] = kept.assign_attrs({**data.attrs, **noted, "cpu_hours": hours})
    return groups


def _cpu_seconds(logs: Path, data: xr.Dataset) -> np.ndarray:
    """CPU seconds of all seeds of each method and step size from the logs, NaN where one is missing; the newest line counts."""
    found = np.full((data.sizes["integrator"], data.sizes["dt"], data.sizes["seed"]), np.nan)
    for i, method in enumerate(map(str, data["integrator"].values)):
        for log in sorted((logs / method).glob("*.log"), key=lambda path: path.stat().st_mtime):
            for dt, seed, seconds in _RUN.findall(log.read_text()):
                if int(seed) < data.sizes["seed"]:
                    found[i, data["dt"].values == float(dt), int(seed)] = float(seconds)
    total: np.ndarray = found.sum(axis=2)
    return total


#: The line about a run, see polhode.study.run.scene: its step, seed and CPU seconds.
_RUN = re.compile(r"^dt (\S+) s, seed (\d+): \d+ steps, \S+ us a step, ([\d.]+) s", re.MULTILINE)


def released_laws(results: str | Path, commit: str = "", today: str = "") -> xr.Dataset:
    """The laws of ensembles.nc in the folder ``results``, with their origin as attributes.

    Raises
    ------
    FileNotFoundError
        If the folder lacks ensembles.nc.
    """
    results = Path(results)
    if not (results / "ensembles.nc").is_file():
        raise FileNotFoundError(f"{results / 'ensembles.nc'} is missing; run the study first")
    noted = results / "provenance.json"
    run = json.loads(noted.read_text(encoding="utf-8")) if noted.is_file() else {}
    data = read_dataset(results / "ensembles.nc")
    found = law_file.packed(law_file.condensed(data))
    return found.assign_attrs(
        {
            "title": "Laws of the errors of all methods on random bodies under torques of every class",
            "version": str(data.attrs.get("version", polhode.__version__)),
            "commit": commit or str(run.get("commit", "unknown")),
            "date": today or f"{datetime.now(UTC):%Y-%m-%d}",
            "seed": int(data.attrs["seed"]),
            "bodies": int(data.sizes["body"]),
        }
    )


def _release_laws(arguments: argparse.Namespace) -> int:
    check_writable(arguments.output, "--output")
    try:
        with watched(Stage("fitting the laws")):
            data = released_laws(arguments.results, arguments.commit)
    except (OSError, RuntimeError, ValueError, LookupError, AttributeError, TypeError) as error:
        raise UsageError(f"--results: {arguments.results} is not the folder of a run with random bodies: {error}") from error
    if arguments.output.is_file() and not arguments.force:
        known = int(read_dataset(arguments.output).sizes["body"])
        if known > data.sizes["body"]:
            raise UsageError(
                f"{arguments.output} has {known} bodies and would be left with {data.sizes['body']}; --force overwrites it"
            )
    write_dataset(data, arguments.output)
    print(f"{arguments.output}: {data.sizes['body']} bodies, {arguments.output.stat().st_size / 1e6:.1f} MB")
    return 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``polhode release``."""
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of a finished run; by default results")
    parser.add_argument("--output", type=Path, help="file to write; by default many_body.nc or laws.nc in data/released")
    parser.add_argument("--laws", action="store_true", help="release the laws of the random bodies instead: laws.nc")
    parser.add_argument("--commit", default="", help="with --laws: commit of a run that has no provenance.json yet")
    parser.add_argument("--force", action="store_true", help="overwrite a file that holds more runs")
    parser.add_argument("--keep", action="store_true", help="keep the scenes of the file that this run does not have")


def _runs(groups: dict[str, xr.Dataset]) -> int:
    return sum(int(data["energy_error"].size) for data in groups.values())


def _held(path: Path) -> dict[str, xr.Dataset]:
    """The groups of an existing released file."""
    try:
        return {f"/{name}": read_dataset(path, name) for name in group_names(path)}
    except (OSError, RuntimeError, ValueError, LookupError) as error:
        raise UsageError(
            f"--output: {path} exists and cannot be read ({' '.join(str(error).split())[:200]}); name another"
        ) from error


def run(arguments: argparse.Namespace) -> int:
    """Write the file and print a summary."""
    arguments.output = arguments.output or Path("data/released", "laws.nc" if arguments.laws else "many_body.nc")
    if arguments.laws:
        return _release_laws(arguments)
    check_writable(arguments.output, "--output")
    try:
        with watched(Stage("reading the run")):
            groups = released(arguments.results)
    except (OSError, RuntimeError, ValueError, LookupError, AttributeError, TypeError) as error:
        said = str(error) if isinstance(error, FileNotFoundError | ValueError) else f"{type(error).__name__}: {error}"
        raise UsageError(f"--results: {arguments.results} is not the folder of a finished run: {said}") from error
    old = _held(arguments.output) if arguments.output.is_file() and (arguments.keep or not arguments.force) else {}
    if arguments.keep:
        groups = {"/": groups["/"], **{name: data for name, data in old.items() if name not in groups}, **groups}
    runs = _runs({name: data for name, data in groups.items() if name != "/"})
    if arguments.output.is_file() and not arguments.force:
        known = _runs(old)
        if known > runs:
            raise UsageError(f"{arguments.output} has {known} runs and would be left with {runs}; --force overwrites it")
    compressed: dict[str, Any] = {"zlib": True, "complevel": 9}
    for data in groups.values():
        for name in data:
            if data[name].ndim > 1:
                data[name].encoding = dict(compressed)
    with watched(Stage("writing")):
        write_groups(groups, arguments.output)
    for name, data in groups.items():
        if name != "/":
            size = f"{data.sizes['integrator']} methods, {data['energy_error'].size} runs"
            print(f"{name[1:]}: {size}, {data.attrs['cpu_hours']} CPU hours")
    print(f"{arguments.output}: {arguments.output.stat().st_size / 1e6:.1f} MB")
    return 0
