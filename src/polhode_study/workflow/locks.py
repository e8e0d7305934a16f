"""One run at a time in a folder of results, and cleaning up after a run that was killed.

Snakemake's own lock, in its working directory, notices neither a second checkout that writes to the same results, nor whether
the process that holds it is still alive. Therefore the profiles switch it off, and a run holds a lock in the results: the
system releases it when the process ends, for whatever reason. A file found there without a holder is stale and can be removed.
"""

import argparse
import atexit
import errno
import getpass
import json
import os
import re
import shutil
import socket
import stat
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import psutil

from polhode.interface.files import full_disk_named, remove
from polhode.interface.storage import check_folder

try:
    import fcntl
except ImportError:  # Windows has no such lock
    fcntl = None  # type: ignore[assignment]

#: The lock file of a folder of results: its holder, as JSON. It exists only during a run, and after a run that was killed.
NAME = ".lock"
#: Prefix of the name of the folder in which LaTeX runs.
BUILD = ".typeset."
#: Temporary files of :func:`polhode.interface.storage.write_atomically`.
TEMPORARY = re.compile(r"\.(?P<name>.+)\.[a-z0-9_]{8}(?P<suffix>\.[^.]*)?")

_held: dict[Path, int] = {}


class LockedError(RuntimeError):
    """Error for results that are in use by another run; the message says which, and what to do."""


#: Requests to Snakemake that start no run; all of them read the Snakefile.
_QUESTIONS = frozenset(
    """archive cleanup_metadata cleanup_shadow conda_cleanup_envs conda_create_envs_only container_cleanup_images containerize
    d3dag dag delete_all_output delete_temp_output detailed_summary dryrun filegraph generate_unit_tests lint list_changes
    list_conda_envs list_input_changes list_params_changes list_rules list_target_rules list_untracked print_compilation report
    rulegraph summary touch unlock""".split()  # noqa: SIM905
)


def will_run(workflow: Any) -> bool:
    """Whether the Snakemake that reads the Snakefile was told by its command line to run jobs and is not itself a job.

    The object ``workflow`` does not know it so early (Snakemake's issue 2948): the arguments are those that Snakemake works
    with meanwhile, or else the command line is read again, for which all plug-ins of Snakemake make their options a third
    time. If Snakemake is driven by another program, it is known only in ``onstart``.
    """
    if not workflow.is_main_process or Path(sys.argv[0]).name not in ("snakemake", "__main__.py"):
        return False
    args = _arguments_of_snakemake()
    if args is None:
        from snakemake.cli import get_argument_parser

        args, _ = get_argument_parser().parse_known_args(sys.argv[1:])
    return not any(getattr(args, name, None) for name in _QUESTIONS)


def _arguments_of_snakemake() -> argparse.Namespace | None:
    """The arguments in the frame of Snakemake's function ``args_to_api``, which called what reads the Snakefile."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        args = frame.f_locals.get("args") if frame.f_code.co_name == "args_to_api" else None
        if isinstance(args, argparse.Namespace) and hasattr(args, "dryrun"):
            return args
        frame = frame.f_back
    return None


def begin(results: str | Path) -> None:
    """Take the lock of ``results`` for this process until it ends, and clean up after a run that was killed.

    Raises
    ------
    LockedError
        If another run holds it.
    OSError, UnreadableFile
        If the folder cannot be written to, or if it is not safe to (:func:`polhode.interface.storage.check_folder`).
    """
    results = Path(results).absolute()
    if results / NAME in _held:
        return
    check_folder(results)
    with full_disk_named(results / NAME):
        left = take(results)
    swept = sweep(results)
    if left:
        who = f"process {left['pid']}, since {left['since']}"
        say(f"the last run in {results} was killed ({who}); its lock is removed, and what it has finished is kept")
    if swept:
        say(f"removed from {results} what killed jobs had begun to write: {len(swept)} temporary file{'s'[: len(swept) - 1]}")


def say(message: str) -> None:
    """Print a line on the terminal."""
    print(f"polhode: {message}", file=sys.stderr, flush=True)


def take(results: Path) -> dict[str, Any] | None:
    """Lock a folder, creating it if needed; returns the lock entry left by a killed run, None after an orderly end."""
    results.mkdir(parents=True, exist_ok=True)
    path = results / NAME
    if fcntl is None or path in _held:
        return None
    while True:
        handle = _opened(path)
        try:
            ours = _lock(handle)
            holder = _read(handle)
            # Between opening and locking, an orderly end may have removed the file.
            if ours and not _is(handle, path):
                os.close(handle)
                continue
            if not ours or (holder is not None and _may_live(holder)):
                raise LockedError(_refusal(results, holder, certain=not ours))
        except BaseException:
            os.close(handle)
            raise
        break
    os.ftruncate(handle, 0)
    os.pwrite(handle, (json.dumps(_us(), indent=1) + "\n").encode(), 0)
    _held[path] = handle
    atexit.register(_release, path, os.getpid())
    return holder


def _opened(path: Path) -> int:
    """The lock file, which is made if needed, open for writing: a file of its own, no link to another one."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise
    else:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and status.st_nlink < 2:
            return handle
        os.close(handle)
    raise LockedError(f"{path} is no lock of a run, but a link, a folder or a pipe; move it away and start again")


