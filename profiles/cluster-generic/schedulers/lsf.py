"""IBM Spectrum LSF: bsub, bjobs, bkill."""

import re

from schedulers import Job, answer, site_options


def submit(job: Job) -> list[str]:
    """Cores of one host; memory with its unit, since the cluster may count in KB, MB or GB. bsub passes the environment on."""
    memory = f"{job.memory}MB"
    asked = ["-n", str(job.cores), "-R", f"span[hosts=1] rusage[mem={memory}]", "-M", memory, "-W", str(job.minutes)]
    whole = ["-x"] if job.exclusive else []
    return ["bsub", "-J", job.name, "-o", str(job.output), *asked, *whole, *site_options(), str(job.script)]


def number(printed: str) -> str:
    """``Job <123> is submitted to queue <normal>.``"""
    found = re.search(r"Job <(\d+)> is submitted", printed)
    if found is None:
        raise ValueError(f"no job number in what bsub printed: {printed!r}")
    return found[1]


def state(number: str) -> str:
    """DONE and EXIT are kept for an hour or so; then the job is not found."""
    done = answer("bjobs", "-noheader", "-o", "stat", number)
    if "is not found" in done.stdout + done.stderr:
        return "gone"
    word = done.stdout.strip()
    if word in ("DONE", "EXIT", "ZOMBI"):
        return "gone"
    if word in ("PEND", "PSUSP", "WAIT", "PROV"):
        return "waiting"
    if word in ("RUN", "USUSP", "SSUSP", "UNKWN"):  # UNKWN: its host does not answer, which may pass
        return "running"
    raise ValueError(done.stderr.strip() or f"bjobs says {word!r}")


def cancel(numbers: list[str]) -> list[str]:
    """Several at once."""
    return ["bkill", *numbers]
