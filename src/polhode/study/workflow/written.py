"""The files written by a run, with sizes and checksums, so that damage is detected when the next run starts.

Every job that succeeds leaves a list of its outputs in ``RESULTS/written``. At the start of a run the files are
compared with these lists. Truncated or changed files are reported and removed, so that Snakemake makes them again, as it does
with missing ones: everything in the folder of results can be made again.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from polhode.interface.netcdf import DamagedFile, contents
from polhode.study.storage import checksums, write_text

#: The folder of such lists within the folder of results.
JOBS = "written"
INCOMPLETE = "is not a complete list"


def record(results: str | Path, job: str, outputs: Iterable[str | Path]) -> None:
    """Record size and checksum of the outputs of a job; ``job`` is the name of its list."""
    results = Path(results)
    inside = sorted(str(Path(p).absolute().relative_to(results.absolute())) for p in outputs)
    write_text(results / JOBS / f"{job}.json", json.dumps({"files": checksums(results, inside)}, indent=1) + "\n")


def forget(results: str | Path, job: str) -> None:
    """Delete the list of a job that begins: if it is killed, some of its files may be new."""
    Path(results, JOBS, f"{job}.json").unlink(missing_ok=True)


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
    faults = ((results / name, _difference(results / name, entry)) for name, entry in noted(results).items())
    return broken + [Damage(path, why) for path, why in faults if why]


def broken_lists(results: str | Path) -> list[Path]:
    """The lists that cannot be read: what they say is not known."""
    return [path for path, files in _lists(Path(results, JOBS)) if files is None]


def noted(results: str | Path) -> dict[str, dict[str, Any]]:
    """Size and checksum of every file named in the lists.

    If several lists name a file, the newest counts: another configuration may divide the work into other jobs.
    """
    entries: dict[str, dict[str, Any]] = {}
    for _, files in sorted(_lists(Path(results, JOBS)), key=lambda entry: entry[0].stat().st_mtime_ns):
        entries.update(files or {})
    return entries


def mend(results: str | Path, dry: bool = False) -> list[str]:
    """Remove damaged files, so that they are made again, or with ``dry`` only look; returns one line about each."""
    lines = []
    for path, why in damaged(results):
        if not dry and not path.is_dir():
            path.unlink(missing_ok=True)
        lines.append(f"{path} {why}; {'a run makes it again' if dry else 'it is made again'}")
    return lines


def _lists(folder: Path) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    for path in sorted(folder.rglob("*.json")):
        try:
            files = {
                str(name): {"bytes": int(entry["bytes"]), "sha256": str(entry["sha256"])}
                for name, entry in json.loads(path.read_text(encoding="utf-8"))["files"].items()
            }
            # What differs from a list is removed, which must not reach beyond the folder.
            yield path, files if all(map(_is_inside, files)) else None
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            yield path, None


def _is_inside(name: str) -> bool:
    """Whether a name can be that of a file in the folder of results."""
    parts = Path(name).parts
    plain = "\0" not in name and all(len(os.fsencode(component)) < 256 for component in parts)
    return plain and bool(parts) and not Path(name).is_absolute() and ".." not in parts


def _difference(path: Path, noted: dict[str, Any]) -> str:
    """Why a file differs from the recorded one; empty if it does not, or if it is missing, which Snakemake notices."""
    try:
        data = contents(path)
    except DamagedFile:
        return ""
    if len(data) != noted["bytes"]:
        return f"is not what was written: {len(data)} bytes instead of {noted['bytes']}"
    if hashlib.sha256(data).hexdigest() != noted["sha256"]:
        return "is not what was written: its checksum does not match"
    return ""