def _lock(handle: int) -> bool:
    """Request the lock from the system; False if another process has it. A file system without locks grants all requests."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


def _is(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False


def _read(handle: int) -> dict[str, Any] | None:
    try:
        holder = json.loads(os.pread(handle, 10_000, 0))
        return holder if {"host", "pid", "since", "user", "folder", "born"} <= set(holder) else None
    except (ValueError, TypeError):
        return None


def _us() -> dict[str, Any]:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "born": psutil.Process().create_time(),
        "user": user,
        "since": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
        "folder": os.getcwd(),
    }


def _may_live(holder: dict[str, Any]) -> bool:
    """Whether the process that wrote the lock may still run although the system gave the lock to us.

    Some network file systems keep locks only within one machine, others not at all.
    """
    return holder["host"] != socket.gethostname() or is_alive(holder["pid"], holder["born"])


def is_alive(pid: int, born: float | None = None) -> bool:
    """Whether a process runs, excluding another process with the same number and a zombie."""
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and (born is None or abs(process.create_time() - born) < 2)
    except psutil.Error:
        return False


def _refusal(results: Path, holder: dict[str, Any] | None, certain: bool) -> str:
    if holder is None:
        return f"the results folder {results} is locked by another run that is just starting; try again in a moment"
    pid, host = holder["pid"], holder["host"]
    text = (
        f"the results folder {results} is in use: process {pid} of {holder['user']} on {host} has been writing to it since "
        f"{holder['since']} (started in {holder['folder']}). Wait until it ends, stop it (kill {pid}), or give this run a "
        "folder of its own (--config results=FOLDER)"
    )
    if not certain and host != socket.gethostname():
        remedy = f"remove the lock and start again: rm '{results / NAME}'"
        text += f". If that process no longer runs (on {host}: ps -p {pid}), {remedy}"
    return text


def _release(path: Path, owner: int) -> None:
    handle = _held.pop(path, None)
    if handle is not None and os.getpid() == owner:
        with suppress(OSError):
            path.unlink()
        os.close(handle)


def sweep(results: Path, now: float | None = None) -> list[Path]:
    """Remove the temporary files of killed writes that are older than this moment; returns their paths.

    The caller must hold the lock of ``results``, before jobs run or after all have ended.
    """
    now = time.time() if now is None else now
    removed = []
    for folder in results.glob(f"{BUILD}????????"):
        if folder.is_dir() and not folder.is_symlink() and folder.stat().st_mtime <= now:
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
    for where, _folders, names in os.walk(results):
        for name in names:
            match = name.startswith(".") and TEMPORARY.fullmatch(name)
            if not match or Path(match["name"]).suffix != (match["suffix"] or ""):
                continue
            path = Path(where, name)
            with suppress(OSError):
                if path.is_file() and not path.is_symlink() and path.stat().st_mtime <= now:
                    remove(results, path)
                    removed.append(path)
    return removed
