"""What the Snakefile does besides naming rules: checks before the jobs are planned, and the start and the end of a run.

Every process of Snakemake that reads the Snakefile calls :func:`prepare`, :class:`Head` and :meth:`Head.finish`, also those
that run a single job or only answer a question. The head process alone checks, takes the lock, and mends files.
"""

import gc
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from polhode.interface import storage
from polhode.interface.netcdf import UnreadableFile
from polhode.interface.reading import read
from polhode_study.configuration import ConfigurationError, resolve
from polhode_study.products import Products
from polhode_study.workflow import entry, locks, scheduling, signals, starting, written
from polhode_study.workflow.watching import Watch
from snakemake_logger_plugin_polhode import LogHandler


@contextmanager
def _refusing(*errors: type[Exception]) -> Iterator[None]:
    """Show the message of such an error without a traceback."""
    try:
        yield
    except errors as error:
        raise WorkflowError(str(error)) from None


def prepare() -> None:
    """What has to be done before Snakemake reads the configuration."""
    # Planning makes a million small objects that live until its end. To look for garbage among them takes a quarter of the
    # time.
    gc.set_threshold(100_000, 50, 50)
    # To tell the language of a script, Snakemake imports nbformat, and this jsonschema, which would take two seconds to compile
    # a grammar of web addresses for a check that nothing here needs, and does without if there is none (its issue 1428).
    if "rfc3987_syntax" not in sys.modules:
        sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    signals.lead()
    starting.hasten()
    with _refusing(ConfigurationError):
        entry.share_library()
        # Snakemake's own reader would report neither file nor line.
        read("config.yaml")


class Head:
    """The study of a configuration, its plan, and what is shown of its run.

    Parameters
    ----------
    workflow, config : Snakemake's, as the Snakefile has them
    """

    def __init__(self, workflow: Any, config: dict[str, Any]) -> None:
        self.workflow, self.is_head = workflow, bool(workflow.is_main_process)
        home, cores = Path(workflow.basedir), workflow.resource_settings.cores
        if self.is_head and cores is not None and cores < 1:
            # Snakemake would wait forever for a free core.
            raise WorkflowError(f"--cores must be at least 1, got {cores}")
        files = ["config.yaml", *workflow.overwrite_configfiles]
        with _refusing(ConfigurationError):
            # The checks of the head process need not be repeated by its jobs.
            self.study = resolve(config, home, files, checked=not self.is_head)
        # Scripts do not know which file named a plug-in.
        config["plugins"] = [str(path) for path in self.study.plugins]
        self.plan = Products(self.study, home)
        # From here on this run has the results to itself if it starts jobs: a dry run, --unlock and so on change nothing.
        self.starts = locks.will_run(workflow)
        if self.is_head:
            logger.info(self.study.estimate.summary())
            with _refusing(locks.LockedError, OSError, UnreadableFile):
                locks.begin(self.plan.results) if self.starts else storage.check_folder(self.plan.results)
        # Progress and the outcome at the end are shown instead of Snakemake's log.
        self.watch = Watch(self.plan.units, self.plan.results, home)
        if self.starts:
            self.watch.attach(LogHandler.current)

    def finish(self) -> None:
        """What has to be done behind the rules."""
        if self.is_head:
            # Files changed accidentally since they were written are made again, also by a run for another target.
            with _refusing(UnreadableFile):
                order = scheduling.orders(self.workflow)
                for line in written.mend(self.plan.results, dry=not self.starts, order=order):
                    print(line, file=sys.stderr)
        # Snakemake writes the path of Python unquoted into the commands of its jobs, with spaces and quotes (its issue 2645).
        # This comes last, because the code above may start a Python process of its own.
        sys.executable = shlex.quote(sys.executable)

    def start(self, logfile: str) -> None:
        """What has to be done before the first job; ``logfile`` is Snakemake's own log."""
        locks.begin(self.plan.results)
        signals.stop_jobs_on_signals()
        scheduling.look_when_a_job_ends(self.workflow)
        entry.forget_failures(self.plan.results)
        self.watch.logfile = logfile

    def fail(self) -> None:
        """What has to be done behind a run with failed jobs."""
        self.watch.failed()
        locks.sweep(Path(self.plan.results))
