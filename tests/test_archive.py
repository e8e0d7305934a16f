"""Archives and their verification: what is refused, what is inside, and that a flipped bit or another value is named."""

import json
import os
import re
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import netCDF4
import numpy as np
import pytest
import xarray as xr
import yaml
from docutils.core import publish_parts
from studies import study

import polhode as library
from polhode import cli
from polhode.interface.storage import write_dataset, write_groups, write_text
from polhode_study import chapters, comparing, provenance, tolerances
from polhode_study.archive import manifest, zips
from polhode_study.cli import archive, html, verify
from polhode_study.report import captions
from polhode_study.workflow import written

HOUSE = Path(__file__).parents[1]
CONFIGURATION = {"digits": 50, "problems": {"spiral_cylinder": {"samples": 1}}}
GIT = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in {"NAME": "a", "EMAIL": "a@b.c"}.items()}


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, env=os.environ | GIT)


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A small checkout with a run in ``results``, finished as far as its files tell."""
    folder = tmp_path / "house"
    folder.mkdir()
    for name in ("Snakefile", "config.yaml", "requirements.txt", "CITATION.cff", "LICENSE", "pyproject.toml"):
        shutil.copy(HOUSE / name, folder)
    (folder / ".gitignore").write_text("results*/\n*.zip*\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "a start")
    for module in (archive, verify):
        monkeypatch.setattr(module, "HOME", folder)
    monkeypatch.chdir(folder)
    make_run(folder / "results")
    finish(folder / "results")
    return folder


def make_run(results: Path) -> None:
    """Files such as a run leaves, a few of each kind."""
    methods, dt = ["euler", "rk4"], np.array([1e-3, 1e-2, 1e-1])
    errors = np.array([[1e-4, 1e-3, 1e-2], [1e-13, 1e-9, 1e-5]])
    dims = ("integrator", "dt")
    ladder = xr.Dataset(
        {
            "q_error_l1": (dims, errors),
            "steps": (dims, np.array([[1000.0, 100.0, 10.0]] * 2)),
            "diverged": (dims, np.zeros((2, 3), "int8")),
            "q_order": ("integrator", [1.0, 4.0]),
        },
        {"integrator": methods, "dt": dt},
    )
    time = np.linspace(0, 20, 201)
    along = xr.Dataset(
        {
            "q_error_l1": (("integrator", "time"), np.outer([1e-3, 1e-8], time + 1)),
            "q": (("time", "quaternion"), np.ones((201, 4))),
        },
        {"integrator": methods, "time": time},
    )
    root = xr.Dataset(attrs={"configuration": json.dumps(CONFIGURATION)})
    groups = {"/": root, "/spiral_cylinder": ladder, "/spiral_cylinder/long_run": along}
    write_groups(groups, results / "single_body.nc")
    # The last run of rk4 has blown up.
    scene = xr.Dataset(
        {
            "energy_error": (("integrator", "seed"), [[1e-3, 2e-3, 5e-4, 1e-3], [0.2, 0.4, 0.3, np.nan]]),
            "contacts": (("integrator", "seed"), [[20.0, 21, 19, 20], [25, 30, 28, np.nan]]),
            "diverged": (("integrator", "seed"), np.array([[0, 0, 0, 0], [0, 0, 0, 1]], "i1")),
        },
        {"integrator": methods, "seed": np.arange(4)},
    )
    write_groups({"/": root, "/rods": scene}, results / "many_body.nc")
    write_groups({"/": xr.Dataset({"q": ("time", np.arange(5.0))}, {"time": np.arange(5.0)})}, results / "references/top.nc")
    write_dataset(xr.Dataset({"largest": ("dt", [0.5, 0.25, 0.1])}, {"dt": dt}), results / "checks/stability.nc")
    write_groups({"/": xr.Dataset({"seconds": ("integrator", [1e-8, 2e-8])})}, results / "timing.nc")
    write_text(results / "claims.csv", "id,verdict,measured\none,holds,1\ntwo,does not hold,2\n")
    for name in ("tables/methods.csv", "tables/cost.csv", "figures/error_vs_dt.png", "report.pdf", "runs/a/b/0.1.nc"):
        write_text(results / name, f"{name}\n" * 50)


#: The packages here, whose descriptions take a quarter of a second to read.
INSTALLED = [SimpleNamespace(name=package.name, version=package.version) for package in provenance.distributions()]


def finish(results: Path, **changes) -> None:
    """Write provenance.json as the last rule does."""
    files = [p for p in results.rglob("*") if p.is_file() and "runs" not in p.parts and p.name != "provenance.json"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(provenance, "distributions", lambda: INSTALLED)
        record = provenance.provenance(json.dumps(CONFIGURATION), (), results.parent, results, files) | changes
    write_text(results / "provenance.json", provenance.to_json(record))


def edit(path: Path, group: str, name: str, index: object, value: object) -> None:
    """Put another value into a netCDF file."""
    with netCDF4.Dataset(path, "a") as file:
        (file[group] if group else file)[name][index] = value


def flip(path: Path, at: int, bit: int = 3) -> None:
    """One bit of a file the other way round."""
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << bit
    path.write_bytes(content)


def polhode(*arguments: object) -> int:
    return cli.main([str(a) for a in arguments])


@pytest.fixture
def packed(house):
    assert polhode("archive", "--output", "run.zip") == 0
    return house / "run.zip"


@pytest.fixture
def released(house):
    """A manifest of the run."""
    assert polhode("archive", "--manifest", "released.zip") == 0
    return house / "released.zip"


# ---- the archive ----


def test_archive_holds_data_source_and_metadata(house, packed):
    with zipfile.ZipFile(packed) as opened:
        names = set(opened.namelist())
        assert {"source/Snakefile", "results/provenance.json", "LICENSE", "README.md"} <= names
        assert not any("/runs/" in name for name in names)
        assert "the code at commit" in opened.read("README.md").decode()
        zenodo, datacite = (json.loads(opened.read(f"{name}.json")) for name in ("zenodo", "datacite"))
    assert zenodo["license"] == "bsd-3-clause" and zenodo["upload_type"] == "dataset"
    assert {"identifier": "10.1016/j.cpc.2023.109077", "relation": "references", "scheme": "doi"} in zenodo[
        "related_identifiers"
    ]
    assert datacite["types"]["resourceTypeGeneral"] == "Dataset" and datacite["creators"][0]["name"] == "the polhode developers"


def test_archive_can_be_checked_with_sha256sum(house, packed, tmp_path, capsys):
    with zipfile.ZipFile(packed) as opened:
        opened.extractall(tmp_path / "unpacked")
        names = set(opened.namelist()) - {zips.CHECKSUMS}
    listing = (tmp_path / "unpacked" / zips.CHECKSUMS).read_text()
    assert {line.split("  ")[1] for line in listing.splitlines()} == names
    if shutil.which("sha256sum"):
        for folder, file in ((tmp_path / "unpacked", zips.CHECKSUMS), (house, "run.zip.sha256")):
            subprocess.run(["sha256sum", "--check", "--quiet", file], cwd=folder, check=True)
    assert polhode("verify", tmp_path / "unpacked", "--against", packed) == 0
    flip(tmp_path / "unpacked/source/config.yaml", 100)
    assert polhode("verify", tmp_path / "unpacked") == 1
    assert re.search(r"source/config\.yaml +file .* not the bytes that were archived", capsys.readouterr().out)


def test_same_run_gives_the_same_bytes(house, packed):
    moved = house / "results-moved"
    shutil.copytree(house / "results", moved)
    assert polhode("archive", "--results", moved, "--output", "again.zip") == 0
    assert (house / "again.zip").read_bytes() == packed.read_bytes()


def test_cells_are_added_on_request(house):
    written.record(house / "results", "a", [house / "results/runs/a/b/0.1.nc"])
    assert polhode("archive", "--output", "all.zip", "--runs") == 0
    with zipfile.ZipFile("all.zip") as opened:
        assert "results/runs/a/b/0.1.nc" in opened.namelist()


def refused(capsys, *arguments: object) -> str:
    assert polhode(*arguments) == 2
    return capsys.readouterr().err


def test_unfinished_or_changed_runs_are_refused(house, capsys):
    results = house / "results"
    assert "is not a folder" in refused(capsys, "archive", "--results", "nowhere")
    (results / "tables/methods.csv").write_text("other\n")
    said = refused(capsys, "archive")
    assert "tables/methods.csv has changed since the run ended" in said and "./reproduce" in said
    (results / "tables/methods.csv").unlink()
    assert "tables/methods.csv is missing" in refused(capsys, "archive")
    (results / "provenance.json").write_text("{")
    assert "provenance.json is damaged" in refused(capsys, "archive")
    (results / "provenance.json").write_text('{"commit": 3}')
    assert "lacks commit, commit_time" in refused(capsys, "archive")
    (results / "provenance.json").unlink()
    assert "the run is not finished" in refused(capsys, "archive")
    assert not list(house.glob("*.zip*"))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["archive"], "tables/methods.csv"),
        (["archive"], "provenance.json"),
        (["archive"], "captions/a.md"),
        (["archive", "--runs"], "runs/a/b/0.1.nc"),
        (["archive", "--manifest", "m.zip"], "many_body.nc"),
        (["archive"], "tables"),
        (["archive"], "../notes.csv"),
    ],
    ids=str,
)
def test_what_lies_outside_the_results_is_not_archived(house, tmp_path, capsys, monkeypatch, command, name):
    """A link to a file or folder elsewhere, with the same contents, or a name that leads there, is refused by name."""
    results, elsewhere = house / "results", tmp_path / "elsewhere"
    if name == "captions/a.md":
        write_text(results / name, "text")
        monkeypatch.setattr(archive.with_role(archive.Role.ON_DEMAND)[0].__class__, "present", lambda kind, at: [at / name])
    if name.startswith(".."):
        write_text(results / name, "id,verdict,measured\n")
        record = json.loads((results / "provenance.json").read_text())
        record["files"][name] = provenance.sha256(results / name)
        write_text(results / "provenance.json", provenance.to_json(record))
    else:
        if name.startswith("runs"):
            entry = {"bytes": (results / name).stat().st_size, "sha256": provenance.sha256(results / name)}
            monkeypatch.setattr(archive.written, "noted", lambda at: {name: entry})
        (results / name).rename(elsewhere)
        (results / name).symlink_to(elsewhere)
    said = refused(capsys, *command)
    assert re.search(r"leads out of results, to .*: nothing is read, written or removed there; remove the link", said)
    assert name in said and not list(house.glob("*.zip*"))


def test_a_folder_of_results_that_is_a_link_is_archived(house, tmp_path):
    (house / "results").rename(tmp_path / "elsewhere")
    (house / "results").symlink_to(tmp_path / "elsewhere")
    assert polhode("archive", "--output", "run.zip") == 0


def test_another_commit_is_refused(house, capsys):
    git(house, "commit", "-q", "--allow-empty", "-m", "more")
    assert "is a run of commit" in refused(capsys, "archive")


def test_changes_that_are_not_committed_are_refused_or_added(house, capsys):
    with open(house / "config.yaml", "a") as opened:
        opened.write("# a remark\n")
    said = refused(capsys, "archive")
    assert "changes that are not committed" in said and "--allow-dirty" in said
    assert polhode("archive", "--allow-dirty", "--output", "dirty.zip") == 0
    with zipfile.ZipFile("dirty.zip") as opened:
        assert "+# a remark" in opened.read("local-changes.diff").decode()
        assert "# a remark" not in opened.read("source/config.yaml").decode()


def test_plug_ins_are_in_the_source_or_asked_for(house, capsys):
    (house / "mine.py").write_text("METHOD = 1\n")
    finish(house / "results", plugins={"mine.py": provenance.sha256(house / "mine.py")})
    assert "the plug-in mine.py is not committed" in refused(capsys, "archive")
    assert "does not exist" in refused(capsys, "archive", "--plugin", "nowhere.py")
    assert polhode("archive", "--plugin", "mine.py", "--output", "a.zip") == 0
    with zipfile.ZipFile("a.zip") as opened:
        assert opened.read("plugins/mine.py") == b"METHOD = 1\n"


def test_outside_git_is_refused(house, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(archive, "HOME", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "is not a git checkout" in refused(capsys, "archive")


def test_a_file_that_cannot_be_written_is_named_before_the_work(house, capsys):
    assert "there is no folder" in refused(capsys, "archive", "--output", house / "nowhere" / "a.zip")


def test_configuration_in_data_does_not_depend_on_the_folder():
    texts = {study(results=results).json for results in ("results", "elsewhere")}
    assert len(texts) == 1 and "elsewhere" not in texts.pop()


# ---- verification ----


def test_a_run_reproduces_itself_in_any_folder(house, released, packed, tmp_path, capsys):
    assert polhode("verify", "--against", released) == 0
    said = capsys.readouterr().out
    assert "bit for bit" in said and "2 of 2 claims with the same verdict" in said and said.startswith("results: reproduced\n")
    shutil.copytree(house / "results", tmp_path / "elsewhere" / "deep")
    assert polhode("verify", tmp_path / "elsewhere" / "deep", "--against", released) == 0
    assert polhode("verify", packed, "--against", released) == 0
    assert polhode("verify", "results", "--against", packed) == 0
    assert polhode("verify", packed, "--against", "results") == 0


def test_the_released_manifest_is_found_where_it_lies(house, capsys):
    assert polhode("verify", "--csv", "found.csv") == 2
    assert "undamaged, but compared with nothing: undecided" in capsys.readouterr().out
    assert "not compared" in (house / "found.csv").read_text()
    (house / "data/released").mkdir(parents=True)
    assert polhode("archive", "--manifest", house / verify.RELEASED) == 0
    assert polhode("verify") == 0
    assert "against" in capsys.readouterr().out
    finish(house / "results", configuration=CONFIGURATION | {"digits": 60})
    assert polhode("verify") == 2
    said = capsys.readouterr().out
    assert "another configuration (digits)" in said and "compared with nothing" in said


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["single_body.nc", "claims.csv", "figures/error_vs_dt.png", "timing.nc", "provenance.json"])
def test_one_flipped_bit_in_a_folder_is_named(house, released, capsys, name):
    path = house / "results" / name
    at, named = path.stat().st_size // 2, name
    if name == "provenance.json":
        # In the checksum of another file; what it says of the machine is compared with nothing.
        at, named = path.read_bytes().index(b'"claims.csv": "') + 20, "claims.csv"
    flip(path, at)
    assert polhode("verify", "--against", released) != 0
    captured = capsys.readouterr()
    assert named in captured.out + captured.err


def test_one_flipped_bit_in_the_file_of_a_single_run_is_named(house, released, capsys):
    cell = house / "results/runs/a/b/0.1.nc"
    written.record(house / "results", "cells", [cell])
    assert polhode("verify", "--against", released) == 0
    flip(cell, 20)
    assert polhode("verify", "--against", released) == 1
    assert re.search(r"runs/a/b/0\.1\.nc +file .* not the bytes that the run left", capsys.readouterr().out)


def test_one_flipped_bit_anywhere_in_an_archive_is_seen(house, packed, released, capsys):
    """Also where the zip itself would not notice: names and dates have the checksum of the whole."""
    content = packed.read_bytes()
    for at in np.linspace(0, len(content) - 1, 24).astype(int):
        flip(packed, int(at))
        status = polhode("verify", packed, "--against", released)
        packed.write_bytes(content)
        assert status != 0, at
    assert polhode("verify", packed, "--against", released) == 0


def test_one_flipped_bit_in_a_file_of_an_archive_names_the_file(house, packed, capsys):
    Path(f"{packed}{zips.SIDECAR}").unlink()
    with zipfile.ZipFile(packed) as opened:
        entry = opened.getinfo("results/single_body.nc")
        begin = entry.header_offset + 30 + len(entry.filename)
    flip(packed, begin + entry.compress_size // 2)
    assert polhode("verify", packed) == 1
    assert re.search(r"results/single_body\.nc +file +readable +damaged", capsys.readouterr().out)


def test_an_archive_with_another_file_or_without_one_is_red(house, packed, capsys):
    with zipfile.ZipFile(packed) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    changed = files | {"results/more.txt": b"more"}
    del changed["results/report.pdf"]
    with zipfile.ZipFile("changed.zip", "w") as opened:
        for name, content in changed.items():
            opened.writestr(name, content)
    assert polhode("verify", "changed.zip") == 1
    said = capsys.readouterr().out
    assert re.search(r"results/report\.pdf +file .* missing", said) and re.search(r"results/more\.txt +file +not listed", said)


def hand_made(name: str, folder: Path, inside: str = "") -> Path:
    """A zip of a folder as anyone makes it."""
    path = folder.parent / name
    with zipfile.ZipFile(path, "w") as opened:
        for file in folder.rglob("*"):
            if file.is_file():
                opened.write(file, inside + str(file.relative_to(folder)))
    return path


def bare(folder: Path) -> None:
    """A run of which only one data file is left, without any list."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and path.name != "single_body.nc":
            path.unlink()


