"""Reading netCDF files: whole datasets or their groups, in memory, with a checksum; a damaged file is named.

A file of a study also records its origin: the attribute ``job`` holds its kind, the wildcards, the settings and the hash of
the code that made it. A valid file under another file's name, or an outdated one, is therefore detected when it is read. The
HDF5 library may crash some time after it has read a damaged file: a process that has done so should end.
"""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from polhode.interface.arrays import PlainDataset, PlainVariable

# The Snakefile needs neither.
if TYPE_CHECKING:
    import netCDF4
    import xarray as xr


# Files are read in memory, and written under a temporary name that nobody else knows: no lock of the HDF5 library is needed,
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


class NotAFile(UnreadableFile):
    """Error for a pipe, a socket or a device in the place of a file: reading it may never end. The message names it."""

    def __init__(self, path: str | Path) -> None:
        Exception.__init__(self, f"{path} is a pipe, a socket or a device, not a file; remove it, or name a file")
        self.path = Path(path)


_REMEDIES = {
    (errno.EACCES, errno.EPERM): "ask for the permission to read it (chmod, or its owner), then try again",
    (errno.EMFILE, errno.ENFILE): "close files, or allow more (ulimit -n), then try again",
    (errno.ENOMEM,): "free memory, then try again",
    (errno.ENOLCK, errno.EAGAIN): "its file system has no locks: try again with HDF5_USE_FILE_LOCKING=FALSE in the environment",
    (errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOTCONN): "look at its file system (disk, network), then try again",
    (errno.EISDIR,): "name a file, not a folder",
}


def check_regular(path: str | Path) -> None:
    """Refuse what is neither a file nor a folder.

    Raises
    ------
    NotAFile
        If it is a pipe, a socket or a device.
    OSError
        The error of the system, if it is missing.
    """
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise NotAFile(path)


def contents(path: str | Path) -> bytes:
    """The bytes of a file.

    Raises
    ------
    DamagedFile
        If it is missing.
    UnreadableFile
        If the system does not let us read it, or if it is a pipe or a device.
    """
    try:
        check_regular(path)
        return Path(path).read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise DamagedFile(path, MISSING) from error
    except (OSError, MemoryError) as error:
        raise UnreadableFile(path, error) from error


def read_dataset(path: str | Path, group: str | None = None, job: str = "", **wildcards: str) -> "xr.Dataset":
    """A dataset from a netCDF-4 file, loaded into memory.

    Parameters
    ----------
    group : path of a group of the file; by default its root
    job : what must have made it (:func:`polhode.interface.storage.job_text`); empty to accept anything
    wildcards : of the job that made the file, such as ``problem="heavy_top"``; not compared if the file names no job

    Raises
    ------
    DamagedFile
        If the file is missing or no netCDF file, was changed since it was written, or is about something else; the message
        names it and the group.
    UnreadableFile
        If the system does not let us read it.
    """
    place = f"{path} (group {group})" if group else str(path)
    opened_file = opened(path)
    try:
        with opened_file as file:
            dataset = loaded(file[name] if (name := (group or "").strip("/")) else file)
    except _UNREADABLE as error:
        raise DamagedFile(place, f"is not a complete netCDF file ({error})") from error
    _check_dataset(place, dataset, job, wildcards)
    return dataset


def read_table(path: str | Path, group: str | None = None) -> PlainDataset:
    """As :func:`read_dataset`, without the half second that importing xarray takes; the values have the same bits.

    For files whose variables are numbers, with a ``scale_factor`` and a ``_FillValue`` or without, and strings. Errors come
    from :func:`read_dataset`.
    """
    place = f"{path} (group {group})" if group else str(path)
    opened_file = opened(path)
    try:
        with opened_file as file:
            inside = file[group] if group else file
            inside.set_auto_maskandscale(False)
            columns = {name: _column(variable) for name, variable in inside.variables.items()}
            table = PlainDataset(columns, {name: inside.getncattr(name) for name in inside.ncattrs() if name != "coordinates"})
    except _UNREADABLE as error:
        raise DamagedFile(place, f"is not a complete netCDF file ({error})") from error
    _check_dataset(place, table)
    return table


def _column(variable: "netCDF4.Variable[Any]") -> PlainVariable:
    """A variable of an open file, decoded as xarray does."""
    attributes = {name: variable.getncattr(name) for name in variable.ncattrs() if name != "coordinates"}
    values = np.asarray(variable[...])
    if attributes.pop("_Encoding", None):  # netCDF4 has joined the characters along the last dimension
        values = values.astype(object)
    missing, scale = attributes.pop("_FillValue", None), attributes.pop("scale_factor", None)
    if scale is not None:
        values = np.where(values == missing, np.nan, values * float(scale))
    return PlainVariable(variable.dimensions[: values.ndim], values, attributes)


def sizes_of(path: str | Path) -> dict[str, int]:
    """Dimension -> size, of the root of a netCDF-4 file; nothing else of it is read. Raises errors as :func:`opened` does."""
    with opened(path) as file:
        return {name: len(dimension) for name, dimension in file.dimensions.items()}


#: Exceptions of the netCDF library for a file that is truncated or of another kind.
_UNREADABLE = (OSError, ValueError, LookupError, RuntimeError, AttributeError)


def _check_dataset(
    place: str, dataset: "xr.Dataset | PlainDataset", job: str = "", wildcards: Mapping[str, str] = MappingProxyType({})
) -> None:
    # Files shipped with the code may be older than the checksums.
    if "checksum" in dataset.attrs and dataset.attrs["checksum"] != checksum_of(dataset):
        raise DamagedFile(place, "was changed after it was written: its checksum does not match")
    _check_job(place, str(dataset.attrs.get("job", "")), job)
    _check_wildcards(place, str(dataset.attrs.get("job", "")), wildcards)


