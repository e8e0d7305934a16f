"""The files written by a run, with sizes and checksums, so that damage is detected when the next run starts.

Every job that succeeds leaves a list of its outputs in ``RESULTS/written``; batches of runs have their manifests. At the start
of a run the files are compared with these lists. Missing, truncated or changed files are reported and removed, so that
Snakemake makes them again: everything in the folder of results can be made again.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from polhode.study.storage import DamagedFile, checksums, contents, write_text

#: The folders of such lists within the folder of results: those of jobs, and those of batches of cells.
JOBS, BATCHES = "written", "batches"
INCOMPLETE = "is not a complete list"


def record(results: str | Path, job: str, outputs: Iterable[str | Path]) -> None:
    """Record size and checksum of the outputs of a job; ``job`` is the name of its list."""
    results = Path(results)
    inside = sorted(str(Path(p).absolute().relative_to(results.absolute())) for p in outputs)
    write_text(results / JOBS / f"{job}.json", json.dumps({"files": checksums(results, inside)}, indent=1) + "\n")


class Damage(NamedTuple):
    """A file that is not as written, the reason, and what must go so that it is made again.

    For a batch the file is its manifest, the reason the fault of one of its runs, and what must go also every run at fault.
    """

    path: Path
    why: str
    remove: tuple[Path, ...]


def damaged(results: str | Path) -> list[Damage]:
    """The files that are not as written, by their checksums; 18,700 single runs of 107 MB take a second of CPU time.

    Raises
    ------
    UnreadableFile
        If the system does not let us read one: nothing is known of it, and it stays.
    """
    results = Path(results)
    damages = [Damage(path, INCOMPLETE, (path,)) for path in broken_lists(results, JOBS)]
    batches = list(_lists(results / BATCHES))
    # Earlier versions listed runs of many bodies with the outputs of their jobs; now they are in manifests.
    listed = {name for _, files in batches for name in files or ()}
    for name, entry in noted(results, JOBS).items():
        why = "" if name in listed else _difference(results / name, entry)
        if why:
            damages.append(Damage(results / name, why, (results / name,)))
    for path, files in batches:
        faults = {} if files is None else _faults(results, files)
        if files is None or faults:
            why = next((f"lists {name}, which {fault}" for name, fault in faults.items()), INCOMPLETE)
            damages.append(Damage(path, why, (path, *(results / name for name in faults))))
    return damages


def broken_lists(results: str | Path, *folders: str) -> list[Path]:
    """The lists in ``folders`` that cannot be read: what they say is not known."""
    return [path for folder in folders for path, files in _lists(Path(results, folder)) if files is None]


def noted(results: str | Path, *folders: str) -> dict[str, dict[str, Any]]:
    """Size and checksum of every file named in the lists in ``folders`` (:data:`JOBS`, :data:`BATCHES`).

    If several lists name a file, the newest counts: another configuration may divide the work into other jobs.
    """
    found: dict[str, dict[str, Any]] = {}
    lists = [entry for folder in folders for entry in _lists(Path(results, folder))]
    for _, files in sorted(lists, key=lambda entry: entry[0].stat().st_mtime_ns):
        found.update(files or {})
    return found


def mend(results: str | Path, dry: bool = False) -> list[str]:
    """Remove damaged files, so that they are made again, or with ``dry`` only look; returns one line about each."""
    lines = []
    for path, why, remove in damaged(results):
        for file in () if dry else remove:
            if not file.is_dir():
                file.unlink(missing_ok=True)
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
    plain = "\0" not in name and all(len(os.fsencode(part)) < 256 for part in parts)
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


def _faults(results: Path, files: dict[str, Any]) -> dict[str, str]:
    """What is wrong with the runs of a batch, by name; a missing one is a fault too, since Snakemake does not know it."""
    why = {
        name: _difference(results / name, entry) if (results / name).is_file() else "is missing"
        for name, entry in files.items()
    }
    return {name: text for name, text in why.items() if text}
