"""The files of one job: those that are up to date are kept, and if one fails the others are made.

A job makes several files because starting a process takes longer than most runs. Snakemake starts it when one of its files is
missing or when what one of them depends on has changed; which one, the files themselves say: each records its origin, settings
and code (:func:`polhode.interface.storage.job_text`). A job that was killed goes on in the same way.
"""

import json
import time
import traceback
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from polhode.interface.storage import DiskFull, is_current, write_dataset

if TYPE_CHECKING:
    import xarray as xr

Say = Callable[[str], object]
#: What a file depends on apart from its wildcards and the code, as recorded in it.
Settings = Mapping[str, Any]
#: Wildcards and settings of a file -> its contents, and a message for the log.
Make = Callable[[dict[str, Any], dict[str, Any]], "tuple[xr.Dataset, str]"]


#: Wildcards in the order in which a message names them.
_ORDER = ("problem", "scene", "steps", "method", "dt")


class FailedRuns(Exception):
    """Files of a job could not be made; the message names each with its error."""


def make_files(files: Mapping[str, str], make: Make, say: Say = print) -> None:
    """Make the missing and the outdated ones of some files.

    Parameters
    ----------
    files : mapping
        Path -> what the file must record about its origin, :func:`polhode.interface.storage.job_text`.
    make : function
        Called with the wildcards and the settings of each file that is to be made.
    say : function
        Called with a line about each file, including its times, which are recorded nowhere else.

    Raises
    ------
    FailedRuns
        If a file failed, once all others are done. A mistake often fails in all files of a method; it is reported once.
    DiskFull
        As soon as there is no room for a file.
    """
    failed: dict[str, list[str]] = {}
    for path, job in files.items():
        origin = json.loads(job)
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            if is_current(path, job):
                say(f"{path}: kept")
            else:
                dataset, line = make(origin["wildcards"], origin["settings"])
                write_dataset(dataset, path, job)
                say(f"{path}: {line}, wall {time.perf_counter() - wall:.6f} s, CPU {time.process_time() - cpu:.6f} s")
        except DiskFull:
            raise  # the others would fail in the same way
        except Exception as error:
            say(f"{path} failed\n{traceback.format_exc()}")
            name = ", ".join(f"{key} {origin['wildcards'][key]}" for key in _ORDER if key in origin["wildcards"])
            notes = "".join(f", {note}" for note in getattr(error, "__notes__", ()))
            failed.setdefault(f"{type(error).__name__}: {error}", []).append(name + notes)
    if failed:
        lines = []
        for text, names in failed.items():
            others = f" (and {len(names) - 1} other files)" if len(names) > 1 else ""
            lines.append(f"{names[0]}{others}: {text}")
        raise FailedRuns("\n".join(lines))


def make_single_body(wildcards: dict[str, Any], settings: dict[str, Any]) -> "tuple[xr.Dataset, str]":
    """A file of a method on a problem: its runs, or its search for the step sizes that meet target errors."""
    if "errors" in settings:
        from polhode_study.run.target_steps import make_search  # it imports scipy.optimize, which few jobs need

        return make_search(wildcards, settings)
    from polhode_study.run.single_body import make_runs

    return make_runs(wildcards, settings)
