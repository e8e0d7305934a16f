"""Compiled code kept on disk: the next process finds it, nothing stale is ever served, and nothing can break it."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from conftest import said_by

import polhode
from polhode import manybody
from polhode.compiling import cache, in_advance
from polhode.compiling.kernel import compile_torque, is_kept, kernel, torque_signature
from polhode.compiling.place import warn
from polhode.manybody.engine import shared_parts

HOME = Path(__file__).parents[1]

#: Runs the methods named on the command line on two problems with different torques; prints end states, hits and misses.
SCRIPT = """
import sys
import numpy as np
import polhode
keys = []
for word in sys.argv[1:]:
    keys.append(polhode.methods.load(word).key if word.endswith(".py") else word)
hits = misses = 0
for key in keys:
    for problem in ("heavy_top", "spiral_cylinder"):
        run = polhode.simulate(problem, key, 1 / 64, 0.5)
        print(key, problem, *(float(x).hex() for x in np.concatenate([run.q[-1], run.omega[-1]])))
compiled = [polhode.problems[p].compiled_torque for p in ("heavy_top", "spiral_cylinder")]
for one in [*compiled, *(d for key in keys for d in polhode.methods[key].drivers.values())]:
    hits += sum(one.stats.cache_hits.values())
    misses += sum(one.stats.cache_misses.values())
print(hits, misses)
"""


def process(folder, *words, source=HOME / "src", **environment):
    """The lines of states, and (hits, misses), of a new process with this folder for compiled code."""
    *states, counts = said_by(SCRIPT, *words, source=source, POLHODE_CACHE_DIR=str(folder), **environment).splitlines()
    return states, tuple(int(x) for x in counts.split())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The states of Euler's method from a process that found nothing, and the folder it left."""
    folder = tmp_path_factory.mktemp("made")
    states, counts = process(folder, "euler")
    assert counts == (0, 3)
    return states, folder


@pytest.mark.thorough
def test_a_second_process_compiles_nothing_and_agrees(made, tmp_path):
    states, folder = made
    assert process(shutil.copytree(folder, tmp_path / "a"), "euler") == (states, (3, 0))
    assert sorted(p.suffix for p in folder.iterdir()) == [".code"] * 4, "the loop of all methods is there too"
    more, counts = process(tmp_path / "a", "rk4")
    assert counts == (2, 1) and more != states, "another method finds the torques"


@pytest.mark.thorough
@pytest.mark.slow
def test_what_many_body_drivers_share_is_compiled_once(tmp_path):
    """A process that has to compile a driver finds what other drivers use too, and gives what other code gives."""
    script = """
import sys
from polhode import manybody
from polhode.manybody.engine import shared_parts
run = manybody.simulate("rods", "euler", 2e-5, seed=0, t_end=0.2, samples=1)
print(float(run.kinetic[-1]).hex(), float(run.potential[-1]).hex(), int(run.steps))
print(*(sum(part.stats.cache_hits.values()) for part in shared_parts()))
"""
    # What another method's driver has left here, whoever compiled it, but no driver.
    manybody.simulate("rods", "spiral_leapfrog", 2e-5, seed=0, t_end=1e-3, samples=1)
    parts = [function._cache.path for function in shared_parts.__wrapped__()]
    for path in parts:
        shutil.copy(path, tmp_path)
    assert len(parts) == len({path.name for path in parts}) == 4
    values, hits = said_by(script, POLHODE_CACHE_DIR=str(tmp_path)).splitlines()
    assert hits.split() == ["1"] * 4
    made = {path.name for path in tmp_path.iterdir()} - {path.name for path in parts}
    of_method = {"begin", "advance", "advance_each", "sample", "rates_of_all", "kinetic_energy"}
    drivers = {*of_method, "respond", "all_loads", "march", "drive", "next_stage"}
    assert drivers <= {name.partition("-")[0] for name in made} <= {*drivers, "_try"}, "and what places clumps at random"
    run = manybody.simulate("rods", "euler", 2e-5, seed=0, t_end=0.2, samples=1)
    assert values.split() == [float(run.kinetic[-1]).hex(), float(run.potential[-1]).hex(), str(int(run.steps))]


