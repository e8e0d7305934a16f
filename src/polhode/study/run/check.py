"""One experiment on single methods, by its name in :mod:`polhode.study.checks`."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from polhode.study.checks import CHECKS
from polhode.study.run.making import Settings

if TYPE_CHECKING:
    import xarray as xr


def make_check(wildcards: Mapping[str, str], settings: Settings) -> "tuple[xr.Dataset, str]":
    """The experiment ``check``, and a message for the log.

    Parameters
    ----------
    wildcards : the name of the ``check``
    settings : the keys of the ``methods``, the ``seed``, and what the check declares
    """
    module, function = CHECKS[wildcards["check"]].code.split(":")
    return getattr(import_module(module), function)(settings), "made"
