"""Where a command writes: links stay, devices receive, and what is no file is refused; nothing but a file is ever replaced."""

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from polhode import cli
from polhode.cli import UsageError, check_writable
from polhode.interface import files
from polhode.interface.storage import write_atomically, write_text
from polhode.manybody import motion_files
from polhode.manybody.scenes import SCENES
from polhode_study.cli import docs

HOME = Path(__file__).parents[1]
#: Options of the commands that name a file to write.
OUTPUTS = {"csv", "output", "manifest"}


def node(path: Path, kind: str) -> Path:
    """Something at ``path`` that is no regular file; skips where this user may not make it."""
    if kind == "device":
        if os.geteuid() != 0:
            pytest.skip("only root makes devices")
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
            path.write_bytes(b"x")
        except OSError as error:
            pytest.skip(f"no devices here: {error}")
    elif kind == "disk":
        if os.geteuid() != 0:
            pytest.skip("only root makes devices")
        try:
            os.mknod(path, 0o600 | stat.S_IFBLK, os.makedev(7, 200))
        except OSError as error:
            pytest.skip(f"no devices here: {error}")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    return path


@pytest.fixture(params=["itself", "through a link"])
def named(request, tmp_path):
    """A function (kind) -> path of it, or of a link to it."""

    def of(kind: str) -> Path:
        path = node(tmp_path / "there", kind)
        if request.param == "itself":
            return path
        link = tmp_path / "link"
        link.symlink_to(path)
        return link

    return of


def test_a_device_receives_and_stays(named, tmp_path):
    path = named("device")
    before = os.stat(path)
    check_writable(path, "--csv")
    write_text(path, "content")
    assert stat.S_ISCHR(os.stat(path).st_mode) and os.stat(path).st_ino == before.st_ino
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]


@pytest.mark.parametrize("kind", ["pipe", "folder", "disk", "loop"])
def test_what_is_no_file_is_refused_and_stays(named, kind):
    path = named(kind)
    before = os.lstat(path)
    with pytest.raises(OSError):
        write_atomically(path, lambda temporary: pytest.fail("it was written"))
    with pytest.raises(UsageError, match=r"--csv: \S+ (cannot be written|is a folder)"):
        check_writable(path, "--csv")
    assert os.lstat(path).st_ino == before.st_ino and os.lstat(path).st_mode == before.st_mode


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A method of one's own in the working folder, under four names, and a text file."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.py"
    path.write_bytes((HOME / "docs" / "example_plugin.py").read_bytes())
    (tmp_path / "link.h").symlink_to("mine.py")
    os.link(path, tmp_path / "hard.h")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "link.py").symlink_to("../mine.py")
    return path


@pytest.mark.parametrize("output", ["mine.py", "folder/../mine.py", "{folder}/mine.py", "link.h", "hard.h"])
@pytest.mark.parametrize(
    "words", [["code", "mine.py", "-o"], ["sheet", "mine.py", "-o"], ["sheet", "mine.py", "--json"]], ids=" ".join
)
def test_no_command_replaces_what_it_reads(mine, tmp_path, capsys, words, output):
    before = mine.read_bytes()
    assert cli.main([*words, output.format(folder=tmp_path)]) == 2
    assert "is a file that this command works with; name another file" in capsys.readouterr().err
    assert mine.read_bytes() == before and (tmp_path / "link.h").is_symlink()


@pytest.mark.parametrize(
    "words",
    [
        ["code", "rk4", "--language", "numpy", "-o", "mine.py"],
        ["code", "rk4", "-o", "folder/link.py"],
        ["bench", "--csv", "mine.py"],
        ["sheet", "rk4", "--json", "mine.py"],
        ["verify", "--csv", "mine.py"],
    ],
    ids=" ".join,
)
def test_no_command_replaces_a_method_of_the_user(mine, capsys, words):
    before = mine.read_bytes()
    assert cli.main(words) == 2
    assert "defines a METHOD of your own; name another file" in capsys.readouterr().err
    assert mine.read_bytes() == before


def test_all_methods_replace_none_of_the_user(mine, tmp_path, capsys):
    mine.rename(tmp_path / "rk4.py")
    before = (tmp_path / "rk4.py").read_bytes()
    assert cli.main(["code", "--language", "numpy", "--all", "."]) == 2
    assert "--all: rk4.py defines a METHOD of your own" in capsys.readouterr().err
    assert (tmp_path / "rk4.py").read_bytes() == before and not (tmp_path / "euler.py").exists()


def test_the_key_of_a_method_is_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["code", "rk4", "-o", "rk4"]) == 0 and (tmp_path / "rk4").is_file()