#: What is verified -> how it is made of the run, and the files in lists that are checked; 0 where there is no list.
WAYS = {
    "the folder": (lambda run: run, 10),
    "its parent": (lambda run: run.parent, 10),
    "a zip of it": (lambda run: hand_made("hand.zip", run), 10),
    "a zip of its parent": (lambda run: hand_made("hand.zip", run, "results/"), 10),
    "a zip with others beside it": (lambda run: hand_made("hand.zip", run.parent), 10),
    "without any list": (lambda run: [bare(run), run][1], 0),
    "parent without any list": (lambda run: [bare(run), run.parent][1], 0),
    "zip without any list": (lambda run: [bare(run), hand_made("hand.zip", run)][1], 0),
    "empty lists": (lambda run: [finish_empty(run), run][1], 0),
}


def finish_empty(results: Path) -> None:
    noted = json.loads((results / "provenance.json").read_text())
    write_text(results / "provenance.json", json.dumps(noted | {"files": {}}))


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
def test_nothing_counts_as_good_that_was_not_checked(house, tmp_path, released, capsys, way):
    """However a run is handed over, its files are checked and counted; without lists that is an error, never a success."""
    shutil.copytree(house / "results", tmp_path / "handed" / "results")
    shutil.copy(released, tmp_path / "released.zip")
    make, expected = WAYS[way]
    path = make(tmp_path / "handed" / "results")
    status = polhode("verify", "--why", path, "--against", tmp_path / "released.zip")
    said = capsys.readouterr()
    if not expected:
        assert status == 2 and "holds no checksums, so nothing could be checked" in said.err
        return
    assert status == 0 and f"{path}: {expected} files checked and intact, 0 damaged" in said.out
    assert "in no list, so not checked: " in said.out, "provenance.json and the single run"
    # And each of them for itself: a bit changed in it is seen.
    shutil.rmtree(tmp_path / "handed")
    shutil.copytree(house / "results", tmp_path / "handed" / "results")
    flip(tmp_path / "handed" / "results" / "figures/error_vs_dt.png", 5)
    assert polhode("verify", make(tmp_path / "handed" / "results"), "--against", tmp_path / "released.zip") == 1
    assert "error_vs_dt.png" in capsys.readouterr().out


