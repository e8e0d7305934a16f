"""The rows of one physics engine in the engine atlas."""

from collections.abc import Callable, Mapping
from typing import Any

import xarray as xr

from polhode.engines import all_engines, atlas, how_to_install, install, is_installed
from polhode.engines.environments import EngineError

#: Attribute of the file of an engine that was left out: why, and what to do.
LEFT_OUT = "left_out"


def runs(key: str) -> int:
    """The number of runs behind the rows of an engine, for a bar."""
    engine = all_engines()[key]
    return sum(atlas.jobs(engine, option) for option in engine.options)


def make_engine(
    wildcards: Mapping[str, str], settings: Mapping[str, Any], may_install: bool, progress: Callable[[], object]
) -> tuple[xr.Dataset, str]:
    """The rows of an ``engine``, and a message for the log; ``settings`` have the ``limit`` of time."""
    dataset = engine_dataset(wildcards["engine"], may_install, settings["limit"], progress)
    return dataset, dataset.attrs.get(LEFT_OUT, "measured")


def engine_dataset(key: str, may_install: bool, limit: float, progress: Callable[[], object] = lambda: None) -> xr.Dataset:
    """The rows of an engine, one for each of its options, as :func:`polhode.engines.atlas.dataset` makes them.

    If the engine is not installed and cannot be, there are no rows, and the attribute ``left_out`` says what to do.

    Parameters
    ----------
    may_install : whether to install it first; engines from Debian packages are never installed
    limit : time that one run of one body may take, s
    progress : called after each of :func:`runs` runs
    """
    engine = all_engines()[key]
    why = "not installed"
    if may_install and not engine.debian and not is_installed(engine):
        try:
            install(engine)
        except EngineError as error:
            why = str(error)
    if not is_installed(engine):
        said = f"{key}: {why}, left out; {how_to_install(engine)}"
        return xr.Dataset(attrs={"title": f"No rows of {engine.label}", LEFT_OUT: said})
    return atlas.dataset([atlas.measure(engine, option, progress, limit) for option in engine.options])
