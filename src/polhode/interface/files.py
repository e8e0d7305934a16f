"""Writing and removing files: whole or not at all, where they are meant to be, and a full disk is called that."""

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def destination(path: str | Path) -> Path:
    """The file that ``path`` names, links followed; it need not exist, and may be a character device such as /dev/null.

    Raises
    ------
    OSError
        If it is neither: a folder, a pipe, a socket, a disk, or a link to itself. Replacing one of these would destroy it.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(path))
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not (stat.S_ISREG(mode) or stat.S_ISCHR(mode)):
        raise OSError(errno.EINVAL, "it is a pipe, a socket or a disk; name a file", str(path))
    return Path(os.path.realpath(path))


class LeadsOut(OSError):
    """Error for a path in a folder that a link leads out of it; the message names both and says what to do."""

    def __init__(self, path: str | Path, place: str | Path, folder: str | Path) -> None:
        super().__init__(
            f"{path} leads out of {folder}, to {place}: nothing is read, written or removed there; remove the link, or put the "
            "files in its place (the folder as a whole may be a link)"
        )


def inside(folder: str | Path, path: str | Path) -> Path:
    """What ``path`` names, links followed; it lies in ``folder``, which may be a link itself.

    Raises
    ------
    LeadsOut
        If it does not.
    """
    place = Path(os.path.realpath(path))
    if not place.is_relative_to(os.path.realpath(folder)):
        raise LeadsOut(path, place, folder)
    return place


def remove(folder: str | Path, path: str | Path) -> None:
    """Remove a file in ``folder``, or a link, but not what it leads to; one that is missing is no error.

    ``path`` includes ``folder``: if it is relative, it is relative to the working directory.

    Raises
    ------
    LeadsOut
        If the folder of ``path``, links followed, is not in ``folder``.
    OSError
        If it is a folder, or may not be removed.
    """
    path = Path(path)
    (inside(folder, path.parent) / path.name).unlink(missing_ok=True)


def write_atomically(path: str | Path, write: Callable[[Path], Any]) -> None:
    """Call ``write`` with a temporary path in the folder of ``path``, then move the file that it has written there into place.

    A reader never sees an incomplete file, even if the run is killed. A link stays, and the file to which it leads is replaced;
    a device receives the bytes. Missing folders are made.

    Raises
    ------
    DiskFull
        If there is no room; the file that was there stays.
    OSError
        If ``path`` may not be replaced (:func:`destination`), or cannot be written.
    """
    path = destination(path)
    if path.exists() and not path.is_file():
        with tempfile.TemporaryDirectory() as folder, full_disk_named(path):
            write(Path(folder, path.name))
            path.write_bytes(Path(folder, path.name).read_bytes())
        return
    with full_disk_named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
        os.close(handle)
        try:
            with full_disk_named(path):
                write(Path(name))
            os.chmod(name, 0o666 & ~_UMASK)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


class DiskFull(OSError):
    """Error for a file that cannot be written because its disk is full, or the user's share of it. The message names both."""

    def __init__(self, path: str | Path) -> None:
        folder = Path(path).parent
        super().__init__(f"{path} cannot be written: {full_disk(folder)}")


def full_disk(folder: str | Path) -> str:
    """What a message says of a disk that is full, or of a full share of it: the folder, the MB that are free, what to do."""
    free = f" ({shutil.disk_usage(folder).free / 1e6:.1f} MB are free)" if Path(folder).is_dir() else ""
    return f"the disk of {folder}, or your share of it, is full{free}; make room, or write to another disk, then start again"


@contextmanager
def full_disk_named(path: str | Path) -> Iterator[None]:
    """Context in which errors of writing that come from a full disk are raised as :class:`DiskFull`, naming ``path``."""
    try:
        yield
    except DiskFull:
        raise
    except (OSError, RuntimeError) as error:
        # The library of netCDF files gives no reason.
        if error.errno in FULL if isinstance(error, OSError) else is_full(Path(path).parent):
            raise DiskFull(path) from error
        raise


#: Errors of the system for a disk that is full, and bytes that are tried where another error was raised.
FULL, TRIED = (errno.ENOSPC, errno.EDQUOT), 65_536


def is_full(folder: str | Path) -> bool:
    """Whether a small file cannot be written into a folder because there is no room; False if for another reason."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(TRIED))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return error.errno in FULL
    return False


_UMASK = os.umask(0)
os.umask(_UMASK)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8, leaving newlines unchanged, as :func:`write_atomically` does; errors are the same."""
    write_atomically(path, lambda p: p.write_text(text, encoding="utf-8", newline="\n"))
