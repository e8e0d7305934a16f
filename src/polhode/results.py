"""The results of a run as one tree, to inspect and compute with."""

from pathlib import Path
from typing import Any

import xarray as xr

from polhode.interface.arguments import shown

#: Attributes for the internal use of the study.
INTERNAL = ("job", "checksum")


def open_results(folder: str | Path = "results") -> xr.DataTree:
    """Load everything that a run of the study gathered as one tree.

    ``tree["single_body/heavy_top"]`` is the group ``heavy_top`` of ``single_body.nc``, ``tree["checks/stability"]`` the file
    ``checks/stability.nc``; likewise ``many_body``, ``ensembles``, ``ensemble_states``, ``cost``, ``timing``, ``atlas``,
    ``references`` and ``films``. The tree contains only what the run has. Files that ``single_body.nc``, ``many_body.nc`` and
    ``ensembles.nc`` gather (``runs/``, ``long_runs/``, ``targets/``, ``many_body/``, ``ensembles/``) are left out: there are
    thousands of them; ``xarray.open_dataset`` opens each.

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
    FileNotFoundError
        If the folder does not exist or contains no gathered results; the message says what to do.
    polhode.study.storage.DamagedFile
        If a file is truncated or was changed since it was written; the message names it.
    polhode.study.storage.UnreadableFile
        If the system does not let us read a file (permissions, open files, disk): it need not be damaged.

    Examples
    --------
    The published-scale results shipped in data/released contain the many bodies, the times and the atlas of engines:

    >>> import polhode
    >>> tree = polhode.open_results("data/released")
    >>> list(tree.children)
    ['many_body', 'cost', 'atlas']
    >>> dict(tree["many_body/chess/energy_error"].sizes)
    {'integrator': 46, 'dt': 7, 'seed': 50}
    """
    from polhode.study.artefacts import Role, with_role
    from polhode.study.storage import read_groups  # what computes alone need not import netCDF

    if not isinstance(folder, str | Path):
        raise TypeError(f"folder must be the path of a folder, got {shown(folder)}")
    folder = Path(folder)
    try:
        folder.is_dir()
    except OSError as error:  # a name longer than a file system allows
        raise FileNotFoundError(f"folder {shown(str(folder))} cannot be a folder: {error.strerror}") from None
    found: dict[str, xr.Dataset] = {}
    for kind in (kind for kind in with_role(Role.DATA) if kind.is_dataset):
        for path in kind.present(folder):
            name = path.relative_to(folder).with_suffix("").as_posix()
            found |= {f"{name}{group}".rstrip("/"): data for group, data in read_groups(path).items()}
    if not found:
        what = "holds no results" if folder.is_dir() else "does not exist"
        raise FileNotFoundError(f"{folder} {what}; run the study first (./reproduce), or name the folder of results")
    return xr.DataTree.from_dict({name: _shown(data) for name, data in found.items()}, name=folder.resolve().name)


def _shown(data: xr.Dataset) -> xr.Dataset:
    attributes: dict[Any, Any] = {name: value for name, value in data.attrs.items() if name not in INTERNAL}
    return data.drop_attrs(deep=False).assign_attrs(attributes)
