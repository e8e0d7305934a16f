"""Random bodies in the study: the jobs and their files, ensembles.nc, methods that fail, chapters that need the file."""

import dataclasses
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from studies import default, reduced

from polhode.ensembles import CLASSES
from polhode.fits import laws
from polhode.interface.netcdf import DamagedFile
from polhode.interface.storage import job_text, write_dataset
from polhode.methods import METHODS
from polhode_study.configuration import resolve
from polhode_study.gather import ensembles as gather
from polhode_study.inputs import Inputs, NotInRun
from polhode_study.plan import Plan
from polhode_study.products import Products
from polhode_study.run import ensemble, ensemble_states
from polhode_study.run.making import FailedRuns, make_files

HOME = Path(__file__).parents[1]
ASKED = {
    "bodies": 3,
    "seed": 1,
    "classes": ["lab", "constant"],
    "methods": "all",
    "steps": {"coarse": 0.5, "halvings": 3},
    "radians": [2, 1],
}


def plan_of(results: Path, **changes) -> Plan:
    problems, methods = {"heavy_top": default()["problems"]["heavy_top"]}, ["spiral_leapfrog", "euler"]
    config = reduced(problems, results=str(results), methods=methods, ensembles=ASKED | changes)
    return Plan(resolve(config, HOME, checked=True), HOME)


def run(plan: Plan, methods=None, say=lambda line: None) -> xr.Dataset:
    """What the jobs do, without Snakemake; the exact states."""
    ensembles = plan.study.ensembles
    exact = ensemble_states.states_dataset(**ensembles.drawn)
    write_dataset(exact, *plan.files("ensemble_states"), plan.origin(*plan.files("ensemble_states")))
    methods = ensembles.methods if methods is None else methods
    make_files(plan.origins(plan.files("ensemble_runs", methods)), partial(ensemble.make_errors, exact, say=say), say)
    return exact


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    made = plan_of(tmp_path_factory.mktemp("results"))
    run(made)
    return made


def test_the_file_has_the_errors_the_draw_and_the_declarations(plan):
    data = gather.gather(plan)
    assert dict(data["error_q"].sizes) == {"torque_class": 2, "integrator": 2, "body": 3, "step": 4, "radians": 2}
    # In the order of the library, whatever that of the list.
    assert data["torque_class"].values.tolist() == ["constant", "lab"]
    assert data["integrator"].values.tolist() == ["spiral_leapfrog", "euler"]
    assert data["step"].values.tolist() == [0.5, 0.25, 0.125, 0.0625] and data["radians"].values.tolist() == [1.0, 2.0]
    assert data["error_q"].dtype == np.float32 and data["error_q"].notnull().all() and not data["diverged"].any()
    assert (data["reference_digits"] >= 18).all() and data["reference_digits"].dims == ("torque_class", "body")
    assert data.attrs["seed"] == 1 and data["variant"].values.tolist() == [0, 0] and data["plugin"].values.tolist() == [0, 0]
    for i, key in enumerate(("constant", "lab")):
        for j, method in enumerate(data["integrator"].values):
            orders = METHODS[method].orders(CLASSES[key].declared)
            assert (int(data["order_q_declared"][i, j]), int(data["order_omega_declared"][i, j])) == orders
    assert data["label"].values.tolist() == [METHODS[key].label for key in data["integrator"].values]
    # The error of a second-order method falls by four when the step is halved, for every body.
    falling = data["error_q"].values[:, 0, :, 1:, -1] / data["error_q"].values[:, 0, :, :-1, -1]
    assert 0.2 < np.median(falling) < 0.3


def test_the_file_has_the_laws_of_the_errors_that_it_has(plan, tmp_path):
    data = gather.gather(plan)
    write_dataset(data, tmp_path / "ensembles.nc")
    again = Inputs(single_body="", ensembles=tmp_path / "ensembles.nc").ensembles
    assert data["law_order"].dims == data["law_rounding"].dims == ("torque_class", "integrator", "body")
    assert data["law_coefficient_quantile"].dims == ("torque_class", "integrator", "quantile")
    # Second order for SPIRAL, first for Euler.
    order = data["law_order"].median("body").values
    assert np.allclose(order, [[2, 1], [2, 1]], atol=0.15)
    for name, expected in laws.in_file(again).items():
        np.testing.assert_array_equal(again[name].values, expected.values)
    assert (data["law_stable"].isin(data["step"]) | data["law_stable"].isnull()).all()


def test_every_variable_is_described_and_the_file_reads_again(plan, tmp_path):
    data = gather.gather(plan)
    write_dataset(data, tmp_path / "ensembles.nc")
    again = Inputs(single_body="", ensembles=tmp_path / "ensembles.nc").ensembles
    assert (again["error_omega"].values == data["error_omega"].values).all()
    assert again["failed"].values.tolist() == [["", ""], ["", ""]]
    for name, variable in again.variables.items():
        assert variable.attrs["long_name"], name
        assert variable.dtype.kind not in "iuf" or variable.attrs["units"], name


def test_the_bytes_do_not_depend_on_the_jobs(plan, tmp_path):
    """One method alone writes the file that it writes among others."""
    other = plan_of(tmp_path)
    run(other, methods=["euler"])
    names = ["ensemble_states.nc", "ensembles/euler.nc"]
    for name in names:
        assert (tmp_path / name).read_bytes() == (Path(plan.results) / name).read_bytes()


