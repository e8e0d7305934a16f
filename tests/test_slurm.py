"""A small study through a genuine Slurm and its profile: the bytes of a local run, also where a job is killed on the way."""

import os
import re
import subprocess
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
import slurm_cluster
from conftest import surroundings
from test_workflow import SNAKEMAKE, TIMED, TINY, House

HOME = Path(__file__).parents[1]
WHY_NOT = slurm_cluster.why_not()
if WHY_NOT is None and find_spec("snakemake_executor_plugin_slurm") is None:
    WHY_NOT = "Snakemake's plugin for Slurm is not installed (./reproduce install slurm)"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(WHY_NOT is not None, reason=f"no Slurm here: {WHY_NOT}")]

#: As little as goes through every kind of job.
SMALL = TINY | {
    "methods": ["spiral_leapfrog", "euler"],
    "many_body": TINY["many_body"] | {"rods": TINY["many_body"]["rods"] | {"film": {"horizon": 0.01, "frames": 2}}},
    "problems": TINY["problems"]
    | {
        "free_symmetric_top": {
            "dt": {"fit": {"divisions": [64, 512, 4]}},
            "check_until": 1.0,
            "long_run": {"horizon": 20.0, "dt": 1e-2, "samples": 10, "switched": True},
        },
        "coupled_cylinders": None,
    },
}
#: What the profile says for the sake of large clusters, and this one need not wait for.
HASTE = ["--slurm-init-seconds-before-status-checks", "2", "--latency-wait", "5"]
PROFILE = ["--workflow-profile", "profiles/slurm"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with slurm_cluster.Cluster(tmp_path_factory.mktemp("slurm")) as running:
        yield running


def through(cluster: slurm_cluster.Cluster, house: House, *arguments: str) -> subprocess.Popen[str]:
    """Snakemake on the head node."""
    command = [*SNAKEMAKE, "--configfile", "tiny.yaml", *PROFILE, *HASTE, *arguments]
    return subprocess.Popen(
        command,
        cwd=house.folder,
        env=surroundings(**cluster.environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def kill_one(cluster: slurm_cluster.Cluster, head: subprocess.Popen[str], rule: str, killed: list[str]) -> None:
    """Cancel the first job of a rule as soon as it runs, as an administrator might."""
    while head.poll() is None:
        for job in cluster.jobs():
            if job["state"] == "RUNNING" and job["comment"].startswith(f"rule_{rule}"):
                cluster.run("scancel", job["id"])
                killed.append(job["id"])
                return
        time.sleep(0.2)


def test_a_study_through_slurm_has_the_bytes_of_a_local_one(cluster, tmp_path):
    houses = {}
    for name in ("local", "remote"):
        (tmp_path / name).mkdir()
        houses[name] = House(tmp_path / name)
        houses[name].configure(SMALL)
    targets = ["data", "results/figures/seelen2016_free_top.pdf"]
    killed: list[str] = []
    head = through(cluster, houses["remote"], *targets)
    killer = threading.Thread(target=kill_one, args=(cluster, head, "reference", killed))
    killer.start()
    try:
        houses["local"].run("--cores", "1", *targets)
        output, _ = head.communicate(timeout=1500)
    finally:
        head.kill()
        killer.join()
    assert head.returncode == 0, output
    jobs = {job["id"]: job for job in cluster.jobs()}

    (number,) = killed
    assert jobs[number]["state"] == "CANCELLED"
    again = [job for job in jobs.values() if job["comment"] == jobs[number]["comment"] and job["id"] != number]
    assert [job["state"] for job in again] == ["COMPLETED"], "the job that was killed is done again"
    first, second = (slurm_cluster.megabytes(job["memory"]) for job in (jobs[number], *again))
    assert (second, again[0]["time"]) == (2 * first, "40:00"), "and asks for more"
    assert {job["state"] for job in jobs.values()} == {"COMPLETED", "CANCELLED"}

    (timing,) = [job for job in jobs.values() if job["comment"] == "rule_timing"]
    assert timing["sharing"] == "NO" and timing["cpus"] == str(slurm_cluster.PROCESSORS), "it has the node to itself"
    reports = [job for job in jobs.values() if job["comment"].startswith("rule_report")]
    alone = [job for job in reports if job["comment"] == "rule_report_gather_ensembles"]
    assert (len(alone), len(reports)) == (1, 2), (
        "gathering, claims and figures are one job; only what no figure here reads is another"
    )
    assert all(int(job["cpus"]) <= 4 for job in reports), "each of a few cores"

    ours, theirs = houses["local"].data(), houses["remote"].data()
    assert set(ours) == set(theirs) and len(ours) > 20
    assert [name for name in ours if ours[name] != theirs[name]] == []
    figure = Path("results/figures/seelen2016_free_top.pdf")
    assert (houses["local"].folder / figure).read_bytes() == (houses["remote"].folder / figure).read_bytes()
    assert "results/timing.nc" not in ours and "timing" in TIMED


def test_a_job_that_fails_says_why_and_where(cluster, tmp_path):
    house = House(tmp_path)
    house.configure(SMALL)
    begin = "with library_of(snakemake):"
    house.edit("workflow/scripts/references.py", begin, f"{begin}\n    1 / 0")
    head = through(cluster, house, "--retries", "0", "results/references/spiral_cylinder.nc")
    output, _ = head.communicate(timeout=900)
    assert head.returncode != 0
    assert "division by zero" in output
    assert "results/logs/references/1.log" in output
    (log,) = re.findall(r"\S+slurm_logs/rule_references_1/\d+\.log", output)[:1]
    assert Path(log).is_file()


def test_an_interruption_empties_the_queue(cluster, tmp_path):
    house = House(tmp_path)
    house.configure(SMALL)
    before = {job["id"] for job in cluster.jobs()}
    head = through(cluster, house, "results/references/spiral_cylinder.nc", "results/many_body.nc")
    end = time.monotonic() + 600
    while time.monotonic() < end and head.poll() is None and len({job["id"] for job in cluster.jobs()} - before) < 2:
        time.sleep(0.2)
    head.send_signal(2)
    head.communicate(timeout=600)
    assert head.returncode != 0
    end = time.monotonic() + 300
    states = [""]
    while time.monotonic() < end and set(states) != {"CANCELLED"}:
        states = [job["state"] for job in cluster.jobs() if job["id"] not in before]
        time.sleep(0.2)
    assert states == ["CANCELLED"] * 2


def test_the_daemons_are_gone_when_something_fails(tmp_path):
    pids = []
    with pytest.raises(KeyError), slurm_cluster.Cluster(tmp_path / "slurm") as cluster:
        pids = [daemon.pid for daemon in cluster.daemons]
        raise KeyError
    assert len(pids) == 3
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