def test_two_outputs_under_one_name_are_refused(mine, capsys):
    assert cli.main(["sheet", "rk4", "-o", "a.html", "--json", "./a.html"]) == 2
    assert "--json: ./a.html is a file that this command works with".replace("./", "") in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [["code", "rk4", "-o", ""], ["code", "--all", ""], ["sheet", "--tables", ""], ["init", ""], ["bench", "--csv="]],
    ids=" ".join,
)
def test_an_empty_name_is_none(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    assert cli.main(words) == 2
    assert "must name a file or a folder, got ''" in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_documentation_is_not_written_in_place_of_a_file(tmp_path, monkeypatch, capsys):
    path = tmp_path / "file"
    path.write_text("keep")
    monkeypatch.setattr(docs, "build", lambda *arguments: pytest.fail("the work began"))
    assert cli.main(["docs", "--output", str(path)]) == 2
    assert "is no folder" in capsys.readouterr().err and path.read_text() == "keep"


def full(*arguments, **options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_the_old_file_and_is_named(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("keep")
    with pytest.raises(
        files.DiskFull, match=rf"a\.txt cannot be written: the disk of {tmp_path}, or your share of it, is full \("
    ):
        write_atomically(path, full)
    assert path.read_text() == "keep" and list(tmp_path.iterdir()) == [path]


def test_an_error_without_a_reason_on_a_full_disk_is_named(tmp_path, monkeypatch):
    """The library of netCDF files only says "HDF error"."""

    def fails(path):
        raise RuntimeError("NetCDF: HDF error")

    with pytest.raises(RuntimeError, match="HDF error"):
        write_atomically(tmp_path / "a.nc", fails)
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(files.DiskFull):
        write_atomically(tmp_path / "a.nc", fails)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words", [["code", "rk4", "-o", "x.h"], ["code", "--all", ".", "--language", "numpy"], ["init", "x.yaml"]], ids=" ".join
)
def test_commands_on_a_full_disk_say_so_in_a_line(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.h").write_text("keep")
    monkeypatch.setattr(Path, "write_text", full)
    assert cli.main(words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "cannot be written: the disk of" in said and "is full" in said
    assert (tmp_path / "x.h").read_text() == "keep" and list(tmp_path.iterdir()) == [tmp_path / "x.h"]


@pytest.mark.parametrize("name", ["a.xyz", "a.vtk"])
def test_trajectories_are_whole_or_left_alone(tmp_path, monkeypatch, name):
    scene = SCENES["rods"]
    state = scene.initial_state(0)
    rows = {"r": state.r, "v": state.v, "q": state.q, "omega": state.omega}
    run = xr.Dataset({key: (("time", "body", f"of_{key}"), np.stack([values] * 2)) for key, values in rows.items()})
    run = run.assign_coords(time=[0.0, 1.0])
    first, *others = motion_files.write_motion(run, tmp_path / name, scene)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before) == 1 + len(others) and first.name in before
    drawn = motion_files.frames

    def cut(*arguments):
        yield next(drawn(*arguments))
        full()

    monkeypatch.setattr(motion_files, "frames", cut)
    with pytest.raises(files.DiskFull, match=name):
        motion_files.write_motion(run.assign(r=2 * run["r"]), tmp_path / name, scene)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.thorough
@pytest.mark.parametrize(("place", "said"), [("/dev/full", "output: No space left on device"), ("a closed pipe", "")])
def test_an_output_that_takes_nothing_is_said_in_a_line(place, said):
    """Python's own messages at its end would follow."""
    if place == "a closed pipe":
        reading, writing = os.pipe()
        os.close(reading)
    else:
        writing = os.open(place, os.O_WRONLY)
    done = subprocess.run([sys.executable, "-m", "polhode", "code", "rk4"], stdout=writing, stderr=-1, text=True, timeout=600)
    os.close(writing)
    assert done.returncode in (1, 2) and said in done.stderr and done.stderr.count("\n") <= 1


def test_a_closed_output_is_no_obstacle(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdout", None)
    assert cli.main(["code", "rk4", "-o", "rk4.h"]) == 0 and (tmp_path / "rk4.h").is_file()


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_its_file_is_written(tmp_path, exists):
    (tmp_path / "else").mkdir()
    (tmp_path / "here").mkdir()
    file, link = tmp_path / "else" / "file.csv", tmp_path / "here" / "link.csv"
    if exists:
        file.write_text("old")
    link.symlink_to(Path("..") / "else" / "file.csv")
    check_writable(link, "--csv")
    write_text(link, "new")
    assert link.is_symlink() and file.read_text() == "new" and list(file.parent.iterdir()) == [file]


def outputs() -> list[tuple[str, str]]:
    """Every command with each of its options that names a file to write."""
    commands = next(action for action in cli.parser()._actions if action.dest == "command").choices
    return [
        (command, action.option_strings[-1])
        for command, parser in commands.items()
        for action in parser._actions
        if action.dest in OUTPUTS and action.nargs != 0 and command != "docs"  # which writes a folder
    ]


@pytest.mark.thorough
@pytest.mark.parametrize(("command", "option"), outputs(), ids=" ".join)
def test_every_command_looks_before_it_works(command, option, tmp_path, capsys):
    """A command that opens a pipe waits for ever: an alarm ends it."""

    def ring(*arguments):
        raise AssertionError("it waits")

    pipe = node(tmp_path / f"out{'.gif' if command == 'animate' else '.html' if command == 'html' else ''}", "pipe")
    further = {"code": ["euler"], "sheet": ["euler"]}.get(command, [])
    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(60)
    try:
        status = cli.main([command, *further, option, str(pipe)])
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert status == 2 and f"{option}: {pipe} cannot be written: it is a pipe" in capsys.readouterr().err
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode)


def test_the_commands_with_outputs_are_all_looked_at():
    assert {command for command, _ in outputs()} >= {"verify", "bench", "animate", "archive", "release", "html"}
