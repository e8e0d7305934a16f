"""What CONTRIBUTING.md and the checks before a commit name is there."""

import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

HOME = Path(__file__).parents[1]
TEXT = (HOME / "CONTRIBUTING.md").read_text(encoding="utf-8")
HOOKS = {
    hook["id"]: hook
    for repository in yaml.safe_load((HOME / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    for hook in repository["hooks"]
    if repository["repo"] == "local"
}


def test_every_hook_is_local_and_uses_a_program_of_the_environment():
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
    roots = ("src/", "tests/", "docs/", "data/", "paper/", "workflow/", "benchmarks/", "study/", "manybody/")
    named = [word for word in re.findall(r"`([\w./-]+)`", TEXT) if word.startswith(roots)]
    assert len(named) > 20
    for name in named:
        pattern = re.sub(r"[A-Z]{4,}", "*", name).rstrip("/")
        found = [path for base in (HOME, HOME / "src" / "polhode") for path in base.glob(pattern)]
        assert bool(found) != (name in COMING), f"CONTRIBUTING.md names {name}, which is {'there' if found else 'not there'}"
    for link in re.findall(r"\]\((?!\w+:)([^)#\s]+)", TEXT):
        assert (HOME / link).is_file(), f"CONTRIBUTING.md links to {link}"


def test_the_tiers_are_the_markers_of_pytest():
    options = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    assert {line.split(":")[0] for line in options["markers"]} == set(re.findall(r"^\* `(\w+)`:", TEXT, re.MULTILINE))


def test_what_is_neither_slow_nor_thorough_is_quick(request):
    """By tests/conftest.py, of which this test is one case."""
    assert request.node.get_closest_marker("quick")
    assert not [item for item in request.session.items if item.get_closest_marker("slow") and item.get_closest_marker("quick")]
