"""The engine atlas in the workflow: which jobs there are, what is gathered, what the report shows, and what is made again."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import yaml
from test_workflow import TINY, House

from polhode.documentation import spins
from polhode.engines import all_engines
from polhode.study import configuration, fingerprint
from polhode.study.gather.atlas import gathered
from polhode.study.inputs import Inputs, NotInRun
from polhode.study.products import Products
from polhode.study.run import engine as engine_run
from polhode.study.run.engine import LEFT_OUT

HOME = Path(__file__).parents[1]
RELEASED = HOME / "data" / "released" / "atlas.nc"
#: Two engines, and nothing else that takes time.
PAIR = {"atlas": {"engines": ["rapier3d", "jsbsim"]}}


def products(**changes: object) -> Products:
    """The files of a study with these keys changed."""
    default = yaml.safe_load((HOME / "config.yaml").read_text())
    return Products(configuration.resolve(default | changes, HOME), HOME)


@pytest.fixture(scope="module")
def released() -> xr.Dataset:
    with xr.open_dataset(RELEASED) as data:
        return data.load()


def rows(data: xr.Dataset, key: str) -> xr.Dataset:
    """The file of one engine, as its job writes it."""
    chosen = data.isel(engine=np.flatnonzero(data["key"].values.astype(str) == key))
    return chosen.drop_vars(["method_label", "method_q_error"]).assign_attrs(job="a job", checksum="a sum")


def test_there_is_no_atlas_unless_it_is_configured():
    study = products()
    assert study.engines == () and study.files("atlas") == [] and study.files("engine_rows") == []
    assert "atlas" not in study.theme_places("engines")


def test_the_configuration_of_the_atlas_names_all_engines():
    study = products(**yaml.safe_load((HOME / "workflow" / "config" / "atlas.yaml").read_text()))
    assert study.engines == tuple(all_engines())
    assert study.files("atlas") == ["results/atlas.nc"] and "results/atlas.nc" in study.data()
    assert study.needed("engines").count("results/atlas.nc") == 1
    assert study.theme_places("engines")["atlas"] == "results/atlas.nc"


def test_engines_are_chosen_by_key_and_misspelt_ones_named():
    assert products(**PAIR).engines == ("jsbsim", "rapier3d")
    with pytest.raises(configuration.ConfigurationError, match=r"mujoko.*mujoco"):
        products(atlas={"engines": ["mujoko"]})


def test_the_theme_shows_the_atlas_of_the_run_and_else_the_released_one(tmp_path, released):
    atlas_of_run = tmp_path / "atlas.nc"
    rows(released, "jsbsim").drop_attrs().drop_encoding().assign_attrs(date="2001-02-03").to_netcdf(atlas_of_run)
    assert Inputs("", released=RELEASED.parent).atlas.attrs["date"] == released.attrs["date"]
    assert Inputs("", released=RELEASED.parent, atlas=atlas_of_run).atlas.attrs["date"] == "2001-02-03"
    with pytest.raises(NotInRun):
        _ = Inputs("", released=RELEASED.parent, atlas=tmp_path / "nothing.nc").atlas
    with pytest.raises(NotInRun):
        _ = Inputs("", released=tmp_path / "nowhere").atlas


def test_gathered_rows_are_those_of_the_engines(released):
    absent = xr.Dataset(attrs={LEFT_OUT: "ode: not installed, left out; apt-get install python3-pyode"})
    data, left_out = gathered([rows(released, "mujoco"), absent, rows(released, "jsbsim")])
    assert left_out == [absent.attrs[LEFT_OUT]] == [data.attrs[LEFT_OUT]]
    wanted = np.flatnonzero(np.isin(released["key"].values.astype(str), ["jsbsim", "mujoco"]))
    for name in ("key", "option", "version", "method_label", "q_order", "path"):
        np.testing.assert_array_equal(data[name].values, released[name].isel(engine=wanted).values, name)
    np.testing.assert_allclose(data["method_q_error"], released["method_q_error"].isel(engine=wanted), rtol=1e-6, atol=1e-12)
    assert "job" not in data.attrs and "checksum" not in data.attrs
    with pytest.raises(ValueError, match=r"ode: not installed.*or leave atlas: out"):
        gathered([absent])


def test_an_engine_that_is_not_installed_is_left_out_with_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(engine_run, "install", lambda engine: pytest.fail("nobody asked for it"))
    measured = engine_run.engine_dataset("jsbsim", False, 1.0)
    assert not measured.sizes and measured.attrs[LEFT_OUT].endswith("left out; polhode atlas jsbsim --install")


@pytest.mark.thorough
def test_another_released_atlas_is_a_reason_to_make_the_theme_again(tmp_path):
    shutil.copytree(HOME / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("config.yaml", "data", "workflow", "notebooks"):
        source = HOME / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, tmp_path / name)
    default = yaml.safe_load((HOME / "config.yaml").read_text())

    def code(changes: dict) -> str:
        return Products(configuration.resolve(default | changes, tmp_path), tmp_path).chapter_code("engines")

    before, of_pair, other = code({}), code(PAIR), products().chapter_code("many_body")
    file = tmp_path / "data" / "released" / "atlas.nc"
    file.write_bytes(file.read_bytes() + b"\n")
    assert before != code({})
    # A run that makes its own does not look at it.
    assert code(PAIR) == of_pair
    assert products().chapter_code("many_body") == other


@pytest.mark.thorough
def test_what_an_engine_declares_and_executes_makes_its_rows_again(tmp_path):
    folder = tmp_path / "src" / "polhode" / "engines"
    shutil.copytree(HOME / "src" / "polhode" / "engines", folder, ignore=shutil.ignore_patterns("__pycache__"))
    default = yaml.safe_load((HOME / "config.yaml").read_text())

    def codes() -> list[str]:
        fingerprint._digest.cache_clear()
        study = Products(configuration.resolve(default | PAIR, HOME), tmp_path)
        return [study.origin(path) for path in study.files("engine_rows")]

    before = codes()
    for name, line in (("adapters/jsbsim.py", "MORE = 1"), ("adapters/jsbsim.yaml", "most_steps: 7")):
        (folder / name).write_text(f"{(folder / name).read_text()}{line}\n")
        after = codes()
        assert after[0] != before[0] and after[1] == before[1], name
        before = after
    for name in ("worker.py", "rotations.py", "sampling.py"):
        (folder / name).write_text(f"{(folder / name).read_text()}MORE = 1\n")
        after = codes()
        assert after[0] != before[0] and after[1] != before[1], name
        before = after


def test_the_picture_of_the_readme_says_what_the_released_atlas_says(released):
    """Each engine ends as is written below it; an engine that ends in another way is an error."""
    assert len(spins.picture(released).axes) == len(spins.SHOWN) == 5
    wrong = released.copy(deep=True)
    wrong["end"][spins.row(released, "YADE", "aspherical")] = "tumbles"
    with pytest.raises(ValueError, match="YADE aspherical now ends with tumbles"):
        spins.picture(wrong)
    assert spins.PICTURE.stat().st_size < 200_000 and "docs/spins.png" in (HOME / "README.md").read_text()


@pytest.mark.slow
def test_another_released_atlas_makes_again_what_names_engines(tiny_study, tmp_path, released):
    house = House.at(tiny_study).copied(tmp_path / "house")
    file = house.folder / "data" / "released" / "atlas.nc"
    stamp = file.stat()
    file.unlink()
    released.isel(engine=slice(3)).drop_encoding().to_netcdf(file)
    os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # as old as the one before
    jobs = house.jobs()
    # Page 1 names what codes run.
    assert {rule for rule in jobs if rule.startswith("chapter_")} == {"chapter_engines", "chapter_communities"}
    assert not any(rule.startswith("engine_") or rule == "gather_atlas" for rule in jobs)
    # An atlas of its own: a job for each engine first, then the theme; nothing else is run again.
    house.configure(TINY | PAIR)
    jobs = house.jobs()
    assert {rule for rule in jobs if rule.startswith("engine_")} == {"engine_jsbsim", "engine_rapier3d"}
    assert jobs["engine_jsbsim"] == jobs["gather_atlas"] == jobs["chapter_engines"] == 1
    assert not any(rule.startswith("single_body") for rule in jobs)
