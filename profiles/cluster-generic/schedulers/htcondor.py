"""HTCondor with a shared file system: condor_submit, condor_q, condor_rm.

It has no whole nodes of its own accord; where the cluster offers them, POLHODE_SUBMIT_OPTIONS can ask for one.
"""

import re

from schedulers import Job, answer, site_options

DESCRIPTION = """\
executable = {script}
output = {output}
error = {output}
request_cpus = {cores}
request_memory = {memory}MB
getenv = True
should_transfer_files = NO
periodic_remove = (JobStatus == 2) && (time() - EnteredCurrentStatus > {seconds})
batch_name = {name}
queue
"""


def submit(job: Job) -> list[str]:
    """By a submit file, since condor_submit does not accept a script."""
    place = {"script": job.script, "output": job.output, "name": job.name}
    description = job.script.with_suffix(".sub")
    asked = {"cores": job.cores, "memory": job.memory, "seconds": 60 * job.minutes}
    description.write_text(DESCRIPTION.format(**place, **asked), encoding="utf-8")
    return ["condor_submit", "-terse", *site_options(), str(description)]


def number(printed: str) -> str:
    """``123.0 - 123.0``"""
    found = re.search(r"^\s*(\d+\.\d+) - \d+\.\d+\s*$", printed, re.MULTILINE)
    if found is None:
        raise ValueError(f"no job number in what condor_submit printed: {printed!r}")
    return found[1]


def state(number: str) -> str:
    """1 idle, 2 running, 3 removed, 4 completed, 5 held (by an error, until a person releases it), 6 and 7 on the way."""
    done = answer("condor_q", number, "-autoformat", "JobStatus")
    if done.returncode != 0:
        raise ValueError(done.stderr.strip() or f"condor_q ended with {done.returncode}")
    word = done.stdout.strip()
    return {"": "gone", "1": "waiting", "3": "gone", "4": "gone", "5": "lost"}.get(word, "running")


def cancel(numbers: list[str]) -> list[str]:
    """Several at once."""
    return ["condor_rm", *numbers]
