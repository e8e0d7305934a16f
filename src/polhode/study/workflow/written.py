"""The files written by a run, with sizes and checksums, so that damage is detected when the next run starts.

Every job that succeeds leaves a list of its outputs in ``RESULTS/written``; batches of cells have their manifests. At the start
of a run the files are compared with these lists. Missing, truncated or changed files are reported and removed, so that
Snakemake makes them again: everything in the folder of results can be made again.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from polhode.study.storage import checksums, write_text

#: The folders of such lists within the folder of results: those of jobs, and those of batches of cells.
JOBS, BATCHES = "written", "batches"


def record(results: str | Path, job: str, outputs: Iterable[str | Path]) -> None:
    """Record size and checksum of the outputs of a job; ``job`` is the name of its list."""
    results = Path(results)
    inside = sorted(str(Path(p).absolute().relative_to(results.absolute())) for p in outputs)
    write_text(results / JOBS / f"{job}.json", json.dumps({"files": checksums(results, inside)}, indent=1) + "\n")


def damaged(results: str | Path) -> list[tuple[Path, str]]:
    """The files that are not as written, with the reason; for a batch its manifest, with the fault of a cell.

    Cells may be numerous, so they are compared by name, size and time; their checksums are compared with the manifest where
    they are read.
    """
    results = Path(results)
    found = []
    found += [(path, "is not a complete list") for path, files in _lists(results / JOBS) if files is None]
    batches = list(_lists(results / BATCHES))
    # Earlier versions listed runs of many bodies with the outputs of their jobs; now they are in manifests.
    listed = {name for _, files in batches for name in files or ()}
    for name, entry in noted(results, JOBS).items():
        why = "" if name in listed else _difference(results / name, entry)
        if why:
            found.append((results / name, why))
    for path, files in batches:
        why = "is not a complete list" if files is None else _stale(results, path, files)
        if why:
            found.append((path, why))
    return found


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
    for path, why in damaged(results):
        if not dry and not path.is_dir():
            path.unlink(missing_ok=True)
        lines.append(f"{path} {why}; {'a run makes it again' if dry else 'it is made again'}")
    return lines


def _lists(folder: Path) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    for path in sorted(folder.rglob("*.json")):
        try:
            files = dict(json.loads(path.read_text(encoding="utf-8"))["files"])
            # What differs from a list is removed, which must not reach beyond the folder.
            whole = all(
                isinstance(entry["bytes"], int) and isinstance(entry["sha256"], str) and _is_inside(name)
                for name, entry in files.items()
            )
            yield path, files if whole else None
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            yield path, None


def _is_inside(name: str) -> bool:
    """Whether a name can be that of a file in the folder of results."""
    parts = Path(name).parts
    plain = "\0" not in name and all(len(os.fsencode(part)) < 256 for part in parts)
    return plain and bool(parts) and not Path(name).is_absolute() and ".." not in parts


def _difference(path: Path, noted: dict[str, Any]) -> str:
    """Why a file differs from the recorded one; empty if it does not, or if it is missing, which Snakemake notices."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"cannot be read ({error})"
    if len(data) != noted["bytes"]:
        return f"is not what was written: {len(data)} bytes instead of {noted['bytes']}"
    if hashlib.sha256(data).hexdigest() != noted["sha256"]:
        return "is not what was written: its checksum does not match"
    return ""


def _stale(results: Path, manifest: Path, files: dict[str, Any]) -> str:
    """The fault of the cells of a batch, judged by size and time; empty if there is none."""
    made = manifest.stat().st_mtime_ns
    for name, noted in files.items():
        try:
            status = (results / name).stat()
        except OSError:
            return f"lists {name}, which is missing"
        if status.st_size != noted["bytes"] or status.st_mtime_ns > made:
            return f"lists {name}, which was changed since"
    return ""
