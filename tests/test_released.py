"""What a study takes from the release: witnesses that agree, that differ by a bit, on another machine; the real workflow."""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from conftest import said_by
from data_files import invented
from studies import study as default_study
from test_workflow import TINY, House

from polhode.cli import main
from polhode.interface.netcdf import read_dataset, read_groups
from polhode.interface.storage import write_dataset, write_groups
from polhode.references.dataset import reference_dataset
from polhode_study import provenance, released
from polhode_study.archive import manifest
from polhode_study.chapters.reproducibility.numbers import release
from polhode_study.checks import CHECKS
from polhode_study.cli import release as cli_release
from polhode_study.cli import verify
from polhode_study.comparing import Outcome, compare
from polhode_study.gather import single_body
from polhode_study.inputs import Inputs
from polhode_study.released import Release, ReleaseDiffers, completed, computed, whole, witness_settings
from polhode_study.report import origins

HOME = Path(__file__).parents[1]
MACHINE = {"family": "x", "python": "3", "versions": {}}
METHODS = ["euler", "rk4", "verlet"]


def runs(methods, add=0.0):
    """Errors of methods over steps, each method and step with its own."""
    error = np.array([[10.0 ** -len(method) * dt for dt in (1.0, 2.0)] for method in methods])
    return invented(
        "single_body.nc/PROBLEM",
        {"integrator": list(methods), "dt": [1.0, 2.0]},
        q_error_l1=error + add,
        steps=100.0,
        label=[method.upper() for method in methods],
        exact=("dt", [1.0, 2.0]),
    )


def released_in(folder: Path, data: xr.Dataset, file: str, group: str = "") -> Release:
    write_groups({f"/{group}": data} if not group else {"/": xr.Dataset(), f"/{group}": data}, folder / file)
    index = {
        "run": MACHINE | {"commit": "c" * 40, "configuration": {"digits": 50}},
        "files": {file: sha256((folder / file).read_bytes()).hexdigest()},
        "methods": {f"{file}/{group}".rstrip("/"): [str(key) for key in data["integrator"].values]},
    }
    (folder / "release.json").write_text(json.dumps(index))
    return Release(folder)


def test_methods_of_a_witness():
    assert computed("problems", "heavy_top", ("euler", "verlet", "mine"), ("euler", "verlet")) == ("verlet", "mine")
    of_both = ("exact_rotor", "pcdm2016")
    assert computed("problems", "coupled_cylinders", of_both, of_both) == ("pcdm2016",), "a method of the source"
    assert computed("problems", "heavy_top", ("euler",), ("euler",)) == ("euler",), "at least one"
    assert witness_settings("normalisation", [*METHODS, "mine"], METHODS)["methods"] == ["verlet", "mine"]
    of_two = {
        key: witness_settings("reversibility", keys, METHODS) for key, keys in (("old", METHODS), ("new", [*METHODS, "mine"]))
    }
    assert of_two["old"]["divisions"] == [32, 64, 128, 256] and "divisions" not in of_two["new"], "a new method runs all of it"
    able = ["exact_rotor"]  # rk4 cannot run a liquid
    assert witness_settings("liquid_1fs", ["rk4", *able], able, ["rk4", *able])["starts"] == 1
    assert "starts" not in witness_settings("liquid_1fs", ["rk4", *able], able, able)
    assert witness_settings("bed", ["spiral_leapfrog", "fincham1992"], []) == {
        "methods": ["spiral_leapfrog"],
        "seeds": [0],
        "divisions": [4, 10],
    }


def test_a_study_without_witnesses_computes_some():
    """Of Runge-Kutta 4, which cannot run a liquid, nothing is in the release."""
    able = ["no_squish", "spiral_leapfrog"]
    assert witness_settings("liquid_1fs", ["rk4", "no_squish"], able)["methods"] == ["rk4", "no_squish"]
    assert witness_settings("liquid_1fs", ["spiral_leapfrog", "no_squish"], able)["methods"] == ["spiral_leapfrog"]
    assert not whole(Release("nowhere"), "checks/liquid_1fs.nc", xr.Dataset(), ["rk4"], MACHINE, all_methods=True).variables


