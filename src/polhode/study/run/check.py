"""One experiment on single methods, by its name in :mod:`polhode.study.checks`."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from polhode.study.checks import CHECKS
from polhode.study.released import FOLDER, Release, check_file, this_machine, whole
from polhode.study.run.making import Settings

if TYPE_CHECKING:
    import xarray as xr


def make_check(wildcards: Mapping[str, str], settings: Settings) -> "tuple[xr.Dataset, str]":
    """The experiment ``check``, and a message for the log; with a ``release`` from there, if its witness does not differ.

    Parameters
    ----------
    wildcards : the name of the ``check``
    settings : the keys of the ``methods``, the ``seed``, and what the check declares
    """
    check = wildcards["check"]
    module, function = CHECKS[check].code.split(":")
    data = getattr(import_module(module), function)(settings)
    if "release" not in settings:
        return data, "made"
    data = data.drop_vars(CHECKS[check].of_all, errors="ignore")
    data = whole(Release(FOLDER), check_file(check), data, settings["shown"], this_machine(), CHECKS[check].all_methods)
    return data, f"from the release; witness: {data.attrs['witness']}"
