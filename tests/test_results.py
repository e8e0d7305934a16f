"""The files of a run as xarray's users open them: as trees, with what each variable is, all in one."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from conftest import said_by

import polhode
from polhode.interface import cf_attributes, netcdf, storage
from polhode_study.documentation import reference, variables

RELEASED = sorted((Path(__file__).parents[1] / "data" / "released").glob("*.nc"))
#: With a dimension of such a name, ``sel(NAME=...)`` would not select: xarray takes the keyword for itself.
KEYWORDS = {
    name
    for kind in (xr.Dataset, xr.DataArray, xr.DataTree)
    for select in (kind.sel, kind.isel)
    for name in inspect.signature(select).parameters
}


def errors(methods, **more):
    dims = ("integrator", "dt")
    values = np.arange(2.0 * len(methods)).reshape(-1, 2)
    return xr.Dataset(
        {"q_error_l1": (dims, values, {"long_name": "relative L1 error of the orientation", "units": "1"})},
        {"integrator": methods, "dt": [1e-3, 1e-2], **more},
    )


@pytest.fixture
def folder(tmp_path):
    """A folder of results with a few files of each kind."""
    results = tmp_path / "results"
    single = {
        "/": xr.Dataset(attrs={"title": "Errors", "configuration": "{}"}),
        "/heavy_top": errors(["euler", "rk4"]),
        "/heavy_top/long_run_switched": errors(["euler", "rk4"]).rename(dt="time"),
    }
    storage.write_groups(single, results / "single_body.nc")
    storage.write_groups({"/": xr.Dataset(), "/chess": errors(["rk4"])}, results / "many_body.nc")
    job = storage.job_text("checks", {"check": "stability"}, {}, "0")
    storage.write_dataset(
        xr.Dataset({"limit": ("integrator", [2.0])}, {"integrator": ["rk4"]}), results / "checks/stability.nc", job
    )
    storage.write_dataset(xr.Dataset({"q": ("time", [1.0, 2.0])}, {"time": [0.0, 1.0]}), results / "references/heavy_top.nc")
    return results


def test_every_file_opens_as_a_tree_and_several_at_once(folder):
    paths = sorted(folder.rglob("*.nc"))
    trees = [xr.open_datatree(path) for path in paths]
    assert len(trees) == 4
    (single,) = [tree for tree in trees if "heavy_top" in tree.children]
    point = single["heavy_top"].ds.sel(integrator="rk4", dt=1e-3)
    assert float(point.q_error_l1) == 2.0
    assert float(single["heavy_top"].ds.sel(integrator="rk4").sel(dt=2e-3, method="nearest").q_error_l1) == 2.0
    for tree in trees:
        tree.close()


def test_no_dimension_is_a_keyword_of_sel():
    """Every file of a study (docs/variables.csv lists them, which test_workflow.py checks) and the released ones."""
    assert "method" in KEYWORDS
    places = {}
    for row in reference.variables(variables.LIST):
        for name in row["dimensions"].replace(variables.OR, " ").split():
            places.setdefault(name, f"{row['file']} {row['group']} {row['variable']}")
    for path in RELEASED:
        with xr.open_datatree(path) as tree:
            places |= {str(name): path.name for node in tree.subtree for name in node.dims}
    assert not {name: place for name, place in places.items() if name in KEYWORDS}


def test_methods_are_selected_by_keyword_in_the_released_laws():
    laws = netcdf.read_dataset(RELEASED[[path.name for path in RELEASED].index("laws.nc")])
    chosen = laws["order"].sel(torque_class="lab", integrator="spiral_leapfrog")
    assert chosen.dims == ("body",)


TWICE = """
import polhode, sys, xarray as xr
kept = xr.open_datatree(sys.argv[1] + "/single_body.nc")
for _ in range(3):
    polhode.open_results(sys.argv[1])
    with xr.open_dataset(sys.argv[1] + "/single_body.nc", group="heavy_top") as again:
        again.load()
