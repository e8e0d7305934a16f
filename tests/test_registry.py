"""The registries of methods and problems: look-up, printing, and a user's own files."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from conftest import said_by

import polhode
from polhode import registry
from polhode.methods import grouped, in_order, short_label_of
from polhode.methods.checks import OTHERS
from polhode.methods.protocol import Method
from polhode.problems import several_bodies, single_body
from polhode.problems.problem import Case
from polhode.registry import Registry

ROOT = Path(__file__).resolve().parents[1]
METHODS = polhode.methods.folder


pytestmark = pytest.mark.usefixtures("forget_plugins")


@pytest.fixture
def plugin(tmp_path):
    """A copy of spiral_leapfrog under another key, in a file of its own."""

    def write(key="my_copy", name="my_copy.py"):
        source = (METHODS / "spiral_leapfrog.py").read_text(encoding="utf-8")
        assert source.count('key="spiral_leapfrog"') == 1
        path = tmp_path / name
        path.write_text(source.replace('key="spiral_leapfrog"', f'key="{key}"').replace('label="SPIRAL"', 'label="Mine"'))
        return path

    return write


# --- as a mapping ----------------------------------------------------------------------------------------------------


def test_the_registries_are_mappings():
    for registered, kind in ((polhode.methods, Method), (polhode.problems, Case)):
        assert isinstance(registered, Registry) and isinstance(registered, Mapping)
        assert len(registered) == len(list(registered)) == len(registered.keys())
        assert list(registered) == sorted(registered)
        assert list(registered.items()) == list(zip(registered.keys(), registered.values(), strict=True))
        for key in registered:
            assert key in registered
            assert isinstance(registered[key], kind)
            assert registered[key].key == key
            assert registered.origin(key) == registered.folder / f"{key}.py"
    assert "nonsense" not in polhode.methods


IMPORTS = """
import sys
import polhode
assert "polhode.methods.euler" not in sys.modules  # imported when first asked for
import polhode.methods.euler
import polhode.methods.rk4 as rk4
from polhode import methods, problems
from polhode.methods import METHODS, euler
from polhode.problems import PROBLEMS, heavy_top
assert polhode.methods is methods is METHODS and polhode.problems is problems is PROBLEMS
assert polhode.methods.euler is euler and methods.rk4 is rk4
assert methods["euler"] is euler.METHOD and methods["rk4"] is rk4.METHOD and problems["heavy_top"] is heavy_top.PROBLEM
assert "polhode.methods.spiral_leapfrog" in sys.modules and methods.protocol.Method
assert not hasattr(methods, "nonsense") and type(methods).__name__ == "Registry"
"""


def test_a_registry_is_also_the_package_to_import_from():
    said_by(IMPORTS)


def test_what_a_block_loads_is_taken_out_behind_it(plugin):
    before = list(polhode.methods)
    assert polhode.methods.plugins() == {}
    with polhode.methods.restored():
        path = plugin()
        mine = polhode.methods.load(path)
        assert polhode.methods.plugins() == {"my_copy": path}
        assert list(polhode.methods) == [*before, "my_copy"]
    assert "my_copy" not in polhode.methods and list(polhode.methods) == before
    assert polhode.methods.load(path) is not mine


def test_a_broken_file_of_the_package_is_an_error_each_time(tmp_path, monkeypatch):
    (tmp_path / "shelf").mkdir()
    whole = "from types import SimpleNamespace\nTHING = SimpleNamespace(key=__name__)"
    for name, text in {"__init__": "", "a": whole, "b": "THING = nothing"}.items():
        (tmp_path / "shelf" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    shelf = Registry("shelf", "THING", object, ())
    for _ in range(2):
        with pytest.raises(NameError, match="nothing"):
            shelf["shelf.a"]
    (tmp_path / "shelf" / "b.py").write_text(whole)
    assert list(shelf) == ["shelf.a", "shelf.b"]


def test_problems_of_one_body_and_of_several_are_told_apart():
    assert single_body("heavy_top") is polhode.problems["heavy_top"]
    assert several_bodies("coupled_cylinders") is polhode.problems["coupled_cylinders"]


def test_every_file_of_methods_is_registered():
    """Those that define no method are shared by several."""
    files = {path.stem for path in METHODS.glob("*.py") if "\nMETHOD = " in path.read_text(encoding="utf-8")}
    assert set(polhode.methods) == files and len(files) > 50


def test_nearest():
    assert registry.nearest("spiral_leap", ["spiral_leapfrog", "euler"]) == "did you mean 'spiral_leapfrog'?"
    assert registry.nearest("zzz", ["b", "a"]) == "known are: a, b"


# --- printing --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("catalogue", [polhode.methods, polhode.problems])
def test_printing_gives_an_aligned_table(catalogue):
    head, rule, *rows = repr(catalogue).splitlines()
    assert head.startswith("key")
    assert len(rows) == len(catalogue)
    assert [row.split()[0] for row in rows] == list(catalogue)
    starts = [i for i in range(len(rule)) if rule[i] == "-" and (i == 0 or rule[i - 1] == " ")]
    assert len(starts) == len(catalogue._columns)
    for row in (head, *rows):
        assert row == row.rstrip()
        assert all(row[i - 1 : i] in (" ", "") for i in starts)
        assert all(row[i] != " " for i in starts if i < len(row))


def test_printing_says_what_matters():
    line = next(line for line in repr(polhode.methods).splitlines() if line.startswith("rk4 "))
    cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
    assert cells[:7] == ["rk4", "Runge-Kutta 4", "4", "4", "4", "yes", "no"]
    assert cells[7].startswith("Kutta (1901)")


def test_html_table_is_escaped(plugin):
    path = plugin()
    path.write_text(path.read_text().replace('label="Mine"', 'label="<b>Mine</b> & co"'))
    polhode.methods.load(path)
    html = polhode.methods._repr_html_()
    assert html.count("<tr>") == len(polhode.methods) + 1
    assert "&lt;b&gt;Mine&lt;/b&gt; &amp; co" in html and "<b>" not in html


# --- plug-ins --------------------------------------------------------------------------------------------------------


def test_the_documented_example_runs_and_is_what_it_says():
    method = polhode.methods.load(ROOT / "docs/example_plugin.py")
    assert polhode.methods[method.key] is method
    assert polhode.methods.origin(method.key) == ROOT / "docs/example_plugin.py" and method.label in repr(polhode.methods)
    ours = polhode.simulate("spiral_cylinder", method.key, 1e-2)
    builtin = polhode.simulate("spiral_cylinder", "spiral_leapfrog", 1e-2)
    for name in ("q", "omega", "stored_omega"):
        assert ours[name].values.tobytes() == builtin[name].values.tobytes()


def test_a_plugin_comes_last_whatever_it_declares(plugin):
    """It was made from a built-in method, and has its group and rank; its short name only if that is its own."""
    path = plugin()
    path.write_text(path.read_text().replace('label="Mine"', 'label="Mine", short_label="RK4"'))
    polhode.methods.load(path)
    assert polhode.methods["my_copy"].group == "SPIRAL and Omelyan"
    assert grouped(["my_copy", "rk4", "spiral_leapfrog", "unknown"]) == [
        ("SPIRAL and Omelyan", ["spiral_leapfrog"]),
        ("several torques per step", ["rk4"]),
        (OTHERS, ["my_copy", "unknown"]),
    ]
    assert in_order(["unknown", "my_copy"]) == ["unknown", "my_copy"]
    assert short_label_of("my_copy") == "Mine" and short_label_of("rk4") == "RK4" and short_label_of("omelyan1998") == "Omelyan"


def test_loading_twice_changes_nothing(plugin, monkeypatch):
    path = plugin()
    method = polhode.methods.load(path)
    assert polhode.methods.load(path) is method
    assert polhode.methods.load(str(path)) is method
    monkeypatch.chdir(path.parent)
    assert polhode.methods.load("my_copy.py") is method
    assert list(polhode.methods).count("my_copy") == 1


def test_a_key_that_is_taken_is_refused(plugin, tmp_path):
    with pytest.raises(ValueError, match=r"mine\.py: method key 'euler' is taken by .*euler\.py; choose another key"):
        polhode.methods.load(plugin("euler", "mine.py"))
    assert polhode.methods.origin("euler").parent == METHODS
    first = plugin()
    second = tmp_path / "other.py"
    shutil.copy(first, second)
    polhode.methods.load(first)
    with pytest.raises(ValueError, match=r"other\.py: method key 'my_copy' is taken by .*my_copy\.py"):
        polhode.methods.load(second)


def test_two_plugins_may_have_the_same_file_name(plugin, tmp_path):
    polhode.methods.load(plugin("one", "method.py"))
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.move(plugin("two", "copy.py"), folder / "method.py")
    polhode.methods.load(folder / "method.py")
    assert polhode.methods["one"].key == "one" and polhode.methods["two"].key == "two"


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"plug-in .*nowhere\.py does not exist"):
        polhode.methods.load(tmp_path / "nowhere.py")
    with pytest.raises(ValueError, match="is a folder; name a file"):
        polhode.methods.load(tmp_path)
    os.mkfifo(tmp_path / "pipe.py")
    with pytest.raises(ValueError, match="is no regular file; name a file"):
        polhode.methods.load(tmp_path / "pipe.py")
    (tmp_path / "method.txt").write_text("METHOD = 3")
    with pytest.raises(ValueError, match=r"must end in \.py"):
        polhode.methods.load(tmp_path / "method.txt")


def test_a_problem_can_be_a_plugin(tmp_path):
    source = Path(polhode.problems["spiral_cylinder"].torque.__code__.co_filename).read_text(encoding="utf-8")
    path = tmp_path / "mine.py"
    path.write_text(source.replace('key="spiral_cylinder"', 'key="mine"').replace('{"Mx": 0.5}', '{"Mx": 0.0}'))
    polhode.problems.load(path)
    run = polhode.simulate("mine", "spiral_leapfrog", 1e-2)
    np.testing.assert_allclose(run.omega.values[:, 0], 0.3, rtol=0, atol=1e-15)
