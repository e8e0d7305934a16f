"""The profile for PBS, LSF, SGE and HTCondor, tried with commands that take the arguments of the real ones."""

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import fake_queue
import pytest
import yaml
from test_workflow import SNAKEMAKE, House, _environment

from polhode.study.configuration import Study, resolve
from polhode.study.plan import Plan
from polhode.study.workflow import resources

#: Most of it waits for processes.
pytestmark = pytest.mark.thorough

HOME = Path(__file__).parents[1]
PROFILE = HOME / "profiles" / "cluster-generic"
SCHEDULERS = sorted(path.stem for path in (PROFILE / "schedulers").glob("*.py") if path.stem != "__init__")
PLUGIN = pytest.mark.skipif(
    find_spec("snakemake_executor_plugin_cluster_generic") is None,
    reason="Snakemake's plugin is not installed (./reproduce install cluster-generic)",
)
#: Seconds until something must have happened, on a machine with much else to do.
LONG = 60.0


class Head:
    """A head node: a folder in which Snakemake would run, and the commands of one scheduler."""

    def __init__(self, folder: Path, scheduler: str) -> None:
        self.folder = folder / "a house"
        self.folder.mkdir()
        self.queue = folder / "queue"
        self.variables = fake_queue.install(scheduler, self.queue) | {"POLHODE_PATIENCE": "0", "PYTHONDONTWRITEBYTECODE": "1"}

    def script(self, text: str, **properties: object) -> Path:
        """A job script as Snakemake writes it."""
        file = self.folder / "snakejob.sh"
        found = {"type": "single", "rule": "references", "threads": 1, "resources": {"mem_mb": 1500, "runtime": 20}}
        found |= properties
        file.write_text(
            f"#!/bin/sh\n# properties = {json.dumps(found)}\ncd {str(self.folder)!r} && {text} && exit 0 || exit 1\n"
        )
        return file

    def run(self, name: str, *arguments: str, check: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(PROFILE / f"{name}.py"), *arguments]
        kept = {k: v for k, v in os.environ.items() if not k.startswith("POLHODE_S")} | self.variables | variables
        return subprocess.run(command, cwd=self.folder, env=kept, capture_output=True, text=True, timeout=LONG, check=check)

    def submit(self, text: str, properties: dict | None = None, **variables: str) -> str:
        return self.run("submit", str(self.script(text, **properties or {})), **variables).stdout.strip()

    def status(self, number: str, **variables: str) -> str:
        return self.run("status", number, **variables).stdout.strip()

    def until(self, number: str, wanted: str) -> str:
        """Ask until the job is no longer running; what was said about it on the terminal."""
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            done = self.run("status", number)
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


@pytest.fixture(params=SCHEDULERS)
def head(request, tmp_path):
    return Head(tmp_path, request.param)


def only(scheduler: str, tmp_path: Path) -> Head:
    return Head(tmp_path, scheduler)


def test_every_scheduler_has_a_fake():
    assert set(SCHEDULERS) == set(fake_queue.COMMANDS) == {"pbs", "lsf", "sge", "htcondor"}


ASKED = {"threads": 4, "resources": {"mem_mb": 3001, "runtime": 95}}


def test_pbs_is_asked_for_cores_memory_and_time(tmp_path):
    head = only("pbs", tmp_path)
    head.submit("true", ASKED)
    (asked,) = fake_queue.submitted(head.queue)
    assert asked["l"] == ["select=1:ncpus=4:mem=3001mb", "walltime=01:35:00"]
    assert asked["name"] == "polhode-referen", "15 characters"


def test_lsf_is_asked_for_cores_memory_and_time(tmp_path):
    head = only("lsf", tmp_path)
    head.submit("true", ASKED)
    (asked,) = fake_queue.submitted(head.queue)
    assert (asked["n"], asked["W"], asked["M"]) == ("4", "95", "3001MB")
    assert asked["R"] == "span[hosts=1] rusage[mem=3001MB]" and not asked["x"]


