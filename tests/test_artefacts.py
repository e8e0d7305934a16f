"""One table says what a run leaves behind: every file is of one kind, and all lists of kinds are questions to it."""

import json
import re
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import xarray as xr
from studies import study

import polhode
from polhode.interface.cf_attributes import TITLES
from polhode.interface.netcdf import read_groups
from polhode.interface.storage import write_dataset, write_groups
from polhode_study import artefacts, chapters
from polhode_study.archive import manifest
from polhode_study.artefacts import ARTEFACTS, Artefact, Role, Verify, with_role
from polhode_study.chapters import Chapter
from polhode_study.documentation import variables
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.products import Products

HOME = Path(__file__).parents[1]


def plan(**changes: object) -> Products:
    return Products(study(**changes), HOME)


@pytest.fixture(scope="module")
def everything() -> Products:
    """The plan of a study with files of every kind."""
    return plan(further="computed", notebooks="all")


def problems_of(results: Path) -> list[str]:
    """Files of a finished run of no kind or of several, without a meaning or a decision, or of another rule than declared."""
    complaints = []
    run = json.loads((results / "provenance.json").read_text(encoding="utf-8"))["files"]
    for path in (path for path in results.rglob("*") if path.is_file()):
        name = path.relative_to(results).as_posix()
        kinds = [kind for kind in ARTEFACTS.values() if kind.match(name) is not None]
        if len(kinds) != 1:
            complaints.append(f"{name} is of {len(kinds)} kinds")
            continue
        (kind,) = kinds
        if not artefacts.meaning(name) or "{" in artefacts.meaning(name):
            complaints.append(f"{name} has no meaning")
        if (name in run) != (kind.role in (Role.DATA, Role.PRODUCT)):
            complaints.append(
                f"{name} is {kind.role.name}, provenance.json {'lists it' if name in run else 'does not list it'}"
            )
        if name.endswith((".nc", ".csv")) and kind.verify is Verify.DERIVED:
            complaints.append(f"{name} holds values that nobody reads or compares")
    for path in results.glob("written/*.json"):
        rule = path.stem.partition("-")[0]
        for name in json.loads(path.read_text(encoding="utf-8"))["files"]:
            kind = artefacts.kind_of(name)
            if kind is not None and kind.rule and not fnmatchcase(rule, kind.rule):
                complaints.append(f"{name} was made by {rule}, not by {kind.rule}")
    return complaints


@pytest.mark.slow
def test_every_file_of_a_finished_run_is_of_one_kind(tiny_study):
    assert problems_of(tiny_study / "results") == []
    opened = polhode.open_results(tiny_study / "results")
    for kind in ARTEFACTS.values():
        for path in kind.present(tiny_study / "results")[:1] if kind.path.endswith(".nc") else ():
            assert read_groups(path)
            name = path.relative_to(tiny_study / "results").with_suffix("").as_posix()
            assert (kind.role is Role.DATA) == (f"/{name}" in opened.groups), name


