"""Reading and writing the files of a run: writes are atomic, files carry a checksum, and a damaged file is named.

A file also records its origin: the attribute ``job`` holds the rule, the wildcards, the settings and the hash of the code that
made it. A valid file under another file's name, or an outdated one, is therefore detected when it is read. The HDF5 library may
crash some time after it has read a damaged file: a process that has done so should end.
"""

import errno
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.study.conventions import described

# The Snakefile needs neither.
if TYPE_CHECKING:
    import netCDF4
    import xarray as xr


# A file is written under a temporary name that nobody else knows, and read in memory: no lock of the HDF5 library is needed,
# and some file systems have none. It looks at this when it is loaded; a value that is set already stays.
os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")


class DamagedFile(ValueError):
    """Error for a file that is missing, truncated, modified, or another file under its name. The message names it.

    ``path`` is the file, ``why`` the reason.
    """

    def __init__(self, path: str | Path, why: str) -> None:
        super().__init__(f"{path} {why}; {'' if why == MISSING else 'delete it and '}run again")
        self.path, self.why = Path(path), why


MISSING = "is missing"


class UnreadableFile(Exception):
    """Error for a file of which nothing is known, because the system does not let us read it. The message says what to do.

    It is no :class:`OSError`, and no :class:`DamagedFile`: who takes those for damage must not take this for it.
    """

    def __init__(self, path: str | Path, error: OSError | MemoryError) -> None:
        number = errno.ENOMEM if isinstance(error, MemoryError) else error.errno
        reason = os.strerror(number) if number else str(error)
        remedy = next((text for numbers, text in _REMEDIES.items() if number in numbers), "mend this, then try again")
        super().__init__(f"{path} cannot be read: {reason}. It need not be damaged: do not delete it; {remedy}")
        self.path = Path(path)


_REMEDIES = {
    (errno.EACCES, errno.EPERM): "ask for the permission to read it (chmod, or its owner), then try again",
    (errno.EMFILE, errno.ENFILE): "close files, or allow more (ulimit -n), then try again",
    (errno.ENOMEM,): "free memory, then try again",
    (errno.ENOLCK, errno.EAGAIN): "its file system has no locks: try again with HDF5_USE_FILE_LOCKING=FALSE in the environment",
    (errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN): "look at its file system (disk, network), then try again",
    (errno.EISDIR,): "name a file, not a folder",
}


def contents(path: str | Path) -> bytes:
    """The bytes of a file.

    Raises
    ------
    DamagedFile
        If it is missing.
    UnreadableFile
        If the system does not let us read it.
    """
    try:
        return Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DamagedFile(path, MISSING) from error
    except (OSError, MemoryError) as error:
        raise UnreadableFile(path, error) from error


def job_text(rule: str, wildcards: Mapping[str, Any], settings: Mapping[str, Any], code: str) -> str:
    """The provenance of a job's file: one line of JSON, stored as the attribute ``job``."""
    job = {"rule": rule, "wildcards": dict(wildcards), "settings": dict(settings), "code": code}
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


def write_atomically(path: str | Path, write: Callable[[Path], Any]) -> None:
    """Call ``write`` with a temporary path in the folder of ``path``, then move the result into place.

    A reader never sees an incomplete file, even if the run is killed. A link stays, and the file to which it leads is replaced;
    a device receives the bytes. For what may not be replaced see :func:`destination`.
    """
    path = destination(path)
    if path.exists() and not path.is_file():
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder, path.name))
            path.write_bytes(Path(folder, path.name).read_bytes())
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    try:
        write(Path(name))
        os.chmod(name, 0o666 & ~_UMASK)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


_UMASK = os.umask(0)
os.umask(_UMASK)