def test_an_archive_without_its_list_is_damaged(house, packed, released, capsys):
    with zipfile.ZipFile(packed) as opened, zipfile.ZipFile("less.zip", "w") as less:
        for name in opened.namelist():
            if name != zips.CHECKSUMS:
                less.writestr(name, opened.read(name))
    assert polhode("verify", "--why", "less.zip", "--against", released) == 1
    said = capsys.readouterr().out
    assert re.search(rf"{zips.CHECKSUMS} +file +the checksums of an archive +missing", said)
    assert "source (" in said and "there is no less.zip.sha256 beside it" in said


def test_a_broken_list_of_a_run_is_damage(house, released, capsys):
    written.record(house / "results", "cells", [house / "results/runs/a/b/0.1.nc"])
    for text in ("{", '{"files": {"runs/a/b/0.1.nc": {"sha256": 3}}}', '{"files": {"runs/a/b/0.1.nc": "x"}}'):
        write_text(house / "results/written/cells.json", text)
        assert polhode("verify", "--against", released) == 1
        assert re.search(r"written/cells\.json +file +a complete list +damaged", capsys.readouterr().out)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["ensemble_states.nc", "new_kind.nc", "tables/new.csv"])
def test_every_data_file_of_a_run_is_compared(house, capsys, name):
    """Not those of a list of names, which a new file is missing from; times are in no manifest."""
    path = house / "results" / name
    for value, expected in ((1.0, 0), (2.0, 1)):
        if name.endswith(".nc"):
            write_dataset(xr.Dataset({"a": ("n", [value])}), path)
        else:
            write_text(path, f"a\n{value}\n")
        finish(house / "results")
        if not expected:
            assert polhode("archive", "--manifest", "whole.zip") == 0
        assert polhode("verify", "--against", "whole.zip") == expected
    assert name in capsys.readouterr().out
    assert name in manifest.read("whole.zip").files


