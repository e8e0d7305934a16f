"""The results of a run as one tree, to inspect and compute with."""

from pathlib import Path
from typing import Any

import xarray as xr

from polhode.interface.arguments import shown
from polhode.interface.netcdf import read_groups

#: Attributes for the internal use of the study.
INTERNAL = ("job", "checksum")


def open_results(folder: str | Path = "results") -> xr.DataTree:
    """Load the netCDF files of a run of the study, or the released ones, as one tree.

    ``tree["single_body/heavy_top"]`` is the group ``heavy_top`` of ``single_body.nc``, ``tree["checks/stability"]`` the file
    ``checks/stability.nc``. The tree has the files in the folder and those one folder below. Single runs, which these gather,
    are left out: they are deeper (``runs/``, ``many_body/``), or in a folder with the name of the file that gathers them
    (``ensembles/``); ``xarray.open_dataset`` opens each.

    Parameters
    ----------
    folder : str or path
        Folder of results.

    Returns
    -------
    xarray.DataTree
        Loaded, so that no file stays open. Methods are along the dimension ``integrator``:
        ``tree["single_body/heavy_top"].sel(integrator="rk4")``.

    Raises
    ------
    TypeError
        If ``folder`` is no path.
    FileNotFoundError
        If the folder does not exist or contains no gathered results; the message says what to do.
    polhode.interface.netcdf.DamagedFile
        If a file is truncated or was changed since it was written; the message names it.
    polhode.interface.netcdf.UnreadableFile
        If the system does not let us read a file (permissions, open files, disk): it need not be damaged.

    Examples
    --------
    The published-scale results shipped in data/released: the atlas of engines, times, grains, laws, liquids and many bodies.

    >>> import polhode
    >>> tree = polhode.open_results("data/released")
    >>> list(tree.children)
    ['atlas', 'contacts', 'cost', 'grains', 'laws', 'liquids', 'liquids_lammps', 'many_body', 'checks', 'full']
    >>> dict(tree["many_body/chess/energy_error"].sizes)
    {'integrator': 48, 'dt': 7, 'seed': 50}
    """
    if not isinstance(folder, str | Path):
        raise TypeError(f"folder must be the path of a folder, got {shown(folder)}")
    folder = Path(folder)
    try:
        folder.is_dir()
    except OSError as error:  # a name longer than a file system allows
        raise FileNotFoundError(f"folder {shown(str(folder))} cannot be a folder: {error.strerror}") from None
    datasets: dict[str, xr.Dataset] = {}
    for path in _gathered(folder):
        name = path.relative_to(folder).with_suffix("").as_posix()
        datasets |= {f"{name}{group}".rstrip("/"): data for group, data in read_groups(path).items()}
    if not datasets:
        what = "holds no results" if folder.is_dir() else "does not exist"
        raise FileNotFoundError(f"{folder} {what}; run the study first (./reproduce), or name the folder of results")
    return xr.DataTree.from_dict({name: _shown(data) for name, data in datasets.items()}, name=folder.resolve().name)


def _gathered(folder: Path) -> list[Path]:
    """The files of the tree; temporary ones begin with a dot."""
    top, below = (sorted(path for path in folder.glob(each) if path.name[0] != ".") for each in ("*.nc", "*/*.nc"))
    return top + [path for path in below if path.parent.with_suffix(".nc") not in top]


def _shown(data: xr.Dataset) -> xr.Dataset:
    attributes: dict[Any, Any] = {name: value for name, value in data.attrs.items() if name not in INTERNAL}
    return data.drop_attrs(deep=False).assign_attrs(attributes)
