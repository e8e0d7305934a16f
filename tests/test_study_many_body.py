"""The many-body study: the same bytes whoever computes, what a run comes to, runs that blow up, the configuration."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
import yaml

from polhode import manybody
from polhode.study import configuration
from polhode.study.analysis import ensembles
from polhode.study.configuration import ConfigurationError, resolve
from polhode.study.gather.many_body import gather_scenes, relative_change, run_energies
from polhode.study.plan import Plan
from polhode.study.run import scene as many_body
from polhode.study.storage import read_cell, write_cell, write_groups

HOME = Path(__file__).parents[1]
METHOD, DT = "spiral_leapfrog", 1e-4
#: Enough steps for rods to meet walls and each other.
SETTINGS = {"scene": "rods", "spin": None, "horizon": 0.3, "samples": 10}


def config(**changes):
    """The default configuration with other values for the many-body study."""
    found = yaml.safe_load((HOME / "config.yaml").read_text())
    for key, value in changes.items():
        found["many_body"][key] = value if value is None else found["many_body"].get(key, {}) | value
    return found


#: Every scene of the default configuration but the rods.
WITHOUT = dict.fromkeys(("chess", "chess_no_spin", "rods_steps", "eccentric_spheres", "mixed_sizes"))


def outputs(folder, seeds=3, dt=DT):
    return [folder / str(dt) / f"{seed}.nc" for seed in range(seeds)]


@pytest.fixture(scope="module")
def one_worker(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    said = []
    many_body.run_all(METHOD, SETTINGS, outputs(folder), 1, said.append)
    return folder / str(DT), said


def test_the_same_bytes_for_any_number_of_workers(one_worker, tmp_path):
    folder, _ = one_worker
    many_body.run_all(METHOD, SETTINGS, outputs(tmp_path), 2, lambda line: None)
    for path in outputs(tmp_path):
        assert path.read_bytes() == (folder / path.name).read_bytes()


def test_a_run_does_not_depend_on_its_batch(one_worker, tmp_path):
    folder, _ = one_worker
    many_body.run_all(METHOD, SETTINGS, [*outputs(tmp_path, 1, 2e-4), *outputs(tmp_path, 1)], 1, lambda line: None)
    assert outputs(tmp_path, 1)[0].read_bytes() == (folder / "0.nc").read_bytes()
    assert len(read_cell(outputs(tmp_path, 1, 2e-4)[0])["time"]) == 11


def test_the_order_of_the_runs_does_not_matter(one_worker, tmp_path):
    folder, said = one_worker
    again = []
    many_body.run_all(METHOD, SETTINGS, outputs(tmp_path)[::-1], 1, again.append)
    assert "seed 2" in again[0] and "seed 0" in said[0]
    for path in outputs(tmp_path):
        assert path.read_bytes() == (folder / path.name).read_bytes()


def test_a_job_uses_the_threads_that_it_is_given(monkeypatch, tmp_path):
    """What snakemake --set-threads sets comes to the pool, and the pool starts as many processes."""
    import polhode.study.workflow.entry as entry

    given = {}
    rule = SimpleNamespace(
        wildcards=SimpleNamespace(method=METHOD),
        params=SimpleNamespace(scene="rods", settings=SETTINGS, code="abc"),
        output=["0.1/1.nc"],
        threads=3,
    )
    monkeypatch.setattr(entry, "library_of", lambda snakemake: nullcontext())
    monkeypatch.setattr(entry, "meter", lambda snakemake, total: SimpleNamespace(advance=f"one of {total}"))
    monkeypatch.setattr(many_body, "run_all", lambda *words: given.update(words=words))
    script = HOME / "workflow" / "scripts" / "many_body.py"
    exec(compile(script.read_text(), script, "exec"), {"snakemake": rule})
    assert given["words"][:4] == (METHOD, SETTINGS, ["0.1/1.nc"], 3) and given["words"][6] == "one of 1"
    assert [json.loads(text)["wildcards"] for text in given["words"][5]] == [
        {"scene": "rods", "method": METHOD, "dt": "0.1", "seed": 1}
    ]
    monkeypatch.undo()
    monkeypatch.setattr(many_body, "_run_one", _process_of_run)
    tasks = [(1e-4, seed, "", "") for seed in range(12)]
    processes = {line for _, line, _ in many_body._spread(many_body._run_one, tasks, 3)}
    assert 1 < len(processes) <= 3 and str(os.getpid()) not in processes


def _process_of_run(task):
    time.sleep(0.05)
    return task[0], str(os.getpid()), 0.0


def test_a_process_that_dies_ends_the_job():
    with pytest.raises(BrokenProcessPool):
        list(many_body._spread(_die, [(1e-4, seed, "") for seed in range(4)], 2))


def _die(task):
    os._exit(1)


def test_seeds_are_different_runs(one_worker):
    folder, _ = one_worker
    energies = [read_cell(folder / f"{seed}.nc")["kinetic"][-1] for seed in range(3)]
    assert len(set(energies)) == 3


def test_how_often_a_run_is_sampled_changes_none_of_its_values(one_worker, tmp_path):
    folder, _ = one_worker
    many_body.run_all(METHOD, SETTINGS | {"samples": 30}, outputs(tmp_path, 1), 1, lambda line: None)
    coarse, fine = read_cell(folder / "0.nc"), read_cell(outputs(tmp_path, 1)[0])
    common = np.isin(fine["time"], coarse["time"])
    assert common.sum() == len(coarse["time"]) < len(fine["time"])
    for name in ("kinetic", "potential", "momentum", "axial_spin"):
        assert np.array_equal(fine[name][common], coarse[name]), name
    assert coarse["potential"].max() > 0, "no contact at any sample: choose another horizon"


def test_what_a_run_costs_is_said_and_not_written(one_worker):
    folder, said = one_worker
    assert re.fullmatch(r"dt 0\.0001 s, seed 0: 3000 steps, [\d.]+ us a step, [\d.]+ s", said[0])
    (total,) = [line for line in said if line.startswith("cpu_seconds of dt 0.0001: ")]
    # Of all runs, each rounded to a millisecond.
    assert float(total.split()[-1]) == pytest.approx(sum(float(line.split()[-2]) for line in said[:3]), abs=2e-3)
    assert not {name for name in read_cell(folder / "0.nc") if "second" in name or "cpu" in name}


def test_a_run_that_blows_up_is_a_result(tmp_path):
    said = []
    many_body.run_all("euler", SETTINGS | {"horizon": 40.0}, outputs(tmp_path, 1, 0.02), 1, said.append)
    run = read_cell(outputs(tmp_path, 1, 0.02)[0])
    assert 0 < run["@diverged"] <= 40.0 and np.isnan(run["kinetic"][-1])
    assert "diverged at t = " in said[0]
    assert f" {round(run['@diverged'] / 0.02)} steps" in said[0], "those done, by which its time is divided"


def test_the_published_metric_is_the_smaller_of_mean_and_last():
    rising = run_energies(np.array([1e-3, -2e-3, 3e-3]))
    assert rising["energy_error"] == pytest.approx(0.2) and rising["energy_error_largest"] == 3e-3
    falling = run_energies(np.array([3e-3, 2e-3, -1e-3]))
    assert falling["energy_error"] == pytest.approx(0.1)
    assert (falling["energy_error_mean"], falling["energy_drift"]) == (pytest.approx(2e-3), -1e-3)
    assert np.isnan(list(run_energies(np.array([1e-3, np.nan])).values())).all()


def test_the_change_of_energy_is_that_of_all_of_it_since_the_start():
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
    for method in study.scenes["rods"].methods:
        for batch in (batch for batch in study.scenes["rods"].batches if batch[0].runs(method)):
            made = [path.format(method=method) for path in plan.many_body_outputs("rods", batch)]
            texts = [plan.many_body_job("rods", method, p.parent.name, int(p.stem)) for p in map(Path, made)]
            many_body.run_all(method, plan.many_body_settings("rods"), made, 1, lambda line: None, texts)
    assert all(Path(path).is_file() for path in plan.many_body_runs("rods"))
    groups = gather_scenes(plan, tmp_path)
    write_groups(groups, tmp_path / "many_body.nc")
    data = groups["/rods"]
    assert data["energy_error"].dims == ("integrator", "dt", "seed") and data.sizes == {"integrator": 2, "dt": 4, "seed": 2}
    assert list(data["dt_set"].values) == ["a", "a", "b", "c"]
    # One set is run by one method only: that is no blow-up of the other.
    assert ensembles.ran(data, METHOD, 3) and not ensembles.ran(data, "euler", 3) and not data["diverged"].any()
    of_both = ensembles.paired_ratio_over_steps(data, "euler", METHOD)
    assert of_both == ensembles.paired_ratio_over_steps(data.isel(dt=slice(3)), "euler", METHOD)
    assert np.isnan(ensembles.paired_ratio_over_steps(data.isel(dt=[3]), "euler", METHOD).value)
    assert np.isnan(ensembles.mean_error(data, "euler", 3).value) and np.isnan(ensembles.median_error(data, "euler", 3).value)
    level = float(ensembles.mean_error(data, "euler", 1).value) * 1.001
    backwards = data.isel(dt=[3, 0, 1, 2]).assign_coords(dt=[1e-5, 1e-4, 2e-4, 3e-4])
    assert 2e-4 <= ensembles.step_for(backwards, "euler", level) < 3e-4
    # 0.1 s is no whole number of steps of 3e-4 s: the run ends with the last one before.
    assert data["steps"].values.tolist() == [1000, 500, 333, 250]
    run = read_cell(tmp_path / "many_body" / "rods" / "euler" / "0.0003" / "1.nc")
    change = relative_change(run)[1:]
    expected = 100 * min(np.abs(change).mean(), abs(change[-1]))
    assert float(data["energy_error"].sel(integrator="euler", dt=3e-4, seed=1)) == pytest.approx(expected)
    assert data.attrs["clumps"] == 30 and data.attrs["rayleigh_step"] == manybody.scenes["rods"].rayleigh_step


def test_what_is_kept_along_the_time_is_that_of_the_runs(tmp_path):
    changes = {"methods": [METHOD, "euler"], "dt": {"a": {"values": [0.02]}}, "horizon": 40.0, "seeds": 2, "samples": 20}
    study = resolve(config(**WITHOUT, rods=changes) | {"results": str(tmp_path)}, HOME)
    plan = Plan(study, HOME)
    rng = np.random.default_rng(3)
    folder = tmp_path / "many_body" / "rods"
    spins = {}
    for method in (METHOD, "euler"):
        for seed in range(2):
            end = np.nan if (method, seed) == ("euler", 1) else 1.0
            energy = np.linspace(1.0, 2.0, 21) * np.r_[np.ones(20), end]
            spins[method, seed] = rng.normal(size=(21, 3))
            run = xr.Dataset(
                {"kinetic": ("time", energy), "potential": ("time", 0 * energy), "steps": np.int32(2000), "contact_steps": 10.0}
                | {"axial_spin": (("time", "clump"), spins[method, seed])},
                {"time": np.arange(21) * 2.0},
                {} if end == 1.0 else {"diverged": 39.0},
            )
            write_cell(run, folder / method / "0.02" / f"{seed}.nc", plan.many_body_job("rods", method, "0.02", seed))
    data = gather_scenes(plan, tmp_path)["/rods"]
    for (method, seed), spin in spins.items():
        own = data.sel(integrator=method, seed=seed).isel(dt=0)
        np.testing.assert_array_equal(own["axial_spin"], np.abs(spin).max(1))
        np.testing.assert_array_equal(own["axial_spin_change"], np.abs(spin - spin[0]).max(1))
        blown = (method, seed) == ("euler", 1)
        assert own["diverged"] == blown and np.isnan(own["energy_error"]) == blown
        assert own["diverged_at"] == 39.0 if blown else np.isnan(own["diverged_at"])
        scene = manybody.scenes["rods"]
        assert float(own["contacts"]) == pytest.approx(10 * 0.02 / (scene.contact_time() * 30))
        assert own["energy_change"].values[:-1] == pytest.approx(np.linspace(0, 1, 21)[:-1])


def test_a_scene_without_spin_starts_without():
    scene = many_body.scene_of({"scene": "rods", "spin": 0.0})
    assert not scene.initial_state(0).omega.any()
    assert np.array_equal(scene.initial_state(0).r, manybody.scenes["rods"].initial_state(0).r)


def test_a_film_holds_what_a_picture_needs(tmp_path):
    film = {"method": METHOD, "dt": DT, "horizon": 0.05, "frames": 4}
    many_body.run_film(SETTINGS | {"film": film}, tmp_path / "film.nc")
    found = read_cell(tmp_path / "film.nc")
    assert found["r"].shape == (5, 30, 3) and found["q"].shape == (5, 30, 4)
    other = many_body.film_of(manybody.scenes["rods"], METHOD, DT, 0.05, 4, seed=1).dataset()
    assert other["r"].shape == found["r"].shape and not np.array_equal(other["r"][0], found["r"][0])
    assert len(found["radius"]) == 3 and set(found["kind"]) == {0}


@pytest.mark.thorough
def test_runs_depend_on_engine_scene_method_and_shapes(tmp_path):
    """Not on what gathers or draws them."""
    for name in ("src", "data"):
        shutil.copytree(HOME / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))

    def code(*files: str) -> dict[str, str]:
        """The hash of the code of each method on the chess pieces, and of one on the rods, after a line added to some files."""
        for edited in files:
            file = tmp_path / edited
            file.write_text(f"{file.read_text()}\n{'REMARK = 1' if file.suffix == '.py' else '# another pawn'}\n")
        program = (
            "from pathlib import Path; from types import SimpleNamespace as N; from polhode.study.plan import Plan\n"
            "plan = Plan(N(results='results', scenes={key: N(scene=key) for key in ('chess', 'rods')}), Path('.'))\n"
            "print(*(plan.many_body_run_code(s, m) for s, m in (('chess', 'euler'), ('chess', 'spiral_leapfrog'), "
            "('rods', 'spiral_leapfrog'))))"
        )
        environment = os.environ | {"PYTHONPATH": "src"}
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stderr
        return dict(zip(("euler", "spiral_leapfrog", "rods"), done.stdout.split(), strict=True))

    before = code()
    assert code("src/polhode/study/themes/many_body/figures.py", "src/polhode/study/gather/many_body.py") == before
    one = code("src/polhode/methods/euler.py", "src/polhode/manybody/scenes/rods.py")
    assert one["euler"] != before["euler"] and one["rods"] != before["rods"]
    assert one["spiral_leapfrog"] == before["spiral_leapfrog"]
    two = code("src/polhode/manybody/contact.py")
    assert all(two[key] != one[key] for key in before)
    three = code("src/polhode/manybody/pieces/pawn.csv")
    assert three["spiral_leapfrog"] != two["spiral_leapfrog"]


# The configuration


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rods": {"scene": "rod"}}, "many_body.rods: unknown scene 'rod'; did you mean 'rods'"),
        ({"rods": {"methods": ["omelyan"]}}, "many_body.rods.methods: unknown method 'omelyan'; did you mean 'omelyan1998'"),
        ({"rods": {"methods": ["rk4"]}}, "many_body.rods.methods: 'rk4' cannot run many bodies; leave it out"),
        ({"rods": {"dt": {"a": {"values": [1e-4, 2e-4]}}}}, "many_body.rods.over_time: needs exactly one step size, got 2"),
        ({"rods": {"dt": {"a": {"values": [1e4]}}}}, "is longer than the time to simulate"),
        ({"rods": {"dt": {"a": None}}}, "many_body.rods.dt: every set of step sizes is null"),
        (
            {"rods": {"film": {"method": "rk4", "dt": 1e-5, "horizon": 1.0, "frames": 9}}},
            "many_body.rods.film: 'rk4' cannot run",
        ),
        ({"rods": {"seed": 3}}, "unknown key 'seed' in many_body.rods: did you mean 'seeds'"),
        ({"rods": {"seeds": 0}}, "many_body.rods.seeds"),
    ],
)
def test_a_wrong_setting_is_named(changes, message):
    with pytest.raises(ConfigurationError, match=re.escape(message)):
        resolve(config(**changes), HOME)


def test_small_runs_share_a_job_and_large_ones_do_not(monkeypatch):
    changes = {"dt": {"a": {"values": [1e-4, 2e-5, 5e-6, 1e-5]}}, "horizon": 1.0, "seeds": 10, "over_time": False}
    rods = resolve(config(rods=changes), HOME).scenes["rods"]
    assert [step.steps for step in rods.batches[0]] == [10_000, 50_000, 100_000, 200_000] and len(rods.batches) == 1
    monkeypatch.setattr(configuration.study, "BATCH", 1_600_000)
    assert [[step.dt for step in batch] for batch in rods.batches] == [[1e-4, 2e-5, 1e-5], [5e-6]]


def test_a_job_holds_steps_of_the_same_methods_only():
    """Its files are named with the method left open."""
    few = {"values": [5e-6, 1e-4], "methods": ["euler", METHOD]}
    changes = {"dt": {"a": {"values": [2e-5, 1e-5]}, "b": few}, "methods": ["euler", METHOD, "verlet"], "over_time": False}
    plan = Plan(resolve(config(**WITHOUT, rods=changes), HOME), HOME)
    assert [[step.dt for step in batch] for batch in plan.scene("rods").batches] == [[2e-5, 1e-5], [1e-4, 5e-6]]
    paths = plan.many_body_runs("rods")
    made = {tuple(path.split("/")[-3:-1]) for path in paths}
    assert made == {(key, dt) for key in ("euler", METHOD) for dt in ("1e-05", "2e-05", "5e-06", "0.0001")} | {
        ("verlet", "1e-05"),
        ("verlet", "2e-05"),
    }
    assert len(paths) == 10 * plan.scene("rods").seeds == plan.study.estimate.many_runs


def test_a_scene_or_all_of_them_can_be_left_out():
    study = resolve(config(**dict.fromkeys(config()["many_body"])), HOME)
    assert study.scenes == {} == resolve(config() | {"many_body": None}, HOME).scenes
    assert Plan(study, HOME).many_body() == []


def test_a_scene_runs_those_of_its_methods_that_the_study_has():
    study = resolve(config() | {"methods": ["rk4", "omelyan1998", METHOD]}, HOME)
    assert study.scenes["rods"].methods == (METHOD, "omelyan1998")
    assert "rods" not in resolve(config() | {"methods": ["rk4"]}, HOME).scenes


@pytest.mark.parametrize("name", ["quick", "published"])
def test_configurations_that_come_with_the_code_are_valid(name):
    from snakemake.utils import update_config

    found = config()
    update_config(found, yaml.safe_load((HOME / "workflow" / "config" / f"{name}.yaml").read_text()))
    assert resolve(found, HOME).scenes


def test_a_job_imports_only_what_runs_need(tmp_path):
    """Each of these takes as long to import as a short run, and there are many jobs."""
    program = f"""
import sys
from polhode.study import configuration
from polhode.study.workflow import entry
from polhode.study.run import scene as many_body
configuration.resolve({config()!r}, entry.HOME, checked=True)
settings = {{"scene": "chess", "spin": None, "horizon": 1e-5, "samples": 1}}
many_body.run_all("spiral_leapfrog", settings, [{str(tmp_path / "1e-05" / "0.nc")!r}])
unused = {{"jsonschema", "matplotlib", "scipy.interpolate", "snakemake"}}
print("left out:", *sorted(unused & set(sys.modules)))
"""
    surroundings = os.environ | {"PYTHONPATH": str(HOME / "src")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=surroundings)
    assert done.stdout.splitlines()[-1] == "left out:"
