"""What a run has written, with sizes and checksums, so that damage is seen when the next one starts.

Every job that ends well leaves a list of its outputs in ``RESULTS/written``; the batches of cells have their manifests. At the
start of a run the files are held to these lists. What is missing, cut off or changed is removed with a word, so that Snakemake
makes it again: everything in the folder of results can be made again.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from polhode.study.storage import checksums, write_text

#: The folders of such lists in the folder of results: of jobs, and of batches of cells.
JOBS, BATCHES = "written", "batches"


def record(results: str | Path, job: str, outputs: Iterable[str | Path]) -> None:
    """Note size and checksum of the outputs of a job; ``job`` is the name of its list."""
    results = Path(results)
    inside = sorted(str(Path(p).absolute().relative_to(results.absolute())) for p in outputs)
    write_text(results / JOBS / f"{job}.json", json.dumps({"files": checksums(results, inside)}, indent=1) + "\n")


def damaged(results: str | Path) -> list[tuple[Path, str]]:
    """What is not as it was written, with the reason; of a batch its manifest, with what is wrong with a cell.

    Cells, of which there may be many, are looked at by name, size and time here; their checksums are held to the manifest
    where they are read.
    """
    results = Path(results)
    found = []
    for path, files in _lists(results / JOBS):
        if files is None:
            found.append((path, "is not a complete list"))
        for name, noted in (files or {}).items():
            why = _difference(results / name, noted)
            if why:
                found.append((results / name, why))
    for path, files in _lists(results / BATCHES):
        why = "is not a complete list" if files is None else _stale(results, path, files)
        if why:
            found.append((path, why))
    return found


def mend(results: str | Path, dry: bool = False) -> list[str]:
    """Remove what is damaged, so that it is made again, or with ``dry`` only look; returns a line about each."""
    lines = []
    for path, why in damaged(results):
        if not dry:
            path.unlink(missing_ok=True)
        lines.append(f"{path} {why}; {'a run makes it again' if dry else 'it is made again'}")
    return lines


def _lists(folder: Path) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    for path in sorted(folder.rglob("*.json")):
        try:
            yield path, dict(json.loads(path.read_text(encoding="utf-8"))["files"])
        except (OSError, ValueError, TypeError, KeyError):
            yield path, None


def _difference(path: Path, noted: dict[str, Any]) -> str:
    """Why a file is not the one that was noted; empty if it is, or if it is not there at all, which Snakemake sees."""
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
    """What is wrong with the cells of a batch, by their sizes and times; empty if nothing is."""
    made = manifest.stat().st_mtime_ns
    for name, noted in files.items():
        try:
            status = (results / name).stat()
        except OSError:
            return f"lists {name}, which is missing"
        if status.st_size != noted["bytes"] or status.st_mtime_ns > made:
            return f"lists {name}, which was changed since"
    return ""
