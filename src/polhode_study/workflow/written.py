"""The files written by a run, with sizes and checksums, so that damage is detected when the next run starts.

Every job that succeeds leaves a list of its outputs in ``RESULTS/written``. At the start of a run the files are
compared with these lists. Truncated or changed files are reported, removed and made again, whatever the run was started for.
Nothing outside the folder is removed, wherever a list or a link leads.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from polhode.interface.files import LeadsOut, inside, remove, write_text
from polhode.interface.netcdf import DamagedFile, contents
from polhode.interface.storage import checksums

#: The folder of such lists within the folder of results.
JOBS = "written"
INCOMPLETE = "is not a complete list"


def record(results: str | Path, job: str, outputs: Iterable[str | Path]) -> None:
    """Record size and checksum of the outputs of a job; ``job`` is the name of its list."""
    results = Path(results)
    names = sorted(str(Path(p).absolute().relative_to(results.absolute())) for p in outputs)
    text = json.dumps({"files": checksums(results, names)}, indent=1) + "\n"
    write_text(inside(results, results / JOBS / f"{job}.json"), text)


def forget(results: str | Path, job: str) -> None:
    """Delete the list of a job that begins: if it is killed, some of its files may be new."""
    remove(results, Path(results, JOBS, f"{job}.json"))


class Damage(NamedTuple):
    """A file that is not as written, and the reason."""

    path: Path
    why: str


def damaged(results: str | Path) -> list[Damage]:
    """The files that are not as written, by their checksums, and the lists of such files that cannot be read.

    Raises
    ------
    UnreadableFile
        If the system does not let us read one: nothing is known of it, and it stays.
    """
    results = Path(results)
    broken = [Damage(path, INCOMPLETE) for path in broken_lists(results)]
    faults = ((results / name, _difference(results, results / name, entry)) for name, entry in noted(results).items())
    return broken + [Damage(path, why) for path, why in faults if why]


def broken_lists(results: str | Path) -> list[Path]:
    """Lists of files that cannot be read."""
    return [path for path, files in _lists(Path(results, JOBS)) if files is None]


def noted(results: str | Path) -> dict[str, dict[str, Any]]:
    """Size and checksum of every file named in the lists.

    If several lists name a file, the newest counts: another configuration may divide the work into other jobs.
    """
    entries: dict[str, dict[str, Any]] = {}
    readable = [(path.stat().st_mtime_ns, files) for path, files in _lists(Path(results, JOBS)) if files is not None]
    for _, files in sorted(readable, key=lambda entry: entry[0]):
        entries.update(files)
    return entries


def mend(results: str | Path, dry: bool = False, order: Callable[[Path], bool] = lambda path: True) -> list[str]:
    """Remove damaged files, so that they are made again, or with ``dry`` only look; returns one line about each.

    ``order`` lets the run make a file, whatever it was started for; where it returns False, no rule makes the file, which then
    stays: another configuration has made it, and a run with that one mends it.
    """
    lines = []
    for path, why in damaged(results):
        if why == INCOMPLETE:
            fate = "a run removes it" if dry else "it is removed"
        elif order(path):
            fate = "a run makes it again" if dry else "it is made again"
        else:
            lines.append(f"{path} {why}; it stays, because no rule of this run makes it")
            continue
        try:
            if not dry:
                remove(results, path)
        except LeadsOut as error:
            fate = str(error)
        lines.append(f"{path} {why}; {fate}")
    return lines


def _lists(folder: Path) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    for path in sorted(path for path in folder.rglob("*.json") if not path.is_dir()):
        try:
            files = {
                str(name): {"bytes": int(entry["bytes"]), "sha256": str(entry["sha256"])}
                for name, entry in json.loads(contents(path))["files"].items()
            }
            # What differs from a list is removed, which must not reach beyond the folder.
            yield path, files if all(map(_is_inside, files)) else None
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            yield path, None


def _is_inside(name: str) -> bool:
    """Whether a name can be that of a file in the folder of results."""
    parts = Path(name).parts
    plain = "\0" not in name and all(len(os.fsencode(component)) < 256 for component in parts)
    return plain and bool(parts) and not Path(name).is_absolute() and ".." not in parts


def _difference(results: Path, path: Path, noted: dict[str, Any]) -> str:
    """Why a file differs from the recorded one; empty if it does not, or if it is missing, which Snakemake notices."""
    try:
        inside(results, path)
        data = contents(path)
    except LeadsOut:
        return "is not what was written: it is a link to elsewhere"
    except DamagedFile:
        return ""
    if len(data) != noted["bytes"]:
        return f"is not what was written: {len(data)} bytes instead of {noted['bytes']}"
    if hashlib.sha256(data).hexdigest() != noted["sha256"]:
        return "is not what was written: its checksum does not match"
    return ""