def test_a_variable_or_a_method_that_the_release_lacks_is_named(tmp_path):
    release_of_some = released_in(tmp_path, runs(METHODS), "single_body.nc", "heavy_top")
    with pytest.raises(ReleaseDiffers, match="problem heavy_top: the release has no other_method"):
        completed(release_of_some, "single_body.nc", "heavy_top", runs(["verlet"]), ["verlet", "other_method"], MACHINE)
    more = runs(["verlet"]).assign(new=("integrator", [1.0]))
    with pytest.raises(ReleaseDiffers, match="problem heavy_top: the release has no new"):
        completed(release_of_some, "single_body.nc", "heavy_top", more, METHODS, MACHINE)


def test_a_variable_empty_in_the_witness_is_a_difference(tmp_path):
    release_of_some = released_in(tmp_path, runs(METHODS), "single_body.nc", "heavy_top")
    with pytest.raises(ReleaseDiffers, match="q_error_l1"):
        completed(release_of_some, "single_body.nc", "heavy_top", runs(["verlet"], np.nan), METHODS, MACHINE)


def test_the_release_is_made_of_a_run_that_computed_everything(tmp_path, monkeypatch):
    """All groups, and the checks with a witness; nothing of a run that took something from a release."""
    results, output = tmp_path / "results", tmp_path / "full"
    groups = {name: runs(METHODS) for name in ("/heavy_top", "/heavy_top/long_run", "/coupled_cylinders")}
    write_groups({"/": xr.Dataset(), **groups}, results / "single_body.nc")
    write_groups({"/": xr.Dataset(), "/chess": runs(METHODS)}, results / "many_body.nc")
    write_groups({"/": runs(METHODS)}, results / "ensembles.nc")
    monkeypatch.setattr(cli_release, "CHECKS_OF_STUDY", {"bed": CHECKS["bed"], "liquid_spectrum": CHECKS["liquid_spectrum"]})
    write_groups({"/": runs(METHODS)}, results / "checks" / "bed.nc")
    run = (
        dict.fromkeys(provenance.NEEDED, "")
        | MACHINE
        | {"commit": "c" * 40, "dirty": False, "ended": "2026-11-28", "files": {}}
    )
    run["configuration"] = {"problems": {"heavy_top": {}, "coupled_cylinders": {}}, "methods": "all"}
    monkeypatch.setattr(provenance, "read_provenance", lambda folder: run)
    assert main(["release", "--full", "--results", str(results), "--output", str(output)]) == 0
    made = Release(output)
    assert set(made.index["files"]) == {"single_body.nc", "many_body.nc", "ensembles.nc", "checks/bed.nc"}
    assert set(read_groups(made.path("single_body.nc"))) == {"/", "/heavy_top", "/heavy_top/long_run", "/coupled_cylinders"}
    assert made.methods("single_body.nc", "heavy_top/long_run") == tuple(METHODS) and made.methods("ensembles.nc") == tuple(
        METHODS
    )
    data = completed(made, "many_body.nc", "chess", runs(["verlet"]), METHODS, MACHINE)
    xr.testing.assert_identical(data.drop_attrs(), runs(METHODS))
    write_groups({"/": runs(METHODS).assign_attrs(released="euler")}, results / "ensembles.nc")
    assert main(["release", "--full", "--results", str(results), "--output", str(output)]) == 2


def manifest_of(path: Path, folder: Path, run: dict) -> None:
    """Write a manifest of all files of a folder."""
    names = [file.relative_to(folder).as_posix() for file in sorted(folder.rglob("*.nc"))]
    manifest.write(manifest.of_run(folder, run | {"files": dict.fromkeys(names, "")}), path, (2026, 11, 28, 0, 0, 0))