def test_what_the_released_run_lacks_is_said(house, released, capsys):
    write_dataset(xr.Dataset({"a": ("n", [1.0])}), house / "results/checks/more.nc")
    with netCDF4.Dataset(house / "results/single_body.nc", "a") as file:
        file["spiral_cylinder"].createVariable("more", "f8", ("dt",))[:] = 1.0
    elsewhere(house)
    assert polhode("verify", "--why", "--against", released, "--csv", "found.csv") == 0
    said = capsys.readouterr().out
    assert "not compared: 2 of the data (not in the released run)" in said
    assert "measured times, or made from them (2 files)" in said and "texts made from the data (2 files)" in said
    assert re.search(r"single_body.nc,spiral_cylinder/more,.*not compared", (house / "found.csv").read_text())


def test_a_run_without_data_is_nothing_to_compare_with(house, released, capsys):
    with zipfile.ZipFile(released) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    index = json.loads(files["manifest.json"]) | {"files": {}, "variables": []}
    with zipfile.ZipFile(released, "w") as opened:
        opened.writestr("manifest.json", json.dumps(index))
        opened.writestr("values.npy", files["values.npy"])
    assert "nothing to compare with" in refused(capsys, "verify", "--against", released)


@pytest.mark.thorough
@pytest.mark.parametrize("change", ["flipped", "exchanged", "missing", "unlisted"])
def test_only_runs_as_they_were_written_are_archived(house, capsys, change):
    """With the old time, too; and none that no list names: it belongs to another run."""
    cell, other = (house / "results" / "runs" / "a" / "b" / f"{dt}.nc" for dt in (0.1, 0.2))
    write_text(other, "another step size\n" * 10)
    written.record(house / "results", "a", [cell] if change == "unlisted" else [cell, other])
    status = cell.stat()
    if change == "flipped":
        flip(cell, 20)
    elif change == "exchanged":
        shutil.copy(other, cell)
    elif change == "missing":
        cell.unlink()
    if cell.exists():
        os.utime(cell, ns=(status.st_atime_ns, status.st_mtime_ns))
    if change == "unlisted":
        assert polhode("archive", "--output", "all.zip", "--runs") == 0
        with zipfile.ZipFile("all.zip") as opened:
            assert [n for n in opened.namelist() if "/runs/" in n] == ["results/runs/a/b/0.1.nc"]
        return
    said = refused(capsys, "archive", "--output", "all.zip", "--runs")
    assert "runs/a/b/0.1.nc is missing or not what was written; run ./reproduce again" in said
    assert not (house / "all.zip").exists()


