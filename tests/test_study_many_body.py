"""The many-body study: the same bytes whoever computes, what a run comes to, runs that blow up, the configuration."""

import os
import re
import shutil
import time
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
import yaml
from conftest import said_by
from studies import default
from studies import study as default_study

from polhode import manybody
from polhode.fits import seed_statistics
from polhode.interface.netcdf import read_dataset
from polhode.interface.storage import write_dataset, write_groups
from polhode_study import fingerprint
from polhode_study import plan as planning
from polhode_study.cli import release
from polhode_study.configuration import ConfigurationError, resolve
from polhode_study.gather.many_body import gather_scenes, relative_change, run_energies
from polhode_study.plan import SINGLE_BODY, Plan
from polhode_study.run import scene as many_body
from polhode_study.run.making import make_files

HOME = Path(__file__).parents[1]
METHOD, DT = "spiral_leapfrog", 1e-4
#: Enough steps for rods to meet walls and each other.
SETTINGS = {"scene": "rods", "spin": None, "horizon": 0.3, "samples": 10, "seeds": 3}


def config(**changes):
    """The default configuration with other values for the many-body study."""
    settings = default()
    for key, value in changes.items():
        settings["many_body"][key] = value if value is None else settings["many_body"].get(key, {}) | value
    return settings


#: Every scene of the default configuration but the rods.
WITHOUT = dict.fromkeys(("chess", "chess_no_spin", "rods_steps", "eccentric_spheres", "mixed_sizes"))


WILDCARDS = {"scene": "rods", "method": METHOD, "dt": str(DT)}


@pytest.fixture(scope="module")
def one_worker():
    return many_body.make_seeds(WILDCARDS, SETTINGS)


def test_the_same_runs_for_any_number_of_workers_and_seeds(one_worker):
    dataset, _ = one_worker
    assert many_body.make_seeds(WILDCARDS, SETTINGS, workers=2)[0].identical(dataset)
    assert many_body.make_seeds(WILDCARDS, SETTINGS | {"seeds": 1})[0].identical(dataset.isel(seed=[0]))


def test_a_job_uses_the_threads_that_it_is_given(monkeypatch, tmp_path):
    """What snakemake --set-threads sets comes to the pool, and the pool starts as many processes."""
    import polhode_study.workflow.entry as entry

    given = []
    section = {"methods": [METHOD, "euler"], "dt": {"a": {"values": [0.1]}}, "seeds": 2}
    study = resolve(config(**WITHOUT, rods=section) | {"results": str(tmp_path)}, HOME)
    plan = Plan(study, HOME)
    files = plan.origins(plan.scene_paths("rods", plan.scene_parts["rods"][0]))
    assert len(repr(files)) < 100, "Snakemake notes this with each file (tests/test_starting.py)"
    rule = SimpleNamespace(config={"results": str(tmp_path)}, params=SimpleNamespace(files=files), threads=3)
    monkeypatch.setattr(entry, "library_of", lambda snakemake: nullcontext())

    def make(wildcards, settings, workers, costs):
        given.append((wildcards, settings["seeds"], workers, costs))
        return xr.Dataset(), ""

    monkeypatch.setattr(many_body, "make_seeds", make)
    script = HOME / "workflow" / "scripts" / "many_body.py"
    exec(compile(script.read_text(), script, "exec"), {"snakemake": rule})
    assert given == [
        ({"scene": "rods", "method": method, "dt": "0.1"}, 2, 3, tmp_path / "logs" / "many_body")
        for method in (METHOD, "euler")
    ]
    assert all(Path(path).is_file() for path in files)
    monkeypatch.undo()
    processes = {process for process, _ in many_body._spread(_process_of_run, range(12), 3)}
    assert 1 < len(processes) <= 3 and os.getpid() not in processes


def _process_of_run(seed):
    time.sleep(0.05)
    return os.getpid(), 0.0


def test_a_process_that_dies_ends_the_job():
    with pytest.raises(BrokenProcessPool):
        list(many_body._spread(_die, range(4), 2))


def _die(seed):
    os._exit(1)


def test_seeds_are_different_runs(one_worker):
    dataset, _ = one_worker
    assert len(set(dataset["kinetic"].isel(time=-1).values)) == 3


def test_how_often_a_run_is_sampled_changes_none_of_its_values(one_worker):
    coarse = one_worker[0].isel(seed=0)
    fine = many_body.make_seeds(WILDCARDS, SETTINGS | {"samples": 30, "seeds": 1})[0].isel(seed=0)
    common = np.isin(fine["time"], coarse["time"])
    assert common.sum() == len(coarse["time"]) < len(fine["time"])
    for name in ("kinetic", "potential", "momentum", "axial_spin"):
        assert np.array_equal(fine[name][common], coarse[name]), name
    assert coarse["potential"].max() > 0, "no contact at any sample: choose another horizon"


