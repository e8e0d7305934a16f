"""How long the study takes on any number of cores, and what limits it: the critical path through its jobs.

The times of a finished run (``results/benchmarks``) and the graph that Snakemake plans are all it needs: jobs start in the
order of the longest way that is left, as a scheduler with foresight would do it, each on as many cores as it asks for. Not in
it are the start of Snakemake and what jobs on many cores cost each other::

    python benchmarks/cores.py            # after ./reproduce
"""

import argparse
import contextlib
import heapq
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from snakemake.api import SnakemakeApi
from snakemake.settings.types import DAGSettings, OutputSettings, Quietness, ResourceSettings


@dataclass(frozen=True)
class Job:
    """A job of the study: its name, seconds, cores, and the numbers of the jobs that it waits for."""

    name: str
    seconds: float
    cores: int
    needs: tuple[int, ...]


def planned() -> list[Job]:
    """The jobs of the study in this folder, with the times of its finished run."""
    settings = OutputSettings(quiet={Quietness.ALL}, dryrun=True)
    with contextlib.redirect_stderr(io.StringIO()), SnakemakeApi(settings) as api:
        workflow = api.workflow(ResourceSettings(cores=1), snakefile=Path("Snakefile"), workdir=Path("."))
        workflow.dag(DAGSettings(forceall=True)).execute_workflow(executor="dryrun")
        dag = workflow._workflow.dag
        jobs = list(dag.jobs)
        numbers = {job: number for number, job in enumerate(jobs)}
        return [_job(job, sorted(numbers[other] for other in dag.dependencies[job])) for job in jobs]


def _job(job: Any, needs: list[int]) -> Job:
    timed = Path(job.benchmark) if job.benchmark else None
    if timed is None or not timed.is_file():
        return Job(job.rule.name, 0.0, job.threads, tuple(needs))
    name = timed.relative_to(Path("results/benchmarks")).with_suffix("").as_posix()
    return Job(name, float(pd.read_csv(timed, sep="\t")["s"].iloc[0]), job.threads, tuple(needs))


def ways_left(jobs: list[Job]) -> list[float]:
    """The seconds from the start of each job to the end of the study, along the longest way."""
    followers: dict[int, list[int]] = {number: [] for number in range(len(jobs))}
    for number, job in enumerate(jobs):
        for other in job.needs:
            followers[other].append(number)
    left: dict[int, float] = {}

    def way(number: int) -> float:
        if number not in left:
            left[number] = jobs[number].seconds + max(map(way, followers[number]), default=0.0)
        return left[number]

    return [way(number) for number in range(len(jobs))]


def critical_path(jobs: list[Job], left: list[float]) -> list[Job]:
    """The jobs along the longest way, from the first."""
    path, waiting = [], [number for number, job in enumerate(jobs) if not job.needs]
    while waiting:
        number = max(waiting, key=left.__getitem__)
        path.append(jobs[number])
        waiting = [other for other, job in enumerate(jobs) if number in job.needs]
    return path


def duration(jobs: list[Job], left: list[float], cores: int) -> float:
    """The seconds that the study takes on so many cores."""
    missing = [len(job.needs) for job in jobs]
    ready = [(-left[number], number) for number, job in enumerate(jobs) if not job.needs]
    heapq.heapify(ready)
    running: list[tuple[float, int]] = []
    now, free = 0.0, cores
    while ready or running:
        while ready and free >= min(jobs[ready[0][1]].cores, cores):
            _, number = heapq.heappop(ready)
            free -= min(jobs[number].cores, cores)
            heapq.heappush(running, (now + jobs[number].seconds, number))
        now, done = heapq.heappop(running)
        free += min(jobs[done].cores, cores)
        for number, job in enumerate(jobs):
            if done in job.needs:
                missing[number] -= 1
                if missing[number] == 0:
                    heapq.heappush(ready, (-left[number], number))
    return now


def main() -> None:
    """Print the critical path, and the time for each number of cores."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64], help="numbers of cores")
    arguments = parser.parse_args()
    jobs = planned()
    left = ways_left(jobs)
    print(f"{len(jobs)} jobs, {sum(job.seconds for job in jobs):.0f} s in all, critical path {max(left):.0f} s:")
    print("  " + ", ".join(f"{job.name} {job.seconds:.0f}" for job in critical_path(jobs, left) if job.seconds))
    for cores in arguments.cores:
        print(f"{cores:4d} cores: {duration(jobs, left, cores):5.0f} s")


if __name__ == "__main__":
    main()
