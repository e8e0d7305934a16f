"""One run in a folder of results at a time; what a killed run leaves goes, what is not ours stays; jobs end with their head."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from polhode_study.report import typeset
from polhode_study.workflow import locks, signals

HOME = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(locks.fcntl is None, reason="there are no locks on this system")

HOLD = """
import sys, time
from polhode_study.workflow import locks
try:
    locks.begin(sys.argv[1])
except locks.LockedError as error:
    sys.exit(str(error))
print("holds", flush=True)
time.sleep(float(sys.argv[2]))
"""


def environment(**more):
    return os.environ | {"PYTHONPATH": str(HOME / "src"), "PYTHONDONTWRITEBYTECODE": "1"} | more


def holder(results, seconds=60.0, cwd=None):
    """A process that begins a run in ``results``; once it has begun, or failed to."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(results), str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=environment(),
    )
    process.begun = process.stdout.readline() == "holds\n"
    return process


def end(process, number=signal.SIGKILL):
    process.send_signal(number)
    return process.communicate(timeout=600)[1]


@pytest.mark.thorough
def test_a_live_run_is_named_and_a_killed_one_is_replaced(tmp_path):
    results, checkouts = tmp_path / "results", [tmp_path / "one", tmp_path / "two"]
    for checkout in checkouts:
        checkout.mkdir()
    first = holder(results, cwd=checkouts[0])
    assert first.begun
    second = holder(results, cwd=checkouts[1])
    message = second.communicate(timeout=600)[1]
    assert second.returncode == 1 and not second.begun
    for words in (f"process {first.pid} of ", socket.gethostname(), f"kill {first.pid}", str(checkouts[0]), "results=FOLDER"):
        assert words in message
    since = json.loads((results / locks.NAME).read_text())["since"]
    assert f"since {since}" in message
    assert "rm " not in message, "the lock of a live run is not to be removed"
    end(first)
    third = holder(results, 0, cwd=checkouts[1])
    message = third.communicate(timeout=600)[1]
    assert third.begun and f"was killed (process {first.pid}, since {since}); its lock is removed" in message
    assert list(results.iterdir()) == [], "after an orderly end nothing is left"
    fourth = holder(results, 0)
    assert fourth.communicate(timeout=600)[1] == "" and fourth.begun


@pytest.mark.thorough
def test_only_one_of_many_that_start_at_once_begins(tmp_path):
    processes = [
        subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path), "4"], stdout=-1, stderr=-1, text=True, env=environment())
        for _ in range(5)
    ]
    assert sorted(process.communicate(timeout=600)[0] for process in processes) == ["", "", "", "", "holds\n"]
    assert list(tmp_path.iterdir()) == []


def left(tmp_path, **changes):
    """The lock of a run that is gone."""
    content = {"host": socket.gethostname(), "pid": 2**22 + 1, "born": 1.0, "user": "me", "since": "then", "folder": "/there"}
    (tmp_path / locks.NAME).write_text(json.dumps(content | changes))


def test_the_lock_of_another_machine_is_not_taken(tmp_path):
    """Where a file system keeps locks to each machine, only its people can know."""
    left(tmp_path, host="elsewhere")
    with pytest.raises(locks.LockedError, match=rf"on elsewhere: ps -p {2**22 + 1}\), remove the lock.*rm '{tmp_path}/.lock'"):
        locks.take(tmp_path)
    assert (tmp_path / locks.NAME).is_file()


def test_without_locks_of_the_system_the_process_counts(tmp_path, monkeypatch):
    def unknown(*arguments):
        raise OSError(95, "not supported")

    monkeypatch.setattr(locks.fcntl, "flock", unknown)
    process = holder(tmp_path)
    with pytest.raises(locks.LockedError, match=f"process {process.pid}"):
        locks.take(tmp_path)
    end(process)
    assert locks.take(tmp_path)["pid"] == process.pid
    locks._release(tmp_path / locks.NAME, os.getpid())
    left(tmp_path, pid=os.getpid(), born=1.0)
    assert locks.take(tmp_path)["born"] == 1.0, "another process has had the number"
    locks._release(tmp_path / locks.NAME, os.getpid())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "{", "[]", '{"host": 1}', "\0\0"])
def test_a_broken_lock_is_no_lock(tmp_path, content):
    (tmp_path / locks.NAME).write_text(content)
    assert locks.take(tmp_path) is None
    locks._release(tmp_path / locks.NAME, os.getpid())