def test_what_runs_cost_is_in_a_log_and_not_in_the_data(tmp_path):
    dataset, said = many_body.make_seeds(WILDCARDS, SETTINGS, costs=tmp_path)
    lines = (tmp_path / "rods" / METHOD / "0.0001.log").read_text().splitlines()
    assert re.fullmatch(r"seed 0: 3000 steps, [\d.]+ us a step, [\d.]+ s", lines[0])
    assert re.fullmatch(r"3 runs, 9000 steps, [\d.]+ us a step", said)
    # Of all runs, each rounded to a millisecond.
    assert float(lines[-1].split()[-1]) == pytest.approx(sum(float(line.split()[-2]) for line in lines[:3]), abs=2e-3)
    assert not {name for name in dataset.variables if "second" in name or "cpu" in name}
    data = xr.Dataset(coords={"integrator": [METHOD, "euler"], "dt": [2e-4, 1e-4]})
    seconds = release._cpu_seconds(tmp_path / "rods", data)
    assert seconds[0, 1] == float(lines[-1].split()[-1]) and np.isnan(seconds).sum() == 3


def test_a_run_that_blows_up_is_a_result(tmp_path):
    wildcards = {"scene": "rods", "method": "euler", "dt": "0.02"}
    dataset, said = many_body.make_seeds(wildcards, SETTINGS | {"horizon": 40.0, "seeds": 1}, costs=tmp_path)
    (end,) = dataset["diverged_at"].values
    assert 0 < end <= 40.0 and np.isnan(dataset["kinetic"].values[0, -1])
    assert f"1 diverged, the first by t = {end:g} s" in said
    log = (tmp_path / "rods" / "euler" / "0.02.log").read_text()
    assert f" {round(end / 0.02)} steps" in log, "those done, by which its time is divided"


def test_the_published_metric_is_the_smaller_of_mean_and_last():
    rising = run_energies(np.array([1e-3, -2e-3, 3e-3]))
    assert rising["energy_error"] == pytest.approx(0.2) and rising["energy_error_largest"] == 3e-3
    falling = run_energies(np.array([3e-3, 2e-3, -1e-3]))
    assert falling["energy_error"] == pytest.approx(0.1)
    assert (falling["energy_error_mean"], falling["energy_drift"]) == (pytest.approx(2e-3), -1e-3)
    assert np.isnan(list(run_energies(np.array([1e-3, np.nan])).values())).all()


def test_the_change_of_energy_is_since_the_start():
    run = {"kinetic": np.array([4.0, 2.0, 3.0]), "potential": np.array([0.0, 2.0, 3.0])}
    assert relative_change(run).tolist() == [0.0, 0.0, 0.5]


def test_gathered_values_are_those_of_the_runs(tmp_path):
    study = resolve(
        config(
            **WITHOUT,
            rods={
                "methods": [METHOD, "euler"],
                "dt": {"a": {"values": [1e-4, 2e-4]}, "b": {"values": [3e-4]}, "c": {"values": [4e-4], "methods": [METHOD]}},
                "horizon": 0.1,
                "seeds": 2,
                "samples": 5,
                "over_time": False,
            },
        )
        | {"results": str(tmp_path)},
        HOME,
    )
    plan = Plan(study, HOME)
    for job_runs in plan.scene_parts["rods"]:
        make_files(plan.origins(plan.scene_paths("rods", job_runs)), many_body.make_seeds, lambda line: None)
    assert all(Path(path).is_file() for path in plan.files("many_body_runs")) and len(plan.files("many_body_runs")) == 7
    groups = gather_scenes(plan)
    write_groups(groups, tmp_path / "many_body.nc")
    data = groups["/rods"]
    assert data["energy_error"].dims == ("integrator", "dt", "seed") and data.sizes == {"integrator": 2, "dt": 4, "seed": 2}
    assert list(data["dt_set"].values) == ["a", "a", "b", "c"]
    # One set is run by one method only: that is no blow-up of the other.
    assert seed_statistics.ran(data, METHOD, 3) and not seed_statistics.ran(data, "euler", 3) and not data["diverged"].any()
    of_both = seed_statistics.ratio_over_steps(data, "euler", METHOD)
    assert of_both == seed_statistics.ratio_over_steps(data.isel(dt=slice(3)), "euler", METHOD)
    assert np.isnan(seed_statistics.ratio_over_steps(data.isel(dt=[3]), "euler", METHOD).value)
    assert np.isnan(seed_statistics.mean_error(data, "euler", 3).value) and np.isnan(
        seed_statistics.median_error(data, "euler", 3).value
    )
    level = float(seed_statistics.mean_error(data, "euler", 1).value) * 1.001
    backwards = data.isel(dt=[3, 0, 1, 2]).assign_coords(dt=[1e-5, 1e-4, 2e-4, 3e-4])
    assert 2e-4 <= seed_statistics.step_for(backwards, "euler", level) < 3e-4
    # 0.1 s is no whole number of steps of 3e-4 s: the run ends with the last one before.
    assert data["steps"].values.tolist() == [1000, 500, 333, 250]
    run = read_dataset(tmp_path / "many_body" / "rods" / "0.0003" / "euler.nc").isel(seed=1)
    change = relative_change({name: run[name].values for name in ("kinetic", "potential")})[1:]
    expected = 100 * min(np.abs(change).mean(), abs(change[-1]))
    assert float(data["energy_error"].sel(integrator="euler", dt=3e-4, seed=1)) == pytest.approx(expected)
    assert data.attrs["clumps"] == 30 and data.attrs["rayleigh_step"] == manybody.scenes["rods"].rayleigh_step


