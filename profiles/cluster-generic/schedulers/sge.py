"""Sun Grid Engine and its descendants: qsub, qstat, qdel.

What memory and several cores are called is up to each cluster: POLHODE_SGE_MEMORY (``mem_free``; some have ``h_vmem``) and
POLHODE_SGE_ENVIRONMENT (``smp``). Memory is counted by core.
"""

import math
import os
import re

from schedulers import Job, answer, site_options


def submit(job: Job) -> list[str]:
    """-V: with the environment of the head node. ``exclusive`` must have been set up on the cluster."""
    memory = os.environ.get("POLHODE_SGE_MEMORY", "mem_free")
    asked = ["-l", f"h_rt={job.clock}", "-l", f"{memory}={math.ceil(job.memory / job.cores)}M"]
    if job.cores > 1:
        asked += ["-pe", os.environ.get("POLHODE_SGE_ENVIRONMENT", "smp"), str(job.cores)]
    if job.exclusive:
        asked += ["-l", "exclusive=true"]
    start = ["qsub", "-terse", "-N", job.name, "-cwd", "-V", "-S", "/bin/sh", "-j", "y", "-o", str(job.output)]
    return [*start, *asked, *site_options(), str(job.script)]


def number(printed: str) -> str:
    """Alone on its line, because of -terse."""
    found = re.search(r"^\s*(\d+)\s*$", printed, re.MULTILINE)
    if found is None:
        raise ValueError(f"no job number in what qsub printed: {printed!r}")
    return found[1]


def state(number: str) -> str:
    """The fifth column of the list of all jobs; an E in it is an error that only a person clears."""
    done = answer("qstat", "-u", "*")
    if done.returncode != 0:
        raise ValueError(done.stderr.strip() or f"qstat ended with {done.returncode}")
    rows = (line.split() for line in done.stdout.splitlines())
    word = next((row[4] for row in rows if len(row) > 4 and row[0] == number), "")
    if not word:
        return "gone"
    if "E" in word:
        return "lost"
    return "running" if "r" in word or "t" in word else "waiting"


def cancel(numbers: list[str]) -> list[str]:
    """Several at once."""
    return ["qdel", ",".join(numbers)]
