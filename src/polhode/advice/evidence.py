"""The reader of evidence: the measurements of a run or those that come with polhode, whichever have more."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from polhode.advice import files
from polhode.advice.errors import AdviceError
from polhode.interface.arrays import PlainDataset
from polhode.interface.netcdf import read_dataset, read_table

if TYPE_CHECKING:
    import xarray as xr

Content = TypeVar("Content")
#: How much a file has, as numbers, the most important first.
Size = tuple[float, ...]


@contextmanager
def of_this_version(path: Path) -> Iterator[None]:
    """Context for reading the file ``path``: errors that a damaged or outdated file causes become :class:`AdviceError`.

    These are OSError, RuntimeError, ValueError (so also :class:`polhode.interface.netcdf.DamagedFile`), LookupError and
    AttributeError. An AdviceError passes as it is, and so does any other error, such as
    :class:`polhode.interface.netcdf.UnreadableFile`.

    Raises
    ------
    AdviceError
        If the file is missing or damaged or lacks something; the message names the file and says why.
    """
    try:
        yield
    except AdviceError:
        raise
    except (OSError, RuntimeError, ValueError, LookupError, AttributeError) as failure:
        why = " ".join(str(failure).split())
        a = "an" if path.name[0] in "aeiou" else "a"
        raise AdviceError(f"{path} is damaged or not {a} {path.name} of this version ({why[:200]})") from failure


def read(path: Path, group: str = "") -> "xr.Dataset":
    """The dataset in a netCDF file, or in a group of it. Raises :class:`AdviceError` if it is damaged or lacks the group."""
    with of_this_version(path):
        return read_dataset(path, group) if group else read_dataset(path)


def table(path: Path, group: str = "") -> PlainDataset:
    """As :func:`read`, without xarray and the time to import it, for what answers within a second."""
    with of_this_version(path):
        return read_table(path, group)


def places(name: str, results: Path | None, released: str) -> list[Path]:
    """The files with measurements: the one of the run that is named, or else of ``results`` and of the release, if they exist.

    Parameters
    ----------
    name, released : of the file of a run, and of the released one
    results : folder of the run that is named; None if none is

    Raises
    ------
    AdviceError
        If there are none.
    """
    if results is not None:
        return [files.find(name, results)]
    return [path for path in (files.of_run(name), files.released(released)) if path] or [files.find(name)]


def richest(contents: Mapping[Path, Content], size: Callable[[Content], Size], what: str) -> tuple[Path, Content, str]:
    """The file that has most, the first of equals: its path, its contents and, if there are two, why it was taken, in a
    sentence.

    Parameters
    ----------
    contents : path -> what is in the file, the run's first; one or two files
    size : function that returns how much that is, numbers of which the first count most
    what : what the first number of a size counts
    """
    sizes = {path: size(content) for path, content in contents.items()}
    best, why = max(sizes, key=lambda path: sizes[path]), ""
    if len(sizes) > 1:
        (run, (less, *_)), (release, (more, *_)) = sizes.items()
        why = f"It has more than {run}: {more:g} {what}, against {less:g}; `results` {run.parent} asks that run."
        why = why if best == release else f"{release} has no more {what}: {more:g}, against {less:g}."
    return best, contents[best], why
