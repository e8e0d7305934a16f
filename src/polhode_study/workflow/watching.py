"""Progress display of a run: Snakemake's events become a progress bar for each stage, with a summary at the end.

The process in charge learns of every job through the plugin ``snakemake_logger_plugin_polhode`` of Snakemake. Snakemake's own
report is always complete in its log file; ``--verbose`` and similar options show it on the terminal instead of the bars.
"""

import contextlib
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TextIO

from rich.text import Text

from polhode.interface.files import full_disk, is_full
from polhode.interface.progress import Clock, Display, Stage, amount, can_redraw, duration
from polhode_study import artefacts
from polhode_study.workflow import entry, signals
from snakemake_logger_plugin_polhode import LogHandler

#: The stages of a study in the order in which they begin: name, unit of counting, and the rules that belong to it.
STAGES = artefacts.stages()
#: Stage of all remaining rules.
OTHER = "other jobs"
#: Rules that only name targets.
TARGETS = ("all", "data", "notebooks")
#: Lines of a log repeated at the end, and characters of a message shown when a job fails.
LAST_LINES, LONGEST_MESSAGE = 12, 300
#: Number of running jobs named, and of failures reported in full.
NAMED_JOBS, FULL_REPORTS = 4, 10
#: Snakemake's messages about a run with failed jobs, replaced by our own.
_SUMMARIES = (
    "Exiting because a job execution failed",
    "At least one job did not complete successfully",
    "--keep-incomplete mode is set",
)
#: Location of the documentation made by ./reproduce docs.
DOCUMENTATION = Path("docs", "_build", "html", "index.html")
#: Snakemake's wording for the way in which a script ended.
_ENDED = re.compile(r"(returned non-zero exit status -?\d+|died with <Signals\.\w+: \d+>)")


def stage_of(rule: str) -> str:
    """The stage to which a rule belongs."""
    matches = (name for name, (_unit, rules) in STAGES.items() if any(fnmatchcase(rule, pattern) for pattern in rules))
    return next(matches, OTHER)


@dataclass
class Job:
    """A job that is running or has failed."""

    rule: str
    wildcards: Mapping[str, str]
    logs: Sequence[str] = ()
    ended: str = ""
    in_group: bool = False

    @property
    def name(self) -> str:
        """The name of the job in file names."""
        return entry.job_name(self.rule, self.wildcards.values())

    def __str__(self) -> str:
        return " ".join([self.rule, *map(str, self.wildcards.values())])


class Tally:
    """The stages of a run, from the events of its jobs, which Snakemake's logger reports one after the other.

    Parameters
    ----------
    units : rule -> units of work in one job of it
    """

    def __init__(self, units: Callable[[str], float], clock: Clock = time.monotonic) -> None:
        self.units, self.clock = units, clock
        self.stages: list[Stage] = []
        self.running: dict[int, Job] = {}
        self.failed: dict[int, Job] = {}
        self.jobs = self.finished = 0
        self.began = clock()

    def stage(self, rule: str) -> Stage:
        """The stage of a rule."""
        name, order = stage_of(rule), [*STAGES, OTHER]
        for stage in self.stages:
            if stage.name == name:
                return stage
        stage = Stage(name, None, STAGES[name][0] if name in STAGES else "jobs", self.clock)
        self.stages[:] = sorted([*self.stages, stage], key=lambda each: order.index(each.name))
        return stage

    def expect(self, numbers: Mapping[str, int]) -> None:
        """Register the number of jobs of each rule that are to be done."""
        for rule, number in numbers.items():
            if rule != "total" and rule not in TARGETS:
                self.jobs += number
                stage = self.stage(rule)
                stage.total = (stage.total or 0.0) + number * self.units(rule)

    def begin(self, number: int, job: Job) -> None:
        """Register that job ``number`` starts, or is handed to a scheduler."""
        if job.rule not in TARGETS:
            stage = self.stage(job.rule)
            stage.begin()
            if self.failed.pop(number, None):  # a retry
                stage.failed -= 1
            self.running[number] = job

    def finish(self, number: int) -> None:
        """Register that a job has ended successfully."""
        if (job := self.running.pop(number, None)) is not None:
            self.finished += 1
            self.stage(job.rule).advance(self.units(job.rule))

    def fail(self, number: int, rule: str, logs: Sequence[str], ended: str = "", in_group: bool = False) -> Job | None:
        """Register a failed job. The job is returned, or None if its failure was known."""
        if number in self.failed:
            return None
        job = self.running.pop(number, None) or Job(rule, {})
        job.logs, job.ended, job.in_group = logs, ended, in_group
        self.failed[number] = job
        self.stage(job.rule).failed += 1
        return job

    def foot(self) -> str:
        """A line with the number of finished jobs and the names of running ones."""
        text = f"{self.finished} of {self.jobs} jobs" if self.jobs else f"{self.finished} jobs"
        names = [str(job) for job in list(self.running.values())]
        if len(names) > NAMED_JOBS:
            names = [*names[:NAMED_JOBS], f"{len(names) - NAMED_JOBS} more"]
        return f"{text}, {duration(self.clock() - self.began)}" + (f"; at work: {', '.join(names)}" if names else "")