@pytest.mark.parametrize("kind", ["a link out", "a link inside", "a link to nothing", "a second name", "a pipe", "a folder"])
def test_what_is_no_lock_is_left_alone(tmp_path, kind):
    results, precious = tmp_path / "res", tmp_path / "precious"
    results.mkdir()
    lock, data = results / locks.NAME, results / "single_body.nc"
    for path in (precious, data):
        path.write_text("precious")
    if kind.startswith("a link"):
        lock.symlink_to({"a link out": precious, "a link inside": data, "a link to nothing": tmp_path / "new"}[kind])
    elif kind == "a second name":
        os.link(data, lock)
    elif kind == "a pipe":
        os.mkfifo(lock)
    else:
        lock.mkdir()
    before = os.lstat(lock)
    with pytest.raises(
        locks.LockedError, match=r"res/\.lock is no lock of a run, but a link, a folder or a pipe; move it away"
    ):
        locks.take(results)
    assert precious.read_text() == data.read_text() == "precious" and os.lstat(lock).st_ino == before.st_ino
    assert sorted(path.name for path in tmp_path.iterdir()) == ["precious", "res"]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "runs"),
    [
        ("--cores 1", True),
        ("--cores 1 --verbose data -- report", True),
        ("-n", False),
        ("--cores 1 --dryrun", False),
        ("--unlock", False),
        ("--cores 1 --lint", False),
        ("--summary", False),
        ("--dag", False),
    ],
)
def test_only_a_command_that_runs_jobs_takes_the_lock(monkeypatch, capsys, words, runs):
    main, job = SimpleNamespace(is_main_process=True), SimpleNamespace(is_main_process=False)
    monkeypatch.chdir(HOME)
    for program in ("/somewhere/bin/snakemake", "snakemake/__main__.py"):
        monkeypatch.setattr(sys, "argv", [program, *words.split()])
        assert locks.will_run(main) == runs and not locks.will_run(job)
    monkeypatch.setattr(sys, "argv", ["another_program.py", *words.split()])
    assert not locks.will_run(main)
    assert capsys.readouterr() == ("", "")


def test_unfinished_files_go_and_nothing_else(tmp_path):
    ours = [".single_body.nc.abcd_123.nc", "cells/a/.0.001.nc.zzzzzzzz.nc", "logs/.log.01234567", "s/.0.nc.aaaaaaaa.nc"]
    theirs = [".notes", ".a.txt", ".a.nc.abcd1234.txt", "x.abcd1234.nc", ".x.nc.ABCD1234.nc", ".x.nc.abcd123.nc", "cells/a.nc"]
    for name in [*ours, *theirs]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    link = tmp_path / ".b.nc.abcd1234.nc"
    link.symlink_to(tmp_path / "cells" / "a.nc")
    (tmp_path / f"{locks.BUILD}abcd1234").mkdir()
    (tmp_path / "typeset").mkdir()
    assert locks.sweep(tmp_path, now=time.time() - 100) == [], "younger than the run"
    assert len(locks.sweep(tmp_path)) == len(ours) + 1
    rest = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if not path.is_dir()}
    assert rest == {*theirs, link.name}
    assert (tmp_path / "typeset").is_dir() and not list(tmp_path.glob(f"{locks.BUILD}*"))


def test_what_is_swept_is_what_is_written(tmp_path):
    """The names that write_atomically gives, and no others."""
    from polhode.interface import storage

    for name in ("a.nc", "0", "1e-05.nc", "x.tar.gz"):

        def die(path):
            os.link(path, path.with_name(path.name + "0"))
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            storage.write_atomically(tmp_path / name, die)
    made = [path.rename(path.with_name(path.name[:-1])) for path in list(tmp_path.iterdir())]
    assert len(made) == 4
    assert sorted(locks.sweep(tmp_path)) == sorted(made)


# ---- a job and its head ----

