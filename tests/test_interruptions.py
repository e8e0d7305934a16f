"""A study that is stopped in five ways goes on to the same bytes, and what stands in its way is said or tidied up."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from studies import reduced
from test_workflow import House

from polhode_study.workflow import locks

HOME = Path(__file__).parents[1]
#: A problem of one body with one run of some seconds, and two runs of many bodies; no times, no figures.
SMALL = reduced(
    {
        "spiral_cylinder": {
            "dt": {"published": {"geometric": [1e-7, 1e-1, 7]}, "fit": {"divisions": [16, 256, 5]}},
            "samples": 4,
            "check_until": 0.2,
            "long_run": None,
            "targets": None,
        },
    },
    {"rods": {"methods": ["spiral_leapfrog"], "horizon": 0.1, "seeds": 3, "samples": 5, "film": None}},
    methods=["spiral_leapfrog", "euler"],
    digits=20,
)
TARGETS = ["results/single_body.nc", "results/many_body.nc"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(locks.fcntl is None, reason="there are no locks and signals of this kind on this system"),
]


class Small(House):
    """The house of a small study, with an environment of its own, made from that of the tests in no time."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        super().__init__(folder)
        self.configure(SMALL)
        self.make_environment()

    @property
    def results(self) -> Path:
        return self.folder / "results"

    def start(self, *targets: str, more: tuple[str, ...] = ()) -> subprocess.Popen:
        """``./reproduce`` at work, in a process group of its own."""
        return self.reproduce(*targets, "--configfile", "tiny.yaml", "--cores", "2", *more)

    def finish(self, *targets: str) -> str:
        process = self.start(*(targets or TARGETS))
        said = process.communicate(timeout=600)[0]
        assert process.returncode == 0, said
        return said

    def matches(self, pattern: str) -> set[tuple[str, int, int]]:
        """The files that match, with what tells a file from another one of its name."""
        files = set()
        for path in self.results.glob(pattern):
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            files.add((str(path), status.st_ino, status.st_mtime_ns))
        return files

    def reach(self, process: subprocess.Popen, pattern: str, before: set) -> None:
        """Wait for a file that was not there before."""
        end = time.monotonic() + 600
        while not self.matches(pattern) - before:
            assert process.poll() is None, f"the run ended before there was a {pattern}:\n{process.communicate()[0]}"
            assert time.monotonic() < end, f"no {pattern} in 600 s"
            time.sleep(0.01)

    def outcome(self) -> dict[str, bytes]:
        """Everything that is the same in every run."""
        paths = [path for path in self.results.rglob("*") if path.is_file()]
        of_one_run = {"logs", "benchmarks", "written"}
        names = {str(path.relative_to(self.results)): path for path in paths}
        return {name: path.read_bytes() for name, path in names.items() if name.split("/")[0] not in of_one_run}


def of_session(process: subprocess.Popen) -> list[psutil.Process]:
    """The processes that a run has started and that still work."""
    members = []
    for other in psutil.process_iter():
        try:
            if os.getsid(other.pid) == process.pid and other.status() != psutil.STATUS_ZOMBIE:
                members.append(other)
        except (psutil.Error, OSError):
            continue
    return members


# ---- ways to stop a run ----


def kill(process):
    """SIGKILL to the process of ./reproduce alone."""
    process.kill()


def kill_group(process):
    os.killpg(process.pid, signal.SIGKILL)


def terminate_group(process):
    os.killpg(process.pid, signal.SIGTERM)


def terminate_twice(process):
    process.terminate()
    time.sleep(0.2)
    process.terminate()


def kill_a_job(process):
    """As the system does when memory runs out."""
    jobs = [job for job in of_session(process) if any(".snakemake/scripts/" in word for word in job.cmdline())]
    python = [job for job in jobs if "python" in job.name()]
    python[-1].kill()


#: Other signals end in the same handler (tests/test_locks.py); Ctrl-C on a terminal is in tests/test_watching.py.
#: What is asked for, what is deleted first, the moment (a new file that matches), and what happens then.
KILLS = [
    ("results/references/spiral_cylinder.nc", "", "logs/references/*.log", kill),
    ("results/single_body.nc", "", "runs/*/*/*.nc", kill_group),
    ("results/single_body.nc", "runs/spiral_cylinder/*/*.nc", "runs/spiral_cylinder/*/*.nc", kill_a_job),
    ("results/single_body.nc", "", "logs/gather.log", terminate_twice),
    ("results/many_body.nc", "", "many_body/*/*/*.nc", terminate_group),
]
#: What is missing before the first of them: all that they ask for of one problem and of the rods.
MISSING = ("*_body.nc", "references/spiral_cylinder.nc", "*/spiral_cylinder/**/*.nc", "many_body/**/*.nc", "logs/**/*.log")