@pytest.mark.thorough
def test_an_edited_kernel_of_another_module_is_not_served_stale(made, tmp_path):
    states, folder = made
    shutil.copytree(folder, tmp_path / "cache")
    source = tmp_path / "src"
    shutil.copytree(HOME / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    edited = source / "polhode" / "algebra" / "quaternion.py"
    text = edited.read_text()
    assert text.count("0.5 * (q[0] * omega[0] + q[2] * omega[2]") == 1
    # A comment changes nothing; a sign in what a kernel of the method's file calls does.
    edited.write_text("# A comment.\n" + text)
    assert process(tmp_path / "cache", "euler", source=source) == (states, (3, 0))
    edited.write_text(text.replace("0.5 * (q[0] * omega[0] + q[2] * omega[2]", "0.5 * (q[0] * omega[0] - q[2] * omega[2]"))
    changed, counts = process(tmp_path / "cache", "euler", source=source)
    assert changed != states and counts == (2, 1)
    assert process("", "euler", source=source)[0] == changed


@pytest.mark.thorough
def test_files_may_be_broken_in_every_way(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path))
    torque = closing_over(5.0)

    def hits() -> int:
        compiled = compile_torque(torque)
        assert compiled(2.0, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), np.zeros(1)) == (10.0, 0.0, 0.0)
        return sum(compiled.stats.cache_hits.values())

    assert (hits(), hits()) == (0, 1)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    not_pickled = cache._MAGIC + hashlib.sha256(b"nothing").digest() + b"nothing"
    flipped = whole[: len(whole) // 2] + bytes([whole[len(whole) // 2] ^ 1]) + whole[len(whole) // 2 + 1 :]
    older = whole.replace(b"code 2", b"code 1", 1)
    for broken in (b"", whole[:10], whole[:-1], whole[1:], whole + b"x", flipped, older, not_pickled):
        path.write_bytes(broken)
        assert (hits(), hits()) == (0, 1), "written again"
        assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("folder", ["file/below", ""])
def test_a_folder_that_cannot_be_or_none_is_no_matter(tmp_path, monkeypatch, folder):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path / folder) if folder else "")
    for _ in range(2):
        compiled = compile_torque(closing_over(6.0))
        assert compiled(2.0, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), np.zeros(1)) == (12.0, 0.0, 0.0)
        assert not compiled.stats.cache_hits
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


# Entries are machine code: nobody else may have written them


posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="folders have no owner and mode here")


@pytest.fixture
def kept_in(tmp_path, monkeypatch):
    """A folder with one entry, and what says whether compiling anew finds it; warnings are errors but for those expected."""
    place = tmp_path / "new" / "cache"
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(place))
    torque = closing_over(7.0)
    compile_torque(torque)

    def is_loaded() -> bool:
        warn.cache_clear()
        expected = is_kept(torque, torque_signature)
        compiled = compile_torque(torque)
        assert compiled(2.0, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), np.zeros(1)) == (14.0, 0.0, 0.0)
        hits = sum(compiled.stats.cache_hits.values())
        assert expected == bool(hits)
        return bool(hits)

    return place, is_loaded


@posix
def test_what_is_made_is_for_the_user_alone(kept_in):
    place, is_loaded = kept_in
    (entry,) = place.iterdir()
    assert [path.stat().st_mode & 0o777 for path in (place.parent, place, entry)] == [0o700, 0o700, 0o600]
    assert is_loaded()


@posix
@pytest.mark.parametrize("mode", [0o1777, 0o777, 0o770, 0o702])
@pytest.mark.filterwarnings("error")
def test_a_folder_that_others_can_write_to_is_not_used(kept_in, mode):
    place, is_loaded = kept_in
    (entry,) = place.iterdir()
    before = entry.stat()
    place.chmod(mode)
    with pytest.warns(RuntimeWarning, match=r"can be written to by others.*not used.*chmod go-w .*POLHODE_CACHE_DIR") as warned:
        assert not is_loaded()
    assert len(warned) == 1, "once"
    assert list(place.iterdir()) == [entry] and entry.stat().st_ino == before.st_ino
    place.chmod(0o755)
    assert is_loaded()


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_an_entry_that_others_can_write_to_is_made_anew(kept_in, mode):
    place, is_loaded = kept_in
    (entry,) = place.iterdir()
    entry.chmod(mode)
    with pytest.warns(RuntimeWarning, match="can be written to by others"):
        assert not is_loaded()
    assert entry.stat().st_mode & 0o777 == 0o600
    assert is_loaded()


@posix
@pytest.mark.parametrize("which", ["folder", "entry"])
def test_what_belongs_to_another_user_is_not_used(kept_in, which, monkeypatch):
    place, is_loaded = kept_in
    (entry,) = place.iterdir()
    if os.geteuid() == 0:
        os.chown(place if which == "folder" else entry, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: entry.stat().st_uid + 1)
    with pytest.warns(RuntimeWarning, match=r"belongs to user \d+ and not to \d+"):
        assert not is_loaded()


@posix
def test_what_belongs_to_root_may_be_used(kept_in, monkeypatch):
    """A folder that the administrator has filled for all."""
    if os.geteuid() != 0:
        pytest.skip("only root can make files of root")
    _, is_loaded = kept_in
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert is_loaded()


@pytest.mark.thorough
def test_without_compilation_nothing_is_kept(tmp_path):
    script = "import polhode; polhode.simulate('spiral_cylinder', 'euler', 1 / 64); polhode.compile_all(['euler'])"
    said_by(script, NUMBA_DISABLE_JIT="1", POLHODE_CACHE_DIR=str(tmp_path / "a"))
    assert not (tmp_path / "a").exists()


