"""Progress of a job for the process that watches it: two numbers in a small file, deleted when the job ends.

A file is used because a job may run on another machine. It is written at most once a second, is not a result, and if it cannot
be written the job continues.
"""

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from polhode.interface.files import remove

#: The folder within that of the results, and the shortest interval between writes of a job, s.
FOLDER, INTERVAL = "logs/progress", 1.0


def job_name(rule: str, wildcards: Iterable[object]) -> str:
    """The name of a job in file names."""
    return "-".join([rule, *map(str, wildcards)])


def place(results: str | Path, job: str) -> Path:
    """The path of a job's file."""
    return Path(results, FOLDER, f"{job}.txt")


class Meter:
    """A counter of the units of work done by a job out of ``total``, recorded in the file ``path``."""

    def __init__(self, path: str | Path, total: int) -> None:
        self.path, self.total, self.done = Path(path), total, 0
        self._written = -INTERVAL

    def advance(self, *_ignored: object) -> None:
        """Count one more unit. Arguments are ignored, so that the method can serve as a callback."""
        self.done += 1
        now = time.monotonic()
        if now - self._written >= INTERVAL:
            self._written = now
            with suppress(OSError):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.path.write_text(f"{self.done} {self.total}\n", encoding="ascii")


def fraction(path: str | Path) -> float:
    """The completed fraction of a job according to its file, from 0 to 1; 0 if there is no file."""
    try:
        done, total = map(int, Path(path).read_text(encoding="ascii").split())
        return min(1.0, max(0.0, done / total))
    except (OSError, ValueError, ZeroDivisionError):
        return 0.0


def clear(results: str | Path) -> None:
    """Remove the files left by killed jobs."""
    folder = Path(results, FOLDER)
    for path in folder.glob("*.txt"):
        with suppress(OSError):
            remove(results, path)
    with suppress(OSError):
        folder.rmdir()
