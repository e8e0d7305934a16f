"""Where a result comes from: code, configuration, versions, machine, what each rule cost, and what the run left.

Beside the files of the cost study, the one it makes is the only one of a run that holds times. It is made last and holds the
checksum of every other file, so that a run can be told to be finished, and unchanged since.
"""

import hashlib
import json
import os
import platform
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Any

import llvmlite.binding

import polhode
from polhode.study.configuration import Study

#: The file of a run.
NAME = "provenance.json"
#: What it must hold to serve an archive or a comparison.
NEEDED = {
    "commit": str,
    "commit_time": int,
    "configuration": dict,
    "ended": str,
    "family": str,
    "files": dict,
    "lock_sha256": str,
    "processor": str,
    "python": str,
    "started": str,
    "version": str,
    "versions": dict,
}


class Unusable(ValueError):
    """A run, an archive or a manifest cannot be used as it is; the message names the file, the reason and what to do."""


def sha256(path: str | Path) -> str:
    """The SHA-256 of a file, as hexadecimal digits."""
    with open(path, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def commit(home: Path) -> dict[str, Any]:
    """The commit of the checkout, its time (s since the epoch), whether tracked files were changed; unknown outside git."""

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(home), *arguments], check=True, capture_output=True, text=True, timeout=20
        ).stdout.strip()

    try:
        return {
            "commit": git("rev-parse", "HEAD"),
            "commit_time": int(git("log", "-1", "--format=%ct")),
            "dirty": bool(git("status", "--porcelain", "--untracked-files=no")),
        }
    except (OSError, subprocess.SubprocessError, ValueError):
        return {"commit": "unknown", "commit_time": 0, "dirty": None}


def processor() -> str:
    """The name of the processor, as far as the system tells."""
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found.group(1) if found else platform.processor() or "unknown"


def family() -> str:
    """The family of processors on which the same versions give the same bits: the instruction set and LLVM's name for it."""
    return f"{platform.machine()} {llvmlite.binding.get_host_cpu_name()}"


def host() -> dict[str, str]:
    """The machine and the versions that a measured time belongs to."""
    return {
        "cpu": processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in ("numba", "llvmlite", "numpy")},
    }


def rule_costs(folder: Path) -> dict[str, dict[str, float]]:
    """Jobs, wall and CPU seconds per rule, summed over the benchmark files."""
    costs: dict[str, dict[str, float]] = defaultdict(lambda: {"jobs": 0, "wall_seconds": 0.0, "cpu_seconds": 0.0})
    for path in sorted((folder / "benchmarks").rglob("*.tsv")):
        header, *rows = (line.split("\t") for line in path.read_text().splitlines())
        for row in rows:
            values = dict(zip(header, row, strict=True))
            cost = costs[path.relative_to(folder / "benchmarks").parts[0].removesuffix(".tsv")]
            cost["jobs"] += 1
            cost["wall_seconds"] += float(values["s"])
            cpu = values.get("cpu_time", "NA")
            cost["cpu_seconds"] += float(cpu) if re.fullmatch(r"[\d.]+", cpu) else 0.0
    return {name: {k: round(v, 3) for k, v in cost.items()} for name, cost in sorted(costs.items())}


def period(folder: Path) -> tuple[str, str]:
    """When the oldest job began that has a benchmark file, and now; ISO 8601, UTC."""
    now = datetime.now(UTC).timestamp()
    began = now
    for path in (folder / "benchmarks").rglob("*.tsv"):
        values = [line.split("\t") for line in path.read_text().splitlines()]
        if len(values) > 1 and re.fullmatch(r"[\d.]+", values[-1][0]):
            began = min(began, path.stat().st_mtime - float(values[-1][0]))
    first, last = (datetime.fromtimestamp(t, UTC).isoformat(timespec="seconds") for t in (began, now))
    return first, last


def provenance(study: Study, home: Path, folder: Path, files: Iterable[str | Path] = ()) -> dict[str, Any]:
    """Everything :mod:`polhode.study.provenance` is about, ready for JSON.

    Parameters
    ----------
    study : the configuration
    home : the checkout
    folder : the results
    files : those that the run left for others to read; their checksums are kept
    """
    lock = home / "requirements.txt"
    started, ended = period(folder)
    return {
        **commit(home),
        "version": polhode.__version__,
        "configuration": json.loads(study.json),
        "lock_sha256": sha256(lock) if lock.is_file() else "unknown",
        "plugins": {p.name: sha256(p) for p in study.plugins},
        "python": platform.python_version(),
        "versions": {d.name: d.version for d in sorted(distributions(), key=lambda d: d.name.lower())},
        "platform": platform.platform(),
        "processor": processor(),
        "family": family(),
        "cores": os.cpu_count(),
        "started": started,
        "ended": ended,
        "note": "Data files are bit-identical between runs on one processor family with one version of Numba and LLVM.",
        "rules": rule_costs(folder),
        "files": {name: sha256(folder / name) for name in sorted(str(Path(p).relative_to(folder)) for p in files)},
    }


def read_provenance(folder: Path) -> dict[str, Any]:
    """The provenance.json of a finished run.

    Raises
    ------
    Unusable
        If there is none, because the run is not finished, or it is damaged.
    """
    path = folder / NAME
    again = "run ./reproduce again"
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Unusable(f"{path} is missing, so the run is not finished: it is made last; {again}") from None
    except (OSError, ValueError) as error:
        raise Unusable(f"{path} is damaged ({error}); delete it and {again}") from None
    wrong = [key for key, kind in NEEDED.items() if not isinstance(found, dict) or not isinstance(found.get(key), kind)]
    if wrong:
        raise Unusable(f"{path} lacks {', '.join(wrong)}: it is damaged, or of an older version; delete it and {again}")
    return found


def to_json(value: dict[str, Any]) -> str:
    """Indented JSON with sorted keys."""
    return json.dumps(value, indent=2, sort_keys=True) + "\n"