def test_sge_is_asked_for_cores_memory_of_each_and_time(tmp_path):
    head = only("sge", tmp_path)
    head.submit("true", ASKED)
    head.submit("true", POLHODE_SGE_MEMORY="h_vmem", POLHODE_SGE_ENVIRONMENT="threads")
    several, one = fake_queue.submitted(head.queue)
    assert several["l"] == ["h_rt=01:35:00", "mem_free=751M"] and several["pe"] == ["smp", "4"]
    assert one["l"] == ["h_rt=00:20:00", "h_vmem=1500M"] and one["pe"] == []


def test_htcondor_is_asked_for_cores_memory_and_time(tmp_path):
    head = only("htcondor", tmp_path)
    head.submit("true", ASKED)
    (asked,) = fake_queue.submitted(head.queue)
    assert (asked["request_cpus"], asked["request_memory"]) == ("4", "3001MB")
    assert asked["periodic_remove"].endswith("> 5700)") and asked["should_transfer_files"] == "NO"


@pytest.mark.parametrize(
    ("scheduler", "where", "what"),
    [("pbs", "l", "place=excl"), ("sge", "l", "exclusive=true"), ("lsf", "x", True)],
)
def test_the_timing_has_a_node_of_its_own(scheduler, where, what, tmp_path):
    head = only(scheduler, tmp_path)
    properties = {"rule": "timing", "resources": {"mem_mb": 1500, "runtime": 20, "exclusive": 1}}
    head.submit("true", properties)
    (asked,) = fake_queue.submitted(head.queue)
    assert asked[where] == what or what in asked[where]


def test_the_cluster_s_own_wishes_are_handed_on(tmp_path):
    head = only("pbs", tmp_path)
    head.submit("true", POLHODE_SUBMIT_OPTIONS="-q long -A 'our project'")
    (asked,) = fake_queue.submitted(head.queue)
    assert asked["q"] == ["long"]


def test_a_group_is_named_after_it(head):
    head.submit("true", {"type": "group", "rule": None, "groupid": "report"})
    (asked,) = fake_queue.submitted(head.queue)
    assert asked["name"] == "polhode-report"


def test_a_job_that_ends_well(head):
    number = head.submit("echo done >result")
    assert head.until(number, "success") == ""
    assert (head.folder / "result").read_text() == "done\n"
    left = [path for path in (head.folder / ".snakemake" / "queue").iterdir()]
    assert left == [], "nothing is kept of a job that ended well"


def test_a_job_that_fails_says_where_its_output_is(head):
    number = head.submit("echo why >&2 && false")
    said = head.until(number, "failed")
    assert f"job {number} failed with exit code 1; output: " in said
    assert Path(said.split("output: ")[1].strip()).read_text() == "why\n"


def test_a_job_that_is_killed_has_failed(head):
    number = head.submit("sleep 100")
    assert head.status(number) == "running"
    head.run("cancel", number)
    said = head.until(number, "failed")
    assert f"job {number} was killed" in said


def test_a_job_just_gone_is_waited_for(head):
    """A shared file system may show the note of the end late."""
    number = head.submit("sleep 100")
    head.run("cancel", number)
    wait((head.place(number) / "code").exists)
    assert head.status(number, POLHODE_PATIENCE="100") == "running"
    assert head.status(number, POLHODE_PATIENCE="0") == "failed"
    assert "nothing is known" in head.run("status", number).stderr, "an end is told once"


def test_a_job_that_the_scheduler_has_forgotten_is_judged_by_its_own_note(head):
    number = head.submit("true")
    wait((head.place(number) / "code").exists)
    (head.place(number) / "forgotten").touch()
    assert head.status(number) == "success"


def test_a_finished_job_that_pbs_still_shows_has_left_the_queue(tmp_path):
    head = only("pbs", tmp_path)
    number = head.submit("sleep 100")
    (head.place(number) / "history").touch()
    head.run("cancel", number)
    head.until(number, "failed")


