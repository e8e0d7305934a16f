"""The references of several problems in one job, with a file for each.

Starting a process takes about as long as most references. Existing files made by the same job (settings and code, see
:func:`polhode.study.storage.job_text`) are kept.
"""

import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from polhode.study.plan import Plan
from polhode.study.run.batches import FailedRuns, Say
from polhode.study.run.reference import make_reference
from polhode.study.storage import DamagedFile, read_dataset


def run_references(plan: Plan, problems: Sequence[str], say: Say = print, done: Callable[[], object] = lambda: None) -> None:
    """Make the missing or outdated references of some problems; if one fails, the others continue.

    Parameters
    ----------
    plan : Plan
        Of the study.
    problems : sequence of str
        Keys.
    say : function
        Called with a line about each problem, including its times.
    done : function
        Called after each problem, even if it failed or its file is kept.

    Raises
    ------
    FailedRuns
        If a problem failed, once all others are done.
    """
    failed = []
    for key, path in zip(problems, plan.files("references", problems), strict=True):
        part, job = plan.study.problems[key], plan.reference_job(key)
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            told = "kept"
            if not _is_current(path, job):
                times = part.reference_times().tolist()
                told = make_reference(part.problem, times, plan.study.digits, part.check_until, path, job)
            say(f"{path}: {told}, wall {time.perf_counter() - wall:.6f} s, CPU {time.process_time() - cpu:.6f} s")
        except Exception as error:
            say(f"{path} failed\n{traceback.format_exc()}")
            failed.append(f"problem {key}: {type(error).__name__}: {error}")
        done()
    if failed:
        raise FailedRuns("\n".join(failed))


def _is_current(path: str | Path, job: str) -> bool:
    """Whether this file exists, is complete, and was made by this job."""
    if not Path(path).is_file():
        return False
    try:
        read_dataset(path, job=job)
    except DamagedFile:
        return False
    return True
