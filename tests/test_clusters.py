"""The profiles for clusters; those of PBS and SGE with commands that take the arguments of the real ones."""

import dataclasses
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import fake_queue
import pytest
import studies
import yaml
from conftest import surroundings
from test_workflow import SNAKEMAKE, House

from polhode_study.chapters import job_of
from polhode_study.configuration import Study
from polhode_study.plan import Plan
from polhode_study.workflow import resources

#: Most of it waits for processes.
pytestmark = pytest.mark.thorough

HOME = Path(__file__).parents[1]
PROFILES = {path.parent.name: yaml.safe_load(path.read_text()) for path in (HOME / "profiles").glob("*/config.yaml")}
LOGGER = '?if LoggerPluginRegistry().is_installed("polhode")'
#: Scheduler of the fake queue -> its profile.
GENERIC = {"pbs": "cluster-generic", "sge": "sge"}
SCRIPTS = HOME / "profiles" / "cluster-generic"
#: Seconds until something must have happened, on a machine with much else to do.
LONG = 300.0


def needs(executor: str) -> pytest.MarkDecorator:
    """Skip a test where Snakemake's plugin is not installed."""
    missing = find_spec(f"snakemake_executor_plugin_{executor.replace('-', '_')}") is None
    return pytest.mark.skipif(missing, reason=f"Snakemake's plugin is not installed (./reproduce install {executor})")


