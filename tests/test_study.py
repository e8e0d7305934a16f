"""The study's own logic: configuration, fingerprints, fits, storage, gathering, claims."""

import itertools
import json
import os
import re
import shutil
import struct
import textwrap
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import yaml
from data_files import invented
from studies import default, merged
from studies import study as default_study

import polhode
from polhode.algebra import metrics
from polhode.algebra.body import Body, euler_equations
from polhode.compiling import operations
from polhode.fits import orders
from polhode.interface import netcdf, storage
from polhode.methods import spiral_leapfrog
from polhode.simulate import sampled_steps
from polhode_study import chapters, configuration, fingerprint, provenance
from polhode_study.chapters import rendering
from polhode_study.chapters.judging import judge_chapters, measures_of
from polhode_study.chapters.ledger import numbers as ledger_numbers
from polhode_study.chapters.long_runs import run as long_checks
from polhode_study.chapters.seelen2016 import frames as seelen2016
from polhode_study.chapters.seelen2016 import measures as seelen_measures
from polhode_study.chapters.spiral2024 import measures as measures_spiral2024
from polhode_study.chapters.spiral2024 import run as checks
from polhode_study.configuration import models
from polhode_study.gather import arithmetic
from polhode_study.gather import single_body as gather
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.judge import verdicts as claims
from polhode_study.judge.measured import Measured
from polhode_study.judge.measures import share_below
from polhode_study.plan import Plan
from polhode_study.products import Products, library
from polhode_study.run import target_steps as targets
from polhode_study.run.making import FailedRuns, make_files, make_single_body
from polhode_study.run.reference import make_reference
from polhode_study.run.single_body import make_runs

HOME = Path(__file__).parents[1]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(HOME / "src")}
PUBLISHED = HOME / "data" / "published"


def small() -> dict:
    config = default(methods=["spiral_leapfrog", "euler"], digits=25, checks=[])
    config["problems"] = {
        "spiral_cylinder": {
            "dt": {"published": {"geometric": [1e-3, 1e-1, 4], "truncate": True}, "fit": {"divisions": [16, 16384, 21]}},
            "samples": 4,
            "check_until": 0.1,
            "long_run": {"horizon": 2.0, "dt": 1e-3, "samples": 8},
            "targets": {"errors": [1e-2], "dt_min": 1e-4, "dt_max": 1e-1, "truncate": True},
        }
    }
    return config


# Configuration


def test_default_and_quick_configurations_are_valid():
    study = default_study()
    assert set(study.methods) == set(polhode.methods)
    problem_study = study.problems["spiral_cylinder"]
    published = [s.dt for s in problem_study.steps if s.set_name == "published"]
    np.testing.assert_allclose(published, 10 ** np.linspace(-7, -1, 20), rtol=1e-5)
    for s in problem_study.steps:
        assert s.steps == (int(1 / s.dt) if s.truncate else round(1 / s.dt))
    assert set(study.problems) <= set(polhode.problems) and len(study.problems) >= 14
    assert study.checks == tuple(configuration.CHECKS)
    quick = configuration.resolve(merged(default(), yaml.safe_load((HOME / "workflow/config/quick.yaml").read_text())), HOME)
    left_out = {"free_asymmetric_top_unstable", "free_asymmetric_top_separatrix"}
    assert set(quick.problems) == set(study.problems) - left_out
    for key, problem_study in quick.problems.items():
        assert len(problem_study.steps) <= len(study.problems[key].steps), key


def test_null_leaves_out_a_problem_or_a_ladder():
    config = merged(small(), {"problems": {"heavy_top": None, "spiral_cylinder": {"dt": {"published": None}}}})
    study = configuration.resolve(config, HOME)
    assert list(study.problems) == ["spiral_cylinder"]
    assert {s.set_name for s in study.problems["spiral_cylinder"].steps} == {"fit"}


def test_methods_of_several_torques_do_not_run_several_bodies():
    cylinders = default_study().problems["coupled_cylinders"]
    several = {key for key, method in polhode.methods.items() if method.torques_per_step > 1}
    assert {"rk4", "johnson2008"} < several and set(study_methods()) - set(cylinders.methods) == several


def study_methods() -> list[str]:
    return list(default_study().methods)


def test_long_runs_are_compared_where_there_is_a_closed_form():
    study = default_study()
    exact = {
        key
        for key, problem_study in study.problems.items()
        if problem_study.long_run is not None and problem_study.long_run.exact
    }
    assert "free_symmetric_top" in exact and "forced_cylinder" in exact
    assert not exact & {"lab_torque", "asymmetric_heavy_top", "heavy_top"}
    for key in ("lab_torque", "free_asymmetric_top"):
        problem_study = study.problems[key]
        assert bool(problem_study.reference_times().max() > 100) is (key in exact)


def test_means_are_taken_at_reference_times():
    cylinder = default_study().problems["forced_cylinder"]
    times = set(cylinder.reference_times().tolist())
    for step in cylinder.steps:
        assert set((sampled_steps(step.steps, cylinder.samples) * step.dt).tolist()) <= times


def test_the_cost_study_in_order_or_left_out():
    config = small()
    config["cost"].update(target_errors=[1e-3, 1e-1], torque_prices=[100, 0, 10])
    cost = configuration.resolve(config, HOME).cost
    assert cost.target_errors == (1e-1, 1e-3) and cost.torque_prices == (0, 10, 100)
    assert configuration.resolve(small() | {"cost": None}, HOME).cost is None


def test_without_a_cost_study_nothing_waits_for_it():
    plans = [Products(configuration.resolve(small() | change, HOME), HOME) for change in ({}, {"cost": None})]
    times = chapters.job_of("times")
    for plan, expected in zip(plans, (["results/cost.nc"], []), strict=True):
        assert set(plan.needed(times)) & {"results/cost.nc"} == set(expected) and "results/cost.nc" not in plan.needed(
            "spiral2024"
        )
        assert plan.places(None).get("cost", "") == "".join(expected)
        assert {"results/timing.nc", "results/cost.nc"} <= set(plan.data()) or not expected
        assert expected or not [path for path in plan.data() if "timing" in path or "cost" in path]
    assert "results/cost_claims.csv" not in plans[0].needed(chapters.job_of("ledger"))
    assert "results/cost_claims.csv" in plans[1].needed(times)


def test_targets_need_a_closed_form(monkeypatch):
    problem = polhode.problems["spiral_cylinder"]

    class Registered(dict):
        def plugins(self):
            return {}

    changed = Registered(spiral_cylinder=replace(problem, reference=None))
    monkeypatch.setattr(configuration.study, "PROBLEMS", changed)
    with pytest.raises(configuration.ConfigurationError, match=r"targets: needs a closed form.*write targets: null"):
        configuration.resolve(small(), HOME)
    config = small()
    config["problems"]["spiral_cylinder"]["targets"] = None
    assert configuration.resolve(config, HOME).problems["spiral_cylinder"].targets is None


@pytest.mark.thorough
def test_a_plugin_joins_a_list_of_methods(forget_plugins):
    study = configuration.resolve(small() | {"plugins": ["docs/example_plugin.py"]}, HOME)
    assert study.methods == ("spiral_leapfrog", "euler", "my_spiral") and study.plugin_methods == ("my_spiral",)


def test_step_names_are_exact():
    for dt in (1e-7, 2.06914e-07, 0.1, 1 / 3, 1 / 1048576):
        assert float(configuration.step_name(dt)) == dt


def test_reference_times_hold_every_comparison():
    cylinder = configuration.resolve(small(), HOME).problems["spiral_cylinder"]
    times = set(cylinder.reference_times().tolist())
    for s in cylinder.steps:
        assert s.end_time in times and s.end_time - 0.5 * s.dt in times
    assert set(cylinder.long_run.times.tolist()) <= times
    assert sorted(times) == cylinder.reference_times().tolist()


# Fingerprints


def test_comments_layout_and_docstrings_do_not_count():
    source = 'import polhode.problems\ndef f(x):\n    """Doc."""\n    # why\n    return x + 1\n'
    two = "import polhode.problems\ndef f(x):\n\n    return (x\n        + 1)\n"
    assert fingerprint._in_source(source) == fingerprint._in_source(two)
    assert fingerprint._in_source(source)[0] != fingerprint._in_source(source.replace("+", "-"))[0]
    assert fingerprint._in_source(source)[1] == ["polhode.problems"]


