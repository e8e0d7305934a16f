"""Files that were exchanged, changed or cut off: each is noticed, named, and made again."""

import errno
import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from conftest import said_by
from studies import reduced

import polhode
from polhode import cli
from polhode.interface import files, netcdf, storage
from polhode.interface.netcdf import DamagedFile
from polhode.references.dataset import reference_dataset
from polhode_study import configuration, provenance
from polhode_study.archive import manifest
from polhode_study.gather import single_body as gather
from polhode_study.plan import Plan
from polhode_study.run import making, single_body
from polhode_study.run.making import FailedRuns, make_files, make_single_body
from polhode_study.workflow import entry, locks, scheduling, watching, written

HOME = Path(__file__).parents[1]


def small(results: Path, **changes) -> dict:
    problems = {
        "damped_top": {
            "dt": {"fit": {"divisions": [128, 512, 3]}, "coarse": {"divisions": [32, 64, 2]}},
            "samples": 3,
            "check_until": 0.1,
        },
        "lab_torque": {
            "dt": {"fit": {"divisions": [64, 256, 3]}},
            "samples": 3,
            "check_until": 0.1,
            "long_run": {"horizon": 1.0, "dt": 0.01, "samples": 4},
        },
    }
    return reduced(problems, methods=["spiral_leapfrog", "euler"], digits=20, results=str(results)) | changes


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small study without Snakemake: references, runs."""
    folder = tmp_path_factory.mktemp("results")
    plan = Plan(configuration.resolve(small(folder), HOME), HOME)
    for key, problem_study in plan.study.problems.items():
        reference = reference_dataset(problem_study.problem, problem_study.reference_times(), 20, problem_study.check_until)
        storage.write_dataset(reference, folder / "references" / f"{key}.nc", plan.origin(plan.path("references", key)))
        make_files(plan.origins(plan.part_paths(key, problem_study.methods)), make_single_body, lambda line: None)
        written.record(folder, key, plan.part_paths(key, problem_study.methods))
    return folder


@pytest.fixture
def run(made, tmp_path):
    """A copy of it that a test may damage, with its plan."""
    folder = tmp_path / "results"
    shutil.copytree(made, folder)
    return Plan(configuration.resolve(small(folder), HOME), HOME), folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def rerun(plan: Plan) -> list[str]:
    """All runs again; returns the files that were not kept."""
    said: list[str] = []
    for key, problem_study in plan.study.problems.items():
        make_files(plan.origins(plan.part_paths(key, problem_study.methods)), make_single_body, said.append)
        written.record(plan.results, key, plan.part_paths(key, problem_study.methods))
    return [line.split(":")[0].removeprefix(f"{plan.results}/") for line in said if not line.endswith("kept")]


RUN = "runs/damped_top/fit/euler.nc"
OTHERS = [
    "runs/damped_top/coarse/euler.nc",  # other step sizes
    "runs/damped_top/fit/spiral_leapfrog.nc",  # another method
    "runs/lab_torque/fit/euler.nc",  # another problem
    "long_runs/lab_torque/euler.nc",  # a long run
]


@pytest.mark.thorough
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("in_secret", [False, True], ids=["with a new time", "with the old time"])
def test_an_exchanged_file_is_made_again(run, made, other, in_secret):
    plan, folder = run
    ours, time = folder / RUN, (folder / RUN).stat()
    shutil.copy(folder / other, ours)
    if in_secret:
        os.utime(ours, ns=(time.st_atime_ns, time.st_mtime_ns))
    what = "kind" if "long" in other else "wildcards"
    with pytest.raises(DamagedFile, match=rf"{RUN} holds something else: its {what} should be .*delete it and run again"):
        gather.gather(plan)
    assert rerun(plan) == [RUN]
    assert contents(folder) == contents(made)


@pytest.mark.thorough
def test_a_run_of_other_settings_or_code_is_made_again(run, made):
    plan, folder = run
    path, job = folder / RUN, json.loads(netcdf.read_dataset(folder / RUN).attrs["job"])
    for change, said in (
        ({"settings": job["settings"] | {"samples": 2}}, "its settings should be"),
        ({"code": "0" * 16}, "was made by another version of the code"),
        ({"kind": "long_runs"}, "its kind should be"),
    ):
        storage.write_dataset(xr.load_dataset(path), path, json.dumps(job | change, sort_keys=True))
        with pytest.raises(DamagedFile, match=said):
            gather.gather(plan)
        assert rerun(plan) == [RUN]
    storage.write_dataset(xr.load_dataset(path).drop_attrs(), path)
    with pytest.raises(DamagedFile, match="does not say by which job it was made"):
        gather.gather(plan)
    assert rerun(plan) == [RUN] and contents(folder) == contents(made)


def flip(path: Path, place: int, bit: int = 0) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1 << bit
    path.write_bytes(bytes(data))


@pytest.mark.thorough
def test_a_flipped_bit_is_seen_or_changes_nothing(run):
    """The format has bytes that mean nothing; what a reader gets never differs."""
    _, folder = run
    path = folder / RUN
    whole, expected = path.read_bytes(), netcdf.read_dataset(path)
    rng = np.random.default_rng(1)
    seen = 0
    for place in {*range(0, len(whole), 149), len(whole) - 1, whole.index(b"checksum") + 3}:
        flip(path, place, int(rng.integers(8)))
        try:
            assert netcdf.read_dataset(path).identical(expected)
        except DamagedFile as error:
            seen += "delete it and run again" in str(error)
        path.write_bytes(whole)
    assert seen > 20


def test_a_flipped_bit_of_a_reference_is_seen(run):
    """Also where the file itself remains readable: in a number."""
    plan, folder = run
    path = folder / "references" / "damped_top.nc"
    number = struct.pack("<d", float(netcdf.read_dataset(path).q.values[-1, 1]))
    flip(path, path.read_bytes().rindex(number))
    xr.load_dataset(path)
    with pytest.raises(DamagedFile, match=r"damped_top.nc was changed after it was written.*delete it and run again"):
        gather.gather(plan)


def test_several_damaged_files_are_mended_at_once(run, made):
    plan, folder = run
    for name in (RUN, *OTHERS):
        (folder / name).write_bytes(b"CDF")
    with pytest.raises(DamagedFile, match="is not a complete netCDF file"):
        gather.gather(plan)
    assert len(written.mend(folder)) == 5
    assert sorted(rerun(plan)) == sorted([RUN, *OTHERS]) and contents(folder) == contents(made)


def test_a_failing_run_is_named_and_the_others_go_on(run, monkeypatch):
    plan, folder = run
    shutil.rmtree(folder / "runs")
    whole = single_body.simulate_arrays

    def fails(problem, method, dt, *rest, **options):
        if method == "euler":
            raise ValueError("no such luck")
        return whole(problem, method, dt, *rest, **options)

    monkeypatch.setattr(single_body, "simulate_arrays", fails)
    said: list[str] = []
    with pytest.raises(FailedRuns) as error:
        make_files(plan.origins(plan.part_paths("damped_top", ("euler", "spiral_leapfrog"))), make_single_body, said.append)
    expected = "problem damped_top, steps fit, method euler, dt 0.00390625 s (and 1 other files): ValueError: no such luck"
    assert str(error.value) == expected
    assert sum("Traceback" in line for line in said) == 2
    assert len(list((folder / "runs" / "damped_top").rglob("spiral_leapfrog.nc"))) == 2
    assert not list((folder / "runs" / "damped_top").rglob("euler.nc"))


# What a run has written


def test_what_was_written_is_looked_at(tmp_path):
    for name in ("claims.csv", "tables/a.tex", "figures/a.pdf"):
        storage.write_text(tmp_path / name, f"text of {name}")
    written.record(tmp_path, "claims", [tmp_path / "claims.csv"])
    written.record(tmp_path, "tables", [tmp_path / "tables" / "a.tex", tmp_path / "figures" / "a.pdf"])
    assert written.damaged(tmp_path) == []
    (tmp_path / "tables" / "a.tex").write_text("")
    (tmp_path / "claims.csv").write_text("text of claims.csW")
    (tmp_path / "figures" / "a.pdf").unlink()  # Snakemake sees that by itself
    assert len(written.mend(tmp_path, dry=True)) == 2 and (tmp_path / "claims.csv").exists()
    lines = written.mend(tmp_path)
    assert [line.rpartition("/")[2] for line in lines] == [
        "claims.csv is not what was written: its checksum does not match; it is made again",
        "a.tex is not what was written: 0 bytes instead of 20; it is made again",
    ]
    assert not (tmp_path / "claims.csv").exists() and written.mend(tmp_path) == []


def test_of_several_lists_that_name_a_file_the_newest_counts(tmp_path):
    """Another configuration divides the work into other jobs; the list of the old one must not condemn the new file."""
    for number in (2, 1):
        storage.write_text(tmp_path / "a.csv", f"made by {number}")
        written.record(tmp_path, f"part_{number}", [tmp_path / "a.csv"])
        os.utime(tmp_path / "written" / f"part_{number}.json", (1e9 - number, 1e9 - number))
    assert written.damaged(tmp_path) == []


def test_damaged_lists_are_no_obstacle(tmp_path):
    storage.write_text(tmp_path / "a.csv", "a")
    written.record(tmp_path, "a", [tmp_path / "a.csv"])
    for text in ("", "{", "[]", '{"files": 3}'):
        (tmp_path / "written" / "a.json").write_text(text)
        assert "is not a complete list" in written.mend(tmp_path)[0]
        assert (tmp_path / "a.csv").exists() and written.mend(tmp_path) == []


#: A list that names a file outside of the folder of results, or is outside itself: kind -> name in the list, and links.
REACHING = {
    "a link in the middle": ("link/b.txt", {"link": "../outside"}),
    "a link in the middle of the way": ("a/link/b.txt", {"a/link": "../../outside"}),
    "an absolute link": ("link/b.txt", {"link": "{outside}"}),
    "a link to a link": ("first/b.txt", {"first": "second", "second": "../outside"}),
    "the file itself": ("b.txt", {"b.txt": "../outside/b.txt"}),
    "dots": ("../outside/b.txt", {}),
    "dots behind a link": ("link/../outside/b.txt", {"link": "../outside"}),
    "an absolute name": ("{outside}/b.txt", {}),
    "the folder of lists": ("b.txt", {"written": "../outside/lists"}),
}


def linked(results: Path, links: dict[str, str], outside: Path) -> None:
    for name, target in links.items():
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).symlink_to(target.format(outside=outside))


@pytest.mark.parametrize("kind", REACHING)
def test_nothing_outside_is_removed(tmp_path, kind):
    results, outside = tmp_path / "res", tmp_path / "outside"
    (outside / "lists").mkdir(parents=True)
    (outside / "b.txt").write_text("precious")
    (outside / "lists" / "broken.json").write_text("{")
    results.mkdir()
    name, links = REACHING[kind]
    linked(results, links, outside)
    (results / "written").mkdir(exist_ok=True)
    noted = {name.format(outside=outside): {"bytes": 1, "sha256": "00"}}
    (results / "written" / "y.json").write_text(json.dumps({"files": noted}))
    before = contents(outside)
    if links:
        with pytest.raises(
            files.LeadsOut, match=r"leads out of .*: nothing is read, written or removed there; remove the link"
        ):
            locks.begin(results)
    assert len(written.mend(results)) >= 1
    assert contents(outside) == before


def test_writes_and_removals_stay_inside(tmp_path):
    """Lists and notes of jobs, which a folder from elsewhere may lead away."""
    results, outside = tmp_path / "res", tmp_path / "outside"
    for name in ("written", "logs/failed"):
        (outside / name).mkdir(parents=True)
        (outside / name / "a.json").write_text("precious")
        (outside / name / "a.txt").write_text("precious")
    linked(results, {"written": "../outside/written", "logs": "../outside/logs"}, outside)
    (results / "a.csv").write_text("a")
    before = contents(outside)
    for act in (
        lambda: written.record(results, "a", [results / "a.csv"]),
        lambda: written.forget(results, "a"),
        lambda: entry.forget_failures(results),
    ):
        with pytest.raises(files.LeadsOut):
            act()
    assert contents(outside) == before


def test_a_folder_of_results_may_be_a_link_and_hold_links_within(tmp_path):
    (tmp_path / "scratch" / "a").mkdir(parents=True)
    results = tmp_path / "res"
    results.symlink_to("scratch")
    (results / "b").symlink_to("a")
    (results / "a" / "x.csv").write_text("x")
    storage.check_folder(results)
    written.record(results, "x", [results / "b" / "x.csv"])
    assert written.mend(results) == []
    (results / "a" / "x.csv").write_text("y")
    assert "it is made again" in written.mend(results)[0] and list((results / "a").iterdir()) == []


PIPES = """
import signal, sys
import polhode
from polhode.interface import storage
from polhode_study import provenance
from polhode_study.workflow import written
data, lists = sys.argv[1:]
for read, *words in (
    (storage.check_folder, data),
    (written.mend, data),
    (written.mend, lists),
    (polhode.open_results, data),
    (provenance.sha256, data + "/a.nc"),
    (storage.is_current, data + "/a.nc", ""),
):
    signal.alarm(30)
    try:
        read(*words)
    except Exception as error:
        print(error)
