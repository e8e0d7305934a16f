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
from polhode.cli import release
from polhode.study.analysis import ensembles
from polhode.study.configuration import ConfigurationError, many_bodies, resolve
from polhode.study.gather.many_body import gather_scenes, relative_change, run_energies
from polhode.study.plan import Plan
from polhode.study.run import scene as many_body
from polhode.study.run import scene_batches
from polhode.study.run.batches import FailedRuns
from polhode.study.run.scene_batches import run_scene
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
    asked = {"methods": [METHOD, "euler"], "dt": {"a": {"values": [0.1]}}, "seeds": 2}
    study = resolve(config(**WITHOUT, rods=asked) | {"results": str(tmp_path)}, HOME)
    ((first, _),) = Plan(study, HOME).scene_parts["rods"]
    rule = SimpleNamespace(rule="many_body_rods_1", params=SimpleNamespace(scene="rods", part=(first,)), threads=3)
    monkeypatch.setattr(entry, "study_of", lambda snakemake: nullcontext(study))
    monkeypatch.setattr(entry, "meter", lambda snakemake, total: SimpleNamespace(advance=lambda: f"one of {total}"))
    monkeypatch.setattr(scene_batches, "run_all", lambda *words: given.update(words=words))
    script = HOME / "workflow" / "scripts" / "many_body.py"
    with pytest.raises(FileNotFoundError):  # of the files of which the list is made
        exec(compile(script.read_text(), script, "exec"), {"snakemake": rule})
    made = [tmp_path / "many_body" / "rods" / METHOD / "0.1" / f"{seed}.nc" for seed in range(2)]
    method, settings, paths, workers, _, jobs, done = given["words"]
    assert (method, settings["scene"], paths, workers, done()) == (METHOD, "rods", made, 3, "one of 4")
    assert [json.loads(text)["wildcards"] for text in jobs] == [
        {"scene": "rods", "method": METHOD, "dt": "0.1", "seed": seed} for seed in range(2)
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
    for part in plan.scene_parts["rods"]:
        run_scene(plan, "rods", part, 1, lambda line: None)
    assert all(Path(path).is_file() for path in plan.scene_manifests()) and len(plan.scene_manifests()) == 7
    groups = gather_scenes(plan, tmp_path)
    write_groups(groups, tmp_path / "many_body.nc")
    data = groups["/rods"]
    assert data["energy_error"].dims == ("integrator", "dt", "seed") and data.sizes == {"integrator": 2, "dt": 4, "seed": 2}
    assert list(data["dt_set"].values) == ["a", "a", "b", "c"]
    # One set is run by one method only: that is no blow-up of the other.
    assert ensembles.ran(data, METHOD, 3) and not ensembles.ran(data, "euler", 3) and not data["diverged"].any()
    of_both = ensembles.ratio_over_steps(data, "euler", METHOD)
    assert of_both == ensembles.ratio_over_steps(data.isel(dt=slice(3)), "euler", METHOD)
    assert np.isnan(ensembles.ratio_over_steps(data.isel(dt=[3]), "euler", METHOD).value)
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


def parts(**rods):
    """What the jobs of a study of rods run."""
    return Plan(resolve(config(**WITHOUT, rods={"over_time": False, **rods}), HOME), HOME).scene_parts["rods"]


def test_small_runs_share_a_job_and_large_ones_do_not():
    dt = {"a": {"values": [1e-4, 1e-5, 2e-5]}, "b": {"values": [5e-6], "methods": ["euler", METHOD]}}
    asked = {"dt": dt, "methods": ["euler", METHOD, "verlet"], "horizon": 1.0}
    own = [
        [(key, step) for step in (*first, "1e-05", "2e-05", "0.0001")]
        for key, *first in (("euler", "5e-06"), (METHOD, "5e-06"), ("verlet",))
    ]
    assert parts(**asked, seeds=1) == (tuple(own[0] + own[1] + own[2]),)
    # As many steps as take about 18, 18 and 8 seconds by estimate: each method has a job.
    assert parts(**asked, seeds=70) == (tuple(own[0]), tuple(own[1] + own[2]))
    # Where each step size takes a minute or more, every one has a job of its own.
    assert parts(**asked, seeds=10_000) == tuple((share,) for shares in own for share in shares)


def test_every_run_is_in_one_job():
    study = resolve(yaml.safe_load((HOME / "config.yaml").read_text()), HOME)
    plan = Plan(study, HOME)
    for key, scene in study.scenes.items():
        runs = {(method, step.name) for step in scene.steps for method in scene.methods if step.runs(method)}
        shares = [share for part in plan.scene_parts[key] for share in part]
        assert len(shares) == len(runs) and set(shares) == runs, key
    runs = sum(
        len(plan.many_body_runs(key, share)) for key, parts in plan.scene_parts.items() for part in parts for share in part
    )
    assert runs == study.estimate.many_runs
    assert len(plan.scene_manifests()) == len(set(plan.scene_manifests()))


@pytest.fixture
def few(tmp_path):
    """A small study of two methods, and how its job is run: returns what is said and how many runs are counted."""
    asked = {
        "methods": [METHOD, "euler"],
        "dt": {"a": {"values": [1e-4, 2e-4]}},
        "horizon": 0.02,
        "seeds": 2,
        "over_time": False,
    }
    study = resolve(config(**WITHOUT, rods=asked) | {"results": str(tmp_path)}, HOME)

    def again(plan=None):
        plan, said, done = plan or Plan(study, HOME), [], []
        (part,) = plan.scene_parts["rods"]
        run_scene(plan, "rods", part, 1, said.append, lambda: done.append(1))
        return said, len(done)

    return Plan(study, HOME), again


def test_a_job_keeps_what_is_up_to_date(few, tmp_path):
    plan, again = few
    said, done = again()
    paths = sorted(tmp_path.glob("many_body/rods/*/*/*.nc"))
    first = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}
    assert len(first) == done == 8 and not [line for line in said if "kept" in line]
    said, done = again()
    assert done == 8 and len([line for line in said if line.endswith(": kept")]) == 8 and len(said) == 8
    # One is missing, one is another run under its name, one was made by other code.
    paths[0].unlink()
    paths[3].write_bytes(paths[2].read_bytes())
    other = json.loads(plan.many_body_job("rods", "euler", "0.0002", 0)) | {"code": "other"}
    settings = plan.many_body_settings("rods")
    many_body.run_all("euler", settings, [tmp_path / "many_body/rods/euler/0.0002/0.nc"], jobs=[json.dumps(other)])
    changed = {
        path.relative_to(tmp_path).as_posix()
        for path, (data, _) in first.items()
        if not path.is_file() or path.read_bytes() != data
    }
    said, done = again()
    made = [line for line in said if re.match(r"dt .* steps, ", line)]
    assert done == 8 and len(made) == 3 == len(changed) and len([line for line in said if line.endswith(": kept")]) == 5
    assert {path: path.read_bytes() for path in paths} == {path: data for path, (data, _) in first.items()}
    lists = [json.loads(Path(path).read_text())["files"] for path in plan.scene_manifests()]
    assert sorted(name for files in lists for name in files) == [path.relative_to(tmp_path).as_posix() for path in paths]