# ---- messages at the end ----


def failure(job: Job, note: str = "", results: Path | None = None) -> str:
    """The message about a failed job: its ``note`` (:mod:`polhode_study.workflow.entry`) or end, and the last log lines.

    On a full disk, that of ``results``, there may be neither a note nor a log.
    """
    about = "".join(f", {name} {value}" for name, value in job.wildcards.items())
    reason = f"it ended without a word ({job.ended or 'no reason is known'})"
    if results is not None and (job.ended.endswith(f"status {entry.DISK_FULL}") or is_full(results)):
        reason = full_disk(results)
    text = note.rstrip("\n") or f"rule {job.rule}{about}: {reason}"
    for log in job.logs:
        if f"log: {log}" not in text:
            text += f"\n    log: {log}"
        end = _end_of(log, text)
        text += "".join(f"\n        | {line}" for line in end)
    return text


def _end_of(log: str | Path, said: str) -> list[str]:
    """The last lines of a log, except those that repeat the message."""
    try:
        with open(log, "rb") as opened:
            opened.seek(max(0, os.fstat(opened.fileno()).st_size - 16_384))
            lines = opened.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    # The error appears there after its type, with the module.
    while lines and re.sub(r"^[\w.]+: ", "", lines[-1].strip()) in said:
        lines.pop()
    return [line[:LONGEST_MESSAGE] for line in lines[-LAST_LINES:]]


def failures(tally: Tally, notes: Mapping[str, str], results: Path) -> str:
    """All failures of a run as text, each with the last lines of its log; ``notes`` are those of jobs, by name."""
    jobs = list(tally.failed.values())
    # All jobs of a group on a cluster fail together; those that did not start have no note.
    if any(job.name in notes for job in jobs if job.in_group):
        jobs = [job for job in jobs if job.name in notes or not job.in_group]
    reports = [failure(job, notes.get(job.name, ""), results) for job in jobs[:FULL_REPORTS]]
    reports += [f"rule {job}: log: {', '.join(job.logs)}" for job in jobs[FULL_REPORTS:]]
    known = {job.name for job in jobs}
    reports += [note.rstrip("\n") for name, note in notes.items() if name not in known]
    left = f", {tally.finished} of {tally.jobs} are done" if tally.jobs else ""
    return "\n".join([f"{amount(len(reports), 'jobs')} failed{left}:", "", *reports])