def test_an_experiment_joins_the_release_with_its_origin(tmp_path, monkeypatch):
    """Its file, the index and the manifest; everything else stays as it is, to the byte."""
    folder = tmp_path / "full"
    folder.mkdir()
    series = runs(METHODS).assign(series=("time", np.arange(200.0)))  # the manifest keeps 17 values
    released_in(folder, series, "single_body.nc", "heavy_top")
    index = json.loads((folder / "release.json").read_text())
    index["run"]["configuration"]["ensembles"] = {"seed": 7}
    index["methods"][""] = METHODS
    (folder / "release.json").write_text(json.dumps(index))
    path = tmp_path / "manifest.zip"
    manifest_of(path, folder, index["run"])
    before = manifest.read(path)
    manifest.write(before, tmp_path / "again.zip", (2026, 11, 28, 0, 0, 0))
    assert path.read_bytes() == (tmp_path / "again.zip").read_bytes(), "what is thinned stays as it is"
    settings = []

    def made(wildcards, given):
        settings.append((wildcards, given))
        return xr.Dataset({"rotation": ("case", np.arange(200.0))}), "made"

    monkeypatch.setattr(cli_release, "make_check", made)
    monkeypatch.setattr(provenance, "commit", lambda home: {"commit": "d" * 40, "dirty": True})
    assert main(["release", "--experiment", "baths", "--output", str(folder)]) == 0
    assert settings == [({"check": "baths"}, {"methods": METHODS, "seed": 7})]
    known, after = Release(folder), manifest.read(path)
    origin = known.origin("checks/baths.nc")
    assert (origin["commit"], origin["dirty"], origin["configuration"]) == ("d" * 40, True, {"seed": 7})
    assert origin["family"] == provenance.family() and known.origin("single_body.nc")["commit"] == "c" * 40
    assert after.origin("checks/baths.nc") == origin and known.path("checks/baths.nc").is_file()
    new = {key for key in after.variables if key not in before.variables}
    assert new == {("checks/baths.nc", "", "rotation")}
    for key, variable in before.variables.items():
        assert after.variables[key] == variable
        if variable.values is not None:
            np.testing.assert_array_equal(after.variables[key].values, variable.values)
    again = path.read_bytes()
    assert main(["release", "--experiment", "baths", "--output", str(folder)]) == 0
    of_run = {key: value for key, value in manifest.read(path).run.items() if key != "added"}
    assert of_run == before.run and set(manifest.read(path).variables) == set(after.variables) and len(again) > 0


def test_only_experiments_of_the_release_can_join_it(tmp_path, capsys):
    assert main(["release", "--experiment", "baths", "--output", str(tmp_path)]) == 2
    assert "must have release.json" in capsys.readouterr().err
    (tmp_path / "full").mkdir()
    released_in(tmp_path / "full", runs(METHODS), "n.nc")
    manifest_of(tmp_path / "manifest.zip", tmp_path / "full", MACHINE)
    for name in ("bathes", "liquid_spectrum"):
        assert main(["release", "--experiment", name, "--output", str(tmp_path / "full")]) == 2
        assert f"--experiment: '{name}' is not an experiment of the release" in capsys.readouterr().err


def test_a_file_is_compared_as_on_its_own_machine(tmp_path):
    """A run on the machine of one of two files: there every bit must be the same, in the other it may differ in the last."""
    for name, add in (("old", 0.0), ("new", 1e-15)):
        for file in ("checks/bed.nc", "checks/drum.nc"):
            write_groups({"/": runs(METHODS, add)}, tmp_path / name / file)
    manifest_of(tmp_path / "m.zip", tmp_path / "old", MACHINE)
    origin = MACHINE | {"family": "y", "commit": "d" * 40}
    old = manifest.with_file(manifest.read(tmp_path / "m.zip"), tmp_path / "old", "checks/drum.nc", origin)
    run = MACHINE | {"family": "y", "files": {"checks/bed.nc": "", "checks/drum.nc": ""}}
    result = compare(old, manifest.of_run(tmp_path / "new", run))
    assert {(each.file, each.variable) for each in result.differences} == {("checks/drum.nc", "q_error_l1")}
    assert result.within == 1


def test_verify_names_files_of_another_origin(tmp_path, capsys):
    """The run and the manifest are the same; of one file the manifest names another commit."""
    write_groups({"/": runs(METHODS)}, tmp_path / "new" / "checks/drum.nc")
    run = {key: kind() for key, kind in provenance.NEEDED.items()} | MACHINE
    run["files"] = {"checks/drum.nc": sha256((tmp_path / "new/checks/drum.nc").read_bytes()).hexdigest()}
    (tmp_path / "new/provenance.json").write_text(json.dumps(run))
    manifest_of(tmp_path / "m.zip", tmp_path / "new", run)
    origin = MACHINE | {"processor": "another one", "commit": "d" * 40}
    joined = manifest.with_file(manifest.read(tmp_path / "m.zip"), tmp_path / "new", "checks/drum.nc", origin)
    manifest.write(joined, tmp_path / "m.zip", (2026, 11, 28, 0, 0, 0))
    assert main(["verify", str(tmp_path / "new"), "--against", str(tmp_path / "m.zip")]) == 0
    assert "of later commits: checks/drum.nc (dddddddddddd)" in capsys.readouterr().out