def test_an_edited_method_is_run_alone(few, tmp_path, monkeypatch):
    plan, again = few
    again()
    (part,) = plan.scene_parts["rods"]
    jobs = plan.scene_jobs("rods", part)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("many_body/rods/*/*/*.nc")}
    edited = Plan(plan.study, HOME)
    code = edited.many_body_run_code
    monkeypatch.setattr(edited, "many_body_run_code", lambda scene, method: code(scene, method) + "x" * (method == "euler"))
    assert {key for key, job in edited.scene_jobs("rods", part).items() if job != jobs[key]} == {"euler/0.0001", "euler/0.0002"}
    again(edited)
    assert {path.parts[-3] for path, time in before.items() if path.stat().st_mtime_ns != time} == {"euler"}


def test_a_method_that_fails_does_not_stop_the_others(few, tmp_path, monkeypatch):
    _plan, again = few
    run_all = scene_batches.run_all

    def fails(method, *arguments):
        if method == METHOD:
            raise ArithmeticError("no such number")
        run_all(method, *arguments)

    monkeypatch.setattr(scene_batches, "run_all", fails)
    with pytest.raises(FailedRuns, match=f"scene rods, method {METHOD}: ArithmeticError: no such number"):
        again()
    made = {path.parent.name for path in tmp_path.glob("batches/rods/*/*.json")}
    assert made == {"euler"} and len(list(tmp_path.glob("many_body/rods/euler/*/*.nc"))) == 4


def test_what_runs_cost_is_added_up_over_attempts(few, tmp_path):
    plan, again = few
    again()
    next(tmp_path.glob("many_body/rods/euler/0.0001/0.nc")).unlink()
    again()
    (log,) = (tmp_path / "logs" / "many_body" / "rods" / "euler").glob("*.log")
    assert len(re.findall(r"^dt 0\.0001 s, seed \d: ", log.read_text(), re.MULTILINE)) == 3
    groups = gather_scenes(plan, tmp_path)
    seconds = release._cpu_seconds(tmp_path / "logs" / "many_body" / "rods", groups["/rods"])
    assert seconds.shape == (2, 2) and np.isfinite(seconds).all()


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
from polhode.study.run import scene_batches
from polhode.study.run.batches import FailedRuns
from polhode.study.run.scene_batches import run_scene
configuration.resolve({config()!r}, entry.HOME, checked=True)
settings = {{"scene": "chess", "spin": None, "horizon": 1e-5, "samples": 1}}
many_body.run_all("spiral_leapfrog", settings, [{str(tmp_path / "1e-05" / "0.nc")!r}])
unused = {{"jsonschema", "matplotlib", "scipy.interpolate", "snakemake"}}
print("left out:", *sorted(unused & set(sys.modules)))
"""
    surroundings = os.environ | {"PYTHONPATH": str(HOME / "src")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=surroundings)
    assert done.stdout.splitlines()[-1] == "left out:"


def test_a_scene_is_timed_for_the_methods_that_it_names(tmp_path):
    """So a scene may run every method and time a few; an empty list times none."""

    def timed(**rods):
        study = resolve(config(**WITHOUT, rods={"methods": [METHOD, "euler"], **rods}) | {"results": str(tmp_path)}, HOME)
        methods, scenes = many_bodies(study)
        return [m.key for m in methods], scenes, Plan(study, HOME).timing_settings(None)["many_body"]

    assert timed() == ([METHOD, "euler"], ["rods"], {"rods": ["rods", METHOD, "euler"]})
    assert timed(timed=["euler"]) == (["euler"], ["rods"], {"rods": ["rods", "euler"]})
    assert timed(timed=["verlet"]) == timed(timed=[]) == ([], [], {})
    with pytest.raises(ConfigurationError, match=r"many_body.rods.timed.*unknown method 'eulr'"):
        timed(timed=["eulr"])