def test_the_next_process_need_not_parse_what_one_has_parsed(tmp_path, monkeypatch):
    monkeypatch.setenv("POLHODE_CACHE_DIR", str(tmp_path))
    module = tmp_path / "some.py"
    hashes = []
    for text, parses in (("A = 1\n", True), ("A = 2\n", True), ("A = 1\n", False)):
        module.write_text(text)
        fingerprint._digest.cache_clear()
        fingerprint._behind.cache_clear()
        fingerprint._known.cache_clear()
        with monkeypatch.context() as patch:
            if not parses:
                patch.delattr(fingerprint.ast, "parse")
            hashes.append(fingerprint.fingerprint(module))
    assert hashes[0] == hashes[2] != hashes[1]
    for damaged in ("{", "[]"):
        (tmp_path / fingerprint.KEPT).write_text(damaged)
        fingerprint._known.cache_clear()
        fingerprint._behind.cache_clear()
        assert fingerprint.fingerprint(module) == hashes[0], "a damaged file is as good as none"
    fingerprint._known.cache_clear()


def test_values_beside_a_module_count_and_comments_do_not(tmp_path):
    module = tmp_path / "words.py"
    module.write_text("WORDS = 1\n")
    seen = []
    for text in ("euler: first\n", "# why\neuler:   first\n", "euler: second\n"):
        module.with_suffix(".yaml").write_text(text)
        fingerprint._digest.cache_clear()
        fingerprint._behind.cache_clear()
        seen.append(fingerprint.fingerprint(module))
    assert seen[0] == seen[1] != seen[2]


def test_notebooks_are_made_for_the_experiments_they_name():
    """All depend on the library, and on what of the study their own cells import."""
    paths = {Path(path).relative_to(HOME / "src").parts for path, _ in fingerprint._behind(tuple(library(HOME)), False)}
    assert {("polhode", "methods", "rk4.py"), ("polhode", "advice", "from_runs.py"), ("polhode_engines", "atlas.py")} <= paths
    assert not [parts for parts in paths if parts[0] == "polhode_study" or parts[1] == "cli"]


def test_of_a_module_counts_what_the_function_needs():
    source = (
        "import math\nimport polhode.problems\nfrom polhode.methods import euler, rk4\n"
        "A, B = 1, 2\ndef f():\n    return g() + A\ndef g():\n    return euler\ndef h():\n    return rk4('drum')\n"
    )
    of_f = fingerprint._in_source(source, "f")
    assert of_f.imports == ["polhode.methods", "polhode.methods.euler"] and of_f.words == []
    assert fingerprint._in_source(source, "h").words == ["drum"]
    for change, is_needed in (("return euler", True), ("A, B", True), ("return rk4('drum')", False), ("import math", False)):
        edited = source.replace(change, change.replace("1", "3").replace("A, B", "A, B, C").replace("return", "return 2 *"))
        edited = edited.replace("import math", "import cmath") if change == "import math" else edited
        assert (fingerprint._in_source(edited, "f").digest != of_f.digest) == is_needed, change
    with pytest.raises(ValueError, match="nothing is called 'i'"):
        fingerprint._in_source(source, "i")


