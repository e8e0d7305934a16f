"""The real workflow, end to end: what is re-run and what is not, the same bytes every time, and a report at the end."""

import base64
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import pytest
import xarray as xr
import yaml
from conftest import SAID, surroundings
from studies import reduced

import polhode
from polhode.interface import netcdf, storage
from polhode_study import chapters
from polhode_study.documentation import reference, variables
from polhode_study.report.typeset import DOCUMENTS

HOME = Path(__file__).parents[1]
SNAKEMAKE = [sys.executable, "-m", "snakemake"]

pytestmark = pytest.mark.slow

METHODS = ["spiral_leapfrog", "euler", "omelyan1998", "spiral_omelyan", "rk4"]
FIT = {"fit": {"divisions": [64, 512, 7]}}
#: One body and several, compared and switched; all other problems of the study are left out.
TINY = reduced(
    {
        "spiral_cylinder": {
            "dt": {"published": {"geometric": [1e-4, 1e-1, 4]}, "fit": {"divisions": [16, 2048, 15]}},
            "samples": 4,
            "check_until": 0.2,
            "long_run": {"horizon": 20.0, "dt": 1e-3, "samples": 20},
            "targets": {"errors": [1e-2], "dt_min": 1e-4},
        },
        "free_symmetric_top": {
            "dt": FIT,
            "check_until": 1.0,
            "long_run": {"horizon": 20.0, "dt": 1e-2, "samples": 10, "switched": True},
        },
        "coupled_cylinders": {"dt": FIT, "check_until": 1.0, "long_run": {"horizon": 5.0, "dt": 1e-2, "samples": 10}},
    },
    {"rods": {"methods": METHODS[:1], "horizon": 0.1, "seeds": 2, "samples": 5, "film": {"horizon": 0.01, "frames": 2}}},
    methods=METHODS,
    digits=30,
    checks=["stability"],
    ensembles={
        "bodies": 2,
        "classes": ["lab", "friction_isotropic"],
        "steps": {"coarse": 1.0, "halvings": 4},
        "radians": [2, 4],
    },
    cost={"rounds": 2, "block": 1e-5, "target_errors": [1e-2, 1e-3], "torque_prices": [0, 10]},
)
#: Problem -> methods that run it; the one of several torques cannot run the coupled cylinders.
RAN_BY = {
    "spiral_cylinder": METHODS,
    "free_symmetric_top": METHODS,
    "coupled_cylinders": [m for m in METHODS if m != "rk4"],
}
#: Their jobs.
SINGLE_BODY = {f"single_body_{problem}_1" for problem in RAN_BY}
#: What holds times: no two runs give the same.
TIMED = {"timing", "cost", "cost_claims", *chapters.names("figures", timed=True), *chapters.names("tables", timed=True)}
#: The folders of the files of single bodies, and the sets of step sizes that each method runs.
KINDS = ("runs", "long_runs", "long_runs_switched", "targets")
SETS = {"spiral_cylinder": ("published", "fit"), "free_symmetric_top": ("fit",), "coupled_cylinders": ("fit",)}
RUNS = sum(len(SETS[problem]) * len(methods) for problem, methods in RAN_BY.items())


#: The jobs whose products name the commit, and say whether it was changed.
OF_THE_COMMIT = {"chapter_reproducibility", "captions", "report", "provenance"}


def planned(output: str) -> dict[str, int]:
    """How many jobs of each rule a dry run has listed."""
    return {m[1]: int(m[2]) for m in re.finditer(r"^(\w+)\s+(\d+)$", output, re.MULTILINE) if m[1] not in ("all", "total")}


