"""The folder in which compiled code is kept.

The folder is ``POLHODE_CACHE_DIR`` if that is set (empty: no cache), otherwise the user's: ``polhode`` in ``XDG_CACHE_HOME``
or ``~/.cache``, ``~/Library/Caches`` on macOS, ``LOCALAPPDATA`` on Windows. Entries contain machine code, which is executed as
found. Therefore a folder or an entry that belongs to somebody else (other than root), or that others can write to, is
ignored with a warning, and the code is compiled and not kept. Only the user can read and write what is created here.
"""

import os
import sys
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path


def folder() -> Path | None:
    """The path of the folder of compiled code, or None if there is none or it is not safe."""
    place = _chosen_folder()
    return place if place is not None and is_safe(place) else None


def is_safe(path: Path) -> bool:
    """Whether only the user (and root) can have written this file or folder; a missing one is safe, and any on Windows.

    Each unsafe one is reported by a warning, once.
    """
    if not hasattr(os, "geteuid"):  # on Windows a user's folder is closed to others
        return True
    try:
        status = path.stat()
    except OSError:
        return True
    return is_ours(status, path)


def is_ours(status: os.stat_result, path: Path) -> bool:
    """Whether only the user (and root) can have written the file or folder ``path``, which has this status.

    It belongs to one of the two, and its mode lets nobody else write to it; on Windows always True. If not, a warning says why.
    """
    if not hasattr(os, "geteuid"):
        return True
    user = os.geteuid()
    if status.st_uid not in (user, 0):
        reason, remedy = f"belongs to user {status.st_uid} and not to {user}", "name a folder of your own"
    elif status.st_mode & 0o022:
        reason, remedy = "can be written to by others", f"close it (chmod go-w '{path}') or name a folder of your own"
    else:
        return True
    warn(
        f"{path} {reason}. It may hold machine code that somebody else put there, so it is not used, and code is compiled "
        f"again; {remedy} in POLHODE_CACHE_DIR (empty: keep nothing)"
    )
    return False


@cache
def warn(message: str) -> None:
    """Issue a warning once per process."""
    warnings.warn(message, RuntimeWarning, stacklevel=2)


def make(place: Path) -> None:
    """Create a folder and its parents, accessible to the user alone."""
    if not place.is_dir():
        make(place.parent)
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)


def _chosen_folder() -> Path | None:
    chosen = os.environ.get("POLHODE_CACHE_DIR")
    if chosen is not None:
        return Path(chosen).expanduser() if chosen.strip() else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return Path(base) / "polhode" / "cache" if base else None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not Path(base).is_absolute():
        try:
            home = Path.home()
        except RuntimeError:
            return None
        base = str(home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache")
    return Path(base) / "polhode"
