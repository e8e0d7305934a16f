"""What CONTRIBUTING.md and the checks before a commit name is there, and its rules about names hold."""

import ast
import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

HOME = Path(__file__).parents[1]
SOURCE = HOME / "src"
TEXT = (HOME / "CONTRIBUTING.md").read_text(encoding="utf-8")
HOOKS = {
    hook["id"]: hook
    for repository in yaml.safe_load((HOME / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    for hook in repository["hooks"]
    if repository["repo"] == "local"
}


def test_hooks_are_local_and_use_the_environment():
    repositories = yaml.safe_load((HOME / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert [repository["repo"] for repository in repositories] == ["local"], "others would be fetched from an address"
    assert set(HOOKS) == {"ruff-check", "ruff-format", "snakefmt", "mypy"}
    for hook in HOOKS.values():
        assert hook["language"] == "system" and hook["name"]
        program, *_ = shlex.split(hook["entry"])
        assert (Path(sys.executable).parent / program).is_file(), f"{program} is not in the environment"


def test_hooks_do_what_the_whole_check_does():
    whole = (HOME / ".ci" / "run").read_text(encoding="utf-8")
    for hook in HOOKS.values():
        words = [word for word in shlex.split(hook["entry"]) if word != "--force-exclude"]
        assert re.search(rf"^\s*{re.escape(' '.join(words[:2]))}\b", whole, re.MULTILINE), f".ci/run has no {' '.join(words)}"


@pytest.mark.parametrize("name, wanted", [
    ("Snakefile", True), ("workflow/rules/cost.smk", True), ("src/polhode/body.py", False), ("docs/Snakefile.md", False),
])  # fmt: skip
def test_which_files_snakefmt_looks_at(name, wanted):
    assert bool(re.search(HOOKS["snakefmt"]["files"], name)) is wanted


#: Places that the text names and that are still to be made; each is taken off here when it is.
COMING: set[str] = set()


def test_every_path_is_there():
    roots = ("src/", "tests/", "docs/", "data/", "paper/", "workflow/", "benchmarks/", "polhode_study/", "manybody/")
    named = [word for word in re.findall(r"`([\w./-]+)`", TEXT) if word.startswith(roots)]
    assert len(named) > 20
    for name in named:
        pattern = re.sub(r"[A-Z]{4,}", "*", name).rstrip("/")
        paths = [path for base in (HOME, SOURCE, SOURCE / "polhode") for path in base.glob(pattern)]
        assert bool(paths) != (name in COMING), f"CONTRIBUTING.md names {name}, which is {'there' if paths else 'not there'}"
    for link in re.findall(r"\]\((?!\w+:)([^)#\s]+)", TEXT):
        assert (HOME / link).is_file(), f"CONTRIBUTING.md links to {link}"


def test_the_tiers_are_the_markers_of_pytest():
    options = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert {line.split(":")[0] for line in options["markers"]} == set(re.findall(r"^\* `(\w+)`:", TEXT, re.MULTILINE))


def test_what_is_neither_slow_nor_thorough_is_quick(request):
    """By tests/conftest.py, of which this test is one case."""
    assert request.node.get_closest_marker("quick")
    assert not [item for item in request.session.items if item.get_closest_marker("slow") and item.get_closest_marker("quick")]


# Names

SOURCES = {path.relative_to(SOURCE): path.read_text(encoding="utf-8") for path in SOURCE.glob("polhode*/**/*.py")}


def test_a_class_has_its_name_for_itself():
    """Adapters of engines are found by their file, and all have to be called so."""
    places: dict[str, list[str]] = {}
    for path, text in SOURCES.items():
        for name in re.findall(r"^class (\w+)", text, re.MULTILINE):
            places.setdefault(name, []).append(str(path))
    del places["Adapter"]
    shared = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert len(places) > 100 and not shared, f"classes of one name, call one of each another: {shared}"


def test_no_name_says_nothing():
    words = set(re.findall(r"`(\w+)`", re.search(r"no names by themselves:(.*?)\.", TEXT, re.DOTALL)[1]))
    assert "found" in words and len(words) > 10
    for path, text in SOURCES.items():
        defined = re.findall(r"^(?:(?:class|def) (?=\w+[:(\[])|(?=\w+(?:: [^=\n]+)? = ))(\w+)", text, re.MULTILINE)
        names = {path.stem, *defined} - {"Listed"}  # of the neighbour lists, still to be renamed
        assert not {name for name in names if name.strip("_").lower() in words}, f"{path}: see Names in CONTRIBUTING.md"
    for path in (HOME / "src" / "polhode_study").glob("explorer/*.js"):
        defined = re.findall(r"\b(?:const|let|function) +([\[{][^\]}=]*[\]}]|\w+)", path.read_text(encoding="utf-8"))
        names = {name.lower() for group in defined for name in re.findall(r"\w+", group)}
        assert len(names) > 10 and not names & words, f"{path}: see Names in CONTRIBUTING.md"


def test_no_variable_is_called_one():
    tests = {path: path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py")}
    for path, text in {**SOURCES, **tests}.items():
        for node in ast.walk(ast.parse(text)) if re.search(r"\bone\b", text) else ():
            name = node.arg if isinstance(node, ast.arg) else node.id if isinstance(node, ast.Name) else ""
            assert name != "one", f"{path}:{node.lineno}: see Names in CONTRIBUTING.md"


def test_a_test_has_its_name_for_itself_in_sixty_characters():
    for path in Path(__file__).parent.glob("*.py"):
        names = re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(names) == len(set(names)) and max(map(len, names), default=0) <= 60, path


def test_the_examples_of_names_are_names_of_the_package():
    rows = re.findall(r"^\| an? [\w ]+ \| [^|]+ \| ([^|]+) \| [^|]+ \|$", TEXT, re.MULTILINE)
    texts = [*SOURCES.values(), *(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("*.py"))]
    known = {path.stem for path in SOURCES}.union(*(re.findall(r"\w+", text) for text in texts))
    assert len(rows) > 10 and {name for row in rows for name in re.findall(r"`(\w+)`", row)} <= known


def test_what_has_one_file_each_has_one_file_each_in_the_design():
    """The folders that both texts name in this way are the same."""
    rows = re.findall(r"^\| a [^|]+ \| ([^|]+), one file each \|$", TEXT, re.MULTILINE)
    folders = {name for row in rows for name in re.findall(r"`src/polhode/(\w+)/`", row)}
    tree = (HOME / "docs" / "design.md").read_text(encoding="utf-8")
    assert folders and folders == set(re.findall(r"^ +(\w+)/ .*\bone file per (?!scene|chapter)", tree, re.MULTILINE))