@pytest.fixture
def house_with_release(tmp_path):
    """A folder with the release of a problem and the manifest, and a run of this problem and another one with its origin."""
    release, results = tmp_path / "released" / "full", tmp_path / "results"
    known = {"heavy_top": {"dt": 1}, "damped_top": {"dt": 2}}
    both = {f"/{key}": runs(METHODS, add) for key, add in (("heavy_top", 0.25), ("damped_top", 0.0))}
    both["/heavy_top/long_run"] = runs(METHODS, 0.75)
    write_groups({"/": xr.Dataset(), **both}, release / "single_body.nc")
    index = {
        "run": MACHINE | {"commit": "c" * 40, "configuration": {"digits": 50, "problems": known}},
        "files": {"single_body.nc": sha256((release / "single_body.nc").read_bytes()).hexdigest()},
        "methods": {f"single_body.nc{name}": METHODS for name in both} | {"": METHODS},
    }
    (release / "release.json").write_text(json.dumps(index))
    full = manifest.of_run(release, index["run"] | {"files": ["single_body.nc"]})
    manifest.write(full, release.parent / "manifest.zip", (2026, 11, 28, 10, 4, 4))
    configuration = {"digits": 50, "problems": {"damped_top": {"dt": 2}, "cubesat": {"dt": 3}}}
    groups = {"/damped_top": both["/damped_top"], "/cubesat": runs(METHODS, 0.5)}
    root = xr.Dataset(attrs={"configuration": json.dumps(configuration)})
    for key in configuration["problems"]:
        write_dataset(runs(METHODS), results / "references" / f"{key}.nc")
    return release, results, {"/": root, **groups}


def add_problems(release, results, groups):
    write_groups(groups, results / "single_body.nc")
    return main(["release", "--full", "--keep", "--results", str(results), "--output", str(release), "--commit", "d" * 40])


def test_a_problem_is_added_and_all_else_keeps_its_bits(house_with_release):
    release, results, groups = house_with_release
    before, old = manifest.read(release.parent / "manifest.zip"), read_groups(release / "single_body.nc")
    old = {name: old[name].load() for name in ("/heavy_top", "/heavy_top/long_run", "/damped_top")}
    assert add_problems(release, results, groups) == 0
    made = Release(release)
    for name, data in (old | {"/cubesat": groups["/cubesat"]}).items():
        xr.testing.assert_identical(made.group("single_body.nc", name[1:]).drop_attrs(), data.drop_attrs())
    assert made.has("problems", "cubesat", {"dt": 3}, 50) and made.has("problems", "heavy_top", {"dt": 1}, 50)
    assert made.methods("single_body.nc", "cubesat") == tuple(METHODS)
    assert made.index["added"]["cubesat"]["commit"] == "d" * 40
    data = completed(made, "single_body.nc", "cubesat", runs(["verlet"], 0.5), METHODS, MACHINE)
    assert data.attrs["witness"].endswith("the same bits")

    after = manifest.read(release.parent / "manifest.zip")
    assert {key: variable for key, variable in after.variables.items() if key in before.variables} == before.variables
    for key, variable in before.variables.items():
        np.testing.assert_array_equal(after.variables[key].values, variable.values)
    places = {key[:2] for key in after.variables.keys() - before.variables.keys()}
    assert places == {("references/cubesat.nc", ""), ("single_body.nc", "cubesat")}
    assert after.run["configuration"]["problems"].keys() == {"heavy_top", "damped_top", "cubesat"}
    assert after.files.keys() - before.files.keys() == {"references/cubesat.nc"}
    assert "of later commits: cubesat (dddddddddddd)" in verify._header(after, after, Outcome())[0]
    assert "later" not in verify._header(before, after, Outcome())[0]
    assert add_problems(release, results, groups) == 2, "it is there"


def test_what_does_not_repeat_the_release_adds_nothing(house_with_release, capsys):
    release, results, groups = house_with_release
    before = (release / "single_body.nc").read_bytes()
    changed = groups["/damped_top"].copy(deep=True)
    changed["q_error_l1"][0, 0] = np.nextafter(changed["q_error_l1"][0, 0], np.inf)
    assert add_problems(release, results, groups | {"/damped_top": changed}) == 2
    assert "damped_top has other bits than in the release (q_error_l1)" in capsys.readouterr().err
    assert add_problems(release, results, {name: data for name, data in groups.items() if name != "/damped_top"}) == 2
    assert "no problem of the release, which would show its bits" in capsys.readouterr().err
    assert (release / "single_body.nc").read_bytes() == before