def checksums(folder: str | Path, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Size and SHA-256 of files, keyed by their paths relative to ``folder``."""
    found = {}
    for path in paths:
        data = (Path(folder) / path).read_bytes()
        found[path] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return found


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
                told = described(dataset, root=name == "/")
                told = told.drop_attrs(deep=False).assign_attrs(_without_checksum(told.attrs))
                group = file if name == "/" else file.createGroup(name)
                told.dump_to_store(_store(group), writer=waiting, encoding=_as_characters(told))
            waiting.write()
            # Computed from the values a reader will get, whose types may differ from those passed in.
            sums = [(group, _checksum(_loaded(group))) for group in _every_group(file)]
            for group, found in sums:
                group.setncattr("checksum", found)

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
    kept = ("zlib", "complevel", "shuffle")
    return {name: {"dtype": "S1"} | {key: given[key] for key in kept if key in given} for name, given in strings.items()}


def _without_checksum(attributes: Mapping[Any, Any]) -> dict[Any, Any]:
    return {name: value for name, value in attributes.items() if name != "checksum"}


def _checksum(dataset: "xr.Dataset") -> str:
    """SHA-256 of all values, names, dimensions and attributes of a dataset as read."""
    found = hashlib.sha256()

    def add(attributes: Mapping[Any, Any]) -> None:
        for name in sorted(attributes):
            value = np.asarray(attributes[name])
            found.update(f"{name} {value.dtype.kind} {value.tolist()!r}\n".encode())

    add(_without_checksum(dataset.attrs))
    for name in sorted(map(str, dataset.variables)):
        variable = dataset.variables[name]
        values = variable.values
        found.update(f"{name} {variable.dims} {values.shape}\n".encode())
        if values.dtype.kind in "OUS":
            found.update("\0".join(map(str, values.ravel().tolist())).encode())
        else:
            found.update(f"{values.dtype.str}\n".encode() + np.ascontiguousarray(values).tobytes())
        add(variable.attrs)
    return found.hexdigest()


def _check_job(path: str | Path, found: str, expected: str) -> None:
    if not expected or found == expected:
        return
    try:
        ours, theirs = json.loads(expected), json.loads(found)
    except ValueError:
        raise DamagedFile(path, "does not say by which job it was made") from None
    for part in ("rule", "wildcards", "settings"):
        if ours[part] != theirs.get(part):
            raise DamagedFile(path, f"holds something else: its {part} should be {ours[part]}, found {theirs.get(part)}")
    raise DamagedFile(path, "was made by another version of the code")


def is_current(path: str | Path, job: str) -> bool:
    """Whether this file exists, is complete, and was made by this job."""
    try:
        read_dataset(path, job=job)
    except DamagedFile:
        return False
    return True


def read_dataset(path: str | Path, group: str | None = None, job: str = "", **wildcards: str) -> "xr.Dataset":
    """A dataset from a netCDF-4 file, loaded into memory.

    ``job``: what must have made it (:func:`job_text`); empty to accept anything. ``wildcards``: those of the job that made the
    file, e.g. ``problem="heavy_top"``.

    Raises
    ------
    DamagedFile
        If the file cannot be read, was changed since it was written, or is about something else; the message names it and
        the group.
    """
    place = f"{path} (group {group})" if group else str(path)
    file = opened(path)
    try:
        dataset = _loaded(file[name] if (name := (group or "").strip("/")) else file)
    except _UNREADABLE as error:
        raise DamagedFile(place, f"is not a complete netCDF file ({error})") from error
    _check_dataset(place, dataset, job, wildcards)
    return dataset


#: Exceptions of the netCDF library for a file that is truncated or of another kind.
_UNREADABLE = (OSError, ValueError, LookupError, RuntimeError, AttributeError)


def _check_dataset(place: str, found: "xr.Dataset", job: str = "", wildcards: Mapping[str, str] = MappingProxyType({})) -> None:
    # Files shipped with the code may be older than the checksums.
    if "checksum" in found.attrs and found.attrs["checksum"] != _checksum(found):
        raise DamagedFile(place, "was changed after it was written: its checksum does not match")
    _check_job(place, str(found.attrs.get("job", "")), job)
    _check_wildcards(place, str(found.attrs.get("job", "")), wildcards)


def plain(dataset: "xr.Dataset") -> dict[str, Any]:
    """The values of all variables of a dataset, and its attributes, by name: for code that goes through many of them."""
    return {str(name): value for name, value in dataset.attrs.items()} | {
        str(name): variable.values for name, variable in dataset.variables.items()
    }


def _check_wildcards(path: str | Path, job: str, wildcards: Mapping[str, str]) -> None:
    if not wildcards or not job:
        return
    theirs = json.loads(job)["wildcards"]
    for name, value in wildcards.items():
        if theirs.get(name) != value:
            raise DamagedFile(path, f"holds something else: its {name} should be {value}, found {theirs.get(name)}")


def group_names(path: str | Path) -> list[str]:
    """The names of the top-level groups of a netCDF-4 file, in the order written."""
    return list(opened(path).groups)


def read_groups(path: str | Path) -> "Mapping[str, xr.Dataset]":
    """All groups of a netCDF-4 file by their paths, the root (``/``) first, each loaded and checked when it is first asked for.

    They are loaded and checked as by :func:`read_dataset`. The file is opened only once: each opening reads the descriptions of
    all its groups, which takes a quarter of a second for a whole study.
    """
    return _Groups(path)


class _Groups(Mapping[str, "xr.Dataset"]):
    """The mapping of :func:`read_groups`."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.loaded: dict[str, xr.Dataset] = {}
        self.there = {group.path: group for group in _every_group(opened(path))}

    def __getitem__(self, name: str) -> "xr.Dataset":
        group = self.there[name]
        if name not in self.loaded:
            place = str(self.path) if name == "/" else f"{self.path} (group {name})"
            try:
                found = _loaded(group)
            except _UNREADABLE as error:
                raise DamagedFile(place, f"is not a complete netCDF file ({error})") from error
            _check_dataset(place, found)
            self.loaded[name] = found
        return self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.there)

    def __len__(self) -> int:
        return len(self.there)


def at_the_top(groups: Iterable[str]) -> list[str]:
    """The names of the top-level groups among the paths of :func:`read_groups`, in the order written."""
    return [name[1:] for name in groups if name.count("/") == 1 and name != "/"]


def _every_group(group: "netCDF4.Dataset") -> "Iterator[netCDF4.Dataset]":
    """A group of an open file, or its root, and all groups below."""
    yield group
    for below in group.groups.values():
        yield from _every_group(below)


def _loaded(group: "netCDF4.Dataset") -> "xr.Dataset":
    import xarray as xr

    found = xr.open_dataset(_store(group)).load()
    found.set_close(None)  # which would close the file, with all other groups
    return found


def _store(group: "netCDF4.Dataset") -> Any:
    """A group of an open file as a place where xarray reads and writes."""
    from xarray.backends import NetCDF4DataStore

    return NetCDF4DataStore(group)  # type: ignore[no-untyped-call]


def opened(path: str | Path) -> "netCDF4.Dataset":
    """A netCDF file, opened in memory: that needs neither a lock nor to be closed. Raises errors as :func:`contents` does."""
    import netCDF4

    data = contents(path)
    try:
        return netCDF4.Dataset(path, memory=data)
    except _UNREADABLE as error:
        raise DamagedFile(path, f"is not a complete netCDF file ({error})") from error


def has_group(path: str | Path, group: str) -> bool:
    """Whether a netCDF-4 file contains this group, given by its path inside the file."""
    inside = opened(path)
    for name in group.split("/"):
        if name not in inside.groups:
            return False
        inside = inside.groups[name]
    return True