def test_other_values_are_listed_worst_first(house, released, capsys, tmp_path):
    results = house / "results"
    edit(results / "single_body.nc", "spiral_cylinder", "q_error_l1", (0, 2), 1.05e-2)
    edit(results / "single_body.nc", "spiral_cylinder", "q_order", 1, 3.0)
    finish(results)
    assert polhode("verify", "--against", released, "--csv", "found.csv") == 1
    said = capsys.readouterr().out
    rows = said[said.index("worst first:") :].splitlines()[2:4]
    assert re.search(r"q_order +integrator=rk4 +4 +3 +25 % .* 20 +1 of 2", rows[0]), rows
    assert re.search(r"q_error_l1 +integrator=euler dt=0\.1 +0\.01 +0\.0105 +4\.8 %", rows[1]), rows
    assert said.startswith("results: 2 differences; the worst are below")
    lines = (house / "found.csv").read_text().splitlines()
    assert len([line for line in lines if "not compared" not in line]) == 3
    assert polhode("verify", "--against", released, "--top", 1) == 1
    assert "and 1 more" in capsys.readouterr().out


def test_a_bit_of_a_value_between_those_kept_is_seen(house, released, capsys):
    edit(house / "results/single_body.nc", "spiral_cylinder/long_run", "q_error_l1", (1, 100), 1.0100000000000002e-6)
    finish(house / "results")
    assert polhode("verify", "--against", released) == 1
    assert "spiral_cylinder/long_run/q_error_l1" in capsys.readouterr().out


def elsewhere(house: Path) -> None:
    """The run as if made on another processor."""
    finish(house / "results", family="another processor")


