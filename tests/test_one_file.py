"""A method or a problem is one file: put into a copy of the package it is listed, grouped, drawn and gathered, and nothing else
is touched."""

import json
import shutil
from pathlib import Path
from textwrap import dedent

import pytest
import xarray as xr
from conftest import said_by

import polhode
from polhode.interface.storage import write_groups
from polhode_study.declarations import method_declarations, problem_declarations
from polhode_study.inputs import Inputs
from polhode_study.report import selection

HOME = Path(__file__).parents[1]

#: What stands in the new files beside the formulas, which are those of the documentation's examples.
METHOD = {'key="my_spiral"': 'key="toy"', 'label="My SPIRAL"': 'label="Toy", short_label="T", group="simple", rank=2'}
PROBLEM = {
    'key="magnetic_needle"': 'key="toy_needle"',
    'label="magnetic needle"': 'label="toy needle", short_label="needle", rank=3, load_formula="$M=m\\\\times B$"',
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What a package with a toy method and a toy problem says, in a process of its own."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(HOME / "src", folder, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for example, place, changes in (
        ("example_plugin.py", "methods/toy.py", METHOD),
        ("example_problem.py", "problems/toy_needle.py", PROBLEM),
    ):
        text = (HOME / "docs" / example).read_text(encoding="utf-8")
        for old, new in changes.items():
            assert text.count(old) == 1
            text = text.replace(old, new)
        (folder / "polhode" / place).write_text(text, encoding="utf-8")
    code = """
        import json
        import sys
        import polhode
        from polhode.methods import grouped
        from polhode_study.declarations import method_declarations, problem_declarations
        from polhode_study.report import style

        table = method_declarations(list(polhode.methods))
        said = table.isel(method_number=list(table.method.values).index("toy"))
        json.dump({
            "file": polhode.__file__,
            "methods": repr(polhode.methods),
            "problems": repr(polhode.problems),
            "groups": grouped(polhode.methods),
            "looks": {key: [str(part) for part in look.values()] for key, look in style.styles(polhode.methods).items()},
            "gathered": {name: str(said[name].values) for name in ("label", "short_label", "group", "omega_handed")},
            "problem": problem_declarations(polhode.problems["toy_needle"]),
        }, sys.stdout)
    """
    answer = json.loads(said_by(dedent(code), source=folder, cwd=folder, PYTHONDONTWRITEBYTECODE="1"))
    assert {path: path.read_bytes() for path in before} == before
    assert Path(answer["file"]).is_relative_to(folder)
    return answer


def test_a_method_is_one_file(answers):
    assert any(line.split()[:2] == ["toy", "Toy"] for line in answers["methods"].splitlines())
    assert ["simple", ["euler", "toy"]] in answers["groups"]
    look = answers["looks"].pop("toy")
    assert look[0].startswith("#") and look not in answers["looks"].values()
    assert answers["gathered"] == {"label": "Toy", "short_label": "T", "group": "simple", "omega_handed": ""}


def test_a_problem_is_one_file(answers):
    assert any(line.split()[:3] == ["toy_needle", "toy", "needle"] for line in answers["problems"].splitlines())
    said = answers["problem"]
    assert (said["short_label"], said["rank"], said["represents_class"]) == ("needle", 3, 0)
    assert said["load_formula"] == r"$M=m\times B$" and said["torque_class"] == "state"
    assert json.loads(said["setup"])["parameters"] == {"m": 2.0, "B": 1.5}


def test_late_stages_read_what_the_file_says(tmp_path):
    """Not the registry of the process: the file may be of another version, or of a run with a user's own method."""
    table = method_declarations(["euler", "rk4", "verlet"])
    table["method"] = ("method_number", ["euler", "mine", "verlet"])
    table["group"] = ("method_number", ["simple", "new", "new"])
    table["place"] = ("method_number", [20, 11, 10])
    first = xr.Dataset(coords={"integrator": ["mine"]}, attrs=problem_declarations(polhode.problems["heavy_top"]))
    second = first.assign_attrs(problem_declarations(polhode.problems["asymmetric_heavy_top"]))
    second.attrs |= {"short_label": "short", "rank": 0, "represents_class": 0}
    groups = {"/": table.assign_attrs(plugins="mine"), "/heavy_top": first, "/asymmetric_heavy_top": second}
    write_groups(groups, tmp_path / "single_body.nc")
    inputs = Inputs(tmp_path / "single_body.nc")
    assert inputs.grouped(["euler", "elsewhere", "mine", "verlet"]) == [
        ("new", ["verlet", "mine"]),
        ("simple", ["euler"]),
        ("others", ["elsewhere"]),
    ]
    assert inputs.declared("mine", "torques_per_step") == 4 and inputs.declared("elsewhere", "torques_per_step", 7) == 7
    assert inputs.declared("verlet", "claimed_q_order") == 2 and inputs.declared("mine", "claimed_omega_order") == 4
    (state,) = selection.problems_by_class(inputs)
    assert state == ("state", ["asymmetric_heavy_top", "heavy_top"])
    assert selection.short_name(inputs, "asymmetric_heavy_top") == "short"
    assert selection.representative(inputs, state[1]) == "asymmetric_heavy_top"  # the first, as none declares it


def test_a_file_not_of_registered_methods_says_so(tmp_path):
    data = xr.Dataset(coords={"integrator": ["rk4"]}, attrs={"torque_class": "state"})
    write_groups({"/": xr.Dataset(attrs={"plugins": ""}), "/heavy_top": data}, tmp_path / "single_body.nc")
    inputs = Inputs(tmp_path / "single_body.nc")
    assert inputs.grouped(["rk4", "euler"]) == [("simple", ["euler"]), ("several torques per step", ["rk4"])]
    assert (
        selection.short_name(inputs, "heavy_top") == "heavy top" and selection.short_name(inputs, "lab_torque") == "lab_torque"
    )
