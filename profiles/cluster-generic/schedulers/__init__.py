"""What the schedulers have in common: a job as Snakemake passes it on, the records about it, and which scheduler it is.

Snakemake's plugin cluster-generic runs ``submit.py``, ``status.py`` and ``cancel.py`` of this profile, and ``sidecar.py`` all
the time. A scheduler is a module beside this file with four functions::

    submit(job) -> command that puts job.script into the queue and prints a line that holds the number
    number(printed) -> the number in it
    state(number) -> "waiting", "running", "gone" (no longer known: finished, one way or the other), "lost" (will never run)
    cancel(numbers) -> command

How a job ended is not asked of the scheduler, whose memory is short or switched off: the job itself notes it in a file.
"""

import importlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

#: Where scripts, outputs and exit codes of jobs are kept; on the shared file system, in the folder where Snakemake runs.
QUEUE = Path(".snakemake/queue")
#: Scheduler -> a command that only this scheduler has.
COMMANDS = {"lsf": "bsub", "htcondor": "condor_submit", "sge": "qconf", "pbs": "qsub"}
#: Seconds for which a job that the scheduler no longer knows may still be writing how it ended, as seen from here.
PATIENCE = 120.0


@dataclass(frozen=True)
class Job:
    """The requests of a job: cores, memory in MB, time in minutes, the whole node; its script and where its output goes."""

    name: str
    cores: int
    memory: int
    minutes: int
    exclusive: bool
    script: Path
    output: Path

    @property
    def clock(self) -> str:
        """Its time as hours:minutes:seconds."""
        return f"{self.minutes // 60:02d}:{self.minutes % 60:02d}:00"


def scheduler() -> ModuleType:
    """The scheduler named by POLHODE_SCHEDULER, or the one whose commands are available."""
    name = os.environ.get("POLHODE_SCHEDULER") or next((s for s, command in COMMANDS.items() if shutil.which(command)), "")
    if name not in COMMANDS:
        found = f"POLHODE_SCHEDULER is {name!r}" if name else f"none of {', '.join(COMMANDS.values())} is on PATH"
        sys.exit(f"cluster-generic: no scheduler: {found}; set POLHODE_SCHEDULER to one of {', '.join(COMMANDS)}")
    return importlib.import_module(f"schedulers.{name}")


def site_options() -> list[str]:
    """Further options that the user's cluster requires: POLHODE_SUBMIT_OPTIONS, e.g. an account and a queue."""
    return shlex.split(os.environ.get("POLHODE_SUBMIT_OPTIONS", ""))


def read_job(script: Path) -> Job:
    """The job in a script written by Snakemake. The script is copied, since Snakemake deletes its own when it ends."""
    text = script.read_text(encoding="utf-8")
    found = re.search(r"^# properties = (\{.*\})$", text, re.MULTILINE)
    if found is None:
        sys.exit(f"cluster-generic: {script} has no line '# properties = {{...}}', as Snakemake's job scripts have")
    properties = json.loads(found[1])
    asked = properties.get("resources", {})
    name = "polhode-" + re.sub(r"\W+", "-", str(properties.get("rule") or properties.get("groupid") or "job"))
    place = QUEUE.resolve()
    place.mkdir(parents=True, exist_ok=True)
    copy = place / f"{time.time_ns():x}-{os.getpid()}-{name}.sh"
    copy.write_text(_wrapped(text, copy), encoding="utf-8")
    copy.chmod(0o755)
    return Job(
        name=name,
        cores=int(properties.get("threads", 1)),
        memory=int(asked.get("mem_mb", 1500)),
        minutes=int(asked.get("runtime", 20)),
        exclusive=bool(asked.get("exclusive", 0)),
        script=copy,
        output=copy.with_suffix(".log"),
    )


def _wrapped(text: str, copy: Path) -> str:
    """The script, followed by a record of its end: the exit code, in a file that is written completely or not at all."""
    end = shlex.quote(str(copy.with_suffix(".end")))
    return f"#!/bin/sh\n(\n{text}\n)\ncode=$?\necho $code >{end}.part && mv {end}.part {end}\nexit $code\n"


def remember(number: str, job: Job) -> None:
    """Record which files belong to a job in the queue."""
    _note(number).write_text(str(job.script), encoding="utf-8")


def _note(number: str) -> Path:
    return QUEUE / f"{number}.job"


def status(number: str) -> str:
    """What Snakemake needs to know about a job: ``running`` (or waiting), ``success`` or ``failed``.

    When it has ended its note is deleted, and with it, if all went well, everything else about the job.
    """
    note = _note(number)
    if not note.is_file():
        # Somebody deleted the queue folder; Snakemake will run the job again.
        _say(f"nothing is known of job {number}: {note} is not there")
        return "failed"
    script = Path(note.read_text(encoding="utf-8"))
    found, why = _judged(number, script)
    if found == "success":
        for kind in (".sh", ".sub", ".log", ".missed", ".end"):
            script.with_suffix(kind).unlink(missing_ok=True)
    if found != "running":
        note.unlink(missing_ok=True)
    if why:
        _say(f"job {number} {why}; output: {script.with_suffix('.log')}")
    return found


def _judged(number: str, script: Path) -> tuple[str, str]:
    """The state of a job, and a message about it."""
    ended = _ended(script)
    if ended is not None:
        return ended
    try:
        state = scheduler().state(number)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        # A scheduler that does not answer has not lost its jobs.
        return "running", f"is asked about again later: the scheduler gave no answer ({error})"
    missed = script.with_suffix(".missed")
    if state == "lost":
        subprocess.run(scheduler().cancel([number]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        return "failed", "will never run, as the scheduler has it"
    if state != "gone":
        missed.unlink(missing_ok=True)
        return "running", ""
    # The exit code may have been written in the meantime, or may appear late on a shared file system.
    if not missed.exists():
        missed.touch()
    ended = _ended(script)
    if ended is not None:
        return ended
    if time.time() - missed.stat().st_mtime < float(os.environ.get("POLHODE_PATIENCE", PATIENCE)):
        return "running", ""
    return "failed", "was killed: it left the queue without an end (time, memory, a node?)"


def _ended(script: Path) -> tuple[str, str] | None:
    end = script.with_suffix(".end")
    if not end.is_file():
        return None
    code = end.read_text(encoding="utf-8").strip()
    return ("success", "") if code == "0" else ("failed", f"failed with exit code {code}")


def unfinished() -> list[str]:
    """The numbers of the jobs whose end has not yet been reported to Snakemake."""
    return sorted(note.name.removesuffix(".job") for note in QUEUE.glob("*.job"))


def answer(*command: str) -> subprocess.CompletedProcess[str]:
    """The output of a command of the scheduler, which may take up to a minute."""
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def _say(text: str) -> None:
    print(f"cluster-generic: {text}", file=sys.stderr)