def test_a_file_of_no_kind_and_one_of_two_are_found(tmp_path, monkeypatch):
    for name in ("single_body.nc", "checks/stability.nc", "remains.txt", "provenance.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text('{"files": {"single_body.nc": "", "checks/stability.nc": ""}}')
    assert problems_of(tmp_path) == ["remains.txt is of 0 kinds"]
    again = replace(ARTEFACTS["single_body"], path="checks/{any}")
    monkeypatch.setitem(ARTEFACTS, "again", again)
    assert "checks/stability.nc is of 2 kinds" in problems_of(tmp_path)


def test_no_planned_file_is_of_two_kinds(everything):
    """The path of each file of each kind, with its own names, is of this kind alone and gives the names back."""
    for key, kind in ARTEFACTS.items():
        names = [*everything.names(key)] or [tuple(f"a-{field}.1" for field in kind.fields)]
        for name in names:
            path = kind.filled(name)
            assert [other.key for other in ARTEFACTS.values() if other.match(path) is not None] == [key]
            assert tuple((kind.match(path) or {}).values()) == ((name,) if isinstance(name, str) else name)


def test_what_is_declared_compared_is_compared_and_nothing_else(everything):
    names = [Path(path).relative_to(everything.results).as_posix() for path in everything.products()]
    compared = manifest.data_files(names)
    timed = set(chapters.names("tables", timed=True))
    assert compared == sorted(
        name
        for name in names
        if name.endswith((".nc", ".csv"))
        and name not in ("timing.nc", "cost.nc", "cost_claims.csv")
        and not (name.startswith("tables/") and Path(name).stem in timed)
    )
    assert {"ensemble_states.nc", "claims.csv", "films/chess.nc"} <= set(compared) and timed
    assert manifest.data_files(["of_another_version.nc"]) == ["of_another_version.nc"]
    assert manifest.decision(f"figures/{chapters.names('figures', timed=True)[0]}.pdf") is Verify.TIMED


def test_every_stage_and_every_need_is_of_some_kind(everything):
    rules = {}
    for kind in ARTEFACTS.values():
        assert bool(kind.rule) == bool(kind.stage) and kind.stage in {"", *artefacts.STAGES}
        assert rules.setdefault(kind.rule, kind.stage) == kind.stage, f"{kind.rule} belongs to two stages"
    assert all(kinds for _, kinds in artefacts.stages().values())
    needs = {need for chapter in chapters.all_chapters().values() for need in chapter.kinds}
    assert needs <= {*artefacts.needs()} and "timing" not in artefacts.needs()
    inputs = Inputs(**everything.places(None))
    assert inputs.paths["cost"] == f"{everything.results}/cost.nc" and inputs.paths["released"] == "data/released"


def test_parts_that_are_left_out_have_no_files():
    less = plan(cost=None, ensembles=None, many_body=None, notebooks=[], checks=[])
    absent = ["many_body", "ensembles", "ensemble_states", "cost", "timing", "checks", "films", "animation"]
    assert [key for key in [*absent, "notebooks", "ensemble_runs"] if less.files(key)] == []
    assert not {"cost", "many_body", "ensembles", "checks", "films"} & {*less.places(None)}


def test_a_file_of_one_job_has_a_title():
    """The titles stand with the code that writes files: they are part of their bytes, and so of the hash of all runs."""
    several = {"single_body", "many_body", "ensembles", "cost", "timing"}
    assert {key for key, kind in ARTEFACTS.items() if kind.path.endswith(".nc") and key not in several} == {*TITLES}


NEW = Artefact(
    "collisions",
    "collisions/{scene}.nc",
    Role.DATA,
    Verify.COMPARED,
    "collision_*",
    "many bodies",
    "the collisions of the scene {scene}",
    lambda study: study.scenes,
    is_reported=True,
    released="collisions.nc",
)


def test_a_new_kind_is_known_everywhere_by_its_declaration(tmp_path, monkeypatch):
    name = "collisions/chess.nc"
    assert artefacts.kind_of(name) is None
    monkeypatch.setitem(ARTEFACTS, NEW.key, NEW)
    study = plan()
    path = f"{study.results}/{name}"
    assert path in study.data() and path in study.products(), "Snakemake makes it, provenance.json lists it"
    chapter = Chapter(title="x", readers="y", place=1, needs=("collisions",))
    monkeypatch.setattr(chapters, "all_chapters", lambda: {"hits": chapter})
    assert path in study.needed("hits")
    assert study.places_of("hits")["collisions"] == f"{study.results}/collisions", "it is handed to Inputs"
    assert artefacts.meaning(name) == "the collisions of the scene chess"
    assert manifest.data_files([name]) == [name], "polhode verify compares it"
    assert "collision_*" in artefacts.stages()["many bodies"][1]
    assert variables.listed_as(Path(name)) == "collisions/SCENE.nc"
    write_groups({"/": xr.Dataset()}, tmp_path / "single_body.nc")
    write_dataset(xr.Dataset({"count": ("integrator", [2.0])}), tmp_path / name)
    assert polhode.open_results(tmp_path)["collisions/chess"]["count"].item() == 2.0
    run = Inputs(**artefacts.places(tmp_path, ["collisions"]))
    assert run.single("collisions", "chess")["count"].item() == 2.0, "a chapter opens it"
    with pytest.raises(NotInRun, match="collisions of the scene rods"):
        run.single("collisions", "rods")


def test_the_page_on_files_names_every_kind():
    text = (HOME / "docs" / "results.md").read_text(encoding="utf-8")
    kinds = [kind for kind in ARTEFACTS.values() if kind.role is not Role.RECORD]
    assert [kind.key for kind in kinds if f"`{kind.root}" not in text] == [], "docs/results.md lacks them"


def test_the_recipe_names_files_that_are_there_and_at_most_eight():
    text = (HOME / "CONTRIBUTING.md").read_text(encoding="utf-8")
    recipe = text[text.index("**A new kind of run.**") :].split("\n\n**")[0]
    files = re.findall(r"^\d\. `([\w./-]+)`", recipe, re.MULTILINE)
    assert 4 < len(files) <= 8 and len(set(files)) == len(files)
    for name in files:
        assert any(HOME.glob(re.sub("KIND", "*", name))), name
    assert with_role(Role.RUN), "as the recipe says"