def test_a_scheduler_that_does_not_answer_has_lost_nothing(head):
    number = head.submit("sleep 100")
    (head.queue / "jobs" / "down").mkdir()
    done = head.run("status", number)
    assert done.stdout == "running\n" and "gave no answer" in done.stderr
    (head.queue / "jobs" / "down").rmdir()
    assert head.status(number) == "running"
    head.run("cancel", number)


@pytest.mark.parametrize(("scheduler", "verdict"), [("sge", "failed"), ("htcondor", "failed"), ("pbs", "running")])
def test_a_job_that_is_held(scheduler, verdict, tmp_path):
    """By an error of the cluster: it will not run. By its user: it will."""
    head = only(scheduler, tmp_path)
    number = head.submit("sleep 100")
    (head.place(number) / "held").touch()
    done = head.run("status", number)
    assert done.stdout.strip() == verdict
    assert (verdict == "failed") == ("will never run" in done.stderr)
    head.run("cancel", number)


def test_several_jobs_are_cancelled_at_once(head):
    numbers = [head.submit("sleep 100") for _ in range(3)]
    head.run("cancel", *numbers)
    for number in numbers:
        head.until(number, "failed")


def test_what_is_left_in_the_queue_is_cancelled_when_snakemake_ends(head):
    done, left = head.submit("true"), head.submit("sleep 100")
    head.until(done, "success")
    command = [sys.executable, str(PROFILE / "sidecar.py")]
    process = subprocess.Popen(command, cwd=head.folder, env=os.environ | head.variables, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGINT)
    assert head.status(left) == "running", "Ctrl-C alone is for Snakemake"
    process.terminate()
    assert process.wait(LONG) == 0
    head.until(left, "failed")
    assert (head.place(left) / "cancelled").exists() and not (head.place(done) / "cancelled").exists()


def test_a_submission_that_fails_says_why(head):
    program = next(path for path in (head.queue / "bin").iterdir() if path.name in ("qsub", "bsub", "condor_submit"))
    program.write_text("#!/bin/sh\necho 'no such queue' >&2\nexit 3\n")
    done = head.run("submit", str(head.script("true")), check=False)
    assert done.returncode != 0 and "no such queue" in done.stderr and "ended with 3" in done.stderr


def test_no_scheduler_is_said(tmp_path):
    head = only("pbs", tmp_path)
    for variables in ({"PATH": "/nowhere"}, {"POLHODE_SCHEDULER": "slurm"}):
        done = head.run("submit", str(head.script("true")), check=False, **variables)
        assert done.returncode == 1 and "set POLHODE_SCHEDULER to one of lsf, htcondor, sge, pbs" in done.stderr