def test_files_of_another_draw_are_refused(plan, tmp_path):
    other = plan_of(tmp_path, seed=2)
    run(other)
    wrong = Path(other.files("ensemble_runs")[0])
    wrong.write_bytes(Path(plan.files("ensemble_runs")[0]).read_bytes())
    with pytest.raises(DamagedFile, match="its settings should be"):
        gather.gather(other)


def broken(key: str):
    """A method whose driver fails wherever the torque is one of the lab."""
    method = dataclasses.replace(METHODS["euler"], key=key)

    def march(bodies, method, torque, *arguments):
        if method.key == key and torque is CLASSES["lab"].compiled_torque:
            raise ZeroDivisionError("no torque of the lab, please")
        return MARCH(bodies, method, torque, *arguments)

    return method, march


MARCH = ensemble.march


def test_a_failing_plugin_is_named_and_loses_nothing_else(plan, monkeypatch):
    method, march = broken("mine")
    monkeypatch.setattr(ensemble, "march", march)
    exact = ensemble_states.states_dataset(**plan.study.ensembles.drawn)
    lines: list[str] = []
    steps = plan.study.ensembles.steps
    mine = ensemble.method_dataset(method, exact, steps, plugin=True, say=lines.append)
    assert mine["error_q"].values[0].max() < 4 and np.isnan(mine["error_q"].values[1]).all()
    assert mine["failed"].values.tolist() == ["", "ZeroDivisionError: no torque of the lab, please"]
    assert "mine, lab failed" in lines[0]
    runs = {"euler": ensemble.method_dataset(METHODS["euler"], exact, steps)}
    with METHODS.restored():
        METHODS.enter(method, Path("mine.py"))
        data = gather.gathered(exact, runs | {"mine": mine}, 1, ["mine"])
    said = "method mine failed on random bodies (lab) and is left out there: ZeroDivisionError: no torque of the lab, please"
    assert list(gather.failures(data)) == [said]
    assert data["plugin"].values.tolist() == [0, 1]
    assert (data["error_q"].values[0, 0] == data["error_q"].values[0, 1]).all()


def test_a_failing_library_method_ends_the_job_last(plan, monkeypatch, tmp_path):
    method, march = broken("euler")
    monkeypatch.setattr(ensemble, "march", march)
    exact = ensemble_states.states_dataset(**plan.study.ensembles.drawn)
    files = {
        str(tmp_path / f"{key}.nc"): job_text("ensemble_runs", {"method": key}, {"steps": [0.5]}, "0")
        for key in ("euler", "spiral_leapfrog")
    }
    with pytest.raises(FailedRuns, match="method euler: ZeroDivisionError: no torque of the lab"):
        make_files(files, partial(ensemble.make_errors, exact), lambda line: None)
    assert [path.stem for path in tmp_path.glob("*.nc")] == ["spiral_leapfrog"] and method.key == "euler"


def test_runs_that_blow_up_are_diverged_from_then_on(plan):
    exact = ensemble_states.states_dataset(3, 1, ["friction_isotropic"], [2.0, 64.0])
    exact["parameters"].values[0, 0, 0] = 500.0
    data = ensemble.method_dataset(METHODS["euler"], exact, [1.0, 0.5])
    assert data["diverged"].values[0, 0].tolist() == [1, 1] and not data["diverged"].values[0, 1:].any()
    assert np.isnan(data["error_q"].values[0, 0, :, 1]).all() and np.isfinite(data["error_q"].values[0, 1:]).all()


def test_jobs_are_few_and_files_are_named(tmp_path):
    plan = plan_of(tmp_path)
    assert plan.ensemble_parts == (("spiral_leapfrog", "euler"),) and plan.units("ensemble_1") == 2
    assert plan.units("ensemble_states") == 0
    many = plan_of(tmp_path, bodies=20000, steps={"coarse": 1.0, "halvings": 11})
    assert many.ensemble_parts == (("spiral_leapfrog",), ("euler",))
    assert f"{tmp_path}/ensembles.nc" in plan.data() and f"{tmp_path}/ensembles/euler.nc" in plan.every_run()
    none = Plan(dataclasses.replace(plan.study, ensembles=None), HOME)
    assert none.files("ensembles") == none.files("ensemble_runs") == [] and none.ensemble_parts == ()


def test_settings_and_methods_make_other_jobs(tmp_path):
    plan = plan_of(tmp_path)
    states, euler = plan.path("ensemble_states"), plan.path("ensemble_runs", "euler")
    for changes in ({"bodies": 4}, {"seed": 2}, {"classes": ["lab"]}, {"radians": [1]}):
        other = plan_of(tmp_path, **changes)
        assert other.origin(states) != plan.origin(states) and other.origin(euler) != plan.origin(euler)
    steps = plan_of(tmp_path, steps={"coarse": 0.5, "halvings": 2})
    assert steps.origin(states) == plan.origin(states) and steps.origin(euler) != plan.origin(euler)
    codes = {json.loads(plan.origin(path))["code"] for path in (euler, plan.path("ensemble_runs", "spiral_leapfrog"))}
    assert len(codes) == 2


def test_a_chapter_gets_the_file_only_if_it_needs_it(plan, monkeypatch):
    from polhode_study import chapters

    chapter = dataclasses.replace(chapters.all_chapters()["times"], needs=("ensembles",), job="")
    monkeypatch.setattr(chapters, "all_chapters", lambda: {"cost": chapter})
    products = Products(plan.study, HOME)
    assert products.needed("cost") == plan.files("ensembles")
    places = products.places_of("cost")
    assert places["ensembles"] == plan.files("ensembles")[0] and "single_body" not in places
    with pytest.raises(NotInRun, match="no ensembles"):
        _ = Inputs(single_body="").ensembles
