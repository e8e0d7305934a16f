"""Where a result comes from: code, configuration, versions, machine, and what each rule cost.

Beside the files of the cost study, the one it makes is the only one of a run that holds times.
"""

import hashlib
import json
import os
import platform
import re
import subprocess
from collections import defaultdict
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Any

from polhode.study.configuration import Study


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


def provenance(study: Study, home: Path, folder: Path) -> dict[str, Any]:
    """Everything :mod:`polhode.study.provenance` is about, ready for JSON."""
    lock = home / "requirements.txt"
    return {
        **commit(home),
        "configuration": study.resolved,
        "lock_sha256": hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else "unknown",
        "plugins": {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in study.plugins},
        "python": platform.python_version(),
        "versions": {d.name: d.version for d in sorted(distributions(), key=lambda d: d.name.lower())},
        "platform": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "note": "Data files are bit-identical between runs on one processor family with one version of Numba and LLVM.",
        "rules": rule_costs(folder),
    }


def to_json(value: dict[str, Any]) -> str:
    """Indented JSON with sorted keys."""
    return json.dumps(value, indent=2, sort_keys=True) + "\n"