def test_an_edit_makes_only_its_own_checks_again(tmp_path, monkeypatch):
    source = tmp_path / "src"
    shutil.copytree(HOME / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    caches = fingerprint._locate, fingerprint._digest, fingerprint._members, fingerprint._behind

    def hashes() -> dict[str, str]:
        for cached in caches:
            cached.cache_clear()
        return {name: fingerprint.fingerprint(check.code, members=True) for name, check in configuration.CHECKS.items()}

    monkeypatch.setattr(fingerprint, "ROOT", source)
    before = hashes()
    steps = {name for name, check in configuration.CHECKS.items() if "dt" in check.settings}
    assert len(set(before.values())) == len(before) - len(steps) + 1
    for name, old, new, changed in (
        ("polhode_study/chapters/laws/run.py", "STRENGTHS = (0.001,", "STRENGTHS = (0.002,", {"strengths"}),
        ("polhode_study/chapters/grains/run.py", "end=1.6", "end=1.7", {"drum"}),
        ("polhode/manybody/scenes/water125.py", "horizon=", "horizon=2 * ", {"baths", "liquid_codes"}),
        ("polhode/methods/rotor_flat_kick.py", "rank=9", "rank=8", {"strengths"}),
        ("polhode_study/chapters/liquids/run.py", "SHADOW_SAMPLES = (1.0,", "SHADOW_SAMPLES = (1.5,", {"liquid_shadow"}),
    ):
        file = source / name
        text = file.read_text()
        assert old in text, name
        file.write_text(text.replace(old, new, 1))
        after = hashes()
        assert {check for check in before if after[check] != before[check]} == changed, name
        file.write_text(text)
    for cached in caches:
        cached.cache_clear()


def test_an_edited_check_draws_the_chapters_that_read_it():
    """Its file is an input of these alone; nothing else of the report waits for checks but claims, and the page."""
    plan = Products(default_study(), HOME)
    drawn = {job for job in chapters.jobs() if f"{plan.results}/checks/reversibility.nc" in plan.needed(job)}
    assert drawn == {chapters.job_of("long_runs")}
    drawn = {job for job in chapters.jobs() if f"{plan.results}/checks/drum.nc" in plan.needed(job)}
    assert drawn == {chapters.job_of("grains"), chapters.job_of("communities")}
    assert plan.places_of("long_runs")["checks_needed"] == list(chapters.all_chapters()["long_runs"].checks_needed)


@pytest.mark.thorough
def test_fingerprint_follows_imports(tmp_path, monkeypatch):
    source, package = HOME / "src" / "polhode", tmp_path / "src" / "polhode"
    shutil.copytree(HOME / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    files = {key: package / Path(polhode.methods.origin(key)).relative_to(source) for key in polhode.methods}
    caches = fingerprint._locate, fingerprint._digest, fingerprint._members, fingerprint._behind
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path / "src")

    def hashes() -> dict[str, str]:
        for cached in caches:
            cached.cache_clear()
        return {key: fingerprint.fingerprint(file) for key, file in files.items()}

    def edit(name: str, old: str, new: str) -> None:
        file = package / name
        assert old in file.read_text()
        file.write_text(file.read_text().replace(old, new))

    before = hashes()
    assert len(set(before.values())) == len(before)
    edit("methods/euler.py", "\n\nMETHOD", "\n\n# a comment\nMETHOD")
    assert hashes() == before
    edit("methods/omelyan1998.py", "0.0625 *", "0.0626 *")
    assert {key for key, value in hashes().items() if value != before[key]} == {
        "omelyan1998",
        "omelyan1999_momentum",
        "spiral_omelyan",
    }
    edit("algebra/vector.py", "return a[0] * b[0]", "return b[0] * a[0]")
    assert all(value != before[key] for key, value in hashes().items())
    for cached in caches:
        cached.cache_clear()


# Orders


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_fit_finds_the_order_above_the_floor(order):
    rng = np.random.default_rng(1)
    dt = 2.0 ** -np.arange(3, 21, 0.5)
    error = 3 * dt**order * (1 + 2 * dt) + 1e-16 * np.sqrt(1 / dt) * rng.uniform(0.5, 2, dt.size)
    fit = orders.fit_order(dt, error, 1.0)
    # Coarse points that still stay on a line carry a little of the next power.
    assert abs(fit.order - order) < 0.01 * order
    assert fit.low <= min(fit.order, order) and max(fit.order, order) <= fit.high < fit.low + 0.2
    assert fit.points >= orders.FEWEST and fit.dt_min < fit.dt_max
    shuffled = rng.permutation(dt.size)
    assert orders.fit_order(dt[shuffled], error[shuffled], 1.0) == fit


@pytest.mark.parametrize("order", [1, 2, 4])
@pytest.mark.parametrize("coefficient", [2.0, 0.3, -0.3, -1.0])
@pytest.mark.parametrize("power", [1, 2])
def test_the_bracket_holds_the_order_and_a_fit_alone_does_not(order, coefficient, power):
    # No round-off: all that keeps the slope from the order is the next power of dt.
    dt = 2.0 ** -np.arange(2, 9, 0.5)
    error = 1e-2 * dt**order * (1 + coefficient * dt**power)
    fit = orders.fit_order(dt, error, 1e-12)
    assert fit.low < order < fit.high
    assert fit.low <= fit.order <= fit.high
    bias = fit.order - order
    assert np.sign(bias) == np.sign(coefficient) and abs(bias) > 1e-4
    # A bracket is of use if it is not much wider than the bias that it bounds.
    assert fit.high - fit.low < 5 * abs(bias)


def test_no_fit_without_a_line():
    dt = 2.0 ** -np.arange(3, 12)
    assert np.isnan(orders.fit_order(dt, np.full(dt.size, 0.5), 1.0).order)
    assert np.isnan(orders.fit_order(dt, np.full(dt.size, np.nan), 1.0).order)
    rough = dt * np.where(np.arange(dt.size) % 2, 1.0, 3.0)
    assert np.isnan(orders.fit_order(dt, rough, 1.0).order)


# Storage


def test_a_failed_write_leaves_nothing_and_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    storage.write_text(path, "old")

    def fail(temporary: Path) -> None:
        temporary.write_text("half")
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        storage.write_atomically(path, fail)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("share", [0, 0.001, 0.03, 0.3, 0.99])
def test_truncated_files_are_named(tmp_path, share):
    path = tmp_path / "cut.nc"
    storage.write_dataset(polhode.simulate("spiral_cylinder", "euler", 1 / 64), path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    for read in (netcdf.read_dataset, netcdf.group_names):
        with pytest.raises(netcdf.DamagedFile, match=r"cut\.nc is not a complete netCDF file.*delete it and run again"):
            read(path)


def test_groups_are_the_same_file_twice_and_read_as_written(tmp_path):
    coordinates = {"x": np.arange(3.0), "name": ("x", ["one", "two", "three"])}
    groups = {
        "/": xr.Dataset(attrs={"title": "three groups", "sizes": [1, 2]}),
        "/a": xr.Dataset({"f": ("x", [0.5, np.nan, 3.25])}, coordinates, {"problem": "a", "rank": 2}),
        "/a/b": xr.Dataset({"n": ("x", np.array([1, 2, 3], "int8"))}, coordinates),
        "/c": xr.Dataset({"yes": True, "text": ""}),
    }
    paths = [tmp_path / f"{i}.nc" for i in range(2)]
    for path in paths:
        storage.write_groups(groups, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    read = netcdf.read_groups(paths[0])
    assert list(read) == list(groups) and netcdf.at_the_top(read) == ["a", "c"] and "/d" not in read
    tree = xr.open_datatree(paths[0])
    for name, data in groups.items():
        for dataset in (read[name], netcdf.read_dataset(paths[0], name), tree[name].to_dataset()):
            assert dataset.equals(data) and len(dataset.attrs["checksum"]) == 64
            assert all(np.array_equal(dataset.attrs[key], value) for key, value in data.attrs.items())
    assert read["/c"]["yes"].dtype == bool and read["/a/b"]["n"].dtype == "int8"
    # A damaged group is named, and the others can still be read.
    paths[1].write_bytes(paths[1].read_bytes().replace(struct.pack("<d", 3.25), struct.pack("<d", 3.5)))
    damaged = netcdf.read_groups(paths[1])
    with pytest.raises(netcdf.DamagedFile, match=r"1.nc \(group /a\) was changed after it was written"):
        _ = damaged["/a"]
    assert damaged["/a/b"].equals(groups["/a/b"])


def test_files_of_runs_are_the_same_twice_and_hold_each_run(tmp_path):
    settings = {"horizon": 1.0, "samples": 5, "switched": False, "dt": {"0.015625": False, "0.5": False}}
    job = storage.job_text("runs", {"problem": "spiral_cylinder", "steps": "fit", "method": "spiral_leapfrog"}, settings, "0")
    said: list[str] = []
    for i in range(2):
        make_files({str(tmp_path / f"{i}.nc"): job}, make_single_body, said.append)
    assert (tmp_path / "0.nc").read_bytes() == (tmp_path / "1.nc").read_bytes() and ": 2 runs, 66 steps" in said[0]
    opened = xr.load_dataset(tmp_path / "0.nc")
    assert opened.q.dims == ("dt", "sample", "quaternion") and opened.q.attrs["units"] == "1"
    assert (
        opened.attrs["method"] == "spiral_leapfrog" and opened.attrs["job"] == job and opened.steps.values.tolist() == [64, 2]
    )
    for i, dt in enumerate((1 / 64, 1 / 2)):
        run, alone = opened.isel(dt=i), polhode.simulate("spiral_cylinder", "spiral_leapfrog", dt, samples=5)
        count = alone.sizes["time"]
        assert run.time.values[:count].tolist() == alone.time.values.tolist() and run.time[count:].isnull().all()
        for name in ("q", "omega", "stored_omega", "energy"):
            assert np.array_equal(run[name].values[:count], alone[name].values) and run[name][count:].isnull().all()
        assert np.isnan(run.diverged_at)


# Gathering


#: Beside the cylinder of :func:`small`: a free body, switched too; one with means, one that moves, one under weight.
OTHERS = {
    "free_symmetric_top": {
        "dt": {"fit": {"divisions": [64, 512, 7]}},
        "samples": 1,
        "check_until": 1.0,
        "long_run": {"horizon": 20.0, "dt": 1e-2, "samples": 10, "switched": True},
    },
    "forced_cylinder": {"dt": {"fit": {"divisions": [200, 400, 2]}}, "samples": 10, "means": True},
    "sinking_propeller": {
        "dt": {"fit": {"divisions": [64, 512, 7]}},
        "samples": 1,
        "check_until": 0.5,
        "long_run": {"horizon": 2.0, "dt": 1e-2, "samples": 4},
    },
    "asymmetric_heavy_top": {
        "dt": {"fit": {"divisions": [64, 512, 7]}, "fine": {"divisions": [1024, 2048, 2], "methods": ["euler"]}},
        "samples": 1,
        "check_until": 0.5,
        "long_run": {"horizon": 20.0, "dt": 1e-2, "samples": 10},
    },
}


#: A problem whose reference takes a tenth of a second.
SPHERE = {"dt": {"fit": {"divisions": [64, 512, 2]}}, "samples": 1, "check_until": 0.5}


def make_references(plan, say=lambda line: None):
    """Those of all problems."""
    keys = list(plan.study.problems)
    make_files(plan.origins(plan.files("references", keys)), partial(make_reference, plan.reference_times(keys)), say)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A small study of several problems, run without Snakemake."""
    folder = tmp_path_factory.mktemp("results")
    study = configuration.resolve(merged(small(), {"results": str(folder), "problems": OTHERS}), HOME)
    plan = Plan(study, HOME)
    make_references(plan)
    for key, problem_study in study.problems.items():
        make_files(plan.origins(plan.part_paths(key, problem_study.methods)), make_single_body, lambda line: None)
    storage.write_groups(gather.gather(plan), folder / "single_body.nc")
    return study, folder


@pytest.mark.thorough
def test_references_that_are_up_to_date_are_kept(tmp_path):
    config = merged(small(), {"results": str(tmp_path), "digits": 20, "problems": {"exponential_sphere": SPHERE}})
    config["problems"] = {key: config["problems"][key] for key in ("spiral_cylinder", "exponential_sphere")}
    plan = Plan(configuration.resolve(config, HOME), HOME)
    paths = [Path(path) for path in plan.files("references")]
    assert plan.reference_parts == (tuple(plan.study.problems),)

    def run(plan):
        said = []
        try:
            make_references(plan, said.append)
        finally:
            assert len(said) == 2
        return [re.sub(r": kept.*", ": kept", line) for line in said]

    first = run(plan)
    assert all("digits agree" in line for line in first), first
    before = [path.stat().st_mtime_ns for path in paths]
    assert run(plan) == [f"{path}: kept" for path in paths]
    assert [path.stat().st_mtime_ns for path in paths] == before
    # One that is lost, one that was changed since, and one that was made with other settings are made again, and no others.
    paths[0].unlink()
    assert ["kept" in line for line in run(plan)] == [False, True]
    shutil.copy(paths[0], paths[1])
    assert ["kept" in line for line in run(plan)] == [True, False]
    config["problems"]["exponential_sphere"]["check_until"] = 0.25
    other = Plan(configuration.resolve(config, HOME), HOME)
    jobs, changed = (item.origins(item.files("references")) for item in (plan, other))
    assert [jobs[path] == changed[path] for path in jobs] == [True, False]
    assert ["kept" in line for line in run(other)] == [True, False]
    assert netcdf.read_dataset(paths[1]).attrs["agreement_time"] <= 0.25


def test_failing_files_are_named_and_the_others_made(tmp_path):
    """One after the other; a mistake is named once, by what the path of its first file says."""
    names = [{"problem": "spiral_cylinder"}, {"problem": "heavy_top"}]
    names += [{"scene": "rods", "dt": dt, "method": key} for dt in ("0.1", "0.2") for key in ("euler", "verlet")]
    failures = {"spiral_cylinder": ZeroDivisionError("no number"), "euler": ArithmeticError("no such number")}

    def make(wildcards, settings):
        if error := failures.get(wildcards.get("method", wildcards.get("problem"))):
            raise error
        return xr.Dataset(), "made"

    said = []
    with pytest.raises(FailedRuns) as caught:
        make_files(
            {str(tmp_path / f"{i}.nc"): storage.job_text("", of, {}, "") for i, of in enumerate(names)}, make, said.append
        )
    assert str(caught.value).splitlines() == [
        "problem spiral_cylinder: ZeroDivisionError: no number",
        "scene rods, method euler, dt 0.1 (and 1 other files): ArithmeticError: no such number",
    ]
    assert "Traceback" in said[0] and "1.nc: made" in said[1]
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["1", "3", "5"]


def test_references_are_divided_by_the_time_they_take():
    def parts(**changes):
        plan = Plan(replace(study, **changes), HOME)
        assert list(itertools.chain(*plan.reference_parts)) == list(study.problems), "each once"
        assert [plan.units(f"references_{i}") for i, part in enumerate(plan.reference_parts, 1)] == list(
            map(len, plan.reference_parts)
        )
        return plan.reference_parts

    study = default_study()
    assert 1 < len(parts()) < len(study.problems) / 3
    assert max(map(len, parts(digits=500))) == 1, "what takes long has a job of its own"
    assert len(parts(digits=5)) == 1


@pytest.mark.thorough
def test_gathered_errors_are_those_of_a_run(results):
    _, folder = results
    data = netcdf.read_dataset(folder / "single_body.nc", "spiral_cylinder")
    assert data.integrator.values.tolist() == ["spiral_leapfrog", "euler"]
    dt = 1 / 128
    run = polhode.simulate("spiral_cylinder", "spiral_leapfrog", dt)
    q, omega = polhode.problems["spiral_cylinder"].exact([1.0, 1 - dt / 2], 30)
    row = data.sel(integrator="spiral_leapfrog", dt=dt)
    assert float(row.q_error_l1) == pytest.approx(np.abs(run.q.values[-1] - q[0]).sum() / np.abs(q[0]).sum(), rel=1e-9)
    stored = np.abs(run.stored_omega.values[-1] - omega[1]).sum() / np.abs(omega[1]).sum()
    assert float(row.stored_omega_error_l1) == pytest.approx(stored, rel=1e-9)
    assert float(row.mean_error) == pytest.approx((float(row.q_error_l1) + stored) / 2, rel=1e-9)
    assert float(row.mean_error_as_published) == float(row.mean_error)
    assert float(row.steps) == 128
    assert float(data.q_order.sel(integrator="spiral_leapfrog")) == pytest.approx(2, abs=0.1)
    assert float(data.omega_order.sel(integrator="spiral_leapfrog")) == pytest.approx(3, abs=0.15)
    assert float(data.q_order.sel(integrator="euler")) == pytest.approx(1, abs=0.1)


@pytest.mark.thorough
@pytest.mark.parametrize("problem", ["spiral_cylinder", "sinking_propeller", "asymmetric_heavy_top"])
def test_errors_computed_together_are_those_of_each_run_alone(results, problem):
    study, folder = results
    plan, problem_study = Plan(study, HOME), study.problems[problem]
    data = netcdf.read_dataset(folder / "single_body.nc", problem)
    exact = gather.Exact(folder / "references" / f"{problem}.nc")
    for key in problem_study.methods:
        ladder = [(file, i) for file in gather._CheckedFiles(plan).runs(problem, key) for i in range(file.sizes["dt"])]
        for file, i in ladder:
            dt, run = float(file["dt"][i]), gather._arrays_of(file, i)
            alone = gather.run_errors(run, exact, problem_study.problem, slice(-1, None))
            together = data.sel(integrator=key, dt=dt)
            assert {name: float(together[name]) for name in alone} == {name: value[0] for name, value in alone.items()}


@pytest.mark.thorough
def test_step_sizes_of_a_few_methods_are_run_by_these(results):
    study, folder = results
    top = study.problems["asymmetric_heavy_top"]
    data = netcdf.read_dataset(folder / "single_body.nc", "asymmetric_heavy_top")
    ran = data.steps.notnull().values
    assert data.sizes["dt"] == len(top.steps) == 9 and data.dt_set.values[:2].tolist() == ["fine", "fine"]
    assert ran[1].all() and ran[0].tolist() == [False] * 2 + [True] * 7
    # Where nothing ran there is no error, and nothing that blew up.
    assert data.q_error_l1.notnull().values.tolist() == ran.tolist() and not data.diverged.any()
    assert data.steps.values[1].tolist() == [2048, 1024, *data.steps.values[0, 2:]]
    files = {path.parts[-2:] for path in (folder / "runs" / "asymmetric_heavy_top").rglob("*.nc")}
    assert files == {("fit", "spiral_leapfrog.nc"), ("fit", "euler.nc"), ("fine", "euler.nc")}


@pytest.mark.thorough
def test_a_step_size_in_two_sets_is_run_by_the_methods_of_both(forget_plugins):
    def steps(dt, **more):
        problems = {"heavy_top": {"dt": {"fit": None, **dt}, "samples": 1}}
        return configuration.resolve(merged(small(), {"problems": problems, **more}), HOME).problems["heavy_top"].steps

    first, other = {"values": [0.1, 0.2], "methods": ["euler"]}, {"values": [0.2], "methods": ["spiral_leapfrog"]}
    finer, coarser = steps({"a": first, "b": other})
    assert finer.methods == ("euler",) and coarser.methods is None and coarser.set_name == "a"
    assert [step.methods for step in steps({"a": first, "b": {"values": [0.1]}})] == [None, ("euler",)]
    assert [step.methods for step in steps({"b": {"values": [0.1]}, "a": first})] == [None, ("euler",)]
    # A user's own method runs with all of them; a set that no method of the study is in disappears.
    with_plugin, *_ = steps({"a": first}, plugins=["docs/example_plugin.py"])
    assert with_plugin.runs("my_spiral") and with_plugin.runs("euler") and not with_plugin.runs("spiral_leapfrog")
    assert [step.dt for step in steps({"a": first, "b": {"values": [0.4], "methods": ["rk4"]}})] == [0.1, 0.2]


def test_the_error_as_published_is_in_the_measure_of_the_method():
    problem, dt = polhode.problems["spiral_cylinder"], 1 / 128
    run = polhode.simulate(problem, "pfc4_delvalle2024", dt, samples=1)
    exact = object.__new__(gather.Exact)
    exact.path, exact.time, exact.r, exact.v = "none", np.array([1 - dt / 2, 1.0]), None, None
    exact.q, exact.omega = problem.exact([1 - dt / 2, 1.0], 20)
    arrays = {name: run[name].values for name in ("time", "q", "omega", "stored_omega", "stored_offset")} | {"dt": dt}
    measure = polhode.methods["pfc4_delvalle2024"].published_error
    errors = gather.run_errors(arrays, exact, problem, slice(-1, None), measure)
    states = run.q.values[-1], exact.q[1], run.stored_omega.values[-1], exact.omega[0]
    assert errors["mean_error"][0] == metrics.mean_error(*states)
    assert errors["mean_error_as_published"][0] == metrics.mean_error(*states, "matrix") > 1.1 * errors["mean_error"][0]


@pytest.mark.thorough
def test_gathered_groups_open_alone(results):
    _, folder = results
    long_run = netcdf.read_dataset(folder / "single_body.nc", group="spiral_cylinder/long_run")
    assert long_run.q_error_l1.dims == ("integrator", "time") and list(long_run.integrator.values) == [
        "spiral_leapfrog",
        "euler",
    ]
    searched = netcdf.read_dataset(folder / "single_body.nc", group="spiral_cylinder/targets")
    errors = searched.mean_error.sel(target_error=1e-2)
    np.testing.assert_allclose(errors, 1e-2, rtol=0.01)
    with xr.open_datatree(folder / "single_body.nc") as tree:
        assert "/spiral_cylinder/targets" in tree.groups
    for group in ("spiral_cylinder", "spiral_cylinder/long_run"):
        data = netcdf.read_dataset(folder / "single_body.nc", group=group)
        for name in gather.ERRORS:
            assert data[name].attrs["units"] and data[name].attrs["long_name"]


@pytest.mark.thorough
def test_several_problems_are_gathered_as_declared(results):
    study, folder = results
    assert netcdf.group_names(folder / "single_body.nc") == list(study.problems)
    spiral = polhode.methods["spiral_leapfrog"]
    for key, problem_study in study.problems.items():
        data = netcdf.read_dataset(folder / "single_body.nc", key)
        claimed = data.sel(integrator="spiral_leapfrog")
        orders = (int(claimed.claimed_q_order), int(claimed.claimed_omega_order))
        assert orders == spiral.orders(problem_study.problem.torque_class), key
        assert data.attrs["torque_class"] == problem_study.problem.torque_class
    assert netcdf.read_dataset(folder / "single_body.nc", "free_symmetric_top").attrs["formula"] != "Taylor series"


@pytest.mark.thorough
def test_errors_of_a_moving_body(results):
    _, folder = results
    data = netcdf.read_dataset(folder / "single_body.nc", "sinking_propeller")
    reference = netcdf.read_dataset(folder / "references" / "sinking_propeller.nc")
    dt = float(data.dt[0])
    run = polhode.simulate("sinking_propeller", "euler", dt, samples=1)
    exact = reference.sel(time=float(run.time[-1]))
    row = data.sel(integrator="euler", dt=dt)
    for name in ("r", "v", "omega"):
        computed, true = run[name].values[-1, 0], exact[name].values[0]
        assert float(row[f"{name}_error_l1"]) == pytest.approx(np.abs(computed - true).sum() / np.abs(true).sum(), rel=1e-12)
    assert 0.8 < float(data.r_order.sel(integrator="euler")) < 1.2
    long_run = netcdf.read_dataset(folder / "single_body.nc", "sinking_propeller/long_run")
    assert long_run.q.dims == ("integrator", "time", "body", "quaternion") and np.isfinite(long_run.r_error_l1.values).all()


@pytest.mark.thorough
def test_means_are_those_of_the_samples(results):
    _, folder = results
    data = netcdf.read_dataset(folder / "single_body.nc", "forced_cylinder")
    reference = netcdf.read_dataset(folder / "references" / "forced_cylinder.nc")
    run = polhode.simulate("forced_cylinder", "euler", 0.1 / 200, samples=10)
    q, true = run.q.values[1:], reference.sel(time=run.time).q.values[1:]
    # b . B0 of the x axis is the first entry of the rotation matrix.
    cosine, true_cosine = (x[:, 0] ** 2 + x[:, 1] ** 2 - x[:, 2] ** 2 - x[:, 3] ** 2 for x in (q, true))
    inclination = np.abs(np.arccos(cosine) - np.arccos(true_cosine)).mean()
    angle = (2 * np.arccos(np.minimum(np.abs((q * true).sum(-1)), 1))).mean()
    row = data.sel(integrator="euler", dt=0.1 / 200)
    assert float(row.inclination_error_mean) == pytest.approx(inclination, rel=1e-6)
    assert float(row.angle_error_mean) == pytest.approx(angle, rel=1e-6)


@pytest.mark.thorough
def test_drifts_are_those_of_what_the_motion_keeps(results):
    _, folder = results
    free = netcdf.read_dataset(folder / "single_body.nc", "free_symmetric_top/long_run")
    # But for the error of reading at the start, from which a drift counts.
    np.testing.assert_allclose(free.energy_drift, free.energy_error, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(free.momentum_drift, free.momentum_error, rtol=1e-6, atol=1e-7)
    heavy = netcdf.read_dataset(folder / "single_body.nc", "asymmetric_heavy_top/long_run")
    assert np.isnan(heavy.q_error_l1).all() and "exact_q" not in heavy
    run = polhode.simulate("asymmetric_heavy_top", "euler", 1e-2, 20.0, samples=10)
    expected = np.abs(run.energy.values - run.energy.values[0]) / run.kinetic.values[0]
    np.testing.assert_allclose(heavy.energy_drift.sel(integrator="euler"), expected, rtol=1e-12, atol=1e-15)
    ends = heavy.energy_drift.isel(time=-1)
    assert float(ends.sel(integrator="spiral_leapfrog")) < 0.1 * float(ends.sel(integrator="euler"))
    driven = netcdf.read_dataset(folder / "single_body.nc", "spiral_cylinder/long_run")
    assert np.isnan(driven.energy_drift).all() and np.isnan(driven.momentum_drift).all()


@pytest.mark.thorough
def test_switched_runs_have_the_other_normalisation(results):
    _, folder = results
    declared, switched = (
        netcdf.read_dataset(folder / "single_body.nc", f"free_symmetric_top/{name}")
        for name in ("long_run", "long_run_switched")
    )
    drift = switched.norm_error.isel(time=-1) / declared.norm_error.isel(time=-1).clip(min=1e-17)
    assert float(drift.sel(integrator="euler")) > 1e6
    assert float(switched.norm_error.isel(time=-1).sel(integrator="spiral_leapfrog")) < 1e-15


@pytest.mark.thorough
def test_gathering_names_a_broken_file(results, tmp_path):
    study, folder = results
    shutil.copytree(folder, tmp_path / "copy")
    path = tmp_path / "copy" / "runs" / "spiral_cylinder" / "fit" / "euler.nc"
    path.write_bytes(b"CDF")
    with pytest.raises(ValueError, match=r"fit/euler\.nc.*delete it and run again"):
        gather.gather(Plan(replace(study, results=tmp_path / "copy"), HOME))


def test_a_blow_up_is_gathered_as_diverged(tmp_path):
    wild = textwrap.dedent(
        """
        from dataclasses import replace
        from polhode.compiling.kernel import kernel
        from polhode.methods.euler import METHOD as EULER

        @kernel
        def after_torque(state, torque, body, dt):
            return (state[0], state[1], state[2], state[3], 1e3 * state[4], state[5] * state[4], state[6])

        METHOD = replace(EULER, key="wild", label="wild", after_torque=after_torque)
        """
    )
    (tmp_path / "wild.py").write_text(wild)
    with polhode.methods.restored():
        method = polhode.methods.load(tmp_path / "wild.py")
        run = polhode.simulate("spiral_cylinder", method, 1e-3)
        assert run.attrs["diverged"] > 0 and np.isnan(run.q.values[-1]).all() and np.isfinite(run.q.values[0]).all()
        settings = {"horizon": 1.0, "samples": 5, "switched": False, "dt": {"0.001": False}}
        dataset, said = make_runs({"problem": "spiral_cylinder", "method": "wild"}, settings)
        assert "1 diverged, the first by t" in said and dataset.diverged_at.values.tolist() == [0.2]


# Targets and claims


@pytest.mark.thorough
def test_target_steps_meet_the_target(results):
    _, folder = results
    group = netcdf.read_dataset(folder / "single_body.nc", group="spiral_cylinder/targets").sel(integrator="euler")
    dt = float(group.step_size[0])
    assert dt == pytest.approx(1.421e-3, rel=0.05)
    problem, method = polhode.problems["spiral_cylinder"], polhode.methods["euler"]
    assert targets.mean_error(targets.end_states(problem, method, dt, True)) == pytest.approx(1e-2, rel=0.01)
    assert (group.step_size_as_published == group.step_size).all()
    pfc4 = polhode.methods["pfc4_delvalle2024"]
    searched = targets.find_steps(problem, pfc4, models.Targets(errors=(1e-2,), dt_min=1e-4, dt_max=1e-3, truncate=True))
    assert float(searched.step_size_as_published[0]) == pytest.approx(1.671e-4, rel=0.005)
    assert float(searched.step_size[0]) == pytest.approx(1.71 * 1.671e-4, rel=0.01)
    none = targets.find_steps(problem, method, models.Targets(errors=(1e-9,), dt_min=1e-3, dt_max=1e-1, truncate=True))
    assert np.isnan(none.step_size.values).all()


@pytest.mark.thorough
def test_claims_are_judged(results, tmp_path):
    _, folder = results
    judge_chapters(Inputs(folder / "single_body.nc", published=PUBLISHED), HOME, False, tmp_path / "claims.csv")
    table = pd.read_csv(tmp_path / "claims.csv").set_index("id")
    assert list(table.reset_index().columns) == claims.COLUMNS
    assert table.verdict["delvalle2024_order_omega_spiral_leapfrog"] == "holds"
    assert table.verdict["delvalle2024_order_q_spiral_leapfrog"] == "holds"
    assert table.measured["delvalle2024_order_q_spiral_leapfrog"] == pytest.approx(3, abs=0.1)
    assert table.verdict["delvalle2024_table2_pfc4_delvalle2024"] == "not measured"
    # Table 2 is judged once, a row for each method.
    printed = pd.read_csv(PUBLISHED / "delvalle2024_table2.csv").method.unique()
    assert [key for key in table.index if "_table2_" in key] == [f"delvalle2024_table2_{m}" for m in printed]


@pytest.mark.parametrize(
    ("comparison", "published", "measured", "tolerance", "expected"),
    [
        ("equal", 2.0, 2.1, 0.12, True),
        ("equal", 2.0, 2.1, 0.08, False),
        ("at least", 10.0, 9.5, 0.0, False),
        ("at least", 10.0, 10.0, 0.0, True),
        ("at most", 1.0, 1.2, 0.1, False),
        ("at most", 1.0, 1.05, 0.1, True),
        ("within", 2.0, 1.9, 0.0, True),
        ("within", 2.0, 0.51, 0.0, True),
        ("within", 2.0, 2.1, 0.0, False),
        ("within", 2.0, 0.49, 0.0, False),
    ],
)
def test_verdicts(comparison, published, measured, tolerance, expected):
    assert claims.verdict(comparison, published, Measured(measured, ""), tolerance) is expected


@pytest.mark.parametrize(
    ("comparison", "low", "high", "expected"),
    [
        ("equal", 0.9, 1.1, True),
        ("equal", 0.7, 1.1, None),
        ("equal", 1.3, 1.4, False),
        ("at least", 1.0, 2.0, True),
        ("at least", 0.5, 2.0, None),
        ("at most", 0.5, 1.1, True),
        ("at most", 1.3, 2.0, False),
        ("at most", 1.1, float("inf"), None),
    ],
)
def test_a_verdict_waits_until_the_interval_decides(comparison, low, high, expected):
    assert claims.verdict(comparison, 1.0, Measured(1.0, "", low, high), 0.2) is expected


@pytest.mark.parametrize(
    ("fields", "rule", "tolerance"),
    [
        ({"published": "0.0065"}, "printed", 5e-5),
        ({"published": "2.93425e-1"}, "printed", 5e-7),
        ({"published": "8"}, "printed", 0.5),
        ({"published": "23/19"}, "printed", 23.5 / 18.5 - 23 / 19),
        ({"published": "0.63", "percent_of": "0.5"}, "printed", 0.005 + 10),
        ({"published": "30", "rule": "about"}, "about", 6.0),
        ({"published": "2", "rule": "order"}, "order", claims.ORDER_BAND),
        ({"published": "100", "comparison": "at least"}, "exact", 0.0),
        ({"published": 2, "kind": "statement", "threshold": "ours"}, "exact", 0.0),
        ({"published": "40", "tolerance": 0.5, "exception": "the shapes are ours"}, "exception", 20.0),
    ],
)
def test_the_tolerance_follows_from_a_rule(fields, rule, tolerance, tmp_path):
    claim = ledger(tmp_path, fields)[0]
    assert claim["rule"] == rule and claim["tolerance"] == pytest.approx(tolerance, rel=1e-12)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"tolerance": 0.1}, "a tolerance set by hand needs its reason"),
        ({"exception": "because"}, "an exception its tolerance"),
        ({"published": 0.0065}, "in quotes"),
        ({"rule": "guess"}, "unknown rule 'guess'"),
        ({"tolerance": 0.1, "exception": "because", "rule": "about"}, "leave out 'tolerance' or 'rule'"),
        ({"threshold": "ours", "rule": "printed"}, "a threshold of ours"),
        ({"kind": "opinion"}, "unknown kind 'opinion'"),
        ({"threshold": "their"}, "unknown threshold 'their'; known are source, ours"),
        ({"tolerence": 0.1}, "unknown field tolerence"),
        ({"measure": None}, "measure is missing"),
    ],
)
def test_a_claim_that_breaks_the_rules_is_named(fields, message, tmp_path):
    with pytest.raises(ValueError, match=rf"claims\.yaml: entry 1 \(one\): .*{message}"):
        ledger(tmp_path, fields)


def ledger(folder, fields):
    """The entries of a file with one claim, as they are loaded."""
    claim = {"id": "one", "source": "s", "location": "Sec. 1", "statement": "it is so", "kind": "number", "published": "1.0"}
    claim |= {"comparison": "equal", "measure": "order", "arguments": {}} | fields
    path = folder / "claims.yaml"
    path.write_text(json.dumps([{name: value for name, value in claim.items() if value is not None}]))
    return claims.load(path)


def test_an_id_stands_once(tmp_path):
    (claim,) = ledger(tmp_path, {})
    again = {name: value for name, value in claim.items() if name not in ("rule", "tolerance")}
    (tmp_path / "twice.yaml").write_text(json.dumps([again, again]))
    with pytest.raises(ValueError, match=r"entry 2 \(one\): the id is taken"):
        claims.load(tmp_path / "twice.yaml")


def test_the_ledgers_keep_their_rules():
    ids: list[str] = []
    for path in chapters.files(HOME, "claims.yaml"):
        for claim in claims.load(path):
            ids.append(claim["id"])
            assert claim["measure"] in measures_of(path.parent.name, timed=False), claim["id"]
            claims.accepted(claim["comparison"], 1.0, 0.0)
            if claim["measure"].endswith("order_per_step") or claim["measure"] in ("lowest_order", "mean_order"):
                assert claim["rule"] == "order" or claim.get("threshold") == "ours", claim["id"]
    assert len(set(ids)) == len(ids) > 150


@pytest.mark.parametrize(
    ("errors", "others", "expected"),
    [
        # Eight steps; the two finest are below 1e-9, the round-off of so many steps.
        ([1e-12, 1e-12, 1, 1, 1, 1, 1, 1], [1e-13, 1e-13, 2, 2, 2, 2, 2, 2], (1.0, 0.75, 1.0)),
        ([1e-12, 1e-12, 1, 1, 1, 1, 1, 3], [1e-13, 1e-13, 2, 2, 2, 2, 2, 2], (5 / 6, 0.625, 0.875)),
        ([1e-12, 1, 1, 1, 1, 1, 1, 1], [1e-8, 2, 2, 2, 2, 2, 2, 2], (1.0, np.nan, np.nan)),
    ],
)
def test_where_rounding_decides_a_share_has_an_interval(errors, others, expected):
    names = [f"{i} s" for i in range(8)]
    share = share_below(np.array(errors), np.array(others), np.full(8, 1e-9), names, "steps", "dt")
    assert (share.value, share.low, share.high) == pytest.approx(expected, nan_ok=True)
    assert ("2 more are undecided" in share.evidence) == np.isfinite(share.low)
    verdict = claims.verdict("at least", 1.0, share, 0.0)
    assert verdict is (True if np.isnan(share.low) else None if share.high == 1 else False)


def test_what_is_undecided_says_why_and_is_counted(tmp_path):
    """From the claim to the table and to the numbers of the text."""
    claim = {"id": "one", "source": "seelen2016", "location": "Sec. 1", "statement": "it can happen", "kind": "statement"}
    claim |= {"published": 2, "threshold": "ours", "comparison": "at least", "measure": "seen", "arguments": {}}
    (tmp_path / "claims.yaml").write_text(json.dumps([claim]))
    inputs = Inputs(tmp_path / "none.nc", claims=tmp_path / "claims.csv", errata=HOME / "data" / "errata.yaml")
    seen = {"seen": lambda results: Measured(1.0, "not seen in 5 runs", 1.0, np.inf)}
    claims.write_verdicts(claims.judged(inputs, tmp_path / "claims.yaml", seen), tmp_path / "claims.csv")
    data, _ = rendering.table("claims", inputs)
    assert data.verdict[0] == "undecided" and "not seen in 5 runs: the interval does not decide" in data.note[0]
    assert data.threshold[0] == "ours" and (float(data.low[0]), float(data.high[0])) == (1, np.inf)
    assert ledger_numbers.counts(inputs)["studyClaimVerdicts"] == "1 is undecided"


@pytest.mark.parametrize("measured", [1.0, 3.0])
def test_what_no_measurement_decides_stays_undecided(measured, tmp_path):
    """Neither for a source nor against it, whatever comes out; the reason is in the table."""
    claim = {"id": "one", "source": "seelen2016", "location": "Sec. 1", "statement": "it is so", "kind": "statement"}
    claim |= {"published": 2, "comparison": "at least", "measure": "seen", "arguments": {}, "undecided": "it is not printed"}
    (tmp_path / "claims.yaml").write_text(json.dumps([claim]))
    seen = {"seen": lambda results: Measured(measured, "seen")}
    (row,) = claims.judged(Inputs(tmp_path / "none.nc"), tmp_path / "claims.yaml", seen)
    cells = [row[name] for name in ("verdict", "note", "evidence", "measured")]
    assert cells == ["undecided", "it is not printed", "seen", measured]


@pytest.mark.thorough
def test_unknown_measures_and_comparisons_are_named(results, tmp_path):
    _, folder = results
    every = yaml.safe_load((HOME / chapters.FOLDER / "spiral2024" / "claims.yaml").read_text())
    claim = next(c for c in every if c["measure"] == "order_per_step")
    for change, message in (({"measure": "guess"}, "unknown measure 'guess'"), ({"comparison": "about"}, "unknown comparison")):
        path = tmp_path / "claims.yaml"
        target = {"arguments": {"method": "euler", "quantity": "q"}}
        path.write_text(json.dumps([claim | target | change]))
        with pytest.raises(ValueError, match=message):
            claims.judged(Inputs(folder / "single_body.nc", published=PUBLISHED), path, measures_of("spiral2024", timed=False))


class Seen:
    """What a measure sees of a run: invented data by name."""

    def __init__(self, **data):
        self.__dict__.update(data)
        self.problem_declarations = {}
        self.problems = list(data.get("others", {}))

    def of(self, problem):
        return self.others[problem]

    def check(self, name):
        return self.checks[name]

    def label(self, method):
        return method


def curves(**errors):
    """Errors of methods at four published step sizes, as single_body.nc has them."""
    dt = np.array([1e-4, 1e-3, 1e-2, 1e-1])
    rows = np.array([np.broadcast_to(row, 4) for row in errors.values()], float)
    return invented(
        "single_body.nc/PROBLEM",
        {"integrator": list(errors), "dt": dt},
        q_error_l1=rows,
        mean_error=rows,
        steps=1 / dt,
        end_time=1.0,
        q_order_dt_min=1e-4,
        q_order_dt_max=1e-2,
        dt_set="published",
    )


def test_methods_are_on_the_stated_side():
    seen = Seen(errors=curves(own=[1, 2, 3, 4], good=[0.5, 1, 2, 5], bad=[2, 3, 4, 3], worse=9))
    arguments = {"method": "own", "quantity": "q_error_l1"}
    share, words = measures_spiral2024.ranked_as_stated(seen, better=["good"], worse=["bad", "worse"], **arguments)
    assert share == 1 and "good 25%, bad 75%, worse 100%" in words
    assert measures_spiral2024.ranked_as_stated(seen, better=["bad"], worse=["good", "worse"], **arguments)[0] == pytest.approx(
        1 / 3
    )


def test_gains_in_orders_of_magnitude():
    seen = Seen(errors=curves(own=[1e-6, 1e-5, 1e-4, 1e-3], one=[1e-3, 1e-3, 1e-2, 1e-1], two=[1e-5, 1e-3, 1e-1, 1e-2]))
    for rank, expected in ((1, 3.0), (2, 3.0)):
        assert measures_spiral2024.margin_decades(seen, "own", ["one", "two"], "q_error_l1", rank)[0] == pytest.approx(expected)
    with pytest.raises(NotInRun, match="fewer than 3"):
        measures_spiral2024.margin_decades(seen, "own", ["one", "two"], "q_error_l1", 3)
    # At dt = 1e-3, where the method has 1e-5, both others have 1e-3; at 1e-2 they have 1e-2 and 1e-1.
    assert measures_spiral2024.accuracy_decades(seen, "own", ["one", "two"], 1e-5)[0] == pytest.approx(2.0)
    value, words = measures_spiral2024.accuracy_decades(seen, "own", ["one", "two"], 1e-4)
    assert value == pytest.approx(2.0) and words.endswith("one 2.0, two 3.0")


def test_steps_are_compared_with_the_longest_of_the_others():
    axes = {"integrator": ["own", "one", "two"], "target_error": [1e-5, 1e-2]}
    targets = invented("single_body.nc/PROBLEM/targets", axes, step_size=[[3.0, 8.0], [1.0, 4.0], [2.0, 1.0]])
    assert measures_spiral2024.step_advantage(Seen(targets=targets), "own", ["one", "two"])[0] == 1.5
    assert measures_spiral2024.step_decades(Seen(targets=targets), "own", "two", 1e-2)[0] == pytest.approx(np.log10(8))


def test_problems_and_energies_won():
    def case(own, other):
        drift = [[0, own], [0, other]]
        long_run = invented("single_body.nc/PROBLEM/long_run", {"integrator": ["own", "other"]}, energy_drift=drift)
        return Seen(errors=curves(own=own, other=other), long_run=long_run)

    seen = Seen(others={"a": case(1e-3, 2e-3), "b": case(1e-3, 5e-4), "c": case(1e-3, 1.5e-3)}, errors=curves(own=1))
    assert measures_spiral2024.problems_won(seen, "own", ["other"], "q_error_l1")[0] == pytest.approx(2 / 3)
    share, words = measures_spiral2024.energies_won(seen, "own", ["other"], ["a", "b", "c"])
    assert share == pytest.approx(2 / 3) and words.startswith("2 of 3; not against other, b (5.0e-04 against 1.0e-03)")


def test_normalisation_is_judged_by_what_is_lost_without_it():
    error = [[[4e-3, 1.0], [1e-3, 2.0]], [[1e-3, 1.0], [1e-3, 1.0]], [[np.nan, np.nan], [1.0, 1.0]]]
    norm = [[[1e-6, np.inf], [0, 0]], [[1e-12, 1e-11], [0, 0]], [[np.nan, np.nan], [0, 0]]]
    axes = {"integrator": ["loses", "keeps", "fixed"], "normalised": [0, 1], "dt": [1e-5, 1e-3]}
    check = invented("checks/normalisation.nc", axes, {"end_time": 20.0}, q_error_l1=error, norm_error=norm)
    seen = Seen(checks={"normalisation": check}, others={})
    assert measures_spiral2024.norm_as_stated(seen, ["keeps"], ["loses", "fixed"], 1e-9)[0] == 1
    assert measures_spiral2024.norm_as_stated(seen, ["loses"], ["keeps"], 1e-9)[0] == 0
    assert measures_spiral2024.least_gain_by_normalising(seen, ["loses", "keeps"], 1e-5)[0] == 1
    with pytest.raises(NotInRun, match="cannot be switched"):
        measures_spiral2024.least_gain_by_normalising(seen, ["fixed"], 1e-5)
    # One run shows that something can happen; that it did not happen shows nothing.
    assert claims.verdict("at least", 2.0, measures_spiral2024.normalising_ever_helps(seen, "loses"), 0.0) is True
    assert claims.verdict("at least", 2.0, measures_spiral2024.normalising_ever_helps(seen, "keeps"), 0.0) is None


def test_iterations_and_parts_left_out_are_judged_by_the_run():
    error = [[[[4.0, 2.0], [1.0, 1.0]], [[1.2, 1.0], [0.8, 1.0]], [[1.0, 1.0], [1.0, 1.0]]]]
    axes = {"integrator": ["m"], "sweeps": [2, 3, 12], "quantity": ["q", "omega"], "dt": [1e-3, 1e-2]}
    check = invented("checks/sweeps.nc", axes, error=error)
    value, words = measures_spiral2024.sweeps_enough(Seen(checks={"sweeps": check}), "m", 3)
    assert value == 0.8 and words == "omega at dt = 0.001 s; with 2 up to 4"
    axes, change = {"variant": ["meant", "published", "without"]}, [[0, 0.01], [0, 0.5], [0, 1.0]]
    values = {"energy_change": change, "sphere_q": 1e-14, "sphere_omega": 2e-13}
    simplified = invented("checks/simplified.nc", axes, {"steps": 5, "dt": 0.1}, **values)
    counts = {"kick_spiral_leapfrog": 60.0, "kick_plain": 20.0}
    seen = Seen(checks={"simplified": simplified}, block_operations=counts.__getitem__)
    assert [measures_spiral2024.interpolation_gain(seen, v)[0] for v in ("meant", "published")] == pytest.approx([100, 2])
    value, words = measures_spiral2024.plain_kick_on_sphere(seen)
    assert value == 2e-13 and words.endswith("SSPRK3 has 3 times the operations")


def test_operations_of_the_kicks():
    counts = {name: arithmetic.kick_operations(name).total for name in arithmetic.KICKS}
    single = operations.count(euler_equations, (1.0, 2.0, 3.0), (1.0, 2.0, 3.0), Body((1.0, 2.0, 3.0)).coefficients()).total
    assert counts["plain"] < single < counts["omelyan1998"] < counts["spiral_leapfrog"] < counts["runge_kutta"]
    # Besides Euler's equations: a x + y six operations, a sum three, a factor of dt one each time that it is written.
    assert counts["omelyan1998"] == 3 * single + 3 * 6 + 2 * 3 + 2 and counts["spiral_leapfrog"] == 3 * single + 6 * 6 + 6
    # The classical scheme with a torque that is known is the registered one under a constant torque.
    body, omega, torque = Body((1.0, 1.7, 2.3)).coefficients(), (0.9, -0.7, 1.1), (0.4, -0.5, 0.2)
    step = operations.on_counting(polhode.methods["rk4"].step)
    whole = step((1.0, 0.0, 0.0, 0.0, *omega), 0.0, 0.1, body, lambda *_: torque, ())[4:]
    assert operations.on_counting(arithmetic.KICKS["runge_kutta"])(omega, torque, body, 0.1) == pytest.approx(whole, rel=1e-14)


def test_variants_are_registered_methods_but_for_one_thing():
    plain = operations.on_counting
    body, torque, state = Body((1.0, 1.7, 2.3)).coefficients(), (0.4, -0.5, 0.2), (0.9, 0.1, -0.3, 0.3, 0.9, -0.7, 1.1)
    for kernel in ("after_torque", "read"):
        for variant, key, same in (
            (checks.omelyan_with(3), "omelyan1998", True),
            (checks.omelyan_with(2), "omelyan1998", False),
            (checks.verlet_with(3), "verlet", True),
            (checks.with_kick("x", spiral_leapfrog.kick), "spiral_leapfrog", True),
        ):
            changed, registered = (
                plain(getattr(m, kernel))(state, torque, (*body, *getattr(m, "numbers", ())), 0.01)
                for m in (variant, polhode.methods[key])
            )
            assert (changed == registered) is same, (kernel, key)
    # The fixed point solves omega' = omega + dt J^-1 (M - omega' x J omega').
    _, omega = plain(checks.fixed_point_with(40).read)(state, torque, (*body, 40.0), 0.02)
    rate = plain(euler_equations)(omega, torque, body)
    assert omega == pytest.approx([w + 0.01 * r for w, r in zip(state[4:], rate, strict=True)], rel=1e-14)


@pytest.mark.thorough
def test_iterating_to_rounding_ends_the_trapezoidal_drift(monkeypatch):
    monkeypatch.setattr(checks, "SWEPT_DIVISIONS", (128,))
    monkeypatch.setattr(checks, "SWEPT_STEPS", 200_000)
    energy_change = checks.sweeps({}).energy_change
    for key in ("omelyan1998", "verlet"):
        run, converged = (float(energy_change.sel(integrator=key, sweeps=count)) for count in (3, 12))
        assert run > 20 * converged > 0, key
    assert (
        np.isnan(energy_change.sel(integrator="verlet", sweeps=1))
        and float(energy_change.sel(integrator="fixed_point", sweeps=12)) > 1e-2
    )


def test_the_trapezoidal_rule_keeps_the_energy_of_another_point():
    """y = omega - dt/2 a(omega) moves by the midpoint rule, which conserves the energy: the rules are conjugate."""
    top, dt, energies = polhode.problems["free_asymmetric_top"], 0.01, []
    moments, omega = np.array(top.body.inertia), np.array(top.omega0)

    def rate(w: np.ndarray) -> np.ndarray:
        return np.cross(moments * w, w) / moments

    for _ in range(200):
        old = omega
        for _ in range(12):
            omega = old + 0.5 * dt * (rate(old) + rate(omega))
        energies.append([moments @ (omega + part * dt * rate(omega)) ** 2 for part in (-0.5, 0.0)])
    conserved, other = np.ptp(energies, axis=0) / energies[0]
    assert conserved < 1e-14 and other > 1e-9


def test_the_check_of_normalisation_switches_it(monkeypatch):
    monkeypatch.setattr(long_checks, "NORMALISED_END", 0.1)
    monkeypatch.setattr(long_checks, "NORMALISED_DT", (1e-2, 1e-3))
    study = replace(configuration.resolve(small(), HOME), methods=("euler", "spiral_leapfrog", "pfc4_delvalle2024"))
    errors = long_checks.normalisation({"methods": study.methods})
    norm = errors.norm_error.sel(integrator="euler")
    assert (norm.sel(normalised=1) < 1e-15).all() and (norm.sel(normalised=0) > 1e-6).all()
    assert (errors.norm_error.sel(integrator="spiral_leapfrog") < 1e-14).all()
    assert np.isnan(errors.q_error_l1.sel(integrator="pfc4_delvalle2024", normalised=0)).all()
    gain = errors.q_error_l1.sel(integrator="spiral_leapfrog")
    assert float(gain[0, 1]) == pytest.approx(float(gain[1, 1]), rel=1e-6)


@pytest.mark.thorough
def test_parts_of_schemes_are_left_out(monkeypatch):
    monkeypatch.setattr(checks, "INTERPOLATED_STEPS", 500)
    results = checks.simplified({})
    meant, published, without = results.energy_change.max("sample").values
    # As published the half step decides nothing about the energy: the angular velocity is had from the old orientation.
    assert 20 * meant < without == pytest.approx(published, rel=1e-3)
    assert 0 < float(results.sphere_q) < 1e-10 and float(results.sphere_omega) < 1e-10
    # Steps per radian for 1e-4: second order without the start, and then no gain over SPIRAL.
    four, single, spiral, _rotor = results.steps_per_radian.median(["torque_class", "body"]).values
    assert single > 2 * four and single > 0.9 * spiral > 1.8 * four


def test_convergence_is_undecided_where_rounding_takes_over(monkeypatch):
    curves = {"first": [1e-8, 1e-7, 1e-6, 1e-5], "second": [3e-13, 1e-13, 1e-10, 1e-8], "stuck": [1e-6, 1e-7, 1e-6, 1e-5]}
    dt = np.array([1e-8, 1e-6, 1e-4, 1e-2])
    monkeypatch.setattr(seelen2016, "mean_error", lambda results, method, quantity: (dt, np.array(curves[method])))
    case = Seen(errors=xr.Dataset({"end_time": ("dt", np.full(4, 0.1))}))
    seen = Seen(others={seelen2016.CYLINDER: case})
    for methods, expected in ((["first"], True), (["first", "second"], None), (["second", "stuck"], False)):
        found = seelen_measures.share_converging(seen, methods, "")
        assert claims.verdict("at least", 1.0, found, 0.0) is expected, methods


def test_provenance_holds_what_a_reviewer_asks_for(tmp_path):
    study = configuration.resolve(small(), HOME)
    for job in (1, 2):
        table = tmp_path / "benchmarks" / "single_body" / "heavy_top" / f"{job}.tsv"
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_text("s\tcpu_time\n1.25\t1.0\n")
    found = json.loads(provenance.to_json(provenance.provenance(study.json, study.plugins, HOME, tmp_path)))
    assert found["rules"]["single_body"] == {"jobs": 2, "wall_seconds": 2.5, "cpu_seconds": 2.0}
    for key in ("commit", "dirty", "configuration", "lock_sha256", "versions", "processor", "python"):
        assert found[key] not in ("", [], {})
    assert found["versions"]["numba"]
