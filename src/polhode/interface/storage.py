"""Writing the files of a run: writes are atomic, files carry a checksum and say which job made them.

Reading is in :mod:`polhode.interface.netcdf`, writing of a single file, whatever it holds, in :mod:`polhode.interface.files`.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from polhode.interface.cf_attributes import described
from polhode.interface.files import DiskFull as DiskFull
from polhode.interface.files import LeadsOut as LeadsOut
from polhode.interface.files import destination as destination
from polhode.interface.files import inside as inside
from polhode.interface.files import remove as remove
from polhode.interface.files import write_atomically as write_atomically
from polhode.interface.files import write_text as write_text
from polhode.interface.netcdf import (
    DamagedFile,
    NotAFile,
    checksum_of,
    every_group,
    loaded,
    read_dataset,
    store_of,
    without_checksum,
)

if TYPE_CHECKING:  # the Snakefile does not need it
    import xarray as xr


def job_text(kind: str, wildcards: Mapping[str, Any], settings: Mapping[str, Any], code: str) -> str:
    """The provenance of a job's file: one line of JSON, stored as the attribute ``job``.

    Parameters
    ----------
    kind : what the file holds, such as ``runs``
    wildcards : names in its path with their values
    settings : on which its values depend, by name
    code : the hash of the code behind it
    """
    job = {"kind": kind, "wildcards": dict(wildcards), "settings": dict(settings), "code": code}
    return json.dumps(job, sort_keys=True)


def check_folder(folder: str | Path) -> None:
    """Refuse a folder of results in which a run, or Snakemake, might write or remove something outside of it, or wait for ever.

    Raises
    ------
    LeadsOut
        If a link in it leads out of it.
    NotAFile
        If it holds a pipe, a socket or a device.
    """
    waiting = [os.fspath(folder)]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:  # there is none yet, or it has just gone; one that may not be read says so when it is used
            continue
        for entry in entries:
            if entry.is_symlink():
                inside(folder, entry.path)
            elif entry.is_dir():
                waiting.append(entry.path)
            elif not entry.is_file():
                raise NotAFile(entry.path)


def checksums(folder: str | Path, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Size and SHA-256 of files: path relative to ``folder`` -> ``{"bytes": size, "sha256": hexadecimal digits}``.

    Raises
    ------
    OSError
        If a file is missing or cannot be read.
    """
    sums = {}
    for path in paths:
        data = (Path(folder) / path).read_bytes()
        sums[path] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return sums


def write_dataset(dataset: "xr.Dataset", path: str | Path, job: str = "") -> None:
    """Write a dataset as netCDF-4, with a checksum of its values.

    ``job`` says what made it (:func:`job_text`). Errors come from :func:`polhode.interface.files.write_atomically`.
    """
    write_groups({"/": dataset.assign_attrs({"job": job} if job else {})}, path)


def write_groups(groups: "Mapping[str, xr.Dataset]", path: str | Path) -> None:
    """Write datasets as the groups of one netCDF-4 file: name of the group -> dataset; "/" is the root.

    Each group keeps all its coordinates, so that it can be opened on its own; a :class:`xarray.DataTree` would omit those that
    its parent has. Dimensions shared with the parent must have the same coordinates, or the file does not open as a tree.
    Errors come from :func:`polhode.interface.files.write_atomically`.
    """

    import netCDF4

    def write(temporary: Path) -> None:
        waiting = _Waiting()
        with netCDF4.Dataset(temporary, "w") as file:
            for name, dataset in groups.items():
                complete = described(dataset, root=name == "/")
                complete = complete.drop_attrs(deep=False).assign_attrs(without_checksum(complete.attrs))
                group = file if name == "/" else file.createGroup(name)
                complete.dump_to_store(store_of(group), writer=waiting, encoding=_as_characters(complete))
            waiting.write()
            # Computed from the values a reader will get, whose types may differ from those passed in.
            sums = [(group, checksum_of(loaded(group))) for group in every_group(file)]
            for group, total in sums:
                group.setncattr("checksum", total)

    write_atomically(path, write)


class _Waiting:
    """Receives the arrays of a file from xarray, and writes them when all groups and variables are defined.

    A definition that follows an array makes the library bring the whole file up to date, which takes longer than all else.
    """

    def __init__(self) -> None:
        self.arrays: list[tuple[Any, Any]] = []

    def add(self, source: Any, target: Any) -> None:
        self.arrays.append((source, target))

    def write(self) -> None:
        for source, target in self.arrays:
            target[...] = source


def _as_characters(dataset: "xr.Dataset") -> dict[Any, dict[str, Any]]:
    """Strings as character arrays: closing a file with netCDF-4 strings while it is open twice crashes the library."""
    strings = {name: variable.encoding for name, variable in dataset.variables.items() if variable.dtype.kind in "OU"}
    compression = ("zlib", "complevel", "shuffle")
    return {name: {"dtype": "S1"} | {key: given[key] for key in compression if key in given} for name, given in strings.items()}


def is_current(path: str | Path, job: str) -> bool:
    """Whether this file exists, is complete, and was made by this job (:func:`job_text`).

    Raises
    ------
    UnreadableFile
        If the system does not let us read it.
    """
    try:
        read_dataset(path, job=job)
    except DamagedFile:
        return False
    return True