def test_what_is_not_computed_comes_from_the_release(tmp_path):
    known_release = released_in(tmp_path, runs(METHODS), "single_body.nc", "heavy_top")
    data = completed(known_release, "single_body.nc", "heavy_top", runs(["verlet", "mine"]), [*METHODS, "mine"], MACHINE)
    xr.testing.assert_identical(data.drop_attrs(), runs([*METHODS, "mine"]))
    assert data.attrs["released"] == "euler,rk4" and data.attrs["witness"] == "6 variables with the same bits"
    alone = completed(known_release, "single_body.nc", "other", runs(["verlet"]), ["verlet"], MACHINE)
    assert not alone.attrs, "the release has no such group"


def test_a_bit_and_a_place_are_named(tmp_path):
    known_release = released_in(tmp_path, runs(METHODS), "single_body.nc", "heavy_top")
    wrong = runs(["verlet"])
    wrong["q_error_l1"].values[0, 1] = np.nextafter(wrong["q_error_l1"].values[0, 1], 1)
    with pytest.raises(ReleaseDiffers, match="problem heavy_top: this machine computes something else than the release"):
        completed(known_release, "single_body.nc", "heavy_top", wrong, METHODS, MACHINE)
    wrong["q_error_l1"].values[0, 1] *= 2
    with pytest.raises(ReleaseDiffers, match="q_error_l1 at integrator=verlet dt=2"):
        completed(known_release, "single_body.nc", "heavy_top", wrong, METHODS, MACHINE)


def test_on_another_processor_tolerances_hold(tmp_path):
    known_release = released_in(tmp_path, runs(METHODS), "single_body.nc", "heavy_top")
    other = MACHINE | {"family": "y"}
    data = completed(known_release, "single_body.nc", "heavy_top", runs(["verlet"], 1e-15), METHODS, other)
    assert "1 within the tolerances" in data.attrs["witness"]
    assert data["q_error_l1"].sel(integrator="verlet", dt=1).item() == 1e-6 + 1e-15, "what was computed here is shown"
    with pytest.raises(ReleaseDiffers, match="heavy_top"):
        completed(known_release, "single_body.nc", "heavy_top", runs(["verlet"], 1e-7), METHODS, other)


def test_a_file_with_other_bytes_is_not_used(tmp_path):
    known_release = released_in(tmp_path, runs(METHODS), "ensembles.nc")
    content = bytearray((tmp_path / "ensembles.nc").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "ensembles.nc").write_bytes(content)
    with pytest.raises(ReleaseDiffers, match=r"ensembles.nc has other bytes than .*release.json says: take it"):
        completed(known_release, "ensembles.nc", "", runs(["verlet"]), METHODS, MACHINE)


def test_a_witness_with_fewer_initial_states(tmp_path):
    over = ("variant", "division", "seed")
    old = xr.Dataset(
        {"height": (over, np.arange(12.0).reshape(2, 2, 3)), "ledger": ("form", [1.0, 2.0])},
        {"variant": ["a", "b"], "division": [4, 10], "seed": [0, 1, 2], "integrator": ("variant", ["a", "b"])},
    )
    known_release = released_in(tmp_path, old, "checks_bed.nc")
    witness = old.isel(variant=[1], seed=[0]).drop_vars("ledger")
    data = whole(known_release, "checks_bed.nc", witness, ["a", "b"], MACHINE, all_methods=False)
    xr.testing.assert_identical(data.drop_attrs(), old)
    with pytest.raises(ReleaseDiffers):
        whole(known_release, "checks_bed.nc", witness.assign(height=-witness["height"]), ["a", "b"], MACHINE, all_methods=False)


def test_a_new_method_joins_an_experiment_with_all_methods(tmp_path):
    known_release = released_in(tmp_path, runs(METHODS), "n.nc")
    data = whole(known_release, "n.nc", runs(["verlet", "mine"]), ["rk4", "verlet", "mine"], MACHINE, all_methods=True)
    xr.testing.assert_identical(data.drop_attrs(), runs(["rk4", "verlet", "mine"]))


