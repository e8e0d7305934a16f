"""Writing the files of a run: writes are atomic, files carry a checksum and say which job made them.

Reading is in :mod:`polhode.interface.netcdf`.
"""

import errno
import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from polhode.study.cf_attributes import described

if TYPE_CHECKING:  # the Snakefile does not need it
    import xarray as xr


def job_text(kind: str, wildcards: Mapping[str, Any], settings: Mapping[str, Any], code: str) -> str:
    """The provenance of a job's file: one line of JSON, stored as the attribute ``job``."""
    job = {"kind": kind, "wildcards": dict(wildcards), "settings": dict(settings), "code": code}
    return json.dumps(job, sort_keys=True)


def destination(path: str | Path) -> Path:
    """The file that ``path`` names, links followed; it need not exist, and may be a character device such as /dev/null.

    Raises
    ------
    OSError
        If it is neither: a folder, a pipe, a socket, a disk, or a link to itself. Replacing one of these would destroy it.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(path))
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
        raise OSError(errno.EINVAL, "it is a pipe, a socket or a disk; name a file", str(path))
    return Path(os.path.realpath(path))


class LeadsOut(OSError):
    """Error for a path in a folder that a link leads out of it; the message names both and says what to do."""

    def __init__(self, path: str | Path, place: str | Path, folder: str | Path) -> None:
        super().__init__(
            f"{path} leads out of {folder}, to {place}: nothing is written or removed there; remove the link, or put the files "
            "in its place (the folder as a whole may be a link)"
        )


def inside(folder: str | Path, path: str | Path) -> Path:
    """What ``path`` names, links followed; it lies in ``folder``, which may be a link itself.

    Raises
    ------
    LeadsOut
        If it does not.
    """
    place = Path(os.path.realpath(path))
    if not place.is_relative_to(os.path.realpath(folder)):
        raise LeadsOut(path, place, folder)
    return place


def remove(folder: str | Path, path: str | Path) -> None:
    """Remove a file in ``folder``, or a link, but not what it leads to; one that is missing is no error.

    Raises
    ------
    LeadsOut
        If a folder on the way leads out of ``folder``.
    """
    path = Path(path)
    (inside(folder, path.parent) / path.name).unlink(missing_ok=True)


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


def write_atomically(path: str | Path, write: Callable[[Path], Any]) -> None:
    """Call ``write`` with a temporary path in the folder of ``path``, then move the result into place.

    A reader never sees an incomplete file, even if the run is killed. A link stays, and the file to which it leads is replaced;
    a device receives the bytes. For what may not be replaced see :func:`destination`.

    Raises
    ------
    DiskFull
        If there is no room; the file that was there stays.
    """
    path = destination(path)
    if path.exists() and not path.is_file():
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder, path.name))
            path.write_bytes(Path(folder, path.name).read_bytes())
        return
    name = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
        os.close(handle)
        write(Path(name))
        os.chmod(name, 0o666 & ~_UMASK)
        os.replace(name, path)
    except BaseException as error:
        no_room = isinstance(error, OSError) and error.errno in FULL
        # The library of netCDF files gives no reason.
        no_room = no_room or (isinstance(error, RuntimeError) and is_full(path.parent))
        if name:
            Path(name).unlink(missing_ok=True)
        if no_room:
            raise DiskFull(path) from error
        raise


class DiskFull(OSError):
    """Error for a file that cannot be written because its disk is full, or the user's share of it. The message names both."""

    def __init__(self, path: str | Path) -> None:
        folder = Path(path).parent
        super().__init__(f"{path} cannot be written: {full_disk(folder)}")


def full_disk(folder: str | Path) -> str:
    """What is said of a disk that is full, or of a share of it."""
    free = f" ({shutil.disk_usage(folder).free / 1e6:.1f} MB are free)" if Path(folder).is_dir() else ""
    return f"the disk of {folder}, or your share of it, is full{free}; make room, or write to another disk, then start again"


#: Errors of the system for a disk that is full, and bytes that are tried where another error was raised.
FULL, TRIED = (errno.ENOSPC, errno.EDQUOT), 65_536


def is_full(folder: str | Path) -> bool:
    """Whether a small file cannot be written into a folder because there is no room."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(TRIED))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return error.errno in FULL
    return False


_UMASK = os.umask(0)
os.umask(_UMASK)


def checksums(folder: str | Path, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Size and SHA-256 of files, keyed by their paths relative to ``folder``."""
    sums = {}
    for path in paths:
        data = (Path(folder) / path).read_bytes()
        sums[path] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return sums


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically, in UTF-8, leaving newlines unchanged."""
    write_atomically(path, lambda p: p.write_text(text, encoding="utf-8", newline="\n"))


def write_dataset(dataset: "xr.Dataset", path: str | Path, job: str = "") -> None:
    """Write a dataset as netCDF-4, with a checksum of its values; ``job`` describes what made it, see :func:`job_text`."""
    write_groups({"/": dataset.assign_attrs({"job": job} if job else {})}, path)


def write_groups(groups: "Mapping[str, xr.Dataset]", path: str | Path) -> None:
    """Write datasets as the groups of one netCDF-4 file; "/" is the root.

    Each group keeps all its coordinates, so that it can be opened on its own; a :class:`xarray.DataTree` would omit those that
    its parent has. Dimensions shared with the parent must have the same coordinates, or the file does not open as a tree.
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
    """Whether this file exists, is complete, and was made by this job."""
    try:
        read_dataset(path, job=job)
    except DamagedFile:
        return False
    return True
