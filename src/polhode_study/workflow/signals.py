"""A study stops when told to: the signals of its head process reach the jobs, and no job outlives that process.

Snakemake itself waits for all running jobs on SIGTERM, and if it is killed its jobs are not told. Here the first signal
(SIGTERM, SIGINT, SIGHUP) ends the jobs, and a second one kills them. A job checks before it begins, and then once a second,
whether its Snakemake still runs. Only the work of running jobs is lost: files are moved into place when complete.
"""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType

import psutil

from polhode_study.workflow.locks import is_alive, say

#: Set for the jobs: id of the process that reads the Snakefile and starts them.
HEAD = "POLHODE_HEAD"
#: Set with it: when that process began, s since 1970, and where its number means something (:func:`_place`).
HEAD_BORN, HEAD_PLACE = "POLHODE_HEAD_BORN", "POLHODE_HEAD_PLACE"
#: Time for jobs to end after SIGTERM before they are killed, and the interval between checks, s.
PATIENCE, INTERVAL = 5.0, 0.3
#: All scripts of rules run from here, which distinguishes jobs from other children, such as those that talk to a scheduler.
_SCRIPTS = os.path.join(".snakemake", "scripts") + os.sep

_signals = 0


def lead() -> None:
    """Make this process the head of the jobs that it will start."""
    os.environ |= marks(os.getpid())


def marks(head: int) -> dict[str, str]:
    """The environment by which jobs know their head process."""
    return {HEAD: str(head), HEAD_BORN: str(psutil.Process(head).create_time()), HEAD_PLACE: _place()}


def _place() -> str:
    """The machine, and on Linux the namespace of process numbers: a container may have its own."""
    space = "/proc/self/ns/pid"
    return f"{socket.gethostname()} {os.readlink(space) if os.path.islink(space) else ''}"


def stop_jobs_on_signals() -> None:
    """Let a signal to this process, the Snakemake in charge, end its jobs and then the run, as Ctrl-C does.

    Call it after Snakemake has set its own handler. A signal that is ignored (``nohup``) remains ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGINT)):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def is_stopping() -> bool:
    """Whether a signal has told this process to stop, so that the end of its jobs is not a failure."""
    return _signals > 0


def _stop(number: int, frame: FrameType | None) -> None:
    global _signals
    _signals += 1
    if _signals == 1:
        say(f"{signal.Signals(number).name}: stopping all jobs; finished work is kept, the same command continues from there")
        threading.Thread(target=_end_jobs, daemon=True).start()
        raise KeyboardInterrupt
    if _signals > 2:
        os._exit(128 + number)


def _end_jobs() -> None:
    """End all jobs, including those that a thread of Snakemake is about to start, until this process itself ends."""
    signalled: dict[psutil.Process, float] = {}
    while True:
        now = time.monotonic()
        for process in jobs():
            since = signalled.setdefault(process, now)
            _signal(process, kill=_signals > 1 or now - since > PATIENCE, again=since != now)
        time.sleep(INTERVAL)


def _signal(process: psutil.Process, kill: bool, again: bool) -> None:
    try:
        if kill:
            process.kill()
        elif not again:
            process.terminate()
    except psutil.Error:
        pass


def jobs() -> Iterator[psutil.Process]:
    """The job processes of this process, parents first.

    The shells that started them are not included and end with them: a job without its shell could no longer be found.
    """
    inside: set[int] = set()
    for process in psutil.Process().children(recursive=True):
        try:
            words = process.cmdline()
            if process.ppid() in inside or ("-c" not in words and any(_SCRIPTS in word for word in words)):
                inside.add(process.pid)
                yield process
        except psutil.Error:
            continue


def end_with_head() -> None:
    """Let this process, a job or its worker, end within about a second after the head process or its own parent has gone."""
    if HEAD not in os.environ or os.environ.get(HEAD_PLACE) != _place():  # by hand, or on another machine than the head
        return
    head, born = int(os.environ[HEAD]), float(os.environ[HEAD_BORN])
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # The head reports for all; a traceback from each job would hide its message.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if not is_alive(head, born):  # it died while this process was starting
        os._exit(1)
    threading.Thread(target=_watch, args=(head, born, os.getppid()), daemon=True).start()


def _watch(head: int, born: float, parent: int) -> None:
    while is_alive(head, born) and os.getppid() == parent:
        time.sleep(1.0)
    for process in psutil.Process().children(recursive=True):
        _signal(process, kill=False, again=False)
    sys.stderr.flush()
    os._exit(1)
