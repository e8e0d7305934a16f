"""One rule's script, started by hand: what it is given is what Snakemake gives it, and the results stay as they are."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import surroundings
from test_workflow import House

from polhode.interface import storage
from polhode_study import by_hand, chapters

HOME = Path(__file__).parents[1]

#: Prints what is said of each wrong request, then what a script is given; stdout holds nothing else.
SCRIPT = """
import sys
from polhode_study.by_hand import ByHandError, snakemake_of

for rule, wildcards in [
    ("chapter_ledge", {}),
    ("all", {}),
    ("film", {}),
    ("film", {"scene": "ches"}),
    ("film", {"scene": "chess", "colour": "red"}),
    ("gather", {}),
]:
    try:
        snakemake_of(rule, wildcards, results=sys.argv[1])
    except ByHandError as error:
        print(error)
before = sys.executable
given = snakemake_of("film", {"scene": "chess"}, results=sys.argv[1])
print(given.rule, given.wildcards.scene, given.output[0], list(given.log), given.threads, sorted(given.params.keys()))
print(given.config["digits"], sys.executable == before)
"""


def start(*words: str, cwd: Path = HOME) -> subprocess.CompletedProcess[str]:
    """Python in a process of its own, with the library of that checkout."""
    environment = surroundings(PYTHONPATH=str(cwd / "src"))
    return subprocess.run([sys.executable, *words], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.thorough
def test_errors_are_explained_and_a_session_gets_its_object(tmp_path):
    done = start("-c", SCRIPT, str(tmp_path))
    assert done.returncode == 0, done.stderr
    rule, target, missing, misspelt, unknown, unmade, given, more = done.stdout.splitlines()
    assert rule == "there is no rule chapter_ledge with a script; did you mean chapter_ledger?"
    assert target.startswith("there is no rule all with a script; ")
    assert missing == "rule film needs a value for scene: add scene=..."
    assert misspelt == "rule film: scene cannot be 'ches'; did you mean 'chess'?"
    assert unknown == "rule film has no wildcard colour; it has only scene"
    assert unmade.startswith(f"rule gather reads {tmp_path}/references/") and "which is not there; ./reproduce" in unmade
    assert given == f"film chess {tmp_path}/films/chess.nc [] 1 ['files']"
    assert more == "50 True"


@pytest.mark.slow
@pytest.mark.thorough
def test_a_script_leaves_existing_results_as_they_are(tiny_study, tmp_path):
    def times() -> dict[Path, int]:
        return {path: path.stat().st_mtime_ns for path in (tiny_study / "results").rglob("*") if path.is_file()}

    house = House.at(tiny_study)
    before, theirs = times(), house.data() | house.pictures()
    words = (
        "-m",
        "polhode_study.by_hand",
        "chapter_long_runs",
        "--configfile",
        "tiny.yaml",
        "--output",
        str(tmp_path / "trial"),
    )
    done = start(*words, cwd=tiny_study)
    assert done.returncode == 0, done.stderr
    written = [Path(line) for line in done.stdout.splitlines() if line.startswith(str(tmp_path))]
    assert written and all(not path.is_symlink() and path.is_relative_to(tmp_path / "trial") for path in written)
    assert [path.name for path in written if path.read_bytes() != theirs[f"{path.parent.name}/{path.name}"]] == []
    assert (tmp_path / "trial" / "single_body.nc").samefile(tiny_study / "results" / "single_body.nc")
    assert [path for path in (tmp_path / "trial" / "logs").rglob("*") if path.is_file()] == []
    assert f"{chapters.all_chapters()['long_runs'].tables[0]}\n" in done.stdout, "what a script prints goes to the terminal"
    assert times() == before
    # An error is raised where it occurs.
    (tmp_path / "trial" / "single_body.nc").unlink()
    (tmp_path / "trial" / "single_body.nc").write_bytes(b"")
    done = start(*words, cwd=tiny_study)
    assert done.returncode == 1 and "Traceback" in done.stderr and "workflow/scripts/chapter.py" in done.stderr
    assert times() == before


def test_a_folder_beside_the_results_links_to_them(tmp_path):
    results, trial = tmp_path / "results", tmp_path / "trial"
    for name in ("single_body.nc", "figures/a.pdf", "logs/gather.log", ".lock"):
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text("first")
    (trial / "figures").mkdir(parents=True)
    (trial / "figures" / "b.pdf").write_text("ours")
    by_hand.mirror(results, trial)
    assert {str(p.relative_to(trial)) for p in trial.rglob("*") if p.is_file()} == {
        "single_body.nc", "figures/a.pdf", "figures/b.pdf",
    }  # fmt: skip
    storage.write_text(trial / "figures" / "a.pdf", "second")
    assert (results / "figures" / "a.pdf").read_text() == "first"
    others = tmp_path / "others"
    shutil.copytree(results, others)
    (others / "single_body.nc").write_text("third")
    by_hand.mirror(others, trial)
    assert (trial / "single_body.nc").read_text() == "third" and (trial / "figures" / "a.pdf").read_text() == "second"


@pytest.mark.parametrize("folder, said", [("results/here", "is inside the results"), ("trial", "there are no results in")])
def test_folders_that_cannot_be_are_refused(tmp_path, folder, said):
    results = tmp_path / ("results" if "here" in folder else "nowhere")
    (tmp_path / "results").mkdir()
    with pytest.raises(by_hand.ByHandError, match=said):
        by_hand.mirror(results, tmp_path / folder)


def test_a_wildcard_without_a_value_is_refused(capsys):
    with pytest.raises(SystemExit):
        by_hand.main(["check", "stability"])
    assert "stability: a wildcard is given as NAME=VALUE" in capsys.readouterr().err
