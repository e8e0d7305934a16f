"""Provenance of a result: code, configuration, versions, machine, cost of each rule, and the files left by the run.

Apart from the files of the cost study, provenance.json is the only file of a run that contains times. It is made last and holds
the checksum of every other file, so that one can tell whether a run is finished and unchanged.
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

import polhode
from polhode.interface.netcdf import UnreadableFile, check_regular

#: Name of the provenance file of a run.
NAME = "provenance.json"
#: Entries required for an archive or a comparison.
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
    """Error for a run, archive or manifest that cannot be used; the message names the file, the reason and what to do."""


def sha256(path: str | Path) -> str:
    """The SHA-256 of a file, as a string of hexadecimal digits; raises UnreadableFile if the system does not let us read it."""
    try:
        check_regular(path)
        with open(path, "rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnreadableFile(path, error) from error


def commit(home: Path) -> dict[str, Any]:
    """The commit of the checkout, its time (s since the epoch) and whether tracked files were changed; unknown outside git."""

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
    """The name of the processor, as far as the system reports it."""
    try:
        match = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
    except OSError:
        match = None
    return match.group(1) if match else platform.processor() or "unknown"


def family() -> str:
    """The processor family within which equal versions give equal bits: instruction set and LLVM's processor name."""
    import llvmlite.binding  # imported here because the report asks for the commit alone

    return f"{platform.machine()} {llvmlite.binding.get_host_cpu_name()}"


def host() -> dict[str, str]:
    """The machine and the software versions to which a measured time belongs."""
    return {
        "cpu": processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: version(name) for name in ("numba", "llvmlite", "numpy")},
    }


def rule_costs(folder: Path) -> dict[str, dict[str, float]]:
    """Number of jobs, wall time and CPU time (s) of each rule, summed over the benchmark files."""
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
    """The start of the oldest job that has a benchmark file, and the present time; ISO 8601, UTC."""
    now = datetime.now(UTC).timestamp()
    began = now
    for path in (folder / "benchmarks").rglob("*.tsv"):
        values = [line.split("\t") for line in path.read_text().splitlines()]
        if len(values) > 1 and re.fullmatch(r"[\d.]+", values[-1][0]):
            began = min(began, path.stat().st_mtime - float(values[-1][0]))
    first, last = (datetime.fromtimestamp(t, UTC).isoformat(timespec="seconds") for t in (began, now))
    return first, last


def provenance(
    configuration: str,
    plugins: Iterable[Path],
    home: Path,
    folder: Path,
    files: Iterable[str | Path] = (),
    release: str = "",
) -> dict[str, Any]:
    """The provenance of a run, ready for JSON.

    Parameters
    ----------
    configuration : resolved, as JSON (``Study.json``)
    plugins : the files of the user's methods, problems and scenes
    home : the checkout
    folder : the results
    files : the files left for readers; their checksums are stored
    release : commit of the release that further experiments were taken from; empty if everything was computed
    """
    lock = home / "requirements.txt"
    started, ended = period(folder)
    return {
        **commit(home),
        "version": polhode.__version__,
        "configuration": json.loads(configuration),
        "release": release,
        "lock_sha256": sha256(lock) if lock.is_file() else "unknown",
        "plugins": {p.name: sha256(p) for p in plugins},
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
        If the file does not exist, because the run is not finished, or is damaged.
    """
    path = folder / NAME
    again = "run ./reproduce again"
    try:
        check_regular(path)
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Unusable(f"{path} is missing, so the run is not finished: it is made last; {again}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise Unusable(f"{path} is damaged ({error}); delete it and {again}") from None
    wrong = [key for key, kind in NEEDED.items() if not isinstance(content, dict) or not isinstance(content.get(key), kind)]
    if not wrong and not all(isinstance(x, str) for key in ("files", "versions") for x in content[key].values()):
        wrong = ["a text for each of its files and versions"]
    if wrong:
        raise Unusable(f"{path} lacks {', '.join(wrong)}: it is damaged, or of an older version; delete it and {again}")
    return content


def to_json(value: dict[str, Any]) -> str:
    """The value as indented JSON with sorted keys."""
    return json.dumps(value, indent=2, sort_keys=True) + "\n"