@pytest.mark.thorough
def test_another_processor_is_compared_within_tolerances(house, released, capsys):
    results = house / "results"
    near_round_off, far = 3e-13, 1.005e-2
    edit(results / "single_body.nc", "spiral_cylinder", "q_error_l1", (1, 0), near_round_off)
    edit(results / "single_body.nc", "spiral_cylinder", "q_error_l1", (0, 2), far)
    edit(results / "single_body.nc", "spiral_cylinder", "q_order", 1, 3.97)
    edit(results / "single_body.nc", "spiral_cylinder/long_run", "q", (3, 3), 0.5)
    edit(results / "many_body.nc", "rods", "energy_error", (0, slice(None)), [1e-2, 2e-6, 5e-4, 3e-3])
    edit(results / "many_body.nc", "rods", "energy_error", (1, 3), 403.0)
    edit(results / "many_body.nc", "rods", "diverged", (1, 3), 0)
    edit(results / "many_body.nc", "rods", "contacts", (0, 0), 30.0)
    edit(results / "many_body.nc", "rods", "contacts", (1, slice(1, 3)), np.nan)
    edit(results / "checks/stability.nc", "", "largest", 0, 0.51)
    edit(results / "timing.nc", "", "seconds", 0, 1.0)
    elsewhere(house)
    assert polhode("verify", "--why", "--against", released) == 0
    said = capsys.readouterr().out
    assert "within tolerances (processor family" in said and "5 within their tolerance, 0 not, 2 not compared" in said
    assert "not compared: 1 of the data (their errors are compared instead)" in said


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("file", "group", "name", "index", "value"),
    [
        ("single_body.nc", "spiral_cylinder", "q_error_l1", (1, 0), 3e-12),
        ("single_body.nc", "spiral_cylinder", "q_error_l1", (0, 2), 1.02e-2),
        ("single_body.nc", "spiral_cylinder", "q_error_l1", (0, 2), np.nan),
        ("single_body.nc", "spiral_cylinder", "q_order", 1, 3.9),
        ("single_body.nc", "spiral_cylinder", "diverged", (0, 0), 1),
        ("single_body.nc", "spiral_cylinder", "steps", (0, 0), 1001),
        ("single_body.nc", "spiral_cylinder", "dt", 0, 1.000001e-3),
        ("single_body.nc", "spiral_cylinder/long_run", "q_error_l1", (1, 200), 1e-5),
        ("many_body.nc", "rods", "energy_error", (0, slice(None)), [3e-2, 5e-2, 1e-2, 3e-2]),
        ("many_body.nc", "rods", "energy_error", (0, slice(None)), [4e-5, 8e-5, 2e-5, 4e-5]),
        ("many_body.nc", "rods", "energy_error", (0, 0), np.nan),
        ("many_body.nc", "rods", "contacts", (0, slice(None)), [12.0, 13, 11, 12]),
        ("many_body.nc", "rods", "contacts", (1, slice(None)), np.nan),
        ("many_body.nc", "rods", "seed", 3, 4),
        ("references/top.nc", "", "q", 0, 1e-6),
        ("checks/stability.nc", "", "largest", 0, 0.6),
    ],
)
def test_on_another_processor_too_a_wrong_value_is_named(house, released, capsys, file, group, name, index, value):
    edit(house / "results" / file, group, name, index, value)
    elsewhere(house)
    assert polhode("verify", "--against", released) == 1
    assert f"  {file} " in capsys.readouterr().out


def test_other_versions_of_a_library_are_said(house, released, capsys):
    versions = json.loads((house / "results/provenance.json").read_text())["versions"]
    finish(house / "results", versions=versions | {"numba": "0.1"})
    assert polhode("verify", "--against", released) == 0
    assert re.search(r"within tolerances \(numba [\d.]+ there, 0\.1 here\)", capsys.readouterr().out)


def test_another_verdict_or_a_missing_file_comes_first(house, released, capsys):
    results = house / "results"
    write_text(results / "claims.csv", "id,verdict,measured\none,holds,1\ntwo,holds,2\n")
    (results / "checks/stability.nc").unlink()
    edit(results / "single_body.nc", "spiral_cylinder", "q_order", 1, 3.0)
    elsewhere(house)
    assert polhode("verify", "--against", released) == 1
    rows = capsys.readouterr().out.partition("worst first:")[2].splitlines()[2:]
    assert re.search(r"checks/stability\.nc +missing", rows[0])
    assert re.search(r"claims\.csv +verdict +two +does not hold +holds", rows[1])
    assert "q_order" in rows[2]


def test_a_file_missing_from_a_finished_run_is_red(house, released, capsys):
    (house / "results/many_body.nc").unlink()
    assert polhode("verify", "--against", released) == 1
    assert re.search(r"many_body\.nc +file +\w+ +missing", capsys.readouterr().out)


def test_an_unfinished_run_is_red(house, released, capsys):
    (house / "results/provenance.json").unlink()
    assert "the run is not finished" in refused(capsys, "verify", "--against", released)


# ---- bad input ----


