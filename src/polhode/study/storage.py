"""Reading and writing the files of a run: every write is atomic, every broken file is named."""

import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import netCDF4
import numpy as np
import xarray as xr
from scipy.io import netcdf_file


def write_atomically(path: str | Path, write: Callable[[Path], Any]) -> None:
    """Call ``write`` with a temporary path in the folder of ``path``, then move the result into place.

    A reader, or a run that was killed, never meets half a file.
    """
    path = Path(path)
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


def write_text(path: str | Path, text: str) -> None:
    """Write a text file atomically, UTF-8, with newlines as they are."""
    write_atomically(path, lambda p: p.write_text(text, encoding="utf-8", newline="\n"))


def write_cell(dataset: xr.Dataset, path: str | Path) -> None:
    """Write a small dataset as netCDF-3 through scipy: unlike HDF5 that is safe in threads, and fast."""
    write_atomically(path, lambda p: dataset.to_netcdf(p, engine="scipy", format="NETCDF3_64BIT"))


def write_dataset(dataset: xr.Dataset, path: str | Path) -> None:
    """Write a dataset as netCDF-4."""
    write_atomically(path, lambda p: dataset.to_netcdf(p, engine="netcdf4"))


def write_groups(groups: Mapping[str, xr.Dataset], path: str | Path) -> None:
    """Write datasets as the groups of one netCDF-4 file; "/" is the root.

    Each group keeps all its coordinates, so that it can be opened on its own; a :class:`xarray.DataTree` would leave out
    those that its parent has.
    """

    def write(temporary: Path) -> None:
        mode: Literal["w", "a"] = "w"
        for name, dataset in groups.items():
            dataset.to_netcdf(temporary, mode=mode, group=name, engine="netcdf4")
            mode = "a"

    write_atomically(path, write)


def read_cell(path: str | Path) -> dict[str, Any]:
    """All variables and attributes of a netCDF-3 cell as arrays; far quicker than opening it as a dataset.

    Raises
    ------
    ValueError
        If the file is not a whole netCDF file; the message names it.
    """
    try:
        with netcdf_file(str(path), "r", mmap=False) as opened:
            file: Any = opened
            values: dict[str, Any] = {name: np.array(v.data) for name, v in file.variables.items()}
            values.update({f"@{k}": v for k, v in file._attributes.items()})
    except (OSError, TypeError, ValueError, IndexError, AssertionError) as error:
        raise ValueError(f"{path} is not a complete netCDF file ({error}); delete it and run again") from error
    return values


def read_dataset(path: str | Path, group: str | None = None) -> xr.Dataset:
    """A dataset from a netCDF-4 file, loaded into memory.

    Raises
    ------
    ValueError
        If the file cannot be read; the message names it and the group.
    """
    try:
        return xr.load_dataset(path, group=group, engine="netcdf4")
    except (OSError, ValueError, KeyError) as error:
        place = f" (group {group})" if group else ""
        raise ValueError(f"{path}{place} is not a complete netCDF file ({error}); delete it and run again") from error


def group_names(path: str | Path) -> list[str]:
    """The groups at the top of a netCDF-4 file, in the order written."""
    with netCDF4.Dataset(path) as file:
        return list(file.groups)


def has_group(path: str | Path, group: str) -> bool:
    """Whether a netCDF-4 file has this group, given by its path inside the file."""
    with netCDF4.Dataset(path) as file:
        here = file
        for name in group.split("/"):
            if name not in here.groups:
                return False
            here = here.groups[name]
    return True
