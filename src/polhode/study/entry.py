"""What every script of the workflow begins with: the study of this run, and everything printed goes to the rule's log.

A job that ends well leaves a list of what it wrote (:mod:`polhode.study.written`), one that fails a note of why, which the
workflow repeats at the end (:func:`failures`).
"""

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from polhode.study import interruption, meters, written
from polhode.study.configuration import ConfigurationError, Study, resolve
from polhode.study.storage import write_text

#: The house: the folder of the Snakefile. Scripts run with its src on their path.
HOME = Path(__file__).resolve().parents[3]
#: Where failed jobs leave their notes, in the folder of results.
FAILED = "logs/failed"
#: Set by a head process that is watched, to its number: it says itself what goes wrong in its jobs.
WATCHED = "POLHODE_WATCHED"


def share_library() -> None:
    """Let the processes that the workflow starts find this library, installed or not.

    Raises
    ------
    ConfigurationError
        If the checkout lies in a folder that Snakemake cannot work with.
    """
    unusable = sorted(set(str(HOME)) & set("{}\\" + os.pathsep))
    if unusable and os.name == "posix":
        raise ConfigurationError(
            f"the path of the checkout, {HOME}, contains {' '.join(unusable)}: Snakemake writes paths of programs and scripts "
            "into lists and templates, where a colon, brace or backslash means something; move or rename the folder"
        )
    paths = [str(HOME / "src"), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


@contextmanager
def study_of(snakemake: Any) -> Iterator[Study]:
    """The study of the run that ``snakemake`` belongs to; output and a traceback go to its log.

    What went wrong is noted for the head process, which says it at once and once more at the end of the run. Where no head is
    near, on the node of a cluster, it is printed, too.
    """
    interruption.end_with_head()
    job = meters.job_name(snakemake.rule, snakemake.wildcards)
    results = Path(snakemake.config["results"])
    note = results / FAILED / f"{job}.txt"
    note.unlink(missing_ok=True)
    with open(snakemake.log[0], "w", encoding="utf-8") as log, redirect_stdout(log), redirect_stderr(log):
        try:
            yield resolve(snakemake.config, HOME, checked=True)  # by the Snakefile
            written.record(results, job, snakemake.output)
        except Exception as error:
            traceback.print_exc()
            # Messages of our own are whole sentences; of others the type is half of what they say.
            ours = type(error) in (ValueError, RuntimeError) or type(error).__module__.startswith("polhode")
            text = f"{'' if ours else f'{type(error).__name__}: '}{error}\n    log: {snakemake.log[0]}"
            about = "".join(f", {name} {value}" for name, value in snakemake.wildcards.items())
            lines = f"rule {snakemake.rule}{about}: {text}"
            write_text(note, f"{lines}\n")
            if os.environ.get(WATCHED, "") != os.environ.get(interruption.HEAD):
                print(lines, file=sys.__stderr__)
            raise SystemExit(1) from None
        finally:
            meters.place(results, job).unlink(missing_ok=True)


def meter(snakemake: Any, total: int) -> meters.Meter:
    """Counts what the job of ``snakemake`` has done of ``total``, for who watches the run."""
    job = meters.job_name(snakemake.rule, snakemake.wildcards)
    return meters.Meter(meters.place(snakemake.config["results"], job), total)


def forget_failures(results: str | Path) -> None:
    """Forget the failures of an earlier run, and how far its jobs were."""
    for note in Path(results, FAILED).glob("*.txt"):
        note.unlink(missing_ok=True)
    meters.clear(results)


def failures(results: str | Path) -> dict[str, str]:
    """The notes of the jobs that failed in this run, by the names of the jobs."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(Path(results, FAILED).glob("*.txt"))}