def products(results: str | Path, home: Path) -> dict[str, str]:
    """The products of a run that a reader opens: description -> location.

    Files older than the data belong to another run and are omitted. Only the documentation is made by another command.
    """
    results = Path(results).absolute()
    data = results / "single_body.nc"
    notebooks = sorted((results / "notebooks").glob("*.html"))
    first = next((path for path in notebooks if path.stem in ("index", "tour")), notebooks[0] if notebooks else None)
    candidates = {"report": results / "report.pdf", "explorer": results / "explorer.html", "notebooks": first}
    when = data.stat().st_mtime if data.is_file() else 0.0
    locations = {
        name: str(path) for name, path in candidates.items() if path and path.is_file() and path.stat().st_mtime >= when
    }
    if locations:
        manual = home / DOCUMENTATION
        locations["documentation"] = str(manual) if manual.is_file() else "./reproduce docs builds it"
    return locations | ({"data": str(results)} if data.is_file() else {})


def summary(tally: Tally) -> str:
    """The duration of each stage, as text."""
    stages = [stage for stage in tally.stages if stage.begun is not None]
    rows = [(stage.name, *amount(stage.done, stage.unit).split(" "), duration(stage.seconds)) for stage in stages]
    wide = [max((len(row[i]) for row in rows), default=0) for i in range(4)]
    took = f"{amount(tally.finished, 'jobs')} in {duration(tally.clock() - tally.began)}"
    lines = [f"  {a:<{wide[0]}}  {b:>{wide[1]}} {c:<{wide[2]}}  {d:>{wide[3]}}" for a, b, c, d in rows]
    return "\n".join([f"{took}; stages run side by side:" if len(rows) > 1 else took, *lines])


# ---- progress display ----