def test_what_is_kept_along_the_time_is_that_of_the_runs(tmp_path):
    changes = {"methods": [METHOD, "euler"], "dt": {"a": {"values": [0.02]}}, "horizon": 40.0, "seeds": 2, "samples": 20}
    study = resolve(config(**WITHOUT, rods=changes) | {"results": str(tmp_path)}, HOME)
    plan = Plan(study, HOME)
    rng = np.random.default_rng(3)
    spins = {}
    for method in (METHOD, "euler"):
        energy = np.linspace(1.0, 2.0, 21) * np.ones((2, 1))
        ends = [np.nan, 39.0 if method == "euler" else np.nan]
        energy[np.isfinite(ends), -1] = np.nan
        spin = rng.normal(size=(2, 21, 3))
        spins |= {(method, seed): spin[seed] for seed in range(2)}
        runs = xr.Dataset(
            {"kinetic": (("seed", "time"), energy), "potential": (("seed", "time"), 0 * energy), "diverged_at": ("seed", ends)}
            | {"contact_steps": ("seed", [10, 10]), "axial_spin": (("seed", "time", "clump"), spin)},
            {"time": np.arange(21) * 2.0},
        )
        path = plan.path("many_body_runs", "rods", "0.02", method)
        write_dataset(runs, path, plan.origin(path))
    data = gather_scenes(plan)["/rods"]
    for (method, seed), spin in spins.items():
        series = data.sel(integrator=method, seed=seed).isel(dt=0)
        np.testing.assert_array_equal(series["axial_spin"], np.abs(spin).max(1))
        np.testing.assert_array_equal(series["axial_spin_change"], np.abs(spin - spin[0]).max(1))
        blown = (method, seed) == ("euler", 1)
        assert series["diverged"] == blown and np.isnan(series["energy_error"]) == blown
        assert series["diverged_at"] == 39.0 if blown else np.isnan(series["diverged_at"])
        scene = manybody.scenes["rods"]
        assert float(series["contacts"]) == pytest.approx(10 * 0.02 / (scene.contact_time() * 30))
        assert series["energy_change"].values[:-1] == pytest.approx(np.linspace(0, 1, 21)[:-1])


def test_a_scene_without_spin_starts_without():
    scene = many_body.scene_of({"scene": "rods", "spin": 0.0})
    assert not scene.initial_state(0).omega.any()
    assert np.array_equal(scene.initial_state(0).r, manybody.scenes["rods"].initial_state(0).r)


def test_a_film_holds_what_a_picture_needs(tmp_path):
    film = {"method": METHOD, "dt": DT, "horizon": 0.05, "frames": 4}
    frames, _ = many_body.make_film({"scene": "rods"}, SETTINGS | {"film": film})
    assert frames["r"].shape == (5, 30, 3) and frames["q"].shape == (5, 30, 4)
    other = many_body.film_of(manybody.scenes["rods"], METHOD, DT, 0.05, 4, seed=1).dataset()
    assert other["r"].shape == frames["r"].shape and not np.array_equal(other["r"][0], frames["r"][0])
    assert len(frames["radius"]) == 3 and set(frames["kind"].values) == {0}