@pytest.fixture
def copied(tiny_study, tmp_path):
    """A copy of the finished tiny study that a test may change."""
    house = Small.at(tiny_study).copied(tmp_path / "copy")
    house.make_environment()
    return house


@pytest.mark.thorough
def test_five_kills_and_the_same_bytes(copied):
    house, undisturbed = copied, copied.outcome()
    for path in [path for pattern in MISSING for path in house.results.glob(pattern)]:
        path.unlink()
    left_over = house.outcome().keys()
    assert undisturbed.keys() - left_over > {"single_body.nc", "many_body.nc", "references/spiral_cylinder.nc"}
    for number, (target, deleted, moment, act) in enumerate(KILLS, 1):
        if deleted:
            for path in house.results.glob(deleted):
                path.unlink()
        before = house.matches(moment)
        process = house.start(target)
        house.reach(process, moment, before)
        act(process)
        began = time.monotonic()
        said = process.communicate(timeout=600)[0]
        story = f"kill {number}, {act.__name__} at {moment}:\n{said}"
        assert process.returncode != 0, story
        while left := of_session(process):
            assert time.monotonic() - began < 30, f"still there: {left}, {story}"
            time.sleep(0.05)
        assert "Traceback" not in said, story
        if act in (terminate_group, terminate_twice):
            assert "stopping all jobs; finished work is kept" in said, story
            assert not (house.results / locks.NAME).exists(), story
        elif act is not kill_a_job:
            assert (house.results / locks.NAME).exists(), story
    said = house.finish()
    made = house.outcome()
    assert made.keys() == undisturbed.keys(), said
    assert [name for name in made if made[name] != undisturbed[name]] == []
    assert not list(house.results.rglob(".*")), "temporary files and locks are gone"


@pytest.mark.thorough
def test_a_killed_run_is_noticed_and_a_live_one_is_named(copied):
    (copied.results / "single_body.nc").unlink()
    left = copied.results / "runs" / ".euler.nc.abcdefgh.nc"
    left.write_text("half a file")
    moment = "logs/gather.log"
    before = copied.matches(moment)
    process = copied.start("results/single_body.nc")
    copied.reach(process, moment, before)
    assert not left.exists()
    os.killpg(process.pid, signal.SIGSTOP)
    second = copied.start()
    said = second.communicate(timeout=600)[0]
    assert second.returncode != 0 and "Traceback" not in said
    assert f"is in use: process {process.pid} of " in said and f"kill {process.pid}" in said and socket.gethostname() in said
    assert "gather" in copied.run("-n", *TARGETS), "a dry run is not refused"
    os.killpg(process.pid, signal.SIGCONT)
    os.killpg(process.pid, signal.SIGKILL)
    first = process.communicate(timeout=600)[0]
    assert "1 temporary file\n" in first
    assert not list((copied.folder / ".snakemake" / "locks").iterdir()), "Snakemake's own lock is switched off"
    said = copied.finish("results/single_body.nc")
    assert re.search(rf"was killed \(process {process.pid}, since [-0-9: ]+UTC\); its lock is removed", said)
    assert "The report" not in said


@pytest.mark.thorough
def test_the_checkout_may_have_any_name(tmp_path):
    house = Small(tmp_path / """it's "a house" (1); exit $HOME & co""")
    house.finish("results/references/spiral_cylinder.nc")
    assert (house.results / "references" / "spiral_cylinder.nc").is_file()


@pytest.mark.parametrize("name", ["a{b}", "a\\b"])
def test_a_name_that_cannot_be_is_refused_with_the_reason(tmp_path, name):
    house = Small(tmp_path / name)
    for said in (house.run("-n", fails=True), house.start("-n").communicate(timeout=600)[0]):
        assert "contains" in said and "rename the folder" in said and "Traceback" not in said


@pytest.mark.thorough
def test_a_full_disk(copied, tmp_path):
    """Of the results; the run ends with a word, and goes on to the same bytes where there is room."""
    if os.geteuid() != 0 or sys.platform != "linux":
        pytest.skip("a small disk of its own needs root on Linux")
    expected = copied.outcome()
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("this root may not mount")
    try:
        shutil.rmtree(copied.results)
        copied.results.symlink_to(disk)
        process = copied.start(TARGETS[1])
        said = process.communicate(timeout=600)[0]
        assert process.returncode != 0 and "is full (0.0 MB are free); make room" in said, said
        subprocess.run(["mount", "-o", "remount,size=100m", disk], check=True)
        copied.finish(TARGETS[1])
        made = copied.outcome()
        assert made and {name: expected[name] for name in made} == made
    finally:
        subprocess.run(["umount", "-l", disk], check=True)
