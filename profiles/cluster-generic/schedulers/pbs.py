"""PBS Professional and OpenPBS: qsub, qstat, qdel."""

import re

from schedulers import Job, answer, site_options


def submit(job: Job) -> list[str]:
    """Asks for a chunk on one node. -V: with the environment of the head node, as Snakemake's own plugin for Slurm does."""
    chunk = f"select=1:ncpus={job.cores}:mem={job.memory}mb"
    place = ["-l", "place=excl"] if job.exclusive else []
    asked = ["-l", chunk, *place, "-l", f"walltime={job.clock}"]
    # Names of more than 15 characters are refused by older versions.
    return ["qsub", "-N", job.name[:15], "-V", "-j", "oe", "-o", str(job.output), *asked, *site_options(), str(job.script)]


def number(printed: str) -> str:
    """``123.server``, alone on its line."""
    found = re.search(r"^\s*(\d+(?:\[\])?(?:\.[\w.-]+)?)\s*$", printed, re.MULTILINE)
    if found is None:
        raise ValueError(f"no job number in what qsub printed: {printed!r}")
    return found[1]


def state(number: str) -> str:
    """``qstat -f`` exits with 35 for a finished job and 153 for an unknown one."""
    done = answer("qstat", "-f", number)
    if done.returncode != 0:
        if re.search(r"unknown job|has finished", done.stderr, re.IGNORECASE):
            return "gone"
        raise ValueError(done.stderr.strip() or f"qstat ended with {done.returncode}")
    found = re.search(r"job_state = (\w)", done.stdout)
    if found is None:
        raise ValueError(f"no job_state in {done.stdout[:200]!r}")
    if found[1] in "CFX":
        return "gone"
    return "running" if found[1] in "REBS" else "waiting"


def cancel(numbers: list[str]) -> list[str]:
    """Several at once."""
    return ["qdel", *numbers]