def test_the_manifest_has_all_released_experiments():
    """With the same bits, and the same origins: what a study takes from the release, ``polhode verify`` compares."""
    known, listed = Release(HOME / released.FOLDER), manifest.read(HOME / "data/released/manifest.zip")
    assert listed.run.get("added", {}) == known.index.get("added", {})
    files = [file for file in known.index["files"] if file.startswith("checks/")]
    of_release = manifest.of_run(known.folder, {"files": dict.fromkeys(files, "")})
    assert {file for file, *_ in of_release.variables} == set(files)
    for key, variable in of_release.variables.items():
        assert variable.sha256.startswith(listed.variables[key].sha256), key


def test_the_release_is_whole():
    known = Release(HOME / released.FOLDER)
    for file in known.index["files"]:
        assert known.path(file).is_file()
    assert {key for key, check in CHECKS.items() if check.witness is not None} == {
        Path(file).stem for file in known.index["files"] if file.startswith("checks/")
    }


def test_the_text_says_where_the_release_is_from():
    macros = release(Inputs("", released=HOME / "data" / "released"))
    run = Release(HOME / released.FOLDER).index["run"]
    assert run["commit"][:12] in macros["studyReleaseCommit"] and macros["studyReleaseDate"] == run["ended"][:10]


def test_figures_and_tables_that_show_the_release_are_listed(tmp_path):
    (tmp_path / "beds.tex").write_text(f"% {origins.note(['drum', 'bed'])}\n\\begin{{tabular}}")
    (tmp_path / "many.tex").write_text(f"% {origins.note(['bed'])}\n\\label{{tab:many}}")
    (tmp_path / "lines.pdf").write_bytes(b"%PDF /Subject (values of the release: bed;) ...")
    (tmp_path / "other.tex").write_text("nothing")
    texts = {
        "a": r"\begin{table}\label{tab:beds}\input{\resultsdir/tables/beds}\end{table}",
        "b": r"\begin{figure}\includegraphics[width=1cm]{lines}\caption{x}\label{fig:lines}\end{figure}",
    }
    rows = origins.rows_of_release(tmp_path.iterdir(), texts)
    assert (
        rows
        == "bed & Fig.~\\ref{fig:lines}, Table~\\ref{tab:beds}, Table~\\ref{tab:many} \\\\\ndrum & Table~\\ref{tab:beds} \\\\\n"
    )
    assert "all values were computed" in origins.rows_of_release([], {})


def exact_of_few_steps(study, problem, folder):
    """The exact states with which the runs of few steps are compared."""
    few = [step for step in problem.steps if step.steps <= single_body.FEW_STEPS]
    times = sorted({step.end_time + share * step.dt for step in few for share in (-0.5, 0.0)})
    write_dataset(reference_dataset(problem.problem, times, study.digits), folder / "exact.nc")
    return single_body.Exact(folder / "exact.nc")


def test_a_method_that_plain_python_refuses_is_not_tried(tmp_path, monkeypatch):
    """Where it blows up, compiled code divides by zero, and goes on."""
    study = default_study()
    problem = study.problems["cubesat"]
    exact, runs_of_now = exact_of_few_steps(study, problem, tmp_path), single_body.make_runs

    def refused(wildcards, settings):
        return runs_of_now(wildcards, settings) if wildcards["method"] == "no_squish" else 1 / 0

    monkeypatch.setattr(single_body, "make_runs", refused)
    data = single_body.trial(problem, ["euler", "no_squish"], exact)
    assert list(data["integrator"].values) == ["no_squish"] and np.isfinite(data["q_error_l1"]).all()
    assert single_body.trial(problem, ["euler"], exact) is None


def test_a_method_that_a_study_does_not_compute_is_tried(tmp_path, monkeypatch):
    """The runs with few steps agree with the release, on any processor; one with other angular velocities does not."""
    study = default_study()
    problem, known = study.problems["lab_torque"], Release(HOME / released.FOLDER)
    assert "rotor_pefrl" not in problem.computed and "rotor_pefrl" in problem.methods
    exact = exact_of_few_steps(study, problem, tmp_path)
    old = read_dataset(known.path("single_body.nc"), "lab_torque")

    def outcome():
        data = single_body.trial(problem, ["spiral_leapfrog", "rk4"], exact)
        return released.held(known, "single_body.nc", "lab_torque", old, data, released.this_machine())

    assert "variables with the same bits" in outcome()
    runs_of_now = single_body.make_runs

    def other_runs(*arguments):
        data, line = runs_of_now(*arguments)
        return data.assign(omega=data["omega"] * 1.01), line

    monkeypatch.setattr(single_body, "make_runs", other_runs)
    with pytest.raises(ReleaseDiffers, match="problem lab_torque: this machine computes something else"):
        outcome()
    assert single_body.trial(study.problems["free_symmetric_top"], ["rk4"], exact) is None, "no run with so few steps"