print(float(kept["heavy_top"].ds.sel(integrator="rk4", dt=1e-3).q_error_l1))
"""


def test_a_file_may_be_opened_again_while_it_is_open(folder):
    """With strings of netCDF-4 in the file this crashes the process, which is why they are written as characters."""
    assert said_by(TWICE, folder) == "2.0\n"


def test_a_group_that_lacks_a_method_is_why_trees_did_not_open(tmp_path):
    """What a group must not do; the gathering gives every group of a problem the methods of the problem."""
    groups = {"/heavy_top": errors(["euler", "rk4"]), "/heavy_top/long_run_switched": errors(["rk4"])}
    storage.write_groups({"/": xr.Dataset(), **groups}, tmp_path / "single_body.nc")
    with pytest.raises(ValueError, match="not aligned"):
        xr.open_datatree(tmp_path / "single_body.nc")


def test_open_results_is_one_tree_of_all_files(folder):
    tree = polhode.open_results(folder)
    assert set(tree.children) == {"single_body", "many_body", "checks", "references"}
    assert float(tree["single_body/heavy_top"].ds.q_error_l1.sel(integrator="euler", dt=1e-2)) == 1.0
    assert float(tree["checks/stability"].ds.limit.sel(integrator="rk4")) == 2.0
    assert tree["references/heavy_top"].ds.q.dims == ("time",) and tree.name == "results"
    shown = tree._repr_html_()
    assert "heavy_top" in shown and "stability" in shown and "checksum" not in shown
    # Nothing stays open: a run may replace the files meanwhile.
    for path in folder.rglob("*.nc"):
        path.unlink()
    assert float(tree["many_body/chess"].ds.q_error_l1.sum()) == 1.0


def test_open_results_says_what_is_missing_or_damaged(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere does not exist; run the study first"):
        polhode.open_results(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="empty holds no results"):
        polhode.open_results(tmp_path / "empty")
    path = folder / "single_body.nc"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(netcdf.DamagedFile, match=r"single_body\.nc"):
        polhode.open_results(folder)


def test_files_say_what_they_hold_and_how_to_cite_them(folder):
    for path in folder.rglob("*.nc"):
        said = xr.open_dataset(path).attrs
        assert said["Conventions"] == cf_attributes.CONVENTIONS and said["version"] == polhode.__version__
        assert said["citation"] == cf_attributes.CITATION and said["title"]
    assert xr.open_dataset(folder / "checks/stability.nc").title == "Experiment on single methods: stability"
    assert xr.open_dataset(folder / "single_body.nc").title == "Errors"


def test_what_a_variable_says_of_itself_stays():
    data = errors(["rk4"]).assign_coords(label=("integrator", ["RK4"]))
    data["dt"].attrs["long_name"] = "my step"
    described = cf_attributes.described(data)
    assert described.dt.attrs == {"long_name": "my step", "units": "s"} and described.label.attrs == {
        "long_name": "name of the method"
    }
    assert "long_name" not in data.label.attrs, "the dataset handed in is not changed"


def test_every_kind_of_run_has_a_title():
    for kind, expected in (("long_runs", "Long run: heavy_top with rk4"), ("references", "Exact motion of heavy_top")):
        job = json.dumps({"kind": kind, "wildcards": {"problem": "heavy_top", "method": "rk4"}})
        assert cf_attributes.title_of({"job": job}) == expected
    assert cf_attributes.title_of({}) == "Results of polhode"


@pytest.mark.parametrize("name", ["cost", "many_body"])
def test_released_files_open_and_say_what_they_hold(name):
    path = f"{cf_attributes.__file__.split('/src/')[0]}/data/released/{name}.nc"
    tree = xr.open_datatree(path)
    assert tree.attrs["Conventions"] == cf_attributes.CONVENTIONS
    assert undescribed(tree) == []
    tree.close()


def undescribed(tree):
    """The variables of a tree without a long_name, or of numbers without units."""
    return [
        f"{node.path}: {name}"
        for node in tree.subtree
        for name, variable in node.to_dataset(inherit=False).variables.items()
        if "long_name" not in variable.attrs or (variable.dtype.kind in "iufb" and "units" not in variable.attrs)
    ]


def test_the_states_of_random_bodies_are_opened(folder):
    job = storage.job_text("ensemble_states", {}, {}, "0")
    storage.write_dataset(xr.Dataset({"strength": ("body", [0.1, 0.2])}), folder / "ensemble_states.nc", job)
    tree = polhode.open_results(folder)
    assert tree["ensemble_states"]["strength"].values.tolist() == [0.1, 0.2]