def test_bad_input_is_named(house, packed, released, capsys, tmp_path):
    assert "nowhere.zip does not exist" in refused(capsys, "verify", "nowhere.zip")
    (house / "text.zip").write_text("no zip")
    assert "text.zip is not a whole zip archive" in refused(capsys, "verify", "text.zip")
    (tmp_path / "empty").mkdir()
    assert "holds no results" in refused(capsys, "verify", tmp_path / "empty")
    assert "nowhere does not exist" in refused(capsys, "verify", "--against", "nowhere")
    assert "--top must not be negative" in refused(capsys, "verify", "--top", -1)
    assert "--csv: there is no folder" in refused(capsys, "verify", "--csv", tmp_path / "no" / "a.csv")
    content = packed.read_bytes()
    packed.write_bytes(content[: len(content) // 2])
    assert "not a whole zip archive" in refused(capsys, "verify", packed)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["../out.txt", "/etc/out.txt", "a/../../out.txt", "C:/out.txt", "a\\..\\out.txt"])
def test_a_name_that_leads_out_of_the_folder_is_refused(house, capsys, name):
    with zipfile.ZipFile("bad.zip", "w") as opened:
        opened.writestr("results/provenance.json", "{}")
        entry = zipfile.ZipInfo("x")
        entry.filename = name
        opened.writestr(entry, "out")
    assert "nothing was unpacked" in refused(capsys, "verify", "bad.zip")


def test_an_archive_that_would_fill_the_disk_is_refused(house, packed, capsys, monkeypatch):
    monkeypatch.setattr(zips, "LARGEST", 1000)
    assert "would unpack to" in refused(capsys, "verify", packed)


def test_a_damaged_manifest_is_named(house, released, capsys):
    with zipfile.ZipFile(released) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    index = json.loads(files["manifest.json"])
    for change in ({"format": 99}, {"variables": [{"file": "a"}]}, {"files": None, "variables": 3}):
        with zipfile.ZipFile(released, "w") as opened:
            opened.writestr("manifest.json", json.dumps(index | change))
            opened.writestr("values.npy", files["values.npy"])
        said = refused(capsys, "verify", "--against", released)
        assert "released.zip is " in said and ("update polhode" in said or "not a whole manifest" in said)
    with zipfile.ZipFile(released, "w") as opened:
        opened.writestr("manifest.json", files["manifest.json"])
    assert "values.npy cannot be read" in refused(capsys, "verify", "--against", released)


def test_runs_of_another_configuration_are_not_compared(house, released, capsys):
    finish(house / "results", configuration=CONFIGURATION | {"digits": 60})
    said = refused(capsys, "verify", "--against", released)
    assert "another configuration (digits)" in said


def test_a_broken_data_file_of_an_undamaged_run_is_named(house, released, capsys):
    (house / "results/references/top.nc").write_bytes(b"")
    finish(house / "results")
    assert "top.nc is not a complete netCDF file" in refused(capsys, "verify", "--against", released)


# ---- the manifest and its tolerances ----


def test_manifest_keeps_what_it_needs_and_is_small(house, released):
    read, whole = manifest.read(released), manifest.of_run(house / "results", provenance.read_provenance(house / "results"))
    assert set(read.variables) == set(whole.variables) and read.files == whole.files and read.verdicts == whole.verdicts
    assert not {"timing.nc", "tables/cost.csv"} & set(read.files) and "tables/methods.csv" in read.files
    along = read.variables["single_body.nc", "spiral_cylinder/long_run", "q_error_l1"]
    assert along.values is not None and along.values.shape == (2, manifest.SAMPLED)
    assert read.variables["single_body.nc", "spiral_cylinder/long_run", "q"].values is None
    for key, variable in read.variables.items():
        assert whole.variables[key].sha256.startswith(variable.sha256) and len(variable.sha256) == 32
    assert released.stat().st_size < 6000


def test_a_checksum_does_not_depend_on_the_byte_order(tmp_path):
    values = np.arange(4.0)
    for name, kind in (("a.nc", "NETCDF4"), ("b.nc", "NETCDF3_64BIT")):
        xr.Dataset({"x": ("n", values)}).to_netcdf(tmp_path / name, format=kind)
    first, other = (next(iter(manifest._read(tmp_path / name, name))) for name in ("a.nc", "b.nc"))
    assert first.sha256 == other.sha256


def test_every_tolerance_is_stated_with_a_reason(capsys):
    assert polhode("verify", "--tolerances") == 0
    said = capsys.readouterr().out
    for tolerance in tolerances.TOLERANCES:
        assert f"{tolerance.what}: {tolerance.said} (" in said and len(tolerance.why) > 10
    assert "orders: 0.05 (" in said and "errors: 1 % + 1e-13 + 8 eps a step (" in said


@pytest.mark.parametrize(
    "key", ["spiral_cylinder", "free_asymmetric_top", "free_asymmetric_top_separatrix", "damped_top", "cubesat"]
)
def test_a_rounding_at_the_start_stays_within_the_tolerance(key):
    problem = library.problems[key]
    omega = np.array(problem.omega0)
    near = replace(problem, omega0=tuple(np.nextafter(omega, np.where(omega == 0, omega, 10.0)).tolist()))
    steps = 1024
    ends = [library.simulate(p, "spiral_leapfrog", problem.horizon / steps, samples=1).q.values[-1] for p in (problem, near)]
    moved = np.abs(ends[1] - ends[0]).sum()
    tolerance = tolerances.tolerance_of(comparing.Variable("single_body.nc", key, "q_error_l1", (), (), ""))
    assert 0 < moved < tolerance.absolute + steps * tolerance.per_step


@pytest.mark.parametrize("scene", ["chess", "rods_states", "eccentric_spheres", "mixed_sizes", "rods_steps"])
def test_other_boxes_stay_within_the_tolerance_of_many_bodies(scene):
    """Runs on another processor are other draws: the released seeds, five against five others."""
    with xr.open_datatree(HOUSE / "data/released/many_body.nc") as tree:
        states = tree[scene].to_dataset()
        for name in {"energy_error", "energy_error_mean", "energy_error_largest", "contacts"} & set(states.data_vars):
            tolerance = tolerances.tolerance_of(comparing.Variable("many_body.nc", scene, name, (), (), ""))
            assert tolerance.over == "seed" and tolerance.said.endswith("over seeds")
            values = states[name].transpose("seed", ...).values
            pooled = np.array([tolerance.pooled(values[i : i + 5], 0) for i in range(0, 30, 5)])
            spread = pooled.max(axis=0) / pooled.min(axis=0)
            assert np.nanmax(spread) < (10**tolerance.decades if tolerance.decades else 1 / (1 - tolerance.relative)), name


def test_improved_pcdm_is_not_within_the_tolerance_of_spiral():
    with xr.open_datatree(HOUSE / "data/released/many_body.nc") as tree:
        energy = tree["chess"]["energy_error"].sel(dt=4.85e-6, method="nearest").transpose("integrator", "seed")
        tolerance = tolerances.tolerance_of(comparing.Variable("many_body.nc", "chess", "energy_error", (), (), ""))
        spiral, pcdm = (tolerance.pooled(energy.sel(integrator=key).values, 0) for key in ("spiral_leapfrog", "pcdm2016"))
    assert pcdm / spiral > 10**tolerance.decades


# ---- report.html ----


def test_every_figure_and_table_has_a_caption_that_html_can_show(tmp_path):
    sources = chapters.texts(HOUSE)
    used = {name for path in sources for name in re.findall(r"\\((?:study|cost)[A-Z]\w*)", path.read_text())}
    numbers = tmp_path / "numbers.tex"
    numbers.write_text("\n".join(rf"\newcommand{{\{name}}}{{\num{{4.2}}}}" for name in sorted(used)))
    texts = captions.captions(sources, [numbers])
    assert {f"figures/{name}" for name in chapters.names("figures")} | {
        f"tables/{name}" for name in chapters.names("tables")
    } <= set(texts)
    for name, text in texts.items():
        body = publish_parts(text, writer="html")["body"]
        assert "system-message" not in body and "problematic" not in body, (name, text)
        assert "\\" not in re.sub(r"<math.*?</math>", "", body, flags=re.S), (name, body)
    assert "4.2 s" in texts["figures/error_vs_time"].replace("\\ ", "")
    assert ":math:`\\Delta t^{5/2}`" in texts["figures/many_body_energy"].replace(r"\dt", r"\Delta t")
    assert "``error_vs_dt``\\ " in texts["tables/target_dt"]
    assert "``problems``\\ " in texts["tables/symplecticity"], "a long table is named by its file, not by its label"
    assert texts["figures/liquids"] != texts["tables/liquids"]


def test_a_command_that_captions_do_not_know_is_named(tmp_path):
    source = tmp_path / "a.tex"
    source.write_text("\\begin{figure}\\includegraphics{one}\\caption{A \\strange{thing}.}\\end{figure}")
    with pytest.raises(captions.CaptionError, match=r"caption of figures/one: the LaTeX command \\strange"):
        captions.captions([source], [])


def test_html_finds_the_results_where_snakemake_does(tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("results: elsewhere\n")
    assert html.results_of([], []) == Path("results")
    assert html.results_of([mine], []) == Path("elsewhere")
    assert html.results_of([mine], ["digits=30", "results=there"]) == Path("there")


def test_html_refuses_before_the_work(capsys, tmp_path):
    assert "--output: Snakemake writes .html or .zip" in refused(capsys, "html", "--output", tmp_path / "a.pdf")
    assert "--configfile" in refused(capsys, "html", "--configfile", tmp_path / "nowhere.yaml")


# ---- for a forge and a catalogue ----


def test_forge_runs_the_same_script_on_linux_and_macos():
    workflow = yaml.safe_load((HOUSE / ".github/workflows/ci.yml").read_text())
    (job,) = workflow["jobs"].values()
    assert {name.split("-")[0] for name in job["strategy"]["matrix"]["os"]} == {"ubuntu", "macos"}
    assert any(step.get("run") == ".ci/run" for step in job["steps"])


def test_catalogue_is_told_how_to_use_the_workflow():
    entry = yaml.safe_load((HOUSE / ".snakemake-workflow-catalog.yml").read_text())
    assert entry["usage"]["software-stack-deployment"]["conda"] is True
    assert entry["usage"]["report"] is True
