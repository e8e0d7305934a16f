"""How far a job is, for the process that watches it: two numbers in a small file beside its log, gone when the job ends.

A file, because a job may run on another machine. It is written at most once a second, it is no result, and a job goes on
where it cannot be written.
"""

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

#: The folder in that of the results, and how often a job writes at most, s.
FOLDER, INTERVAL = "logs/progress", 1.0


def job_name(rule: str, wildcards: Iterable[object]) -> str:
    """What a job is called in the names of files."""
    return "-".join([rule, *map(str, wildcards)])


def place(results: str | Path, job: str) -> Path:
    """The file of a job."""
    return Path(results, FOLDER, f"{job}.txt")


class Meter:
    """Counts what a job has done of ``total`` units of its own, and notes it in the file ``path``."""

    def __init__(self, path: str | Path, total: int) -> None:
        self.path, self.total, self.done = Path(path), total, 0
        self._written = -INTERVAL

    def advance(self, *_ignored: object) -> None:
        """One more is done. It takes any arguments, so that it can be handed on as it is."""
        self.done += 1
        now = time.monotonic()
        if now - self._written >= INTERVAL:
            self._written = now
            with suppress(OSError):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.path.write_text(f"{self.done} {self.total}\n", encoding="ascii")


def fraction(path: str | Path) -> float:
    """How much of a job is done as its file says, from 0 to 1; 0 if there is none."""
    try:
        done, total = map(int, Path(path).read_text(encoding="ascii").split())
        return min(1.0, max(0.0, done / total))
    except (OSError, ValueError, ZeroDivisionError):
        return 0.0


def clear(results: str | Path) -> None:
    """Remove what jobs that were killed have left."""
    folder = Path(results, FOLDER)
    for path in folder.glob("*.txt"):
        with suppress(OSError):
            path.unlink()
    with suppress(OSError):
        folder.rmdir()