#: The witnesses that run without compilation, one after the other, then one with another time step.
PLAIN = """
import sys
from importlib import import_module
from polhode.methods import METHODS
from polhode_study.checks import CHECKS
from polhode_study.released import Release, ReleaseDiffers, check_file, this_machine, whole, witness_settings
from polhode_study.chapters.spiral2024 import run as checks

def outcome(check):
    module, function = CHECKS[check].code.split(":")
    data = getattr(import_module(module), function)(witness_settings(check, list(METHODS), METHODS))
    data = data.drop_vars(CHECKS[check].of_all, errors="ignore")
    made = whole(release, check_file(check), data, list(METHODS), this_machine(), False)
    assert set(CHECKS[check].of_all) <= set(made.data_vars), "they come from the release"
    return made.attrs["witness"]

release = Release(sys.argv[1])
for check in sys.argv[2:]:
    print(check, outcome(check))
checks.INTERPOLATED_DT *= 1.25
try:
    outcome("simplified")
except ReleaseDiffers as error:
    print(error)
"""


def said_without_compilation(checks):
    return said_by(PLAIN, HOME / released.FOLDER, *checks, NUMBA_DISABLE_JIT="1")


def test_a_witness_without_compilation_has_the_same_bits():
    said = said_without_compilation(["published_variants", "extended_inertia", "simplified"])
    assert said.count("with the same bits") + said.count("within the tolerances") >= 3
    assert "check simplified: this machine computes something else than the release" in said


@pytest.mark.thorough
def test_all_witnesses_without_compilation():
    checks = [key for key, check in CHECKS.items() if check.plain]
    assert len(checks) >= 6 and all(CHECKS[key].witness for key in checks)
    said = said_without_compilation(checks)
    assert all(f"\n{key} " in f"\n{said}" for key in checks)


@pytest.mark.slow
@pytest.mark.thorough
def test_the_workflow_names_an_experiment_that_differs(tmp_path):
    """One bit of a released file; a value in it, with a checksum that fits; one constant of a method: on any processor."""
    (tmp_path / "house").mkdir()
    house = House(tmp_path / "house")
    house.configure(TINY | {"methods": "all", "checks": ["symplecticity"]})
    target = "results/checks/symplecticity.nc"
    house.run("--cores", "2", target)
    with xr.open_dataset(house.folder / target) as data:
        assert data.sizes["integrator"] > 50 and data.attrs["witness"].endswith("the same bits")

    folder = house.folder / released.FOLDER
    file, index = folder / "checks" / "symplecticity.nc", json.loads((folder / "release.json").read_text())
    intact = file.read_bytes()
    file.write_bytes(intact[:-1] + bytes([intact[-1] ^ 1]))
    assert "symplecticity.nc has other bytes" in house.run("--cores", "2", target, fails=True)
    file.write_bytes(intact)
    with xr.open_dataset(file) as opened:
        changed = opened.load()
    changed["defect"].loc[{"integrator": "verlet"}] += 0.01
    write_groups({"/": changed.drop_attrs(deep=False)}, file)
    index["files"]["checks/symplecticity.nc"] = sha256(file.read_bytes()).hexdigest()
    (folder / "release.json").write_text(json.dumps(index))
    assert "check symplecticity: this machine computes something else" in house.run("--cores", "2", target, fails=True)

    file.write_bytes(intact)
    index["files"]["checks/symplecticity.nc"] = sha256(intact).hexdigest()
    (folder / "release.json").write_text(json.dumps(index))
    method = house.folder / "src/polhode/methods/verlet.py"
    method.write_text(method.read_text().replace("0.5 *", "0.75 *", 1))
    assert "check symplecticity: this machine computes something else" in house.run("--cores", "2", target, fails=True)
