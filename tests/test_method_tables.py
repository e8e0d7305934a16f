"""The numbers of all sheets as one table: its schema, that of the released files, and a method of one's own among them."""

import csv
import io

import numpy as np
import pytest

from polhode import cli
from polhode.interface.netcdf import read_dataset
from polhode.methods import METHODS
from polhode_study.cli import sheet as command
from polhode_study.report.method_page import page
from polhode_study.report.method_tables import (
    DIMENSIONS,
    FORMAT,
    VARIABLES,
    as_csv,
    released_sheets,
    sheet_of,
    table,
    with_sheet,
)

#: The schema of "polhode methods 1": no name, dimension or unit may change or go under this format.
SCHEMA = {
    "label": ("", ""), "source": ("", ""), "made_by": ("", ""), "made_from": ("", ""), "made_on": ("", ""),
    "processor": ("", ""), "torques_per_step": ("", "1"), "torques_per_output": ("", "1"), "torques_at_start": ("", "1"),
    "operations": ("", "1"), "step_time": ("", "ns"), "step_time_relative": ("", "1"),
    "order_declared": ("torque_class quantity", "1"), "order": ("torque_class quantity", "1"),
    "order_verdict": ("torque_class quantity", ""), "error_coefficient": ("torque_class", "1"),
    "error_per_radian": ("torque_class step", "1"), "steps_per_radian": ("torque_class target", "1"),
    "steps_per_radian_90": ("torque_class target", "1"), "diverged": ("torque_class", "1"), "energy_last": ("problem", "1"),
    "energy_growth": ("problem", "1"), "libration_power": ("", "1"), "libration_limit": ("", "1"), "caution": ("", ""),
    "return_angle": ("problem", "rad"), "canonical_form": ("", ""), "drag_limit": ("", "1"),
    "contacts_energy_error": ("", "1"), "liquid_drift": ("", "kT/ns"), "liquid_drift_error": ("", "kT/ns"),
    "liquid_lost_at": ("", "fs"), "known_as": ("", ""),
}  # fmt: skip


@pytest.fixture(scope="module")
def sheets():
    return released_sheets()


@pytest.fixture(scope="module")
def data(sheets):
    return table(sheets)


def test_the_schema_stays(data):
    assert FORMAT == "polhode methods 1" == data.attrs["format"]
    shapes = {name: (" ".join(variable.dimensions), variable.unit) for name, variable in VARIABLES.items()}
    assert {name: shapes.get(name) for name in SCHEMA} == SCHEMA, "a change that breaks readers needs another FORMAT"
    for name, (dimensions, unit) in shapes.items():
        assert data[name].dims == ("integrator", *dimensions.split()) and data[name].attrs.get("units", "") == unit
        assert bool(unit) == (data[name].dtype.kind == "f"), name


def test_every_released_method_has_its_numbers(sheets, data):
    assert set(data["integrator"].values) <= set(METHODS)
    assert np.isfinite(data["step_time"]).all() and (data["order_declared"] >= 1).all()
    row = sheets["entries"]["rk4"]["row"]
    of_method = data.sel(integrator="rk4")
    law = row["laws"]["lab"]
    assert (
        float(of_method["steps_per_radian_90"].sel(torque_class="lab", target=1e-4))
        == law["steps_per_radian"]["0.0001"]["ninety_percent"]
    )
    assert of_method["error_per_radian"].sel(torque_class="lab").values.tolist() == law["error_per_radian"]["median"]
    assert float(of_method["order"].sel(torque_class="lab", quantity="omega")) == row["orders"]["lab"]["omega"]["measured"]
    assert np.isnan(of_method["drag_limit"]) and np.isnan(of_method["liquid_drift"]), "it runs no systems of bodies"
    assert np.isinf(data["drag_limit"]).any() and (data["liquid_lost_at"] > 0).any()


def test_the_csv_file_has_the_same_numbers(data):
    rows = list(csv.DictReader(io.StringIO(as_csv(data))))
    assert list(rows[0]) == ["integrator", "variable", *(name for name in DIMENSIONS if name != "step"), "value", "unit"]
    for row in rows[:: len(rows) // 200]:
        at = {name: row[name] for name in VARIABLES[row["variable"]].dimensions}
        values = data[row["variable"]].sel(integrator=row["integrator"])
        for name, member in at.items():
            values = values.sel({name: float(member) if name == "target" else member})
        if row["unit"]:
            assert float(row["value"]) == pytest.approx(float(values), rel=1e-5)
        else:
            assert row["value"] == str(values.item())
    finite = sum(
        int(data[name].notnull().sum() if variable.unit else (data[name] != "").sum())
        for name, variable in VARIABLES.items()
        if "step" not in variable.dimensions
    )
    assert len(rows) == finite


def test_a_released_sheet_is_a_page_with_its_origin(sheets):
    text = page(sheet_of(sheets, "spiral_leapfrog"))
    made = sheets["entries"]["spiral_leapfrog"]["row"]["made"]
    assert f"commit {made['commit'][:7]}, {made['date']}" in text and text.count("<svg") > 5


@pytest.mark.thorough
def test_the_command_writes_all_methods_and_one_of_ones_own(sheets, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    mine = sheet_of(sheets, "euler") | {"method": "mine", "identity": {"same": {"euler": "direct Euler"}}}
    mine |= {"beside": [], "methods": {"mine": mine["methods"]["euler"] | {"label": "Mine"}}}
    monkeypatch.setattr(command, "sheet", lambda method, beside, bodies, say: mine)
    monkeypatch.setattr(command, "page", lambda numbers: "")
    assert cli.main(["sheet", "euler", "--tables", "."]) == 0
    said = capsys.readouterr().out.splitlines()
    assert "Open euler.html in" in said[0] and said[-1] == "The numbers of all methods are in methods.csv and methods.nc."
    data = read_dataset(tmp_path / "methods.nc")
    assert set(data["integrator"].values) == {*sheets["entries"], "mine"}
    assert "direct Euler" in str(data["known_as"].sel(integrator="mine").item())
    assert set(with_sheet({"entries": {}}, mine)["entries"]) == {"mine"}
    assert cli.main(["sheet", "--tables", "."]) == 0
    assert set(read_dataset(tmp_path / "methods.nc")["integrator"].values) == set(sheets["entries"])
    assert cli.main(["sheet"]) == 2 and cli.main(["sheet", "euler", "--tables", ".", "--bodies", "4"]) == 2