"""


@pytest.mark.thorough
def test_a_pipe_in_place_of_a_file_is_named(tmp_path):
    """Reading it would never end: in a process of its own, which is given up."""
    pipes = tmp_path / "data" / "a.nc", tmp_path / "lists" / "written" / "b.json"
    for name in ("data", "lists"):
        (tmp_path / name / "written").mkdir(parents=True)
    (tmp_path / "data" / "written" / "a.json").write_text('{"files": {"a.nc": {"bytes": 1, "sha256": "00"}}}')
    for pipe in pipes:
        os.mkfifo(pipe)
    said = said_by(PIPES, *(pipe.parents[depth] for depth, pipe in enumerate(pipes))).splitlines()
    expected = [f"{pipe} is a pipe, a socket or a device, not a file; remove it, or name a file" for pipe in pipes]
    assert said == [expected[i] for i in (0, 0, 1, 0, 0, 0)]


def test_a_full_disk_is_named_though_nothing_can_be_written(tmp_path, monkeypatch):
    """The exit status of the job tells the process in charge."""

    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(entry, "write_text", full)
    monkeypatch.delenv(entry.signals.HEAD, raising=False)
    log = tmp_path / "gather.log"
    snakemake = SimpleNamespace(rule="gather", wildcards={}, output=[], log=[str(log)], config={"results": str(tmp_path)})
    with pytest.raises(SystemExit) as ended, entry.job_of(snakemake):
        full()
    assert ended.value.code == entry.DISK_FULL and "Traceback" not in log.read_text()
    job = watching.Job("gather", {}, ended=f"returned non-zero exit status {ended.value.code}")
    said = watching.failure(job, "", tmp_path)
    assert said.startswith(f"rule gather: the disk of {tmp_path}, or your share of it, is full (") and "make room" in said
    job.ended = "died with <Signals.SIGKILL: 9>"
    assert "it ended without a word (died with" in watching.failure(job, "", tmp_path)


def test_runs_end_at_once_on_a_full_disk(tmp_path, monkeypatch):
    """Not with one error for each of their files."""
    calls = []

    def write(dataset, path, job):
        calls.append(path)
        raise files.DiskFull(path)

    monkeypatch.setattr(making, "write_dataset", write)
    origins = {str(tmp_path / name): json.dumps({"wildcards": {}, "settings": {}}) for name in ("a.nc", "b.nc")}
    with pytest.raises(files.DiskFull, match=r"a\.nc cannot be written: the disk of"):
        make_files(origins, lambda wildcards, settings: (xr.Dataset(), ""), lambda line: None)
    assert calls == [str(tmp_path / "a.nc")]


def test_what_no_rule_makes_stays(tmp_path):
    """Another configuration has made it, and a run with that one mends it."""
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("text")
        written.record(tmp_path, name, [tmp_path / name])
        (tmp_path / name).write_text("changed")
    a, b = written.mend(tmp_path, order=lambda path: path.name == "b.csv")
    assert a.endswith("a.csv is not what was written: 7 bytes instead of 4; it stays, because no rule of this run makes it")
    assert b.endswith("it is made again") and (tmp_path / "a.csv").exists() and not (tmp_path / "b.csv").exists()


def test_a_damaged_file_is_made_again_whatever_the_target_is():
    """Snakemake plans the jobs after it has read the Snakefile; no rule makes the other file."""
    calls = []
    workflow = SimpleNamespace(
        rules=[SimpleNamespace(is_producer=lambda path: path.startswith("res/runs/"))],
        dag_settings=None,
        _prepare_dag=lambda **options: calls.append((set(workflow.dag_settings.forcerun), options)),
    )
    order = scheduling.orders(workflow)
    assert order(Path("res/runs/a.nc")) and not order(Path("res/other.nc"))
    workflow.dag_settings = SimpleNamespace(forcerun=frozenset({"gather"}))
    workflow._prepare_dag(forceall=False)
    assert calls == [({"gather", "res/runs/a.nc"}, {"forceall": False})]


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["a flipped bit", "another value with a right checksum"])
@pytest.mark.parametrize("name", [RUN, "long_runs/lab_torque/euler.nc"])
def test_a_run_changed_with_its_old_time_is_noticed(run, made, kind, name):
    plan, folder = run
    assert written.mend(folder) == []
    path, status = folder / name, (folder / name).stat()
    if kind == "a flipped bit":
        number = struct.pack("<d", float(netcdf.read_dataset(path).q.values[0, -1, 1]))
        flip(path, path.read_bytes().rindex(number))
    else:
        data = xr.load_dataset(path)
        storage.write_dataset(data.assign(q=data.q + 1e-9), path, data.attrs["job"])
        assert storage.is_current(path, data.attrs["job"])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    expected = f"{path} is not what was written: "
    assert [line.startswith(expected) for line in written.mend(folder, dry=True)] == [True] and path.exists()
    assert len(written.mend(folder)) == 1
    assert rerun(plan) == [name] and contents(folder) == contents(made)


def test_a_run_that_was_only_touched_is_kept(run):
    """A copied folder has other times."""
    plan, folder = run
    for path in folder.rglob("*.nc"):
        path.touch()
    assert written.mend(folder) == [] and rerun(plan) == []


# What cannot be read need not be damaged


NO_LOCKS = """
#include <errno.h>
int flock(int fd, int operation) { errno = ENOLCK; return -1; }
"""
DOORS = """
import sys
from pathlib import Path
import xarray as xr
import polhode
from polhode.advice import from_laws
from polhode.interface import netcdf
from polhode.interface import storage
from polhode_study.archive import manifest
folder = Path(sys.argv[1])
data = xr.Dataset({"a": ("x", [1.0])})
storage.write_groups({"/": data, "/g": data}, folder / "many_body.nc")
storage.write_dataset(data, folder / "references" / "top.nc")
assert netcdf.read_dataset(folder / "many_body.nc", "g").a == 1
assert netcdf.group_names(folder / "many_body.nc") == ["g"] and len(netcdf.read_groups(folder / "many_body.nc")) == 2
assert float(polhode.open_results(folder)["many_body/g"].a[0]) == 1
assert len(manifest.of_run(folder, {"files": {"many_body.nc": ""}}).variables) == 2
assert from_laws._file(None)[1].sizes["body"] > 100
polhode.recommend(contact_time=1e-4, error=1e-3)
"""


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("cc") is None or sys.platform != "linux", reason="makes a library for the loader of Linux")
def test_a_file_system_without_locks_is_no_obstacle(tmp_path):
    """Neither to readers nor to writers: HDF5 would refuse both."""
    (tmp_path / "no_locks.c").write_text(NO_LOCKS)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", "no_locks.so", "no_locks.c"], cwd=tmp_path, check=True)
    environment = {name: value for name, value in os.environ.items() if name != "HDF5_USE_FILE_LOCKING"}
    environment |= {"LD_PRELOAD": str(tmp_path / "no_locks.so"), "PYTHONPATH": str(HOME / "src")}
    command = [sys.executable, "-c", DOORS, tmp_path / "results"]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    probe = "import netCDF4, sys; netCDF4.Dataset(sys.argv[1])"
    path = tmp_path / "results" / "many_body.nc"
    done = subprocess.run([sys.executable, "-c", probe, path], env=environment, capture_output=True, timeout=300)
    assert done.returncode != 0, "the library by itself is refused here, or this test shows nothing"


ERRORS = [errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENOLCK, errno.EAGAIN, errno.EIO, errno.ESTALE, errno.ENOMEM]
READERS = {
    "is_current": lambda path: storage.is_current(path, "{}"),
    "read_dataset": netcdf.read_dataset,
    "group": lambda path: netcdf.read_dataset(path, "g"),
    "read_groups": netcdf.read_groups,
    "group_names": netcdf.group_names,
    "open_results": lambda path: polhode.open_results(path.parent),
    "manifest": lambda path: manifest.of_run(path.parent, {"files": {path.name: ""}}),
    "mend": lambda path: written.mend(path.parent),
    "random bodies": lambda path: polhode.recommend(torque="lab", omega=10, error=1e-4, results=path.parent),
    "contacts": lambda path: polhode.recommend(contact_time=1e-4, error=1e-3, results=path.parent),
    "checksum": provenance.sha256,
}


@pytest.mark.parametrize("door", READERS)
def test_unreadable_files_are_not_called_damaged(tmp_path, monkeypatch, door):
    name = {"random bodies": "ensembles.nc", "contacts": "many_body.nc"}.get(door, "single_body.nc")
    path = tmp_path / name
    storage.write_groups({"/": xr.Dataset(), "/g": xr.Dataset({"a": ("x", [1.0])})}, path)
    written.record(tmp_path, "all", [path])
    before, bytes_of, open_of = path.read_bytes(), Path.read_bytes, open
    for number in ERRORS:

        def refuse(file, whole, number=number):
            if Path(file) == path:
                raise OSError(number, os.strerror(number), str(path))
            return whole

        monkeypatch.setattr(Path, "read_bytes", lambda self, refuse=refuse: bytes_of(refuse(self, self)))
        monkeypatch.setattr(
            "builtins.open", lambda file, *args, refuse=refuse, **kwargs: open_of(refuse(file, file), *args, **kwargs)
        )
        with pytest.raises(netcdf.UnreadableFile) as refused:
            READERS[door](path)
        said = str(refused.value)
        assert said.startswith(f"{path} cannot be read: {os.strerror(number)}. ") and "do not delete it" in said
        assert "run again" not in said and "damaged;" not in said
        monkeypatch.undo()
        assert path.read_bytes() == before


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    for reader in (netcdf.read_dataset, netcdf.group_names):
        with pytest.raises(DamagedFile, match=r"nowhere\.nc is missing; run again$"):
            reader(tmp_path / "nowhere.nc")


def test_commands_say_it_in_a_line(tmp_path, monkeypatch, capsys):
    path = tmp_path / "cost.nc"
    path.write_bytes(b"x")
    bytes_of = Path.read_bytes

    def refuse(self):
        if self == path:
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return bytes_of(self)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    assert cli.main(["recommend", "heavy_top", "--error", "1e-3", "--results", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "cost.nc cannot be read: Permission denied" in said and "chmod" in said


def test_files_are_closed_when_they_are_read(tmp_path, monkeypatch):
    """Else the collection of garbage closes them, in any thread, beside another call of HDF5, and the process crashes."""
    path, files_read = tmp_path / "a.nc", []
    storage.write_groups({"/": xr.Dataset({"x": ("t", [1.0])}), "one": xr.Dataset({"y": ("t", [2.0])})}, path)
    opened = netcdf.opened
    monkeypatch.setattr(netcdf, "opened", lambda place: files_read.append(opened(place)) or files_read[-1])
    assert float(netcdf.read_dataset(path, "one")["y"][0]) == 2.0
    assert netcdf.group_names(path) == ["one"]
    assert [float(data[name][0]) for name, data in zip("xy", netcdf.read_groups(path).values(), strict=True)] == [1.0, 2.0]
    assert len(files_read) == 3 and not any(file.isopen() for file in files_read)
