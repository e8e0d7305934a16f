"""Snakemake's logger ``polhode`` (``--logger polhode``, as in the profiles) hands the events of a run to the progress display.

Snakemake loads it before it reads the Snakefile, which says where the library of the run is: it imports nothing of polhode.
"""

import os
import sys
from logging import ERROR, WARNING, LogRecord
from typing import Any, ClassVar

from snakemake_interface_logger_plugins.base import LogHandlerBase

#: Events about single jobs, left out of a dry run unless something else is asked for with ``--quiet``.
_OF_JOBS = ("job_info", "group_info", "shellcmd", "debug_dag")


class LogHandler(LogHandlerBase):
    """All that Snakemake says. With a :attr:`display` that decides what is printed, otherwise all of it is."""

    #: The one that Snakemake has made, if it was told to.
    current: ClassVar["LogHandler | None"] = None
    #: Set by the Snakefile where jobs are to run: a ``polhode_study.workflow.watching.Watch``.
    display: Any = None
    writes_to_file = False
    has_filter = True
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Make this the current one."""
        LogHandler.current = self
        settings: Any = self.common_settings
        self.stream = sys.stdout if settings.stdout else sys.stderr
        self.quiet = {each.name for each in settings.quiet or ()}
        self._plain = settings.nocolor or not self.stream.isatty() or os.environ.get("TERM") == "dumb"

    @property
    def writes_to_stream(self) -> bool:
        """Whether this prints, instead of Snakemake itself, which does it where everything is asked for, or nothing."""
        settings = self.common_settings
        return not (settings.verbose or settings.printshellcmds or settings.debug_dag or "ALL" in self.quiet)

    def emit(self, record: LogRecord) -> None:
        """Hand a record to the display."""
        try:
            if self.display is not None:
                self.display.heed(record)
            elif str(getattr(record, "event", None)) not in _OF_JOBS or (self.quiet and "RULES" not in self.quiet):
                self.show(record)
        except Exception:
            self.handleError(record)

    def show(self, record: LogRecord) -> None:
        """Print a record, unless Snakemake does."""
        text = self.format(record) if self.writes_to_stream else ""
        if text and text != "None":
            colour = 31 if record.levelno >= ERROR else 33 if record.levelno >= WARNING else 0
            print(text if self._plain or not colour else f"\033[{colour}m{text}\033[0m", file=self.stream, flush=True)

    def close(self) -> None:
        """Let the display report the outcome."""
        super().close()
        if self.display is not None:
            self.display.close()
