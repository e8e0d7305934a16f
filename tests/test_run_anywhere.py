"""A study from any folder: the file that `polhode init` writes, and what `polhode run` starts."""

import os
import re
import subprocess
from types import SimpleNamespace

import pytest
import yaml
from conftest import surroundings
from snakemake.cli import get_argument_parser
from studies import default, merged

from polhode import cli
from polhode.interface import reading
from polhode.interface.extras import require
from polhode.interface.reading import read
from polhode_study import configuration
from polhode_study.cli import run
from polhode_study.configuration.models import Configuration
from polhode_study.documentation import configuration as documented
from polhode_study.inputs import Inputs
from polhode_study.workflow.entry import HOME

DEFAULT = default()


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """The file of `polhode init`, in a folder of its own."""
    path = tmp_path_factory.mktemp("anywhere") / "mine.yaml"
    assert cli.main(["init", str(path)]) == 0
    return path


def test_the_start_is_a_small_study(start):
    values = read(start).values
    study = configuration.resolve(
        merged(DEFAULT, values | {"results": str(start.parent / "results")}), HOME, [HOME / "config.yaml", start]
    )
    assert list(study.problems) == ["spiral_cylinder", "heavy_top"] and not study.scenes
    assert sum(share.cpu for share in study.estimate.shares) < 60
    assert Inputs().problem in study.problems, "of which the figures of errors against the step are"
    assert all(problem.long_run is None for problem in study.problems.values())


def test_the_start_names_every_key_with_its_meaning(start):
    text = start.read_text()
    for path, _, _, _, meaning in documented.every_key():
        name = path.rpartition(".")[2]
        if name in documented.NAMES.values():
            continue
        assert re.search(rf"(?m)^[# ]*{name}:", text), path
        assert " ".join(meaning.split()) in re.sub(r"\s*\n[# ]*", " ", text), path
    assert max(map(len, text.splitlines())) <= documented.WIDTH


@pytest.mark.parametrize("key", ["cost", "ensembles", "many_body", "limits"])
def test_a_section_without_its_marks_is_valid(start, key):
    """One # taken away from each line gives a section with the values of config.yaml."""
    block = re.search(rf"(?m)^#({key}:\n(?:#.*\n)*?)(?=# [^ ]|\Z)", start.read_text())[1]
    values = yaml.safe_load(re.sub("(?m)^#", "", block))
    checked = Configuration.model_validate(merged(DEFAULT, values))
    assert getattr(checked, key) is not None
    given, default = values[key], DEFAULT.get(key, {})
    if key == "many_body":
        (name,) = given
        given, default = given[name], default[name]
    assert all(given[name] == value for name, value in default.items() if not isinstance(value, dict))


def test_init_leaves_a_file_alone(start, capsys):
    before = start.read_text()
    assert cli.main(["init", str(start)]) == 2 and "already" in capsys.readouterr().err
    assert start.read_text() == before


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("digits: 30\n", "results"),
        ("results: out/a b\n", "out/a b"),
        ("results: ../beside\n", "../beside"),
        ("results: /x\n", "/x"),
    ],
)
def test_results_are_beside_the_file(tmp_path, monkeypatch, text, results):
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "mine.yaml").write_text(text)
    started = []
    monkeypatch.setattr(os, "execv", lambda path, words: started.append((path, words)))
    monkeypatch.setattr(run, "run", lambda arguments, run=run.run: run(arguments) or 0)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["run", "study/mine.yaml", "-n", "data", "study/results/tables/a.csv", "--cores", "1"]) == 0
    ((path, words),) = started
    assert path == HOME / "reproduce" and words[0] == str(path)
    configured = [f"--configfile={folder / 'mine.yaml'}", f"--config=results={folder / results}"]
    assert words[1:] == [*configured, "-n", "data", str(folder / "results/tables/a.csv"), "--cores", "1"]


@pytest.mark.parametrize(
    "words", [["data"], ["data", "-n"], ["-n", "data"], ["data", "report", "--cores", "1"], ["--", "data"]]
)
def test_words_after_the_file_are_targets(start, monkeypatch, words):
    """Not further values of an option before them: as Snakemake itself reads the command."""
    monkeypatch.delenv("SNAKEMAKE_PROFILE", raising=False)
    options = get_argument_parser().parse_args(run.command(start, words)[1:])
    assert options.targets == [word for word in words if word in ("data", "report")]
    assert options.configfile == [start] and options.config == [f"results={start.parent / 'results'}"]
    assert reading.main(run.command(start, words)[1:]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing.yaml"], "nothing.yaml: there is no such configuration file"),
        (["mine.yaml", "--config", "digits=20"], "--config: the configuration is mine.yaml"),
        (["mine.yaml", "--configfile=x"], "--configfile=x: the configuration is mine.yaml"),
        (["twice.yaml"], "the key 'digits' occurs twice"),
    ],
)
def test_what_cannot_be_run_is_refused(tmp_path, monkeypatch, capsys, words, message):
    (tmp_path / "mine.yaml").write_text("digits: 30\n")
    (tmp_path / "twice.yaml").write_text("digits: 30\ndigits: 40\n")
    monkeypatch.setattr(os, "execv", None)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["run", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", ["init", "run x.yaml"])
def test_without_the_study_its_commands_say_where_they_work(monkeypatch, capsys, command):
    """As where a wheel is installed; and in a checkout whose Python lacks packages."""
    points = [point for point in cli.entry_points(group=cli.GROUP) if point.name != cli.STUDY]
    lacking = SimpleNamespace(name=cli.STUDY, module="x", load=lambda: require("no_such_package", what="the study"))
    name = command.split()[0]
    for others, why in (
        ([], f"commands of the study work in a checkout of its repository, as ./reproduce {name}"),
        ([lacking], "the study needs polhode[study]: pip install 'polhode[study]' (not installed: no_such_package)"),
    ):
        monkeypatch.setattr(cli, "entry_points", lambda group, others=others: [*points, *others])
        cli._added.cache_clear()
        assert cli.main(command.split()) == 2
        said = capsys.readouterr().err
        assert f"unknown command {name!r}; " in said and f" {why}\n" in said
    cli._added.cache_clear()


@pytest.mark.slow
def test_from_an_empty_folder(tmp_path):
    """What a newcomer types, up to the plan of the study."""

    def polhode(*words):
        done = subprocess.run(
            [HOME / "reproduce", *words], cwd=tmp_path, capture_output=True, text=True, timeout=300, env=surroundings()
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    polhode("init")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]
    said = polhode("run", "mine.yaml", "-n")
    assert f"results={tmp_path}/results" in said and "single_body_heavy_top_1" in said
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]