class Capture:
    """Output of any process, jobs included, to some descriptors of this one, captured by lines until :meth:`restore`.

    On a terminal with bars other output must be captured: the bars would overwrite it.
    """

    def __init__(self, numbers: Sequence[int], say: Callable[[str], object]) -> None:
        self.originals = {number: os.dup(number) for number in numbers}
        reading, writing = os.pipe()
        for number in numbers:
            os.dup2(writing, number)
        os.close(writing)

        def read() -> None:
            with open(reading, encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    say(line.rstrip("\n"))

        self._thread = threading.Thread(target=read, daemon=True, name="capture")
        self._thread.start()

    def restore(self) -> None:
        """Restore the descriptors after all captured output has been passed on."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        for number, original in self.originals.items():
            os.dup2(original, number)
            os.close(original)
        # A job that is still ending may keep its end open.
        self._thread.join(1.0)


class Watch:
    """What a person sees of a run: its progress, and the outcome at the end. All that Snakemake's logger ``polhode`` hears.

    Parameters
    ----------
    units : rule -> units of work in one job of it
    results, home : the folder of results and that of the checkout
    """

    def __init__(self, units: Callable[[str], float], results: str | Path, home: Path) -> None:
        self.tally = Tally(units)
        self.results, self.home = Path(results), home
        #: Outcome of the run: succeeded, failed, nothing to do; empty while unknown, and after an interruption.
        self.outcome = ""
        #: Snakemake's own log.
        self.logfile = ""
        self._handler: LogHandler | None = None
        self._display: Display | None = None
        self._capture: Capture | None = None
        self._said: set[str] = set()
        self._causes: dict[int | None, str] = {}

    def attach(self, handler: LogHandler | None) -> None:
        """Show the run that ``handler`` hears of; without one the terminal is Snakemake's."""
        self._handler = handler
        if handler is None:
            return
        handler.display = self
        if handler.writes_to_stream:
            os.environ[entry.WATCHED] = str(os.getpid())
            if "PROGRESS" not in handler.quiet:
                self._make_display(handler.stream, handler.common_settings.nocolor)

    def _make_display(self, stream: TextIO, plain: bool) -> None:
        if can_redraw(stream):
            # A separate descriptor, because the others are captured.
            stream = os.fdopen(os.dup(stream.fileno()), "w", encoding=stream.encoding, errors="replace")
        self._display = Display(self.tally.stages, stream, self.tally.foot, plain)

    # Snakemake's events.

    def heed(self, record: logging.LogRecord) -> None:
        """Register an event, and pass on messages meant for the user."""
        event = str(getattr(record, "event", None) or "")
        about = record.__dict__
        if event == "run_info" and not self.tally.jobs:
            self.tally.expect(about["stats"])
        elif event == "job_started":
            self.start()
        elif event == "job_info":
            self.tally.begin(about["jobid"], Job(about["rule_name"], dict(about["wildcards"] or {}), list(about["log"])))
        elif event == "job_finished":
            self.tally.finish(about["job_id"])
        elif event == "job_error" and signals.is_stopping():
            pass  # told to stop
        elif event == "job_error":
            ended = self._causes.pop(record.thread, "")
            job = self.tally.fail(about["jobid"], about["rule_name"], list(about["log"]), ended, bool(about["indent"]))
            if job is not None and not job.in_group:
                self._tell(job)
        elif event == "error" and (match := _ENDED.search(record.getMessage())):
            # The next event of that thread tells which job it was.
            self._causes[record.thread] = match[1]
            return
        elif not event and record.getMessage().startswith("Nothing to be done"):
            self.outcome = "nothing to do"
        if self._handler is not None and self._is_for_people(record, event):
            self._handler.show(record)

    def _is_for_people(self, record: logging.LogRecord, event: str) -> bool:
        text = record.getMessage() if record.msg else ""
        if record.levelno < logging.WARNING:
            # Messages from outside Snakemake: our estimate, the number of the run on a cluster.
            ours = os.sep + os.path.join("snakemake", "") not in record.pathname
            return not event and (
                self.outcome == "nothing to do" or (ours and self.tally.finished == 0 and not self.tally.running)
            )
        is_reported = self.tally.failed or signals.is_stopping()
        if event in ("job_error", "group_error") or (is_reported and any(known in text for known in _SUMMARIES)):
            return False
        known = text in self._said
        self._said.add(text)
        return not known

    def _tell(self, job: Job) -> None:
        """Report at once that a job has failed; details follow at the end."""
        if self._handler is not None and self._handler.writes_to_stream:
            note = entry.failures(self.results).get(job.name, "")
            text = note.split("\n    log: ")[0]
            text = text or failure(Job(job.rule, job.wildcards, (), job.ended), results=self.results)
            print(text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]} ...", file=sys.stderr, flush=True)

    # Display.

    def start(self) -> None:
        """Show the progress of the run from now on."""
        display = self._display
        if display is None or display.is_started:
            return
        where = f"; Snakemake's full log: {os.path.relpath(self.logfile)}" if self.logfile else ""
        display.say(f"polhode: {amount(self.tally.jobs, 'jobs')}{where}")
        display.start()
        if display.bars is not None:
            numbers = [stream.fileno() for stream in (sys.__stdout__, sys.__stderr__) if stream and stream.isatty()]
            self._capture = Capture(numbers, self._pass_on)

    def _pass_on(self, line: str) -> None:
        """Pass on a line written to the terminal, above the bars; warnings only once."""
        if "warning" in line.lower():
            if line in self._said:
                return
            self._said.add(line)
        if self._display is not None:
            self._display.say(Text.from_ansi(line))

    def succeeded(self) -> None:
        """Register that all jobs are done."""
        self.outcome = "succeeded"

    def failed(self) -> None:
        """Register that jobs failed, unless they were told to stop."""
        self.outcome = "" if signals.is_stopping() else "failed"

    def close(self) -> None:
        """End the display and report the outcome of the run, once."""
        if self._handler is None:
            return
        loud, self._handler = "ALL" not in self._handler.quiet, None
        if self._capture is not None:
            self._capture.restore()
        if self._display is not None and self._display.is_started:
            self._display.stop(leave=not self.outcome)
        if self.outcome == "failed":
            print(f"\n{failures(self.tally, entry.failures(self.results), self.results)}", file=sys.stderr)
        elif self.outcome and loud:
            if self.outcome == "succeeded":
                print(f"\n{summary(self.tally)}\n", file=sys.stderr)
            for name, path in products(self.results, self.home).items():
                print(f"The {name}: {path}", file=sys.stderr)
        if self.logfile and self.outcome == "failed":
            print(f"\nSnakemake's full log: {self.logfile}", file=sys.stderr)
        sys.stderr.flush()