def _check_job(path: str | Path, actual: str, expected: str) -> None:
    if not expected or actual == expected:
        return
    try:
        wanted, recorded = json.loads(expected), json.loads(actual)
    except ValueError:
        raise DamagedFile(path, "does not say by which job it was made") from None
    for key in ("kind", "wildcards", "settings"):
        if wanted[key] != recorded.get(key):
            raise DamagedFile(path, f"holds something else: its {key} should be {wanted[key]}, found {recorded.get(key)}")
    raise DamagedFile(path, "was made by another version of the code")


def _check_wildcards(path: str | Path, job: str, wildcards: Mapping[str, str]) -> None:
    if not wildcards or not job:
        return
    recorded = json.loads(job)["wildcards"]
    for name, value in wildcards.items():
        if recorded.get(name) != value:
            raise DamagedFile(path, f"holds something else: its {name} should be {value}, found {recorded.get(name)}")


def without_checksum(attributes: Mapping[Any, Any]) -> dict[Any, Any]:
    """The attributes of a group except its checksum, by name."""
    return {name: value for name, value in attributes.items() if name != "checksum"}


def checksum_of(dataset: "xr.Dataset | PlainDataset") -> str:
    """SHA-256, in hexadecimal digits, of all values, names, dimensions and attributes of a dataset as read.

    Its own attribute ``checksum``, the recorded one, does not count.
    """
    digest = hashlib.sha256()

    def add(attributes: Mapping[Any, Any]) -> None:
        for name in sorted(attributes):
            value = np.asarray(attributes[name])
            digest.update(f"{name} {value.dtype.kind} {value.tolist()!r}\n".encode())

    add(without_checksum(dataset.attrs))
    for name in sorted(map(str, dataset.variables)):
        variable = dataset.variables[name]
        values = variable.values
        digest.update(f"{name} {variable.dims} {values.shape}\n".encode())
        if values.dtype.kind in "OUS":
            digest.update("\0".join(map(str, values.ravel().tolist())).encode())
        else:
            digest.update(f"{values.dtype.str}\n".encode() + np.ascontiguousarray(values).tobytes())
        add(variable.attrs)
    return digest.hexdigest()


def plain(dataset: "xr.Dataset") -> dict[str, Any]:
    """Name -> array of all variables of a dataset, and name -> value of its attributes: for code that goes through many of
    them.
    """
    return {str(name): value for name, value in dataset.attrs.items()} | {
        str(name): variable.values for name, variable in dataset.variables.items()
    }


def group_names(path: str | Path) -> list[str]:
    """The names of the top-level groups of a netCDF-4 file, in the order written. Raises errors as :func:`opened` does."""
    with opened(path) as file:
        return list(file.groups)


def read_groups(path: str | Path) -> "Mapping[str, xr.Dataset]":
    """All groups of a netCDF-4 file by their paths, the root (``/``) first, each loaded and checked when it is first asked for.

    Errors come from :func:`opened` at once, and from :func:`read_dataset` for each group. The file is opened only once: each
    opening reads the descriptions of all its groups, which takes a quarter of a second for a whole study.
    """
    return _Groups(path)


class _Groups(Mapping[str, "xr.Dataset"]):
    """The mapping of :func:`read_groups`."""

    def __init__(self, path: str | Path) -> None:
        self.path = path
        self.loaded: dict[str, xr.Dataset] = {}
        self.file = opened(path)
        self.groups = {group.path: group for group in every_group(self.file)}

    def __getitem__(self, name: str) -> "xr.Dataset":
        group = self.groups[name]
        if name not in self.loaded:
            place = str(self.path) if name == "/" else f"{self.path} (group {name})"
            try:
                dataset = loaded(group)
            except _UNREADABLE as error:
                raise DamagedFile(place, f"is not a complete netCDF file ({error})") from error
            _check_dataset(place, dataset)
            self.loaded[name] = dataset
            if len(self.loaded) == len(self.groups):
                self.file.close()
        return self.loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)


def at_the_top(groups: Iterable[str]) -> list[str]:
    """The names of the top-level groups among the paths of :func:`read_groups`, in the order written."""
    return [name[1:] for name in groups if name.count("/") == 1 and name != "/"]


def every_group(group: "netCDF4.Dataset") -> "Iterator[netCDF4.Dataset]":
    """A group of an open file, or its root, and then all groups below it, each before its own groups."""
    yield group
    for below in group.groups.values():
        yield from every_group(below)


def loaded(group: "netCDF4.Dataset") -> "xr.Dataset":
    """A group of an open file as a dataset in memory, which outlives the file."""
    import xarray as xr

    dataset = xr.open_dataset(store_of(group)).load()
    dataset.set_close(None)  # which would close the file, with all other groups
    return dataset


def store_of(group: "netCDF4.Dataset") -> Any:
    """A group of an open file as a store, from which xarray reads and to which it writes."""
    from xarray.backends import NetCDF4DataStore

    return NetCDF4DataStore(group)  # type: ignore[no-untyped-call]


def opened(path: str | Path) -> "netCDF4.Dataset":
    """A netCDF file, opened in memory, which needs no lock.

    Close it: a file that is left to the collection of garbage is closed in the thread in which that happens, and HDF5, which is
    made for one thread, may then crash the process.

    Raises
    ------
    DamagedFile
        If it is missing, or no complete netCDF file.
    UnreadableFile
        If the system does not let us read it, or if it is a pipe or a device.
    """
    import netCDF4

    data = contents(path)
    try:
        return netCDF4.Dataset(path, memory=data)
    except _UNREADABLE as error:
        raise DamagedFile(path, f"is not a complete netCDF file ({error})") from error
