"""The real workflow to an archive that reproduces, data that say what they depend on, and a page made without a network."""

import json
import shutil
import zipfile
from pathlib import Path

import netCDF4
import pytest
from conftest import checkout_said
from studies import default
from test_workflow import House

pytestmark = pytest.mark.slow

HOUSE = Path(__file__).parents[1]
DEFAULT = default()


@pytest.fixture(scope="module")
def house(tiny_study, tmp_path_factory):
    """A copy of the tiny study, which has run in a checkout of its own to a report that names the commit."""
    return House.at(tiny_study).copied(tmp_path_factory.mktemp("archive") / "house").folder


def data(results: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(results)): path.read_bytes()
        for path in sorted(results.rglob("*"))
        if path.suffix in (".nc", ".csv")
    }


def test_no_data_file_names_a_folder(tiny_study):
    """That in which they were made."""
    for name, content in data(tiny_study / "results").items():
        assert str(tiny_study).encode() not in content, name


@pytest.mark.parametrize("name", ["single_body.nc", "many_body.nc", "cost.nc"])
def test_gathered_files_hold_the_whole_configuration(house, name):
    with netCDF4.Dataset(house / "results" / name) as file:
        stored = json.loads(file.configuration)
    assert stored["digits"] == 30 and set(stored["problems"]) == set(DEFAULT["problems"])
    assert "results" not in stored


ALONE = {
    "references/spiral_cylinder.nc": ({"problem": "spiral_cylinder"}, {"digits": 30, "check_until": 0.2}),
    "checks/stability.nc": ({"check": "stability"}, {}),
    "films/rods.nc": ({"scene": "rods"}, {"horizon": 0.1, "samples": 5}),
    "timing.nc": ({}, {"rounds": 2, "block": 1e-5}),
    "runs/spiral_cylinder/fit/euler.nc": ({"problem": "spiral_cylinder", "method": "euler", "steps": "fit"}, {"samples": 4}),
    "long_runs/spiral_cylinder/euler.nc": ({"problem": "spiral_cylinder", "method": "euler"}, {"samples": 20}),
    "targets/spiral_cylinder/euler.nc": ({"problem": "spiral_cylinder", "method": "euler"}, {"errors": [0.01]}),
    "many_body/rods/3.83e-05/spiral_leapfrog.nc": ({"scene": "rods", "dt": "3.83e-05"}, {"horizon": 0.1, "seeds": 2}),
}


@pytest.mark.parametrize("name", ALONE)
def test_other_files_hold_the_settings_that_they_depend_on(house, name):
    with netCDF4.Dataset(house / "results" / name) as file:
        job = json.loads(file.job)
    wildcards, settings = ALONE[name]
    assert wildcards.items() <= job["wildcards"].items() and settings.items() <= job["settings"].items()
    assert len(job["code"]) >= 16


def test_provenance_is_complete(house):
    record = json.loads((house / "results/provenance.json").read_text())
    assert record["dirty"] is False and len(record["commit"]) == 40 and record["started"] < record["ended"]
    assert record["versions"]["numba"] and record["processor"] and record["family"]
    assert {"gather", "timing", "chapters", "references", "single_body", "checks"} <= set(record["rules"])
    for name, cost in record["rules"].items():
        assert cost["jobs"] > 0 and cost["wall_seconds"] > 0, name
    assert "report.pdf" in record["files"] and "single_body.nc" in record["files"]


def test_an_archive_reproduces_and_a_flipped_bit_is_caught(house, tmp_path):
    archived, manifest = tmp_path / "run.zip", tmp_path / "released.zip"
    checkout_said("-m", "polhode", "archive", "--output", archived, folder=house)
    checkout_said("-m", "polhode", "archive", "--manifest", manifest, folder=house)
    said = checkout_said("-m", "polhode", "verify", archived, "--against", manifest, folder=house)
    assert "0 not" in said and "reproduced" in said
    with zipfile.ZipFile(archived) as opened:
        names = opened.namelist()
    assert {"results/report.pdf", "results/supplement.pdf", "results/single_body.nc", "source/Snakefile"} <= set(names)
    copy = tmp_path / "results"
    shutil.copytree(house / "results", copy)
    path = copy / "single_body.nc"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    assert "single_body.nc" in checkout_said("-m", "polhode", "verify", copy, "--against", manifest, status=1, folder=house)


@pytest.mark.thorough
def test_page_is_made_without_a_network(house, monkeypatch):
    # Every request would go to a port where nothing listens.
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http:" + "//127.0.0.1:9")
    checkout_said("-m", "polhode", "html", "--configfile", "tiny.yaml", folder=house)
    page = (house / "results/report.html").read_text(encoding="utf-8")
    assert "error_vs_dt.png" in page and "Errors after one second against the time step" in page
    assert "SPIRAL compared" in page and 'src="http' not in page
    again = checkout_said("-m", "snakemake", "--configfile", "tiny.yaml", "--cores", "1", "-n", folder=house)
    assert "Nothing to be done" in again