@pytest.mark.thorough
def test_a_method_of_the_users_own_is_kept_too(tmp_path):
    plugin = tmp_path / "mine.py"
    shutil.copy(HOME / "docs" / "example_plugin.py", plugin)
    states, counts = process(tmp_path / "cache", str(plugin))
    assert counts == (0, 3)
    assert process(tmp_path / "cache", str(plugin)) == (states, (3, 0))


# What an entry is named after


@kernel
def twice(x):
    return 2.0 * x


def test_code_of_this_package_that_cannot_be_kept_is_said():
    torque = closing_over(object())
    torque.__module__ = "polhode.somewhere"
    with pytest.warns(RuntimeWarning, match=r"torque is not kept"):
        assert name(torque) is None


FACTOR = 3.0


def uses_global(t, q, omega, p):
    return (FACTOR * t, 0.0, 0.0)


def name(function):
    return cache._entry(function, torque_signature, {})


def closing_over(value):
    def torque(t, q, omega, p):
        return (value * t, 0.0, 0.0)

    return torque


def test_what_is_closed_over_counts():
    assert name(closing_over(1.0)) == name(closing_over(1.0))
    assert len({name(closing_over(value)) for value in (1.0, 1, True, -0.0, 0.0, 2.0)}) == 6


def test_functions_called_and_their_options_count():
    def calling(function):
        def torque(t, q, omega, p):
            return (function(t), 0.0, 0.0)

        return torque

    again = kernel(twice.py_func)
    other = numba.njit(error_model="numpy")(twice.py_func)
    thrice = kernel(lambda x: 3.0 * x)
    assert name(calling(twice)) == name(calling(again))
    assert len({name(calling(function)) for function in (twice, other, thrice)}) == 3


def test_globals_count_as_they_are_at_the_time(monkeypatch):
    before = name(uses_global)
    monkeypatch.setitem(globals(), "FACTOR", 4.0)
    assert name(uses_global) != before
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert name(uses_global) == before


def test_signature_and_options_count():
    names = {
        cache._entry(twice.py_func, signature, options)
        for signature in (numba.float64(numba.float64), numba.float32(numba.float32))
        for options in ({}, {"nogil": True})
    }
    assert len(names) == 4


def test_what_cannot_be_named_is_compiled_and_not_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path))
    torque = closing_over(np.array([1.0, 2.0])[1:])
    assert name(torque) is None

    def constant(t, q, omega, p):
        return (torque.__closure__[0].cell_contents, 0.0, 0.0)

    assert name(constant) is None
    array = np.array([0.5])

    def from_array(t, q, omega, p):
        return (array[0], 0.0, 0.0)

    compiled = compile_torque(from_array)
    assert compiled(0.0, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), array) == (0.5, 0.0, 0.0)
    assert list(tmp_path.iterdir()) == []


def test_entries_that_nobody_uses_go(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path))
    old, foreign = tmp_path / "drive-0.code", tmp_path / "notes.txt"
    for path in (old, foreign):
        path.write_text("")
        os.utime(path, (0, 0))
    torque = closing_over(7.0)
    compile_torque(torque)
    assert is_kept(torque, torque_signature)
    assert not old.exists() and foreign.exists()


def test_the_folder_is_that_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("POLHODE_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "polhode"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    assert cache.folder() == tmp_path / "me" / ".cache" / "polhode"
    monkeypatch.setenv("POLHODE_CACHE_DIR", " ")
    assert cache.folder() is None


# Everything at once


@pytest.mark.thorough
def test_workers_compile_what_all_find(tmp_path, monkeypatch):
    """Methods, their other forms and torques, in two processes; what is there already starts none."""
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path))
    some = list(polhode.problems)[:6]  # with a method and its form as few as are worth two processes
    monkeypatch.setattr(in_advance, "PROBLEMS", some)
    (tmp_path / "forms.py").write_text(
        "from dataclasses import replace\n"
        "def reading_nothing(method):\n"
        "    return replace(method, read=method.read, torque_time=0.5)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    started = []

    class Counted(subprocess.Popen):  # a class, since modules that are imported meanwhile name Popen[str]
        def __init__(self, *arguments, **options):
            started.append(arguments)
            super().__init__(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", Counted)
    monkeypatch.setitem(vars(polhode.methods["euler"]), "drivers", {})
    polhode.compile_all(["euler"], forms=["forms:reading_nothing"], processes=2)
    assert len(started) == 2
    names = {path.name for path in tmp_path.glob("*.code")}
    assert sum(path.startswith("march") for path in names) == 2
    assert polhode.methods["euler"].is_kept() and all(polhode.problems[key].is_kept() for key in some)
    (driver,) = polhode.methods["euler"].drivers.values()
    assert sum(driver.stats.cache_hits.values()) == 1
    polhode.compile_all(["euler"], forms=["forms:reading_nothing"], processes=2)
    assert len(started) == 2 and {path.name for path in tmp_path.glob("*.code")} == names
    with pytest.raises(ValueError, match="processes"):
        polhode.compile_all(processes=0)