@pytest.mark.thorough
def test_runs_depend_on_engine_scene_method_and_shapes(tmp_path, monkeypatch):
    """Not on what gathers or draws them."""
    package = tmp_path / "src" / "polhode"
    shutil.copytree(HOME / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path / "src")
    for registry, folder in (("SCENES", "manybody/scenes"), ("METHODS", "methods")):
        places = SimpleNamespace(origin=lambda key, folder=folder: package / folder / f"{key}.py")
        monkeypatch.setattr(planning, registry, places)

    def forget() -> None:
        for cached in (fingerprint._locate, fingerprint._digest, fingerprint._behind, fingerprint._members):
            cached.cache_clear()

    def code(*files: str) -> dict[str, str]:
        """The hash of the code of each method on the chess pieces, and of one on the rods, after a line added to some files."""
        for edited in files:
            file = tmp_path / edited
            file.write_text(f"{file.read_text()}\n{'REMARK = 1' if file.suffix == '.py' else '# another pawn'}\n")
        forget()
        plan = Plan(
            SimpleNamespace(results="results", scenes={k: SimpleNamespace(scene=k) for k in ("chess", "rods")}), tmp_path
        )
        runs_of = {
            "euler": ("chess", "euler"),
            "spiral_leapfrog": ("chess", "spiral_leapfrog"),
            "rods": ("rods", "spiral_leapfrog"),
        }
        return {name: plan.many_body_run_code(*of) for name, of in runs_of.items()}

    before = code()
    assert code("src/polhode_study/chapters/many_body/figures.py", "src/polhode_study/gather/many_body.py") == before
    first = code("src/polhode/methods/euler.py", "src/polhode/manybody/scenes/rods.py")
    assert first["euler"] != before["euler"] and first["rods"] != before["rods"]
    assert first["spiral_leapfrog"] == before["spiral_leapfrog"]
    second = code("src/polhode/manybody/contact.py")
    assert all(second[key] != first[key] for key in before)
    three = code("src/polhode/manybody/pieces/pawn.csv")
    assert three["spiral_leapfrog"] != second["spiral_leapfrog"]
    forget()


# The configuration


def parts(**rods):
    """What the jobs of a study of rods run."""
    return Plan(resolve(config(**WITHOUT, rods={"over_time": False, **rods}), HOME), HOME).scene_parts["rods"]


def test_small_runs_share_a_job_and_large_ones_do_not():
    dt = {"a": {"values": [1e-4, 1e-5, 2e-5]}, "b": {"values": [5e-6], "methods": ["euler", METHOD]}}
    section = {"dt": dt, "methods": ["euler", METHOD, "verlet"], "horizon": 1.0}
    shares_of_methods = [
        [(key, step) for step in (*first, "1e-05", "2e-05", "0.0001")]
        for key, *first in (("euler", "5e-06"), (METHOD, "5e-06"), ("verlet",))
    ]
    assert parts(**section, seeds=1) == (tuple(shares_of_methods[0] + shares_of_methods[1] + shares_of_methods[2]),)
    # As many steps as take about 18, 18 and 8 seconds by estimate: each method has a job.
    assert parts(**section, seeds=70) == (tuple(shares_of_methods[0]), tuple(shares_of_methods[1] + shares_of_methods[2]))
    # Where each step size takes a minute or more, every one has a job of its own.
    assert parts(**section, seeds=10_000) == tuple((share,) for shares in shares_of_methods for share in shares)


def test_every_run_is_in_one_job():
    study = default_study()
    plan = Plan(study, HOME)
    for key, parts in plan.scene_parts.items():
        scene = study.computed.scenes[key]
        runs = {(method, step.name) for step in scene.steps for method in scene.methods if step.runs(method)}
        shares = [share for part in parts for share in part]
        assert len(shares) == len(runs) and set(shares) == runs, key
    paths = [path for key, parts in plan.scene_parts.items() for part in parts for path in plan.scene_paths(key, part)]
    witnesses = plan.witness_paths("many_body_runs")
    assert {Path(path).parents[1].name for path in witnesses} == {"rods_steps", "eccentric_spheres", "mixed_sizes"}
    assert sorted(paths + witnesses) == sorted(set(plan.files("many_body_runs")))
    assert sum(study.scenes[scene].seeds for scene, *_ in plan.names("many_body_runs")) == study.estimate.many_runs


def test_every_run_of_one_body_is_in_one_job():
    study = default_study()
    plan = Plan(study, HOME)
    paths = [path for key, parts in plan.parts.items() for part in parts for path in plan.part_paths(key, part)]
    witnesses = plan.witness_paths(*SINGLE_BODY)
    assert {path.split("/")[2] for path in witnesses} == set(plan.witnessed_problems) == set(study.problems) - set(plan.parts)
    assert sorted(paths + witnesses) == sorted(set(plan.single_body_runs()))


