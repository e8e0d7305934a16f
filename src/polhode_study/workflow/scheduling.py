"""What Snakemake is to make besides its target, and when it looks for jobs.

Snakemake's scheduler looks for jobs when one has ended, not all the time. Snakemake limits the jobs that start in a time span,
to 100 in a second unless told otherwise. To look again when that time is over, it sets a timer in every look, also in one that
the end of a job has caused. Every job that ends thus adds a look a second, to the end of the run, and each look asks for the
sizes of all input files: in a quick study the scheduler took a sixth of all time of the processors. (Snakemake's pull request
3744 is about the same timers; 9.27 still has them.)
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Jobs and seconds of the limit that applies if the user has set none. Our studies never come near it.
UNSET = (100, 1)


def look_when_a_job_ends(workflow: Any) -> None:
    """Remove the limit of Snakemake that nobody asked for; call it between the making of its scheduler and the first job.

    A limit that the user has set (``--max-jobs-per-timespan``) stays, and so does everything if Snakemake has changed.
    """
    limit = getattr(getattr(workflow, "scheduling_settings", None), "max_jobs_per_timespan", None)
    scheduler: Any = getattr(workflow, "scheduler", None)
    if hasattr(scheduler, "job_rate_limiter") and (getattr(limit, "max_jobs", 0), getattr(limit, "timespan", 0)) == UNSET:
        scheduler.job_rate_limiter = None


def orders(workflow: Any) -> Callable[[Path], bool]:
    """A function that lets a run make a file, whatever its target is; it returns False if no rule makes the file.

    Snakemake does not look for a missing file on which only files that exist rest. It reads the targets after the Snakefile:
    the files are added, as if by ``--forcerun``, when it is about to plan the jobs.
    """
    files: set[str] = set()
    plan = getattr(workflow, "_prepare_dag", None)

    def prepare(*arguments: Any, **options: Any) -> Any:
        workflow.dag_settings.forcerun = {*workflow.dag_settings.forcerun, *files}
        return plan(*arguments, **options)  # type: ignore[misc]

    if plan is not None:
        workflow._prepare_dag = prepare

    def order(path: Path) -> bool:
        is_made = plan is not None and any(rule.is_producer(str(path)) for rule in workflow.rules)
        files.update([str(path)] if is_made else [])
        return is_made

    return order