class House:
    """A copy of the checkout in which the workflow runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        files = ("Snakefile", "config.yaml", "requirements.txt", "reproduce")
        for name in (*files, "src", "workflow", "profiles", "data", "paper", "docs", "notebooks"):
            source = HOME / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "_build", "_generated"))
            else:
                shutil.copy2(source, folder / name)
        self.configure(TINY)

    @classmethod
    def at(cls, folder: Path) -> Self:
        """One that is there already."""
        house = object.__new__(cls)
        house.folder = folder
        return house

    def committed(self) -> Self:
        """As the one commit of a repository, with all files that are tracked where the tests are; nothing without git there."""
        if (HOME / ".git").exists():
            names = subprocess.run(["git", "-C", HOME, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
            for name in filter(None, names.split("\0")):
                if (HOME / name).is_file() and not (self.folder / name).exists():
                    (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(HOME / name, self.folder / name)
            commit = ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "all"]
            for command in (["init", "-q"], ["add", "-A"], commit):
                subprocess.run(["git", "-C", self.folder, *command], check=True, capture_output=True)
        return self

    def copied(self, folder: Path) -> Self:
        """A copy with its results, which a test may change; without the environment, which is bound to its place."""
        shutil.copytree(self.folder, folder, symlinks=True, ignore=shutil.ignore_patterns(".venv"))
        return self.at(folder)

    def configure(self, config: dict) -> None:
        (self.folder / "tiny.yaml").write_text(yaml.safe_dump(config, sort_keys=False))

    def run(self, *arguments: str, fails: bool = False) -> str:
        """Snakemake's output; ``arguments`` stand behind the configuration."""
        command = [*SNAKEMAKE, "--configfile", "tiny.yaml", *arguments]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=1800, env=surroundings())
        assert (done.returncode != 0) is fails, done.stdout + done.stderr
        return done.stdout + done.stderr

    def make_environment(self) -> None:
        """An environment of its own, made from the environment of the tests in no time."""
        folder = self.folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--symlinks", folder / ".venv"], check=True)
        (site,) = (folder / ".venv" / "lib").glob("python*/site-packages")
        (folder / ".venv" / "share").symlink_to(Path(sys.prefix, "share"))  # the templates of pages of notebooks
        (site / "outer.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
        (site / "polhode.pth").write_text(f"{folder}/src\n")
        (folder / ".venv" / "made-from").write_text(f"{os.path.realpath(folder)}\n{(folder / 'requirements.txt').read_text()}")

    def reproduce(self, *arguments: str) -> subprocess.Popen[str]:
        """``./reproduce`` at work in the environment of this house, in a process group of its own."""
        return subprocess.Popen(
            ["./reproduce", *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=surroundings(),
            start_new_session=True,
        )

    def jobs(self, *arguments: str) -> dict[str, int]:
        """How many jobs of each rule a dry run would do."""
        return planned(self.run("-n", *arguments))

    def run_files(self) -> dict[str, int]:
        """All files of the runs of single bodies, with the number that the file system gave each when it was written.

        Not the time: Snakemake touches all outputs of a job, also those that it has kept.
        """
        results = self.folder / "results"
        return {str(p.relative_to(results)): p.stat().st_ino for kind in KINDS for p in (results / kind).rglob("*.nc")}

    def rewritten(self, *problems: str, more: Sequence[str] = ()) -> list[str]:
        """Which of these files a run up to those of the ``problems`` (all of them, unless some are named) writes, sorted.

        ``more`` are files that it is asked for as well.
        """
        before = self.run_files()
        files = [
            f"results/runs/{problem}/{steps}/{method}.nc"
            for problem in problems or RAN_BY
            for steps in SETS[problem]
            for method in RAN_BY[problem]
        ]
        self.run("--cores", "2", *files, *more)
        after = self.run_files()
        return sorted(name for name, number in after.items() if before.get(name) != number)

    def edit(self, name: str, old: str, new: str) -> None:
        file = self.folder / name
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    def data(self, results: Path | None = None) -> dict[str, bytes]:
        """All data files of a run that hold no times; ``results`` is where it has put them."""
        results = results or self.folder / "results"
        return {
            str(p.relative_to(results)): p.read_bytes()
            for p in sorted(results.rglob("*"))
            if p.suffix in (".nc", ".csv", ".tex") and p.stem not in TIMED
        }

    def pictures(self, results: Path | None = None) -> dict[str, bytes]:
        """All figures but those of times."""
        figures = (results or self.folder / "results") / "figures"
        return {f"figures/{p.name}": p.read_bytes() for p in sorted(figures.glob("*")) if p.stem not in TIMED}

    def periods(self) -> dict[str, tuple[float, float]]:
        """When the job that made a file began and when it ended, as Snakemake keeps it."""
        records = (self.folder / ".snakemake" / "metadata").rglob("*")
        records_by_file = {base64.b64decode(p.name).decode(): json.loads(p.read_text()) for p in records if p.is_file()}
        return {name: (record["starttime"], record["endtime"]) for name, record in records_by_file.items()}


@pytest.fixture(scope="module")
def house(tiny_study):
    """The tiny study, run once to the report."""
    return House.at(tiny_study)


@pytest.fixture
def edited(house, tmp_path):
    """A copy of the finished house that a test may change."""
    return house.copied(tmp_path / "house")


def test_the_report_is_made(house):
    """The documents stay for whoever wants to read them."""
    results = house.folder / "results"
    said = (house.folder / SAID).read_text()
    assert re.search(r"^The report: .*results/report\.pdf$", said, re.MULTILINE) and "Traceback" not in said
    documents = HOME / ".pytest_cache" / "study"
    documents.mkdir(parents=True, exist_ok=True)
    for name in DOCUMENTS:
        content = (results / f"{name}.pdf").read_bytes()
        assert content.startswith(b"%PDF") and len(content) > 100_000
        (documents / f"{name}.pdf").write_bytes(content)
    shutil.copy(results / "provenance.json", documents)
    assert (results / "provenance.json").is_file()
    assert "plotly" in (results / "explorer.html").read_text(encoding="utf-8")
    for kind in ("pdf", "png"):
        assert {p.stem for p in (results / "figures").glob(f"*.{kind}")} == set(chapters.names("figures"))
    assert len(list((results / "runs").rglob("*.nc"))) == RUNS
    assert not [p for p in results.rglob(".*") if p.is_file()], "temporary files were left behind"


def test_every_file_opens_as_a_tree_and_says_what_it_holds(house):
    """Also the single runs; all open at once."""
    paths = sorted((house.folder / "results").rglob("*.nc"))
    kinds = {path.relative_to(house.folder / "results").parts[0] for path in paths}
    assert kinds >= {"single_body.nc", "many_body.nc", "cost.nc", "timing.nc", "runs", "long_runs", "checks", "references"}
    assert kinds >= {"ensembles.nc", "ensemble_states.nc", "ensembles"}
    trees = {path: xr.open_datatree(path) for path in paths}
    for path, tree in trees.items():
        assert tree.attrs["Conventions"].startswith("CF-") and tree.attrs["title"] and tree.attrs["citation"], path
        assert tree.attrs["version"] == polhode.__version__, path
        for node in tree.subtree:
            for name, variable in node.to_dataset(inherit=False).variables.items():
                assert variable.attrs.get("long_name"), f"{path}: {node.path}: {name}"
                assert variable.dtype.kind not in "iuf" or variable.attrs.get("units"), f"{path}: {node.path}: {name}"
    documented = {(row["file"], row["group"], row["variable"]): row for row in reference.variables(variables.LIST)}
    for row in variables.found_in(house.folder / "results", paths):
        known = documented.get((row["file"], row["group"], row["variable"]))
        assert known, f"{row} is not in docs/variables.csv; write it again (polhode_study.documentation.variables says how)"
        assert {name: known[name] for name in ("units", "long_name")} == {name: row[name] for name in ("units", "long_name")}
        assert {*row["dimensions"].split(variables.OR)} <= {*known["dimensions"].split(variables.OR)}, row
    whole = polhode.open_results(house.folder / "results")
    assert {path.stem for path in paths if path.parent.name == "results"} <= set(whole.children)
    for tree in trees.values():
        tree.close()


def append(file: Path, line: str) -> None:
    """Add a line to a text file."""
    file.write_text(f"{file.read_text()}\n{line}\n")


def test_comments_rerun_nothing_and_edits_their_own_rules(edited):
    """But for the report, which says of which commit it is, and whether anything was changed."""
    for name in (
        "polhode/methods/euler.py",
        "polhode/algebra/quaternion.py",
        "polhode/simulate.py",
        "polhode_study/gather/single_body.py",
        "polhode_study/report/drawing.py",
        "polhode_study/run/single_body.py",
    ):
        append(edited.folder / "src" / name, "# a remark")
    for name in ("Snakefile", "config.yaml", "profiles/default/config.yaml", "workflow/rules/single_body.smk", "tiny.yaml"):
        append(edited.folder / name, "# a remark")
    for script in (edited.folder / "workflow" / "scripts").glob("*.py"):
        append(script, "# a remark")
    assert set(edited.jobs()) == (OF_THE_COMMIT if (edited.folder / ".git").exists() else set())
    append(edited.folder / "src" / "polhode_study" / "chapters" / "long_runs" / "tables.py", "REMARK = 1")
    assert set(edited.jobs()) - OF_THE_COMMIT == {"chapter_long_runs"}
    append(edited.folder / "workflow" / "scripts" / "chapter.py", "REMARK = 1")
    jobs = edited.jobs()
    assert {f"chapter_{key}" for key in chapters.jobs()} <= set(jobs)
    assert not {"gather", "claims", "explorer", "timing", *SINGLE_BODY} & set(jobs)


@pytest.mark.thorough
def test_edited_methods_rerun_their_files_alone(edited):
    """Of a method that another is built on, both."""
    config = yaml.safe_load((edited.folder / "tiny.yaml").read_text())
    config["problems"]["spiral_cylinder"]["dt"]["more"] = {"values": [1 / 50]}
    edited.configure(config | {"cost": TINY["cost"] | {"torque_prices": [0, 10, 1000]}})
    jobs = edited.jobs()
    assert SINGLE_BODY & set(jobs) == {"single_body_spiral_cylinder_1"} and jobs["cost"] == jobs["gather"] == 1
    assert "timing" not in jobs, "neither other errors nor prices of a torque change what a step costs"
    assert not {"references_1", "checks_1", "ensemble_1", "ensemble_states", "many_body_rods_1", "film"} & set(jobs)
    edited.edit("src/polhode/methods/euler.py", "axpy(dt, euler_equations", "axpy(1.0 * dt, euler_equations")
    jobs = edited.jobs()
    assert set(jobs) >= {*SINGLE_BODY, "ensemble_1"} and jobs["timing"] == 1
    assert not {"references_1", "ensemble_states", "many_body_rods_1"} & set(jobs)
    edited.edit("src/polhode/methods/omelyan1998.py", "0.5 * dt, add(old", "1.0 * 0.5 * dt, add(old")
    more = [f"runs/spiral_cylinder/more/{method}.nc" for method in METHODS]
    written = edited.rewritten("spiral_cylinder", "free_symmetric_top", more=[f"results/{name}" for name in more])
    folders = [f"{kind}/free_symmetric_top" for kind in ("long_runs", "long_runs_switched", "runs")]
    folders = [f"{name}/fit" if name.startswith("runs") else name for name in folders]
    folders += ["long_runs/spiral_cylinder", "targets/spiral_cylinder"]
    folders += [f"runs/spiral_cylinder/{steps}" for steps in ("fit", "published")]
    again = [f"{folder}/{method}.nc" for folder in folders for method in ("euler", "omelyan1998", "spiral_omelyan")]
    assert written == sorted([*again, *more])


@pytest.mark.thorough
def test_nothing_runs_beside_the_timing(edited):
    periods = edited.periods()
    begin, end = periods.pop("results/timing.nc")
    assert len(periods) > len(METHODS) * 2
    beside = [name for name, (first, last) in periods.items() if first < end and last > begin]
    assert beside == []
    edited.configure(TINY | {"cost": TINY["cost"] | {"rounds": 3}})
    plan = edited.run("-n", "--cores", "5", "--quiet", "host")
    assert re.search(r"rule timing:.*?threads: 5", plan, re.DOTALL)
    assert planned(plan)["timing"] == 1 and not SINGLE_BODY & set(planned(plan))


@pytest.mark.thorough
def test_the_study_without_times(edited):
    edited.configure(TINY | {"cost": None})
    jobs = set(edited.jobs())
    # What shows times; everything else is as good with them.
    shown = {"cost_claims", f"chapter_{chapters.job_of('times')}", "explorer", "report"}
    assert not {"timing", "cost"} & jobs and shown <= jobs
    names = ("tables/cost.tex", "figures/relative_cost.pdf", "report.pdf")
    only = ("--rerun-triggers", "mtime", "--forcerun", *sorted(shown - {"explorer"}))  # tests/test_explorer.py has such a page
    edited.run("--cores", "2", *(f"results/{name}" for name in names), *only)
    results = edited.folder / "results"
    assert "cost: null" in (results / "tables" / "cost.tex").read_text()
    assert "costCpu" not in (results / "numbers" / "times.tex").read_text()


#: Chapters that one job makes; all of them would only take longer.
JOB = chapters.jobs()[chapters.job_of("seelen2016")].values()
PICTURES = [name for chapter in JOB for name in chapter.figures]
SHOWN = [name for chapter in JOB for name in chapter.tables]
NUMBERED = [chapter for chapter in JOB if chapter.numbers]


@pytest.mark.thorough
def test_the_same_bytes_for_any_number_of_cores(house, tmp_path):
    (tmp_path / "checkout").mkdir()
    other, elsewhere = House(tmp_path / "checkout"), tmp_path / "quite" / "elsewhere"
    # All data but those of the timing, of which no two are the same.
    names = ["single_body.nc", "many_body.nc", "ensembles.nc", "films/rods.nc", "checks/stability.nc", "claims.csv"]
    names += [f"figures/{PICTURES[0]}.pdf", f"tables/{SHOWN[0]}.tex"]
    other.run("--cores", "1", *(f"{elsewhere}/{name}" for name in names), "--config", f"results={elsewhere}")
    ours, theirs = house.data() | house.pictures(), other.data(elsewhere) | other.pictures(elsewhere)
    made = [name for name in theirs if name.endswith((".pdf", ".png", ".tex"))]
    assert len(made) == 2 * len(PICTURES) + len(SHOWN) + len(NUMBERED)
    assert set(theirs) <= set(ours) and {name for name in ours if name.endswith(".nc")} <= set(theirs)
    assert [name for name in theirs if ours[name] != theirs[name]] == []


@pytest.mark.thorough
def test_damage_is_seen_and_mended(edited):
    """Each kind of data: cut off, changed in a bit, another file under its name, or gone; no more is made again."""
    results = edited.folder / "results"
    before, numbers = edited.data(), edited.run_files()
    (results / "claims.csv").write_text((results / "claims.csv").read_text()[:1000])
    for name in ("checks/stability.nc", "references/coupled_cylinders.nc"):
        data = bytearray((results / name).read_bytes())
        data[len(data) // 2] ^= 4
        (results / name).write_bytes(bytes(data))
    (rods,) = (results / "many_body" / "rods").rglob("*.nc")
    shutil.copy(results / "long_runs" / "spiral_cylinder" / "euler.nc", rods)
    # With its old time and size nothing about this one is suspicious from outside.
    fit = results / "runs" / "spiral_cylinder" / "fit" / "euler.nc"
    status, data = fit.stat(), bytearray(fit.read_bytes())
    number = struct.pack("<d", float(netcdf.read_dataset(fit).q.values[0, -1, 1]))
    data[data.rindex(number)] ^= 1
    fit.write_bytes(bytes(data))
    os.utime(fit, ns=(status.st_atime_ns, status.st_mtime_ns))
    # Of all that one job makes, what is gone alone.
    gone = results / "runs" / "coupled_cylinders" / "fit" / "euler.nc"
    gone.unlink()
    plan = edited.run("-n")
    output = edited.run("--cores", "2", "data", "results/claims.csv")
    names = ("claims.csv", "checks/stability.nc", "references/coupled_cylinders.nc")
    for name in (*names, str(rods.relative_to(results)), str(fit.relative_to(results))):
        assert re.search(rf"results/\S*{re.escape(name)} is not what was written: .*; it is made again", output), name
        assert re.search(rf"results/\S*{re.escape(name)} is not what was written: .*; a run makes it again", plan), name
    after, again = edited.data(), edited.run_files()
    assert set(after) == set(before) and [name for name in before if after[name] != before[name]] == []
    made = {str(path.relative_to(results)) for path in (fit, gone)}
    assert set(again) == set(numbers) and [name for name in set(again) - made if again[name] != numbers[name]] == []
    # The lists agree with this one: it is seen where it is read.
    fit.write_bytes(bytes(data))
    (path,) = (results / "written").glob("single_body_spiral_cylinder_*.json")
    storage.write_text(path, json.dumps({"files": storage.checksums(results, json.loads(path.read_text())["files"])}))
    output = edited.run("--cores", "2", "results/single_body.nc", fails=True)
    named = "rule gather: results/runs/spiral_cylinder/fit/euler.nc was changed after it was written"
    assert output.count(named) >= 2, "where it happens and once more at the end"
    assert "log: results/logs/gather.log" in output
    assert (results / "single_body.nc").read_bytes() == before["single_body.nc"], "the last good one is kept"
    edited.run("--cores", "2", "results/single_body.nc", str(fit.relative_to(edited.folder)))
    after = edited.data()
    assert set(after) == set(before) and [name for name in before if after[name] != before[name]] == []


@pytest.mark.thorough
def test_what_is_deleted_or_empty_alone_is_made_again(edited):
    """Also where nothing that is asked for seems to need it; no more than it; and the report with the same bytes."""
    results = edited.folder / "results"
    reports = {results / f"{name}.pdf": (results / f"{name}.pdf").read_bytes() for name in DOCUMENTS}
    chapter = chapters.all_chapters()["many_body"]
    table, picture = (results / "tables" / f"{chapter.tables[0]}.tex", results / "figures" / f"{chapter.figures[0]}.png")
    for gone in (*reports, results / "films" / "rods.nc", picture):
        gone.unlink()
    table.write_text("")
    table.with_suffix(".csv").write_bytes(b"")
    said = edited.run("--cores", "2")
    assert said.count("it is made again") == 2
    assert table.stat().st_size > 100 and picture.is_file() and (results / "films" / "rods.nc").is_file()
    assert [path.name for path, content in reports.items() if path.read_bytes() != content] == []
    plan = edited.run("-n")
    assert "made again" not in plan and "Nothing to be done" in plan


@pytest.mark.thorough
def test_without_latex_everything_else_is_made(edited):
    (edited.folder / "results" / "report.pdf").unlink()
    (edited.folder / "results" / "provenance.json").unlink()
    programs = edited.folder / "bin"
    programs.mkdir()
    path = os.environ["PATH"].split(os.pathsep)
    for folder in reversed(path):
        for program in Path(folder).glob("*") if Path(folder).is_dir() else ():
            if program.name not in ("latexmk", "pdflatex", "kpsewhich") and not (programs / program.name).exists():
                (programs / program.name).symlink_to(program)
    command = [*SNAKEMAKE, "--configfile", "tiny.yaml", "--cores", "2"]
    environment = surroundings(PATH=str(programs))
    done = subprocess.run(command, cwd=edited.folder, capture_output=True, text=True, timeout=600, env=environment)
    output = done.stdout + done.stderr
    assert done.returncode != 0
    assert "apt-get install" in output and "latexmk" in output
    assert (edited.folder / "results" / "single_body.nc").is_file()
