"""Scenes: each is one file, which is found by itself; a user's own is loaded from a path."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import said_by

from polhode import manybody

HOUSE = Path(__file__).resolve().parents[1]
TOY = '''"""Dimers in a small box."""

from polhode.manybody import Clump, Material, Scene

SCENE = Scene(
    key="toy",
    label="dimers in a box",
    source="a test",
    kinds=lambda: ((Clump.dimer(0.02, 0.02, distance=0.03), 6),),
    material=Material(density=1000.0, young=1e7, poisson=0.2),
    box=0.4,
    speed=1.0,
    spin=2.0,
    horizon=0.01,
)
'''


@pytest.fixture
def toy(tmp_path) -> Path:
    path = tmp_path / "toy.py"
    path.write_text(TOY)
    return path


@pytest.mark.thorough
def test_a_new_scene_is_one_new_file(tmp_path):
    """It is then listed, runs by its key, and has its page and its place in the hash of the code."""
    shutil.copytree(HOUSE / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    file = tmp_path / "src/polhode/manybody/scenes/toy.py"
    file.write_text(TOY)
    program = """
import json, sys
from pathlib import Path
from types import SimpleNamespace as N
from polhode import manybody, methods
from polhode_study.documentation.pages import scene_page, scenes_table
from polhode.manybody.step import PlainRun
from polhode_study.plan import Plan

scene = manybody.scenes["toy"]
run = PlainRun(scene, scene.initial_state(0), methods["spiral_leapfrog"], 1e-5)
begin = run.read()
for _ in range(20):
    run.step()
plan = Plan(N(results="results", scenes={"toy": N(scene="toy")}), Path("."))
print(json.dumps({
    "keys": list(manybody.scenes), "table": repr(manybody.scenes), "moved": float(abs(run.read() - begin).max()),
    "page": scene_page(scene), "pages": scenes_table(), "code": plan.many_body_run_code("toy", "spiral_leapfrog"),
}))
"""

    def ask() -> dict:
        return json.loads(said_by(program, source=tmp_path / "src", cwd=tmp_path))

    answers = ask()
    assert answers["keys"] == sorted([*manybody.scenes, "toy"])
    assert re.search(r"^toy +dimers in a box", answers["table"], re.MULTILINE)
    assert 0 < answers["moved"] < 1
    assert "polhode.manybody.scenes.toy" in answers["page"] and "(/_generated/scenes/toy.md)" in answers["pages"]
    file.write_text(TOY.replace("box=0.4", "box=0.5"))
    assert ask()["code"] != answers["code"]


def test_a_scene_of_ones_own_is_loaded_from_its_file(toy):
    with manybody.scenes.restored():
        scene = manybody.scenes.load(toy)
        assert manybody.scenes["toy"] is scene is manybody.scenes.load(toy) and manybody.scenes.origin("toy") == toy
        run = manybody.simulate("toy", "euler", dt=1e-4, t_end=1e-3)
        assert run.attrs["scene"] == "toy" and np.isfinite(run.energy).all()
    assert "toy" not in manybody.scenes


def test_a_file_that_is_no_scene_is_refused(toy):
    for text, message in (
        (TOY.replace('key="toy"', 'key="Rods"'), "scene key 'Rods' is taken"),
        ("SCENE = 3\n", "SCENE must be a Scene"),
        ("scene = 3\n", "defines no SCENE"),
        (TOY.replace("0.4", "-0.4"), "scene 'toy': box must be"),
    ):
        toy.write_text(text)
        with manybody.scenes.restored(), pytest.raises(ValueError, match=message):
            manybody.scenes.load(toy)


def test_built_in_scenes_are_those_of_their_files():
    folder = Path(manybody.__file__).parent / "scenes"
    assert sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__") == list(manybody.scenes)
    assert all(manybody.scenes.origin(key) == folder / f"{key}.py" for key in manybody.scenes)
    assert str(manybody.scenes).startswith("key ")


def test_the_usual_step_is_published_or_of_rayleigh(toy):
    assert (manybody.scenes["chess"].usual_step, manybody.scenes["rods"].usual_step) == (4.85e-6, 3.83e-5)
    with manybody.scenes.restored():
        scene = manybody.scenes.load(toy)
        assert scene.usual_step == scene.rayleigh_step