def test_the_scheduler_is_found_by_its_commands(head):
    command = [sys.executable, "-c", "import schedulers; print(schedulers.scheduler().__name__)"]
    path = os.pathsep.join([str(head.queue / "bin"), "/usr/bin", "/bin"])
    done = subprocess.run(command, cwd=PROFILE, env=head.variables | {"PATH": path}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"schedulers.{head.variables['FAKE_SCHEDULER']}"


def test_the_profile_s_commands_are_there():
    profile = yaml.safe_load((PROFILE / "config.yaml").read_text())
    for name in ("submit", "status", "cancel", "sidecar"):
        command = HOME / profile[f"cluster-generic-{name}-cmd"]
        assert command == PROFILE / f"{name}.py" and os.access(command, os.X_OK)


def test_profiles_agree_where_they_should():
    ours, slurm, default = (
        yaml.safe_load((HOME / "profiles" / name / "config.yaml").read_text())
        for name in ("cluster-generic", "slurm", "default")
    )
    for key in ("keep-going", "rerun-incomplete", "rerun-triggers", "quiet"):
        assert ours[key] == slurm[key] == default[key]
    for key in ("jobs", "default-resources", "resources", "latency-wait", "retries"):
        assert ours[key] == slurm[key]
    for profile in (ours, slurm):
        assert "max-jobs-per-timespan" not in profile and "cores" not in profile


def test_no_job_is_waited_for_that_slurm_has_forgotten():
    """The plugin looks at least every 180 s, and asks sacct where finished jobs are kept for less than three times this."""
    profile = yaml.safe_load((HOME / "profiles" / "slurm" / "config.yaml").read_text())
    assert profile["slurm-status-command"] == "squeue"
    assert 3 * profile["slurm-init-seconds-before-status-checks"] >= 180


def test_every_rule_says_what_it_asks_for():
    """Not the profile alone: an account given on the command line replaces all its default resources."""
    for path in (HOME / "workflow" / "rules").glob("*.smk"):
        for rule in re.split(r"^ *rule\b", path.read_text(), flags=re.MULTILINE)[1:]:
            assert re.search(r"resources:\s+runtime=", rule) and "mem_mb=" in rule, f"{path.name}: rule{rule[:40]}"


def test_data_go_before_the_report_and_the_report_before_pages():
    """The priorities of rules, by their order on the longest way from the timing to the report."""
    found = {}
    for path in (HOME / "workflow" / "rules").glob("*.smk"):
        for rule in re.split(r"^ *rule\b", path.read_text(), flags=re.MULTILINE)[1:]:
            name = re.match(r' (\w+):|:\s+name:\s+f"(\w+?)_?\{', rule)
            given = re.search(r"priority: (\d)", rule)
            found[name[1] or name[2]] = int(given[1]) if given else 0
    first = {"timing": 4} | dict.fromkeys(("references", "single_body", "gather"), 3) | {"chapter": 1, "report": 1}
    last = {"notebook", "explorer", "animation", "captions", "provenance"}
    assert {name: found[name] for name in first} == first and {name for name in found if found[name] == 0} == last
    assert {name for name in found if found[name] == 2} == set(found) - set(first) - last


def test_further_attempts_ask_for_more():
    assert [resources.minutes(20)(None, attempt) for attempt in (1, 2, 3)] == [20, 40, 80]
    assert [resources.memory(1500)(None, attempt) for attempt in (1, 2, 3)] == [1500, 3000, 4500]


def test_long_runs_ask_for_more_time():
    study = resolve(yaml.safe_load((HOME / "config.yaml").read_text()), HOME)

    def longest(study: Study) -> int:
        parts = Plan(study, HOME).scene_parts["chess"]
        return max(resources.many_body_minutes(study.scenes["chess"], part)(None, 1) for part in parts)

    assert resources.MINUTES < longest(study) < resources.MINUTES + 10, "they take half a minute"
    # As published: 50 initial states; the longest job took 10 minutes.
    chess = study.scenes["chess"]
    assert 30 < longest(dataclasses.replace(study, scenes={"chess": dataclasses.replace(chess, seeds=50)})) < 120
    part = study.problems["spiral_cylinder"]
    few, many = (resources.single_body_minutes(part, part.methods[:n])(None, 1) for n in (1, len(part.methods)))
    assert resources.MINUTES <= few < many


def test_the_documentation_names_every_variable_and_scheduler():
    page = (HOME / "docs" / "running.md").read_text()
    code = "".join(path.read_text() for path in PROFILE.rglob("*.py"))
    for name in set(re.findall(r"POLHODE_[A-Z_]+", code)):
        assert f"`{name}" in page or f"{name}=" in page, name
    for scheduler in SCHEDULERS:
        assert f"`{scheduler}`" in page or f"={scheduler}" in page


# ---- through Snakemake ----


@pytest.mark.slow
@PLUGIN
def test_the_default_study_is_about_a_hundred_submissions(tmp_path):
    command = [*SNAKEMAKE, "-n", "--workflow-profile", "profiles/cluster-generic", "--quiet", "host"]
    where = ["--config", f"results={tmp_path / 'results'}", "--directory", str(HOME)]
    done = subprocess.run([*command, *where], cwd=HOME, capture_output=True, text=True, timeout=600, env=_environment())
    assert done.returncode == 0, done.stderr
    output = done.stdout + done.stderr
    alone = re.findall(r"^rule (\w+):", output, re.MULTILINE)
    groups = re.findall(r"Group job (\w+) ", output)
    assert groups.count("report") == 1 and set(groups) == {"report", "film"}
    assert {"references_1", "check", "timing", "many_body_chess_1"} <= set(alone)
    local = {"all", "data"}
    submissions = [name for name in alone if name not in local] + groups
    assert len(submissions) < 115, len(submissions)
    (said,) = re.findall(r"jobs sent to a cluster \| (\d+):", (HOME / "docs" / "running.md").read_text())
    assert len(submissions) == int(said), "docs/running.md says how many"
    inside = re.findall(r"^    rule (\w+):", output, re.MULTILINE)
    assert {"gather", "claims", "chapter_times", "report", "provenance"} <= set(inside)


#: Two jobs that need nothing, and one that waits for them.
TARGETS = ["results/references/spiral_cylinder.nc", "results/many_body.nc"]


def through(head: Head, house: House, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    """Snakemake on the head node."""
    haste = ["--latency-wait", "5", "--seconds-between-status-checks", "1"]
    command = [*SNAKEMAKE, "--configfile", "tiny.yaml", "--workflow-profile", "profiles/cluster-generic", *haste, *arguments]
    kept = _environment() | head.variables | {"POLHODE_PATIENCE": "1"} | variables
    return subprocess.Popen(command, cwd=house.folder, env=kept, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.slow
@PLUGIN
def test_jobs_in_the_queue_make_the_bytes_of_a_local_run(tiny_study, tmp_path):
    """Also where nothing of the environment comes along, and a job is killed on the way."""
    (tmp_path / "remote").mkdir()
    remote = House(tmp_path / "remote")
    (tmp_path / "head").mkdir()
    head = Head(tmp_path / "head", "pbs")
    process = through(head, remote, *TARGETS, FAKE_BARE="1", POLHODE_SUBMIT_OPTIONS="-q long")
    try:
        wait(lambda: process.poll() is not None or len(fake_queue.submitted(head.queue)) == 2, 200)
        head.run("cancel", "1.server")
        output, _ = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, output
    assert "was killed: it left the queue without an end" in output
    asked = fake_queue.submitted(head.queue)
    assert len(asked) == 4 and {job["q"][0] for job in asked} == {"long"}
    sizes = sorted(next(part for part in job["l"] if "select" in part) for job in asked if job["name"] == asked[0]["name"])
    assert sizes == ["select=1:ncpus=1:mem=1500mb", "select=1:ncpus=1:mem=3000mb"], "the next attempt asks for more"
    ours, theirs = House.at(tiny_study).data(), remote.data()
    assert set(ours) >= set(theirs) >= set(name.removeprefix("results/") for name in TARGETS)
    assert [name for name in theirs if ours[name] != theirs[name]] == []


@pytest.mark.slow
@PLUGIN
def test_an_interruption_cancels_what_is_in_the_queue(tmp_path):
    (tmp_path / "house").mkdir()
    house = House(tmp_path / "house")
    head = Head(tmp_path, "sge")
    process = through(head, house, *TARGETS)
    queue = house.folder / ".snakemake" / "queue"
    wait(lambda: process.poll() is not None or len(list(queue.glob("*.job"))) == 2, 200)
    time.sleep(2)  # Snakemake has read the second number, too
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=100)
    assert process.returncode != 0
    for job in fake_queue.submitted(head.queue):
        wait((head.place(job["id"]) / "code").exists)
        assert (head.place(job["id"]) / "cancelled").exists()