@pytest.fixture
def few(tmp_path):
    """A small study of two methods, and how its job is run: returns what is said of each run."""
    section = {
        "methods": [METHOD, "euler"],
        "dt": {"a": {"values": [1e-4, 2e-4]}},
        "horizon": 0.02,
        "seeds": 2,
        "over_time": False,
    }
    study = resolve(config(**WITHOUT, rods=section) | {"results": str(tmp_path)}, HOME)

    def again(plan=None):
        plan, said = plan or Plan(study, HOME), []
        (job_runs,) = plan.scene_parts["rods"]
        make_files(plan.origins(plan.scene_paths("rods", job_runs)), many_body.make_seeds, said.append)
        return said

    return Plan(study, HOME), again


def test_an_edited_method_is_run_alone(few, tmp_path, monkeypatch):
    plan, again = few
    again()
    (job_runs,) = plan.scene_parts["rods"]
    jobs = plan.origins(plan.scene_paths("rods", job_runs))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("many_body/rods/*/*.nc")}
    edited = Plan(plan.study, HOME)
    code = edited.many_body_run_code
    monkeypatch.setattr(edited, "many_body_run_code", lambda scene, method: code(scene, method) + "x" * (method == "euler"))
    changed = {path for path, job in edited.origins(plan.scene_paths("rods", job_runs)).items() if job != jobs[path]}
    again(edited)
    rewritten = {str(path) for path, time in before.items() if path.stat().st_mtime_ns != time}
    assert rewritten == changed == {str(tmp_path / "many_body" / "rods" / dt / "euler.nc") for dt in ("0.0001", "0.0002")}


def test_a_scene_or_all_of_them_can_be_left_out():
    study = resolve(config(**dict.fromkeys(config()["many_body"])), HOME)
    assert study.scenes == {} == resolve(config() | {"many_body": None}, HOME).scenes
    assert Plan(study, HOME).files("many_body") == []


def test_a_scene_runs_those_of_its_methods_that_the_study_has():
    study = resolve(config() | {"methods": ["rk4", "omelyan1998", METHOD]}, HOME)
    assert study.scenes["rods"].methods == (METHOD, "omelyan1998")
    assert "rods" not in resolve(config() | {"methods": ["rk4"]}, HOME).scenes


@pytest.mark.parametrize("name", ["quick", "published"])
def test_configurations_that_come_with_the_code_are_valid(name):
    from snakemake.utils import update_config

    settings = config()
    update_config(settings, yaml.safe_load((HOME / "workflow" / "config" / f"{name}.yaml").read_text()))
    assert resolve(settings, HOME).scenes


@pytest.mark.thorough
def test_a_job_imports_only_what_runs_need(tmp_path):
    """Each of these takes as long to import as a short run, and there are many jobs."""
    program = f"""
import sys
from polhode_study import configuration
from polhode_study.workflow import entry
from polhode_study.run import scene as many_body
from polhode_study.run.making import make_files
configuration.resolve({config()!r}, entry.HOME, checked=True)
settings = {{"scene": "chess", "spin": None, "horizon": 1e-5, "samples": 1, "seeds": 1}}
job = {{"wildcards": {{"scene": "chess", "method": "spiral_leapfrog", "dt": "1e-05"}}, "settings": settings}}
make_files({{{str(tmp_path / "0.nc")!r}: __import__("json").dumps(job)}}, many_body.make_seeds)
unused = {{"jsonschema", "matplotlib", "scipy.interpolate", "snakemake"}}
print("left out:", *sorted(unused & set(sys.modules)))
"""
    assert said_by(program).splitlines()[-1] == "left out:"


def test_a_scene_is_timed_for_the_methods_that_it_names(tmp_path):
    """So a scene may run every method and time a few; an empty list times none."""

    def timed(**rods):
        study = resolve(config(**WITHOUT, rods={"methods": [METHOD, "euler"], **rods}) | {"results": str(tmp_path)}, HOME)
        return Plan(study, HOME).timing_settings(None)["many_body"]

    assert timed() == {"rods": ["rods", METHOD, "euler"]}
    assert timed(timed=["euler"]) == {"rods": ["rods", "euler"]}
    assert timed(timed=["verlet"]) == timed(timed=[]) == {}
    with pytest.raises(ConfigurationError, match=r"many_body.rods.timed.*unknown method 'eulr'"):
        timed(timed=["eulr"])
