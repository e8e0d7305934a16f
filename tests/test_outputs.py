"""Where a command writes: links stay, devices receive, and what is no file is refused; nothing but a file is ever replaced."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from polhode import cli
from polhode.cli import UsageError, check_writable
from polhode.study.storage import write_atomically, write_text

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
def test_every_command_looks_before_it_works(command, option, tmp_path):
    """In a process of its own: a command that opens a pipe waits for ever."""
    pipe = node(tmp_path / f"out{'.gif' if command == 'animate' else '.html' if command == 'html' else ''}", "pipe")
    further = {"code": ["euler"], "sheet": ["euler"]}.get(command, [])
    done = subprocess.run(
        [sys.executable, "-m", "polhode", command, *further, option, str(pipe)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2 and f"{option}: {pipe} cannot be written: it is a pipe" in done.stderr
    assert stat.S_ISFIFO(os.lstat(pipe).st_mode)


def test_the_commands_with_outputs_are_all_looked_at():
    assert {command for command, _ in outputs()} >= {"verify", "bench", "animate", "archive", "release", "html"}