class Head:
    """A head node: a folder in which Snakemake would run, and the commands of one scheduler."""

    def __init__(self, folder: Path, scheduler: str) -> None:
        self.folder = folder / "a house"
        self.folder.mkdir()
        (self.folder / "profiles").symlink_to(HOME / "profiles")
        self.queue = folder / "queue"
        self.profile = PROFILES[GENERIC[scheduler]]
        self.variables = fake_queue.install(scheduler, self.queue) | {"POLHODE_PATIENCE": "0"}

    def run(self, command: str, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("POLHODE_S")} | self.variables | variables
        return subprocess.run(
            command, shell=True, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=LONG, check=check
        )

    def submit(self, text: str, rule: str = "references", threads: int = 1, **requests: int | str) -> str:
        """Submit a job as Snakemake and its plugin do; the number of the job."""
        variables = {key: str(requests.pop(key)) for key in list(requests) if key.isupper()}
        wanted = SimpleNamespace(**({"mem_mb": 1500, "runtime": 20} | requests))
        script = self.folder / "snakejob.sh"
        work = f"cd {str(self.folder)!r} && {text} && exit 0 || exit 1"
        script.write_text((SCRIPTS / "jobscript.sh").read_text().format(properties=json.dumps({"rule": rule}), exec_job=work))
        command = os.path.expandvars(self.profile["cluster-generic-submit-cmd"])
        command = command.format(rule=rule, threads=threads, resources=wanted)
        return self.run(f'{command} "{script}"', **variables).stdout.strip()

    def status(self, number: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return self.run(f"{self.profile['cluster-generic-status-cmd']} '{number}'", **variables)

    def cancel(self, *numbers: str) -> None:
        self.run(" ".join([self.profile["cluster-generic-cancel-cmd"], *numbers]))

    def until(self, number: str, wanted: str) -> str:
        """Ask until the job is no longer running; what was said about it on the terminal."""
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            done = self.status(number)
            if done.stdout.strip() != "running":
                assert done.stdout.strip() == wanted, done.stderr
                return done.stderr
            time.sleep(0.1)
        raise AssertionError(f"still running: {number}")

    def place(self, number: str) -> Path:
        """The folder of a job in the queue."""
        return self.queue / "jobs" / number.split(".")[0]


def wait(happens: Callable[[], bool], seconds: float = LONG) -> None:
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture(params=GENERIC)
def head(request, tmp_path):
    return Head(tmp_path, request.param)


def test_pbs_is_asked_for_cores_memory_time_and_a_whole_node(tmp_path):
    head = Head(tmp_path, "pbs")
    head.submit("true", threads=4, mem_mb=3001, runtime=95, POLHODE_SUBMIT_OPTIONS="-q long -A me")
    head.submit("true", rule="timing")
    job, timing = fake_queue.submitted(head.queue)
    assert job["l"] == ["select=1:ncpus=4:mem=3001mb", "walltime=5700"]
    assert (job["q"], job["A"]) == (["long"], ["me"]), "what the cluster requires"
    assert timing["l"] == ["select=1:ncpus=1:mem=1500mb", "walltime=1200", "place=excl"]


def test_sge_gets_cores_memory_of_each_time_and_whole_nodes(tmp_path):
    head = Head(tmp_path, "sge")
    head.submit("true", threads=4, mem_mb=3001, runtime=95, POLHODE_SUBMIT_OPTIONS="-q long")
    head.submit("true", threads=2, POLHODE_SGE_MEMORY="h_vmem", POLHODE_SGE_ENVIRONMENT="threads")
    head.submit("true", rule="timing")
    several, renamed, timing = fake_queue.submitted(head.queue)
    assert several["l"] == ["h_rt=5700", "mem_free=751M"] and several["pe"] == ["smp", "4"] and several["q"] == ["long"]
    assert renamed["l"] == ["h_rt=1200", "h_vmem=750M"] and renamed["pe"] == ["threads", "2"]
    assert timing["l"] == ["h_rt=1200", "mem_free=1500M", "exclusive=true"] and timing["pe"] == []


def test_a_job_that_ends_well(head):
    number = head.submit("echo done >result")
    assert head.until(number, "success") == ""
    assert (head.folder / "result").read_text() == "done\n"
    assert list((head.folder / ".snakemake" / "queue").iterdir()) == [], "nothing is kept of a job that ended well"


def test_a_job_that_fails_says_where_its_output_is(head):
    number = head.submit("echo why >&2 && false")
    said = head.until(number, "failed")
    assert f"job {number} failed with exit code 1; its output: " in said
    assert (head.folder / said.split("output: ")[1].strip()).read_text() == "why\n"


def test_a_job_that_is_killed_has_failed(head):
    number = head.submit("sleep 100")
    assert head.status(number).stdout == "running\n"
    head.cancel(number)
    assert f"job {number} was killed" in head.until(number, "failed")


def test_a_job_just_gone_is_waited_for(head):
    """A shared file system may show the note of the end late."""
    number = head.submit("sleep 100")
    head.cancel(number)
    wait((head.place(number) / "code").exists)
    assert head.status(number, POLHODE_PATIENCE="100").stdout == "running\n"
    assert head.status(number, POLHODE_PATIENCE="0").stdout == "failed\n"


def test_a_finished_job_that_pbs_still_shows_has_left_the_queue(tmp_path):
    head = Head(tmp_path, "pbs")
    number = head.submit("sleep 100")
    (head.place(number) / "history").touch()
    head.cancel(number)
    head.until(number, "failed")


def test_a_scheduler_that_does_not_answer_has_lost_nothing(head):
    number = head.submit("sleep 100")
    (head.queue / "jobs" / "down").mkdir()
    done = head.status(number)
    assert done.stdout == "running\n" and "gave no answer (cannot connect" in done.stderr
    (head.queue / "jobs" / "down").rmdir()
    assert head.status(number).stdout == "running\n"
    head.cancel(number)


def test_a_job_that_an_error_of_the_cluster_holds_will_not_run(tmp_path):
    head = Head(tmp_path, "sge")
    number = head.submit("sleep 100")
    (head.place(number) / "error").touch()
    done = head.status(number)
    assert done.stdout == "failed\n" and "will never run" in done.stderr and "password entry" in done.stderr
    assert (head.place(number) / "cancelled").exists()


def test_profiles_agree_where_they_should():
    clusters = {name: profile for name, profile in PROFILES.items() if name != "default"}
    assert set(clusters) == {"slurm", "lsf", "htcondor", "cluster-generic", "sge"}
    for name, profile in clusters.items():
        for key in ("keep-going", "rerun-incomplete", "nolock", "rerun-triggers", "__use_yte__", "__definitions__", LOGGER):
            assert profile[key] == PROFILES["default"][key], (name, key)
        for key in ("jobs", "resources", "latency-wait", "retries"):
            assert profile[key] == PROFILES["slurm"][key], (name, key)
        assert profile["default-resources"][:2] == PROFILES["slurm"]["default-resources"], name
        assert "max-jobs-per-timespan" not in profile and "cores" not in profile
    assert {key: value for key, value in clusters["sge"].items() if "-cmd" not in key} == {
        key: value for key, value in clusters["cluster-generic"].items() if "-cmd" not in key
    }


def test_no_job_is_waited_for_that_slurm_has_forgotten():
    """The plugin looks at least every 180 s, and asks sacct where finished jobs are kept for less than three times this."""
    profile = yaml.safe_load((HOME / "profiles" / "slurm" / "config.yaml").read_text())
    assert profile["slurm-status-command"] == "squeue"
    assert 3 * profile["slurm-init-seconds-before-status-checks"] >= 180


def rules() -> list[str]:
    """The texts of all rules that are jobs, behind the word."""
    texts = [path.read_text() for path in (HOME / "workflow" / "rules").glob("*.smk")]
    every = [rule for text in texts for rule in re.split(r"^ *rule\b", text, flags=re.MULTILINE)[1:]]
    return [rule for rule in every if "localrule: True" not in rule]


def test_every_rule_says_what_it_asks_for():
    """Not the profile alone: an account given on the command line replaces all its default resources."""
    for rule in rules():
        assert re.search(r"resources:\s+runtime=", rule) and "mem_mb=" in rule, f"rule{rule[:40]}"


def test_data_go_before_the_report_and_the_report_before_pages():
    """The priorities of rules, by their order on the longest way from the timing to the report."""
    priorities = {}
    for rule in rules():
        name = re.match(r' (\w+):|:\s+name:\s+f"(\w+?)_?\{', rule)
        given = re.search(r"priority: (\d)", rule)
        priorities[name[1] or name[2]] = int(given[1]) if given else 0
    first = {"timing": 4} | dict.fromkeys(("references", "single_body", "single_body_witnesses", "gather"), 3)
    first |= {"chapter": 1, "report": 1}
    last = {"notebook", "explorer", "animation", "captions", "provenance"}
    assert {name: priorities[name] for name in first} == first and {
        name for name in priorities if priorities[name] == 0
    } == last
    assert {name for name in priorities if priorities[name] == 2} == set(priorities) - set(first) - last


def test_further_attempts_ask_for_more():
    assert [resources.minutes(20)(None, attempt) for attempt in (1, 2, 3)] == [20, 40, 80]
    assert [resources.memory(1500)(None, attempt) for attempt in (1, 2, 3)] == [1500, 3000, 4500]


def test_long_runs_ask_for_more_time():
    study = studies.study()

    def longest(study: Study) -> int:
        parts = Plan(study, HOME).scene_parts["chess"]
        return max(resources.many_body_minutes(study.scenes["chess"], part)(None, 1) for part in parts)

    assert resources.MINUTES < longest(study) < resources.MINUTES + 10, "they take half a minute"
    # As published: 50 initial states; the longest job took 10 minutes.
    chess = study.scenes["chess"]
    assert 30 < longest(dataclasses.replace(study, scenes={"chess": dataclasses.replace(chess, seeds=50)})) < 120
    cylinder = study.problems["spiral_cylinder"]
    few, many = (resources.single_body_minutes(cylinder, cylinder.methods[:n])(None, 1) for n in (1, len(cylinder.methods)))
    assert resources.MINUTES <= few < many


def test_the_documentation_names_every_variable_and_profile():
    page = (HOME / "docs" / "running.md").read_text()
    code = "".join(path.read_text() for path in (HOME / "profiles").rglob("*.*"))
    for name in set(re.findall(r"POLHODE_[A-Z_]+", code)):
        assert f"`{name}`" in page, name
    for name in PROFILES:
        assert f"profiles/{name}" in page, name


# ---- through Snakemake ----


def dry_run(profile: str, *arguments: str) -> str:
    command = [*SNAKEMAKE, "-n", "--workflow-profile", f"profiles/{profile}", "--quiet", "host", "--directory", str(HOME)]
    done = subprocess.run(
        [*command, *arguments], cwd=HOME, capture_output=True, text=True, timeout=600, env=surroundings(), check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("profile", [pytest.param(name, marks=needs(name)) for name in ("lsf", "htcondor")])
def test_a_profile_of_a_plugin_is_read(profile, tmp_path):
    """What the plugin then tells the scheduler is its own affair."""
    said = dry_run(profile, "--config", f"results={tmp_path / 'results'}", "--", f"{tmp_path}/results/timing.nc")
    assert "rule timing:" in said and "runtime=20" in said and "mem_mb=1500" in said
    assert {"lsf": "lsf_extra=-x", "htcondor": "htcondor_request_mem_mb=1500, getenv=True"}[profile] in said


@pytest.mark.slow
@needs("cluster-generic")
def test_the_default_study_is_less_than_a_hundred_submissions(tmp_path):
    output = dry_run("cluster-generic", "--config", f"results={tmp_path / 'results'}")
    alone = re.findall(r"^rule (\w+):", output, re.MULTILINE)
    groups = re.findall(r"Group job (\w+) ", output)
    assert groups.count("report") == 1 and set(groups) == {"report", "film"}
    assert {"references_1", "checks_1", "timing", "many_body_chess_1"} <= set(alone)
    local = {"all", "data"}
    submissions = [name for name in alone if name not in local] + groups
    assert len(submissions) < 100, len(submissions)
    (said,) = re.findall(r"jobs sent to a cluster \| (\d+):", (HOME / "docs" / "running.md").read_text())
    assert len(submissions) == int(said), "docs/running.md says how many"
    inside = re.findall(r"^    rule (\w+):", output, re.MULTILINE)
    assert {"gather", "claims", f"chapter_{job_of('times')}", "report", "provenance"} <= set(inside)


#: Two jobs that need nothing, and one that waits for them.
TARGETS = ["results/references/spiral_cylinder.nc", "results/many_body.nc"]


def through(head: Head, scheduler: str, house: House, pause: int, **variables: str) -> subprocess.Popen[str]:
    """Snakemake on the head node, which asks for its jobs after each ``pause``, s."""
    haste = ["--latency-wait", "5", "--seconds-between-status-checks", str(pause)]
    profile = ["--workflow-profile", f"profiles/{GENERIC[scheduler]}"]
    command = [*SNAKEMAKE, "--configfile", "tiny.yaml", *profile, *haste, *TARGETS]
    environment = surroundings(**(head.variables | {"POLHODE_PATIENCE": "1"} | variables))
    return subprocess.Popen(
        command, cwd=house.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


@pytest.mark.slow
@needs("cluster-generic")
def test_jobs_in_the_queue_make_the_bytes_of_a_local_run(tmp_path):
    """Also where nothing of the environment comes along, and a job is killed on the way."""
    for name in ("local", "remote", "head"):
        (tmp_path / name).mkdir()
    local, remote = House(tmp_path / "local"), House(tmp_path / "remote")
    head = Head(tmp_path / "head", "pbs")
    process = through(head, "pbs", remote, 1, FAKE_BARE="1", POLHODE_SUBMIT_OPTIONS="-q long")
    try:
        wait(lambda: process.poll() is not None or len(fake_queue.submitted(head.queue)) == 2, 200)
        head.cancel("1.server")
        local.run("--cores", "1", *TARGETS)
        output, _ = process.communicate(timeout=900)
    finally:
        process.kill()
    assert process.returncode == 0, output
    assert "was killed: it left the queue without an end" in output
    jobs = fake_queue.submitted(head.queue)
    assert len(jobs) == 4 and {job["q"][0] for job in jobs} == {"long"}
    again = [job for job in jobs if Path(job["script"]).name == Path(jobs[0]["script"]).name]
    assert [job["l"][0] for job in again] == ["select=1:ncpus=1:mem=1500mb", "select=1:ncpus=1:mem=3000mb"], (
        "the next attempt asks for more"
    )
    ours, theirs = local.data(), remote.data()
    assert set(ours) == set(theirs) >= set(name.removeprefix("results/") for name in TARGETS)
    assert [name for name in theirs if ours[name] != theirs[name]] == []


@pytest.mark.slow
@needs("cluster-generic")
def test_an_interruption_cancels_what_is_in_the_queue(tmp_path):
    """Unless Snakemake is asking about a job at this moment: such a job is found again at the next start."""
    (tmp_path / "house").mkdir()
    house = House(tmp_path / "house")
    head = Head(tmp_path, "sge")
    process = through(head, "sge", house, 30)
    wait(lambda: process.poll() is not None or len(fake_queue.submitted(head.queue)) == 2, 200)
    time.sleep(4)  # Snakemake has read the second number, too, and has asked once
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=600)
    assert process.returncode != 0
    for job in fake_queue.submitted(head.queue):
        wait((head.place(job["id"]) / "code").exists)
        assert (head.place(job["id"]) / "cancelled").exists()