JOB = """
import sys
from polhode_study.workflow import signals
signals.end_with_head()
import polhode
print("works", flush=True)
polhode.simulate("spiral_cylinder", "spiral_leapfrog", 1e-9, t_end=1e3, samples=2)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("orphan", [False, True])
def test_a_job_ends_soon_after_its_head_is_killed(orphan):
    """Also where another process stands between them, and in the middle of compiled code."""
    head = subprocess.Popen(["sleep", "100"])
    # The shell that Snakemake runs jobs in is killed with the head, or lives on.
    between = subprocess.Popen(
        ["bash", "-c", '"$@"; true', "bash", sys.executable, "-c", JOB],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(**signals.marks(head.pid)),
    )
    assert between.stdout.readline() == "works\n"
    time.sleep(1.5)
    assert between.poll() is None
    (between if orphan else head).kill()
    assert between.communicate(timeout=10) == ("", None), "the job has closed its output"
    head.kill(), head.wait()


@pytest.mark.thorough
@pytest.mark.parametrize("head_is", ["gone", "younger"])
def test_a_job_whose_head_has_gone_does_not_begin(head_is):
    """The head was killed while the job was starting; another process may have its number."""
    head = subprocess.Popen(["sleep", "100"])
    marks = signals.marks(head.pid)
    if head_is == "gone":
        head.kill(), head.wait()
    else:
        marks[signals.HEAD_BORN] = "1.0"
    done = subprocess.run([sys.executable, "-c", JOB], stdout=-1, env=environment(**marks), timeout=600)
    head.kill(), head.wait()
    assert (done.returncode, done.stdout) == (1, b"")


@pytest.mark.thorough
def test_a_job_without_a_head_runs_by_itself():
    script = """if True:
        import threading
        from polhode_study.workflow import signals
        signals.end_with_head()
        print(threading.active_count())
    """
    for value in ("", "nobody", str(2**22 + 1)):
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment(**{signals.HEAD: value}),
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.stdout == "1\n", done.stderr


#: What Snakemake does, and a job that does not end by itself, or not by SIGTERM either.
LEAD = """
import os, subprocess, sys, time
from polhode_study.workflow import signals
signals.lead()
os.makedirs(".snakemake/scripts", exist_ok=True)
open(".snakemake/scripts/job.py", "w").write(sys.argv[1])
other = subprocess.Popen(["sleep", "100"])
signals.stop_jobs_on_signals()
try:
    job = subprocess.Popen(["bash", "-c", f"{sys.executable} .snakemake/scripts/job.py; exit $?"])
    while job.poll() is None:
        time.sleep(0.1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    job.wait()
    print("ended", other.poll(), flush=True)
finally:
    other.kill()
"""
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('works', flush=True); time.sleep(100)"


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("job", [JOB, STUBBORN], ids=["compiled", "stubborn"])
def test_a_signal_ends_the_jobs_and_nothing_else(tmp_path, job, number):
    """Jobs in compiled code for hours, and jobs that ignore SIGTERM, which a second signal kills at once."""
    head = subprocess.Popen([sys.executable, "-c", LEAD, job], stdout=-1, stderr=-1, text=True, cwd=tmp_path, env=environment())
    assert head.stdout.readline() == "works\n"
    time.sleep(0.5)
    began = time.monotonic()
    head.send_signal(number)
    assert head.stdout.readline() == "interrupted\n"
    if job is STUBBORN:
        head.send_signal(number)
    said, warned = head.communicate(timeout=600)
    assert said == "ended None\n", "other children, such as those that talk to a scheduler, are left alone"
    assert time.monotonic() - began < (signals.PATIENCE if job is STUBBORN else 15)
    assert warned.startswith(f"polhode: {signal.Signals(number).name}: stopping all jobs"), warned


@pytest.mark.thorough
def test_a_job_that_does_not_end_is_killed(tmp_path):
    head = subprocess.Popen(
        [sys.executable, "-c", LEAD, STUBBORN], stdout=-1, stderr=-1, text=True, cwd=tmp_path, env=environment()
    )
    assert head.stdout.readline() == "works\n"
    head.terminate()
    assert head.communicate(timeout=600)[0] == "interrupted\nended None\n"


@pytest.mark.thorough
def test_what_nohup_ignores_stays_ignored(tmp_path):
    job = "import time; print('works', flush=True); time.sleep(2)"
    script = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN){LEAD}print('through')"
    head = subprocess.Popen([sys.executable, "-c", script, job], stdout=-1, text=True, cwd=tmp_path, env=environment())
    assert head.stdout.readline() == "works\n"
    head.send_signal(signal.SIGHUP)
    assert head.communicate(timeout=600)[0] == "through\n"


# ---- LaTeX ----


def test_typesetting_deletes_nothing_of_the_user(tmp_path, monkeypatch):
    home, results, programs = (tmp_path / name for name in ("home", "results", "bin"))
    for folder in (home / "paper", results / "typeset", programs):
        folder.mkdir(parents=True)
    for name in typeset.DOCUMENTS:
        (home / "paper" / f"{name}.tex").write_text(name)
    (home / "reproduce").write_text("#!/bin/sh\n")
    (programs / "latexmk").write_text(
        '#!/bin/sh\nfor name; do :; done; cp $name ${name%tex}pdf; test -e fails && echo "! Wrong." && exit 1; ls ..\n'
    )
    (programs / "pdflatex").write_text("#!/bin/sh\ntouch report.aux supplement.aux\n")
    for program in (home / "reproduce", programs / "latexmk", programs / "pdflatex"):
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    outputs = [results / f"{name}.pdf" for name in typeset.DOCUMENTS]
    mine = results / "typeset" / "my notes.txt"
    mine.write_text("mine")
    for _ in range(2):
        typeset.report(home, results, outputs, 0, {})
    assert mine.read_text() == "mine" and [path.read_text() for path in outputs] == list(typeset.DOCUMENTS)
    (home / "paper" / "fails").touch()
    with pytest.raises(RuntimeError, match=r"LaTeX failed on report\.tex: ! Wrong\."):
        typeset.report(home, results, outputs, 0, {})
    assert sorted(path.name for path in results.iterdir()) == ["report.pdf", "supplement.pdf", "typeset"]
    shutil.rmtree(home)
