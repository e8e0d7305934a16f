"""Snakemake's scheduler looks for jobs when one has ended, and limits them only where the user wants it."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from polhode_study.workflow.scheduling import UNSET, look_when_a_job_ends

HOME = Path(__file__).parents[1]
#: Three jobs of a second, one after the other. Snakemake looks for jobs at the beginning and when one has ended.
JOBS = 3
SNAKEFILE = """
import sys
sys.path.insert(0, {source!r})
from polhode_study.workflow import scheduling

rule all:
    input: [f"{{n}}.txt" for n in range({jobs})]

rule one:
    output: "{{n}}.txt"
    shell: "sleep 1; touch {{output}}"

onstart:
    {call}
"""


def workflow(jobs: int, seconds: float) -> SimpleNamespace:
    limit = SimpleNamespace(max_jobs=jobs, timespan=seconds)
    return SimpleNamespace(
        scheduling_settings=SimpleNamespace(max_jobs_per_timespan=limit), scheduler=SimpleNamespace(job_rate_limiter=limit)
    )


def test_only_a_limit_that_nobody_asked_for_is_removed():
    for limits in ((100, 60), (20, 1), UNSET):
        given = workflow(*limits)
        look_when_a_job_ends(given)
        assert (given.scheduler.job_rate_limiter is None) == (limits == UNSET)


def test_another_snakemake_is_left_alone():
    for other in (SimpleNamespace(), SimpleNamespace(scheduler=None, scheduling_settings=None)):
        before = dict(vars(other))
        look_when_a_job_ends(other)
        assert vars(other) == before
    renamed = workflow(*UNSET)
    renamed.scheduler = SimpleNamespace(limiter=1)
    look_when_a_job_ends(renamed)
    assert vars(renamed.scheduler) == {"limiter": 1}


def looks(folder: Path, call: str) -> int:
    """How often Snakemake looks for jobs in a run of :data:`SNAKEFILE` that does ``call`` before the first."""
    folder.mkdir()
    (folder / "Snakefile").write_text(SNAKEFILE.format(source=str(HOME / "src"), jobs=JOBS, call=call))
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--verbose", "--scheduler", "greedy"]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert said.returncode == 0 and len(list(folder.glob("*.txt"))) == JOBS, said.stderr
    return said.stderr.count("Ready jobs")


@pytest.mark.slow
@pytest.mark.thorough
def test_snakemake_looks_once_for_every_job(tmp_path):
    call = "scheduling.look_when_a_job_ends(workflow)"
    assert looks(tmp_path / "ours", call) <= JOBS + 1
    # Snakemake's own: where this fails it is mended, and the module can go.
    assert looks(tmp_path / "theirs", "pass") > JOBS + 1
