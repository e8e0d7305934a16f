"""Entry point of every script of the workflow: the study of the run, with all output redirected to the rule's log.

A job that succeeds leaves a list of the files it wrote (:mod:`polhode_study.workflow.written`); one that fails leaves a note
with the reason, which the workflow repeats at the end (:func:`failures`).
"""

import gc
import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from polhode.interface.files import FULL, DiskFull, destination, inside, remove, write_text
from polhode.interface.netcdf import DamagedFile
from polhode_study.workflow import signals, written

if TYPE_CHECKING:
    from polhode_study.configuration import Study

#: The folder of the Snakefile. Scripts run with its src on their path.
HOME = Path(__file__).resolve().parents[3]
#: Folder for the notes of failed jobs, in the folder of results.
FAILED = "logs/failed"
#: Exit status of a job that failed because the disk is full: then the note and the log may be missing.
DISK_FULL = 28
#: Set to its process id by a head process with a progress display, which itself reports the failures of its jobs.
WATCHED = "POLHODE_WATCHED"


def share_library() -> None:
    """Let the processes started by the workflow find this library, installed or not.

    Raises
    ------
    ConfigurationError
        If Snakemake cannot work with the path of the checkout.
    """
    unusable = sorted(set(str(HOME)) & set("{}\\" + os.pathsep))
    if unusable and os.name == "posix":
        from polhode.interface.reading import ConfigurationError

        raise ConfigurationError(
            f"the path of the checkout, {HOME}, contains {' '.join(unusable)}: Snakemake writes paths of programs and scripts "
            "into lists and templates, where a colon, brace or backslash means something; move or rename the folder"
        )
    paths = [str(HOME / "src"), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


@contextmanager
def study_of(snakemake: Any) -> "Iterator[Study]":
    """A job as in :func:`job_of`, with the study of the run to which it belongs."""
    with job_of(snakemake):
        from polhode_study.configuration import resolve  # imported here because jobs that need no study need no compiler

        yield resolve(snakemake.config, HOME, checked=True)  # checked by the Snakefile


@contextmanager
def library_of(snakemake: Any) -> Iterator[None]:
    """A job as in :func:`job_of`, with the user's plug-ins in the library."""
    with job_of(snakemake):
        from polhode.manybody.forces import FORCES
        from polhode.manybody.scenes import SCENES
        from polhode.methods import METHODS
        from polhode.problems import PROBLEMS
        from polhode.registry import load_file

        for path in snakemake.config["plugins"]:
            load_file(path, (METHODS, PROBLEMS, SCENES, FORCES))
        yield


@contextmanager
def job_of(snakemake: Any) -> Iterator[None]:
    """A job of the workflow: output and a traceback go to its log.

    A failure is noted for the head process, which reports it at once and again at the end of the run. If no head process is
    near, as on a node of a cluster, it is printed too. A script without a log was started by hand
    (:mod:`polhode_study.by_hand`): it prints to the terminal, and errors are raised where they occur.
    """
    job = job_name(snakemake.rule, snakemake.wildcards)
    results = Path(snakemake.config["results"])
    for path in (*snakemake.output, *snakemake.log):
        inside(results, path)
    written.forget(results, job)
    if signals.HEAD in os.environ:
        # What is imported by now lives until the job ends; so does most of what survives two collections.
        gc.freeze()
        gc.set_threshold(700, 10, 1000)
    if not snakemake.log:
        yield
        written.record(results, job, snakemake.output)
        return
    signals.end_with_head()
    note = results / FAILED / f"{job}.txt"
    remove(results, note)
    with _log(snakemake.log[0]) as log, redirect_stdout(log), redirect_stderr(log):
        try:
            yield
            written.record(results, job, snakemake.output)
        except Exception as error:
            if isinstance(error, OSError) and error.errno in FULL:
                error = DiskFull(error.filename or snakemake.log[0])
            with suppress(OSError):
                print(error) if isinstance(error, DiskFull) else traceback.print_exc()
            # Our own messages are complete sentences; for others the type is half of the information.
            ours = type(error) in (ValueError, RuntimeError) or type(error).__module__.startswith("polhode")
            text = f"{'' if ours else f'{type(error).__name__}: '}{error}\n    log: {snakemake.log[0]}"
            about = "".join(f", {name} {value}" for name, value in snakemake.wildcards.items())
            lines = f"rule {snakemake.rule}{about}: {text}"
            with suppress(OSError):
                write_text(note, f"{lines}\n")
            # What is not as it should be is made again by the next run.
            if isinstance(error, DamagedFile):
                with suppress(OSError):
                    remove(results, error.path)
            if os.environ.get(WATCHED, "") != os.environ.get(signals.HEAD):
                print(lines, file=sys.__stderr__)
            raise SystemExit(DISK_FULL if isinstance(error, DiskFull) else 1) from None


@contextmanager
def _log(path: str) -> Iterator[TextIO]:
    """The log of a job, open for writing; a full disk cuts it, and the job goes on."""
    log = destination(path).open("w", encoding="utf-8")
    try:
        yield log
    finally:
        with suppress(OSError):
            log.close()


def job_name(rule: str, wildcards: Iterable[object]) -> str:
    """The name of a job in file names."""
    return "-".join([rule, *map(str, wildcards)])


def forget_failures(results: str | Path) -> None:
    """Delete the notes of failures of an earlier run."""
    for note in Path(results, FAILED).glob("*.txt"):
        remove(results, note)


def failures(results: str | Path) -> dict[str, str]:
    """The notes of the jobs that failed in this run, by job name."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(Path(results, FAILED).glob("*.txt"))}
